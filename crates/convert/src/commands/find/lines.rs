//! Prints the hits of a file with the parts around them, in the order of the file.
//!
//! In: the parts 1 to 9, where 5 is a hit, and a context of 1. Out: the parts 4, 5 and 6.
//!
//! With `--min-duration`, a call is a hit if its result comes late. Until then, the parts after the
//! call wait.

use std::{
    collections::VecDeque,
    io::{self, Write},
};

use super::sink::Mark;

/// Limit on the parts that wait for a result. Above it, the first call counts as one without.
const MAX_WAITING: usize = 10_000;

/// A printed part, in front of and behind the place of a duration.
#[derive(Debug, Default)]
pub(super) struct PartLine {
    pub(super) head: Vec<u8>,
    pub(super) tail: Vec<u8>,
}

/// The relation of a part to the hits.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum PartState {
    /// A hit.
    Hit,
    /// A part beside hits.
    Context,
    /// A call that waits for its result, by its id.
    Waiting(String),
}

/// The lines of a file.
pub(super) struct FileLines {
    n_context: usize,
    /// The line before the first one: a heading, or a separator.
    heading: Option<Vec<u8>>,
    waiting: VecDeque<(PartState, PartLine)>,
    /// The last parts, which may be printed before a hit.
    before: VecDeque<PartLine>,
    /// The number of parts that are printed after the last hit.
    n_after: usize,
    /// Whether a part between the last printed one and `before` was left out.
    has_gap: bool,
    /// The number of printed hits.
    pub(super) n_hits: u64,
}

impl FileLines {
    /// Creates an empty list of lines.
    pub(super) fn new(n_context: usize) -> Self {
        Self {
            n_context,
            heading: None,
            waiting: VecDeque::new(),
            before: VecDeque::new(),
            n_after: 0,
            has_gap: false,
            n_hits: 0,
        }
    }

    /// Adds a part.
    pub(super) fn push(
        &mut self,
        state: PartState,
        line: PartLine,
        out: &mut Out<'_>,
    ) -> io::Result<()> {
        self.waiting.push_back((state, line));
        if self.waiting.len() > MAX_WAITING
            && let Some((first, _)) = self.waiting.front_mut()
        {
            *first = PartState::Context;
        }
        self.pass_on(out)
    }

    /// Decides whether the call with an id is a hit. `duration` is inserted in its line.
    pub(super) fn decide(
        &mut self,
        id: &str,
        is_hit: bool,
        duration: &[u8],
        out: &mut Out<'_>,
    ) -> io::Result<()> {
        let of_call = |state: &PartState| matches!(state, PartState::Waiting(it) if it == id);
        if let Some((state, line)) = self.waiting.iter_mut().find(|(it, _)| of_call(it)) {
            *state = if is_hit { PartState::Hit } else { PartState::Context };
            if is_hit {
                line.head.extend_from_slice(duration);
            }
        }
        self.pass_on(out)
    }

    /// Ends the file: calls that still wait are no hits.
    pub(super) fn finish(&mut self, out: &mut Out<'_>) -> io::Result<()> {
        for (state, _) in &mut self.waiting {
            if matches!(state, PartState::Waiting(_)) {
                *state = PartState::Context;
            }
        }
        self.pass_on(out)
    }

    fn pass_on(&mut self, out: &mut Out<'_>) -> io::Result<()> {
        while let Some((state, line)) =
            self.waiting.pop_front_if(|(it, _)| !matches!(it, PartState::Waiting(_)))
        {
            self.print(state == PartState::Hit, line, out)?;
        }
        Ok(())
    }

    fn print(&mut self, is_hit: bool, line: PartLine, out: &mut Out<'_>) -> io::Result<()> {
        if is_hit {
            if self.n_hits == 0 && out.is_printed {
                self.heading = (out.heading)();
            }
            self.n_hits += 1;
            if let Some(heading) = self.heading.take() {
                out.line(None, &heading)?;
            } else if self.has_gap {
                out.line(Some(Mark::Separator), b"--\n")?;
            }
            self.has_gap = false;
            for line in std::mem::take(&mut self.before) {
                out.part(Some(Mark::Before), &line)?;
            }
            self.n_after = self.n_context;
            return out.part(None, &line);
        }
        if self.n_after > 0 {
            self.n_after -= 1;
            return out.part(Some(Mark::After), &line);
        }
        if self.n_context > 0 {
            self.before.push_back(line);
            if self.before.len() > self.n_context {
                self.before.pop_front();
                self.has_gap = true;
            }
        }
        Ok(())
    }
}

/// The sink of a file's lines.
pub(super) struct Out<'o> {
    pub(super) out: &'o mut dyn Write,
    /// Whether lines are printed; if not, hits are only counted.
    pub(super) is_printed: bool,
    /// Returns the line before the first hit, with its mark.
    pub(super) heading: &'o dyn Fn() -> Option<Vec<u8>>,
}

impl Out<'_> {
    /// Writes a line at once, so that its start is the start of a write.
    fn line(&mut self, mark: Option<Mark>, line: &[u8]) -> io::Result<()> {
        if !self.is_printed {
            return Ok(());
        }
        let mut bytes: Vec<u8> = mark.into_iter().map(Mark::byte).collect();
        bytes.extend_from_slice(line);
        self.out.write_all(&bytes)
    }

    fn part(&mut self, mark: Option<Mark>, line: &PartLine) -> io::Result<()> {
        self.line(mark, &[line.head.as_slice(), line.tail.as_slice()].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(n_context: usize, parts: &[(&str, PartState)], late: &[(&str, bool)]) -> String {
        let mut bytes = Vec::new();
        let heading = || Some(vec![1, b'T', b'\n']);
        let mut out = Out { out: &mut bytes, is_printed: true, heading: &heading };
        let mut lines = FileLines::new(n_context);
        for (text, state) in parts {
            let line = PartLine { head: text.as_bytes().to_vec(), tail: b"\n".to_vec() };
            lines.push(state.clone(), line, &mut out).expect("a vector takes all");
        }
        for (id, is_hit) in late {
            lines.decide(id, *is_hit, b" late", &mut out).expect("a vector takes all");
        }
        lines.finish(&mut out).expect("a vector takes all");
        let text = String::from_utf8(bytes).expect("text");
        text.replace(['\u{2}', '\u{3}'], "-").replace(['\u{1}', '\u{4}'], "").replace('\n', " ")
    }

    #[test]
    fn context_is_printed_once() {
        use PartState::{Context, Hit};
        let parts = [
            ("1", Context),
            ("2", Context),
            ("3", Hit),
            ("4", Context),
            ("5", Hit),
            ("6", Context),
            ("7", Context),
            ("8", Context),
            ("9", Hit),
        ];
        assert_eq!(printed(0, &parts, &[]), "T 3 5 9 ");
        assert_eq!(printed(1, &parts, &[]), "T -2 3 -4 5 -6 -- -8 9 ");
        assert_eq!(printed(2, &parts, &[]), "T -1 -2 3 -4 5 -6 -7 -8 9 ");
    }

    #[test]
    fn calls_wait_for_their_results() {
        let waiting = |id: &str| PartState::Waiting(id.to_owned());
        let parts = [
            ("a", waiting("a")),
            ("b", waiting("b")),
            ("c", PartState::Context),
            ("d", waiting("d")),
        ];
        assert_eq!(printed(0, &parts, &[("b", true), ("a", true)]), "T a late b late ");
        assert_eq!(printed(1, &parts, &[("b", true), ("a", false)]), "T -a b late -c ");
        assert_eq!(printed(0, &parts, &[]), "");
    }
}
