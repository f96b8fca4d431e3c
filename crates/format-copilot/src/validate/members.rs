//! Checks the members without which Copilot refuses a file, by the type of the line.
//!
//! In: a `session.info` without `message`. Out: a problem that stops Copilot.

use core_model::Findings;
use jsonl::{Kind, Value};

use crate::writer::TRIGGERS;

/// The type of a member.
#[derive(Clone, Copy, Debug)]
enum Is {
    Text,
    Bool,
    Number,
    Object,
}

/// A type of lines, and the members that it must have.
type Rule = (&'static str, &'static [(&'static str, Is)]);

/// The members that lines must have. Each was left out once, and 1.0.102 refused the file.
const RULES: [Rule; 23] = [
    (
        "session.start",
        &[
            ("sessionId", Is::Text),
            ("version", Is::Number),
            ("producer", Is::Text),
            ("copilotVersion", Is::Text),
            ("startTime", Is::Text),
        ],
    ),
    ("session.resume", &[("resumeTime", Is::Text), ("eventCount", Is::Number)]),
    ("user.message", &[("content", Is::Text)]),
    ("system.message", &[("role", Is::Text), ("content", Is::Text)]),
    ("assistant.turn_start", &[("turnId", Is::Text)]),
    ("assistant.turn_end", &[("turnId", Is::Text)]),
    ("assistant.message", &[("messageId", Is::Text), ("content", Is::Text)]),
    ("tool.execution_start", &[("toolCallId", Is::Text), ("toolName", Is::Text)]),
    ("tool.execution_complete", &[("toolCallId", Is::Text), ("success", Is::Bool)]),
    ("session.usage_record", &[("usage", Is::Object)]),
    ("session.model_change", &[("newModel", Is::Text)]),
    ("session.info", &[("infoType", Is::Text), ("message", Is::Text)]),
    ("session.warning", &[("warningType", Is::Text), ("message", Is::Text)]),
    ("session.error", &[("errorType", Is::Text), ("message", Is::Text)]),
    ("session.compaction_complete", &[("success", Is::Bool)]),
    ("session.truncation", &[("preTruncationTokensInMessages", Is::Number)]),
    ("session.title_changed", &[("title", Is::Text)]),
    (
        "session.binary_asset",
        &[
            ("assetId", Is::Text),
            ("type", Is::Text),
            ("mimeType", Is::Text),
            ("byteLength", Is::Number),
            ("data", Is::Text),
        ],
    ),
    (
        "subagent.started",
        &[
            ("toolCallId", Is::Text),
            ("agentName", Is::Text),
            ("agentDisplayName", Is::Text),
            ("agentDescription", Is::Text),
        ],
    ),
    (
        "subagent.completed",
        &[("toolCallId", Is::Text), ("agentName", Is::Text), ("agentDisplayName", Is::Text)],
    ),
    ("abort", &[("reason", Is::Text)]),
    ("hook.start", &[("hookInvocationId", Is::Text), ("hookType", Is::Text)]),
    ("hook.end", &[("hookInvocationId", Is::Text), ("hookType", Is::Text), ("success", Is::Bool)]),
];

/// Checks the data of a line.
pub(super) fn check(kind: &str, data: Value<'_>, out: &mut Findings<'_>) {
    let rules = RULES.iter().filter(|(name, _)| *name == kind).flat_map(|(_, members)| *members);
    for (name, is) in rules {
        if !has(data, name, *is) {
            stops(kind, name, out);
        }
    }
    match kind {
        "session.start" => {
            let context = data.get("context").filter(Value::is_object);
            if context.is_some_and(|context| !has(context, "cwd", Is::Text)) {
                stops(kind, "context.cwd", out);
            }
        }
        "assistant.message" => check_response(data, out),
        "session.usage_record" => {
            let usage = data.get("usage").filter(Value::is_object);
            if usage.is_some_and(|usage| !has(usage, "model", Is::Text)) {
                stops(kind, "usage.model", out);
            }
        }
        "session.compaction_complete" => {
            let trigger = data.get("trigger").and_then(|trigger| trigger.text());
            if trigger.is_some_and(|trigger| !TRIGGERS.contains(&&*trigger.decode())) {
                let message = "the trigger of the compaction is none that Copilot knows: Copilot \
                               refuses the file; leave it out";
                out.stops("trigger", message);
            }
        }
        _ => {}
    }
}

fn check_response(data: Value<'_>, out: &mut Findings<'_>) {
    let kind = "assistant.message";
    for call in data.get("toolRequests").into_iter().flat_map(|calls| calls.items()) {
        for name in ["toolCallId", "name"] {
            if !has(call, name, Is::Text) {
                stops(kind, &format!("toolRequests.{name}"), out);
            }
        }
    }
    let reasoning = data.get("reasoningBlocks").filter(Value::is_object);
    if reasoning.is_some_and(|reasoning| !has(reasoning, "provider", Is::Text)) {
        stops(kind, "reasoningBlocks.provider", out);
    }
}

fn stops(kind: &str, name: &str, out: &mut Findings<'_>) {
    let message = format!(
        "`{name}` of `{kind}` is missing or of another type than Copilot's: Copilot refuses the file"
    );
    out.stops("member", message);
}

fn has(value: Value<'_>, name: &str, is: Is) -> bool {
    value.get(name).is_some_and(|member| match is {
        Is::Text => member.text().is_some(),
        Is::Bool => member.bool().is_some(),
        Is::Number => member.kind() == Kind::Number,
        Is::Object => member.is_object(),
    })
}
