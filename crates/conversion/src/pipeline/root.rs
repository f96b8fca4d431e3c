//! Joins the members around the records of a document, wherever they are.
//!
//! In: `{"id":1,"messages":[..],"title":"a"}` and the path `messages`. Out: `{"id":1,"title":"a"}`.
//!
//! A client that writes values anew may move members of the root from before the records to behind
//! them. The carry in these members has a guard of all of them, and is the first one.

use std::io::{self, Read, Seek, Write};

use jsonl::{Line, Text, UnitScanner, Value};

use crate::carry::{Temporary, temporary};

/// Limit on the members that are kept before one is known to be behind the records.
const MAX_KEPT: usize = if cfg!(test) { 16 } else { 64 * 1024 };

/// The members of a document's root, without the arrays of records.
pub(crate) struct JoinedRoot {
    paths: &'static [&'static str],
    /// Limit on the members that are kept.
    most: usize,
    scanner: UnitScanner,
    root: Vec<u8>,
    n_glue: u64,
    /// Whether a member is behind the records.
    is_spread: bool,
    is_damaged: bool,
    /// Whether members were left out.
    is_cut: bool,
}

/// The result of a pass over a document.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum RootFound {
    /// No member is behind the records, or the root is damaged.
    InPlace,
    /// The object with all members.
    Joined(Vec<u8>),
    /// A member is behind the records, and the members are too long to be kept in vain: another pass joins them.
    Long,
}

impl JoinedRoot {
    /// Creates the root of a document with records at these paths. It keeps long members only if the root `is_long`.
    pub(crate) fn new(paths: &'static [&'static str], is_long: bool) -> Self {
        Self {
            paths,
            most: if is_long { usize::MAX } else { MAX_KEPT },
            scanner: UnitScanner::default(),
            root: vec![b'{'],
            n_glue: 0,
            is_spread: false,
            is_damaged: false,
            is_cut: false,
        }
    }

    /// Adds a unit of the document. Returns false if the root is damaged.
    pub(crate) fn push(&mut self, unit: &Line<'_>) -> bool {
        if !unit.is_glue() || unit.is_punctuation() {
            return true;
        }
        let Ok(value) = self.scanner.scan(unit, self.paths).1 else {
            self.is_damaged = true;
            return false;
        };
        let n_more = value.raw().as_str().len();
        let mut members = members(value, self.paths).peekable();
        self.is_spread |= self.n_glue > 0 && members.peek().is_some();
        self.n_glue += 1;
        self.is_cut |= self.root.len().saturating_add(n_more) > self.most;
        if !self.is_cut {
            push_members(members, &mut self.root);
        }
        true
    }

    /// Returns the object with all members, if a member is behind the records.
    pub(crate) fn finish(mut self) -> RootFound {
        match self.is_spread && !self.is_damaged {
            false => RootFound::InPlace,
            true if self.is_cut => RootFound::Long,
            true => {
                self.root.push(b'}');
                RootFound::Joined(self.root)
            }
        }
    }
}

/// The joined members of a root between the passes over a document. Long ones are in a temporary file.
#[derive(Debug)]
pub(crate) enum KeptRoot {
    Short(Vec<u8>),
    /// A file, and its size.
    Long(Temporary, usize),
}

impl KeptRoot {
    /// Keeps an object.
    ///
    /// # Errors
    ///
    /// Returns an error if a temporary file cannot be written.
    pub(crate) fn new(object: Vec<u8>) -> io::Result<Self> {
        if object.len() <= MAX_KEPT {
            return Ok(Self::Short(object));
        }
        let mut file = temporary();
        file.write_all(&object)?;
        Ok(Self::Long(file, object.len()))
    }

    /// Returns the object.
    ///
    /// # Errors
    ///
    /// Returns an error if the temporary file cannot be read.
    pub(crate) fn object(&mut self) -> io::Result<Vec<u8>> {
        match self {
            Self::Short(object) => Ok(object.clone()),
            Self::Long(file, n_bytes) => {
                let mut object = Vec::with_capacity(*n_bytes);
                file.rewind()?;
                file.read_to_end(&mut object)?;
                Ok(object)
            }
        }
    }
}

/// Returns the first key of a path to records.
pub(crate) fn first_key(path: &'static str) -> &'static str {
    path.split(['.', '[']).find(|key| !key.is_empty()).unwrap_or_default()
}

/// Returns the members of an object, without the arrays of records.
fn members<'v>(
    object: Value<'v>,
    paths: &'static [&'static str],
) -> impl Iterator<Item = (Text<'v>, Value<'v>)> {
    object.members().filter(|(key, _)| !paths.iter().any(|path| key.is(first_key(path))))
}

fn push_members<'v>(members: impl Iterator<Item = (Text<'v>, Value<'v>)>, out: &mut Vec<u8>) {
    for (key, member) in members {
        if out.len() > 1 {
            out.push(b',');
        }
        out.extend_from_slice(key.as_str().as_bytes());
        out.push(b':');
        out.extend_from_slice(member.raw().as_str().as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use jsonl::Document;

    use super::*;

    #[test]
    fn members_of_the_root_are_joined_if_some_are_behind_the_records() {
        let paths: &[&str] = &["m", "a[].m"];
        for (document, expected) in [
            (r#"{"id":1,"m":[{"x":1},{}],"t":{"b":2}}"#, Some(r#"{"id":1,"t":{"b":2}}"#)),
            (r#"{"m":[{}, {}] ,"id" : "é" , "n":[]}"#, Some(r#"{"id":"é","n":[]}"#)),
            (r#"{"m":[{}],"x":1,"a":[{"m":[{}],"n":1}],"y":2}"#, Some(r#"{"x":1,"y":2}"#)),
            (r#"{"id":1,"m":[{}]}"#, None),
            (r#"{"id":1,"m":[{}],"a":[{"m":[{}],"n":1}]}"#, None),
            (r#"{"id":1,"m":[{}],"x":}"#, None),
            (r#"{"id":1,"m":[{}"#, None),
            ("", None),
        ] {
            let found = |is_long: bool| {
                let mut units = Document::new(document.as_bytes(), paths);
                let mut root = JoinedRoot::new(paths, is_long);
                while let Some(unit) = units.next().expect("a slice") {
                    if !root.push(&unit) {
                        break;
                    }
                }
                assert!(is_long || root.root.len() <= MAX_KEPT, "{document}");
                root.finish()
            };
            let expected =
                expected.map_or(RootFound::InPlace, |root| RootFound::Joined(root.into()));
            assert_eq!(found(true), expected, "{document}");
            match found(false) {
                // The members are kept in another pass only.
                RootFound::Long => assert!(document.len() > MAX_KEPT, "{document}"),
                found => assert_eq!(found, expected, "{document}"),
            }
            if let RootFound::Joined(root) = expected {
                let mut kept = KeptRoot::new(root.clone()).expect("kept");
                assert_eq!(matches!(kept, KeptRoot::Long(..)), root.len() > MAX_KEPT);
                assert_eq!([(); 2].map(|()| kept.object().expect("read")), [root.clone(), root]);
            }
        }
    }
}
