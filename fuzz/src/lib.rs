//! Properties that hold for any bytes, as plain functions that panic where one does not hold.
//!
//! ```
//! for (name, property) in fuzz::PROPERTIES {
//!     property(b"{\"type\":\"user\"}\r\n{\"torn");
//!     println!("{name} holds");
//! }
//! ```

mod scan;
mod split;

pub use self::{scan::scan, split::split};

/// Every property by its name.
pub const PROPERTIES: &[(&str, fn(&[u8]))] = &[("split", split), ("scan", scan)];
