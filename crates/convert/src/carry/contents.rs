//! The contents of a session of several files: which bytes of the source are whose.

use std::path::{Component, Path, PathBuf};

use super::{push_number, read_number};
use crate::compress::Compression;

/// What stands in a name for that of the main file, without its ending.
const MAIN: &str = "*";

/// The longest path that is made of a name, in bytes.
const MAX_NAME: usize = 1024;

/// The most parts of a name.
const MAX_PARTS: usize = 8;

/// The files that a source was read from, one after the other.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Contents {
    /// The files.
    pub volumes: Vec<Volume>,
}

/// A file of a session.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Volume {
    /// What it is to the session.
    pub kind: VolumeKind,
    /// Its length in bytes.
    pub size: u64,
    /// Its name relative to the folder of the main file, parted by `/`; `*` at the start stands for
    /// the name of the main file without its ending. Empty for the main file itself.
    pub name: String,
    /// The tool use that started the sub-agent; empty if nobody knows.
    pub tool_use: String,
}

/// What a file is to its session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum VolumeKind {
    /// The session itself.
    Main,
    /// A sub-agent.
    Agent,
    /// Anything else, as it is.
    Side,
    /// A sub-agent that was written from a source which tells of it among its own messages: that
    /// one's carry has all of it, and nothing here leads back.
    Derived,
}

impl VolumeKind {
    fn letter(self) -> u8 {
        match self {
            VolumeKind::Main => b'M',
            VolumeKind::Agent => b'A',
            VolumeKind::Side => b'S',
            VolumeKind::Derived => b'D',
        }
    }
}

impl Contents {
    /// Appends the contents, as they stand in a carry.
    pub(super) fn push(&self, out: &mut Vec<u8>) {
        for volume in &self.volumes {
            out.push(volume.kind.letter());
            push_number(out, volume.size);
            for text in [&volume.name, &volume.tool_use] {
                out.push(b',');
                push_number(out, text.len() as u64);
                out.push(b':');
                out.extend_from_slice(text.as_bytes());
            }
        }
    }

    /// Reads contents; `None` if they are none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut contents = Self::default();
        let mut rest = text.as_bytes();
        let mut total = 0u64;
        while let Some((letter, after)) = rest.split_first() {
            let kind = match letter {
                b'M' => VolumeKind::Main,
                b'A' => VolumeKind::Agent,
                b'S' => VolumeKind::Side,
                b'D' => VolumeKind::Derived,
                _ => return None,
            };
            rest = after;
            let size = read_number(&mut rest)?;
            total = total.checked_add(size)?;
            let (name, tool_use) = (read_text(&mut rest)?, read_text(&mut rest)?);
            contents.volumes.push(Volume { kind, size, name, tool_use });
        }
        Some(contents)
    }

    /// Returns the folder that is named after a main file: most files beside it are in there.
    pub(crate) fn folder_of(main: &Path) -> Option<PathBuf> {
        Some(main.parent()?.join(Volume::stem_of(main)?))
    }

    /// Returns whether a file was written from a source that leads back without it.
    pub(crate) fn is_derived(&self) -> bool {
        self.volumes.first().is_some_and(|volume| volume.kind == VolumeKind::Derived)
    }

    /// Returns where each file starts in the source.
    pub(crate) fn starts(&self) -> Vec<u64> {
        let sizes = self.volumes.iter().map(|volume| volume.size);
        sizes.scan(0, |end, size| Some(std::mem::replace(end, *end + size))).collect()
    }
}

fn read_text(rest: &mut &[u8]) -> Option<String> {
    *rest = rest.strip_prefix(b",")?;
    let length = usize::try_from(read_number(rest)?).ok()?;
    *rest = rest.strip_prefix(b":")?;
    let (text, after) = rest.split_at_checked(length)?;
    *rest = after;
    std::str::from_utf8(text).ok().map(str::to_owned)
}

impl Volume {
    /// Returns the name of a main file without its endings, also that which tells of compression:
    /// the folder beside it goes by that.
    pub(crate) fn stem_of(main: &Path) -> Option<&str> {
        Compression::bare(Path::new(main.file_name()?)).file_stem()?.to_str()
    }

    /// Returns what stands behind `jsonl` in the ending of a main file, such as `@37b2b58b`: it tells
    /// versions of a session apart, and their sub-agents.
    pub(crate) fn version_of(main: &Path) -> Option<&str> {
        let name = Compression::bare(Path::new(main.file_name()?));
        name.extension()?.to_str()?.strip_prefix("jsonl")
    }

    /// Returns a file's name as contents have it; `None` if the file does not lie below the folder
    /// of the main one, or its name is not text.
    pub(crate) fn name_of(path: &Path, main: &Path) -> Option<String> {
        let below = path.strip_prefix(main.parent()?).ok()?;
        let mut parts = Vec::new();
        for component in below.components() {
            let Component::Normal(part) = component else { return None };
            parts.push(part.to_str()?);
        }
        let name = parts.join("/");
        let of_main = name.strip_prefix(Self::stem_of(main)?);
        match of_main.filter(|rest| rest.starts_with(['/', '_'])) {
            Some(rest) => Some([MAIN, rest].concat()),
            None => Some(name),
        }
    }

    /// Returns where the file belongs, given the path of the main one; `None` if the name leads
    /// anywhere but below its folder, or cannot be a name on some system.
    pub(crate) fn path(&self, main: &Path) -> Option<PathBuf> {
        if self.name.is_empty() {
            return Some(main.to_owned());
        }
        let mut path = main.parent()?.to_owned();
        let stem = Self::stem_of(main)?;
        for (n, part) in self.name.split('/').enumerate() {
            match part.strip_prefix(MAIN).filter(|_| n == 0) {
                Some("") => path.push(stem),
                Some(rest) if rest.starts_with('_') && is_safe(rest) => {
                    path.push([stem, rest].concat());
                }
                None if is_safe(part) => path.push(part),
                _ => return None,
            }
        }
        let is_short = self.name.len() <= MAX_NAME && self.name.split('/').count() <= MAX_PARTS;
        (is_short && path != main).then_some(path)
    }
}

/// Returns whether a part of a name is safe on any system: it begins with a letter, a digit or `_`, has
/// no control, bidirectional or reserved character, and is no device and no file of our own.
fn is_safe(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or_default();
    let is_odd = |c: char| c.is_control() || is_bidirectional(c) || "/\\:*?\"<>|".contains(c);
    let begins = |c: char| c.is_alphanumeric() || c == '_';
    part.starts_with(begins)
        && part.len() <= 255
        && !part.ends_with(['.', ' '])
        && !part.contains(is_odd)
        && !core_model::is_device(stem)
        && !OWN_ENDINGS.iter().any(|ending| part.ends_with(ending))
}

/// The endings of files that convert itself puts beside others.
const OWN_ENDINGS: [&str; 3] = [".bak", ".carry", ".residue"];

/// Returns whether a character changes the direction of text around it.
fn is_bidirectional(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn volume(name: &str) -> Volume {
        Volume { kind: VolumeKind::Agent, size: 40, name: name.to_owned(), tool_use: "t:,1".into() }
    }

    #[test]
    fn contents_come_back() {
        let main = Volume { kind: VolumeKind::Main, name: String::new(), ..volume("") };
        let side = Volume { kind: VolumeKind::Side, size: 2, ..volume("*/tool-results/é 1.txt") };
        let agent = volume("*/subagents/agent-a1.jsonl");
        let derived = Volume { kind: VolumeKind::Derived, size: 0, ..volume("") };
        let contents = Contents { volumes: vec![derived] };
        let mut text = Vec::new();
        contents.push(&mut text);
        assert_eq!(std::str::from_utf8(&text).map(Contents::parse), Ok(Some(contents.clone())));
        assert!(contents.is_derived());
        let contents = Contents { volumes: vec![main, agent, side] };
        let mut text = Vec::new();
        contents.push(&mut text);
        let text = String::from_utf8(text).expect("text");
        assert_eq!(Contents::parse(&text), Some(contents.clone()));
        assert_eq!(contents.starts(), [0, 40, 80]);
        for end in 1..text.len() {
            let cut = text.get(..end).and_then(Contents::parse);
            assert!(cut.is_none_or(|cut| cut.volumes.len() < 3), "{end}");
        }
        let huge = "Azzzzzzzzzzzz,0:,0:".repeat(4);
        assert_eq!(Contents::parse(&huge), None);
    }

    #[test]
    fn names_stay_below_the_folder_of_the_main_file() {
        let main = Path::new("out/s2.jsonl");
        let path = volume("*/subagents/agent-a1.jsonl").path(main);
        assert_eq!(path.as_deref(), Some(Path::new("out/s2/subagents/agent-a1.jsonl")));
        let path = volume("*_a1.jsonl").path(main);
        assert_eq!(path.as_deref(), Some(Path::new("out/s2_a1.jsonl")));
        let path = volume("agent-a1.jsonl").path(main);
        assert_eq!(path.as_deref(), Some(Path::new("out/agent-a1.jsonl")));
        for name in [
            "/etc/passwd",
            "../x",
            "*/../../x",
            "a//b",
            "a/",
            ".",
            "a/..",
            "C:/x",
            "a\\b",
            "nul",
            "con.txt",
            "a\nb",
            "s2.jsonl",
            "x/*",
            "-rf",
            "a.",
            "a\0",
            ".ssh/authorized_keys",
            "*/.git/hooks",
            "a\u{202e}gpj.exe",
            "x.carry",
            "x.bak",
            "a/b/c/d/e/f/g/h/i",
        ] {
            assert_eq!(volume(name).path(main), None, "{name:?}");
        }
        assert_eq!(volume(&"a/".repeat(600)).path(main), None);
    }

    #[test]
    fn a_name_comes_from_a_path() {
        let main = Path::new("in/s1.jsonl");
        let name = |path: &str| Volume::name_of(Path::new(path), main);
        let expected = Some("*/subagents/agent-a1.jsonl".to_owned());
        assert_eq!(name("in/s1/subagents/agent-a1.jsonl"), expected);
        assert_eq!(name("in/agent-a1.jsonl").as_deref(), Some("agent-a1.jsonl"));
        assert_eq!(name("in/s1_a1.jsonl").as_deref(), Some("*_a1.jsonl"));
        assert_eq!(name("in/s11.jsonl").as_deref(), Some("s11.jsonl"));
        assert_eq!(name("other/agent-a1.jsonl"), None);
    }
}
