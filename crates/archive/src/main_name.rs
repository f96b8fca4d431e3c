//! The endings of the names of main files.
//!
//! In: `s1.jsonl@37b2b58b.zst`. Out: the version `@37b2b58b`.

use std::path::Path;

use storage::Compression;

/// Returns the part after `jsonl` of a main file's ending, such as `@37b2b58b`. It distinguishes
/// versions of a session and their sub-agents.
pub(crate) fn version_of(main: &Path) -> Option<&str> {
    ending_of(main)?.strip_prefix("jsonl")
}

/// Returns whether files of sub-agents are found beside a main file of this name, as by [`core_model::main_file`].
pub(crate) fn is_main(path: &Path) -> bool {
    version_of(path).is_some() || ending_of(path) == Some("json")
}

/// Returns the ending of a name without that of a compression.
fn ending_of(path: &Path) -> Option<&str> {
    Compression::bare(Path::new(path.file_name()?)).extension()?.to_str()
}
