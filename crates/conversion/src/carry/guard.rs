//! The guard of a written record: the hash that tells whether it was edited.
//!
//! In a format whose client only appends, it is the hash of the record's bytes. In a format whose
//! client writes values anew, and for the head of a document, it is the hash of the canonical value:
//! the written `{"id":1,"text":"a"}` and the record `{ "text": "a", "id": 1.0 }` have one guard.

use std::hash::Hasher;

use core_model::Format;
use jsonl::{Line, Scanner, Value, each_canonical, each_canonical_of};
use twox_hash::XxHash3_64;

use super::{
    MEMBER, Member,
    number::guard_of,
    separators::{each_unescaped, has_escapes},
};
use crate::pipeline::root::first_key;

/// Returns the guard of a record of a format, given in one or more pieces without its carry.
pub(crate) fn record_guard(format: &Format, is_glue: bool, pieces: &[&[u8]]) -> u64 {
    if !is_of_value(format, is_glue) {
        return bytes_guard(format, pieces);
    }
    guard_without(&left_out(format, is_glue), pieces)
}

/// Returns the guard of a value, given in one or more pieces, without the members at some paths.
fn guard_without(without: &[&str], pieces: &[&[u8]]) -> u64 {
    let joined;
    let mut filled = pieces.iter().filter(|piece| !piece.is_empty());
    let record = match (filled.next(), filled.next()) {
        (Some(only), None) => *only,
        _ => {
            joined = pieces.concat();
            &joined
        }
    };
    let mut hasher = XxHash3_64::new();
    match each_canonical_of(record, without, &mut |piece| hasher.write(piece)) {
        Ok(()) => hasher.finish(),
        Err(_) => guard_of(&[record]),
    }
}

/// Returns the guard of a record's bytes. U+2028 and U+2029 are hashed as characters, because they are escaped in
/// lines of some formats.
fn bytes_guard(format: &Format, pieces: &[&[u8]]) -> u64 {
    if format.escapes_separators && pieces.iter().any(|piece| has_escapes(piece)) {
        let mut hasher = XxHash3_64::new();
        // An escape is within a string, and the pieces have whole strings.
        pieces.iter().for_each(|piece| each_unescaped(piece, &mut |piece| hasher.write(piece)));
        return hasher.finish();
    }
    guard_of(pieces)
}

/// Returns whether the guard of a record is of its value.
pub(crate) fn is_of_value(format: &Format, is_glue: bool) -> bool {
    format.rewrites.is_values() || is_glue
}

/// Returns the paths of members that do not count for the guard of a value.
fn left_out(format: &Format, is_glue: bool) -> Vec<&'static str> {
    let mut without = vec![MEMBER];
    if is_glue {
        without.extend(format.rewrites.volatile());
        // The arrays of the records are no part of the head.
        without.extend(format.framing.paths().iter().map(|path| first_key(path)));
    }
    without
}

/// The guards of a written record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordGuards {
    /// The guard without the volatile members.
    pub(crate) guard: u64,
    /// The guard with them, of the head of a document that its client marks.
    pub(crate) whole: Option<u64>,
}

impl RecordGuards {
    /// Returns the guards of a written record without its carry.
    pub(crate) fn of(format: &Format, is_glue: bool, record: &[u8]) -> Self {
        let whole = format.rewrites.mark().filter(|_| is_glue);
        Self {
            guard: record_guard(format, is_glue, &[record]),
            whole: whole.map(|_| whole_guard(format, &[record])),
        }
    }
}

impl From<u64> for RecordGuards {
    fn from(guard: u64) -> Self {
        Self { guard, whole: None }
    }
}

/// Returns the guard of the head of a document with its volatile members. The title does not count, because it is
/// compared with the restored titles.
fn whole_guard(format: &Format, pieces: &[&[u8]]) -> u64 {
    let mut without = vec![MEMBER];
    without.extend(format.title_place);
    without.extend(format.framing.paths().iter().map(|path| first_key(path)));
    guard_without(&without, pieces)
}

/// Returns whether a record, given in pieces, is as it was written under these guards, in any spelling. A client may
/// have changed the volatile members of the head only if its mark is there.
pub(crate) fn is_as_guarded(
    format: &Format,
    is_glue: bool,
    pieces: &[&[u8]],
    guards: RecordGuards,
) -> bool {
    if record_guard(format, is_glue, pieces) != guards.guard {
        return false;
    }
    let (Some(whole), Some(mark)) = (guards.whole.filter(|_| is_glue), format.rewrites.mark())
    else {
        return true;
    };
    whole_guard(format, pieces) == whole || has_member(&pieces.concat(), mark)
}

/// Returns whether a value has a member at a path.
fn has_member(value: &[u8], path: &str) -> bool {
    let mut scanner = Scanner::default();
    let Ok(value) = scanner.scan_slice(value, 0) else { return false };
    path.split('.').try_fold(value, |value, key| value.get(key)).is_some()
}

fn value_guard(format: &Format, is_glue: bool, value: Value<'_>) -> u64 {
    let mut hasher = XxHash3_64::new();
    each_canonical(value, &left_out(format, is_glue), &mut |piece| hasher.write(piece));
    hasher.finish()
}

/// Returns the guard of a line without a carry. `value` is its value, if it has one.
pub(crate) fn line_guard(format: &Format, line: &Line<'_>, value: Option<Value<'_>>) -> u64 {
    match value.filter(|_| is_of_value(format, line.is_glue())) {
        Some(value) => value_guard(format, line.is_glue(), value),
        None => bytes_guard(format, &[line.content()]),
    }
}

impl Member<'_> {
    /// Returns the guard of the record without the member, in a file of a format. `is_glue` means
    /// the object around the records of a document.
    pub fn guard_in(&self, format: &Format, is_glue: bool) -> u64 {
        match is_of_value(format, is_glue) {
            true => record_guard(format, is_glue, &[self.before.as_bytes(), self.after.as_bytes()]),
            false => bytes_guard(format, &[self.before.as_bytes(), self.after.as_bytes()]),
        }
    }
}
