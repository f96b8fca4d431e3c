//! Runs the property `safe_name` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::safe_name(input));
