//! Finds the numbers of a record as they were written, if another program has spelled them anew.
//!
//! In: `{"cost":0,"turns":1}`, and the guard of `{"cost":0.0,"turns":1}`. Out: the latter. A carry does not say how
//! numbers were spelled, so spellings of the same value are tried until the guard fits. Values are compared as decimal
//! numbers, without rounding: no other value is tried.

use std::{borrow::Cow, collections::HashMap, ops::Range};

use twox_hash::XxHash3_64;

use super::guard_of;

/// Limits on the spellings of one record that a step tries, and on the bytes of all of them.
const MAX_TRIES: usize = 2048;
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Limit on the bytes of tried spellings in a file.
const MAX_BYTES_IN_ALL: usize = 256 * 1024 * 1024;

/// Limit on the numbers of a record.
const MAX_NUMBERS: usize = 4096;

/// Limit on the digits of a spelling.
const MAX_DIGITS: usize = 64;

/// The most numbers, or members, that are spelled in another way at the same time.
const MAX_CHANGED: usize = 3;

/// A way to spell a number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Manner {
    /// Without an exponent, with at least this number of digits behind the point.
    Fixed(usize),
    /// With an exponent.
    Scientific {
        letter: char,
        /// Whether the mantissa has a point in any case: `1.0e3`.
        has_point: bool,
        has_plus: bool,
        /// The digits of the exponent, at least.
        n_digits: usize,
    },
}

const fn scientific(letter: char, has_point: bool, has_plus: bool, n_digits: usize) -> Manner {
    Manner::Scientific { letter, has_point, has_plus, n_digits }
}

/// The manners, the most frequent first.
const MANNERS: [Manner; 19] = [
    Manner::Fixed(1),
    Manner::Fixed(0),
    // As Python prints very small and very large numbers, as JavaScript does, and as people write them.
    scientific('e', false, true, 2),
    scientific('e', false, true, 1),
    scientific('e', false, false, 1),
    scientific('e', false, false, 2),
    scientific('E', false, false, 1),
    scientific('E', false, true, 1),
    scientific('E', false, false, 2),
    scientific('E', false, true, 2),
    scientific('e', true, false, 1),
    scientific('e', true, true, 1),
    scientific('e', true, true, 2),
    scientific('E', true, false, 1),
    scientific('E', true, true, 2),
    Manner::Fixed(2),
    Manner::Fixed(3),
    Manner::Fixed(4),
    Manner::Fixed(6),
];

/// The number of manners that are tried for several numbers at the same time.
const N_FREQUENT: usize = 5;

/// A decimal number: an integer, and the exponent of ten.
#[derive(Debug, Eq, PartialEq)]
struct Decimal<'t> {
    sign: &'t str,
    /// Without zeros at the start and the end; empty for 0.
    digits: String,
    exponent: i64,
}

impl<'t> Decimal<'t> {
    /// Reads a number; `None` for one whose exponent is beyond the limits of a spelling.
    fn parse(text: &'t str) -> Option<Self> {
        let (sign, unsigned) = text.split_at(usize::from(text.starts_with('-')));
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let exponent: i64 = exponent.parse().ok()?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = [whole, fraction].concat();
        let digits = digits.trim_start_matches('0');
        let significant = digits.trim_end_matches('0');
        let n_zeros = i64::try_from(digits.len() - significant.len()).ok()?;
        let n_fraction = i64::try_from(fraction.len()).ok()?;
        let exponent = exponent.checked_sub(n_fraction)?.checked_add(n_zeros)?;
        let is_zero = significant.is_empty();
        let exponent = if is_zero { 0 } else { exponent };
        Some(Self { sign, digits: significant.to_owned(), exponent })
    }

    /// Returns the number in a manner; `None` if it is too long.
    fn spelled(&self, manner: Manner) -> Option<String> {
        if self.digits.len() > MAX_DIGITS {
            return None;
        }
        match manner {
            Manner::Fixed(n_fraction) => self.fixed(n_fraction),
            Manner::Scientific { letter, has_point, has_plus, n_digits } => {
                let (first, rest) = self.digits.split_at_checked(1)?;
                let power = self.exponent.checked_add(i64::try_from(rest.len()).ok()?)?;
                let rest = if rest.is_empty() && has_point { "0" } else { rest };
                let point = if rest.is_empty() { "" } else { "." };
                let plus = match power {
                    ..0 => "-",
                    _ if has_plus => "+",
                    _ => "",
                };
                let power = power.unsigned_abs();
                Some(format!("{}{first}{point}{rest}{letter}{plus}{power:0n_digits$}", self.sign))
            }
        }
    }

    fn fixed(&self, n_fraction: usize) -> Option<String> {
        let n_exponent = usize::try_from(self.exponent.unsigned_abs()).ok()?;
        if n_exponent > MAX_DIGITS {
            return None;
        }
        let (whole, fraction) = if self.exponent >= 0 {
            ([&*self.digits, &"0".repeat(n_exponent)].concat(), String::new())
        } else {
            let digits = format!("{:0>width$}", self.digits, width = n_exponent + 1);
            let (whole, fraction) = digits.split_at_checked(digits.len() - n_exponent)?;
            (whole.to_owned(), fraction.to_owned())
        };
        let whole = if whole.is_empty() { "0" } else { &*whole };
        let sign = self.sign;
        match n_fraction.max(fraction.len()) {
            0 => Some(format!("{sign}{whole}")),
            n_fraction => Some(format!("{sign}{whole}.{fraction:0<n_fraction$}")),
        }
    }
}

/// A number in a record.
struct Number {
    range: Range<usize>,
    /// The hash of the key of its member.
    key: u64,
}

/// Returns the numbers of a JSON text, in order; none if it has too many.
fn numbers_of(text: &str) -> Vec<Number> {
    let (bytes, mut numbers) = (text.as_bytes(), Vec::new());
    let (mut at, mut string, mut key) = (0, 0..0, 0);
    while let Some(byte) = bytes.get(at) {
        let start = at;
        match byte {
            b'"' => {
                at += 1;
                while let Some(byte) = bytes.get(at).filter(|byte| **byte != b'"') {
                    at += if *byte == b'\\' { 2 } else { 1 };
                }
                string = start..at;
                at += 1;
            }
            b':' => {
                key = XxHash3_64::oneshot(bytes.get(string.clone()).unwrap_or_default());
                at += 1;
            }
            b'-' | b'0'..=b'9' => {
                let is_digit = |byte: &u8| {
                    byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E')
                };
                while bytes.get(at).is_some_and(is_digit) {
                    at += 1;
                }
                if numbers.len() == MAX_NUMBERS {
                    return Vec::new();
                }
                numbers.push(Number { range: start..at, key });
            }
            _ => at += 1,
        }
    }
    numbers
}

/// Returns a JSON text with one spelling for all numbers of a value: `15e-1` for `1.50`, and `0e0` for `-0.0`. A text with
/// too many numbers is returned as it is.
pub(super) fn with_equal_numbers(text: &str) -> Cow<'_, str> {
    let (mut equal, mut at) = (String::new(), 0);
    for Number { range, .. } in numbers_of(text) {
        let number = text.get(range.clone()).and_then(Decimal::parse);
        let (Some(number), Some(before)) = (number, text.get(at..range.start)) else { continue };
        let Decimal { sign, digits, exponent } = &number;
        equal.push_str(before);
        match digits.is_empty() {
            true => equal.push_str("0e0"),
            false => equal.extend([*sign, digits.as_str(), "e", &exponent.to_string()]),
        }
        at = range.end;
    }
    match at {
        0 => text.into(),
        _ => (equal + text.get(at..).unwrap_or_default()).into(),
    }
}

/// Other spellings of some numbers: of a single one, or of all in members of one key.
struct Choice {
    /// The number's place in the record, or the hash of the key.
    unit: u64,
    manner: Manner,
    /// The place of each number, and its spelling.
    spelled: Vec<(usize, String)>,
}

/// The spellings of numbers in a file.
#[derive(Debug, Default)]
pub(super) struct RespeltNumbers {
    /// The manners that were found, by the hash of the key.
    known: HashMap<u64, Manner>,
    n_bytes: usize,
}

/// A search in one record.
struct Search<'t> {
    text: &'t str,
    guard: u64,
    numbers: &'t [Number],
    n_tries: usize,
    n_bytes: usize,
}

impl RespeltNumbers {
    /// Limit on known keys.
    const MAX_KNOWN: usize = 1024;

    /// Returns whether a record is short enough for a search.
    pub(super) fn may_search(text: &str) -> bool {
        text.len() <= MAX_BYTES
    }

    /// Returns a record with other spellings of its numbers, if it then has this guard.
    pub(super) fn find(&mut self, text: &str, guard: u64) -> Option<String> {
        let numbers = numbers_of(text);
        if numbers.is_empty() || self.n_bytes > MAX_BYTES_IN_ALL && self.known.is_empty() {
            return None;
        }
        let mut search = Search { text, guard, numbers: &numbers, n_tries: 0, n_bytes: 0 };
        let found = self.search(&mut search);
        self.n_bytes = self.n_bytes.saturating_add(search.n_bytes);
        found
    }

    fn search(&mut self, search: &mut Search<'_>) -> Option<String> {
        let decimals: Vec<Option<Decimal<'_>>> = search
            .numbers
            .iter()
            .map(|number| Decimal::parse(search.text.get(number.range.clone())?))
            .collect();
        let other = |place: usize, manner: Manner| {
            let written = search.text.get(search.numbers.get(place)?.range.clone())?;
            let spelled = decimals.get(place)?.as_ref()?.spelled(manner)?;
            (spelled != written).then_some((place, spelled))
        };
        let mut by_key: Vec<(u64, Vec<usize>)> = Vec::new();
        let mut key_places = HashMap::new();
        for (place, number) in search.numbers.iter().enumerate() {
            let n_keys = by_key.len();
            let at = *key_places.entry(number.key).or_insert(n_keys);
            match by_key.get_mut(at) {
                Some((_, places)) => places.push(place),
                None => by_key.push((number.key, vec![place])),
            }
        }
        let choice = |unit: u64, places: &[usize], manner: Manner| {
            let spelled: Vec<_> = places.iter().filter_map(|it| other(*it, manner)).collect();
            (!spelled.is_empty()).then_some(Choice { unit, manner, spelled })
        };
        let known =
            by_key.iter().filter_map(|(key, places)| choice(*key, places, *self.known.get(key)?));
        let known: Vec<Choice> = known.collect();
        if !known.is_empty()
            && let Some(found) = search.attempt(&known.iter().collect::<Vec<_>>())
        {
            return Some(found);
        }
        if self.n_bytes > MAX_BYTES_IN_ALL {
            return None;
        }
        let singles: Vec<(u64, Vec<usize>)> =
            (0..search.numbers.len()).map(|place| (place as u64, vec![place])).collect();
        let (frequent, all) = (MANNERS.get(..N_FREQUENT).unwrap_or_default(), &MANNERS[..]);
        for (is_by_key, units, manners, n_most) in [
            (true, &by_key, frequent, 1),
            (true, &by_key, all, 1),
            (true, &by_key, frequent, MAX_CHANGED),
            (true, &by_key, all, 2),
            (false, &singles, frequent, MAX_CHANGED),
            (false, &singles, all, 1),
        ] {
            let mut choices = Vec::new();
            for (unit, places) in units {
                for manner in manners {
                    let new = choice(*unit, places, *manner);
                    let is_new = |new: &Choice| {
                        let same = choices.iter().rev().take_while(|it: &&Choice| it.unit == *unit);
                        { same }.all(|other| other.spelled != new.spelled)
                    };
                    choices.extend(new.filter(is_new));
                }
            }
            search.n_tries = 0;
            for n_changed in 1..=n_most {
                let mut chosen = Vec::new();
                if let Some(found) = search.combine(&choices, n_changed, &mut chosen) {
                    for choice in chosen.into_iter().filter(|_| is_by_key) {
                        if self.known.len() < Self::MAX_KNOWN {
                            self.known.insert(choice.unit, choice.manner);
                        }
                    }
                    return Some(found);
                }
            }
        }
        None
    }
}

impl Search<'_> {
    /// Tries all sets of this number of choices. `chosen` has the choices that are made, and the found ones at the end.
    fn combine<'c>(
        &mut self,
        choices: &'c [Choice],
        n_more: usize,
        chosen: &mut Vec<&'c Choice>,
    ) -> Option<String> {
        if n_more == 0 {
            return self.attempt(chosen);
        }
        for (n, choice) in choices.iter().enumerate() {
            if self.is_exhausted() {
                return None;
            }
            if chosen.last().is_some_and(|last| last.unit == choice.unit) {
                continue;
            }
            chosen.push(choice);
            let found = self.combine(choices.get(n + 1..).unwrap_or_default(), n_more - 1, chosen);
            if found.is_some() {
                return found;
            }
            chosen.pop();
        }
        None
    }

    fn is_exhausted(&self) -> bool {
        self.n_tries >= MAX_TRIES || self.n_bytes >= MAX_BYTES
    }

    /// Returns the record with some choices, if it has the guard.
    fn attempt(&mut self, chosen: &[&Choice]) -> Option<String> {
        self.n_tries += 1;
        self.n_bytes += self.text.len();
        let mut spelled: Vec<&(usize, String)> =
            chosen.iter().flat_map(|choice| &choice.spelled).collect();
        spelled.sort_unstable_by_key(|(place, _)| *place);
        let (mut pieces, mut at) = (Vec::new(), 0);
        for (place, number) in spelled {
            let range = self.numbers.get(*place)?.range.clone();
            pieces.push(self.text.get(at..range.start)?.as_bytes());
            pieces.push(number.as_bytes());
            at = range.end;
        }
        pieces.push(self.text.get(at..)?.as_bytes());
        if guard_of(&pieces) != self.guard {
            return None;
        }
        String::from_utf8(pieces.concat()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, written: &str) -> bool {
        let found = RespeltNumbers::default().find(text, guard_of(&[written.as_bytes()]));
        found.as_deref() == Some(written)
    }

    #[test]
    fn numbers_of_the_same_value_are_found() {
        for (text, written) in [
            (r#"{"cost":0,"n":1}"#, r#"{"cost":0.0,"n":1}"#),
            (r#"{"cost":0.0,"n":1}"#, r#"{"cost":0,"n":1}"#),
            (r#"{"a":1000.0}"#, r#"{"a":1e3}"#),
            (r#"{"a":1000}"#, r#"{"a":1E+3}"#),
            (r#"{"a":1e-7,"b":[1,2,3,4,5,6]}"#, r#"{"a":1e-07,"b":[1.0,2.0,3.0,4.0,5.0,6.0]}"#),
            (r#"[{"a":-1.5},"1",{"b":2}]"#, r#"[{"a":-1.50},"1",{"b":2}]"#),
            (r#"{"a":[1,2,3,4],"b":0.00001}"#, r#"{"a":[1,2.0,3,4],"b":1e-05}"#),
            (r#"{"x\"1":12345678901234567890}"#, r#"{"x\"1":12345678901234567890.0}"#),
            ("1.5e3", "1500"),
        ] {
            assert!(found(text, written), "{text}");
        }
    }

    #[test]
    fn other_values_are_not_found() {
        for (text, written) in [
            (r#"{"a":1}"#, r#"{"a":2}"#),
            (r#"{"a":12345678901234567000}"#, r#"{"a":12345678901234567890}"#),
            (r#"{"a":"1.0"}"#, r#"{"a":"1"}"#),
            (r#"{"a":0.1}"#, r#"{"a":0.10000000000000001}"#),
            (r#"{"a":1e400}"#, r#"{"a":1e401}"#),
            (r#"{"a":true}"#, r#"{"a":1}"#),
        ] {
            assert!(!found(text, written), "{text}");
        }
    }

    #[test]
    fn equal_numbers_have_one_spelling() {
        for (one, other, is_equal) in [
            ("[1.50,0]", "[15e-1,-0.0]", true),
            (r#"{"a":1e3,"b":"1.0"}"#, r#"{"a":1000.0,"b":"1.0"}"#, true),
            ("12345678901234567890", "12345678901234567891", false),
            (r#"["1.0"]"#, r#"["1"]"#, false),
            ("-1", "1", false),
            ("1e99999999999", "1e99999999998", false),
            ("[true]", "[true]", true),
        ] {
            assert_eq!(with_equal_numbers(one) == with_equal_numbers(other), is_equal, "{one}");
        }
    }

    /// Records with many, long or malformed numbers: a search stops at its limits and finds nothing.
    #[test]
    fn a_search_is_bounded() {
        let numbers: Vec<String> = (0..2000).map(|n| format!("\"{n}\":{n}")).collect();
        for text in [
            format!("{{{}}}", numbers.join(",")),
            format!("[{}]", vec!["1e99999999999"; 5000].join(",")),
            format!("[{}]", "9".repeat(100_000)),
            "[-,1e,\"\\".to_owned(),
        ] {
            assert!(!found(&text, "x"));
        }
    }
}
