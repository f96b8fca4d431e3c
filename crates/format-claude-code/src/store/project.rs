//! Projects: one folder of sessions for each path in which the client was started.
//!
//! In: `/home/u/app`. Out: the folder `-home-u-app` and the sessions in it.

use std::{
    collections::HashSet,
    io,
    path::{Path, PathBuf},
};

use core_model::{session_files, subfolders};

use super::{
    SessionInfo, candidates, encode::encode_project_dir, listing::list_sessions, project_folders,
};

/// A project, identified by the path in which the client is started.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Project {
    /// The path.
    pub path: String,
}

/// A session of a project.
#[derive(Clone, Debug)]
pub struct ProjectSession {
    /// The file.
    pub path: PathBuf,
    /// Its first prompt, title and times.
    pub info: SessionInfo,
}

impl Project {
    /// Creates a project for a path. Symbolic links should be resolved first, as the client does.
    pub fn new(path: impl Into<String>) -> Self {
        Self { path: path.into() }
    }

    /// Returns the name of the client's folder for the project.
    ///
    /// ```
    /// use format_claude_code::Project;
    ///
    /// assert_eq!(Project::new("/home/orangepi/claude-life-dev").encode(), "-home-orangepi-claude-life-dev");
    /// assert_eq!(Project::new("/Users/foo/.config").encode(), "-Users-foo--config");
    /// ```
    pub fn encode(&self) -> String {
        encode_project_dir(&self.path)
    }

    /// Returns the names that the folder may have, the client's own first.
    pub fn candidates(&self) -> Vec<String> {
        candidates(&self.path)
    }

    /// Returns the existing folders of the project, the client's own first.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder of projects cannot be read.
    pub fn folders(&self, config_dir: &Path) -> io::Result<Vec<PathBuf>> {
        project_folders(config_dir, &self.path)
    }

    /// Finds the project of a folder: the folder itself, or its nearest ancestor, that has
    /// sessions. Names of folders are tried first, then the working directories in the sessions.
    ///
    /// # Errors
    ///
    /// Returns an error if the folders of projects cannot be read.
    pub fn find(config_dir: &Path, folder: &Path) -> io::Result<Option<Self>> {
        let paths: Vec<&str> = folder.ancestors().filter_map(Path::to_str).collect();
        for path in paths.iter().filter(|path| !path.is_empty()) {
            let project = Self::new(*path);
            if !project.folders(config_dir)?.is_empty() {
                return Ok(Some(project));
            }
        }
        let mut known = HashSet::new();
        for folder in subfolders(&config_dir.join("projects"))? {
            known.extend(list_sessions(&folder)?.into_iter().filter_map(|info| info.cwd));
        }
        Ok(paths.into_iter().find(|path| known.contains(*path)).map(Self::new))
    }

    /// Returns the sessions that the client's own lists show, with their files, most recently
    /// modified first. Of two sessions with one id, the most recently modified one is returned.
    ///
    /// # Errors
    ///
    /// Returns an error if the folders of the project cannot be read.
    pub fn sessions(&self, config_dir: &Path) -> io::Result<Vec<ProjectSession>> {
        let mut found = Vec::new();
        for folder in self.folders(config_dir)? {
            for info in list_sessions(&folder)? {
                let path = folder.join(format!("{}.jsonl", info.session_id));
                found.push(ProjectSession { path, info });
            }
        }
        found.sort_by_key(|it: &ProjectSession| std::cmp::Reverse(it.info.modified));
        let mut known = HashSet::new();
        found.retain(|it| known.insert(it.info.session_id.clone()));
        Ok(found)
    }

    /// Returns the files of a session, by its id. Folders of several layouts may each have one.
    ///
    /// # Errors
    ///
    /// Returns an error if the folders of the project cannot be read.
    pub fn session(&self, config_dir: &Path, session_id: &str) -> io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for folder in self.folders(config_dir)? {
            let files = session_files(&folder)?;
            found.extend(
                files
                    .into_iter()
                    .filter(|path| path.file_stem().is_some_and(|stem| stem == session_id)),
            );
        }
        Ok(found)
    }
}

/// Returns the folders of projects whose names end in `name`; if there are none, the folders whose
/// names contain it.
///
/// # Errors
///
/// Returns an error if the folder of projects cannot be read.
pub fn folders_named(config_dir: &Path, name: &str) -> io::Result<Vec<PathBuf>> {
    let name = encode_project_dir(name);
    let folders = subfolders(&config_dir.join("projects"))?;
    let named = |is: fn(&str, &str) -> bool| -> Vec<PathBuf> {
        let is_named = |path: &&PathBuf| {
            path.file_name().and_then(|stem| stem.to_str()).is_some_and(|stem| is(stem, &name))
        };
        folders.iter().filter(is_named).cloned().collect()
    };
    let ending = named(|folder, name| folder.ends_with(name));
    Ok(if ending.is_empty() { named(|folder, name| folder.contains(name)) } else { ending })
}
