//! Writes the members that all lines have: id, session, time, folder, and the id of the line before.
//!
//! In: an event with the uuid `u2` after a line with the id `u1`. Out:
//! `{"uuid":"u2","sessionId":..,"timestamp":..,"cwd":..,"type":..,..,"parentUuid":"u1"}`. The parent
//! is written last, because lines wait for the response that they follow.

use core_model::{
    Context, Event, Facts, IdSet, LineId, LossKind, Output, Place, iso_millis, millis,
};
use jsonl::{Raw, Text, json_string};

use crate::store::session_uuid;

/// The thread of lines.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// The id of the session and, of a sub-agent's session, its id: JSON strings.
    session: Option<String>,
    agent: Option<String>,
    /// The folder in which the client will go on, a JSON string; `None` for the session's own. The first line has it.
    project: Option<String>,
    /// The working directory of the last line, a JSON string.
    cwd: Option<String>,
    /// The id of the last line, a JSON string.
    parent: Option<String>,
    used: IdSet,
    /// The time of the last line with a time, in milliseconds since 1970.
    last: i64,
}

/// An open line.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) id: LineId,
    /// The id of the line, a JSON string.
    entry: String,
    /// The id of its parent in the source, a JSON string, with its place.
    parent: Option<(String, Place)>,
}

impl Thread {
    /// Creates a thread without lines. The client will go on in the folder `project`, if one is given.
    pub(super) fn new(project: Option<&str>) -> Self {
        Self { project: project.map(json_string), ..Self::default() }
    }

    /// Continues after a resumed line.
    pub(super) fn resume(&mut self, context: &Context<'_>) {
        self.last = context.time.and_then(millis).unwrap_or(self.last);
        self.session =
            self.session.take().or_else(|| Some(json_string(&context.session_id?.decode())));
        self.cwd = context.cwd.map(|cwd| json_string(&cwd.decode())).or(self.cwd.take());
        let Some(id) = context.uuid else { return };
        let id = id.decode();
        self.used.insert(&id);
        self.parent = Some(json_string(&id));
    }

    /// Sets the members that all lines share, before the first line.
    pub(super) fn start(&mut self, facts: &Facts, event: &Event<'_>, out: &mut Output) {
        if self.session.is_some() {
            return;
        }
        let fact = |fact: &Option<String>| Some(Text::new(fact.as_deref()?)?.decode().into_owned());
        let id = fact(&facts.session_id).unwrap_or_else(|| {
            out.lose(LossKind::Invented, "session_id");
            out.uuid(event, "session", 0)
        });
        if session_uuid(&id) != id {
            out.lose(LossKind::Flattened, event.vocabulary.session_id);
        }
        self.session = Some(json_string(&session_uuid(&id)));
        self.agent = facts.agent.as_deref().map(json_string);
        let own = || {
            let cwd = fact(&facts.cwd).unwrap_or_else(|| {
                // Without a folder the client does not start.
                out.lose(LossKind::Invented, event.vocabulary.cwd);
                "/".to_owned()
            });
            json_string(&cwd)
        };
        self.cwd = Some(self.project.take().unwrap_or_else(own));
        let start = facts.start.as_deref().and_then(Text::new).map(Raw::from);
        self.last = start.and_then(millis).filter(|it| TIMES.contains(it)).unwrap_or(self.last);
    }

    /// Opens a line. The first one of an event (`n` is 0) has its id.
    pub(super) fn open(
        &mut self,
        kind: &str,
        event: &Event<'_>,
        n: usize,
        out: &mut Output,
    ) -> Line {
        let line = out.open();
        self.put_envelope(line, kind, event, n, out)
    }

    /// Opens a line with the title, which shows no line of the source.
    pub(super) fn open_title(&mut self, event: &Event<'_>, out: &mut Output) -> Line {
        let line = out.open_derived();
        self.put_envelope(line, "system", event, 0, out)
    }

    /// Opens a line of the client that shows no line of the source.
    pub(super) fn open_derived(&mut self, uuid: &str, out: &mut Output) -> Line {
        let line = out.open_derived();
        self.used.insert(uuid);
        let entry = json_string(uuid);
        out.put_args(line, format_args!("{{\"uuid\":{entry},\"sessionId\":"));
        out.put(line, self.session.as_deref().unwrap_or("null"));
        out.put_args(line, format_args!(",\"timestamp\":\"{}\"", iso_millis(self.last)));
        self.put_place(line, "system", out);
        Line { id: line, entry, parent: None }
    }

    fn put_envelope(
        &mut self,
        line: LineId,
        kind: &str,
        event: &Event<'_>,
        n: usize,
        out: &mut Output,
    ) -> Line {
        let own = event.context.uuid.filter(|_| n == 0);
        let entry = match own.and_then(|id| self.own_id(id)) {
            Some(id) => id,
            None => {
                if own.is_some() {
                    out.lose(LossKind::Dropped, event.vocabulary.uuid);
                }
                let uuid = out.uuid(event, "entry", n);
                self.used.insert(&uuid);
                json_string(&uuid)
            }
        };
        out.put_args(line, format_args!("{{\"uuid\":{entry},\"sessionId\":"));
        out.put(line, self.session.as_deref().unwrap_or("null"));
        out.put(line, ",\"timestamp\":");
        self.put_time(line, event, out);
        // The client finds a session by the folder in its first line.
        if let Some(cwd) = event.context.cwd {
            let cwd = json_string(&cwd.decode());
            if self.parent.is_some() {
                self.cwd = Some(cwd);
            } else if self.cwd.as_ref() != Some(&cwd) {
                out.lose(LossKind::Dropped, event.vocabulary.cwd);
            }
        }
        self.put_place(line, kind, out);
        if let Some(branch) = event.context.git_branch {
            out.put(line, ",\"gitBranch\":");
            out.put_raw(line, Raw::from(branch));
        }
        let parent = event.context.parent.value().filter(|_| n == 0);
        let parent = parent.map(|parent| (json_string(&parent.decode()), out.place()));
        Line { id: line, entry, parent }
    }

    /// Writes the folder, the type and the sub-agent.
    fn put_place(&self, line: LineId, kind: &str, out: &mut Output) {
        out.put(line, ",\"cwd\":");
        out.put(line, self.cwd.as_deref().unwrap_or("\"/\""));
        out.put_args(line, format_args!(",\"type\":\"{kind}\""));
        if let Some(agent) = &self.agent {
            out.put_args(line, format_args!(",\"agentId\":{agent},\"isSidechain\":true"));
        }
    }

    /// Writes the time of an event, or of the line before if the event has none.
    fn put_time(&mut self, line: LineId, event: &Event<'_>, out: &mut Output) {
        let time = event.context.time;
        let known = time.and_then(millis).filter(|millis| TIMES.contains(millis));
        match (known, time.and_then(|time| time.as_text())) {
            (Some(_), Some(text)) => out.put_raw(line, Raw::from(text)),
            (known, _) => {
                let lost = time.map_or(LossKind::Invented, |_| LossKind::Flattened);
                out.lose(lost, event.vocabulary.time);
                out.put_args(line, format_args!("\"{}\"", iso_millis(known.unwrap_or(self.last))));
            }
        }
        self.last = known.unwrap_or(self.last);
    }

    /// Writes the parent of a line and emits it. It becomes the parent of the next one.
    pub(super) fn emit(&mut self, line: Line, out: &mut Output) {
        if let Some((parent, place)) = &line.parent
            && self.parent.as_ref() != Some(parent)
        {
            out.lose_at(LossKind::Flattened, "parentUuid", *place);
        }
        out.put(line.id, ",\"parentUuid\":");
        out.put(line.id, self.parent.as_deref().unwrap_or("null"));
        out.put(line.id, "}");
        out.emit(line.id);
        self.parent = Some(line.entry);
    }

    /// Returns the id of an event, unless a line has it already: lines with one id are one message.
    fn own_id(&mut self, id: Text<'_>) -> Option<String> {
        let id = Some(id).filter(|id| !id.is_empty() && !id.has_lone_surrogate())?.decode();
        self.used.insert(&id).then(|| json_string(&id))
    }
}

/// Milliseconds since 1970 whose year has four digits.
const TIMES: std::ops::Range<i64> = 0..253_370_764_800_000;
