//! Prints the sums of groups as a table or as JSON.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::group::{By, Groups, UsageSum};
use crate::{
    object::Object,
    terminal::{Terminal, escape::escape_for_terminal, figures::grouped, table},
};

/// The headings after the names of the groups.
const HEAD: [&str; 6] = ["RESPONSES", "INPUT", "OUTPUT", "CACHE WRITE", "CACHE READ", "COST"];

/// Shorter headings for narrow terminals.
const SHORT_HEAD: [&str; 6] = ["RESP.", "INPUT", "OUTPUT", "CACHE W", "CACHE R", "COST"];

/// The columns that a name keeps on a narrow terminal.
const MIN_NAME: usize = 10;

/// Prints the groups and their total.
pub(super) fn groups(
    groups: &Groups,
    by: &[By],
    is_json: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    if is_json {
        for (names, sum) in &groups.all {
            let mut object = Object::new();
            for (by, name) in by.iter().zip(names) {
                object.string(by.name(), name);
            }
            out.write_all(&add(object, sum).line())?;
        }
        let mut total = Object::new();
        total.plain("total", true);
        out.write_all(&add(total, &groups.total).line())?;
        return Ok(());
    }
    let terminal = Terminal::of_stdout();
    let width = terminal.is_terminal.then_some(terminal.columns);
    let mut rows = rows(groups, by, HEAD, &grouped);
    if width.is_some_and(|columns| width_of(&rows) > columns) {
        rows = self::rows(groups, by, SHORT_HEAD, &short);
    }
    if let Some(columns) = width {
        narrow(&mut rows, by.len(), columns);
    }
    table::print(&rows, &|column_idx| column_idx < by.len(), width, out)
}

fn add(mut object: Object, sum: &UsageSum) -> Object {
    let tokens = &sum.tokens;
    object.plain("responses", sum.n_responses);
    object.plain("input_tokens", tokens.input).plain("output_tokens", tokens.output);
    object.plain("cache_write_tokens", tokens.cache_creation);
    object.plain("cache_read_tokens", tokens.cache_read);
    object.plain("cost_usd", rounded(sum.cost)).plain("cost_in_logs_usd", rounded(sum.stated));
    object.plain("responses_without_price", sum.n_unpriced);
    object
}

/// Rounds a sum, which removes the error that floats add to it.
fn rounded(cost: f64) -> f64 {
    (cost * 1e9).round() / 1e9
}

fn rows(
    groups: &Groups,
    by: &[By],
    head: [&str; 6],
    number: &dyn Fn(u64) -> String,
) -> Vec<Vec<String>> {
    let names = by.iter().map(|by| by.name().to_uppercase());
    let mut rows: Vec<Vec<String>> = vec![names.chain(head.map(str::to_owned)).collect()];
    let cells = |sum: &UsageSum| {
        let tokens = &sum.tokens;
        let more = if sum.n_unpriced > 0 { "+" } else { "" };
        [
            number(sum.n_responses),
            number(tokens.input),
            number(tokens.output),
            number(tokens.cache_creation),
            number(tokens.cache_read),
            format!("${}{more}", dollars(sum.cost)),
        ]
    };
    for (names, sum) in &groups.all {
        let names = by.iter().zip(names).map(|(_, name)| escape_for_terminal(name));
        rows.push(names.chain(cells(sum)).collect());
    }
    let names = (0..by.len()).map(|idx| if idx == 0 { "total".to_owned() } else { String::new() });
    rows.push(names.chain(cells(&groups.total)).collect());
    rows
}

/// Returns an amount with cents.
fn dollars(cost: f64) -> String {
    let cents = (cost * 100.0).round().max(0.0) as u64;
    format!("{}.{:02}", grouped(cents / 100), cents % 100)
}

/// Returns a number with three digits and a unit.
fn short(number: u64) -> String {
    const UNITS: [(u64, &str); 4] =
        [(1_000_000_000_000, "T"), (1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")];
    for (unit, name) in UNITS {
        if number >= unit {
            let value = number as f64 / unit as f64;
            let n_decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
            return format!("{value:.n_decimals$}{name}");
        }
    }
    number.to_string()
}

fn width_of(rows: &[Vec<String>]) -> usize {
    widths(rows).iter().map(|width| width + 2).sum::<usize>().saturating_sub(2)
}

fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    widths
}

/// Cuts the names of groups at their beginning, the longest ones first, until the rows fit.
fn narrow(rows: &mut [Vec<String>], n_names: usize, columns: usize) {
    loop {
        let too_wide = width_of(rows).saturating_sub(columns);
        let widths = widths(rows);
        let longest = widths.iter().take(n_names).enumerate().max_by_key(|(_, width)| **width);
        let Some((name_idx, width)) = longest.filter(|(_, width)| **width > MIN_NAME) else {
            return;
        };
        if too_wide == 0 {
            return;
        }
        let names = || widths.iter().take(n_names);
        let next = names().filter(|other| *other < width).max();
        // Names of equal width give up as much each.
        let n_equal = names().filter(|other| *other == width).count().max(1);
        let wanted = width.saturating_sub(too_wide.div_ceil(n_equal));
        let wanted = wanted.max(next.copied().unwrap_or(0)).max(MIN_NAME);
        let wanted = wanted.min(width.saturating_sub(1));
        for name in rows.iter_mut().filter_map(|row| row.get_mut(name_idx)) {
            cut_start(name, wanted);
        }
    }
}

/// Cuts a text at its start: the last folders of a path and the day of a model are at the end.
fn cut_start(text: &mut String, columns: usize) {
    if text.width() <= columns {
        return;
    }
    let mut rest = text.as_str();
    while rest.width() >= columns {
        let mut chars = rest.chars();
        if chars.next().is_none() {
            break;
        }
        rest = chars.as_str();
    }
    *text = format!("…{rest}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_until_the_rows_fit() {
        let row =
            |name: &str, model: &str| vec![name.to_owned(), model.to_owned(), "12".to_owned()];
        let mut rows =
            vec![row("/home/ada/projects/pages", "claude-opus-4-5-20251101"), row("x", "m")];
        narrow(&mut rows, 2, 40);
        assert!(width_of(&rows) <= 40, "{rows:?}");
        assert!(rows[0][0].ends_with("pages") && rows[0][0].starts_with('…'), "{rows:?}");
        assert_eq!(rows[1], row("x", "m"));
        narrow(&mut rows, 2, 5);
        assert!(width_of(&rows) <= 26, "{rows:?}");
    }

    #[test]
    fn numbers_are_short_on_narrow_terminals() {
        let numbers = [0, 999, 1_000, 12_345, 999_999, 1_648_777_531].map(short);
        assert_eq!(numbers, ["0", "999", "1.00k", "12.3k", "1000k", "1.65G"]);
        assert_eq!([0.0, 0.004, 0.005, 1234.5].map(dollars), ["0.00", "0.00", "0.01", "1,234.50"]);
    }
}
