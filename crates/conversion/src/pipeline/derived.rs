//! Writes each sub-agent that the target does not show to a file of its own.
//!
//! In: a source whose messages include messages of sub-agents. Out: one session per sub-agent. The
//! carry of the main file has the whole source, so these files carry guards only and nothing is
//! restored from them.

use std::io::{self, Write};

use super::Conversion;
use crate::{
    CarryMode,
    carry::{DerivedFrom, Manifest, ManifestEntry, ManifestEntryKind},
    pipeline::{
        agents::{Agents, SubAgent},
        engine::{EachImage, Engine, Written},
        sidechains::Attributed,
        survey::{Events, Survey, as_own},
    },
};

impl Conversion {
    /// Writes each sub-agent to its sink, and all their images to `images`. `guards` is the sum of guards in the end
    /// mark of the main file. Returns the counts of each.
    ///
    /// # Errors
    ///
    /// Returns an error if the events cannot be read, or a sink does.
    pub fn run_derived(
        &self,
        events: &mut dyn Events,
        mut agents: Agents,
        sinks: Vec<&mut dyn Write>,
        mut images: Option<EachImage<'_>>,
        guards: u64,
    ) -> io::Result<Vec<Written>> {
        let mode = match self.carry {
            CarryMode::None => CarryMode::None,
            CarryMode::Inline | CarryMode::Sidecar => CarryMode::Inline,
        };
        let mut engines = Vec::new();
        for (agent, sink) in agents.list_mut().iter_mut().zip(sinks) {
            let facts = std::mem::take(&mut agent.facts);
            let mut survey = Survey { facts, ..Survey::default() };
            let engine = Engine::new(self.from, self.to, &self.options, mode, &mut survey, sink);
            let mut engine = engine.derived();
            engine.set_manifest(&contents_of(agent, guards));
            if images.is_some() {
                engine.collect_images();
            }
            engines.push(engine);
        }
        let (mut n_lines, mut result) = (0, Ok(()));
        let attribution = agents.attribution().clone();
        Attributed::new(events, &attribution).for_each(&mut |line, event| {
            n_lines += 1;
            let Ok(event) = event else { return true };
            let is_message = event.message().is_some();
            if let Some(place) = agents.place_of(event).filter(|_| is_message) {
                let engine = &mut engines[place];
                engine.set_line_number(n_lines);
                result = engine.write(line, &as_own(*event), self.from);
                if let (Ok(()), Some(images)) = (&result, &mut images) {
                    result = engine.take_images().into_iter().try_for_each(images);
                }
            }
            result.is_ok()
        })?;
        result?;
        engines.into_iter().map(Engine::finish).collect()
    }
}

fn contents_of(agent: &SubAgent, guards: u64) -> Manifest {
    let (kind, tool_use) = (ManifestEntryKind::Derived, agent.tool_use().to_owned());
    let derived_from = Some(DerivedFrom { guards, agent: agent.id.clone() });
    let entries = vec![ManifestEntry { kind, size: 0, name: String::new(), tool_use }];
    Manifest { entries, derived_from, ..Manifest::default() }
}
