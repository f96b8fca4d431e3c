//! The scanner accepts exactly JSON, and every value lies inside its line.

use jsonl::{Backend, Scanner, Style, Value};
use serde_json::value::RawValue;

/// Checks the scanner against `RawValue`, and that what it finds is where it says.
pub fn scan(input: &[u8]) {
    backends_agree(input);
    let is_json = serde_json::from_slice::<&RawValue>(input).is_ok();
    let mut scanner = Scanner::default();
    let value = match scanner.scan_slice(input, 1_000) {
        Ok(value) => value,
        Err(error) => {
            assert!(!is_json, "{error} in JSON");
            let places = 1_000..=1_000 + input.len() as u64;
            assert!(places.contains(&error.offset), "{error} lies in the input");
            return;
        }
    };
    assert!(is_json, "accepted, though it is no JSON");
    values_lie_inside(value);
    respelling_settles(value);
}

/// Vectors or not: the same values at the same places, or the same error.
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
        // Longer ones go to serde_json, which is not exact unless it is asked to be.
        let is_short = value.raw().as_str().len() <= 17;
        if let Some(number) = value.raw().as_f64().filter(|number| is_short && number.is_finite()) {
            let decoded = jsonl::decode::<f64>(value.raw()).expect("a finite number is a number");
            assert!(decoded == number, "{} is {decoded}", value.raw());
        }
        assert!(jsonl::validate(value.raw().as_str().as_bytes()).is_ok(), "a value is a value");
    }
}

/// Spelled in a style, a value is JSON, and spelled in it again it is the same.
fn respelling_settles(value: Value<'_>) {
    let mut once = Vec::new();
    jsonl::respell(&mut once, value.raw(), Style::Compact);
    let mut scanner = Scanner::default();
    let again = scanner.scan_slice(&once, 0).expect("respelled JSON is JSON");
    let mut twice = Vec::new();
    jsonl::respell(&mut twice, again.raw(), Style::Compact);
    assert_eq!(once, twice, "the second spelling is the first");
}
