//! Times in any spelling of ISO 8601, with jiff.
//!
//! In: `2026-01-17 21:32:00.5+01:00`. Out: 1768681920500.

use std::ops::Range;

use jiff::{Span, Timestamp, civil, tz::TimeZone};

/// Reads a time with an offset, in any spelling of ISO 8601, as milliseconds since 1970.
pub(super) fn millis_of_any(text: &str) -> Option<i64> {
    text.parse::<Timestamp>().ok().map(|time| time.as_millisecond())
}

/// Prints a time of any year. A time beyond the calendar is printed as 1970.
pub(super) fn iso_of_any_year(millis: i64) -> String {
    let time = Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH);
    time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

/// Returns a time in UTC as `2026-01-17 20:32:00`; `None` beyond the calendar.
pub(crate) fn shown_clock(millis: i64) -> Option<String> {
    let time = Timestamp::from_millisecond(millis).ok()?.to_zoned(TimeZone::UTC);
    Some(time.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

/// Returns a time in the zone of its own offset: `2026-01-17 20:32:00`; `None` if its offset is
/// `Z`.
pub(crate) fn in_its_zone(time: &str) -> Option<String> {
    let is_offset = !time.ends_with(['Z', 'z']) && time.parse::<Timestamp>().is_ok();
    let time = is_offset.then(|| time.parse::<civil::DateTime>().ok()).flatten()?;
    Some(time.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

/// Returns the milliseconds since 1970 that a date or a time covers. A day (`2026-01-17`) covers
/// the time to the start of the next day, a time covers its millisecond. Without an offset, it is
/// UTC.
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
