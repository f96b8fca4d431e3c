//! Properties that hold for any bytes, as plain functions that panic where one does not hold.
//!
//! ```
//! for (name, property) in fuzz::PROPERTIES {
//!     property(b"{\"type\":\"user\"}\r\n{\"torn");
//!     println!("{name} holds");
//! }
//! ```

mod detect;
mod mutate;
mod mutations;
mod read;
mod recover;
mod redact;
mod round_trip;
mod safe_name;
mod scan;
mod split;

pub use self::{
    detect::detect,
    mutate::mutate,
    read::read,
    recover::recover,
    redact::redact,
    round_trip::{one_way, round_trip},
    safe_name::safe_name,
    scan::scan,
    split::split,
};

/// A check of some bytes, by its name.
pub type Property = (&'static str, fn(&[u8]));

/// Every property, the cheapest first.
pub const PROPERTIES: &[Property] = &[
    ("safe_name", safe_name),
    ("split", split),
    ("recover", recover),
    ("scan", scan),
    ("redact", redact),
    ("read", read),
    ("detect", detect),
    ("round_trip", round_trip),
    ("mutate", mutate),
];
