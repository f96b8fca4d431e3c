//! A program that does a job: what is started, what comes out, what that must equal.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

/// What some programs do with the same input.
pub(crate) struct Job {
    pub(crate) title: String,
    pub(crate) files: Vec<PathBuf>,
    /// What the input was made from, where the job is to get that back.
    pub(crate) original: Vec<PathBuf>,
    pub(crate) contestants: Vec<Contestant>,
}

/// A program that does a job.
pub(crate) struct Contestant {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) steps: Vec<Step>,
    pub(crate) check: Check,
}

/// How much of the job is done.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Kind {
    /// Not the job: what reading and writing alone cost.
    Floor,
    /// The whole job.
    Whole,
    /// More than the job.
    More,
    /// Less than the job.
    Simpler,
    /// A job like it, for another format.
    Other,
}

/// What the output is held against: the first output of the same name in the job.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Check {
    Nothing,
    /// Equal files, byte by byte; what is not a session is left out.
    Bytes(&'static str),
    /// The same once our carry is stripped.
    Stripped(&'static str),
    /// What the input was made from.
    Restored,
    /// Line by line equal JSON, in any spelling.
    Values(&'static str),
}

/// A process: programs that take one session at a time need several.
pub(crate) struct Step {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    /// What is its standard input, if anything.
    pub(crate) stdin: Option<PathBuf>,
    /// The file in the folder of outputs that its standard output becomes.
    pub(crate) stdout: Option<&'static str>,
    /// Gets the folder of outputs as its home, so that it writes there.
    pub(crate) is_at_home: bool,
    /// May say by status 1 that something wants attention.
    pub(crate) is_ours: bool,
}

/// What stands for the folder of outputs in an argument.
pub(crate) const OUT: &str = "{out}";

impl Step {
    /// Starts a program with arguments; its output is `out.jsonl`.
    pub(crate) fn new(program: impl AsRef<Path>, arguments: &[&str]) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            arguments: arguments.iter().map(OsString::from).collect(),
            stdin: None,
            stdout: Some("out.jsonl"),
            is_at_home: false,
            is_ours: false,
        }
    }

    /// Adds paths to the arguments.
    pub(crate) fn paths<'p>(mut self, paths: impl IntoIterator<Item = &'p PathBuf>) -> Self {
        self.arguments.extend(paths.into_iter().map(OsString::from));
        self
    }

    /// Adds arguments.
    pub(crate) fn with(mut self, arguments: &[&str]) -> Self {
        self.arguments.extend(arguments.iter().map(OsString::from));
        self
    }

    /// Starts our program.
    pub(crate) fn ours(program: &Path, arguments: &[&str]) -> Self {
        Self { is_ours: true, ..Self::new(program, arguments) }
    }

    /// Writes elsewhere than to standard output.
    pub(crate) fn quiet(mut self) -> Self {
        self.stdout = None;
        self
    }
}

impl Contestant {
    /// A program of one process.
    pub(crate) fn new(name: impl Into<String>, kind: Kind, check: Check, step: Step) -> Self {
        Self { name: name.into(), kind, steps: vec![step], check }
    }
}
