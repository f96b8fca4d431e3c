//! Finds the ends of numbers, and prints numbers as Python does: `1E-5` as `1e-05`.

/// The result of reading a number.
pub(crate) struct Number {
    /// The end of the number, or the offset of the first invalid byte.
    pub(crate) end: usize,
    pub(crate) is_invalid: bool,
    /// Whether it may exceed an f64: it has an exponent, or more than 17 characters.
    pub(crate) is_wide: bool,
}

/// Reads a number.
pub(crate) fn read_number(bytes: &[u8], start: usize) -> Number {
    let peek = |at: usize| bytes.get(at).copied().unwrap_or_default();
    let digits = |mut at: usize| {
        while peek(at).is_ascii_digit() {
            at += 1;
        }
        at
    };
    let mut number = Number { end: start, is_invalid: true, is_wide: false };
    number.end += usize::from(peek(start) == b'-');
    // Each part needs a digit. No digit may follow a leading zero.
    let first = number.end;
    number.end = if peek(first) == b'0' { first + 1 } else { digits(first) };
    if number.end == first {
        return number;
    }
    if peek(number.end) == b'.' {
        let first = number.end + 1;
        number.end = digits(first);
        if number.end == first {
            return number;
        }
    }
    if let b'e' | b'E' = peek(number.end) {
        number.is_wide = true;
        number.end += 1;
        number.end += usize::from(matches!(peek(number.end), b'+' | b'-'));
        let first = number.end;
        number.end = digits(first);
        if number.end == first {
            return number;
        }
    }
    number.is_wide |= number.end - start > 17;
    number.is_invalid = false;
    number
}

/// Appends a number as JavaScript prints it after reading: `1.50E2` as `150`. A number beyond a
/// double is `null`, as `JSON.stringify` prints infinity.
pub(crate) fn push_javascript_number(out: &mut Vec<u8>, written: &str) {
    // Up to 15 digits are exact.
    let is_short = written.len() <= 15 && written.bytes().all(|byte| byte.is_ascii_digit());
    let number = written.parse::<f64>().unwrap_or(f64::INFINITY);
    if is_short || number == 0.0 {
        out.extend_from_slice(if is_short { written } else { "0" }.as_bytes());
        return;
    }
    if number.is_infinite() {
        out.extend_from_slice(b"null");
        return;
    }
    // Rust and JavaScript agree on the shortest digits and differ in the position of the point.
    let scientific = format!("{:e}", number.abs());
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits: String = digits.chars().filter(|char| *char != '.').collect();
    let point = exponent.parse::<i32>().unwrap_or_default() + 1;
    let n_digits = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    if number < 0.0 {
        out.push(b'-');
    }
    let zeros = |n: i32| "0".repeat(usize::try_from(n).unwrap_or_default());
    let (before, after) = digits.split_at_checked(point.max(0) as usize).unwrap_or((&digits, ""));
    let text = match point {
        22.. | ..=-6 => {
            let (first, rest) = digits.split_at_checked(1).unwrap_or((&digits, ""));
            let dot = if rest.is_empty() { "" } else { "." };
            let sign = if point > 0 { "+" } else { "" };
            format!("{first}{dot}{rest}e{sign}{}", point - 1)
        }
        1.. if n_digits <= point => digits.clone() + &zeros(point - n_digits),
        1.. => format!("{before}.{after}"),
        _ => format!("0.{}{digits}", zeros(-point)),
    };
    out.extend_from_slice(text.as_bytes());
}

/// Appends a number as Python's `json` module prints it after reading.
pub(crate) fn push_python_number(out: &mut Vec<u8>, written: &str) {
    let is_integer = !written.contains(['.', 'e', 'E']);
    if is_integer {
        out.extend_from_slice(if written == "-0" { "0" } else { written }.as_bytes());
        return;
    }
    let Ok(number) = written.parse::<f64>() else {
        out.extend_from_slice(written.as_bytes());
        return;
    };
    if number.is_infinite() {
        // Python prints `Infinity`, which is not JSON. The number as written is, and Python reads
        // it as the same value.
        out.extend_from_slice(written.as_bytes());
        return;
    }
    // Rust and Python agree on the shortest digits and differ in the position of the point.
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let text = if (-4..16).contains(&exponent) {
        format!("{number:?}")
    } else {
        format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
    };
    let text = if text.contains(['e', '.']) { text } else { text + ".0" };
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn python(written: &str) -> String {
        let mut out = Vec::new();
        push_python_number(&mut out, written);
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    fn numbers_as_javascript_prints_them() {
        let cases = [
            ("0", "0"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("1.0", "1"),
            ("1e21", "1e+21"),
            ("123456789012345678901234567890", "1.2345678901234568e+29"),
            ("1e20", "100000000000000000000"),
            ("12345678901234567890", "12345678901234567000"),
            ("-1.50e2", "-150"),
            ("12.5", "12.5"),
            ("0.000001", "0.000001"),
            ("0.0000001", "1e-7"),
            ("1.25e-7", "1.25e-7"),
            ("0.1", "0.1"),
            ("5e-324", "5e-324"),
            ("1e400", "null"),
            ("9007199254740993", "9007199254740992"),
        ];
        for (written, expected) in cases {
            let mut out = Vec::new();
            push_javascript_number(&mut out, written);
            assert_eq!(std::str::from_utf8(&out), Ok(expected), "{written}");
        }
    }

    #[test]
    fn numbers_as_python_prints_them() {
        let cases = [
            ("1e-5", "1e-05"),
            ("0.00001", "1e-05"),
            ("0.0001", "0.0001"),
            ("1E5", "100000.0"),
            ("1e16", "1e+16"),
            ("1e15", "1000000000000000.0"),
            ("1.50", "1.5"),
            ("-0.0", "-0.0"),
            ("-0", "0"),
            ("1e400", "1e400"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
            ("0.025106700000000003", "0.025106700000000003"),
            ("5e-324", "5e-324"),
            ("0e0", "0.0"),
            ("123456789.123e5", "12345678912300.0"),
        ];
        for (written, expected) in cases {
            assert_eq!(python(written), expected, "{written}");
        }
    }
}
