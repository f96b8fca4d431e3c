//! Reads times as people write them, in a time zone.
//!
//! In: `7d`. Out: the moment seven days ago.

use jiff::{SignedDuration, Timestamp, ToSpan, Zoned, civil::Date, tz::TimeZone};

/// Returns the time zone of a name such as `Europe/Berlin`, `UTC`, or `+02:00`.
pub(crate) fn zone(name: &str) -> Result<TimeZone, String> {
    if name.eq_ignore_ascii_case("utc") {
        return Ok(TimeZone::UTC);
    }
    let offset = || {
        let moment = format!("2026-01-01T00:00:00{name}");
        let pieces = jiff::fmt::temporal::DateTimeParser::new().parse_pieces(&moment).ok()?;
        Some(TimeZone::fixed(pieces.to_numeric_offset()?))
    };
    if name.starts_with(['+', '-']) {
        return offset().ok_or_else(|| "not an offset such as +02:00".to_owned());
    }
    TimeZone::get(name).map_err(|_| {
        "an unknown time zone; a zone is a name such as Europe/Berlin, UTC, or an offset such as \
         +02:00"
            .to_owned()
    })
}

/// A time, as a user names it: a moment, or a day or a span that a time zone places.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Named {
    /// A moment, in milliseconds since 1970.
    At(i64),
    /// A day.
    Day(Date),
    /// A number of days before today.
    DaysAgo(i32),
    /// A time before now.
    Ago(SignedDuration),
}

const NO_TIME: &str =
    "not a time such as 2026-01-17, 2026-01-17T20:31:59Z, today, yesterday, 12h, 7d or 4w";

impl Named {
    /// Parses a time.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        if let Ok(day) = text.parse::<Date>()
            && text.len() == "2026-01-17".len()
        {
            return Ok(Named::Day(day));
        }
        match text {
            "today" => return Ok(Named::DaysAgo(0)),
            "yesterday" => return Ok(Named::DaysAgo(1)),
            _ => {}
        }
        let unit_at = text.len().saturating_sub(1);
        if let Some((number, unit)) = text.split_at_checked(unit_at)
            && let Ok(number) = number.parse::<u16>()
        {
            let hours = match unit {
                "h" => 1,
                "d" => 24,
                "w" => 24 * 7,
                _ => return Err(NO_TIME),
            };
            return Ok(Named::Ago(SignedDuration::from_hours(i64::from(number) * hours)));
        }
        core_model::named_time(text).map(|named| Named::At(named.start)).ok_or(NO_TIME)
    }

    /// Returns the first moment of the time.
    pub(crate) fn start(&self, zone: &TimeZone, now: Timestamp) -> i64 {
        self.moments(zone, now).0
    }

    /// Returns the moment after the last one of the time. A day ends with the next one.
    pub(crate) fn end(&self, zone: &TimeZone, now: Timestamp) -> i64 {
        self.moments(zone, now).1
    }

    fn moments(&self, zone: &TimeZone, now: Timestamp) -> (i64, i64) {
        let day = |day: Date| {
            let moment = |day: Date| day.to_zoned(zone.clone()).map(|it| millis(&it)).ok();
            let start = moment(day).unwrap_or(i64::MIN);
            let end = day.tomorrow().ok().and_then(moment);
            (start, end.unwrap_or(i64::MAX))
        };
        match self {
            Named::At(millis) => (*millis, millis.saturating_add(1)),
            Named::Day(date) => day(*date),
            Named::DaysAgo(days) => {
                let today = now.to_zoned(zone.clone()).date();
                day(today.checked_sub(days.days()).unwrap_or(today))
            }
            Named::Ago(duration) => {
                let then = now
                    .as_millisecond()
                    .saturating_sub(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX));
                (then, then)
            }
        }
    }
}

fn millis(moment: &Zoned) -> i64 {
    moment.timestamp().as_millisecond()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_placed_by_a_zone() {
        let now: Timestamp = "2026-01-17T22:30:00Z".parse().expect("a time");
        let utc = zone("UTC").expect("a zone");
        let east = zone("+02:00").expect("a zone");
        let hour = 3_600_000;
        let midnight = 1_768_608_000_000;
        let of = |text| Named::parse(text).expect("a time");
        assert_eq!(of("2026-01-17").start(&utc, now), midnight);
        assert_eq!(of("2026-01-17").end(&utc, now), midnight + 24 * hour);
        assert_eq!(of("2026-01-17").start(&east, now), midnight - 2 * hour);
        // In the east, it is the 18th.
        assert_eq!(of("today").start(&utc, now), midnight);
        assert_eq!(of("today").start(&east, now), midnight + 22 * hour);
        assert_eq!(of("yesterday").end(&utc, now), midnight);
        assert_eq!(of("12h").start(&utc, now), now.as_millisecond() - 12 * hour);
        assert_eq!(of("7d").start(&utc, now), now.as_millisecond() - 7 * 24 * hour);
        assert_eq!(of("2026-01-17T20:31:59Z").start(&east, now), 1_768_681_919_000);
        for text in ["", "d", "7", "7x", "é", "99999d", "soon", "2026-13-01"] {
            assert_eq!(Named::parse(text), Err(NO_TIME), "{text}");
        }
    }

    #[test]
    fn zones_have_names_or_offsets() {
        for name in ["UTC", "utc", "+05:30", "-08:00"] {
            assert!(zone(name).is_ok(), "{name}");
        }
        for name in ["", "+", "Mars/Olympus", "+26:00"] {
            assert!(zone(name).is_err(), "{name}");
        }
    }
}
