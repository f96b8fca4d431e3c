//! Holds results that come before their calls until the calls are written.
//!
//! In: `result of 2`, `call 1`, `call 2`. Out: `call 1`, `call 2`, `result of 2`.

use core_model::{Event, LossKind, Output, ToolResult};
use jsonl::{Raw, json_string};

use super::{ClaudeCodeWriter, calls::Call, user::put_result};

impl ClaudeCodeWriter {
    /// Holds a result if its call comes later, and returns whether it does.
    pub(super) fn hold(
        &mut self,
        event: &Event<'_>,
        result: &ToolResult<'_>,
        extra: Option<Raw<'_>>,
        block_idx: usize,
        out: &mut Output,
    ) -> bool {
        let id = result.tool_use_id.decode();
        if !self.calls.comes_later(&id, &self.facts) || !self.early.has_room(&id) {
            return false;
        }
        out.lose(LossKind::Flattened, "tool_result.order");
        for (is_lost, field) in [
            (event.context.uuid.is_some(), event.vocabulary.uuid),
            (event.context.time.is_some(), event.vocabulary.time),
        ] {
            if is_lost {
                out.lose(LossKind::Dropped, field);
            }
        }
        self.thread.name_session(event, out);
        let line = out.open();
        out.put(line, "{");
        put_result(out, line, result, None, extra);
        let uuid = json_string(&out.uuid(event, "held", block_idx));
        self.early.hold(&id, (line, uuid));
        true
    }

    /// Writes the held result of a call, and returns whether there was one.
    pub(super) fn release(&mut self, call: &Call, out: &mut Output) -> bool {
        // The result names the id in the source, so a replaced id has none.
        if call.written.is_some() {
            return false;
        }
        let Some((line, uuid)) = self.early.release(&call.id) else { return false };
        out.put(line, ",");
        self.thread.put_place(line, out);
        out.put(line, ",\"type\":\"user\",\"sourceToolAssistantUUID\":");
        out.put(line, &call.entry);
        let time = self.thread.clock.next(None, call.at, out);
        self.thread.close_as(line, uuid, &time, out);
        true
    }

    /// Writes held results whose calls did not come as lines that the client does not send.
    pub(super) fn flush_early(&mut self, out: &mut Output) {
        for (line, uuid) in self.early.take_all() {
            out.lose(LossKind::Flattened, "tool_result");
            out.put(line, ",");
            self.thread.put_place(line, out);
            out.put(line, ",\"type\":\"system\",\"subtype\":\"tool_result\",\"content\":\"\"");
            out.put(line, ",\"isMeta\":false,\"level\":\"info\"");
            let time = self.thread.clock.next(None, 0, out);
            self.thread.close_as(line, uuid, &time, out);
        }
    }
}
