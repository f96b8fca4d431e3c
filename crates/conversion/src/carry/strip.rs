//! Removes the carry from a written record.

use core_model::Formats;
use jsonl::{Line, Value};

use super::Member;

/// Returns a line without its carry; empty for a filler record, `None` if it has no carry.
pub fn without_carry(line: &Line<'_>, value: Value<'_>, formats: Formats) -> Option<Vec<u8>> {
    let visible = Member::find(value)?.visible();
    let is_carrier = formats.iter().any(|format| {
        let filler_record = format.limits.filler_record;
        !filler_record.is_empty() && visible.strip_suffix('}') == Some(filler_record)
    });
    if is_carrier {
        return Some(Vec::new());
    }
    let mut out = visible.into_bytes();
    let content = line.content();
    let terminator =
        line.offset_of(content).map(|start| start - line.offset() + content.len() as u64);
    out.extend_from_slice(line.bytes().get(terminator.unwrap_or(0) as usize..).unwrap_or_default());
    Some(out)
}
