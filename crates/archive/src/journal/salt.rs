//! A hash of the other files that an output depends on, beside its source and the options.
//!
//! Version 0.1.0 hashed text that Rust printed of its types. That text is spelled out here, so that
//! outputs of version 0.1.0 stay up to date whatever the types are called.

use std::hash::Hasher;

use conversion::{Manifest, ManifestEntry, ManifestEntryKind};
use storage::Stat;
use twox_hash::XxHash3_64;

/// A hash of the other files that an output depends on; 0 if there are none.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Salt {
    /// The hash.
    pub hash: u64,
    /// The hash of version 0.1.0 for the same files.
    pub of_0_1_0: u64,
}

impl Salt {
    /// Hashes the role of a file in its session: the manifest in its first carry, and the id of its
    /// sub-agent.
    pub fn of_file(manifest: Option<&Manifest>, agent: Option<&str>) -> Self {
        let entries = manifest.map(|manifest| &*manifest.entries).filter(|it| !it.is_empty());
        let agents = manifest.map(|manifest| &*manifest.agents).unwrap_or_default();
        Self::of_role(entries, agent).with_agents(agents)
    }

    /// Hashes the entries of a manifest, and the id of a sub-agent.
    fn of_role(entries: Option<&[ManifestEntry]>, agent: Option<&str>) -> Self {
        if entries.is_none() && agent.is_none() {
            return Self::default();
        }
        let mut hash = XxHash3_64::new();
        for entry in entries.unwrap_or_default() {
            push_entry(&mut hash, entry);
        }
        push_text(&mut hash, agent.unwrap_or_default());
        let printed = entries.map_or("None".to_owned(), |entries| {
            let entries: Vec<String> = entries.iter().map(printed).collect();
            format!("Some(Contents {{ volumes: [{}] }})", entries.join(", "))
        });
        let printed = format!("Extra {{ contents: {printed}, agent: {agent:?} }}");
        Self { hash: hash.finish(), of_0_1_0: XxHash3_64::oneshot(printed.as_bytes()) }
    }

    /// Adds the ids of sub-agents. Version 0.1.0 wrote none.
    pub(crate) fn with_agents(mut self, agents: &[String]) -> Self {
        if !agents.is_empty() {
            let mut hash = XxHash3_64::new();
            hash.write(&self.hash.to_le_bytes());
            agents.iter().for_each(|id| push_text(&mut hash, id));
            self.hash = hash.finish();
        }
        self
    }

    /// Adds the XXH3 of the source's sidecar. Version 0.1.0 compared only the source.
    pub(crate) fn with_sidecar(mut self, sidecar: Option<u64>) -> Self {
        if let Some(sidecar) = sidecar {
            let mut hash = XxHash3_64::new();
            hash.write(&self.hash.to_le_bytes());
            hash.write(&sidecar.to_le_bytes());
            self.hash = hash.finish();
        }
        self
    }

    /// Hashes the names and the contents of files, each with the XXH3 of its bytes. Version 0.1.0 has no such
    /// salt.
    pub(crate) fn of_contents<'c>(files: impl IntoIterator<Item = (&'c str, u64)>) -> Self {
        let mut hash = XxHash3_64::new();
        for (name, content) in files {
            push_text(&mut hash, name);
            hash.write(&content.to_le_bytes());
        }
        Self { hash: hash.finish(), of_0_1_0: hash.finish() }
    }
}

/// Hashes the roles, sizes and times of a session's other files, one after the other.
#[derive(Default)]
pub(crate) struct SaltOfFiles {
    hash: XxHash3_64,
    of_0_1_0: XxHash3_64,
}

impl SaltOfFiles {
    /// Adds a file.
    pub(crate) fn push(&mut self, entry: &ManifestEntry, stat: &Stat) {
        let Self { hash, of_0_1_0 } = self;
        push_entry(hash, entry);
        let Stat { length, modified, changed, inode, etag } = stat;
        hash.write(&length.to_le_bytes());
        hash.write(&modified.to_le_bytes());
        hash.write(&changed.unwrap_or_default().to_le_bytes());
        hash.write(&inode.unwrap_or_default().to_le_bytes());
        push_text(hash, etag.as_deref().unwrap_or_default());
        let stat = format!("Stat {{ length: {length}, modified: {modified}, etag: {etag:?} }}");
        of_0_1_0.write(format!("{} {stat}\n", printed(entry)).as_bytes());
    }

    /// Returns the hash of all files.
    pub(crate) fn finish(self) -> Salt {
        Salt { hash: self.hash.finish(), of_0_1_0: self.of_0_1_0.finish() }
    }
}

fn push_entry(hash: &mut XxHash3_64, entry: &ManifestEntry) {
    push_text(hash, kind(entry.kind));
    hash.write(&entry.size.to_le_bytes());
    push_text(hash, &entry.name);
    push_text(hash, &entry.tool_use);
}

fn push_text(hash: &mut XxHash3_64, text: &str) {
    hash.write(&(text.len() as u64).to_le_bytes());
    hash.write(text.as_bytes());
}

/// Returns the text that Rust printed for a file of a session.
fn printed(entry: &ManifestEntry) -> String {
    let ManifestEntry { size, name, tool_use, .. } = entry;
    let kind = kind(entry.kind);
    format!("Volume {{ kind: {kind}, size: {size}, name: {name:?}, tool_use: {tool_use:?} }}")
}

fn kind(kind: ManifestEntryKind) -> &'static str {
    match kind {
        ManifestEntryKind::Main => "Main",
        ManifestEntryKind::Agent => "Agent",
        ManifestEntryKind::Side => "Side",
        ManifestEntryKind::Derived => "Derived",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_what_0_1_0_printed() {
        let entry = ManifestEntry {
            kind: ManifestEntryKind::Agent,
            size: 7,
            name: "*/subagents/agent-\"é\".jsonl".to_owned(),
            tool_use: String::new(),
        };
        assert_eq!(
            printed(&entry),
            r#"Volume { kind: Agent, size: 7, name: "*/subagents/agent-\"é\".jsonl", tool_use: "" }"#
        );
    }

    #[test]
    fn a_file_that_is_put_back_in_time_is_another() {
        let entry = ManifestEntry {
            kind: ManifestEntryKind::Side,
            size: 1,
            name: "a".to_owned(),
            tool_use: String::new(),
        };
        let stat = Stat { length: 1, modified: 2, changed: Some(3), inode: Some(4), etag: None };
        let salt = |stat: &Stat| {
            let mut salt = SaltOfFiles::default();
            salt.push(&entry, stat);
            salt.finish()
        };
        let later = Stat { changed: Some(9), ..stat.clone() };
        assert_ne!(salt(&stat).hash, salt(&later).hash);
        assert_eq!(salt(&stat).of_0_1_0, salt(&later).of_0_1_0);
        assert_eq!(Salt::of_file(None, None), Salt::default());
    }
}
