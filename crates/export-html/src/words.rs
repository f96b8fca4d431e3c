//! Prints numbers, times and long texts for people.
//!
//! In: 1234567, 184000 milliseconds. Out: `1.2 M`, `3 min 04 s`.

use core_model::iso_millis;

use crate::html::Html;

/// Number of lines of a long text that are visible at first.
const MAX_LINES: usize = 40;

/// Number of bytes of a long text that are visible at first.
const MAX_BYTES: usize = 6_000;

/// Limit in bytes for a text on the page. Browsers are slow with longer ones.
const MAX_SHOWN: usize = 1024 * 1024;

/// Limit in characters for the visible start of a folded text.
pub(crate) const MAX_PEEK: usize = 120;

/// Appends a text as written. The rest of a long text opens on demand. A text beyond the limit is
/// cut, and a note says so.
pub(crate) fn push_long(html: &mut Html, text: &str) {
    push_long_by(html, text, &mut |html, text| _ = html.text(text));
}

/// Appends a text whose parts `push` writes, as [`push_long`] does.
pub(crate) fn push_long_by(html: &mut Html, text: &str, push: &mut dyn FnMut(&mut Html, &str)) {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let (text, unshown) = text.split_at(text.floor_char_boundary(MAX_SHOWN));
    push_whole(html, text, push);
    if !unshown.is_empty() {
        html.markup("<p class=\"quiet\">").text(&grouped(unshown.len() as u64));
        html.markup(" more bytes stand in the session, and not on this page</p>");
    }
}

fn push_whole(html: &mut Html, text: &str, push: &mut dyn FnMut(&mut Html, &str)) {
    let (shown, rest) = cut(text);
    push(html.markup("<pre dir=\"auto\">"), shown);
    html.markup("</pre>");
    if rest.is_empty() {
        return;
    }
    html.markup("<details class=\"rest\"><summary>Show all: ");
    match rest.lines().count() {
        1 => html.show(grouped(rest.chars().count() as u64)).markup(" more characters"),
        n_lines => html.show(grouped(n_lines as u64)).markup(" more lines"),
    };
    push(html.markup("</summary><pre dir=\"auto\">"), rest);
    html.markup("</pre></details>");
}

/// Splits a text after its first lines. A text that is only a little longer is not split.
fn cut(text: &str) -> (&str, &str) {
    let is_short = text.len() <= MAX_BYTES * 3 / 2;
    if is_short && text.lines().take(MAX_LINES * 3 / 2).count() < MAX_LINES * 3 / 2 {
        return (text, "");
    }
    let head = text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or(text);
    let newlines = head.match_indices('\n').map(|(at, _)| at);
    match newlines.take(MAX_LINES).last() {
        Some(at) => (text.get(..at).unwrap_or(text), text.get(at + 1..).unwrap_or_default()),
        None => text.split_at(head.len()),
    }
}

/// Returns the first line of a text that is not blank, cut to `max` characters.
pub(crate) fn first_line(text: &str, max: usize) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut cut: String = line.chars().take(max).collect();
    if line.chars().nth(max).is_some() {
        cut.push('…');
    }
    cut
}

/// Returns a number with its digits in groups: `12,345`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Returns a count with its noun: `1 error`, `1,204 errors`.
pub(crate) fn counted(number: u64, one: &str, several: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { several })
}

/// Returns a number with about three digits: `950`, `12.3 k`, `1.2 M`.
pub(crate) fn rounded(number: u64) -> String {
    let (unit, name) = match number {
        ..1_000 => return number.to_string(),
        1_000..1_000_000 => (1e3, "k"),
        1_000_000..1_000_000_000 => (1e6, "M"),
        _ => (1e9, "G"),
    };
    let value = number as f64 / unit;
    if value < 100.0 { format!("{value:.1} {name}") } else { format!("{value:.0} {name}") }
}

/// Returns a time span: `0.4 s`, `12 s`, `3 min 04 s`, `2 h 05 min`, `3 d 4 h`.
pub(crate) fn lasting(millis: i64) -> String {
    let seconds = millis.max(0) / 1000;
    match seconds {
        ..10 => format!("{:.1} s", millis.max(0) as f64 / 1000.0),
        10..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3600 % 24),
    }
}

/// Returns a cost in US dollars.
pub(crate) fn dollars(cost: f64) -> String {
    if cost < 0.1 { format!("${cost:.4}") } else { format!("${cost:.2}") }
}

/// Appends a time relative to the start of the session, with the absolute time as its title.
pub(crate) fn push_time(html: &mut Html, time: i64, start: i64) {
    let passed = time.saturating_sub(start);
    let (sign, passed) = if passed < 0 { ("−", passed.saturating_neg()) } else { ("+", passed) };
    let seconds = passed / 1000;
    html.markup("<time datetime=\"").text(&iso_millis(time)).markup("\" title=\"");
    html.text(&day_and_time(time)).markup("\">").text(sign);
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match seconds {
        ..3_600 => html.show(format_args!("{minutes}:{:02}", seconds % 60)),
        3_600..86_400 => html.show(format_args!("{hours}:{minutes:02}:{:02}", seconds % 60)),
        _ => html.show(format_args!("{days} d {hours:02}:{minutes:02}")),
    };
    html.markup("</time>");
}

/// Returns `2026-01-31 09:05:07 UTC`.
pub(crate) fn day_and_time(time: i64) -> String {
    let time = iso_millis(time);
    let to_the_second = time.get(..19).unwrap_or_default();
    format!("{} UTC", to_the_second.replace('T', " "))
}

/// Returns `2026-01-31 09:05 UTC`.
pub(crate) fn day_and_minute(time: i64) -> String {
    let time = day_and_time(time);
    format!("{} UTC", time.get(..16).unwrap_or_default())
}

/// Returns a number of errors, and how many of them are of the API.
pub(crate) fn errors(errors: core_model::Errors) -> String {
    match errors.n_api {
        0 => grouped(errors.n_tool),
        n_api => format!("{} ({} of the API)", grouped(errors.total()), grouped(n_api)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times() {
        assert_eq!(["0", "999", "1,000", "1,234,567"], [0, 999, 1000, 1234567].map(grouped)[..]);
        assert_eq!(
            ["999", "1.0 k", "12.3 k", "456 k", "1.2 M"],
            [999, 1000, 12_345, 456_000, 1_234_567].map(rounded)[..]
        );
        assert_eq!(
            ["0.4 s", "12 s", "3 min 04 s", "2 h 05 min", "3 d 4 h"],
            [400, 12_900, 184_000, 7_500_000, 273_600_000].map(lasting)[..]
        );
        assert_eq!((dollars(0.01234), dollars(12.345)), ("$0.0123".into(), "$12.35".into()));
        assert_eq!(day_and_time(1766658600007), "2025-12-25 10:30:00 UTC");
        assert_eq!(day_and_minute(1766658600007), "2025-12-25 10:30 UTC");
    }

    #[test]
    fn times_relative_to_the_start() {
        let relative = |time| {
            let mut html = Html::default();
            push_time(&mut html, time, 1_000_000);
            html.as_str().to_owned()
        };
        assert!(relative(1_065_000).ends_with(">+1:05</time>"));
        assert!(relative(1_000_000 + 3_725_000).ends_with(">+1:02:05</time>"));
        assert!(relative(1_000_000 + 187_503_000).ends_with(">+2 d 04:05</time>"));
        assert!(relative(990_000).ends_with(">−0:10</time>"));
        assert!(relative(i64::MIN).ends_with("</time>"));
    }

    #[test]
    fn a_text_that_no_page_bears_is_cut_and_says_so() {
        let length = |n_bytes: usize| {
            let mut html = Html::default();
            push_long(&mut html, &"a".repeat(n_bytes));
            (html.len(), html.as_str().ends_with("<p class=\"quiet\">5 more bytes stand in the session, and not on this page</p>"))
        };
        let (whole, says_so) = length(MAX_SHOWN);
        assert!(whole < MAX_SHOWN + 1_000 && !says_so);
        assert!(length(MAX_SHOWN + 5).1);
    }

    #[test]
    fn a_cut_loses_nothing() {
        let many_lines: String = (0..500).map(|n| format!("line {n}\n")).collect();
        let one_line = "é".repeat(20_000);
        let few_lines = format!("{}\n{}", "a".repeat(5_000), "b".repeat(5_000));
        for text in [&many_lines, &one_line, &few_lines] {
            let (shown, rest) = cut(text);
            assert!(!rest.is_empty() && shown.len() <= MAX_BYTES, "{}", shown.len());
            let between = if text.contains('\n') { "\n" } else { "" };
            assert_eq!(&format!("{shown}{between}{rest}"), text);
        }
        assert_eq!(cut("short\ntext"), ("short\ntext", ""));
        assert_eq!(first_line("\n  a title\nmore", 5), "a tit…");
    }
}
