//! Reads and writes `workspace.yaml`, a flat file beside a session with its id and its title.
//!
//! In: `id: 069c5d1e\nname: A name of mine\nuser_named: true\n`. Out: the title `A name of mine` of the
//! session `069c5d1e`.

use core_model::{Facts, TitleRank};
use jsonl::{Text, json_string};

/// The name of the file.
pub(super) const FILE: &str = "workspace.yaml";

/// Reads the id of the session and its title; `None` without one.
pub(super) fn read_title(bytes: &[u8]) -> Option<(String, String)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let value = |name: &str| {
        let value = |line: &str| Some(scalar(line.strip_prefix(name)?.strip_prefix(':')?));
        text.lines().find_map(value)?
    };
    Some((value("id")?, value("name")?))
}

/// Returns the text of a scalar in one line; `None` for values over several lines.
fn scalar(written: &str) -> Option<String> {
    let written = written.trim();
    if written.starts_with('"') {
        // A double-quoted scalar of one line is a JSON string, but for escapes that are rare.
        return Some(Text::new(written)?.decode().into_owned());
    }
    if let Some(quoted) = written.strip_prefix('\'') {
        return Some(quoted.strip_suffix('\'')?.replace("''", "'"));
    }
    let is_block = written.starts_with(['|', '>', '&', '*', '!', '[', '{']);
    (!is_block && !written.is_empty() && !matches!(written, "~" | "null"))
        .then(|| written.to_owned())
}

/// Writes the file as Copilot does. Copilot itself makes it anew, but without the title.
pub(super) fn write_workspace(
    facts: &Facts,
    project: &str,
    session_id: &str,
) -> (&'static str, Vec<u8>) {
    let meaning =
        |written: &Option<String>| Some(Text::new(written.as_deref()?)?.decode().into_owned());
    let title = facts.title.as_ref().and_then(|(rank, title)| {
        let title = Text::new(title)?.decode().into_owned();
        // The name is one line.
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        (!title.is_empty()).then_some((*rank == TitleRank::User, title))
    });
    let start = meaning(&facts.start).unwrap_or_else(|| core_model::iso_millis(0));
    let end = meaning(&facts.end).unwrap_or_else(|| start.clone());
    let mut file =
        format!("id: {session_id}\ncwd: {}\nclient_name: github/cli\n", json_string(project));
    let is_named = title.as_ref().is_some_and(|(is_named, _)| *is_named);
    if let Some((_, title)) = title {
        file.push_str(&format!("name: {}\n", json_string(&title)));
    }
    file.push_str(&format!(
        "user_named: {is_named}\nsummary_count: 0\nfork_count: 0\ncreated_at: {start}\n\
         updated_at: {end}\n"
    ));
    (FILE, file.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_read_in_all_spellings() {
        let title = |name: &str| {
            let file = format!("id: 069c\ncwd: /p\n{name}user_named: true\n");
            read_title(file.as_bytes()).map(|(id, title)| format!("{id} {title}"))
        };
        let expected = Some("069c A name of mine".to_owned());
        for name in ["A name of mine", "\"A name of mine\"", "'A name of mine'"] {
            assert_eq!(title(&format!("name: {name}\n")), expected, "{name}");
        }
        assert_eq!(title("name: It's: this\n").as_deref(), Some("069c It's: this"));
        assert_eq!(title("name: 'It''s'\n").as_deref(), Some("069c It's"));
        assert_eq!(title("name: \"a\\\"b\"\n").as_deref(), Some("069c a\"b"));
        for name in ["", "name:\n", "name: ~\n", "name: |-\n  a\n", "name: 'a\n", "name: \"a\n"] {
            assert_eq!(title(name), None, "{name}");
        }
        assert_eq!(read_title(b"\xff"), None);
    }

    #[test]
    fn a_written_title_is_read_again() {
        let mut facts = Facts::default();
        facts.title = Some((TitleRank::Model, "\"A \\\"trip\\\":\\n to\"".into()));
        facts.start = Some("\"2026-01-01T00:00:00.000Z\"".to_owned());
        let (name, bytes) = write_workspace(&facts, "/p q", "069c");
        let expected = "id: 069c\ncwd: \"/p q\"\nclient_name: github/cli\nname: \"A \\\"trip\\\": to\"\n\
                        user_named: false\nsummary_count: 0\nfork_count: 0\n\
                        created_at: 2026-01-01T00:00:00.000Z\nupdated_at: 2026-01-01T00:00:00.000Z\n";
        assert_eq!((name, String::from_utf8_lossy(&bytes).as_ref()), (FILE, expected));
        assert_eq!(read_title(&bytes), Some(("069c".to_owned(), "A \"trip\": to".to_owned())));
    }
}
