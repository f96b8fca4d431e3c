//! Files and objects: where they are, how they are opened, and how they appear whole or not at all.
//!
//! A [`Storage`] is the disk or, with the feature `cloud`, a bucket of an object store. [`Opened`]
//! reads a file, compressed or not, again from its start as often as needed. [`Pending`] writes a
//! file under a temporary name and publishes it atomically.
//!
//! ```
//! use std::io::Write as _;
//!
//! use storage::{Asked, FILE_MODE, Pending, Place, Replace};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("session.jsonl");
//! let mut file = Pending::create(Place::of(&path)?, FILE_MODE, None, Asked::Nothing)?;
//! file.write_all(b"{}\n")?;
//! assert!(!path.exists(), "nothing has the name before all is written");
//! file.finish()?.publish(Replace::Never)?;
//! assert_eq!(std::fs::read(&path)?, b"{}\n");
//! # Ok::<(), std::io::Error>(())
//! ```

mod backend;
#[cfg(feature = "cloud")]
mod cloud;
mod compress;
mod folder;
mod interruption;
mod limits;
mod lock;
mod names;
mod opened;
mod output;
mod scratch;
mod snapshot;

#[cfg(not(feature = "cloud"))]
pub use self::backend::without_cloud;
#[cfg(feature = "cloud")]
pub use self::cloud::{Bucket, Buckets, Condition, ObjectLog, Reader};
pub use self::{
    backend::{
        Bytes, Changed, Stat, Storage, is_changed, is_folder, is_stream, is_url, without_query,
    },
    compress::{Compression, Decoder, Encoder},
    folder::{
        Entry, Folder, Identity,
        list::{NotListed, list},
    },
    interruption::{IS_INTERRUPTED, Interruptible, is_interrupted, remove_temporary_files},
    limits::{Excess, Limits, LineMeter, Metered},
    lock::{Lock, lock, lock_shared},
    names::{JOURNAL, RECEIPTS, RESIDUE, SIDECAR, beside},
    opened::{MAX_IN_MEMORY, Opened},
    output::{
        FILE_MODE, Finished, Named, Pending, Place, Published, Replace, Unwritten, are_equal,
        hashing::{Asked, Hashing},
        is_no_space,
        temporary::{Temporary, is_stale, is_temporary, remove_dead, remove_stale, sweep_once},
        unwritten,
    },
    scratch::Scratch,
    snapshot::Snapshot,
};

/// Compiles and runs the examples of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmePage;
