//! Written files without their carries.

use convert::{FORMATS, Member};
use jsonl::Scanner;

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
