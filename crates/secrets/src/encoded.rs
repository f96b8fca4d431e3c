//! Finds tokens in base64: decodes the letters around the base64 form of a prefix.
//!
//! In: `Z2hwX0FCQ0Q…`. Out: the range of the whole run, because it decodes to `ghp_ABCD…`.

use std::ops::Range;

use jsonl::decode_base64;

pub(crate) use crate::base64::spelling;
use crate::{
    base64::{is_letter, n_before},
    cursor::Cursor,
    margin::past_line,
    pieces::past_joint,
    span::past_blanks,
};

/// Number of letters that are decoded to find a token.
const MAX_LOOK: usize = 640;

/// Limit for the letters of a line.
const MAX_LINE: usize = 76;

/// Limit for the indentation of a line.
const MAX_INDENT: usize = 40;

/// A run of base64 in some text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run<'b> {
    /// The start of the prefix's group.
    group: Cursor<'b>,
}

impl<'b> Run<'b> {
    /// Returns the run around a prefix that follows `shift` other bytes in its group.
    pub(crate) fn around(prefix: Cursor<'b>, shift: usize) -> Option<Self> {
        let n_before = n_before(shift);
        let before = prefix.window_before(n_before);
        let is_whole = before.len() == n_before && before.iter().all(|byte| is_letter(*byte));
        let run = Self { group: prefix.back(n_before) };
        (is_whole && run.is_text()).then_some(run)
    }

    /// Returns the run from one group earlier, if there is one.
    pub(crate) fn earlier(self) -> Option<Self> {
        let before = self.group.window_before(4);
        let is_whole = before.len() == 4 && before.iter().all(|byte| is_letter(*byte));
        is_whole.then(|| Self { group: self.group.back(4) })
    }

    /// Returns whether the first letters decode to ASCII, as every token does.
    fn is_text(self) -> bool {
        /// Nine bytes: the other bytes of the group, a prefix, and a few more.
        const N_LETTERS: usize = 12;
        let mut decoded = Vec::with_capacity(N_LETTERS);
        decode_base64(self.group.window(N_LETTERS), &mut decoded);
        decoded.iter().skip(2).all(u8::is_ascii)
    }

    /// Decodes the letters from the prefix's group on, across line breaks.
    pub(crate) fn decoded(self) -> Vec<u8> {
        let mut letters = Vec::new();
        let mut at = self.group;
        let before = at.window_before(MAX_LINE);
        let mut start = at.back(before.iter().rev().take_while(|byte| is_letter(**byte)).count());
        while letters.len() < MAX_LOOK {
            let end = at.skip(MAX_LOOK, is_letter);
            letters.extend_from_slice(end.since(at.place()));
            let Some(after) = next_line(start, end) else { break };
            start = after;
            at = after;
        }
        let mut decoded = Vec::new();
        decode_base64(&letters, &mut decoded);
        decoded
    }

    /// Decodes the letters, and the base64 among the bytes after the first `outer` ones. The prefix follows `shift` other
    /// bytes there.
    pub(crate) fn decoded_twice(self, outer: usize, shift: usize) -> Option<Vec<u8>> {
        // Letters of the inner group before the prefix may be in the group before.
        let (run, n_before) = match self.earlier().filter(|_| n_before(shift) > outer) {
            Some(run) => (run, outer.saturating_add(3)),
            None => (self, outer),
        };
        let decoded = run.decoded();
        Some(Run::around(Cursor::new(&decoded).to(n_before), shift)?.decoded())
    }

    /// Returns the start of the run.
    pub(crate) fn start(self) -> usize {
        let before = self.group.before();
        let n_letters = before.iter().rev().take_while(|byte| is_letter(**byte)).count();
        let start = self.group.back(n_letters);
        // In JSON within JSON, the letter of an escape is not part of the run.
        let is_escape =
            start.previous() == Some(b'\\') && matches!(start.next(), Some(b'n' | b'r' | b't'));
        start.forward(usize::from(is_escape && n_letters > 0)).place()
    }

    /// Returns the range of the run, with the lines of base64 after it.
    pub(crate) fn whole(self) -> Range<usize> {
        let mut at = self.group.to(self.start());
        loop {
            let end = at.skip(usize::MAX, is_letter);
            match next_line(at, end) {
                Some(after) => at = after,
                None => return self.start()..end.skip(2, |byte| byte == b'=').place(),
            }
        }
    }

    /// Returns whether an escape ends the run, so that the decoded text must be searched.
    pub(crate) fn is_cut_by_escape(self) -> bool {
        matches!(self.group.skip(MAX_LOOK, is_letter).window(2), [b'\\', b'u' | b'/'])
    }
}

/// Returns the offset at which base64 continues after a line break. The line before it must have a
/// length that tools use, or the line after it must not be a word.
fn next_line<'b>(start: Cursor<'b>, end: Cursor<'b>) -> Option<Cursor<'b>> {
    // The letters may be strings that code joins.
    let joint = || {
        let padded = end.skip(2, |byte| byte == b'=');
        past_joint(end, false).filter(|_| padded.place() == end.place())
    };
    let line = past_line(end).map(|line| past_blanks(line, MAX_INDENT));
    let after = line.or_else(joint)?;
    let piece_end = after.skip(usize::MAX, is_letter);
    let piece = piece_end.since(after.place());
    let line = end.since(start.place()).len();
    let is_over = piece_end.next().is_none_or(|byte| b"=\\\"'\r\n".contains(&byte));
    let is_line = matches!(line, 60 | 64 | 72 | 76) && !piece.is_empty() || piece.len() >= 24;
    (is_over && is_line).then_some(after)
}
