//! Finds sessions in Copilot's folder: `<folder>/session-state/<id>/events.jsonl`.
//!
//! In: the id `0232bab1-4816-4876-a877-1c435b4dc2af`. Out:
//! `~/.copilot/session-state/0232bab1-4816-4876-a877-1c435b4dc2af/events.jsonl`.

mod listing;
mod workspace;

use std::{
    io,
    path::{Path, PathBuf},
};

use core_model::{
    Environment, Home, ReadTitles, SafeName, SessionFolder, Store, TitleIndex, is_uuid, subfolders,
    uuid_of_name,
};

pub use self::listing::{SessionSummary, list_sessions};

/// The place of Copilot's sessions, and the command that continues one.
pub(crate) const STORE: Store = Store {
    folders,
    is_shared: true,
    place: Some(|environment, project, id| Ok(home_of(environment, project, id))),
    session_id: |stem| stem,
    resume: &["copilot", "--resume="],
    older: None,
    breadcrumb: None,
    titles: Some(TitleIndex {
        file: |session| Some(session.parent()?.join(workspace::FILE)),
        read: ReadTitles::File(workspace::read_title),
    }),
};

/// The layout of a session's folder.
pub(crate) const FOLDER: SessionFolder =
    SessionFolder { file: EVENTS, beside: workspace::write_workspace };

/// The name of a session's file.
const EVENTS: &str = "events.jsonl";

/// Returns the folder of Copilot's settings and sessions: `COPILOT_HOME`, or `~/.copilot`.
pub fn copilot_dir(environment: &Environment<'_>) -> Option<PathBuf> {
    let named = environment.path("COPILOT_HOME");
    named.or_else(|| Some(environment.home()?.join(".copilot")))
}

/// Returns the folder of the sessions of all projects. The folder need not exist.
///
/// ```
/// use core_model::{Environment, System};
///
/// let variable = |name: &str| (name == "HOME").then(|| "/home/u".into());
/// let environment = Environment::new(System::Unix, &variable);
/// let folder = format_copilot::sessions_dir(&environment);
/// assert_eq!(folder, Some("/home/u/.copilot/session-state".into()));
/// ```
pub fn sessions_dir(environment: &Environment<'_>) -> Option<PathBuf> {
    Some(copilot_dir(environment)?.join(SESSIONS))
}

/// The name of the folder with the folders of sessions.
const SESSIONS: &str = "session-state";

/// Returns the folders of all sessions. The sessions of all projects are together.
fn folders(environment: &Environment<'_>, _project: Option<&str>) -> io::Result<Vec<PathBuf>> {
    match sessions_dir(environment) {
        Some(sessions) => subfolders(&sessions),
        None => Ok(Vec::new()),
    }
}

fn home_of(environment: &Environment<'_>, _project: &str, id: &str) -> Option<Home> {
    let name = SafeName::new(&written_id(id))?;
    let folder = Path::new(SESSIONS).join(name.as_str());
    Some(Home {
        root: copilot_dir(environment)?,
        folder,
        name,
        file: Some(EVENTS),
        ending: ".jsonl",
    })
}

/// Returns the id under which a session is written: the id itself if it is a UUID.
pub(crate) fn written_id(id: &str) -> String {
    if is_uuid(id) { id.to_ascii_lowercase() } else { uuid_of_name("copilot", id) }
}

#[cfg(test)]
mod tests {
    use core_model::System;

    use super::*;

    const ID: &str = "0232bab1-4816-4876-a877-1c435b4dc2af";

    #[test]
    fn a_session_has_its_place_by_its_id() {
        let variable = |name: &str| (name == "HOME").then(|| "/home/u".into());
        let environment = Environment::new(System::Unix, &variable);
        let home = home_of(&environment, "/p", &ID.to_uppercase()).expect("a place");
        let expected = format!("/home/u/.copilot/session-state/{ID}/events.jsonl");
        assert_eq!((home.path(), home.name.as_str()), (PathBuf::from(&expected), ID));
        let other = home_of(&environment, "/p", "../../x").expect("a place").path();
        assert!(other.starts_with("/home/u/.copilot/session-state"), "{other:?}");
        let variable = |name: &str| (name == "COPILOT_HOME").then(|| "/c".into());
        assert_eq!(copilot_dir(&Environment::new(System::Unix, &variable)), Some("/c".into()));
        assert_eq!(copilot_dir(&Environment::new(System::Unix, &|_| None)), None);
        let format = crate::FORMAT;
        let id = |path: &'static str, stem| format.session_id(Path::new(path), stem);
        assert_eq!(id("/s/0232/events.jsonl", "events"), Some("0232"));
        assert_eq!(id("/s/0232/other.jsonl", "other"), Some("other"));
    }
}
