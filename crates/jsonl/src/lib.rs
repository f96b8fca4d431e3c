//! Splits JSON Lines into lines and scans their values, without copying.
//!
//! [`lines()`] splits bytes into [`Line`]s. A [`Scanner`] validates a line and indexes its values.
//! [`Value`], [`Text`] and [`Raw`] are slices of the line. Strings are unescaped and numbers are
//! parsed only when the caller asks for them.
//!
//! ```
//! let input = b"{\"type\":\"user\",\"n\":1e-05}\r\n\n{\"torn\":";
//! let mut scanner = jsonl::Scanner::default();
//! let mut kinds = Vec::new();
//! for line in jsonl::lines(input) {
//!     match scanner.scan(&line) {
//!         Ok(value) => kinds.push(value.get("n").map(|n| n.raw().to_string())),
//!         Err(error) => kinds.push(Some(format!("byte {}: {}", error.offset, error.kind))),
//!     }
//! }
//! assert_eq!(kinds[0].as_deref(), Some("1e-05"));
//! assert_eq!(kinds[1].as_deref(), Some("byte 27: empty line"));
//! assert_eq!(jsonl::lines(input).map(|line| line.bytes().len()).sum::<usize>(), input.len());
//! ```

#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::string_slice))]

mod base64;
mod canonical;
mod chunk;
#[cfg(feature = "serde")]
mod decode;
mod document;
mod encode;
mod error;
mod indent;
mod index;
mod line;
mod line_buf;
mod loadable;
mod number;
mod raw_buf;
mod recover;
mod respell;
mod scan;
mod stream;
mod text;
mod text_buf;
mod tokens;
#[cfg(feature = "serde")]
mod typed;
mod utf8;
mod value;

#[cfg(feature = "serde")]
pub use serde;

pub use self::{
    base64::{base64_bits, decode_base64},
    canonical::{each_canonical, each_canonical_of, push_canonical},
    chunk::{Chunk, FirstLines},
    document::{Document, Framing, MAX_UNIT, Records, UnitScanner},
    encode::{Style, json_string, push_string},
    error::{Error, ErrorKind, Result},
    indent::{each_indented, has_newline, indentation, push_indented},
    index::Index,
    line::{Line, Lines, Unit, chunks, lines},
    line_buf::LineBuf,
    loadable::{MAX_SERDE_DEPTH, is_loadable, loadable},
    raw_buf::RawBuf,
    recover::{Piece, Recovery, recover},
    respell::{Respeller, Respelt, each_respelt, respell, respell_body, respell_str},
    scan::{Backend, MAX_LINE, Scanner, Unescape, validate, with_vectors},
    stream::Stream,
    text::{Raw, Text, is_js_space},
    text_buf::TextBuf,
    value::{Items, Kind, Members, Oddities, Value, ValueBuf},
};
#[cfg(feature = "serde")]
pub use self::{
    decode::decode,
    typed::{
        Item, Member, Number, Others, Read, decode_by_serde_json, decode_record, encode_record,
        read_member,
    },
};

/// Compiles and runs the examples of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmePage;
