//! Compares the files that tool results name with the disk, as clido does before `-p --resume`.
//!
//! A `tool_result` line may say what a tool wrote: `path`, `content_hash` (bare hexadecimal digits
//! of SHA-256) and `mtime_nanos`. clido refuses to go on if one of these files is gone, was written
//! since, or has other bytes. A line without all three members says nothing about a file.

use std::{collections::HashMap, path::Path};

use core_model::{Block, Findings, Format, Place, Problem};
use format_clido::{StaleFileRecord, stale_paths};
use jsonl::{Line, Value};

/// Finds files that are not as a session left them.
#[derive(Debug, Default)]
pub(super) struct StaleFiles {
    n_lines: u64,
    /// Whether a file is stale, by what a line says of it: each is read once.
    known: HashMap<(String, String, u64), bool>,
}

impl StaleFiles {
    /// Returns what compares files, for a format whose client does.
    pub(super) fn of_format(format: &Format) -> Option<Self> {
        (format.name == format_clido::FORMAT.name).then(Self::default)
    }

    /// Reports a line whose file is not as the line says.
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

    fn is_stale(&mut self, record: &StaleFileRecord) -> bool {
        let StaleFileRecord { path, content_hash, mtime_nanos } = record.clone();
        let key = (path, content_hash, mtime_nanos);
        // A relative path starts in the current folder, as it does for clido.
        let find = || !stale_paths(std::slice::from_ref(record), Path::new("")).is_empty();
        *self.known.entry(key).or_insert_with(find)
    }
}

/// Returns what a `tool_result` line says of a file, if it says all that clido compares.
fn record(value: Value<'_>) -> Option<StaleFileRecord> {
    value.get("type")?.text().filter(|kind| kind.is("tool_result"))?;
    let event = (format_clido::FORMAT.read)(value);
    let (block, _) = event.message()?.blocks().next()?;
    let Block::ToolResult(result) = block else { return None };
    Some(StaleFileRecord {
        path: result.file.path?.decode().into_owned(),
        content_hash: result.file.content_hash?.decode().into_owned(),
        mtime_nanos: result.file.mtime_nanos?.as_u64()?,
    })
}
