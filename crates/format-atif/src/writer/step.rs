//! Holds a step until it is complete, and writes it.
//!
//! In: the text `I look.`, the call `t1`, and later its result. Out: one step with all three.

use std::collections::HashMap;

use core_model::{Event, LineId, LossKind, Output, Place, ResponseKey, Tokens, millis};
use jsonl::json_string;

use super::json;

/// A call of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// Whether its result is in the step.
    pub(super) is_answered: bool,
    /// Whether a result comes later.
    pub(super) is_awaited: bool,
}

/// A step that is not written yet. The members are JSON.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) line: LineId,
    pub(super) key: ResponseKey,
    /// `system`, `user` or `agent`.
    pub(super) source: &'static str,
    pub(super) timestamp: Option<String>,
    pub(super) model_name: Option<String>,
    /// The message: a string or an array of parts, unless it is built of texts.
    pub(super) message: Option<String>,
    /// The texts of a response, joined.
    pub(super) text: Option<String>,
    /// The thinking of a response, joined.
    pub(super) thinking: Option<String>,
    pub(super) n_thinking: usize,
    /// The signature of the thinking, and its place in the source.
    pub(super) signature: Option<(String, Place)>,
    /// The calls, separated by commas.
    pub(super) tool_calls: String,
    pub(super) calls: HashMap<String, Call>,
    pub(super) n_awaited: usize,
    /// The results, separated by commas.
    pub(super) results: String,
    pub(super) metrics: Option<String>,
    pub(super) tokens: Option<Tokens>,
    /// The places of these tokens in the source: of each line of a response that has them.
    pub(super) tokens_places: Vec<Place>,
    pub(super) is_call_of_model: bool,
    /// The members of `extra`, each with a comma before it.
    pub(super) extra: String,
    pub(super) stop_reason: Option<(String, Place)>,
}

impl Step {
    /// Starts a step with the time of an event.
    pub(super) fn new(source: &'static str, event: &Event<'_>, out: &mut Output) -> Self {
        let line = out.open();
        Self {
            line,
            key: ResponseKey::Alone,
            source,
            timestamp: timestamp(event, out),
            model_name: None,
            message: None,
            text: None,
            thinking: None,
            n_thinking: 0,
            signature: None,
            tool_calls: String::new(),
            calls: HashMap::new(),
            n_awaited: 0,
            results: String::new(),
            metrics: None,
            tokens: None,
            tokens_places: Vec::new(),
            is_call_of_model: false,
            extra: String::new(),
            stop_reason: None,
        }
    }

    /// Adds a member of `extra`.
    pub(super) fn add_extra(&mut self, name: &str, json: &str) {
        self.extra.push_str(",\"");
        self.extra.push_str(name);
        self.extra.push_str("\":");
        self.extra.push_str(json);
    }

    /// Adds a result to the step.
    pub(super) fn add_result(&mut self, result: &str) {
        if !self.results.is_empty() {
            self.results.push(',');
        }
        self.results.push_str(result);
    }

    /// Notes that the result of a call is in the step. Returns false if the step has no such call.
    pub(super) fn answer(&mut self, id: &str) -> bool {
        let Some(call) = self.calls.get_mut(id) else { return false };
        if call.is_awaited && !call.is_answered {
            self.n_awaited = self.n_awaited.saturating_sub(1);
        }
        call.is_answered = true;
        true
    }

    /// Writes the step with its number.
    pub(super) fn write(mut self, number: u64, out: &mut Output) {
        let line = self.line;
        out.put_args(line, format_args!("{{\"step_id\":{number}"));
        let put = |name: &str, value: Option<&str>, out: &mut Output| {
            if let Some(value) = value {
                out.put_args(line, format_args!(",\"{name}\":"));
                out.put(line, value);
            }
        };
        put("timestamp", self.timestamp.as_deref(), out);
        out.put_args(line, format_args!(",\"source\":\"{}\"", self.source));
        put("model_name", self.model_name.as_deref(), out);
        let text = self.text.take().map(|text| json_string(&text));
        let message = self.message.take().or(text);
        put("message", Some(message.as_deref().unwrap_or("\"\"")), out);
        let thinking = self.thinking.take().map(|text| json_string(&text));
        put("reasoning_content", thinking.as_deref(), out);
        if !self.tool_calls.is_empty() {
            out.put(line, ",\"tool_calls\":[");
            out.put(line, &self.tool_calls);
            out.put(line, "]");
        }
        if !self.results.is_empty() {
            out.put(line, ",\"observation\":{\"results\":[");
            out.put(line, &self.results);
            out.put(line, "]}");
        }
        put("metrics", self.metrics.as_deref(), out);
        if self.is_call_of_model {
            out.put(line, ",\"llm_call_count\":1");
        }
        if let Some((reason, _)) = self.stop_reason.take() {
            self.add_extra("stop_reason", &reason);
        }
        if let Some((signature, _)) = self.signature.take() {
            self.add_extra("thinking_signature", &signature);
        }
        json::put_extra(line, self.extra.strip_prefix(',').unwrap_or_default(), out);
        out.put(line, "}");
        out.emit(line);
    }
}

/// Milliseconds since 1970 whose year has four digits.
const TIMES: std::ops::Range<i64> = 0..253_370_764_800_000;

/// Returns the time of an event as a JSON string that Python reads; `None` without a time.
fn timestamp(event: &Event<'_>, out: &mut Output) -> Option<String> {
    let time = event.context.time.filter(|time| !time.is_null())?;
    let text = time.as_text().map(|text| text.decode());
    if let Some(text) = text.filter(|text| is_iso(text.as_bytes()))
        && millis(time).is_some_and(|millis| TIMES.contains(&millis))
    {
        return Some(json_string(&text));
    }
    match millis(time).filter(|millis| TIMES.contains(millis)) {
        Some(millis) => {
            out.lose(LossKind::Flattened, event.vocabulary.time);
            Some(json_string(&core_model::iso_millis(millis)))
        }
        None => {
            out.lose(LossKind::Dropped, event.vocabulary.time);
            None
        }
    }
}

/// Returns whether a time has the form that every version of Python reads:
/// `2026-01-02T03:04:05.678Z`.
fn is_iso(text: &[u8]) -> bool {
    let Some((start, rest)) = text.split_at_checked(19) else { return false };
    let is_shaped = start.iter().zip(b"0000-00-00T00:00:00").all(|(byte, shape)| match shape {
        b'0' => byte.is_ascii_digit(),
        _ => byte == shape,
    });
    let rest = match rest.strip_prefix(b".") {
        None => rest,
        Some(rest) => {
            let n_digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if !matches!(n_digits, 3 | 6) {
                return false;
            }
            rest.get(n_digits..).unwrap_or_default()
        }
    };
    let is_offset = |offset: &[u8]| match offset {
        [b'+' | b'-', h1, h2, b':', m1, m2] => {
            [h1, h2, m1, m2].iter().all(|it| it.is_ascii_digit())
        }
        _ => false,
    };
    is_shaped && (rest == b"Z" || is_offset(rest))
}
