//! Where pi keeps its sessions: `<agent folder>/sessions/--<path with - for />--/<time>_<id>.jsonl`.

mod listing;

use std::{
    io,
    path::{Path, PathBuf},
};

use core_model::{Environment, Home, SafeName, Store, subfolders};

pub use self::listing::{SessionSummary, list_sessions};

/// The place of pi's sessions, and the command that continues one.
pub(crate) const STORE: Store = Store {
    folders,
    is_shared: false,
    place: Some(|environment, project, id| Ok(home_of(environment, project, id))),
    session_id,
    resume: &["pi", "--session"],
    older: None,
    breadcrumb: None,
    titles: None,
};

/// Returns the folder of pi's settings and sessions: `PI_CODING_AGENT_DIR`, or `~/.pi/agent`.
pub fn agent_dir(environment: &Environment<'_>) -> Option<PathBuf> {
    let named = environment.path("PI_CODING_AGENT_DIR");
    named.or_else(|| Some(environment.home()?.join(".pi").join("agent")))
}

/// Returns the name of the folder in which pi keeps the sessions of a project. The path cannot be
/// computed from the name; the sessions have it as `cwd`.
///
/// ```
/// assert_eq!(format_pi::encode_project_dir("/a/.b_c d"), "--a-.b_c d--");
/// assert_eq!(format_pi::encode_project_dir("C:\\x"), "--C--x--");
/// ```
pub fn encode_project_dir(path: &str) -> String {
    let path = path.strip_prefix(['/', '\\']).unwrap_or(path);
    format!("--{}--", path.replace(['/', '\\', ':'], "-"))
}

/// Returns the folder of a project's sessions. The folder need not exist.
///
/// ```
/// use core_model::{Environment, System};
///
/// let variable = |name: &str| (name == "HOME").then(|| "/home/u".into());
/// let environment = Environment::new(System::Unix, &variable);
/// let folder = format_pi::sessions_dir(&environment, "/home/u/app");
/// assert_eq!(folder, Some("/home/u/.pi/agent/sessions/--home-u-app--".into()));
/// ```
pub fn sessions_dir(environment: &Environment<'_>, project: &str) -> Option<PathBuf> {
    Some(agent_dir(environment)?.join(dir(project)?))
}

/// Returns the folder of a project's sessions below pi's folder; `None` if its name is not safe.
fn dir(project: &str) -> Option<PathBuf> {
    let name = encode_project_dir(project);
    (!name.contains('\0')).then(|| Path::new("sessions").join(name))
}

fn folders(environment: &Environment<'_>, project: Option<&str>) -> io::Result<Vec<PathBuf>> {
    match project {
        Some(project) => Ok(sessions_dir(environment, project).into_iter().collect()),
        None => match agent_dir(environment) {
            Some(folder) => subfolders(&folder.join("sessions")),
            None => Ok(Vec::new()),
        },
    }
}

fn home_of(environment: &Environment<'_>, project: &str, id: &str) -> Option<Home> {
    let name = SafeName::of(session_id(id));
    Some(Home {
        root: agent_dir(environment)?,
        folder: dir(project)?,
        name,
        file: None,
        ending: ".jsonl",
    })
}

/// Returns the id of a session from the name of its file: the part after the time.
pub(crate) fn session_id(stem: &str) -> &str {
    let is_time = |time: &str| {
        let mut shape = "0000-00-00T00-00-00-000Z".bytes();
        time.bytes().all(|byte| match shape.next() {
            Some(b'0') => byte.is_ascii_digit(),
            other => other == Some(byte),
        }) && shape.next().is_none()
    };
    match stem.split_once('_') {
        Some((time, id)) if is_time(time) && !id.is_empty() => id,
        _ => stem,
    }
}

#[cfg(test)]
mod tests {
    use core_model::System;

    use super::*;

    #[test]
    fn a_session_has_its_place_by_project_and_id() {
        let variable = |name: &str| (name == "HOME").then(|| "/home/u".into());
        let environment = Environment::new(System::Unix, &variable);
        let home = home_of(&environment, "/home/u/app", "x1").expect("a place");
        assert_eq!(home.path(), Path::new("/home/u/.pi/agent/sessions/--home-u-app--/x1.jsonl"));
        let path = home_of(&environment, "/../..", "../../x").expect("a place").path();
        assert!(path.starts_with("/home/u/.pi/agent/sessions/--..-..--"), "{path:?}");
        let variable = |name: &str| (name == "PI_CODING_AGENT_DIR").then(|| "/p".into());
        assert_eq!(agent_dir(&Environment::new(System::Unix, &variable)), Some("/p".into()));
        assert_eq!(agent_dir(&Environment::new(System::Unix, &|_| None)), None);
        assert_eq!(sessions_dir(&environment, "a\0"), None);
    }

    #[test]
    fn the_id_follows_the_time() {
        let stem = "2026-11-22T20-01-49-491Z_01a204d9-c1ad";
        assert_eq!(session_id(stem), "01a204d9-c1ad");
        for stem in ["x1", "a_b", "2026-11-22T20-01-49-491Z_", "2026-11-22T20-01-49-49xZ_a", ""] {
            assert_eq!(session_id(stem), stem);
        }
    }
}
