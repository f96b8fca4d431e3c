//! Formats the report on a converted file, as text and as JSON.

mod kept;
pub(crate) mod object;

use std::{fmt::Write as _, path::Path};

use conversion::{CarryMode, Damage, MAX_PLACES, Recovered, Report};
use core_model::{Evidence, Missing, Place};
use sessions::{FileLabel, Session};

use crate::{
    main_name::is_main,
    status::{FileStatus, n_lost},
};

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
    /// Whether sub-agents have files of their own beside the output.
    pub has_agent_files: bool,
    /// The start and the name of each file in the source, if there are several and one is damaged.
    pub files: Vec<FileLabel>,
}

impl ConvertedFile {
    /// Returns the status.
    pub fn status(&self) -> FileStatus {
        if self.is_changing {
            FileStatus::DoneWhileGrowing
        } else if self.report.wants_attention() {
            FileStatus::DoneWithDamage
        } else if n_lost(&self.report, self.carry) > 0 {
            FileStatus::DoneWithLoss
        } else {
            FileStatus::Done
        }
    }

    /// Sets the names of the files in the source, if a message needs them.
    pub(crate) fn name_files(&mut self, session: &Session) {
        if self.report.torn.is_some() || !self.report.damaged.is_empty() {
            self.files = session.labels();
        }
    }

    /// Returns warnings, one per line.
    pub fn problems(&self) -> Vec<String> {
        self.warnings(self.report.restored.added)
    }

    /// Returns the warnings for a session that comes home: added lines are expected there.
    pub fn problems_at_home(&self) -> Vec<String> {
        self.warnings(0)
    }

    fn warnings(&self, n_added: u64) -> Vec<String> {
        let report = &self.report;
        let label = &self.label;
        let mut lines: Vec<String> =
            report.damaged.iter().map(|damage| self.place(damage)).collect();
        let more = report.n_residues - report.damaged.len() as u64;
        if more > 0 {
            let more = count(more, "more line");
            lines.push(format!("{label}: {more} that cannot be read"));
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
        let output = self.output.as_deref().map(Path::new);
        if self.has_agent_files && output.is_some_and(|output| !is_main(output)) {
            lines.push(format!(
                "{label}: the files of its sub-agents are found again only if the main file ends in .jsonl or .json; use such a name for -o"
            ));
        }
        let tally = report.restored;
        for (count, one, several, rest) in [
            (
                tally.newer,
                "record has",
                "records have",
                " a carry of a newer version, which goes on as it is",
            ),
            (
                tally.damaged,
                "record has",
                "records have",
                " a damaged carry, which goes on as it is",
            ),
            (
                tally.foreign,
                "record has",
                "records have",
                " the carry of another conversion, which goes on as it is",
            ),
            (
                tally.unused,
                "record has",
                "records have",
                " a carry that was not used, because the first lines of the file have none, or one of another format; --ignore-carry accepts this",
            ),
            (tally.cut, "file was", "files were", " cut: the last carry is missing"),
            (tally.missing, "record with a carry is", "records with a carry are", " missing"),
            (
                tally.miscounted,
                "file has",
                "files have",
                " carries with other entries than the end mark says: entries are gone, doubled or changed",
            ),
            (
                tally.moved,
                "record is not where it was written; it is restored where it is now",
                "records are not where they were written; they are restored where they are now",
                "",
            ),
            (
                tally.doubled.saturating_sub(tally.repeated + tally.doubled_carries),
                "record is",
                "records are",
                " there more than once; each copy was converted",
            ),
            (
                tally.doubled_carries,
                "carry is",
                "carries are",
                " in the sidecar more than once; each was used once",
            ),
            (
                tally.repeated,
                "record without a carry equals an earlier one: it is a copy, or was added with the same words; it was converted",
                "records without a carry equal an earlier one: they are copies, or were added with the same words; each was converted",
                "",
            ),
            (
                tally.respelt,
                "record was spelled anew by another program; it is restored",
                "records were spelled anew by another program; they are restored",
                "",
            ),
            (tally.edited, "edited record was", "edited records were", " converted"),
            (n_added, "added record was", "added records were", " converted"),
            (
                tally.differs,
                "record says something else than what its carry restores",
                "records say something else than what their carry restores",
                "; the latter was written",
            ),
            (
                tally.wrong_totals,
                "document has",
                "documents have",
                " totals that are not the sums of the records; they were not used",
            ),
            (tally.gaps, "gap", "gaps", ": lines that carried source lines are missing"),
            (tally.unreadable, "carried line", "carried lines", " could not be restored"),
            (
                tally.refused,
                "carried line",
                "carried lines",
                " would make more than 16 times what was read; --max-expanded allows more",
            ),
            (
                report.n_left_out.max(report.left_out.len() as u64),
                "record was left out: no written line can hold it; --carry sidecar keeps it",
                "records were left out: no written line can hold them; --carry sidecar keeps them",
                "",
            ),
            (
                report.n_hidden,
                "message that was added or edited is",
                "messages that were added or edited are",
                " behind the point to which the user undid the session: its client hides such messages, and deletes them with the next prompt; redo the undone messages in the client first, or convert with --ignore-carry to a session of what is shown",
            ),
            (
                report.n_sidecars_unread,
                "sidecar beside the session's files was not read, and what it carries",
                "sidecars beside the session's files were not read, and what they carry",
                " does not go on; the session comes back from these files, not from the new one",
            ),
            (
                report.n_other_sidecars,
                "sidecar is not the one that the journal of the folder lists, and the file is: records of its source may be missing; put the right sidecar back, or convert the source again",
                "",
                "",
            ),
            (
                report.n_elsewhere,
                "line of other files of the session is",
                "lines of other files of the session are",
                match self.output {
                    Some(_) => {
                        " not written: the carry that names these files is missing or damaged"
                    }
                    None => " written with -o only",
                },
            ),
            (
                report.n_unplaced,
                "file that the carry names was not written: the client has no such name (--restore-files DIR writes such files into a new folder), or another file, folder or link is in its place (name an output in another folder)",
                "files that the carry names were not written: the client has no such names (--restore-files DIR writes such files into a new folder), or other files, folders or links are in their places (name an output in another folder)",
                "",
            ),
        ] {
            if count > 0 {
                let what = if count == 1 { one } else { several };
                lines.push(format!("{label}: {count} {what}{rest}"));
            }
        }
        lines.extend(report.left_out.iter().map(|Place { line, offset }| {
            format!("{label}:{line}: byte {offset}: one of the records that were left out")
        }));
        if let Some(proof) = &report.lost_carry {
            lines.push(format!(
                "{label}: its carry is missing, and its source is not restored: {proof}; --ignore-carry accepts this"
            ));
        }
        if let Some(id) = &report.agent_alone {
            lines.push(format!(
                "{label}: its carry is of the sub-agent {id}, and the session is not restored: its file or sidecar is missing, or was exchanged"
            ));
        }
        if let Some(offset) = tally.first_difference {
            lines.push(format!(
                "{label}: byte {offset}: the first of them; --ignore-carry converts what is shown"
            ));
        }
        if !report.images_missing.is_empty() {
            let names = first_names(&report.images_missing);
            lines.push(format!("{label}: images beside it are missing or edited: {names}"));
        }
        let (carried, named): (Vec<_>, Vec<_>) =
            report.missing.iter().partition(|missing| missing.evidence.is_carry());
        let (lost, derived): (Vec<_>, Vec<_>) =
            carried.into_iter().partition(|missing| missing.evidence == Evidence::Carry);
        for (agents, what, several) in [
            (
                lost,
                "is not restored: its file, or the carry of that file, is missing",
                "are not restored",
            ),
            (
                derived,
                "has no file any more; its messages are restored from the session",
                "have no files any more; their messages are restored from the session",
            ),
        ] {
            for Missing { id, .. } in agents.iter().take(MAX_PLACES) {
                lines.push(format!("{label}: sub-agent {id} {what}"));
            }
            if agents.len() > MAX_PLACES {
                lines.push(format!("{label}: {} sub-agents {several}", agents.len()));
            }
        }
        for Missing { id, tool_use, evidence } in named {
            let (id, tool_use, evidence) = (id, tool_use, evidence.name());
            lines.push(format!(
                "{label}: sub-agent {id}, started by {tool_use} ({evidence} says so), has no file"
            ));
        }
        lines
    }

    /// Returns the file and the place of damage.
    fn place(&self, damage: &Damage) -> String {
        let of_file = self.files.iter().rev().find(|file| file.start <= damage.start);
        let (start, label) = of_file.map_or((0, &self.label), |file| (file.start, &file.label));
        let mut damage = *damage;
        damage.error.offset = damage.error.offset.saturating_sub(start);
        place(label, &damage)
    }

    /// Returns a summary and the losses, in lines.
    pub fn summary(&self) -> Vec<String> {
        let report = &self.report;
        let whole = if self.carry == CarryMode::None { "not written" } else { "carried whole" };
        let mut lines = vec![format!(
            "{}: {} -> {}, {} in, {} out, {} {whole}",
            &self.label,
            self.from,
            self.to,
            count(report.lines_in, "line"),
            count(report.lines_out, "line"),
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
        if report.redactions.n_sidecars > 0 {
            let n_sidecars = count(report.redactions.n_sidecars, "sidecar");
            lines.push(format!("  redacted what {n_sidecars} carried of another format"));
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

    /// Returns a line for the files that were restored beside the main one, one for its images, and one for images that
    /// are not there.
    fn files_beside(&self) -> impl Iterator<Item = String> {
        let Report { files_beside, image_files, images_absent, .. } = &self.report;
        let absent =
            "images that it names are not beside it (copy them from the folder of the document)";
        [
            ("restored beside it", files_beside),
            ("images beside it", image_files),
            (absent, images_absent),
        ]
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(what, names)| format!("  {what}: {}", first_names(names)))
    }
}

/// Returns the first names, and the number of the others. The report file has all names.
fn first_names(names: &[String]) -> String {
    const MAX_NAMED: usize = 5;
    let first: Vec<&str> = names.iter().take(MAX_NAMED).map(String::as_str).collect();
    let more = names.len().checked_sub(MAX_NAMED).filter(|more| *more > 0);
    let more = more.map_or_else(String::new, |more| format!(" and {more} more"));
    format!("{}{more}", first.join(", "))
}

/// Appends the first places of `count`.
fn push_places(line: &mut String, places: &[Place], count: u64) {
    for (n, place) in places.iter().enumerate() {
        let start = if n == 0 { " (line " } else { ", " };
        _ = write!(line, "{start}{}", place.line);
    }
    line.push_str(if count > places.len() as u64 { ", ...)" } else { ")" });
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

#[cfg(test)]
mod tests {
    use core_model::{Evidence, LossKind};

    use super::*;

    #[test]
    fn the_object_of_a_file_is_spelled_as_ever() {
        let error = jsonl::Error { offset: 9, kind: jsonl::ErrorKind::InvalidNumber };
        let damage = Damage {
            line: 2,
            error,
            start: 8,
            length: 3,
            sha256: [0xab; 32],
            is_piece: false,
            is_in_document: false,
        };
        let mut report = Report {
            bytes_in: 1,
            n_recovered: 2,
            recovered: vec![Recovered { line: 3, offset: 4, n_records: 2 }; 2],
            damaged: vec![damage],
            torn: Some(damage),
            missing: vec![Missing {
                id: "é\u{1b}".to_owned(),
                tool_use: "t\"".to_owned(),
                evidence: Evidence::Prompt,
            }],
            files_beside: vec!["é".to_owned(), "\u{7f}".to_owned()],
            ..Report::default()
        };
        report.redactions.n_carries = 5;
        report.redactions.n_sidecars = 1;
        report.losses.add(LossKind::Dropped, "usage", Place { line: 1, offset: 0 });
        report.losses.add(LossKind::Dropped, "usage", Place { line: 2, offset: 7 });
        report.losses.add_named(LossKind::Invented, "é\u{1b}", Place { line: 3, offset: 8 });
        let mut done = ConvertedFile {
            label: "s\"é\u{1b}\u{202e}".to_owned(),
            output: Some("o".to_owned()),
            from: "clido",
            to: "claude-code",
            carry: CarryMode::Sidecar,
            report,
            has_agent_files: false,
            is_changing: false,
            files: Vec::new(),
        };
        let said = |done: &ConvertedFile| {
            String::from_utf8(done.json(FileStatus::DoneWithDamage)).expect("UTF-8")
        };
        const NUMBERS: &str = concat!(
            r#""bytes_in":1,"bytes_out":0,"bytes_sidecar":0,"lines_in":0,"lines_out":0,"#,
            r#""lines_carried_whole":0,"lines_damaged":0,"records_recovered":2,"residues":0,"#,
            r#""bytes_residue":0,"lines_restored":0,"lines_edited":0,"lines_added":0,"gaps":0,"#,
            r#""lines_unreadable":0,"lines_respelt":0,"lines_moved":0,"lines_doubled":0,"#,
            r#""lines_missing":0,"lines_refused":0,"lines_differ":0,"carries_damaged":0,"#,
            r#""carries_newer":0,"carries_unused":0,"files_cut":0,"files_miscounted":0,"lines_stranded":0,"sidecars_unread":0,"#,
            r#""files_unplaced":0,"subagents":0,"subagents_unlinked":0,"#
        );
        const DAMAGE: &str = concat!(
            r#"{"line":2,"offset":9,"error":"invalid number","start":8,"length":3,"sha256":""#,
            r#"abababababababababababababababababababababababababababababababab"}"#
        );
        let expected = format!(
            "{}{NUMBERS}{}{DAMAGE},{DAMAGE}{}",
            concat!(
                "{\"source\":\"s\\\"é\\u001b\\u202e\",\"target\":\"o\",\"status\":\"Damaged\",",
                r#""from":"clido","to":"claude-code","carry":"sidecar","#
            ),
            r#""damaged":["#,
            concat!(
                r#"],"recovered":[{"line":3,"offset":4,"records":2},"#,
                r#"{"line":3,"offset":4,"records":2}],"redacted":[],"carries_redacted":5,"sidecars_redacted":1,"#,
                r#""subagents_missing":[{"id":"é\u001b","tool_use":"t\"","evidence":"its prompt"}],"#,
                "\"files_beside\":[\"é\",\"\\u007f\"],",
                r#""losses":[{"kind":"dropped","field":"usage","count":2,"places":"#,
                r#"[{"line":1,"offset":0},{"line":2,"offset":7}]},"#,
                r#"{"kind":"invented","field":"é\u001b","count":1,"places":[{"line":3,"offset":8}]}]}"#
            )
        );
        assert_eq!(said(&done), expected);
        done.output = None;
        assert_eq!(said(&done), expected.replace(r#""target":"o","#, ""));
    }
}
