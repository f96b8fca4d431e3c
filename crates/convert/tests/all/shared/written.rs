//! The lines of a written file: their visible part and their carry.

use convert::{Carry, FORMATS, Member};
use jsonl::Scanner;

/// A written line: its visible part, and its carry as text, if it has one.
pub(crate) struct WrittenLine {
    pub(crate) bytes: Vec<u8>,
    pub(crate) visible: String,
    pub(crate) carry: Option<String>,
}

impl WrittenLine {
    /// Returns the content of the carry.
    pub(crate) fn carry(&self) -> Carry<'_> {
        let text = self.carry.as_deref().expect("a carry");
        Carry::parse(text).expect(text)
    }
}

/// Returns the lines of a file.
pub(crate) fn written_lines(bytes: &[u8]) -> Vec<WrittenLine> {
    let mut scanner = Scanner::default();
    let read = |line: jsonl::Line<'_>| {
        let value = scanner.scan(&line).expect("written lines are JSON");
        let member = Member::find_any(value, FORMATS);
        let visible = match &member {
            Some(member) => member.visible(),
            None => value.raw().as_str().to_owned(),
        };
        let carry = member.map(|member| member.carry.into_owned());
        WrittenLine { bytes: line.bytes().to_vec(), visible, carry }
    };
    jsonl::lines(bytes).map(read).collect()
}

/// Returns the bytes of lines.
pub(crate) fn joined<'l>(lines: impl IntoIterator<Item = &'l WrittenLine>) -> Vec<u8> {
    lines.into_iter().flat_map(|line| line.bytes.iter().copied()).collect()
}
