//! Writes files of sub-agents beside a main file whose carry has the whole source.

use std::{
    collections::{HashMap, HashSet},
    io::Write,
    path::Path,
};

use conversion::{
    Agents, ConversionHistory, DerivedFile, DerivedFrom, Events, Manifest, ManifestEntryKind,
    Report, Source, conversion_history, end_mark,
};
use core_model::{FileRole, Format};
use sessions::{Companion, Input, SessionFiles};
use storage::{AtomicFile, Finished};

use crate::{
    config::SubAgents,
    error::ConvertError,
    job::Job,
    outputs::images::{Images, receiver},
    paths::has_link,
    session::paths::check_folder,
};

/// The state of a derived file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Derived {
    /// It is as it was written.
    Intact,
    /// A record was edited, added or removed.
    Edited,
    /// It was written with another main file than the one beside it, or for another sub-agent.
    Elsewhere,
}

impl Job {
    /// Returns whether sub-agents among the source's own messages get files of their own: if the
    /// target's client keeps sub-agents in files.
    pub(crate) fn may_derive(&self, from: &'static Format, history: &ConversionHistory) -> bool {
        let is_asked_for =
            self.config.subagents == SubAgents::Files && self.config.to.layout.is_some();
        let is_new =
            from.family != self.config.to.family && history.depth(self.config.to).is_none();
        is_asked_for && is_new && !self.config.to.has_inline_agents
    }

    /// Writes each sub-agent to an unpublished file beside `path`, and adds them to the report.
    pub(crate) fn write_derived(
        &self,
        events: &mut dyn Events,
        from: &'static Format,
        mut agents: Agents,
        (path, mode): (&Path, u32),
        images: &mut Images<'_>,
        report: &mut Report,
    ) -> Result<Vec<Finished>, ConvertError> {
        let describe = self.config.to.layout.and_then(|layout| layout.describe);
        if describe.is_some() {
            agents.describe(events)?;
        }
        let n_agents = agents.list().len();
        let (mut transcripts, mut files) = (Vec::new(), Vec::new());
        for agent in agents.list() {
            let place = self.agent_path(path, &agent.id).filter(|place| !has_link(place, path));
            let place = place.ok_or(ConvertError::NoName)?;
            check_folder(&place, path)?;
            if let Some(describe) = describe {
                let meta = place.with_extension("meta.json");
                let mut file = self.outputs.create_beside(path, &meta, mode, n_agents)?;
                file.write_all(&describe(&agent.description))?;
                files.push(file.finish()?);
            }
            transcripts.push(self.outputs.create_beside(path, &place, mode, n_agents)?);
        }
        report.n_agents += agents.list().len() as u64;
        let unlinked = agents.list().iter().filter(|agent| agent.description.tool_use.is_none());
        report.n_unlinked += unlinked.count() as u64;
        let sinks = transcripts.iter_mut().map(|file| file as &mut dyn Write).collect();
        let conversion = self.conversion(from);
        let mut each_image = images.writing();
        let images = receiver(self.config.to, &mut each_image);
        for written in conversion.run_derived(events, agents, sinks, images, report.guards)? {
            report.lines_out += written.n_lines;
            report.bytes_out += written.n_bytes;
            report.losses.absorb(&written.losses);
        }
        for file in transcripts {
            files.push(AtomicFile::finish(file)?);
        }
        Ok(files)
    }

    /// Returns the derived files of a session, which were written from the main file's source:
    /// transcripts of sub-agents, and their descriptions.
    pub(super) fn derived_of<'u>(
        &self,
        unit: &'u SessionFiles,
        from: &'static Format,
    ) -> Result<HashMap<&'u Path, Derived>, ConvertError> {
        let mut derived = HashMap::new();
        let (mut ids, mut guards) = (HashSet::new(), None);
        for Companion { input, role } in &unit.others {
            if let (FileRole::Agent(id), Some(path)) = (role, input.path())
                && let Some((is_intact, session)) = self.is_intact(input, from)?
            {
                if session.is_some() && guards.is_none() {
                    guards = Some(self.guards_of_main(&unit.main, from)?);
                }
                let is_elsewhere = session.is_some_and(|it| {
                    it.agent != *id || guards.flatten().is_some_and(|guards| it.guards != guards)
                });
                let state = match is_elsewhere {
                    true => Derived::Elsewhere,
                    false if is_intact => Derived::Intact,
                    false => Derived::Edited,
                };
                derived.insert(path, state);
                ids.insert(id.as_str());
            }
        }
        for Companion { input, role } in &unit.others {
            if let (FileRole::Description(id), Some(path)) = (role, input.path())
                && ids.contains(id.as_str())
            {
                derived.insert(path, Derived::Intact);
            }
        }
        Ok(derived)
    }

    /// Returns the name of a file of a sub-agent that is a converted session, beside a main file that was derived.
    pub(super) fn session_beside(
        &self,
        unit: &SessionFiles,
        from: &'static Format,
    ) -> Result<Option<String>, ConvertError> {
        for Companion { input, role } in &unit.others {
            if !matches!(role, FileRole::Agent(_)) {
                continue;
            }
            let mut source = Source::new(self.open(input)?.file);
            let mut sidecar = self.sidecar(input)?;
            let found =
                conversion_history(self.config.formats, from, &mut source, sidecar.as_mut())?;
            let is_session = |manifest: &Manifest| {
                manifest.entries.first().is_none_or(|it| it.kind == ManifestEntryKind::Main)
            };
            if !found.formats.is_empty() && found.manifest.as_ref().is_none_or(is_session) {
                return Ok(Some(input.label()));
            }
        }
        Ok(None)
    }

    /// Returns the sum of guards in the end mark of a main file; `None` if it has none.
    fn guards_of_main(
        &self,
        main: &Input,
        from: &'static Format,
    ) -> Result<Option<u64>, ConvertError> {
        let mut source = Source::new(self.open(main)?.file);
        let end = end_mark(from, &mut source, self.sidecar(main)?.as_mut())?;
        Ok(end.and_then(|end| end.guards))
    }

    /// Returns whether a derived transcript is as it was written, and its session; `None` if the file is not derived.
    fn is_intact(
        &self,
        input: &Input,
        from: &'static Format,
    ) -> Result<Option<(bool, Option<DerivedFrom>)>, ConvertError> {
        let mut source = Source::new(self.open(input)?.file);
        let mut derived = DerivedFile::new(self.config.formats, from);
        source.for_each_piece(&[from], &mut |line, value| derived.push(line, value))?;
        Ok(derived.finish().map(|is_intact| (is_intact, derived.from().cloned())))
    }
}
