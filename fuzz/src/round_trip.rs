//! Checks round trips: converting to another format and back restores the source byte for byte.

use std::io::Cursor;

use convert::{CarryMode, Conversion, Converted, Detected, FORMATS, Sidecar, Source};
use core_model::{Format, Options};

/// Converts to every format and back, with an inline carry and with a sidecar.
pub fn round_trip(input: &[u8]) {
    let from = format_of(input);
    for to in FORMATS.iter().filter(|to| to.name != from.name) {
        for carry in [CarryMode::Inline, CarryMode::Sidecar] {
            there_and_back(input, from, to, carry);
        }
        let plain = conversion(from, to, CarryMode::None).convert(input, None);
        loads(&plain.expect("memory has no errors").bytes, to);
    }
}

/// Checks one of the conversions of [`round_trip`]. The bytes choose it, so that libFuzzer runs several
/// times faster and still covers all of them.
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
        // A user may name a format that detection does not find.
        _ => FORMATS[input.len() % FORMATS.len()],
    }
}

fn conversion(from: &'static Format, to: &'static Format, carry: CarryMode) -> Conversion {
    Conversion { formats: FORMATS, from, to, carry, options: Options::default() }
}

fn there_and_back(input: &[u8], from: &'static Format, to: &'static Format, carry: CarryMode) {
    let there = conversion(from, to, carry).convert(input, None);
    let Converted { bytes: target, sidecar, .. } = there.expect("memory has no errors");
    loads(&target, to);
    let sidecar = sidecar.map(|bytes| Sidecar::read(&bytes[..]).expect("written just now"));
    let back = conversion(to, from, CarryMode::Inline).convert(&target, sidecar);
    let restored = back.expect("memory has no errors").bytes;
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

/// Checks that a target is empty, a JSON object, or consists of complete lines, each a JSON object.
fn loads(target: &[u8], to: &Format) {
    let mut scanner = jsonl::Scanner::default();
    if to.framing.is_document() && !target.is_empty() {
        let value = scanner.scan_slice(target, 0).expect("a written document is JSON");
        return assert!(value.is_object(), "{}: a written document is an object", to.name);
    }
    for line in jsonl::lines(target) {
        let value = scanner.scan(&line).expect("a written line is JSON");
        assert!(value.is_object(), "{}: a written line is an object", to.name);
        assert!(line.is_terminated(), "{}: a written line ends", to.name);
    }
}
