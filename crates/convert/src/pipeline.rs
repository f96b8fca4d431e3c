//! One conversion: a source, a target, and the way between them.

use std::io::{self, Read, Seek, Write};

use core_model::{Event, Field, Format, Message, Options, Place};
use jsonl::{ErrorKind, Line, Scanner, Value};
use xxhash_rust::xxh3::Xxh3;

use crate::{
    carry::{Carry, Member},
    detect::{Ballot, Detected},
    engine::{CarryMode, Engine},
    formats::by_tag,
    report::{Damage, MAX_PLACES, Report},
    restore::{Item, Restorer},
    sidecar::Sidecar,
    source::Source,
    survey::{Lines, Survey, survey},
};

/// What to convert into what, and how.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The format of the source.
    pub from: &'static Format,
    /// The format of the target.
    pub to: &'static Format,
    /// Where to put what the target does not say.
    pub carry: CarryMode,
    /// What the writers are asked for.
    pub options: Options,
}

/// Finds the format of a source.
///
/// # Errors
///
/// The reader's own.
pub fn detect<R: Read + Seek>(source: &mut Source<R>) -> io::Result<Detected> {
    let mut ballot = Ballot::default();
    source.for_each(&mut |line, value| ballot.push(line, value.ok()))?;
    Ok(ballot.result())
}

impl Conversion {
    /// Converts a source, writes the target to `sink`, and returns the report and, if there is one,
    /// the bytes of the sidecar.
    ///
    /// `sidecar` is the one that stands beside the source.
    ///
    /// # Errors
    ///
    /// Those of reading the source and writing the target. What is wrong with lines is no error but
    /// in the report.
    pub fn run<R: Read + Seek>(
        &self,
        source: &mut Source<R>,
        sidecar: Option<Sidecar>,
        sink: &mut dyn Write,
    ) -> io::Result<(Report, Option<Vec<u8>>)> {
        let stack = stack(self.from, source, sidecar.as_ref())?;
        let depth = stack.iter().position(|format| format.name == self.to.name);
        if self.from.name == self.to.name {
            return copy(source, sink);
        }
        let mut survey = survey(source, self.from, self.to, &self.options)?;
        let mut report = Report::default();
        let engine =
            Engine::new(self.from, self.to, &self.options, self.carry, &mut survey, sink)?;
        let mut run = Run {
            engine,
            survey,
            levels: vec![self.from],
            restorers: Vec::new(),
            report: &mut report,
            error: None,
        };
        if let Some(depth) = depth {
            let mut sidecar = sidecar;
            for format in &stack[..=depth] {
                run.restorers.push(Restorer::new(format.tag, format.style, sidecar.take()));
                run.levels.push(format);
            }
        }
        let mut scanner = Scanner::default();
        let mut hasher = Xxh3::new();
        source.for_each(&mut |line, value| {
            hasher.update(line.bytes());
            run.report.bytes_in += line.bytes().len() as u64;
            run.report.lines_in += 1;
            let result = run.line(line, value, &mut scanner);
            run.error = result.err();
            run.error.is_none()
        })?;
        if let Some(error) = run.error.take() {
            return Err(error);
        }
        run.finish_restorers(0, &mut scanner)?;
        for restorer in &run.restorers {
            let tally = restorer.tally();
            run.report.restored.restored = tally.restored;
            run.report.restored.edited += tally.edited;
            run.report.restored.added += tally.added;
            run.report.restored.gaps += tally.gaps;
            run.report.restored.unreadable += tally.unreadable;
        }
        let (mut engine, sidecar) = run.engine.finish()?;
        report.source_hash = hasher.digest();
        report.bytes_sidecar = sidecar.as_ref().map_or(0, |bytes| bytes.len() as u64);
        report.riders = engine.n_riders;
        report.n_stranded = engine.n_stranded;
        report.lines_out = engine.lines_out;
        report.bytes_out = engine.bytes_out;
        report.losses = engine.output().losses().clone();
        Ok((report, sidecar))
    }

    /// Converts bytes to bytes.
    ///
    /// # Errors
    ///
    /// If a sidecar cannot be written.
    pub fn convert(
        &self,
        source: &[u8],
        sidecar: Option<Sidecar>,
    ) -> io::Result<(Vec<u8>, Option<Vec<u8>>, Report)> {
        let mut target = Vec::new();
        let mut source = Source::new(io::Cursor::new(source));
        let (report, sidecar) = self.run(&mut source, sidecar, &mut target)?;
        Ok((target, sidecar, report))
    }
}

/// Copies a source: the same format in and out is a copy of bytes.
fn copy<R: Read + Seek>(
    source: &mut Source<R>,
    sink: &mut dyn Write,
) -> io::Result<(Report, Option<Vec<u8>>)> {
    let bytes = source.copy_to(sink)?;
    Ok((Report { bytes_in: bytes, bytes_out: bytes, ..Report::default() }, None))
}

/// A conversion on its way.
struct Run<'w, 'r> {
    engine: Engine<'w>,
    survey: Survey,
    /// The source's format, and those that its carries lead to, down to the target's.
    levels: Vec<&'static Format>,
    restorers: Vec<Restorer>,
    report: &'r mut Report,
    error: Option<io::Error>,
}

impl Run<'_, '_> {
    fn line(
        &mut self,
        line: &Line<'_>,
        value: jsonl::Result<Value<'_>>,
        scanner: &mut Scanner,
    ) -> io::Result<()> {
        let number = self.report.lines_in;
        self.engine.output().set_line_number(number);
        if self.restorers.is_empty() {
            return self.convert(line, value, self.levels[0], None);
        }
        self.restorers[0].push(line, value.ok());
        self.take_items(0, scanner)
    }

    /// Passes on what a restorer hands out: to the next one, or to the target.
    fn take_items(&mut self, level: usize, scanner: &mut Scanner) -> io::Result<()> {
        while let Some(item) = self.restorers[level].next_item() {
            match item {
                Item::Restored(bytes) if level + 1 < self.restorers.len() => {
                    let line = Line::new(&bytes, 1);
                    self.restorers[level + 1].push(&line, scanner.scan(&line).ok());
                    self.take_items(level + 1, scanner)?;
                }
                Item::Restored(bytes) => {
                    let line = Line::new(&bytes, u64::from(self.engine.lines_out > 0));
                    let format = self.levels[level + 1];
                    let event = scanner.scan(&line).ok().map(format.read);
                    self.engine.resume(&bytes, event.as_ref())?;
                }
                Item::Converted { line, offset, skeletons } => {
                    if level + 1 < self.restorers.len() {
                        self.finish_restorers(level + 1, scanner)?;
                    }
                    let line = Line::new(&line, offset);
                    let format = self.levels[level];
                    let skeleton = skeletons.and_then(|skeletons| skeletons.into_iter().next());
                    let value = scanner.scan(&line);
                    self.convert(&line, value, format, skeleton.as_deref())?;
                }
            }
        }
        Ok(())
    }

    /// Hands out everything that waits, from a level on.
    fn finish_restorers(&mut self, from: usize, scanner: &mut Scanner) -> io::Result<()> {
        for level in from..self.restorers.len() {
            self.restorers[level].finish();
            self.take_items(level, scanner)?;
        }
        Ok(())
    }

    /// Converts a line; of one that was edited, `skeleton` is what its carry knows.
    fn convert(
        &mut self,
        line: &Line<'_>,
        value: jsonl::Result<Value<'_>>,
        format: &'static Format,
        skeleton: Option<&[u8]>,
    ) -> io::Result<()> {
        let value = match value {
            Ok(value) => value,
            Err(error) => {
                self.note_damage(line, error);
                self.engine.ride(line);
                return Ok(());
            }
        };
        let mut event = (format.read)(value);
        if !self.survey.shows(line.offset(), &event) {
            if event.message().is_some() {
                let field = if event.is_sub_agent() { "sub-agent" } else { "branch" };
                let number = self.report.lines_in;
                let output = self.engine.output();
                let place = Place { line: number, offset: line.offset() };
                output.lose_at(core_model::LossKind::Dropped, field, place);
            }
            self.engine.ride(line);
            return Ok(());
        }
        let mut second = Scanner::default();
        let target = self.levels.last().copied().unwrap_or(format);
        let known = skeleton.and_then(|skeleton| second.scan_slice(skeleton, 0).ok());
        if let Some(known) = known {
            keep_envelope(&mut event, &(target.read)(known));
        }
        self.engine.write(line, &event, format)
    }

    fn note_damage(&mut self, line: &Line<'_>, error: jsonl::Error) {
        if line.is_blank() {
            return;
        }
        let damage = Damage { line: self.report.lines_in, error };
        if !line.is_terminated() && error.kind == ErrorKind::UnexpectedEnd {
            self.report.torn = Some(damage);
            return;
        }
        self.report.n_damaged += 1;
        if self.report.damaged.len() < MAX_PLACES {
            self.report.damaged.push(damage);
        }
    }
}

/// Gives an edited line's event what its carry knows of it beyond the content.
fn keep_envelope<'l>(event: &mut Event<'l>, known: &Event<'l>) {
    let context = &mut event.context;
    context.uuid = known.context.uuid.or(context.uuid);
    if known.context.parent != Field::Absent {
        context.parent = known.context.parent;
    }
    context.time = known.context.time.or(context.time);
    let core_model::Body::Message(message) = &mut event.body else { return };
    let Some(known) = known.message() else { return };
    *message = Message {
        id: known.id.or(message.id),
        model: known.model.or(message.model),
        stop_reason: known.stop_reason.or(message.stop_reason),
        stop_sequence: known.stop_sequence.or(message.stop_sequence),
        usage: known.usage.or(message.usage),
        request_id: known.request_id.or(message.request_id),
        ..*message
    };
}

/// Returns the formats that a source was converted from, the latest first.
///
/// It was, if one of its first two lines has a carry: lines without one come later.
fn stack(
    from: &'static Format,
    source: &mut dyn Lines,
    sidecar: Option<&Sidecar>,
) -> io::Result<Vec<&'static Format>> {
    let mut head: Vec<Vec<u8>> = Vec::new();
    source.for_each(&mut |line, _| {
        head.push(line.bytes().to_vec());
        head.len() < crate::detect::MAX_LINES
    })?;
    let mut stack: Vec<&'static Format> = Vec::new();
    if let Some(carry) = sidecar.and_then(Sidecar::first).and_then(Carry::parse) {
        stack.extend(by_tag(carry.tag));
        return Ok(stack);
    }
    let mut scanner = Scanner::default();
    while let Some(format) = carried_format(&head, &mut scanner) {
        let is_known = format.name == from.name || stack.iter().any(|it| it.name == format.name);
        if is_known || stack.len() > crate::formats::FORMATS.len() {
            break;
        }
        stack.push(format);
        let mut restorer = Restorer::new(format.tag, format.style, None);
        for line in &head {
            let line = Line::new(line, 1);
            restorer.push(&line, scanner.scan(&line).ok());
        }
        restorer.finish();
        let mut restored = Vec::new();
        while let Some(item) = restorer.next_item() {
            if let Item::Restored(bytes) = item {
                restored.push(bytes);
            }
        }
        head = restored;
    }
    Ok(stack)
}

/// Returns the format that one of the first two objects carries.
fn carried_format(head: &[Vec<u8>], scanner: &mut Scanner) -> Option<&'static Format> {
    let mut n_objects = 0;
    for (n, bytes) in head.iter().enumerate() {
        let line = Line::new(bytes, n as u64);
        let Ok(value) = scanner.scan(&line) else { continue };
        let member = Member::find(value);
        if let Some(carry) = member.as_ref().and_then(|member| Carry::parse(&member.carry)) {
            return by_tag(carry.tag);
        }
        n_objects += 1;
        if n_objects == 2 {
            break;
        }
    }
    None
}
