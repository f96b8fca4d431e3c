//! Reads lines that name other conversations: the sessions before and after this one, and
//! sub-agents.
//!
//! In: `{"type":"continued-in","continuedInSessionId":"5b0f..",..}`. Out: a notice with the subtype
//! `continued-in` and the text `5b0f..`.

use core_model::{
    Body, Event, Notice, NoticeKind, Origin, Relative, RelativeKind, ResponseUsage, Usage,
};
use jsonl::{Text, Value};

/// Reads the tokens that a sub-agent used from the `data` of a `progress` line:
/// `{"type":"agent_progress","message":{"type":"assistant","message":{"id":"msg_1","usage":{..}}}}`.
pub(super) fn agent_usage(data: Value<'_>) -> Option<ResponseUsage<'_>> {
    let kind = data.get("type").and_then(|kind| kind.text());
    let message = data.get("message").filter(|_| kind.is_some_and(|it| it.is("agent_progress")));
    let message = message?.get("message")?;
    let usage = message.get("usage").filter(Value::is_object)?;
    Some(ResponseUsage::of_agent(message.get("id")?.text()?, Usage::from(usage)))
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

/// Returns the origin of an event: its `uuid`, or that of the message that it was forked from.
///
/// A cost in a response (`costUSD`) was written by 0.2 and the first versions of 1.0. Responses
/// without any id, which no client writes, cannot be told from each other: all such lines of a
/// session are one response.
pub(crate) fn origin<'l>(event: &Event<'l>) -> Origin<'l> {
    let [forked_from, cost] = event.value.get_all(["forkedFrom", "costUSD"]);
    let from = |name: &str| forked_from?.get(name)?.text();
    let of = |kind: &str, name: &str| {
        event.kind.filter(|it| it.is(kind)).and_then(|_| event.value.get(name))
    };
    let relative =
        |kind, session: Value<'l>| Relative { kind, session: session.raw(), n_records: None };
    let continuation = of("continued-in", "continuedInSessionId");
    let parents = of("derived-from", "sessions");
    Origin {
        id: from("messageUuid").or(event.context.uuid),
        is_local: false,
        response: event.context.session_id.filter(|_| event.context.uuid.is_none()),
        copied_from: from("sessionId"),
        relative: continuation
            .map(|session| relative(RelativeKind::Continuation, session))
            .or_else(|| parents.map(|sessions| relative(RelativeKind::Parent, sessions))),
        cost: cost.filter(|cost| !cost.is_null()).map(|cost| cost.raw()),
    }
}
