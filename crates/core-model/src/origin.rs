//! The origin of a record: the id that its copies share, its relatives, and its cost.
//!
//! In: `{"uuid":"b","forkedFrom":{"sessionId":"s","messageUuid":"a"},..}`. Out: the id `a`, copied
//! from the session `s`.

use jsonl::{Raw, Text};

use crate::Event;

/// The origin of an event: what identifies it in every file that has a copy of it.
///
/// A session that is resumed, forked or moved is copied to another file. Its events are counted
/// once, wherever they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin<'l> {
    /// The id that all copies of the record share; `None` if the content identifies the record, with
    /// the number of its line.
    pub id: Option<Text<'l>>,
    /// Whether the id is unique only in its session, so that the time belongs to it.
    pub is_local: bool,
    /// The id of the response, if the record has no message id. A response with a message id is
    /// identified by it and by the id of its request, one with neither by its record.
    pub response: Option<Text<'l>>,
    /// The session that the record was copied from, if it says so.
    pub copied_from: Option<Text<'l>>,
    /// Another session that the record names.
    pub relative: Option<Relative<'l>>,
    /// The cost of the response in US dollars.
    pub cost: Option<Raw<'l>>,
}

impl Origin<'_> {
    /// Returns the origin of an event whose `uuid` is unique, if it has one. Copies keep it.
    pub fn by_uuid<'l>(event: &Event<'l>) -> Origin<'l> {
        Origin { id: event.context.uuid, ..Origin::default() }
    }

    /// Returns the origin of an event that its content identifies.
    pub fn by_content<'l>(_: &Event<'l>) -> Origin<'l> {
        Origin::default()
    }
}

/// Another session that a record names.
#[derive(Clone, Copy, Debug)]
pub struct Relative<'l> {
    /// How the session is related to that of the record.
    pub kind: RelativeKind,
    /// The id of the session or the path of its file: a string, or an array of strings.
    pub session: Raw<'l>,
    /// The number of records of a [`RelativeKind::Base`], if the record says it.
    pub n_records: Option<u64>,
}

/// The relation of another session to that of the record.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum RelativeKind {
    /// This session was made from the other one.
    Parent,
    /// The other one continues this session.
    Continuation,
    /// The history of this session starts with the first records of the other one, which the file of
    /// this session does not have.
    Base,
}
