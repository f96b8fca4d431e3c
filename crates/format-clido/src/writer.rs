//! Writes events as a clido session that clido's loader accepts, in clido's order.
//!
//! ```text
//! in   a response in two lines: a text, then a tool use; and its result
//! out  {"type":"assistant_message","content":[{"text":..},{"id":..,"input":..}]}
//!      {"type":"tool_call","tool_use_id":..,"tool_name":..,"input":..}
//!      {"type":"tool_result","tool_use_id":..,"content":..,"is_error":false}
//! ```

mod block;
mod closing;
mod header;
mod held;
mod losses;
mod message;
mod notice;
mod pen;
mod result;

use std::sync::Arc;

use core_model::{
    Block, Body, Event, EventWriter, Facts, Hashes, IdHasher, KnownTitle, LineId, Message, Options,
    Output, ResponseKey, Role, TitleRank,
};
use jsonl::Text;

use self::{
    closing::Ending,
    held::{Call, Early, Held, Response},
    pen::Pen,
};

/// Creates a writer of a session.
pub(crate) fn create(_options: &Options, facts: Facts) -> Box<dyn EventWriter> {
    Box::new(SessionWriter {
        hasher: facts.hasher().clone(),
        facts,
        has_header: false,
        response: None,
        last: Response::default(),
        early: Early::default(),
        n_results: 0,
        called: Hashes::default(),
        ending: Ending::default(),
        title: KnownTitle::default(),
        has_new_title: false,
        has_written: false,
        has_ended: false,
        has_resumed: false,
    })
}

/// The state between two events.
///
/// One response is held. Its lines in the source are merged until a later line shows that it is
/// complete. The results of its calls follow it.
#[derive(Debug)]
struct SessionWriter {
    facts: Facts,
    has_header: bool,
    response: Option<Response>,
    /// The previous response, kept for its buffers.
    last: Response,
    early: Early,
    n_results: u64,
    /// Hashes of the ids of all calls.
    called: Hashes,
    /// The hasher of the facts.
    hasher: IdHasher,
    ending: Ending,
    /// The last title in the output.
    title: KnownTitle,
    has_new_title: bool,
    /// Whether a line was written since the last resumed line.
    has_written: bool,
    /// Whether no message followed the last outcome.
    has_ended: bool,
    has_resumed: bool,
}

impl EventWriter for SessionWriter {
    fn write(&mut self, event: &Event<'_>, out: &mut Output) {
        if !self.facts.has_messages() && !self.has_header {
            // clido deletes a session without a message, so the source is kept in the carry alone.
            return out.lose_record(event);
        }
        let pen = &mut Pen::new(out, event);
        match &event.body {
            Body::Start(start) => {
                pen.out.drop_start(start);
                self.write_header(event, pen.out);
            }
            Body::Message(message) => self.write_message(event, message, pen),
            Body::ToolCall(call) => {
                // The line of a call in a response is written with the response.
                if !self.facts.is_called(&call.id.decode()) {
                    self.write_header(event, pen.out);
                    let line = block::write_call(pen, call);
                    self.emit_after_response(line, pen.out);
                }
            }
            Body::Notice(notice) => {
                self.write_header(event, pen.out);
                let line = notice::write(notice, event.format, pen);
                self.emit_after_response(line, pen.out);
            }
            Body::Outcome(outcome) => {
                self.write_header(event, pen.out);
                self.close_response(pen.out);
                closing::write_outcome(event, outcome, pen);
                self.has_written = true;
                self.has_ended = true;
            }
            Body::Title(title) => {
                let is_winner = self.facts.has_title_text(title.text);
                // A title is written after a header.
                if !is_winner || self.has_resumed && !self.has_header {
                    pen.out.lose_record(event);
                } else if self.facts.has_outcome && self.has_header && self.title.is_none() {
                    // A source with an outcome has it after its title.
                    self.title.set(title.text.as_str());
                    let line = closing::write_title(title.text, pen.out);
                    self.emit_after_response(line, pen.out);
                }
                self.has_new_title = true;
            }
            _ => return pen.out.lose_record(event),
        }
        losses::count_context(event, &self.facts, pen.out);
        pen.out.lose_members(event);
    }

    fn learn(&mut self, facts: &Facts) -> bool {
        // Titles are compared with the last one, and written if there is an outcome.
        fn ending(facts: &Facts) -> (Option<&(TitleRank, Arc<str>)>, bool) {
            (facts.title.as_ref(), facts.has_outcome)
        }
        let is_same = self.facts.has_head_of(facts)
            && (!self.has_new_title || ending(&self.facts) == ending(facts));
        self.facts.title.clone_from(&facts.title);
        self.facts.has_outcome = facts.has_outcome;
        is_same
    }

    fn resume(&mut self, event: &Event<'_>, out: &mut Output) {
        self.has_resumed = true;
        self.has_written = false;
        self.has_new_title = false;
        match &event.body {
            Body::Start(_) => self.has_header = true,
            Body::Message(message) => self.resume_message(message, out),
            Body::Title(title) => self.title.set(title.text.as_str()),
            _ => self.close_response(out),
        }
    }

    fn finish(&mut self, out: &mut Output) {
        let has_open_call = self.response.as_ref().is_some_and(|response| response.is_open());
        self.close_response(out);
        let mut early: Vec<Held> =
            std::mem::take(&mut self.early).into_values().flatten().collect();
        early.sort_by_key(|held| held.arrival);
        for held in early {
            out.emit(held.line);
        }
        if let Some((_, title)) = &self.facts.title
            && self.has_header
            && (self.has_written || self.has_new_title)
            && !self.title.is(title)
            && let Some(title) = Text::new(title)
        {
            let line = closing::write_title(title, out);
            out.emit(line);
        }
        // The source has an outcome. Lines that its client added to a restored session have none.
        let is_told = self.has_ended || (self.facts.has_outcome && !self.has_resumed);
        if self.has_written && !has_open_call && !is_told {
            self.ending.write(out);
        }
    }
}

impl SessionWriter {
    /// Emits a line after the current response, or at once if there is none.
    fn emit_after_response(&mut self, line: LineId, out: &mut Output) {
        self.has_written = true;
        match &mut self.response {
            Some(response) if response.tail.len() < Response::MAX_TAIL => response.tail.push(line),
            _ => {
                self.close_response(out);
                out.emit(line);
            }
        }
    }

    fn close_response(&mut self, out: &mut Output) {
        if let Some(mut response) = self.response.take() {
            response.emit(&mut self.early, out);
            self.last = response;
        }
    }

    fn resume_message(&mut self, message: &Message<'_>, out: &mut Output) {
        let mut results = message.tool_results().peekable();
        if message.role == Role::User && results.peek().is_some() {
            self.ending.add_other(message, message.block_counts());
            // Lines that wait for the response precede this line, which is already in the output.
            let Some(response) = &mut self.response else { return };
            response.emit(&mut self.early, out);
            for result in results {
                response.answer(self.hasher.hash_text(result.tool_use_id));
            }
            return;
        }
        self.close_response(out);
        if message.role == Role::User {
            return self.ending.add_other(message, message.block_counts());
        }
        self.ending.add_response(message, message.block_counts(), false);
        let mut response = std::mem::take(&mut self.last).start(ResponseKey::Alone);
        message.each_block(|block| {
            if let Block::ToolUse(tool) = block {
                let id = self.hasher.hash_text(tool.id);
                self.called.insert(id);
                response.add_call(Call { id, line: None, millis: None, is_answered: false });
            }
        });
        self.response = Some(response);
    }
}
