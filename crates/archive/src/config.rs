//! The options of a job, as values.

use std::path::PathBuf;

use conversion::CarryMode;
use core_model::{Format, Formats, Options};
use sessions::Redact;
use storage::{Compression, Limits};

use crate::journal::{OutputOptions, Spelled};

/// The formats and options of a job.
#[derive(Clone, Debug)]
pub struct JobConfig {
    /// All formats that inputs may have.
    pub formats: Formats,
    /// The format to write.
    pub to: &'static Format,
    /// The format to read, instead of detecting it.
    pub from: Option<&'static Format>,
    /// The place of the carry.
    pub carry: CarryMode,
    /// The options of readers and writers.
    pub options: Options,
    /// Whether each output is converted back and compared with its source.
    pub verify: bool,
    /// How sub-agents are written.
    pub subagents: SubAgents,
    /// Whether a client will resume the output.
    pub is_for_client: bool,
    /// The secrets to remove from inputs.
    pub redact: Redact,
    /// Whether carries are ignored.
    pub ignores_carry: bool,
    /// The folder for files of a carry that have no place beside the main file.
    pub restore_files: Option<PathBuf>,
    /// The limits on the size of inputs.
    pub limits: Limits,
    /// The compression of outputs.
    pub compression: Option<Compression>,
    /// Whether a loss changes the exit status.
    pub fail_on_loss: bool,
    /// The options that change the bytes of outputs, for the journal.
    pub output_options: OutputOptions,
}

impl JobConfig {
    /// Creates the command line's defaults: an inline carry, and a file for each sub-agent.
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

/// How to write sub-agents if the target has no place for them in the session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SubAgents {
    /// Each is written as a session beside its own.
    Files,
    /// They are kept in the carry of their session.
    Carry,
    /// They are left out.
    Drop,
}
