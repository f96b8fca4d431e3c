//! Searches for words in text, and for their bytes in lines before these are parsed.
//!
//! In: the words `don't`, and the line `{"text":"don\u0027t"}`. Out: the prefilter keeps the line,
//! because an escape may spell the quote; the needle finds the words in the decoded text.

use std::ops::Range;

use memchr::{memchr2_iter, memmem::Finder};

/// Words to look for in decoded text.
#[derive(Clone, Debug)]
pub struct Needle {
    words: String,
    ignores_case: bool,
}

impl Needle {
    /// Creates a needle.
    pub fn new(words: &str, ignores_case: bool) -> Self {
        let words = if ignores_case { words.to_lowercase() } else { words.to_owned() };
        Self { words, ignores_case }
    }

    /// Returns the offset of the words in a text; approximate if case is ignored.
    pub fn find(&self, text: &str) -> Option<usize> {
        if !self.ignores_case {
            return memchr::memmem::find(text.as_bytes(), self.words.as_bytes());
        }
        let at = text.to_lowercase().find(&self.words)?;
        Some(text.floor_char_boundary(at))
    }

    /// Returns where the words are in a text. If case is ignored, characters are compared in lower
    /// case one by one; the text should be short.
    pub fn ranges(&self, text: &str) -> Vec<Range<usize>> {
        if self.words.is_empty() {
            return Vec::new();
        }
        if !self.ignores_case {
            let starts = memchr::memmem::find_iter(text.as_bytes(), self.words.as_bytes());
            return starts.map(|start| start..start + self.words.len()).collect();
        }
        let (mut ranges, mut start) = (Vec::new(), 0);
        while let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
            match folded_start(rest, &self.words) {
                Some(length) => {
                    ranges.push(start..start + length);
                    start += length;
                }
                None => start += rest.chars().next().map_or(1, char::len_utf8),
            }
        }
        ranges
    }

    /// Returns the longest word.
    pub fn longest_word(&self) -> &str {
        self.words.split_whitespace().max_by_key(|word| word.len()).unwrap_or_default()
    }

    /// Returns a prefilter for lines with the words in any JSON spelling.
    pub fn prefilter(&self) -> Prefilter {
        Prefilter::any_of(&[&self.words], self.ignores_case)
    }
}

/// Returns the length of the start of a text that is `words` in lower case.
fn folded_start(text: &str, words: &str) -> Option<usize> {
    let mut wanted = words;
    for (at, char) in text.char_indices() {
        if wanted.is_empty() {
            return Some(at);
        }
        for lower in char.to_lowercase() {
            wanted = wanted.strip_prefix(lower)?;
        }
    }
    wanted.is_empty().then_some(text.len())
}

/// A fast test of lines that may be worth parsing.
#[derive(Clone, Debug)]
pub struct Prefilter {
    /// A line with any of these is kept. If there are none, every line is.
    probes: Vec<Probe>,
}

#[derive(Clone, Debug)]
enum Probe {
    /// Exact bytes.
    Exact(Finder<'static>),
    /// ASCII bytes in any case. The rarest of them is searched for.
    Folded { bytes: Vec<u8>, rarest: usize },
    /// A `\u` escape of a character that needs none: of ASCII, or of any character.
    Escape { finder: Finder<'static>, is_ascii: bool },
}

/// The start of the name of an MCP tool. A record may have the name in two strings that end or start
/// at a `_`: Codex has `"name":"echo","namespace":"mcp__mock"` for `mcp__mock__echo`.
const MCP: &str = "mcp__";

impl Prefilter {
    /// Keeps every line.
    pub const ALL: Prefilter = Prefilter { probes: Vec::new() };

    /// Keeps lines that have any of the words, in any JSON spelling.
    pub fn any_of(words: &[&str], ignores_case: bool) -> Self {
        let mut probes = Vec::new();
        let mut is_ascii = true;
        let namespace = words.iter().any(|words| words.contains('_')).then_some(&MCP);
        for words in words.iter().chain(namespace) {
            let run = longest_run(words, ignores_case);
            if run.is_empty() {
                return Self::ALL;
            }
            is_ascii &= run.is_ascii();
            probes.push(if ignores_case {
                let bytes = run.to_ascii_lowercase().into_bytes();
                Probe::Folded { rarest: rarest(&bytes), bytes }
            } else {
                Probe::Exact(Finder::new(run).into_owned())
            });
        }
        let escape = if is_ascii { "\\u00" } else { "\\u" };
        probes.push(Probe::Escape { finder: Finder::new(escape).into_owned(), is_ascii });
        Self { probes }
    }

    /// Returns whether a record of several lines is kept.
    pub fn keeps(&self, record: &[u8]) -> bool {
        self.probes.is_empty() || self.probes.iter().any(|probe| probe.find(record).is_some())
    }

    /// Returns the start and end of each kept line.
    pub fn lines<'p>(&'p self, bytes: &'p [u8]) -> Candidates<'p> {
        Candidates { prefilter: self, bytes, at: 0, next: vec![0; self.probes.len()] }
    }
}

/// An iterator over kept lines.
#[derive(Debug)]
pub struct Candidates<'p> {
    prefilter: &'p Prefilter,
    bytes: &'p [u8],
    /// The offset up to which lines are done.
    at: usize,
    /// The next match of each probe. A match before `at` is outdated.
    next: Vec<usize>,
}

impl Iterator for Candidates<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let mut start = self.at;
        if !self.prefilter.probes.is_empty() {
            for (probe, next) in self.prefilter.probes.iter().zip(&mut self.next) {
                if *next < self.at || self.at == 0 {
                    *next = probe.find(rest).map_or(usize::MAX, |found| self.at + found);
                }
            }
            let found = self.next.iter().copied().min().filter(|found| *found < usize::MAX)?;
            let before = self.bytes.get(self.at..found).unwrap_or_default();
            start += memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
            self.at = found;
        }
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let end = memchr::memchr(b'\n', rest).map_or(self.bytes.len(), |end| self.at + end + 1);
        self.at = end;
        Some(start..end)
    }
}

impl Probe {
    fn find(&self, bytes: &[u8]) -> Option<usize> {
        match self {
            Probe::Exact(finder) => finder.find(bytes),
            Probe::Folded { bytes: run, rarest } => {
                let byte = *run.get(*rarest)?;
                memchr2_iter(byte, byte.to_ascii_uppercase(), bytes).find_map(|at| {
                    let start = at.checked_sub(*rarest)?;
                    let found = bytes.get(start..start + run.len())?;
                    found.eq_ignore_ascii_case(run).then_some(start)
                })
            }
            Probe::Escape { finder, is_ascii } => finder.find_iter(bytes).find(|at| {
                let digits = bytes.get(at + 2..at + 5).unwrap_or_default();
                let is_control = matches!(digits, [b'0', b'0', b'0' | b'1']);
                let is_wanted = !*is_ascii || matches!(digits, [_, _, b'2'..=b'7']);
                is_wanted && !is_control
            }),
        }
    }
}

/// Returns the longest piece without characters that writers may escape.
fn longest_run(words: &str, ignores_case: bool) -> &str {
    let is_end = |char: char| {
        let is_escaped = matches!(char, '"' | '\\' | '/' | '\u{7f}') || char.is_control();
        // The Kelvin sign and the dotted I become these letters.
        let has_odd_capital = matches!(char, 'k' | 'i' | 'K' | 'I') || !char.is_ascii();
        is_escaped || ignores_case && has_odd_capital
    };
    words.split(is_end).max_by_key(|run| run.len()).unwrap_or_default()
}

/// Returns the index of the byte that is rarest in English and in JSON.
fn rarest(bytes: &[u8]) -> usize {
    const COMMON: &[u8] = b"zqjxvkwybgfpmuhdcl_-.,:rsnioate ";
    let rank = |byte: &u8| COMMON.iter().position(|common| common == byte).unwrap_or(5);
    (0..bytes.len()).min_by_key(|at| bytes.get(*at).map_or(usize::MAX, rank)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(words: &str, ignores_case: bool, text: &str) -> Vec<String> {
        let prefilter = Needle::new(words, ignores_case).prefilter();
        let lines = prefilter.lines(text.as_bytes());
        lines.map(|line| text[line].trim_end().to_owned()).collect()
    }

    #[test]
    fn lines_with_the_words_are_found() {
        let text = "one Error\n\ntwo errors, error\nnone\nlast ERROR";
        assert_eq!(found("error", false, text), ["two errors, error"]);
        assert_eq!(found("error", true, text), ["one Error", "two errors, error", "last ERROR"]);
        assert_eq!(found("nothing", true, text), [""; 0]);
        assert_eq!(found("\"", false, text).len(), 5);
    }

    #[test]
    fn however_they_are_spelled() {
        let text = "caf\\u00e9\ncafé\n\\u0063aft\n\\u001b\ncaft\ndisk\ndis\u{212a}\n\\ud83d\\ude00";
        assert_eq!(
            found("café", false, text),
            ["caf\\u00e9", "café", "\\u0063aft", "\\ud83d\\ude00"]
        );
        assert_eq!(found("caft", false, text), ["\\u0063aft", "caft"]);
        assert_eq!(found("DISK", true, text), ["\\u0063aft", "disk", "dis\u{212a}"]);
        assert_eq!(found("a/caft", false, text), ["\\u0063aft", "caft"]);
        assert_eq!(Needle::new("É", true).find("caf\u{e9}"), Some(3));
        assert_eq!(Needle::new("x", false).find("caf\u{e9}"), None);
    }

    #[test]
    fn a_name_in_two_strings_is_found() {
        let text = "{\"name\":\"_get\",\"namespace\":\"mcp__a\"}\n{\"name\":\"get\"}";
        for words in ["mcp__a_get", "a_get", "A__"] {
            assert_eq!(found(words, true, text).len(), 1, "{words}");
        }
        assert_eq!(found("aget", true, text), [""; 0]);
    }

    #[test]
    fn words_are_found_where_they_are() {
        let ranges = |words: &str, ignores_case, text: &str| -> Vec<String> {
            let ranges = Needle::new(words, ignores_case).ranges(text);
            ranges.into_iter().map(|range| text[range].to_owned()).collect()
        };
        assert_eq!(ranges("ab", false, "ab AB abab"), ["ab", "ab", "ab"]);
        assert_eq!(ranges("ÄB", true, "äb x ÄbAB"), ["äb", "Äb"]);
        assert_eq!(ranges("i\u{307}", true, "\u{130}!"), ["\u{130}"]);
        assert_eq!(ranges("", true, "a"), [""; 0]);
    }

    #[test]
    fn folded_words_at_the_edges() {
        assert_eq!(found("xerror", true, "error\nxERRORx"), ["xERRORx"]);
        assert_eq!(found("errorx", true, "xerror"), [""; 0]);
    }
}
