//! Finds the values of a record that another program may have spelled anew.
//!
//! In: `{"cost":0,"path":"a/b"}`. Out: the places of `0` and `"a/b"`, each with the hash of its member's key.

use std::ops::Range;

use twox_hash::XxHash3_64;

/// Limit on the numbers of a record, and on its spots.
const MAX_SPOTS: usize = 4096;

/// Limit on the depth of the values whose keys are known.
const MAX_OPEN: usize = 4096;

/// The depth up to which lists and objects are spots.
const MAX_DEPTH: usize = 6;

/// The kind of a spot.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum SpotKind {
    Number,
    /// A string with characters that programs spell in different ways.
    Text,
    /// A list or an object in the record.
    Container,
}

/// A value in a record.
#[derive(Debug)]
pub(super) struct Spot {
    pub(super) range: Range<usize>,
    /// The hash of the key of its member.
    pub(super) key: u64,
    pub(super) kind: SpotKind,
}

/// Returns the numbers of a JSON text, in order; none if it has too many.
pub(super) fn numbers_of(text: &str) -> Vec<Spot> {
    spots_of(text, Some(SpotKind::Number))
}

/// Returns the spots of a JSON text, of one kind or of all, in the order of their starts; none if it has too many.
pub(super) fn spots_of(text: &str, kind: Option<SpotKind>) -> Vec<Spot> {
    let is_wanted = |it| kind.is_none_or(|kind| kind == it);
    let (bytes, mut spots, mut open) = (text.as_bytes(), Vec::new(), Vec::new());
    let (mut at, mut string, mut key, mut n_deeper) = (0, 0..0, 0, 0_usize);
    while let Some(byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'"' => {
                while let Some(byte) = bytes.get(at).filter(|byte| **byte != b'"') {
                    at += if *byte == b'\\' { 2 } else { 1 };
                }
                string = start..at;
                at += 1;
                let is_key = bytes.get(at..).is_some_and(|rest| rest.starts_with(b":"));
                let has_ways = || bytes.get(string.clone()).is_some_and(has_several_spellings);
                if !is_key && is_wanted(SpotKind::Text) && has_ways() {
                    spots.push(Spot { range: start..at, key, kind: SpotKind::Text });
                }
            }
            b':' => key = XxHash3_64::oneshot(bytes.get(string.clone()).unwrap_or_default()),
            b'{' | b'[' if open.len() >= MAX_OPEN => n_deeper += 1,
            b'}' | b']' if n_deeper > 0 => n_deeper -= 1,
            b'{' | b'[' => {
                let is_spot =
                    is_wanted(SpotKind::Container) && (1..=MAX_DEPTH).contains(&open.len());
                if is_spot {
                    spots.push(Spot { range: start..at, key, kind: SpotKind::Container });
                }
                open.push((key, is_spot.then(|| spots.len() - 1)));
            }
            b'}' | b']' => {
                let Some((outer, place)) = open.pop() else { continue };
                key = outer;
                if let Some(spot) = place.and_then(|place| spots.get_mut(place)) {
                    spot.range.end = at;
                }
            }
            b'-' | b'0'..=b'9' => {
                let is_digit = |byte: &u8| {
                    byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E')
                };
                while bytes.get(at).is_some_and(is_digit) {
                    at += 1;
                }
                if is_wanted(SpotKind::Number) {
                    spots.push(Spot { range: start..at, key, kind: SpotKind::Number });
                }
            }
            _ => {}
        }
        if spots.len() > MAX_SPOTS {
            return Vec::new();
        }
    }
    spots
}

/// Returns whether programs spell some characters of a string in different ways.
fn has_several_spellings(string: &[u8]) -> bool {
    let differs = |byte: &u8| matches!(byte, b'/' | b'<' | b'>' | b'&' | 0x80..);
    string.iter().any(differs) || string.windows(2).any(|pair| pair == b"\\u")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_behind_deep_ones_keep_their_keys() {
        let text = format!(r#"{{"a":{}1{},"b":2}}"#, "[".repeat(9000), "]".repeat(9000));
        let spots = numbers_of(&text);
        let found: Vec<_> =
            spots.iter().map(|spot| (&text[spot.range.clone()], spot.key)).collect();
        let key = |key: &[u8]| XxHash3_64::oneshot(key);
        assert_eq!(found, [("1", key(b"\"a")), ("2", key(b"\"b"))]);
    }

    #[test]
    fn spots_are_found() {
        let text = r#"{"a":{"b":[1,"x"],"c":"é"},"d/":-2e3,"e":["\u00e9",{}]}"#;
        let spots = spots_of(text, None);
        let found: Vec<_> = spots.iter().map(|spot| &text[spot.range.clone()]).collect();
        assert_eq!(
            found,
            [
                r#"{"b":[1,"x"],"c":"é"}"#,
                r#"[1,"x"]"#,
                "1",
                "\"é\"",
                "-2e3",
                r#"["\u00e9",{}]"#,
                r#""\u00e9""#,
                "{}",
            ]
        );
    }
}
