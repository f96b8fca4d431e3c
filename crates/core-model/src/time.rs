//! Times: read from whatever a format writes, printed as Claude Code prints them.

use std::ops::Range;

use jiff::{Span, Timestamp, civil, tz::TimeZone};
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

/// Returns the milliseconds since 1970 that a date or a time covers, as a person names it: a day
/// (`2026-01-17`) from its start to that of the next one, a time down to the millisecond; in UTC,
/// unless it names an offset.
///
/// ```
/// let day = core_model::named_time("2026-01-17").expect("a day");
/// assert_eq!(core_model::iso_millis(day.start), "2026-01-17T00:00:00.000Z");
/// assert_eq!(core_model::iso_millis(day.end), "2026-01-18T00:00:00.000Z");
/// let time = core_model::named_time("2026-01-17 20:31").expect("a time");
/// assert_eq!(Some(time), core_model::named_time("2026-01-17T21:31:00+01:00"));
/// assert_eq!(core_model::named_time("yesterday"), None);
/// ```
pub fn named_time(text: &str) -> Option<Range<i64>> {
    if let Ok(time) = text.parse::<Timestamp>() {
        let millis = time.as_millisecond();
        return Some(millis..millis + 1);
    }
    let start = text.parse::<civil::DateTime>().ok()?;
    let millis = |time: civil::DateTime| {
        TimeZone::UTC.to_timestamp(time).ok().map(|time| time.as_millisecond())
    };
    let is_day = text.parse::<civil::Time>().is_err();
    let end = if is_day { start.checked_add(Span::new().days(1)).ok()? } else { start };
    Some(millis(start)?..millis(end)? + i64::from(!is_day))
}
