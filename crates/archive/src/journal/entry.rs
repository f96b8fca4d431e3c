//! A line of the journal: its members, and their JSON.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use sessions::Input;
use storage::{Backend, Folder, Snapshot, Stat};

use super::{OutputOptions, OutputRoot, Salt, hash_of, options::KnownOptions};
use crate::{
    main_name::is_main,
    paths::{body_of, path_body, path_of},
    record::{self, Body, Hash, Member},
    report::ConvertedFile,
    status::{FileStatus, n_lost},
};

/// The version of the lines.
const VERSION: u32 = 1;

/// The content of a source.
pub(crate) enum SourceContent<'s> {
    /// The source is open.
    Open(&'s mut Snapshot),
    /// The source has this XXH3.
    Hashed(u64),
    /// The source is not open.
    Unread,
}

/// A source before it is converted.
pub(crate) struct Origin<'s> {
    /// The absolute path.
    pub path: &'s Path,
    pub stat: Stat,
    /// Whether the metadata show each change of the source.
    pub has_change_times: bool,
    pub content: SourceContent<'s>,
    /// A hash of the other files that its outputs depend on.
    pub salt: Salt,
}

impl<'s> Origin<'s> {
    /// Creates the origin of an open source.
    pub(crate) fn open(path: &'s Path, snapshot: &'s mut Snapshot, salt: Salt) -> Self {
        let (stat, content) = (snapshot.stat().clone(), SourceContent::Open(snapshot));
        Self { path, stat, has_change_times: true, content, salt }
    }

    /// Creates the origin of an unopened source.
    pub(crate) fn listed(path: &'s Path, stat: Stat, salt: Salt) -> Self {
        Self { path, stat, has_change_times: true, content: SourceContent::Unread, salt }
    }

    /// Compares the content of the source, unless its storage has the time of each change.
    pub(crate) fn stored_in(self, storage: &Backend) -> Self {
        Self { has_change_times: storage.has_change_times(), ..self }
    }

    /// Creates the origin of a source that was hashed.
    pub(crate) fn hashed(path: &'s Path, stat: Stat, hash: u64, salt: Salt) -> Self {
        let content = SourceContent::Hashed(hash);
        Self { path, stat, has_change_times: true, content, salt }
    }

    /// Returns the XXH3 of the content; `None` if it is unread.
    pub(super) fn hash(&mut self) -> io::Result<Option<u64>> {
        match &mut self.content {
            SourceContent::Open(snapshot) => snapshot.hash().map(Some),
            SourceContent::Hashed(hash) => Ok(Some(*hash)),
            SourceContent::Unread => Ok(None),
        }
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
    /// The carries of the written file, inline or in its sidecar.
    pub carries: u64,
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
        self.status = done.status();
        self.records = report.lines_in;
        self.lost = n_lost(report, done.carry);
        self.damaged = report.n_damaged;
        let is_transcript =
            |it: &Written| is_main(&it.below) && !Input::file(it.below.clone()).is_side_file();
        self.carries =
            report.n_carries * u64::from(self.written.as_ref().is_some_and(is_transcript));
    }

    /// Returns the line, with its newline, to write before the file gets its name; `None` if nothing was written.
    pub(super) fn begun_line(&self, options: &OutputOptions) -> Option<Vec<u8>> {
        let written = self.written.as_ref()?;
        Some(record::line(record::write_utf8(&BegunLine {
            v: VERSION,
            begun: Body::path(&written.below),
            options: options.words(),
            src: Body::path(&self.source),
            size: self.stat.length,
            dst_len: written.length,
            dst_xxh3: Hash(written.hash),
        })))
    }

    /// Returns the words that are stored with an object, by which a later run knows it; `None` if nothing was written.
    #[cfg(feature = "cloud")]
    pub(crate) fn origin(&self) -> Option<String> {
        let Written { length, hash, .. } = self.written.as_ref()?;
        let (source, size) = (hash_of_path(&self.source)?, self.stat.length);
        Some(format!("{VERSION} {source:016x} {size} {length} {hash:016x}"))
    }

    /// Returns the line with its newline.
    pub fn line(&self, options: &OutputOptions) -> Vec<u8> {
        let Stat { length, modified, changed, inode, .. } = &self.stat;
        let written = self.written.as_ref();
        let times = changed.zip(*inode);
        let etag = |etag: &String| Body(etag_body(etag));
        record::line(record::write_utf8(&Line {
            v: VERSION,
            tool: concat!("convert ", env!("CARGO_PKG_VERSION")),
            options: options.words(),
            beside_xxh3: (self.salt != Salt::default()).then_some(Hash(self.salt.hash)),
            src: Body::path(&self.source),
            size: *length,
            mtime_ns: *modified,
            ctime_ns: times.map(|(changed, _)| changed),
            inode: times.map(|(_, inode)| inode),
            src_xxh3: Hash(self.source_hash),
            src_etag: self.stat.etag.as_ref().map(etag),
            dst: written.map(|it| Body::path(&it.below)),
            dst_len: written.map(|it| it.length),
            dst_xxh3: written.map(|it| Hash(it.hash)),
            dst_sha256: written.and_then(|it| it.sha256.as_ref()).map(|sha256| record::hex(sha256)),
            dst_etag: written.and_then(|it| it.etag.as_ref()).map(etag),
            status: self.status.word(),
            records: self.records,
            lost: self.lost,
            damaged: self.damaged,
            carries: self.carries,
        }))
    }
}

/// A line before a file gets its name, as it is written. Older versions take it for a failure, which they do not
/// report again.
#[derive(Serialize)]
struct BegunLine<'e> {
    v: u32,
    begun: Body<Box<str>>,
    options: &'e str,
    src: Body<Box<str>>,
    size: u64,
    dst_len: u64,
    dst_xxh3: Hash,
}

/// A line, as it is written.
#[derive(Serialize)]
struct Line<'e> {
    v: u32,
    tool: &'static str,
    options: &'e str,
    #[serde(skip_serializing_if = "Option::is_none")]
    beside_xxh3: Option<Hash>,
    src: Body<Box<str>>,
    size: u64,
    mtime_ns: i128,
    #[serde(skip_serializing_if = "Option::is_none")]
    ctime_ns: Option<i128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inode: Option<u64>,
    src_xxh3: Hash,
    #[serde(skip_serializing_if = "Option::is_none")]
    src_etag: Option<Body<Box<str>>>,
    dst: Option<Body<Box<str>>>,
    dst_len: Option<u64>,
    dst_xxh3: Option<Hash>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dst_sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dst_etag: Option<Body<Box<str>>>,
    status: &'static str,
    records: u64,
    lost: u64,
    damaged: u64,
    #[serde(skip_serializing_if = "is_zero")]
    carries: u64,
}

/// Returns whether a file has no carries. Its line is that of older versions.
fn is_zero(carries: &u64) -> bool {
    *carries == 0
}

/// A line, as it is read. Lines of version 0.1.0 have `opts_hash` instead of `options`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct JournalLine<'l> {
    v: Member<u32>,
    #[serde(borrow)]
    begun: Member<record::Written<'l>>,
    #[serde(borrow)]
    options: Member<record::Written<'l>>,
    #[serde(borrow)]
    opts_hash: Member<record::Written<'l>>,
    #[serde(borrow)]
    beside_xxh3: Member<record::Written<'l>>,
    #[serde(borrow)]
    src: Member<record::Written<'l>>,
    size: Member<u64>,
    mtime_ns: Member<i128>,
    ctime_ns: Member<i128>,
    inode: Member<u64>,
    #[serde(borrow)]
    src_xxh3: Member<record::Written<'l>>,
    #[serde(borrow)]
    src_etag: Member<record::Written<'l>>,
    #[serde(borrow)]
    pub(crate) dst: Member<record::Written<'l>>,
    pub(crate) dst_len: Member<u64>,
    #[serde(borrow)]
    dst_xxh3: Member<record::Written<'l>>,
    #[serde(borrow)]
    pub(crate) dst_sha256: Member<record::Written<'l>>,
    #[serde(borrow)]
    dst_etag: Member<record::Written<'l>>,
    #[serde(borrow)]
    status: Member<record::Written<'l>>,
    pub(super) carries: Member<u64>,
}

impl JournalLine<'_> {
    /// Returns the source.
    pub(crate) fn source(&self) -> Option<Arc<str>> {
        self.src.text().map(body_of)
    }
}

/// A written file in the journal.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct JournaledFile {
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
    pub(super) content: Content,
    pub(super) status: FileStatus,
    pub(super) carries: u64,
}

/// A file that was about to get its name.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct BegunFile {
    pub(super) source: Arc<str>,
    pub(super) options: KnownOptions,
    pub(super) size: u64,
    pub(super) content: Content,
}

impl BegunFile {
    /// Returns the file of a line: its path, and the other members; `None` if it is another line.
    pub(super) fn of(line: &JournalLine<'_>) -> Option<(Arc<str>, Self)> {
        (line.v.0? == VERSION).then_some(())?;
        let target = line.begun.text()?;
        let content = Content { length: line.dst_len.0?, hash: line.dst_xxh3.hash()?, etag: None };
        let options = KnownOptions::Words(line.options.body()?.into(), 0);
        let (source, size) = (line.source()?, line.size.0?);
        Some((body_of(target), Self { source, options, size, content }))
    }
}

/// A file that may be there as it was written.
#[derive(Debug)]
pub(super) struct Candidate {
    /// The size of its source.
    pub(super) size: u64,
    /// Its bytes, as they were written.
    pub(super) content: Content,
}

#[cfg(feature = "cloud")]
impl Candidate {
    /// Returns the file of an object's origin, as [`JournalEntry::origin`] writes it; `None` if the object is of
    /// another source.
    pub(super) fn of_origin(origin: &str, source: &Path) -> Option<Self> {
        let words: Vec<&str> = origin.split(' ').collect();
        let [version, path, size, length, hash] = *words else { return None };
        let is_of_it = version.parse() == Ok(VERSION) && hash_of_word(path) == hash_of_path(source);
        let (length, hash) = (length.parse().ok()?, hash_of_word(hash)?);
        let content = Content { length, hash, etag: None };
        is_of_it.then_some(Self { size: size.parse().ok()?, content })
    }
}

#[cfg(feature = "cloud")]
fn hash_of_word(word: &str) -> Option<u64> {
    u64::from_str_radix(word, 16).ok()
}

/// Returns the XXH3 of a path, as the journal writes it.
#[cfg(feature = "cloud")]
fn hash_of_path(path: &Path) -> Option<u64> {
    let path = path_body(path);
    hash_of(path.as_bytes(), path.len() as u64).ok()
}

/// The bytes of an output, by their number and their hash.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Content {
    pub(super) length: u64,
    pub(super) hash: u64,
    etag: Option<Box<str>>,
}

impl JournaledFile {
    /// Returns the written file of a line: its path, and the other members; `None` if nothing was
    /// written, or a member is missing.
    pub(super) fn of(line: &JournalLine<'_>) -> Option<(Arc<str>, Self)> {
        (line.v.0? == VERSION).then_some(())?;
        let target = line.dst.text()?;
        let known = Self {
            below: path_of(target),
            source: line.source()?,
            size: line.size.0?,
            modified: line.mtime_ns.0?,
            changed: line.ctime_ns.0,
            inode: line.inode.0,
            source_hash: line.src_xxh3.hash()?,
            source_etag: line.src_etag.body().map(Into::into),
            options: match line.options.body() {
                Some(words) => {
                    KnownOptions::Words(words.into(), line.beside_xxh3.hash().unwrap_or(0))
                }
                None => KnownOptions::Hash(line.opts_hash.hash()?),
            },
            content: Content {
                length: line.dst_len.0?,
                hash: line.dst_xxh3.hash()?,
                etag: line.dst_etag.body().map(Into::into),
            },
            status: FileStatus::of_word(line.status.body()?)?,
            carries: line.carries.0.unwrap_or(0),
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
    pub(super) fn is_there(&self, base: &OutputRoot, below: &Path) -> Option<i128> {
        self.content.is_there(base, below)
    }
}

impl Content {
    /// Returns the modification time of the file at a path, in nanoseconds since 1970; `None` if it has other bytes.
    pub(super) fn is_there(&self, base: &OutputRoot, below: &Path) -> Option<i128> {
        match base {
            OutputRoot::Folder(folder) => self.is_in(folder, below),
            #[cfg(feature = "cloud")]
            OutputRoot::Prefix(bucket, prefix) => {
                let stat = bucket.stat(&prefix.join(below)).ok()?;
                let is_it = match &self.etag {
                    Some(_) => is_etag(&self.etag, stat.etag.as_deref()),
                    None => {
                        let object = bucket.open(&prefix.join(below)).ok()?;
                        hash_of(object, self.length).ok()? == self.hash
                    }
                };
                (is_it && stat.length == self.length).then_some(stat.modified)
            }
        }
    }

    fn is_in(&self, folder: &Arc<Folder>, below: &Path) -> Option<i128> {
        let folder = folder.below(below.parent()?).ok()?;
        let file = folder.read(below.file_name()?).ok()?;
        let metadata = file.metadata().ok()?;
        let length = metadata.len();
        let is_it = length == self.length && hash_of(file, length).ok()? == self.hash;
        is_it.then(|| Stat::of(&metadata).modified)
    }
}

/// Returns whether two etags are known and equal. Some answers of a store have quotes around them.
pub(super) fn is_etag(known: &Option<Box<str>>, etag: Option<&str>) -> bool {
    known.is_some() && known.as_deref() == etag.map(etag_body).as_deref()
}

/// Returns an etag as the body of a JSON string.
fn etag_body(etag: &str) -> Box<str> {
    path_body(Path::new(etag.trim_matches('"')))
}

#[cfg(all(test, unix))]
mod tests {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    use super::*;

    #[test]
    fn lines_are_spelled_as_ever() {
        let odd = PathBuf::from(OsStr::from_bytes(b"/a \"b\"\n/\xff\xc3\xc3\xa9\x1b.jsonl"));
        let stat = Stat { length: 7, modified: -1, changed: None, inode: Some(5), etag: None };
        let entry = JournalEntry {
            source: odd.clone(),
            stat: stat.clone(),
            source_hash: 0xa,
            salt: Salt::default(),
            written: None,
            status: FileStatus::Vanished,
            records: 1,
            lost: 2,
            damaged: 3,
            carries: 0,
        };
        let options = OutputOptions::of_words("--to clido", 9);
        let start = concat!(
            r#"{"v":1,"tool":"convert "#,
            env!("CARGO_PKG_VERSION"),
            r#"","options":"--to clido""#
        );
        let said = |entry: &JournalEntry| {
            let line = String::from_utf8(entry.line(&options)).expect("UTF-8");
            line.strip_prefix(start).expect(&line).to_owned()
        };
        assert_eq!(
            said(&entry),
            concat!(
                r#","src":"/a \"b\"\n/\udcff\udcc3é\u001b.jsonl","size":7,"mtime_ns":-1"#,
                r#","src_xxh3":"000000000000000a","dst":null,"dst_len":null,"dst_xxh3":null"#,
                r#","status":"Vanished","records":1,"lost":2,"damaged":3}"#,
                "\n"
            )
        );
        let written = Written {
            below: odd,
            length: 9,
            hash: 0xb,
            sha256: Some([0xf; 32]),
            etag: Some("\"W/é\"".to_owned()),
        };
        let stat = Stat { changed: Some(i128::MAX), etag: Some("e".to_owned()), ..stat };
        let (salt, status) = (Salt { hash: 3, of_0_1_0: 4 }, FileStatus::DoneWithDamage);
        let entry =
            JournalEntry { stat, salt, status, written: Some(written), carries: 4, ..entry };
        assert_eq!(
            said(&entry),
            concat!(
                r#","beside_xxh3":"0000000000000003""#,
                r#","src":"/a \"b\"\n/\udcff\udcc3é\u001b.jsonl","size":7,"mtime_ns":-1"#,
                r#","ctime_ns":170141183460469231731687303715884105727,"inode":5"#,
                r#","src_xxh3":"000000000000000a","src_etag":"e""#,
                r#","dst":"/a \"b\"\n/\udcff\udcc3é\u001b.jsonl","dst_len":9"#,
                r#","dst_xxh3":"000000000000000b","dst_sha256":""#,
                r#"0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f""#,
                r#","dst_etag":"W/é","status":"Damaged","records":1,"lost":2,"damaged":3,"carries":4}"#,
                "\n"
            )
        );
    }

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
            carries: 1,
        };
        let options = OutputOptions::of_words("--to clido", 9);
        let line = record.line(&options);
        let line = record::read(&line).expect("JSON");
        let (target, known) = JournaledFile::of(&line).expect("known");
        assert_eq!(&*target, r#"/a \"b\"\n/\udcff\udcc3.jsonl"#);
        assert_eq!((&known.source, known.size, known.modified), (&target, u64::MAX, -1));
        assert!(is_etag(&known.source_etag, Some("a\\b")) && !is_etag(&known.content.etag, None));
        assert!(options.are(&known.options, record.salt));
        assert!(!options.are(&known.options, Salt::default()));
        assert!(known.has_times_of(&stat));
        assert!(!known.has_times_of(&Stat { changed: Some(-1), ..stat.clone() }));
        assert!(!known.has_times_of(&Stat { inode: Some(6), ..stat }));
        assert_eq!((known.content.length, known.content.hash), (3, u64::MAX));
        let begun = record.begun_line(&options).expect("a file");
        let begun = record::read(&begun).expect("JSON");
        assert!(JournaledFile::of(&begun).is_none() && BegunFile::of(&line).is_none());
        let (target, begun) = BegunFile::of(&begun).expect("begun");
        assert_eq!(&*target, r#"/a \"b\"\n/\udcff\udcc3.jsonl"#);
        assert_eq!(
            (&begun.source, begun.size, &begun.content.hash),
            (&target, u64::MAX, &u64::MAX)
        );
        assert_eq!(known.status, FileStatus::DoneWithLoss);
        let nothing = JournalEntry { written: None, ..record }.line(&options);
        assert!(JournaledFile::of(&record::read(&nothing).expect("JSON")).is_none());
    }
}
