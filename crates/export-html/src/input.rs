//! Writes the input of a tool: its most important argument for the row, and all members below.
//!
//! In: `{"command":"ls","timeout":5}`. Out: `ls` in the row, and both members below.

use jsonl::Value;

use crate::{
    code::{Language, Marker},
    diff::{Change, diff},
    html::Html,
    words::{counted, first_line, push_long, push_long_by},
};

/// The kind of a tool, by its name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Family {
    Read,
    Edit,
    Run,
    Agent,
    Other,
}

impl Family {
    /// Returns the name of the kind, which is also its class in the style.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Family::Read => "read",
            Family::Edit => "edit",
            Family::Run => "run",
            Family::Agent => "agent-call",
            Family::Other => "other",
        }
    }
}

/// Returns the kind of a tool.
pub(crate) fn family(name: &str) -> Family {
    match name {
        "Read" | "NotebookRead" | "Grep" | "Glob" | "LS" | "WebFetch" | "WebSearch" => Family::Read,
        // pi's tools.
        "read" | "grep" | "find" | "ls" => Family::Read,
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" | "write" | "edit" => Family::Edit,
        // Codex's tools.
        "apply_patch" => Family::Edit,
        "shell" | "shell_command" | "local_shell" | "exec_command" | "write_stdin" | "exec" => {
            Family::Run
        }
        "view_image" | "web_search" | "tool_search" => Family::Read,
        "spawn_agent" => Family::Agent,
        "Task" | "Agent" | "SpawnAgent" => Family::Agent,
        _ if name.starts_with("Bash") || matches!(name, "KillShell" | "bash") => Family::Run,
        _ => Family::Other,
    }
}

/// Names of the most important members, the best first.
const TELLING: &[&str] = &[
    "command",
    "cmd",
    "file_path",
    "notebook_path",
    "pattern",
    "path",
    "query",
    "url",
    "description",
    "skill",
    "prompt",
    "subject",
    "shell_id",
    "bash_id",
];

/// Limit in characters for the argument in the row of a call.
const MAX_ARGUMENT: usize = 160;

/// Limit in characters for a text beside its name.
const MAX_INLINE: usize = 100;

/// Limit for the lines of a change that are visible at first.
const MAX_DIFF: usize = 120;

/// Returns the most important argument of a call, if it has one.
pub(crate) fn argument(input: Value<'_>) -> Option<String> {
    let text_of = |value: Value<'_>| {
        let line = first_line(&value.text()?.decode(), MAX_ARGUMENT);
        (!line.is_empty()).then_some(line)
    };
    let words_of = |command: Value<'_>| {
        // Codex's `shell` takes the words of a command.
        let words = command.items().map(|word| Some(word.text()?.decode().into_owned()));
        let words = words.collect::<Option<Vec<_>>>()?;
        let command = match words.as_slice() {
            [shell, option, command] if shell.ends_with("sh") && option == "-lc" => command.clone(),
            words => words.join(" "),
        };
        let line = first_line(&command, MAX_ARGUMENT);
        (!line.is_empty()).then_some(line)
    };
    let patched = || {
        let patch = input.get("input")?.text()?.decode().into_owned();
        patched_files(&patch).next().map(|path| first_line(path, MAX_ARGUMENT))
    };
    let telling = TELLING.iter().find_map(|name| text_of(input.get(name)?));
    let telling = telling.or_else(|| input.get("command").and_then(words_of)).or_else(patched);
    telling.or_else(|| input.members().find_map(|(_, value)| text_of(value)))
}

/// Returns the paths in a patch of `apply_patch`.
fn patched_files(patch: &str) -> impl Iterator<Item = &str> {
    let path = |line| {
        ["*** Update File: ", "*** Add File: ", "*** Delete File: "]
            .into_iter()
            .find_map(|start| str::strip_prefix(line, start))
    };
    let is_patch = patch.starts_with("*** Begin Patch");
    patch.lines().filter(move |_| is_patch).filter_map(path)
}

/// Appends a patch of `apply_patch`: removed and added lines, and the others as they are.
fn push_patch(html: &mut Html, patch: &str, marker: &mut Marker) {
    let lines: Vec<_> = patch
        .lines()
        .map(|line| match (line.strip_prefix('-'), line.strip_prefix('+')) {
            (Some(line), _) => (Change::Removed, line),
            (_, Some(line)) => (Change::Added, line),
            _ => (Change::Same, line.strip_prefix(' ').unwrap_or(line)),
        })
        .collect();
    let mut languages = patched_files(patch).map(Language::of_path);
    let first = languages.next().flatten();
    let language = first.filter(|first| languages.all(|language| language == Some(*first)));
    push_folded(html, &lines, language, marker);
}

/// Limit in bytes for the members and edits on the page.
const MAX_INPUT: usize = 4 * 1024 * 1024;

/// Length in bytes beyond which texts are shown one after the other instead of compared.
const MAX_COMPARED: usize = 1024 * 1024;

/// Returns the language of the file that an input names.
pub(crate) fn language(input: Value<'_>) -> Option<Language> {
    let path = ["file_path", "notebook_path", "path"].iter().find_map(|name| input.get(name));
    Language::of_path(&path?.text()?.decode())
}

/// Appends an input member by member. Edits are shown as changes.
pub(crate) fn push_input(html: &mut Html, input: Value<'_>, marker: &mut Marker) {
    if !input.is_object() {
        return push_long(html, input.raw().as_str());
    }
    let (start, mut n_unshown, mut is_list) = (html.len(), 0, false);
    let patch = input.get("input").and_then(|input| input.text()).map(|text| text.decode());
    let patch = patch.filter(|patch| patched_files(patch).next().is_some());
    if let Some(patch) = patch.filter(|patch| patch.len() <= MAX_COMPARED) {
        return push_patch(html, &patch, marker);
    }
    for (key, value) in input.members() {
        if html.len() - start > MAX_INPUT {
            n_unshown += 1;
            continue;
        }
        let is_change = key.is("old_string") || key.is("new_string");
        if is_change && is_edit(input) || key.is("edits") && edits(value).next().is_some() {
            continue;
        }
        html.markup(if is_list { "" } else { "<dl>" });
        is_list = true;
        html.markup("<dt>").text(&key.decode()).markup("</dt><dd>");
        let language = match () {
            () if key.is("command") || key.is("cmd") => Some(Language::SHELL),
            () if key.is("content") => language(input),
            () => None,
        };
        push_value(html, value, marker, language);
        html.markup("</dd>");
    }
    html.markup(if is_list { "</dl>" } else { "" });
    if is_edit(input) {
        push_change(html, input, language(input), marker);
    }
    for edit in input.get("edits").into_iter().flat_map(edits) {
        if html.len() - start > MAX_INPUT {
            n_unshown += 1;
            continue;
        }
        push_change(html, edit, language(input), marker);
    }
    if n_unshown > 0 {
        html.markup("<p class=\"quiet\">").text(&counted(n_unshown, "more part", "more parts"));
        html.markup(" of this input: in the session, and not on this page</p>");
    }
}

fn push_value(html: &mut Html, value: Value<'_>, marker: &mut Marker, language: Option<Language>) {
    let text = value.text().map(|text| text.decode());
    let text = text.as_deref().unwrap_or(value.raw().as_str());
    if text.chars().nth(MAX_INLINE).is_none() && !text.contains('\n') {
        marker.push(html.markup("<code dir=\"auto\">"), text, language);
        html.markup("</code>");
    } else {
        push_long_by(html, text, &mut |html, text| marker.push(html, text, language));
    }
}

/// Returns the items of an array that are edits.
fn edits(value: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    value.items().filter(|item| is_edit(*item))
}

fn is_edit(value: Value<'_>) -> bool {
    let is_text = |name| value.get(name).is_some_and(|value| value.text().is_some());
    is_text("old_string") && is_text("new_string")
}

fn push_change(html: &mut Html, edit: Value<'_>, language: Option<Language>, marker: &mut Marker) {
    let text = |name: &str| {
        let text = edit.get(name).and_then(|value| value.text());
        text.map(|text| text.decode()).unwrap_or_default()
    };
    let (old, new) = (text("old_string"), text("new_string"));
    if old.len() + new.len() > MAX_COMPARED {
        for (name, text) in [("before", old), ("after", new)] {
            html.markup("<p class=\"label\">").text(name).markup("</p>");
            push_long_by(html, &text, &mut |html, text| marker.push(html, text, language));
        }
        return;
    }
    push_folded(html, &diff(&old, &new), language, marker);
}

/// Appends the lines of a change, the first ones visible.
fn push_folded(
    html: &mut Html,
    lines: &[(Change, &str)],
    language: Option<Language>,
    marker: &mut Marker,
) {
    let text = |without: Change| {
        let lines = lines.iter().filter(|(change, _)| *change != without);
        lines.map(|(_, line)| (*line).to_owned()).collect()
    };
    // The words of a line depend on the lines before it, which differ in the two texts.
    let mut old = marker.lines(text(Change::Added), language);
    let mut new = marker.lines(text(Change::Removed), language);
    let mut push_lines = |html: &mut Html, lines: &[(Change, &str)]| {
        html.markup("<pre class=\"diff\">");
        for (change, _) in lines {
            match change {
                Change::Same => {
                    html.markup("<span>  ");
                    new.push(html);
                    old.skip();
                    html.markup("\n</span>");
                }
                Change::Removed => {
                    html.markup("<del>- ");
                    old.push(html);
                    html.markup("\n</del>");
                }
                Change::Added => {
                    html.markup("<ins>+ ");
                    new.push(html);
                    html.markup("\n</ins>");
                }
            }
        }
        html.markup("</pre>");
    };
    let (shown, rest) = lines.split_at(lines.len().min(MAX_DIFF));
    push_lines(html, shown);
    if !rest.is_empty() {
        html.markup("<details class=\"rest\"><summary>Show all: ").show(rest.len());
        html.markup(" more lines</summary>");
        push_lines(html, rest);
        html.markup("</details>");
    }
}

#[cfg(test)]
mod tests {
    use jsonl::Scanner;

    use super::*;

    fn with<T>(input: &str, then: impl FnOnce(Value<'_>) -> T) -> T {
        let mut scanner = Scanner::default();
        then(scanner.scan_slice(input.as_bytes(), 0).expect("valid"))
    }

    #[test]
    fn words_of_changed_lines_are_marked_as_in_their_text() {
        let mut html = Html::default();
        let edit =
            r#"{"file_path":"a.rs","old_string":"/* a\nlet b\n*/","new_string":"let b\nlet c"}"#;
        with(edit, |input| push_input(&mut html, input, &mut Marker::default()));
        // `let b` is the same line; it is printed as in the new text, in which it is no comment.
        let expected = "<pre class=\"diff\"><del>- /* a<i data-w=\"0c4\"></i>\n</del>\
                        <span>  let b<i data-w=\"2k3\"></i>\n</span>\
                        <del>- */<i data-w=\"0c2\"></i>\n</del>\
                        <ins>+ let c<i data-w=\"2k3\"></i>\n</ins></pre>";
        assert!(html.as_str().ends_with(expected), "{}", html.as_str());
    }

    #[test]
    fn patches_are_changes() {
        let patch =
            r#"{"input":"*** Begin Patch\n*** Update File: a.rs\n@@\n a\n-b\n+c<\n*** End Patch"}"#;
        assert_eq!(with(patch, argument).as_deref(), Some("a.rs"));
        let mut html = Html::default();
        with(patch, |input| push_input(&mut html, input, &mut Marker::default()));
        let change = "<span>  a\n</span><del>- b\n</del><ins>+ c&lt;\n</ins>";
        assert!(html.as_str().contains(change), "{}", html.as_str());
        let mut html = Html::default();
        with(r#"{"input":"text(1)"}"#, |input| {
            push_input(&mut html, input, &mut Marker::default())
        });
        assert!(html.as_str().starts_with("<dl><dt>input</dt>"), "{}", html.as_str());
        let shell = r#"{"command":["bash","-lc","ls -l"]}"#;
        assert_eq!(with(shell, argument).as_deref(), Some("ls -l"));
    }

    #[test]
    fn the_telling_argument() {
        let bash = r#"{"description":"Lists files","command":"ls -l\n# all"}"#;
        assert_eq!(with(bash, argument).as_deref(), Some("ls -l"));
        assert_eq!(with(r#"{"n":1,"word":"x"}"#, argument).as_deref(), Some("x"));
        assert_eq!(with(r#"{"n":1}"#, argument), None);
        assert_eq!(with(r#""a proxy's string""#, argument), None);
    }

    #[test]
    fn edits_are_changes() {
        let mut html = Html::default();
        let edit = r#"{"file_path":"a.rs","old_string":"a\nb","new_string":"a\nc<"}"#;
        with(edit, |input| push_input(&mut html, input, &mut Marker::default()));
        assert_eq!(
            html.as_str(),
            "<dl><dt>file_path</dt><dd><code dir=\"auto\">a.rs</code></dd></dl>\
             <pre class=\"diff\"><span>  a\n</span><del>- b\n</del><ins>+ c&lt;\n</ins></pre>"
        );
        let mut html = Html::default();
        let edits = r#"{"edits":[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":"d"}]}"#;
        with(edits, |input| push_input(&mut html, input, &mut Marker::default()));
        assert_eq!(html.as_str().matches("<pre class=\"diff\">").count(), 2);
        let mut html = Html::default();
        with(r#"{"edits":["x"],"old_string":1}"#, |input| {
            push_input(&mut html, input, &mut Marker::default())
        });
        assert!(html.as_str().contains("[&quot;x&quot;]"));
    }
}
