//! Converts permissions to the type of this system.

use rustix::fs::Mode;

/// Converts permissions: 32 bits on Linux, 16 on macOS.
pub(super) fn of(mode: u32) -> Mode {
    Mode::from_raw_mode((mode & 0o7777) as _)
}
