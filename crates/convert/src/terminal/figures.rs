//! Formats and parses numbers.
//!
//! In: 1234567. Out: `1,234,567`, or as a size `1.23 MB`.

/// Returns a number with commas between groups of three digits.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (digit_idx, digit) in digits.chars().enumerate() {
        if digit_idx > 0 && (digits.len() - digit_idx).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Returns a number of bytes in the decimal unit that fits, with three digits.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut size = bytes as f64 / 1000.0;
    let mut unit_idx = 0;
    // A number that would be rounded to 1000 gets the next unit.
    while size >= 999.5 && unit_idx + 1 < UNITS.len() {
        size /= 1000.0;
        unit_idx += 1;
    }
    let n_decimals = if size < 9.995 { 2 } else { usize::from(size < 99.95) };
    format!("{size:.n_decimals$} {}", UNITS[unit_idx])
}

/// Parses a number of bytes, such as `1000`, `64MiB` or `2 GB`.
///
/// # Errors
///
/// Returns a message for the user if the text is not a size.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let end = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => Some(1_u64),
        "k" | "kb" => Some(1000),
        "m" | "mb" => Some(1_000_000),
        "g" | "gb" => Some(1_000_000_000),
        "kib" => Some(1 << 10),
        "mib" => Some(1 << 20),
        "gib" => Some(1 << 30),
        _ => None,
    };
    let number = number.parse::<u64>().ok();
    let size = number.zip(unit).and_then(|(number, unit)| number.checked_mul(unit));
    size.ok_or_else(|| "a number of bytes such as 1000, 64MiB or 2GB is expected".to_owned())
}

/// Returns a number of seconds as its two largest units, such as `1 h 5 min`.
pub(crate) fn duration(seconds: u64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min {} s", seconds % 60),
        (0, _, _) => format!("{hours} h {} min", minutes % 60),
        _ => format!("{days} d {} h", hours % 24),
    }
}

/// Returns a number of milliseconds as seconds with a decimal, or from a minute on as [`duration`]
/// does.
pub(crate) fn short_duration(millis: u64) -> String {
    match millis {
        ..60_000 => format!("{}.{} s", millis / 1000, millis % 1000 / 100),
        _ => duration(millis / 1000),
    }
}

/// Parses a duration, such as `500ms`, `10s`, `2min` or `1h`, as milliseconds.
///
/// # Errors
///
/// Returns a message for the user if the text is not a duration.
pub(crate) fn parse_duration(text: &str) -> Result<i64, String> {
    let end = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = match unit.trim() {
        "ms" => Some(1_i64),
        "s" => Some(1000),
        "m" | "min" => Some(60_000),
        "h" => Some(3_600_000),
        _ => None,
    };
    let number = number.parse::<i64>().ok();
    let millis = number.zip(unit).and_then(|(number, unit)| number.checked_mul(unit));
    millis.ok_or_else(|| "a duration such as 500ms, 10s, 2min or 1h is expected".to_owned())
}

/// Returns a number, grouped, with the noun for what it counts.
pub(crate) fn count(number: u64, one: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {one}{plural}", grouped(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        let durations = ["500ms", "10s", "2 min", "3m", "1h", "10", "s", "-1s", ""];
        let parsed = durations.map(|text| parse_duration(text).ok());
        let millis = [500, 10_000, 120_000, 180_000, 3_600_000].map(Some);
        assert_eq!(parsed[..5], millis);
        assert_eq!(parsed[5..], [None; 4]);
        let shown = [0, 1590, 59_999, 65_000].map(short_duration);
        assert_eq!(shown, ["0.0 s", "1.5 s", "59.9 s", "1 min 5 s"]);
    }

    #[test]
    fn sizes_are_read_in_any_unit() {
        let sizes = ["0", "1000", "64MiB", "2 GB", "1k", "x", "", "1 TB", "-1", "99999999999 GiB"];
        let expected = [Some(0), Some(1000), Some(67_108_864), Some(2_000_000_000), Some(1000)];
        let read = sizes.map(|size| parse_size(size).ok());
        assert_eq!(read[..5], expected);
        assert_eq!(read[5..], [None; 5]);
    }

    #[test]
    fn numbers_are_short_and_grouped() {
        let numbers = [0, 999, 1000, 1_234_567, u64::MAX].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "1,234,567", "18,446,744,073,709,551,615"]);
        let sizes = [0, 999, 1000, 9_994, 9_996, 99_951, 999_499, 999_500, u64::MAX].map(size);
        assert_eq!(
            sizes,
            [
                "0 B", "999 B", "1.00 kB", "9.99 kB", "10.0 kB", "100 kB", "999 kB", "1.00 MB",
                "18.4 EB"
            ]
        );
        let durations = [0, 59, 60, 3661, 90_000].map(duration);
        assert_eq!(durations, ["0 s", "59 s", "1 min 0 s", "1 h 1 min", "1 d 1 h"]);
        assert_eq!([1, 2000].map(|n| count(n, "file")), ["1 file", "2,000 files"]);
    }
}
