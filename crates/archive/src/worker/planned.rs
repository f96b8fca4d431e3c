//! A unit of a plan: a line with the files of a session, the options, and the output path.

use std::{hash::Hasher, io, path::PathBuf};

use core_model::Formats;
use jsonl::Value;
use sessions::{Input, SessionFiles};
use storage::{Backend, Stat};
use twox_hash::XxHash3_64;

use super::VERSION;
use crate::{
    journal::paths::{path_body, path_of},
    object::Object,
};

/// A unit of a plan.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Planned {
    /// The id in its plan: the name of its output below the root, as the body of a JSON string.
    pub id: Box<str>,
    /// The main file.
    pub main: PathBuf,
    /// The files that belong to the main one.
    pub subs: Vec<PathBuf>,
    /// The total size in bytes.
    pub bytes: u64,
    /// A hash of the files' sizes and times, to detect changes.
    pub etag: Box<str>,
    /// The output folder of the plan.
    pub root: PathBuf,
    /// The output path.
    pub out: PathBuf,
    /// The options, as words of the command line.
    pub options: Vec<String>,
    /// The hash of the options that change the bytes of outputs.
    pub digest: u64,
    /// The file with equal content that is converted instead.
    pub same_as: Option<String>,
    /// Whether an earlier unit has the same output path.
    pub is_taken: bool,
    /// The piece of a file, if the unit is one.
    pub piece: Option<PlannedPiece>,
}

/// A piece of a file whose lines are converted independently.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PlannedPiece {
    /// The piece has the lines that start in this byte range.
    pub range: [u64; 2],
    /// The id of the unit of the whole file.
    pub of: Box<str>,
    /// The output path of the whole file.
    pub whole: PathBuf,
}

/// The reason why a line is not a unit.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Malformed {
    /// It is not JSON.
    #[error("not JSON")]
    NotJson,
    /// It has another version of the protocol.
    #[error("not of version {VERSION}")]
    Version,
    /// It has no member of this name.
    #[error("has no {0}")]
    Lacks(&'static str),
}

impl Planned {
    /// Returns the line with its newline.
    pub fn line(&self) -> Vec<u8> {
        let mut line = Object::new();
        line.plain("v", VERSION).body("id", &self.id).body("main", &path_body(&self.main));
        line.bodies("subs", self.subs.iter().map(|path| path_body(path)));
        line.plain("bytes", self.bytes).string("etag", &self.etag);
        line.body("root", &path_body(&self.root)).body("out", &path_body(&self.out));
        line.strings("options", self.options.iter().map(String::as_str));
        line.string("digest", &format!("{:016x}", self.digest));
        if let Some(other) = &self.same_as {
            line.string("same_as", other);
        }
        if let Some(PlannedPiece { range: [start, end], of, whole }) = &self.piece {
            line.verbatim("range", format!("[{start},{end}]").as_bytes());
            line.body("of", of).body("whole", &path_body(whole));
        }
        if self.is_taken {
            line.plain("taken", true);
        }
        line.line()
    }

    /// Parses a line.
    ///
    /// # Errors
    ///
    /// Returns an error if a member is missing or has a wrong type.
    pub fn of(line: Value<'_>) -> Result<Self, Malformed> {
        let text = |name| line.get(name).and_then(|value| value.text());
        let path = |name| text(name).map(path_of).ok_or(Malformed::Lacks(name));
        let number = |name| line.get(name).and_then(|value| value.raw().as_u64());
        let items = |name| line.get(name).filter(Value::is_array).map(|value| value.items());
        if number("v") != Some(VERSION) {
            return Err(Malformed::Version);
        }
        let subs = items("subs").ok_or(Malformed::Lacks("subs"))?;
        let options = items("options").ok_or(Malformed::Lacks("options"))?;
        let piece = || {
            let mut range = items("range")?.filter_map(|item| item.raw().as_u64());
            let range = [range.next()?, range.next()?];
            Some(PlannedPiece {
                range,
                of: text("of")?.body().into(),
                whole: path_of(text("whole")?),
            })
        };
        let piece = match line.get("range") {
            Some(_) => Some(piece().ok_or(Malformed::Lacks("whole"))?),
            None => None,
        };
        let digest = text("digest").and_then(|text| u64::from_str_radix(text.body(), 16).ok());
        Ok(Self {
            id: text("id").ok_or(Malformed::Lacks("id"))?.body().into(),
            main: path("main")?,
            subs: subs.filter_map(|item| item.text()).map(path_of).collect(),
            bytes: number("bytes").ok_or(Malformed::Lacks("bytes"))?,
            etag: text("etag").ok_or(Malformed::Lacks("etag"))?.decode().into(),
            root: path("root")?,
            out: path("out")?,
            options: options
                .filter_map(|item| item.text())
                .map(|text| text.decode().into_owned())
                .collect(),
            digest: digest.ok_or(Malformed::Lacks("digest"))?,
            same_as: text("same_as").map(|text| text.decode().into_owned()),
            piece,
            is_taken: line.get("taken").and_then(|value| value.bool()) == Some(true),
        })
    }

    /// Returns the files to convert, in this backend; `None` if a file does not belong to the main
    /// one.
    pub fn unit(
        &self,
        formats: Formats,
        storage: io::Result<Backend>,
        warn: &mut dyn FnMut(sessions::Warning),
    ) -> Option<SessionFiles> {
        if let Some(PlannedPiece { range, .. }) = self.piece {
            let main = Input::Lines { path: self.main.clone(), range };
            return Some(SessionFiles { main, others: Vec::new(), format: None });
        }
        let found = storage.and_then(|storage| storage.stat(&self.main).map(|_| storage));
        let storage = match found {
            Ok(storage) => storage,
            Err(error) => {
                let main = Input::missing(&self.main, &error);
                return Some(SessionFiles { main, others: Vec::new(), format: None });
            }
        };
        let input = |path: &PathBuf| {
            let name = PathBuf::from(path.file_name().unwrap_or_default());
            Input::File { storage: storage.clone(), path: path.clone(), name, is_named: false }
        };
        let inputs = std::iter::once(&self.main).chain(&self.subs).map(input).collect();
        let mut units = SessionFiles::group(formats, inputs, warn);
        if units.len() == 1 { units.pop() } else { None }
    }

    /// Returns a hash of the files' sizes, times and etags, to detect changes.
    pub fn etag<'i>(files: impl IntoIterator<Item = &'i Input>) -> Box<str> {
        let mut hash = XxHash3_64::new();
        for (path, input) in files.into_iter().filter_map(|input| Some((input.path()?, input))) {
            if let Ok(Stat { length, modified, etag, .. }) = input.storage().stat(path) {
                hash.write(&length.to_le_bytes());
                hash.write(&modified.to_le_bytes());
                hash.write(etag.unwrap_or_default().as_bytes());
            }
        }
        format!("{:016x}", hash.finish()).into()
    }
}
