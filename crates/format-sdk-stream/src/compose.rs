//! Writes a line member by member, in the spelling of the output's style.
//!
//! In: `string("a", "é")`, `array("b")`, `end("]")`. Out: `{"a": "\u00e9", "b": []}` in Python's
//! style, `{"a":"é","b":[]}` in the compact one.

use core_model::{LineId, LossKind, Output, TextBody};
use jsonl::{Raw, Text, Value};

/// An open line: an object to which members are appended.
#[derive(Debug)]
pub(crate) struct Composer<'o> {
    pub(crate) out: &'o mut Output,
    id: LineId,
    is_first: bool,
}

impl<'o> Composer<'o> {
    /// Opens a line.
    pub(crate) fn open(out: &'o mut Output) -> Self {
        let id = out.open();
        Self::start(out, id)
    }

    /// Opens a line without a line in the source.
    pub(crate) fn open_derived(out: &'o mut Output) -> Self {
        let id = out.open_derived();
        Self::start(out, id)
    }

    fn start(out: &'o mut Output, id: LineId) -> Self {
        out.put(id, "{");
        Self { out, id, is_first: true }
    }

    /// Continues a line that was held.
    pub(crate) fn held(out: &'o mut Output, id: LineId) -> Self {
        Self { out, id, is_first: false }
    }

    /// Returns the line without closing it.
    pub(crate) fn hold(self) -> LineId {
        self.id
    }

    /// Closes the line and emits it.
    pub(crate) fn emit(self) {
        self.out.put(self.id, "}");
        self.out.emit(self.id);
    }

    fn separate(&mut self) {
        if !self.is_first {
            let comma = self.out.style().comma();
            self.out.put(self.id, comma);
        }
        self.is_first = false;
    }

    /// Appends the name of a member. The name needs no escapes, and the caller appends the value.
    pub(crate) fn key(&mut self, name: &str) {
        self.separate();
        let colon = self.out.style().colon();
        for part in ["\"", name, "\"", colon] {
            self.out.put(self.id, part);
        }
    }

    /// Appends the name of a member of another line.
    pub(crate) fn key_of(&mut self, name: Text<'_>) {
        self.separate();
        let colon = self.out.style().colon();
        self.out.put_raw(self.id, Raw::from(name));
        self.out.put(self.id, colon);
    }

    /// Appends a name and `{`.
    pub(crate) fn object(&mut self, name: &str) {
        self.key(name);
        self.begin("{");
    }

    /// Appends a name and `[`.
    pub(crate) fn array(&mut self, name: &str) {
        self.key(name);
        self.begin("[");
    }

    /// Appends `{` as the next item of an array.
    pub(crate) fn item(&mut self) {
        self.separate();
        self.begin("{");
    }

    fn begin(&mut self, bracket: &str) {
        self.out.put(self.id, bracket);
        self.is_first = true;
    }

    /// Appends a closing bracket.
    pub(crate) fn end(&mut self, bracket: &str) {
        self.out.put(self.id, bracket);
        self.is_first = false;
    }

    /// Appends a member whose value is already in the style.
    pub(crate) fn put(&mut self, name: &str, written: &str) {
        self.key(name);
        self.out.put(self.id, written);
    }

    /// Appends a string member.
    pub(crate) fn string(&mut self, name: &str, text: &str) {
        self.key(name);
        self.out.put_string(self.id, text);
    }

    /// Appends a member of the envelope.
    pub(crate) fn raw(&mut self, name: &str, raw: Raw<'_>) {
        self.key(name);
        self.out.put_raw(self.id, raw);
    }

    /// Appends a member of the envelope; `null` if it is absent.
    pub(crate) fn raw_or_null(&mut self, name: &str, value: Option<Value<'_>>) {
        self.raw(name, value.map_or(Raw::NULL, |value| value.raw()));
    }

    /// Appends a member of the envelope, unless it is absent or `null`.
    pub(crate) fn raw_if_any(&mut self, name: &str, value: Option<Value<'_>>) {
        if let Some(value) = value.filter(|value| !value.is_null()) {
            self.raw(name, value.raw());
        }
    }

    /// Appends a content member, which counts as copied.
    pub(crate) fn copy(&mut self, name: &str, raw: Raw<'_>) {
        self.key(name);
        self.out.copy(self.id, raw);
    }

    /// Appends a string member with a part of another string, which counts as copied.
    pub(crate) fn copy_quoted(&mut self, name: &str, body: TextBody<'_>) {
        self.key(name);
        self.out.copy_quoted(self.id, body);
    }

    /// Appends the value of a content member, after its name.
    pub(crate) fn copy_value(&mut self, raw: Raw<'_>) {
        self.out.copy(self.id, raw);
    }

    /// Appends a content member; `null` if it is absent.
    pub(crate) fn copy_or_null(&mut self, name: &str, value: Option<Value<'_>>) {
        match value {
            Some(value) => self.copy(name, value.raw()),
            None => self.put(name, "null"),
        }
    }

    /// Appends a content item.
    pub(crate) fn copy_item(&mut self, raw: Raw<'_>) {
        self.separate();
        self.out.copy(self.id, raw);
    }

    /// Appends a string member with texts joined by newlines.
    pub(crate) fn joined<'t>(&mut self, name: &str, texts: impl Iterator<Item = Text<'t>>) {
        self.key(name);
        self.out.put(self.id, "\"");
        for (n, text) in texts.enumerate() {
            if n > 0 {
                self.out.put(self.id, "\\n");
            }
            self.out.copy_body(self.id, text.body());
        }
        self.out.put(self.id, "\"");
    }

    /// Counts a loss.
    pub(crate) fn lose(&mut self, kind: LossKind, field: &'static str) {
        self.out.lose(kind, field);
    }
}
