//! The carry: what a written line does not say of its source lines, so that they come back byte
//! for byte (CONVERSION section 0.2).
//!
//! A carry is text. It stands in a written line as the string of its last member, `_carried`, or in
//! a sidecar. Numbers are in base 36, `TAG` is the letter of the source's format:
//!
//! ```text
//! carry   = "1" TAG guard [ "H" length ":" base [ "T" length ":" contents ] ] record*
//! contents = volume*
//! volume  = volkind length "," length ":" name "," length ":" id of a tool use
//! volkind = "M" the session itself | "A" a sub-agent | "S" another file, as it is
//! guard   = xxh3 of the written line without its carry, 11 characters of base 64
//! record  = offset [ "," part "," parts ] kind ending check piece*
//! kind    = "@" the line says it | "&" it rides on the line
//! ending  = "n" LF | "r" CRLF | "e" nothing
//! check   = the low 36 bits of xxh3 of the restored bytes, 6 characters of base 64
//! piece   = length "L" bytes         bytes as they are
//!         | length "X" base64        bytes that are not UTF-8
//!         | start "," length "V"     bytes of the written line
//!         | start "," length "R"     bytes of the written line, spelled as the source does
//!         | start "," length "B"     bytes of the base
//! ```
//!
//! Where a source is several files, one after the other, the contents say which bytes are whose.
//!
//! In the member, `"` and `^` are exchanged, and `\` and DEL, before JSON escapes the string: source
//! text is JSON, and so most of it needs no escaping.

mod base;
mod contents;
mod decode;
mod encode;
mod member;
mod number;
pub(crate) mod restore;
mod riders;
pub(crate) mod rooms;
pub(crate) mod sidecar;
pub(crate) mod waiting;

pub(crate) use self::{
    base::Base,
    encode::Packer,
    member::push_member,
    number::{push_guard, push_number, read_guard, read_number},
    riders::Riders,
};
pub use self::{
    contents::{Contents, Volume, VolumeKind},
    decode::{Carry, Ending, Piece, Record},
    member::{MEMBER, Member},
    number::guard_of,
};
