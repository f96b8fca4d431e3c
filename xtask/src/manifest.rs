//! Reads `fixtures/MANIFEST.toml`, which describes each fixture by four strings.
//!
//! In: `[[fixture]]`, then lines such as `file = "clido/plain.jsonl"`. Out: a [`Fixture`] with that
//! file.

use std::path::Path;

/// The description of a fixture.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Fixture {
    /// The path below the folder of the fixtures.
    pub file: String,
    /// The expected result of detection: the name of a format, `foreign` for formats that are refused,
    /// or `none` if no line can be read.
    pub format: String,
    /// The oddity that the fixture is there for.
    pub odd: String,
    /// The origin of the lines, such as a client and its version.
    pub source: String,
    /// The line of its `[[fixture]]` in the manifest, from 1.
    pub line: usize,
}

/// Reads the text of a manifest.
///
/// # Errors
///
/// Returns the number of the first faulty line, counted from 1, and its fault:
/// - the line is not `key = "value"`, or stands before the first `[[fixture]]`
/// - the value is not a string, or has a quote or a backslash
/// - the key is unknown
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
        let (key, value) =
            line.split_once(" = ").ok_or((line_number, "the line is not `key = \"value\"`"))?;
        let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        let value = value.ok_or((line_number, "the value is not a string in double quotes"))?;
        if value.contains(['"', '\\']) {
            return Err((
                line_number,
                "the value has a quote or a backslash, which are not supported",
            ));
        }
        let fixture = fixtures
            .last_mut()
            .ok_or((line_number, "the line stands before the first [[fixture]]"))?;
        let field = match key {
            "file" => &mut fixture.file,
            "format" => &mut fixture.format,
            "odd" => &mut fixture.odd,
            "source" => &mut fixture.source,
            _ => return Err((line_number, "the key is not one of file, format, odd, source")),
        };
        value.clone_into(field);
    }
    Ok(fixtures)
}

/// Reads the manifest of a workspace. Returns the errors of [`manifest`], and line 1 if the file cannot
/// be read.
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
