//! Writes the generated fixtures, `fixtures/damaged`: each is a sound fixture with one kind of damage.

use std::{fs, io, path::Path};

use crate::damage::DAMAGES;

const FOLDER: &str = "fixtures/damaged";

/// Writes the generated fixtures. Returns the paths of the files that changed.
///
/// # Errors
///
/// Returns an error if a file cannot be read or written.
pub fn write_fixtures(root: &Path) -> io::Result<Vec<String>> {
    fs::create_dir_all(root.join(FOLDER))?;
    let stale = stale(root)?;
    for (file, bytes) in &stale {
        fs::write(root.join(file), bytes)?;
    }
    Ok(stale.into_iter().map(|(file, _)| file).collect())
}

/// Compares the generated fixtures with the files. Returns the paths of the files that differ.
///
/// # Errors
///
/// Returns an error if a sound fixture cannot be read.
pub fn check_fixtures(root: &Path) -> io::Result<Vec<String>> {
    Ok(stale(root)?.into_iter().map(|(file, _)| file).collect())
}

/// Returns the generated fixtures that differ from their files, as paths and new bytes.
fn stale(root: &Path) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut stale = Vec::new();
    for damage in DAMAGES {
        let base = fs::read(root.join("fixtures").join(damage.base))?;
        let bytes = (damage.make)(&base);
        let file = format!("{FOLDER}/{}", damage.file);
        if fs::read(root.join(&file)).ok().as_ref() != Some(&bytes) {
            stale.push((file, bytes));
        }
    }
    Ok(stale)
}
