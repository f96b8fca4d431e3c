//! Brings the title of a document home, if its client changed it.
//!
//! In: a restored session whose title is `Tests`, and `"title":"Tests of the parser"` in the head of the document. Out: a
//! record with the new title after the restored ones.

use std::io;

use core_model::{Body, Context, Event, Format, Losses, Title, TitleRank};
use jsonl::{Line, Scanner, Text};

use super::Engine;

/// The head of a document that is restored, with a title. Its client may change the title, so the guard of the head does
/// not say whether it is the one that was written.
pub(super) struct TitledHead {
    /// The members around the records, without the carry.
    head: String,
    /// The title as a JSON string.
    title: String,
    rank: TitleRank,
    /// Whether a restored record has the same title.
    is_restored: bool,
}

impl TitledHead {
    /// Compares the title with an event of a restored record.
    pub(super) fn observe(&mut self, event: &Event<'_>) {
        let Body::Title(title) = &event.body else { return };
        let is_same = |shown: Text<'_>| shown.decode() == title.text.decode();
        self.is_restored |= Text::new(&self.title).is_some_and(is_same);
        // Whoever replaces a title is the user.
        self.rank = TitleRank::User;
    }
}

impl Engine<'_> {
    /// Notes the title in the head of a document that is restored.
    pub(crate) fn note_title(&mut self, head: String, title: &Title<'_>) {
        self.titled_head = Some(TitledHead {
            head,
            title: title.text.as_str().to_owned(),
            rank: title.rank,
            is_restored: false,
        });
    }

    /// Passes the title of the document to the writer, if no restored record has it. Returns whether the target shows it;
    /// `None` if it is no new title.
    pub(crate) fn write_new_title(&mut self, from: &Format) -> io::Result<Option<bool>> {
        let Some(shown) = self.titled_head.take().filter(|shown| !shown.is_restored) else {
            return Ok(None);
        };
        // Only a lost title counts: it needs no time and no id of its record.
        let n_lost = |losses: &Losses| -> u64 {
            let titles = losses.counts().filter(|(_, field, _)| field.ends_with("title"));
            titles.map(|(.., n)| n).sum()
        };
        let losses = self.out.losses().clone();
        let (mut scanner, line) = (Scanner::default(), Line::new(shown.head.as_bytes(), 0));
        let Ok(head) = scanner.scan(&line) else { return Ok(None) };
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
        Ok(Some(is_shown))
    }
}
