//! Properties that hold for any bytes. Each is a function that panics if its property does not hold.
//!
//! ```
//! for (name, property) in fuzz::PROPERTIES {
//!     property(b"{\"type\":\"user\"}\r\n{\"torn");
//!     println!("{name} holds");
//! }
//! ```

#![expect(clippy::panic, reason = "a property that does not hold panics")]

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

/// The name of a property, and the function that checks it.
pub type Property = (&'static str, fn(&[u8]));

/// All properties, the cheapest first.
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
