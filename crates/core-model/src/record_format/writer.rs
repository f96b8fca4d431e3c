//! Writes events of any format as records of one format.

use std::{fmt, io, marker::PhantomData};

use jsonl::Line;

use super::{RecordFormat, RecordRef};
use crate::{DocumentPart, EventWriter, Facts, Losses, Options, Output};

/// The records that a [`RecordWriter`] wrote.
#[derive(Clone, Debug)]
pub struct WrittenRecords<W> {
    /// The target.
    pub target: W,
    /// The losses: values of the sources that the target cannot hold.
    pub losses: Losses,
}

/// Writer of records of any format as records of one format, without a carry.
///
/// A writer needs facts of the whole session before its first record, such as the tools: collect
/// them with [`Facts::observe`] in a first pass. Content that the format has no place for is
/// counted in [`Losses`].
pub struct RecordWriter<W, F> {
    target: W,
    writer: Box<dyn EventWriter>,
    out: Output,
    /// Whether the start of a document is written.
    has_head: bool,
    n_records: u64,
    /// The object whose members come behind the records of a document.
    tail: Vec<u8>,
    format: PhantomData<fn() -> F>,
}

impl<W: io::Write, F: RecordFormat> RecordWriter<W, F> {
    /// Creates a writer with the facts of a session.
    pub fn new(target: W, facts: Facts) -> Self {
        Self::with_options(target, facts, &Options::default())
    }

    /// Creates a writer with options of the format.
    pub fn with_options(target: W, facts: Facts, options: &Options) -> Self {
        let style = F::format().style;
        let session_id = facts.session_id.as_deref().and_then(jsonl::Text::new);
        let session_id = session_id.map(|id| id.decode().into_owned()).unwrap_or_default();
        let out = Output::new(style, style, &session_id).without_notes();
        Self {
            target,
            writer: (F::format().writer)(options, facts),
            out,
            has_head: false,
            n_records: 0,
            tail: Vec::new(),
            format: PhantomData,
        }
    }

    /// Writes a record of any format.
    ///
    /// # Errors
    ///
    /// Returns an error if the target cannot be written.
    pub fn write<G: RecordFormat>(&mut self, record: &RecordRef<'_, G>) -> io::Result<()> {
        let place = record.place();
        let line = Line::new(record.raw(), place.offset);
        self.out.set_line_number(place.line);
        self.out.start_source(&line, G::format().style);
        record.for_each_event(|event| {
            self.writer.write(event, &mut self.out);
            true
        });
        self.out.end_source();
        self.flush()
    }

    /// Writes the end of the output. Returns the target and the losses.
    ///
    /// # Errors
    ///
    /// Returns an error if the target cannot be written.
    pub fn finish(mut self) -> io::Result<WrittenRecords<W>> {
        self.writer.finish(&mut self.out);
        self.flush()?;
        self.end_document()?;
        self.target.flush()?;
        Ok(WrittenRecords { target: self.target, losses: self.out.losses().clone() })
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut line = Vec::new();
        while let Some(id) = self.out.next_emitted() {
            let part = self.out.part(id);
            self.out.swap_bytes(id, &mut line);
            self.out.release(id);
            match F::format().framing.paths().first() {
                Some(array) => self.write_part(part, &line, array)?,
                None => {
                    line.push(b'\n');
                    self.target.write_all(&line)?;
                }
            }
        }
        Ok(())
    }

    /// Writes a part of a document whose records are in an array.
    fn write_part(&mut self, part: DocumentPart, line: &[u8], array: &str) -> io::Result<()> {
        match part {
            DocumentPart::Head if self.has_head => Ok(()),
            DocumentPart::Head => self.start_document(line, array),
            DocumentPart::Tail => {
                self.tail = line.to_vec();
                Ok(())
            }
            DocumentPart::Record => {
                if !self.has_head {
                    self.start_document(b"{}", array)?;
                }
                self.target.write_all(if self.n_records > 0 { b",\n" } else { b"\n" })?;
                self.n_records = self.n_records.saturating_add(1);
                self.target.write_all(line)
            }
        }
    }

    /// Writes the start of a document: the members of its head, and the start of the array.
    fn start_document(&mut self, head: &[u8], array: &str) -> io::Result<()> {
        self.has_head = true;
        let members = head.strip_suffix(b"}").unwrap_or(head);
        let comma = if members == b"{" { "" } else { "," };
        self.target.write_all(members)?;
        write!(self.target, "{comma}\"{array}\":[")
    }

    /// Writes the end of the array, and the members behind it.
    fn end_document(&mut self) -> io::Result<()> {
        if !self.has_head {
            return Ok(());
        }
        self.target.write_all(b"\n]")?;
        let members = self.tail.strip_prefix(b"{").and_then(|tail| tail.strip_suffix(b"}"));
        if let Some(members) = members.filter(|members| !members.is_empty()) {
            self.target.write_all(b",")?;
            self.target.write_all(members)?;
        }
        self.target.write_all(b"}\n")
    }
}

impl<W, F> fmt::Debug for RecordWriter<W, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordWriter").field("losses", self.out.losses()).finish_non_exhaustive()
    }
}
