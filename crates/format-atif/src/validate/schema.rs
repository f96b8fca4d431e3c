//! The members of each object, and the types that Harbor's models read.
//!
//! In: `{"tool_call_id":"t1","function_name":"ls","arguments":"-l"}`. Out: `arguments` is no object.

use core_model::Findings;
use jsonl::{Kind, Value};

/// The type of a member.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Type {
    Text,
    /// A whole number. Harbor reads `1.0`, `"1"` and `true` as one.
    Whole,
    /// A number.
    Number,
    /// A truth value.
    Truth,
    Object,
    Array,
    /// A text, or an array of parts.
    Content,
    /// A text or a number.
    Effort,
}

impl Type {
    fn name(self) -> &'static str {
        match self {
            Type::Text => "text",
            Type::Whole => "whole number",
            Type::Number => "number",
            Type::Truth => "truth value",
            Type::Object => "object",
            Type::Array => "array",
            Type::Content => "text or array of parts",
            Type::Effort => "text or number",
        }
    }

    fn fits(self, value: Value<'_>) -> bool {
        let kind = value.kind();
        match self {
            Type::Text => kind == Kind::String,
            Type::Object => kind == Kind::Object,
            Type::Array => kind == Kind::Array,
            Type::Content => matches!(kind, Kind::String | Kind::Array),
            Type::Whole => as_number(value).is_some_and(|number| number.fract() == 0.0),
            Type::Number => as_number(value).is_some(),
            Type::Effort => kind == Kind::String || as_number(value).is_some(),
            Type::Truth => is_truth(value),
        }
    }
}

/// Returns a number as Harbor's models read it: from a number, a text with one, or a truth value.
pub(super) fn as_number(value: Value<'_>) -> Option<f64> {
    match value.kind() {
        Kind::Number => value.raw().as_f64().or(Some(f64::MAX)),
        Kind::String => value.text()?.decode().trim().parse().ok(),
        Kind::True => Some(1.0),
        Kind::False => Some(0.0),
        _ => None,
    }
}

fn is_truth(value: Value<'_>) -> bool {
    let words = ["0", "off", "f", "false", "n", "no", "1", "on", "t", "true", "y", "yes"];
    match value.kind() {
        Kind::True | Kind::False => true,
        Kind::Number => value.raw().as_f64().is_some_and(|number| number == 0.0 || number == 1.0),
        Kind::String => value.text().is_some_and(|text| {
            let word = text.decode().to_lowercase();
            words.contains(&word.as_str())
        }),
        _ => false,
    }
}

/// A member of an object.
#[derive(Debug)]
pub(super) struct Member {
    name: &'static str,
    kind: Type,
    is_required: bool,
}

const fn required(name: &'static str, kind: Type) -> Member {
    Member { name, kind, is_required: true }
}

const fn optional(name: &'static str, kind: Type) -> Member {
    Member { name, kind, is_required: false }
}

pub(super) const DOCUMENT: &[Member] = &[
    // A document without a version has the newest one.
    required("schema_version", Type::Text),
    optional("session_id", Type::Text),
    optional("trajectory_id", Type::Text),
    required("agent", Type::Object),
    required("steps", Type::Array),
    optional("notes", Type::Text),
    optional("final_metrics", Type::Object),
    optional("continued_trajectory_ref", Type::Text),
    optional("extra", Type::Object),
    optional("subagent_trajectories", Type::Array),
];

pub(super) const AGENT: &[Member] = &[
    required("name", Type::Text),
    required("version", Type::Text),
    optional("model_name", Type::Text),
    optional("tool_definitions", Type::Array),
    optional("extra", Type::Object),
];

pub(super) const FINAL_METRICS: &[Member] = &[
    optional("total_prompt_tokens", Type::Whole),
    optional("total_completion_tokens", Type::Whole),
    optional("total_cached_tokens", Type::Whole),
    optional("total_cost_usd", Type::Number),
    optional("total_steps", Type::Whole),
    optional("extra", Type::Object),
];

pub(super) const STEP: &[Member] = &[
    required("step_id", Type::Whole),
    optional("timestamp", Type::Text),
    required("source", Type::Text),
    optional("model_name", Type::Text),
    optional("reasoning_effort", Type::Effort),
    required("message", Type::Content),
    optional("reasoning_content", Type::Text),
    optional("tool_calls", Type::Array),
    optional("observation", Type::Object),
    optional("metrics", Type::Object),
    optional("is_copied_context", Type::Truth),
    optional("llm_call_count", Type::Whole),
    optional("extra", Type::Object),
];

pub(super) const CALL: &[Member] = &[
    required("tool_call_id", Type::Text),
    required("function_name", Type::Text),
    required("arguments", Type::Object),
    optional("extra", Type::Object),
];

pub(super) const OBSERVATION: &[Member] = &[required("results", Type::Array)];

pub(super) const RESULT: &[Member] = &[
    optional("source_call_id", Type::Text),
    optional("content", Type::Content),
    optional("subagent_trajectory_ref", Type::Array),
    optional("extra", Type::Object),
];

pub(super) const REFERENCE: &[Member] = &[
    optional("trajectory_id", Type::Text),
    optional("session_id", Type::Text),
    optional("trajectory_path", Type::Text),
    optional("extra", Type::Object),
];

pub(super) const METRICS: &[Member] = &[
    optional("prompt_tokens", Type::Whole),
    optional("completion_tokens", Type::Whole),
    optional("cached_tokens", Type::Whole),
    optional("cost_usd", Type::Number),
    optional("prompt_token_ids", Type::Array),
    optional("completion_token_ids", Type::Array),
    optional("logprobs", Type::Array),
    optional("extra", Type::Object),
];

pub(super) const PART: &[Member] =
    &[required("type", Type::Text), optional("text", Type::Text), optional("source", Type::Object)];

pub(super) const IMAGE: &[Member] =
    &[required("media_type", Type::Text), required("path", Type::Text)];

pub(super) const AUDIO: &[Member] = &[
    required("media_type", Type::Text),
    required("path", Type::Text),
    optional("duration_sec", Type::Number),
];

/// Checks that all members of an object are known and have their types. The last one of a name
/// counts.
pub(super) fn check_object(
    name: &str,
    object: Value<'_>,
    members: &[Member],
    out: &mut Findings<'_>,
) {
    for (key, _) in object.members() {
        if !members.iter().any(|member| key.is(member.name)) {
            let key = key.decode();
            let key = key.get(..key.floor_char_boundary(60)).unwrap_or_default();
            let message =
                format!("{name} has a member `{key}`, which Harbor refuses; move it into `extra`");
            out.stops("unknown-member", message);
        }
    }
    for Member { name: key, kind, is_required } in members {
        let Some(value) = object.get(key) else { continue };
        let is_absent = value.is_null() && !is_required;
        if !is_absent && !kind.fits(value) {
            let message = format!("`{key}` of {name} is no {}: Harbor refuses it", kind.name());
            out.stops("type", message);
        }
    }
}

/// Checks that an object has the members that it needs.
pub(super) fn check_present(
    name: &str,
    object: Value<'_>,
    members: &[Member],
    out: &mut Findings<'_>,
) {
    if !object.is_indexed() {
        return;
    }
    for member in members.iter().filter(|member| member.is_required) {
        if object.get(member.name).is_none() {
            let message = format!("{name} has no `{}`: Harbor refuses it", member.name);
            out.stops("missing-member", message);
        }
    }
}
