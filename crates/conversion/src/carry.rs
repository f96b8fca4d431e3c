//! The carry: the parts of source records that their written records do not show, so that the
//! source comes back byte for byte.
//!
//! docs/CARRY.md specifies it. In: the source `{"type":"user","message":{"content":"Hi there"}}`
//! and the written record `{"type":"user_message","text":"Hi there"}`. Out: the written record with
//! a last member `_carried`, from which the source is made again.

mod agreement;
mod audit;
mod compared;
mod decode;
mod derived;
mod encode;
pub(crate) mod guard;
mod manifest;
mod member;
mod number;
mod orders;
mod ordinals;
mod parts;
mod pending;
mod portions;
mod position;
mod queue;
mod released;
pub(crate) mod reorder_buffers;
mod respelt;
mod respelt_numbers;
mod respelt_texts;
pub(crate) mod restore;
pub(crate) mod run;
mod said;
mod seed;
pub(crate) mod separators;
pub(crate) mod sidecar;
mod spilled_runs;
mod spots;
pub(crate) mod strip;
mod template;
mod temporary;
pub(crate) mod totals;
mod unused;
pub(crate) mod waiting;
mod written_text;

pub use self::{
    audit::{CarryAudit, CarryFault, carry_faults},
    decode::{
        CarriedFormat, Carry, CarryEntry, CarryError, End, Ending, EntryKind, Piece, SplitLine,
    },
    derived::DerivedFile,
    manifest::{DerivedFrom, Manifest, ManifestEntry, ManifestEntryKind},
    member::{ExchangedCarry, MEMBER, Member},
    number::guard_of,
};
pub(crate) use self::{
    decode::{EntryCursor, sum_of_guards},
    encode::{CarryEncoder, EntryText},
    member::{end_marked_member, end_member, push_carried, start_marked_member, start_member},
    number::{push_number, read_guard, read_number},
    orders::{MemberOrders, Skips},
    pending::PendingEntries,
    queue::Queue,
    template::Template,
    temporary::{Temporary, temporary, temporary_lines},
    unused::{CarriesOfOthers, UnusedCarries},
    written_text::WrittenText,
};
