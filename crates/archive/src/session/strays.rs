//! Files in the folder of a session that its client does not keep there.
//!
//! Beside `s1.jsonl`, Claude Code keeps `s1/subagents/agent-a1.jsonl`. A file `s1/odd/x.txt` is a
//! stray: no target has a place for it, so it is named and left out.

use std::path::{Path, PathBuf};

use core_model::{FolderEntry, Layout};
use sessions::is_ours;
use storage::list;

use super::paths::{folder_of, name_of};

/// Limit on listed strays. A folder may be anything, such as a home.
const MAX_STRAYS: usize = 1000;

/// Returns the files below the folder of a session that have no role in it, in no order.
pub fn strays(main: &Path, layout: Layout) -> Vec<PathBuf> {
    let mut strays = Vec::new();
    let mut folders: Vec<PathBuf> =
        folder_of(main).filter(|_| layout.has_folder).into_iter().collect();
    while let Some(folder) = folders.pop() {
        // A folder that cannot be read has a status of its own.
        for FolderEntry { name, is_folder, is_file } in list(&folder).unwrap_or_default() {
            let path = folder.join(&name);
            if is_folder {
                folders.push(path);
            } else if is_file
                && !is_ours(&name)
                && name_of(&path, main).is_none_or(|name| (layout.role)(&name).is_none())
            {
                strays.push(path);
            }
        }
        if strays.len() >= MAX_STRAYS {
            break;
        }
    }
    strays
}
