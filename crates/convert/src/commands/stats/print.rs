//! Prints counts as text.

use std::io::{self, Write};

use super::numbers::Numbers;
use crate::terminal::{
    escape::escape_for_terminal,
    figures::{count, duration, grouped, size},
    table,
};

/// The columns that a path has on a narrow terminal.
const MIN_PATH: usize = 12;

/// Limit on the printed rows of a table; further ones are counted.
const MAX_ROWS: usize = 20;

/// Prints the overview. For several sessions, it has their number instead of an id.
pub(super) fn overview(numbers: &Numbers, out: &mut dyn Write) -> io::Result<()> {
    let text = numbers.overview.to_string();
    let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
    match numbers.n_sessions {
        1 => writeln!(out, "{}", escape_for_terminal(first))?,
        n_sessions => {
            let sessions = count(n_sessions, "session");
            writeln!(out, "{sessions} ({})", count(numbers.overview.n_events, "event"))?;
        }
    }
    for line in rest.lines() {
        let several = numbers.n_sessions > 1 && line.starts_with("- Duration: ");
        let runs = numbers.overview.run_millis.and_then(|millis| i64::try_from(millis).ok());
        let millis = numbers.durations[0].max(runs);
        match millis.filter(|_| several) {
            Some(millis) => writeln!(out, "- Duration: {}", duration(seconds(millis)))?,
            None => writeln!(out, "{}", escape_for_terminal(line))?,
        }
    }
    Ok(())
}

/// The columns of a table of files behind its paths.
const FILE_NUMBERS: usize = 30;

/// Prints the details, as tables. Paths are cut if a number of columns is given.
pub(super) fn details(
    numbers: &Numbers,
    columns: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let files = count(numbers.n_files, "file");
    let formats: Vec<&str> = numbers.formats.keys().copied().collect();
    write!(out, "\n{files}, {}, {}", size(numbers.n_bytes), formats.join(", "))?;
    if numbers.n_bad_lines > 0 {
        write!(out, ", {} that cannot be read", count(numbers.n_bad_lines, "line"))?;
    }
    if numbers.n_compactions > 0 {
        write!(out, ", {}", count(numbers.n_compactions, "compaction"))?;
    }
    out.write_all(b"\n")?;

    let durations = ["earliest to latest", "first to last time", "first to last line"];
    let rows = durations.iter().zip(numbers.durations).map(|(rule, millis)| {
        let sign = if millis.is_some_and(|millis| millis < 0) { "-" } else { "" };
        let told = millis.map(|millis| format!("{sign}{}", duration(seconds(millis))));
        [(*rule).to_owned(), told.unwrap_or_else(|| "unknown".to_owned())]
    });
    let mut rows: Vec<_> = rows.collect();
    if let Some(millis) = numbers.overview.run_millis {
        rows.push(["runs, as stated".to_owned(), duration(millis / 1000)]);
    }
    table(["Duration", ""], rows, out)?;

    let rows =
        numbers.types.iter().map(|(kind, n_lines)| [escape_for_terminal(kind), grouped(*n_lines)]);
    table(["Types", "lines"], sorted(rows.collect()), out)?;

    let rows = numbers.tools.iter().map(|(name, tool)| {
        let errors = if tool.n_errors > 0 { grouped(tool.n_errors) } else { String::new() };
        [escape_for_terminal(name), grouped(tool.n_calls), errors, duration(seconds(tool.millis))]
    });
    table(["Tools", "calls", "errors", "time"], sorted(rows.collect()), out)?;

    let tokens = &numbers.tokens;
    if tokens.total() > 0 {
        let rows = [
            ("input", tokens.input),
            ("output", tokens.output),
            ("cache read", tokens.cache_read),
            ("cache written", tokens.cache_creation),
            ("all", tokens.total()),
        ];
        let rows = rows.map(|(name, number)| [name.to_owned(), grouped(number)]);
        table(["Tokens", ""], rows.to_vec(), out)?;
    }
    if let Some(cost) = numbers.cost {
        writeln!(out, "\nCost: ${cost:.4}")?;
    }

    let mut files: Vec<_> = numbers.files.iter().collect();
    files.sort_by_key(|(_, touches)| {
        std::cmp::Reverse((touches.edited + touches.written, touches.read))
    });
    let rows = files.iter().map(|(path, touches)| {
        let number = |n: u64| if n > 0 { grouped(n) } else { String::new() };
        let path = escape_for_terminal(path);
        let room = columns.map(|columns| columns.saturating_sub(FILE_NUMBERS).max(MIN_PATH));
        let path = room.map_or(path.clone(), |room| table::cut_start(&path, room));
        [path, number(touches.read), number(touches.written), number(touches.edited)]
    });
    table(["Files", "read", "written", "edited"], rows.collect(), out)
}

fn seconds(millis: i64) -> u64 {
    millis.unsigned_abs() / 1000
}

/// Sorts rows by their first number, the largest first.
fn sorted<const N: usize>(mut rows: Vec<[String; N]>) -> Vec<[String; N]> {
    let number = |row: &[String; N]| row.get(1).map(|number| (number.len(), number.clone()));
    rows.sort_by_key(|row| std::cmp::Reverse(number(row)));
    rows
}

/// Prints a table with its heading, and at most [`MAX_ROWS`] rows.
fn table<const N: usize>(
    head: [&str; N],
    rows: Vec<[String; N]>,
    out: &mut dyn Write,
) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let n_more = rows.len().saturating_sub(MAX_ROWS);
    let mut printed = vec![head.map(str::to_owned).to_vec()];
    printed.extend(rows.into_iter().take(MAX_ROWS).map(|mut row| {
        if let Some(name) = row.first_mut() {
            name.insert_str(0, "  ");
        }
        row.to_vec()
    }));
    out.write_all(b"\n")?;
    table::print(&printed, &|_| false, None, out)?;
    if n_more > 0 { writeln!(out, "  and {} more", grouped(n_more as u64)) } else { Ok(()) }
}
