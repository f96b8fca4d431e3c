//! Checks a step: its number, the members of its source, its calls and their results.
//!
//! In: a step of the user with `metrics`. Out: a problem, because only an agent has metrics.

use std::collections::HashSet;

use core_model::Findings;
use jsonl::Value;

use super::{
    schema::{
        AUDIO, CALL, IMAGE, METRICS, Member, OBSERVATION, PART, REFERENCE, RESULT, STEP, as_number,
        check_object, check_present,
    },
    time::is_time,
};

/// The members that only the steps of agents have.
const OF_AGENTS: [&str; 5] =
    ["model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics"];

/// The types of images.
const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// The types of audio, with the names that Harbor replaces.
const SOUNDS: [&str; 19] = [
    "audio/wav",
    "audio/mpeg",
    "audio/mp4",
    "audio/aac",
    "audio/ogg",
    "audio/flac",
    "audio/webm",
    "audio/aiff",
    "audio/mp3",
    "audio/mpga",
    "audio/x-mpeg",
    "audio/x-wav",
    "audio/wave",
    "audio/vnd.wave",
    "audio/x-m4a",
    "audio/m4a",
    "audio/x-aac",
    "audio/x-flac",
    "audio/x-aiff",
];

/// Checks an object with its required members.
fn check(name: &str, value: Value<'_>, members: &[Member], out: &mut Findings<'_>) -> bool {
    if !value.is_object() {
        out.stops("type", format!("{name} is no object: Harbor refuses it"));
        return false;
    }
    check_object(name, value, members, out);
    check_present(name, value, members, out);
    true
}

/// Returns a member that is there and not null.
fn said<'l>(value: Value<'l>, name: &str) -> Option<Value<'l>> {
    value.get(name).filter(|member| !member.is_null())
}

/// Checks step `number` of a document.
pub(super) fn check_step(step: Value<'_>, number: u64, out: &mut Findings<'_>) {
    if !check("the step", step, STEP, out) {
        return;
    }
    if let Some(id) = step.get("step_id").and_then(as_number)
        && id != number as f64
    {
        let message = format!("`step_id` is not {number}: the steps count from 1 without a gap");
        out.stops("step-id", message);
    }
    let time = step.get("timestamp").and_then(|time| time.text());
    if time.is_some_and(|time| !is_time(&time.decode())) {
        out.stops("time", "`timestamp` is no time of ISO 8601: Harbor refuses it");
    }
    let source = step.get("source").and_then(|source| source.text()).map(|source| source.decode());
    match source.as_deref() {
        Some("agent") => check_calls_of_models(step, out),
        Some("system" | "user") => {
            for name in OF_AGENTS.iter().filter(|name| said(step, name).is_some()) {
                let message =
                    format!("`{name}` in a step whose source is no agent: Harbor refuses it");
                out.stops("agent-only", message);
            }
        }
        Some(_) => out.stops("source", "`source` is neither system, user nor agent"),
        None => {}
    }
    let n_calls = said(step, "llm_call_count").and_then(as_number);
    if n_calls.is_some_and(|n_calls| n_calls < 0.0) {
        out.stops("type", "`llm_call_count` is below 0: Harbor refuses it");
    }
    if let Some(message) = step.get("message") {
        check_parts(message, out);
    }
    if let Some(metrics) = said(step, "metrics") {
        check_metrics(metrics, out);
    }
    let mut calls = HashSet::new();
    for call in said(step, "tool_calls").into_iter().flat_map(|calls| calls.items()) {
        if check("a tool call", call, CALL, out)
            && let Some(id) = call.get("tool_call_id").and_then(|id| id.text())
        {
            calls.insert(id.decode().into_owned());
        }
    }
    if let Some(observation) = said(step, "observation")
        && check("`observation`", observation, OBSERVATION, out)
    {
        let results = observation.get("results");
        for result in results.into_iter().flat_map(|results| results.items()) {
            check_result(result, &calls, out);
        }
    }
}

/// Checks that a step without a call of a model has nothing of a model.
fn check_calls_of_models(step: Value<'_>, out: &mut Findings<'_>) {
    if said(step, "llm_call_count").and_then(as_number) != Some(0.0) {
        return;
    }
    for name in ["metrics", "reasoning_content"] {
        if said(step, name).is_some() {
            let message =
                format!("`{name}` in a step whose `llm_call_count` is 0: Harbor refuses it");
            out.stops("no-model", message);
        }
    }
}

fn check_metrics(metrics: Value<'_>, out: &mut Findings<'_>) {
    if !metrics.is_object() {
        return;
    }
    check_object("`metrics`", metrics, METRICS, out);
    for (name, is_whole) in
        [("prompt_token_ids", true), ("completion_token_ids", true), ("logprobs", false)]
    {
        let items = said(metrics, name).into_iter().flat_map(|items| items.items());
        let fits = |item: Value<'_>| {
            as_number(item).is_some_and(|number| !is_whole || number.fract() == 0.0)
        };
        if !items.into_iter().all(fits) {
            out.stops("type", format!("an item of `{name}` is no such number: Harbor refuses it"));
        }
    }
}

fn check_result(result: Value<'_>, calls: &HashSet<String>, out: &mut Findings<'_>) {
    if !check("a result", result, RESULT, out) {
        return;
    }
    let id = result.get("source_call_id").and_then(|id| id.text());
    if id.is_some_and(|id| !calls.contains(&*id.decode())) {
        out.stops(
            "result-call",
            "`source_call_id` names no call of the same step: Harbor refuses it; move the result, \
             or remove the member",
        );
    }
    if let Some(content) = result.get("content") {
        check_parts(content, out);
    }
    for reference in said(result, "subagent_trajectory_ref").into_iter().flat_map(|it| it.items()) {
        if check("a reference to a sub-agent", reference, REFERENCE, out)
            && said(reference, "trajectory_id").is_none()
            && said(reference, "trajectory_path").is_none()
        {
            out.stops(
                "reference",
                "a reference to a sub-agent needs `trajectory_id` or `trajectory_path`",
            );
        }
    }
}

/// Checks the parts of a content.
fn check_parts(content: Value<'_>, out: &mut Findings<'_>) {
    for part in content.items() {
        if !check("a part", part, PART, out) {
            continue;
        }
        let kind = part.get("type").and_then(|kind| kind.text()).map(|kind| kind.decode());
        let (has_text, source) = (said(part, "text").is_some(), said(part, "source"));
        match (kind.as_deref(), source) {
            (Some("text"), None) if has_text => {}
            (Some("text"), _) => {
                out.stops("part", "a part of the type `text` has a `text`, and no `source`");
            }
            (Some("image" | "audio"), Some(source)) if !has_text => {
                check_source(source, kind.as_deref() == Some("image"), out);
            }
            (Some("image" | "audio"), _) => {
                out.stops("part", "a part with a file has a `source`, and no `text`");
            }
            (Some(_), _) => out.stops("part", "the `type` of a part is none of text, image, audio"),
            (None, _) => {}
        }
    }
}

fn check_source(source: Value<'_>, is_image: bool, out: &mut Findings<'_>) {
    let members = if is_image { IMAGE } else { AUDIO };
    if !check("`source`", source, members, out) {
        return;
    }
    if let Some(kind) = source.get("media_type").and_then(|kind| kind.text()) {
        let kind = kind.decode();
        let is_known = match is_image {
            true => IMAGES.contains(&&*kind),
            false => SOUNDS.contains(&kind.trim().to_lowercase().as_str()),
        };
        if !is_known {
            out.stops("media-type", "`media_type` is none that Harbor reads");
        }
    }
    let path = source.get("path").and_then(|path| path.text()).map(|path| path.decode());
    match path.as_deref() {
        Some(path) if path.starts_with("data:") => {
            out.stops("file", "`path` is a data URL: Harbor looks for a file with this name");
        }
        Some(path) if !path.contains("://") => match out.has_file(path) {
            Some(true) => {}
            Some(false) => {
                out.stops(
                    "file",
                    format!("the file {path} is missing: Harbor refuses the document"),
                );
            }
            None => out.warns("file", "`path` is a file: Harbor refuses the document without it"),
        },
        _ => {}
    }
    let duration = said(source, "duration_sec").and_then(as_number);
    if duration.is_some_and(|duration| duration < 0.0) {
        out.stops("type", "`duration_sec` is below 0: Harbor refuses it");
    }
}
