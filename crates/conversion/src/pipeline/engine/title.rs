//! Brings a title home that was changed in another client.
//!
//! In: a restored session whose title is `Tests`, and `"title":"Tests of the parser"` in the head of the document that it
//! is restored from. Out: a record with the new title after the restored ones.
//!
//! In: `{"info":{"title":"Tests"},"messages":[`, which is restored, and the new title of a record that was added or
//! edited. Out: `{"info":{"title":"Tests of the parser"},"messages":[`.

use std::io;

use core_model::{Body, Context, Event, Format, KnownTitle, Losses, Title, TitleRank};
use jsonl::{Line, Scanner, Text, Value, push_string};

use super::Engine;
use crate::carry::Queue;

/// The head of a document that is restored, with a title. Its client may change the title, so the guard of the head does
/// not say whether it is the one that was written.
pub(super) struct TitledHead {
    /// The members around the records, without the carry, in one entry; none once a restored record has the title. They
    /// wait for the last restored record, and a long title is not in memory until then.
    head: Queue,
    /// The title, unescaped.
    title: KnownTitle,
    rank: TitleRank,
    /// Whether a restored record has the same title.
    is_restored: bool,
}

impl TitledHead {
    /// Compares the title with an event of a restored record.
    pub(super) fn observe(&mut self, event: &Event<'_>) {
        let Body::Title(title) = &event.body else { return };
        if !self.is_restored && self.title.is(&title.text.decode()) {
            (self.is_restored, self.head) = (true, Queue::default());
        }
        // Whoever replaces a title is the user.
        self.rank = TitleRank::User;
    }
}

/// The outcome for a title that was changed in another client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum NewTitle {
    /// The title was not changed.
    None,
    /// The target has a new record with it.
    Added,
    /// A restored member has it.
    Edited,
    /// The target does not show it.
    Lost,
}

/// A new title for the head, or the tail, of a document that is restored.
pub(super) struct TitleChange {
    /// The title, unescaped; empty once its member is restored, because it may be long.
    text: String,
    known: KnownTitle,
    /// Whether the title is known to be new. The title in the head of a written document is compared with the
    /// restored one, and a head that cannot be restored is counted as such.
    is_known: bool,
    /// `None` until the member is restored; then, whether it had another title.
    is_changed: Option<bool>,
}

impl TitleChange {
    /// Returns whether an event says the title.
    pub(super) fn is_of(&self, event: &Event<'_>) -> bool {
        matches!(&event.body, Body::Title(title) if self.known.is(&title.text.decode()))
    }
}

/// Returns glue of a document with a title in its member at `path`, or no bytes if it has the title; `None` if the member
/// comes later. `value` is the document without its records; `None` for brackets, commas and blanks alone.
fn with_title(
    glue: &Line<'_>,
    value: Option<Value<'_>>,
    path: &str,
    title: &str,
    format: &Format,
) -> Option<Option<Vec<u8>>> {
    let bytes = glue.bytes();
    let start_of = |value: Value<'_>| {
        let start = glue.offset_of(value.raw().as_str().as_bytes())?;
        usize::try_from(start.checked_sub(glue.offset())?).ok()
    };
    let mut spelled = Vec::new();
    push_string(&mut spelled, title, format.style);
    let (parent, key) = match path.split_once('.') {
        Some((parent, key)) => (Some(parent), key),
        None => (None, path),
    };
    let object = value.and_then(|value| parent.map_or(Some(value), |parent| value.get(parent)));
    if let Some(member) = object.and_then(|object| object.get(key)) {
        if member.text().is_some_and(|text| text.is(title)) {
            return Some(None);
        }
        let start = start_of(member)?;
        let (before, rest) = bytes.split_at_checked(start)?;
        let rest = rest.get(member.raw().as_str().len()..)?;
        return Some(Some([before, &spelled, rest].concat()));
    }
    let member = ["\"".as_bytes(), key.as_bytes(), b"\":", &spelled].concat();
    if let (Some(_), Some(object)) = (parent, object.filter(|object| object.is_object())) {
        let (before, rest) = bytes.split_at_checked(start_of(object)? + 1)?;
        let separator: &[u8] = if object.members().next().is_some() { b"," } else { b"" };
        return Some(Some([before, &member, separator, rest].concat()));
    }
    if object.is_some() && parent.is_some() || !bytes.trim_ascii_end().ends_with(b"}") {
        return None;
    }
    // The end of the document.
    let (before, rest) = bytes.split_at_checked(bytes.iter().rposition(|byte| *byte == b'}')?)?;
    let is_empty = value.is_some_and(|value| value.members().next().is_none());
    let separator: &[u8] = if is_empty { b"" } else { b"," };
    let member = match parent {
        Some(parent) => ["\"".as_bytes(), parent.as_bytes(), b"\":{", &member, b"}"].concat(),
        None => member,
    };
    Some(Some([before, separator, &member, rest].concat()))
}

impl Engine<'_> {
    /// Sets the title of a record that was added or edited, a JSON string. The restored document gets it.
    pub(crate) fn set_new_title(&mut self, title: &str) {
        self.expect_title(title, true);
    }

    fn expect_title(&mut self, title: &str, is_known: bool) {
        let text = Text::new(title).map(|text| text.decode().into_owned());
        let known = text.as_deref().map(KnownTitle::of).unwrap_or_default();
        self.title_change =
            text.map(|text| TitleChange { text, known, is_known, is_changed: None });
    }

    /// Returns glue of a restored document with the new title; `None` if it has no other title. `value` is the document
    /// without its records; `None` if the glue is no part of one, or only punctuation.
    pub(crate) fn with_new_title(
        &mut self,
        glue: &Line<'_>,
        value: Option<Value<'_>>,
        format: &Format,
    ) -> Option<Vec<u8>> {
        let change = self.title_change.as_mut().filter(|title| title.is_changed.is_none())?;
        if value.is_none() && !glue.is_punctuation() {
            return None;
        }
        let bytes = with_title(glue, value, format.title_place?, &change.text, format)?;
        (change.is_changed, change.text) = (Some(bytes.is_some()), String::new());
        bytes
    }

    /// Notes the title in the head of a document that is restored. `head` has the members around the records, without the
    /// carry.
    ///
    /// # Errors
    ///
    /// Returns an error if a temporary file for a long title cannot be written.
    pub(crate) fn note_title(
        &mut self,
        head: [&str; 2],
        title: &Title<'_>,
        format: &Format,
    ) -> io::Result<()> {
        if format.title_place.is_some() {
            self.expect_title(title.text.as_str(), false);
            return Ok(());
        }
        let mut queue = Queue::default();
        queue.push(
            |out| head.iter().for_each(|part| out.extend_from_slice(part.as_bytes())),
            <[u8]>::len,
        )?;
        let (title, rank) = (KnownTitle::of(&title.text.decode()), title.rank);
        self.titled_head = Some(TitledHead { head: queue, title, rank, is_restored: false });
        Ok(())
    }

    /// Passes the title of the document to the writer, if no restored record has it. Returns the outcome for a new title.
    pub(crate) fn write_new_title(&mut self, from: &Format) -> io::Result<NewTitle> {
        if let Some(change) = self.title_change.take() {
            return Ok(match change.is_changed {
                Some(true) => NewTitle::Edited,
                None if change.is_known => NewTitle::Lost,
                Some(false) | None => NewTitle::None,
            });
        }
        let Some(mut shown) = self.titled_head.take().filter(|shown| !shown.is_restored) else {
            return Ok(NewTitle::None);
        };
        let mut head = Vec::new();
        shown.head.drain(|part| {
            head.extend_from_slice(part);
            Ok(())
        })?;
        // Only a lost title counts: it needs no time and no id of its record.
        let n_lost = |losses: &Losses| -> u64 {
            let titles = losses.counts().filter(|(_, field, _)| field.ends_with("title"));
            titles.map(|(.., n)| n).sum()
        };
        let losses = self.out.losses().clone();
        let (mut scanner, line) = (Scanner::default(), Line::new(&head, 0));
        let Ok(head) = scanner.scan(&line) else { return Ok(NewTitle::None) };
        self.out.start_source(&line, from.style);
        from.for_each_event(head, |event| {
            let Body::Title(title) = event.body else { return true };
            let body = Body::Title(Title { rank: shown.rank, ..title });
            let event = Event { body, context: Context::default(), ..*event };
            self.writer.write(&event, &mut self.out);
            false
        });
        self.take_emitted()?;
        let is_shown = n_lost(self.out.losses()) == n_lost(&losses);
        // The list of losses would say that a carry keeps them, and none does.
        self.out.set_losses(losses);
        Ok(if is_shown { NewTitle::Added } else { NewTitle::Lost })
    }
}
