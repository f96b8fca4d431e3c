//! Spells a number in other ways.
//!
//! In: `1e3`. Out: `1000`, `1000.0`, `1E+3`. Values are compared as decimal numbers, without rounding: no spelling has
//! another value.

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
#[derive(Debug)]
pub(super) struct Decimal<'t> {
    sign: &'t str,
    /// The digits before the point and behind it, together without zeros at the start and the end; empty for 0. They
    /// are not joined: a number may be as long as its record.
    digits: [&'t str; 2],
    exponent: i64,
}

impl<'t> Decimal<'t> {
    /// Reads a number; `None` for one whose exponent is beyond the limits of a spelling.
    pub(super) fn parse(text: &'t str) -> Option<Self> {
        let (sign, unsigned) = text.split_at(usize::from(text.starts_with('-')));
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let exponent: i64 = exponent.parse().ok()?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let n_fraction = i64::try_from(fraction.len()).ok()?;
        let whole = whole.trim_start_matches('0');
        let fraction = if whole.is_empty() { fraction.trim_start_matches('0') } else { fraction };
        let significant = fraction.trim_end_matches('0');
        let digits = match significant {
            "" => [whole.trim_end_matches('0'), ""],
            _ => [whole, significant],
        };
        let n_zeros = whole.len() + fraction.len() - length_of(digits);
        let exponent =
            exponent.checked_sub(n_fraction)?.checked_add(i64::try_from(n_zeros).ok()?)?;
        let is_zero = length_of(digits) == 0;
        Some(Self { sign, digits, exponent: if is_zero { 0 } else { exponent } })
    }

    /// Returns the number in a manner; `None` if it is too long.
    pub(super) fn spelled(&self, manner: NumberManner) -> Option<String> {
        if length_of(self.digits) > MAX_DIGITS {
            return None;
        }
        let digits = self.digits.concat();
        match manner {
            NumberManner::Fixed(n_fraction) => self.fixed(&digits, n_fraction),
            NumberManner::Scientific { letter, has_point, has_plus, n_digits } => {
                let (first, rest) = digits.split_at_checked(1)?;
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

    fn fixed(&self, digits: &str, n_fraction: usize) -> Option<String> {
        let n_exponent = usize::try_from(self.exponent.unsigned_abs()).ok()?;
        if n_exponent > MAX_DIGITS {
            return None;
        }
        let (whole, fraction) = if self.exponent >= 0 {
            ([digits, &"0".repeat(n_exponent)].concat(), String::new())
        } else {
            let digits = format!("{digits:0>width$}", width = n_exponent + 1);
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

fn length_of(digits: [&str; 2]) -> usize {
    digits.iter().map(|part| part.len()).sum()
}

/// Calls `each` with the pieces of a JSON text with one spelling for all numbers of a value: `15e-1` for `1.50`, and `0e0`
/// for `-0.0`. The pieces of a text with too many numbers are the text.
pub(super) fn each_equal(text: &str, each: &mut dyn FnMut(&str)) {
    let mut at = 0;
    for Spot { range, .. } in numbers_of(text) {
        let number = text.get(range.clone()).and_then(Decimal::parse);
        let (Some(number), Some(before)) = (number, text.get(at..range.start)) else { continue };
        let Decimal { sign, digits: [whole, fraction], exponent } = number;
        each(before);
        match length_of(number.digits) {
            0 => each("0e0"),
            _ => {
                [sign, whole, fraction, "e", &exponent.to_string()].into_iter().for_each(&mut *each)
            }
        }
        at = range.end;
    }
    each(text.get(at..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_have_one_spelling() {
        let equal = |text: &str| {
            let mut equal = String::new();
            each_equal(text, &mut |piece| equal.push_str(piece));
            equal
        };
        for (one, other, is_equal) in [
            ("[1.50,0]", "[15e-1,-0.0]", true),
            (r#"{"a":1e3,"b":"1.0"}"#, r#"{"a":1000.0,"b":"1.0"}"#, true),
            ("12345678901234567890", "12345678901234567891", false),
            (r#"["1.0"]"#, r#"["1"]"#, false),
            ("-1", "1", false),
            ("[120.0,0.012]", "[12e1,0.0120]", true),
            ("[0.0]", "[00e7]", true),
            ("1020.30", "10203e-1", true),
            ("1e99999999999", "1e99999999998", false),
            ("[true]", "[true]", true),
        ] {
            assert_eq!(equal(one) == equal(other), is_equal, "{one}");
        }
    }

    /// The digits of a number that is as long as its record are slices of the text.
    #[test]
    fn a_long_number_is_not_copied() {
        for text in ["[-0.0012345]", "[12345.678900]", "[1234500]", "[12345e7]"] {
            let place = text.as_bytes().as_ptr_range();
            each_equal(text, &mut |piece| {
                // The exponent is made.
                assert!(piece.len() < 3 || place.contains(&piece.as_ptr()), "{text}: {piece}");
            });
        }
    }
}
