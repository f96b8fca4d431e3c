//! Decides whether a worker may write to the output folder that a plan names.
//!
//! ```text
//! in   root /home/ada/out, which is new, empty, or has the journal of an earlier run     out  yes
//! in   root /home/ada, which has files of others, or /home/ada/.ssh, which is new        out  no
//! in   the same with --output /home/ada                                                  out  yes
//! ```
//!
//! A plan may come from a stranger. Without this rule it could write any new file, such as
//! `~/.ssh/authorized_keys`: the copy of a session keeps its bytes.

use std::{
    ffi::OsStr,
    fs, io,
    path::{Component, Path, PathBuf},
};

use sessions::absolute;
use storage::{JOURNAL, RECEIPTS, is_url, list, without_query};

/// The output folders to which a worker may write.
#[derive(Clone, Debug, Default)]
pub struct AllowedRoots {
    /// The only folder, or URL; `None` for any that is new or known.
    pub output: Option<PathBuf>,
}

impl AllowedRoots {
    /// Checks the output folder of a plan, before it is created.
    ///
    /// # Errors
    ///
    /// Returns the reason if a worker may not write to it.
    pub fn check(&self, root: &Path) -> Result<(), String> {
        let name = if is_url(root) { without_query(root) } else { root.to_owned() };
        let name = name.display();
        if let Some(output) = &self.output {
            let is_same = match is_url(root) || is_url(output) {
                true => root == output,
                false => absolute(root) == absolute(output),
            };
            return match is_same {
                true => Ok(()),
                false => Err(format!("{name}: planned for another folder than --output")),
            };
        }
        let advice = format!("if the plan is yours, run `work` with --output {name}");
        // The path is opened part by part, and parts that are not there are created first.
        let Some(root) = resolved(root) else {
            return Err(format!("{name}: leads back from a folder that is not there; {advice}"));
        };
        match Place::of(&root) {
            Place::Known | Place::Store => Ok(()),
            Place::New if !is_hidden(&root) => Ok(()),
            Place::New => Err(format!("{name}: a new folder in a hidden place; {advice}")),
            Place::Foreign => {
                Err(format!("{name}: has files of others, and no journal of a run; {advice}"))
            }
        }
    }
}

/// The kind of an output folder, before a worker writes to it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Place {
    /// Nothing, or an empty folder.
    New,
    /// The folder of an earlier run or worker.
    Known,
    /// A folder with other files, or something else.
    Foreign,
    /// A store, which has no folders.
    Store,
}

impl Place {
    fn of(root: &Path) -> Self {
        if is_url(root) {
            return Place::Store;
        }
        match list(root) {
            Ok(entries) if entries.is_empty() => return Place::New,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Place::New,
            Err(_) => return Place::Foreign,
        }
        let has = |name: &str, is_kind: fn(&fs::Metadata) -> bool| {
            fs::symlink_metadata(root.join(name)).is_ok_and(|metadata| is_kind(&metadata))
        };
        match has(JOURNAL, fs::Metadata::is_file) || has(RECEIPTS, fs::Metadata::is_dir) {
            true => Place::Known,
            false => Place::Foreign,
        }
    }
}

/// Returns a path without `..`; `None` if `..` follows a folder that does not exist.
fn resolved(root: &Path) -> Option<PathBuf> {
    let parts: Vec<Component<'_>> = root.components().collect();
    let Some(last) = parts.iter().rposition(|part| *part == Component::ParentDir) else {
        return Some(root.to_owned());
    };
    let (back, rest) = parts.split_at_checked(last + 1)?;
    let back = fs::canonicalize(back.iter().collect::<PathBuf>()).ok()?;
    Some(back.join(rest.iter().collect::<PathBuf>()))
}

/// Returns whether a folder is hidden, or below a hidden one, seen from the current folder.
fn is_hidden(root: &Path) -> bool {
    let current = Path::new(".");
    let seen = [std::path::absolute(current).ok(), Some(absolute(current))];
    let below = seen.iter().flatten().find_map(|folder| root.strip_prefix(folder).ok());
    below.unwrap_or(root).components().any(|component| match component {
        Component::Normal(name) => starts_with_dot(name),
        _ => false,
    })
}

fn starts_with_dot(name: &OsStr) -> bool {
    name.as_encoded_bytes().first() == Some(&b'.')
}
