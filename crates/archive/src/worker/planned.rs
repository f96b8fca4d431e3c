//! A unit of a plan: a line that says what to convert, how, and where it goes.

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
    /// What it is called in its plan: the name of its output below the root, as the body of a JSON
    /// string.
    pub id: Box<str>,
    /// The main file.
    pub main: PathBuf,
    /// The files that belong to the main one.
    pub subs: Vec<PathBuf>,
    /// The bytes of all files.
    pub bytes: u64,
    /// What tells the files from what they may become.
    pub etag: Box<str>,
    /// The folder that all units of the plan are written below.
    pub root: PathBuf,
    /// Where it goes.
    pub out: PathBuf,
    /// The options, as the command line has them.
    pub options: Vec<String>,
    /// The hash of all that outputs depend on beside their sources.
    pub digest: u64,
    /// The file that has the same content, and is converted in its place.
    pub same_as: Option<String>,
    /// Whether an earlier unit goes to the same name.
    pub is_taken: bool,
    /// The part of a file that it is, if it is one.
    pub piece: Option<PlannedPiece>,
}

/// A unit that is a part of a file whose lines are converted each for itself.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PlannedPiece {
    /// The lines that start in these bytes of the file are meant.
    pub range: [u64; 2],
    /// What the unit of the whole file is called.
    pub of: Box<str>,
    /// Where the whole file goes.
    pub whole: PathBuf,
}

/// Why a line is no unit.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Malformed {
    /// It is no JSON.
    #[error("not JSON")]
    NotJson,
    /// It is of another version of the protocol.
    #[error("not of version {VERSION}")]
    Version,
    /// It has no member of this name.
    #[error("has no {0}")]
    Lacks(&'static str),
}

impl Planned {
    /// Returns the line, with its end.
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

    /// Reads a line.
    ///
    /// # Errors
    ///
    /// What of it is missing, or is not what it should be.
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

    /// Returns what it asks to convert, which is in this storage; none, if a file does not belong to
    /// the main one.
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

    /// Returns what tells files from what they may become: a hash of their sizes and times, and of
    /// what a store calls their contents.
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
