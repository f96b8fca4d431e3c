//! Checks the scanner: it accepts exactly JSON, and each value is a range of its line.

use jsonl::{Backend, Scanner, Style, Value};
use serde_json::value::RawValue;

/// Compares the scanner with `RawValue`, and checks the positions of errors and values.
pub fn scan(input: &[u8]) {
    backends_agree(input);
    let is_json = serde_json::from_slice::<&RawValue>(input).is_ok();
    let mut scanner = Scanner::default();
    let value = match scanner.scan_slice(input, 1_000) {
        Ok(value) => value,
        Err(error) => {
            assert!(!is_json, "{error}: valid JSON is refused");
            let places = 1_000..=1_000 + input.len() as u64;
            assert!(places.contains(&error.offset), "{error}: the offset is outside of the input");
            return;
        }
    };
    assert!(is_json, "invalid JSON is accepted");
    values_lie_inside(value);
    respelling_settles(value);
}

/// Checks that all backends find the same values at the same offsets, or the same error.
fn backends_agree(input: &[u8]) {
    let mut portable = Scanner::with_backend(Backend::Portable);
    let expected = portable.scan_slice(input, 1_000);
    for backend in [Backend::Best, Backend::Baseline] {
        let mut scanner = Scanner::with_backend(backend);
        match (&expected, scanner.scan_slice(input, 1_000)) {
            (Ok(expected), Ok(found)) => {
                assert!(found.is_same_index(expected), "{backend:?} finds other values");
            }
            (expected, found) => {
                assert_eq!(found.err(), expected.as_ref().err().copied(), "{backend:?}");
            }
        }
    }
}

/// Checks that the values inside a value are in order and do not overlap, and that each can be decoded.
fn values_lie_inside(root: Value<'_>) {
    let mut open = vec![root];
    while let Some(value) = open.pop() {
        let outer = value.raw().as_str().as_bytes().as_ptr_range();
        let mut end = outer.start;
        let mut visit = |inner: &str| {
            let inner = inner.as_bytes().as_ptr_range();
            assert!(end <= inner.start && inner.end <= outer.end, "values in order, inside");
            end = inner.end;
        };
        for (key, member) in value.members() {
            visit(key.as_str());
            visit(member.raw().as_str());
            open.push(member);
        }
        for item in value.items() {
            visit(item.raw().as_str());
            open.push(item);
        }
        if let Some(text) = value.text() {
            let is_whole = serde_json::from_str::<String>(text.as_str());
            if let Ok(whole) = is_whole {
                assert_eq!(text.decode(), whole, "a string means what serde_json says");
            }
        }
        // Longer numbers are parsed by serde_json, which is exact only with the feature
        // `float_roundtrip`.
        let is_short = value.raw().as_str().len() <= 17;
        if let Some(number) = value.raw().as_f64().filter(|number| is_short && number.is_finite()) {
            let decoded = jsonl::decode::<f64>(value.raw()).expect("a finite number is a number");
            assert!(decoded == number, "{} is {decoded}", value.raw());
        }
        assert!(
            jsonl::validate(value.raw().as_str().as_bytes()).is_ok(),
            "a value inside JSON is refused"
        );
    }
}

/// Checks that respelling gives JSON, and that respelling it again changes nothing.
fn respelling_settles(value: Value<'_>) {
    let mut once = Vec::new();
    jsonl::respell(&mut once, value.raw(), Style::Compact);
    let mut scanner = Scanner::default();
    let again = scanner.scan_slice(&once, 0).expect("respelled JSON is JSON");
    let mut twice = Vec::new();
    jsonl::respell(&mut twice, again.raw(), Style::Compact);
    assert_eq!(once, twice, "respelling twice differs from respelling once");
}
