//! Fixtures that are made from others: `fixtures/damaged`.

use std::{fs, io, path::Path};

use crate::damage::DAMAGES;

const FOLDER: &str = "fixtures/damaged";

/// Writes the fixtures that are made from others; returns the files that changed.
///
/// # Errors
///
/// If a file cannot be read or written.
pub fn write_fixtures(root: &Path) -> io::Result<Vec<String>> {
    fs::create_dir_all(root.join(FOLDER))?;
    let stale = stale(root)?;
    for (file, bytes) in &stale {
        fs::write(root.join(file), bytes)?;
    }
    Ok(stale.into_iter().map(|(file, _)| file).collect())
}

/// Compares the fixtures that are made from others; returns the files that differ.
///
/// # Errors
///
/// If a fixture that others are made from cannot be read.
pub fn check_fixtures(root: &Path) -> io::Result<Vec<String>> {
    Ok(stale(root)?.into_iter().map(|(file, _)| file).collect())
}

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
