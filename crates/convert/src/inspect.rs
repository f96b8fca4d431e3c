//! Prints and removes carries.

use std::io::{self, Write};

use conversion::{Carry, EntryKind, Member, Source, without_carry};
use jsonl::{Line, Value};
use storage::Opened;

use crate::{formats::FORMATS, terminal::escape::escape_for_terminal};

/// Prints a line for each carried source line, or part of one. Returns the number of lines with a
/// carry.
pub(crate) fn show(source: &mut Source<Opened>, out: &mut dyn Write) -> io::Result<u64> {
    let mut base = Vec::new();
    let (mut number, mut n_carries) = (0, 0);
    let mut result = Ok(());
    source.for_each(&mut |_, value| {
        number += 1;
        let member = value.ok().and_then(Member::find);
        let Some(member) = member else { return true };
        let Ok(carry) = Carry::parse(&member.carry) else { return true };
        n_carries += 1;
        if let Some(text) = carry.template {
            base = text.as_bytes().to_vec();
        }
        result = show_carry(number, &member, &carry, &base, out);
        result.is_ok()
    })?;
    result.map(|()| n_carries)
}

fn show_carry(
    number: u64,
    member: &Member<'_>,
    carry: &Carry<'_>,
    base: &[u8],
    out: &mut dyn Write,
) -> io::Result<()> {
    let format = carry.format.of(FORMATS);
    let name = format.map_or("unknown format", |format| format.name);
    let style = format.map_or(jsonl::Style::Compact, |format| format.style);
    let is_intact = member.guard() == carry.guard;
    let visible = member.visible();
    for record in carry.entries() {
        let is_held = record.kind != EntryKind::Own;
        let mut bytes = Vec::new();
        let is_right = record.restore(&mut bytes, visible.as_bytes(), base, style);
        let text = String::from_utf8_lossy(&bytes);
        let text = match (is_intact || is_held, is_right) {
            (true, true) => escape_for_terminal(text.strip_suffix('\n').unwrap_or(&text)),
            (false, _) => "(the line was edited)".to_owned(),
            (true, false) => "(cannot be restored)".to_owned(),
        };
        let role = if is_held { "not shown" } else { "shown" };
        let offset = record.offset;
        write!(out, "line {number}: {name} byte {offset} {role}")?;
        if record.n_parts > 1 {
            write!(out, " (part {} of {})", record.part + 1, record.n_parts)?;
        }
        writeln!(out, ": {text}")?;
    }
    Ok(())
}

/// Prints a file without its carries.
pub(crate) fn strip(source: &mut Source<Opened>, out: &mut dyn Write) -> io::Result<()> {
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
