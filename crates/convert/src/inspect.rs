//! Prints and removes carries.

use std::io::{self, Write};

use conversion::{
    Carry, CarryEntry, Detected, EntryKind, Member, Source, max_restored, without_carry,
};
use core_model::Format;
use jsonl::{Line, Value};
use storage::Opened;

use crate::{
    formats::{FORMATS, detect},
    terminal::escape::escape_for_terminal,
};

/// Prints a line for each carried source line, or part of one. Returns the number of lines with a
/// carry.
pub(crate) fn show(source: &mut Source<Opened>, out: &mut dyn Write) -> io::Result<u64> {
    let written = document(source)?;
    let mut base = Vec::new();
    let (mut number, mut n_carries) = (0, 0);
    let (mut n_read, mut n_restored) = (0_u64, 0_u64);
    let mut result = Ok(());
    source.for_each(&mut |line, value| {
        number += u64::from(!line.is_glue());
        n_read += line.bytes().len() as u64;
        let member = value.ok().and_then(|value| Member::find_any(value, FORMATS));
        let Some(member) = member else { return true };
        let Ok(carry) = Carry::parse(&member.carry) else { return true };
        n_carries += 1;
        if let Some(text) = carry.template {
            base = text.as_bytes().to_vec();
        }
        let guard = match written {
            Some(written) => member.guard_in(written, line.is_glue()),
            None => member.guard(),
        };
        let place = (number, written.map_or("line", |_| "record"));
        let mut may_restore = |entry: &CarryEntry<'_>| {
            n_restored = n_restored.saturating_add(entry.length);
            n_restored <= max_restored(n_read)
        };
        let is_intact = carry.guard == guard;
        result = show_carry(place, &member, &carry, is_intact, &base, &mut may_restore, out);
        result.is_ok()
    })?;
    result.map(|()| n_carries)
}

fn show_carry(
    (number, unit): (u64, &str),
    member: &Member<'_>,
    carry: &Carry<'_>,
    is_intact: bool,
    base: &[u8],
    may_restore: &mut dyn FnMut(&CarryEntry<'_>) -> bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let format = carry.format.of(FORMATS);
    let name = format.map_or("unknown format", |format| format.name);
    let style = format.map_or(jsonl::Style::Compact, |format| format.style);
    let visible = member.visible();
    for record in carry.entries() {
        let is_held = record.kind != EntryKind::Own;
        let is_within = may_restore(&record);
        // A record may be many times as long as its entry. A long one is restored piece by piece, once for its check.
        let (is_long, mut bytes) = (record.length > MAX_RESTORED, Vec::new());
        let restore = |each: &mut dyn FnMut(&[u8])| {
            record.each_restored(visible.as_bytes(), base, style, each)
        };
        let mut is_right = || match is_long {
            true => restore(&mut |_| {}),
            false => record.restore(&mut bytes, visible.as_bytes(), base, style),
        };
        let fault = match is_intact || is_held {
            _ if !is_within => Some("(not restored: more than 16 times what was read)".to_owned()),
            false => Some(format!("(the {unit} was edited)")),
            true if !is_right() => Some("(cannot be restored)".to_owned()),
            true => None,
        };
        let role = if is_held { "not shown" } else { "shown" };
        let offset = record.offset;
        write!(out, "{unit} {number}: {name} byte {offset} {role}")?;
        if record.n_parts > 1 {
            write!(out, " (part {} of {})", record.part + 1, record.n_parts)?;
        }
        match fault {
            Some(fault) => writeln!(out, ": {fault}")?,
            None => {
                write!(out, ": ")?;
                let mut line = EscapedLine::new(out);
                line.push(&bytes);
                if is_long {
                    restore(&mut |piece| line.push(piece));
                }
                line.finish()?;
                writeln!(out)?;
            }
        }
    }
    Ok(())
}

/// Limit on the bytes of a record that is restored in memory.
const MAX_RESTORED: u64 = 1024 * 1024;

/// Writes a line escaped for the terminal, in pieces, without its newline.
struct EscapedLine<'o> {
    out: &'o mut dyn Write,
    /// The bytes that are not written yet.
    bytes: Vec<u8>,
    result: io::Result<()>,
}

impl<'o> EscapedLine<'o> {
    /// The size in bytes from which the pieces so far are written.
    const FULL: usize = 64 * 1024;

    fn new(out: &'o mut dyn Write) -> Self {
        Self { out, bytes: Vec::new(), result: Ok(()) }
    }

    fn push(&mut self, piece: &[u8]) {
        for piece in piece.chunks(Self::FULL) {
            self.bytes.extend_from_slice(piece);
            if self.bytes.len() >= Self::FULL && self.result.is_ok() {
                // The last character may go on in the next piece, or be the newline.
                let is_start = |byte: &u8| !(0x80..0xc0).contains(byte);
                let n_last = self.bytes.iter().rev().take(4).position(is_start);
                let rest = self.bytes.split_off(self.bytes.len() - n_last.map_or(0, |n| n + 1));
                self.write();
                self.bytes = rest;
            }
        }
    }

    fn write(&mut self) {
        let text = String::from_utf8_lossy(&self.bytes);
        if self.result.is_ok() {
            self.result = self.out.write_all(escape_for_terminal(&text).as_bytes());
        }
    }

    fn finish(mut self) -> io::Result<()> {
        if self.bytes.ends_with(b"\n") {
            self.bytes.pop();
        }
        self.write();
        self.result
    }
}

/// Splits a source into the records of a document, if it is one. Returns its format.
fn document(source: &mut Source<Opened>) -> io::Result<Option<&'static Format>> {
    if !FORMATS.has_documents() {
        return Ok(None);
    }
    let format = match detect(source)? {
        Detected::Format(format) => Some(format).filter(|format| format.framing.is_document()),
        _ => None,
    };
    source.set_framing(format.map(|format| format.framing).unwrap_or_default());
    Ok(format)
}

/// Prints a file without its carries.
pub(crate) fn strip(source: &mut Source<Opened>, out: &mut dyn Write) -> io::Result<()> {
    document(source)?;
    let mut result = Ok(());
    source.for_each(&mut |line, value| {
        result = strip_line(line, value.ok(), out);
        result.is_ok()
    })?;
    result
}

fn strip_line(line: &Line<'_>, value: Option<Value<'_>>, out: &mut dyn Write) -> io::Result<()> {
    match value.and_then(|value| without_carry(line, value, FORMATS)) {
        Some(visible) => out.write_all(&visible),
        None => out.write_all(line.bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_in_pieces_is_the_line() {
        let long = "é\u{2028}🎉".repeat(EscapedLine::FULL / 5);
        let damaged = b"\xff\x80\xe2\x80".repeat(EscapedLine::FULL / 3);
        for text in [long.as_bytes(), b"a\n", b"\n\n", b"", &damaged] {
            for n_bytes in [1, 7, text.len().max(1)] {
                let mut out = Vec::new();
                let mut line = EscapedLine::new(&mut out);
                text.chunks(n_bytes).for_each(|piece| line.push(piece));
                line.finish().expect("written");
                let text = String::from_utf8_lossy(text);
                let expected = escape_for_terminal(text.strip_suffix('\n').unwrap_or(&text));
                assert!(String::from_utf8(out) == Ok(expected), "{n_bytes}");
            }
        }
    }
}
