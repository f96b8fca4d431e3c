//! Reads events from lines, and detects the format of a line.
//!
//! In: `{"type":"user_message","role":"user","content":[{"text":"Hi","type":"text"}]}`. Out: an
//! [`Event`] with a user's message, borrowed from the line.

use core_model::{
    Block, Body, Content, Context, Event, Field, FileRecord, Input, Message, Notice, NoticeKind,
    Outcome, Role, Start, Status, Title, TitleRank, ToolCall, ToolResult, ToolUse, is_client_text,
};
use jsonl::{Kind, Raw, Text, Value};

use crate::{Record, ToolResultLine, TurnResult, unread::VOCABULARY};

const NAME: &str = "clido";

/// Returns whether a line is clido's and of no other format.
pub fn detect(line: Value<'_>) -> bool {
    let has_text = |name| line.get(name).is_some_and(|value| value.text().is_some());
    match Record::decode(line) {
        Record::Meta(meta) => meta.schema_version.is_some(),
        Record::AssistantMessage(_) | Record::ToolCall(_) => true,
        Record::Title(title) => title.title.is_some(),
        // Dumps of SDK streams have prompts of the same type, whose content is a string.
        Record::UserMessage(message) => message.content.is_some_and(|content| content.is_array()),
        Record::ToolResult(_) => has_text("tool_use_id"),
        Record::Result(_) => has_text("exit_status"),
        Record::System(_) | Record::Unknown(_) => false,
    }
}

/// Returns whether an object is a whole line: `type` is its first member, which it is not in a
/// block.
pub(crate) fn is_record(value: Value<'_>) -> bool {
    let is_first = value.members().next().is_some_and(|(key, _)| key.is("type"));
    let is_notice =
        || matches!(Record::decode(value), Record::System(notice) if notice.subtype.is_some());
    is_first && (detect(value) || is_notice())
}

/// Reads a line as an event.
///
/// A line that clido would refuse is read as far as possible. A line of an unknown type is
/// [`Body::Other`].
pub fn read(line: Value<'_>) -> Event<'_> {
    let mut event = Event::other(NAME, line);
    event.vocabulary = &VOCABULARY;
    event.body = match Record::decode(line) {
        Record::Meta(meta) => {
            event.context = Context {
                session_id: meta.session_id,
                time: meta.start_time.filter(is_time).map(|time| time.raw()),
                cwd: meta.project_path,
                ..Context::default()
            };
            Body::Start(Start::default())
        }
        Record::UserMessage(message) => {
            let content = Content::new(message.content, read_block);
            let message = Message::new(Role::User, content);
            // In a converted session, texts of the other client keep their mark.
            let is_meta = message.first_text().is_some_and(is_client_text);
            Body::Message(Message { is_meta, ..message })
        }
        Record::AssistantMessage(message) => {
            let content = Content::new(message.content, read_block);
            Body::Message(Message::new(Role::Assistant, content))
        }
        Record::ToolCall(call) => match (call.tool_use_id, call.tool_name) {
            (Some(id), Some(name)) => Body::ToolCall(ToolCall { id, name, input: raw(call.input) }),
            _ => Body::Other,
        },
        Record::ToolResult(result) => match result.tool_use_id {
            Some(_) => {
                let content = Content::one(line, read_tool_result);
                Body::Message(Message::new(Role::User, content))
            }
            None => Body::Other,
        },
        Record::System(system) => Body::Notice(Notice {
            kind: notice_kind(system.subtype),
            subtype: system.subtype,
            about: None,
            text: system.message.filter(|message| !message.is_null()).map(|text| text.raw()),
            trigger: None,
            pre_tokens: None,
        }),
        Record::Result(result) => Body::Outcome(read_outcome(&result)),
        Record::Title(title) => match title.title {
            Some(text) => Body::Title(Title { text, rank: TitleRank::Model }),
            None => Body::Other,
        },
        Record::Unknown(_) => Body::Other,
    };
    event
}

fn is_time(value: &Value<'_>) -> bool {
    matches!(value.kind(), Kind::String | Kind::Number)
}

fn raw(value: Option<Value<'_>>) -> Raw<'_> {
    value.map_or(Raw::NULL, |value| value.raw())
}

fn notice_kind(subtype: Option<Text<'_>>) -> NoticeKind {
    match subtype.map(|subtype| subtype.decode()).as_deref() {
        Some("compaction" | "compact") => NoticeKind::Compaction,
        Some("error") => NoticeKind::Error,
        Some("warning" | "warn") => NoticeKind::Warning,
        _ => NoticeKind::Info,
    }
}

fn read_outcome<'l>(result: &TurnResult<'l>) -> Outcome<'l> {
    let status = match result.exit_status.map(|status| status.decode()).as_deref() {
        Some("success" | "completed") => Status::Success,
        Some("max_turns" | "max_turns_reached") => Status::MaxTurns,
        Some("max_budget" | "budget_exceeded" | "per_turn_budget_exceeded") => Status::MaxBudget,
        Some("interrupted") => Status::Interrupted,
        Some("rate_limited") => Status::RateLimited,
        _ => Status::Error,
    };
    Outcome {
        status_text: result.exit_status,
        cost: result.total_cost_usd.map(|cost| cost.raw()),
        turns: result.num_turns.map(|turns| turns.raw()),
        duration_ms: result.duration_ms.map(|duration| duration.raw()),
        ..Outcome::new(status)
    }
}

/// Reads a content block.
pub fn read_block(value: Value<'_>) -> Block<'_> {
    if let Some(text) = value.text() {
        return Block::Text(text);
    }
    let kind = text(value, "type");
    let block = match kind.map(|kind| kind.decode()).as_deref() {
        Some("text") => text(value, "text").map(Block::Text),
        Some("thinking") => text(value, "thinking")
            .map(|text_of| Block::Thinking { text: text_of, signature: text(value, "signature") }),
        Some("tool_use") => read_tool_use(value),
        Some("tool_result") => Some(read_tool_result(value)),
        Some("image") => read_image(value),
        _ => None,
    };
    block.unwrap_or(Block::Other { kind, raw: value.raw() })
}

fn read_tool_use(value: Value<'_>) -> Option<Block<'_>> {
    let [id, name, input] = value.get_all(["id", "name", "input"]);
    let (id, name, input) = (id?.text()?, name?.text()?, raw(input));
    Some(Block::ToolUse(ToolUse {
        id,
        name: name.into(),
        input: Input::Json(input),
        is_server: false,
    }))
}

/// Reads a tool result: a block, or a whole line.
fn read_tool_result(value: Value<'_>) -> Block<'_> {
    let line = ToolResultLine::decode(value);
    let Some(tool_use_id) = line.tool_use_id else {
        return Block::Other { kind: text(value, "type"), raw: value.raw() };
    };
    let is_error = match line.is_error {
        None => Field::Absent,
        Some(is_error) => is_error.bool().map_or(Field::Null, Field::Value),
    };
    let number = |value: Value<'_>| value.kind() == Kind::Number;
    Block::ToolResult(ToolResult {
        duration_ms: line.duration_ms.filter(|it| number(*it)).map(|duration| duration.raw()),
        file: FileRecord {
            path: line.path,
            content_hash: line.content_hash,
            mtime_nanos: line.mtime_nanos.filter(|it| number(*it)).map(|mtime| mtime.raw()),
        },
        ..ToolResult::new(tool_use_id, Content::new(line.content, read_block), is_error)
    })
}

/// Reads an image in clido's spelling, or in the API's, which clido tolerates.
fn read_image(value: Value<'_>) -> Option<Block<'_>> {
    let own = text(value, "media_type").zip(text(value, "base64_data"));
    let (media_type, data) = own.or_else(|| {
        let source = value.get("source")?;
        text(source, "media_type").zip(text(source, "data"))
    })?;
    Some(Block::Image { media_type: media_type.into(), data: data.into() })
}

fn text<'l>(value: Value<'l>, name: &str) -> Option<Text<'l>> {
    value.get(name)?.text()
}

#[cfg(test)]
mod tests {
    use jsonl::Scanner;

    use super::*;

    fn with_event<T>(line: &str, check: impl FnOnce(Event<'_>) -> T) -> T {
        let mut scanner = Scanner::default();
        check(read(scanner.scan_slice(line.as_bytes(), 0).expect("valid")))
    }

    fn detects(line: &str) -> bool {
        detect(Scanner::default().scan_slice(line.as_bytes(), 0).expect("valid"))
    }

    #[test]
    fn a_tool_result_line_is_a_message_of_one_block() {
        let line = r#"{"type":"tool_result","tool_use_id":"t","content":"x","is_error":true,"duration_ms":5,"path":"a","content_hash":"sha256:d","mtime_nanos":1742560200000000000}"#;
        with_event(line, |event| {
            let message = event.message().expect("a message");
            let results: Vec<_> = message.tool_results().collect();
            let [result] = results.as_slice() else { panic!("one result") };
            assert!(result.tool_use_id.is("t"));
            assert_eq!(result.is_error, Field::Value(true));
            assert_eq!(result.duration_ms.expect("a duration").as_u64(), Some(5));
            assert!(result.file.content_hash.expect("a hash").is("sha256:d"));
            let mtime = result.file.mtime_nanos.expect("a time").as_u64();
            assert_eq!(mtime, Some(1_742_560_200_000_000_000));
            assert!(!event.is_prompt());
        });
    }

    #[test]
    fn content_may_be_a_string() {
        with_event(r#"{"type":"user_message","content":"hi"}"#, |event| {
            assert!(event.is_prompt());
        });
    }

    #[test]
    fn both_spellings_of_exit_statuses() {
        let status_of = |status: &str| {
            with_event(&format!(r#"{{"type":"result","exit_status":"{status}"}}"#), |event| {
                match event.body {
                    Body::Outcome(outcome) => outcome.status,
                    body => panic!("{body:?}"),
                }
            })
        };
        assert_eq!(status_of("success"), status_of("completed"));
        assert_eq!(status_of("max_turns"), status_of("max_turns_reached"));
        assert_eq!(status_of("max_budget"), status_of("per_turn_budget_exceeded"));
        assert_eq!(status_of("doom_loop"), Status::Error);
    }

    #[test]
    fn wrong_types_make_sense_or_are_other() {
        for line in [
            "1",
            "[]",
            "\"meta\"",
            "{}",
            r#"{"type":5}"#,
            r#"{"type":"future"}"#,
            r#"{"type":"title","title":1}"#,
            r#"{"type":"tool_result","content":"x"}"#,
            r#"{"type":"tool_call","tool_use_id":"x"}"#,
        ] {
            with_event(line, |event| assert!(matches!(event.body, Body::Other), "{line}"));
        }
        let line = r#"{"type":"assistant_message","content":[1,null,"a",{"type":"text"},{"type":"image","source":{"type":"url"}},{"type":"tool_use","id":1}]}"#;
        with_event(line, |event| {
            let message = event.message().expect("a message");
            let others = message.blocks().filter(|(block, _)| matches!(block, Block::Other { .. }));
            assert_eq!((message.blocks().count(), others.count()), (6, 5));
        });
    }

    #[test]
    fn lines_of_other_formats_are_not_ours() {
        assert!(detects(r#"{"type":"user_message","role":"user","content":[]}"#));
        assert!(detects(r#"{"type":"result","exit_status":"success"}"#));
        for line in [
            r#"{"type":"user_message","content":"hi","timestamp":"x"}"#,
            r#"{"type":"result","subtype":"success","session_id":"s"}"#,
            r#"{"type":"user","message":{},"sessionId":"s"}"#,
            r#"{"type":"system","subtype":"init"}"#,
            r#"{"type":"summary","summary":"x"}"#,
            r#"["meta"]"#,
        ] {
            assert!(!detects(line), "{line}");
        }
    }
}
