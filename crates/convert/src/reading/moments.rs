//! Reads and prints times as people write them, in a time zone.
//!
//! In: `7d`. Out: the moment seven days ago.

use core_model::event_millis;
use jiff::{
    SignedDuration, Timestamp, ToSpan, Zoned,
    civil::{Date, DateTime},
    fmt::temporal::DateTimeParser,
    tz::TimeZone,
};

/// The zone of days and hours that are named or printed.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Clock {
    /// The time zone of days and hours, such as Europe/Berlin [default: that of this machine]
    #[arg(long, value_name = "ZONE", value_parser = zone, allow_hyphen_values = true)]
    timezone: Option<TimeZone>,
    /// The same as --timezone UTC
    #[arg(long, conflicts_with = "timezone")]
    utc: bool,
}

impl Clock {
    /// Returns the zone.
    pub(crate) fn zone(&self) -> TimeZone {
        match &self.timezone {
            _ if self.utc => TimeZone::UTC,
            Some(zone) => zone.clone(),
            None => local_zone(),
        }
    }
}

/// Returns the time zone of this machine.
fn local_zone() -> TimeZone {
    #[cfg(unix)]
    return super::zones::local(std::env::var_os("TZ"));
    #[cfg(not(unix))]
    return TimeZone::system();
}

/// Returns the time zone of a name such as `Europe/Berlin`.
fn named_zone(name: &str) -> Option<TimeZone> {
    #[cfg(unix)]
    return super::zones::named(name);
    #[cfg(not(unix))]
    return TimeZone::get(name).ok();
}

/// The period that is read, as a user names it.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Period {
    /// Only from this time on: 2026-01-17, 2026-01-17T20:31, today, yesterday, 12h, 7d, 2w
    #[arg(long, value_name = "TIME", value_parser = Named::parse)]
    since: Option<Named>,
    /// Only until this time; a day includes its end
    #[arg(long, value_name = "TIME", value_parser = Named::parse)]
    until: Option<Named>,
    #[command(flatten)]
    pub(crate) clock: Clock,
}

impl Period {
    /// Returns whether all times are in the period.
    pub(crate) fn is_all(&self) -> bool {
        self.since.is_none() && self.until.is_none()
    }

    /// Returns the period in milliseconds since 1970.
    pub(crate) fn bounds(&self) -> Bounds {
        let (zone, now) = (self.clock.zone(), Timestamp::now());
        let start = self.since.as_ref().map(|since| since.start(&zone, now));
        let end = self.until.as_ref().map(|until| until.end(&zone, now));
        Bounds { start: start.unwrap_or(i64::MIN), end: end.unwrap_or(i64::MAX) }
    }
}

/// A period in milliseconds since 1970, without its end. `i64::MIN` and `i64::MAX` are no bounds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) start: i64,
    pub(crate) end: i64,
}

impl Bounds {
    /// The period of all times, also unknown ones.
    pub(crate) const ALL: Bounds = Bounds { start: i64::MIN, end: i64::MAX };

    /// Returns whether a time is in the period. An unknown time is only in the period of all times.
    pub(crate) fn has(self, time: Option<i64>) -> bool {
        match time {
            Some(time) => self.start <= time && time < self.end,
            None => self == Bounds::ALL,
        }
    }
}

/// Finds the events of a period. An event without a time has that of the event before it.
#[derive(Debug)]
pub(crate) struct InPeriod {
    bounds: Bounds,
    time: Option<i64>,
}

impl InPeriod {
    /// Starts with the first event of a session.
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self { bounds, time: None }
    }

    /// Returns whether the next event is in the period.
    pub(crate) fn has(&mut self, event: &core_model::Event<'_>) -> bool {
        self.time = event_millis(event).or(self.time);
        self.bounds.has(self.time)
    }
}

/// Returns a time as `2026-01-17 20:31:59` in a zone; an empty text if the year has not four digits.
pub(crate) fn printed(millis: i64, zone: &TimeZone) -> String {
    let moment = Timestamp::from_millisecond(millis).ok().map(|it| it.to_zoned(zone.clone()));
    moment
        .filter(|moment| (0..=9999).contains(&moment.year()))
        .map(|moment| moment.strftime("%Y-%m-%d %H:%M:%S").to_string())
        .unwrap_or_default()
}

/// Returns a time as `2026-01-17 20:31` in a zone.
pub(crate) fn printed_minute(millis: i64, zone: &TimeZone) -> String {
    let mut time = printed(millis, zone);
    time.truncate("2026-01-17 20:31".len());
    time
}

/// Returns the time zone of a name such as `Europe/Berlin`, `UTC`, or `+02:00`.
pub(crate) fn zone(name: &str) -> Result<TimeZone, String> {
    if name.eq_ignore_ascii_case("utc") {
        return Ok(TimeZone::UTC);
    }
    let offset = || {
        let moment = format!("2026-01-01T00:00:00{name}");
        let pieces = DateTimeParser::new().parse_pieces(&moment).ok()?;
        Some(TimeZone::fixed(pieces.to_numeric_offset()?))
    };
    if name.starts_with(['+', '-']) {
        return offset().ok_or_else(|| "not an offset such as +02:00".to_owned());
    }
    named_zone(name).ok_or_else(|| {
        "an unknown time zone; a zone is a name such as Europe/Berlin, UTC, or an offset such as \
         +02:00"
            .to_owned()
    })
}

/// A time, as a user names it: a moment, or a day or a span that a time zone places.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Named {
    /// A moment with a zone of its own, and the moment after what it names, such as a minute; both in
    /// milliseconds since 1970.
    At(i64, i64),
    /// A date and a time, and the number of milliseconds that they name.
    Local(DateTime, i64),
    /// A day.
    Day(Date),
    /// A number of days before today.
    DaysAgo(i32),
    /// A time before now.
    Ago(SignedDuration),
}

const NO_TIME: &str = "not a time such as 2026-01-17, 2026-01-17T20:31, 2026-01-17T20:31:59Z, \
                       today, yesterday, 30min, 12h, 7d or 4w";

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
        let unit_at = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
        if let Some((number, unit)) = text.split_at_checked(unit_at)
            && let Ok(number) = number.parse::<u16>()
            && let Some(minutes) = minutes(unit)
        {
            return Ok(Named::Ago(SignedDuration::from_mins(i64::from(number) * minutes)));
        }
        if let Some(named) = core_model::named_time(text) {
            let has_zone = DateTimeParser::new()
                .parse_pieces(text)
                .is_ok_and(|pieces| pieces.offset().is_some());
            return match text.parse::<DateTime>() {
                Ok(time) if !has_zone => Ok(Named::Local(time, named.end - named.start)),
                _ => Ok(Named::At(named.start, named.end)),
            };
        }
        Err(NO_TIME)
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
            Named::At(start, end) => (*start, *end),
            Named::Local(time, length) => {
                let start = time.to_zoned(zone.clone()).map(|it| millis(&it)).unwrap_or(i64::MIN);
                (start, start.saturating_add(*length))
            }
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

/// Returns the number of minutes in a unit.
fn minutes(unit: &str) -> Option<i64> {
    Some(match unit {
        "min" => 1,
        "h" => 60,
        "d" => 60 * 24,
        "w" => 60 * 24 * 7,
        _ => return None,
    })
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
        assert_eq!(of("30min").start(&utc, now), now.as_millisecond() - hour / 2);
        // A time without a zone is in the user's, and names its millisecond.
        let local = of("2026-01-17T20:31:59");
        assert_eq!(local.start(&utc, now), 1_768_681_919_000);
        assert_eq!(local.start(&east, now), 1_768_681_919_000 - 2 * hour);
        assert_eq!(local.end(&east, now), 1_768_681_919_001 - 2 * hour);
        assert_eq!(of("2026-01-17 20:31:59+00:00").end(&east, now), 1_768_681_919_001);
        for text in ["", "d", "7", "7x", "7m", "é", "99999d", "soon", "2026-13-01"] {
            assert_eq!(Named::parse(text), Err(NO_TIME), "{text}");
        }
    }

    #[test]
    fn times_are_printed_in_a_zone() {
        let [utc, west] = ["UTC", "-08:00"].map(|name| zone(name).expect("a zone"));
        assert_eq!(printed(1_768_681_919_197, &utc), "2026-01-17 20:31:59");
        assert_eq!(printed_minute(1_768_681_919_197, &west), "2026-01-17 12:31");
        assert_eq!(printed(i64::MAX, &utc), "");
        assert_eq!(printed_minute(-99_999_999_999_999, &utc), "");
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
