//! Finds lines of a stream that its readers would refuse.
//!
//! In: `{"type":"assistant","message":{"content":[]}}`. Out: a [`Problem`], because the SDK needs
//! `message.model`.

use core_model::{Check, Checker, Findings, Place, Problem, SdkVersion, Severity};
use jsonl::{Kind, Line, Value};

use crate::{
    parser::{Verdict, verdict},
    record::{Flavor, Record, RecordKind},
};

/// Returns the problems of a stream. Lines of the wire are compared with the parser of SDK 0.2.187,
/// dumped lines with the dumps of 0.2.187 and 0.1.6. Blank lines are skipped.
///
/// ```
/// let problems = format_sdk_stream::validate(
///     b"{\"type\":\"user\",\"message\":{}}\n\n{\"content\": \"x\"}\n",
/// );
/// assert_eq!(problems.len(), 2);
/// assert_eq!((problems[0].line, problems[0].rule), (1, "refused"));
/// assert!(problems[0].stops());
/// assert_eq!((problems[1].line, problems[1].rule), (3, "member"));
/// ```
pub fn validate(bytes: &[u8]) -> Vec<Problem> {
    Check::all(checker(), bytes)
}

/// Creates a checker for a stream.
pub(crate) fn checker() -> Box<dyn Checker> {
    Box::new(StreamChecker)
}

#[derive(Debug)]
struct StreamChecker;

impl Checker for StreamChecker {
    fn line(&mut self, line: &Line<'_>, value: jsonl::Result<Value<'_>>, out: &mut Findings<'_>) {
        if line.is_blank() {
            return;
        }
        match value {
            Err(error) => {
                let place = Place { offset: error.offset, ..out.place };
                out.add(place, Severity::Stops, "json", error.kind.to_string().into());
            }
            Ok(value) => check(&Record::new(value), out),
        }
    }

    fn finish(&mut self, _: &mut Findings<'_>) {}
}

fn check(record: &Record<'_>, out: &mut Findings<'_>) {
    if record.flavor == Flavor::Wire {
        return match verdict(record.value, SdkVersion::V0_2_187) {
            Verdict::Takes => {}
            Verdict::Skips => out.warns("skipped", "a type that the SDK skips"),
            Verdict::Refuses(name) => {
                out.stops(
                    "refused",
                    format!("`{name}` is missing: the SDK's parser refuses the line"),
                );
            }
        };
    }
    use Kind::{Array, False, Null, Number, Object, String, True};
    let members: &[(&'static str, &[Kind])] = match record.kind {
        RecordKind::Unknown => {
            return out.warns("shape", "not a message that the SDK dumps");
        }
        RecordKind::Prompt => &[("timestamp", &[String])],
        RecordKind::System => &[("subtype", &[String]), ("data", &[Object])],
        RecordKind::Assistant => {
            // The SDK accepts any model. Null means that the model is not known.
            &[
                ("content", &[Array]),
                ("model", &[String, Null]),
                ("parent_tool_use_id", &[String, Null]),
            ]
        }
        RecordKind::User => {
            &[("content", &[Array, String]), ("parent_tool_use_id", &[String, Null])]
        }
        RecordKind::Result => &[
            ("subtype", &[String]),
            ("duration_ms", &[Number]),
            ("duration_api_ms", &[Number]),
            ("is_error", &[True, False]),
            ("num_turns", &[Number]),
            ("session_id", &[String]),
            ("total_cost_usd", &[Number, Null]),
            ("usage", &[Object, Null]),
            ("result", &[String, Null]),
        ],
        RecordKind::StreamEvent => &[("uuid", &[String]), ("event", &[Object])],
        RecordKind::RateLimit => &[("rate_limit_info", &[Object])],
        RecordKind::ConversationReset => &[("new_conversation_id", &[String])],
    };
    let is_wrong = |(name, kinds): &&(&'static str, &[Kind])| {
        !record.value.get(name).is_some_and(|member| kinds.contains(&member.kind()))
    };
    if let Some((name, _)) = members.iter().find(is_wrong) {
        out.warns("member", format!("`{name}` is missing or of another type than the SDK dumps"));
    }
}
