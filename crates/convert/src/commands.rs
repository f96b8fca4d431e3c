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

/// A command. The doc comment of each variant is its line in `--help`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print the format of each input
    Detect(detect::Args),
    /// Go on with a session in another agent, and bring it home
    Resume(resume::Args),
    /// Find what a client would refuse or ignore in a session
    Check(check::Args),
    /// List sessions: id, time, size, project, title
    List(list::Args),
    /// Print sessions as conversations: in a pager, as Markdown, live
    Show(show::Args),
    /// Find words, tool calls and errors in sessions
    Find(find::Args),
    /// Summarize messages, tool calls, files, tokens, cost, duration
    Stats(stats::Args),
    /// Sum tokens and cost by day, session, project, model
    Usage(usage::Args),
    /// Draw which sessions continue, fork or copy which
    Lineage(lineage::Args),
    /// Write sessions as self-contained HTML pages
    Export(export::Args),
    /// Write sessions as Parquet tables of content blocks and sessions
    #[cfg(feature = "parquet")]
    Tables(tables::Args),
    /// Write the original files from tables with raw lines
    #[cfg(feature = "parquet")]
    Restore(restore::Args),
    /// Plan a run: print one line per session, for `work`
    Plan(plan::Args),
    /// Convert the sessions of a plan; print a receipt for each
    Work(work::Args),
    /// Check the receipts of a plan; write the journal and a report
    Merge(merge::Args),
    /// Find keys, tokens and passwords, without printing them
    Scan(scan::Args),
    /// Print or remove the carry of a converted file
    Carry(carry::Args),
    /// Repair a damaged or cut session, and list every change
    Repair(repair::Args),
    /// Copy a session of clido or Claude Code under a new id
    Fork(fork::Args),
    /// List files that changed after a clido session wrote them
    Stale(stale::Args),
    /// List the formats
    Formats,
    /// Print a script that completes commands in a shell
    Completions(completions::Args),
    /// Print a manual page for `man -l -`
    Man(man::Args),
}

impl Command {
    /// Runs the command and returns its status.
    pub(crate) fn run(&self) -> io::Result<Status> {
        match self {
            Command::Detect(args) => detect::run(args),
            Command::Resume(args) => resume::run(args),
            Command::Check(args) => check::run(args),
            Command::List(args) => list::run(args),
            Command::Show(args) => show::run(args),
            Command::Find(args) => find::run(args),
            Command::Stats(args) => stats::run(args),
            Command::Usage(args) => usage::run(args),
            Command::Lineage(args) => lineage::run(args),
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
            Command::Repair(args) => repair::run(args),
            Command::Fork(args) => fork::run(args),
            Command::Stale(args) => stale::run(args),
            Command::Formats => formats::run(),
            Command::Completions(args) => completions::run(args),
            Command::Man(args) => man::run(args),
        }
    }
}
