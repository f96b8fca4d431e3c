//! The inputs of the jobs: generated sessions, and the largest real sessions.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{extremes, options::Options};

/// The files that a job reads, alone in a folder.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) files: Vec<PathBuf>,
}

/// All inputs.
pub(crate) struct Inputs {
    /// One long generated session.
    pub(crate) synthetic: Input,
    /// Real sessions.
    pub(crate) data: Option<Input>,
    /// The real sessions in one file, because some programs count each file alone.
    pub(crate) joined: Option<Input>,
    pub(crate) extremes: Vec<Input>,
    pub(crate) small: Input,
}

/// Starts a process that writes the inputs, and lists them.
pub(crate) fn prepare(options: &Options) -> Result<Inputs, String> {
    fs::create_dir_all(&options.scratch).map_err(|error| error.to_string())?;
    let me = std::env::current_exe().map_err(|error| error.to_string())?;
    let status = Command::new(me).arg("make").args(options.for_child()).status();
    if !status.is_ok_and(|status| status.success()) {
        return Err("the inputs could not be written; the message is above".to_owned());
    }
    let list = |name: &str| {
        let mut files = files_below(&options.scratch.join("in").join(name));
        files.sort();
        Input { name: name.to_owned(), files }
    };
    Ok(Inputs {
        synthetic: list("synthetic"),
        data: Some(list("data")).filter(|input| !input.files.is_empty()),
        joined: Some(list("data in one file")).filter(|input| !input.files.is_empty()),
        extremes: extremes::ALL.iter().map(|(name, _)| list(name)).collect(),
        small: list("small"),
    })
}

/// Writes the inputs.
pub(crate) fn make(options: &Options) -> Result<(), String> {
    let folder = options.scratch.join("in");
    let size = options.size << 20;
    let corpus = benches::corpus(size);
    write(&folder.join("synthetic/session.jsonl"), &corpus)?;
    for (name, make) in extremes::ALL {
        write(&folder.join(name).join("session.jsonl"), &make(size / 4))?;
    }
    for (file_idx, bytes) in small_files(&corpus).take(options.files).enumerate() {
        write(&folder.join(format!("small/{}/{file_idx}.jsonl", file_idx % 100)), bytes)?;
    }
    let Some(data) = &options.data else { return Ok(()) };
    let mut sessions: Vec<(u64, PathBuf)> = benches::files_below(data)
        .into_iter()
        .filter_map(|path| Some((fs::metadata(&path).ok()?.len(), path)))
        .collect();
    // The largest first. The sort keeps files of one length in the order of their names.
    sessions.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
    let mut rest = size as u64 * 2;
    let mut joined = Vec::new();
    for (session_idx, (length, path)) in sessions.iter().enumerate() {
        if *length > rest {
            break;
        }
        rest -= length;
        let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        write(&folder.join(format!("data/{session_idx:04}.jsonl")), &bytes)?;
        joined.extend(bytes);
        if joined.last().is_some_and(|byte| *byte != b'\n') {
            joined.push(b'\n');
        }
    }
    write(&folder.join("data in one file/data.jsonl"), &joined)
}

/// Returns an endless iterator of pieces of about 50 KB, of whole lines.
fn small_files(corpus: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut starts = vec![0];
    let mut last = 0;
    for (position, _) in corpus.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
        // The piece ends after the line that exceeds the limit, so that the mean is 50,000.
        if position + 1 - last >= 36_000 {
            last = position + 1;
            starts.push(last);
        }
    }
    let pieces: Vec<_> = starts.windows(2).map(|pair| &corpus[pair[0]..pair[1]]).collect();
    pieces.into_iter().cycle()
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let folder = path.parent().unwrap_or(path);
    let result = fs::create_dir_all(folder).and_then(|()| fs::write(path, bytes));
    result.map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns the files below a folder.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files
}

/// Returns the total size of files in bytes.
pub(crate) fn total(files: &[PathBuf]) -> u64 {
    files.iter().filter_map(|file| fs::metadata(file).ok()).map(|data| data.len()).sum()
}
