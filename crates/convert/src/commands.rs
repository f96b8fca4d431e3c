//! The commands beside the main job. Each file has the arguments and the code of one command.

mod carry;
mod check;
mod completions;
mod detect;
mod export;
mod find;
mod fork;
mod formats;
mod lineage;
pub(crate) mod list;
mod man;
mod merge;
mod plan;
mod repair;
#[cfg(feature = "parquet")]
mod restore;
mod resume;
mod scan;
mod show;
mod stale;
mod stats;
#[cfg(feature = "parquet")]
mod tables;
mod usage;
mod work;

use std::io;

pub use self::{
    check::check,
    plan::plan,
    usage::{UsageGroup, UsageGroups, UsageSum, usage},
    work::UnitWorker,
};
use archive::Status;
use clap::Subcommand;

use crate::cli::deferred::Deferred;

/// A command. The doc comment of each variant is its line in `--help`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print the format of each input
    Detect(Deferred<detect::Args>),
    /// Go on with a session in another agent, and bring it home
    Resume(Deferred<resume::Args>),
    /// Find what a client would refuse or ignore in a session
    Check(Deferred<check::Args>),
    /// List sessions: id, time, size, project, title
    List(Deferred<list::Args>),
    /// Print sessions as conversations: in a pager, as Markdown, live
    Show(Deferred<show::Args>),
    /// Find words, tool calls and errors in sessions
    Find(Deferred<find::Args>),
    /// Summarize messages, tool calls, files, tokens, cost, duration
    Stats(Deferred<stats::Args>),
    /// Sum tokens and cost by day, session, project, model
    Usage(Deferred<usage::Args>),
    /// Draw which sessions continue, fork or copy which
    Lineage(Deferred<lineage::Args>),
    /// Write sessions as self-contained HTML pages
    Export(Deferred<export::Args>),
    /// Write sessions as Parquet tables of content blocks and sessions
    #[cfg(feature = "parquet")]
    Tables(Deferred<tables::Args>),
    /// Write the original files from tables with raw lines
    #[cfg(feature = "parquet")]
    Restore(Deferred<restore::Args>),
    /// Plan a run: print one line per session, for `work`
    Plan(Deferred<plan::Args>),
    /// Convert the sessions of a plan; print a receipt for each
    Work(Deferred<work::Args>),
    /// Check the receipts of a plan; write the journal and a report
    Merge(Deferred<merge::Args>),
    /// Find keys, tokens and passwords, without printing them
    Scan(Deferred<scan::Args>),
    /// Print or remove the carry of a converted file
    Carry(Deferred<carry::Args>),
    /// Repair a damaged or cut session, and list every change
    Repair(Deferred<repair::Args>),
    /// Copy a session of clido or Claude Code under a new id
    Fork(Deferred<fork::Args>),
    /// List files that changed after a clido session wrote them
    Stale(Deferred<stale::Args>),
    /// List the formats
    Formats,
    /// Print a script that completes commands in a shell
    Completions(Deferred<completions::Args>),
    /// Print a manual page for `man -l -`
    Man(Deferred<man::Args>),
}

impl Command {
    /// Runs the command and returns its status.
    pub(crate) fn run(&self) -> io::Result<Status> {
        match self {
            Command::Detect(Deferred(args)) => detect::run(args),
            Command::Resume(Deferred(args)) => resume::run(args),
            Command::Check(Deferred(args)) => check::run(args),
            Command::List(Deferred(args)) => list::run(args),
            Command::Show(Deferred(args)) => show::run(args),
            Command::Find(Deferred(args)) => find::run(args),
            Command::Stats(Deferred(args)) => stats::run(args),
            Command::Usage(Deferred(args)) => usage::run(args),
            Command::Lineage(Deferred(args)) => lineage::run(args),
            Command::Export(Deferred(args)) => export::run(args),
            #[cfg(feature = "parquet")]
            Command::Tables(Deferred(args)) => tables::run(args),
            #[cfg(feature = "parquet")]
            Command::Restore(Deferred(args)) => restore::run(args),
            Command::Plan(Deferred(args)) => plan::run(args),
            Command::Work(Deferred(args)) => work::run(args),
            Command::Merge(Deferred(args)) => merge::run(args),
            Command::Scan(Deferred(args)) => scan::run(args),
            Command::Carry(Deferred(args)) => carry::run(args),
            Command::Repair(Deferred(args)) => repair::run(args),
            Command::Fork(Deferred(args)) => fork::run(args),
            Command::Stale(Deferred(args)) => stale::run(args),
            Command::Formats => formats::run(),
            Command::Completions(Deferred(args)) => completions::run(args),
            Command::Man(Deferred(args)) => man::run(args),
        }
    }
}
