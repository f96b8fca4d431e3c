//! Putting a converted session where its client finds it.

mod intent;
mod publish;

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use conversion::Source;
use core_model::{Check, Environment, Facts, Home, Problem, SafeName};
use sessions::{Input, SessionFiles, absolute, sidecar_path};
use storage::{Compression, Opened, Scratch};

use crate::{
    account::describe::Done,
    conversions::{Outcome, Results},
    environment::environment,
    job::{ConvertError, Job},
    outputs::Outputs,
    run::complain,
    terminal::escape::escape_for_terminal,
    unit::{moved, refused_for},
};

/// What the session's own file is called before its client's name for it is known.
const DRAFT: &str = "session.jsonl";

/// Why a converted session was not installed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotInstalled {
    #[error("{0} is no client's own: --install has nowhere to put it")]
    NoClient(&'static str),
    #[error("the session does not say which project it belongs to; --install=PROJECT does")]
    NoProject,
    #[error("{0}: no project folder; --install=PROJECT names another")]
    OddProject(String),
    #[error("its client's folder is unknown: there is no home folder in the environment")]
    NoHome,
    #[error("{0} is a link; nothing is written through it")]
    Link(String),
    #[error("{0} exists; a client's session is never overwritten")]
    Exists(String),
    #[error("a folder with files of it cannot be read; nothing was installed")]
    Unread,
    #[error("there is no message in it to go on from")]
    Empty,
    #[error("the client would not load it, line {}: {}", .0.line, .0.message)]
    NotLoaded(Box<Problem>),
}

/// A session that was installed.
struct Installed {
    resume: &'static [&'static str],
    project: String,
    is_project_there: bool,
    name: SafeName,
}

impl Installed {
    /// Returns the command that goes on with the session, for a shell.
    fn command(&self) -> String {
        format!("cd {} && {} {}", quoted(&self.project), self.resume.join(" "), self.name)
    }
}

/// Installs each input, and prints the command that goes on with it.
pub(crate) fn install<'u>(
    job: &Job,
    units: &'u [SessionFiles],
    project: Option<&Path>,
) -> io::Result<Results<'u>> {
    let mut results = Vec::new();
    for unit in units {
        if has_unread_folder(unit, units) {
            results.extend(refused_for(unit, NotInstalled::Unread.into()));
            continue;
        }
        results.extend(match job.install(unit, &environment(), project) {
            Ok((done, Some(installed))) => {
                if !installed.is_project_there {
                    complain(&format!(
                        "{}: no such folder",
                        escape_for_terminal(&installed.project)
                    ));
                }
                writeln!(io::stdout(), "{}", installed.command())?;
                done
            }
            Ok((refused, None)) => refused,
            Err(refusal) => refused_for(unit, refusal),
        });
    }
    Ok(results)
}

/// Returns whether a folder in which files of a session may be could not be read: without them, it
/// would be installed for good.
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
    /// Converts a session and puts all its files where its client finds them: all, or none if one
    /// of them could not be converted.
    fn install<'u>(
        &self,
        unit: &'u SessionFiles,
        environment: &Environment<'_>,
        project: Option<&Path>,
    ) -> Result<(Results<'u>, Option<Installed>), ConvertError> {
        let store = self.to.store;
        let Some((store, place)) = store.and_then(|store| Some((store, store.place?))) else {
            return Err(NotInstalled::NoClient(self.to.name).into());
        };
        let draft = Scratch::new()?;
        let main = draft.path().join(DRAFT);
        let outputs = Arc::new(Outputs::below(draft.path(), false)?);
        let job = Job { outputs, is_for_client: true, ..self.clone() };
        let mut results = job.unit_to_files(unit, &main, false);
        if results.iter().any(|(_, result)| result.is_err()) {
            for (_, result) in results.iter_mut().filter(|(_, result)| result.is_ok()) {
                *result = Err(ConvertError::NotAlone);
            }
            return Ok((results, None));
        }
        if sidecar_path(&main).exists() {
            return Err(ConvertError::NothingShows(self.to.name));
        }
        let facts = self.check(&mut Source::new(Input::file(main.clone()).open_as_it_is()?))?;
        let project = project_of(project, &facts)?;
        // A copy keeps its name: lines may tell the id of a session that they were forked from.
        let is_copied = |done: &Done| done.from == done.to;
        let is_copy =
            matches!(results.first(), Some((_, Ok(Outcome::Converted(done)))) if is_copied(done));
        let stem = unit.main.stem().map(str::to_owned).filter(|_| is_copy);
        let id = stem.or_else(|| meaning(&facts.session_id)).unwrap_or_default();
        let home = place(environment, &project, &id).ok_or(NotInstalled::NoHome)?;
        refuse_links(&home)?;
        let path = home.path();
        publish::publish(draft.path(), &main, &home)?;
        for (_, result) in &mut results {
            if let Ok(Outcome::Converted(done)) = result {
                let output =
                    done.output.as_deref().and_then(|it| moved(Path::new(it), &main, &path));
                done.output = output.map(|output| output.display().to_string());
            }
        }
        let is_project_there = Path::new(&project).is_dir();
        let installed =
            Installed { resume: store.resume, project, is_project_there, name: home.name };
        Ok((results, Some(installed)))
    }

    /// Checks that the client loads what was written, and returns what is known of it.
    fn check(&self, written: &mut Source<Opened>) -> Result<Facts, ConvertError> {
        let mut facts = Facts::default();
        let mut stop = None;
        let mut note = |problem: Problem| {
            if problem.stops() && stop.is_none() {
                stop = Some(Box::new(problem));
            }
        };
        let mut check = Check::new((self.to.checker)());
        written.for_each(&mut |line, value| {
            check.line(line, value, &mut note);
            if let Ok(value) = value {
                facts.observe(&(self.to.read)(value));
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

/// Returns the folder in which the client is to be started.
fn project_of(asked: Option<&Path>, facts: &Facts) -> Result<String, NotInstalled> {
    let own = || meaning(&facts.cwd).filter(|cwd| !cwd.is_empty()).map(PathBuf::from);
    let path = match asked {
        Some(path) => absolute(path),
        None => own().ok_or(NotInstalled::NoProject)?,
    };
    let odd = || NotInstalled::OddProject(escape_for_terminal(&path.to_string_lossy()));
    if !path.is_absolute() {
        return Err(odd());
    }
    // What a terminal would obey has no place in a command that is to be copied.
    let project = absolute(&path).to_str().map(str::to_owned).ok_or_else(odd)?;
    if escape_for_terminal(&project) == project { Ok(project) } else { Err(odd()) }
}

fn meaning(written: &Option<String>) -> Option<String> {
    Some(jsonl::Text::new(written.as_deref()?)?.decode().into_owned())
}

fn exists(path: &Path) -> ConvertError {
    NotInstalled::Exists(escape_for_terminal(&path.to_string_lossy())).into()
}

/// Refuses links below the client's own folder.
fn refuse_links(home: &Home) -> Result<(), NotInstalled> {
    let mut path = home.root.clone();
    for part in &home.folder {
        path.push(part);
        if path.is_symlink() {
            return Err(NotInstalled::Link(escape_for_terminal(&path.to_string_lossy())));
        }
    }
    Ok(())
}

/// Returns text as one word of a POSIX shell.
pub(crate) fn quoted(text: &str) -> String {
    let is_plain = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-' | b'+' | b',')
    };
    if !text.is_empty() && text.bytes().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_shell() {
        for (text, word) in [
            ("/home/u/my-app", "/home/u/my-app"),
            ("/home/u/my app", "'/home/u/my app'"),
            ("/it's", r"'/it'\''s'"),
            ("/$(rm -rf ~)`x`", "'/$(rm -rf ~)`x`'"),
            ("/é", "'/é'"),
            ("~", "'~'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(text), word);
        }
    }
}
