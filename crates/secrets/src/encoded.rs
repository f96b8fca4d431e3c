//! Tokens in base64: the run of letters around a prefix, and what it decodes to.

use std::ops::Range;

pub(crate) use crate::base64::spelling;
use crate::{
    base64::{decode, is_letter, n_before},
    cursor::Cursor,
    span::past_break,
};

/// How many letters are decoded to find a token.
const MAX_LOOK: usize = 256;

/// A run of base64 in some text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run<'b> {
    /// Where the group of the prefix starts.
    group: Cursor<'b>,
}

impl<'b> Run<'b> {
    /// Returns the run around a prefix that follows `shift` bytes of others in its group.
    pub(crate) fn around(prefix: Cursor<'b>, shift: usize) -> Option<Self> {
        let n_before = n_before(shift);
        let before = prefix.window_before(n_before);
        let is_whole = before.len() == n_before && before.iter().all(|byte| is_letter(*byte));
        is_whole.then(|| Self { group: prefix.back(n_before) })
    }

    /// Decodes the letters from the group of the prefix on, over breaks of lines.
    pub(crate) fn decoded(self) -> Vec<u8> {
        let mut letters = Vec::new();
        let mut at = self.group;
        while letters.len() < MAX_LOOK {
            let end = at.skip(MAX_LOOK, is_letter);
            letters.extend_from_slice(end.since(at.place()));
            let Some(after) = next_line(at, end) else { break };
            at = after;
        }
        let mut decoded = Vec::new();
        decode(&letters, &mut decoded);
        decoded
    }

    /// Returns where the run starts.
    pub(crate) fn start(self) -> usize {
        let before = self.group.before();
        let n_letters = before.iter().rev().take_while(|byte| is_letter(**byte)).count();
        self.group.back(n_letters).place()
    }

    /// Returns where the run lies, with the lines of base64 after it.
    pub(crate) fn whole(self) -> Range<usize> {
        let mut at = self.group;
        loop {
            let end = at.skip(usize::MAX, is_letter);
            match next_line(at, end) {
                Some(after) => at = after,
                None => return self.start()..end.skip(2, |byte| byte == b'=').place(),
            }
        }
    }

    /// Returns whether an escape ends the run: what it means decides.
    pub(crate) fn is_cut_by_escape(self) -> bool {
        self.group.skip(MAX_LOOK, is_letter).next() == Some(b'\\')
    }
}

/// Returns where base64 goes on after a break, if a line ends there that is as long as tools make
/// them.
fn next_line<'b>(start: Cursor<'b>, end: Cursor<'b>) -> Option<Cursor<'b>> {
    const MIN_LINE: usize = 40;
    let after = past_break(end).filter(|_| end.since(start.place()).len() >= MIN_LINE)?;
    let piece = after.skip(80, is_letter);
    let is_line = piece.place() > after.place()
        && piece.next().is_none_or(|byte| b"=\\\"'\r\n".contains(&byte));
    is_line.then_some(after)
}
