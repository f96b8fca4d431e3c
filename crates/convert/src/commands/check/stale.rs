//! Compares the files that tool results name with the disk, as clido does before `-p --resume`.
//!
//! In: a `tool_result` line with `path`, `content_hash` (bare hexadecimal digits of SHA-256) and
//! `mtime_nanos`. Out: a finding if this file is gone, was written since, or has other bytes,
//! because clido then refuses to go on. Lines without all three members are skipped.

use std::{collections::HashMap, path::Path};

use core_model::{Block, Findings, Format, Place, Problem};
use format_clido::{StaleFileRecord, stale_paths};
use jsonl::{Line, Value};

/// Finds files that changed after a session.
#[derive(Debug, Default)]
pub(in crate::commands) struct StaleFiles {
    n_lines: u64,
    /// Whether a file is stale, by path, hash and time: each file is read once.
    known: HashMap<(String, String, u64), bool>,
}

impl StaleFiles {
    /// Returns the check for a format; `None` if its client does not compare files.
    pub(super) fn of_format(format: &Format) -> Option<Self> {
        (format.name == format_clido::FORMAT.name).then(Self::default)
    }

    /// Reports a line whose file has changed.
    pub(super) fn line(
        &mut self,
        line: &Line<'_>,
        value: &jsonl::Result<Value<'_>>,
        report: &mut dyn FnMut(Problem),
    ) {
        self.n_lines = self.n_lines.saturating_add(1);
        let Ok(value) = value else { return };
        let Some(record) = record(*value) else { return };
        let place = Place { line: self.n_lines, offset: line.offset() };
        if self.is_stale(&record) {
            let message = format!(
                "{} is not as the session left it: `-p --resume` refuses without \
                 --resume-ignore-stale",
                record.path
            );
            Findings::new(place, report).stops("stale-file", message);
        }
    }

    /// Returns whether a file is gone, was written since, or has other bytes.
    pub(in crate::commands) fn is_stale(&mut self, record: &StaleFileRecord) -> bool {
        let StaleFileRecord { path, content_hash, mtime_nanos } = record.clone();
        let key = (path, content_hash, mtime_nanos);
        // A relative path starts in the current folder, as it does for clido.
        let find = || !stale_paths(std::slice::from_ref(record), Path::new("")).is_empty();
        *self.known.entry(key).or_insert_with(find)
    }
}

/// Returns the file named by a `tool_result` line; `None` unless it has all members that clido
/// compares.
pub(in crate::commands) fn record(value: Value<'_>) -> Option<StaleFileRecord> {
    value.get("type")?.text().filter(|kind| kind.is("tool_result"))?;
    let event = format_clido::FORMAT.first_event(value);
    let (block, _) = event.message()?.blocks().next()?;
    let Block::ToolResult(result) = block else { return None };
    Some(StaleFileRecord {
        path: result.file.path?.decode().into_owned(),
        content_hash: result.file.content_hash?.decode().into_owned(),
        mtime_nanos: result.file.mtime_nanos?.as_u64()?,
    })
}
