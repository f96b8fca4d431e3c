//! stub
use core_model::*;
pub struct ClaudeCodeWriter;
impl ClaudeCodeWriter { pub fn new(_: Facts) -> Self { Self } }
impl Writer for ClaudeCodeWriter { fn write(&mut self, _: &Event<'_>, _: &mut Output) {} fn resume(&mut self, _: &Event<'_>, _: &mut Output) {} fn finish(&mut self, _: &mut Output) {} }
