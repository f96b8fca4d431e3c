//! Creates files in the new folder of `--restore-files`.
//!
//! In: the folder `rest`, the main file `out/app/s1.jsonl` of a run to `out/`, the third file of its carry, with
//! the name `.git/hooks/post-checkout`. Out: `rest/app/s1.jsonl/2-post-checkout`. Without the folder of a run, the first
//! main file has its files in `rest` itself, and another one in a folder with its name. If the name of a file is taken,
//! its number is followed by another one: `2-2-post-checkout`.
//!
//! The run creates the folder with the first file. A folder that was there before is refused, and no link in
//! it is followed.

use std::{
    collections::HashMap,
    ffi::OsString,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use core_model::{SafeName, system_words};
use storage::{Buffered, Folder};

use super::RunOutputs;

/// The folder of `--restore-files`. The outputs of a run and the temporary folders of its steps share it.
#[derive(Debug)]
pub(super) struct RestoreFolder {
    /// Whether no file is created.
    is_dry_run: bool,
    /// Whether main files are in the folder of a run.
    is_of_run: bool,
    made: Mutex<Made>,
}

/// The created files.
#[derive(Debug, Default)]
struct Made {
    /// `None` until the first file is created.
    folder: Option<Arc<Folder>>,
    /// The main file of the first file.
    first_main: Option<PathBuf>,
    /// The names of the files, by the main file's path in its step and the file's index in the carry.
    names: HashMap<(PathBuf, usize), OsString>,
}

/// The output that a main file in a temporary folder will become.
#[derive(Debug)]
pub(super) struct FinalOutput {
    /// The path of the main file in the temporary folder.
    main: PathBuf,
    /// The path of the output, as [`RunOutputs::final_path`] returns it.
    path: PathBuf,
}

/// A file in the folder of `--restore-files`. It is opened for each write of its buffer, so that any number can be
/// written at once.
pub(crate) struct RestoredFile {
    file: Buffered<Reopened>,
}

/// A file that is opened for each write.
struct Reopened {
    folder: Arc<Folder>,
    name: OsString,
}

impl RestoredFile {
    /// Writes the last bytes, and syncs all bytes and the name to the disk.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub(crate) fn finish(self) -> io::Result<()> {
        let Reopened { folder, name } = self.file.into_inner()?;
        folder.reopen(&name)?.sync_all()?;
        folder.sync()
    }
}

impl Write for RestoredFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Write for Reopened {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.folder.reopen(&self.name)?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl FinalOutput {
    /// Returns the output at `path` for the main file at `main` in a temporary folder.
    pub(super) fn new(main: &Path, path: PathBuf) -> Self {
        Self { main: main.to_owned(), path }
    }
}

impl RestoreFolder {
    /// Returns the folder of a run, before it is created.
    pub(super) fn new(is_dry_run: bool, is_of_run: bool) -> Self {
        Self { is_dry_run, is_of_run, made: Mutex::default() }
    }

    /// Creates a file of the carry of the main file at `main`, which becomes the output at `path`; `None` in a dry run.
    /// `n_files` files are written at the same time.
    fn create(
        &self,
        folder: &Path,
        (main, path): (&Path, PathBuf),
        (file_idx, name): (usize, &str),
        n_files: usize,
        mode: u32,
    ) -> io::Result<Option<RestoredFile>> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(root) = self.open(&mut made, folder)? else { return Ok(None) };
        let below = if self.is_of_run {
            path
        } else if *made.first_main.get_or_insert_with(|| path.clone()) == path {
            PathBuf::new()
        } else {
            path.file_name().map(PathBuf::from).unwrap_or_default()
        };
        let named = |error: io::Error| {
            let path = folder.join(&below);
            io::Error::new(error.kind(), format!("{}: {}", path.display(), system_words(&error)))
        };
        let folder = root.create_below(&below).map_err(named)?;
        let key = (main.to_owned(), file_idx);
        if let Some(old) = made.names.remove(&key) {
            // A source that changed is converted again.
            folder.remove(&old).map_err(named)?;
        }
        let leaf = SafeName::of(name.rsplit('/').next().unwrap_or_default());
        let mut name = OsString::from(format!("{file_idx}-{}", leaf.as_str()));
        let mut n = 2;
        loop {
            match folder.make(&name, mode) {
                // Another step has such a file, or another main file whose name differs in case only.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    name = OsString::from(format!("{file_idx}-{n}-{}", leaf.as_str()));
                    n += 1;
                }
                file => {
                    file.map_err(named)?;
                    break;
                }
            }
        }
        made.names.insert(key, name.clone());
        let file = Buffered::of_files(n_files, Reopened { folder, name });
        Ok(Some(RestoredFile { file }))
    }

    /// Returns the new folder, which is created once; `None` in a dry run.
    fn open(&self, made: &mut Made, path: &Path) -> io::Result<Option<Arc<Folder>>> {
        if let Some(folder) = &made.folder {
            return Ok(Some(folder.clone()));
        }
        let named = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                let words = "exists; name a new folder with --restore-files";
                io::Error::new(error.kind(), format!("{}: {words}", path.display()))
            }
            kind => io::Error::new(kind, format!("{}: {}", path.display(), system_words(&error))),
        };
        let name = path.file_name().ok_or(io::ErrorKind::AlreadyExists.into()).map_err(named)?;
        let above = Folder::open(path.parent().unwrap_or(Path::new(""))).map_err(named)?;
        if self.is_dry_run {
            return match above.kind(name) {
                Ok(_) => Err(named(io::ErrorKind::AlreadyExists.into())),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(named(error)),
            };
        }
        let folder = Arc::new(above.make_folder(name).map_err(named)?);
        above.sync().map_err(named)?;
        made.folder = Some(folder.clone());
        Ok(Some(folder))
    }
}

impl RunOutputs {
    /// Creates a file of the carry of the main file at `main`, in the folder `folder` of `--restore-files`. `name` is its
    /// name in the carry, and `file_idx` its index there; `n_files` are written at the same time. `None` in a dry run.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder was there before the run, or if the system does.
    pub(crate) fn create_restored(
        &self,
        folder: &Path,
        main: &Path,
        (file_idx, name): (usize, &str),
        n_files: usize,
        mode: u32,
    ) -> io::Result<Option<RestoredFile>> {
        let path = self.final_path(main);
        self.restore_folder.create(folder, (main, path), (file_idx, name), n_files, mode)
    }

    /// Returns the path of an output below the folder of a run, or its whole path. A file in a temporary folder
    /// has the path of the output that it becomes, and another file there a path below it.
    pub(super) fn final_path(&self, path: &Path) -> PathBuf {
        let below = self.root.as_ref().map_or(path, |root| root.strip(path));
        match &self.becomes {
            Some(output) if output.main == path => output.path.clone(),
            Some(output) => output.path.join(below),
            None => below.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use storage::{Interruption, Scratch};

    use super::*;

    const MODE: u32 = 0o600;

    fn create(outputs: &RunOutputs, folder: &Path, main: &Path, name: &str) {
        let file = outputs.create_restored(folder, main, (0, name), 1, MODE).expect("created");
        let mut file = file.expect("no dry run");
        file.write_all(main.as_os_str().as_encoded_bytes()).expect("written");
        file.finish().expect("on the disk");
    }

    fn text(path: &Path) -> String {
        fs::read_to_string(path).expect("read")
    }

    #[test]
    fn no_file_replaces_another_main_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let rest = folder.path().join("rest");
        let outputs = RunOutputs::anywhere(false, Interruption::default());
        for main in ["s1.jsonl", "s1/agent-a1.jsonl", "s1.jsonl", "s1/b/agent-a1.jsonl"] {
            create(&outputs, &rest, Path::new(main), "/x");
        }
        assert_eq!(text(&rest.join("0-x")), "s1.jsonl");
        let agents = rest.join("agent-a1.jsonl");
        assert_eq!(text(&agents.join("0-x")), "s1/agent-a1.jsonl");
        assert_eq!(text(&agents.join("0-2-x")), "s1/b/agent-a1.jsonl");
        assert_eq!(fs::read_dir(&rest).expect("listed").count(), 2);
        let other = RunOutputs::anywhere(false, Interruption::default());
        let refused = other.create_restored(&rest, Path::new("s1.jsonl"), (0, "x"), 1, MODE);
        let words = refused.err().expect("refused").to_string();
        assert!(words.ends_with("rest: exists; name a new folder with --restore-files"), "{words}");
    }

    #[test]
    fn the_steps_of_a_run_share_the_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let (out, rest) = (folder.path().join("out"), folder.path().join("rest"));
        let outputs = RunOutputs::below(&out, false, Interruption::default()).expect("opened");
        for path in ["p/s1.jsonl", "q/s1.jsonl"] {
            let path = out.join(path);
            let scratch = Scratch::new().expect("made");
            let main = scratch.path().join("s1.jsonl");
            let step = outputs.in_scratch(&scratch, &main, &path).expect("opened");
            create(&step, &rest, &main, "x");
            create(&step, &rest, &scratch.path().join("s1/agent-a1.jsonl"), "x");
            create(&outputs, &rest, &path, "x");
        }
        for name in ["p/s1.jsonl", "q/s1.jsonl"] {
            assert!(text(&rest.join(name).join("0-x")).contains("tmp"));
            assert_eq!(text(&rest.join(name).join("0-2-x")), out.join(name).display().to_string());
            let agent = text(&rest.join(name).join("s1/agent-a1.jsonl/0-x"));
            assert!(agent.ends_with("agent-a1.jsonl"), "{agent}");
        }
    }

    #[test]
    fn no_step_of_a_dry_run_creates_the_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let rest = folder.path().join("rest");
        let mut outputs = RunOutputs::anywhere(false, Interruption::default());
        outputs.write_options.is_dry_run = true;
        let outputs = RunOutputs::of_one(storage::Backend::Disk, outputs.write_options);
        let scratch = Scratch::new().expect("made");
        let main = scratch.path().join("s1.jsonl");
        let step = outputs.in_scratch(&scratch, &main, Path::new("s1.jsonl")).expect("opened");
        for outputs in [&step, &outputs] {
            let file = outputs.create_restored(&rest, &main, (0, "x"), 1, MODE).expect("no error");
            assert!(file.is_none() && !rest.exists());
        }
    }
}
