//! The command line: what can be asked for.

mod conversion;
mod redact;
mod sources;

use std::path::PathBuf;

use ::conversion::CarryMode;
use clap::{Args, Parser, ValueEnum, ValueHint};
use core_model::SdkVersion;

use crate::{FORMATS, commands::Command, outputs::Durability};

pub(crate) use self::{
    conversion::ConversionArgs,
    redact::RedactArgs,
    sources::{Pace, Sources},
};

/// The version, with the commit where the build knows it.
const VERSION: &str = match option_env!("CONVERT_VERSION") {
    Some(version) => version,
    None => env!("CARGO_PKG_VERSION"),
};

/// Translates session logs of AI coding agents into one another, and loses nothing.
///
/// Reads files, folders, or standard input; finds out their format by content; writes one input to
/// standard output, or all under --output. What the target format cannot say rides along in a carry,
/// so that converting back gives the source byte for byte. Nothing leaves this machine.
#[derive(Debug, Parser)]
#[command(version = VERSION, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) convert: ConvertArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    pub(crate) sources: Sources,
    #[command(flatten)]
    pub(crate) how: ConversionArgs,
    /// The file to write; for several inputs or a folder, the folder
    #[arg(short, long, value_hint = ValueHint::AnyPath)]
    pub(crate) output: Option<PathBuf>,
    /// Put the output where the target's client finds it, and print the command that goes on with
    /// it; in the session's own project, or in PROJECT
    #[arg(
        long,
        value_name = "PROJECT",
        num_args = 0..=1,
        require_equals = true,
        conflicts_with_all = ["output", "force", "compress", "dry_run"],
        value_hint = ValueHint::DirPath
    )]
    pub(crate) install: Option<Option<PathBuf>>,
    /// With --install: write a transcript that was compacted from its start, instead of what its
    /// client would go on with
    #[arg(long, requires = "install", conflicts_with = "from_last_compaction")]
    pub(crate) from_start: bool,
    /// Overwrite existing files, and keep each as NAME.bak
    #[arg(long)]
    pub(crate) force: bool,
    /// When written files are brought to the disk
    #[arg(
        long,
        value_enum,
        default_value = "batch",
        env = "CONVERT_DURABILITY",
        hide_env_values = true
    )]
    pub(crate) durability: Durability,
    /// Do and report everything, but write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Convert files of equal content once; the report says which is the same as which
    #[arg(long)]
    pub(crate) dedupe: bool,
    /// Write the report as JSON
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pace: Pace,
    /// Print the report of every file of a folder
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum SubAgents {
    /// Each is a session beside its own
    Files,
    /// They ride in their session's file
    Carry,
    /// They are left out
    Drop,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Carry {
    /// In the written lines, as their last member
    Inline,
    /// In a file beside the written one, NAME.carry
    Sidecar,
    /// Nowhere: the output is clean, and there is no way back
    None,
}

impl From<Carry> for CarryMode {
    fn from(carry: Carry) -> Self {
        match carry {
            Carry::Inline => CarryMode::Inline,
            Carry::Sidecar => CarryMode::Sidecar,
            Carry::None => CarryMode::None,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Sdk {
    #[value(name = "0.1.6")]
    V0_1_6,
    #[value(name = "0.2.187")]
    V0_2_187,
}

impl From<Sdk> for SdkVersion {
    fn from(version: Sdk) -> Self {
        match version {
            Sdk::V0_1_6 => SdkVersion::V0_1_6,
            Sdk::V0_2_187 => SdkVersion::V0_2_187,
        }
    }
}

/// Returns the names that `--to`, `--from` and `--as` take.
pub(crate) fn format_names() -> clap::builder::PossibleValuesParser {
    FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().into()
}
