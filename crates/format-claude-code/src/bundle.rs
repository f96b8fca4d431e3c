//! Sessions of several files: where the client puts sub-agents' transcripts, and what links them.

mod links;

use std::path::{Path, PathBuf};

use core_model::{Bundle, Bundles, Description, FileRole, Files, Owner};
use jsonl::{Scanner, Stream, Style, push_string};

use self::links::links;
use crate::{FORMAT, Record};

/// How the client spreads a session over files (FORMAT.md, "Sub-agents").
pub(crate) const BUNDLES: Bundles = Bundles {
    owner,
    links,
    description: Some(description),
    describe: Some(describe),
    agent_name: |stem, agent| format!("{stem}/subagents/agent-{agent}.jsonl"),
    agent_id: |name| agent_id(name.rsplit('/').next()?, ".jsonl"),
    is_internal: |id| INTERNAL.iter().any(|start| id.starts_with(start)),
};

/// How the ids of sub-agents start that client 2.1 starts for itself: to suggest the next prompt, and
/// to compact the conversation (FORMAT.md, "Sub-agents").
const INTERNAL: [&str; 2] = ["aprompt_suggestion-", "acompact-"];

/// The lines of a sub-agent's file of which one tells the session (seed 003).
const MAX_LINES: usize = 10;

/// Opens a session: its main file, its sub-agents with the evidence of which tool use started each,
/// the files beside them, and the sub-agents that are missing.
///
/// Sub-agents whose lines stand in the main file (up to client 2.0.28) have no file, and are not
/// among them.
///
/// # Errors
///
/// Those of reading folders and files.
///
/// ```no_run
/// # fn main() -> std::io::Result<()> {
/// let main = "projects/-home-ada-pages/fb02d60f-60fc-4f60-a756-f9afd272cd18.jsonl";
/// for agent in format_claude_code::open_bundle(main.as_ref())?.agents {
///     let by = agent.tool_use.as_deref().unwrap_or("nobody knows");
///     println!("{} was started by {by}: {:?}", agent.id, agent.evidence);
/// }
/// # Ok(())
/// # }
/// ```
pub fn open_bundle(main: &Path) -> std::io::Result<Bundle> {
    Bundle::open(&FORMAT, main)
}

/// Returns what a file belongs to: in 2.1 by the folder that it is in, in 2.0 by the session that
/// one of its first lines names.
fn owner(path: &Path, files: &dyn Files) -> Option<Owner> {
    let name = path.file_name()?.to_str()?;
    let transcript = agent_id(name, ".jsonl");
    let role = match (transcript, agent_id(name, ".meta.json")) {
        (Some(id), _) => FileRole::Agent(id.to_owned()),
        (_, Some(id)) => FileRole::Description(id.to_owned()),
        _ => FileRole::Side,
    };
    let folder = path.ancestors().skip(1).find(|folder| {
        let name = folder.file_name().unwrap_or_default();
        name == "tool-results" || name == "subagents"
    });
    if let Some(folder) = folder {
        let is_output = folder.file_name().is_some_and(|name| name == "tool-results");
        if !is_output && role == FileRole::Side {
            return None;
        }
        let session = folder.parent()?;
        let name = format!("{}.jsonl", session.file_name()?.to_str()?);
        let main = session.with_file_name(name);
        let role = if is_output { FileRole::Side } else { role };
        return files.may_be_there(&main).then_some(Owner { main, role });
    }
    match role {
        FileRole::Agent(_) => {
            let main = named_session(path, files)?;
            Some(Owner { main, role })
        }
        FileRole::Description(id) => {
            let transcript = path.with_file_name(format!("agent-{id}.jsonl"));
            let main = named_session(&transcript, files)?;
            Some(Owner { main, role: FileRole::Description(id) })
        }
        FileRole::Side => None,
    }
}

/// Returns the id in the name of a sub-agent's file: the prefix is no part of it, and stands once.
fn agent_id<'n>(name: &'n str, ending: &str) -> Option<&'n str> {
    name.strip_prefix("agent-")?.strip_suffix(ending).filter(|id| !id.is_empty())
}

/// Returns the file beside this one that has the session's name which one of its first lines tells.
fn named_session(path: &Path, files: &dyn Files) -> Option<PathBuf> {
    let mut stream = Stream::new(files.open(path).ok()?);
    let mut scanner = Scanner::default();
    for _ in 0..MAX_LINES {
        let line = stream.next().ok()??;
        let Ok(value) = scanner.scan(&line) else { continue };
        let Some(id) = Record::new(value).session_id else { continue };
        let id = id.decode();
        let is_name = !id.is_empty() && !id.contains(['/', '\\', '\0']) && !id.starts_with('.');
        let main = path.with_file_name(format!("{id}.jsonl"));
        if is_name && main != path && files.may_be_there(&main) {
            return Some(main);
        }
    }
    None
}

/// Reads a `.meta.json`: `agentType`, `toolUseId` and `description`, each possibly absent.
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
