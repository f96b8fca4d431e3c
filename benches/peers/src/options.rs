//! The options of the command line.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The options of the command line.
#[derive(Debug)]
pub(crate) struct Options {
    /// The path of our program.
    pub(crate) convert: PathBuf,
    /// The folder of the other programs that are built with this one.
    pub(crate) bin: PathBuf,
    /// The folder of the scripts.
    pub(crate) scripts: PathBuf,
    /// The folder where alternatives are installed.
    pub(crate) tools: PathBuf,
    /// The folder of real sessions, if any.
    pub(crate) data: Option<PathBuf>,
    /// The number of rounds after the check.
    pub(crate) rounds: usize,
    /// The size of large inputs in megabytes.
    pub(crate) size: usize,
    /// The number of small files.
    pub(crate) files: usize,
    /// Parts of titles that choose jobs; empty for all jobs.
    pub(crate) only: Vec<String>,
    /// Whether nothing is installed.
    pub(crate) is_offline: bool,
    /// The folder of inputs and outputs, in memory.
    pub(crate) scratch: PathBuf,
    /// The options as words, for the report and for child processes.
    pub(crate) words: Vec<String>,
}

impl Options {
    /// Parses the arguments. The first three are our program, the scripts, and the folder of the tools.
    pub(crate) fn read(words: &[&str]) -> Result<Self, String> {
        let [convert, scripts, tools, rest @ ..] = words else {
            return Err("arguments are missing: start this program with `cargo xtask bench-peers`"
                .to_owned());
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
            let value =
                rest.next().ok_or_else(|| format!("{word} needs a value; see `cargo xtask`"))?;
            let number =
                || value.parse::<usize>().map_err(|_| format!("{word} {value}: not a number"));
            match *word {
                "--data" => options.data = Some(value.into()),
                "--rounds" => options.rounds = number()?.max(1),
                "--size" => options.size = number()?.max(1),
                "--files" => options.files = number()?,
                "--only" => options.only.push(value.to_string()),
                "--scratch" => options.scratch = value.into(),
                _ => {
                    return Err(format!("{word}: unknown option; `cargo xtask` lists the options"));
                }
            }
        }
        Ok(options)
    }

    /// Returns the arguments that give a child process the same options.
    pub(crate) fn for_child(&self) -> Vec<String> {
        let mut words = self.words.clone();
        words.extend(["--scratch".to_owned(), self.scratch.display().to_string()]);
        words
    }

    /// Returns whether the options choose a job with this title.
    pub(crate) fn wants(&self, title: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|word| title.contains(word.as_str()))
    }

    /// Returns the path of a program that is built with this one.
    pub(crate) fn built(&self, name: &str) -> PathBuf {
        self.bin.join(name)
    }
}

impl Drop for Options {
    fn drop(&mut self) {
        let is_child = self.words.iter().any(|word| word == "--scratch");
        if !is_child {
            // A folder that cannot be removed is in memory, and gone after a restart.
            _ = fs::remove_dir_all(&self.scratch);
        }
    }
}
