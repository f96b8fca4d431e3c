//! The older sessions of Gemini CLI: one document with an array of messages.
//!
//! In: `{"sessionId":"s","projectHash":"h","startTime":"..","messages":[{"id":"a","type":"user",..},..]}`. Out:
//! the start of the session, and an event for each message. The client still loads such a file, and goes on
//! in a log beside it.

use core_model::{Event, Format, Framing, Functions, Rewrites};
use jsonl::Value;

use super::{
    GeminiBranch, NAME, reader,
    reader::{is_message, read_nth},
    record::GeminiRecord,
    store::MARKER,
    validate, writer,
};

/// The name of the format.
const DOCUMENT: &str = "gemini:document";

/// The records of a document: the session without its messages, and each message.
pub(crate) const DOCUMENT_FRAMING: Framing = Framing::Document(&["messages"]);

/// The older sessions of Gemini CLI, which are only read.
pub static GEMINI_DOCUMENT: Format = Format::new(
    DOCUMENT,
    'i',
    "older sessions of Gemini CLI (~/.gemini/tmp/<hash>/chats/session-<time>-<id>.json)",
    Functions {
        detect: detect_gemini_document,
        is_record: detect_gemini_document,
        read,
        writer: writer::create_document,
        checker: validate::checker,
    },
)
.family(NAME)
.project_marker(MARKER)
.read_only()
.framing(DOCUMENT_FRAMING)
.title_place("summary")
.rewrites(Rewrites::Values { volatile: &[], mark: None })
.read_more(read_more)
.read_each(read_each)
.planner(|options| Box::new(GeminiBranch::new(options)));

/// Returns whether a record is of an older session: a message, or the session without its messages.
///
/// ```
/// let mut scanner = jsonl::Scanner::default();
/// let head = scanner.scan_slice(br#"{"sessionId":"s","projectHash":"h","messages":[]}"#, 0)?;
/// assert!(format_gemini::detect_gemini_document(head));
/// # Ok::<(), jsonl::Error>(())
/// ```
pub fn detect_gemini_document(record: Value<'_>) -> bool {
    match GeminiRecord::decode(record) {
        GeminiRecord::Header(_) => true,
        GeminiRecord::Message(message) => is_message(&message),
        GeminiRecord::Set(_) | GeminiRecord::Rewind(_) | GeminiRecord::Other => false,
    }
}

fn read(record: Value<'_>) -> Event<'_> {
    let event = match GeminiRecord::decode(record) {
        // The members behind the messages.
        GeminiRecord::Other => reader::read_set(record, record),
        _ => read_nth(record, 0).unwrap_or_else(|| reader::other(record)),
    };
    Event { format: DOCUMENT, ..event }
}

fn read_more(record: Value<'_>, n: u32) -> Option<Event<'_>> {
    Some(Event { format: DOCUMENT, ..reader::read_more(record, n)? })
}

fn read_each<'l>(record: Value<'l>, each: &mut dyn FnMut(Event<'l>) -> bool) {
    match GeminiRecord::decode(record) {
        GeminiRecord::Other => _ = each(read(record)),
        _ => reader::read_each(record, &mut |event| each(Event { format: DOCUMENT, ..event })),
    }
}
