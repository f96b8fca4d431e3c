//! Properties that hold for any bytes, as plain functions that panic where one does not hold.
//!
//! ```
//! for (name, property) in fuzz::PROPERTIES {
//!     property(b"{\"type\":\"user\"}\r\n{\"torn");
//!     println!("{name} holds");
//! }
//! ```

mod read;
mod recover;
mod round_trip;
mod scan;
mod split;

pub use self::{read::read, recover::recover, round_trip::round_trip, scan::scan, split::split};

/// A check of some bytes, by its name.
pub type Property = (&'static str, fn(&[u8]));

/// Every property, the cheapest first.
pub const PROPERTIES: &[Property] = &[
    ("split", split),
    ("recover", recover),
    ("scan", scan),
    ("read", read),
    ("round_trip", round_trip),
];
