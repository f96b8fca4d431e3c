//! Finding what fits a rule in some bytes: prefixes by one automaton, then each rule at its place.

use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::{
    class::{ARMOR, FENCE, LETTERS, WORD},
    cursor::Cursor,
    redact::PLACEHOLDER,
    rule::{Edge, Part, Rule, Secret},
    rules::RULES,
};

/// Prefixes as JSON may spell them: with an escape where none is needed.
const ESCAPED: &[&str] = &["\\u002", "\\u003", "\\u004", "\\u005", "\\u006", "\\u007", ":\\/\\/"];

/// Finds what fits a rule.
#[derive(Clone, Debug)]
pub(crate) struct Matcher {
    automaton: AhoCorasick,
    prefixes: Vec<Prefix>,
}

/// What the automaton looks for.
#[derive(Clone, Debug)]
struct Prefix {
    text: &'static str,
    /// The rules that start with it, or with a part of it, and how long that is.
    rules: Vec<(&'static Rule, usize)>,
}

/// Something that fits a rule.
#[derive(Clone, Debug)]
pub(crate) struct Fit {
    pub(crate) rule: &'static Rule,
    /// Where the secret lies.
    pub(crate) secret: Range<usize>,
    /// Where all of it ends.
    pub(crate) end: usize,
}

/// What a rule says of a place.
enum Verdict {
    Fits(Fit),
    No,
    /// An escape stands there: what it means decides.
    Escaped,
}

impl Matcher {
    /// Creates the automaton; `ESCAPED` is looked for too, where the bytes are not decoded yet.
    pub(crate) fn new(are_decoded: bool) -> Self {
        let escaped = if are_decoded { &[][..] } else { ESCAPED };
        let all = RULES.iter().flat_map(|rule| rule.prefixes).chain(escaped);
        let prefixes: Vec<Prefix> =
            all.map(|text| Prefix { text, rules: rules_of(text) }).collect();
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(prefixes.iter().map(|prefix| prefix.text))
            .expect("a few short prefixes make a small automaton");
        Self { automaton, prefixes }
    }

    /// Returns whether some bytes of JSON, not decoded, may hold a secret. Where there is none, it
    /// is seldom that they may.
    pub(crate) fn may_fit(&self, bytes: &[u8]) -> bool {
        let mut at = Cursor::new(bytes);
        while let Some((start, prefix)) = self.next_prefix(at) {
            let is_escaped = prefix.rules.is_empty();
            if is_escaped || self.verdict(start, prefix, 0, true).is_none_or_fits() {
                return true;
            }
            at = start.forward(1);
        }
        false
    }

    /// Calls `each` with everything in decoded bytes that fits a rule, in order, no secret over
    /// another.
    pub(crate) fn for_each(&self, bytes: &[u8], each: &mut dyn FnMut(Fit)) {
        let (mut at, mut done) = (Cursor::new(bytes), 0);
        // A password stands late in its URL, whose user may be a secret too.
        let mut waiting: Option<Fit> = None;
        while let Some((start, prefix)) = self.next_prefix(at) {
            if let Some(fit) = waiting.take_if(|fit| fit.secret.start <= start.place()) {
                (at, done) = (at.to(fit.end), fit.end);
                each(fit);
                continue;
            }
            at = start.forward(1);
            let Verdict::Fits(fit) = self.verdict(start, prefix, done, false) else { continue };
            let limit = waiting.as_ref().map_or(usize::MAX, |fit| fit.secret.start);
            if fit.secret.start > start.place() && waiting.is_none() {
                waiting = Some(fit);
            } else if fit.end <= limit {
                (at, done) = (at.to(fit.end.max(at.place())), fit.end);
                each(fit);
            }
        }
        waiting.into_iter().for_each(each);
    }

    /// Returns where the next prefix starts.
    fn next_prefix<'b>(&self, at: Cursor<'b>) -> Option<(Cursor<'b>, &Prefix)> {
        let found = self.automaton.find(at.rest())?;
        Some((at.forward(found.start()), self.prefixes.get(found.pattern().as_usize())?))
    }

    /// Asks each rule of a prefix; what starts before `done` does not fit.
    fn verdict(
        &self,
        start: Cursor<'_>,
        prefix: &Prefix,
        done: usize,
        has_escapes: bool,
    ) -> Verdict {
        let mut verdict = Verdict::No;
        for (rule, length) in &prefix.rules {
            let place = Place { start, end: start.forward(*length), done, has_escapes };
            match place.verdict(rule) {
                Verdict::Fits(fit) => return Verdict::Fits(fit),
                Verdict::Escaped => verdict = Verdict::Escaped,
                Verdict::No => {}
            }
        }
        verdict
    }
}

impl Verdict {
    fn is_none_or_fits(&self) -> bool {
        !matches!(self, Verdict::No)
    }
}

fn rules_of(text: &str) -> Vec<(&'static Rule, usize)> {
    let starts = |rule: &'static Rule| {
        rule.prefixes
            .iter()
            .filter(|prefix| text.starts_with(**prefix))
            .map(move |prefix| (rule, prefix.len()))
    };
    RULES.iter().flat_map(starts).collect()
}

/// A prefix of a rule in some bytes.
#[derive(Clone, Copy)]
struct Place<'b> {
    start: Cursor<'b>,
    end: Cursor<'b>,
    done: usize,
    has_escapes: bool,
}

impl Place<'_> {
    fn verdict(&self, rule: &'static Rule) -> Verdict {
        let Some(start) = self.start_of(rule) else {
            let mut before = self.start.before().iter().rev().take(20);
            let is_escaped = self.has_escapes && before.any(|byte| *byte == b'\\');
            return if is_escaped { Verdict::Escaped } else { Verdict::No };
        };
        let mut at = self.end;
        let mut secret = start..at.place();
        for (n, part) in rule.parts.iter().enumerate() {
            let Some(length) = fitting(part, at.rest()) else {
                return self.failed(part, at.rest());
            };
            let end = at.forward(length);
            if rule.secret == Secret::Part(n) {
                secret = at.place()..end.place();
            }
            at = end;
        }
        let is_ended = match rule.parts.last() {
            Some(Part::Run(class, _, max)) if *max < usize::MAX => {
                let rest = at.rest();
                let goes_on = rest.first().is_some_and(|byte| class.has(*byte) || WORD.has(*byte));
                // What was redacted once went on: the second time finds no more than the first.
                !(goes_on || rest.starts_with(PLACEHOLDER)) || rest.starts_with(FENCE)
            }
            _ => true,
        };
        if !is_ended {
            return Verdict::No;
        }
        if rule.secret == Secret::Whole {
            secret = start..at.place();
        }
        Verdict::Fits(Fit { rule, secret, end: at.place() })
    }

    /// Returns where what fits starts, if it may start there.
    fn start_of(&self, rule: &Rule) -> Option<usize> {
        let mut start = self.start;
        if let Some((class, min, max)) = rule.before {
            let before = start.since(self.done).iter().rev().take(max.saturating_add(1));
            let length = before.take_while(|byte| class.has(**byte)).count();
            if !(min..=max).contains(&length) {
                return None;
            }
            start = start.back(length);
        }
        let before = start.before();
        let is_free = match (rule.edge, rule.parts.first()) {
            (Edge::None, _) => true,
            (Edge::Run, Some(Part::Run(class, ..))) => {
                let ends = |byte: &u8| !class.has(*byte) || WORD.has(*byte) && is_edge(before);
                start.place() == self.done || before.last().is_none_or(ends)
            }
            _ => is_edge(before),
        };
        (start.place() >= self.done && is_free).then_some(start.place())
    }

    /// Returns what it means that a part does not fit what stands at a place.
    fn failed(&self, part: &Part, rest: &[u8]) -> Verdict {
        let stopped = match part {
            Part::Is(text) => text.bytes().zip(rest).take_while(|(a, b)| a == *b).count(),
            Part::Run(class, _, max) => class.run(rest, *max),
            Part::Armor => 0,
        };
        let is_escape = self.has_escapes && rest.get(stopped) == Some(&b'\\');
        if is_escape { Verdict::Escaped } else { Verdict::No }
    }
}

/// Returns how long a part is at the start of some bytes, if it fits there.
fn fitting(part: &Part, bytes: &[u8]) -> Option<usize> {
    match part {
        Part::Is(text) => bytes.starts_with(text.as_bytes()).then_some(text.len()),
        Part::Run(class, min, max) => Some(class.run(bytes, *max)).filter(|length| length >= min),
        Part::Armor => armor(bytes),
    }
}

/// Returns whether a word can start after some bytes.
///
/// A letter does not always belong to the word before: of JSON within JSON the `n` of `\n` is left,
/// in a URL a byte is `%3D`, and terminals are told of colors by `ESC [ 3 1 m`.
fn is_edge(before: &[u8]) -> bool {
    match before {
        [] => true,
        [.., last] if !WORD.has(*last) => true,
        [.., b'\\', b'b' | b'f' | b'n' | b'r' | b't'] => true,
        [.., b'%', a, b] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => true,
        [.., b'\\', b'u', a, b, c, d] if is_no_letter(&[*a, *b, *c, *d]) => true,
        [start @ .., b'm'] => {
            let start = without_parameters(start);
            start.ends_with(b"\x1b[") || start.ends_with(b"u001b[") || start.ends_with(b"x1b[")
        }
        _ => false,
    }
}

/// Returns what stands before the numbers that tell a terminal of a color.
fn without_parameters(mut bytes: &[u8]) -> &[u8] {
    /// How many bytes they have at most.
    const MAX_COLOR: usize = 24;
    for _ in 0..MAX_COLOR {
        let [rest @ .., b'0'..=b'9' | b';'] = bytes else { break };
        bytes = rest;
    }
    bytes
}

/// Returns whether four digits of an escape spell what no word has.
fn is_no_letter(digits: &[u8; 4]) -> bool {
    let unit = std::str::from_utf8(digits).ok();
    let unit = unit.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    unit.is_some_and(|unit| u8::try_from(unit).map_or(true, |byte| !WORD.has(byte)))
}

/// Returns how long the lines of a key are with the last one, or as far as they go.
fn armor(bytes: &[u8]) -> Option<usize> {
    /// The least of base64 that a key has.
    const MIN_LETTERS: usize = 40;
    let end = Cursor::new(bytes).forward(ARMOR.run(bytes, usize::MAX));
    let n_letters = end.before().iter().filter(|byte| LETTERS.has(**byte)).count();
    (n_letters >= MIN_LETTERS).then(|| after_last_line(end).place())
}

/// Returns where the last line of a key ends, if that stands at a place; else the place, or the end
/// of its fence.
fn after_last_line(fence: Cursor<'_>) -> Cursor<'_> {
    let label = fence.forward(FENCE.len());
    if !fence.rest().starts_with(FENCE) || !label.rest().starts_with(b"END ") {
        return fence;
    }
    let length = label.rest().iter().take(64).take_while(|byte| **byte != b'-').count();
    let closing = label.forward(length);
    if closing.rest().starts_with(FENCE) { closing.forward(FENCE.len()) } else { label }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_start_after_escapes_of_json_within_json() {
        for before in ["", " ", "=", "x\\n", "%3D", "\\u0022", "\u{1b}[31m", "\u{1b}[1;31m", "é"] {
            assert!(is_edge(before.as_bytes()), "{before:?}");
        }
        for before in ["a", "9", "_", "n", "m", "3D", "\\u0061", "[31m"] {
            assert!(!is_edge(before.as_bytes()), "{before:?}");
        }
    }

    #[test]
    fn every_prefix_is_found_by_its_rules() {
        for rule in RULES {
            for prefix in rule.prefixes {
                let mut rules = rules_of(prefix).into_iter();
                assert!(rules.any(|(found, length)| {
                    std::ptr::eq(found, rule) && length == prefix.len()
                }));
            }
        }
    }
}
