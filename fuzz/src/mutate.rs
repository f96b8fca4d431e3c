//! A written file that somebody changed restores its source, or the report says what is not.

use std::io::Cursor;

use convert::{CarryMode, Detected, FORMATS, Source, detect};

use crate::mutations::{Written, next};

/// How many changed copies of each written file are tried.
const N_CHANGES: u64 = 4;

/// Checks the law for some changes of one way from the input, all of which its bytes choose.
pub fn mutate(input: &[u8]) {
    let Ok(Detected::Format(from)) = detect(&mut Source::new(Cursor::new(input))) else { return };
    let mut state = input.iter().fold(0x9e37_79b9_7f4a_7c15_u64, |sum, byte| {
        sum.rotate_left(5).wrapping_mul(0x0100_0000_01b3) ^ u64::from(*byte)
    });
    // A xorshift generator stays at 0.
    state |= 1;
    let others: Vec<_> = FORMATS.iter().filter(|to| to.name != from.name).collect();
    let to = others[next(&mut state) as usize % others.len()];
    let carry = [CarryMode::Inline, CarryMode::Sidecar][next(&mut state) as usize % 2];
    let written = Written::new(input, from, to, carry);
    for _ in 0..N_CHANGES {
        if let Err(wrong) = written.check_change(&mut state) {
            panic!("{wrong}");
        }
    }
}
