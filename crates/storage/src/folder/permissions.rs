//! Permissions as this system has them.

use rustix::fs::Mode;

/// Returns permissions, which are a number of 32 bits on Linux, and of 16 on macOS.
pub(super) fn of(mode: u32) -> Mode {
    Mode::from_raw_mode((mode & 0o7777) as _)
}
