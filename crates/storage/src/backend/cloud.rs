//! Object stores (S3, Google, Azure) and web servers as backends.
//!
//! Asynchronous code stays in `runtime`; callers block. Credentials come from the environment
//! variables that each cloud's own tools use. No message contains them.

mod address;
mod bucket;
mod failure;
mod log;
#[cfg(feature = "memory")]
mod memory;
mod ranged;
mod runtime;
mod upload;

pub use self::{
    address::Buckets, bucket::Bucket, log::ObjectLog, ranged::Reader, upload::Condition,
};
