//! Which sessions a command is about, and how it goes about them.

use std::{io, path::PathBuf};

use clap::{Args, ValueHint, builder::FalseyValueParser};
use clap_complete::engine::ArgValueCompleter;
use core_model::Format;
use sessions::Input;

use super::complete::{Projects, Sessions};
use crate::{
    environment::{inputs, lookup, n_cores, n_jobs},
    terminal::progress::{Mode, Progress},
};

/// Which sessions are meant.
#[derive(Args, Debug)]
pub(crate) struct Sources {
    /// Files, folders, or ids of sessions; `-` or nothing for standard input
    #[arg(
        value_name = "INPUTS",
        value_hint = ValueHint::AnyPath,
        add = ArgValueCompleter::new(Sessions)
    )]
    pub(crate) paths: Vec<PathBuf>,
    /// The project for ids; without an input, all its sessions
    #[arg(
        long,
        value_name = "FOLDER",
        value_hint = ValueHint::DirPath,
        add = ArgValueCompleter::new(Projects)
    )]
    project: Option<PathBuf>,
}

impl Sources {
    /// Returns whether nothing is named.
    pub(crate) fn is_stdin(&self) -> bool {
        self.paths.is_empty() && self.project.is_none()
    }

    /// Returns the inputs, ids being those of sessions in one format, or in all but the target's,
    /// and whether they are to be mirrored in a folder.
    ///
    /// # Errors
    ///
    /// If a client's folder cannot be read, or the project has no session.
    pub(crate) fn inputs(
        &self,
        from: Option<&'static Format>,
        to: Option<&'static Format>,
    ) -> io::Result<(Vec<Input>, bool)> {
        inputs(&self.paths, &lookup(self.project.as_deref(), from, to))
    }
}

/// How many files at a time, and what is told meanwhile.
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
    /// Returns how many files are read at a time: if nobody says, as many as there are cores.
    pub(crate) fn n_jobs(&self) -> usize {
        n_jobs(self.jobs, n_cores())
    }

    /// Starts to tell how far the work on inputs is.
    pub(crate) fn progress<'i>(
        &self,
        inputs: impl IntoIterator<Item = &'i Input, IntoIter: Clone>,
    ) -> Progress {
        let mode = if self.quiet { Mode::None } else { self.progress };
        Progress::of(mode, inputs)
    }
}
