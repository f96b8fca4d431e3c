//! Finds the transcripts of sub-agents whose names start with the name of their main file.
//!
//! In: `s1.jsonl` and `s1_review.jsonl`, and the separator `_`. Out: `s1_review.jsonl` is the
//! sub-agent `review` of `s1.jsonl`.

use std::{
    cell::LazyCell,
    path::{Path, PathBuf},
};

use jsonl::{ErrorKind, Framing, Records, UnitScanner, Value};

use super::{FileRole, Layout, Owner};
use crate::Files;

/// Number of lines of a file that are searched for one of its format; of a document, its head and its
/// first records.
const MAX_LINES: usize = 10;

/// The layout of sub-agents' transcripts beside the main file: `<session><separator><agent>.jsonl`.
///
/// An archive may add a version to both names: `s1.jsonl@2`.
#[derive(Clone, Copy, Debug)]
pub struct NamedAgents {
    /// The text between the name of the session and the id of the sub-agent.
    pub separator: &'static str,
    /// Returns whether a record is of the format. Names of other clients' files start with each other,
    /// too.
    pub detect: fn(Value<'_>) -> bool,
    /// How the files have their records: in lines, or in one document.
    pub framing: Framing,
}

impl Layout {
    /// The layout of a format whose sessions have no files but transcripts of sub-agents beside the main
    /// file, without its three functions of names: `owner`, `role` and `agent_name`.
    pub const NAMED: Layout = Layout {
        owner: |_, _| None,
        role: |_| None,
        has_folder: false,
        links: |_, _| {},
        description: None,
        describe: None,
        agent_name: |stem, agent| format!("{stem}_{agent}.jsonl"),
        agent_id: |_| None,
        is_internal: |_| false,
    };
}

/// Returns the main file of a session in the folder of a path: `s1.jsonl`, or `s1.json` for an export of a document.
/// `None` if neither is there.
///
/// ```
/// # use std::{io, path::Path};
/// # struct Folder;
/// # impl core_model::Files for Folder {
/// #     fn size(&self, _: &Path) -> io::Result<u64> { Ok(0) }
/// #     fn open(&self, _: &Path) -> io::Result<Box<dyn io::Read + Send>> { Ok(Box::new(io::empty())) }
/// #     fn may_be_there(&self, path: &Path) -> bool { path == Path::new("s1.json") }
/// # }
/// // The folder has `s1.json`.
/// let main = core_model::main_file(Path::new("s1_review.jsonl"), "s1", "", &Folder);
/// assert_eq!(main.as_deref(), Some(Path::new("s1.json")));
/// ```
pub fn main_file(
    beside: &Path,
    session: &str,
    version: &str,
    files: &dyn Files,
) -> Option<PathBuf> {
    let main = beside.with_file_name(format!("{session}.jsonl{version}"));
    if files.may_be_there(&main) {
        return Some(main);
    }
    let main = beside.with_file_name(format!("{session}.json"));
    (version.is_empty() && files.may_be_there(&main)).then_some(main)
}

impl NamedAgents {
    /// Returns the role of a file in its session, by a name such as `*_review.jsonl`.
    ///
    /// ```
    /// use core_model::{FileRole, Framing, NamedAgents};
    ///
    /// let agents = NamedAgents { separator: "_", detect: |_| true, framing: Framing::Lines };
    /// let agent = FileRole::Agent("review".to_owned());
    /// assert_eq!(agents.role("*_review.jsonl"), Some(agent.clone()));
    /// assert_eq!(agents.role("*_review.jsonl@2"), Some(agent));
    /// assert_eq!(agents.role("*_../x.jsonl"), None);
    /// ```
    pub fn role(&self, name: &str) -> Option<FileRole> {
        let name = name.strip_prefix('*')?.strip_prefix(self.separator)?;
        let (stem, ending) = name.rsplit_once('.')?;
        let version = ending.strip_prefix("jsonl")?;
        let is_version = version.strip_prefix('@').map_or(version.is_empty(), |it| {
            !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
        let is_id = !stem.is_empty() && !stem.contains('/');
        (is_version && is_id).then(|| FileRole::Agent(stem.to_owned()))
    }

    /// Returns the session that a file belongs to: the session with the shortest name that the file's
    /// name starts with. Both must be sessions of the format and of one version. The main file may end in
    /// `.json`, as exports of documents do.
    pub fn owner(&self, path: &Path, files: &dyn Files) -> Option<Owner> {
        let (stem, ending) = path.file_name()?.to_str()?.rsplit_once('.')?;
        let version = ending.strip_prefix("jsonl")?;
        // The file itself is read first, and once. It is nearly always the shorter one, and a session of another format would
        // be read for each of its sub-agents.
        let is_of_format = LazyCell::new(|| self.is_session(path, files));
        stem.match_indices(self.separator).find_map(|(at, _)| {
            let (session, rest) = stem.split_at_checked(at)?;
            let agent = rest.strip_prefix(self.separator)?;
            if session.is_empty() || agent.is_empty() {
                return None;
            }
            let main = main_file(path, session, version, files)?;
            if !*is_of_format {
                return None;
            }
            // An empty main session may still have sub-agents.
            let is_empty = || files.size(&main).is_ok_and(|size| size == 0);
            let may_own = self.is_session(&main, files) || is_empty();
            may_own.then(|| Owner { main, role: FileRole::Agent(agent.to_owned()) })
        })
    }

    /// Returns whether one of the first records of a file is of the format, or whether the file cannot be
    /// read: a document that was cut before its first record can be of any format.
    fn is_session(&self, path: &Path, files: &dyn Files) -> bool {
        let Ok(file) = files.open(path) else { return true };
        let (mut records, mut scanner) = (Records::new(file, self.framing), UnitScanner::default());
        let mut is_cut = false;
        for _ in 0..MAX_LINES {
            let line = match records.next() {
                Ok(Some(line)) => line,
                Ok(None) => return is_cut,
                Err(_) => return true,
            };
            match scanner.scan(&line, self.framing.paths()).1 {
                Ok(value) if (self.detect)(value) => return true,
                Ok(_) => is_cut = false,
                Err(error) => {
                    let is_end = error.kind == ErrorKind::UnexpectedEnd;
                    is_cut = self.framing.is_document() && is_end && line.offset() == 0;
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use std::{
        cell::RefCell,
        io::{self, Read},
    };

    use super::*;

    /// Sessions by the ends of their names, and the files that were opened.
    #[derive(Default)]
    struct Opened(RefCell<Vec<PathBuf>>);

    impl Files for Opened {
        fn size(&self, _: &Path) -> io::Result<u64> {
            Ok(10)
        }

        fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
            self.0.borrow_mut().push(path.to_owned());
            let is_ours = !path.to_string_lossy().contains("theirs");
            Ok(Box::new(if is_ours { &b"{\"a\":1}\n"[..] } else { b"{\"b\":1}\n" }))
        }

        fn may_be_there(&self, path: &Path) -> bool {
            matches!(path.to_str(), Some("s1.jsonl" | "s3.json" | "s1.json"))
        }
    }

    /// A session of another format may be large, and have thousands of sub-agents.
    #[test]
    fn the_main_file_is_read_for_a_file_of_the_format_alone() {
        let detect = |value: Value<'_>| value.get("a").is_some();
        let agents = NamedAgents { separator: "_", detect, framing: Framing::Lines };
        for (name, is_owned, opened) in [
            ("s1_ours.jsonl", true, &["s1_ours.jsonl", "s1.jsonl"][..]),
            ("s1_a_b_ours.jsonl", true, &["s1_a_b_ours.jsonl", "s1.jsonl"]),
            ("s1_a_b_theirs.jsonl", false, &["s1_a_b_theirs.jsonl"]),
            ("s2_ours.jsonl", false, &[]),
            ("s3_ours.jsonl", true, &["s3_ours.jsonl", "s3.json"]),
            ("s3_ours.jsonl@2", false, &[]),
        ] {
            let files = Opened::default();
            let owner = agents.owner(Path::new(name), &files);
            assert_eq!(
                owner.is_some_and(|it| Some(it.main.as_path()) == opened.get(1).map(Path::new)),
                is_owned,
                "{name}"
            );
            assert_eq!(*files.0.borrow(), opened.iter().map(PathBuf::from).collect::<Vec<_>>());
        }
    }
}
