//! Arguments that name sessions, and arguments for jobs and progress.

use std::{io, path::PathBuf};

use clap::{Args, ValueHint, builder::FalseyValueParser};
use clap_complete::engine::ArgValueCompleter;
use core_model::Format;
use sessions::{Input, OwnFiles};

use super::complete::{Projects, Sessions};
use crate::{
    environment::{inputs, lookup, n_cores, n_jobs},
    terminal::{
        escape::escape_for_terminal,
        progress::{Mode, Progress},
    },
};

/// The named sessions.
#[derive(Args, Debug)]
pub(crate) struct Sources {
    /// Files, folders, or ids of sessions; `-` or nothing for standard input
    #[arg(
        value_name = "INPUTS",
        value_hint = ValueHint::AnyPath,
        add = ArgValueCompleter::new(Sessions)
    )]
    pub(crate) paths: Vec<PathBuf>,
    /// The folder of a project: look up ids there; without inputs, all its sessions
    #[arg(
        long,
        value_name = "FOLDER",
        value_hint = ValueHint::DirPath,
        add = ArgValueCompleter::new(Projects)
    )]
    project: Option<PathBuf>,
}

impl Sources {
    /// Returns whether no input is named.
    pub(crate) fn is_stdin(&self) -> bool {
        self.paths.is_empty() && self.project.is_none()
    }

    /// Returns the inputs, and whether their paths are kept in an output folder. Ids are looked up
    /// among sessions of one format, or of all formats except the target's.
    ///
    /// # Errors
    ///
    /// Returns an error if a client's folder cannot be read, or if the project has no session.
    pub(crate) fn inputs(
        &self,
        from: Option<&'static Format>,
        to: Option<&'static Format>,
    ) -> io::Result<(Vec<Input>, bool)> {
        inputs(&self.paths, &lookup(self.project.as_deref(), from, to))
    }

    /// Returns the message for folders without an input: which files of this program they have, and what to do.
    pub(crate) fn nothing_found(&self, task: &str) -> String {
        let own = self.paths.iter().map(|path| OwnFiles::below(path));
        let own = own.reduce(|one, other| OwnFiles {
            sidecar: one.sidecar.or(other.sidecar),
            journal: one.journal.or(other.journal),
            other: one.other.or(other.other),
        });
        let OwnFiles { sidecar, journal, other } = own.unwrap_or_default();
        let (file, advice) = match (sidecar, journal, other) {
            (Some(file), ..) => (file, "a sidecar; put its session beside it"),
            (None, Some(file), _) => (file, "the journal of a run; convert its sources again"),
            (None, None, Some(file)) => (file, "a file that convert leaves beside outputs"),
            (None, None, None) => return format!("nothing to {task}: no file was found"),
        };
        let file = escape_for_terminal(&file.to_string_lossy());
        format!("nothing to {task}: no session was found, only {file}, {advice}")
    }
}

/// The number of jobs, and the form of progress.
#[derive(Args, Debug)]
pub(crate) struct Pace {
    /// The number of files to read at once [default: the number of cores]
    #[arg(short, long, env = "CONVERT_JOBS", hide_env_values = true)]
    pub(crate) jobs: Option<usize>,
    /// How to report progress
    #[arg(
        long,
        value_enum,
        default_value = "auto",
        env = "CONVERT_PROGRESS",
        hide_env_values = true
    )]
    progress: Mode,
    /// Print errors only
    #[arg(
        short,
        long,
        env = "CONVERT_QUIET",
        hide_env_values = true,
        value_parser = FalseyValueParser::new()
    )]
    pub(crate) quiet: bool,
}

impl Pace {
    /// Returns the number of jobs; by default, the number of cores.
    pub(crate) fn n_jobs(&self) -> usize {
        n_jobs(self.jobs, n_cores())
    }

    /// Starts reporting progress on inputs.
    pub(crate) fn progress<'i>(
        &self,
        inputs: impl IntoIterator<Item = &'i Input, IntoIter: Clone>,
    ) -> Progress {
        let mode = if self.quiet { Mode::None } else { self.progress };
        Progress::of(mode, inputs)
    }
}
