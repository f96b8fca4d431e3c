//! Checks changed targets: a changed target restores its source, or the report counts the missing records.

use std::io::Cursor;

use convert::{CarryMode, Detected, FORMATS, Source, detect};

use crate::mutations::{Written, next};

/// The number of changed copies of each target.
const N_CHANGES: u64 = 4;

/// Converts the input to one format and checks some changes of the target. The bytes of the input choose
/// the format, the carry and the changes.
pub fn mutate(input: &[u8]) {
    let Ok(Detected::Format(from)) = detect(&mut Source::new(Cursor::new(input))) else { return };
    let mut state = input.iter().fold(0x9e37_79b9_7f4a_7c15_u64, |sum, byte| {
        sum.rotate_left(5).wrapping_mul(0x0100_0000_01b3) ^ u64::from(*byte)
    });
    // A xorshift generator stays at 0.
    state |= 1;
    let others: Vec<_> = FORMATS.targets().filter(|to| to.name != from.name).collect();
    let to = others[next(&mut state) as usize % others.len()];
    let carry = [CarryMode::Inline, CarryMode::Sidecar][next(&mut state) as usize % 2];
    let written = Written::new(input, from, to, carry);
    for _ in 0..N_CHANGES {
        if let Err(wrong) = written.check_change(&mut state) {
            panic!("{wrong}");
        }
    }
}
