//! Holds a message until all its parts are complete, and writes it.

use std::ops::RangeInclusive;

use core_model::{
    Event, Facts, LineId, LossKind, Message, Output, Place, ResponseKey, Role, Tokens, millis,
};
use jsonl::{Raw, Text, json_string};

use super::{SessionWriter, ids::Ids, part::Part};

/// The times that a document can have, in milliseconds since 1970: JavaScript has no later date, and
/// smaller numbers are read as seconds.
pub(super) const TIMES: RangeInclusive<i64> = 100_000_000_001..=8_640_000_000_000_000;

/// A message that is not written yet.
#[derive(Debug)]
pub(super) struct Open {
    key: ResponseKey,
    role: Role,
    pub(super) line: LineId,
    place: Place,
    uuid: String,
    /// Its time in milliseconds since 1970.
    pub(super) created: i64,
    pub(super) parts: Vec<Part>,
    /// The number of first parts that no later result belongs to.
    n_complete: usize,
    pub(super) model: Option<String>,
    pub(super) is_summary: bool,
    /// Whether a call of it has its result.
    pub(super) has_results: bool,
    /// Whether the client wrote the message in the role of the assistant: a failed request.
    pub(super) has_failed: bool,
    tokens: Option<Tokens>,
    finish: Option<&'static str>,
}

impl SessionWriter {
    pub(super) fn open_message(
        &mut self,
        event: &Event<'_>,
        key: ResponseKey,
        role: Role,
        out: &mut Output,
    ) -> Open {
        let line = out.open();
        self.open_on(line, event, key, role, 0, out)
    }

    /// Opens a message that shows no record of the source: the request of a compaction.
    pub(super) fn open_derived(&mut self, event: &Event<'_>, out: &mut Output) -> Open {
        let line = out.open_derived();
        self.open_on(line, event, ResponseKey::Alone, Role::User, 1, out)
    }

    fn open_on(
        &mut self,
        line: LineId,
        event: &Event<'_>,
        key: ResponseKey,
        role: Role,
        n: usize,
        out: &mut Output,
    ) -> Open {
        self.has_message = true;
        let time = event.context.time;
        let known = time.and_then(millis).filter(|millis| TIMES.contains(millis));
        // The client sorts messages by their times.
        let created = known.unwrap_or(self.ids.last).max(self.ids.last);
        let is_exact = known == Some(created) && time.is_some_and(is_in_millis);
        if !is_exact && n == 0 {
            let kind = time.map_or(LossKind::Invented, |_| LossKind::Flattened);
            out.lose(kind, event.vocabulary.time);
        }
        self.ids.last = created;
        Open {
            key,
            role,
            line,
            place: out.place(),
            uuid: out.uuid(event, "message", n),
            created,
            parts: Vec::new(),
            n_complete: 0,
            model: None,
            is_summary: false,
            has_results: false,
            has_failed: false,
            tokens: None,
            finish: None,
        }
    }
}

impl Open {
    /// Returns whether a record with a key continues the response.
    pub(super) fn takes(&self, key: ResponseKey) -> bool {
        // The text after the result of a call is of the next response.
        let continues = key.continues(self.key, !self.has_results);
        self.role == Role::Assistant && !self.is_summary && continues
    }

    /// Returns whether no later result is for one of the calls.
    pub(super) fn is_complete(&mut self, facts: &Facts) -> bool {
        while let Some(part) = self.parts.get(self.n_complete) {
            if part.is_open() && part.call.is_some_and(|id| facts.is_hash_answered(id)) {
                return false;
            }
            self.n_complete = self.n_complete.saturating_add(1);
        }
        true
    }

    /// Packs the parts from a number on, if many wait.
    pub(super) fn pack(&mut self, start: usize, out: &mut Output) {
        for part in self.parts.iter_mut().skip(start) {
            part.pack(out);
        }
    }

    /// Stores the members of a response. The last record of a response has the final ones.
    pub(super) fn observe(&mut self, message: &Message<'_>, out: &mut Output) {
        let is_known = |model: &Text<'_>| !model.is_empty() && !model.is("<synthetic>");
        match message.model.filter(is_known) {
            Some(model) => self.model = Some(model.decode().into_owned()),
            None => out.drop_if(message.model.is_some(), "model"),
        }
        if let Some(usage) = message.usage.filter(|usage| !usage.is_null()) {
            out.lose(LossKind::Flattened, "usage");
            self.tokens = Some(usage.tokens());
        }
        let Some(reason) = message.stop_reason.and_then(|reason| reason.as_text()) else { return };
        let (finish, is_exact) = match &*reason.decode() {
            "end_turn" => ("stop", true),
            "tool_use" => ("tool-calls", true),
            "max_tokens" => ("length", true),
            _ => ("stop", false),
        };
        if !is_exact || self.finish.is_some_and(|before| before != finish) {
            out.lose(LossKind::Flattened, "stop_reason");
        }
        self.finish = Some(finish);
    }

    /// Writes the message and emits it.
    pub(super) fn emit(
        mut self,
        ids: &mut Ids,
        model: Option<&str>,
        provider: Option<&str>,
        cwd: Option<&str>,
        out: &mut Output,
    ) {
        let line = self.line;
        let id = ids.next("msg", self.created, &self.uuid);
        if ids.hides(&id) {
            out.count_hidden();
        }
        if model.is_none() {
            out.lose_at(LossKind::Invented, "model", self.place);
        }
        out.lose_at(LossKind::Invented, "info.providerID", self.place);
        out.lose_at(LossKind::Invented, "info.agent", self.place);
        let model = model.unwrap_or("unknown");
        let (model_id, provider) =
            (json_string(model), json_string(provider.unwrap_or(provider_of(model))));
        let created = self.created;
        out.put(line, "{\"info\":{");
        if self.role == Role::User {
            out.put_args(
                line,
                format_args!(
                    "\"role\":\"user\",\"time\":{{\"created\":{created}}},\"agent\":\"build\",\
                     \"model\":{{\"providerID\":{provider},\"modelID\":{model_id}}}"
                ),
            );
            ids.user = Some(id.clone());
        } else {
            let parent = json_string(ids.user.as_deref().unwrap_or(&id));
            let mode = if self.is_summary { "compaction" } else { "build" };
            let cwd = cwd.unwrap_or("\"/\"");
            out.put_args(
                line,
                format_args!(
                    "\"parentID\":{parent},\"role\":\"assistant\",\"mode\":\"{mode}\",\
                     \"agent\":\"{mode}\",\"path\":{{\"cwd\":{cwd},\"root\":\"/\"}},\"cost\":0,"
                ),
            );
            if self.is_summary {
                out.put(line, "\"summary\":true,");
            }
            let Tokens { input, output, cache_read, cache_creation } =
                self.tokens.unwrap_or_default();
            if self.tokens.is_none() {
                out.lose_at(LossKind::Invented, "usage", self.place);
            }
            let has_calls = self.parts.iter().any(|part| part.call.is_some());
            let finish = match self.finish {
                None | Some("stop") if has_calls => "tool-calls",
                finish => finish.unwrap_or("stop"),
            };
            match self.finish {
                None => out.lose_at(LossKind::Invented, "stop_reason", self.place),
                Some(before) if before != finish => {
                    out.lose_at(LossKind::Flattened, "stop_reason", self.place);
                }
                Some(_) => {}
            }
            out.put_args(
                line,
                format_args!(
                    "\"tokens\":{{\"input\":{input},\"output\":{output},\"reasoning\":0,\
                     \"cache\":{{\"read\":{cache_read},\"write\":{cache_creation}}}}},\
                     \"modelID\":{model_id},\"providerID\":{provider},\
                     \"time\":{{\"created\":{created},\"completed\":{created}}},\
                     \"finish\":\"{finish}\""
                ),
            );
            if self.has_failed {
                out.lose_at(LossKind::Invented, "info.error", self.place);
                out.put(line, ",\"error\":{\"name\":\"UnknownError\",\"data\":{\"message\":");
                out.put(line, "\"the request failed\"}}");
            }
        }
        let session = json_string(&ids.session);
        out.put_args(line, format_args!(",\"id\":\"{id}\",\"sessionID\":{session}}},\"parts\":["));
        if !self.parts.iter().any(Part::has_metadata) {
            // Only texts, thinking and calls keep a carry.
            self.parts.push(Part::empty(out, line));
        }
        let mut comma = "";
        for part in self.parts {
            out.put(line, comma);
            comma = ",";
            let part_id = ids.next("prt", created, &self.uuid);
            part.append(
                out,
                line,
                created,
                &format!("\"id\":\"{part_id}\",\"sessionID\":{session},\"messageID\":\"{id}\""),
            );
        }
        out.put(line, "]}");
        out.emit(line);
    }
}

/// Returns whether a time has no part smaller than a millisecond, so that the document has all of it.
fn is_in_millis(time: Raw<'_>) -> bool {
    let Some(text) = time.as_text() else {
        // Seconds as a float are not exact to the last digits.
        let number = time.as_f64().unwrap_or_default();
        let millis = if number.abs() > 1e11 { number } else { number * 1000.0 };
        return (millis - millis.round()).abs() < 0.001;
    };
    let text = text.decode();
    let digits = text.split_once('.').map_or("", |(_, rest)| rest);
    let digits = digits.bytes().take_while(u8::is_ascii_digit);
    digits.skip(3).all(|digit| digit == b'0')
}

/// Returns the provider of a model, by its name. Only with the provider and the model that the
/// client goes on with does it send the signatures of thinking.
fn provider_of(model: &str) -> &'static str {
    let starts = |names: &[&str]| names.iter().any(|name| model.starts_with(name));
    if starts(&["gpt-", "o1", "o3", "o4", "codex"]) {
        "openai"
    } else if starts(&["gemini"]) {
        "google"
    } else {
        "anthropic"
    }
}

#[test]
fn times_of_other_formats_are_exact_to_the_millisecond_or_not() {
    for (time, is_exact) in [
        ("\"2026-11-22T19:58:26Z\"", true),
        ("\"2026-11-22T19:58:26.114Z\"", true),
        ("\"2026-11-22T19:58:26.114000Z\"", true),
        ("\"2026-11-22T19:58:26.000001Z\"", false),
        ("1795377506114", true),
        ("1795377506.25", true),
        ("1795377506114.5", false),
    ] {
        let mut scanner = jsonl::Scanner::default();
        let value = scanner.scan_slice(time.as_bytes(), 0).expect(time);
        assert_eq!(is_in_millis(value.raw()), is_exact, "{time}");
    }
}
