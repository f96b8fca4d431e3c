//! Finds the files beside many main files without a look at a whole folder for each.
//!
//! In: the folder with `s1.jsonl`, `s1_a.jsonl`, `s2.jsonl` and thousands more. Out: `s1_a.jsonl` for `s1.jsonl`, and
//! nothing for `s2.jsonl`, from one list of the folder.

use std::{
    collections::HashMap,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use core_model::{Disk, Files, FolderEntry, Formats, folder_of};
use storage::{Backend, Compression, list};

use super::{each_owner, packed::AnyEnding};

/// The folders that were listed in search of the files of sessions, for one run: a file that comes later is not found.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # std::fs::write(folder.path().join("s1.jsonl"), "")?;
/// # let main = sessions::Input::file(folder.path().join("s1.jsonl"));
/// use sessions::{Folders, SessionFiles};
///
/// static FORMATS: core_model::Formats = core_model::Formats::new(&[&format_clido::FORMAT]);
/// let folders = Folders::default();
/// let session = SessionFiles::of_input(FORMATS, main, &format_clido::FORMAT, &folders, &mut |_| {})?;
/// assert!(session.others.is_empty());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Folders {
    plain: Listed,
    /// The same for names without endings of compression.
    bare: Listed,
}

type Listed = Mutex<HashMap<PathBuf, Arc<Owned>>>;

/// The entries of a folder by the main files that own them.
type Owned = HashMap<PathBuf, Arc<Vec<FolderEntry>>>;

impl Folders {
    /// Returns the entries of a main file's folder that belong to it; of a compressed main file, by their names without
    /// endings of compression.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be listed.
    pub(super) fn beside(
        &self,
        formats: Formats,
        main: &Path,
    ) -> io::Result<Arc<Vec<FolderEntry>>> {
        let any_ending = AnyEnding(&Backend::Disk);
        let (listed, files, name): (_, &dyn Files, fn(&Path) -> PathBuf) =
            match Compression::is_in_name(main) {
                true => (&self.bare, &any_ending, Compression::bare_path),
                false => (&self.plain, &Disk, Path::to_owned),
            };
        let owned = find(listed, main, |path, own| each_owner(formats, &name(path), files, own))?;
        Ok(owned.get(&name(main)).cloned().unwrap_or_default())
    }
}

/// Returns the entries of a main file's folder by their owners, of which `owners` calls its second argument.
fn find(
    listed: &Listed,
    main: &Path,
    owners: impl Fn(&Path, &mut dyn FnMut(PathBuf)),
) -> io::Result<Arc<Owned>> {
    let listed = || listed.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = folder_of(main);
    if let Some(owned) = listed().get(folder) {
        return Ok(Arc::clone(owned));
    }
    let mut owned = HashMap::<PathBuf, Vec<FolderEntry>>::new();
    let parent = main.parent().unwrap_or(Path::new(""));
    let entries = match list(folder) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Vec::new()
        }
        entries => entries?,
    };
    for entry in entries.into_iter().filter(|entry| entry.is_file) {
        owners(&parent.join(&entry.name), &mut |main| {
            let entries = owned.entry(main).or_default();
            if entries.last() != Some(&entry) {
                entries.push(entry.clone());
            }
        });
    }
    let owned = owned.into_iter().map(|(main, entries)| (main, Arc::new(entries))).collect();
    let owned = Arc::new(owned);
    listed().insert(folder.to_owned(), Arc::clone(&owned));
    Ok(owned)
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, fs};

    use super::*;

    #[test]
    fn a_folder_is_looked_at_once_for_all_of_its_main_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        for name in ["a.jsonl", "b.jsonl", "c.jsonl", "a_1.jsonl", "a_2.jsonl"] {
            fs::write(path(name), "").expect("written");
        }
        let n_asked = Cell::new(0);
        let listed = Listed::default();
        let beside = |main: &str| {
            let owned = find(&listed, &path(main), |file, own| {
                n_asked.set(n_asked.get() + 1);
                // Two formats may have the same layout.
                if file.to_string_lossy().contains("a_") {
                    own(path("a.jsonl"));
                    own(path("a.jsonl"));
                }
            });
            let entries = owned.expect("listed").get(&path(main)).cloned().unwrap_or_default();
            let name = |entry: &FolderEntry| entry.name.to_string_lossy().into_owned();
            let mut names: Vec<String> = entries.iter().map(name).collect();
            names.sort();
            names
        };
        assert_eq!(beside("a.jsonl"), ["a_1.jsonl", "a_2.jsonl"]);
        assert!(beside("b.jsonl").is_empty());
        assert!(beside("c.jsonl").is_empty());
        assert_eq!(n_asked.get(), 5);
    }
}
