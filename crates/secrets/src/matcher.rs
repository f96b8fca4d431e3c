//! Finding what fits a rule in some bytes: prefixes by one automaton, then each rule at its place.

use std::ops::Range;

use aho_corasick::{AhoCorasick, Input, MatchKind};

use crate::{
    class::{ARMOR, FENCE, LETTERS, WORD},
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
        let mut at = 0;
        while let Some((start, prefix)) = self.next_prefix(bytes, at) {
            let is_escaped = prefix.rules.is_empty();
            if is_escaped || self.verdict(bytes, start, prefix, 0, true).is_none_or_fits() {
                return true;
            }
            at = start + 1;
        }
        false
    }

    /// Calls `each` with everything in decoded bytes that fits a rule, in order, no secret over
    /// another.
    pub(crate) fn for_each(&self, bytes: &[u8], each: &mut dyn FnMut(Fit)) {
        let (mut at, mut done) = (0, 0);
        // A password stands late in its URL, whose user may be a secret too.
        let mut waiting: Option<Fit> = None;
        while let Some((start, prefix)) = self.next_prefix(bytes, at) {
            if let Some(fit) = waiting.take_if(|fit| fit.secret.start <= start) {
                (at, done) = (fit.end, fit.end);
                each(fit);
                continue;
            }
            at = start + 1;
            let Verdict::Fits(fit) = self.verdict(bytes, start, prefix, done, false) else {
                continue;
            };
            let limit = waiting.as_ref().map_or(usize::MAX, |fit| fit.secret.start);
            if fit.secret.start > start && waiting.is_none() {
                waiting = Some(fit);
            } else if fit.end <= limit {
                (at, done) = (fit.end.max(at), fit.end);
                each(fit);
            }
        }
        waiting.into_iter().for_each(each);
    }

    fn next_prefix(&self, bytes: &[u8], at: usize) -> Option<(usize, &Prefix)> {
        let found = self.automaton.find(Input::new(bytes).range(at..))?;
        Some((found.start(), self.prefixes.get(found.pattern().as_usize())?))
    }

    /// Asks each rule of a prefix; what starts before `done` does not fit.
    fn verdict(
        &self,
        bytes: &[u8],
        start: usize,
        prefix: &Prefix,
        done: usize,
        has_escapes: bool,
    ) -> Verdict {
        let mut verdict = Verdict::No;
        for (rule, length) in &prefix.rules {
            let place = Place { bytes, start, end: start + length, done, has_escapes };
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
    bytes: &'b [u8],
    start: usize,
    end: usize,
    done: usize,
    has_escapes: bool,
}

impl Place<'_> {
    fn verdict(&self, rule: &'static Rule) -> Verdict {
        let Some(start) = self.start_of(rule) else {
            let before = &self.bytes[self.start.saturating_sub(20)..self.start];
            let is_escaped = self.has_escapes && before.contains(&b'\\');
            return if is_escaped { Verdict::Escaped } else { Verdict::No };
        };
        let mut at = self.end;
        let mut secret = start..at;
        for (n, part) in rule.parts.iter().enumerate() {
            let Some(length) = fitting(part, &self.bytes[at..]) else {
                return self.failed(part, at);
            };
            if rule.secret == Secret::Part(n) {
                secret = at..at + length;
            }
            at += length;
        }
        let is_ended = match rule.parts.last() {
            Some(Part::Run(class, _, max)) if *max < usize::MAX => {
                let rest = &self.bytes[at..];
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
            secret = start..at;
        }
        Verdict::Fits(Fit { rule, secret, end: at })
    }

    /// Returns where what fits starts, if it may start there.
    fn start_of(&self, rule: &Rule) -> Option<usize> {
        let mut start = self.start;
        if let Some((class, min, max)) = rule.before {
            let before = self.bytes[self.done.min(start)..start].iter().rev();
            let length = before.take(max + 1).take_while(|byte| class.has(**byte)).count();
            if !(min..=max).contains(&length) {
                return None;
            }
            start -= length;
        }
        let is_free = match (rule.edge, rule.parts.first()) {
            (Edge::None, _) => true,
            (Edge::Run, Some(Part::Run(class, ..))) => {
                let before = start.checked_sub(1).and_then(|at| self.bytes.get(at));
                start == self.done
                    || before.is_none_or(|byte| !class.has(*byte))
                    || WORD.has(self.bytes[start - 1]) && is_edge(&self.bytes[..start])
            }
            _ => is_edge(&self.bytes[..start]),
        };
        (start >= self.done && is_free).then_some(start)
    }

    /// Returns what it means that a part does not fit at a place.
    fn failed(&self, part: &Part, at: usize) -> Verdict {
        let rest = &self.bytes[at..];
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
            let is_parameter = |byte: &u8| byte.is_ascii_digit() || *byte == b';';
            let n_parameters =
                start.iter().rev().take(MAX_COLOR).take_while(|byte| is_parameter(byte)).count();
            let start = &start[..start.len() - n_parameters];
            start.ends_with(b"\x1b[") || start.ends_with(b"u001b[") || start.ends_with(b"x1b[")
        }
        _ => false,
    }
}

/// How many bytes tell a terminal of a color at most.
const MAX_COLOR: usize = 24;

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
    let (mut at, mut n_letters) = (0, 0);
    while let Some(byte) = bytes.get(at).filter(|byte| ARMOR.has(**byte)) {
        if *byte == b'-' && bytes[at..].starts_with(FENCE) {
            let rest = &bytes[at + FENCE.len()..];
            if rest.starts_with(b"END ") {
                let label = rest.iter().take(64).take_while(|byte| **byte != b'-').count();
                let is_closed = rest[label..].starts_with(FENCE);
                at += FENCE.len() + if is_closed { label + FENCE.len() } else { 0 };
            }
            break;
        }
        n_letters += usize::from(LETTERS.has(*byte));
        at += 1;
    }
    (n_letters >= MIN_LETTERS).then_some(at)
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
