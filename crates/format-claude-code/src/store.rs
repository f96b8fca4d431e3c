//! Where Claude Code keeps its transcripts: `<config>/projects/<encoded path>/<uuid>.jsonl`.

mod breadcrumb;
mod encode;
mod index;
mod listing;
mod project;

use std::{
    io,
    path::{Path, PathBuf},
};

use core_model::{Environment, Home, Named, SafeName, Store, subfolders};

pub use self::{
    breadcrumb::Breadcrumb,
    encode::{MAX_PROJECT_DIR, candidates, encode_project_dir},
    index::{IndexEntry, sessions_index},
    listing::{SessionInfo, head_tail_scan, list_sessions},
    project::{Project, ProjectSession, folders_named},
};
use crate::session_uuid;

/// The place of the client's transcripts, and the command that continues one.
pub(crate) const STORE: Store = Store {
    folders,
    is_shared: false,
    place: Some(|environment, project, id| Ok(home_of(environment, project, id))),
    session_id: |stem| stem,
    resume: &["claude", "--resume"],
    older: None,
    breadcrumb: Some(|bytes| {
        let crumb = Breadcrumb::parse(bytes)?;
        Some(Named { project: crumb.project, name: crumb.session_id })
    }),
    titles: None,
};

/// Returns the folder of the client's settings and sessions: `CLAUDE_CONFIG_DIR`, or `~/.claude`.
pub fn config_dir(environment: &Environment<'_>) -> Option<PathBuf> {
    environment.path("CLAUDE_CONFIG_DIR").or_else(|| Some(environment.home()?.join(".claude")))
}

/// Returns the folder in which the client keeps the transcripts of a project. The folder need not
/// exist. [`project_folders`] finds folders that other clients and old layouts name differently.
///
/// ```
/// use core_model::{Environment, System};
///
/// let variable = |name: &str| (name == "HOME").then(|| "/home/u".into());
/// let environment = Environment::new(System::Unix, &variable);
/// let folder = format_claude_code::sessions_dir(&environment, "/home/u/a.b");
/// assert_eq!(folder, Some("/home/u/.claude/projects/-home-u-a-b".into()));
/// ```
pub fn sessions_dir(environment: &Environment<'_>, project: &str) -> Option<PathBuf> {
    Some(config_dir(environment)?.join("projects").join(encode_project_dir(project)))
}

/// Returns the existing folders of a project, the client's own first. Other clients and old layouts
/// name the folder differently.
///
/// # Errors
///
/// Returns an error if the folder of projects cannot be read.
pub fn project_folders(config_dir: &Path, project: &str) -> io::Result<Vec<PathBuf>> {
    let there = subfolders(&config_dir.join("projects"))?;
    let names = candidates(project);
    let mut folders = Vec::new();
    let name_of = |folder: &PathBuf| folder.file_name()?.to_str().map(str::to_owned);
    for name in &names {
        folders.extend(there.iter().find(|folder| name_of(folder).as_ref() == Some(name)).cloned());
    }
    // Clients that hash a long path differently cut it at the same place.
    for cut in names.iter().filter_map(|name| encode::cut(name)) {
        for folder in &there {
            let is_cut = name_of(folder).is_some_and(|name| encode::cut(&name) == Some(cut));
            if is_cut && !folders.contains(folder) {
                folders.push(folder.clone());
            }
        }
    }
    Ok(folders)
}

fn folders(environment: &Environment<'_>, project: Option<&str>) -> io::Result<Vec<PathBuf>> {
    let Some(config_dir) = config_dir(environment) else { return Ok(Vec::new()) };
    match project {
        Some(project) => project_folders(&config_dir, project),
        None => subfolders(&config_dir.join("projects")),
    }
}

fn home_of(environment: &Environment<'_>, project: &str, session_id: &str) -> Option<Home> {
    Some(Home {
        root: config_dir(environment)?,
        folder: Path::new("projects").join(encode_project_dir(project)),
        name: SafeName::new(&session_uuid(session_id))?,
        file: None,
        ending: ".jsonl",
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
        let path = home.expect("a place").path();
        let expected =
            "/home/u/.claude/projects/-home-u-a-b/2a86484a-eb59-46ef-ac4a-848742436c10.jsonl";
        assert_eq!(path, Path::new(expected));
        let path = home_of(&environment, "..", "../../x").expect("a place").path();
        assert!(path.starts_with("/home/u/.claude/projects/--"), "{path:?}");
        let variable = |name: &str| (name == "CLAUDE_CONFIG_DIR").then(|| "/c".into());
        assert_eq!(config_dir(&Environment::new(System::Unix, &variable)), Some("/c".into()));
        assert_eq!(config_dir(&Environment::new(System::Unix, &|_| None)), None);
    }
}
