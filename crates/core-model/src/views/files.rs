//! Counts the files that the tools of a session used.
//!
//! In: tool uses `Read a.rs`, `Edit a.rs`. Out: `a.rs` read once and edited once.

use std::collections::BTreeMap;

use jsonl::{Raw, Scanner};

use super::{NameRoom, OTHERS, Viewed};
use crate::{Block, Event};

/// The counts of a file.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Touches {
    /// The number of times it was read.
    pub read: u64,
    /// The number of times it was written as a whole.
    pub written: u64,
    /// The number of times it was edited.
    pub edited: u64,
}

/// View that collects the files in the inputs of tools.
#[derive(Debug, Default)]
pub struct FilesTouched {
    scanner: Scanner,
    files: BTreeMap<String, Touches>,
    room: NameRoom,
}

impl FilesTouched {
    /// Adds an event.
    pub fn push(&mut self, event: &Event<'_>) {
        self.view(&Viewed::passing(event));
    }

    /// Adds an event that other views also use.
    pub fn view(&mut self, viewed: &Viewed<'_, '_>) {
        for block in viewed.blocks() {
            let Block::ToolUse(tool) = block else { continue };
            let touch: fn(&mut Touches) = match &*tool.name.decode() {
                "Read" | "NotebookRead" | "read" => |touches| touches.read += 1,
                "Write" | "write" => |touches| touches.written += 1,
                "Edit" | "MultiEdit" | "NotebookEdit" | "edit" => |touches| touches.edited += 1,
                _ => continue,
            };
            if let Some(path) = tool_path(tool.input.json().raw(), &mut self.scanner) {
                touch(self.touches(path));
            }
        }
    }

    /// Returns the counts of a file. Beyond about 4 MiB of paths, further files count as `(others)`.
    fn touches(&mut self, path: String) -> &mut Touches {
        let is_known = self.files.contains_key(&path) || self.room.add(&path);
        self.files.entry(if is_known { path } else { OTHERS.to_owned() }).or_default()
    }

    /// Returns the files with their counts, sorted by path.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Touches)> {
        self.files.iter().map(|(path, touches)| (path.as_str(), *touches))
    }
}

/// Returns the path in a tool's input.
pub fn tool_path(input: Raw<'_>, scanner: &mut Scanner) -> Option<String> {
    let input = scanner.scan_slice(input.as_str().as_bytes(), 0).ok()?;
    let names = ["file_path", "notebook_path", "path"];
    let path = names.iter().find_map(|name| input.get(name)?.text())?;
    Some(path.decode().into_owned())
}
