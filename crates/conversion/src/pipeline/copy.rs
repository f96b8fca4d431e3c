//! Copies a source whose target has the same format, byte for byte.

use std::io::{self, Read, Seek, Write};

use core_model::Framing;
use jsonl::Document;
use memchr::memchr_iter;

use super::{Report, Source};

/// Copies a source and counts its bytes and lines. No line is parsed.
pub(super) fn copy<R: Read + Seek + Send>(
    source: &mut Source<R>,
    framing: Framing,
    sink: &mut dyn Write,
) -> io::Result<Report> {
    if let Framing::Document(paths) = framing {
        return copy_document(source, paths, sink);
    }
    let mut sink = LineCounter { sink, n_lines: 0, is_inside: false };
    let bytes = source.copy_to(&mut sink)?;
    let lines = sink.n_lines + u64::from(sink.is_inside);
    let (bytes_in, bytes_out, lines_in, lines_out) = (bytes, bytes, lines, lines);
    Ok(Report { bytes_in, bytes_out, lines_in, lines_out, ..Report::default() })
}

/// Copies a document and counts its records.
fn copy_document<R: Read + Seek + Send>(
    source: &mut Source<R>,
    paths: &[&'static str],
    sink: &mut dyn Write,
) -> io::Result<Report> {
    let mut report = Report::default();
    source.reader().rewind()?;
    let mut document = Document::new(source.reader(), paths);
    while let Some(unit) = document.next()? {
        sink.write_all(unit.bytes())?;
        report.bytes_in += unit.bytes().len() as u64;
        report.lines_in += u64::from(!unit.is_glue());
    }
    (report.bytes_out, report.lines_out) = (report.bytes_in, report.lines_in);
    Ok(report)
}

/// A sink that counts lines and bytes.
struct LineCounter<'s> {
    sink: &'s mut dyn Write,
    n_lines: u64,
    /// Whether the last byte was not a newline.
    is_inside: bool,
}

impl Write for LineCounter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.sink.write(bytes)?;
        let written = bytes.get(..n).unwrap_or_default();
        self.n_lines += memchr_iter(b'\n', written).count() as u64;
        self.is_inside = written.last().map_or(self.is_inside, |last| *last != b'\n');
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}
