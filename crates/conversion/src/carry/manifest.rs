//! The manifest of a session of several files: the byte range of each file in the source.
//!
//! In: a main file of 300 bytes and a sub-agent's file of 200 bytes. Out: entries with these sizes
//! and names; the source is both files in a row, so the second file has the bytes from 300 to 499.

use super::{push_number, read_number};

/// Limit on the sub-agents that a carry lists. The list of a stranger may be as long as its record.
const MAX_AGENTS: usize = 16 * 1024;

/// The files that a source was read from, in order.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Manifest {
    /// The files.
    pub entries: Vec<ManifestEntry>,
    /// Ids of sub-agents, each with a written file of its own. A carry has the first 16,384.
    pub agents: Vec<String>,
    /// Ids of sub-agents with derived files: the source itself has their messages. A carry has the first 16,384.
    pub derived: Vec<String>,
    /// In a derived file: the main file that it was written with, and its sub-agent.
    pub derived_from: Option<DerivedFrom>,
}

/// The session of a derived file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DerivedFrom {
    /// The sum of guards in the end mark of the session's main file.
    pub guards: u64,
    /// The id of the sub-agent.
    pub agent: String,
}

/// A file of a session.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ManifestEntry {
    /// The role of the file in its session.
    pub kind: ManifestEntryKind,
    /// The size in bytes.
    pub size: u64,
    /// The name relative to the folder of the main file, with `/` between folders. A `*` at the
    /// start is the name of the main file without its ending. Empty for the main file.
    pub name: String,
    /// The tool use that started the sub-agent; empty if unknown.
    pub tool_use: String,
}

/// The role of a file in its session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ManifestEntryKind {
    /// The main file.
    Main,
    /// The transcript of a sub-agent.
    Agent,
    /// Another file, carried as it is.
    Side,
    /// A sub-agent that was written from messages in the main file. The carry of the main file
    /// restores these, so nothing is restored from this file.
    Derived,
}

impl ManifestEntryKind {
    fn letter(self) -> u8 {
        match self {
            ManifestEntryKind::Main => b'M',
            ManifestEntryKind::Agent => b'A',
            ManifestEntryKind::Side => b'S',
            ManifestEntryKind::Derived => b'D',
        }
    }
}

impl Manifest {
    /// Appends the manifest as a member of a carry.
    pub(super) fn push(&self, out: &mut Vec<u8>) {
        for entry in &self.entries {
            out.push(entry.kind.letter());
            push_number(out, entry.size);
            for text in [&entry.name, &entry.tool_use] {
                out.push(b',');
                push_number(out, text.len() as u64);
                out.push(b':');
                out.extend_from_slice(text.as_bytes());
            }
        }
    }

    /// Appends ids of sub-agents as a member of a carry.
    pub(super) fn push_agents(ids: &[String], out: &mut Vec<u8>) {
        for id in ids.iter().take(MAX_AGENTS) {
            push_number(out, id.len() as u64);
            out.push(b':');
            out.extend_from_slice(id.as_bytes());
        }
    }

    /// Parses the ids of sub-agents; `None` if they do not follow the grammar, or are more than a carry has.
    pub(super) fn parse_agents(text: &str) -> Option<Vec<String>> {
        let (mut agents, mut rest) = (Vec::new(), text.as_bytes());
        while !rest.is_empty() {
            if agents.len() == MAX_AGENTS {
                return None;
            }
            agents.push(read_sized(&mut rest)?);
        }
        Some(agents)
    }

    /// Appends the session of a derived file as a member of a carry.
    pub(super) fn push_derived_from(from: &DerivedFrom, out: &mut Vec<u8>) {
        push_number(out, from.guards);
        out.push(b',');
        out.extend_from_slice(from.agent.as_bytes());
    }

    /// Parses the session of a derived file; `None` if it does not follow the grammar.
    pub(super) fn parse_derived_from(text: &str) -> Option<DerivedFrom> {
        let mut rest = text.as_bytes();
        let guards = read_number(&mut rest)?;
        let agent = std::str::from_utf8(rest.strip_prefix(b",")?).ok()?;
        Some(DerivedFrom { guards, agent: agent.to_owned() })
    }

    /// Parses the files; `None` if it does not follow the grammar.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut manifest = Self::default();
        let mut rest = text.as_bytes();
        let mut total = 0u64;
        while let Some((letter, after)) = rest.split_first() {
            let kind = match letter {
                b'M' => ManifestEntryKind::Main,
                b'A' => ManifestEntryKind::Agent,
                b'S' => ManifestEntryKind::Side,
                b'D' => ManifestEntryKind::Derived,
                _ => return None,
            };
            rest = after;
            let size = read_number(&mut rest)?;
            total = total.checked_add(size)?;
            let (name, tool_use) = (read_text(&mut rest)?, read_text(&mut rest)?);
            manifest.entries.push(ManifestEntry { kind, size, name, tool_use });
        }
        Some(manifest)
    }

    /// Returns whether a file was derived from a main file, whose carry has its whole source.
    pub fn is_derived(&self) -> bool {
        self.entries.first().is_some_and(|entry| entry.kind == ManifestEntryKind::Derived)
    }

    /// Returns the offset of each file in the source.
    pub(crate) fn starts(&self) -> Vec<u64> {
        let sizes = self.entries.iter().map(|entry| entry.size);
        sizes.scan(0, |end, size| Some(std::mem::replace(end, *end + size))).collect()
    }
}

fn read_text(rest: &mut &[u8]) -> Option<String> {
    *rest = rest.strip_prefix(b",")?;
    read_sized(rest)
}

/// Reads a length, `:`, and a text of that length.
fn read_sized(rest: &mut &[u8]) -> Option<String> {
    let length = usize::try_from(read_number(rest)?).ok()?;
    *rest = rest.strip_prefix(b":")?;
    let (text, after) = rest.split_at_checked(length)?;
    *rest = after;
    std::str::from_utf8(text).ok().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str) -> ManifestEntry {
        ManifestEntry {
            kind: ManifestEntryKind::Agent,
            size: 40,
            name: name.to_owned(),
            tool_use: "t:,1".into(),
        }
    }

    #[test]
    fn contents_come_back() {
        let main =
            ManifestEntry { kind: ManifestEntryKind::Main, name: String::new(), ..entry("") };
        let side = ManifestEntry {
            kind: ManifestEntryKind::Side,
            size: 2,
            ..entry("*/tool-results/é 1.txt")
        };
        let agent = entry("*/subagents/agent-a1.jsonl");
        let derived = ManifestEntry { kind: ManifestEntryKind::Derived, size: 0, ..entry("") };
        let manifest = Manifest { entries: vec![derived], ..Manifest::default() };
        let mut text = Vec::new();
        manifest.push(&mut text);
        assert_eq!(std::str::from_utf8(&text).map(Manifest::parse), Ok(Some(manifest.clone())));
        assert!(manifest.is_derived());
        let manifest = Manifest { entries: vec![main, agent, side], ..Manifest::default() };
        let mut text = Vec::new();
        manifest.push(&mut text);
        let text = String::from_utf8(text).expect("text");
        assert_eq!(Manifest::parse(&text), Some(manifest.clone()));
        assert_eq!(manifest.starts(), [0, 40, 80]);
        for end in 1..text.len() {
            let cut = text.get(..end).and_then(Manifest::parse);
            assert!(cut.is_none_or(|cut| cut.entries.len() < 3), "{end}");
        }
        let agents = vec!["a7f3c21".to_owned(), String::new(), "é:1".to_owned()];
        let mut text = Vec::new();
        Manifest::push_agents(&agents, &mut text);
        assert_eq!(std::str::from_utf8(&text), Ok("7:a7f3c210:4:é:1"));
        assert_eq!(std::str::from_utf8(&text).map(Manifest::parse_agents), Ok(Some(agents)));
        assert_eq!(Manifest::parse_agents("7:a7f3c2"), None);
        text.clear();
        Manifest::push_agents(&vec!["a".to_owned(); 20_000], &mut text);
        let text = String::from_utf8(text).expect("text");
        assert_eq!(Manifest::parse_agents(&text).map(|agents| agents.len()), Some(MAX_AGENTS));
        assert_eq!(Manifest::parse_agents(&format!("{text}1:b")), None);
        let huge = "Azzzzzzzzzzzz,0:,0:".repeat(4);
        assert_eq!(Manifest::parse(&huge), None);
    }
}
