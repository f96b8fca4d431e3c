//! Finds the files of a session and the tool uses that started its sub-agents.
//!
//! In: the path of a main transcript. Out: a [`SessionTree`] with every file of the session and the
//! links between them. Clients lay the files out in two ways (FORMAT.md, "Sub-agents"):
//!
//! ```text
//! 2.1  <session>.jsonl  <session>/subagents/agent-<id>.jsonl  <session>/subagents/agent-<id>.meta.json
//! 2.0  <session>.jsonl  agent-<id>.jsonl, whose first lines name the session
//! ```

mod links;

use std::path::{Component, Path, PathBuf};

use core_model::{Description, FileRole, Files, Layout, Owner, SessionTree, main_file};
use jsonl::{Scanner, Stream, Style, push_string};

use self::links::links;
use crate::{FORMAT, Record};

/// The layout of a session's files, for core-model.
pub(crate) const LAYOUT: Layout = Layout {
    owner,
    role,
    has_folder: true,
    links,
    description: Some(description),
    describe: Some(describe),
    agent_name: |stem, agent| format!("{stem}/subagents/agent-{agent}.jsonl"),
    agent_id: |name| agent_id(name.rsplit('/').next()?, ".jsonl"),
    is_internal: |id| INTERNAL.iter().any(|start| id.starts_with(start)),
};

/// Prefixes of the ids of sub-agents that client 2.1 starts for itself: to suggest the next prompt,
/// and to compact the conversation (FORMAT.md, "Sub-agents").
const INTERNAL: [&str; 2] = ["aprompt_suggestion-", "acompact-"];

/// The number of lines of a sub-agent's file that are searched for its session's id.
const MAX_LINES: usize = 10;

/// Opens a session: the main file, its sub-agents with the evidence for the tool use that started
/// each, the files beside them, and the sub-agents without a file.
///
/// Sub-agents whose lines are in the main file (clients up to 2.0.28) have no file and are left
/// out.
///
/// # Errors
///
/// Returns an error if a folder or a file cannot be read.
///
/// ```no_run
/// # fn main() -> std::io::Result<()> {
/// let main = "projects/-home-ada-pages/fb02d60f-60fc-4f60-a756-f9afd272cd18.jsonl";
/// for agent in format_claude_code::open_session_tree(main.as_ref())?.agents {
///     let by = agent.tool_use.as_deref().unwrap_or("nobody knows");
///     println!("{} was started by {by}: {:?}", agent.id, agent.evidence);
/// }
/// # Ok(())
/// # }
/// ```
pub fn open_session_tree(main: &Path) -> std::io::Result<SessionTree> {
    SessionTree::open(&FORMAT, main)
}

/// Limit for the folders between a main file's folder and a file of its session.
const MAX_DEPTH: usize = 8;

/// Returns the role of a file in its session, by the file's name.
fn role(name: &str) -> Option<FileRole> {
    let Some(below) = name.strip_prefix("*/") else {
        return if name.contains('/') { None } else { of_agent(name) };
    };
    let leaf = below.rsplit('/').next()?;
    role_below(below.split('/').next()?, leaf, below.split('/').count())
}

/// Returns the role of a file in the folder of a session, by the first and the last of its `n` names there:
/// by `subagents` and `agent-a1.jsonl` of `subagents/agent-a1.jsonl`.
fn role_below(first: &str, leaf: &str, n: usize) -> Option<FileRole> {
    match (first, n) {
        ("subagents", 2..) => of_agent(leaf),
        ("tool-results" | "remote-agents", 2)
        | ("workflows", 2..)
        | ("resume-head.jsonl" | "custom-title.json", 1) => Some(FileRole::Side),
        _ => None,
    }
}

/// Returns the role of a file of a sub-agent, by the file's name: transcript or description.
fn of_agent(leaf: &str) -> Option<FileRole> {
    let transcript = agent_id(leaf, ".jsonl").map(|id| FileRole::Agent(id.to_owned()));
    let description = || Some(FileRole::Description(agent_id(leaf, ".meta.json")?.to_owned()));
    transcript.or_else(description)
}

/// Finds the session that a file belongs to: by its folder (2.1), or by the session id in one of
/// its first lines (2.0).
fn owner(path: &Path, files: &dyn Files) -> Option<Owner> {
    // The file's name, then the names of its folders. One pass, because each file of a run is asked.
    let names = path.components().rev().map_while(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let mut names = names.take(MAX_DEPTH + 1);
    let leaf = names.next()?;
    let mut first = leaf;
    for (n, stem) in (1..).zip(names) {
        if let Some(role) = role_below(first, leaf, n)
            && let Some(main) = main_file(path.ancestors().nth(n)?, stem, "", files)
        {
            return Some(Owner { main, role });
        }
        first = stem;
    }
    match of_agent(leaf)? {
        FileRole::Description(id) => {
            let transcript = path.with_file_name(format!("agent-{id}.jsonl"));
            let main = named_session(&transcript, files)?;
            Some(Owner { main, role: FileRole::Description(id) })
        }
        role => Some(Owner { main: named_session(path, files)?, role }),
    }
}

/// Returns the id in a sub-agent's file name: `abc` for `agent-abc.jsonl` and the ending `.jsonl`.
fn agent_id<'n>(name: &'n str, ending: &str) -> Option<&'n str> {
    name.strip_prefix("agent-")?.strip_suffix(ending).filter(|id| !id.is_empty())
}

/// Returns the transcript in the same folder whose session id is in one of the first lines of a
/// file.
fn named_session(path: &Path, files: &dyn Files) -> Option<PathBuf> {
    let mut stream = Stream::new(files.open(path).ok()?);
    let mut scanner = Scanner::default();
    for _ in 0..MAX_LINES {
        let line = stream.next().ok()??;
        let Ok(value) = scanner.scan(&line) else { continue };
        let Some(id) = Record::new(value).session_id else { continue };
        let id = id.decode();
        let is_name = !id.is_empty() && !id.contains(['/', '\\', '\0']) && !id.starts_with('.');
        let main = if is_name { main_file(path, &id, "", files) } else { None };
        if let Some(main) = main.filter(|main| main != path) {
            return Some(main);
        }
    }
    None
}

/// Reads a `.meta.json`. Absent members become `None`.
fn description(bytes: &[u8]) -> Description {
    let mut scanner = Scanner::default();
    let Ok(value) = scanner.scan_slice(bytes.trim_ascii(), 0) else {
        return Description::default();
    };
    let text = |name| Some(value.get(name).and_then(|it| it.text())?.decode().into_owned());
    let (tool_use, kind) = (text("toolUseId"), text("agentType"));
    Description { tool_use, kind, description: text("description") }
}

/// Writes a `.meta.json` as client 2.1 does.
fn describe(description: &Description) -> Vec<u8> {
    let Description { tool_use, kind, description } = description;
    let mut bytes = Vec::from(*b"{");
    for (name, text) in [("agentType", kind), ("description", description), ("toolUseId", tool_use)]
    {
        let Some(text) = text else { continue };
        bytes.extend_from_slice(if bytes.len() > 1 { b",\"" } else { b"\"" });
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(b"\":");
        push_string(&mut bytes, text, Style::Compact);
    }
    bytes.push(b'}');
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_alone_says_what_a_file_is() {
        let agent = |id: &str| Some(FileRole::Agent(id.to_owned()));
        for (name, expected) in [
            ("*/subagents/agent-a1.jsonl", agent("a1")),
            ("*/subagents/workflows/run/agent-a1.jsonl", agent("a1")),
            ("*/subagents/agent-a1.meta.json", Some(FileRole::Description("a1".to_owned()))),
            ("agent-a1.jsonl", agent("a1")),
            ("*/tool-results/one.txt", Some(FileRole::Side)),
            ("*/workflows/run/journal.jsonl", Some(FileRole::Side)),
            ("*/remote-agents/remote-agent-1.meta.json", Some(FileRole::Side)),
            ("*/resume-head.jsonl", Some(FileRole::Side)),
            ("*/custom-title.json", Some(FileRole::Side)),
            ("*/tool-results/a/b", None),
            ("*/settings.json", None),
            (".claude/settings.json", None),
            (".git/hooks/post-checkout", None),
            ("*", None),
            ("", None),
            ("agent-.jsonl", None),
            ("subagents/agent-a1.jsonl", None),
            ("x/subagents/agent-a1.jsonl", None),
        ] {
            assert_eq!(role(name), expected, "{name}");
        }
    }
}
