//! Recognizes times as Python's `datetime.fromisoformat` does.
//!
//! In: `2026-01-02T03:04:05Z`. Out: true. `yesterday` is no time.

/// Returns whether Python reads a text as a time.
pub(super) fn is_time(text: &str) -> bool {
    let text = text.replace('Z', "+00:00");
    let bytes = text.as_bytes();
    let Some(n) = date_len(bytes) else { return false };
    match bytes.get(n..) {
        None | Some([]) => true,
        // Any character separates the date from the time.
        Some(_) => {
            let mut rest = text.get(n..).unwrap_or_default().chars();
            rest.next();
            is_clock(rest.as_str().as_bytes())
        }
    }
}

fn number(digits: &[u8]) -> Option<u32> {
    let is_number = !digits.is_empty() && digits.iter().all(|byte| byte.is_ascii_digit());
    std::str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok()
}

/// Returns the length of the date at the start: `2026-01-02`, `20260102`, `2026-W01-5`.
fn date_len(text: &[u8]) -> Option<usize> {
    let year = number(text.get(..4)?).filter(|year| *year > 0)?;
    let has_hyphen = text.get(4) == Some(&b'-');
    let rest = text.get(if has_hyphen { 5 } else { 4 }..)?;
    if rest.first() == Some(&b'W') {
        number(rest.get(1..3)?).filter(|week| (1..=53).contains(week))?;
        let day_at = if has_hyphen { 4 } else { 3 };
        return match (number(rest.get(day_at..=day_at)?), has_hyphen) {
            (Some(1..=7), true) => Some(10),
            (Some(1..=7), false) => Some(8),
            (Some(_), _) => None,
            (None, true) => Some(8),
            (None, false) => Some(7),
        };
    }
    let month = number(rest.get(..2)?)?;
    if has_hyphen && text.get(7) != Some(&b'-') {
        return None;
    }
    let day = number(text.get(if has_hyphen { 8..10 } else { 6..8 })?)?;
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let n_days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    (1..=n_days).contains(&day).then_some(if has_hyphen { 10 } else { 8 })
}

/// Returns whether a text is a time of day, with or without an offset.
fn is_clock(text: &[u8]) -> bool {
    let at = text.iter().position(|byte| matches!(byte, b'+' | b'-'));
    let (clock, offset) = match at.and_then(|at| text.split_at_checked(at)) {
        Some((clock, offset)) => (clock, Some(offset)),
        None => (text, None),
    };
    let is_offset = |offset: &[u8]| offset.get(1..).is_some_and(is_of_day);
    is_of_day(clock) && offset.is_none_or(is_offset)
}

/// Recognizes `HH[:MM[:SS[.fff]]]`, with or without colons.
fn is_of_day(text: &[u8]) -> bool {
    let at = text.iter().position(|byte| matches!(byte, b'.' | b','));
    let (whole, fraction) = match at.and_then(|at| text.split_at_checked(at)) {
        Some((whole, fraction)) => (whole, fraction.get(1..)),
        None => (text, None),
    };
    let fields: Vec<&[u8]> = match whole.contains(&b':') {
        true => whole.split(|byte| *byte == b':').collect(),
        false => whole.chunks(2).collect(),
    };
    let limits = [23, 59, 59];
    let fits = |(field, limit): (&&[u8], u32)| {
        field.len() == 2 && number(field).is_some_and(|value| value <= limit)
    };
    let is_whole = (1..=3).contains(&fields.len()) && fields.iter().zip(limits).all(fits);
    is_whole
        && fraction.is_none_or(|digits| {
            let is_digit = |byte: &u8| byte.is_ascii_digit();
            fields.len() == 3 && !digits.is_empty() && digits.iter().all(is_digit)
        })
}
