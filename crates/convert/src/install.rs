//! Putting a converted session where its client finds it.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use core_model::{Check, Environment, Facts, Home, Problem, SafeName};
use tempfile::SpooledTempFile;

use crate::{
    CarryMode, Source,
    account::describe::Done,
    conversions::{Outcome, Results},
    folder::Folder,
    input::{
        Input,
        opened::{Limits, Opened},
        sessions::{absolute, environment},
    },
    job::{Order, Refusal, verify},
    output::{FILE_MODE, Pending, Place, hashing::Asked},
    run::complain,
    terminal::shown::shown,
    unit::Unit,
};

/// What is written is kept in memory up to this size, more of it in a temporary file.
const MAX_IN_MEMORY: usize = 8 * 1024 * 1024;

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
    order: &Order,
    units: &'u [Unit],
    project: Option<&Path>,
) -> io::Result<Results<'u>> {
    let mut results = Vec::new();
    for Unit { main: input, others, .. } in units {
        if !others.is_empty() {
            let label = shown(&input.label());
            complain(&format!("{label}: installed without the other files of the session"));
        }
        let result = match order.install(input, &environment(), project) {
            Ok((done, installed)) => {
                if !installed.is_project_there {
                    complain(&format!("{}: no such folder", shown(&installed.project)));
                }
                writeln!(io::stdout(), "{}", installed.command())?;
                Ok(Outcome::Converted(Box::new(done)))
            }
            Err(refusal) => Err(refusal),
        };
        results.push((input, result));
    }
    Ok(results)
}

impl Order {
    /// Converts an input and puts the output where its client finds it.
    fn install(
        &self,
        input: &Input,
        environment: &Environment<'_>,
        project: Option<&Path>,
    ) -> Result<(Done, Installed), Refusal> {
        let store = self.to.store;
        let Some((store, place)) = store.and_then(|store| Some((store, store.place?))) else {
            return Err(NotInstalled::NoClient(self.to.name).into());
        };
        let (opened, redactions) = self.open(input)?;
        let mut source = Source::new(opened).with_scanners(self.n_scanners);
        let from = self.format_of(&mut source)?;
        let conversion = self.conversion(from);
        let mut written = SpooledTempFile::new(MAX_IN_MEMORY);
        let (mut report, sidecar) =
            conversion.run(&mut source, self.sidecar(input)?, &mut written)?;
        report.redactions = redactions;
        if sidecar.is_some() {
            return Err(Refusal::NothingShows(self.to.name));
        }
        let mut written = Source::new(Opened::spooled(written, Limits::NONE)?);
        if self.verify && self.carry != CarryMode::None {
            verify(&conversion, &mut source, &mut written, None)?;
        }
        let facts = self.check(&mut written)?;
        let project = project_of(project, &facts)?;
        // A copy keeps its name: lines may tell the id of a session that they were forked from.
        let is_copy = from.name == self.to.name;
        let id = file_stem(input).filter(|_| is_copy).or_else(|| meaning(&facts.session_id));
        let home = place(environment, &project, &id.unwrap_or_default());
        let home = home.ok_or(NotInstalled::NoHome)?;
        let path = home.path();
        refuse_links(&home)?;
        let exists = || Refusal::from(NotInstalled::Exists(shown(&path.to_string_lossy())));
        if path.symlink_metadata().is_ok() {
            return Err(exists());
        }
        let below: PathBuf = home.folder.iter().collect();
        let folder = Folder::create(&home.root)?.create_below(&below)?;
        let name = path.file_name().unwrap_or_default().to_owned();
        let mut target = Pending::create(Place { folder, name }, FILE_MODE, None, Asked::Nothing)?;
        written.copy_to(&mut target)?;
        let target = target.finish()?;
        match self.outputs.publish(vec![target]) {
            Err(Refusal::Exists(_)) => return Err(exists()),
            result => result?,
        }
        let is_project_there = Path::new(&project).is_dir();
        let installed =
            Installed { resume: store.resume, project, is_project_there, name: home.name };
        Ok((self.done(input, Some(path.display().to_string()), from, report), installed))
    }

    /// Checks that the client loads what was written, and returns what is known of it.
    fn check(&self, written: &mut Source<Opened>) -> Result<Facts, Refusal> {
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
    let odd = || NotInstalled::OddProject(shown(&path.to_string_lossy()));
    if !path.is_absolute() {
        return Err(odd());
    }
    // What a terminal would obey has no place in a command that is to be copied.
    let project = absolute(&path).to_str().map(str::to_owned).ok_or_else(odd)?;
    if shown(&project) == project { Ok(project) } else { Err(odd()) }
}

fn meaning(written: &Option<String>) -> Option<String> {
    Some(jsonl::Text::new(written.as_deref()?)?.decode().into_owned())
}

fn file_stem(input: &Input) -> Option<String> {
    match input {
        Input::File { path, .. } => Some(path.file_stem()?.to_str()?.to_owned()),
        Input::Stdin | Input::Lines { .. } | Input::Missing { .. } => None,
    }
}

/// Refuses links below the client's own folder.
fn refuse_links(home: &Home) -> Result<(), NotInstalled> {
    let mut path = home.root.clone();
    for part in &home.folder {
        path.push(part);
        if path.is_symlink() {
            return Err(NotInstalled::Link(shown(&path.to_string_lossy())));
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
