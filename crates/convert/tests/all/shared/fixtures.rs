//! The fixtures of the workspace, from their manifest.

use std::{fs, path::Path};

/// A fixture.
pub(crate) struct Fixture {
    /// The path below the folder of the fixtures.
    pub(crate) name: String,
    /// The expected result of detection: the name of a format, `foreign`, or `none`.
    pub(crate) format: String,
    pub(crate) bytes: Vec<u8>,
}

/// Returns all fixtures.
pub(crate) fn fixtures() -> Vec<Fixture> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let manifest = fs::read_to_string(folder.join("MANIFEST.toml")).expect("the manifest");
    let member = |line: &str, key: &str| {
        line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"').map(str::to_owned)
    };
    let mut fixtures: Vec<Fixture> = Vec::new();
    for line in manifest.lines() {
        if let Some(name) = member(line, "file") {
            let bytes = fs::read(folder.join(&name)).expect(&name);
            fixtures.push(Fixture { name, format: String::new(), bytes });
        } else if let (Some(format), Some(fixture)) = (member(line, "format"), fixtures.last_mut())
        {
            fixture.format = format;
        }
    }
    assert!(fixtures.len() > 150, "{} fixtures", fixtures.len());
    fixtures
}
