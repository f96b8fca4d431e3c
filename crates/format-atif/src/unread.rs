//! Lists the members of a record that no event holds, so that a conversion can report them as lost.
//!
//! In: `{"step_id":1,"source":"user","message":"Hi","is_copied_context":true}`. Out:
//! `is_copied_context`.

use core_model::{Body, Event, Shape, Vocabulary, is_carry, is_void};
use jsonl::Value;

use crate::record::{Entry, Record};

/// The names that ATIF has for the members that events hold.
pub(crate) static VOCABULARY: Vocabulary = Vocabulary {
    session_id: "session_id",
    cwd: "agent.extra.cwd",
    version: "agent.version",
    git_branch: "agent.extra.git_branch",
    message_id: "extra.message_id",
    request_id: "extra.request_id",
    tool_use_result: "extra.tool_use_result",
    is_meta: "extra.kind",
    is_api_error: "extra.is_api_error",
    has_api_blocks: false,
    ids_from_ends: true,
    shape,
    list,
    record: |event| [event.kind, None],
    ..Vocabulary::PLAIN
};

/// Limit on the depth of members in the hash of a record: `metrics.extra.service_tier`.
const DEPTH: usize = 4;

/// Returns a hash of the names of all members of a record that are lost with it.
fn shape(event: &Event<'_>) -> Shape {
    let mut shape = Shape::default();
    if let Some(kind) = event.kind {
        shape.add_name(kind.body().as_bytes());
    }
    let is_of_body = match event.body {
        Body::Start(_) => b's',
        Body::Message(_) => b'm',
        Body::Notice(_) => b'n',
        _ => b'o',
    };
    shape.add_name(&[is_of_body]);
    add(&mut shape, event.value, DEPTH);
    shape
}

/// Adds the members of an object, or of the objects of an array, down to a depth.
fn add(shape: &mut Shape, value: Value<'_>, depth: usize) {
    let Some(depth) = depth.checked_sub(1) else { return };
    value.read_members(|key, member| {
        if key == b"arguments" || key == b"steps" || key == b"subagent_trajectories" {
            return true;
        }
        shape.add(key, &member);
        if key == b"source" || key == b"kind" {
            shape.add_name(member.raw().as_str().as_bytes());
        }
        if member.text().is_none() {
            shape.add_name(b"no text");
            add(shape, member, depth);
        }
        true
    });
    for item in value.items() {
        add(shape, item, depth);
    }
}

fn list(event: &Event<'_>, found: &mut dyn FnMut(&str)) {
    match (&event.body, Record::decode(event.value).entry) {
        (Body::Start(_), Entry::Document(_)) => list_document(event.value, found),
        (Body::Message(_) | Body::Notice(_), Entry::Step(_)) => {
            let is_observation = event.kind.is_some_and(|kind| kind.is("observation"));
            match is_observation {
                true => list_results(event.value, found),
                false => list_step(event, found),
            }
        }
        _ => {}
    }
}

fn list_document(document: Value<'_>, found: &mut dyn FnMut(&str)) {
    for (key, value) in document.members() {
        let key = key.decode();
        match &*key {
            // The version is the format's own, and the records are elsewhere.
            "schema_version" | "steps" | "subagent_trajectories" => {}
            "session_id" | "notes" if value.text().is_some() => {}
            "agent" => list_agent(value, found),
            "extra" => list_members("extra", value, &["title"], found),
            _ => list_whole(&key, value, found),
        }
    }
}

fn list_agent(agent: Value<'_>, found: &mut dyn FnMut(&str)) {
    for (key, value) in agent.members() {
        let key = key.decode();
        match &*key {
            "version" | "model_name" if value.text().is_some() => {}
            "extra" => list_members("agent.extra", value, &["cwd", "git_branch"], found),
            _ => list_whole(&format!("agent.{key}"), value, found),
        }
    }
}

fn list_step(event: &Event<'_>, found: &mut dyn FnMut(&str)) {
    let is_response = event.message().is_some_and(|it| it.role == core_model::Role::Assistant);
    let is_notice = matches!(event.body, Body::Notice(_));
    for (key, value) in event.value.members() {
        let key = key.decode();
        let is_text = value.text().is_some();
        match &*key {
            // Its number is its place.
            "step_id" | "source" | "message" => {}
            "timestamp" => {}
            // One call is what a response is elsewhere.
            "llm_call_count" if value.raw().as_str() == "1" => {}
            "model_name" | "reasoning_content" if is_response && is_text => {}
            "tool_calls" if is_response && value.is_array() => {
                value.items().for_each(|call| list_call(call, found));
            }
            "metrics" if is_response && value.is_object() => list_metrics(value, found),
            "observation" if has_results(value) => {}
            "extra" => {
                let known: &[&str] = match (is_response, is_notice) {
                    (true, _) => &RESPONSE,
                    (_, true) => &NOTICE,
                    _ => &["kind"],
                };
                list_members("extra", value, known, found);
            }
            _ => list_whole(&key, value, found),
        }
    }
}

fn list_call(call: Value<'_>, found: &mut dyn FnMut(&str)) {
    for (key, value) in call.members() {
        let key = key.decode();
        match &*key {
            "tool_call_id" | "function_name" | "arguments" => {}
            "extra" => list_members("tool_calls.extra", value, &["is_server"], found),
            _ => list_whole(&format!("tool_calls.{key}"), value, found),
        }
    }
}

/// The members of `extra` that a response has in its event.
const RESPONSE: [&str; 6] =
    ["kind", "message_id", "request_id", "stop_reason", "is_api_error", "thinking_signature"];

/// The members of `extra` that a notice has in its event.
const NOTICE: [&str; 6] = ["kind", "level", "subtype", "about", "trigger", "pre_tokens"];

fn has_results(observation: Value<'_>) -> bool {
    observation.get("results").is_some_and(|results| results.items().next().is_some())
}

fn list_metrics(metrics: Value<'_>, found: &mut dyn FnMut(&str)) {
    for (key, value) in metrics.members() {
        let key = key.decode();
        match &*key {
            "prompt_tokens" | "completion_tokens" | "cached_tokens"
                if value.raw().as_u64().is_some() => {}
            "extra" => {
                list_members("metrics.extra", value, &["cache_creation_input_tokens"], found);
            }
            _ => list_whole(&format!("metrics.{key}"), value, found),
        }
    }
}

fn list_results(step: Value<'_>, found: &mut dyn FnMut(&str)) {
    let Some(observation) = step.get("observation") else { return };
    for (key, value) in observation.members() {
        if !key.is("results") {
            list_whole(&format!("observation.{}", key.decode()), value, found);
            continue;
        }
        let is_alone = value.items().nth(1).is_none();
        for result in value.items() {
            for (key, value) in result.members() {
                let key = key.decode();
                let known: &[&str] = match is_alone {
                    true => &["is_error", "tool_result_is_error", "tool_use_id", "tool_use_result"],
                    false => &["is_error", "tool_result_is_error", "tool_use_id"],
                };
                match &*key {
                    "source_call_id" | "content" => {}
                    "extra" => list_members("results.extra", value, known, found),
                    _ => list_whole(&format!("results.{key}"), value, found),
                }
            }
        }
    }
}

/// Lists the members of an object besides the known ones. Another value is lost as a whole.
fn list_members(name: &str, value: Value<'_>, known: &[&str], found: &mut dyn FnMut(&str)) {
    if !value.is_object() {
        return list_whole(name, value, found);
    }
    for (key, value) in value.members() {
        if !is_carry(key, value) && !known.iter().any(|name| key.is(name)) {
            list_whole(&format!("{name}.{}", key.decode()), value, found);
        }
    }
}

fn list_whole(name: &str, value: Value<'_>, found: &mut dyn FnMut(&str)) {
    if !is_void(&value) {
        found(name);
    }
}
