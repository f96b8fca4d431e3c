//! Runs the property `round_trip` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::round_trip(input));
