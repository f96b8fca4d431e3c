//! A unit of a plan: a line with the files of a session, the options, and the output path.

use std::{hash::Hasher, io, path::PathBuf};

use core_model::Formats;
use serde::{Deserialize, Serialize, de::IgnoredAny};
use sessions::{Input, SessionFiles};
use storage::{Backend, Stat, is_url};
use twox_hash::XxHash3_64;

use super::VERSION;
use crate::{
    paths::path_of,
    record::{self, Body, Hash, Member, Written},
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
}

/// A line, as it is written.
#[derive(Serialize)]
struct Line<'u> {
    v: u64,
    id: Body<&'u str>,
    main: Body<Box<str>>,
    subs: Vec<Body<Box<str>>>,
    bytes: u64,
    etag: &'u str,
    root: Body<Box<str>>,
    out: Body<Box<str>>,
    options: &'u [String],
    digest: Hash,
    #[serde(skip_serializing_if = "Option::is_none")]
    same_as: Option<&'u str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    taken: Option<bool>,
}

/// A line, as it is read.
#[derive(Default, Deserialize)]
#[serde(default)]
struct UnitLine<'l> {
    v: Member<u64>,
    #[serde(borrow)]
    id: Member<Written<'l>>,
    #[serde(borrow)]
    main: Member<Written<'l>>,
    #[serde(borrow)]
    subs: Member<Vec<Member<Written<'l>>>>,
    bytes: Member<u64>,
    #[serde(borrow)]
    etag: Member<Written<'l>>,
    #[serde(borrow)]
    root: Member<Written<'l>>,
    #[serde(borrow)]
    out: Member<Written<'l>>,
    #[serde(borrow)]
    options: Member<Vec<Member<Written<'l>>>>,
    #[serde(borrow)]
    digest: Member<Written<'l>>,
    #[serde(borrow)]
    same_as: Member<Written<'l>>,
    taken: Member<bool>,
    range: Option<IgnoredAny>,
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
    /// Its output folder is no absolute path and no URL.
    #[error("its root is no absolute path")]
    Relative,
    /// It is a piece of a file. Only plans of version 0.1.0 have them.
    #[error("a piece of a file, of `plan --max-bytes` of version 0.1.0; plan the whole file again")]
    Piece,
}

impl Planned {
    /// Returns the line with its newline.
    pub fn line(&self) -> Vec<u8> {
        record::line(record::write_ascii(&Line {
            v: VERSION,
            id: Body(&self.id),
            main: Body::path(&self.main),
            subs: self.subs.iter().map(|path| Body::path(path)).collect(),
            bytes: self.bytes,
            etag: &self.etag,
            root: Body::path(&self.root),
            out: Body::path(&self.out),
            options: &self.options,
            digest: Hash(self.digest),
            same_as: self.same_as.as_deref(),
            taken: self.is_taken.then_some(true),
        }))
    }

    /// Parses a line.
    ///
    /// # Errors
    ///
    /// Returns an error if a member is missing or has a wrong type.
    pub fn parse(line: &[u8]) -> Result<Self, Malformed> {
        let line: UnitLine<'_> = record::read(line).ok_or(Malformed::NotJson)?;
        if line.v.0 != Some(VERSION) {
            return Err(Malformed::Version);
        }
        let lacks = Malformed::Lacks;
        line.subs.0.as_ref().ok_or(lacks("subs"))?;
        line.options.0.as_ref().ok_or(lacks("options"))?;
        if line.range.is_some() {
            return Err(Malformed::Piece);
        }
        let planned = Self {
            id: line.id.body().ok_or(lacks("id"))?.into(),
            main: line.main.text().map(path_of).ok_or(lacks("main"))?,
            subs: line.subs.texts().map(path_of).collect(),
            bytes: line.bytes.0.ok_or(lacks("bytes"))?,
            etag: line.etag.decoded().ok_or(lacks("etag"))?.into(),
            root: line.root.text().map(path_of).ok_or(lacks("root"))?,
            out: line.out.text().map(path_of).ok_or(lacks("out"))?,
            options: line.options.texts().map(|text| text.decode().into_owned()).collect(),
            digest: line.digest.hash().ok_or(lacks("digest"))?,
            same_as: line.same_as.decoded(),
            is_taken: line.taken.0 == Some(true),
        };
        // A drive of Windows is not asked for: plans are read on other systems.
        let is_absolute = planned.root.has_root() || is_url(&planned.root);
        is_absolute.then_some(planned).ok_or(Malformed::Relative)
    }

    /// Returns the files to convert, in this backend; `None` if a file does not belong to the main
    /// one.
    pub fn unit(
        &self,
        formats: Formats,
        storage: io::Result<Backend>,
        warn: &mut dyn FnMut(sessions::Warning),
    ) -> Option<SessionFiles> {
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

#[cfg(all(test, unix))]
mod tests {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    use super::*;
    use crate::paths::path_body;

    const LINE: &str = concat!(
        r#"{"v":1,"id":"b\"é\udcff.jsonl","main":"/in/a \"b\"\n\udcffé\u001b.jsonl","#,
        r#""subs":["/in/s\udc80"],"bytes":12,"etag":"00000000000000ff","root":"/out","#,
        r#""out":"/out/b\"é\udcff.jsonl","options":["--to","cl\u00efdo"],"#,
        r#""digest":"000000000000000d","same_as":"\u00e9\u001b","taken":true}"#,
        "\n"
    );

    fn path(bytes: &[u8]) -> PathBuf {
        PathBuf::from(OsStr::from_bytes(bytes))
    }

    fn planned() -> Planned {
        let out = path(b"/out/b\"\xc3\xa9\xff.jsonl");
        Planned {
            id: path_body(out.strip_prefix("/out").expect("below")),
            main: path(b"/in/a \"b\"\n\xff\xc3\xa9\x1b.jsonl"),
            subs: vec![path(b"/in/s\x80")],
            bytes: 12,
            etag: "00000000000000ff".into(),
            root: path(b"/out"),
            out,
            options: vec!["--to".to_owned(), "cl\u{ef}do".to_owned()],
            digest: 13,
            same_as: Some("\u{e9}\u{1b}".to_owned()),
            is_taken: true,
        }
    }

    fn parse(line: &str) -> Result<Planned, Malformed> {
        Planned::parse(line.as_bytes())
    }

    #[test]
    fn a_unit_is_spelled_as_ever_and_read_again() {
        assert_eq!(String::from_utf8(planned().line()).expect("UTF-8"), LINE);
        assert_eq!(parse(LINE), Ok(planned()));
        // Another program spells text otherwise, and adds members.
        let other = LINE.replace("é", "\\u00e9").replace(",\"", ", \"").replace("taken", "new");
        let expected = Planned { is_taken: false, ..planned() };
        let id = "b\\\"\\u00e9\\udcff.jsonl".into();
        assert_eq!(parse(&other), Ok(Planned { id, ..expected }));
    }

    #[test]
    fn a_line_that_is_no_unit_is_refused_with_the_reason() {
        for (old, new, why) in [
            ("{", "", Malformed::NotJson),
            ("\"v\":1", "\"v\":2", Malformed::Version),
            ("\"v\":1", "\"v\":\"1\"", Malformed::Version),
            ("\"subs\":[", "\"sub\":[", Malformed::Lacks("subs")),
            ("[\"/in/s\\udc80\"]", "7", Malformed::Lacks("subs")),
            ("options", "words", Malformed::Lacks("options")),
            ("\"id\":", "\"ids\":", Malformed::Lacks("id")),
            ("\"main\":", "\"man\":", Malformed::Lacks("main")),
            ("\"bytes\":12", "\"bytes\":-12", Malformed::Lacks("bytes")),
            ("\"bytes\":12", "\"bytes\":\"12\"", Malformed::Lacks("bytes")),
            ("\"etag\":", "\"tag\":", Malformed::Lacks("etag")),
            ("\"root\":\"/out\"", "\"root\":null", Malformed::Lacks("root")),
            ("\"root\":\"/out\"", "\"root\":\"\"", Malformed::Relative),
            ("\"root\":\"/out\"", "\"root\":\"out\"", Malformed::Relative),
            ("\"out\":", "\"to\":", Malformed::Lacks("out")),
            ("000000000000000d", "x", Malformed::Lacks("digest")),
            ("\"taken\"", "\"range\"", Malformed::Piece),
        ] {
            let line = LINE.replacen(old, new, 1);
            assert_eq!(parse(&line), Err(why), "{line}");
        }
        assert_eq!(parse("[1]"), Err(Malformed::Version));
        // Members of another type count as missing if they are not needed.
        let odd = LINE.replace("true", "1").replace("\"\\u00e9\\u001b\"", "[]");
        let plain = Planned { is_taken: false, same_as: None, ..planned() };
        assert_eq!(parse(&odd), Ok(plain));
    }
}
