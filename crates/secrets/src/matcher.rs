//! Finds matches of the rules in some bytes: all prefixes in one pass, then the rules of each
//! prefix found.
//!
//! In: `TOKEN=ghp_…`. Out: one match of the rule for `ghp_`.
//!
//! A secret may match twice, as in the example by its name and by its prefix. Of two overlapping
//! matches the longer one wins, and of two equal ones the match by prefix.

use std::{ops::Range, sync::OnceLock};

use crate::{
    assignment,
    class::{ARMOR, FENCE, LETTERS, WORD},
    cursor::Cursor,
    edge::is_edge,
    encoded,
    fit::{Fit, Found, Waiting},
    name::Name,
    pieces::{may_break, past_joint, past_seam, run_over_breaks},
    placeholder::PLACEHOLDER,
    prefixes::Prefixes,
    rule::{Edge, Part, Rule, Secret},
    rules::rules,
    span::past_break,
    value::{Form, Kind},
    vicinity,
};

/// Prefixes whose bytes have an unnecessary JSON escape.
const ESCAPED: &[&str] = &[
    "\\u000",
    "\\u002",
    "\\u003",
    "\\u004",
    "\\u005",
    "\\u006",
    "\\u007",
    r":\/\/",
    r":\\/\\/",
    r":\\\\/\\\\/",
    r":\\\\\\\\/\\\\\\\\/",
];

/// Finder of matches.
#[derive(Clone, Debug)]
pub(crate) struct Matcher {
    places: Prefixes,
    prefixes: Vec<Prefix>,
}

/// A text that is searched for, and the rules that it may start.
#[derive(Clone, Debug)]
struct Prefix {
    text: String,
    /// The rules that start with the text, or with a part of it.
    starts: Vec<Start>,
}

/// The start of a rule.
#[derive(Clone, Debug)]
struct Start {
    text: String,
    rule: &'static Rule,
    /// In base64, the number of other bytes before the prefix in its group.
    shift: Option<usize>,
    /// In base64 of base64, the number of other letters before the inner base64 in its group.
    outer: Option<usize>,
    /// The prefix before encoding.
    prefix: &'static str,
    /// The number of bytes of a prefix before the end of their line or string.
    broken: Option<usize>,
}

/// The result of a rule at a position.
enum Verdict {
    /// At least one secret, in order.
    Fits(Vec<Fit>),
    No,
    /// There is an escape: the rule must see the decoded text.
    Escaped,
}

impl Matcher {
    /// Returns the matcher for bytes that are decoded, or not yet. It is created once for all searches: that takes as long as
    /// a search of a megabyte, and a folder may have many small files.
    pub(crate) fn get(are_decoded: bool, has_test_keys: bool) -> &'static Self {
        static MATCHERS: [OnceLock<Matcher>; 4] = [const { OnceLock::new() }; 4];
        let [written, decoded, written_test, decoded_test] = &MATCHERS;
        let matcher = match (are_decoded, has_test_keys) {
            (false, false) => written,
            (true, false) => decoded,
            (false, true) => written_test,
            (true, true) => decoded_test,
        };
        matcher.get_or_init(|| Self::new(are_decoded, has_test_keys))
    }

    /// Creates the table of prefixes. If the bytes are not decoded yet, the table includes
    /// `ESCAPED`.
    fn new(are_decoded: bool, has_test_keys: bool) -> Self {
        let escaped = if are_decoded { &[][..] } else { ESCAPED };
        let rules = || rules().filter(|rule| has_test_keys || !rule.is_for_tests);
        let starts: Vec<Start> = rules().flat_map(starts_of).collect();
        let mut texts: Vec<&str> = starts.iter().map(|start| &*start.text).collect();
        texts.extend(escaped);
        texts.sort_unstable();
        texts.dedup();
        let mut places: Vec<(&str, usize)> =
            starts.iter().enumerate().map(|(n, start)| (&*start.text, n)).collect();
        places.sort_unstable();
        let places_of = |text: &str| {
            let first = places.partition_point(|(other, _)| *other < text);
            let after = places.get(first..).unwrap_or_default();
            let length = after.partition_point(|(other, _)| *other == text);
            after.get(..length).unwrap_or_default()
        };
        // The texts are sorted, so the parts of a text are among the last ones before it.
        let mut parts: Vec<&str> = Vec::new();
        let mut prefixes = Vec::with_capacity(texts.len());
        for text in texts {
            while parts.last().is_some_and(|part| !text.starts_with(part)) {
                parts.pop();
            }
            parts.push(text);
            let found = parts.iter().flat_map(|part| places_of(part));
            let mut found: Vec<usize> = found.map(|(_, n)| *n).collect();
            // In the order of the rules.
            found.sort_unstable();
            let starts = found.into_iter().filter_map(|n| starts.get(n)).cloned().collect();
            prefixes.push(Prefix { text: text.to_owned(), starts });
        }
        let follows =
            |n: usize, byte: u8| prefixes.get(n).is_some_and(|prefix| prefix.may_go_on(byte));
        let places = Prefixes::new(prefixes.iter().map(|prefix| &*prefix.text), follows);
        Self { places, prefixes }
    }

    /// Returns whether raw JSON bytes may contain a secret. False positives are rare.
    pub(crate) fn may_fit(&self, bytes: &[u8]) -> bool {
        let mut at = Cursor::new(bytes);
        while let Some((start, prefix)) = self.next_prefix(at) {
            let is_escaped = ESCAPED.contains(&&*prefix.text);
            if is_escaped || self.verdict(start, prefix, 0, true).is_none_or_fits() {
                return true;
            }
            at = start.forward(1);
        }
        false
    }

    /// Calls `each` with every match in decoded bytes, in order, without overlaps.
    pub(crate) fn for_each(&self, bytes: &[u8], each: &mut dyn FnMut(Fit)) {
        self.for_each_of_named(bytes, None, each);
    }

    /// Calls `each` as [`Matcher::for_each`] does, for the value of a member with the name of a
    /// secret.
    pub(crate) fn for_each_of_named(
        &self,
        bytes: &[u8],
        named: Option<(&'static Rule, Kind)>,
        each: &mut dyn FnMut(Fit),
    ) {
        /// Limit in bytes for text that is searched again without its secrets.
        const MAX_AGAIN: usize = 1024 * 1024;
        /// Limit for the searches of one text.
        const MAX_SEARCHES: usize = 4;
        let mut found = Found::default();
        self.search(bytes, named, &mut |fit| found.push(fit));
        // A secret may hide another one that has no end or no start beside it: `seed phrase: gravity .. vcp_x`.
        for _ in 1..MAX_SEARCHES {
            if found.is_empty() || bytes.len() > MAX_AGAIN {
                break;
            }
            let mut others = Vec::new();
            self.search(&found.redacted(bytes), named, &mut |fit| others.push(fit));
            if !found.add(others) {
                break;
            }
        }
        found.into_fits().for_each(each);
    }

    /// Calls `each` with the matches of one search.
    fn search(
        &self,
        bytes: &[u8],
        named: Option<(&'static Rule, Kind)>,
        each: &mut dyn FnMut(Fit),
    ) {
        let (mut at, mut done) = (Cursor::new(bytes), 0);
        // A password follows the user in a URL, and the user may be a secret too.
        let mut waiting = Waiting::default();
        if let Some((rule, kind)) = named
            && let Some(secret) = assignment::secret_in(kind, bytes, Form::Quoted)
        {
            waiting.push(Fit { rule, end: secret.end, secret });
        }
        while let Some((start, prefix)) = self.next_prefix(at) {
            if let Some(fit) = waiting.pop_before(start.place()) {
                done = fit.end;
                at = at.to(fit.end.max(at.place()));
                each(fit);
                continue;
            }
            at = start.forward(1);
            if let Verdict::Fits(fits) = self.verdict(start, prefix, done, false) {
                fits.into_iter().for_each(|fit| waiting.push(fit.before_key(bytes)));
            }
        }
        waiting.into_fits().for_each(each);
    }

    /// Returns the rule of the name of a secret, and the kind of its value.
    pub(crate) fn named(&self, name: &[u8]) -> Option<(&'static Rule, Kind)> {
        let mut at = Cursor::new(name);
        while let Some((start, prefix)) = self.next_prefix(at) {
            for Start { text, rule, prefix, .. } in &prefix.starts {
                // A name in another language.
                let is_foreign = !text.is_ascii()
                    && rule.name == "password"
                    && start.forward(text.len()).rest().is_empty();
                if is_foreign {
                    return Some((rule, Kind::Password));
                }
                let [Part::Named(word)] = rule.parts else { continue };
                let found = Name::around(start, start.forward(prefix.len()));
                let found = found.filter(|found| found.end.rest().is_empty());
                let kind = |found: Name<'_>| found.kind(*word).or_else(|| found.plural(*word));
                if let Some(kind) = found.and_then(kind) {
                    return Some((rule, kind));
                }
            }
            at = start.forward(1);
        }
        None
    }

    /// Returns the start of the next prefix.
    fn next_prefix<'b>(&self, at: Cursor<'b>) -> Option<(Cursor<'b>, &Prefix)> {
        let (place, n) = self.places.next(at.whole(), at.place())?;
        Some((at.to(place), self.prefixes.get(n)?))
    }

    /// Checks each rule of a prefix. Matches that start before `done` are rejected.
    fn verdict(
        &self,
        start: Cursor<'_>,
        prefix: &Prefix,
        done: usize,
        has_escapes: bool,
    ) -> Verdict {
        let (mut verdict, mut fits) = (Verdict::No, Vec::new());
        for Start { text, rule, shift, outer, prefix, broken } in &prefix.starts {
            let length = if shift.is_some() { prefix.len() } else { text.len() };
            let end = match broken {
                Some(n_before) => past_broken(start, prefix, *n_before),
                None => Some(start.forward(length)),
            };
            let Some(end) = end else { continue };
            let place = Place { start, end, done, has_escapes };
            let verdict_of_rule = match shift {
                Some(shift) => place.verdict_in_base64(rule, *shift, *outer, prefix),
                None => place.verdict(rule),
            };
            match verdict_of_rule {
                Verdict::Fits(more) => fits.extend(more),
                Verdict::Escaped => verdict = Verdict::Escaped,
                Verdict::No => {}
            }
        }
        // All rules are checked. Otherwise, one redaction could hide the context of another match.
        if fits.is_empty() { verdict } else { Verdict::Fits(fits) }
    }
}

impl Prefix {
    /// Returns whether a byte may follow the prefix. Before a run, an escape or a line break may
    /// follow too.
    fn may_go_on(&self, byte: u8) -> bool {
        self.starts.iter().any(|start| match start.rule.parts {
            [Part::Run(class, ..), ..] if start.shift.is_none() => {
                class.has(byte) || may_break(byte)
            }
            _ => true,
        })
    }
}

impl Verdict {
    fn is_none_or_fits(&self) -> bool {
        !matches!(self, Verdict::No)
    }
}

/// Returns the starts of a rule: each of its prefixes, plain and in base64.
fn starts_of(rule: &'static Rule) -> impl Iterator<Item = Start> {
    /// Minimum number of letters of a prefix in base64. A shorter one would match everywhere.
    const MIN_LETTERS: usize = 3;
    /// Maximum number of letters. Matches are decoded anyway.
    const MAX_LETTERS: usize = 6;
    rule.prefixes.iter().copied().flat_map(move |prefix| {
        let start = move |text: String, shift| Start {
            text,
            rule,
            shift,
            outer: None,
            prefix,
            broken: None,
        };
        let shifts = if rule.is_found_in_base64() { 0..3 } else { 0..0 };
        let encoded = shifts.clone().map(move |shift| {
            let mut text = encoded::spelling(prefix, shift);
            text.truncate(MAX_LETTERS);
            start(text, Some(shift))
        });
        let shifts = if rule.is_found_in_base64_of_base64() { shifts } else { 0..0 };
        let twice = shifts.flat_map(move |shift| {
            (0..3).filter_map(move |outer| {
                let mut text = encoded::spelling(&encoded::spelling(prefix, shift), outer);
                text.truncate(MAX_LETTERS + 2);
                let is_long = text.len() > MIN_LETTERS;
                is_long.then(|| Start { outer: Some(outer), ..start(text, Some(shift)) })
            })
        });
        let encoded = encoded.filter(|start| start.text.len() >= MIN_LETTERS).chain(twice);
        let escaped = escaped(prefix).into_iter().map(move |text| start(text, None));
        let broken = broken(rule, prefix)
            .map(move |(text, n_before)| Start { broken: Some(n_before), ..start(text, None) });
        std::iter::once(start(prefix.to_owned(), None)).chain(encoded).chain(escaped).chain(broken)
    })
}

/// Returns the parts of the prefix of a token before which a line or a string may end, each with the byte that ends it,
/// and its length: `glpa` and a line break, of `glpat-`.
fn broken(rule: &Rule, prefix: &'static str) -> impl Iterator<Item = (String, usize)> {
    /// Minimum length of a part. A shorter one would match everywhere.
    const MIN_PART: usize = 4;
    /// Minimum length of a prefix. A line rarely ends within a shorter one.
    const MIN_PREFIX: usize = 7;
    let is_long = rule.is_token() && prefix.len() >= MIN_PREFIX;
    let parts = if is_long { MIN_PART..prefix.len() } else { 0..0 };
    let is_no_word = |part: &str| part.contains(['-', '_']) && !part.starts_with("access");
    let parts = parts.filter_map(|n| Some((prefix.get(..n)?, n)));
    parts.filter(move |(part, _)| is_no_word(part)).flat_map(|(part, n)| {
        ['\n', '\\', '"'].into_iter().map(move |end| (format!("{part}{end}"), n))
    })
}

/// Returns the end of a prefix that has its first `n_before` bytes in one line or string, and the others in the next.
fn past_broken<'b>(start: Cursor<'b>, prefix: &str, n_before: usize) -> Option<Cursor<'b>> {
    let at = start.forward(n_before);
    let next = past_seam(at).map(|(next, _)| next).or_else(|| past_joint(at, true))?;
    next.past(prefix.as_bytes().get(n_before..)?)
}

/// Returns the spellings of a prefix in JSON whose other letters are escaped, `has\u0142o`, also in JSON within JSON.
/// Returns none for ASCII.
fn escaped(prefix: &str) -> Vec<String> {
    if prefix.is_ascii() {
        return Vec::new();
    }
    let spell = |slashes: &str, is_upper: bool| {
        let mut text = String::new();
        let mut units = [0; 2];
        for char in prefix.chars() {
            if char.is_ascii() {
                text.push(char);
                continue;
            }
            for unit in char.encode_utf16(&mut units) {
                let digits = if is_upper { format!("{unit:04X}") } else { format!("{unit:04x}") };
                text.push_str(slashes);
                text.push('u');
                text.push_str(&digits);
            }
        }
        text
    };
    // Each level of JSON doubles the backslashes.
    let slashes = [1, 2, 4, 8].map(|n| "\\".repeat(n));
    slashes.iter().flat_map(|slashes| [spell(slashes, false), spell(slashes, true)]).collect()
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
    /// Returns the result of a rule whose prefix is in base64, or in base64 of base64 that follows `outer` other bytes in
    /// its group.
    fn verdict_in_base64(
        &self,
        rule: &'static Rule,
        shift: usize,
        outer: Option<usize>,
        prefix: &str,
    ) -> Verdict {
        let Some(run) = encoded::Run::around(self.start, outer.unwrap_or(shift)) else {
            return Verdict::No;
        };
        let decoded = match outer {
            Some(outer) => run.decoded_twice(outer, shift),
            None => Some(run.decoded()),
        };
        let Some(decoded) = decoded else { return Verdict::No };
        let start = Cursor::new(&decoded).to(shift);
        let end = start.past(prefix.as_bytes());
        let inner = end.map(|end| Place { start, end, done: 0, has_escapes: false });
        match inner.map_or(Verdict::No, |inner| inner.verdict(rule)) {
            Verdict::Fits(_) if run.start() >= self.done => {
                let secret = run.whole();
                Verdict::Fits(vec![Fit { rule, end: secret.end, secret }])
            }
            _ if self.has_escapes && run.is_cut_by_escape() => Verdict::Escaped,
            _ => Verdict::No,
        }
    }

    /// Returns the result of a rule that is a function.
    fn found(
        &self,
        rule: &'static Rule,
        secrets: impl IntoIterator<Item = Range<usize>>,
    ) -> Verdict {
        let secrets = secrets.into_iter().filter(|secret| secret.start >= self.done);
        let fits: Vec<_> = secrets.map(|secret| Fit { rule, end: secret.end, secret }).collect();
        if fits.is_empty() { Verdict::No } else { Verdict::Fits(fits) }
    }

    fn verdict(&self, rule: &'static Rule) -> Verdict {
        match rule.parts {
            [Part::Named(word)] => {
                let value = assignment::find(*word, self.start, self.end);
                let near = vicinity::find(*word, self.start, self.end);
                return self.found(rule, value.into_iter().chain(near));
            }
            [Part::By(finder)] => return self.found(rule, finder(self.start, self.end)),
            [Part::Each(lister)] => return self.found(rule, lister(self.start, self.end)),
            _ => {}
        }
        let Some(start) = self.start_of(rule) else {
            let before = self.start.window_before(20);
            let is_escaped = self.has_escapes && before.windows(2).any(is_escaped_char);
            return if is_escaped { Verdict::Escaped } else { Verdict::No };
        };
        let mut at = self.end;
        let mut secret = start..at.place();
        for (n, part) in rule.parts.iter().enumerate() {
            let Some(end) = end_of(part, at) else {
                return self.failed(part, at.rest());
            };
            if rule.secret == Secret::Part(n) {
                secret = at.place()..end.place();
            }
            at = end;
        }
        let is_ended = match rule.parts.last() {
            Some(Part::Run(class, _, max)) if *max < usize::MAX => {
                let rest = at.rest();
                let ends_a_sentence = rest.strip_prefix(b".").is_some_and(|next| {
                    let has_word = next.first().is_some_and(|byte| WORD.has(*byte));
                    !has_word && !next.starts_with(PLACEHOLDER)
                });
                let goes_on = !ends_a_sentence
                    && rest.first().is_some_and(|byte| class.has(*byte) || WORD.has(*byte));
                // A redacted value may be followed by more text. A second run must find no more
                // than the first.
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
        if !(rule.accepts)(at.to(secret.end).since(secret.start)) {
            return Verdict::No;
        }
        Verdict::Fits(vec![Fit { rule, secret, end: at.place() }])
    }

    /// Returns the start of a match, if the bytes before it allow one.
    fn start_of(&self, rule: &Rule) -> Option<usize> {
        let mut start = self.start;
        if let Some((class, min, max)) = rule.before {
            let before = start.since(self.done).iter().rev().take(max.saturating_add(1));
            let mut length = before.take_while(|byte| class.has(**byte)).count();
            // The letter of an escape or of a terminal color is not part of a word.
            if length > max && is_edge(start.back(max).before()) {
                length = max;
            }
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
            // A redacted secret before it is a boundary in a second run.
            _ => start.place() == self.done || is_edge(before),
        };
        (start.place() >= self.done && is_free).then_some(start.place())
    }

    /// Returns the result of a part that does not match at a position.
    fn failed(&self, part: &Part, rest: &[u8]) -> Verdict {
        let stopped = match part {
            Part::Is(text) => text.bytes().zip(rest).take_while(|(a, b)| a == *b).count(),
            Part::Run(class, _, max) => class.run(rest, *max),
            Part::Armor | Part::Named(_) | Part::By(_) | Part::Each(_) => 0,
        };
        let escape = rest.get(stopped..).unwrap_or_default();
        let is_escape = self.has_escapes && is_escaped_char(escape);
        if is_escape { Verdict::Escaped } else { Verdict::No }
    }
}

/// Returns whether bytes start with an escape of a letter or a punctuation mark. Escaped line
/// breaks, quotes and backslashes are matched as written.
fn is_escaped_char(bytes: &[u8]) -> bool {
    matches!(bytes, [b'\\', b'u' | b'/', ..])
}

/// Returns the end of a part, if it matches at a position.
fn end_of<'b>(part: &Part, at: Cursor<'b>) -> Option<Cursor<'b>> {
    match part {
        // A full stop may stand where a token is broken.
        Part::Is(text) => at.past(text.as_bytes()).or_else(|| {
            let is_dot = text.starts_with('.') && at.previous().is_some_and(|byte| WORD.has(byte));
            past_seam(at).filter(|_| is_dot)?.0.past(text.as_bytes())
        }),
        Part::Run(class, min, max) => run_over_breaks(class, at, *min, *max),
        Part::Armor => armor(at.rest()).map(|length| at.forward(length)),
        Part::Named(_) | Part::By(_) | Part::Each(_) => None,
    }
}

/// Returns the length of the lines of a key, up to its last line or to the first line that is not
/// part of it.
fn armor(bytes: &[u8]) -> Option<usize> {
    /// Minimum number of base64 letters in a key.
    const MIN_LETTERS: usize = 40;
    let mut end = Cursor::new(bytes).forward(ARMOR.run(bytes, usize::MAX));
    // A URL and XML have codes for line breaks.
    while let Some(next) = past_joint(end, true).or_else(|| past_break(end)) {
        end = next.forward(ARMOR.run(next.rest(), usize::MAX));
    }
    let n_letters = end.before().iter().filter(|byte| LETTERS.has(**byte)).count();
    (n_letters >= MIN_LETTERS).then(|| after_last_line(end).place())
}

/// Returns the end of the last line of a key at a position; without one, the position or the end of
/// its fence.
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
    use crate::cursor::work;

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
    fn a_text_of_names_takes_little_work() {
        let matcher = Matcher::get(true, false);
        let row = |joint: &str| vec!["password"; 30].join(joint) + "\n";
        for text in [
            row(","),
            row("\t"),
            row("|"),
            "[\"password\",\"token\"],".to_owned(),
            "password  token  secret\n".to_owned(),
            "password: x ".to_owned(),
        ] {
            let text = text.repeat(4000 / text.len());
            let n_bytes = work::of(|| matcher.for_each(text.as_bytes(), &mut |_| {}));
            assert!(n_bytes < text.len() * 130, "{text:.20} {n_bytes}");
        }
    }

    #[test]
    fn every_prefix_is_found_by_its_rules() {
        let matcher = Matcher::new(true, true);
        for rule in rules() {
            for prefix in rule.prefixes {
                let found = matcher.prefixes.iter().find(|found| found.text == *prefix);
                let mut starts = found.expect("a prefix").starts.iter();
                assert!(starts.any(|start| std::ptr::eq(start.rule, rule)), "{prefix}");
            }
        }
    }
}
