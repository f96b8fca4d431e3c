//! Runs the property `redact` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::redact(input));
