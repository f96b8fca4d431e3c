//! JSON with a line for each member and item, all else as written.

/// Returns a JSON value indented by two spaces, as `json.dumps(value, indent=2)` has it but for the
/// spelling of strings and numbers.
pub(super) fn pretty(json: &str) -> String {
    let mut pretty = String::with_capacity(json.len() * 2);
    let mut depth = 0usize;
    let mut rest = json;
    while let Some(char) = rest.chars().next() {
        let token = match char {
            '"' => string(rest),
            _ => rest.get(..char.len_utf8()).unwrap_or_default(),
        };
        rest = rest.get(token.len()..).unwrap_or_default();
        match char {
            ' ' | '\t' | '\n' | '\r' => {}
            '{' | '[' => {
                pretty.push(char);
                let inner = rest.trim_start();
                if inner.starts_with(['}', ']']) {
                    pretty.extend(inner.chars().next());
                    rest = inner.get(1..).unwrap_or_default();
                } else {
                    depth += 1;
                    start_line(&mut pretty, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                start_line(&mut pretty, depth);
                pretty.push(char);
            }
            ',' => {
                pretty.push(',');
                start_line(&mut pretty, depth);
            }
            ':' => pretty.push_str(": "),
            _ => pretty.push_str(token),
        }
    }
    pretty
}

/// Starts a line; what nests deeper than anyone reads is not indented further.
fn start_line(pretty: &mut String, depth: usize) {
    const MAX_DEPTH: usize = 40;
    pretty.push('\n');
    pretty.extend(std::iter::repeat_n("  ", depth.min(MAX_DEPTH)));
}

/// Returns the string with which a text begins, quotes included.
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

    #[test]
    fn a_line_for_each_member_and_item() {
        let json = r#"{"a":[1,{"b\"}":"é,:"}], "c" : {},"d":[ ]}"#;
        let expected = "{\n  \"a\": [\n    1,\n    {\n      \"b\\\"}\": \"é,:\"\n    }\n  ],\n  \"c\": {},\n  \"d\": []\n}";
        assert_eq!(pretty(json), expected);
        assert_eq!((pretty("-1e-05"), pretty("\"x\"")), ("-1e-05".into(), "\"x\"".into()));
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(pretty(&deep).matches('[').count(), 100_000);
    }
}
