//! Collects the lines of writers, and notes the ranges that they copy from the source. The carry
//! uses the notes to store a source line as references to written lines.

mod losing;

use std::{collections::VecDeque, fmt, io::Write};

use jsonl::{Line, Raw, Respeller, Respelt, Style, Text, push_string, respell_body};

use crate::{
    Event, Losses,
    draft::{Copied, Drafts, LARGE, LONG, LineId, Source},
    id,
};

/// Collector of the lines of writers.
///
/// A writer opens a line, appends to it, and emits it. Lines are written in the order of their
/// emission. [`Output::copy`] notes each copied slice of the current source line.
#[derive(Debug)]
pub struct Output {
    drafts: Drafts,
    emitted: VecDeque<LineId>,
    touched: Vec<LineId>,
    /// Longer parts of the source line that were repeated. The carry does not refer to repeated
    /// parts.
    repeated: Vec<(LineId, Copied)>,
    /// Whether copied ranges are noted.
    is_noting: bool,
    style: Style,
    source_style: Style,
    session_id: String,
    source: Source,
    losses: Losses,
    respeller: Respeller,
}

impl Output {
    /// Creates an output in a style, for a source in another style and a session.
    pub fn new(style: Style, source_style: Style, session_id: &str) -> Self {
        Self {
            drafts: Drafts::default(),
            emitted: VecDeque::new(),
            touched: Vec::new(),
            repeated: Vec::new(),
            is_noting: true,
            style,
            source_style,
            session_id: session_id.to_owned(),
            source: Source::default(),
            losses: Losses::default(),
            respeller: Respeller::default(),
        }
    }

    /// Turns off notes of copied ranges, for conversions without a carry.
    pub fn without_notes(self) -> Self {
        Self { is_noting: false, ..self }
    }

    /// Sets the number of the source line, from 1, under which losses are reported.
    pub fn set_line_number(&mut self, number: u64) {
        self.source.number = number;
    }

    /// Sets the source line whose event is written next.
    pub fn start_source(&mut self, line: &Line<'_>, source_style: Style) {
        self.source_style = source_style;
        self.source.start(line);
        self.repeated.clear();
        for id in self.touched.drain(..) {
            self.drafts.line_mut(id).is_touched = false;
        }
    }

    /// Ends the source line: later text belongs to none.
    pub fn end_source(&mut self) {
        self.source.end();
    }

    /// Opens a line.
    pub fn open(&mut self) -> LineId {
        let id = self.drafts.open();
        self.touch(id);
        id
    }

    /// Opens a line that only repeats another line, so the source line is not carried by it.
    pub fn open_derived(&mut self) -> LineId {
        let id = self.open();
        self.touched.pop();
        let draft = self.drafts.line_mut(id);
        (draft.is_derived, draft.is_touched) = (true, false);
        id
    }

    /// Notes that a line shows the current source line without a copied slice.
    pub fn touch(&mut self, id: LineId) {
        let draft = self.drafts.line_mut(id);
        if !draft.is_derived && !draft.is_touched {
            draft.is_touched = true;
            self.touched.push(id);
        }
    }

    /// Appends text of the writer, already in the output's style.
    pub fn put(&mut self, id: LineId, written: &str) {
        self.drafts.line_mut(id).bytes.extend_from_slice(written.as_bytes());
    }

    /// Appends formatted text of the writer.
    pub fn put_args(&mut self, id: LineId, args: fmt::Arguments<'_>) {
        let bytes = &mut self.drafts.line_mut(id).bytes;
        bytes.write_fmt(args).expect("a vector takes all that is written to it");
    }

    /// Appends a string of the writer.
    pub fn put_string(&mut self, id: LineId, text: &str) {
        push_string(&mut self.drafts.line_mut(id).bytes, text, self.style);
    }

    /// Appends a value in the output's style without noting it. For ids, times and the rest of the
    /// envelope, which must survive an edit of the written line.
    pub fn put_raw(&mut self, id: LineId, raw: Raw<'_>) {
        let bytes = &mut self.drafts.line_mut(id).bytes;
        if self.style != self.source_style {
            return self.respeller.append(bytes, raw, self.style);
        }
        let at = bytes.len();
        bytes.extend_from_slice(raw.as_str().as_bytes());
        if self.is_noting && raw.as_str().len() >= LONG {
            let repeated = self.source.copied(raw.as_str(), at);
            self.repeated.extend(repeated.map(|repeated| (id, repeated)));
        }
    }

    /// Appends a value of the source line, in the output's style, and notes it.
    pub fn copy(&mut self, id: LineId, raw: Raw<'_>) {
        self.touch(id);
        if self.style == self.source_style {
            return self.copy_slice(id, raw.as_str());
        }
        let draft = self.drafts.line_mut(id);
        let at = draft.bytes.len();
        let respelt = self.respeller.respell(&mut draft.bytes, raw, self.source_style, self.style);
        // Noted only if respelling in the source's style gives the source.
        let is_respelt = match respelt {
            Respelt::Same => false,
            Respelt::Reversible => true,
            Respelt::Other => return,
        };
        if self.is_noting {
            draft.note(&self.source, raw.as_str(), at, is_respelt);
        }
    }

    /// Appends a string of the source line and notes it.
    pub fn copy_text(&mut self, id: LineId, text: Text<'_>) {
        self.copy(id, Raw::from(text));
    }

    /// Appends a slice of the source line unchanged and notes it. For parts of strings, if source
    /// and output have one style.
    pub fn copy_slice(&mut self, id: LineId, slice: &str) {
        self.touch(id);
        let draft = self.drafts.line_mut(id);
        let at = draft.bytes.len();
        if slice.len() > LARGE {
            // The buffer must not be much larger than a long line.
            draft.bytes.reserve_exact(slice.len() + LARGE);
        }
        draft.bytes.extend_from_slice(slice.as_bytes());
        if self.is_noting {
            draft.note(&self.source, slice, at, false);
        }
    }

    /// Appends a part of a JSON string's body, in the output's style. Notes it if it is unchanged.
    pub fn copy_body(&mut self, id: LineId, body: &str) {
        if self.style == self.source_style {
            return self.copy_slice(id, body);
        }
        self.touch(id);
        respell_body(&mut self.drafts.line_mut(id).bytes, body, self.style);
    }

    /// Returns the current length of a line, in bytes.
    pub fn len(&self, id: LineId) -> usize {
        self.drafts.line(id).bytes.len()
    }

    /// Emits a line. It is final, and follows all lines emitted before.
    pub fn emit(&mut self, id: LineId) {
        self.emitted.push_back(id);
    }

    /// Returns the spelling of JSON in the output.
    pub fn style(&self) -> Style {
        self.style
    }

    /// Returns a UUID for block `block_idx` of the current source line.
    pub fn uuid(&mut self, event: &Event<'_>, kind: &str, block_idx: usize) -> String {
        let line = self.source.digest(event.value.raw().as_str());
        id::uuid(kind, &self.session_id, self.source.offset, block_idx, &line)
    }

    /// Returns a UUID for a line without a source line, which the writer adds at the end.
    pub fn uuid_at_end(&self, kind: &str, n: usize) -> String {
        id::uuid(kind, &self.session_id, self.source.offset, n, &id::digest(b""))
    }

    /// Returns an API message id for the response that starts at the current source line.
    pub fn message_id(&mut self, event: &Event<'_>, block_idx: usize) -> String {
        let line = self.source.digest(event.value.raw().as_str());
        id::message_id(&self.session_id, self.source.offset, block_idx, &line)
    }

    /// Returns the lines that show the current source line, in the order of their first use.
    pub fn touched(&self) -> &[LineId] {
        &self.touched
    }

    /// Returns the offset in the source line of the first range that was copied to a line.
    pub fn first_copied(&self, id: LineId) -> Option<u32> {
        self.drafts.line(id).copied.iter().map(|copied| copied.from).min()
    }

    /// Returns the longer values of the current source line that written lines contain unchanged
    /// and that were not noted as copied.
    pub fn repeated(&self) -> &[(LineId, Copied)] {
        &self.repeated
    }

    /// Returns the next emitted line, if there is one.
    pub fn next_emitted(&mut self) -> Option<LineId> {
        self.emitted.pop_front()
    }

    /// Returns the bytes of a line so far.
    pub fn bytes(&self, id: LineId) -> &[u8] {
        &self.drafts.line(id).bytes
    }

    /// Swaps the bytes of a line with an empty buffer.
    pub fn swap_bytes(&mut self, id: LineId, buffer: &mut Vec<u8>) {
        buffer.clear();
        std::mem::swap(&mut self.drafts.line_mut(id).bytes, buffer);
    }

    /// Swaps the noted ranges of a line with an empty buffer.
    pub fn swap_copied(&mut self, id: LineId, buffer: &mut Vec<Copied>) {
        buffer.clear();
        std::mem::swap(&mut self.drafts.line_mut(id).copied, buffer);
    }

    /// Returns an emitted line for reuse.
    pub fn release(&mut self, id: LineId) {
        self.drafts.release(id);
    }

    /// Returns the losses so far.
    pub fn losses(&self) -> &Losses {
        &self.losses
    }
}
