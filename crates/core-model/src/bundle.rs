//! Sessions of several files: what belongs to a session, and which tool use started which sub-agent.

mod find;
mod search;
mod sidechains;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

pub use self::sidechains::{AgentIds, Sidechain, Sidechains};
use crate::{Event, Files};

/// How a format's client spreads a session over files.
#[derive(Clone, Copy, Debug)]
pub struct Bundles {
    /// Returns what a file belongs to, by its path and, where that does not tell, its first lines,
    /// among files that are opened so; `None` if it is a session's main file or anything else.
    pub owner: fn(&Path, &dyn Files) -> Option<Owner>,
    /// Returns what a file is to its session by its name alone: relative to the folder of the main
    /// file, parted by `/`, with `*` at the start for the main file's name without its ending. `None`
    /// if the client keeps no such file. Whoever writes files that a log names asks this first.
    pub role: fn(&str) -> Option<FileRole>,
    /// Calls with each sub-agent that an event says was started, and by which tool use.
    pub links: for<'l> fn(&Event<'l>, &mut dyn FnMut(Link)),
    /// Reads a file that describes a sub-agent; `None` if the format has none.
    pub description: Option<fn(&[u8]) -> Description>,
    /// Writes a description as the client does; `None` where transcripts have none.
    pub describe: Option<fn(&Description) -> Vec<u8>>,
    /// Returns the name that the file of a sub-agent has, relative to the folder of the main file,
    /// given that one's name without its ending and the sub-agent's id; parted by `/`.
    pub agent_name: fn(&str, &str) -> String,
    /// Returns the id of the sub-agent whose transcript has such a name; `None` if the name alone
    /// does not tell.
    pub agent_id: fn(&str) -> Option<&str>,
    /// Returns whether the client started the sub-agent with this id for itself, such as to suggest a
    /// prompt: its transcript is no session that a person would go on with.
    pub is_internal: fn(&str) -> bool,
}

/// Something in a folder; a link is neither a folder nor a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FolderEntry {
    /// The name in the folder.
    pub name: OsString,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Whether it is a regular file.
    pub is_file: bool,
}

/// What a file belongs to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Owner {
    /// The session's main file.
    pub main: PathBuf,
    /// What the file is to it.
    pub role: FileRole,
}

/// What a file is to its session.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FileRole {
    /// The transcript of the sub-agent with this id.
    Agent(String),
    /// The description of the sub-agent with this id.
    Description(String),
    /// Anything else, such as an output that was too large for the log.
    Side,
}

/// That a tool use started a sub-agent.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Link {
    /// What says so.
    pub evidence: Evidence,
    /// The sub-agent.
    pub agent: Linked,
    /// The tool use.
    pub tool_use: String,
}

/// How a link names sub-agents.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Linked {
    /// By the id of one.
    Agent(String),
    /// By the folder that the files of all of one run stand in.
    Folder(String),
    /// By the prompt that one was given.
    Prompt(String),
}

/// What says that a tool use started a sub-agent, the strongest first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Evidence {
    /// The sub-agent's own description.
    Description,
    /// What the client knows of the tool's result beyond the block.
    Result,
    /// A report of the sub-agent's progress.
    Progress,
    /// The words of the tool's result.
    Words,
    /// The sub-agent was given the prompt that the tool use has.
    Prompt,
}

impl Evidence {
    /// Returns the words for it.
    pub fn name(self) -> &'static str {
        match self {
            Evidence::Description => "its description",
            Evidence::Result => "the tool's result",
            Evidence::Progress => "a report of progress",
            Evidence::Words => "the words of the tool's result",
            Evidence::Prompt => "its prompt",
        }
    }
}

/// What a file beside a sub-agent's transcript says of it; each possibly unknown.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Description {
    /// The tool use that started it.
    pub tool_use: Option<String>,
    /// What kind of sub-agent it is.
    pub kind: Option<String>,
    /// What it is to do, in a few words.
    pub description: Option<String>,
}

/// A session with all the files that belong to it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Bundle {
    /// The main file.
    pub main: PathBuf,
    /// The sub-agents with a file, in the order of their names.
    pub agents: Vec<Agent>,
    /// The other files, in the order of their names.
    pub side_files: Vec<PathBuf>,
    /// The sub-agents of which there is evidence, but no file.
    pub missing: Vec<Missing>,
}

/// A sub-agent with a file of its own.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Agent {
    /// The id.
    pub id: String,
    /// Its transcript.
    pub path: PathBuf,
    /// The tool use that started it, if anything says so.
    pub tool_use: Option<String>,
    /// The sub-agent in whose transcript that is said; `None` for the main file.
    pub parent: Option<String>,
    /// All that says so.
    pub evidence: Vec<Evidence>,
    /// What its description says.
    pub description: Description,
    /// The messages in its transcript.
    pub n_messages: u64,
}

/// A sub-agent of which there is evidence, but no file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Missing {
    /// The id.
    pub id: String,
    /// The tool use that started it.
    pub tool_use: String,
    /// What says so.
    pub evidence: Evidence,
}
