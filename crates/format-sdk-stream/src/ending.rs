//! Writes results for sources of other formats: from their outcomes, or derived from the last
//! message.
//!
//! In: no outcome, and a last message of the model. Out: a line with the subtype `success`, the
//! turns, the duration and the last text.

use core_model::{Event, LossKind, Outcome, Output, Status, Turn};
use jsonl::Raw;

use crate::{
    compose::Composer,
    record::Flavor,
    session::{Interaction, Session, TOKENS, respelt, tokens},
    speech::Manner,
};

/// The values of a result line; numbers as written.
#[derive(Debug)]
struct Ending {
    subtype: &'static str,
    is_error: bool,
    api_status: Option<&'static str>,
    reason: Option<&'static str>,
    duration: String,
    turns: String,
    cost: String,
}

/// Writes the result of a run whose source has an outcome.
pub(crate) fn outcome(
    manner: Manner,
    event: &Event<'_>,
    outcome: &Outcome<'_>,
    interaction: &Interaction,
    session: &Session,
    out: &mut Output,
) {
    let (subtype, is_error) = match outcome.status {
        Status::Success => ("success", false),
        Status::MaxTurns => ("error_max_turns", true),
        Status::MaxBudget => ("error_max_budget_usd", true),
        Status::RateLimited if !manner.is_old_dump() => ("success", true),
        _ => ("error_during_execution", true),
    };
    let style = out.style();
    let number = |raw: Option<Raw<'_>>, other: &str| {
        raw.map_or_else(|| other.to_owned(), |raw| respelt(raw.as_str(), style))
    };
    let ending = Ending {
        subtype,
        is_error,
        api_status: (is_error && subtype == "success").then_some("429"),
        reason: (outcome.status == Status::Interrupted).then_some("aborted_streaming"),
        duration: number(outcome.duration_ms, "0"),
        turns: number(outcome.turns, &interaction.n_turns().to_string()),
        cost: number(outcome.cost, "null"),
    };
    let uuid = out.uuid(event, "result", 0);
    let line = Composer::open(out);
    let usage = outcome.usage.filter(|usage| !usage.is_null());
    let tokens = usage.map_or_else(|| interaction.tokens(), tokens);
    result(manner, line, &ending, interaction, tokens, &uuid, session);
    out.lose(LossKind::Invented, "duration_api_ms");
    if usage.is_none() {
        out.lose(LossKind::Invented, "usage");
    }
    if outcome.status_text.is_some_and(|text| !text.is(subtype)) {
        out.lose(LossKind::Flattened, "exit_status");
    }
}

/// Writes a derived result of an interaction. If the run may still be going on, there is none.
pub(crate) fn end(manner: Manner, interaction: &Interaction, session: &Session, out: &mut Output) {
    let (subtype, is_error) = match interaction.turn {
        Turn::Open => return,
        Turn::Answered => ("success", false),
        // The result of a run whose request failed has `is_error` and the subtype `success`
        // (2.1.330).
        Turn::Failed => ("success", true),
        Turn::Interrupted => ("error_during_execution", true),
    };
    let ending = Ending {
        subtype,
        is_error,
        api_status: None,
        reason: None,
        duration: interaction.duration().to_string(),
        turns: interaction.n_turns().to_string(),
        cost: "null".to_owned(),
    };
    let uuid = out.uuid_at_end("result", session.n_prompts);
    let line = Composer::open_derived(out);
    result(manner, line, &ending, interaction, interaction.tokens(), &uuid, session);
    out.lose(LossKind::Invented, "result");
}

fn result(
    manner: Manner,
    mut line: Composer<'_>,
    ending: &Ending,
    interaction: &Interaction,
    tokens: [u64; 4],
    uuid: &str,
    session: &Session,
) {
    let is_success = ending.subtype == "success";
    let text = interaction.result.as_deref().unwrap_or("\"\"");
    let text = is_success.then_some(text);
    let is_error = if ending.is_error { "true" } else { "false" };
    let stop_reason = interaction.stop_reason.as_deref().unwrap_or("null");
    if manner.flavor == Flavor::Dump {
        let text = text.unwrap_or("null");
        line.string("subtype", ending.subtype);
        line.put("duration_ms", &ending.duration);
        line.put("duration_api_ms", "0");
        line.put("is_error", is_error);
        line.put("num_turns", &ending.turns);
        session.put_known_id(&mut line);
        if !manner.is_old_dump() {
            line.put("stop_reason", stop_reason);
        }
        line.put("total_cost_usd", &ending.cost);
        usage(&mut line, tokens);
        line.put("result", text);
        if !manner.is_old_dump() {
            dumped_rest(&mut line, ending, uuid);
        }
        return line.emit();
    }
    line.string("type", "result");
    line.string("subtype", ending.subtype);
    line.put("is_error", is_error);
    if let Some(status) = ending.api_status {
        line.put("api_error_status", status);
    }
    line.put("duration_ms", &ending.duration);
    line.put("duration_api_ms", "0");
    line.put("num_turns", &ending.turns);
    if let Some(text) = text {
        line.put("result", text);
    }
    line.put("stop_reason", stop_reason);
    session.put_known_id(&mut line);
    line.put("total_cost_usd", &ending.cost);
    usage(&mut line, tokens);
    line.put("modelUsage", "{}");
    line.put("permission_denials", "[]");
    if !is_success {
        line.put("errors", "[]");
    }
    if let Some(reason) = ending.reason {
        line.string("terminal_reason", reason);
    }
    line.string("uuid", uuid);
    line.emit();
}

fn dumped_rest(line: &mut Composer<'_>, ending: &Ending, uuid: &str) {
    for name in
        ["structured_output", "model_usage", "permission_denials", "deferred_tool_use", "errors"]
    {
        line.put(name, "null");
    }
    line.put("api_error_status", ending.api_status.unwrap_or("null"));
    line.string("uuid", uuid);
    match ending.reason {
        Some(reason) => line.string("terminal_reason", reason),
        None => line.put("terminal_reason", "null"),
    }
    for name in ["origin", "user_message_uuid", "user_message_uuids"] {
        line.put(name, "null");
    }
}

fn usage(line: &mut Composer<'_>, tokens: [u64; 4]) {
    line.object("usage");
    for (name, tokens) in TOKENS.iter().zip(tokens) {
        line.put(name, &tokens.to_string());
    }
    line.end("}");
}
