//! The plan of a session: the messages that were reverted are no part of the conversation.
//!
//! In: a document whose `info.revert.messageID` is `msg_3`. Out: `msg_3` and all later messages are
//! hidden.

use core_model::{Event, Hidden, Plan, Planner};

use crate::Record;

/// Planner that hides reverted messages.
#[derive(Debug, Default)]
pub struct Revert {
    /// The id of the first reverted message.
    first: Option<String>,
    is_reverted: bool,
    hidden: Vec<Hidden>,
}

impl Planner for Revert {
    fn observe(&mut self, offset: u64, event: &Event<'_>) {
        match Record::decode(event.value) {
            Record::Session(session) => {
                if let Some(id) = session.undone() {
                    self.first = Some(id.decode().into_owned());
                }
            }
            Record::Message(message) => {
                let first = self.first.as_deref();
                self.is_reverted |= message.id.zip(first).is_some_and(|(id, first)| id.is(first));
                if self.is_reverted && self.hidden.last().is_none_or(|it| it.offset < offset) {
                    self.hidden.push(Hidden { offset, field: "reverted" });
                }
            }
            Record::Other => {}
        }
    }

    fn finish(self: Box<Self>) -> Plan {
        Plan { hidden: self.hidden, ..Plan::default() }
    }
}
