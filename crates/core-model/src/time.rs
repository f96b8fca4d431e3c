//! Times: read from whatever a format writes, printed as Claude Code prints them.

use jiff::Timestamp;
use jsonl::Raw;

/// Returns a time as milliseconds since 1970, if it is one.
///
/// A string is read as RFC 3339; a number as seconds, or as milliseconds if above 1e11 (seed 003
/// has seconds as a float, history files have milliseconds).
///
/// ```
/// let mut scanner = jsonl::Scanner::default();
/// let value = scanner.scan_slice(br#"["2025-12-25T10:30:00.000Z",1700000000.0]"#, 0)?;
/// let times: Vec<_> = value.items().map(|time| core_model::millis(time.raw())).collect();
/// assert_eq!(times, [Some(1766658600000), Some(1700000000000)]);
/// # Ok::<(), jsonl::Error>(())
/// ```
pub fn millis(time: Raw<'_>) -> Option<i64> {
    if let Some(text) = time.as_text() {
        return text.decode().parse::<Timestamp>().ok().map(|time| time.as_millisecond());
    }
    let number = time.as_f64()?;
    let millis = if number.abs() > 1e11 { number } else { number * 1000.0 };
    Some(millis.round() as i64)
}

/// Returns `YYYY-MM-DDTHH:MM:SS.mmmZ`.
///
/// ```
/// assert_eq!(core_model::iso_millis(1766658600007), "2025-12-25T10:30:00.007Z");
/// assert_eq!(core_model::iso_millis(0), "1970-01-01T00:00:00.000Z");
/// ```
pub fn iso_millis(millis: i64) -> String {
    let time = Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH);
    time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}
