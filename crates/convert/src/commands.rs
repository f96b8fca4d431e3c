//! The commands beside the main job: a file for each, with its arguments and what it does.

mod carry;
mod check;
mod completions;
mod detect;
mod export;
mod find;
mod formats;
mod list;
mod man;
mod merge;
mod plan;
#[cfg(feature = "parquet")]
mod restore;
mod scan;
mod show;
mod stats;
#[cfg(feature = "parquet")]
mod tables;
mod work;

use std::io;

use clap::Subcommand;

use crate::run::Status;

/// A command; what a person reads of it in `--help` stands at its row.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Name the format of each input, one line each
    Detect(detect::Args),
    /// Say whether a client would load each input, and what it would not see: a line per finding
    Check(check::Args),
    /// List sessions: what they are called, where and when they were, how large they are
    List(list::Args),
    /// Show sessions as conversations, in a pager or as Markdown, or while they go on
    Show(show::Args),
    /// Find tool calls, errors, and words in sessions: a line per hit
    Find(find::Args),
    /// Sum up sessions: what was said, called, touched and spent, and how long it took
    Stats(stats::Args),
    /// Write sessions as pages that a person reads
    Export(export::Args),
    /// Write sessions as Parquet tables, of their content blocks and of themselves
    #[cfg(feature = "parquet")]
    Tables(tables::Args),
    /// Write the files again that tables with raw lines keep
    #[cfg(feature = "parquet")]
    Restore(restore::Args),
    /// Print what a run would do, a line for each session, for `work` on any machine
    Plan(plan::Args),
    /// Do units of a plan, and answer each with a receipt
    Work(work::Args),
    /// Check that all units of a plan were done, and write the journal and the report of it
    Merge(merge::Args),
    /// Find keys, tokens and passwords: where they stand, not what they are
    Scan(scan::Args),
    /// Show or strip what a converted file carries
    Carry(carry::Args),
    /// List the formats
    Formats,
    /// Print what a shell completes
    Completions(completions::Args),
    /// Print a manual page, as `man -l -` reads it
    Man(man::Args),
}

impl Command {
    /// Does what the command says, and returns how it ended.
    pub(crate) fn run(&self) -> io::Result<Status> {
        match self {
            Command::Detect(args) => detect::run(args),
            Command::Check(args) => check::run(args),
            Command::List(args) => list::run(args),
            Command::Show(args) => show::run(args),
            Command::Find(args) => find::run(args),
            Command::Stats(args) => stats::run(args),
            Command::Export(args) => export::run(args),
            #[cfg(feature = "parquet")]
            Command::Tables(args) => tables::run(args),
            #[cfg(feature = "parquet")]
            Command::Restore(args) => restore::run(args),
            Command::Plan(args) => plan::run(args),
            Command::Work(args) => work::run(args),
            Command::Merge(args) => merge::run(args),
            Command::Scan(args) => scan::run(args),
            Command::Carry(args) => carry::run(args),
            Command::Formats => formats::run(),
            Command::Completions(args) => completions::run(args),
            Command::Man(args) => man::run(args),
        }
    }
}
