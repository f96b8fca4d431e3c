//! Where Qwen Code keeps its sessions: `~/.qwen/projects/<path with - for others>/chats/<UUID>.jsonl`.

mod listing;

use std::{
    io,
    path::{Path, PathBuf},
};

use core_model::{Environment, Home, SafeName, Store, subfolders, uuid_of_name};

pub use self::listing::{SessionSummary, list_sessions};

/// The place of the client's sessions, and the command that continues one.
pub(crate) const STORE: Store = Store {
    folders,
    is_shared: false,
    place: Some(|environment, project, id| Ok(home_of(environment, project, id))),
    session_id: |stem| stem,
    resume: &["qwen", "--resume"],
    older: None,
    breadcrumb: None,
    titles: None,
};

/// Returns the folder of the client's settings and sessions: `QWEN_HOME`, or `~/.qwen`.
pub fn qwen_dir(environment: &Environment<'_>) -> Option<PathBuf> {
    environment.path("QWEN_HOME").or_else(|| Some(environment.home()?.join(".qwen")))
}

/// Returns the name of the folder in which the client keeps the sessions of a project. The path cannot
/// be computed from the name; the sessions have it as `cwd`.
///
/// ```
/// assert_eq!(format_gemini::encode_project_dir("/a/.b_c d"), "-a--b-c-d");
/// ```
pub fn encode_project_dir(path: &str) -> String {
    let is_kept = |char: char| char.is_ascii_alphanumeric();
    // The client counts the units of UTF-16.
    let units = path.chars().flat_map(|char| {
        let kept = if is_kept(char) { char } else { '-' };
        std::iter::repeat_n(kept, char.len_utf16())
    });
    units.collect()
}

/// Returns the folder of a project's sessions. The folder need not exist.
///
/// ```
/// use core_model::{Environment, System};
///
/// let variable = |name: &str| (name == "HOME").then(|| "/home/u".into());
/// let environment = Environment::new(System::Unix, &variable);
/// let folder = format_gemini::sessions_dir(&environment, "/home/u/app");
/// assert_eq!(folder, Some("/home/u/.qwen/projects/-home-u-app/chats".into()));
/// ```
pub fn sessions_dir(environment: &Environment<'_>, project: &str) -> Option<PathBuf> {
    Some(qwen_dir(environment)?.join(dir(project)))
}

/// Returns the folder of a project's sessions below the client's folder.
fn dir(project: &str) -> PathBuf {
    Path::new("projects").join(encode_project_dir(project)).join("chats")
}

fn folders(environment: &Environment<'_>, project: Option<&str>) -> io::Result<Vec<PathBuf>> {
    let Some(home) = qwen_dir(environment) else { return Ok(Vec::new()) };
    match project {
        Some(project) => Ok(vec![home.join(dir(project))]),
        None => {
            let projects = subfolders(&home.join("projects"))?;
            Ok(projects.iter().map(|project| project.join("chats")).collect())
        }
    }
}

fn home_of(environment: &Environment<'_>, project: &str, id: &str) -> Option<Home> {
    let name = SafeName::new(&session_uuid(id))?;
    Some(Home {
        root: qwen_dir(environment)?,
        folder: dir(project),
        name,
        file: None,
        ending: ".jsonl",
    })
}

/// Returns the UUID for a session id: the id itself in lower case, if it is a UUID of the versions 1 to
/// 5, else a UUID made from it. The client takes any other id for a title (FORMAT.md, "Place"); the ids
/// of Codex and pi have the version 7.
///
/// ```
/// let id = "2A86484A-EB59-46EF-AC4A-848742436C10";
/// assert_eq!(format_gemini::session_uuid(id), id.to_ascii_lowercase());
/// let id = "01a204d9-c1ad-7020-8220-65475b8a1298";
/// assert_ne!(format_gemini::session_uuid(id), id);
/// assert_eq!(format_gemini::session_uuid("my session").len(), 36);
/// ```
pub fn session_uuid(id: &str) -> String {
    if is_uuid(id) { id.to_ascii_lowercase() } else { uuid_of_name("session", id) }
}

/// Returns whether a text is a UUID of the versions 1 to 5.
pub(crate) fn is_uuid(id: &str) -> bool {
    id.len() == 36
        && id.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            14 => matches!(byte, b'1'..=b'5'),
            19 => matches!(byte.to_ascii_lowercase(), b'8' | b'9' | b'a' | b'b'),
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use core_model::System;

    use super::*;

    #[test]
    fn a_session_has_its_place_by_project_and_id() {
        let variable = |name: &str| (name == "HOME").then(|| "/home/u".into());
        let environment = Environment::new(System::Unix, &variable);
        let home = home_of(&environment, "/home/u/a.b", "2A86484A-EB59-46EF-AC4A-848742436C10");
        let expected =
            "/home/u/.qwen/projects/-home-u-a-b/chats/2a86484a-eb59-46ef-ac4a-848742436c10.jsonl";
        assert_eq!(home.expect("a place").path(), Path::new(expected));
        let path = home_of(&environment, "/../..", "../../x").expect("a place").path();
        assert!(path.starts_with("/home/u/.qwen/projects/------/chats"), "{path:?}");
        let variable = |name: &str| (name == "QWEN_HOME").then(|| "/q".into());
        assert_eq!(qwen_dir(&Environment::new(System::Unix, &variable)), Some("/q".into()));
        assert_eq!(qwen_dir(&Environment::new(System::Unix, &|_| None)), None);
    }
}
