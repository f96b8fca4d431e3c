//! Writes restored records byte for byte, and converts edited records.
//!
//! In: a line with a carry of two source records, one of which was edited. Out: the first one byte for byte, and the line,
//! converted, in place of the second one.

use std::{io, sync::Arc};

use jsonl::{Line, LineBuf, UnitScanner, Value};

use super::{Edited, SecondPass, unit_in};
use crate::{
    carry::{
        guard::line_guard,
        restore::Item,
        run::{is_run, lines_of},
    },
    pipeline::engine::Flow,
};

impl SecondPass<'_> {
    /// Passes the items of a restorer to the next restorer, or to the target. `shown` is the value of the record that
    /// the restorer got last, unless that is glue or no longer in memory.
    pub(super) fn take_items(
        &mut self,
        level: usize,
        shown: Option<Value<'_>>,
        scanner: &mut UnitScanner,
    ) -> io::Result<()> {
        let is_last = level + 1 == self.restorers.len();
        while let Some((file_idx, item)) = self.restorers[level].next_item(shown)? {
            // The lines of other files are restored by one level at a time.
            if file_idx > self.others.len() || file_idx > 0 && !is_last {
                self.report.n_elsewhere += 1;
                continue;
            }
            self.go_to_other(file_idx)?;
            let is_of_lines = !self.levels[level + 1].framing.is_document();
            match item {
                Item::Restored { line, is_continued, carry: None, .. }
                    if is_of_lines && is_run(line.bytes()) =>
                {
                    for (n, line) in lines_of(line.bytes()).enumerate() {
                        self.report.restored.restored += u64::from(is_last && n > 0);
                        let flow = Flow { is_continued: is_continued && n == 0, ..Flow::default() };
                        let line = LineBuf::from(line.to_vec());
                        self.restore((level, file_idx), &line, flow, None, scanner)?;
                    }
                }
                Item::Restored { line, is_continued, follows, is_glue, carry, .. } => {
                    let flow = Flow { is_continued, follows, is_glue };
                    self.restore((level, file_idx), &line, flow, carry, scanner)?;
                }
                Item::Orphan { carry } if !is_last => {
                    self.restorers[level + 1].push_orphan(carry.into());
                    self.take_items(level + 1, None, scanner)?;
                }
                Item::Orphan { carry } => self.engine.push_restored_carry(&carry)?,
                Item::Converted { line, offset, number, skeletons, is_doubled } => {
                    self.flush_restorers(level + 1, scanner)?;
                    let format = self.levels[level];
                    let line = Line::of_unit(&line, offset, unit_in(format, false));
                    let skeleton = skeletons.and_then(|skeletons| skeletons.into_iter().next());
                    let edited = Edited { skeleton: skeleton.as_deref(), is_doubled };
                    let (line, record) = scanner.scan(&line, &[]);
                    let now = self.report.lines_in;
                    self.engine.set_line_number(if number > 0 { number } else { now });
                    if let Some(sidecar) = self.sidecar.as_mut().filter(|_| level + file_idx == 0) {
                        let guard = line_guard(format, &line, record.as_ref().ok().copied());
                        self.engine.set_source_carry(sidecar.take(guard)?);
                    }
                    self.convert_record(file_idx, &line, record, format, edited)?;
                    self.engine.set_line_number(now);
                }
            }
        }
        Ok(())
    }

    /// Passes a restored line to the next restorer, or to its file.
    fn restore(
        &mut self,
        (level, file_idx): (usize, usize),
        line: &LineBuf,
        flow: Flow,
        carry: Option<String>,
        scanner: &mut UnitScanner,
    ) -> io::Result<()> {
        if file_idx > 0 {
            return self.restore_other(file_idx, line, flow, scanner);
        }
        let format = self.levels[level + 1];
        let unit = unit_in(format, flow.is_glue);
        let paths = format.framing.paths();
        if level + 1 < self.restorers.len() {
            let (line, record) = scanner.scan_buf(line, 1, unit, paths);
            self.restorers[level + 1].push_value(&line, record.ok(), carry.map(Arc::new))?;
            return self.take_items(level + 1, None, scanner);
        }
        let offset = u64::from(!self.engine.is_at_start());
        let (unit, record) = scanner.scan_buf(line, offset, unit, paths);
        let record = record.ok();
        let titled = match flow.is_glue {
            true => self.engine.with_new_title(&unit, record, format),
            false => None,
        };
        let bytes = titled.as_deref().unwrap_or(line.bytes());
        self.engine.resume(bytes, flow, carry.as_deref(), record, format)
    }

    /// Releases the waiting items of the restorers from a level on, because a converted line
    /// follows them.
    fn flush_restorers(&mut self, from: usize, scanner: &mut UnitScanner) -> io::Result<()> {
        for level in from..self.restorers.len() {
            self.restorers[level].flush();
            self.take_items(level, None, scanner)?;
        }
        Ok(())
    }
}
