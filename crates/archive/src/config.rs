//! What to convert, and how: the options of a job as values.

use std::path::PathBuf;

use conversion::CarryMode;
use core_model::{Format, Formats, Options};
use sessions::Redact;
use storage::{Compression, Limits};

use crate::journal::{OutputOptions, Spelled};

/// What to convert, and how.
#[derive(Clone, Debug)]
pub struct JobConfig {
    /// All formats that inputs may have.
    pub formats: Formats,
    /// The format to write.
    pub to: &'static Format,
    /// The format to read, instead of detecting it.
    pub from: Option<&'static Format>,
    /// Where the parts go that the target cannot hold.
    pub carry: CarryMode,
    /// What readers and writers are asked for.
    pub options: Options,
    /// Whether each output is converted back and compared with its source.
    pub verify: bool,
    /// What becomes of sub-agents.
    pub subagents: SubAgents,
    /// Whether what is written is for a client to go on with.
    pub is_for_client: bool,
    /// Which secrets are taken out of what is read.
    pub redact: Redact,
    /// Whether carries are not looked into.
    pub ignores_carry: bool,
    /// The folder for files of a carry that have no place beside the main file.
    pub restore_files: Option<PathBuf>,
    /// How much an input may hold.
    pub limits: Limits,
    /// How outputs are compressed.
    pub compression: Option<Compression>,
    /// Whether a loss wants attention.
    pub fail_on_loss: bool,
    /// What outputs depend on beside their sources, as a journal keeps it.
    pub output_options: OutputOptions,
}

impl JobConfig {
    /// Creates the options that the command line has by default: an inline carry, and a file for each
    /// sub-agent.
    pub fn new(formats: Formats, to: &'static Format) -> Self {
        let spelled = Spelled {
            to: to.name,
            from: None,
            carry: "inline",
            subagents: "files",
            sdk_version: "0.2.187",
            compress: None,
            redact: false,
            test_keys: false,
            strict: false,
            all_branches: false,
            from_last_compaction: false,
        };
        Self {
            formats,
            to,
            from: None,
            carry: CarryMode::Inline,
            options: Options::default(),
            verify: false,
            subagents: SubAgents::Files,
            is_for_client: false,
            redact: Redact::default(),
            ignores_carry: false,
            restore_files: None,
            limits: Limits::default(),
            compression: None,
            fail_on_loss: false,
            output_options: OutputOptions::new(&spelled),
        }
    }
}

/// What becomes of sub-agents if the target has no place for them in the session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SubAgents {
    /// Each is written as a session beside its own.
    Files,
    /// They are kept in the carry of their session.
    Carry,
    /// They are left out.
    Drop,
}
