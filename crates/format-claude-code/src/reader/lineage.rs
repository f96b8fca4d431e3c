//! Reads lines that name other conversations: the sessions before and after this one, and
//! sub-agents.
//!
//! In: `{"type":"continued-in","continuedInSessionId":"5b0f..",..}`. Out: a notice with the subtype
//! `continued-in` and the text `5b0f..`.

use core_model::{AgentUsage, Body, Notice, NoticeKind};
use jsonl::{Text, Value};

/// Reads the tokens that a sub-agent used from the `data` of a `progress` line:
/// `{"type":"agent_progress","message":{"type":"assistant","message":{"id":"msg_1","usage":{..}}}}`.
pub(super) fn agent_usage(data: Value<'_>) -> Option<AgentUsage<'_>> {
    let kind = data.get("type").and_then(|kind| kind.text());
    let message = data.get("message").filter(|_| kind.is_some_and(|it| it.is("agent_progress")));
    let message = message?.get("message")?;
    let usage = message.get("usage").filter(Value::is_object)?;
    Some(AgentUsage { message_id: message.get("id")?.text()?, usage })
}

/// Reads a `continued-in` line: the session that continues this one.
pub(super) fn continued_in(session: Value<'_>) -> Body<'_> {
    link("\"continued-in\"", session)
}

/// Reads a `derived-from` line: the sessions that this one was made from.
pub(super) fn derived_from(sessions: Value<'_>) -> Body<'_> {
    link("\"derived-from\"", sessions)
}

fn link<'l>(subtype: &'static str, sessions: Value<'l>) -> Body<'l> {
    Body::Notice(Notice {
        kind: NoticeKind::Info,
        subtype: Text::new(subtype),
        about: None,
        text: Some(sessions.raw()),
        trigger: None,
        pre_tokens: None,
    })
}
