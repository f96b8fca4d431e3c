//! Joins the members around the records of a document, wherever they are.
//!
//! In: `{"id":1,"messages":[..],"title":"a"}` and the path `messages`. Out: `{"id":1,"title":"a"}`.
//!
//! A client that writes values anew may move members of the root from before the records to behind
//! them. The carry in these members has a guard of all of them, and is the first one.

use std::io::{self, Read};

use jsonl::{Document, UnitScanner, Value};

/// Returns the object with the members of a document's root, without the arrays of records; `None` if
/// no member is behind the records, or if the root is damaged.
pub(crate) fn joined_root<R: Read>(
    reader: R,
    paths: &'static [&'static str],
) -> io::Result<Option<Vec<u8>>> {
    let arrays: Vec<&str> = paths.iter().map(|path| first_key(path)).collect();
    let (mut document, mut scanner) = (Document::new(reader, paths), UnitScanner::default());
    let (mut root, mut n_glue, mut is_spread) = (vec![b'{'], 0, false);
    while let Some(unit) = document.next()? {
        if !unit.is_glue() || unit.is_punctuation() {
            continue;
        }
        let Ok(value) = scanner.scan(&unit, paths).1 else { return Ok(None) };
        let length = root.len();
        push_members(value, &arrays, &mut root);
        is_spread |= n_glue > 0 && root.len() > length;
        n_glue += 1;
    }
    root.push(b'}');
    Ok(is_spread.then_some(root))
}

/// Returns the first key of a path to records.
pub(crate) fn first_key(path: &'static str) -> &'static str {
    path.split(['.', '[']).find(|key| !key.is_empty()).unwrap_or_default()
}

fn push_members(object: Value<'_>, without: &[&str], out: &mut Vec<u8>) {
    for (key, member) in object.members() {
        if without.iter().any(|name| key.is(name)) {
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
            let root = joined_root(document.as_bytes(), paths).expect("a slice");
            let root = root.map(|root| String::from_utf8(root).expect("text"));
            assert_eq!(root.as_deref(), expected, "{document}");
        }
    }
}
