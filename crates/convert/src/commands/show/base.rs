//! Says where the first records of a fork are.
//!
//! In: a record that names session `01a2`, and 6 of its records. Out: `The history starts with the first
//! 6 records of session 01a2; convert show 01a2 prints them`.

use std::fmt;

use core_model::{Event, Format, RelativeKind};

use crate::terminal::figures::count;

/// The session whose first records come before a fork.
pub(super) struct Base {
    session: String,
    n_records: Option<u64>,
}

impl Base {
    /// Returns the session that an event names as the start of the history; `None` if it names none.
    pub(super) fn of(format: &Format, event: &Event<'_>) -> Option<Self> {
        let relative = (format.origin)(event).relative?;
        let session = relative.session.as_text().filter(|_| relative.kind == RelativeKind::Base)?;
        Some(Self { session: session.decode().into_owned(), n_records: relative.n_records })
    }
}

impl fmt::Display for Base {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { session, n_records } = self;
        let first = match n_records {
            Some(1) => "first record".to_owned(),
            Some(n_records) => format!("first {}", count(*n_records, "record")),
            None => "first records".to_owned(),
        };
        write!(formatter, "The history starts with the {first} of session {session}")?;
        // An id comes from a file, and the user may copy the command.
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let is_command = session.bytes().all(is_plain) && !session.starts_with('-');
        if is_command {
            write!(formatter, "; `convert show {session}` prints them")?;
        }
        Ok(())
    }
}
