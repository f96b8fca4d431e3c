//! Writes the members that all entries have: session, parent, id and time.

use core_model::{
    Context, Event, Facts, IdSet, LineId, LossKind, Message, Output, TitleRank, uuid_of_name,
};
use jsonl::{Scanner, Text, json_string};

use super::clock::Clock;

/// The thread of entries. Strings are JSON strings with quotes.
#[derive(Debug, Default)]
pub(super) struct Thread {
    pub(super) clock: Clock,
    source_id: Option<String>,
    /// Whether the session has a new id, because its id in the source is not a UUID.
    pub(super) is_renamed: bool,
    session_id: String,
    cwd: Option<String>,
    version: Option<String>,
    git_branch: Option<String>,
    /// The sub-agent of the transcript.
    agent: Option<String>,
    parent: Option<String>,
    used: IdSet,
}

/// The members at the end of an entry.
pub(super) struct Ending<'a, 'l> {
    /// The kind of the entry, from which a new id is made.
    pub(super) kind: &'static str,
    /// The index of the block in the entry.
    pub(super) block_idx: usize,
    /// Whether the entry has the id and time of the event, instead of new ones.
    pub(super) is_own: bool,
    /// Earliest time of the entry, if the event has none.
    pub(super) earliest: i64,
    /// The event.
    pub(super) event: &'a Event<'l>,
}

impl<'a, 'l> Ending<'a, 'l> {
    /// Creates the ending of the entry for a block of an event.
    pub(super) fn new(kind: &'static str, block_idx: usize, event: &'a Event<'l>) -> Self {
        Self { kind, block_idx, is_own: block_idx == 0, earliest: 0, event }
    }
}

impl Thread {
    /// Creates the thread of a session.
    pub(super) fn new(facts: &Facts) -> Self {
        let decoded = |text: &Option<String>| {
            text.as_deref().and_then(Text::new).map(|text| text.decode().into_owned())
        };
        let mut thread = Self {
            source_id: decoded(&facts.session_id),
            cwd: decoded(&facts.cwd).map(|text| json_string(&text)),
            version: decoded(&facts.version).map(|text| json_string(&text)),
            agent: facts.agent.as_deref().map(json_string),
            ..Self::default()
        };
        thread.is_renamed = thread.source_id.as_deref().is_some_and(|id| session_uuid(id) != id);
        let mut scanner = Scanner::default();
        let start = facts.start.as_deref().unwrap_or_default();
        if let Ok(start) = scanner.scan_slice(start.as_bytes(), 0) {
            thread.clock.start_run(start.raw());
        }
        thread
    }

    /// Stores the context of an event: folder, version, branch.
    pub(super) fn observe(&mut self, context: &Context<'_>) {
        set(&mut self.cwd, context.cwd);
        set(&mut self.version, context.version);
        set(&mut self.git_branch, context.git_branch);
    }

    /// Continues after a resumed entry.
    pub(super) fn resume(&mut self, context: &Context<'_>) {
        self.observe(context);
        if let Some(id) = context.session_id {
            spell(&mut self.session_id, id);
        }
        let Some(uuid) = context.uuid else { return };
        let uuid = uuid.decode();
        self.used.insert(&uuid);
        self.parent = Some(json_string(&uuid));
        if let Some(time) = context.time {
            self.clock.resume(time);
        }
    }

    /// Writes the new folder of the session, if an edited start names another folder than the
    /// resumed entries.
    pub(super) fn relocate(&mut self, out: &mut Output, cwd: Option<String>) {
        let Some(cwd) = cwd.filter(|cwd| self.cwd.as_ref().is_some_and(|known| known != cwd))
        else {
            return;
        };
        let line = out.open_derived();
        out.put(line, "{\"type\":\"relocated\",\"relocatedCwd\":");
        out.put(line, &cwd);
        out.put(line, ",\"sessionId\":");
        out.put(line, &self.session_id);
        out.put(line, "}");
        out.emit(line);
        self.cwd = Some(cwd);
    }

    /// Returns the session's id.
    pub(super) fn session_id(&self) -> &str {
        &self.session_id
    }

    /// Returns whether there is an entry.
    pub(super) fn has_entry(&self) -> bool {
        self.parent.is_some()
    }

    /// Returns the id of the last entry.
    pub(super) fn parent(&self) -> &str {
        self.parent.as_deref().unwrap_or("null")
    }

    /// Sets the id of the session, unless it has one.
    pub(super) fn name_session(&mut self, event: &Event<'_>, out: &mut Output) {
        if !self.session_id.is_empty() {
            return;
        }
        let id = match &self.source_id {
            Some(id) => session_uuid(id),
            None => {
                out.lose(LossKind::Invented, "session_id");
                out.uuid(event, "session", 0)
            }
        };
        self.session_id = json_string(&id);
        if self.cwd.is_none() {
            out.lose(LossKind::Invented, "cwd");
        }
        if self.version.is_none() {
            out.lose(LossKind::Invented, "version");
        }
    }

    /// Opens an entry and writes the members before its type.
    pub(super) fn open(&mut self, event: &Event<'_>, out: &mut Output) -> LineId {
        let line = out.open();
        out.put(line, "{");
        self.put_envelope(line, event, out);
        line
    }

    /// Opens an entry without a line in the source.
    pub(super) fn open_derived(&mut self, event: &Event<'_>, out: &mut Output) -> LineId {
        let line = out.open_derived();
        out.put(line, "{");
        self.put_envelope(line, event, out);
        line
    }

    fn put_envelope(&mut self, line: LineId, event: &Event<'_>, out: &mut Output) {
        self.name_session(event, out);
        self.put_place(line, out);
    }

    /// Writes the parent and the session of an entry.
    pub(super) fn put_place(&self, line: LineId, out: &mut Output) {
        let parts = [
            ("\"parentUuid\":", self.parent()),
            (",\"isSidechain\":", if self.agent.is_some() { "true" } else { "false" }),
            (",\"userType\":\"external\",\"cwd\":", self.cwd.as_deref().unwrap_or("\"\"")),
            (",\"sessionId\":", &self.session_id),
            (",\"version\":", self.version.as_deref().unwrap_or("\"0.0.0\"")),
            (",\"gitBranch\":", self.git_branch.as_deref().unwrap_or("\"\"")),
        ];
        for (name, value) in parts {
            out.put(line, name);
            out.put(line, value);
        }
        if let Some(agent) = &self.agent {
            out.put(line, ",\"agentId\":");
            out.put(line, agent);
        }
    }

    /// Writes the id and the time of an entry and emits it. It becomes the parent of the next one.
    pub(super) fn close(&mut self, line: LineId, ending: &Ending<'_, '_>, out: &mut Output) {
        let Ending { kind, block_idx, is_own, earliest, event } = *ending;
        let uuid = self
            .own_uuid(event.context.uuid.filter(|_| is_own))
            .unwrap_or_else(|| json_string(&out.uuid(event, kind, block_idx)));
        let parent = event.context.parent.value().filter(|_| is_own);
        if parent.is_some_and(|parent| json_string(&parent.decode()) != self.parent()) {
            out.lose(LossKind::Flattened, event.vocabulary.parent);
        }
        let time = event.context.time.filter(|_| is_own);
        let time = self.clock.next(time, earliest, out);
        self.close_as(line, uuid, &time, out);
    }

    /// Writes a given id and time and emits the entry.
    pub(super) fn close_as(&mut self, line: LineId, uuid: String, time: &str, out: &mut Output) {
        out.put(line, ",\"uuid\":");
        out.put(line, &uuid);
        out.put(line, ",\"timestamp\":\"");
        out.put(line, time);
        out.put(line, "\"}");
        out.emit(line);
        self.parent = Some(uuid);
    }

    /// Returns the id of the event, unless an entry has it already.
    fn own_uuid(&mut self, uuid: Option<Text<'_>>) -> Option<String> {
        let uuid = uuid.filter(|uuid| !uuid.is_empty() && !uuid.has_lone_surrogate())?.decode();
        self.used.insert(&uuid).then(|| json_string(&uuid))
    }
}

/// Returns the UUID for a session id: the id itself in lower case with hyphens, if it is a UUID,
/// else a UUID made from it. The session's file must have this name.
///
/// ```
/// let id = "2A86484AEB5946EFAC4A848742436C10";
/// assert_eq!(format_claude_code::session_uuid(id), "2a86484a-eb59-46ef-ac4a-848742436c10");
/// assert_eq!(format_claude_code::session_uuid("my session").len(), 36);
/// ```
pub fn session_uuid(id: &str) -> String {
    let is_hyphen_at = |at| matches!(at, 8 | 13 | 18 | 23);
    let is_hyphenated = id.len() == 36
        && id.bytes().enumerate().all(|(at, byte)| match byte {
            b'-' => is_hyphen_at(at),
            _ => byte.is_ascii_hexdigit() && !is_hyphen_at(at),
        });
    if is_hyphenated {
        return id.to_ascii_lowercase();
    }
    if id.len() != 32 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return uuid_of_name("session", id);
    }
    let mut uuid = String::with_capacity(36);
    for digit in id.chars() {
        if is_hyphen_at(uuid.len()) {
            uuid.push('-');
        }
        uuid.push(digit.to_ascii_lowercase());
    }
    uuid
}

/// Writes the title of the session, on a line without an id.
pub(super) fn put_title(out: &mut Output, rank: TitleRank, title: &str, session_id: &str) {
    let Some(title) = Text::new(title) else { return };
    let line = out.open_derived();
    out.put(
        line,
        match rank {
            TitleRank::User => "{\"type\":\"custom-title\",\"customTitle\":",
            TitleRank::Model | TitleRank::Summary => "{\"type\":\"ai-title\",\"aiTitle\":",
        },
    );
    out.put(line, &json_string(&title.decode()));
    out.put(line, ",\"sessionId\":");
    out.put(line, session_id);
    out.put(line, "}");
    out.emit(line);
}

/// Counts the members of a message as lost for which no entry is written.
pub(super) fn lose_envelope(event: &Event<'_>, message: &Message<'_>, out: &mut Output) {
    let names = event.vocabulary;
    for (is_lost, field) in [
        (event.context.uuid.is_some(), names.uuid),
        (event.context.parent.value().is_some(), names.parent),
        (event.context.time.is_some(), names.time),
        (message.id.is_some(), names.message_id),
        (message.model.is_some(), "model"),
        (message.stop_reason.is_some(), "stop_reason"),
        (message.stop_sequence.is_some(), "stop_sequence"),
        (message.usage.is_some_and(|usage| !usage.is_null()), "usage"),
        (message.request_id.is_some(), names.request_id),
        (message.is_api_error, names.is_api_error),
    ] {
        if is_lost {
            out.lose(LossKind::Dropped, field);
        }
    }
}

fn set(slot: &mut Option<String>, text: Option<Text<'_>>) {
    if let Some(text) = text {
        spell(slot.get_or_insert_default(), text);
    }
}

/// Stores a text as a JSON string.
fn spell(slot: &mut String, text: Text<'_>) {
    // Most events repeat the text of the one before.
    if slot != text.as_str() {
        *slot = json_string(&text.decode());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_ids_become_uuids() {
        let uuid = "2a86484a-eb59-46ef-ac4a-848742436c10";
        for id in [uuid, "2A86484A-EB59-46EF-AC4A-848742436C10", &uuid.replace('-', "")] {
            assert_eq!(session_uuid(id), uuid);
        }
        let ids = ["", "run_1", "2a86484a-eb59-46ef-ac4a-848742436c1", "../../etc/passwd", "é"];
        for id in ids {
            assert_eq!(session_uuid(&session_uuid(id)), session_uuid(id));
        }
    }
}
