//! Restores the envelope of an edited line from its carry.
//!
//! In: an edited line without a uuid, and the skeleton
//! `{"type":"user","uuid":"u2","message":{"content":null}}`. Out: the event of the edited line with
//! the uuid `u2`.

use core_model::{Body, Event, Field, Message};

/// Copies the envelope (uuid, parent, time) and the message's ids, model and usage from the
/// skeleton's event to the event of the edited line.
pub(super) fn keep_envelope<'l>(event: &mut Event<'l>, known: &Event<'l>) {
    let context = &mut event.context;
    context.uuid = known.context.uuid.or(context.uuid);
    if known.context.parent != Field::Absent {
        context.parent = known.context.parent;
    }
    context.time = known.context.time.or(context.time);
    let Body::Message(message) = &mut event.body else { return };
    let Some(known) = known.message() else { return };
    *message = Message {
        id: known.id.or(message.id),
        model: known.model.or(message.model),
        stop_reason: known.stop_reason.or(message.stop_reason),
        stop_sequence: known.stop_sequence.or(message.stop_sequence),
        usage: known.usage.or(message.usage),
        request_id: known.request_id.or(message.request_id),
        ..*message
    };
}
