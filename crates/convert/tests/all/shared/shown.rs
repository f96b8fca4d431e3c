//! Written files without their carries.

use conversion::without_carry;
use convert::{FORMATS, Member};
use core_model::Format;
use jsonl::{Records, Scanner, UnitScanner};

/// Returns the visible part of lines, without their carries.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let mut scanner = Scanner::default();
    let mut shown = String::new();
    for line in jsonl::lines(bytes) {
        let value = scanner.scan(&line).expect("written lines are JSON");
        match Member::find_any(value, FORMATS) {
            Some(member) => shown.push_str(&member.visible()),
            None => shown.push_str(value.raw().as_str()),
        }
        shown.push('\n');
    }
    shown
}

/// Returns the visible part of a document, without its carries.
pub(crate) fn shown_document(bytes: &[u8], format: &Format) -> Vec<u8> {
    let (mut records, mut units) = (Records::new(bytes, format.framing), UnitScanner::default());
    let mut shown = Vec::new();
    while let Some(unit) = records.next().expect("a slice") {
        let (unit, value) = units.scan(&unit, format.framing.paths());
        let visible = value.ok().and_then(|value| without_carry(&unit, value, FORMATS));
        shown.extend(visible.unwrap_or_else(|| unit.bytes().to_vec()));
    }
    shown
}
