//! Removes duplicate members as Python does: the last value, at the first place.
//!
//! In: `{"a":1,"b":2,"a":3}`. Out: `{"a": 3, "b": 2}`.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    hash::{BuildHasher, RandomState},
};

use super::push_body;
use crate::{Style, Text, Value};

/// Number of members up to which keys are compared one by one.
const FEW: usize = 16;

/// Number of members of an object beyond which duplicates are kept.
const MANY: usize = 64 * 1024;

/// Returns whether an object has too many members to remove duplicates.
pub(super) fn has_many_members(value: Value<'_>) -> bool {
    value.members().nth(MANY).is_some()
}

/// Returns whether two members may have the same key.
pub(super) fn has_duplicates(value: Value<'_>) -> bool {
    let mut later = value.members();
    if later.clone().nth(FEW).is_some() {
        // Many keys are compared by hashes, because copies of the keys would take more memory than
        // the object.
        let (state, mut seen) = (RandomState::new(), HashSet::new());
        return later.any(|(key, _)| !seen.insert(state.hash_one(meaning(key))));
    }
    while let Some((key, _)) = later.next() {
        let is_escaped = || key.as_str().contains('\\');
        if later.clone().any(|(other, _)| other.as_str() == key.as_str()) || is_escaped() {
            return true;
        }
    }
    false
}

/// Returns the members without duplicates: the last value, at the first place.
pub(super) fn without_duplicates(value: Value<'_>) -> Vec<(&str, Value<'_>)> {
    let mut places = HashMap::new();
    let mut kept: Vec<(&str, Value<'_>)> = Vec::new();
    for (key, member) in value.members() {
        let place = *places.entry(meaning(key)).or_insert(kept.len());
        match kept.get_mut(place) {
            Some(earlier) => earlier.1 = member,
            None => kept.push((key.as_str(), member)),
        }
    }
    kept
}

/// Returns the unescaped key, with lone surrogates, for comparison.
fn meaning(key: Text<'_>) -> Cow<'_, [u8]> {
    let body = key.body();
    if body.is_ascii() && !body.contains('\\') {
        return Cow::Borrowed(body.as_bytes());
    }
    let mut spelled = Vec::new();
    push_body(&mut spelled, body, Style::Python, Style::Python);
    Cow::Owned(spelled)
}
