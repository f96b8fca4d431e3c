//! Finds the files that a session wrote and that changed since. `clido -p --resume` refuses a
//! session with such a file.

use std::{fs::File, io::Read, path::Path, time::UNIX_EPOCH};

use core_model::Sha256;

use crate::SessionLine;

/// The state of a file when a tool wrote it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StaleFileRecord {
    /// The path. A relative path starts in the folder that clido was started in.
    pub path: String,
    /// The SHA-256 of the file in hexadecimal digits. With a prefix such as the `sha256:` of
    /// clido's documentation, clido treats every file as changed.
    pub content_hash: String,
    /// The modification time of the file, in nanoseconds since 1970.
    pub mtime_nanos: u64,
}

/// Returns the files that tools wrote, from results with path, hash and time.
///
/// ```
/// use format_clido::{SessionReader, stale_file_records};
///
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/clido/file-record.jsonl");
/// let lines = SessionReader::open(path)?.collect::<Result<Vec<_>, _>>()?;
/// assert!(stale_file_records(&lines).iter().all(|record| record.content_hash.len() == 64));
/// # Ok::<(), core_model::ReadError>(())
/// ```
pub fn stale_file_records(lines: &[SessionLine]) -> Vec<StaleFileRecord> {
    let record = |line: &SessionLine| match line {
        SessionLine::ToolResult {
            path: Some(path),
            content_hash: Some(content_hash),
            mtime_nanos: Some(mtime_nanos),
            ..
        } => Some(StaleFileRecord {
            path: path.clone(),
            content_hash: content_hash.clone(),
            mtime_nanos: *mtime_nanos,
        }),
        _ => None,
    };
    lines.iter().filter_map(record).collect()
}

/// Returns the paths of changed files: missing, unreadable, or with another time or hash than
/// recorded. As long as there is one, `clido -p --resume` refuses the session.
///
/// Relative paths start in `folder`. A path that is not a file is not opened, because a session may
/// name a device.
pub fn stale_paths(records: &[StaleFileRecord], folder: &Path) -> Vec<String> {
    let is_stale = |record: &&StaleFileRecord| !is_as_recorded(record, folder);
    records.iter().filter(is_stale).map(|record| record.path.clone()).collect()
}

fn is_as_recorded(record: &StaleFileRecord, folder: &Path) -> bool {
    let path = folder.join(&record.path);
    let Ok(metadata) = path.metadata() else { return false };
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    metadata.is_file()
        && modified.is_some_and(|time| time.as_nanos() == u128::from(record.mtime_nanos))
        && hash(&path).is_some_and(|hash| hash == record.content_hash)
}

fn hash(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let mut hasher = Sha256::default();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer).ok()? {
            0 => break,
            n => hasher.update(buffer.get(..n)?),
        }
    }
    Some(hasher.hex())
}
