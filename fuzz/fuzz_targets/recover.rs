//! Runs the property `recover` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::recover(input));
