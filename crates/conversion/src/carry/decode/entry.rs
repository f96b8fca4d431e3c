//! Restores the source bytes of an entry.
//!
//! In: the pieces `{"t":`, bytes 8 to 21 of the written record `{"text":"Hello, world"}`, and
//! `,"n":1}`. Out: `{"t":"Hello, world","n":1}`.

use std::hash::Hasher;

use jsonl::Style;
use twox_hash::XxHash3_64;

use super::{CarryEntry, CopiedLengths, LONGEST_ESCAPE, Piece, TEMPLATE_FACTOR, TEMPLATE_SLACK};
use crate::carry::{
    WrittenText,
    number::{check_bits, read_base64},
};

impl<'c> CarryEntry<'c> {
    /// Returns the pieces.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'c>> + use<'c> {
        self.pieces
    }

    /// Returns whether a piece is of the written record.
    pub(crate) fn refers(&self) -> bool {
        self.copied.visible > 0
    }

    /// Returns the room for the restored bytes, if the entry keeps to the limits. This is checked before a byte is
    /// copied. The length of respelt pieces may be forged, so that the room is limited.
    fn room(&self, n_visible: usize) -> Option<usize> {
        let CopiedLengths { visible: of_visible, template: of_template } = self.copied;
        let most = self.text_len.saturating_mul(TEMPLATE_FACTOR).saturating_add(TEMPLATE_SLACK);
        // In version 1, a repeating pattern may exceed the limit.
        let is_within = of_visible <= n_visible as u64 && (of_template <= most || self.is_v1);
        let of_pieces = of_visible
            .saturating_mul(if self.is_v1 { 1 } else { LONGEST_ESCAPE })
            .saturating_add(of_template.min(most))
            .saturating_add(self.text_len);
        is_within.then(|| usize::try_from(of_pieces.min(self.length)).ok()).flatten()
    }

    /// Appends the source bytes of the entry to `out`. Returns false and leaves `out` as it was if
    /// the check does not fit.
    ///
    /// `visible` is the written record without its carry, `style` the source's spelling of JSON.
    pub fn restore(
        &self,
        out: &mut Vec<u8>,
        visible: &[u8],
        template: &[u8],
        style: Style,
    ) -> bool {
        self.restore_from(out, WrittenText::new(visible, b""), template, style)
    }

    /// Restores as [`CarryEntry::restore`] does, from a record in two slices.
    pub(crate) fn restore_from(
        &self,
        out: &mut Vec<u8>,
        visible: WrittenText<'_>,
        template: &[u8],
        style: Style,
    ) -> bool {
        let start = out.len();
        let Some(n_bytes) = self.room(visible.len()) else { return false };
        // A buffer that doubles would be twice as long as a long line.
        out.reserve_exact(n_bytes);
        let source = PieceSource { visible, template, style };
        let is_whole = self.pieces.into_iter().all(|piece| source.push(out, piece));
        out.extend_from_slice(self.ending.bytes());
        let is_right = is_whole
            && out
                .get(start..)
                .is_some_and(|bytes| check_bits(XxHash3_64::oneshot(bytes)) == self.check);
        if !is_right {
            out.truncate(start);
        }
        is_right
    }

    /// Calls `each` with the source bytes of the entry, piece by piece: an indented value may be many times as long as the
    /// entry and its record. Returns whether the check fits, which is known after the last piece.
    pub fn each_restored(
        &self,
        visible: &[u8],
        template: &[u8],
        style: Style,
        each: &mut dyn FnMut(&[u8]),
    ) -> bool {
        let source = PieceSource { visible: WrittenText::new(visible, b""), template, style };
        if self.room(visible.len()).is_none() {
            return false;
        }
        let (mut hasher, mut bytes) = (XxHash3_64::new(), Vec::new());
        let mut each = |bytes: &[u8]| {
            hasher.write(bytes);
            each(bytes);
        };
        let is_whole = self.pieces.into_iter().all(|piece| match piece {
            Piece::Indented(from, length, restored, indent) => {
                let text = source.visible.text(from, length);
                let value = text.and_then(|text| respelt(&text, style));
                let numbers = usize::try_from(indent).ok().zip(usize::try_from(restored).ok());
                value.zip(numbers).is_some_and(|(value, (indent, longest))| {
                    jsonl::each_indented(&value, indent, longest, &mut each)
                })
            }
            piece => {
                bytes.clear();
                let is_whole = source.push(&mut bytes, piece);
                each(&bytes);
                is_whole
            }
        });
        each(self.ending.bytes());
        is_whole && check_bits(hasher.finish()) == self.check
    }

    /// Appends the skeleton of the source record: its bytes with `null`, or nothing within a
    /// string, instead of bytes of the written record.
    pub fn skeleton(&self, out: &mut Vec<u8>, template: &[u8]) {
        for piece in self.pieces {
            match piece {
                Piece::Literal(text) => out.extend_from_slice(text.as_bytes()),
                Piece::Base64(digits) => _ = read_base64(out, digits.as_bytes()),
                Piece::Template(from, length) => _ = push(out, slice(template, from, length)),
                Piece::Visible(..) | Piece::Respelt(..) | Piece::Indented(..) => {
                    let before = out.iter().rfind(|byte| **byte != b' ');
                    if matches!(before, Some(b':' | b',' | b'[')) {
                        out.extend_from_slice(b"null");
                    }
                }
            }
        }
    }
}

/// The bytes that pieces refer to, and the spelling of the source.
#[derive(Clone, Copy)]
struct PieceSource<'s> {
    visible: WrittenText<'s>,
    template: &'s [u8],
    style: Style,
}

impl PieceSource<'_> {
    /// Appends the bytes of a piece. Returns false if it cannot be restored.
    fn push(self, out: &mut Vec<u8>, piece: Piece<'_>) -> bool {
        let Self { visible, template, style } = self;
        match piece {
            Piece::Literal(text) => push(out, Some(text.as_bytes())),
            Piece::Base64(digits) => read_base64(out, digits.as_bytes()),
            Piece::Visible(from, length) => visible.push_range(out, from, length),
            Piece::Template(from, length) => push(out, slice(template, from, length)),
            Piece::Respelt(from, length, _) => {
                let text = visible.text(from, length);
                let text = text.filter(|text| jsonl::validate(text.as_bytes()).is_ok());
                if let Some(text) = &text {
                    jsonl::respell_str(out, text, style);
                }
                text.is_some()
            }
            Piece::Indented(from, length, restored, indent) => {
                let text = visible.text(from, length);
                text.is_some_and(|text| push_indented(out, &text, style, restored, indent))
            }
        }
    }
}

/// Appends a value respelt and indented. Returns false if it is none or longer than `longest`.
fn push_indented(out: &mut Vec<u8>, value: &str, style: Style, longest: u64, indent: u64) -> bool {
    let (Ok(longest), Ok(indent)) = (usize::try_from(longest), usize::try_from(indent)) else {
        return false;
    };
    respelt(value, style)
        .is_some_and(|respelt| jsonl::push_indented(out, &respelt, indent, longest))
}

/// Returns a value in the spelling of a style; `None` if it is none.
fn respelt(value: &str, style: Style) -> Option<String> {
    jsonl::validate(value.as_bytes()).ok()?;
    let mut respelt = Vec::new();
    jsonl::respell_str(&mut respelt, value, style);
    String::from_utf8(respelt).ok()
}

fn push(out: &mut Vec<u8>, bytes: Option<&[u8]>) -> bool {
    out.extend_from_slice(bytes.unwrap_or_default());
    bytes.is_some()
}

fn slice(bytes: &[u8], from: u64, length: u64) -> Option<&[u8]> {
    let from = usize::try_from(from).ok()?;
    bytes.get(from..from.checked_add(usize::try_from(length).ok()?)?)
}
