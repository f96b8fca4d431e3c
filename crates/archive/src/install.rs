//! Installs a converted session in its client's folder.
//!
//! In: `s1.jsonl` of Claude Code, and Codex as the target. Out: a [`Draft`], the converted session in
//! a temporary folder, compared with the files in Codex's folder. [`Draft::publish`] writes a new
//! file, extends an older copy or the original, or writes nothing if the folder is up to date.

mod intent;
mod origin;
mod publish;
mod relation;

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use conversion::Source;
use core_model::{Check, Environment, Evidence, FUTURE, Facts, Home, Missing, Problem, SafeName};
use sessions::{Input, Lookup, SessionFiles, Stored, absolute, marked_project, sidecar_path};
use storage::{Opened, Scratch};

use self::{
    origin::Origin,
    publish::{Changes, write_marker},
    relation::{Relation, relation_of_documents},
};
use crate::{
    clock::now_millis,
    config::{JobConfig, SubAgents},
    error::{ConvertError, NotInstalled},
    file_report::{FileReport, Results},
    job::Job,
    paths::is_harmful,
    report::ConvertedFile,
    session::{all_refused, has_unread_folder, moved, refused_for},
    warning::Warning,
};

/// The temporary name of the session's file, before its name in the client's folder is known.
const DRAFT: &str = "session.jsonl";

/// Where sessions are installed.
#[derive(Clone, Copy, Debug)]
pub struct InstallTarget<'e> {
    /// The environment in which the client finds its folder.
    pub environment: &'e Environment<'e>,
    /// The project to install into, instead of the session's own.
    pub project: Option<&'e Path>,
    /// The project of a session that does not say its own.
    pub fallback: Option<&'e Path>,
}

/// An installed session.
#[derive(Clone, Debug)]
pub struct Installed {
    /// The words of the command that resumes a session, before its name.
    pub resume: &'static [&'static str],
    /// The words of the command that imports the session, before the path of its file; empty if there is
    /// nothing to import.
    pub import: &'static [&'static str],
    /// The folder to start the client in.
    pub project: String,
    /// Whether this folder exists.
    pub is_project_there: bool,
    /// The name of the session.
    pub name: SafeName,
    /// The session's own file in the client's folder, or the document in the client's store. If there is
    /// something to import, the file that the client imports.
    pub path: PathBuf,
    /// What installing it changes.
    pub change: Change,
    /// Whether installing it writes a file. The document that a client imports may be there from an earlier run, also if
    /// the client has not imported it.
    pub is_written: bool,
    /// The warning to print, [`core_model::Format::install_note`].
    pub note: Option<&'static str>,
}

impl Installed {
    /// Returns the words of the command that resumes the session. A last word that ends in `=` takes the
    /// name.
    pub fn command(&self) -> Vec<String> {
        let mut words: Vec<String> = self.resume.iter().map(|&word| word.to_owned()).collect();
        match words.last_mut().filter(|word| word.ends_with('=')) {
            Some(last) => last.push_str(self.name.as_str()),
            None => words.push(self.name.as_str().to_owned()),
        }
        words
    }

    /// Returns the words of the command that imports the session; `None` if there is nothing to import.
    pub fn import_command(&self) -> Option<Vec<String>> {
        let mut words: Vec<String> = self.import.iter().map(|&word| word.to_owned()).collect();
        words.push(self.path.to_string_lossy().into_owned());
        (!self.import.is_empty()).then_some(words)
    }
}

/// What installing a session changes in the client's folder.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Change {
    /// Its file is new, or a file beside it is.
    New,
    /// The file has the session already.
    UpToDate,
    /// The file gets the turns that it lacks. Its own bytes stay: it is the original of a copy that
    /// went on, or the older copy of an original that went on.
    Grows,
    /// The file has all turns and more, because its client went on with it. It stays as it is.
    Ahead,
}

impl Change {
    /// Returns whether the client gets turns.
    pub fn is_write(self) -> bool {
        matches!(self, Change::New | Change::Grows)
    }
}

/// A converted session that is not installed yet.
#[derive(Debug)]
pub struct Draft<'u> {
    /// Keeps the files of the draft.
    scratch: Scratch,
    results: Results<'u>,
    changes: Changes,
    installed: Installed,
}

impl<'u> Draft<'u> {
    /// Returns the session as it will be installed.
    pub fn installed(&self) -> &Installed {
        &self.installed
    }

    /// Returns the converted files, with their paths in the client's folder.
    pub fn files(&self) -> impl Iterator<Item = &ConvertedFile> {
        self.results.iter().filter_map(|(_, result)| result.as_ref().ok()?.conversion())
    }

    /// Returns the results without writing a file.
    pub fn into_results(self) -> Results<'u> {
        self.results
    }

    /// Writes the files to the client's folder.
    ///
    /// # Errors
    ///
    /// Returns an error if another program has written a file in the meantime, or if the files cannot
    /// be written. Then nothing was changed, or the same command finishes the changes.
    pub fn publish(self, job: &Job) -> Result<Published<'u>, ConvertError> {
        let Self { scratch, results, changes, installed } = self;
        changes.publish(job)?;
        drop(scratch);
        let folder = installed.path.parent().and_then(Path::parent);
        if let (Some(marker), Some(folder)) = (job.config.to.project_marker, folder) {
            write_marker(job, folder, marker, &installed.project)?;
        }
        Ok(Published { results, installed })
    }
}

/// A session whose files are in the client's folder.
#[derive(Debug)]
pub struct Published<'u> {
    /// The results of its files.
    pub results: Results<'u>,
    /// The session.
    pub installed: Installed,
}

/// A converted session, or the errors of its files.
#[derive(Debug)]
pub enum Drafted<'u> {
    /// It can be installed.
    Ready(Box<Draft<'u>>),
    /// A file of it could not be converted.
    Refused(Results<'u>),
}

/// Installs each input, and calls `each` with each installed session.
///
/// # Errors
///
/// Returns an error if `each` does. The later inputs are then not installed. A session that fails has
/// its error in the results, and `each` is not called for it. No file of a session is installed if one of
/// them could not be converted.
pub fn install<'u>(
    job: &Job,
    units: &'u [SessionFiles],
    target: &InstallTarget<'_>,
    each: &mut dyn FnMut(&Installed) -> io::Result<()>,
) -> io::Result<Results<'u>> {
    let mut results = Vec::new();
    for unit in units {
        if has_unread_folder(unit, units.iter()) {
            results.extend(refused_for(unit, NotInstalled::Unread.into()));
            continue;
        }
        let published = job.draft(unit, target).and_then(|drafted| match drafted {
            Drafted::Ready(draft) => draft.publish(job).map(|it| (it.results, Some(it.installed))),
            Drafted::Refused(refused) => Ok((refused, None)),
        });
        results.extend(match published {
            Ok((mut done, Some(installed))) => {
                each(&installed)?;
                if !installed.is_written {
                    let reports = done.iter_mut().filter_map(|(_, it)| it.as_mut().ok());
                    reports.for_each(FileReport::mark_up_to_date);
                }
                done
            }
            Ok((refused, None)) => refused,
            Err(refusal) => refused_for(unit, refusal),
        });
    }
    Ok(results)
}

/// Returns the time in milliseconds since 1970 by which a client that sorts sessions by day finds this one: the first
/// time in it, or the time of the last change of its file. The time 0 is written for a source without times.
fn start_for_place(unit: &SessionFiles, facts: &Facts) -> Option<i64> {
    let said = facts.start_millis().filter(|start| *start > 0);
    said.or_else(|| {
        let modified = unit.main.storage().stat(unit.main.path()?).ok()?.modified;
        i64::try_from(modified / 1_000_000).ok()
    })
}

impl Job {
    /// Converts a session with all its files into a temporary folder, and compares them with the files
    /// in the client's folder. Writes nothing to the client's folder.
    ///
    /// # Errors
    ///
    /// Returns an error if the client would refuse the session, or if its folder has another session of
    /// this name.
    pub fn draft<'u>(
        &self,
        unit: &'u SessionFiles,
        target: &InstallTarget<'_>,
    ) -> Result<Drafted<'u>, ConvertError> {
        self.draft_with(unit, target, &mut |_| true)
    }

    /// Converts a session as [`Job::draft`] does. `keep` gets the report on each file as soon as it is done, with its path in the
    /// temporary folder, and returns whether the draft keeps it: a session may have tens of thousands of
    /// sub-agents. The first report is about the main file and is always kept.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Job::draft`].
    pub fn draft_with<'u>(
        &self,
        unit: &'u SessionFiles,
        target: &InstallTarget<'_>,
        keep: &mut dyn FnMut(&FileReport) -> bool,
    ) -> Result<Drafted<'u>, ConvertError> {
        let store = self.config.to.store;
        let Some((store, place)) = store.and_then(|store| Some((store, store.place?))) else {
            return Err(NotInstalled::NoClient(self.config.to.name).into());
        };
        let draft = Scratch::new()?;
        let main = draft.path().join(DRAFT);
        let source = unit.main.path().unwrap_or(Path::new(DRAFT));
        let mut job = self.for_scratch(&draft, source)?;
        // The client imports one document: the sub-agents are in its carry, and come home with it.
        if self.config.to.documents.is_some() && job.config.subagents == SubAgents::Files {
            job.config.subagents = SubAgents::Carry;
        }
        let project = target.project.map(absolute);
        job.config.options.project = project.and_then(|project| Some(project.to_str()?.to_owned()));
        let mut results = Results::new();
        job.convert_session_to(unit, &main, false, &mut |input, result| {
            let is_kept = result.as_ref().map_or(true, &mut *keep);
            if is_kept || results.is_empty() {
                results.push((input, result));
            }
        });
        if results.iter().any(|(_, result)| result.is_err()) {
            return Ok(Drafted::Refused(all_refused(unit, results)));
        }
        let facts =
            self.check(unit, &mut Source::new(Input::file(main.clone()).open_as_it_is()?))?;
        let main_report = results.first().and_then(|(_, result)| result.as_ref().ok());
        let conversion = main_report.and_then(|report| report.conversion());
        // A copy keeps its name: forked sessions refer to its id. It keeps its sidecar too, but a client that imports a
        // document takes the document alone.
        let is_copy = conversion.is_some_and(|done| done.from == done.to);
        let has_sidecar = sidecar_path(&main).exists();
        if has_sidecar && !is_copy {
            return Err(ConvertError::NothingShows(self.config.to.name));
        }
        let from = conversion.and_then(|done| self.config.formats.by_name(done.from));
        let marked = from.and_then(|from| marked_project(unit.main.path()?, from));
        let project = project_of(target, marked, &facts)?;
        let is_home = conversion.is_some_and(|done| done.report.restored.restored > 0);
        // The name of a document is not its session's.
        let documents = self.config.to.documents;
        let stem = unit.main.stem().map(str::to_owned).filter(|_| is_copy && documents.is_none());
        let id = stem.or_else(|| meaning(&facts.session_id)).unwrap_or_default();
        let home = place(target.environment, &project, &id)?.ok_or(NotInstalled::NoHome)?;
        let home = match self.config.to.place_by_start.zip(start_for_place(unit, &facts)) {
            Some((place, start)) => place(home, start),
            None => home,
        };
        self.write_beside(draft.path(), &home, &facts, &project)?;
        let origin = Origin { unit, from: from.filter(|_| !is_copy), is_home };
        let changes = self.changes(draft.path(), &main, home, &origin, target)?;
        let path = changes.path().to_owned();
        // The other agent may have lost the file of a sub-agent, and the session at home may still have it.
        let is_at_home = |missing: &Missing| {
            let file = self.agent_path(&path, &missing.id);
            missing.evidence == Evidence::Carry && file.is_some_and(|file| file.is_file())
        };
        for (_, result) in &mut results {
            if let Ok(report) = result {
                report.change_conversion(|done| {
                    done.report.missing.retain(|missing| !is_at_home(missing));
                    if has_sidecar && documents.is_some() {
                        done.report.n_sidecars_unread += 1;
                    }
                    let output =
                        done.output.as_deref().and_then(|it| moved(Path::new(it), &main, &path));
                    done.output = output.map(|output| output.display().to_string());
                });
            }
        }
        let is_project_there = Path::new(&project).is_dir();
        // The name of the file may also have a time.
        let known = meaning(&facts.session_id).filter(|_| self.config.to.has_ids_inside);
        let name = match known {
            Some(id) => SafeName::of(&id),
            None => SafeName::of((store.session_id)(changes.name())),
        };
        let (change, is_written) = (changes.change(), !changes.is_empty());
        let import =
            documents.map_or(&[][..], |it| if change.is_write() { it.import } else { &[] });
        let (resume, note) = (store.resume, self.config.to.install_note);
        let installed = Installed {
            resume,
            import,
            project,
            is_project_there,
            name,
            path,
            change,
            is_written,
            note,
        };
        Ok(Drafted::Ready(Box::new(Draft { scratch: draft, results, changes, installed })))
    }

    /// Adds the file that the client keeps beside a session to a draft, unless the session has it:
    /// the client changes it, and its own is the newer one.
    fn write_beside(
        &self,
        draft: &Path,
        home: &Home,
        facts: &Facts,
        project: &str,
    ) -> io::Result<()> {
        let Some(folder) = self.config.to.session_folder else { return Ok(()) };
        let (name, bytes) = (folder.beside)(facts, project, home.name.as_str());
        match home.path().with_file_name(name).symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::write(draft.join(name), bytes)
            }
            _ => Ok(()),
        }
    }

    /// Returns a job that converts a source to a temporary folder. The folder of `--restore-files` has the name of
    /// the source, because its place is not known yet.
    fn for_scratch(&self, folder: &Scratch, source: &Path) -> Result<Self, ConvertError> {
        let outputs = self.outputs.in_scratch(folder, &folder.path().join(DRAFT), source)?;
        let outputs = Arc::new(outputs);
        let config = JobConfig { is_for_client: true, ..self.config.clone() };
        Ok(Job { config, outputs, ..self.clone() })
    }

    /// Returns the changes in the client's folder: to the file that has the session there, in whichever
    /// project, or else to a new file.
    fn changes(
        &self,
        draft: &Path,
        main: &Path,
        home: Home,
        origin: &Origin<'_>,
        target: &InstallTarget<'_>,
    ) -> Result<Changes, ConvertError> {
        if self.config.to.documents.is_some() {
            refuse_links(&home)?;
            let (change, there) = self.change_by_import(main, &home, origin, target)?;
            return Changes::to_import(Input::file(main.to_owned()), home, change, there);
        }
        let mut refusal = None;
        let is_shared = self.config.to.store.is_some_and(|store| store.is_shared);
        for other in self.elsewhere(&home, target)? {
            match self.changes_at(draft, main, other, origin) {
                Ok(changes) => return Ok(changes),
                Err(error @ ConvertError::NotInstalled(NotInstalled::Diverged { .. })) => {
                    refusal.get_or_insert(error);
                }
                // A client with one folder for all projects would resume either of two sessions with one id.
                Err(error @ ConvertError::NotInstalled(_)) if is_shared => {
                    refusal.get_or_insert(error);
                }
                // This file is of another session with the same id, or must not be touched. The search
                // goes on.
                Err(ConvertError::NotInstalled(_)) => {}
                Err(error) => return Err(error),
            }
        }
        match refusal {
            Some(refusal) => Err(refusal),
            None => self.changes_at(draft, main, home, origin),
        }
    }

    /// Returns what importing a document changes in the client's store, and the path of the session there;
    /// the path is `None` if the session is not there. An import adds messages to a session and changes
    /// none.
    fn change_by_import(
        &self,
        main: &Path,
        home: &Home,
        origin: &Origin<'_>,
        target: &InstallTarget<'_>,
    ) -> Result<(Change, Option<PathBuf>), ConvertError> {
        let to = self.config.to;
        let lookup = Lookup::new(self.config.formats, *target.environment, None, Some(to), None);
        lookup.warn_of_stores(&mut |warning| self.warnings.push(warning));
        let is_it = |session: &Stored| session.id() == Some(home.name.as_str());
        let Some(there) = lookup.sessions()?.into_iter().find(is_it) else {
            return Ok((Change::New, None));
        };
        let existing = there.input();
        let new = Input::file(main.to_owned()).open(self.config.limits)?;
        let paths = to.framing.paths();
        let related = match relation_of_documents(new, existing.open(self.config.limits)?, paths)? {
            Relation::Differ => self.relation_by_restoring(&existing, origin)?,
            related => related,
        };
        let change = match related {
            Relation::Equal => Change::UpToDate,
            Relation::Longer => Change::Ahead,
            Relation::Shorter => Change::Grows,
            Relation::Differ => return Err(exists(&there.path)),
        };
        Ok((change, Some(there.path)))
    }

    fn changes_at(
        &self,
        draft: &Path,
        main: &Path,
        home: Home,
        origin: &Origin<'_>,
    ) -> Result<Changes, ConvertError> {
        refuse_links(&home)?;
        let by_restoring =
            |there: &Path| self.relation_by_restoring(&Input::file(there.to_owned()), origin);
        Changes::find(self, draft, main, home, &by_restoring)
    }

    /// Returns the files of the same session in other places of the client: in another project's
    /// folder, or with another time in the name. There is none if a project is asked for and has a folder of its
    /// own, or if the place is taken.
    fn elsewhere(
        &self,
        home: &Home,
        target: &InstallTarget<'_>,
    ) -> Result<Vec<Home>, ConvertError> {
        let to = self.config.to;
        let store = to.store.filter(|store| store.is_shared || target.project.is_none());
        let store = store.filter(|_| home.path().symlink_metadata().is_err());
        let Some(store) = store else { return Ok(Vec::new()) };
        let lookup = Lookup::new(self.config.formats, *target.environment, None, Some(to), None);
        let id = (store.session_id)(home.name.as_str());
        let home_of = |stored: &Stored| {
            let path = &stored.path;
            let folder = path.parent()?.strip_prefix(&home.root).ok()?.to_owned();
            let is_plain = path.extension().is_some_and(|it| it == "jsonl");
            let name = match home.file {
                Some(_) => stored.id()?,
                None => path.file_stem()?.to_str()?,
            };
            let name = SafeName::new(name).filter(|_| is_plain)?;
            Some(Home { folder, name, ..home.clone() })
        };
        let found = lookup.same_session(id)?;
        Ok(found.iter().filter_map(home_of).collect())
    }

    /// Checks that the client loads the output of a session, and returns its facts.
    fn check(
        &self,
        unit: &SessionFiles,
        written: &mut Source<Opened>,
    ) -> Result<Facts, ConvertError> {
        let mut facts = Facts::default();
        let (mut stop, mut is_later) = (None, false);
        let label = unit.main.label();
        let mut note = |problem: Problem| {
            if problem.rule == FUTURE && !std::mem::replace(&mut is_later, true) {
                let message = problem.message.into_owned();
                self.warnings.push(Warning::Later { label: label.to_string(), message });
            } else if problem.stops() && stop.is_none() {
                stop = Some(Box::new(problem));
            }
        };
        let mut check = Check::new((self.config.to.checker)()).at(now_millis());
        written.set_framing(self.config.to.framing);
        written.for_each(&mut |line, value| {
            check.line(line, value, &mut note);
            if let Ok(value) = value {
                self.config.to.for_each_event(value, |event| {
                    facts.observe(event);
                    true
                });
            }
            true
        })?;
        check.finish(&mut note);
        match stop {
            Some(problem) => Err(NotInstalled::NotLoaded(problem).into()),
            None if facts.n_messages == 0 => Err(NotInstalled::Empty.into()),
            None => Ok(facts),
        }
    }
}

/// Returns the folder to start the client in.
///
/// A session that has none may be in a folder that the client marked with its project. Formats whose
/// sessions have one make one up then.
fn project_of(
    target: &InstallTarget<'_>,
    marked: Option<PathBuf>,
    facts: &Facts,
) -> Result<String, NotInstalled> {
    let own = || meaning(&facts.cwd).filter(|cwd| !cwd.is_empty()).map(PathBuf::from);
    let fallback = || target.fallback.map(absolute);
    let path = match target.project {
        Some(path) => absolute(path),
        None => marked.or_else(own).or_else(fallback).ok_or(NotInstalled::NoProject)?,
    };
    let odd = || NotInstalled::OddProject(path.display().to_string());
    if !path.is_absolute() {
        return Err(odd());
    }
    // The path becomes part of a command to copy, so it must have no control characters.
    let project = absolute(&path).to_str().map(str::to_owned).ok_or_else(odd)?;
    if project.contains(is_harmful) { Err(odd()) } else { Ok(project) }
}

fn meaning(written: &Option<String>) -> Option<String> {
    Some(jsonl::Text::new(written.as_deref()?)?.decode().into_owned())
}

fn exists(path: &Path) -> ConvertError {
    NotInstalled::Exists(path.display().to_string()).into()
}

/// Refuses links below the client's own folder.
fn refuse_links(home: &Home) -> Result<(), NotInstalled> {
    let mut path = home.root.clone();
    for part in &home.folder {
        path.push(part);
        if path.is_symlink() {
            return Err(NotInstalled::Link(path.display().to_string()));
        }
    }
    Ok(())
}
