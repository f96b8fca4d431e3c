//! Converts between names in a manifest and paths.
//!
//! For the main file `out/s2.jsonl`, the name `*/subagents/agent-a1.jsonl` is the path
//! `out/s2/subagents/agent-a1.jsonl`, and back.

use std::path::{Component, Path, PathBuf};

use conversion::ManifestEntry;
use sessions::stem_of;

use crate::{error::ConvertError, paths::is_harmful};

/// Stands in a name for the main file's name without its ending.
const MAIN: &str = "*";

/// Limit on the bytes of a path from a manifest.
const MAX_NAME: usize = 1024;

/// Limit on the parts of a name.
const MAX_PARTS: usize = 8;

/// Returns the folder that is named after a main file and has most files beside it.
pub(super) fn folder_of(main: &Path) -> Option<PathBuf> {
    Some(main.parent()?.join(stem_of(main)?))
}

/// Refuses a path below the main file: a main file without an ending has the name of the folder of its other
/// files.
pub(super) fn check_folder(path: &Path, main: &Path) -> Result<(), ConvertError> {
    match path.starts_with(main) {
        true => Err(ConvertError::SameFolder(main.display().to_string())),
        false => Ok(()),
    }
}

/// Returns a file's name in a manifest; `None` if the file is not below the folder of the main one,
/// or if its name is not UTF-8.
pub(super) fn name_of(path: &Path, main: &Path) -> Option<String> {
    let below = path.strip_prefix(main.parent()?).ok()?;
    let mut parts = Vec::new();
    for component in below.components() {
        let Component::Normal(part) = component else { return None };
        parts.push(part.to_str()?);
    }
    let name = parts.join("/");
    let of_main = name.strip_prefix(stem_of(main)?);
    match of_main.filter(|rest| rest.starts_with(['/', '_'])) {
        Some(rest) => Some([MAIN, rest].concat()),
        None => Some(name),
    }
}

/// Returns the path of a file beside the main one at `main`; `None` if the name leads out of its
/// folder, or is not allowed on some system.
pub(super) fn path_of(entry: &ManifestEntry, main: &Path) -> Option<PathBuf> {
    if entry.name.is_empty() {
        return Some(main.to_owned());
    }
    let mut path = main.parent()?.to_owned();
    let stem = stem_of(main)?;
    for (n, part) in entry.name.split('/').enumerate() {
        match part.strip_prefix(MAIN).filter(|_| n == 0) {
            Some("") => path.push(stem),
            Some(rest) if rest.starts_with('_') && is_safe(rest) => {
                path.push([stem, rest].concat());
            }
            None if is_safe(part) => path.push(part),
            _ => return None,
        }
    }
    let is_short = entry.name.len() <= MAX_NAME && entry.name.split('/').count() <= MAX_PARTS;
    (is_short && path != main).then_some(path)
}

/// Returns whether a part of a name is safe on any system: it begins with a letter, a digit or `_`,
/// has no control, bidirectional, invisible or reserved character, and is no device and no file of this
/// program.
fn is_safe(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or_default();
    let is_odd = |c: char| is_harmful(c) || is_invisible(c) || "/\\:*?\"<>|".contains(c);
    let is_mark = unicode_normalization::char::is_combining_mark;
    let begins = |c: char| c.is_alphanumeric() && !is_mark(c) || c == '_';
    part.starts_with(begins)
        && part.len() <= 255
        && !part.ends_with(['.', ' '])
        && !part.contains(is_odd)
        && !core_model::is_device(stem)
        && !has_own_ending(part)
}

/// Returns whether a name has the ending of a file that this program writes beside others, in any case:
/// `a.carry`, `a.Residue`, `a.bak2`.
fn has_own_ending(part: &str) -> bool {
    let ending = part.rsplit_once('.').map(|(_, ending)| ending.to_lowercase());
    let is_own = |ending: &String| {
        let bare = ending.trim_end_matches(|c: char| c.is_ascii_digit());
        bare == "bak" || matches!(ending.as_str(), "carry" | "residue")
    };
    ending.is_some_and(|ending| is_own(&ending))
}

/// Returns whether a character is invisible, looks like a blank, or is a noncharacter: two names could look alike, or be
/// one file.
fn is_invisible(c: char) -> bool {
    let is_ignored = matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}');
    let is_blank = c != ' ' && c.is_whitespace() || c == '\u{2800}';
    // The last two code points of each plane and U+FDD0 to U+FDEF are noncharacters.
    let is_noncharacter = u32::from(c) & 0xfffe == 0xfffe || matches!(c, '\u{fdd0}'..='\u{fdef}');
    is_ignored || is_blank || is_noncharacter
}

#[cfg(test)]
mod tests {
    use conversion::ManifestEntryKind;

    use super::*;

    fn entry(name: &str) -> ManifestEntry {
        ManifestEntry {
            kind: ManifestEntryKind::Agent,
            size: 40,
            name: name.to_owned(),
            tool_use: String::new(),
        }
    }

    #[test]
    fn names_stay_below_the_folder_of_the_main_file() {
        let main = Path::new("out/s2.jsonl");
        let path = path_of(&entry("*/subagents/agent-a1.jsonl"), main);
        assert_eq!(path.as_deref(), Some(Path::new("out/s2/subagents/agent-a1.jsonl")));
        let path = path_of(&entry("*_a1.jsonl"), main);
        assert_eq!(path.as_deref(), Some(Path::new("out/s2_a1.jsonl")));
        let path = path_of(&entry("agent-a1.jsonl"), main);
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
            "CONIN$",
            "COM¹",
            "lpt³.txt",
            "x\u{feff}.txt",
            "x\u{200b}",
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
            "x.bak2",
            "x.BAK",
            "x.Carry",
            "x.residue",
            "\u{345}x",
            "x\u{2028}",
            "x\u{206a}",
            "x\u{a0}y",
            "x\u{3164}",
            "x\u{fe0f}",
            "x\u{e0041}",
            "x\u{ffff}",
            "x\u{2800}y",
            "a/b/c/d/e/f/g/h/i",
        ] {
            assert_eq!(path_of(&entry(name), main), None, "{name:?}");
        }
        assert_eq!(path_of(&entry(&"a/".repeat(600)), main), None);
        let main = Path::new("out/..jsonl");
        assert_eq!(path_of(&entry("*/tool-results/a"), main), None);
        assert_eq!(folder_of(main), None);
        for name in ["x.bakery", "x.bak.txt", "bak2", "été 1.txt", "ＡＢ"] {
            assert!(path_of(&entry(name), Path::new("s.jsonl")).is_some(), "{name:?}");
        }
    }

    #[test]
    fn a_name_comes_from_a_path() {
        let main = Path::new("in/s1.jsonl");
        let name = |path: &str| name_of(Path::new(path), main);
        let expected = Some("*/subagents/agent-a1.jsonl".to_owned());
        assert_eq!(name("in/s1/subagents/agent-a1.jsonl"), expected);
        assert_eq!(name("in/agent-a1.jsonl").as_deref(), Some("agent-a1.jsonl"));
        assert_eq!(name("in/s1_a1.jsonl").as_deref(), Some("*_a1.jsonl"));
        assert_eq!(name("in/s11.jsonl").as_deref(), Some("s11.jsonl"));
        assert_eq!(name("other/agent-a1.jsonl"), None);
    }
}
