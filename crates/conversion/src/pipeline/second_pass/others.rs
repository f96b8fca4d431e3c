//! Restores the files beside the main one.
//!
//! In: the records of a session with 8,000 sub-agents, one sub-agent after the other. Out: a file for each. Only the
//! sub-agent whose records come has an engine.

use std::io::{self, Write};

use core_model::{Facts, Format, Losses, Options};
use jsonl::{LineBuf, UnitScanner};

use super::{SecondPass, unit_in};
use crate::{
    Conversion,
    carry::ManifestEntry,
    pipeline::{
        agents::Agents,
        engine::{CarryMode, Engine, Flow, Written},
        report::Report,
        survey::Survey,
    },
};

/// The sink of a file beside the main one.
pub(crate) enum OtherSink<'w> {
    /// A sub-agent's transcript.
    Agent(Box<AgentFile<'w>>),
    /// A file that is not a transcript, and the number of its bytes that are not written yet.
    Side(&'w mut dyn Write, u64),
    /// Drops the file.
    Nowhere,
}

/// A sub-agent's transcript.
///
/// Its engine is created for its first record. It is finished when the file is whole and a record of another file comes,
/// because an engine takes some kilobytes, and a session may have thousands of sub-agents.
pub(crate) struct AgentFile<'w> {
    /// The id of the sub-agent.
    agent: Option<String>,
    /// The tool use that started it.
    tool_use: String,
    /// The size of the file in the source, and the bytes of it that were restored.
    size: u64,
    n_restored: u64,
    engine: Option<Box<Engine<'w>>>,
    /// `None` while the engine has it.
    sink: Option<&'w mut dyn Write>,
    /// Whether an engine was finished.
    is_finished: bool,
    /// Whether the bytes in the sink do not end in a newline.
    needs_newline: bool,
    /// The counts of finished engines.
    n_lines: u64,
    n_bytes: u64,
    losses: Option<Box<Losses>>,
}

/// Creates the engines of sub-agents' files.
pub(crate) struct AgentEngines {
    from: &'static Format,
    to: &'static Format,
    options: Options,
    mode: CarryMode,
    /// The id of the session, for sub-agents of which the source's own messages tell nothing.
    session_id: Option<String>,
}

impl AgentEngines {
    /// Creates the engines of a conversion. Lines that were added to a sub-agent's file carry their source inline,
    /// because there is no sidecar for it.
    pub(crate) fn new(conversion: &Conversion, session_id: Option<String>) -> Self {
        let mode = match conversion.carry {
            CarryMode::Sidecar => CarryMode::Inline,
            mode => mode,
        };
        let Conversion { from, to, ref options, .. } = *conversion;
        Self { from, to, options: options.clone(), mode, session_id }
    }

    fn create<'w>(
        &self,
        agents: &Agents,
        tool_use: &str,
        agent: Option<String>,
        sink: &'w mut dyn Write,
    ) -> Engine<'w> {
        let facts = match agents.place(tool_use) {
            Some(place) => agents.list()[place].facts.clone(),
            None => Facts::of_session(self.session_id.clone()),
        };
        let mut survey = Survey { facts, ..Survey::default() };
        survey.facts.agent = agent;
        Engine::new(self.from, self.to, &self.options, self.mode, &mut survey, sink)
    }
}

impl<'w> AgentFile<'w> {
    /// Creates the file of a manifest's entry.
    pub(crate) fn new(
        entry: ManifestEntry,
        agent: Option<String>,
        sink: &'w mut dyn Write,
    ) -> Self {
        Self {
            agent,
            tool_use: entry.tool_use,
            size: entry.size,
            n_restored: 0,
            engine: None,
            sink: Some(sink),
            is_finished: false,
            needs_newline: false,
            n_lines: 0,
            n_bytes: 0,
            losses: None,
        }
    }

    /// Returns the engine, and creates it if the file has none.
    fn open(&mut self, engines: &AgentEngines, agents: &Agents) -> Option<&mut Engine<'w>> {
        if let Some(sink) = self.sink.take() {
            let mut engine = engines.create(agents, &self.tool_use, self.agent.clone(), sink);
            if self.is_finished {
                engine.goes_on_after(self.needs_newline);
            }
            self.engine = Some(Box::new(engine));
        }
        self.engine.as_deref_mut()
    }

    /// Finishes the engine, and keeps its counts.
    fn shut(&mut self) -> io::Result<()> {
        let Some(engine) = self.engine.take() else { return Ok(()) };
        let (Written { n_lines, n_bytes, losses, .. }, sink, needs_newline) = engine.shut()?;
        self.n_lines += n_lines;
        self.n_bytes += n_bytes;
        if !losses.is_empty() {
            self.losses.get_or_insert_default().absorb(&losses);
        }
        (self.sink, self.needs_newline, self.is_finished) = (Some(sink), needs_newline, true);
        Ok(())
    }

    /// Finishes the file. If `is_incomplete`, records of the source are gone.
    pub(super) fn finish(
        &mut self,
        is_incomplete: bool,
        engines: &AgentEngines,
        agents: &Agents,
    ) -> io::Result<()> {
        // An empty file may get lines too, such as a title.
        if (self.engine.is_some() || !self.is_finished)
            && let Some(engine) = self.open(engines, agents)
            && is_incomplete
        {
            engine.end_verbatim()?;
        }
        self.shut()
    }

    /// Adds the counts of the file to a report.
    pub(super) fn count(&self, report: &mut Report) {
        report.lines_out += self.n_lines;
        report.bytes_out += self.n_bytes;
        if let Some(losses) = &self.losses {
            report.losses.absorb(losses);
        }
    }
}

impl<'w> OtherSink<'w> {
    /// Returns the engine of a sub-agent's transcript; `None` for other files.
    pub(super) fn agent(
        &mut self,
        engines: &AgentEngines,
        agents: &Agents,
    ) -> Option<&mut Engine<'w>> {
        match self {
            OtherSink::Agent(file) => file.open(engines, agents),
            OtherSink::Side(..) | OtherSink::Nowhere => None,
        }
    }
}

impl SecondPass<'_> {
    /// Writes a restored line to a file beside the main one.
    pub(super) fn restore_other(
        &mut self,
        file_idx: usize,
        line: &LineBuf,
        flow: Flow,
        scanner: &mut UnitScanner,
    ) -> io::Result<()> {
        let format = self.levels.last().copied();
        let Some(other) = self.others.get_mut(file_idx - 1) else { return Ok(()) };
        match other {
            OtherSink::Agent(file) => {
                file.n_restored += line.bytes().len() as u64;
                let engine = file.open(&self.engines, &self.survey.agents);
                let (Some(format), Some(engine)) = (format, engine) else { return Ok(()) };
                let offset = u64::from(!engine.is_at_start());
                let unit = unit_in(format, flow.is_glue);
                let (_, record) = scanner.scan_buf(line, offset, unit, format.framing.paths());
                engine.resume(line.bytes(), flow, None, record.ok(), format)
            }
            OtherSink::Side(sink, n_left) => {
                let n_bytes = line.bytes().len() as u64;
                self.report.bytes_out += n_bytes;
                *n_left = n_left.saturating_sub(n_bytes);
                sink.write_all(line.bytes())
            }
            OtherSink::Nowhere => Ok(()),
        }
    }

    /// Goes to the file of the next item, and finishes the sub-agent's file before it if it is whole. A document is
    /// finished at the end, because its brackets depend on whether the session is complete. Another file that is whole
    /// is flushed, so that it has no buffer.
    pub(super) fn go_to_other(&mut self, file_idx: usize) -> io::Result<()> {
        let before = std::mem::replace(&mut self.other_idx, file_idx);
        if before == file_idx || before == 0 {
            return Ok(());
        }
        let is_document = self.engines.to.framing.is_document();
        match self.others.get_mut(before - 1) {
            Some(OtherSink::Agent(file)) if !is_document && file.n_restored >= file.size => {
                file.shut()
            }
            Some(OtherSink::Side(sink, 0)) => sink.flush(),
            _ => Ok(()),
        }
    }
}
