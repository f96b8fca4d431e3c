//! The definition of the command line.
//!
//! In: `convert a.jsonl --to clido`. Out: a [`ConvertArgs`] or a [`Command`]. The doc comments of
//! arguments are their help texts.

pub(crate) mod complete;
mod conversion;
pub(crate) mod deferred;
mod examples;
mod help;
mod nearest;
mod redact;
mod sources;

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

use ::conversion::CarryMode;
use clap::{Args, Parser, ValueEnum, ValueHint};
use core_model::SdkVersion;
use storage::is_url;

use crate::{FORMATS, commands::Command};

pub use self::complete::run_as;
pub(crate) use self::{
    conversion::{ConversionArgs, NOT_FOR_WORKERS},
    help::{command, missing_target, overview, parser, unknown_word, with_examples},
    redact::RedactArgs,
    sources::{Pace, Sources},
};

/// The version, with the commit where the build knows it.
const VERSION: &str = match option_env!("CONVERT_VERSION") {
    Some(version) => version,
    None => env!("CARGO_PKG_VERSION"),
};

/// Translates session logs of AI coding agents into one another and loses nothing.
///
/// The inputs are files, folders, ids of sessions, or standard input. Their format is detected from the
/// content. One input is written to standard output, or all inputs to --output. The parts that the
/// target format cannot hold are kept in a carry, and converting back gives the source byte for byte.
#[derive(Debug, Parser)]
#[command(
    name = "convert",
    version = VERSION,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
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
    /// The file to write; for a folder or several inputs, the folder [default: -, standard output]
    #[arg(short, long, value_hint = ValueHint::AnyPath)]
    output: Option<PathBuf>,
    /// Write the output where the target's client finds it, and print the command that resumes it.
    /// PROJECT is the folder to resume in [default: the folder of the session]
    #[arg(
        long,
        value_name = "PROJECT",
        num_args = 0..=1,
        require_equals = true,
        conflicts_with_all = ["output", "force", "compress", "dry_run"],
        value_hint = ValueHint::DirPath
    )]
    pub(crate) install: Option<Option<PathBuf>>,
    /// With --install: write all of a compacted transcript, not only the part after its last
    /// compaction
    #[arg(long, requires = "install", conflicts_with = "from_last_compaction")]
    pub(crate) from_start: bool,
    /// Overwrite existing files and keep each as NAME.bak
    #[arg(long)]
    pub(crate) force: bool,
    /// When to flush written files to the disk
    #[arg(
        long,
        value_enum,
        default_value = "batch",
        env = "CONVERT_DURABILITY",
        hide_env_values = true
    )]
    pub(crate) durability: Durability,
    /// Report everything and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Convert equal files once; the report says which files are equal
    #[arg(long)]
    pub(crate) dedupe: bool,
    /// Write a report as JSON to FILE
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pace: Pace,
    /// Print a report for every file of a folder
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

impl ConvertArgs {
    /// Returns the file or folder to write; `None` for standard output.
    pub(crate) fn output(&self) -> Option<&Path> {
        named_output(self.output.as_deref())
    }
}

/// Returns the output if it is a file or a folder: `-` is standard output.
pub(crate) fn named_output(output: Option<&Path>) -> Option<&Path> {
    output.filter(|output| output.as_os_str() != "-")
}

/// Returns the message for an output that must be a folder, if a file is there; `None` if there is a folder, or nothing.
pub(crate) fn file_for_folder(output: &Path) -> Option<String> {
    let is_file = match output.metadata() {
        _ if is_url(output) => false,
        Ok(metadata) => !metadata.is_dir(),
        // A file is above it, or its name ends with a slash.
        Err(error) => error.kind() == ErrorKind::NotADirectory,
    };
    let output = output.display();
    let message =
        format!("{output}: a file is there, and a folder is needed; name another one with -o");
    is_file.then_some(message)
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum SubAgents {
    /// Write each as a session beside its own
    Files,
    /// Keep them in the carry of their session
    Carry,
    /// Leave them out
    Drop,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Carry {
    /// In the written lines, in their last member
    Inline,
    /// In NAME.carry beside the written file
    Sidecar,
    /// Nowhere: the output has no extra members, and the source cannot be restored from it
    None,
}

impl From<SubAgents> for archive::SubAgents {
    fn from(subagents: SubAgents) -> Self {
        match subagents {
            SubAgents::Files => archive::SubAgents::Files,
            SubAgents::Carry => archive::SubAgents::Carry,
            SubAgents::Drop => archive::SubAgents::Drop,
        }
    }
}

/// When written files are flushed to the disk.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Durability {
    /// Each file, before the next one
    File,
    /// After 64 files or 256 MiB, and at the end
    Batch,
    /// When the system does; a power cut can lose finished files
    None,
}

impl From<Durability> for archive::Durability {
    fn from(durability: Durability) -> Self {
        match durability {
            Durability::File => archive::Durability::File,
            Durability::Batch => archive::Durability::Batch,
            Durability::None => archive::Durability::None,
        }
    }
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

/// Returns the names that `--to`, `--from` and `--as` accept.
pub(crate) fn format_names() -> clap::builder::PossibleValuesParser {
    FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().into()
}
