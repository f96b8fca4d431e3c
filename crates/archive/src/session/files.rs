//! Converts a session of several files to its files in another format.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

use conversion::{
    CarryMode, Manifest, ManifestEntry, ManifestEntryKind, RestoreStats, Source, conversion_history,
};
use core_model::{Agent, FileRole, Format, SessionTree};
use sessions::{Companion, Input, Session, SessionFiles, SessionPlace, UnknownFormat};

use super::{
    derived::Derived,
    names::beside,
    paths::{self, check_folder, path_of},
};
use crate::{
    config::SubAgents,
    error::ConvertError,
    file_report::{EachResult, FileReport, Results},
    job::{Extra, Job, MAX_ATTEMPTS},
    journal::{Salt, SaltOfFiles},
    session::{collected, refuse_for},
    status::FileStatus,
};

/// The direction in which a session is converted.
pub(super) enum Direction {
    /// Copy each file.
    Copy,
    /// Restore the files that each was converted from.
    Restore,
    /// Convert to this format first, which the files were converted from last.
    RestoreStepwise(&'static Format),
    /// Convert to this format first, which the files were converted from last, and then to a new one.
    ConvertStepwise(&'static Format),
    /// Convert to new files.
    Convert {
        /// Whether the main file has no carry.
        is_native: bool,
        /// The faults of its first carries, if these do not lead to the target.
        faults: Option<RestoreStats>,
    },
}

/// Returns whether a transcript of a session has a sidecar.
fn has_sidecars(unit: &SessionFiles) -> bool {
    let mut transcripts = unit.files().filter(|input| !input.is_side_file());
    transcripts.any(|input| input.found_sidecar().is_some())
}

/// The place to which a file beside a main file is restored.
enum Home {
    /// The file of the session: the restored main file has its records.
    Inside,
    /// A path, to which the file is copied.
    Copy(PathBuf),
    /// The path of a sub-agent's transcript.
    Agent {
        path: PathBuf,
        /// The id of the sub-agent; `None` if the file is a session of its own.
        agent: Option<String>,
        /// Whether its carry has the name.
        is_carried: bool,
    },
}

/// Returns the ids of the sub-agents that have files beside the main one, sorted, and the ids of those whose files
/// were derived. Two sub-agents in different folders may have the same id.
fn agents_beside(
    unit: &SessionFiles,
    homes: &[Result<Home, ConvertError>],
) -> (Vec<String>, Vec<String>) {
    let (mut beside, mut derived) = (Vec::new(), Vec::new());
    for (companion, home) in unit.others.iter().zip(homes) {
        let id_of_role = || match &companion.role {
            FileRole::Agent(id) => Some(id.clone()),
            _ => None,
        };
        match home {
            Ok(Home::Agent { agent, is_carried: true, .. }) => beside.extend(agent.clone()),
            Ok(Home::Agent { .. } | Home::Copy(_)) => {}
            Ok(Home::Inside) => derived.extend(id_of_role()),
            // It is no file of this session.
            Err(ConvertError::DerivedElsewhere) => {}
            // Its error is reported with it.
            Err(_) => beside.extend(id_of_role()),
        }
    }
    beside.sort_unstable();
    derived.sort_unstable();
    (beside, derived)
}

impl Job {
    /// Returns whether an input belongs to a session without being a transcript, and is copied.
    pub(crate) fn is_copied(&self, input: &Input, is_folder: bool) -> bool {
        is_folder && self.config.carry != CarryMode::None && input.is_side_file()
    }

    /// Converts a session to `path` and files beside it. Returns a result for each file of the
    /// session.
    pub fn convert_session<'u>(
        &self,
        unit: &'u SessionFiles,
        path: &Path,
        is_folder: bool,
    ) -> Results<'u> {
        collected(|each| self.convert_session_to(unit, path, is_folder, each))
    }

    /// Converts a session to `path` and files beside it. Calls `each` with the result for each file of the
    /// session, the main file first.
    pub fn convert_session_to<'u>(
        &self,
        unit: &'u SessionFiles,
        path: &Path,
        is_folder: bool,
        each: &mut EachResult<'_, 'u>,
    ) {
        let input = &unit.main;
        if unit.others.is_empty() {
            let is_copied = self.is_copied(input, is_folder);
            let result = if is_copied {
                self.copy(input, path)
            } else {
                self.convert_file(input, path, &Extra::default())
            };
            return each(input, result);
        }
        let (from, direction) = match self.direction_of(unit) {
            Ok(found) => found,
            Err(refusal @ ConvertError::Format(_)) => {
                let refusal = self.no_session(&unit.main, refusal);
                return self.each_alone(unit, path, Err(refusal), each);
            }
            // Without their main file, the sub-agents would be taken for sessions.
            Err(refusal) => return refuse_for(unit, refusal, each),
        };
        if unit.format.is_none_or(|format| format.name != from.name) {
            let main = self.convert_file(input, path, &Extra::default());
            return self.each_alone(unit, path, main, each);
        }
        match direction {
            Direction::Copy => self.copies(unit, path, each),
            Direction::Restore => self.back(unit, path, from, each),
            Direction::RestoreStepwise(format) => {
                let results = self.stepwise(unit, path, format, self.config.carry);
                results.into_iter().for_each(|(input, result)| each(input, result));
            }
            Direction::ConvertStepwise(format) => {
                // The sidecar of a file between the steps would stay behind.
                let carry = match self.config.carry {
                    CarryMode::None => CarryMode::None,
                    CarryMode::Inline | CarryMode::Sidecar => CarryMode::Inline,
                };
                let results = self.stepwise(unit, path, format, carry);
                results.into_iter().for_each(|(input, result)| each(input, result));
            }
            Direction::Convert { is_native, faults } => {
                self.forth(unit, path, (from, is_native, faults), each);
            }
        }
    }

    /// Returns the format of a session's main file, and the direction.
    pub(super) fn direction_of(
        &self,
        unit: &SessionFiles,
    ) -> Result<(&'static Format, Direction), ConvertError> {
        // An empty main file has the format of its sub-agents.
        let is_agent = |other: &&Companion| matches!(other.role, FileRole::Agent(_));
        let first = unit.others.iter().find(is_agent).filter(|_| unit.main.size() == 0);
        let input = first.map_or(&unit.main, |agent| &agent.input);
        let mut source = Source::new(self.open(input)?.file);
        let from = self.format_of(&mut source)?;
        if from.name == self.config.to.name {
            return Ok((from, Direction::Copy));
        }
        let conversion = self.conversion(from);
        let found = self.conversion_history(&conversion, &mut source, &mut self.sidecar(input)?)?;
        if found.manifest.as_ref().is_some_and(Manifest::is_derived)
            && let Some(session) = self.session_beside(unit, from)?
        {
            return Err(ConvertError::Exchanged(session));
        }
        let direction = match (found.depth(self.config.to), found.formats.first()) {
            (Some(0), _) => Direction::Restore,
            (Some(_), Some(last)) => Direction::RestoreStepwise(last),
            // The carry of one file has no place for several sidecars. Restoring the source first
            // keeps their content.
            (None, Some(last)) if has_sidecars(unit) => Direction::ConvertStepwise(last),
            _ => Direction::Convert {
                is_native: found.formats.is_empty(),
                faults: found.interruption(),
            },
        };
        Ok((from, direction))
    }

    /// Converts the files of a session one by one, if the target has no layout for them.
    pub(super) fn each_alone<'u>(
        &self,
        unit: &'u SessionFiles,
        path: &Path,
        main: Result<FileReport, ConvertError>,
        each: &mut EachResult<'_, 'u>,
    ) {
        each(&unit.main, main);
        for Companion { input, .. } in &unit.others {
            let result = match beside(unit, input, path) {
                Some(path) if input.is_side_file() && self.config.carry != CarryMode::None => {
                    self.copy(input, &path)
                }
                Some(path) => self.convert_file(input, &self.with_ending(&path), &Extra::default()),
                None => Err(ConvertError::NoName),
            };
            each(input, result);
        }
    }

    fn copies<'u>(&self, unit: &'u SessionFiles, path: &Path, each: &mut EachResult<'_, 'u>) {
        each(&unit.main, self.convert_file(&unit.main, path, &Extra::default()));
        for Companion { input, role } in &unit.others {
            let result = match (beside(unit, input, path), role) {
                (Some(path), FileRole::Agent(_)) => {
                    match self.convert_file(input, &self.with_ending(&path), &Extra::default()) {
                        // A file of an unknown format still belongs to the session.
                        Err(ConvertError::Format(
                            UnknownFormat::Unknown
                            | UnknownFormat::Foreign(_)
                            | UnknownFormat::Archive(_),
                        )) => self.copy(input, &path),
                        result => result,
                    }
                }
                (Some(path), _) => self.copy(input, &path),
                (None, _) => Err(ConvertError::NoName),
            };
            each(input, result);
        }
    }

    /// Restores a session that was converted from the target's format. The carry of each file has
    /// its name.
    fn back<'u>(
        &self,
        unit: &'u SessionFiles,
        path: &Path,
        from: &'static Format,
        each: &mut EachResult<'_, 'u>,
    ) {
        let derived = match self.derived_of(unit, from) {
            Ok(derived) => derived,
            Err(refusal) => return refuse_for(unit, refusal, each),
        };
        let homes = unit.others.iter().map(|it| self.home_of(unit, it, &derived, path, from));
        let homes: Vec<_> = homes.collect();
        let (agents_beside, derived_beside) = agents_beside(unit, &homes);
        let main = Extra { agents_beside, derived_beside, ..Extra::default() };
        each(&unit.main, self.convert_file(&unit.main, path, &main));
        for (Companion { input, .. }, home) in unit.others.iter().zip(homes) {
            let result = home.and_then(|home| match home {
                Home::Inside => Ok(FileReport::new(FileStatus::Inside)),
                Home::Copy(path) => self.copy(input, &path),
                Home::Agent { path, agent, .. } => {
                    let extra = Extra { agent, ..Extra::default() };
                    self.convert_file(input, &self.with_ending(&path), &extra)
                }
            });
            each(input, result);
        }
    }

    /// Returns the place to which a file of a session is restored.
    fn home_of(
        &self,
        unit: &SessionFiles,
        Companion { input, role }: &Companion,
        derived: &HashMap<&Path, Derived>,
        main: &Path,
        from: &'static Format,
    ) -> Result<Home, ConvertError> {
        if let Some(state) = input.path().and_then(|path| derived.get(path)) {
            return match state {
                Derived::Intact => Ok(Home::Inside),
                Derived::Edited => Err(ConvertError::Derived),
                Derived::Elsewhere => Err(ConvertError::DerivedElsewhere),
            };
        }
        match role {
            FileRole::Agent(id) => self.home_of_agent(unit, input, id, main, from),
            _ => beside(unit, input, main).map(Home::Copy).ok_or(ConvertError::NoName),
        }
    }

    /// Returns the place of a sub-agent's file: the name in its carry. If the carry has no name, the file is
    /// a session of its own and keeps its name.
    fn home_of_agent(
        &self,
        unit: &SessionFiles,
        input: &Input,
        id: &str,
        main: &Path,
        from: &'static Format,
    ) -> Result<Home, ConvertError> {
        let mut source = Source::new(self.open(input)?.file);
        let found = conversion_history(
            self.config.formats,
            from,
            &mut source,
            self.sidecar(input)?.as_mut(),
        )?;
        let is_back =
            found.formats.first().is_some_and(|format| format.name == self.config.to.name);
        let manifest = found.manifest.filter(|_| is_back);
        let entry = manifest.as_ref().and_then(|manifest| manifest.entries.first());
        let (path, agent, is_carried) = match entry {
            None if is_back => (beside(unit, input, main), None, false),
            Some(entry) => {
                let role = self.config.to.layout.and_then(|layout| (layout.role)(&entry.name));
                let Some(FileRole::Agent(id)) = role else { return Err(ConvertError::NoName) };
                (path_of(entry, main), Some(id), true)
            }
            None => (self.agent_path(main, id), Some(id.to_owned()), false),
        };
        let path = path.ok_or(ConvertError::NoName)?;
        check_folder(&path, main)?;
        Ok(Home::Agent { path, agent, is_carried })
    }

    fn forth<'u>(
        &self,
        unit: &'u SessionFiles,
        path: &Path,
        (from, is_native, faults): (&'static Format, bool, Option<RestoreStats>),
        each: &mut EachResult<'_, 'u>,
    ) {
        let place = unit.place(self.config.limits);
        let (tree, session, mut report) = match self.main_forth(unit, path, from, &place) {
            Ok(done) => done,
            Err(refusal) => return refuse_for(unit, refusal, each),
        };
        let is_whole = self.is_whole();
        let mut start = None;
        let lost_carry = if is_native { self.lost_carry_of_main(unit, from) } else { None };
        report.change_conversion(|done| {
            done.report.tell_of(&tree);
            done.report.restored.add_faults(&faults.unwrap_or_default());
            done.report.lost_carry = lost_carry.or(done.report.lost_carry.take());
            let has_files = !is_whole && self.config.subagents == SubAgents::Files;
            done.has_agent_files = has_files && !tree.agents.is_empty();
            start = done.report.session_start.take();
        });
        each(&unit.main, Ok(report));
        if start.is_none() && !tree.agents.is_empty() {
            start = self.start_of(path);
        }
        let inside: HashSet<&Path> = session.files().iter().map(|file| &*file.path).collect();
        let is_inside = |other: &Companion| {
            unit.path_of(&other.input).is_some_and(|name| inside.contains(&*name))
        };
        let are_inside: Vec<bool> = unit.others.iter().map(is_inside).collect();
        drop(inside);
        // The reports on tens of thousands of files take its place.
        drop(session);
        let mut agents = tree.agents.iter();
        for (Companion { input, role }, is_inside) in unit.others.iter().zip(are_inside) {
            let agent = match role {
                FileRole::Agent(_) => agents.next(),
                _ => None,
            };
            let result = match agent {
                _ if is_inside => Ok(FileReport::new(FileStatus::Inside)),
                Some(agent) if self.config.subagents == SubAgents::Files && !is_whole => {
                    self.agent_forth(input, agent, (&tree.main, &place), path, start.clone())
                }
                _ => Ok(FileReport::new(FileStatus::LeftOut)),
            };
            each(input, result);
        }
    }

    /// Converts the main file of a session, and the files that go into it.
    fn main_forth(
        &self,
        unit: &SessionFiles,
        path: &Path,
        from: &'static Format,
        place: &SessionPlace,
    ) -> Result<(SessionTree, Session, FileReport), ConvertError> {
        let tree = unit.tree(from, place)?;
        let is_whole = self.is_whole();
        let mut attempt = 1;
        loop {
            let (session, salt) = self.session(&tree, from, place, is_whole)?;
            let may_grow = attempt == MAX_ATTEMPTS;
            let report = self.session_to(&unit.main, (session.clone(), salt), from, path, may_grow);
            if may_grow || !report.as_ref().is_err_and(ConvertError::is_of_change) {
                return Ok((tree, session, report?));
            }
            attempt += 1;
        }
    }

    /// Returns whether sub-agents go into the file of their session.
    pub(super) fn is_whole(&self) -> bool {
        self.config.to.has_inline_agents || self.config.subagents == SubAgents::Carry
    }

    /// Returns the files that go into the main file of the target, as one source, and the hash of all but the main one.
    pub(super) fn session(
        &self,
        tree: &SessionTree,
        from: &Format,
        place: &SessionPlace,
        is_whole: bool,
    ) -> Result<(Session, Salt), ConvertError> {
        let name_of = |path: &Path| paths::name_of(path, &tree.main);
        let mut files =
            vec![(tree.main.clone(), ManifestEntryKind::Main, String::new(), String::new())];
        // Empty sub-agents, and sub-agents that the client started for itself, do not become
        // sessions.
        let is_internal = |agent: &Agent| {
            self.config.is_for_client && from.layout.is_some_and(|it| (it.is_internal)(&agent.id))
        };
        let is_inside = |agent: &&Agent| is_whole || agent.n_messages == 0 || is_internal(agent);
        let is_wanted = self.config.subagents != SubAgents::Drop;
        for agent in tree.agents.iter().filter(is_inside).filter(|_| is_wanted) {
            let tool_use = agent.tool_use.clone().unwrap_or_default();
            let name = name_of(&agent.path).ok_or(ConvertError::NoName)?;
            files.push((agent.path.clone(), ManifestEntryKind::Agent, name, tool_use));
        }
        let sides = tree.side_files.iter().filter(|_| self.config.carry != CarryMode::None);
        for path in sides {
            let name = name_of(path).ok_or(ConvertError::NoName)?;
            files.push((path.clone(), ManifestEntryKind::Side, name, String::new()));
        }
        // The others get files of their own.
        let has_files = self.config.subagents == SubAgents::Files && !is_whole;
        let agents = tree.agents.iter().filter(|agent| has_files && !is_inside(agent));
        let agents = agents.map(|agent| agent.id.clone()).collect();
        let mut salt = SaltOfFiles::default();
        let session = Session::measured(place, files, |entry, stat| {
            if entry.kind != ManifestEntryKind::Main {
                salt.push(entry, stat);
            }
        })?;
        let session = session.with_agents(agents);
        let salt = salt.finish().with_agents(session.agents());
        Ok((session, salt))
    }

    /// Converts a sub-agent's file to a file beside its session's output.
    fn agent_forth(
        &self,
        input: &Input,
        agent: &Agent,
        (main, place): (&Path, &SessionPlace),
        path: &Path,
        session_start: Option<String>,
    ) -> Result<FileReport, ConvertError> {
        let entry = ManifestEntry {
            kind: ManifestEntryKind::Agent,
            size: place.stat(&agent.path)?.length,
            name: paths::name_of(&agent.path, main).ok_or(ConvertError::NoName)?,
            tool_use: agent.tool_use.clone().unwrap_or_default(),
        };
        let path = self.agent_path(path, &agent.id).ok_or(ConvertError::NoName)?;
        let manifest = Some(Manifest { entries: vec![entry], ..Manifest::default() });
        let agent = Some(agent.id.clone());
        self.convert_file(
            input,
            &path,
            &Extra { manifest, agent, session_start, ..Extra::default() },
        )
    }

    /// Returns the time at which a session starts that an earlier run wrote, a JSON value. Only documents
    /// that a client imports name their session by it; for other targets, and if it cannot be read, the
    /// result is `None`.
    fn start_of(&self, path: &Path) -> Option<String> {
        let to = self.config.to;
        to.documents?;
        let opened = Input::file(path.to_owned()).open(self.config.limits).ok()?;
        let mut source = Source::new(opened);
        source.set_framing(to.framing);
        let mut start = None;
        source
            .for_each(&mut |_, value| {
                let Ok(value) = value else { return true };
                to.for_each_event(value, |event| {
                    start = event.context.time.map(|time| time.as_str().to_owned());
                    start.is_none()
                });
                start.is_none()
            })
            .ok()?;
        start
    }
}
