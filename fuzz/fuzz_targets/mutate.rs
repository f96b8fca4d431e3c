//! Runs the property `mutate` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::mutate(input));
