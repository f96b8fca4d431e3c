//! What the command line asks for.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// What the command line asks for.
#[derive(Debug)]
pub(crate) struct Options {
    /// Our program.
    pub(crate) convert: PathBuf,
    /// Where the converters built beside this program are.
    pub(crate) bin: PathBuf,
    /// The folder of the scripts.
    pub(crate) scripts: PathBuf,
    /// Where peers are installed.
    pub(crate) tools: PathBuf,
    /// Real sessions, if any.
    pub(crate) data: Option<PathBuf>,
    /// How often each contestant runs after the check.
    pub(crate) rounds: usize,
    /// Megabytes of the large inputs.
    pub(crate) size: usize,
    /// How many small files.
    pub(crate) files: usize,
    /// Words, one of which the title of a job has; all jobs if there is none.
    pub(crate) only: Vec<String>,
    /// Installs nothing.
    pub(crate) is_offline: bool,
    /// Everything read and written, on memory.
    pub(crate) scratch: PathBuf,
    /// The words themselves, for the report and for child processes.
    pub(crate) words: Vec<String>,
}

impl Options {
    /// Reads options; the first three name our program, the scripts, and the folder of the tools.
    pub(crate) fn read(words: &[&str]) -> Result<Self, String> {
        let [convert, scripts, tools, rest @ ..] = words else {
            return Err("start it by `cargo xtask bench-peers`".to_owned());
        };
        let me = std::env::current_exe().map_err(|error| error.to_string())?;
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let mut options = Self {
            convert: convert.into(),
            bin: me.parent().unwrap_or(Path::new(".")).to_owned(),
            scripts: scripts.into(),
            tools: tools.into(),
            data: None,
            rounds: 5,
            size: 64,
            files: 20_000,
            only: Vec::new(),
            is_offline: false,
            scratch: place.join(format!("convert-peers-{}", std::process::id())),
            words: words.iter().map(ToString::to_string).collect(),
        };
        let mut rest = rest.iter();
        while let Some(word) = rest.next() {
            if *word == "--offline" {
                options.is_offline = true;
                continue;
            }
            let value = rest.next().ok_or_else(|| format!("{word}: what?"))?;
            let number = || value.parse::<usize>().map_err(|_| format!("{word} {value}: a number"));
            match *word {
                "--data" => options.data = Some(value.into()),
                "--rounds" => options.rounds = number()?.max(1),
                "--size" => options.size = number()?.max(1),
                "--files" => options.files = number()?,
                "--only" => options.only.push(value.to_string()),
                "--scratch" => options.scratch = value.into(),
                _ => return Err(format!("{word}: not an option; see `cargo xtask`")),
            }
        }
        Ok(options)
    }

    /// Returns the words that ask a child process for the same.
    pub(crate) fn for_child(&self) -> Vec<String> {
        let mut words = self.words.clone();
        words.extend(["--scratch".to_owned(), self.scratch.display().to_string()]);
        words
    }

    /// Returns whether a job of this title is asked for.
    pub(crate) fn wants(&self, title: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|word| title.contains(word.as_str()))
    }

    /// Returns a program that was built beside this one.
    pub(crate) fn built(&self, name: &str) -> PathBuf {
        self.bin.join(name)
    }
}

impl Drop for Options {
    fn drop(&mut self) {
        let is_child = self.words.iter().any(|word| word == "--scratch");
        if !is_child {
            // What cannot be removed goes when the machine does: it is in memory.
            _ = fs::remove_dir_all(&self.scratch);
        }
    }
}
