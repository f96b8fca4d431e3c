//! Converts sessions in WebAssembly.
//!
//! In: the host asks `input` for room, writes a session there, and calls `convert` with the number of a
//! format. Out: `convert` returns the length of the result, or, for an error, the negative length of its message.
//! Both are at the address that `output` returns.

#![expect(
    unsafe_code,
    reason = "the names of exports are unsafe attributes; no code here is unsafe"
)]

use std::cell::RefCell;

use core_model::Formats;

static FORMATS: Formats = Formats::new(&[
    &format_claude_code::FORMAT,
    &format_clido::FORMAT,
    &format_codex::FORMAT,
    &format_pi::FORMAT,
]);

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Returns the address of room for a session of this length.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|bytes| {
        bytes.clear();
        bytes.resize(length, 0);
        bytes.as_mut_ptr()
    })
}

/// Converts the session to the format with this number. Returns the length of the result; for an error, the
/// negative length of its message.
#[unsafe(no_mangle)]
pub extern "C" fn convert(format: usize) -> i64 {
    let Some(to) = FORMATS.get(format) else { return 0 };
    let result = INPUT.with_borrow(|bytes| conversion::convert(FORMATS, bytes, to));
    let (bytes, is_fine) = match result {
        Ok(converted) => (converted.bytes, true),
        Err(error) => (error.to_string().into_bytes(), false),
    };
    let length = bytes.len() as i64;
    OUTPUT.set(bytes);
    if is_fine { length } else { -length }
}

/// Returns the address of the result.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.with_borrow(|bytes| bytes.as_ptr())
}
