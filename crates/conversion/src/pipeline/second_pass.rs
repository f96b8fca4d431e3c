//! The second pass over a source: restores, converts or carries each record.
//!
//! In: a line of the source and its event. A line with a carry goes to a restorer, which gives back
//! the source lines of the conversion before. A line that was added or edited is converted. A line
//! that the target does not show, or that cannot be read, becomes a pending entry of the carry.
//! Out: the target and its report.
//!
//! # Example: an edited line on the way back
//!
//! ```
//! use conversion::{CarryMode, Conversion, Converted};
//! use core_model::Formats;
//!
//! static FORMATS: Formats =
//!     Formats::new(&[&format_claude_code::FORMAT, &format_clido::FORMAT]);
//!
//! let source = [
//!     concat!(
//!         r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s1","#,
//!         r#""timestamp":"2026-01-01T10:00:00.000Z","message":{"role":"user","content":"One"}}"#,
//!     ),
//!     r#"{"type":"file-history-snapshot","messageId":"m0"}"#,
//!     concat!(
//!         r#"{"type":"user","uuid":"u2","parentUuid":"u1","sessionId":"s1","#,
//!         r#""timestamp":"2026-01-01T10:00:01.000Z","message":{"role":"user","content":"Two"}}"#,
//!     ),
//! ];
//! let there = Conversion {
//!     formats: FORMATS,
//!     from: &format_claude_code::FORMAT,
//!     to: &format_clido::FORMAT,
//!     carry: CarryMode::Inline,
//!     options: Default::default(),
//! };
//! let back = Conversion { from: there.to, to: there.from, ..there.clone() };
//! let written = there.convert((source.join("\n") + "\n").as_bytes(), None)?.bytes;
//!
//! // clido has a line for each prompt and none for the snapshot, which is carried.
//! let edited = String::from_utf8(written).unwrap().replace(r#""text":"Two""#, r#""text":"2""#);
//! let Converted { bytes: restored, report, .. } = back.convert(edited.as_bytes(), None)?;
//! let restored: Vec<&str> = std::str::from_utf8(&restored).unwrap().lines().collect();
//!
//! assert_eq!(restored[..2], source[..2]); // restored byte for byte
//! assert!(restored[2].contains(r#""uuid":"u2""#)); // converted; the carry still has the uuid
//! assert!(restored[2].contains(r#""text":"2""#));
//! assert_eq!((report.restored.restored, report.restored.edited), (2, 1));
//! # Ok::<(), std::io::Error>(())
//! ```

mod envelope;
mod file;
mod others;
mod restoring;

use std::{
    collections::HashMap,
    io::{self, Write},
};

use core_model::{Body, Event, Facts, Format, Place};
use jsonl::{Line, Scanner, Unit, UnitScanner, Value};

pub(crate) use self::others::{AgentEngines, AgentFile, OtherSink};
use self::{envelope::keep_envelope, file::ReadFile};
use crate::{
    carry::{
        Carry, Manifest, ManifestEntry, Member, UnusedCarries, guard::line_guard, guard_of,
        restore::Restorer, sidecar::Sidecar,
    },
    pipeline::{
        damage::DamageLog,
        deferred::{DeferredRecord, DeferredRecords},
        engine::{Engine, NewTitle},
        recovery::is_damage,
        report::Report,
        survey::{Survey, WrittenGuards, WrittenStart, as_own, as_prompt},
    },
};

/// Limit on the index of a restored record that is kept for the next one, in bytes.
const MAX_KEPT_INDEX: usize = 1024 * 1024;

/// The carried parts of an edited record.
#[derive(Clone, Copy, Default)]
struct Edited<'a> {
    /// The record as it was, without its texts.
    skeleton: Option<&'a [u8]>,
    /// Whether the record is a copy of another written record.
    is_doubled: bool,
}

/// Returns the part of an input of a format that a record is.
fn unit_in(format: &Format, is_glue: bool) -> Unit {
    match (format.framing.is_document(), is_glue) {
        (true, true) => Unit::Glue,
        (true, false) => Unit::Record,
        (false, _) => Unit::Line,
    }
}

/// The state of a second pass.
pub(crate) struct SecondPass<'w> {
    engine: Engine<'w>,
    /// The files that are restored beside the main file.
    others: Vec<OtherSink<'w>>,
    engines: AgentEngines,
    /// The index of the file of the last item; 0 for the main one.
    other_idx: usize,
    survey: Survey,
    late: DeferredRecords,
    /// The files of the source, if there are several.
    files: Vec<ReadFile>,
    /// The index of the file that is being read.
    file_idx: usize,
    /// The source's format, then the formats in its history, down to the target's.
    levels: Vec<&'static Format>,
    restorers: Vec<Restorer>,
    /// The sidecar of a source that is not restored, or of records that were added to one that is. Its carries become
    /// entries of the new carry.
    sidecar: Option<Sidecar>,
    /// The sidecar's carries of deferred lines, by offset.
    late_carries: HashMap<u64, String>,
    unused: UnusedCarries,
    scanner: UnitScanner,
    damage_log: DamageLog,
    residue: Option<&'w mut dyn Write>,
    report: Report,
}

impl<'w> SecondPass<'w> {
    /// Creates the pass. `restored_formats` are the formats of the history to restore, the latest first.
    pub(crate) fn new(
        engine: Engine<'w>,
        mut survey: Survey,
        from: &'static Format,
        restored_formats: &[&'static Format],
        mut sidecar: Option<Sidecar>,
        (others, engines): (Vec<OtherSink<'w>>, AgentEngines),
        manifest: Option<&Manifest>,
    ) -> Self {
        let levels: Vec<&'static Format> =
            std::iter::once(from).chain(restored_formats.iter().copied()).collect();
        let restorer = |(format, written): (&&'static Format, &&'static Format)| {
            Restorer::new(format, written, sidecar.take())
        };
        let mut restorers: Vec<Restorer> =
            restored_formats.iter().zip(&levels).map(restorer).collect();
        if let Some(first) = restorers.first_mut() {
            first.set_guards(std::mem::take(&mut survey.guards));
            first.set_template(survey.moved_template.take());
        }
        let (scanner, damage_log, report) = Default::default();
        let late = DeferredRecords::new(&std::mem::take(&mut survey.plan.late));
        let read = |(start, entry): (u64, &ManifestEntry)| ReadFile::new(start, entry);
        let files_of = |it: &Manifest| it.starts().into_iter().zip(&it.entries).map(read).collect();
        let files = manifest.map(files_of).unwrap_or_default();
        Self {
            engine,
            others,
            engines,
            other_idx: 0,
            survey,
            late,
            files,
            file_idx: 0,
            levels,
            restorers,
            sidecar,
            late_carries: HashMap::new(),
            unused: UnusedCarries::default(),
            scanner,
            damage_log,
            residue: None,
            report,
        }
    }

    /// Sets the number of bytes that may be restored from a source of any size.
    pub(crate) fn with_max_restored(mut self, max_restored: u64) -> Self {
        self.restorers.iter_mut().for_each(|restorer| restorer.set_max_restored(max_restored));
        self
    }

    /// Sets the sink of the sidecar.
    pub(crate) fn set_sidecar(&mut self, sink: &'w mut dyn Write) {
        self.engine.set_sidecar(sink);
    }

    /// Passes the facts so far to the writer. Returns whether they change no line in the output.
    pub(crate) fn learn(&mut self, facts: &Facts) -> bool {
        self.engine.learn(facts)
    }

    /// Sets the carries to count, if nothing is restored.
    pub(crate) fn counting_carries(self, unused: UnusedCarries) -> Self {
        Self { unused, ..self }
    }

    /// Sets the sidecar of added records, in a source that is restored from carries in its records.
    pub(crate) fn with_carries_of_added(mut self, added: Option<Sidecar>) -> Self {
        self.sidecar = added.or(self.sidecar);
        self
    }

    /// Tells the restorers the folder of the session, and the engine its title, if the records that name them were
    /// edited, or if that of the title was added: the source records that get them may come before.
    pub(crate) fn with_edited_start(mut self) -> io::Result<Self> {
        if let Some(start) = self.survey.start.take()
            && self.is_edited(start.guards)?
            && !self.is_in_front(&start)?
            && !self.is_added(&start)
        {
            self.restorers.iter_mut().for_each(|restorer| restorer.move_to(&start.cwd));
        }
        if let Some(title) = self.survey.title.take() {
            let is_inline = self.restorers.first().is_some_and(|first| !first.has_sidecar());
            let is_added = is_inline && title.guards.carried.is_none();
            if is_added || self.is_edited(title.guards)? {
                self.engine.set_new_title(&title.text);
            }
        }
        Ok(self)
    }

    /// Returns whether a start was added before the record of the sidecar's first carry. It has its own folder.
    fn is_in_front(&mut self, start: &WrittenStart) -> io::Result<bool> {
        let first = self.restorers.first_mut().map_or(Ok(None), Restorer::first_guard)?;
        Ok(!start.until.is_empty() && first.is_some_and(|first| !start.until.contains(&first)))
    }

    /// Returns whether a start without a carry was added: the sidecar has the carry of no other record.
    fn is_added(&self, start: &WrittenStart) -> bool {
        let has_all = |first: &Restorer| first.has_sidecar() && !first.may_lack_a_record();
        start.guards.carried.is_none() && self.restorers.first().is_some_and(has_all)
    }

    fn is_edited(&mut self, guards: WrittenGuards) -> io::Result<bool> {
        let WrittenGuards { guard, carried } = guards;
        match (carried, self.restorers.first_mut()) {
            (Some(carried), _) => Ok(carried != guard),
            (None, Some(first)) => first.lacks(guard),
            (None, None) => Ok(false),
        }
    }

    /// Sets the sink of unreadable bytes.
    pub(crate) fn set_residue(&mut self, residue: Option<&'w mut dyn Write>) {
        self.residue = residue;
    }

    /// Processes a line of the source.
    pub(crate) fn line(
        &mut self,
        line: &Line<'_>,
        event: jsonl::Result<&Event<'_>>,
    ) -> io::Result<()> {
        if event.is_ok_and(|event| event.nth > 0) {
            // The record was counted, deferred or restored with its first event.
            return if self.restorers.is_empty() { self.in_turn(line, event) } else { Ok(()) };
        }
        self.report.bytes_in += line.bytes().len() as u64;
        if self.files.len() > 1 {
            self.enter_file(line.offset())?;
            if self.files.get(self.file_idx).is_some_and(|file| file.is_side) {
                return self.engine.attach(line);
            }
        }
        self.damage_log.arrives(line, event.is_ok(), &mut self.report);
        self.engine.set_line_number(self.report.lines_in);
        if self.restorers.is_empty() {
            let record = event.ok().map(|event| event.value);
            self.unused.count(line, record, self.levels[0], &mut self.report.restored);
            return self.in_turn(line, event);
        }
        for restorer in &mut self.restorers {
            restorer.count_read(line.bytes().len() as u64);
        }
        if line.is_glue() && line.offset() == 0 {
            self.note_title(event)?;
        }
        self.restorers[0].set_line_number(self.report.lines_in);
        self.restorers[0].push(line, event.ok(), None)?;
        let shown = event.ok().map(|event| event.value).filter(|_| !line.is_glue());
        let mut scanner = std::mem::take(&mut self.scanner);
        let result = self.take_items(0, shown, &mut scanner);
        // The index of a long restored record would stay beside that of the next written one.
        scanner.free_beyond(MAX_KEPT_INDEX);
        self.scanner = scanner;
        result
    }

    /// Notes the title in the head of a document.
    fn note_title(&mut self, event: jsonl::Result<&Event<'_>>) -> io::Result<()> {
        let (Ok(event), written, mut result) = (event, self.levels[0], Ok(())) else {
            return Ok(());
        };
        let target = self.levels.last().copied().unwrap_or(written);
        if !written.rewrites.volatile().is_empty() {
            written.for_each_event(event.value, |event| {
                let Body::Title(title) = &event.body else { return true };
                let member = Member::find(event.value, written);
                let whole = event.value.raw().as_str();
                let head = member.as_ref().map_or([whole, ""], |it| [it.before, it.after]);
                result = self.engine.note_title(head, title, target);
                false
            });
        }
        result
    }

    /// Switches to the file at `offset` and its line count.
    fn enter_file(&mut self, offset: u64) -> io::Result<()> {
        let file_idx = self.files.partition_point(|file| file.start <= offset).saturating_sub(1);
        if file_idx != self.file_idx {
            self.files[self.file_idx].n_lines = self.report.lines_in;
            self.report.lines_in = self.files[file_idx].n_lines;
            self.damage_log.enters_file(&mut self.report);
            self.engine.end_run()?;
            self.file_idx = file_idx;
        }
        Ok(())
    }

    /// Restores and writes the waiting records, and returns the report.
    pub(crate) fn finish(mut self) -> io::Result<Report> {
        let mut scanner = std::mem::take(&mut self.scanner);
        for level in 0..self.restorers.len() {
            self.restorers[level].finish();
            self.take_items(level, None, &mut scanner)?;
        }
        self.hold_left_carries()?;
        match self.engine.write_new_title(self.levels[0])? {
            NewTitle::None => {}
            NewTitle::Added => self.report.restored.added += 1,
            NewTitle::Edited => self.report.restored.edited += 1,
            NewTitle::Lost => self.report.restored.count_difference(0),
        }
        let mut report = self.report;
        if self.files.len() > 1 {
            self.files[self.file_idx].n_lines = report.lines_in;
            report.lines_in = self.files.iter().map(|file| file.n_lines).sum();
        }
        let n_more = report.restored.restored;
        for restorer in &self.restorers {
            let stats = restorer.stats();
            // A restorer counts a run of tiny lines once; `n_more` are the others.
            report.restored.restored = stats.restored + n_more;
            report.restored.add_faults(&stats);
        }
        let is_incomplete = self.restorers.iter().any(|restorer| restorer.stats().is_incomplete());
        if is_incomplete {
            self.engine.end_verbatim()?;
        }
        let written = self.engine.finish()?;
        report.bytes_sidecar = written.bytes_sidecar.unwrap_or_default();
        report.guards = written.guards;
        report.n_carries = written.n_carries;
        report.n_carried_whole = written.n_carried_whole;
        report.has_carry_in_whole = written.has_carry_in_whole;
        report.n_left_out = written.n_left_out;
        report.left_out = written.left_out;
        report.n_hidden = written.n_hidden;
        report.lines_out = written.n_lines;
        report.bytes_out = written.n_bytes;
        report.losses = written.losses;
        report.session_start = written.start;
        for other in self.others {
            let OtherSink::Agent(mut file) = other else { continue };
            file.finish(is_incomplete, &self.engines, &self.survey.agents)?;
            file.count(&mut report);
        }
        Ok(report)
    }

    /// Adds the remaining carries of the source's sidecar to the pending entries.
    fn hold_left_carries(&mut self) -> io::Result<()> {
        let Some(sidecar) = &mut self.sidecar else { return Ok(()) };
        let mut offset = self.report.bytes_in;
        while let Some(carry) = sidecar.next_left()? {
            self.unused.count_of_sidecar(&carry, &mut self.report.restored);
            // A file without records has its carry under the guard of an empty record.
            let has_record = Carry::guard_in(&carry).is_some_and(|guard| guard != guard_of(&[b""]));
            self.report.restored.missing += u64::from(has_record);
            self.engine.hold_source_carry(&carry, offset)?;
            offset += 1;
        }
        Ok(())
    }

    /// Converts a line, or defers it until the line that it follows is written.
    fn in_turn(&mut self, line: &Line<'_>, event: jsonl::Result<&Event<'_>>) -> io::Result<()> {
        let (is_first, is_last) = event.map_or((true, true), |it| (it.nth == 0, !it.has_next));
        if !is_first {
            if self.late.waits(line) {
                return Ok(());
            }
            self.convert(0, line, event, self.levels[0], None)?;
            return if is_last { self.convert_after(line) } else { Ok(()) };
        }
        let carry = match &mut self.sidecar {
            Some(sidecar) => {
                let value = event.ok().map(|event| event.value);
                let carry = sidecar.take(line_guard(self.levels[0], line, value))?;
                if let Some(carry) = &carry {
                    self.unused.count_of_sidecar(carry, &mut self.report.restored);
                }
                carry
            }
            None => None,
        };
        if self.file_idx > 0 {
            self.engine.set_source_carry(carry);
            return self.convert(0, line, event, self.levels[0], None);
        }
        if self.late.keep(line, self.report.lines_in)? {
            self.late_carries.extend(carry.map(|carry| (line.offset(), carry)));
            return Ok(());
        }
        let before = self.late.before(line);
        self.convert_late(before)?;
        self.engine.set_source_carry(carry);
        self.convert(0, line, event, self.levels[0], None)?;
        if is_last { self.convert_after(line) } else { Ok(()) }
    }

    /// Converts the deferred lines that follow a line.
    fn convert_after(&mut self, line: &Line<'_>) -> io::Result<()> {
        let after = self.late.after(line);
        self.convert_late(after)
    }

    fn convert_late(&mut self, lines: Vec<DeferredRecord>) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let mut scanner = std::mem::take(&mut self.scanner);
        let (mut result, mut bytes) = (Ok(()), Vec::new());
        for record in lines {
            result = self.late.read(&record, &mut bytes);
            if result.is_err() {
                break;
            }
            let DeferredRecord { offset, number, unit, .. } = record;
            self.engine.set_line_number(number);
            let line = Line::of_unit(&bytes, offset, unit);
            self.engine.set_source_carry(self.late_carries.remove(&offset));
            let edited = Edited::default();
            let format = self.levels[0];
            let (line, record) = scanner.scan(&line, format.framing.paths());
            result = self.convert_record(0, &line, record, format, edited);
            if result.is_err() {
                break;
            }
        }
        self.engine.set_line_number(self.report.lines_in);
        self.scanner = scanner;
        result
    }

    /// Converts the events of a record for a file.
    fn convert_record(
        &mut self,
        file_idx: usize,
        line: &Line<'_>,
        record: jsonl::Result<Value<'_>>,
        format: &'static Format,
        edited: Edited<'_>,
    ) -> io::Result<()> {
        let mut result = Ok(());
        match record {
            Ok(record) => {
                _ = format.for_each_event(record, |event| {
                    let mut event = *event;
                    if edited.is_doubled {
                        // Both copies would have the same uuid; the first one keeps it.
                        event.context.uuid = None;
                    }
                    result = self.convert(file_idx, line, Ok(&event), format, edited.skeleton);
                    result.is_ok()
                })
            }
            Err(error) => result = self.convert(file_idx, line, Err(error), format, None),
        }
        result
    }

    /// Converts a line for a file. `skeleton` has the carried parts of an edited line: its uuid,
    /// times and usage.
    fn convert(
        &mut self,
        file_idx: usize,
        line: &Line<'_>,
        event: jsonl::Result<&Event<'_>>,
        format: &'static Format,
        skeleton: Option<&[u8]>,
    ) -> io::Result<()> {
        let other = self.others.get_mut(file_idx.wrapping_sub(1));
        let agent = other.and_then(|other| other.agent(&self.engines, &self.survey.agents));
        let is_agent = agent.is_some();
        let engine = agent.unwrap_or(&mut self.engine);
        let event = match event {
            Ok(event) => event,
            Err(error) => {
                self.damage_log.is_unreadable(line, error, &mut self.report);
                engine.attach(line)?;
                if let Some(residue) = &mut self.residue
                    && !line.is_blank()
                    && is_damage(error)
                {
                    residue.write_all(line.content())?;
                    residue.write_all(b"\n")?;
                }
                return Ok(());
            }
        };
        let place = Place { line: self.report.lines_in, offset: line.offset() };
        if !is_agent && let Some(field) = self.survey.hides(line.offset(), event) {
            let is_notice = matches!(event.body, Body::Notice(_)) && !event.is_sub_agent();
            let is_said = event.message().is_some() || is_notice;
            if !is_said {
                engine.lose_record(event, place);
            } else if !self.survey.is_elsewhere(event) {
                engine.lose(field, place);
            }
            return engine.hide(line, event, format);
        }
        let is_summary = event.message().is_some_and(|message| message.is_summary);
        let own = match is_agent {
            true => Some(as_own(*event)),
            false if is_summary && self.survey.plan.keeps(line.offset()) => {
                engine.flatten("isCompactSummary", place);
                Some(as_prompt(*event))
            }
            false => None,
        };
        let event = own.as_ref().unwrap_or(event);
        let Some(skeleton) = skeleton else { return engine.write(line, event, format) };
        let mut event = *event;
        let mut scanner = Scanner::default();
        let target = self.levels.last().copied().unwrap_or(format);
        if let Ok(known) = scanner.scan_slice(skeleton, 0) {
            keep_envelope(&mut event, &target.first_event(known));
        }
        engine.write(line, &event, format)
    }
}
