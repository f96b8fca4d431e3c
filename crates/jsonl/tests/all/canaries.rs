//! Tests for silent faults of JSON libraries, past and present. A version in which one fails is not
//! used.
//!
//! simd-json below 0.19 reads some floats wrong, takes a NUL after a number, and overflows the stack
//! on nested values; no advisory lists it. serde_json alters one float in thirteen unless it is asked
//! for `float_roundtrip`.

use serde_json::value::RawValue;

/// Returns the number that simd-json reads from a copy of some bytes, because it rewrites its
/// input.
fn simd_json(bytes: &[u8]) -> Option<f64> {
    simd_json::serde::from_slice(&mut bytes.to_vec()).ok()
}

/// Returns the next number of a xorshift generator.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn floats_are_read_as_the_standard_library_reads_them() {
    let mut texts: Vec<String> = [
        "0.1",
        "0.30000000000000004",
        "1e-05",
        "1E5",
        "1e+2",
        "2.2250738585072014e-308",
        "5e-324",
        "1.7976931348623157e308",
        "9007199254740993.0",
        "0.000001",
        "1.10",
        "123456789.12345678",
        "7.2057594037927933e16",
        "8.589934592e9",
        "1e23",
        "4.35",
        "0.0074328",
        "8.98846567431158e307",
    ]
    .map(str::to_owned)
    .to_vec();
    let mut state = 0x9e37_79b9_7f4a_7c15;
    for _ in 0..100_000 {
        // Costs as clients write them, and floats of all sizes as they are printed.
        let cost = next(&mut state) % 100_000_000;
        texts.push(format!("{}.{:08}", next(&mut state) % 100, cost));
        let any = f64::from_bits(next(&mut state));
        texts.extend(any.is_finite().then(|| format!("{any:e}")));
    }
    for text in &texts {
        let expected: f64 = text.parse().expect("a number");
        // serde_json decodes what simd-json refuses, so only a wrong value is a fault.
        assert!(
            simd_json(text.as_bytes()).is_none_or(|found| found == expected),
            "simd-json: {text}"
        );
        let raw: &RawValue = serde_json::from_str(text).expect("a number");
        assert_eq!(raw.get(), text);
    }
    // With `float_roundtrip`, serde_json would accept numbers that clido refuses.
    let altered = texts.iter().filter(|text| {
        let expected: f64 = text.parse().expect("a number");
        serde_json::from_str(text).ok() != Some(expected)
    });
    assert!(altered.count() > 0, "serde_json reads floats as they are: use it");
}

#[test]
fn a_nul_is_no_space() {
    for bytes in
        [&b"1\0"[..], b"[1\0]", b"{\"a\":1\0}", b"\0", b"\x001", b"true\0", b"\"a\"\0", b"[1,\0 2]"]
    {
        let mut copy = bytes.to_vec();
        assert!(simd_json::to_tape(&mut copy).is_err(), "simd-json: {}", bytes.escape_ascii());
        assert!(serde_json::from_slice::<&RawValue>(bytes).is_err(), "{}", bytes.escape_ascii());
        assert!(jsonl::validate(bytes).is_err(), "{}", bytes.escape_ascii());
    }
}

#[test]
fn depth_is_an_error_and_not_the_end() {
    for depth in [127, 128, 1_024, 1_025, 10_000, 100_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let whole = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let torn = open.repeat(depth);
            let judge = move || {
                let mut copy = whole.clone().into_bytes();
                let is_taken = simd_json::to_tape(&mut copy).is_ok();
                assert!(is_taken == (depth <= 1_024), "simd-json at {depth}");
                assert!(serde_json::from_str::<&RawValue>(&whole).is_ok(), "RawValue at {depth}");
                assert!(serde_json::from_str::<&RawValue>(&torn).is_err());
                assert!(jsonl::validate(whole.as_bytes()).is_ok(), "at {depth}");
                assert!(jsonl::validate(torn.as_bytes()).is_err());
            };
            let thread = std::thread::Builder::new().stack_size(512 * 1024).spawn(judge);
            thread.expect("a thread").join().expect("no overflow, no wrong answer");
        }
    }
}

#[test]
fn the_same_kinds_of_line_are_refused_as_ever() {
    // These two refuse values that JSON.parse accepts. For that reason this crate scans lines
    // itself.
    let lone = br#""\ud800""#;
    assert!(serde_json::from_slice::<String>(lone).is_err());
    assert!(simd_json::to_tape(&mut lone.to_vec()).is_err());
    assert!(jsonl::validate(lone).is_ok());
    let digits = "123456789012345678901234567890";
    assert!(jsonl::validate(digits.as_bytes()).is_ok());
    let raw: &RawValue = serde_json::from_str(digits).expect("a number");
    assert_eq!(raw.get(), digits);
}
