//! Spells a number in other ways.
//!
//! In: `1e3`. Out: `1000`, `1000.0`, `1E+3`. Values are compared as decimal numbers, without rounding: no spelling has
//! another value.

use std::borrow::Cow;

use super::spots::{Spot, numbers_of};

/// Limit on the digits of a spelling.
const MAX_DIGITS: usize = 64;

/// A way to spell a number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum NumberManner {
    /// Without an exponent, with at least this number of digits behind the point.
    Fixed(usize),
    /// With an exponent.
    Scientific {
        letter: char,
        /// Whether the mantissa has a point in any case: `1.0e3`.
        has_point: bool,
        has_plus: bool,
        /// The digits of the exponent, at least.
        n_digits: usize,
    },
}

const fn scientific(
    letter: char,
    has_point: bool,
    has_plus: bool,
    n_digits: usize,
) -> NumberManner {
    NumberManner::Scientific { letter, has_point, has_plus, n_digits }
}

/// The manners, the most frequent first.
pub(super) const NUMBER_MANNERS: [NumberManner; 19] = [
    NumberManner::Fixed(1),
    NumberManner::Fixed(0),
    // As Python prints very small and very large numbers, as JavaScript does, and as people write them.
    scientific('e', false, true, 2),
    scientific('e', false, true, 1),
    scientific('e', false, false, 1),
    scientific('e', false, false, 2),
    scientific('E', false, false, 1),
    scientific('E', false, true, 1),
    scientific('E', false, false, 2),
    scientific('E', false, true, 2),
    scientific('e', true, false, 1),
    scientific('e', true, true, 1),
    scientific('e', true, true, 2),
    scientific('E', true, false, 1),
    scientific('E', true, true, 2),
    NumberManner::Fixed(2),
    NumberManner::Fixed(3),
    NumberManner::Fixed(4),
    NumberManner::Fixed(6),
];

/// The number of manners that are tried for several numbers at the same time.
pub(super) const N_FREQUENT: usize = 5;

/// A decimal number: an integer, and the exponent of ten.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Decimal<'t> {
    sign: &'t str,
    /// Without zeros at the start and the end; empty for 0.
    digits: String,
    exponent: i64,
}

impl<'t> Decimal<'t> {
    /// Reads a number; `None` for one whose exponent is beyond the limits of a spelling.
    pub(super) fn parse(text: &'t str) -> Option<Self> {
        let (sign, unsigned) = text.split_at(usize::from(text.starts_with('-')));
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let exponent: i64 = exponent.parse().ok()?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = [whole, fraction].concat();
        let digits = digits.trim_start_matches('0');
        let significant = digits.trim_end_matches('0');
        let n_zeros = i64::try_from(digits.len() - significant.len()).ok()?;
        let n_fraction = i64::try_from(fraction.len()).ok()?;
        let exponent = exponent.checked_sub(n_fraction)?.checked_add(n_zeros)?;
        let is_zero = significant.is_empty();
        let exponent = if is_zero { 0 } else { exponent };
        Some(Self { sign, digits: significant.to_owned(), exponent })
    }

    /// Returns the number in a manner; `None` if it is too long.
    pub(super) fn spelled(&self, manner: NumberManner) -> Option<String> {
        if self.digits.len() > MAX_DIGITS {
            return None;
        }
        match manner {
            NumberManner::Fixed(n_fraction) => self.fixed(n_fraction),
            NumberManner::Scientific { letter, has_point, has_plus, n_digits } => {
                let (first, rest) = self.digits.split_at_checked(1)?;
                let power = self.exponent.checked_add(i64::try_from(rest.len()).ok()?)?;
                let rest = if rest.is_empty() && has_point { "0" } else { rest };
                let point = if rest.is_empty() { "" } else { "." };
                let plus = match power {
                    ..0 => "-",
                    _ if has_plus => "+",
                    _ => "",
                };
                let power = power.unsigned_abs();
                Some(format!("{}{first}{point}{rest}{letter}{plus}{power:0n_digits$}", self.sign))
            }
        }
    }

    fn fixed(&self, n_fraction: usize) -> Option<String> {
        let n_exponent = usize::try_from(self.exponent.unsigned_abs()).ok()?;
        if n_exponent > MAX_DIGITS {
            return None;
        }
        let (whole, fraction) = if self.exponent >= 0 {
            ([&*self.digits, &"0".repeat(n_exponent)].concat(), String::new())
        } else {
            let digits = format!("{:0>width$}", self.digits, width = n_exponent + 1);
            let (whole, fraction) = digits.split_at_checked(digits.len() - n_exponent)?;
            (whole.to_owned(), fraction.to_owned())
        };
        let whole = if whole.is_empty() { "0" } else { &*whole };
        let sign = self.sign;
        match n_fraction.max(fraction.len()) {
            0 => Some(format!("{sign}{whole}")),
            n_fraction => Some(format!("{sign}{whole}.{fraction:0<n_fraction$}")),
        }
    }
}

/// Returns a JSON text with one spelling for all numbers of a value: `15e-1` for `1.50`, and `0e0` for `-0.0`. A text with
/// too many numbers is returned as it is.
pub(super) fn with_equal_numbers(text: &str) -> Cow<'_, str> {
    let (mut equal, mut at) = (String::new(), 0);
    for Spot { range, .. } in numbers_of(text) {
        let number = text.get(range.clone()).and_then(Decimal::parse);
        let (Some(number), Some(before)) = (number, text.get(at..range.start)) else { continue };
        let Decimal { sign, digits, exponent } = &number;
        equal.push_str(before);
        match digits.is_empty() {
            true => equal.push_str("0e0"),
            false => equal.extend([*sign, digits.as_str(), "e", &exponent.to_string()]),
        }
        at = range.end;
    }
    match at {
        0 => text.into(),
        _ => (equal + text.get(at..).unwrap_or_default()).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_have_one_spelling() {
        for (one, other, is_equal) in [
            ("[1.50,0]", "[15e-1,-0.0]", true),
            (r#"{"a":1e3,"b":"1.0"}"#, r#"{"a":1000.0,"b":"1.0"}"#, true),
            ("12345678901234567890", "12345678901234567891", false),
            (r#"["1.0"]"#, r#"["1"]"#, false),
            ("-1", "1", false),
            ("1e99999999999", "1e99999999998", false),
            ("[true]", "[true]", true),
        ] {
            assert_eq!(with_equal_numbers(one) == with_equal_numbers(other), is_equal, "{one}");
        }
    }
}
