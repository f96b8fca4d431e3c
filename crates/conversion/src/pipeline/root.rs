//! Joins the members around the records of a document, wherever they are.
//!
//! In: `{"id":1,"messages":[..],"title":"a"}` and the path `messages`. Out: `{"id":1,"title":"a"}`.
//!
//! A client that writes values anew may move members of the root from before the records to behind
//! them. The carry in these members has a guard of all of them, and is the first one.

use jsonl::{Line, UnitScanner, Value};

/// The members of a document's root, without the arrays of records.
pub(crate) struct JoinedRoot {
    paths: &'static [&'static str],
    scanner: UnitScanner,
    root: Vec<u8>,
    n_glue: u64,
    /// Whether a member is behind the records.
    is_spread: bool,
    is_damaged: bool,
}

impl JoinedRoot {
    /// Creates the root of a document with records at these paths.
    pub(crate) fn new(paths: &'static [&'static str]) -> Self {
        let scanner = UnitScanner::default();
        Self { paths, scanner, root: vec![b'{'], n_glue: 0, is_spread: false, is_damaged: false }
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
        let length = self.root.len();
        push_members(value, self.paths, &mut self.root);
        self.is_spread |= self.n_glue > 0 && self.root.len() > length;
        self.n_glue += 1;
        true
    }

    /// Returns the object with all members; `None` if no member is behind the records, or if the root
    /// is damaged.
    pub(crate) fn finish(mut self) -> Option<Vec<u8>> {
        self.root.push(b'}');
        (self.is_spread && !self.is_damaged).then_some(self.root)
    }
}

/// Returns the first key of a path to records.
pub(crate) fn first_key(path: &'static str) -> &'static str {
    path.split(['.', '[']).find(|key| !key.is_empty()).unwrap_or_default()
}

fn push_members(object: Value<'_>, paths: &[&'static str], out: &mut Vec<u8>) {
    for (key, member) in object.members() {
        if paths.iter().any(|path| key.is(first_key(path))) {
            continue;
        }
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
            let mut units = Document::new(document.as_bytes(), paths);
            let mut root = JoinedRoot::new(paths);
            while let Some(unit) = units.next().expect("a slice") {
                if !root.push(&unit) {
                    break;
                }
            }
            let root = root.finish().map(|root| String::from_utf8(root).expect("text"));
            assert_eq!(root.as_deref(), expected, "{document}");
        }
    }
}
