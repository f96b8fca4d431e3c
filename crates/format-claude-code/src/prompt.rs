//! Finds the first prompt of a session, by the rules of the SDK's list (FORMAT.md, "What lists
//! show").
//!
//! In: the lines of a transcript. Out: `Fix the build`, or the first slash command if nobody typed
//! a prompt.

use jsonl::{Scanner, Value};

/// Length of a prompt in characters, after which it is cut.
const MAX_CHARS: usize = 200;

/// Search for the first prompt, line by line.
///
/// The search skips tool results, `isMeta` lines, compaction summaries, output of commands, hooks,
/// interruptions, and notes about files that are open in an editor. It returns a slash command if
/// no other prompt is found.
#[derive(Debug, Default)]
pub(crate) struct FirstPrompt {
    scanner: Scanner,
    command: Option<String>,
}

impl FirstPrompt {
    /// Searches a line and returns its prompt.
    pub(crate) fn line(&mut self, line: &str) -> Option<String> {
        let has = |name: &str, value: &str| {
            line.contains(&format!("\"{name}\":{value}"))
                || line.contains(&format!("\"{name}\": {value}"))
        };
        let is_other = !has("type", "\"user\"")
            || line.contains("\"tool_result\"")
            || has("isMeta", "true")
            || has("isCompactSummary", "true");
        if is_other {
            return None;
        }
        let Self { scanner, command } = self;
        let value = scanner.scan_slice(line.as_bytes(), 0).ok()?;
        if !value.get("type")?.text()?.is("user") {
            return None;
        }
        let content = value.get("message")?.get("content")?;
        let text = |value: Value<'_>| value.text().map(|text| text.decode().into_owned());
        let is_text = |block: &Value<'_>| {
            block.get("type").and_then(|kind| kind.text()).is_some_and(|kind| kind.is("text"))
        };
        let whole = text(content);
        let blocks = content.items().filter(is_text).filter_map(|block| text(block.get("text")?));
        whole.into_iter().chain(blocks).find_map(|text| shown(&text, command))
    }

    /// Returns the first slash command, if no line had a prompt.
    pub(crate) fn finish(self) -> Option<String> {
        self.command.filter(|command| !command.is_empty())
    }
}

/// Returns a prompt as lists show it, a slash command by its name; `None` if the client wrote it.
pub(crate) fn prompt_preview(text: &str) -> Option<String> {
    let mut command = None;
    shown(text, &mut command).or(command.filter(|command| !command.is_empty()))
}

/// Returns a text as lists show it; `None` if they skip it.
fn shown(text: &str, command: &mut Option<String>) -> Option<String> {
    let text = text.replace('\n', " ");
    let text = stripped(&text);
    if text.is_empty() {
        return None;
    }
    if let Some(name) = between(text, "<command-name>", "</command-name>") {
        if command.as_ref().is_none_or(String::is_empty) {
            *command = Some(name.to_owned());
        }
        return None;
    }
    if is_of_the_client(text) {
        return None;
    }
    let cut = text.char_indices().nth(MAX_CHARS).and_then(|(end, _)| text.get(..end));
    Some(cut.map_or_else(|| text.to_owned(), |cut| format!("{}…", cut.trim_end_matches(is_space))))
}

fn is_of_the_client(text: &str) -> bool {
    const STARTS: [&str; 4] =
        ["<local-command-stdout>", "<session-start-hook>", "<tick>", "<goal>"];
    const FRAMES: [(&str, &str); 2] =
        [("<ide_opened_file>", "</ide_opened_file>"), ("<ide_selection>", "</ide_selection>")];
    let interruption = text.strip_prefix("[Request interrupted by user");
    let is_framed = |(start, end): &(&str, &str)| {
        text.strip_prefix(start).is_some_and(|rest| rest.ends_with(end))
    };
    STARTS.iter().any(|start| text.starts_with(start))
        || interruption.is_some_and(|rest| rest.contains(']'))
        || FRAMES.iter().any(is_framed)
}

/// Returns the text between the first `start` and the next `end`.
fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(start)?;
    rest.split_once(end).map(|(inner, _)| inner)
}

/// Returns a text without the white space that Python's `strip` removes.
fn stripped(text: &str) -> &str {
    text.trim_matches(is_space)
}

fn is_space(char: char) -> bool {
    char.is_whitespace() || matches!(char, '\x1c'..='\x1f')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(lines: &[&str]) -> Option<String> {
        let mut first = FirstPrompt::default();
        let found = lines.iter().find_map(|line| first.line(line));
        found.or_else(|| first.finish())
    }

    fn said(text: &str) -> String {
        format!(r#"{{"type":"user","message":{{"content":"{text}"}}}}"#)
    }

    #[test]
    fn what_the_client_wrote_is_no_prompt() {
        for text in [
            "<local-command-stdout>x",
            "<tick>",
            "[Request interrupted by user for tool use]",
            "  <ide_selection>a</ide_selection> ",
            "",
            " \\n ",
        ] {
            assert_eq!(prompt(&[&said(text)]), None, "{text}");
        }
        for line in [
            r#"{"type":"user","isMeta":true,"message":{"content":"x"}}"#,
            r#"{"type":"user","isCompactSummary":true,"message":{"content":"x"}}"#,
            r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"x"}]}}"#,
            r#"{"type":"assistant","message":{"content":"x"},"note":{"type":"user"}}"#,
            r#"{"type":"user","message":{"content":"torn"#,
        ] {
            assert_eq!(prompt(&[line]), None, "{line}");
        }
    }

    #[test]
    fn a_command_counts_if_nothing_else_does() {
        let command = said("<command-name>/model</command-name> <command-args></command-args>");
        assert_eq!(prompt(&[&command]).as_deref(), Some("/model"));
        assert_eq!(prompt(&[&command, &said("Hello")]).as_deref(), Some("Hello"));
    }

    #[test]
    fn a_long_prompt_is_cut_by_characters() {
        let long = "é".repeat(199) + " tail";
        assert_eq!(prompt(&[&said(&long)]), Some("é".repeat(199) + "…"));
        assert_eq!(prompt(&[&said(" a\\nb ")]).as_deref(), Some("a b"));
        let blocks = r#"{"type": "user", "message":{"content":[{"type":"image"},{"type":"text","text":"second"}]}}"#;
        assert_eq!(prompt(&[blocks]).as_deref(), Some("second"));
    }
}
