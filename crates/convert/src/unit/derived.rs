//! Files of sub-agents beside a main file that carries all of its source.

use std::{
    collections::{HashMap, HashSet},
    io::Write,
    path::{Path, PathBuf},
};

use core_model::{FileRole, Format};

use super::{Companion, Unit, restored::has_link};
use crate::{
    Report, Source,
    carry::{Carry, Member},
    cli::SubAgents,
    input::{Input, opened::Opened},
    job::{Order, Refusal},
    output::{Finished, Pending},
    pipeline::{derived::DerivedAgent, stack::Stack},
};

/// Sub-agents that are to be written, and where.
#[derive(Debug)]
pub(crate) struct Derived {
    agents: Vec<(DerivedAgent, PathBuf)>,
}

impl Order {
    /// Returns whether sub-agents of which a source tells among its own messages get files of their
    /// own: where the target has each in its own file.
    pub(crate) fn may_derive(&self, from: &'static Format, stack: &Stack) -> bool {
        let is_asked_for = self.subagents == SubAgents::Files && self.to.bundles.is_some();
        let is_new = from.family != self.to.family && stack.depth(self.to).is_none();
        is_asked_for && is_new && from.has_inline_agents && !self.to.has_inline_agents
    }

    /// Finds the sub-agents of a source that get files of their own beside that at `path`.
    pub(crate) fn derived(
        &self,
        source: &mut Source<Opened>,
        from: &'static Format,
        path: &Path,
    ) -> Result<Derived, Refusal> {
        let mut agents = Vec::new();
        for agent in self.conversion(from).derived_agents(source)? {
            let place = self.agent_path(path, &agent.id).filter(|place| !has_link(place, path));
            agents.push((agent, place.ok_or(Refusal::NoName)?));
        }
        Ok(Derived { agents })
    }

    /// Writes the sub-agents of a source, each to a file without a name yet, and tells the report.
    pub(crate) fn write_derived(
        &self,
        source: &mut Source<Opened>,
        from: &'static Format,
        derived: Derived,
        mode: u32,
        report: &mut Report,
    ) -> Result<Vec<Finished>, Refusal> {
        let mut folders = HashMap::new();
        let (mut transcripts, mut files) = (Vec::new(), Vec::new());
        let describe = self.to.bundles.and_then(|bundles| bundles.describe);
        for (agent, path) in &derived.agents {
            if let Some(describe) = describe {
                let path = path.with_extension("meta.json");
                let mut file = self.outputs.create_shut(&path, mode, &mut folders)?;
                file.write_all(&describe(&agent.description))?;
                files.push(file.finish()?);
            }
            transcripts.push(self.outputs.create_shut(path, mode, &mut folders)?);
        }
        let agents: Vec<DerivedAgent> =
            derived.agents.into_iter().map(|(agent, _)| agent).collect();
        let sinks = transcripts.iter_mut().map(|file| file as &mut dyn Write).collect();
        for written in self.conversion(from).run_derived(source, &agents, sinks)? {
            report.lines_out += written.n_lines;
            report.bytes_out += written.n_bytes;
            report.losses.absorb(&written.losses);
        }
        report.n_agents += agents.len() as u64;
        for file in transcripts {
            files.push(Pending::finish(file)?);
        }
        Ok(files)
    }

    /// Returns the files of a session that were written from a source which its main file carries:
    /// transcripts of sub-agents, each as it was written or not, and what describes them.
    pub(super) fn derived_of<'u>(
        &self,
        unit: &'u Unit,
        from: &'static Format,
    ) -> Result<HashMap<&'u Path, bool>, Refusal> {
        let mut derived = HashMap::new();
        let mut ids = HashSet::new();
        for Companion { input, role } in &unit.others {
            if let (FileRole::Agent(id), Some(path)) = (role, input.path())
                && let Some(is_intact) = self.is_intact(input, from)?
            {
                derived.insert(path, is_intact);
                ids.insert(id.as_str());
            }
        }
        for Companion { input, role } in &unit.others {
            if let (FileRole::Description(id), Some(path)) = (role, input.path())
                && ids.contains(id.as_str())
            {
                derived.insert(path, true);
            }
        }
        Ok(derived)
    }

    /// Returns whether a transcript that was written from a source which its main file carries is as
    /// it was written; `None` if it is none.
    fn is_intact(&self, input: &Input, from: &'static Format) -> Result<Option<bool>, Refusal> {
        let mut source = Source::new(self.open(input)?.0);
        let (mut is_derived, mut is_intact, mut n_lines) = (false, true, 0u64);
        source.for_each_piece(Some(from), &mut |_, value| {
            n_lines += 1;
            let member = value.ok().and_then(Member::find);
            let carry = member.as_ref().and_then(|it| Some((it.guard(), Carry::parse(&it.carry)?)));
            is_intact &= carry.as_ref().is_some_and(|(guard, carry)| *guard == carry.guard);
            if n_lines == 1 {
                let contents = carry.and_then(|(_, carry)| carry.contents);
                is_derived = contents.is_some_and(|contents| contents.is_derived());
            }
            is_derived && is_intact
        })?;
        Ok(is_derived.then_some(is_intact))
    }
}
