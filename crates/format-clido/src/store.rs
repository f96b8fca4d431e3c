//! Where clido keeps its sessions: `<data>/sessions/<path with _ for />/<id>.jsonl`.

mod find;
mod listing;
mod session_reader;
mod session_writer;
mod stale;

use std::{
    io,
    path::{Path, PathBuf},
};

use core_model::{Environment, Home, SafeName, Store, System, subfolders};

pub(crate) use self::session_reader::loadable;
pub use self::{
    find::{find, validate_file},
    listing::{Listing, SessionSummary, list_sessions},
    session_reader::{RawLine, RawLines, SessionReader},
    session_writer::SessionWriter,
    session_writer::SessionWriter as Appender,
    stale::{StaleFileRecord, stale_file_records, stale_paths},
};

/// The place of clido's sessions, and the command that continues one.
pub(crate) const STORE: Store = Store {
    folders,
    is_shared: false,
    place: Some(|environment, project, id| Ok(home_of(environment, project, id))),
    session_id: |stem| stem,
    resume: &["clido", "--resume"],
    older: None,
    breadcrumb: None,
    titles: None,
};

/// Returns the folder of clido's data: `CLIDO_DATA_DIR`, or the system's default.
///
/// ```
/// use core_model::{Environment, System};
///
/// let variable = |name: &str| (name == "HOME").then(|| "/home/u".into());
/// let environment = Environment::new(System::Unix, &variable);
/// let folder = format_clido::data_dir(&environment);
/// assert_eq!(folder, Some("/home/u/.local/share/clido".into()));
/// ```
pub fn data_dir(environment: &Environment<'_>) -> Option<PathBuf> {
    if let Some(folder) = environment.path("CLIDO_DATA_DIR") {
        return Some(folder);
    }
    let home = || environment.home();
    Some(match environment.system {
        // The XDG specification says that a relative path counts as unset.
        System::Unix => environment
            .path("XDG_DATA_HOME")
            .filter(|path| path.is_absolute())
            .or_else(|| Some(home()?.join(".local/share")))?
            .join("clido"),
        System::Mac => home()?.join("Library/Application Support/clido"),
        System::Windows => environment
            .path("APPDATA")
            .or_else(|| Some(home()?.join("AppData").join("Roaming")))?
            .join("clido")
            .join("data"),
    })
}

/// Returns the name of the folder in which clido keeps the sessions of a project.
///
/// ```
/// assert_eq!(format_clido::encode_project_dir("/a/.b_c d"), "_a_.b_c d");
/// ```
pub fn encode_project_dir(path: &str) -> String {
    path.replace('/', "_")
}

/// Returns the folder of a project's sessions. `CLIDO_SESSION_DIR` is one folder for all projects.
pub fn sessions_dir(environment: &Environment<'_>, project: &str) -> Option<PathBuf> {
    let (root, folder) = dir(environment, project)?;
    Some(root.join(folder))
}

fn dir(environment: &Environment<'_>, project: &str) -> Option<(PathBuf, PathBuf)> {
    if let Some(folder) = environment.path("CLIDO_SESSION_DIR") {
        return Some((folder, PathBuf::new()));
    }
    let name = encode_project_dir(project);
    let is_name = !matches!(name.as_str(), "" | "." | "..") && !name.contains(['\\', '\0']);
    is_name.then_some(())?;
    Some((data_dir(environment)?, Path::new("sessions").join(name)))
}

fn folders(environment: &Environment<'_>, project: Option<&str>) -> io::Result<Vec<PathBuf>> {
    match project {
        Some(project) => Ok(sessions_dir(environment, project).into_iter().collect()),
        None => match (environment.path("CLIDO_SESSION_DIR"), data_dir(environment)) {
            (Some(folder), _) => Ok(vec![folder]),
            (None, Some(folder)) => subfolders(&folder.join("sessions")),
            (None, None) => Ok(Vec::new()),
        },
    }
}

fn home_of(environment: &Environment<'_>, project: &str, session_id: &str) -> Option<Home> {
    let (root, folder) = dir(environment, project)?;
    Some(Home { root, folder, name: SafeName::of(session_id), file: None, ending: ".jsonl" })
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn with(values: &'static [(&str, &str)]) -> impl Fn(&str) -> Option<OsString> {
        |name| values.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
    }

    fn dir_of(system: System, values: &'static [(&str, &str)]) -> Option<PathBuf> {
        sessions_dir(&Environment::new(system, &with(values)), "/home/u/my-app")
    }

    #[test]
    fn the_folder_of_each_system() {
        let folder = |path: &str| Some(PathBuf::from(path));
        let home = &[("HOME", "/h")];
        assert_eq!(
            dir_of(System::Unix, home),
            folder("/h/.local/share/clido/sessions/_home_u_my-app")
        );
        assert_eq!(
            dir_of(System::Mac, home),
            folder("/h/Library/Application Support/clido/sessions/_home_u_my-app")
        );
        assert_eq!(
            dir_of(System::Windows, &[("APPDATA", "/r")]),
            folder("/r/clido/data/sessions/_home_u_my-app")
        );
        let xdg = &[("HOME", "/h"), ("XDG_DATA_HOME", "/x")];
        assert_eq!(dir_of(System::Unix, xdg), folder("/x/clido/sessions/_home_u_my-app"));
        let relative = &[("HOME", "/h"), ("XDG_DATA_HOME", "x")];
        assert_eq!(dir_of(System::Unix, relative), dir_of(System::Unix, home));
        assert_eq!(dir_of(System::Unix, &[]), None);
    }

    #[test]
    fn variables_override_the_folder() {
        let data = &[("CLIDO_DATA_DIR", "/d"), ("XDG_DATA_HOME", "/x")];
        assert_eq!(dir_of(System::Unix, data), Some("/d/sessions/_home_u_my-app".into()));
        let flat = &[("CLIDO_DATA_DIR", "/d"), ("CLIDO_SESSION_DIR", "/s")];
        assert_eq!(dir_of(System::Unix, flat), Some("/s".into()));
        assert_eq!(dir_of(System::Unix, &[("CLIDO_DATA_DIR", ""), ("HOME", "")]), None);
    }

    #[test]
    fn no_project_leads_elsewhere() {
        let variables = with(&[("CLIDO_DATA_DIR", "/d")]);
        let environment = Environment::new(System::Unix, &variables);
        for project in ["..", ".", "", "..\\x", "a\0"] {
            assert_eq!(sessions_dir(&environment, project), None);
        }
        let home = home_of(&environment, "/../..", "../../x").expect("a place");
        assert_eq!(home.folder, Path::new("sessions/_.._.."));
        assert!(home.name.as_str().starts_with("x-"));
        let home = home_of(&environment, "/p", "my-session").expect("a place");
        assert_eq!(home.path(), Path::new("/d/sessions/_p/my-session.jsonl"));
    }
}
