//! The manifest of the fixtures: tables of three or four strings, read line by line.

use std::path::Path;

/// A fixture, as the manifest describes it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Fixture {
    /// The path below the folder of the fixtures.
    pub file: String,
    /// What detection says: the name of a format, `foreign`, or `none`.
    pub format: String,
    /// What is odd in it.
    pub odd: String,
    /// Where it comes from.
    pub source: String,
    /// The line of the manifest on which it starts.
    pub line: usize,
}

/// Reads the text of a manifest.
///
/// # Errors
///
/// The line that is not understood, counted from 1, and why.
///
/// ```
/// let text = "[[fixture]]\nfile = \"clido/plain.jsonl\"\nodd = \"nothing\"\n";
/// let fixtures = xtask::manifest(text)?;
/// assert_eq!(fixtures[0].odd, "nothing");
/// # Ok::<(), (usize, &str)>(())
/// ```
pub fn manifest(text: &str) -> Result<Vec<Fixture>, (usize, &'static str)> {
    let mut fixtures: Vec<Fixture> = Vec::new();
    for (line_idx, line) in text.lines().enumerate() {
        let line_number = line_idx + 1;
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line == "[[fixture]]" {
            fixtures.push(Fixture { line: line_number, ..Fixture::default() });
            continue;
        }
        let (key, value) = line.split_once(" = ").ok_or((line_number, "not `key = \"value\"`"))?;
        let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        let value = value.ok_or((line_number, "not a string"))?;
        if value.contains(['"', '\\']) {
            return Err((line_number, "quotes and backslashes are not read: word it without"));
        }
        let fixture = fixtures.last_mut().ok_or((line_number, "before the first [[fixture]]"))?;
        let field = match key {
            "file" => &mut fixture.file,
            "format" => &mut fixture.format,
            "odd" => &mut fixture.odd,
            "source" => &mut fixture.source,
            _ => return Err((line_number, "not one of file, format, odd, source")),
        };
        value.clone_into(field);
    }
    Ok(fixtures)
}

/// Reads the manifest of a workspace.
pub(crate) fn of_workspace(root: &Path) -> Result<Vec<Fixture>, (usize, &'static str)> {
    let text = std::fs::read_to_string(root.join("fixtures/MANIFEST.toml"));
    manifest(&text.map_err(|_| (1, "fixtures/MANIFEST.toml cannot be read"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_named_with_their_line() {
        assert_eq!(manifest("file = \"x\"\n").map_err(|error| error.0), Err(1));
        assert_eq!(manifest("[[fixture]]\nfile = x\n").map_err(|error| error.0), Err(2));
        assert_eq!(manifest("[[fixture]]\n\nname = \"x\"\n").map_err(|error| error.0), Err(3));
        assert_eq!(manifest("# nothing\n"), Ok(Vec::new()));
    }
}
