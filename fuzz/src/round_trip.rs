//! There and back, the bytes are the source's.

use std::io::Cursor;

use convert::{CarryMode, Conversion, Detected, FORMATS, Sidecar, Source};
use core_model::{Format, Options};

/// Checks the way into every format and back, with the carry inline and in a sidecar.
pub fn round_trip(input: &[u8]) {
    let from = format_of(input);
    for to in FORMATS.iter().filter(|to| to.name != from.name) {
        for carry in [CarryMode::Inline, CarryMode::Sidecar] {
            there_and_back(input, from, to, carry);
        }
        let plain = conversion(from, to, CarryMode::None).convert(input, None);
        let (target, _, _) = plain.expect("memory has no errors");
        loads(&target, to);
    }
}

/// Checks one way of [`round_trip`], which the bytes choose: so libFuzzer gets on several times
/// faster, and still goes all of them.
pub fn one_way(input: &[u8]) {
    let from = format_of(input);
    let choice = input.iter().fold(0_usize, |sum, byte| sum.wrapping_mul(31) ^ usize::from(*byte));
    let others: Vec<_> = FORMATS.iter().filter(|to| to.name != from.name).collect();
    let to = others[choice % others.len()];
    let carry = [CarryMode::Inline, CarryMode::Inline, CarryMode::Sidecar][(choice >> 9) % 3];
    there_and_back(input, from, to, carry);
}

fn format_of(input: &[u8]) -> &'static Format {
    match convert::detect(&mut Source::new(Cursor::new(input))) {
        Ok(Detected::Format(format)) => format,
        // What no format claims may still be said to be in one.
        _ => FORMATS[input.len() % FORMATS.len()],
    }
}

fn conversion(from: &'static Format, to: &'static Format, carry: CarryMode) -> Conversion {
    Conversion { formats: FORMATS, from, to, carry, options: Options::default() }
}

fn there_and_back(input: &[u8], from: &'static Format, to: &'static Format, carry: CarryMode) {
    let there = conversion(from, to, carry).convert(input, None);
    let (target, sidecar, _) = there.expect("memory has no errors");
    loads(&target, to);
    let sidecar = sidecar.map(|bytes| Sidecar::read(&bytes[..]).expect("written just now"));
    let back = conversion(to, from, CarryMode::Inline).convert(&target, sidecar);
    let (restored, _, _) = back.expect("memory has no errors");
    assert!(
        restored == input,
        "{} -> {} -> back, {carry:?}:\n{}\nbecame\n{}\nby\n{}",
        from.name,
        to.name,
        String::from_utf8_lossy(input),
        String::from_utf8_lossy(&restored),
        String::from_utf8_lossy(&target),
    );
}

/// Checks that what was written is lines, each an object.
fn loads(target: &[u8], to: &Format) {
    let mut scanner = jsonl::Scanner::default();
    for line in jsonl::lines(target) {
        let value = scanner.scan(&line).expect("a written line is JSON");
        assert!(value.is_object(), "{}: a written line is an object", to.name);
        assert!(line.is_terminated(), "{}: a written line ends", to.name);
    }
}
