//! Collects the lines of writers, and notes the ranges that they copy from the source. The carry
//! uses the notes to store a source line as references to written lines.

mod images;
mod losing;
mod mended;
mod packing;
mod texts;

use std::{collections::VecDeque, fmt, io::Write};

use jsonl::{
    Line, Raw, Respeller, Respelt, Scanner, Style, Text, push_indented, push_string, respell_body,
};

pub use self::images::ImageFile;

use self::images::Images;
use crate::{
    Event, Input, LossKind, Losses, TextBody, ToolName, ToolUse,
    draft::{
        CarryMark, Copied, DocumentPart, Draft, Drafts, LARGE, LONG, LineId, Source, Spelling,
    },
    id,
    packed::PackedLines,
};

/// Number of lines of one source record whose copied ranges are noted. The carry holds a record
/// with more lines whole, because the notes would take several times its size.
const MAX_NOTED: usize = 4 * 1024;

/// Number of lines that are kept as drafts if there are no notes. The others are packed.
const MAX_DRAFTS: usize = 4 * 1024;

/// Limit in bytes on as many lines of one length as are open. Above it, a line of that length is packed.
const MAX_OPEN: usize = 4 * 1024 * 1024;

/// Collector of the lines of writers.
///
/// A writer opens a line, appends to it, and emits it. Lines are written in the order of their
/// emission. [`Output::copy`] notes each copied slice of the current source line.
#[derive(Debug)]
pub struct Output {
    drafts: Drafts,
    emitted: VecDeque<LineId>,
    packed: PackedLines,
    touched: Vec<LineId>,
    /// Longer parts of the source line that were repeated. The carry does not refer to repeated
    /// parts.
    repeated: Vec<(LineId, Copied)>,
    /// Whether copied ranges are noted.
    is_noting: bool,
    /// Whether the source record has more than [`MAX_NOTED`] lines.
    has_many_lines: bool,
    style: Style,
    source_style: Style,
    session_id: String,
    source: Source,
    losses: Losses,
    /// The written records that the client hides.
    n_hidden: u64,
    respeller: Respeller,
    /// The images that are files; `None` if the target has none.
    images: Option<Images>,
}

impl Output {
    /// Creates an output in a style, for a source in another style and a session.
    pub fn new(style: Style, source_style: Style, session_id: &str) -> Self {
        Self {
            drafts: Drafts::default(),
            emitted: VecDeque::new(),
            packed: PackedLines::default(),
            touched: Vec::new(),
            repeated: Vec::new(),
            is_noting: true,
            has_many_lines: false,
            style,
            source_style,
            session_id: session_id.to_owned(),
            source: Source::default(),
            losses: Losses::default(),
            n_hidden: 0,
            respeller: Respeller::default(),
            images: None,
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
        self.has_many_lines = false;
        self.pack_starts();
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
        self.drafts.line_mut(id).source = self.source.count;
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
    #[inline]
    pub fn touch(&mut self, id: LineId) {
        let draft = self.drafts.line(id);
        if !draft.is_derived && !draft.is_touched {
            self.touch_first(id);
        }
    }

    /// Notes that a line shows a value of the current source line, which the writer spells itself. Of a
    /// source line with values in several lines, each of them covers a part.
    pub fn show(&mut self, id: LineId, raw: Raw<'_>) {
        self.show_part(id, raw.as_str());
    }

    fn show_part(&mut self, id: LineId, part: &str) {
        self.touch(id);
        if !self.notes() {
            return;
        }
        let from = self.source.find(part).and_then(|from| u32::try_from(from).ok());
        let line = self.drafts.line(id).owner.unwrap_or(id);
        let draft = self.drafts.line_mut(line);
        draft.shown = [draft.shown, from].into_iter().flatten().min();
    }

    /// Notes the first slice of the current source line in a line.
    fn touch_first(&mut self, id: LineId) {
        if let Some(line) = self.drafts.line(id).owner {
            return self.touch(line);
        }
        let draft = self.drafts.line_mut(id);
        if self.touched.len() < MAX_NOTED {
            draft.is_touched = true;
            self.touched.push(id);
        } else if !self.has_many_lines {
            self.has_many_lines = true;
            self.repeated = Vec::new();
            for id in &self.touched {
                let draft = self.drafts.line_mut(*id);
                (draft.copied, draft.shown) = (Vec::new(), None);
            }
        }
    }

    /// Returns whether copied ranges of the current source record are noted.
    fn notes(&self) -> bool {
        self.is_noting && !self.has_many_lines
    }

    /// Returns whether the current source record has more lines than are noted. No line covers it
    /// then.
    pub fn has_many_lines(&self) -> bool {
        self.has_many_lines
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

    /// Appends a text of the source, or `other` instead of it, which counts as flattened under `field`.
    pub fn copy_text_or(
        &mut self,
        id: LineId,
        text: Text<'_>,
        other: Option<&str>,
        field: &'static str,
    ) {
        match other {
            Some(other) => {
                self.lose(LossKind::Flattened, field);
                self.put_string(id, other);
                self.show(id, text.into());
            }
            None => self.copy_text(id, text),
        }
    }

    /// Appends the name of a tool. A name that the source has in two strings is written as one.
    pub fn copy_tool_name(&mut self, id: LineId, name: ToolName<'_>) {
        match name.as_text() {
            Some(text) => self.copy_text(id, text),
            None => {
                self.touch(id);
                self.put_string(id, &name.decode());
            }
        }
    }

    /// Appends the name of a tool, or `other` instead of it, which counts as flattened.
    pub fn copy_tool_name_or(&mut self, id: LineId, name: ToolName<'_>, other: Option<&str>) {
        match other {
            Some(other) => {
                self.lose(LossKind::Flattened, "tool_use.name");
                self.put_string(id, other);
            }
            None => self.copy_tool_name(id, name),
        }
    }

    /// Appends the input of a tool use. APIs accept only objects: `[1]` becomes `{"value":[1]}`.
    pub fn copy_object_input(&mut self, id: LineId, tool: &ToolUse<'_>) {
        let input = tool.input.json();
        if input.raw().as_str().starts_with('{') {
            return self.copy(id, input.raw());
        }
        self.lose(LossKind::Flattened, "tool_use.input");
        self.put(id, "{\"value\":");
        self.copy(id, input.raw());
        self.put(id, "}");
    }

    /// Appends a string of the writer.
    pub fn put_string(&mut self, id: LineId, text: &str) {
        push_string(&mut self.drafts.line_mut(id).bytes, text, self.style);
    }

    /// Appends an array of strings as the lines of one text, and any other value as a string with its JSON:
    /// `["a","b"]` becomes `"a\nb"`, and `[1]` becomes `"[1]"`.
    pub fn put_lines(&mut self, id: LineId, raw: Raw<'_>) {
        let mut scanner = Scanner::default();
        let array = scanner.scan_raw(raw).ok();
        let texts = array.iter().flat_map(|array| array.items()).map(|item| item.text());
        let Some(texts) = texts.collect::<Option<Vec<_>>>().filter(|texts| !texts.is_empty())
        else {
            return self.put_string(id, raw.as_str());
        };
        let mut newline = "\"";
        for text in texts {
            self.put(id, newline);
            self.copy_body(id, text.body());
            newline = "\\n";
        }
        self.put(id, "\"");
    }

    /// Appends a value in the output's style without noting it. For ids, times and the rest of the
    /// envelope, which must survive an edit of the written line.
    pub fn put_raw(&mut self, id: LineId, raw: Raw<'_>) {
        let is_of_lines = self.goes_over_lines(raw);
        let bytes = &mut self.drafts.line_mut(id).bytes;
        if is_of_lines {
            return push_line(&mut self.respeller, bytes, raw, self.style);
        }
        if self.style != self.source_style {
            return self.respeller.append(bytes, raw, self.style);
        }
        bytes.extend_from_slice(raw.as_str().as_bytes());
        if self.notes() && raw.as_str().len() >= LONG {
            let at = self.len(id).saturating_sub(raw.as_str().len());
            let repeated = self.source.copied(raw.as_str(), at);
            let draft = self.drafts.line_mut(id);
            if let Some(repeated) = repeated.filter(|_| draft.owner.is_none()) {
                draft.n_repeated = draft.n_repeated.saturating_add(1);
                self.repeated.push((id, repeated));
            }
        }
    }

    /// Appends a value of the source line, in the output's style, and notes it.
    pub fn copy(&mut self, id: LineId, raw: Raw<'_>) {
        self.touch(id);
        if self.goes_over_lines(raw) {
            return self.copy_lines(id, raw);
        }
        if self.style == self.source_style {
            return self.copy_slice(id, raw.as_str());
        }
        if !self.notes() {
            let bytes = &mut self.drafts.line_mut(id).bytes;
            return self.respeller.append(bytes, raw, self.style);
        }
        let draft = self.drafts.line_mut(id);
        let at = draft.len();
        let respelt = self.respeller.respell(&mut draft.bytes, raw, self.source_style, self.style);
        // Noted only if respelling in the source's style gives the source.
        let spelling = match respelt {
            Respelt::Same => Spelling::Same,
            Respelt::Reversible => Spelling::Respelt,
            Respelt::Other => return,
        };
        self.note(id, raw.as_str(), at, spelling);
    }

    /// Returns whether a value goes over several lines: in a document it may.
    #[inline]
    fn goes_over_lines(&self, raw: Raw<'_>) -> bool {
        self.source.is_in_document && jsonl::has_newline(raw.as_str())
    }

    /// Appends a value of several lines on one line, and notes it if indenting it gives the source.
    fn copy_lines(&mut self, id: LineId, raw: Raw<'_>) {
        let is_noting = self.notes();
        let draft = self.drafts.line_mut(id);
        let (at, start) = (draft.len(), draft.bytes.len());
        push_line(&mut self.respeller, &mut draft.bytes, raw, self.style);
        if !is_noting {
            return;
        }
        let written = raw.as_str();
        let Ok(indent) = u16::try_from(jsonl::indentation(written)) else { return };
        let appended = draft.bytes.get(start..).unwrap_or_default();
        let Ok(appended) = std::str::from_utf8(appended) else { return };
        let (mut respelt, mut indented) = (Vec::new(), Vec::new());
        jsonl::respell_str(&mut respelt, appended, self.source_style);
        let respelt = std::str::from_utf8(&respelt).unwrap_or_default();
        let fits = push_indented(&mut indented, respelt, indent.into(), written.len());
        if fits && indented == written.as_bytes() {
            self.note(id, written, at, Spelling::Indented(indent));
        }
    }

    /// Appends a string of the source line and notes it.
    pub fn copy_text(&mut self, id: LineId, text: Text<'_>) {
        self.copy(id, Raw::from(text));
    }

    /// Appends the input of a tool use as a JSON value, in the output's style.
    pub fn copy_input(&mut self, id: LineId, input: Input<'_>) {
        let Input::Member(name, value) = input else { return self.copy(id, input.json().raw()) };
        let colon = if self.style == Style::Python { ": " } else { ":" };
        self.put_args(id, format_args!("{{\"{name}\"{colon}"));
        self.copy(id, value);
        self.put(id, "}");
    }

    /// Appends the input of a tool use as a JSON string that holds JSON, in the output's style.
    pub fn copy_input_string(&mut self, id: LineId, input: Input<'_>) {
        match input {
            Input::JsonString(text) => self.copy_text(id, text),
            Input::Json(_) | Input::Text(_) | Input::Member(..) => {
                self.touch(id);
                self.put_string(id, input.json().raw().as_str());
            }
        }
    }

    /// Appends a slice of the source line unchanged and notes it. For parts of strings, if source
    /// and output have one style.
    pub fn copy_slice(&mut self, id: LineId, slice: &str) {
        self.touch(id);
        let is_noting = self.notes();
        let draft = self.drafts.line_mut(id);
        let at = draft.len();
        if slice.len() > LARGE {
            // The buffer must not be much larger than a long line.
            draft.bytes.reserve_exact(slice.len() + LARGE);
        }
        draft.bytes.extend_from_slice(slice.as_bytes());
        if is_noting {
            self.note(id, slice, at, Spelling::Same);
        }
    }

    /// Notes that `part` of the source line was written at the offset `at`.
    #[inline]
    fn note(&mut self, id: LineId, part: &str, at: usize, spelling: Spelling) {
        let draft = self.drafts.line_mut(id);
        let Some(line) = draft.owner else { return draft.note(&self.source, part, at, spelling) };
        // Only the place in the source matters: no carry refers to the written bytes.
        self.drafts.line_mut(line).note(&self.source, part, 0, spelling);
    }

    /// Appends a part of a JSON string's body, in the output's style. Notes it if it is unchanged.
    pub fn copy_body(&mut self, id: LineId, body: &str) {
        if self.style == self.source_style {
            return self.copy_slice(id, body);
        }
        self.show_part(id, body);
        respell_body(&mut self.drafts.line_mut(id).bytes, body, self.style);
    }

    /// Appends the body of a string, or a part of it, as a string. Notes it if it is unchanged.
    pub fn copy_quoted(&mut self, id: LineId, body: TextBody<'_>) {
        self.put(id, "\"");
        self.copy_part(id, body);
        self.put(id, "\"");
    }

    /// Appends a part of a string's body. Notes it if it is unchanged, as base64 is in all styles.
    pub fn copy_part(&mut self, id: LineId, body: TextBody<'_>) {
        let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'\\';
        match body.as_str().bytes().all(is_plain) {
            true => self.copy_slice(id, body.as_str()),
            false => self.copy_body(id, body.as_str()),
        }
    }

    /// Returns the current length of a line, in bytes.
    pub fn len(&self, id: LineId) -> usize {
        self.drafts.line(id).len()
    }

    /// Emits a line. It is final, and follows all lines emitted before.
    pub fn emit(&mut self, id: LineId) {
        let is_packed = id.packed_number().is_some();
        let packed = match is_packed || !self.are_many(self.emitted.len(), id) {
            true => None,
            false => self.packed(id),
        };
        self.emitted.push_back(packed.unwrap_or(id));
    }

    /// Emits a line as another part of a document than a record: the members before or behind the
    /// records. The head comes before all records. A tail covers no source record. In a format of
    /// lines, this is [`Output::emit`].
    pub fn emit_as(&mut self, id: LineId, part: DocumentPart) {
        self.drafts.line_mut(id).part = part;
        self.emitted.push_back(id);
    }

    /// Returns whether so many lines, each as long as this one, are too many for the memory.
    fn are_many(&self, n_lines: usize, id: LineId) -> bool {
        n_lines >= MAX_DRAFTS || n_lines.saturating_mul(self.len(id)) > MAX_OPEN
    }

    /// Returns the number of lines and parts that are open.
    pub fn n_open(&self) -> usize {
        self.drafts.n_open()
    }

    /// Returns the part of a document that a line was emitted as.
    pub fn part(&self, id: LineId) -> DocumentPart {
        self.drafts.line(id).part
    }

    /// Marks the end of a line so far as the place of its carry, in a format with
    /// [`Format::carry_places`](crate::Format::carry_places). The carry is written there as one
    /// member, between `before` and `after`. A second mark in a line changes nothing.
    ///
    /// In: the line `{"text":"a"`, and a mark with `,"metadata":{` and `}`. Out, once the line has
    /// its last byte: `{"text":"a","metadata":{"_carried":".."}}`.
    pub fn mark_carry(&mut self, id: LineId, before: &'static str, after: &'static str) {
        let draft = self.drafts.line_mut(id);
        let at = draft.len();
        draft.mark.get_or_insert(CarryMark { at, before, after });
    }

    /// Returns the place of a line's carry; `None` for its last member.
    pub fn carry_mark(&self, id: LineId) -> Option<CarryMark> {
        self.drafts.line(id).mark
    }

    /// Returns the spelling of JSON in the output.
    pub fn style(&self) -> Style {
        self.style
    }

    fn digest(&mut self, event: &Event<'_>) -> id::LineDigest {
        self.source.digest(event.value.raw().as_str(), event.vocabulary.ids_from_ends)
    }

    /// Returns a UUID for block `block_idx` of the current source line.
    pub fn uuid(&mut self, event: &Event<'_>, kind: &str, block_idx: usize) -> String {
        let line = self.digest(event);
        let block_idx = block_of(event, block_idx);
        id::uuid(kind, &self.session_id, self.source.offset, block_idx, &line)
    }

    /// Returns a UUID for a line without a source line, which the writer adds at the end.
    pub fn uuid_at_end(&self, kind: &str, n: usize) -> String {
        id::uuid(kind, &self.session_id, self.source.offset, n, &id::digest(b""))
    }

    /// Returns an API message id for the response that starts at the current source line.
    pub fn message_id(&mut self, event: &Event<'_>, block_idx: usize) -> String {
        let line = self.digest(event);
        let block_idx = block_of(event, block_idx);
        id::message_id(&self.session_id, self.source.offset, block_idx, &line)
    }

    /// Returns the lines that show the current source line, in the order of their first use.
    pub fn touched(&self) -> &[LineId] {
        &self.touched
    }

    /// Returns the offset in the source line of the first range that was copied to a line, or that it
    /// [shows](Output::show).
    pub fn first_copied(&self, id: LineId) -> Option<u32> {
        let Draft { copied, shown, .. } = self.drafts.line(id);
        copied.iter().map(|copied| copied.from).chain(*shown).min()
    }

    /// Returns the longer values of the current source line that written lines contain unchanged
    /// and that were not noted as copied.
    pub fn repeated(&self) -> &[(LineId, Copied)] {
        &self.repeated
    }

    /// Returns the next emitted line, if there is one.
    pub fn next_emitted(&mut self) -> Option<LineId> {
        let id = self.emitted.pop_front()?;
        let Some(number) = id.packed_number() else {
            self.unpack_start(id);
            return Some(id);
        };
        let id = self.drafts.open();
        let draft = self.drafts.line_mut(id);
        draft.mark = self.packed.mark(number);
        self.packed.copy(number, &mut draft.bytes);
        self.packed.remove(number);
        Some(id)
    }

    /// Returns the bytes of a line so far, without the first ones if these are packed. [`Output::len`] counts all.
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
        let draft = self.drafts.line_mut(id);
        draft.shown = None;
        std::mem::swap(&mut draft.copied, buffer);
    }

    /// Returns an emitted line for reuse.
    pub fn release(&mut self, id: LineId) {
        self.drafts.release(id);
    }

    /// Returns the losses so far.
    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    /// Takes the losses out of the output.
    pub fn take_losses(&mut self) -> Losses {
        std::mem::take(&mut self.losses)
    }

    /// Replaces the losses so far: an event is forgotten whose losses the caller reports itself.
    pub fn set_losses(&mut self, losses: Losses) {
        self.losses = losses;
    }
}

/// Appends a value on one line, in a style.
fn push_line(respeller: &mut Respeller, out: &mut Vec<u8>, raw: Raw<'_>, style: Style) {
    let start = out.len();
    respeller.append(out, raw, style);
    // The respeller copies values that are nested too deeply.
    for byte in out.get_mut(start..).unwrap_or_default() {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}

/// Returns a number for a block that no other block of the record has.
fn block_of(event: &Event<'_>, block_idx: usize) -> usize {
    // No event has as many blocks as the factor.
    (event.nth as usize).saturating_mul(1 << 24).saturating_add(block_idx)
}
