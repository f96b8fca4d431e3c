//! Times in the spelling of RFC 3339, without another crate.
//!
//! In: `2026-01-17T21:32:00.5+01:00`. Out: 1768681920500.

/// Reads an RFC 3339 time as milliseconds since 1970.
pub(super) fn millis_of_any(text: &str) -> Option<i64> {
    let (clock, offset_seconds) = read(text)?;
    let (seconds, fraction) = clock.split_at_checked(19)?;
    let whole = super::millis_of_utc(format!("{seconds}.000Z").as_bytes())?;
    let whole = whole.checked_sub(offset_seconds.checked_mul(1000)?)?;
    let digits = fraction.get(1..).unwrap_or_default();
    let millis: i64 = format!("{digits:0<3}").get(..3)?.parse().ok()?;
    let has_rest = digits.bytes().skip(3).any(|digit| digit != b'0');
    // Fractions of a millisecond are cut towards 1970, before 1970 too.
    let millis = whole.checked_add(millis)?;
    Some(if millis < 0 && has_rest { millis + 1 } else { millis })
}

/// Returns the local part of a time (`2026-01-17T20:32:00.123`) and its offset in seconds.
fn read(text: &str) -> Option<(String, i64)> {
    let (clock, offset) = match text.strip_suffix(['Z', 'z']) {
        Some(clock) => (clock, 0),
        None => {
            let (clock, offset) = text.split_at_checked(text.len().checked_sub(6)?)?;
            (clock, read_offset(offset)?)
        }
    };
    let (date, time) = clock.split_at_checked(10)?;
    let time = time.strip_prefix(['T', 't', ' '])?;
    let fraction = time.get(8..)?;
    let digits = fraction.strip_prefix('.');
    let is_fraction = |digits: &str| {
        (1..=9).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_valid = fraction.is_empty() || digits.is_some_and(is_fraction);
    is_valid.then(|| (format!("{date}T{time}"), offset))
}

/// Reads an offset such as `+01:00`, in seconds.
fn read_offset(text: &str) -> Option<i64> {
    let &[sign, h1, h2, b':', m1, m2] = text.as_bytes() else { return None };
    let number = |tens: u8, ones: u8| {
        let is_number = tens.is_ascii_digit() && ones.is_ascii_digit();
        is_number.then(|| 10 * i64::from(tens - b'0') + i64::from(ones - b'0'))
    };
    let (hours, minutes) = (number(h1, h2)?, number(m1, m2)?);
    let seconds = (hours * 60 + minutes) * 60;
    match sign {
        _ if hours > 25 || minutes > 59 => None,
        b'+' => Some(seconds),
        b'-' => Some(-seconds),
        _ => None,
    }
}

/// Prints a time of a year from 0 to 9999. Any other time is printed as 1970.
pub(super) fn iso_of_any_year(millis: i64) -> String {
    let text = super::civil(millis).or_else(|| super::civil(0));
    text.map(|(_, text)| text).unwrap_or_default()
}

/// Returns a time in UTC as `2026-01-17 20:32:00`; `None` if its year is not 0 to 9999.
#[cfg_attr(feature = "jiff", expect(dead_code, reason = "jiff's twin is used"))]
pub(crate) fn shown_clock(millis: i64) -> Option<String> {
    let (_, text) = super::civil(millis)?;
    Some(text.get(..19)?.replace('T', " "))
}

/// Returns a time in the zone of its own offset: `2026-01-17 20:32:00`; `None` if its offset is
/// `Z`.
#[cfg_attr(feature = "jiff", expect(dead_code, reason = "jiff's twin is used"))]
pub(crate) fn in_its_zone(time: &str) -> Option<String> {
    let is_offset = !time.ends_with(['Z', 'z']) && millis_of_any(time).is_some();
    let (clock, _) = is_offset.then(|| read(time)).flatten()?;
    Some(clock.get(..19)?.replace('T', " "))
}

#[cfg(test)]
mod tests {
    use super::{millis_of_any, read_offset};

    #[test]
    fn the_same_times_as_jiff_reads() {
        let clocks = ["2026-01-17T20:32:00", "1969-12-31t23:59:59", "0000-03-01 00:00:00"];
        let fractions = ["", ".1", ".12", ".123", ".1239", ".000000001", ".999999999"];
        let offsets = ["Z", "z", "+00:00", "-00:00", "+01:00", "-11:30", "+23:59", "-25:59"];
        for clock in clocks {
            for fraction in fractions {
                for offset in offsets {
                    let text = format!("{clock}{fraction}{offset}");
                    let expected = text.parse::<jiff::Timestamp>().expect(&text);
                    assert_eq!(millis_of_any(&text), Some(expected.as_millisecond()), "{text}");
                }
            }
        }
    }

    #[test]
    fn no_time_is_read_that_jiff_does_not_read() {
        let clocks = [
            "2026-02-29T20:32:00",
            "2026-01-17T24:00:00",
            "2026-01-17T20:32",
            "é026-01-17T20:32:00",
        ];
        let fractions = ["", ".", ".1", ".0123456789", ".é", ",1"];
        let offsets = ["", "Z", "+01", "+0100", "+26:00", "+01:60", "é", "+é:00", "-1:00:00"];
        for clock in clocks.into_iter().chain(["2026-01-17T20:32:00", "", "2026-01-17_20:32:00"]) {
            for fraction in fractions {
                for offset in offsets {
                    let text = format!("{clock}{fraction}{offset}");
                    let expected = text.parse::<jiff::Timestamp>().ok();
                    if expected.is_none() {
                        assert_eq!(millis_of_any(&text), None, "{text}");
                    }
                }
            }
        }
        assert_eq!(read_offset("*01:00"), None);
    }
}
