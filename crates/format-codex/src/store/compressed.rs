//! Finds and reads the files of sessions, plain and compressed.
//!
//! In: a folder with `rollout-A.jsonl` and `rollout-B.jsonl.zst`. Out: both paths, and the bytes of each as
//! Codex wrote them. Compressed files need the feature `zst`; without it they are not found.

use std::{
    fs::File,
    io::{self, BufReader, Read},
    path::{Path, PathBuf},
};

const PLAIN: &str = ".jsonl";

/// The ending of a file that Codex compressed.
const ZST: &str = ".jsonl.zst";

const ENDINGS: &[&str] = if cfg!(feature = "zst") { &[PLAIN, ZST] } else { &[PLAIN] };

/// Returns the files of sessions in a folder, sorted by name. If a session has a plain file and a
/// compressed one, Codex reads the plain one, and this function returns only that.
pub(super) fn rollouts(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = core_model::files_with_endings(folder, ENDINGS)?;
    // A plain name sorts directly before the compressed one.
    paths.dedup_by(|later, earlier| stem(later).is_some() && stem(later) == stem(earlier));
    Ok(paths)
}

/// Returns the name of a session's file without its endings.
pub(super) fn stem(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    name.strip_suffix(ZST).or_else(|| name.strip_suffix(PLAIN))
}

/// Opens a session's file. The reader returns the bytes as they were before Codex compressed them.
pub(super) fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    let file = File::open(path)?;
    if path.extension().is_some_and(|ending| ending == "zst") {
        return expanded(file);
    }
    Ok(Box::new(file))
}

#[cfg(feature = "zst")]
fn expanded(file: File) -> io::Result<Box<dyn Read>> {
    // A forged file may ask for a window of gigabytes; zstd itself refuses more than 128 MiB.
    let decoder = zstd::stream::read::Decoder::with_buffer(BufReader::new(file))?;
    Ok(Box::new(decoder))
}

#[cfg(not(feature = "zst"))]
fn expanded(_: File) -> io::Result<Box<dyn Read>> {
    let message = "the session is compressed: build format-codex with its feature `zst`";
    Err(io::Error::new(io::ErrorKind::Unsupported, message))
}

/// Reads a whole session.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    BufReader::new(open(path)?).read_to_end(&mut bytes)?;
    Ok(bytes)
}
