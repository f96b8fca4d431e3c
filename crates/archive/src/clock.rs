//! Reads the clock, for warnings about sessions that a client compares with it.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the time in milliseconds since 1970.
#[expect(clippy::disallowed_methods, reason = "warnings depend on the clock, and no byte does")]
pub fn now_millis() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
