//! Finds the values of a record as they were written, if another program has spelled them anew.
//!
//! In: `{"cost":0,"turns":1}`, and the guard of `{"cost":0.0,"turns":1}`. Out: the latter. A carry does not say how
//! values were spelled, so spellings of the same value are tried until the guard fits: of numbers first, then of
//! strings, lists and objects, which a source may spell in another style than its written record.

use std::collections::HashMap;

use super::{
    guard_of,
    respelt_numbers::{Decimal, N_FREQUENT, NUMBER_MANNERS, NumberManner},
    respelt_texts::{CONTAINER_MANNERS, ContainerManner, TEXT_MANNERS, TextManner},
    spots::{Spot, SpotKind, numbers_of, spots_of},
};

/// Limit on the spellings that one step tries, for numbers.
const MAX_TRIES: usize = 2048;

/// Limit on the spellings that one step tries, also for strings, lists and objects.
const MAX_TEXT_TRIES: usize = 512;

/// Limit on the bytes of the spellings of one search, over all its steps.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Limit on the bytes of tried spellings in a file.
const MAX_BYTES_IN_ALL: usize = 256 * 1024 * 1024;

/// Limit on the bytes of a record whose strings, lists and objects are searched: their spellings are in memory together.
const MAX_TEXT: usize = 256 * 1024;

/// The most values, or members, that are spelled in another way at the same time.
const MAX_CHANGED: usize = 3;

/// A way to spell a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Manner {
    Number(NumberManner),
    Text(TextManner),
    Container(ContainerManner),
}

/// All manners, and the most frequent ones, of some kinds of values.
#[derive(Debug)]
struct Manners {
    frequent: Vec<Manner>,
    all: Vec<Manner>,
}

impl Manners {
    fn of_numbers() -> Self {
        let all: Vec<Manner> = NUMBER_MANNERS.map(Manner::Number).into();
        Self { frequent: all.get(..N_FREQUENT).unwrap_or_default().to_vec(), all }
    }

    fn of_texts() -> Self {
        let texts = TEXT_MANNERS.map(Manner::Text);
        let all = texts.into_iter().chain(CONTAINER_MANNERS.map(Manner::Container)).collect();
        Self { frequent: texts.into(), all }
    }
}

/// Other spellings of some values: of a single one, of all in members of one key, or of all.
struct Choice {
    /// The value's place in the record, or the hash of the key.
    unit: u64,
    manner: Manner,
    /// The place of each value, and its spelling.
    spelled: Vec<(usize, String)>,
}

/// Values that are spelled in one manner: their place or the hash of their key, and their places.
type Unit = (u64, Vec<usize>);

/// The spellings of values in a file.
#[derive(Debug, Default)]
pub(super) struct RespeltValues {
    /// The manners that were found, by the hash of the key and the kind.
    known: HashMap<u64, Manner>,
    n_bytes: usize,
}

/// A search in one record.
struct Search<'t> {
    text: &'t str,
    guard: u64,
    spots: &'t [Spot],
    /// The decimal numbers of the spots that are numbers.
    decimals: Vec<Option<Decimal<'t>>>,
    n_tries: usize,
    max_tries: usize,
    n_bytes: usize,
}

impl RespeltValues {
    /// Limit on known keys.
    const MAX_KNOWN: usize = 1024;

    /// Returns whether a record is short enough for a search.
    pub(super) fn may_search(text: &str) -> bool {
        text.len() <= MAX_BYTES
    }

    /// Returns a record with other spellings of its values, if it then has this guard.
    pub(super) fn find(&mut self, text: &str, guard: u64) -> Option<String> {
        let found = self.find_among(&numbers_of(text), text, guard, Self::search_numbers);
        if found.is_some() || text.len() > MAX_TEXT {
            return found;
        }
        let spots = spots_of(text, None);
        if spots.iter().all(|spot| spot.kind == SpotKind::Number) {
            return None;
        }
        self.find_among(&spots, text, guard, Self::search_texts)
    }

    fn find_among(
        &mut self,
        spots: &[Spot],
        text: &str,
        guard: u64,
        search_in: fn(&mut Self, &mut Search<'_>) -> Option<String>,
    ) -> Option<String> {
        if spots.is_empty() || self.n_bytes > MAX_BYTES_IN_ALL && self.known.is_empty() {
            return None;
        }
        let decimals = spots.iter().map(|spot| match spot.kind {
            SpotKind::Number => Decimal::parse(text.get(spot.range.clone())?),
            _ => None,
        });
        let decimals = decimals.collect();
        let mut search =
            Search { text, guard, spots, decimals, n_tries: 0, max_tries: MAX_TRIES, n_bytes: 0 };
        let found = self.search(&mut search, search_in);
        self.n_bytes = self.n_bytes.saturating_add(search.n_bytes);
        found
    }

    fn search(
        &mut self,
        search: &mut Search<'_>,
        search_in: fn(&mut Self, &mut Search<'_>) -> Option<String>,
    ) -> Option<String> {
        let known = search.by_key(&|_| true).into_iter();
        let known = known.filter_map(|unit| search.choice(&unit, *self.known.get(&unit.0)?));
        let known: Vec<Choice> = known.collect();
        if !known.is_empty()
            && let Some(found) = search.attempt(&known.iter().collect::<Vec<_>>())
        {
            return Some(found);
        }
        if self.n_bytes > MAX_BYTES_IN_ALL {
            return None;
        }
        search_in(self, search)
    }

    fn search_numbers(&mut self, search: &mut Search<'_>) -> Option<String> {
        let Manners { frequent, all } = Manners::of_numbers();
        let every = (0, (0..search.spots.len()).collect());
        let by_key = search.by_key(&|_| true);
        let singles: Vec<Unit> =
            (0..search.spots.len()).map(|place| (place as u64, vec![place])).collect();
        None.or_else(|| self.step(search, &[every], &frequent, 1, false))
            .or_else(|| self.step(search, &by_key, &frequent, 1, true))
            .or_else(|| self.step(search, &by_key, &all, 1, true))
            .or_else(|| self.step(search, &by_key, &frequent, MAX_CHANGED, true))
            .or_else(|| self.step(search, &by_key, &all, 2, true))
            .or_else(|| self.step(search, &singles, &frequent, MAX_CHANGED, false))
            .or_else(|| self.step(search, &singles, &all, 1, false))
    }

    fn search_texts(&mut self, search: &mut Search<'_>) -> Option<String> {
        search.max_tries = MAX_TEXT_TRIES;
        let (texts, numbers) = (Manners::of_texts(), Manners::of_numbers());
        let of_kind = |wanted: SpotKind| {
            let places = search.spots.iter().enumerate();
            let places = places.filter(|(_, spot)| spot.kind == wanted).map(|(place, _)| place);
            (wanted as u64, places.collect())
        };
        let every: [Unit; 2] = [SpotKind::Text, SpotKind::Number].map(of_kind);
        let of_texts = search.by_key(&|kind| kind != SpotKind::Number);
        let of_all = search.by_key(&|_| true);
        let mixed = [&*texts.frequent, &*numbers.frequent].concat();
        let mixed_by_key = [&*texts.all, &*numbers.frequent].concat();
        None.or_else(|| self.step(search, &every, &mixed, 2, false))
            .or_else(|| self.step(search, &of_texts, &texts.all, 2, true))
            .or_else(|| self.step(search, &of_all, &mixed_by_key, MAX_CHANGED, true))
    }

    /// Tries all sets of up to `n_most` of the units, each in each of the manners.
    fn step(
        &mut self,
        search: &mut Search<'_>,
        units: &[Unit],
        manners: &[Manner],
        n_most: usize,
        is_by_key: bool,
    ) -> Option<String> {
        if search.n_bytes >= MAX_BYTES {
            return None;
        }
        let choices = search.choices(units, manners);
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
        None
    }
}

impl Search<'_> {
    /// Returns the values by the keys of their members and their kinds.
    fn by_key(&self, is_wanted: &dyn Fn(SpotKind) -> bool) -> Vec<Unit> {
        let (mut units, mut places): (Vec<Unit>, HashMap<u64, usize>) = Default::default();
        for (place, spot) in self.spots.iter().enumerate().filter(|it| is_wanted(it.1.kind)) {
            let unit = spot.key.wrapping_add(spot.kind as u64);
            let at = *places.entry(unit).or_insert(units.len());
            match units.get_mut(at) {
                Some((_, places)) => places.push(place),
                None => units.push((unit, vec![place])),
            }
        }
        units
    }

    /// Returns a value in another spelling; `None` if that is the written one, or there is none.
    fn spelled(&self, place: usize, manner: Manner) -> Option<(usize, String)> {
        let spot = self.spots.get(place)?;
        let written = self.text.get(spot.range.clone())?;
        let spelled = match (spot.kind, manner) {
            (SpotKind::Number, Manner::Number(manner)) => {
                self.decimals.get(place)?.as_ref()?.spelled(manner)?
            }
            (SpotKind::Text, Manner::Text(manner)) => manner.spelled(written)?,
            (SpotKind::Container, Manner::Container(manner)) => manner.spelled(written)?,
            _ => return None,
        };
        (spelled != written).then_some((place, spelled))
    }

    fn choice(&self, (unit, places): &Unit, manner: Manner) -> Option<Choice> {
        let spelled: Vec<_> =
            places.iter().filter_map(|place| self.spelled(*place, manner)).collect();
        (!spelled.is_empty()).then_some(Choice { unit: *unit, manner, spelled })
    }

    /// Returns the units in the manners that change them, each spelling once.
    fn choices(&self, units: &[Unit], manners: &[Manner]) -> Vec<Choice> {
        let mut choices: Vec<Choice> = Vec::new();
        for unit in units {
            for manner in manners {
                let is_new = |new: &Choice| {
                    let same = choices.iter().rev().take_while(|it| it.unit == unit.0);
                    { same }.all(|other| other.spelled != new.spelled)
                };
                let new = self.choice(unit, *manner).filter(is_new);
                choices.extend(new);
            }
        }
        choices
    }

    /// Tries all sets of this number of choices. On success, `chosen` has the choices that fit.
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
        self.n_tries >= self.max_tries || self.n_bytes >= MAX_BYTES
    }

    /// Returns the record with some choices, if it has the guard. Values within one that is chosen are spelled with it.
    fn attempt(&mut self, chosen: &[&Choice]) -> Option<String> {
        self.n_tries += 1;
        self.n_bytes += self.text.len();
        let mut spelled: Vec<&(usize, String)> =
            chosen.iter().flat_map(|choice| &choice.spelled).collect();
        spelled.sort_unstable_by_key(|(place, _)| *place);
        let (mut pieces, mut at) = (Vec::new(), 0);
        for (place, value) in spelled {
            let range = self.spots.get(*place)?.range.clone();
            if range.start < at {
                continue;
            }
            pieces.push(self.text.get(at..range.start)?.as_bytes());
            pieces.push(value.as_bytes());
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
        let found = RespeltValues::default().find(text, guard_of(&[written.as_bytes()]));
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
            (
                r#"{"a":1.0,"b":2.0,"c":3.0,"d":{"e":4.0,"f":5.0}}"#,
                r#"{"a":1,"b":2,"c":3,"d":{"e":4,"f":5}}"#,
            ),
        ] {
            assert!(found(text, written), "{text}");
        }
    }

    #[test]
    fn other_values_of_the_same_meaning_are_found() {
        for (text, written) in [
            (r#"{"t":"é","u":"ü"}"#, r#"{"t":"\u00e9","u":"\u00fc"}"#),
            (r#"{"t":"é","u":"é"}"#, r#"{"t":"\u00e9","u":"é"}"#),
            (r#"{"t":"\u00e9"}"#, r#"{"t":"é"}"#),
            (r#"{"cwd":"/a","t":"<é>"}"#, r#"{"cwd":"\/a","t":"<é>"}"#),
            ("{\"t\":\"a\u{2028}é\"}", r#"{"t":"a\u2028é"}"#),
            (r#"{"n":1.0,"t":"é","m":2.0}"#, r#"{"n":1,"t":"\u00E9","m":2}"#),
            (r#"{"a":[1],"in":{"a":1,"b":[]}}"#, r#"{"a":[1],"in":{ "a": 1, "b": [] }}"#),
            (
                r#"{"in":{"a":"é","b":[1,2]},"t":"é"}"#,
                r#"{"in":{"a": "\u00e9", "b": [1, 2]},"t":"é"}"#,
            ),
            (r#"{"in": {"a": "é"}, "n": 1}"#, r#"{"in": {"a":"é"}, "n": 1}"#),
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
            (r#"{"a":"é"}"#, r#"{"a":"è"}"#),
            (r#"{"a":[1]}"#, r#"{"a":[ ]}"#),
        ] {
            assert!(!found(text, written), "{text}");
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
