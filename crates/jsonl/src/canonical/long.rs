//! The canonical spelling of long values, without an index of all that is in them.
//!
//! In: a record of 30 MB with two million values, whose index would take 24 MB. Out: its canonical spelling, with the
//! indexes of its short values, one at a time, and 12 bytes for each member of a long object.

use super::{Member, Sink, each_canonical, push_members, push_value};
use crate::{
    Raw, Result, Scanner, Style, Text, respell,
    scan::{grammar::MAX_INDEXED_DEPTH, node::max_nodes},
    tokens::{Children, Tokens},
};

/// The length in bytes from which a container is split instead of indexed.
const LONG_VALUE: usize = if cfg!(test) { 64 } else { 1 << 20 };

/// Calls `each` with the pieces of the canonical spelling of JSON, as [`each_canonical`] does with a value.
///
/// # Errors
///
/// Returns an error if the bytes are not one JSON value.
///
/// ```
/// let mut joined = Vec::new();
/// jsonl::each_canonical_of(br#"{ "b":1.0, "a":"text" }"#, &[], &mut |piece| joined.extend_from_slice(piece))?;
/// assert_eq!(joined, br#"{"a":"text","b":1}"#);
/// # Ok::<(), jsonl::Error>(())
/// ```
pub fn each_canonical_of(
    bytes: &[u8],
    without: &[&str],
    each: &mut dyn FnMut(&[u8]),
) -> Result<()> {
    if bytes.len() >= LONG_VALUE {
        let mut scanner = Scanner::sparing();
        let value = scanner.scan_slice(bytes, 0)?;
        let text = value.raw().as_str();
        // Each level searches the ends of its containers, so that great depth would take long.
        let is_flat = value.oddities().depth as usize <= MAX_INDEXED_DEPTH;
        if is_flat && n_values(text) <= max_nodes(bytes.len()) {
            let mut sink = Sink { buffer: &mut Vec::new(), each: Some(each) };
            push_long(&mut sink, text, without);
            sink.flush();
            return Ok(());
        }
    }
    let mut scanner = Scanner::default();
    each_canonical(scanner.scan_slice(bytes, 0)?, without, each);
    Ok(())
}

/// Appends a value. The result is the same as with an index.
fn push_long(out: &mut Sink<'_>, text: &str, without: &[&str]) {
    let mut scanner = Scanner::default();
    let mut push_child = |out: &mut Sink<'_>, child: &str, without: &[&str]| {
        if child.len() >= LONG_VALUE && child.starts_with(['{', '[']) {
            return push_long(out, child, without);
        }
        match scanner.scan_text(child, 0) {
            Ok(value) => push_value(out, value, without),
            Err(_) => out.put(child.as_bytes()),
        }
    };
    if text.starts_with('[') {
        out.put(b"[");
        for (n, (_, item)) in Children::from(text, 1).enumerate() {
            if n > 0 {
                out.put(b",");
            }
            push_child(out, item, without);
        }
        return out.put(b"]");
    }
    if !text.starts_with('{') {
        return push_child(out, text, without);
    }
    let (mut keys, mut members) = (Vec::new(), Vec::new());
    let mut children = Children::from(text, 1);
    while let (Some((_, key)), Some((at, _))) = (children.next(), children.next()) {
        if without.iter().any(|path| Text::from_scanned(key).is(path)) {
            continue;
        }
        let start = keys.len();
        respell(&mut keys, Raw::from_scanned(key), Style::Compact);
        members.push(Member { start: start as u32, end: keys.len() as u32, at: at as u32 });
    }
    push_members(out, &keys, members, without, &mut |out, at, without| {
        if let Some((_, child)) = Children::from(text, at as usize).next() {
            push_child(out, child, without);
        }
    });
}

/// Returns the number of values in valid JSON, keys included.
fn n_values(text: &str) -> usize {
    Tokens::new(text, 0).filter(|(_, token)| !matches!(*token, "," | ":" | "]" | "}")).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::push_canonical;

    /// The spelling equals that through an index: with long keys, strings and containers, and with members left out.
    #[test]
    fn long_values_as_short_ones() {
        let long = "x".repeat(LONG_VALUE);
        let inner = format!(
            r#"{{ "t":1, "b":"{long}" , "\u0061":[ 1.0, -2e2,null,{{}},[ ],"]}}\"" ], "a":true }}"#
        );
        let mut texts = vec![
            inner.clone(),
            format!(" [ {inner} ,{inner},[{inner}] ,\"{long}\",1 ]\n"),
            format!(r#"{{"z":{{"t":2,"y":{inner}}},"t":{inner},"a":[{inner},7]}}"#),
            format!("\"{long}\\u00e9\""),
            "1".repeat(LONG_VALUE),
        ];
        for depth in [3, 15, 16, 17, 18, 40, 127, 128, 129, 200] {
            let open = r#"[3.0,{"b":"#.repeat(depth / 2);
            texts.push(format!("{open}{inner}{}", ",\"a\":1}]".repeat(depth / 2)));
        }
        for text in texts {
            for without in [&[][..], &["t", "z.t", "a.b"]] {
                let (mut expected, mut pieces) = (Vec::new(), Vec::new());
                let mut scanner = Scanner::default();
                let value = scanner.scan_slice(text.as_bytes(), 0).expect("JSON");
                push_canonical(&mut expected, value, without);
                each_canonical_of(text.as_bytes(), without, &mut |piece| {
                    pieces.extend_from_slice(piece);
                })
                .expect("JSON");
                assert_eq!(String::from_utf8(pieces), String::from_utf8(expected), "{text}");
                assert_eq!(n_values(&text), count(value), "{text}");
            }
        }
        assert!(each_canonical_of(format!("[{long}").as_bytes(), &[], &mut |_| {}).is_err());
    }

    /// Returns the number of values, from indexes.
    fn count(value: crate::Value<'_>) -> usize {
        if !value.is_indexed() {
            return count(Scanner::default().scan_raw(value.raw()).expect("JSON"));
        }
        let items: usize = value.items().map(count).sum();
        let members: usize = value.members().map(|(_, value)| 1 + count(value)).sum();
        1 + items + members
    }
}
