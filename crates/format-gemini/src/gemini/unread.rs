//! Lists the members of a line that no event holds, so that a conversion can report them as lost.
//!
//! In: `{"id":"g","type":"gemini","content":"a","toolCalls":[{"id":"t","name":"ls","displayName":"List"}]}`.
//! Out: `toolCalls.displayName`.

use core_model::{Body, Event, Shape, Vocabulary, is_void};
use jsonl::{Text, Value};

use super::record::{GeminiHeader, GeminiMessage, GeminiRecord, has_result};
use crate::unread_part::{add_members, list_members, list_part, list_parts};

/// The names that Gemini CLI has for the members that events hold.
pub(crate) static VOCABULARY: Vocabulary = Vocabulary {
    session_id: "sessionId",
    cwd: "directories",
    uuid: "id",
    message_id: "id",
    tool_use_result: "resultDisplay",
    is_meta: "type",
    is_api_error: "type",
    has_api_blocks: false,
    ids_from_ends: true,
    repeats_messages: true,
    shape,
    list,
    record,
    ..Vocabulary::PLAIN
};

/// Limit on the depth of members whose names are in a shape.
const MAX_DEPTH: usize = 8;

/// Returns the names of all members of a line, at any depth that `list` looks at.
fn shape(event: &Event<'_>) -> Shape {
    let mut shape = Shape::default();
    if event.nth > 0 {
        shape.add_name(event.nth.to_string().as_bytes());
    }
    let kind = event.kind.map_or("", |kind| kind.body());
    shape.add_name(kind.as_bytes());
    let value = match &event.body {
        Body::Message(_) | Body::Notice(_) => message_of(event).unwrap_or(event.value),
        _ => event.value,
    };
    add_all(&mut shape, value, MAX_DEPTH);
    shape
}

fn add_all(shape: &mut Shape, value: Value<'_>, depth: usize) {
    if depth == 0 {
        return;
    }
    // The status of a call tells whether it failed, if it is one of these.
    if let Some(status) = value.get("status").and_then(|status| status.text())
        && !is_outcome(status)
    {
        shape.add_name(b"other status");
    }
    if value.is_array() {
        shape.add_name(b"[");
        value.items().for_each(|item| add_all(shape, item, depth.saturating_sub(1)));
    } else {
        add_members(shape, value, |shape, value| add_all(shape, value, depth.saturating_sub(1)));
    }
}

/// Returns whether a status says that a call succeeded or failed.
fn is_outcome(status: Text<'_>) -> bool {
    status.is("success") || status.is("error")
}

/// Returns the object with the message of an event: the line, or a message in a checkpoint.
fn message_of<'l>(event: &Event<'l>) -> Option<Value<'l>> {
    if GeminiMessage::decode(event.value).is_some() {
        return Some(event.value);
    }
    let record = GeminiRecord::decode(event.value);
    let messages = record.messages()?;
    let first = match record {
        GeminiRecord::Header(header) => usize::from(header.title().is_some()).saturating_add(1),
        _ => usize::from(super::reader::is_compaction(messages)),
    };
    let mut left = (event.nth as usize).checked_sub(first)?;
    for value in messages.items() {
        let Some(message) = GeminiMessage::decode(value) else { continue };
        let n_events = message.n_events();
        match left.checked_sub(n_events) {
            None => return Some(value),
            Some(rest) => left = rest,
        }
    }
    None
}

fn list(event: &Event<'_>, found: &mut dyn FnMut(&str)) {
    let record = GeminiRecord::decode(event.value);
    if event.nth == 0 {
        match &record {
            GeminiRecord::Header(header) => list_header(event.value, header, found),
            GeminiRecord::Set(set) => list_set(event, *set, found),
            GeminiRecord::Message(_) => {}
            // The members behind the messages of an older session.
            GeminiRecord::Other if matches!(event.body, Body::Title(_)) => {
                return list_set(event, event.value, found);
            }
            GeminiRecord::Rewind(_) | GeminiRecord::Other => return,
        }
    }
    let Some(value) = message_of(event) else { return };
    let Some(message) = GeminiMessage::decode(value) else { return };
    match &event.body {
        // The results of the calls are a second event.
        Body::Message(_) if event.context.uuid.is_none() => list_answers(&message, found),
        Body::Message(_) => list_message(value, &message, found),
        Body::Notice(_) if event.context.uuid.is_some() => list_notice(value, &message, found),
        _ => {}
    }
}

fn list_header(line: Value<'_>, header: &GeminiHeader<'_>, found: &mut dyn FnMut(&str)) {
    for (key, value) in line.members() {
        let key = key.decode();
        let is_held = match &*key {
            "sessionId" => true,
            "startTime" => header.start_time.is_some(),
            "directories" => value.items().count() == usize::from(header.directory().is_some()),
            "messages" => header.messages.is_some(),
            "summary" => header.title().is_some(),
            _ => false,
        };
        if !is_held && !is_void(&value) {
            found(&key);
        }
    }
}

fn list_set(event: &Event<'_>, set: Value<'_>, found: &mut dyn FnMut(&str)) {
    for (key, value) in event.value.members() {
        if event.value.get("$set").is_some() && !key.is("$set") && !is_void(&value) {
            found(&key.decode());
        }
    }
    let is_title = matches!(event.body, Body::Title(_));
    let has_messages = !is_title && !matches!(event.body, Body::Other);
    for (key, value) in set.members() {
        let is_held = is_title && key.is("summary") || has_messages && key.is("messages");
        if !is_held && !is_void(&value) {
            found(&key.decode());
        }
    }
}

fn list_message(value: Value<'_>, message: &GeminiMessage<'_>, found: &mut dyn FnMut(&str)) {
    let is_response = message.is("gemini");
    let has_thoughts = is_response && !message.has_thought_parts();
    let has_calls = is_response && !message.has_call_parts();
    for (key, value) in value.members() {
        let key = key.decode();
        let is_held = match &*key {
            "id" | "type" | "content" => true,
            "timestamp" => value.text().is_some(),
            "isSummary" => message.is_summary,
            "model" => is_response && value.text().is_some(),
            "tokens" => is_response && value.is_object(),
            "thoughts" => is_response && message.thoughts.is_some(),
            "toolCalls" => is_response && message.tool_calls.is_some(),
            _ => false,
        };
        if !is_held && !is_void(&value) {
            found(&key);
        }
    }
    if let Some(content) = message.content {
        match content.is_object() {
            true => list_part(content, found),
            false => list_parts(content, found),
        }
    }
    if !is_response {
        // Only the call has the name.
        if message.parts().any(|part| part.get("functionResponse").is_some()) {
            found("functionResponse.name");
        }
        return;
    }
    if let Some(tokens) = message.tokens {
        list_members(tokens, "tokens", &["input", "output", "cached"], found);
    }
    for thought in message.thoughts.into_iter().flat_map(|thoughts| thoughts.items()) {
        let is_said =
            |name| thought.get(name).and_then(|it| it.text()).is_some_and(|text| !text.is_blank());
        let held: &[&str] = match (has_thoughts, is_said("description"), is_said("subject")) {
            (false, ..) => &[],
            (true, true, _) => &["description"],
            (true, false, true) => &["subject"],
            // Shown or lost as a whole.
            (true, false, false) => continue,
        };
        for (key, value) in thought.members() {
            // An empty heading says nothing.
            let is_empty = value.text().is_some_and(|text| text.is_empty());
            if !held.iter().any(|held| key.is(held)) && !is_void(&value) && !is_empty {
                found(&format!("thoughts.{}", key.decode()));
            }
        }
    }
    for call in message.tool_calls.into_iter().flat_map(|calls| calls.items()) {
        list_call(call, has_calls, found);
    }
}

/// Lists the members of a call, without the members of its result.
fn list_call(call: Value<'_>, is_held: bool, found: &mut dyn FnMut(&str)) {
    let is_text = |name| call.get(name).is_some_and(|it| it.text().is_some());
    if is_held && !(is_text("id") && is_text("name")) {
        // Shown or lost as a whole.
        return;
    }
    let is_answered = has_result(call);
    for (key, value) in call.members() {
        let key = key.decode();
        let is_held = match &*key {
            "id" => is_held || is_answered,
            "name" | "args" => is_held,
            "result" => is_answered,
            // The second event has these.
            "status" | "timestamp" => is_answered,
            _ => false,
        };
        if !is_held && !is_void(&value) {
            found(&format!("toolCalls.{key}"));
        }
    }
}

/// Lists the members of the results of calls.
fn list_answers(message: &GeminiMessage<'_>, found: &mut dyn FnMut(&str)) {
    for (n, call) in message.answered().enumerate() {
        let [timestamp, status, result] = call.get_all(["timestamp", "status", "result"]);
        // The event has the time of the first one.
        let is_time = n == 0 && timestamp.is_some_and(|it| it.text().is_some());
        if !is_time && timestamp.is_some_and(|it| !is_void(&it)) {
            found("toolCalls.timestamp");
        }
        if let Some(status) = status {
            let is_known = status.text().is_some_and(is_outcome);
            if !is_known && !is_void(&status) {
                found("toolCalls.status");
            }
        }
        let Some(result) = result else { continue };
        match result.is_object() {
            true => list_part(result, found),
            false => list_parts(result, found),
        }
    }
}

fn list_notice(value: Value<'_>, message: &GeminiMessage<'_>, found: &mut dyn FnMut(&str)) {
    for (key, value) in value.members() {
        let key = key.decode();
        let is_held = match &*key {
            "id" | "type" | "content" => true,
            "timestamp" => value.text().is_some(),
            "notice" => message.notice.is_some(),
            _ => false,
        };
        if !is_held && !is_void(&value) {
            found(&key);
        }
    }
    if let Some(notice) = message.notice {
        // The kind of a notice says less than its subtype.
        list_members(notice, "notice", &["subtype"], found);
    }
}

/// Returns the words that name a kind of line, such as `$set` and `lastUpdated`.
fn record<'l>(event: &Event<'l>) -> [Option<Text<'l>>; 2] {
    match GeminiRecord::decode(event.value) {
        GeminiRecord::Set(set) => [Text::new("\"$set\""), set.members().next().map(|(key, _)| key)],
        GeminiRecord::Rewind(_) => [Text::new("\"$rewindTo\""), None],
        GeminiRecord::Header(_) => [Text::new("\"header\""), None],
        _ => [event.kind, None],
    }
}
