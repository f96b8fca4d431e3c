//! Runs the property `round_trip` under libFuzzer, one way for each input.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::one_way(input));
