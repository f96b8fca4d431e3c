//! Arguments that all reading commands share: inputs, format, project, jobs and progress.

pub(crate) mod filter;
pub(crate) mod in_order;
pub(crate) mod moments;
pub(crate) mod once;
pub(crate) mod relatives;
pub(crate) mod whole;
#[cfg(unix)]
mod zones;

use std::{
    io::{self, IsTerminal},
    path::PathBuf,
};

use clap::ValueHint;
use clap_complete::engine::ArgValueCompleter;
use core_model::Format;
use sessions::{Input, absolute};

use crate::{
    by_name,
    cli::{
        Pace,
        complete::{Projects, Sessions},
        format_names,
    },
    environment::{inputs, lookup},
    terminal::message::warn,
};

/// Whether copies count.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct Copies {
    /// Count a turn in each session that has a copy of it: after a resume, a fork, a conversion
    #[arg(long)]
    pub(crate) with_copies: bool,
}

/// The inputs to read, and the options of reading.
#[derive(clap::Args, Debug)]
pub(crate) struct Reading {
    /// Files, folders, or ids of sessions; `-` is standard input
    #[arg(value_hint = ValueHint::AnyPath, add = ArgValueCompleter::new(Sessions))]
    pub(crate) inputs: Vec<PathBuf>,
    /// The format to read, instead of detecting it
    #[arg(long, value_parser = format_names())]
    pub(crate) from: Option<String>,
    /// The folder of a project: look up ids there; without inputs, all its sessions
    #[arg(
        long,
        value_name = "FOLDER",
        value_hint = ValueHint::DirPath,
        add = ArgValueCompleter::new(Projects)
    )]
    pub(crate) project: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pace: Pace,
}

impl Reading {
    /// Returns the format of `--from`.
    pub(crate) fn format(&self) -> Option<&'static Format> {
        self.from.as_deref().and_then(by_name)
    }

    /// Returns the absolute path of the project, as a client that is started in it knows it.
    pub(crate) fn project_path(&self) -> Option<String> {
        let project = self.project.as_deref()?;
        Some(absolute(project).to_string_lossy().into_owned())
    }

    /// Returns the sorted inputs without the files beside sessions, and whether a folder or several
    /// files are named: then files that are no session are skipped. Without an input, returns the
    /// sessions of all clients or of the project, with their sub-agents.
    ///
    /// # Errors
    ///
    /// Returns an error if a client's folder cannot be read, or if no session is found.
    pub(crate) fn sessions(&self) -> io::Result<(Vec<Input>, bool)> {
        self.sessions_of(&self.inputs)
    }

    /// Returns the inputs at paths as [`Reading::sessions`] does.
    ///
    /// # Errors
    ///
    /// As for [`Reading::sessions`].
    pub(crate) fn sessions_of(&self, paths: &[PathBuf]) -> io::Result<(Vec<Input>, bool)> {
        let lookup = lookup(self.project.as_deref(), self.format(), None);
        if paths.is_empty() {
            return Ok((lookup.inputs(&mut warn)?, true));
        }
        let (mut inputs, is_folder) = inputs(paths, &lookup)?;
        inputs.retain(|input| !is_folder || !input.is_side_file());
        Ok((inputs, is_folder))
    }

    /// Returns the inputs as [`Reading::sessions`] does, but standard input if none is named.
    ///
    /// # Errors
    ///
    /// Returns an error if no input is named and standard input is a terminal, or if no session is
    /// found.
    pub(crate) fn sessions_or_stdin(&self) -> io::Result<(Vec<Input>, bool)> {
        if !self.inputs.is_empty() || self.project.is_some() {
            return self.sessions();
        }
        if io::stdin().is_terminal() {
            let advice = "no input: name a file, a folder, or the id of a session; see --help";
            return Err(io::Error::other(advice));
        }
        Ok((vec![Input::Stdin], false))
    }
}
