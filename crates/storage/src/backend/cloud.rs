//! Object stores: S3, Google's, Azure's, and the web, as places of files.
//!
//! What is asynchronous stays in `runtime`; whoever calls, waits. Credentials come from the
//! environment, by the names that each cloud's own tools know, and stand in no message.

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
