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
    /// Small files, by `SMALL_SIZES`.
    pub(crate) small: Vec<Input>,
}

/// The mean sizes of small files, in bytes.
pub(crate) const SMALL_SIZES: [usize; 2] = [5_000, 50_000];

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
        small: SMALL_SIZES.iter().map(|size| list(&format!("small {size}"))).collect(),
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
    for size in SMALL_SIZES {
        let small = folder.join(format!("small {size}"));
        for (file_idx, bytes) in small_files(&corpus, size).take(options.files).enumerate() {
            write(&small.join(format!("{}/{file_idx}.jsonl", file_idx % 100)), &bytes)?;
        }
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

/// Returns an endless iterator of sessions of about `size` bytes, without lines that are longer.
fn small_files(corpus: &[u8], size: usize) -> impl Iterator<Item = Vec<u8>> {
    let (mut files, mut file) = (Vec::new(), Vec::new());
    let lines = corpus.split_inclusive(|byte| *byte == b'\n');
    for line in lines.filter(|line| line.len() <= size) {
        file.extend_from_slice(line);
        // The file ends after the line that exceeds this, so that the mean is about `size`.
        if file.len() >= size / 100 * 72 {
            files.push(std::mem::take(&mut file));
        }
    }
    files.into_iter().cycle()
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
