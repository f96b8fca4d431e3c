//! Counts the results of a conversion, and the values that the target does not show.

use core_model::{Losses, Missing, Place, SessionTree};

use crate::{
    carry::restore::RestoreStats,
    pipeline::damage::{Damage, Recovered},
    redaction::Redactions,
};

/// Limit on the places of one kind that a report lists.
pub const MAX_PLACES: usize = 20;

/// The counts of a conversion.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The bytes read.
    pub bytes_in: u64,
    /// The bytes written, without the sidecar.
    pub bytes_out: u64,
    /// The size of the sidecar in bytes.
    pub bytes_sidecar: u64,
    /// The sum of guards in the end mark of the written file, if its source has sub-agents that get derived files.
    pub guards: u64,
    /// The carries of the written file, inline or in its sidecar.
    pub n_carries: u64,
    /// The lines read.
    pub lines_in: u64,
    /// The lines written.
    pub lines_out: u64,
    /// Source lines that no written line covers. The carry has them whole; without a carry they are
    /// lost.
    pub n_carried_whole: u64,
    /// Whether one of these lines has a carry.
    pub has_carry_in_whole: bool,
    /// Lines that are not one JSON value, without a torn last line. They do not make the conversion fail: their
    /// records are converted, and the carry has their bytes, so that the way back restores them.
    pub n_damaged: u64,
    /// Records that were recovered from these lines.
    pub n_recovered: u64,
    /// The first lines with recovered records, at most [`MAX_PLACES`].
    pub recovered: Vec<Recovered>,
    /// Lines, and pieces of lines beside recovered records, that could not be read.
    pub n_residues: u64,
    /// Their size in bytes.
    pub bytes_residue: u64,
    /// The first of them, at most [`MAX_PLACES`].
    pub damaged: Vec<Damage>,
    /// The last line, if it ends in the middle of a value. It is not among `n_damaged`.
    pub torn: Option<Damage>,
    /// The counts of restored, edited and missing records.
    pub restored: RestoreStats,
    /// 1 if source lines are missing from the target, because it had no line and no sidecar for
    /// their entries.
    pub n_left_out: u64,
    /// The first source lines that are missing, at most [`MAX_PLACES`].
    pub left_out: Vec<Place>,
    /// Added records that the client hides, and deletes when it goes on, because the user undid the session before them.
    pub n_hidden: u64,
    /// The secrets that were removed before conversion.
    pub redactions: Redactions,
    /// Files beside the main file that were dropped: no folder for them, or an unsafe name.
    pub n_unplaced: u64,
    /// The names of the files that were restored beside the main file.
    pub files_beside: Vec<String>,
    /// The paths of images that were written to files beside the main file.
    pub image_files: Vec<String>,
    /// The paths of images that were written beside the source, and are missing or edited there.
    pub images_missing: Vec<String>,
    /// The paths of images that a restored document names, and that are not beside it.
    pub images_absent: Vec<String>,
    /// Restored lines of files beside the main file that have no sink.
    pub n_elsewhere: u64,
    /// Sidecars of the files of a session that were not read.
    pub n_sidecars_unread: u64,
    /// Proof that the file had a carry, if it has none: its source is not restored.
    pub lost_carry: Option<String>,
    /// 1 if the sidecar is not the one that was written with the file, as the journal lists both.
    pub n_other_sidecars: u64,
    /// The sub-agent that the file is of, if it was restored without the file of its session, which is missing.
    pub agent_alone: Option<String>,
    /// The time at which the session starts, a JSON value, if a client imports documents of the target:
    /// the documents of sub-agents name their session by it.
    pub session_start: Option<String>,
    /// Sub-agents with a file.
    pub n_agents: u64,
    /// Sub-agents with a file whose tool use is unknown.
    pub n_unlinked: u64,
    /// Sub-agents without a file. A tool use or a result names them, or the carry of a restored session lists them.
    pub missing: Vec<Missing>,
    /// Values that the target drops, shortens, or needs and the source does not have.
    pub losses: Losses,
}

impl Report {
    /// Adds the counts of a session's sub-agents.
    pub fn tell_of(&mut self, tree: &SessionTree) {
        self.n_agents += tree.agents.len() as u64;
        let unlinked = tree.agents.iter().filter(|agent| agent.tool_use.is_none());
        self.n_unlinked += unlinked.count() as u64;
        self.missing.clone_from(&tree.missing);
    }

    /// Returns whether the user should look at the result: damaged lines, a gap, records that the
    /// client hides, or entries, files, sidecars or sub-agents left out. Losses do not count, nor does a torn last line, unless it is the only
    /// line or the start of a document: then nothing was converted, and a carry in it is unknown.
    pub fn wants_attention(&self) -> bool {
        self.n_damaged > 0
            || (self.torn.is_some() && self.lines_in <= 1)
            || self.n_left_out > 0
            || self.n_hidden > 0
            || self.n_unplaced > 0
            || self.n_elsewhere > 0
            || self.n_sidecars_unread > 0
            || self.lost_carry.is_some()
            || self.n_other_sidecars > 0
            || self.agent_alone.is_some()
            || !self.images_missing.is_empty()
            || self.restored.is_not_the_source()
            || self.missing.iter().any(|agent| agent.evidence.is_carry())
    }
}
