//! Finds proof that a file without a carry had one.
//!
//! In: `s1.jsonl`, which a conversion wrote with `--carry sidecar`, without its sidecar. By its records it is a session
//! of its client. Out: the proof beside it: a journal that lists the sidecar, a sidecar under another name, or a file of
//! a sub-agent with a carry.

use std::io::{Read, Seek};

use conversion::{ConversionHistory, Source, conversion_history, is_sidecar_of};
use core_model::{FileRole, Format};
use sessions::{Companion, Input, SessionFiles, sidecar_path};

use crate::job::Job;

/// Limit on the files of sub-agents that are searched for a carry. A conversion writes all of them with one.
const MAX_AGENTS: usize = 4;

impl Job {
    /// Returns proof that a file had a carry, if its history is empty; `None` if there is none, or with
    /// `--ignore-carry`.
    pub(crate) fn lost_carry<R: Read + Seek + Send>(
        &self,
        input: &Input,
        from: &'static Format,
        history: &ConversionHistory,
        source: &mut Source<R>,
    ) -> Option<String> {
        let is_native = history.formats.is_empty() && history.manifest.is_none();
        let is_asked = is_native && history.fault.is_none() && !self.config.ignores_carry;
        let path = input.path().filter(|_| input.storage().is_disk() && is_asked)?;
        if from.name == self.config.to.name || input.found_sidecar().is_some() {
            return None;
        }
        let path = input.absolute().ok().flatten().unwrap_or_else(|| path.to_owned());
        let sidecar = sidecar_path(&path);
        let name = sidecar.file_name()?.display();
        let folders = &self.outputs.carry_folders;
        if folders.had_sidecar(&path) {
            return Some(format!("the journal of the folder lists {name}"));
        }
        let strays = folders.strays(path.parent()?);
        let stray = strays.iter().find(|stray| {
            let file = stray.with_extension("");
            let sidecar = Input::file(file).sidecar().ok().flatten();
            sidecar.is_some_and(|mut it| is_sidecar_of(from, source, &mut it).unwrap_or_default())
        })?;
        let stray = stray.file_name()?.display();
        Some(format!("{stray} beside it has the carry of its records; rename it to {name}"))
    }

    /// Returns proof that the main file of a session had a carry, if it has none: as for a file, or a file of a
    /// sub-agent with one.
    pub(super) fn lost_carry_of_main(
        &self,
        unit: &SessionFiles,
        from: &'static Format,
    ) -> Option<String> {
        if self.config.ignores_carry {
            return None;
        }
        let (main, history) = (self.open(&unit.main).ok()?.file, ConversionHistory::default());
        if let Some(proof) = self.lost_carry(&unit.main, from, &history, &mut Source::new(main)) {
            return Some(proof);
        }
        let is_agent = |it: &&Companion| matches!(it.role, FileRole::Agent(_));
        let has_carry = |it: &&Companion| {
            let mut source = Source::new(self.open(&it.input).ok()?.file);
            let mut sidecar = self.sidecar(&it.input).ok()?;
            let found =
                conversion_history(self.config.formats, from, &mut source, sidecar.as_mut())
                    .ok()?;
            Some(!found.formats.is_empty() || found.manifest.is_some())
        };
        let mut agents = unit.others.iter().filter(is_agent).take(MAX_AGENTS);
        let agent = agents.find(|it| has_carry(it) == Some(true))?;
        let name = agent.input.path()?.file_name()?.display().to_string();
        Some(format!("{name}, a sub-agent of it, has one"))
    }
}
