//! Draws `docs/terminal.svg`, the picture in README: two commands over the sample, and their output.
//!
//! The text comes from the built program. `ESC [ 1;36 m User ESC [ 0 m` becomes
//! `<tspan class="b c36">User</tspan>`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a task prints to the terminal")]

use std::{
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use crate::scratch::{build, built_by_tests};

/// The path of the picture below the workspace.
const PICTURE: &str = "docs/terminal.svg";

/// The columns of the drawn terminal. Longer lines continue in the next row.
const N_COLUMNS: usize = 104;

/// The arguments of the two commands.
const COMMANDS: &[&str] = &[
    "fixtures/sample --to clido --verify -o clido",
    "show fixtures/sample --no-thinking --limit 8",
];

/// The size of a character and of a row, and the margin around the text, in pixels.
const CHAR_WIDTH: f64 = 7.8;
const ROW_HEIGHT: usize = 18;
const MARGIN: usize = 16;

/// Builds the program and writes the picture; with `is_check`, only compares it with the file. Returns
/// whether the file is current.
pub fn picture(root: &Path, is_check: bool) -> bool {
    finish(
        build(root, &["-p", "sessionlog-convert"]).and_then(|target| draw(root, &target, is_check)),
    )
}

/// Compares the picture with the output of the program that the tests built. Returns whether they are
/// equal.
pub(crate) fn picture_of_tests(root: &Path) -> bool {
    finish(built_by_tests(root).and_then(|target| draw(root, &target, true)))
}

fn finish(result: Result<(), String>) -> bool {
    if let Err(error) = &result {
        eprintln!("picture: {error}");
    }
    result.is_ok()
}

fn draw(root: &Path, target: &Path, is_check: bool) -> Result<(), String> {
    let folder = target.join("picture");
    let text = outputs(root, &target.join("debug/convert"), &folder)
        .map_err(|error| format!("{}: {error}", folder.display()))?;
    let drawn = svg(&text);
    let path = root.join(PICTURE);
    if is_check {
        let found = fs::read_to_string(&path).unwrap_or_default();
        return match without_rates(&found) == without_rates(&drawn) {
            true => Ok(()),
            false => Err(format!("{PICTURE} is not current: run `cargo xtask picture`")),
        };
    }
    fs::write(&path, drawn).map_err(|error| format!("{PICTURE}: {error}"))?;
    println!("{PICTURE}");
    Ok(())
}

/// Runs the commands over a copy of the sample and returns prompts and outputs, with escapes.
fn outputs(root: &Path, program: &Path, folder: &PathBuf) -> io::Result<String> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    let sample = folder.join("fixtures/sample");
    fs::create_dir_all(&sample)?;
    for file in fs::read_dir(root.join("fixtures/sample"))? {
        let file = file?;
        fs::copy(file.path(), sample.join(file.file_name()))?;
    }
    let mut text = String::new();
    for command in COMMANDS {
        let output = Command::new(program)
            .args(command.split(' '))
            .current_dir(folder)
            .env("CLICOLOR_FORCE", "1")
            .env("COLUMNS", N_COLUMNS.to_string())
            .env_remove("NO_COLOR")
            .env_remove("CI")
            .env("TZ", "UTC")
            .output()?;
        if !output.status.success() {
            let error = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!("convert {command}: {error}")));
        }
        _ = writeln!(text, "\u{1b}[32m$\u{1b}[0m convert {command}");
        text += &String::from_utf8_lossy(&output.stdout);
        text += &String::from_utf8_lossy(&output.stderr);
        text.push('\n');
    }
    Ok(text)
}

/// Returns a picture without the time and the rate, which differ from run to run.
fn without_rates(svg: &str) -> String {
    let lines = svg.lines().map(|line| match line.split_once("clido in ") {
        Some((start, _)) if line.contains("Converted") => start,
        _ => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Draws a terminal with text in it.
fn svg(text: &str) -> String {
    let mut rows = Vec::new();
    let mut style = String::new();
    for line in text.trim_end().lines() {
        rows.extend(tspans(line, &mut style));
    }
    let width = MARGIN * 2 + (N_COLUMNS as f64 * CHAR_WIDTH) as usize;
    let top = MARGIN * 3;
    let height = top + rows.len() * ROW_HEIGHT + MARGIN / 2;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"A terminal: convert translates a \
         session, then shows it\">\n<style>\ntext {{ font: 13px ui-monospace, Menlo, Consolas, \
         'DejaVu Sans Mono', monospace; fill: #d8dee9; white-space: pre }}\n.b {{ font-weight: bold \
         }} .d {{ fill: #8b95a7 }} .c31 {{ fill: #ef7a85 }} .c32 {{ fill: #a3d18c }}\n.c33 {{ fill: \
         #ebcb8b }} .c34 {{ fill: #81a1c1 }} .c35 {{ fill: #c39ac9 }} .c36 {{ fill: #88c0d0 \
         }}\n</style>\n<rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#1d2330\"/>\n"
    );
    for (idx, color) in ["#ef7a85", "#ebcb8b", "#a3d18c"].iter().enumerate() {
        let x = MARGIN + 6 + idx * 20;
        _ = writeln!(svg, "<circle cx=\"{x}\" cy=\"20\" r=\"6\" fill=\"{color}\"/>");
    }
    for (idx, row) in rows.iter().enumerate() {
        let y = top + idx * ROW_HEIGHT;
        if !row.is_empty() {
            _ = writeln!(svg, "<text x=\"{MARGIN}\" y=\"{y}\" xml:space=\"preserve\">{row}</text>");
        }
    }
    svg + "</svg>\n"
}

/// Returns the rows of a line as text and `tspan` elements. `style` holds the classes at the start of
/// the line, and is set to the classes at its end.
fn tspans(line: &str, style: &mut String) -> Vec<String> {
    let (mut rows, mut row, mut run) = (Vec::new(), String::new(), String::new());
    let mut n_columns = 0;
    let mut rest = line;
    while let Some(char) = rest.chars().next() {
        if let Some((codes, after)) = rest.strip_prefix("\u{1b}[").and_then(|it| it.split_once('m'))
        {
            close(&mut row, &mut run, style);
            *style = classes(codes);
            rest = after;
            continue;
        }
        if n_columns == N_COLUMNS {
            close(&mut row, &mut run, style);
            rows.push(std::mem::take(&mut row));
            n_columns = 0;
        }
        match char {
            '&' => run += "&amp;",
            '<' => run += "&lt;",
            '>' => run += "&gt;",
            _ => run.push(char),
        }
        n_columns += 1;
        rest = &rest[char.len_utf8()..];
    }
    close(&mut row, &mut run, style);
    rows.push(row);
    rows
}

/// Moves a run of characters of one style to the end of a row.
fn close(row: &mut String, run: &mut String, style: &str) {
    match style {
        _ if run.is_empty() => {}
        "" => *row += run,
        _ => _ = write!(row, "<tspan class=\"{style}\">{run}</tspan>"),
    }
    run.clear();
}

/// Returns the classes for the numbers of an escape: `1;36` is `b c36`, `0` is none.
fn classes(codes: &str) -> String {
    let classes = codes.split(';').filter_map(|code| match code {
        "1" => Some("b".to_owned()),
        "2" => Some("d".to_owned()),
        "31" | "32" | "33" | "34" | "35" | "36" => Some(format!("c{code}")),
        _ => None,
    });
    classes.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_become_classes_and_long_lines_continue() {
        let mut style = String::new();
        let rows = tspans("\u{1b}[1;36mUser\u{1b}[0m a < b", &mut style);
        assert_eq!(rows, ["<tspan class=\"b c36\">User</tspan> a &lt; b"]);
        let rows = tspans(&"x".repeat(N_COLUMNS + 1), &mut style);
        assert_eq!(rows, ["x".repeat(N_COLUMNS), "x".to_owned()]);
    }

    #[test]
    fn rates_do_not_count() {
        let picture =
            |rate: &str| without_rates(&format!("Converted 1 session → clido in {rate}\nx"));
        assert_eq!(picture("0.1 s, 307 kB/s"), picture("0.2 s, 99 kB/s"));
        assert_ne!(picture("1"), without_rates("Converted 2 sessions → clido in 1\nx"));
    }
}
