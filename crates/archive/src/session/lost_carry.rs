//! Finds proof that a file without a carry had one.
//!
//! In: `s1.jsonl`, which a conversion wrote with `--carry sidecar`, without its sidecar. By its records it is a session
//! of its client. Out: the proof beside it: a journal that lists the sidecar, a sidecar under another name, or a file of
//! a sub-agent with a carry.

use std::{
    collections::{BTreeSet, HashSet},
    fs::File,
    io::{Read, Seek},
    path::{Path, PathBuf},
};

use conversion::{ConversionHistory, ManifestEntryKind, Source, conversion_history, is_sidecar_of};
use core_model::{FileRole, Format};
use sessions::{Companion, Input, SessionFiles, UnknownFormat, is_of_a_session, sidecar_path};
use storage::beside;

use crate::{
    carry_folders::Gone,
    error::ConvertError,
    job::{Extra, Job},
    journal::{GoneFile, hash_of},
};

/// The endings of compressed sidecars. They are not read: a sidecar is compressed already.
const PACKED: [&str; 7] = ["gz", "zst", "zstd", "xz", "bz2", "lz4", "zip"];

/// Limit on the files of sub-agents that are searched for a carry. A conversion writes all of them with one.
const MAX_AGENTS: usize = 4;

const LISTED: &str = "the journal of the folder says that it was written with a carry, and it is gone: its source is not restored";
const STRAY: &str = "no file has this sidecar: its source is not restored";

impl Job {
    /// Returns proof that a file had a carry, if its history is empty; `None` if there is none, or with
    /// `--ignore-carry`.
    pub(crate) fn lost_carry<R: Read + Seek + Send>(
        &self,
        input: &Input,
        from: &'static Format,
        history: &ConversionHistory,
        source: &mut Source<R>,
    ) -> Option<String> {
        let is_native = history.formats.is_empty() && history.manifest.is_none();
        let is_asked = is_native && history.fault.is_none() && !self.config.ignores_carry;
        let path = input.path().filter(|_| input.storage().is_disk() && is_asked)?;
        if input.found_sidecar().is_some() {
            return None;
        }
        let path = input.absolute().ok().flatten().unwrap_or_else(|| path.to_owned());
        let sidecar = sidecar_path(&path);
        let name = sidecar.file_name()?.display();
        let folders = &self.outputs.carry_folders;
        let is_converted = from.name != self.config.to.name;
        if is_converted && folders.had_sidecar(&path) {
            return Some(format!("the journal of the folder lists {name}"));
        }
        // A file that lost its content may look like one of any format.
        if folders.had_carries(&path, self.config.to.name) {
            return Some("the journal of the folder says that it was written with one".to_owned());
        }
        if !is_converted {
            return None;
        }
        let mut packed = PACKED.iter().map(|ending| beside(&sidecar, ending));
        if let Some(packed) = packed.find(|packed| packed.is_file()) {
            let packed = packed.file_name()?.display();
            return Some(format!(
                "{packed} beside it is its sidecar, compressed; expand it to {name}"
            ));
        }
        let strays = folders.strays(path.parent()?);
        let stray = strays.iter().find(|stray| {
            let file = stray.with_extension("");
            let sidecar = Input::file(file).sidecar().ok().flatten();
            sidecar.is_some_and(|mut it| is_sidecar_of(from, source, &mut it).unwrap_or_default())
        })?;
        let stray = stray.file_name()?.display();
        Some(format!("{stray} beside it has the carry of its records; rename it to {name}"))
    }

    /// Returns whether the nearest journal lists a file as it is, and its sidecar with other bytes: it is that of another
    /// version of the file.
    pub(crate) fn has_other_sidecar(&self, input: &Input, history: &ConversionHistory) -> bool {
        let is_asked = !history.formats.is_empty() && input.storage().is_disk();
        let path = input.absolute().ok().flatten().filter(|_| is_asked);
        let sidecar = path.as_ref().map(|path| sidecar_path(path)).filter(|it| it.is_file());
        let folders = &self.outputs.carry_folders;
        let is_as_listed = |path: &Path| folders.is_as_listed(path).unwrap_or_default();
        path.zip(sidecar).is_some_and(|(path, sidecar)| {
            folders.is_as_listed(&sidecar) == Some(false) && is_as_listed(&path)
        })
    }

    /// Returns the id of the sub-agent in the carry of a file that is restored as a session, if no file of the session
    /// owns it.
    pub(crate) fn agent_alone(
        &self,
        input: &Input,
        history: &ConversionHistory,
        extra: &Extra,
    ) -> Option<String> {
        history.depth(self.config.to).filter(|_| extra.agent.is_none())?;
        let entry = history.manifest.as_ref()?.entries.first()?;
        let is_agent = entry.kind == ManifestEntryKind::Agent;
        let is_asked = is_agent && input.storage().is_disk();
        if !is_asked || is_of_a_session(self.config.formats, input) {
            return None;
        }
        let role = history.formats.first()?.layout.and_then(|layout| (layout.role)(&entry.name));
        Some(match role {
            Some(FileRole::Agent(id)) => id,
            _ => entry.name.clone(),
        })
    }

    /// Returns the error for a file of an unknown format: another one if the journal says that it was written with a
    /// carry.
    pub(crate) fn no_session(&self, input: &Input, error: ConvertError) -> ConvertError {
        let is_unknown = matches!(error, ConvertError::Format(UnknownFormat::Unknown));
        let is_asked = is_unknown && input.storage().is_disk() && !self.config.ignores_carry;
        let path = input.absolute().ok().flatten().filter(|_| is_asked);
        let folders = &self.outputs.carry_folders;
        match path.is_some_and(|path| folders.had_carries(&path, self.config.to.name)) {
            true => ConvertError::Overwritten,
            false => error,
        }
    }

    /// Returns the files that were converted, and are gone from a folder of inputs: its journal lists them with a carry,
    /// or their sidecars are there. Files that `units` has under other names are not gone.
    pub fn gone_files(&self, folder: &Path, units: &[SessionFiles]) -> Vec<Gone> {
        if self.config.ignores_carry || !folder.is_dir() {
            return Vec::new();
        }
        let folders = &self.outputs.carry_folders;
        let inputs = || units.iter().flat_map(SessionFiles::files);
        let gone = folders.gone(folder, self.config.to.name);
        let lengths: HashSet<u64> = gone.iter().map(|file| file.length).collect();
        let content = |input: &Input| {
            let length = Some(input.size()).filter(|length| lengths.contains(length))?;
            let path = input.path().filter(|path| path.is_file())?;
            let hash = File::open(path).and_then(|file| hash_of(file, length)).ok()?;
            Some((length, hash))
        };
        let is_asked = |_: &&Input| !lengths.is_empty();
        let there: HashSet<_> = inputs().filter(is_asked).filter_map(content).collect();
        let has_moved = |file: &GoneFile| there.contains(&(file.length, file.hash));
        let listed = gone.into_iter().filter(|file| !has_moved(file));
        let listed: Vec<_> = listed.map(|it| folder.join(it.below)).collect();
        let parents: BTreeSet<_> = inputs().filter_map(|input| input.path()?.parent()).collect();
        let parents =
            parents.into_iter().filter(|parent| parent.starts_with(folder) && *parent != folder);
        let strays = parents.chain([folder]).flat_map(|parent| folders.strays(parent).to_vec());
        let strays = strays.filter(|stray| !listed.contains(&stray.with_extension("")));
        let stray = |path: PathBuf| Gone { label: path.display().to_string(), why: STRAY };
        let file = |path: &PathBuf| Gone { label: path.display().to_string(), why: LISTED };
        listed.iter().map(file).chain(strays.map(stray)).collect()
    }

    /// Returns proof that the main file of a session had a carry, if it has none: as for a file, or a file of a
    /// sub-agent with one.
    pub(super) fn lost_carry_of_main(
        &self,
        unit: &SessionFiles,
        from: &'static Format,
    ) -> Option<String> {
        if self.config.ignores_carry {
            return None;
        }
        let (main, history) = (self.open(&unit.main).ok()?.file, ConversionHistory::default());
        if let Some(proof) = self.lost_carry(&unit.main, from, &history, &mut Source::new(main)) {
            return Some(proof);
        }
        let is_agent = |it: &&Companion| matches!(it.role, FileRole::Agent(_));
        let has_carry = |it: &&Companion| {
            let mut source = Source::new(self.open(&it.input).ok()?.file);
            let mut sidecar = self.sidecar(&it.input).ok()?;
            let found =
                conversion_history(self.config.formats, from, &mut source, sidecar.as_mut())
                    .ok()?;
            Some(!found.formats.is_empty() || found.manifest.is_some())
        };
        let mut agents = unit.others.iter().filter(is_agent).take(MAX_AGENTS);
        let agent = agents.find(|it| has_carry(it) == Some(true))?;
        let name = agent.input.path()?.file_name()?.display().to_string();
        Some(format!("{name}, a sub-agent of it, has one"))
    }
}
