//! Writes JSON with a line for each member and item. Strings and numbers stay as written.
//!
//! In: `{"a":[1,2]}`. Out: `{`, `  "a": [`, `    1,`, `    2`, `  ]`, `}`.

use std::fmt::{self, Write};

/// Depth to which values are indented. Deeper values are on one line, because their indentation
/// would grow quadratically.
const MAX_DEPTH: usize = 16;

/// Writes a JSON value indented by two spaces, as `json.dumps(value, indent=2)` does. Strings and
/// numbers keep their spelling, and values deeper than sixteen levels are on one line.
pub(super) fn write_pretty(json: &str, out: &mut dyn Write) -> fmt::Result {
    let mut depth = 0usize;
    let mut rest = json;
    while let Some(char) = rest.chars().next() {
        let token = match char {
            '"' => string(rest),
            '{' | '[' | '}' | ']' | ',' | ':' => rest.get(..1).unwrap_or_default(),
            _ => plain(rest),
        };
        rest = rest.get(token.len()..).unwrap_or_default();
        match char {
            ' ' | '\t' | '\n' | '\r' => {}
            '{' | '[' => {
                out.write_str(token)?;
                let inner = rest.trim_start();
                if inner.starts_with(['}', ']']) {
                    let (end, after) = inner.split_at(1);
                    out.write_str(end)?;
                    rest = after;
                } else {
                    depth += 1;
                    start_line(out, depth)?;
                }
            }
            '}' | ']' => {
                if depth <= MAX_DEPTH {
                    start_line(out, depth.saturating_sub(1))?;
                }
                depth = depth.saturating_sub(1);
                out.write_str(token)?;
            }
            ',' => {
                out.write_str(",")?;
                start_line(out, depth)?;
            }
            ':' => out.write_str(": ")?,
            _ => out.write_str(token)?,
        }
    }
    Ok(())
}

/// Starts a line, unless the depth is too great.
fn start_line(out: &mut dyn Write, depth: usize) -> fmt::Result {
    const INDENT: &str = "\n                                ";
    match INDENT.get(..1 + 2 * depth).filter(|_| depth <= MAX_DEPTH) {
        Some(indent) => out.write_str(indent),
        None => Ok(()),
    }
}

/// Returns the leading white space, number or word of a text.
fn plain(text: &str) -> &str {
    let is_space = |char: char| matches!(char, ' ' | '\t' | '\n' | '\r');
    let starts_with_space = text.starts_with(is_space);
    let is_end = |char: char| {
        is_space(char) != starts_with_space
            || matches!(char, '"' | '{' | '[' | '}' | ']' | ',' | ':')
    };
    text.find(is_end).and_then(|end| text.get(..end)).unwrap_or(text)
}

/// Returns the leading string of a text, quotes included.
fn string(text: &str) -> &str {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.and_then(|end| text.get(..end + 2)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pretty(json: &str) -> String {
        let mut pretty = String::new();
        write_pretty(json, &mut pretty).expect("a string takes all");
        pretty
    }

    #[test]
    fn a_line_for_each_member_and_item() {
        let json = r#"{"a":[1,{"b\"}":"é,:"}], "c" : {},"d":[ ]}"#;
        let expected = "{\n  \"a\": [\n    1,\n    {\n      \"b\\\"}\": \"é,:\"\n    }\n  ],\n  \"c\": {},\n  \"d\": []\n}";
        assert_eq!(pretty(json), expected);
        assert_eq!((pretty("-1e-05"), pretty("\"x\"")), ("-1e-05".into(), "\"x\"".into()));
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let shown = pretty(&deep);
        assert_eq!(shown.matches('[').count(), 100_000);
        assert!(shown.len() < deep.len() + 1_000);
        let wide = format!("{}{}{}", "[".repeat(30), "[],".repeat(1_000), "]".repeat(30));
        assert!(pretty(&wide).len() < wide.len() + 1_000);
    }
}
