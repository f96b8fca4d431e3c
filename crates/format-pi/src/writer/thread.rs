//! Writes the members that all entries have: type, id, time and parent.
//!
//! In: an event with the uuid `u2` after an entry with the id `u1`. Out:
//! `{"type":"message","id":"u2","timestamp":..,..,"parentId":"u1"}`. The parent is written last,
//! because entries wait for the response that they follow.

use core_model::{Context, Event, IdSet, LineId, LossKind, Output, Place, iso_millis, millis};
use jsonl::{Raw, Text, json_string};

/// The thread of entries.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// The id of the last entry, a JSON string.
    parent: Option<String>,
    used: IdSet,
    /// The time of the last entry with a time, in milliseconds since 1970.
    last: i64,
}

/// An open entry.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) id: LineId,
    /// The id of the entry, a JSON string.
    pub(super) entry: String,
    /// Its time in milliseconds since 1970.
    pub(super) millis: i64,
    /// The id of its parent in the source, a JSON string, with its place.
    parent: Option<(String, Place)>,
}

impl Thread {
    /// Continues after a resumed line.
    pub(super) fn resume(&mut self, context: &Context<'_>) {
        self.last = context.time.and_then(millis).unwrap_or(self.last);
        let Some(id) = context.uuid else { return };
        let id = id.decode();
        self.used.insert(&id);
        self.parent = Some(json_string(&id));
    }

    /// Opens an entry. The first one of an event (`n` is 0) has its id.
    pub(super) fn open(
        &mut self,
        kind: &str,
        event: &Event<'_>,
        n: usize,
        out: &mut Output,
    ) -> Line {
        let line = out.open();
        out.put(line, "{\"type\":\"");
        out.put(line, kind);
        out.put(line, "\",");
        self.put_envelope(line, event, n, out)
    }

    /// Opens an entry with the title, which shows no line of the source.
    pub(super) fn open_title(&mut self, event: &Event<'_>, out: &mut Output) -> Line {
        let line = out.open_derived();
        out.put(line, "{\"type\":\"session_info\",");
        self.put_envelope(line, event, 0, out)
    }

    /// Opens an entry whose type is written later.
    pub(super) fn open_untyped(&mut self, event: &Event<'_>, n: usize, out: &mut Output) -> Line {
        let line = out.open();
        out.put(line, "{");
        self.put_envelope(line, event, n, out)
    }

    /// Opens an entry that shows no line of the source, with an id made from a UUID.
    pub(super) fn open_derived(&mut self, kind: &str, uuid: &str, out: &mut Output) -> Line {
        let line = out.open_derived();
        let entry = json_string(&self.new_id(uuid));
        out.put_args(line, format_args!("{{\"type\":\"{kind}\",\"id\":{entry}"));
        out.put_args(line, format_args!(",\"timestamp\":\"{}\"", iso_millis(self.last)));
        Line { id: line, entry, millis: self.last, parent: None }
    }

    fn put_envelope(
        &mut self,
        line: LineId,
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
                json_string(&self.new_id(&uuid))
            }
        };
        out.put(line, "\"id\":");
        out.put(line, &entry);
        out.put(line, ",\"timestamp\":");
        let millis = self.put_time(line, event, out);
        let parent = event.context.parent.value().filter(|_| n == 0);
        let parent = parent.map(|parent| (json_string(&parent.decode()), out.place()));
        Line { id: line, entry, millis, parent }
    }

    /// Writes the time of an event, or of the entry before if the event has none.
    fn put_time(&mut self, line: LineId, event: &Event<'_>, out: &mut Output) -> i64 {
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
        self.last
    }

    /// Sets the time of entries before the first one with a time.
    pub(super) fn start(&mut self, millis: i64) {
        self.last = millis;
    }

    /// Writes the parent of an entry and emits it. It becomes the parent of the next one.
    pub(super) fn emit(&mut self, line: Line, out: &mut Output) {
        if let Some((parent, place)) = &line.parent
            && self.parent.as_ref() != Some(parent)
        {
            out.lose_at(LossKind::Flattened, "parentUuid", *place);
        }
        out.put(line.id, ",\"parentId\":");
        out.put(line.id, self.parent.as_deref().unwrap_or("null"));
        out.put(line.id, "}");
        out.emit(line.id);
        self.parent = Some(line.entry);
    }

    /// Returns the id of an event, unless an entry has it already. A repeated id can make a circle
    /// of parents, on which pi hangs.
    fn own_id(&mut self, id: Text<'_>) -> Option<String> {
        let id = Some(id).filter(|id| !id.is_empty() && !id.has_lone_surrogate())?.decode();
        self.used.insert(&id).then(|| json_string(&id))
    }

    /// Returns an unused id of eight hexadecimal digits from a UUID.
    fn new_id(&mut self, uuid: &str) -> String {
        let digits: String = uuid.chars().filter(|char| *char != '-').collect();
        let short = digits.get(..8).unwrap_or(&digits).to_owned();
        if self.used.insert(&short) {
            return short;
        }
        let mut id = digits;
        while !self.used.insert(&id) {
            id.push('0');
        }
        id
    }
}

/// Milliseconds since 1970 whose year has four digits.
pub(super) const TIMES: std::ops::Range<i64> = 0..253_370_764_800_000;
