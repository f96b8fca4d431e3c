//! Sessions of several files: the files of a session, and the tool use that started each sub-agent.

mod find;
mod named;
mod search;
mod sidechains;

use std::path::{Path, PathBuf};

pub use self::{
    find::folder_of,
    named::{NamedAgents, main_file},
    sidechains::{AgentIds, Sidechain, Sidechains},
};
use crate::{Event, Files};

/// The layout of a session's files, as a format's client writes them.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Returns the owner of a file, from its path or, if that is not enough, from its first lines.
    /// Returns `None` for a session's main file and for unrelated files.
    pub owner: fn(&Path, &dyn Files) -> Option<Owner>,
    /// Returns the role of a file from its name: relative to the folder of the main file, separated
    /// by `/`, with `*` at the start for the stem of the main file. Returns `None` if the client
    /// keeps no such file. Callers check this before they write a file whose name comes from a
    /// session.
    pub role: fn(&str) -> Option<FileRole>,
    /// Whether the client keeps a folder beside a main file, with the name of its stem.
    pub has_folder: bool,
    /// Calls `each` with every link from a tool use to a sub-agent in an event.
    pub links: for<'l> fn(&Event<'l>, &mut dyn FnMut(Link)),
    /// Reads a file that describes a sub-agent; `None` if the format has none.
    pub description: Option<fn(&[u8]) -> Description>,
    /// Writes a description as the client does; `None` if transcripts have none.
    pub describe: Option<fn(&Description) -> Vec<u8>>,
    /// Returns the name of a sub-agent's file, relative to the folder of the main file and
    /// separated by `/`, from the stem of the main file and the sub-agent's id.
    pub agent_name: fn(&str, &str) -> String,
    /// Returns the id of the sub-agent whose transcript has this name; `None` if the name is not
    /// enough.
    pub agent_id: fn(&str) -> Option<&str>,
    /// Returns whether the client started the sub-agent with this id for itself, for example to
    /// suggest a prompt. Nobody continues such a session.
    pub is_internal: fn(&str) -> bool,
}

/// The owner of a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Owner {
    /// The session's main file.
    pub main: PathBuf,
    /// The role of the file in it.
    pub role: FileRole,
}

/// A file that belongs to a session.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LayoutFile {
    /// Its path.
    pub path: PathBuf,
    /// Its role in the session.
    pub role: FileRole,
}

/// The role of a file in its session.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FileRole {
    /// The transcript of the sub-agent with this id.
    Agent(String),
    /// The description of the sub-agent with this id.
    Description(String),
    /// Anything else, such as an output that was too large for the log.
    Side,
}

/// A link from a tool use to the sub-agent that it started.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Link {
    /// The evidence for the link.
    pub evidence: Evidence,
    /// The sub-agent.
    pub agent: Linked,
    /// The tool use.
    pub tool_use: String,
}

/// The way in which a link names sub-agents.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Linked {
    /// By the id of one.
    Agent(String),
    /// By the folder with the files of one run.
    Folder(String),
    /// By the prompt of one.
    Prompt(String),
}

/// The evidence that a tool use started a sub-agent, the strongest first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Evidence {
    /// The sub-agent's own description.
    Description,
    /// The client's data about the tool's result, outside the block.
    Result,
    /// A report of the sub-agent's progress.
    Progress,
    /// The text of the tool's result.
    Words,
    /// The sub-agent has the prompt of the tool use.
    Prompt,
    /// The carry of a converted session.
    Carry,
    /// The carry of a converted session, from which the sub-agent's messages are restored too.
    CarryWithMessages,
}

impl Evidence {
    /// Returns whether the evidence is the carry of a converted session, so that the file was there.
    pub fn is_carry(self) -> bool {
        matches!(self, Evidence::Carry | Evidence::CarryWithMessages)
    }

    /// Returns the name of the evidence for reports.
    pub fn name(self) -> &'static str {
        match self {
            Evidence::Description => "its description",
            Evidence::Result => "the tool's result",
            Evidence::Progress => "a report of progress",
            Evidence::Words => "the words of the tool's result",
            Evidence::Prompt => "its prompt",
            Evidence::Carry => "the carry of the session",
            Evidence::CarryWithMessages => "the carry of the session, which has its messages",
        }
    }
}

/// The content of a file that describes a sub-agent. Each field may be unknown.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Description {
    /// The tool use that started it.
    pub tool_use: Option<String>,
    /// The kind of the sub-agent.
    pub kind: Option<String>,
    /// Its task, in a few words.
    pub description: Option<String>,
}

/// A session with all its files.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SessionTree {
    /// The main file.
    pub main: PathBuf,
    /// The sub-agents with a file, in the order of their names.
    pub agents: Vec<Agent>,
    /// The other files, in the order of their names.
    pub side_files: Vec<PathBuf>,
    /// The sub-agents without a file.
    pub missing: Vec<Missing>,
}

/// A sub-agent with a file of its own.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Agent {
    /// The id.
    pub id: String,
    /// Its transcript.
    pub path: PathBuf,
    /// The tool use that started it, if known.
    pub tool_use: Option<String>,
    /// The sub-agent whose transcript contains the evidence; `None` for the main file.
    pub parent: Option<String>,
    /// All evidence.
    pub evidence: Vec<Evidence>,
    /// Its description, if there is a file with one.
    pub description: Option<Box<Description>>,
    /// The number of messages in its transcript.
    pub n_messages: u64,
}

/// A sub-agent without a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Missing {
    /// The id.
    pub id: String,
    /// The tool use that started it.
    pub tool_use: String,
    /// The evidence for the link.
    pub evidence: Evidence,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session may have tens of thousands of sub-agents.
    #[test]
    fn a_sub_agent_takes_little_memory() {
        assert!(size_of::<Agent>() <= 136, "{} bytes", size_of::<Agent>());
    }
}
