//! The calls that differ between systems: folders that are held open, links, locks, identities.
//!
//! `unix.rs` and `windows.rs` have the same functions. The rest of the crate, and the crates above it, have no
//! code for one system. RELIABILITY.md has the differences that a user notices.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::{fs::File, path::Path};

#[cfg(unix)]
pub(crate) use self::unix::{
    enter, entries, identity, identity_of_path, is_alive, is_local, is_own, kind, link, lock,
    make_folder, mode, n_links, open, open_folder, remove, remove_folder, rename_over,
    rename_to_free, set_mode, stat, sync_folder, uptime,
};
#[cfg(windows)]
pub(crate) use self::windows::{
    enter, entries, identity, identity_of_path, is_alive, is_local, is_own, kind, link, lock,
    make_folder, mode, n_links, open, open_folder, remove, remove_folder, rename_over,
    rename_to_free, set_mode, stat, sync_folder, uptime,
};

#[cfg(unix)]
pub use self::unix::{max_open_files, open_input, path_of_bytes};
#[cfg(windows)]
pub use self::windows::{max_open_files, open_input, path_of_bytes};

/// The type of an entry of a folder. A link is a link.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, or a junction of Windows.
    Link,
    /// A pipe, a socket or a device.
    Other,
}

/// A folder that is held open.
#[derive(Clone, Copy)]
pub(crate) struct At<'f> {
    #[cfg_attr(windows, expect(dead_code, reason = "Windows takes paths"))]
    pub(crate) handle: &'f File,
    #[cfg_attr(unix, expect(dead_code, reason = "Unix takes handles"))]
    pub(crate) path: &'f Path,
}

/// A way to open a file in a folder. Links are never followed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum How {
    /// An existing file, for reading.
    Read,
    /// A new file, for reading and writing, with these permissions.
    Make(u32),
    /// A new or existing file, for reading and appending; with these permissions if it is new.
    Append(u32),
    /// An existing file, for appending.
    Reopen,
}

/// The times of a file in nanoseconds since 1970, and its number.
pub(crate) struct FileTimes {
    pub(crate) modified: i128,
    pub(crate) changed: Option<i128>,
    pub(crate) inode: Option<u64>,
}
