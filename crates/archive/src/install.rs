//! Installs a converted session in its client's folder.

mod intent;
mod publish;

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use conversion::Source;
use core_model::{Check, Environment, Facts, Home, Problem, SafeName};
use sessions::{Input, SessionFiles, absolute, sidecar_path};
use storage::{Compression, Opened, Scratch};

use crate::{
    config::JobConfig,
    error::{ConvertError, NotInstalled},
    file_report::Results,
    job::Job,
    outputs::Outputs,
    paths::is_harmful,
    report::ConvertedFile,
    session::{moved, refused_for},
};

/// The temporary name of the session's file, before its name in the client's folder is known.
const DRAFT: &str = "session.jsonl";

/// An installed session.
#[derive(Debug)]
pub struct Installed {
    /// The words of the command that resumes a session, before its name.
    pub resume: &'static [&'static str],
    /// The folder to start the client in.
    pub project: String,
    /// Whether this folder exists.
    pub is_project_there: bool,
    /// The name of the session.
    pub name: SafeName,
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
    environment: &Environment<'_>,
    project: Option<&Path>,
    each: &mut dyn FnMut(&Installed) -> io::Result<()>,
) -> io::Result<Results<'u>> {
    let mut results = Vec::new();
    for unit in units {
        if has_unread_folder(unit, units) {
            results.extend(refused_for(unit, NotInstalled::Unread.into()));
            continue;
        }
        results.extend(match job.install(unit, environment, project) {
            Ok((done, Some(installed))) => {
                each(&installed)?;
                done
            }
            Ok((refused, None)) => refused,
            Err(refusal) => refused_for(unit, refusal),
        });
    }
    Ok(results)
}

/// Returns whether a folder with files of a session could not be read. Without them, the session
/// would be installed incomplete.
fn has_unread_folder(unit: &SessionFiles, units: &[SessionFiles]) -> bool {
    let Some(main) = unit.main.path().map(Compression::bare_path) else { return false };
    let own = main.with_extension("");
    let above = match main.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let is_its = |path: &Path| path == above || path.starts_with(&own);
    units.iter().any(|other| matches!(&other.main, Input::Missing { path, .. } if is_its(path)))
}

impl Job {
    /// Converts a session and installs all its files, or none if one could not be converted.
    fn install<'u>(
        &self,
        unit: &'u SessionFiles,
        environment: &Environment<'_>,
        project: Option<&Path>,
    ) -> Result<(Results<'u>, Option<Installed>), ConvertError> {
        let store = self.config.to.store;
        let Some((store, place)) = store.and_then(|store| Some((store, store.place?))) else {
            return Err(NotInstalled::NoClient(self.config.to.name).into());
        };
        let draft = Scratch::new()?;
        let main = draft.path().join(DRAFT);
        let outputs =
            Arc::new(Outputs::below(draft.path(), false, self.outputs.write_options.interruption)?);
        let config = JobConfig { is_for_client: true, ..self.config.clone() };
        let job = Job { config, outputs, ..self.clone() };
        let mut results = job.convert_session(unit, &main, false);
        if results.iter().any(|(_, result)| result.is_err()) {
            for (_, result) in results.iter_mut().filter(|(_, result)| result.is_ok()) {
                *result = Err(ConvertError::NotAlone);
            }
            return Ok((results, None));
        }
        if sidecar_path(&main).exists() {
            return Err(ConvertError::NothingShows(self.config.to.name));
        }
        let facts = self.check(&mut Source::new(Input::file(main.clone()).open_as_it_is()?))?;
        let project = project_of(project, &facts)?;
        // A copy keeps its name: forked sessions refer to its id.
        let is_copied = |done: &ConvertedFile| done.from == done.to;
        let main_report = results.first().and_then(|(_, result)| result.as_ref().ok());
        let is_copy = main_report.and_then(|report| report.conversion()).is_some_and(is_copied);
        let stem = unit.main.stem().map(str::to_owned).filter(|_| is_copy);
        let id = stem.or_else(|| meaning(&facts.session_id)).unwrap_or_default();
        let home = place(environment, &project, &id).ok_or(NotInstalled::NoHome)?;
        refuse_links(&home)?;
        let path = home.path();
        publish::publish(self, draft.path(), &main, &home)?;
        for (_, result) in &mut results {
            if let Ok(report) = result {
                report.change_conversion(|done| {
                    let output =
                        done.output.as_deref().and_then(|it| moved(Path::new(it), &main, &path));
                    done.output = output.map(|output| output.display().to_string());
                });
            }
        }
        let is_project_there = Path::new(&project).is_dir();
        // The name of the file may also have a time.
        let name = SafeName::of((store.session_id)(home.name.as_str()));
        let installed = Installed { resume: store.resume, project, is_project_there, name };
        Ok((results, Some(installed)))
    }

    /// Checks that the client loads the output, and returns its facts.
    fn check(&self, written: &mut Source<Opened>) -> Result<Facts, ConvertError> {
        let mut facts = Facts::default();
        let mut stop = None;
        let mut note = |problem: Problem| {
            if problem.stops() && stop.is_none() {
                stop = Some(Box::new(problem));
            }
        };
        let mut check = Check::new((self.config.to.checker)());
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
fn project_of(asked: Option<&Path>, facts: &Facts) -> Result<String, NotInstalled> {
    let own = || meaning(&facts.cwd).filter(|cwd| !cwd.is_empty()).map(PathBuf::from);
    let path = match asked {
        Some(path) => absolute(path),
        None => own().ok_or(NotInstalled::NoProject)?,
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
