//! Lists the members of Google's parts that no event holds.
//!
//! In: `{"functionCall":{"id":"c","name":"n","args":{},"mood":"good"}}`. Out: `functionCall.mood`.

use core_model::{Shape, is_void};
use jsonl::Value;

/// The members of a part by its kind.
const KINDS: [(&str, &[&str]); 3] = [
    ("functionCall", &["id", "name", "args"]),
    ("functionResponse", &["id", "name", "response", "parts"]),
    ("inlineData", &["mimeType", "data"]),
];

/// The members of a response's tokens that events hold.
const TOKENS: [&str; 3] = ["promptTokenCount", "candidatesTokenCount", "cachedContentTokenCount"];

/// Adds the names of the members of parts and of what is in them.
pub(crate) fn add_parts(shape: &mut Shape, parts: Value<'_>) {
    for part in parts.items() {
        add_members(shape, part, |shape, value| {
            add_members(shape, value, |shape, value| {
                if value.is_object() {
                    add_members(shape, value, |_, _| {});
                }
            });
        });
    }
}

/// Adds the names of the members of an object, and calls `each` with their values.
pub(crate) fn add_members(
    shape: &mut Shape,
    object: Value<'_>,
    each: impl Fn(&mut Shape, Value<'_>),
) {
    object.read_members(|key, value| {
        shape.add(key, &value);
        if value.text().is_none() {
            shape.add_name(b"no text");
        }
        each(shape, value);
        true
    });
}

/// Lists the members of parts that no event holds.
pub(crate) fn list_parts(parts: Value<'_>, found: &mut dyn FnMut(&str)) {
    parts.items().for_each(|part| list_part(part, found));
}

/// Lists the members of a part that no event holds.
pub(crate) fn list_part(part: Value<'_>, found: &mut dyn FnMut(&str)) {
    let is_thought = part.get("thought").and_then(|it| it.bool()) == Some(true);
    let kind = KINDS.iter().find(|(kind, _)| part.get(kind).is_some());
    // A part of any other kind is shown or lost as a whole.
    if kind.is_none() && part.get("text").is_none() {
        return;
    }
    for (key, value) in part.members() {
        let key = key.decode();
        let is_held = match kind {
            Some((kind, _)) => key == *kind,
            None => matches!(&*key, "text" | "thought") || is_thought && key == "thoughtSignature",
        };
        if !is_held && !is_void(&value) {
            found(&key);
        }
    }
    if let Some((kind, known)) = kind
        && let Some(inner) = part.get(kind)
    {
        list_members(inner, kind, known, found);
        if *kind == "functionResponse" {
            list_response(inner, found);
        }
    }
}

/// Lists the members of a response besides its words. With an `error` the words are the error.
fn list_response(response: Value<'_>, found: &mut dyn FnMut(&str)) {
    let Some(inner) = response.get("response") else { return };
    match (inner.get("error"), inner.get("output")) {
        (Some(_), _) => list_members(inner, "response", &["error"], found),
        (None, Some(_)) => list_members(inner, "response", &["output"], found),
        // The whole object is the content.
        (None, None) => {}
    }
}

/// Lists the members of an object besides some, with the object's name before theirs.
pub(crate) fn list_members(
    object: Value<'_>,
    name: &str,
    known: &[&str],
    found: &mut dyn FnMut(&str),
) {
    for (key, value) in object.members() {
        if !known.iter().any(|known| key.is(known)) && !is_void(&value) {
            found(&format!("{name}.{}", key.decode()));
        }
    }
}

/// Lists the tokens that no event holds.
pub(crate) fn list_usage(usage: Value<'_>, found: &mut dyn FnMut(&str)) {
    list_members(usage, "usageMetadata", &TOKENS, found);
}
