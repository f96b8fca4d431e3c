//! Places results beneath their calls: text behind a call waits until the result is there.
//!
//! In: call 1, call 2, result 1, result 2. Out: call 1, result 1, call 2, result 2.

use std::{
    collections::VecDeque,
    io::{self, Write},
    mem,
};

/// Limit on waiting bytes and on waiting pieces. Beyond it, a result is printed at its own place.
const MAX_WAITING: usize = 4 * 1024 * 1024;
const MAX_PIECES: usize = 256;

/// The place of a text: the conversation, or beneath a call.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct FlowId(u64);

impl FlowId {
    /// The conversation.
    pub(super) const MAIN: FlowId = FlowId(0);
}

/// Text in its printed order, with places that are still open.
#[derive(Debug)]
pub(super) struct Flow {
    pieces: VecDeque<Piece>,
    n_opened: u64,
    n_waiting: usize,
}

/// A piece of text. The last piece of a place is where more text goes.
#[derive(Debug)]
struct Piece {
    place: FlowId,
    /// The place that this one was opened in.
    inside: FlowId,
    text: Vec<u8>,
    /// Whether this is the last piece of an open place.
    is_open: bool,
}

impl Piece {
    fn new(place: FlowId, inside: FlowId) -> Self {
        Self { place, inside, text: Vec::new(), is_open: true }
    }
}

impl Default for Flow {
    fn default() -> Self {
        Self {
            pieces: VecDeque::from([Piece::new(FlowId::MAIN, FlowId::MAIN)]),
            n_opened: 0,
            n_waiting: 0,
        }
    }
}

impl Flow {
    /// Returns the text at the end of an open place.
    fn end(&mut self, place: FlowId) -> Option<(usize, &mut Piece)> {
        let pieces = self.pieces.iter_mut().enumerate().rev();
        pieces.into_iter().find(|(_, piece)| piece.is_open && piece.place == place)
    }

    /// Returns whether text can be added at a place.
    pub(super) fn is_open(&self, place: FlowId) -> bool {
        self.pieces.iter().any(|piece| piece.is_open && piece.place == place)
    }

    /// Returns whether text at a place can be written at once.
    pub(super) fn is_front(&self, place: FlowId) -> bool {
        let front = self.pieces.front();
        front.is_some_and(|front| front.is_open && front.place == place && front.text.is_empty())
    }

    /// Adds text at a place; if that is closed, to the conversation.
    pub(super) fn push(&mut self, place: FlowId, text: &[u8]) {
        self.n_waiting += text.len();
        let place = if self.end(place).is_some() { place } else { FlowId::MAIN };
        if let Some((_, piece)) = self.end(place) {
            piece.text.extend_from_slice(text);
        }
    }

    /// Opens a place behind the text so far of another one.
    pub(super) fn open(&mut self, inside: FlowId) -> FlowId {
        self.n_opened += 1;
        let place = FlowId(self.n_opened);
        if let Some((at, piece)) = self.end(inside) {
            piece.is_open = false;
            let rest = Piece::new(inside, piece.inside);
            self.pieces.insert(at + 1, Piece::new(place, inside));
            self.pieces.insert(at + 2, rest);
        }
        place
    }

    /// Closes a place, and all places in it.
    pub(super) fn close(&mut self, place: FlowId) {
        // The last piece of a place comes after all places in it.
        let mut closed = vec![place];
        for piece in self.pieces.iter_mut().rev().filter(|piece| piece.is_open) {
            if closed.contains(&piece.place) {
                piece.is_open = false;
            } else if piece.place != FlowId::MAIN && closed.contains(&piece.inside) {
                piece.is_open = false;
                closed.push(piece.place);
            }
        }
    }

    /// Writes the text that need not wait. If too much waits, some places are closed.
    pub(super) fn write(&mut self, out: &mut dyn Write) -> io::Result<()> {
        loop {
            while let Some(front) = self.pieces.front_mut() {
                let text = mem::take(&mut front.text);
                self.n_waiting -= text.len();
                out.write_all(&text)?;
                if front.is_open {
                    break;
                }
                self.pieces.pop_front();
            }
            let is_long = self.n_waiting > MAX_WAITING || self.pieces.len() > MAX_PIECES;
            match self.pieces.front() {
                Some(front) if is_long && front.place != FlowId::MAIN => self.close(front.place),
                _ => return Ok(()),
            }
        }
    }

    /// Writes all text. All places are closed.
    pub(super) fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        for piece in mem::take(self).pieces {
            out.write_all(&piece.text)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(flow: &mut Flow) -> String {
        let mut out = Vec::new();
        flow.write(&mut out).expect("in memory");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn results_are_beneath_their_calls() {
        let mut flow = Flow::default();
        flow.push(FlowId::MAIN, b"call 1,");
        let first = flow.open(FlowId::MAIN);
        flow.push(FlowId::MAIN, b"call 2,");
        let second = flow.open(FlowId::MAIN);
        flow.push(FlowId::MAIN, b"text,");
        assert!(!flow.is_front(first));
        assert_eq!(written(&mut flow), "call 1,");
        assert!(flow.is_front(first) && !flow.is_front(second) && !flow.is_front(FlowId::MAIN));
        flow.push(second, b"result 2,");
        flow.close(second);
        // A sub-agent below the first call has a call of its own.
        flow.push(first, b"agent,");
        let inner = flow.open(first);
        flow.push(first, b"its text,");
        assert_eq!(written(&mut flow), "agent,");
        flow.push(inner, b"inner result,");
        flow.close(first);
        assert!(!flow.is_open(inner) && flow.is_open(FlowId::MAIN));
        assert_eq!(written(&mut flow), "inner result,its text,call 2,result 2,text,");
        flow.push(inner, b"late,");
        assert_eq!(written(&mut flow), "late,");
        assert_eq!((flow.pieces.len(), flow.n_waiting), (1, 0));
    }

    #[test]
    fn text_waits_within_a_limit() {
        let mut flow = Flow::default();
        let call = flow.open(FlowId::MAIN);
        flow.push(FlowId::MAIN, &vec![b'x'; MAX_WAITING]);
        assert_eq!(written(&mut flow), "");
        flow.push(FlowId::MAIN, b"x");
        assert_eq!(written(&mut flow).len(), MAX_WAITING + 1);
        assert!(!flow.is_open(call));
        flow.open(FlowId::MAIN);
        flow.push(FlowId::MAIN, b"end");
        let mut out = Vec::new();
        flow.finish(&mut out).expect("in memory");
        assert_eq!(out, b"end");
    }
}
