//! Formats the report on a converted file, as text and as JSON.

mod kept;

use std::fmt::Write as _;

use conversion::{CarryMode, Damage, Recovered, Report};
use core_model::{Missing, Place};
use jsonl::{Style, push_string};

use crate::status::FileStatus;

/// A converted file.
#[derive(Debug)]
pub struct ConvertedFile {
    /// The name of the input.
    pub label: String,
    /// The path of the output; `None` for a stream.
    pub output: Option<String>,
    /// The source format.
    pub from: &'static str,
    /// The target format.
    pub to: &'static str,
    /// The place of the carry.
    pub carry: CarryMode,
    /// The counts of the conversion.
    pub report: Report,
    /// Whether the source grew while it was read. Its first bytes were converted.
    pub is_changing: bool,
    /// The offset and the name of each file in the source, if there are several.
    pub files: Vec<(u64, String)>,
}

impl ConvertedFile {
    /// Returns warnings, one per line.
    pub fn problems(&self) -> Vec<String> {
        let report = &self.report;
        let label = &self.label;
        let mut lines: Vec<String> =
            report.damaged.iter().map(|damage| self.place(damage)).collect();
        let more = report.n_residues - report.damaged.len() as u64;
        if more > 0 {
            lines.push(format!("{label}: {more} more lines that cannot be read"));
        }
        lines.extend(report.recovered.iter().map(|found| {
            let Recovered { line, offset, n_records } = found;
            format!("{label}:{line}: byte {offset}: {} recovered", count(*n_records, "record"))
        }));
        let n_told: u64 = report.recovered.iter().map(|found| found.n_records).sum();
        if report.n_recovered > n_told {
            let more = count(report.n_recovered - n_told, "record");
            lines.push(format!("{label}: {more} more recovered"));
        }
        if let Some(torn) = &report.torn {
            lines.push(format!("{} (the last line is torn)", self.place(torn)));
        }
        if self.is_changing {
            let n_bytes = report.bytes_in;
            lines.push(format!("{label}: changes while it is read: converted to byte {n_bytes}"));
        }
        let tally = report.restored;
        for (count, what) in [
            (tally.newer, "records have a carry of a newer version; they go on as they are"),
            (tally.damaged, "records have a damaged carry; they go on as they are"),
            (tally.cut, "files were cut: their last carry is missing"),
            (tally.missing, "records with a carry are missing"),
            (
                tally.moved,
                "records are not where they were written; they are restored where they are now",
            ),
            (tally.doubled, "records are there more than once; each copy was converted"),
            (tally.respelt, "records were spelled anew by another program; they are restored"),
            (tally.edited, "edited lines were converted"),
            (tally.added, "added lines were converted"),
            (
                tally.differs,
                "records say something else than what their carry restores; the latter was written",
            ),
            (tally.gaps, "gaps: lines that carried source lines are missing"),
            (tally.unreadable, "carried lines could not be restored"),
            (
                tally.refused,
                "carried lines would make more than 16 times what was read; --max-expanded allows more",
            ),
            (
                report.n_left_out,
                "records were left out: no written line can hold them; --carry sidecar keeps them",
            ),
            (
                report.n_sidecars_unread,
                "sidecars beside the session's files were not read, and what they carry does not go on; the session comes back from these files, not from the new one",
            ),
            (report.n_elsewhere, "lines of other files of the session are written with -o only"),
            (
                report.n_unplaced,
                "files that the carry names were not written: their names are not those of the client, or something else is there; --restore-files DIR writes the former into a new folder",
            ),
        ] {
            if count > 0 {
                lines.push(format!("{label}: {count} {what}"));
            }
        }
        if let Some(offset) = tally.first_difference {
            lines.push(format!(
                "{label}: byte {offset}: the first of them; --ignore-carry converts what is shown"
            ));
        }
        for Missing { id, tool_use, evidence } in &report.missing {
            let (id, tool_use, evidence) = (id, tool_use, evidence.name());
            lines.push(format!(
                "{label}: sub-agent {id}, started by {tool_use} ({evidence} says so), has no file"
            ));
        }
        lines
    }

    /// Returns the file and the place of damage.
    fn place(&self, damage: &Damage) -> String {
        let of_file = self.files.iter().rev().find(|(start, _)| *start <= damage.start);
        let (start, label) = of_file.map_or((0, &self.label), |(start, label)| (*start, label));
        let mut damage = *damage;
        damage.error.offset = damage.error.offset.saturating_sub(start);
        place(label, &damage)
    }

    /// Returns a summary and the losses, in lines.
    pub fn summary(&self) -> Vec<String> {
        let report = &self.report;
        let whole = if self.carry == CarryMode::None { "not written" } else { "carried whole" };
        let mut lines = vec![format!(
            "{}: {} -> {}, {} lines in, {} lines out, {} {whole}",
            &self.label,
            self.from,
            self.to,
            report.lines_in,
            report.lines_out,
            report.n_carried_whole,
        )];
        if report.n_recovered > 0
            && let Some(line) = lines.first_mut()
        {
            _ = write!(line, ", {} recovered", count(report.n_recovered, "record"));
        }
        for (rule, redacted) in report.redactions.iter() {
            let mut line = format!("  redacted {rule} x{}", redacted.count);
            push_places(&mut line, &redacted.places, redacted.count);
            lines.push(line);
        }
        if report.redactions.n_carries > 0 {
            let n_carries = count(report.redactions.n_carries, "line");
            lines.push(format!("  redacted what {n_carries} carried of another format"));
        }
        lines.extend(self.files_beside());
        if report.n_agents > 0 {
            let agents = count(report.n_agents, "sub-agent");
            lines.push(format!("  {agents}, {} by an unknown tool use", report.n_unlinked));
        }
        let mut last = None;
        for (kind, field, loss) in report.losses.iter() {
            if last != Some(kind) {
                lines.push(self.heading(kind));
                last = Some(kind);
            }
            let mut line = format!("    {} x{}", field, loss.count);
            push_places(&mut line, &loss.places, loss.count);
            lines.push(line);
        }
        lines
    }

    /// Returns the names of the first files that were restored beside the main one; `None` without
    /// any.
    fn files_beside(&self) -> Option<String> {
        /// The report file has all names.
        const MAX_NAMED: usize = 5;
        let names = &self.report.files_beside;
        let first: Vec<&str> = names.iter().take(MAX_NAMED).map(String::as_str).collect();
        let more = names.len().checked_sub(MAX_NAMED).filter(|more| *more > 0);
        let more = more.map_or_else(String::new, |more| format!(" and {more} more"));
        (!names.is_empty()).then(|| format!("  restored beside it: {}{more}", first.join(", ")))
    }

    /// Appends the report as a JSON object.
    pub fn push_json(&self, status: FileStatus, out: &mut Vec<u8>) {
        let report = &self.report;
        out.extend_from_slice(b"{\"source\":");
        push_string(out, &self.label, Style::Compact);
        if let Some(output) = &self.output {
            out.extend_from_slice(b",\"target\":");
            push_string(out, output, Style::Compact);
        }
        let numbers = [
            ("bytes_in", report.bytes_in),
            ("bytes_out", report.bytes_out),
            ("bytes_sidecar", report.bytes_sidecar),
            ("lines_in", report.lines_in),
            ("lines_out", report.lines_out),
            ("lines_carried_whole", report.n_carried_whole),
            ("lines_damaged", report.n_damaged),
            ("records_recovered", report.n_recovered),
            ("residues", report.n_residues),
            ("bytes_residue", report.bytes_residue),
            ("lines_restored", report.restored.restored),
            ("lines_edited", report.restored.edited),
            ("lines_added", report.restored.added),
            ("gaps", report.restored.gaps),
            ("lines_unreadable", report.restored.unreadable),
            ("lines_respelt", report.restored.respelt),
            ("lines_moved", report.restored.moved),
            ("lines_doubled", report.restored.doubled),
            ("lines_missing", report.restored.missing),
            ("lines_refused", report.restored.refused),
            ("lines_differ", report.restored.differs),
            ("carries_damaged", report.restored.damaged),
            ("carries_newer", report.restored.newer),
            ("files_cut", report.restored.cut),
            ("lines_stranded", report.n_left_out),
            ("sidecars_unread", report.n_sidecars_unread),
            ("files_unplaced", report.n_unplaced),
            ("subagents", report.n_agents),
            ("subagents_unlinked", report.n_unlinked),
        ];
        let mut text = format!(",\"status\":\"{}\"", status.name());
        _ = write!(text, ",\"from\":\"{}\",\"to\":\"{}\"", self.from, self.to);
        _ = write!(text, ",\"carry\":\"{}\"", self.carry.name());
        for (name, number) in numbers {
            _ = write!(text, ",\"{name}\":{number}");
        }
        text.push_str(",\"damaged\":[");
        for (n, damage) in report.damaged.iter().chain(&report.torn).enumerate() {
            let comma = if n > 0 { "," } else { "" };
            let Damage { line, error, start, length, sha256, .. } = damage;
            let offset = error.offset;
            _ = write!(text, "{comma}{{\"line\":{line},\"offset\":{offset},\"error\":");
            _ = write!(text, "\"{}\",\"start\":{start},\"length\":{length}", error.kind);
            text.push_str(",\"sha256\":\"");
            for byte in sha256 {
                _ = write!(text, "{byte:02x}");
            }
            text.push_str("\"}");
        }
        text.push_str("],\"recovered\":[");
        for (n, found) in report.recovered.iter().enumerate() {
            let comma = if n > 0 { "," } else { "" };
            let Recovered { line, offset, n_records } = found;
            _ = write!(text, "{comma}{{\"line\":{line},\"offset\":{offset},");
            _ = write!(text, "\"records\":{n_records}}}");
        }
        text.push_str("],\"redacted\":[");
        for (n, (rule, redacted)) in report.redactions.iter().enumerate() {
            let comma = if n > 0 { "," } else { "" };
            let (count, places) = (redacted.count, places_as_json(&redacted.places));
            _ = write!(text, "{comma}{{\"rule\":\"{rule}\",\"count\":{count},");
            _ = write!(text, "\"places\":[{places}]}}");
        }
        _ = write!(text, "],\"carries_redacted\":{}", report.redactions.n_carries);
        text.push_str(",\"subagents_missing\":[");
        out.extend_from_slice(text.as_bytes());
        text.clear();
        for (n, Missing { id, tool_use, evidence }) in report.missing.iter().enumerate() {
            out.extend_from_slice(if n > 0 { b",{\"id\":" } else { b"{\"id\":" });
            push_string(out, id, Style::Compact);
            out.extend_from_slice(b",\"tool_use\":");
            push_string(out, tool_use, Style::Compact);
            _ = write!(text, ",\"evidence\":\"{}\"}}", evidence.name());
            out.append(&mut std::mem::take(&mut text).into_bytes());
        }
        text.push_str("],\"files_beside\":[");
        out.extend_from_slice(text.as_bytes());
        text.clear();
        for (n, name) in report.files_beside.iter().enumerate() {
            out.extend_from_slice(if n > 0 { b"," } else { b"" });
            push_string(out, name, Style::Compact);
        }
        out.extend_from_slice(b"],\"losses\":[");
        for (n, (kind, field, loss)) in report.losses.iter().enumerate() {
            out.extend_from_slice(if n > 0 { b",{\"kind\":\"" } else { b"{\"kind\":\"" });
            out.extend_from_slice(kind.name().as_bytes());
            out.extend_from_slice(b"\",\"field\":");
            push_string(out, field, Style::Compact);
            let (count, places) = (loss.count, places_as_json(&loss.places));
            let rest = format!(",\"count\":{count},\"places\":[{places}]}}");
            out.extend_from_slice(rest.as_bytes());
        }
        out.extend_from_slice(b"]}");
    }
}

/// Appends the first places of `count`.
fn push_places(line: &mut String, places: &[Place], count: u64) {
    for (n, place) in places.iter().enumerate() {
        let start = if n == 0 { " (line " } else { ", " };
        _ = write!(line, "{start}{}", place.line);
    }
    line.push_str(if count > places.len() as u64 { ", ...)" } else { ")" });
}

/// Returns the first places as JSON objects.
fn places_as_json(places: &[Place]) -> String {
    let place = |place: &Place| format!("{{\"line\":{},\"offset\":{}}}", place.line, place.offset);
    places.iter().map(place).collect::<Vec<_>>().join(",")
}

pub(crate) fn place(label: &str, damage: &Damage) -> String {
    let Damage { line, error, length, .. } = damage;
    let place = format!("{label}:{line}: byte {}: {}", error.offset, error.kind);
    if damage.is_piece {
        format!("{place} ({} in no record)", count(*length, "byte"))
    } else {
        place
    }
}

fn count(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
