//! The object of a file in a report, as JSON.
//!
//! In: a converted file. Out: `{"source":"s1.jsonl","status":"Done","from":"clido",...}`.

use conversion::{Damage, Recovered};
use core_model::{Missing, Place};
use serde::Serialize;

use super::ConvertedFile;
use crate::{
    record::{self, hex},
    status::FileStatus,
};

impl ConvertedFile {
    /// Returns the report as a JSON object.
    pub fn json(&self, status: FileStatus) -> Vec<u8> {
        let report = &self.report;
        let restored = &report.restored;
        record::write_report(&FileObject {
            source: &self.label,
            target: self.output.as_deref(),
            status: status.word(),
            from: self.from,
            to: self.to,
            carry: self.carry.name(),
            bytes_in: report.bytes_in,
            bytes_out: report.bytes_out,
            bytes_sidecar: report.bytes_sidecar,
            lines_in: report.lines_in,
            lines_out: report.lines_out,
            lines_carried_whole: report.n_carried_whole,
            lines_damaged: report.n_damaged,
            records_recovered: report.n_recovered,
            residues: report.n_residues,
            bytes_residue: report.bytes_residue,
            lines_restored: restored.restored,
            lines_edited: restored.edited,
            lines_added: restored.added,
            gaps: restored.gaps,
            lines_unreadable: restored.unreadable,
            lines_respelt: restored.respelt,
            lines_moved: restored.moved,
            lines_doubled: restored.doubled,
            lines_missing: restored.missing,
            lines_refused: restored.refused,
            lines_differ: restored.differs,
            carries_damaged: restored.damaged,
            carries_newer: restored.newer,
            carries_unused: restored.unused,
            carries_foreign: Some(restored.foreign).filter(|n| *n > 0),
            files_cut: restored.cut,
            files_miscounted: restored.miscounted,
            totals_wrong: Some(restored.wrong_totals).filter(|n| *n > 0),
            lines_stranded: report.n_left_out,
            lines_hidden: Some(report.n_hidden).filter(|n| *n > 0),
            sidecars_unread: report.n_sidecars_unread,
            carry_lost: report.lost_carry.as_deref(),
            agent_alone: report.agent_alone.as_deref(),
            sidecars_other: Some(report.n_other_sidecars).filter(|n| *n > 0),
            files_unplaced: report.n_unplaced,
            subagents: report.n_agents,
            subagents_unlinked: report.n_unlinked,
            damaged: report.damaged.iter().chain(&report.torn).map(DamageObject::of).collect(),
            recovered: report.recovered.iter().map(RecoveredObject::of).collect(),
            redacted: report
                .redactions
                .iter()
                .map(|(rule, redacted)| RedactedObject {
                    rule,
                    count: redacted.count,
                    places: places(&redacted.places),
                })
                .collect(),
            carries_redacted: report.redactions.n_carries,
            sidecars_redacted: report.redactions.n_sidecars,
            subagents_missing: report.missing.iter().map(MissingObject::of).collect(),
            files_beside: &report.files_beside,
            image_files: &report.image_files,
            images_missing: &report.images_missing,
            images_absent: &report.images_absent,
            losses: report
                .losses
                .iter()
                .map(|(kind, field, loss)| LossObject {
                    kind: kind.name(),
                    field,
                    count: loss.count,
                    places: Some(places(&loss.places)),
                })
                .collect(),
        })
    }
}

/// The object of a converted file.
#[derive(Serialize)]
struct FileObject<'r> {
    source: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'r str>,
    status: &'static str,
    from: &'static str,
    to: &'static str,
    carry: &'static str,
    bytes_in: u64,
    bytes_out: u64,
    bytes_sidecar: u64,
    lines_in: u64,
    lines_out: u64,
    lines_carried_whole: u64,
    lines_damaged: u64,
    records_recovered: u64,
    residues: u64,
    bytes_residue: u64,
    lines_restored: u64,
    lines_edited: u64,
    lines_added: u64,
    gaps: u64,
    lines_unreadable: u64,
    lines_respelt: u64,
    lines_moved: u64,
    lines_doubled: u64,
    lines_missing: u64,
    lines_refused: u64,
    lines_differ: u64,
    carries_damaged: u64,
    carries_newer: u64,
    carries_unused: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    carries_foreign: Option<u64>,
    files_cut: u64,
    files_miscounted: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    totals_wrong: Option<u64>,
    lines_stranded: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines_hidden: Option<u64>,
    sidecars_unread: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    carry_lost: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_alone: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sidecars_other: Option<u64>,
    files_unplaced: u64,
    subagents: u64,
    subagents_unlinked: u64,
    damaged: Vec<DamageObject>,
    recovered: Vec<RecoveredObject>,
    redacted: Vec<RedactedObject>,
    carries_redacted: u64,
    sidecars_redacted: u64,
    subagents_missing: Vec<MissingObject<'r>>,
    files_beside: &'r [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    image_files: &'r [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    images_missing: &'r [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    images_absent: &'r [String],
    losses: Vec<LossObject<'r>>,
}

/// The object of a file that this run did not convert, or of which only counts are known.
#[derive(Default, Serialize)]
pub(crate) struct BriefObject<'r> {
    pub(crate) source: &'r str,
    pub(crate) status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bytes_in: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lines_out: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lines_damaged: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) up_to_date: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) same_as: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) losses: Option<Vec<LossObject<'r>>>,
}

/// A loss, with its first places if they are known.
#[derive(Serialize)]
pub(crate) struct LossObject<'r> {
    pub(crate) kind: &'static str,
    pub(crate) field: &'r str,
    pub(crate) count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) places: Option<Vec<PlaceObject>>,
}

/// A place in a source.
#[derive(Serialize)]
pub(crate) struct PlaceObject {
    line: u64,
    offset: u64,
}

fn places(places: &[Place]) -> Vec<PlaceObject> {
    places.iter().map(|place| PlaceObject { line: place.line, offset: place.offset }).collect()
}

/// Bytes that are in no record.
#[derive(Serialize)]
struct DamageObject {
    line: u64,
    offset: u64,
    error: String,
    start: u64,
    length: u64,
    sha256: String,
}

impl DamageObject {
    fn of(damage: &Damage) -> Self {
        let Damage { line, error, start, length, sha256, .. } = damage;
        Self {
            line: *line,
            offset: error.offset,
            error: error.kind.to_string(),
            start: *start,
            length: *length,
            sha256: hex(sha256),
        }
    }
}

/// A line with recovered records.
#[derive(Serialize)]
struct RecoveredObject {
    line: u64,
    offset: u64,
    records: u64,
}

impl RecoveredObject {
    fn of(recovered: &Recovered) -> Self {
        let Recovered { line, offset, n_records } = *recovered;
        Self { line, offset, records: n_records }
    }
}

/// The secrets that a rule found.
#[derive(Serialize)]
struct RedactedObject {
    rule: &'static str,
    count: u64,
    places: Vec<PlaceObject>,
}

/// A sub-agent without a file.
#[derive(Serialize)]
struct MissingObject<'r> {
    id: &'r str,
    tool_use: &'r str,
    evidence: &'static str,
}

impl<'r> MissingObject<'r> {
    fn of(missing: &'r Missing) -> Self {
        let Missing { id, tool_use, evidence } = missing;
        Self { id, tool_use, evidence: evidence.name() }
    }
}
