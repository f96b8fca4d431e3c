//! Opens files and objects, and publishes them whole or not at all.
//!
//! In: a path, or with the feature `cloud` the URL of an object. Out: an [`Opened`], which reads a
//! file, compressed or not, from its start as often as needed; or a [`AtomicFile`], which writes a
//! file under a temporary name and publishes it atomically. A [`Backend`] is the disk or a bucket
//! of an object store.
//!
//! ```
//! use std::io::Write as _;
//!
//! use storage::{FILE_MODE, AtomicFile, AtomicFileOptions, Place, Replace};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("session.jsonl");
//! let mut file = AtomicFile::create(Place::of(&path)?, FILE_MODE, AtomicFileOptions::default())?;
//! file.write_all(b"{}\n")?;
//! assert!(!path.exists(), "nothing has the name before all is written");
//! file.finish()?.publish(Replace::Never)?;
//! assert_eq!(std::fs::read(&path)?, b"{}\n");
//! # Ok::<(), std::io::Error>(())
//! ```

mod backend;
mod compress;
mod folder;
mod in_use;
mod interruption;
mod limits;
mod lock;
mod names;
mod opened;
mod output;
mod scratch;
mod snapshot;
mod system;
mod temporary;

#[cfg(feature = "cloud")]
pub use self::backend::cloud::{Bucket, Buckets, Condition, ObjectLog, Reader};
#[cfg(not(feature = "sqlite"))]
pub use self::backend::documents::without_sqlite;
#[cfg(not(feature = "cloud"))]
pub use self::backend::without_cloud;
pub use self::{
    backend::{
        Backend, Belonging, Bytes, Changed, Stat,
        documents::{Document, Documents, is_database_log, is_sqlite},
        is_changed, is_folder, is_stream, is_url, without_query,
    },
    compress::{Compression, Decoder, Encoder},
    folder::{
        Entry, FILE_MODE, Folder, Identity,
        list::{NotListed, list},
    },
    in_use::{Holder, holders, time_since_change},
    interruption::{Interruptible, Interruption, remove_temporary_files},
    limits::{Excess, Limits, LineMeter, MAX_IN_MEMORY, Metered},
    lock::{Lock, lock, lock_shared},
    names::{JOURNAL, RECEIPTS, RESIDUE, SIDECAR, beside},
    opened::{Opened, Stored},
    output::{
        AtomicFile, AtomicFileOptions, Buffered, Finished, Named, Place, Published, Replace,
        Unwritten, are_equal,
        hashing::{Asked, Hashing},
        is_no_space, newer_version, rename_to_backup, unwritten,
    },
    scratch::{Scratch, Unremoved, take_unremoved},
    snapshot::Snapshot,
    system::{FileKind, max_open_files, open_input, path_of_bytes},
    temporary::{
        Temporary, is_left_by_the_dead, is_stale, is_temporary, remove_dead, remove_stale,
        sweep_once,
    },
};

/// Compiles and runs the examples of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmePage;
