//! Writes the members that all lines have: sub-agent, id, time and parent.
//!
//! In: an event with the uuid `u2` after a line with the id `u1`. Out: `{"type":..,"data":{..},
//! "id":"u2","timestamp":..,"parentId":"u1"}`. They are written last, because the parent of a held
//! line is known when it is emitted.

use core_model::{
    Context, Event, IdSet, LineId, LossKind, Output, Place, is_uuid, iso_millis, millis,
    uuid_of_name,
};
use jsonl::{Raw, Text, json_string};

/// The thread of lines.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// The id of the last line, a JSON string.
    parent: Option<String>,
    used: IdSet,
    /// The time of the last line with a time, in milliseconds since 1970.
    last: i64,
    /// The sub-agent of the lines that are opened, a JSON string.
    pub(super) agent: Option<String>,
}

/// An open line.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) id: LineId,
    /// The id of the line, a JSON string.
    entry: String,
    /// Its time, a JSON string.
    time: String,
    /// The sub-agent, a JSON string.
    agent: Option<String>,
    /// The id of its parent in the source, a JSON string, with its place.
    parent: Option<(String, Place)>,
}

/// Milliseconds since 1970 whose year has four digits.
const TIMES: std::ops::Range<i64> = 0..253_370_764_800_000;

impl Thread {
    /// Continues after a resumed line.
    pub(super) fn resume(&mut self, context: &Context<'_>) {
        self.last = context.time.and_then(millis).unwrap_or(self.last);
        let Some(id) = context.uuid else { return };
        let id = id.decode();
        self.used.insert(&id);
        self.parent = Some(json_string(&id));
    }

    /// Opens a line of a type, up to the first member of its data. The first one of an event (`n` is 0)
    /// has its id.
    pub(super) fn open(
        &mut self,
        kind: &str,
        event: &Event<'_>,
        n: usize,
        out: &mut Output,
    ) -> Line {
        let line = self.open_untyped(event, n, out);
        put_type(line.id, kind, out);
        line
    }

    /// Opens a line whose type is written later.
    pub(super) fn open_untyped(&mut self, event: &Event<'_>, n: usize, out: &mut Output) -> Line {
        let id = out.open();
        out.put(id, "{");
        self.envelope(id, event, n, out)
    }

    /// Opens a line with the title, which shows no line of the source.
    pub(super) fn open_title(&mut self, event: &Event<'_>, out: &mut Output) -> Line {
        let id = out.open_derived();
        out.put(id, "{");
        self.envelope(id, event, 0, out)
    }

    /// Opens a line that shows no line of the source.
    pub(super) fn open_derived(&mut self, uuid: &str, out: &mut Output) -> Line {
        let id = out.open_derived();
        out.put(id, "{");
        self.used.insert(uuid);
        Line {
            id,
            entry: json_string(uuid),
            time: json_string(&iso_millis(self.last)),
            agent: self.agent.clone(),
            parent: None,
        }
    }

    fn envelope(&mut self, id: LineId, event: &Event<'_>, n: usize, out: &mut Output) -> Line {
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
        let time = self.time(event, n, out);
        let parent = event.context.parent.value().filter(|_| n == 0);
        let parent = parent.map(|parent| (json_string(&parent.decode()), out.place()));
        Line { id, entry, time, agent: self.agent.clone(), parent }
    }

    /// Returns the time of an event, or of the line before if the event has none. Copilot refuses a
    /// file with another spelling than ISO 8601. Only the first line of an event counts a change.
    fn time(&mut self, event: &Event<'_>, n: usize, out: &mut Output) -> String {
        let time = event.context.time;
        let known = time.and_then(millis).filter(|millis| TIMES.contains(millis));
        self.last = known.unwrap_or(self.last);
        let text = time.and_then(|time| time.as_text()).map(|text| text.decode());
        if let (Some(_), Some(text)) = (known, text.filter(|text| is_iso(text))) {
            return json_string(&text);
        }
        if n == 0 {
            let lost = time.map_or(LossKind::Invented, |_| LossKind::Flattened);
            out.lose(lost, event.vocabulary.time);
        }
        json_string(&iso_millis(self.last))
    }

    /// Returns whether the last line has the id of an event.
    pub(super) fn is_last(&self, event: &Event<'_>) -> bool {
        event.context.uuid.is_some_and(|id| self.parent == Some(json_string(&id.decode())))
    }

    /// Returns an id for a line that follows the last one and shows no line of the source.
    pub(super) fn derived_id(&self, kind: &str) -> String {
        uuid_of_name(kind, self.parent.as_deref().unwrap_or_default())
    }

    /// Sets the time of lines before the first one with a time. Returns it as Copilot writes it, and
    /// whether it is the written one.
    pub(super) fn start(&mut self, time: Raw<'_>) -> (String, bool) {
        let known = millis(time).filter(|millis| TIMES.contains(millis));
        self.last = known.unwrap_or(0);
        let text = time.as_text().map(|text| text.decode());
        match (known, text.filter(|text| is_iso(text))) {
            (Some(_), Some(text)) => (json_string(&text), true),
            _ => (json_string(&iso_millis(self.last)), false),
        }
    }

    /// Writes the members behind the data and emits a line. It becomes the parent of the next one.
    pub(super) fn emit(&mut self, line: Line, out: &mut Output) {
        let Line { id, entry, time, agent, parent } = line;
        if let Some((parent, place)) = parent
            && self.parent.as_ref() != Some(&parent)
        {
            out.lose_at(LossKind::Flattened, "parentUuid", place);
        }
        if let Some(agent) = agent {
            out.put_args(id, format_args!(",\"agentId\":{agent}"));
        }
        let parent = self.parent.as_deref().unwrap_or("null");
        out.put_args(
            id,
            format_args!(",\"id\":{entry},\"timestamp\":{time},\"parentId\":{parent}}}"),
        );
        out.emit(id);
        self.parent = Some(entry);
    }

    /// Returns the id of an event if it is a UUID, unless a line has it already.
    fn own_id(&mut self, id: Text<'_>) -> Option<String> {
        let id = id.decode();
        (is_uuid(&id) && self.used.insert(&id)).then(|| json_string(&id))
    }
}

/// Writes the type of a line and the start of its data.
pub(super) fn put_type(id: LineId, kind: &str, out: &mut Output) {
    out.put_args(id, format_args!("\"type\":\"{kind}\",\"data\":{{"));
}

/// Returns whether a text has the form of a time that Copilot loads: ISO 8601 with an offset.
pub(crate) fn is_iso(text: &str) -> bool {
    let (Some(head), Some(tail)) = (text.get(..19), text.get(19..)) else { return false };
    let has_shape = |text: &str, shape: &[u8]| {
        let is_it = |(byte, shape): (u8, &u8)| match *shape {
            b'0' => byte.is_ascii_digit(),
            shape => byte == shape,
        };
        text.len() == shape.len() && text.bytes().zip(shape).all(is_it)
    };
    let fraction = tail.strip_suffix('Z').or_else(|| {
        let (fraction, offset) = tail.split_at_checked(tail.len().checked_sub(6)?)?;
        let is_offset = has_shape(offset, b"+00:00") || has_shape(offset, b"-00:00");
        is_offset.then_some(fraction)
    });
    let is_fraction = |fraction: &str| {
        let digits = fraction.strip_prefix('.');
        fraction.is_empty()
            || digits.is_some_and(|digits| {
                let is_digit = |byte: u8| byte.is_ascii_digit();
                !digits.is_empty() && digits.len() <= 9 && digits.bytes().all(is_digit)
            })
    };
    fraction.is_some_and(is_fraction) && has_shape(head, b"0000-00-00T00:00:00")
}
