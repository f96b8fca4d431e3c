//! The programs that do a job: their processes, their outputs, and the outputs that these must equal.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

/// A task that several programs do with the same input.
pub(crate) struct Job {
    pub(crate) title: String,
    pub(crate) files: Vec<PathBuf>,
    /// The source of the input, if the job is to restore it.
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

/// The part of the job that a program does.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Kind {
    /// Reading and writing alone, without a conversion.
    Floor,
    /// The whole job.
    Whole,
    /// More than the job.
    More,
    /// Less than the job.
    Simpler,
    /// A similar job for another format.
    Other,
}

/// The comparison for the output. Outputs with the same name must equal the first of them.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Check {
    Nothing,
    /// Sessions that are equal byte by byte. Other files are ignored.
    Bytes(&'static str),
    /// The same, after our carry is removed.
    Stripped(&'static str),
    /// The source of the input.
    Restored,
    /// Lines of equal JSON, in any spelling.
    Values(&'static str),
}

/// A process. Programs that convert one session at a time need several.
pub(crate) struct Step {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    /// The file for its standard input, if any.
    pub(crate) stdin: Option<PathBuf>,
    /// The file for its standard output, in the folder of outputs.
    pub(crate) stdout: Option<&'static str>,
    /// Whether its HOME is the folder of outputs, so that it writes there.
    pub(crate) is_at_home: bool,
    /// Whether exit status 1 counts as success: our program reports losses with it.
    pub(crate) is_ours: bool,
}

/// The placeholder for the folder of outputs in an argument.
pub(crate) const OUT: &str = "{out}";

impl Step {
    /// Creates a process that writes standard output to `out.jsonl`.
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

    /// Creates a process of our program.
    pub(crate) fn ours(program: &Path, arguments: &[&str]) -> Self {
        Self { is_ours: true, ..Self::new(program, arguments) }
    }

    /// Does not redirect standard output, because the program writes files.
    pub(crate) fn quiet(mut self) -> Self {
        self.stdout = None;
        self
    }
}

impl Contestant {
    /// Creates a program of one process.
    pub(crate) fn new(name: impl Into<String>, kind: Kind, check: Check, step: Step) -> Self {
        Self { name: name.into(), kind, steps: vec![step], check }
    }
}
