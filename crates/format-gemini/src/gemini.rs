//! The logs of Gemini CLI: each line changes the session.

mod branch;
mod copies;
mod document;
mod face;
mod layout;
mod reader;
mod record;
mod store;
#[cfg(feature = "serde")]
mod typed;
mod unread;
mod validate;
mod writer;

use core_model::{Format, Functions, Rewrites};

#[cfg(feature = "serde")]
pub use self::typed::{
    GeminiHeaderRecord, GeminiMessageRecord, GeminiRewindRecord, GeminiSetRecord, TypedGeminiRecord,
};
pub use self::{
    branch::GeminiBranch,
    document::{GEMINI_DOCUMENT, detect_gemini_document},
    face::{Gemini, GeminiChecker, GeminiReader, GeminiRecordBuf, GeminiRecordRef, GeminiWriter},
    reader::{detect_gemini, read_gemini},
    record::{GeminiHeader, GeminiMessage, GeminiRecord},
    store::{GeminiSummary, gemini_dir, gemini_sessions_dir, list_gemini_sessions, project_slug},
    validate::validate_gemini,
};

/// The name of the format.
pub(crate) const NAME: &str = "gemini";

/// The sessions of Gemini CLI.
///
/// The client appends to its files, but repeats messages in checkpoints. So a carry refers to no bytes.
pub static GEMINI: Format = Format::new(
    NAME,
    'g',
    "sessions of Gemini CLI (~/.gemini/tmp/<project>/chats/session-<time>-<id>.jsonl)",
    Functions {
        detect: detect_gemini,
        is_record: reader::is_record,
        read: read_gemini,
        writer: writer::create,
        checker: validate::checker,
    },
)
.rewrites(Rewrites::Values { volatile: &[], mark: None })
.read_more(reader::read_more)
.read_each(reader::read_each)
.planner(|options| Box::new(GeminiBranch::new(options)))
.escaping_separators()
.store(store::STORE)
.ids_inside()
.project_marker(store::MARKER)
.install_note(NOTE)
.layout(layout::LAYOUT);

/// Warns that the client deletes old sessions (FORMAT.md, "Deletion").
const NOTE: &str = "Gemini CLI deletes sessions that were last used 30 days ago or earlier, when it starts; \
    `\"general\":{\"sessionRetention\":{\"enabled\":false}}` in ~/.gemini/settings.json keeps them";
