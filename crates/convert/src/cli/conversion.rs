//! The options of a conversion, shared by the main job and `plan`.

use std::path::PathBuf;

use archive::{JobConfig, OutputOptions, Spelled};
use clap::{Args, Parser, ValueEnum, error::ErrorKind};
use core_model::{Format, Options};
use sessions::Redact;
use storage::{Compression, Limits};

use super::{Carry, Sdk, SubAgents, format_names};
use crate::{FORMATS, by_name, terminal::figures::parse_size};

/// The options of a conversion, without its inputs and outputs.
#[derive(Args, Clone, Debug)]
pub(crate) struct ConversionArgs {
    /// The format to write
    #[arg(long, value_parser = format_names(), required = true)]
    pub(crate) to: Option<String>,
    /// The format to read, instead of detecting it
    #[arg(long, value_parser = format_names())]
    pub(crate) from: Option<String>,
    /// Where to keep the parts that the target cannot hold
    #[arg(
        long,
        value_enum,
        default_value = "inline",
        env = "CONVERT_CARRY",
        hide_env_values = true
    )]
    pub(crate) carry: Carry,
    /// How to write sub-agents if the target has no place for them in the session
    #[arg(long, value_enum, default_value = "files")]
    pub(crate) subagents: SubAgents,
    /// Convert each output back and compare it with its source
    #[arg(long)]
    pub(crate) verify: bool,
    /// Remove keys, tokens and passwords from the input. Converting back gives the source without them
    #[arg(long)]
    pub(crate) redact: bool,
    /// With --redact: also remove keys of test environments, such as sk_test_ of Stripe
    #[arg(long, requires = "redact")]
    pub(crate) test_keys: bool,
    /// Compress the outputs; compressed inputs need no option
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) compress: Option<Compress>,
    /// The largest size of an expanded input, such as 20GiB [default: 1 GiB plus 100 times its
    /// compressed size]
    #[arg(long, value_name = "BYTES", value_parser = parse_size)]
    pub(crate) max_expanded: Option<u64>,
    /// The largest size of a line, such as 64MiB [default: no limit; for compressed inputs 32 MiB,
    /// or 20 times their size]
    #[arg(long, value_name = "BYTES", value_parser = parse_size)]
    pub(crate) max_line: Option<u64>,
    /// Exit with status 1 if the target does not show everything in the source
    #[arg(long)]
    pub(crate) fail_on_loss: bool,
    /// The version of the Agent SDK for Python, for `--to sdk-stream`
    #[arg(
        long,
        value_enum,
        default_value = "0.2.187",
        env = "CONVERT_SDK_VERSION",
        hide_env_values = true
    )]
    pub(crate) sdk_version: Sdk,
    /// Convert a converted file as if it were its client's own: do not use its carry
    #[arg(long)]
    pub(crate) ignore_carry: bool,
    /// A new folder for files of a carry that have no place beside the main file
    #[arg(long, value_name = "DIR")]
    pub(crate) restore_files: Option<PathBuf>,
    /// Do not convert an input that has an unreadable line
    #[arg(long)]
    pub(crate) strict: bool,
    /// Also write the branches of a transcript that its client would not resume
    #[arg(long)]
    pub(crate) all_branches: bool,
    /// Write only the part of a compacted transcript that its client would resume
    #[arg(long, conflicts_with = "all_branches")]
    pub(crate) from_last_compaction: bool,
}

/// The options alone, as in a line of a plan.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct Words {
    #[command(flatten)]
    how: ConversionArgs,
}

/// The compression of outputs.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Compress {
    /// gzip (RFC 1952)
    Gz,
    /// zstd (RFC 8878)
    Zst,
}

impl From<Compress> for Compression {
    fn from(compress: Compress) -> Self {
        match compress {
            Compress::Gz => Compression::Gz,
            Compress::Zst => Compression::Zst,
        }
    }
}

/// The error for an option that no worker can have.
pub(crate) const NOT_FOR_WORKERS: &str =
    "--restore-files is for convert alone: each worker would need a new folder";

impl ConversionArgs {
    /// Parses options as [`ConversionArgs::words`] writes them.
    ///
    /// # Errors
    ///
    /// Returns a message of one line if the options are invalid.
    pub(crate) fn of_words(words: &[String]) -> Result<Self, String> {
        let words = Words::try_parse_from(words).map_err(|error| match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => "no options".to_owned(),
            _ => {
                let message = error.to_string();
                let line = message.lines().next().unwrap_or_default();
                line.trim_start_matches("error: ").to_owned()
            }
        })?;
        Ok(words.how)
    }

    /// Returns the words of the options. They do not depend on the environment of a worker. No worker has
    /// `--restore-files`.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut pair = |name: &str, value: Option<String>| {
            words.extend(value.map(|value| [name.to_owned(), value]).into_iter().flatten());
        };
        pair("--to", self.to.clone());
        pair("--from", self.from.clone());
        pair("--carry", word_of(self.carry));
        pair("--subagents", word_of(self.subagents));
        pair("--sdk-version", word_of(self.sdk_version));
        pair("--compress", self.compress.and_then(word_of));
        pair("--max-expanded", self.max_expanded.map(|bytes| bytes.to_string()));
        pair("--max-line", self.max_line.map(|bytes| bytes.to_string()));
        for (name, is_set) in [
            ("--verify", self.verify),
            ("--redact", self.redact),
            ("--test-keys", self.test_keys),
            ("--fail-on-loss", self.fail_on_loss),
            ("--ignore-carry", self.ignore_carry),
            ("--strict", self.strict),
            ("--all-branches", self.all_branches),
            ("--from-last-compaction", self.from_last_compaction),
        ] {
            words.extend(is_set.then(|| name.to_owned()));
        }
        words
    }

    /// Returns the format to write.
    pub(crate) fn target(&self) -> Option<&'static Format> {
        self.to.as_deref().and_then(by_name)
    }

    /// Returns the format to read; `None` to detect it.
    pub(crate) fn source(&self) -> Option<&'static Format> {
        self.from.as_deref().and_then(by_name)
    }

    /// Returns the options of readers and writers.
    pub(crate) fn options(&self) -> Options {
        Options {
            sdk_version: self.sdk_version.into(),
            is_strict: self.strict,
            all_branches: self.all_branches,
            branch: None,
            from_last_compaction: self.from_last_compaction,
            project: None,
        }
    }

    /// Returns the job's configuration; `None` if the options name no format to write.
    pub(crate) fn job_config(&self) -> Option<JobConfig> {
        Some(JobConfig {
            formats: FORMATS,
            to: self.target()?,
            from: self.source(),
            carry: self.carry.into(),
            options: self.options(),
            verify: self.verify,
            subagents: match (self.compress, self.subagents) {
                // Clients do not read compressed files, so a session is written as one file.
                (Some(_), SubAgents::Files) => archive::SubAgents::Carry,
                (_, subagents) => subagents.into(),
            },
            is_for_client: false,
            redact: Redact { is_wanted: self.redact, test_keys: self.test_keys },
            ignores_carry: self.ignore_carry,
            restore_files: self.restore_files.clone(),
            limits: Limits { line: self.max_line, expanded: self.max_expanded },
            compression: self.compress.map(Compression::from),
            fail_on_loss: self.fail_on_loss,
            output_options: self.output_options(),
        })
    }

    /// Parses the options of a unit of work.
    ///
    /// # Errors
    ///
    /// Returns a message of one line if the options are invalid.
    pub(crate) fn parse_job(words: &[String]) -> Result<JobConfig, String> {
        Self::of_words(words)?.job_config().ok_or_else(|| "no format to write".to_owned())
    }

    /// Parses the options of a unit that a worker converts.
    ///
    /// # Errors
    ///
    /// Returns a message of one line if the options are invalid, or if no worker can have them: older plans may have
    /// `--restore-files`.
    pub(crate) fn parse_work(words: &[String]) -> Result<JobConfig, String> {
        let config = Self::parse_job(words)?;
        match config.restore_files {
            Some(_) => Err(NOT_FOR_WORKERS.to_owned()),
            None => Ok(config),
        }
    }

    /// Returns the options that change the bytes of outputs, for the journal.
    pub(crate) fn output_options(&self) -> OutputOptions {
        let word = |value: Option<String>| value.unwrap_or_default();
        OutputOptions::new(&Spelled {
            to: self.to.as_deref().unwrap_or_default(),
            from: self.from.as_deref(),
            carry: &word(word_of(self.carry)),
            subagents: &word(word_of(self.subagents)),
            sdk_version: &word(word_of(self.sdk_version)),
            compress: self.compress.and_then(word_of).as_deref(),
            redact: self.redact,
            test_keys: self.test_keys,
            strict: self.strict,
            all_branches: self.all_branches,
            from_last_compaction: self.from_last_compaction,
        })
    }
}

/// Returns the word on the command line for a value of an option.
fn word_of(value: impl ValueEnum) -> Option<String> {
    Some(value.to_possible_value()?.get_name().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_come_back_from_their_words() {
        for words in [
            "--to clido",
            "--to clido --carry none --verify --strict --all-branches --fail-on-loss",
            "--to sdk-stream:wire --from clido --carry sidecar --subagents drop --compress zst",
            "--to sdk-stream --sdk-version 0.1.6 --max-line 7 --max-expanded 1GiB --redact",
            "--to clido --redact --test-keys",
            "--to clido --from-last-compaction --subagents carry --compress gz",
        ] {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            let how = ConversionArgs::of_words(&words).expect("options");
            let again = ConversionArgs::of_words(&how.words()).expect("options");
            assert_eq!(format!("{how:?}"), format!("{again:?}"));
            assert_eq!(how.output_options(), again.output_options());
        }
    }

    #[test]
    fn what_is_no_option_is_told_in_a_line() {
        for words in [&["--to", "pdf"][..], &[], &["--help"], &["--to", "clido", "x"]] {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let why = ConversionArgs::of_words(&words).expect_err("refused");
            assert!(!why.is_empty() && !why.contains('\n'), "{why}");
        }
    }

    #[test]
    fn no_worker_restores_files_to_a_folder() {
        let words = ["--to", "clido", "--restore-files", "rest"].map(str::to_owned);
        assert_eq!(ConversionArgs::parse_work(&words).err().as_deref(), Some(NOT_FOR_WORKERS));
    }
}
