//! Reads times in the forms of all formats, and prints them as Claude Code does.
//!
//! In: `"2025-12-25T10:30:00.007Z"`, `1766658600.007`, `1766658600007`. Out: 1766658600007, printed
//! as `2025-12-25T10:30:00.007Z`.

#[cfg(feature = "jiff")]
mod any;
#[cfg(any(test, not(feature = "jiff")))]
mod strict;

use jsonl::{Raw, Text};

#[cfg(feature = "jiff")]
pub use self::any::named_time;
#[cfg(feature = "jiff")]
pub(crate) use self::any::{in_its_zone, shown_clock};
#[cfg(feature = "jiff")]
use self::any::{iso_of_any_year, millis_of_any};
#[cfg(not(feature = "jiff"))]
pub(crate) use self::strict::{in_its_zone, shown_clock};
#[cfg(not(feature = "jiff"))]
use self::strict::{iso_of_any_year, millis_of_any};

/// Returns a time as milliseconds since 1970; `None` if the value is not a time.
///
/// A string is read as RFC 3339, and with the feature `jiff` in every other spelling of ISO 8601
/// that has an offset (`Z`, `+02:00`). A string without an offset is `None`, with and without the
/// feature. A number is read as seconds, or as milliseconds if it is above 1e11, and rounded to the
/// nearest millisecond: SDK streams have seconds as a float, and history files have milliseconds.
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
        let text = text.decode();
        return millis_of_utc(text.as_bytes()).or_else(|| millis_of_any(&text));
    }
    let number = time.as_f64()?;
    let millis = if number.abs() > 1e11 { number } else { number * 1000.0 };
    Some(millis.round() as i64)
}

/// Reads the form `2025-12-25T10:30:00.007Z` of nearly all times. `None` means another form.
fn millis_of_utc(text: &[u8]) -> Option<i64> {
    let text: &[u8; 24] = text.try_into().ok()?;
    let (words, _) = text.as_chunks::<8>();
    let is_alike = |(word, shape): (&[u8; 8], &[u8; 8])| is_shaped(*word, *shape);
    if !words.iter().zip([b"0000-00-", b"00T00:00", b":00.000Z"]).all(is_alike) {
        return None;
    }
    // A name for each digit, as the text has them.
    let [m, i, l, e, _, o, n, _, d, a, _, h, r, _, u, t, _, s, c, _, x, y, z, _] =
        text.map(|byte| i32::from(byte) - i32::from(b'0'));
    let [year, month, day] = [m * 1000 + i * 100 + l * 10 + e, o * 10 + n, d * 10 + a];
    let [hour, minute, second] = [h * 10 + r, u * 10 + t, s * 10 + c];
    let millis = x * 100 + y * 10 + z;
    let is_leap_year = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let n_days = match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i32::from(is_leap_year),
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=n_days).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // Years that begin in March have their leap day at the end (H. Hinnant, days_from_civil).
    let year = year - i32::from(month <= 2);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days =
        365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year
            - 719_468;
    let seconds = i64::from(days) * 86_400 + i64::from(hour * 3600 + minute * 60 + second);
    Some(seconds * 1000 + i64::from(millis))
}

/// Returns a time as [`millis`] does, if [`iso_millis`] prints it as this text, and the year has four digits; otherwise
/// `None`.
///
/// ```
/// let text = |written| jsonl::Text::new(written).expect("a string");
/// let millis = core_model::millis_as_printed(text(r#""2025-12-25T10:30:00.007Z""#));
/// assert_eq!(millis, Some(1766658600007));
/// assert_eq!(core_model::millis_as_printed(text(r#""2025-12-25T10:30:00Z""#)), None);
/// ```
pub fn millis_as_printed(text: Text<'_>) -> Option<i64> {
    let bytes = text.body().as_bytes();
    // Years before 1000 and after 9998 are printed by other functions.
    let is_usual = bytes.first() > Some(&b'0') && !bytes.starts_with(b"9999");
    is_usual.then(|| millis_of_utc(bytes)).flatten()
}

/// Prints a time of a year from 1000 to 9998; `None` for any other year.
fn iso_of_four_digits(millis: i64) -> Option<String> {
    civil(millis).filter(|(year, _)| (1000..=9998).contains(year)).map(|(_, text)| text)
}

/// Returns whether eight bytes have a shape: digits where the shape has `0`, and otherwise its
/// bytes.
fn is_shaped(word: [u8; 8], shape: [u8; 8]) -> bool {
    // The difference from a mark must be 0, and the difference from `0` at most 9. The addition
    // sets the top bit of a byte that violates this.
    let differs = u64::from_ne_bytes(word) ^ u64::from_ne_bytes(shape);
    let limit = shape.map(|byte| if byte == b'0' { 0x80 - 10 } else { 0x80 - 1 });
    let over = (differs & !TOPS) + u64::from_ne_bytes(limit);
    (over | differs) & TOPS == 0
}

/// The top bit of each of eight bytes.
const TOPS: u64 = 0x8080_8080_8080_8080;

/// Returns `YYYY-MM-DDTHH:MM:SS.mmmZ`.
///
/// ```
/// assert_eq!(core_model::iso_millis(1766658600007), "2025-12-25T10:30:00.007Z");
/// assert_eq!(core_model::iso_millis(0), "1970-01-01T00:00:00.000Z");
/// ```
pub fn iso_millis(millis: i64) -> String {
    iso_of_four_digits(millis).unwrap_or_else(|| iso_of_any_year(millis))
}

/// Returns the year of a time, and the time as printed; `None` if the year is not 0 to 9999.
fn civil(millis: i64) -> Option<(i64, String)> {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    let (days, time) = (millis.div_euclid(DAY), millis.rem_euclid(DAY));
    // Years that begin in March have their leap day at the end (H. Hinnant, civil_from_days).
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    if !(0..=9999).contains(&year) {
        return None;
    }
    let mut text = *b"0000-00-00T00:00:00.000Z";
    let put = |places: &mut [u8], mut number: i64| {
        for place in places.iter_mut().rev() {
            *place = b'0' + (number % 10) as u8;
            number /= 10;
        }
    };
    put(&mut text[..4], year);
    put(&mut text[5..7], month);
    put(&mut text[8..10], day);
    put(&mut text[11..13], time / 3_600_000);
    put(&mut text[14..16], time / 60_000 % 60);
    put(&mut text[17..19], time / 1000 % 60);
    put(&mut text[20..23], time % 1000);
    Some((year, String::from_utf8_lossy(&text).into_owned()))
}

#[cfg(test)]
mod tests {
    use jiff::{Timestamp, tz::TimeZone};

    use super::*;

    #[test]
    fn every_day_is_printed_as_jiff_prints_it() {
        let first = jiff::civil::date(0, 1, 1).to_zoned(TimeZone::UTC).expect("a time").timestamp();
        let (first, day) = (first.as_millisecond(), 24 * 60 * 60 * 1000);
        for n_days in (0..3_652_000).step_by(if cfg!(miri) { 99_991 } else { 7 }) {
            let millis = first + n_days * day + n_days * 7_919 % day;
            let time = Timestamp::from_millisecond(millis).expect("before 9999");
            let expected = time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string();
            assert_eq!(iso_millis(millis), expected);
            assert_eq!(strict::iso_of_any_year(millis), expected);
        }
        assert_eq!(iso_millis(i64::MAX), iso_millis(0));
        assert_eq!(iso_millis(i64::MIN), iso_millis(0));
    }

    #[test]
    fn every_day_is_read_as_jiff_reads_it() {
        let first = jiff::civil::date(0, 1, 1);
        for n_days in (0..3_652_424).step_by(if cfg!(miri) { 99_991 } else { 7 }) {
            let day = first.checked_add(jiff::Span::new().days(n_days)).expect("before 9999");
            let text =
                format!("{day}T{:02}:{:02}:59.{:03}Z", n_days % 24, n_days % 60, n_days % 1000);
            let expected = text.parse::<Timestamp>().expect("a time").as_millisecond();
            assert_eq!(millis_of_utc(text.as_bytes()), Some(expected), "{text}");
            let written = format!("\"{text}\"");
            if let Some(millis) = Text::new(&written).and_then(millis_as_printed) {
                assert_eq!((millis, iso_millis(millis)), (expected, text));
            }
        }
    }

    #[test]
    fn what_is_no_time_is_left_to_jiff() {
        for text in [
            "2025-02-29T00:00:00.000Z",
            "2100-02-29T00:00:00.000Z",
            "2025-13-01T00:00:00.000Z",
            "2025-00-01T00:00:00.000Z",
            "2025-04-31T00:00:00.000Z",
            "2025-04-00T00:00:00.000Z",
            "2025-04-01T24:00:00.000Z",
            "2025-04-01T23:59:60.000Z",
            "2025-04-01T23:60:00.000Z",
            "2025-04-01 23:00:00.000Z",
            "2025-04-01T23:00:00.00:Z",
            "2025-04-01T23:00:00.000z",
            "2025-04-01T23:00:00Z",
        ] {
            assert_eq!(millis_of_utc(text.as_bytes()), None, "{text}");
        }
        assert!(millis_of_utc(b"2000-02-29T00:00:00.000Z").is_some());
    }
}
