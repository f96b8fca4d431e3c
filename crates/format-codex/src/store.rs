//! Finds sessions in Codex's folders.
//!
//! In: the id `01a204d4-2cf4-7602-8568-f615e6faca74`. Out:
//! `~/.codex/sessions/2026/11/22/rollout-2026-11-22T19-55-43-01a204d4-2cf4-7602-8568-f615e6faca74.jsonl`.

mod compressed;
mod lineage;
mod listing;

use std::{
    io,
    path::{Path, PathBuf},
};

use core_model::{
    Environment, Home, ReadTitles, SafeName, Store, TitleIndex, is_uuid, iso_millis, subfolders,
    uuid_of_name,
};

pub use self::{
    lineage::{read_lineage, validate_file},
    listing::{SessionSummary, list_sessions},
};

/// The place of Codex's sessions, and the command that continues one.
pub(crate) const STORE: Store = Store {
    folders,
    is_shared: true,
    place: Some(|environment, project, id| Ok(home_of(environment, project, id))),
    session_id,
    resume: &["codex", "resume"],
    older: None,
    breadcrumb: None,
    titles: Some(TitleIndex {
        file: listing::index_of,
        read: ReadTitles::Lines(listing::read_title),
    }),
};

/// Returns the folder of Codex's settings and sessions: `CODEX_HOME`, or `~/.codex`.
pub fn codex_dir(environment: &Environment<'_>) -> Option<PathBuf> {
    let named = environment.path("CODEX_HOME");
    named.or_else(|| Some(environment.home()?.join(".codex")))
}

/// Returns the folder of the sessions of all projects. The folder need not exist.
///
/// ```
/// use core_model::{Environment, System};
///
/// let variable = |name: &str| (name == "HOME").then(|| "/home/u".into());
/// let environment = Environment::new(System::Unix, &variable);
/// let folder = format_codex::sessions_dir(&environment);
/// assert_eq!(folder, Some("/home/u/.codex/sessions".into()));
/// ```
pub fn sessions_dir(environment: &Environment<'_>) -> Option<PathBuf> {
    Some(codex_dir(environment)?.join("sessions"))
}

/// Returns the folders of all days, and the folder of archived sessions. The sessions of all projects
/// are together.
fn folders(environment: &Environment<'_>, _project: Option<&str>) -> io::Result<Vec<PathBuf>> {
    match codex_dir(environment) {
        Some(home) => session_folders(&home),
        None => Ok(Vec::new()),
    }
}

/// Returns the folders that have sessions.
fn session_folders(home: &Path) -> io::Result<Vec<PathBuf>> {
    let sessions = home.join("sessions");
    let mut folders = Vec::new();
    for year in subfolders(&sessions)? {
        for month in subfolders(&year)? {
            folders.extend(subfolders(&month)?);
        }
    }
    folders.push(home.join(ARCHIVE));
    Ok(folders)
}

/// Returns the place of a session. Its id contains its start, if it has the version 7; otherwise the
/// place is that of 1970, and [`place_by_start`] returns the right one.
fn home_of(environment: &Environment<'_>, _project: &str, id: &str) -> Option<Home> {
    let id = written_id(session_id(id));
    let (folder, name) = dated(&id, start_of(&id).unwrap_or(0))?;
    Some(Home { root: codex_dir(environment)?, folder, name, file: None, ending: ".jsonl" })
}

/// Returns the place of a session that started at this time, from its place by id alone. A start in the id wins:
/// Codex names its own files by it.
pub(crate) fn place_by_start(home: Home, start_millis: i64) -> Home {
    let id = session_id(home.name.as_str());
    match dated(id, start_millis).filter(|_| start_of(id).is_none()) {
        Some((folder, name)) => Home { folder, name, ..home },
        None => home,
    }
}

/// Returns the folder of the day of a start, in milliseconds since 1970, and the name of the session in it.
fn dated(id: &str, start_millis: i64) -> Option<(PathBuf, SafeName)> {
    let stem = rollout_stem(id, start_millis);
    let date: Vec<&str> = stem.strip_prefix(ROLLOUT)?.get(..10)?.split('-').collect();
    let folder = date.into_iter().fold(PathBuf::from("sessions"), |path, part| path.join(part));
    Some((folder, SafeName::of(&stem)))
}

/// The name of the folder of archived sessions.
const ARCHIVE: &str = "archived_sessions";

/// The start of the names of sessions' files.
const ROLLOUT: &str = "rollout-";

/// Returns the id under which a session is written: the id itself if it is a UUID.
pub(crate) fn written_id(id: &str) -> String {
    if is_uuid(id) { id.to_ascii_lowercase() } else { uuid_of_name("codex", id) }
}

/// Returns the name of a session's file without its extension.
///
/// ```
/// let stem = format_codex::rollout_stem("01a204d4-2cf4-7602-8568-f615e6faca74", 1795377343000);
/// assert_eq!(stem, "rollout-2026-11-22T19-55-43-01a204d4-2cf4-7602-8568-f615e6faca74");
/// ```
pub fn rollout_stem(id: &str, start_millis: i64) -> String {
    let time = iso_millis(start_millis);
    let time = time.get(..19).unwrap_or("1970-01-01T00:00:00").replace(':', "-");
    format!("{ROLLOUT}{time}-{id}")
}

/// Returns the start of a session in milliseconds since 1970, if its id is a UUID of version 7.
fn start_of(id: &str) -> Option<i64> {
    let digits: String = id.chars().filter(|char| *char != '-').collect();
    let is_7 = digits.as_bytes().get(12) == Some(&b'7');
    let millis = digits.get(..12).filter(|_| is_7 && is_uuid(id))?;
    i64::from_str_radix(millis, 16).ok()
}

/// Returns the id in the name of a session's file; `None` if Codex does not find such a name.
pub(crate) fn rollout_id(stem: &str) -> Option<&str> {
    let (time, id) = stem.strip_prefix(ROLLOUT)?.split_at_checked(19)?;
    let is_shaped = |(byte, shape): (u8, u8)| match shape {
        b'0' => byte.is_ascii_digit(),
        shape => byte == shape,
    };
    let is_time = time.bytes().zip(*b"0000-00-00T00-00-00").all(is_shaped);
    id.strip_prefix('-').filter(|id| is_time && is_uuid(id))
}

/// Returns the id of a session from the name of its file: the part after the time.
pub(crate) fn session_id(stem: &str) -> &str {
    rollout_id(stem.strip_suffix(".jsonl").unwrap_or(stem)).unwrap_or(stem)
}

#[cfg(test)]
mod tests {
    use core_model::System;

    use super::*;

    const ID: &str = "01a204d4-2cf4-7602-8568-f615e6faca74";

    #[test]
    fn a_session_has_its_place_by_its_id() {
        let variable = |name: &str| (name == "HOME").then(|| "/home/u".into());
        let environment = Environment::new(System::Unix, &variable);
        let path = |id: &str| home_of(&environment, "/p", id).expect("a place").path();
        let expected =
            format!("/home/u/.codex/sessions/2026/11/22/rollout-2026-11-22T19-55-43-{ID}.jsonl");
        assert_eq!(path(ID), Path::new(&expected));
        assert_eq!(path(&format!("rollout-2026-11-22T19-55-43-{ID}")), Path::new(&expected));
        let other = path("../../x");
        assert!(other.starts_with("/home/u/.codex/sessions/1970/01/01"), "{other:?}");
        // The id of another client says no start.
        let id = "3285ccd6-44df-46ab-bebf-94ec7fdee0c4";
        let at = |id: &str| {
            let home = home_of(&environment, "/p", id).expect("a place");
            place_by_start(home, 1_790_000_000_000).path()
        };
        let expected =
            format!("/home/u/.codex/sessions/2026/09/21/rollout-2026-09-21T14-13-20-{id}.jsonl");
        assert_eq!((at(id), at(ID)), (expected.into(), path(ID)));
        let variable = |name: &str| (name == "CODEX_HOME").then(|| "/c".into());
        assert_eq!(codex_dir(&Environment::new(System::Unix, &variable)), Some("/c".into()));
        assert_eq!(codex_dir(&Environment::new(System::Unix, &|_| None)), None);
    }

    #[test]
    fn the_titles_are_beside_the_sessions() {
        let index = |path: &str| listing::index_of(Path::new(path));
        let expected = Some(PathBuf::from("/h/.codex/session_index.jsonl"));
        assert_eq!(index("/h/.codex/sessions/2026/11/22/x.jsonl.zst"), expected);
        assert_eq!(index("/h/.codex/archived_sessions/x.jsonl"), expected);
        assert_eq!(index("/h/.codex/x.jsonl"), None);
    }

    #[test]
    fn the_id_follows_the_time() {
        assert_eq!(session_id(&format!("rollout-2026-11-22T19-55-43-{ID}")), ID);
        assert_eq!(session_id(&format!("rollout-2026-11-22T19-55-43-{ID}.jsonl")), ID);
        for stem in ["x1", ID, "rollout-2026-11-22T19-55-43-x", "rollout-", "", "rollout-\u{e9}"] {
            assert_eq!(session_id(stem), stem);
        }
        assert_eq!(start_of("2a86484a-eb59-46ef-8a1b-000000000000"), None);
    }
}
