//! Removes the carry from a written record.

use core_model::Formats;
use jsonl::{Line, Value};

use super::Member;

/// Returns a record of a document, or the glue before its records, without its carry.
fn unit_without_carry(line: &Line<'_>, value: Value<'_>, formats: Formats) -> Option<Vec<u8>> {
    let whole = value.raw().as_str();
    let visible = Member::find_any(value, formats)?.visible().into_bytes();
    // The value of glue has containers around it, and the line may have blanks around the value.
    let (start, end) = (whole.as_ptr() as usize, whole.as_ptr() as usize + whole.len());
    let (line_start, line_end) =
        (line.bytes().as_ptr() as usize, line.bytes().as_ptr() as usize + line.bytes().len());
    let n_after = end.saturating_sub(line_end);
    let inner = line_start.saturating_sub(start)..visible.len().checked_sub(n_after)?;
    let before = line.bytes().get(..start.saturating_sub(line_start))?;
    let after = line.bytes().get(end.min(line_end).checked_sub(line_start)?..)?;
    Some([before, visible.get(inner)?, after].concat())
}

/// Returns a line without its carry; empty for a filler record, `None` if it has no carry.
pub fn without_carry(line: &Line<'_>, value: Value<'_>, formats: Formats) -> Option<Vec<u8>> {
    if line.is_in_document() {
        return unit_without_carry(line, value, formats);
    }
    let visible = Member::find_any(value, formats)?.visible();
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
