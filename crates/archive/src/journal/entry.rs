//! A line of the journal: its members, and their JSON.

use std::{
    fmt::Write as _,
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use jsonl::{Style, Value, push_string};
use storage::{Folder, Snapshot, Stat};

use super::{
    Base, OutputOptions, Salt, hash_of,
    options::KnownOptions,
    paths::{body_of, path_body, path_of},
};
use crate::{
    report::ConvertedFile,
    status::{FileStatus, n_lost},
};

/// The version of the lines.
const VERSION: u32 = 1;

/// A source before it is converted.
pub struct Origin<'s> {
    /// The absolute path.
    pub path: &'s Path,
    pub stat: Stat,
    /// The content, if the source is open.
    pub content: Option<&'s mut Snapshot>,
    /// A hash of the other files that its outputs depend on.
    pub salt: Salt,
}

impl<'s> Origin<'s> {
    /// Creates the origin of an open source.
    pub fn open(path: &'s Path, snapshot: &'s mut Snapshot, salt: Salt) -> Self {
        Self { path, stat: snapshot.stat().clone(), content: Some(snapshot), salt }
    }

    /// Creates the origin of an unopened source.
    pub fn listed(path: &'s Path, stat: Stat, salt: Salt) -> Self {
        Self { path, stat, content: None, salt }
    }

    /// Returns the XXH3 of the content; `None` if the source is not open.
    pub(super) fn hash(&mut self) -> io::Result<Option<u64>> {
        self.content.as_mut().map(|it| it.hash()).transpose()
    }
}

/// An entry of the journal.
#[derive(Clone, Debug)]
pub struct JournalEntry {
    /// The absolute path of the source.
    pub source: PathBuf,
    /// The metadata of the source, with its etag in a store.
    pub stat: Stat,
    /// The XXH3 of the source.
    pub source_hash: u64,
    /// The salt of its [`Origin`].
    pub salt: Salt,
    /// The written file; `None` if nothing was written.
    pub written: Option<Written>,
    /// The status of the source.
    pub status: FileStatus,
    /// The lines of the source.
    pub records: u64,
    /// The number of values and records that are lost.
    pub lost: u64,
    /// The lines that are not one JSON value.
    pub damaged: u64,
}

/// A file that was written.
#[derive(Clone, Debug)]
pub struct Written {
    /// Its path below the folder.
    pub below: PathBuf,
    /// The bytes of the file.
    pub length: u64,
    /// The XXH3 of the file.
    pub hash: u64,
    /// The SHA-256, if it was asked for.
    pub sha256: Option<[u8; 32]>,
    /// The etag, in a store.
    pub etag: Option<String>,
}

impl JournalEntry {
    /// Adds the counts of a conversion.
    pub fn tell(&mut self, done: &ConvertedFile) {
        let report = &done.report;
        self.status = match done.is_changing {
            true => FileStatus::Changing,
            false => FileStatus::of_report(report, done.carry),
        };
        self.records = report.lines_in;
        self.lost = n_lost(report, done.carry);
        self.damaged = report.n_damaged;
    }

    /// Returns the line with its newline.
    pub fn line(&self, options: &OutputOptions) -> Vec<u8> {
        let Self { stat, source_hash, salt, records, lost, damaged, .. } = self;
        let Stat { length, modified, changed, inode, etag } = stat;
        let mut line = format!("{{\"v\":{VERSION},\"tool\":");
        let mut tool = Vec::new();
        push_string(&mut tool, concat!("convert ", env!("CARGO_PKG_VERSION")), Style::Compact);
        line.push_str(&String::from_utf8_lossy(&tool));
        let source = path_body(&self.source);
        _ = write!(line, ",\"options\":\"{}\"", options.words());
        if *salt != Salt::default() {
            _ = write!(line, ",\"beside_xxh3\":\"{:016x}\"", salt.hash);
        }
        _ = write!(line, ",\"src\":\"{source}\",\"size\":{length},\"mtime_ns\":{modified}");
        if let (Some(changed), Some(inode)) = (changed, inode) {
            _ = write!(line, ",\"ctime_ns\":{changed},\"inode\":{inode}");
        }
        _ = write!(line, ",\"src_xxh3\":\"{source_hash:016x}\"");
        push_etag(&mut line, "src_etag", etag.as_deref());
        match &self.written {
            Some(Written { below, length, hash, sha256, etag }) => {
                let target = path_body(below);
                _ = write!(line, ",\"dst\":\"{target}\",\"dst_len\":{length}");
                _ = write!(line, ",\"dst_xxh3\":\"{hash:016x}\"");
                if let Some(sha256) = sha256 {
                    _ = write!(line, ",\"dst_sha256\":\"{}\"", hex(sha256));
                }
                push_etag(&mut line, "dst_etag", etag.as_deref());
            }
            None => line.push_str(",\"dst\":null,\"dst_len\":null,\"dst_xxh3\":null"),
        }
        _ = write!(line, ",\"status\":\"{}\",\"records\":{records}", self.status.name());
        _ = writeln!(line, ",\"lost\":{lost},\"damaged\":{damaged}}}");
        line.into_bytes()
    }
}

/// Returns bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        _ = write!(text, "{byte:02x}");
        text
    })
}

/// A written file in the journal.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Known {
    /// Its path below the folder.
    pub(super) below: PathBuf,
    pub(super) source: Arc<str>,
    pub(super) size: u64,
    pub(super) modified: i128,
    /// Not in lines of version 0.1.0.
    changed: Option<i128>,
    inode: Option<u64>,
    pub(super) source_hash: u64,
    pub(super) source_etag: Option<Box<str>>,
    pub(super) options: KnownOptions,
    length: u64,
    hash: u64,
    etag: Option<Box<str>>,
    pub(super) status: FileStatus,
}

impl Known {
    /// Parses the line of a written file: its path, and the other members.
    pub(super) fn of(line: Value<'_>) -> Option<(Arc<str>, Self)> {
        let text = |name| Some(line.get(name)?.text()?.body());
        let number = |name| line.get(name)?.raw().as_u64();
        let time = |name| line.get(name)?.raw().as_str().parse().ok();
        let hash = |name| u64::from_str_radix(text(name)?, 16).ok();
        (number("v")? == u64::from(VERSION)).then_some(())?;
        let target = line.get("dst")?.text()?;
        let known = Self {
            below: path_of(target),
            source: source_of(line)?,
            size: number("size")?,
            modified: time("mtime_ns")?,
            changed: time("ctime_ns"),
            inode: number("inode"),
            source_hash: hash("src_xxh3")?,
            source_etag: text("src_etag").map(Into::into),
            options: match text("options") {
                Some(words) => KnownOptions::Words(words.into(), hash("beside_xxh3").unwrap_or(0)),
                None => KnownOptions::Hash(hash("opts_hash")?),
            },
            length: number("dst_len")?,
            hash: hash("dst_xxh3")?,
            etag: text("dst_etag").map(Into::into),
            status: FileStatus::named(text("status")?)?,
        };
        Some((body_of(target), known))
    }

    /// Returns whether the times and the inode of the source are unchanged. Version 0.1.0 did not
    /// write all of them; missing ones are not compared.
    pub(super) fn has_times_of(&self, stat: &Stat) -> bool {
        let is_same = |known: Option<i128>, now: Option<i128>| known.is_none() || known == now;
        self.modified == stat.modified
            && is_same(self.changed, stat.changed)
            && (self.inode.is_none() || self.inode == stat.inode)
    }

    /// Returns the modification time of the output in nanoseconds since 1970; `None` if it is gone
    /// or edited.
    pub(super) fn is_there(&self, base: &Base, below: &Path) -> Option<i128> {
        match base {
            Base::Folder(folder) => self.is_in(folder, below),
            #[cfg(feature = "cloud")]
            Base::Prefix(bucket, prefix) => {
                let stat = bucket.stat(&prefix.join(below)).ok()?;
                let is_it = stat.length == self.length && is_etag(&self.etag, stat.etag.as_deref());
                is_it.then_some(stat.modified)
            }
        }
    }

    fn is_in(&self, folder: &Arc<Folder>, below: &Path) -> Option<i128> {
        let folder = folder.below(below.parent()?).ok()?;
        let file = folder.read(below.file_name()?).ok()?;
        let metadata = file.metadata().ok()?;
        let length = metadata.len();
        let is_it = length == self.length && hash_of(file, length).ok()? == self.hash;
        let modified = i128::from(metadata.mtime()) * 1_000_000_000;
        is_it.then_some(modified + i128::from(metadata.mtime_nsec()))
    }
}

/// Returns the source of a line.
pub(crate) fn source_of(line: Value<'_>) -> Option<Arc<str>> {
    Some(body_of(line.get("src")?.text()?))
}

/// Returns whether two etags are known and equal. Some answers of a store have quotes around them.
pub(super) fn is_etag(known: &Option<Box<str>>, etag: Option<&str>) -> bool {
    known.is_some() && known.as_deref() == etag.map(etag_body).as_deref()
}

/// Returns an etag as the body of a JSON string.
fn etag_body(etag: &str) -> Box<str> {
    path_body(Path::new(etag.trim_matches('"')))
}

fn push_etag(line: &mut String, name: &str, etag: Option<&str>) {
    if let Some(etag) = etag {
        _ = write!(line, ",\"{name}\":\"{}\"", etag_body(etag));
    }
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    use super::*;

    #[test]
    fn what_is_written_is_known() {
        let path = PathBuf::from(OsStr::from_bytes(b"/a \"b\"\n/\xff\xc3.jsonl"));
        let stat = Stat {
            length: u64::MAX,
            modified: -1,
            changed: Some(-2),
            inode: Some(5),
            etag: Some("\"a\\b\"".to_owned()),
        };
        let record = JournalEntry {
            source: path.clone(),
            stat: stat.clone(),
            source_hash: 7,
            salt: Salt { hash: 3, of_0_1_0: 4 },
            written: Some(Written {
                below: path.clone(),
                length: 3,
                hash: u64::MAX,
                sha256: None,
                etag: None,
            }),
            status: FileStatus::DoneWithLoss,
            records: 1,
            lost: 2,
            damaged: 0,
        };
        let options = OutputOptions::of_words("--to clido", 9);
        let line = record.line(&options);
        let mut scanner = jsonl::Scanner::default();
        let value = scanner.scan_slice(&line, 0).expect("JSON");
        let (target, known) = Known::of(value).expect("known");
        assert_eq!(&*target, r#"/a \"b\"\n/\udcff\udcc3.jsonl"#);
        assert_eq!((&known.source, known.size, known.modified), (&target, u64::MAX, -1));
        assert!(is_etag(&known.source_etag, Some("a\\b")) && !is_etag(&known.etag, None));
        assert!(options.are(&known.options, record.salt));
        assert!(!options.are(&known.options, Salt::default()));
        assert!(known.has_times_of(&stat));
        assert!(!known.has_times_of(&Stat { changed: Some(-1), ..stat.clone() }));
        assert!(!known.has_times_of(&Stat { inode: Some(6), ..stat }));
        assert_eq!((known.length, known.hash), (3, u64::MAX));
        assert_eq!(known.status, FileStatus::DoneWithLoss);
        let nothing = JournalEntry { written: None, ..record }.line(&options);
        let value = scanner.scan_slice(&nothing, 0).expect("JSON");
        assert!(Known::of(value).is_none());
    }
}
