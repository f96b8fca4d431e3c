//! Says which lines of a stream its readers would stumble upon.

use core_model::SdkVersion;
use jsonl::{ErrorKind, Kind, Scanner};

use crate::{
    parser::{Verdict, verdict},
    record::{Flavor, Record, RecordKind},
};

/// A line that a reader would stumble upon.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Problem {
    /// The number of the line, from 1.
    pub line: u64,
    /// The offset from the start of the file, in bytes: of the fault if it is one of spelling,
    /// else of the line.
    pub offset: u64,
    /// What is wrong.
    pub kind: ProblemKind,
}

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemKind {
    /// It is not JSON.
    #[error("{0}")]
    Json(ErrorKind),
    /// The parser of SDK 0.2.187 raises an error for the lack of a member.
    #[error("the SDK misses {0:?}")]
    Refused(&'static str),
    /// It is none of the shapes that the SDK dumps.
    #[error("not a message of the SDK")]
    Shape,
    /// A member of a dumped line is missing or of another type.
    #[error("member {0:?}")]
    Member(&'static str),
}

/// Returns what is wrong with a stream: lines of the wire are held against the parser of SDK
/// 0.2.187, dumped lines against what that SDK and 0.1.6 dump. Blank lines are nothing.
///
/// ```
/// use format_sdk_stream::{ProblemKind, validate};
///
/// let problems = validate(b"{\"type\":\"user\",\"message\":{}}\n\n{\"content\": \"x\"}\n");
/// assert_eq!(problems.len(), 2);
/// assert_eq!((problems[0].line, problems[0].kind), (1, ProblemKind::Refused("message.content")));
/// assert_eq!((problems[1].line, problems[1].kind), (3, ProblemKind::Member("parent_tool_use_id")));
/// ```
pub fn validate(bytes: &[u8]) -> Vec<Problem> {
    let mut scanner = Scanner::default();
    let mut problems = Vec::new();
    for (line, n) in jsonl::lines(bytes).zip(1..) {
        if line.is_blank() {
            continue;
        }
        let (offset, kind) = match scanner.scan(&line) {
            Err(error) => (error.offset, Some(ProblemKind::Json(error.kind))),
            Ok(value) => (line.offset(), problem(&Record::new(value))),
        };
        problems.extend(kind.map(|kind| Problem { line: n, offset, kind }));
    }
    problems
}

fn problem(record: &Record<'_>) -> Option<ProblemKind> {
    if record.flavor == Flavor::Wire {
        return match verdict(record.value, SdkVersion::V0_2_187) {
            Verdict::Takes | Verdict::Skips => None,
            Verdict::Refuses(name) => Some(ProblemKind::Refused(name)),
        };
    }
    use Kind::{Array, False, Null, Number, Object, String, True};
    let members: &[(&'static str, &[Kind])] = match record.kind {
        RecordKind::Unknown => return Some(ProblemKind::Shape),
        RecordKind::Prompt => &[("timestamp", &[String])],
        RecordKind::System => &[("subtype", &[String]), ("data", &[Object])],
        RecordKind::Assistant => {
            &[("content", &[Array]), ("model", &[String]), ("parent_tool_use_id", &[String, Null])]
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
    members.iter().find(is_wrong).map(|(name, _)| ProblemKind::Member(name))
}
