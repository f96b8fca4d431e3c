//! Finds sessions by their ids.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use core_model::{Check, Environment, Problem, session_files};
use jsonl::{Scanner, Stream};

use super::folders;
use crate::validate;

/// Returns the files of the session that an id, or the start of one, names: one, if it is a whole
/// id, unless several projects have it; else those of all sessions whose id starts like this.
///
/// All projects are looked through, or the one folder that `CLIDO_SESSION_DIR` names.
///
/// # Errors
///
/// Those of reading the folders; what is not there holds nothing.
///
/// ```
/// use core_model::{Environment, System};
///
/// let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/clido");
/// let variable = |name: &str| (name == "CLIDO_SESSION_DIR").then(|| fixtures.into());
/// let environment = Environment::new(System::Unix, &variable);
/// assert_eq!(format_clido::find(&environment, "seed-000")?.len(), 1);
/// assert_eq!(format_clido::find(&environment, "seed-")?.len(), 2);
/// assert!(format_clido::find(&environment, "../clido/seed-000")?.is_empty());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn find(environment: &Environment<'_>, id: &str) -> io::Result<Vec<PathBuf>> {
    let mut exact = Vec::new();
    let mut similar = Vec::new();
    for folder in folders(environment, None)? {
        for path in session_files(&folder)? {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            if stem == id {
                exact.push(path);
            } else if !id.is_empty() && stem.starts_with(id) {
                similar.push(path);
            }
        }
    }
    Ok(if exact.is_empty() { similar } else { exact })
}

/// Returns what clido 1.0.15 would stumble upon in a session file, as
/// [`validate_strict`](crate::validate_strict) does, without holding more of it than a line.
///
/// # Errors
///
/// Those of reading the file.
pub fn validate_file(path: impl AsRef<Path>) -> io::Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let mut check = Check::new(validate::checker());
    let mut scanner = Scanner::default();
    let mut stream = Stream::new(File::open(path)?);
    while let Some(line) = stream.next()? {
        check.line(&line, scanner.scan(&line), &mut |problem| problems.push(problem));
    }
    check.finish(&mut |problem| problems.push(problem));
    Ok(problems)
}
