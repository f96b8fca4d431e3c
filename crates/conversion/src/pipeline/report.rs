//! What a conversion did, and what it could not.

use core_model::{Bundle, Losses, Missing};

use crate::{
    carry::restore::RestoreStats,
    pipeline::damage::{Damage, Recovered},
    redaction::Redactions,
};

/// How many places of one kind a report names.
pub const MAX_PLACES: usize = 20;

/// What a conversion did.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The bytes read.
    pub bytes_in: u64,
    /// The bytes written, without a sidecar.
    pub bytes_out: u64,
    /// The bytes of the sidecar.
    pub bytes_sidecar: u64,
    /// The lines read.
    pub lines_in: u64,
    /// The lines written.
    pub lines_out: u64,
    /// The source lines that no written line says: they ride in the carry, or are lost without one.
    pub riders: u64,
    /// How many lines are not one JSON value; a torn last line is not among them.
    pub n_damaged: u64,
    /// How many records were found in them.
    pub n_recovered: u64,
    /// Where the first of these records are, at most [`MAX_PLACES`] lines.
    pub recovered: Vec<Recovered>,
    /// How many lines, and pieces of lines beside recovered records, could not be read.
    pub n_residues: u64,
    /// How many bytes they have.
    pub bytes_residue: u64,
    /// The first of them, at most [`MAX_PLACES`].
    pub damaged: Vec<Damage>,
    /// The last line, if it ends in the middle of a value.
    pub torn: Option<Damage>,
    /// What became of the lines that had carries.
    pub restored: RestoreStats,
    /// Source lines for which there was neither a written line nor a sidecar to ride on.
    pub n_stranded: u64,
    /// What was taken out before the source was read.
    pub redactions: Redactions,
    /// The files beside the main one for which there was no place, or no safe name.
    pub n_unplaced: u64,
    /// The names of the files that were restored beside the main one.
    pub files_beside: Vec<String>,
    /// The restored lines of files beside the main one that no place was given for.
    pub n_elsewhere: u64,
    /// The sidecars beside the files of a session of several, which the target does not take along.
    pub n_sidecars_unread: u64,
    /// The sub-agents with a file.
    pub n_agents: u64,
    /// Those of which nothing says which tool use started them.
    pub n_unlinked: u64,
    /// The sub-agents of which there is evidence, but no file.
    pub missing: Vec<Missing>,
    /// What the target does not say, says with less, or makes up.
    pub losses: Losses,
}

impl Report {
    /// Takes note of the sub-agents of a session.
    pub fn tell_of(&mut self, bundle: &Bundle) {
        self.n_agents += bundle.agents.len() as u64;
        let unlinked = bundle.agents.iter().filter(|agent| agent.tool_use.is_none());
        self.n_unlinked += unlinked.count() as u64;
        self.missing.clone_from(&bundle.missing);
    }

    /// Returns whether something wants attention: damage, a gap, lines without a place.
    pub fn wants_attention(&self) -> bool {
        self.n_damaged > 0
            || self.n_stranded > 0
            || self.n_unplaced > 0
            || self.n_elsewhere > 0
            || self.n_sidecars_unread > 0
            || self.restored.is_not_the_source()
    }
}
