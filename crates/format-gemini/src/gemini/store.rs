//! Where Gemini CLI keeps its sessions: `~/.gemini/tmp/<project>/chats/session-<time>-<id>.jsonl`.

mod listing;

use std::{
    io,
    path::{Path, PathBuf},
};

use core_model::{Environment, Home, OlderFiles, SafeName, Store, marked_path, subfolders};

pub use self::listing::{GeminiSummary, list_gemini_sessions};
use super::{
    document::DOCUMENT_FRAMING,
    writer::{project_hash, written_id},
};

/// The place of the client's sessions, and the command that continues one.
pub(crate) const STORE: Store = Store {
    folders,
    is_shared: false,
    place: Some(place),
    session_id,
    resume: &["gemini", "--resume"],
    older: Some(OlderFiles { ending: "json", framing: DOCUMENT_FRAMING }),
    breadcrumb: None,
    titles: None,
};

/// The file that names the project of a folder.
pub(crate) const MARKER: &str = ".project_root";

/// The start of the names of sessions' files. The client does not find others.
pub(crate) const PREFIX: &str = "session-";

/// Returns the folder of the client's settings and sessions: `.gemini` in `GEMINI_CLI_HOME`, or in the
/// user's home folder.
pub fn gemini_dir(environment: &Environment<'_>) -> Option<PathBuf> {
    let home = environment.path("GEMINI_CLI_HOME").or_else(|| environment.home())?;
    Some(home.join(".gemini"))
}

/// Returns the folder of a project's sessions: the one whose marker names the project, or the one that
/// the client would make. The folder need not exist. `None` if the client's folder is unknown, or if the
/// markers of its projects cannot be read.
///
/// ```
/// use core_model::{Environment, System};
///
/// let variable = |name: &str| (name == "HOME").then(|| "/home/u".into());
/// let environment = Environment::new(System::Unix, &variable);
/// let folder = format_gemini::gemini_sessions_dir(&environment, "/home/u/My App");
/// assert_eq!(folder, Some("/home/u/.gemini/tmp/my-app/chats".into()));
/// ```
pub fn gemini_sessions_dir(environment: &Environment<'_>, project: &str) -> Option<PathBuf> {
    let root = gemini_dir(environment)?;
    let folder = project_dir(&root, project).ok()?;
    Some(root.join(folder))
}

/// Returns the client's name for a folder of a project, before it adds a number to a taken one.
///
/// ```
/// assert_eq!(format_gemini::project_slug("/home/u/My_App"), "my-app");
/// assert_eq!(format_gemini::project_slug("/"), "project");
/// ```
pub fn project_slug(project: &str) -> String {
    let name = project.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or_default();
    let mut slug = String::new();
    for char in name.to_lowercase().chars() {
        if char.is_ascii_lowercase() || char.is_ascii_digit() {
            slug.push(char);
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_matches('-');
    if slug.is_empty() { "project".to_owned() } else { slug.to_owned() }
}

/// Returns the folder of a project's sessions below the client's folder.
///
/// # Errors
///
/// Returns an error if a marker cannot be read: the project may be the one that it names.
fn project_dir(root: &Path, project: &str) -> io::Result<PathBuf> {
    let tmp = Path::new("tmp");
    let chats = |slug: &str| tmp.join(slug).join("chats");
    let above = root.join(tmp);
    for folder in subfolders(&above)? {
        let is_its = project_of(&folder)?.is_some_and(|marked| marked == project);
        if let Some(slug) = folder.file_name().and_then(|name| name.to_str()).filter(|_| is_its) {
            return Ok(chats(slug));
        }
    }
    let slug = project_slug(project);
    let names = std::iter::once(slug.clone()).chain((1..).map(|n: u32| format!("{slug}-{n}")));
    for name in names.take(1000) {
        // A folder without a marker is of no project yet.
        if project_of(&above.join(&name))?.is_none() {
            return Ok(chats(&name));
        }
    }
    Ok(chats(&slug))
}

/// Returns the project that a folder's marker names; `None` if it has no marker.
fn project_of(folder: &Path) -> io::Result<Option<String>> {
    marked_path(&folder.join(MARKER))
}

fn folders(environment: &Environment<'_>, project: Option<&str>) -> io::Result<Vec<PathBuf>> {
    let Some(root) = gemini_dir(environment) else { return Ok(Vec::new()) };
    let mut folders = subfolders(&root.join("tmp"))?;
    if let Some(project) = project {
        // Older versions named the folder by the hash of the project.
        let hash = project_hash(project);
        folders.retain(|folder| match project_of(folder) {
            Ok(Some(marked)) => marked == project,
            _ => folder.file_name().is_some_and(|name| name == hash.as_str()),
        });
    }
    Ok(folders.into_iter().map(|folder| folder.join("chats")).collect())
}

/// Returns the place of a session. The start of a session is not in its id, so the name has the whole
/// id in its place: the client takes any name that begins with `session-`.
fn place(environment: &Environment<'_>, project: &str, id: &str) -> io::Result<Option<Home>> {
    let Some(root) = gemini_dir(environment) else { return Ok(None) };
    let folder = project_dir(&root, project)?;
    let name = match id.starts_with(PREFIX) {
        true => SafeName::new(id),
        false => SafeName::new(&format!("{PREFIX}{}", written_id(id))),
    };
    Ok(name.map(|name| Home { root, folder, name, ending: ".jsonl", file: None }))
}

/// Returns the id of a session from the name of its file: what is behind the time. The client's own names
/// have only its first eight digits.
pub(crate) fn session_id(stem: &str) -> &str {
    let Some(rest) = stem.strip_prefix(PREFIX) else { return stem };
    let is_shaped = |(byte, shape): (u8, u8)| match shape {
        b'0' => byte.is_ascii_digit(),
        shape => byte == shape,
    };
    match rest.split_at_checked(16) {
        Some((time, id)) if time.bytes().zip(*b"0000-00-00T00-00").all(is_shaped) => {
            id.strip_prefix('-').unwrap_or(rest)
        }
        _ => rest,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use core_model::System;

    use super::*;

    const ID: &str = "71de4fac-a477-400c-b3c5-34bbe2c339ed";

    #[test]
    fn a_session_has_its_place_by_project_and_id() {
        let variable = |name: &str| (name == "HOME").then(|| "/home/u".into());
        let environment = Environment::new(System::Unix, &variable);
        let home = place(&environment, "/home/u/A.b", &ID.to_uppercase())
            .expect("readable")
            .expect("a place");
        let expected = format!("/home/u/.gemini/tmp/a-b/chats/session-{ID}.jsonl");
        assert_eq!(home.path(), Path::new(&expected));
        let path = place(&environment, "/../..", "../../x").expect("readable");
        let path = path.expect("a place").path();
        assert!(path.starts_with("/home/u/.gemini/tmp/project/chats"), "{path:?}");
        let variable = |name: &str| (name == "GEMINI_CLI_HOME").then(|| "/g".into());
        let environment = Environment::new(System::Unix, &variable);
        assert_eq!(gemini_dir(&environment), Some("/g/.gemini".into()));
        assert_eq!(gemini_dir(&Environment::new(System::Unix, &|_| None)), None);
    }

    #[test]
    fn the_marker_decides_which_folder_is_of_a_project() {
        let home = tempfile::tempdir().expect("a folder");
        let variable = |name: &str| (name == "HOME").then(|| home.path().into());
        let environment = Environment::new(System::Unix, &variable);
        let tmp = home.path().join(".gemini/tmp");
        for (slug, project) in [("app", "/a/app"), ("app-1", "/b/app"), ("old", "/c/app")] {
            fs::create_dir_all(tmp.join(slug).join("chats")).expect("a folder");
            fs::write(tmp.join(slug).join(MARKER), project).expect("written");
        }
        let hash = project_hash("/d/app");
        fs::create_dir_all(tmp.join(&hash).join("chats")).expect("a folder");
        let dir = |project: &str| gemini_sessions_dir(&environment, project).expect("a folder");
        for (project, slug) in
            [("/a/app", "app"), ("/b/app", "app-1"), ("/c/app", "old"), ("/e/app", "app-2")]
        {
            assert_eq!(dir(project), tmp.join(slug).join("chats"), "{project}");
        }
        let found = |project| folders(&environment, project).expect("listed");
        assert_eq!(found(Some("/b/app")), [tmp.join("app-1/chats")]);
        assert_eq!(found(Some("/d/app")), [tmp.join(hash).join("chats")]);
        assert_eq!(found(None).len(), 4);
    }

    #[cfg(unix)]
    #[test]
    fn a_marker_that_cannot_be_read_is_an_error_and_no_free_folder() {
        let home = tempfile::tempdir().expect("a folder");
        let variable = |name: &str| (name == "HOME").then(|| home.path().into());
        let environment = Environment::new(System::Unix, &variable);
        let marker = home.path().join(".gemini/tmp/app").join(MARKER);
        fs::create_dir_all(marker.parent().expect("a folder")).expect("made");
        let find = || place(&environment, "/a/app", ID);
        assert!(find().expect("no marker").is_some());
        // A link to itself cannot be read, by root neither.
        std::os::unix::fs::symlink(MARKER, &marker).expect("linked");
        let error = find().expect_err("unreadable").to_string();
        assert!(error.starts_with(&marker.display().to_string()), "{error}");
        assert_eq!(gemini_sessions_dir(&environment, "/a/app"), None);
        fs::remove_file(&marker).expect("removed");
        fs::write(&marker, b"/\xff").expect("written");
        let free = find().expect("readable").expect("a place");
        assert_eq!(free.folder, Path::new("tmp/app-1/chats"));
    }

    #[test]
    fn an_id_is_behind_the_time() {
        for (stem, id) in [
            ("session-2026-11-22T19-51-71de4fac", "71de4fac"),
            ("session-71de4fac-a477-400c-b3c5-34bbe2c339ed", ID),
            ("session-2026-11-22T19-51", "2026-11-22T19-51"),
            (ID, ID),
        ] {
            assert_eq!(session_id(stem), id, "{stem}");
        }
    }
}
