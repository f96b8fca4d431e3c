//! Names the outputs of a session's files.

use std::path::{Path, PathBuf};

use conversion::{ManifestEntry, ManifestEntryKind};
use sessions::{Input, SessionFiles, stem_of};
use storage::Compression;

use super::paths::{name_of, path_of};
use crate::{job::Job, main_name::version_of};

impl Job {
    /// Returns the path where the target's client looks for the transcript of a sub-agent.
    pub(crate) fn agent_path(&self, main: &Path, id: &str) -> Option<PathBuf> {
        let mut name = (self.config.to.layout?.agent_name)(stem_of(main)?, id);
        name.push_str(version_of(main).unwrap_or_default());
        moved(&main.with_file_name(name), main, main)
    }

    /// Returns the path of an output, with an ending of compression if it is compressed.
    pub(super) fn with_ending(&self, path: &Path) -> PathBuf {
        let ending = self.outputs.write_options.compression.map(Compression::ending);
        let ending = ending.filter(|_| !Compression::is_in_name(path));
        ending.map_or_else(|| path.to_owned(), |ending| storage::beside(path, ending))
    }
}

/// Returns the output path of a file of a session that keeps its name.
pub(super) fn beside(unit: &SessionFiles, input: &Input, main: &Path) -> Option<PathBuf> {
    moved(&unit.path_of(input)?, &unit.path_of(&unit.main)?, main)
}

/// Returns the path of a file of the session `main` if that is moved to `to`; `None` if its name is
/// not allowed there.
pub(crate) fn moved(file: &Path, main: &Path, to: &Path) -> Option<PathBuf> {
    if file == main {
        return Some(to.to_owned());
    }
    let name = name_of(file, main)?;
    let (kind, tool_use) = (ManifestEntryKind::Side, String::new());
    path_of(&ManifestEntry { kind, size: 0, name, tool_use }, to)
}
