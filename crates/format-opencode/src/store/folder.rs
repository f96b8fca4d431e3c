//! Reads a session of a version before 1.2 of the client, which keeps it in a folder of small files.
//!
//! In: `session/<project>/ses_1.json`, `message/ses_1/msg_1.json` and `part/msg_1/prt_1.json` below
//! `storage`. Out: the document with this session, this message and this part. Messages and parts are in
//! the order of their names, as the client reads them.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use core_model::{EachDocument, StoredDocument, files_with_endings, subfolders};
use jsonl::Scanner;

use super::{document::DocumentWriter, odd};
use crate::writer::is_session_id;

/// Limit on the size of a file in bytes.
const MAX_FILE: u64 = 256 * 1024 * 1024;

/// The folders of the three kinds of files, and the ending of their names.
const SESSIONS: &str = "session";
const MESSAGES: &str = "message";
const PARTS: &str = "part";
const ENDING: &str = ".json";

/// Returns whether a folder is such a store, by the folders in it.
pub(super) fn is_store(folder: &Path) -> bool {
    folder.join(SESSIONS).is_dir() && folder.join(MESSAGES).is_dir()
}

/// Calls `each` with each session of a store, sorted by project and id.
pub(super) fn list(store: &Path, each: &mut EachDocument<'_>) -> io::Result<()> {
    let mut scanner = Scanner::default();
    for project in subfolders(&store.join(SESSIONS))? {
        for path in files_with_endings(&project, &[ENDING])? {
            let Some(id) = stem(&path).filter(|id| is_session_id(id)) else { continue };
            let bytes = read(&path)?;
            // A damaged session is listed, so that reading it gives the reason.
            let info = scanner.scan_slice(&bytes, 0).ok();
            let directory = info.and_then(|info| info.get("directory")?.text());
            let updated = info.and_then(|info| info.get("time")?.get("updated"));
            each(StoredDocument {
                id: id.to_owned(),
                project: directory.map(|directory| directory.decode().into_owned()),
                updated: updated.and_then(|it| it.raw().as_f64()).map_or(0, |time| time as i64),
                size: 0,
            })?;
        }
    }
    Ok(())
}

/// Writes the document of the session with this id.
pub(super) fn write(store: &Path, id: &str, out: &mut dyn Write) -> io::Result<()> {
    write_session(store, id, out)
}

/// Reads a session of a folder `storage` as the document that `opencode export` prints.
///
/// # Errors
///
/// Returns an error if there is no session with this id, or if a file of it cannot be read or is no JSON
/// object.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let storage = folder.path();
/// std::fs::create_dir_all(storage.join("session/global"))?;
/// std::fs::write(storage.join("session/global/ses_1.json"), r#"{"id":"ses_1"}"#)?;
/// let document = format_opencode::read_session(storage, "ses_1")?;
/// assert!(document.starts_with(b"{\n  \"info\": {\n    \"id\": \"ses_1\""));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read_session(storage: impl AsRef<Path>, id: &str) -> io::Result<Vec<u8>> {
    let mut document = Vec::new();
    write_session(storage, id, &mut document)?;
    Ok(document)
}

/// Writes a session of a folder `storage` as the document that `opencode export` prints. One message is
/// in memory at a time.
///
/// # Errors
///
/// Returns an error in the cases of [`read_session`], or if the document cannot be written.
pub fn write_session(
    storage: impl AsRef<Path>,
    id: &str,
    out: &mut (dyn Write + '_),
) -> io::Result<()> {
    let (store, none) = (storage.as_ref(), || io::Error::from(io::ErrorKind::NotFound));
    if !is_session_id(id) {
        return Err(none());
    }
    let session = session_path(store, id)?.ok_or_else(none)?;
    let mut writer = DocumentWriter::start(&read(&session)?, out)?;
    for path in files_with_endings(&store.join(MESSAGES).join(id), &[ENDING])? {
        let message = stem(&path).ok_or_else(|| odd(format!("{}: no text", path.display())))?;
        writer.message(message, &read(&path)?)?;
        for path in files_with_endings(&store.join(PARTS).join(message), &[ENDING])? {
            writer.part(&path.display().to_string(), &read(&path)?)?;
        }
    }
    writer.finish()
}

/// Returns the file of the session with this id, in whichever project.
fn session_path(store: &Path, id: &str) -> io::Result<Option<PathBuf>> {
    let projects = subfolders(&store.join(SESSIONS))?;
    let mut paths = projects.into_iter().map(|project| project.join(format!("{id}{ENDING}")));
    let is_file = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|it| it.is_file());
    Ok(paths.find(is_file))
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let mut bytes = Vec::new();
    let mut file = File::open(path).map_err(named)?.take(MAX_FILE.saturating_add(1));
    file.read_to_end(&mut bytes).map_err(named)?;
    match u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_FILE) {
        true => Err(odd(format!("{}: larger than {MAX_FILE} bytes", path.display()))),
        false => Ok(bytes),
    }
}

fn stem(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()?.strip_suffix(ENDING)
}
