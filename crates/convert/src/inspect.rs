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
        let mut bytes = Vec::new();
        let is_within = may_restore(&record);
        let is_right = is_within && record.restore(&mut bytes, visible.as_bytes(), base, style);
        let text = String::from_utf8_lossy(&bytes);
        let text = match (is_intact || is_held, is_right) {
            _ if !is_within => "(not restored: more than 16 times what was read)".to_owned(),
            (true, true) => escape_for_terminal(text.strip_suffix('\n').unwrap_or(&text)),
            (false, _) => format!("(the {unit} was edited)"),
            (true, false) => "(cannot be restored)".to_owned(),
        };
        let role = if is_held { "not shown" } else { "shown" };
        let offset = record.offset;
        write!(out, "{unit} {number}: {name} byte {offset} {role}")?;
        if record.n_parts > 1 {
            write!(out, " (part {} of {})", record.part + 1, record.n_parts)?;
        }
        writeln!(out, ": {text}")?;
    }
    Ok(())
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
