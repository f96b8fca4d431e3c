//! Sessions of Qwen Code: JSON Lines with the envelope of Claude Code around Google's messages.
//!
//! ```text
//! {"uuid":"u1","parentUuid":null,"sessionId":..,"type":"user","cwd":..,"message":{"role":"user","parts":[{"text":"Hi"}]}}
//! {"uuid":"a1","parentUuid":"u1",..,"type":"assistant","message":{"role":"model","parts":[{"text":"Hello"}]}}
//! ```

mod branch;
mod bundle;
mod face;
mod reader;
mod record;
mod store;
#[cfg(feature = "serde")]
mod typed;
mod unread;
mod validate;
mod writer;

use core_model::{Format, Functions};

#[cfg(feature = "serde")]
pub use self::typed::{
    AssistantRecord, SystemRecord, ToolResultRecord, TypedMessage, TypedRecord, UserRecord,
};
pub use self::{
    branch::Branch,
    face::{Checker, Qwen, Reader, RecordBuf, RecordRef, Writer},
    reader::{detect, read},
    record::Record,
    store::{
        SessionSummary, encode_project_dir, list_sessions, qwen_dir, session_uuid, sessions_dir,
    },
    validate::validate,
};

/// The name of the format.
pub(crate) const NAME: &str = "qwen";

/// The sessions of Qwen Code.
///
/// A line that is ignored needs the id of the line before, so no constant line can hold a carry. The
/// client reads whole files, so the head has no limit.
pub static QWEN: Format = Format::new(
    NAME,
    'q',
    "sessions of Qwen Code (~/.qwen/projects/<path>/chats/<UUID>.jsonl)",
    Functions {
        detect,
        is_record: reader::is_record,
        read,
        writer: writer::create,
        checker: validate::checker,
    },
)
.read_more(reader::read_more)
.planner(|options| Box::new(Branch::new(options)))
.store(store::STORE)
.bundles(bundle::BUNDLES);
