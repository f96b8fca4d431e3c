//! Member orders: restore the spelling of a record that another program has written again.
//!
//! A tool that reads and writes JSON may change spaces, escapes, or the order of members. The style
//! of the format determines spaces and escapes, but not the order of members. So the first record
//! that has an object with unsorted members carries their order, as digits that index the sorted
//! members.
//!
//! Written `{"type":"user","role":"user","id":1}`; sorted, the keys are `id`, `role`, `type`. The
//! carry gets `SSSS3210` (the hash of the set, 3 members, places 2, 1, 0). From `{"id": 1, "role":
//! "user", "type": "user"}` the reader then gets the written bytes back.

use std::collections::HashMap;

use core_model::{Copied, Spelling};
use jsonl::{Kind, Scanner, Style, Value, respell};
use twox_hash::XxHash3_64;

use super::number::{push_base64, push_number, read_bits, read_number};

/// The characters of a set's hash.
const SET_LEN: usize = 4;

/// Limit on the members of an object with an order: a member's place is one digit.
const MAX_MEMBERS: usize = 35;

/// Limit on known sets of members. A session has some dozens.
const MAX_SETS: usize = 4096;

/// Limit on the depth of a respelt value. The orders of deeper objects would never be used.
const MAX_DEPTH: u32 = 128;

/// Numbers of known shapes of objects that need no order: the first one, and the limit. Both are powers of two. A session
/// may have thousands of sub-agents, each with a table of its own.
const FIRST_SHAPES: usize = 64;
const MAX_SHAPES: usize = 1024;

/// The orders of members in a written file so far, by the hash of their set.
#[derive(Debug, Default)]
pub(crate) struct MemberOrders {
    orders: HashMap<u64, Vec<u8>>,
    /// A hash table without probing: shapes (the hash of the keys in their order) that need no new
    /// order.
    shapes: Vec<u64>,
    /// The number of added orders. After each, known shapes may need an order.
    age: u64,
    /// The keys of the open objects, as byte ranges in the line.
    keys: Vec<(usize, usize)>,
    /// The containers around the innermost one.
    outer: Vec<Open>,
    sorted: Vec<usize>,
    digits: Vec<u8>,
    text: Vec<u8>,
}

/// An open container.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    is_object: bool,
    /// Whether the next string is a key.
    expects_key: bool,
    /// The index in `keys` of its first key.
    first_key: usize,
    shape: KeyShape,
}

/// The hash of the keys of an object, with their spelling and order.
#[derive(Clone, Copy, Debug, Default)]
struct KeyShape {
    hash: u64,
    n_keys: usize,
}

impl KeyShape {
    #[inline]
    fn add(&mut self, key: &[u8]) {
        const WORD: usize = size_of::<u64>();
        for word in key.as_chunks::<WORD>().0 {
            self.mix(u64::from_le_bytes(*word));
        }
        let last = match key.last_chunk::<WORD>() {
            Some(last) => u64::from_le_bytes(*last),
            None => key.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        };
        self.mix(last ^ (key.len() as u64) << 56);
        self.n_keys += 1;
    }

    #[inline]
    fn mix(&mut self, word: u64) {
        let mixed = u128::from(self.hash ^ word ^ 0x9e37_79b9_7f4a_7c15) * 0xa076_1d64_78bd_642f;
        self.hash = (mixed as u64 ^ (mixed >> 64) as u64).wrapping_add(1);
    }

    /// Returns whether an object with this number of members never has an order.
    fn is_exempt(self) -> bool {
        !is_kept(self.n_keys)
    }

    /// Returns the place in a table of `n_places`, a power of two; a place behind an empty table.
    fn place(self, n_places: usize) -> usize {
        self.hash as usize & n_places.wrapping_sub(1)
    }
}

/// Values of a written line that a search for new orders may skip.
#[derive(Debug, Default)]
pub(crate) struct Skips {
    /// Byte ranges in the line.
    places: Vec<(u32, u32)>,
    /// 1 plus the age of the orders at which the skipped objects were checked; 0 if there are none.
    age: u64,
}

impl Skips {
    /// Skipping a shorter value would save no time.
    const SHORTEST: u32 = 32;

    /// Adds a copied part of `line`, if it is a string or if all of its objects need no order.
    /// `value` is the record it is from.
    pub(crate) fn note(
        &mut self,
        orders: &MemberOrders,
        line: &[u8],
        value: Value<'_>,
        copy: &Copied,
    ) {
        let [from, len] = [copy.from, copy.len].map(|number| number as usize);
        if copy.written < Self::SHORTEST {
            return;
        }
        let Some(slice) = line.get(from..from.saturating_add(len)) else { return };
        let is_fine = match slice.first() {
            Some(b'"') => true,
            Some(b'{' | b'[') if copy.spelling == Spelling::Same => {
                let found = value.at_slice(slice);
                found.is_some_and(|found| found.all_objects(|object| orders.knows(object)))
                    && self.has_age(orders.age)
            }
            _ => false,
        };
        if is_fine {
            self.places.push((copy.at, copy.at + copy.written));
        }
    }

    /// Returns whether objects that were checked at this age may be skipped.
    fn has_age(&mut self, age: u64) -> bool {
        if self.age == 0 {
            self.age = age + 1;
        }
        self.age == age + 1
    }

    pub(crate) fn clear(&mut self) {
        self.places.clear();
        self.age = 0;
    }

    pub(crate) fn sort(&mut self) {
        self.places.sort_unstable();
    }
}

/// The thoroughness of a walk over a line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Walk {
    /// Skips strings and known objects; stops at an object that may need an order.
    Quick,
    /// Skips strings, and writes orders.
    Thorough,
}

impl MemberOrders {
    /// Appends the new orders of a written line to `out`. `skips` must be sorted.
    pub(crate) fn push_new(&mut self, out: &mut Vec<u8>, line: &[u8], skips: &Skips) {
        let is_known = skips.age == self.age + 1 && self.walk(out, line, skips, Walk::Quick);
        if !is_known {
            self.walk(out, line, skips, Walk::Thorough);
        }
    }

    /// Walks over a line. Returns whether it reached the end.
    fn walk(&mut self, out: &mut Vec<u8>, line: &[u8], skips: &Skips, walk: Walk) -> bool {
        self.keys.clear();
        self.outer.clear();
        let mut open = Open::default();
        let mut skips = skips.places.iter().peekable();
        let mut skip = |at: usize| {
            while skips.next_if(|(start, _)| (*start as usize) < at).is_some() {}
            skips.next_if(|(start, _)| *start as usize == at).map(|(_, end)| *end as usize)
        };
        let mut at = 0;
        while let Some(byte) = line.get(at) {
            match byte {
                b'"' => {
                    let is_key = std::mem::take(&mut open.expects_key);
                    let start = at;
                    at = match if is_key { None } else { skip(at) } {
                        Some(end) => end,
                        None => end_of_string(line, at + 1),
                    };
                    if is_key {
                        open.shape.add(line.get(start..at).unwrap_or_default());
                        if walk == Walk::Thorough && open.shape.n_keys <= MAX_MEMBERS {
                            self.keys.push((start, at));
                        }
                    }
                    continue;
                }
                b'{' | b'[' => {
                    if walk == Walk::Quick
                        && let Some(end) = skip(at)
                    {
                        at = end;
                        continue;
                    }
                    if self.outer.len() >= MAX_DEPTH as usize {
                        at = end_of_container(line, at);
                        continue;
                    }
                    let is_object = *byte == b'{';
                    let (first_key, shape) = (self.keys.len(), KeyShape::default());
                    self.outer.push(open);
                    open = Open { is_object, expects_key: is_object, first_key, shape };
                }
                b',' => open.expects_key = open.is_object,
                b'}' | b']' => {
                    if open.is_object && !self.knows_shape(open.shape) {
                        if walk == Walk::Quick {
                            return false;
                        }
                        self.close_object(out, line, open.first_key);
                        self.know_shape(open.shape);
                    }
                    self.keys.truncate(open.first_key);
                    open = self.outer.pop().unwrap_or_default();
                }
                _ => {}
            }
            at += 1;
        }
        true
    }

    /// Returns whether an object needs no order.
    fn knows(&self, object: Value<'_>) -> bool {
        let mut shape = KeyShape::default();
        object.members().for_each(|(key, _)| shape.add(key.as_str().as_bytes()));
        self.knows_shape(shape)
    }

    fn knows_shape(&self, shape: KeyShape) -> bool {
        shape.is_exempt() || self.shapes.get(shape.place(self.shapes.len())) == Some(&shape.hash)
    }

    fn know_shape(&mut self, shape: KeyShape) {
        if self.shapes.is_empty() {
            self.shapes.resize(FIRST_SHAPES, 0);
        }
        let is_taken = |known: &u64| *known != 0 && *known != shape.hash;
        let n_places = self.shapes.len();
        if n_places < MAX_SHAPES && self.shapes.get(shape.place(n_places)).is_some_and(is_taken) {
            let known = std::mem::replace(&mut self.shapes, vec![0; n_places * 4]);
            for hash in known.into_iter().filter(|hash| *hash != 0) {
                self.keep_shape(KeyShape { hash, ..KeyShape::default() });
            }
        }
        self.keep_shape(shape);
    }

    fn keep_shape(&mut self, shape: KeyShape) {
        let place = shape.place(self.shapes.len());
        if let Some(known) = self.shapes.get_mut(place) {
            *known = shape.hash;
        }
    }

    /// Stores the order of the members from `first` on, and appends it if it is new.
    fn close_object(&mut self, out: &mut Vec<u8>, line: &[u8], first: usize) {
        let Some(keys) = self.keys.get(first..).filter(|keys| is_kept(keys.len())) else { return };
        let key = |place: usize| {
            let (start, end) = keys.get(place).copied().unwrap_or_default();
            line.get(start..end).unwrap_or_default()
        };
        let is_sorted = (1..keys.len()).all(|place| key(place - 1) <= key(place));
        self.sorted.clear();
        self.sorted.extend(0..keys.len());
        if !is_sorted {
            self.sorted.sort_by(|one, other| key(*one).cmp(key(*other)));
        }
        let set = set_of(&mut self.text, self.sorted.iter().map(|place| key(*place)));
        // Digit n is the rank of the n-th member among the sorted members.
        let digits = &mut self.digits;
        digits.clear();
        digits.resize(keys.len(), 0);
        for (rank, place) in self.sorted.iter().enumerate() {
            if let Some(digit) = digits.get_mut(*place) {
                *digit = rank as u8;
            }
        }
        match self.orders.get(&set) {
            Some(known) if known == digits => return,
            None if is_sorted || self.orders.len() >= MAX_SETS => return,
            _ => {}
        }
        let bits = (set as u32).to_le_bytes();
        push_base64(out, bits.get(..3).unwrap_or_default());
        for number in
            std::iter::once(digits.len() as u64).chain(digits.iter().map(|it| (*it).into()))
        {
            push_number(out, number);
        }
        self.orders.insert(set, digits.clone());
        self.age += 1;
        self.shapes.clear();
    }

    /// Adds the orders in a carry. Returns false if they do not follow the grammar.
    pub(crate) fn learn(&mut self, orders: &str) -> bool {
        let mut rest = orders.as_bytes();
        while !rest.is_empty() {
            let Some((set, digits, after)) = read_order(rest) else { return false };
            rest = after;
            if self.orders.len() < MAX_SETS || self.orders.contains_key(&set) {
                self.orders.insert(set, digits);
            }
        }
        true
    }

    /// Appends a record in the spelling of a style. Objects without a known order get sorted
    /// members.
    pub(crate) fn respell(&self, out: &mut Vec<u8>, record: Value<'_>, style: Style) {
        if record.oddities().depth > MAX_DEPTH {
            return;
        }
        self.respell_value(out, record, style);
    }

    /// Recursion is limited by [`MAX_DEPTH`].
    fn respell_value(&self, out: &mut Vec<u8>, value: Value<'_>, style: Style) {
        match value.kind() {
            // Deep values are not in the index of their line, so they are scanned on their own.
            Kind::Object | Kind::Array if !value.is_indexed() => {
                match Scanner::default().scan_raw(value.raw()) {
                    Ok(inner) if inner.is_indexed() => self.respell_value(out, inner, style),
                    _ => respell(out, value.raw(), style),
                }
            }
            Kind::Object => self.respell_object(out, value, style),
            Kind::Array => {
                out.push(b'[');
                for (n, item) in value.items().enumerate() {
                    if n > 0 {
                        out.extend_from_slice(style.comma().as_bytes());
                    }
                    self.respell_value(out, item, style);
                }
                out.push(b']');
            }
            _ => respell(out, value.raw(), style),
        }
    }

    fn respell_object(&self, out: &mut Vec<u8>, object: Value<'_>, style: Style) {
        let mut members: Vec<(Vec<u8>, Value<'_>)> = Vec::new();
        for (key, value) in object.members() {
            let mut spelled = Vec::new();
            respell(&mut spelled, key.into(), style);
            members.push((spelled, value));
        }
        members.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut text = Vec::new();
        let order = is_kept(members.len()).then(|| {
            let set = set_of(&mut text, members.iter().map(|(key, _)| &key[..]));
            self.orders.get(&set).filter(|order| order.len() == members.len())
        });
        let places: Vec<usize> = match order.flatten() {
            Some(order) => order.iter().map(|place| usize::from(*place)).collect(),
            None => (0..members.len()).collect(),
        };
        out.push(b'{');
        for (n, place) in places.into_iter().enumerate() {
            let Some((key, value)) = members.get(place) else { continue };
            if n > 0 {
                out.extend_from_slice(style.comma().as_bytes());
            }
            out.extend_from_slice(key);
            out.extend_from_slice(style.colon().as_bytes());
            self.respell_value(out, *value, style);
        }
        out.push(b'}');
    }

    /// Respells a record without its carry; `None` if it is not JSON.
    pub(crate) fn respelt(&self, record: &str, style: Style) -> Option<String> {
        let mut scanner = Scanner::default();
        let value = scanner.scan_slice(record.as_bytes(), 0).ok()?;
        let mut out = Vec::with_capacity(record.len());
        self.respell(&mut out, value, style);
        String::from_utf8(out).ok()
    }
}

fn is_kept(n_members: usize) -> bool {
    (2..=MAX_MEMBERS).contains(&n_members)
}

/// Returns the hash of sorted keys, each with its spelling and a newline.
fn set_of<'k>(text: &mut Vec<u8>, keys: impl Iterator<Item = &'k [u8]>) -> u64 {
    text.clear();
    for key in keys {
        text.extend_from_slice(key);
        text.push(b'\n');
    }
    XxHash3_64::oneshot(text) & 0xff_ffff
}

fn read_order(text: &[u8]) -> Option<(u64, Vec<u8>, &[u8])> {
    let (set, rest) = text.split_at_checked(SET_LEN)?;
    let set = read_bits(set)?;
    let digit = |byte: &u8| read_number(&mut &[*byte][..]);
    let (count, rest) = rest.split_first()?;
    let count = usize::try_from(digit(count)?).ok()?;
    let (digits, rest) = rest.split_at_checked(count)?;
    let digits: Option<Vec<u8>> = digits.iter().map(|it| Some(digit(it)? as u8)).collect();
    Some((set, digits.filter(|digits| is_permutation(digits))?, rest))
}

/// Returns whether each index occurs once. If a forged order repeated a member, nested objects
/// would grow without bounds.
fn is_permutation(digits: &[u8]) -> bool {
    let places = digits.iter().fold(0u64, |places, digit| places | 1 << digit);
    places == (1 << digits.len()) - 1
}

/// Returns the end of a string, behind its closing quote. `body` is the start of its body.
fn end_of_string(line: &[u8], body: usize) -> usize {
    /// Strings up to this length are searched eight bytes at a time, which is faster than a call of
    /// memchr.
    const SHORT: usize = 32;
    let mut at = body;
    while let Some(word) = line.get(at..).and_then(<[u8]>::first_chunk::<8>)
        && at < body + SHORT
    {
        let word = u64::from_le_bytes(*word);
        let found = bytes_equal(word, b'"') | bytes_equal(word, b'\\');
        if found == 0 {
            at += 8;
            continue;
        }
        at += found.trailing_zeros() as usize / 8;
        if line.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += 2;
    }
    while let Some(found) = line.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        if line.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += 2;
    }
    line.len()
}

/// Returns the end of the container that starts at `start`, behind its closing bracket.
fn end_of_container(line: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0usize);
    while let Some(byte) = line.get(at) {
        at += 1;
        match byte {
            b'"' => at = end_of_string(line, at),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// Returns a word whose lowest set bit is in the first byte that equals `byte`; zero if none does.
fn bytes_equal(word: u64, byte: u8) -> u64 {
    const ONES: u64 = u64::MAX / 0xff;
    let other = word ^ (ONES * u64::from(byte));
    other.wrapping_sub(ONES) & !other & (ONES << 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_spelled_anew_comes_back() {
        let line = r#"{"type":"a","content":[{"text":"{\"no\":1}é","type":"b"},{"z":1,"b":{"y":[],"x":2}}],"n":1.0}"#;
        for style in [Style::Compact, Style::Python] {
            let mut written = Vec::new();
            jsonl::respell_str(&mut written, line, style);
            let (mut encoder, mut orders) = (MemberOrders::default(), Vec::new());
            encoder.push_new(&mut orders, &written, &Skips::default());
            let n_orders = orders.len();
            encoder.push_new(&mut orders, &written, &Skips::default());
            assert_eq!(orders.len(), n_orders, "an order is said once");
            let mut decoder = MemberOrders::default();
            assert!(decoder.learn(std::str::from_utf8(&orders).expect("text")));
            let value: serde_json::Value = serde_json::from_slice(&written).expect("JSON");
            let sorted = serde_json::to_string(&value).expect("JSON");
            let pretty = serde_json::to_string_pretty(&value).expect("JSON");
            for anew in [sorted, pretty, line.to_owned()] {
                let back = decoder.respelt(&anew, style).expect("a record");
                assert_eq!(back.as_bytes(), written, "{anew}");
            }
        }
    }

    /// Returns the orders that a written line gets if values of a source line were copied into it.
    fn orders_of(
        orders: &mut MemberOrders,
        source: &str,
        written: &str,
        copied: &[&str],
    ) -> String {
        let mut scanner = Scanner::default();
        let value = scanner.scan_slice(source.as_bytes(), 0).expect("JSON");
        let mut skips = Skips::default();
        for part in copied {
            let (from, at) =
                (source.find(part).expect("there"), written.find(part).expect("there"));
            let [from, len, at] = [from, part.len(), at].map(|number| number as u32);
            let copy = Copied { from, len, at, written: len, spelling: Spelling::Same };
            skips.note(orders, source.as_bytes(), value, &copy);
        }
        let mut out = Vec::new();
        orders.push_new(&mut out, written.as_bytes(), &skips);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn values_that_are_skipped_change_nothing() {
        let text = r#""{\"x\": and some words more, as many as count""#;
        let object = format!(r#"{{"z":{{"b":1,"a":2}},"a":[{text}]}}"#);
        let other = format!(r#"{{"z":{{"a":1,"b":2}},"a":[{text}]}}"#);
        let (mut with, mut without) = (MemberOrders::default(), MemberOrders::default());
        let mut lengths = Vec::new();
        for (part, before) in [
            (text, "1"),
            (text, "1"),
            (&*object, "1"),
            (&*object, "1"),
            (&*other, "1"),
            (&*object, r#"{"a":0,"b":[]}"#),
            (&*object, r#"{"b":0,"a":[]}"#),
            (&*object, r#"{"b":0,"a":[]}"#),
            // The line has another, known order for members that are copied after it.
            (&*object, r#"{"a":0,"b":[]}"#),
            (&*other, r#"{"b":0,"a":[]}"#),
        ] {
            let source = format!(r#"{{"message":{part},"id":1}}"#);
            let written = format!(r#"{{"type":{before},"said":{part}}}"#);
            let expected = orders_of(&mut without, &source, &written, &[]);
            assert_eq!(orders_of(&mut with, &source, &written, &[part]), expected, "{written}");
            lengths.push(expected.len() / (SET_LEN + 3));
        }
        assert_eq!(lengths, [1, 0, 2, 0, 1, 1, 0, 0, 2, 1]);
    }

    #[test]
    fn strings_end_at_the_first_quote_that_is_not_escaped() {
        for length in 0..80 {
            for escape in [r#"\""#, r"\\", "é", r#"\\\""#] {
                let body = format!("{}{escape}{}", "x".repeat(length), "y".repeat(80 - length));
                for (end, after) in [(&body[..], "\":1}"), (&body[..length], "\"")] {
                    let line = format!("\"{end}{after}");
                    assert_eq!(end_of_string(line.as_bytes(), 1), end.len() + 2, "{line}");
                }
            }
        }
        assert_eq!(end_of_string(br#""open\""#, 1), 7);
    }

    #[test]
    fn objects_that_are_too_deep_have_no_order() {
        let object = r#"{"type":"]","id":1}"#;
        let at_depth = |depth: usize| {
            format!(r#"{{"a":{}{object}{}}}"#, "[".repeat(depth - 2), "]".repeat(depth - 2))
        };
        for (depth, expected) in [(3, true), (128, true), (129, false), (100_000, false)] {
            let (mut orders, mut out) = (MemberOrders::default(), Vec::new());
            orders.push_new(&mut out, at_depth(depth).as_bytes(), &Skips::default());
            assert_eq!(!out.is_empty(), expected, "{depth}");
            assert!(orders.outer.capacity() <= 2 * MAX_DEPTH as usize, "{depth}");
            // The objects behind the deep one have theirs.
            let line = format!(r#"[{},{{"role":1,"kind":2}}]"#, at_depth(depth));
            let n_before = out.len();
            orders.push_new(&mut out, line.as_bytes(), &Skips::default());
            assert!(out.len() > n_before, "{depth}");
        }
    }

    #[test]
    fn an_order_that_is_not_one_is_refused() {
        for orders in ["AAAA", "AAAA2", "AAAA20", "????210", "AAAA2~0", "AAAA2zz"] {
            assert!(!MemberOrders::default().learn(orders), "{orders}");
        }
        assert_eq!(MemberOrders::default().respelt("not JSON", Style::Compact), None);
    }
}
