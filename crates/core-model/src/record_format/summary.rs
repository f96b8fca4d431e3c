//! Queries over a whole file: tokens by model, exit status, tool runs.

use std::{collections::BTreeMap, io::Read};

use super::{Reader, RecordFormat, RecordRef};
use crate::{Body, ModelTokens, Outcome, ReadError, Status, Tokens, ToolRun, ToolRuns};

/// The end of a run of the client. [`ToolRun::exit_code`] is the exit code of one command.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ExitStatus {
    /// The status, in the model that all formats share.
    pub status: Status,
    /// The format's own name for the status.
    pub text: Option<String>,
    /// The cost in US dollars. The format defines whether it is of the run or of the session so
    /// far.
    pub cost_usd: Option<f64>,
    /// The number of turns.
    pub n_turns: Option<u64>,
    /// The wall time in milliseconds.
    pub duration_ms: Option<u64>,
}

impl From<&Outcome<'_>> for ExitStatus {
    fn from(outcome: &Outcome<'_>) -> Self {
        Self {
            status: outcome.status,
            text: outcome.status_text.map(|text| text.decode().into_owned()),
            cost_usd: outcome.cost.and_then(|cost| cost.as_f64()),
            n_turns: outcome.turns.and_then(|turns| turns.as_u64()),
            duration_ms: outcome.duration_ms.and_then(|duration| duration.as_u64()),
        }
    }
}

/// These functions read to the end of the file. Lines that are not records are skipped. Only an
/// error of the file itself is returned.
impl<R: Read, F: RecordFormat> Reader<R, F> {
    /// Returns the tokens of each model of this file, by name. The key of an unknown model is `None`.
    ///
    /// Sub-agents that the client keeps in files of their own are not in it: read these files too.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn usage_by_model(self) -> Result<BTreeMap<Option<String>, Tokens>, ReadError> {
        let mut tokens = ModelTokens::default();
        self.for_each_record(|record| tokens.push(&record.event()))?;
        Ok(tokens.finish())
    }

    /// Returns how the last run of the client ended, as clido and SDK streams log it; `None` if the file
    /// has no such record. Transcripts of Claude Code have none. For the exit codes of commands, see
    /// [`Reader::tool_runs`] and [`ToolRun::exit_code`].
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn exit_status(self) -> Result<Option<ExitStatus>, ReadError> {
        let mut last = None;
        self.for_each_record(|record| {
            let event = record.event();
            if let Body::Outcome(outcome) = &event.body {
                last = Some(ExitStatus::from(outcome));
            }
        })?;
        Ok(last)
    }

    /// Returns the tool calls, each with its input and its result, such as the Bash commands with their
    /// output and [`exit_code`](ToolRun::exit_code).
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn tool_runs(self) -> Result<Vec<ToolRun>, ReadError> {
        let mut runs = ToolRuns::with_contents();
        self.for_each_record(|record| runs.push(record.place(), &record.event()))?;
        Ok(runs.finish())
    }

    fn for_each_record(mut self, mut see: impl FnMut(RecordRef<'_, F>)) -> Result<(), ReadError> {
        while let Some(record) = self.next_borrowed() {
            match record {
                Ok(record) => see(record),
                Err(ReadError::Line(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
