//! The command line: what can be asked for.

use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum, ValueHint, builder::FalseyValueParser};
use core_model::SdkVersion;

use crate::{
    CarryMode, FORMATS,
    commands::Command,
    compress::Compression,
    outputs::Durability,
    terminal::{figures::parse_size, progress::Mode},
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
    /// Files, folders, or ids of sessions; standard input if there is none, or for `-`
    #[arg(value_hint = ValueHint::AnyPath)]
    pub(crate) inputs: Vec<PathBuf>,
    /// The format to write
    #[arg(long, value_parser = format_names(), required = true)]
    pub(crate) to: Option<String>,
    /// The format to read, instead of finding it out
    #[arg(long, value_parser = format_names())]
    pub(crate) from: Option<String>,
    /// Where to keep what the target cannot say
    #[arg(
        long,
        value_enum,
        default_value = "inline",
        env = "CONVERT_CARRY",
        hide_env_values = true
    )]
    pub(crate) carry: Carry,
    /// What becomes of sub-agents, where the target does not tell of them among the others
    #[arg(long, value_enum, default_value = "files")]
    pub(crate) subagents: SubAgents,
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
        conflicts_with_all = ["output", "force"],
        value_hint = ValueHint::DirPath
    )]
    pub(crate) install: Option<Option<PathBuf>>,
    /// The project whose sessions are meant by ids; without an input, all of them
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) project: Option<PathBuf>,
    /// Overwrite existing files, and keep each as NAME.bak
    #[arg(long)]
    pub(crate) force: bool,
    /// Convert each output back and compare it with its source
    #[arg(long)]
    pub(crate) verify: bool,
    /// Take keys, tokens and passwords out of what is read: converting back gives the source without
    /// them
    #[arg(long)]
    pub(crate) redact: bool,
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
    #[arg(long, conflicts_with = "install")]
    pub(crate) dry_run: bool,
    /// Convert files of equal content once; the report says which is the same as which
    #[arg(long)]
    pub(crate) dedupe: bool,
    /// Compress what is written; compressed inputs are known by content and need no option
    #[arg(long, value_enum, value_name = "HOW", conflicts_with = "install")]
    pub(crate) compress: Option<Compression>,
    /// The bytes that a compressed input may expand to, such as 20GiB [default: 1 GiB, and 100 times
    /// its size]
    #[arg(long, value_name = "BYTES", value_parser = parse_size)]
    pub(crate) max_expanded: Option<u64>,
    /// The bytes that a line may have, such as 64MiB [default: no limit; of a compressed input
    /// 32 MiB, or 20 times its size]
    #[arg(long, value_name = "BYTES", value_parser = parse_size)]
    pub(crate) max_line: Option<u64>,
    /// Write the report as JSON
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) report: Option<PathBuf>,
    /// Exit with status 1 if the target does not say everything that the source says
    #[arg(long)]
    pub(crate) fail_on_loss: bool,
    /// The version of the Agent SDK for Python whose dump is written
    #[arg(
        long,
        value_enum,
        default_value = "0.2.187",
        env = "CONVERT_SDK_VERSION",
        hide_env_values = true
    )]
    pub(crate) sdk_version: Sdk,
    /// Convert nothing of an input with a line that cannot be read
    #[arg(long)]
    pub(crate) strict: bool,
    /// Write the branches of a transcript too that its client would not resume
    #[arg(long)]
    pub(crate) all_branches: bool,
    /// Of a transcript that was compacted, write only what its client would go on with
    #[arg(long, conflicts_with = "all_branches")]
    pub(crate) from_last_compaction: bool,
    /// How many files to convert at a time [default: one for each core]
    #[arg(short, long, env = "CONVERT_JOBS", hide_env_values = true)]
    pub(crate) jobs: Option<usize>,
    /// How to tell how far the run is
    #[arg(
        long,
        value_enum,
        default_value = "auto",
        env = "CONVERT_PROGRESS",
        hide_env_values = true
    )]
    pub(crate) progress: Mode,
    /// Print errors only
    #[arg(short, long, env = "CONVERT_QUIET", hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub(crate) quiet: bool,
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
