//! Finds sessions by their ids.
//!
//! In: `3f2`. Out: the files of all sessions whose id starts with `3f2`.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use core_model::{Check, Environment, Problem, session_files};
use jsonl::{Scanner, Stream};

use super::folders;
use crate::validate;

/// Returns the files of the sessions with an id, or with a prefix of it. A whole id has one file
/// for each project that has the session; a prefix may match several sessions.
///
/// All projects are searched, or the one folder that `CLIDO_SESSION_DIR` names.
///
/// # Errors
///
/// Returns an error if a folder cannot be read. A missing folder counts as empty.
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

/// Returns the problems of a session file for clido 1.0.15, as
/// [`validate_strict`](crate::validate_strict) does, with one line in memory at a time.
///
/// # Errors
///
/// Returns an error if the file cannot be read.
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
