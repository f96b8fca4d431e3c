//! Member orders: how a record is brought back to our spelling after another program spelled it anew.
//!
//! A tool that reads and writes JSON changes spaces, escapes, or the order of members, but no value.
//! Spaces and escapes follow from the style of the format. The order of members does not: so the
//! first record with an object whose members are not sorted says their order, as digits that pick
//! from the sorted ones.
//!
//! Written `{"type":"user","role":"user","id":1}`; sorted, the keys are `id`, `role`, `type`. The
//! carry gets `SSSS3210` (the hash of the set, 3 members, places 2, 1, 0). From
//! `{"id": 1, "role": "user", "type": "user"}` the reader then gets the written bytes back.

use std::collections::HashMap;

use jsonl::{Kind, Scanner, Style, Value, respell};
use twox_hash::XxHash3_64;

use super::number::{push_base64, push_number, read_bits, read_number};

/// The characters of a set's hash.
const SET_LEN: usize = 4;

/// Objects with more members than this have no digit for each: their order is not kept.
const MAX_MEMBERS: usize = 35;

/// How many sets of members are known at a time: a session has some dozens.
const MAX_SETS: usize = 4096;

/// A deeper value is not spelled anew.
const MAX_DEPTH: u32 = 128;

/// The orders of members that a written file has so far, by the hash of their set.
#[derive(Debug, Default)]
pub(crate) struct MemberOrders {
    orders: HashMap<u64, Vec<u8>>,
    /// The keys of the objects that are open, as places in the line, and where each object's start.
    keys: Vec<(usize, usize)>,
    open: Vec<Open>,
    sorted: Vec<usize>,
    digits: Vec<u8>,
    text: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    is_object: bool,
    /// Where its keys start in `keys`.
    first_key: usize,
    /// Whether the next string is a key.
    expects_key: bool,
}

impl MemberOrders {
    /// Appends to `out` the orders of a written line that are not known yet.
    ///
    /// `strings` are places of strings in the line, sorted, as (start, end): they are skipped.
    pub(crate) fn push_new(&mut self, out: &mut Vec<u8>, line: &[u8], strings: &[(u32, u32)]) {
        self.keys.clear();
        self.open.clear();
        let mut strings = strings.iter().peekable();
        let mut at = 0;
        while let Some(byte) = line.get(at) {
            match byte {
                b'"' => {
                    while strings.next_if(|(start, _)| (*start as usize) < at).is_some() {}
                    let end = match strings.next_if(|(start, _)| *start as usize == at) {
                        Some((_, end)) => *end as usize,
                        None => end_of_string(line, at + 1),
                    };
                    if let Some(open) = self.open.last_mut()
                        && std::mem::take(&mut open.expects_key)
                    {
                        self.keys.push((at, end));
                    }
                    at = end;
                    continue;
                }
                b'{' | b'[' => {
                    let is_object = *byte == b'{';
                    let first_key = self.keys.len();
                    self.open.push(Open { is_object, first_key, expects_key: is_object });
                }
                b',' => {
                    if let Some(open) = self.open.last_mut() {
                        open.expects_key = open.is_object;
                    }
                }
                b'}' | b']' => {
                    if let Some(open) = self.open.pop().filter(|open| open.is_object) {
                        self.close_object(out, line, open.first_key);
                        self.keys.truncate(open.first_key);
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Notes the order of the members from `first` on, and appends it if it is new.
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
        // Digit n is the place among the sorted members of the n-th one.
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
    }

    /// Takes the orders that a carry says; returns false if they do not follow the grammar.
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

    /// Appends a record as we would have spelled it in a style: spaces and escapes by the style,
    /// members in the orders that are known, sorted where none is.
    pub(crate) fn respell(&self, out: &mut Vec<u8>, record: Value<'_>, style: Style) {
        if record.oddities().depth > MAX_DEPTH {
            return;
        }
        self.respell_value(out, record, style);
    }

    /// Recursion is bounded by [`MAX_DEPTH`].
    fn respell_value(&self, out: &mut Vec<u8>, value: Value<'_>, style: Style) {
        match value.kind() {
            // Deep values are not indexed with their line: they are scanned by themselves.
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

    /// Spells a record, given without its carry, as we would have; `None` if it is not one.
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

/// Returns the hash of sorted keys, each as it is spelled and followed by a newline.
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

/// Returns whether each place is there once: a member that was written twice, in nested objects, would
/// grow without bounds.
fn is_permutation(digits: &[u8]) -> bool {
    let places = digits.iter().fold(0u64, |places, digit| places | 1 << digit);
    places == (1 << digits.len()) - 1
}

/// Returns where a string ends, behind its closing quote, given where its body starts.
fn end_of_string(line: &[u8], body: usize) -> usize {
    let mut at = body;
    while let Some(found) = line.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        if line.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += 2;
    }
    line.len()
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
            encoder.push_new(&mut orders, &written, &[]);
            let n_orders = orders.len();
            encoder.push_new(&mut orders, &written, &[]);
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

    #[test]
    fn strings_that_are_skipped_change_nothing() {
        let line = br#"{"b":"{\"x\":","a":1}"#;
        let (mut with, mut without) = (Vec::new(), Vec::new());
        MemberOrders::default().push_new(&mut without, line, &[]);
        MemberOrders::default().push_new(&mut with, line, &[(5, 14)]);
        assert_eq!(with, without);
        assert_eq!(&with[SET_LEN..], b"210");
    }

    #[test]
    fn an_order_that_is_not_one_is_refused() {
        for orders in ["AAAA", "AAAA2", "AAAA20", "????210", "AAAA2~0", "AAAA2zz"] {
            assert!(!MemberOrders::default().learn(orders), "{orders}");
        }
        assert_eq!(MemberOrders::default().respelt("not JSON", Style::Compact), None);
    }
}
