//! The events of a session of several files, with sub-agents at the results of their tool uses.

use std::{io, ops::Range};

use conversion::{Conversion, EachEvent, Events, ManifestEntryKind, Report, Target};
use core_model::{Event, Format};
use jsonl::{Line, json_string};

use super::{
    Session,
    cursor::{Cursor, Step},
};

/// Converts the files of a session to one file.
///
/// # Errors
///
/// Returns an error if a file cannot be read or the target cannot be written.
pub fn run_session<'w>(
    conversion: &Conversion,
    session: &'w Session,
    target: Target<'w>,
) -> io::Result<Report> {
    let mut events = SessionEvents::new(session, conversion.from);
    let target = Target { manifest: Some(session.manifest()), ..target };
    let mut report = conversion.run_events(&mut events, target)?;
    report.n_sidecars_unread = session.n_sidecars();
    Ok(report)
}

/// Limit on open files. Sub-agents that start each other more deeply come at the end.
const MAX_DEPTH: usize = 64;

/// The events of a session.
///
/// The first pass goes file by file. In later passes, each sub-agent comes right before the line
/// with the result of its tool use, or after the main file if there is none. Files that are no
/// transcripts come last.
pub struct SessionEvents<'s> {
    session: &'s Session,
    format: &'static Format,
    /// The offsets of lines, ascending, each with a sub-agent before it; `None` before the first pass.
    turns: Option<Vec<(u64, usize)>>,
}

impl<'s> SessionEvents<'s> {
    /// Creates the events of a session in a format.
    pub fn new(session: &'s Session, format: &'static Format) -> Self {
        Self { session, format, turns: None }
    }

    fn open(&self, file_idx: usize) -> io::Result<Cursor<'_>> {
        let tool_use = match &*self.session.manifest().entries[file_idx].tool_use {
            "" => String::new(),
            tool_use => json_string(tool_use),
        };
        Cursor::open(&self.session.files()[file_idx], self.format, tool_use)
    }

    /// Reads file by file, and finds the results of the sub-agents' tool uses.
    fn find_turns(&self, each: &mut EachEvent<'_>) -> io::Result<Option<Vec<(u64, usize)>>> {
        // The tool use and the index of each sub-agent, sorted, and whether the tool use has a result.
        let entries = self.session.manifest().entries.iter().enumerate();
        let agents = entries.filter(|(_, entry)| entry.kind == ManifestEntryKind::Agent);
        let mut waiting: Vec<(&str, usize, bool)> = agents
            .map(|(file_idx, entry)| (&*entry.tool_use, file_idx, false))
            .filter(|(tool_use, ..)| !tool_use.is_empty())
            .collect();
        waiting.sort_unstable();
        let mut turns: Vec<(u64, usize)> = Vec::new();
        let mut watch = |line: &Line<'_>, event: jsonl::Result<&Event<'_>>| {
            let results = event.ok().and_then(|event| event.message());
            for result in results.into_iter().flat_map(|message| message.tool_results()) {
                if waiting.is_empty() {
                    break;
                }
                let id = result.tool_use_id.decode();
                let first = waiting.partition_point(|(tool_use, ..)| *tool_use < &*id);
                for (tool_use, file_idx, has_result) in waiting.iter_mut().skip(first) {
                    if *tool_use != id || *has_result {
                        break;
                    }
                    *has_result = true;
                    turns.push((line.offset(), *file_idx));
                }
            }
            each(line, event)
        };
        for file_idx in 0..self.session.files().len() {
            let mut cursor = self.open(file_idx)?;
            loop {
                match cursor.advance(&mut watch, |_, _| false)? {
                    Step::Passed | Step::Held => {}
                    Step::Ended => break,
                    Step::Stopped => return Ok(None),
                }
            }
        }
        turns.sort_by_key(|(offset, _)| *offset);
        Ok(Some(turns))
    }

    /// Delivers a file, with the files of its sub-agents before their lines. Returns false if the
    /// receiver stopped.
    fn say(
        &self,
        file_idx: usize,
        turns: &[(u64, usize)],
        is_said: &mut [bool],
        each: &mut EachEvent<'_>,
    ) -> io::Result<bool> {
        is_said[file_idx] = true;
        let mut open = vec![self.open(file_idx)?];
        while let Some(cursor) = open.last_mut() {
            let mut next = Vec::new();
            let step = cursor.advance(each, |start, end| {
                next.extend(of_range(turns, start..end).filter(|agent| !is_said[*agent]));
                !next.is_empty()
            })?;
            match step {
                Step::Passed => {}
                Step::Stopped => return Ok(false),
                Step::Ended => {
                    open.pop();
                }
                Step::Held => {
                    // The stack is read from its end.
                    for agent in next.into_iter().rev() {
                        if open.len() < MAX_DEPTH && !is_said[agent] {
                            is_said[agent] = true;
                            open.push(self.open(agent)?);
                        }
                    }
                }
            }
        }
        Ok(true)
    }
}

fn of_range(turns: &[(u64, usize)], range: Range<u64>) -> impl Iterator<Item = usize> {
    let first = turns.partition_point(|(offset, _)| *offset < range.start);
    let found = turns.iter().skip(first).take_while(move |(offset, _)| *offset < range.end);
    found.map(|(_, agent)| *agent)
}

impl Events for SessionEvents<'_> {
    fn for_each(&mut self, each: &mut EachEvent<'_>) -> io::Result<()> {
        let Some(turns) = self.turns.take() else {
            self.turns = self.find_turns(each)?;
            return Ok(());
        };
        let mut is_said = vec![false; self.session.files().len()];
        // Sub-agents without a result come after the main file, in the order of the files.
        for file_idx in 0..is_said.len() {
            if !is_said[file_idx] && !self.say(file_idx, &turns, &mut is_said, each)? {
                break;
            }
        }
        self.turns = Some(turns);
        Ok(())
    }

    fn other_files(&self) -> Vec<u64> {
        self.session.files().iter().skip(1).map(|file| file.start).collect()
    }
}
