//! Completions: the script for a shell, and the answers to it.
//!
//! The script calls this program with `CONVERT_COMPLETE=bash` and the words of the command line. The
//! program prints candidates, one per line: commands, options and their values from the definition of
//! the command line, and ids, projects and tool names from the sessions of this machine.

use std::{
    collections::BTreeSet,
    env,
    ffi::{OsStr, OsString},
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::OnceLock,
    time::SystemTime,
};

use clap::CommandFactory;
use clap_complete::{
    engine::{CompletionCandidate, PathCompleter, ValueCompleter},
    env::Shells,
};
use core_model::Block;
use sessions::{Input, LATEST, Prefilter, Stored};

use super::Cli;
use crate::{
    commands::list::{project, titles},
    environment::{lookup, read},
    terminal::{
        escape::escape_for_terminal,
        progress::{Mode, Progress},
        stdout::stdout,
    },
};

/// The variable by which a shell asks.
const VARIABLE: &str = "CONVERT_COMPLETE";

/// The number of ids that are offered, the newest first.
const MAX_IDS: usize = 40;

/// The number of sessions, the newest first, that are read for their projects in folders with the
/// sessions of all projects.
const MAX_READ: usize = 200;

/// The number of sessions, the newest first, that are searched for tools.
const MAX_SEARCHED: usize = 20;

/// The bytes of a session that are searched for tools.
const MAX_BYTES: u64 = 1024 * 1024;

/// Returns the shell that asks for completions, if one does.
pub(crate) fn asking_shell() -> Option<String> {
    env::var(VARIABLE).ok().filter(|shell| !shell.is_empty())
}

/// Prints the candidates for the words after `--`, in the form of the shell.
///
/// # Errors
///
/// Returns an error if the shell is unknown, or nobody reads the candidates.
pub(crate) fn answer(shell: &str, args: Vec<OsString>) -> io::Result<()> {
    let words: Vec<OsString> = args.into_iter().skip_while(|word| word != "--").skip(1).collect();
    let mut program = Cli::command();
    program.build();
    let mut candidates = Vec::new();
    let folder = env::current_dir().ok();
    completer(shell)?.write_complete(&mut program, words, folder.as_deref(), &mut candidates)?;
    stdout().write_all(&candidates)
}

/// The path of the program, if it runs in the process of another one.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Says that this process is not the program: scripts for shells call the program at this path. Only the
/// first call counts.
pub fn run_as(program: PathBuf) {
    _ = PROGRAM.set(program);
}

/// Returns the script that makes a shell ask. It completes the words of the program under the name of its file.
///
/// # Errors
///
/// Returns an error if the shell is unknown.
pub(crate) fn registration(shell: &str) -> io::Result<Vec<u8>> {
    let mut script = Vec::new();
    let program = program();
    let name = Path::new(&program).file_stem().and_then(OsStr::to_str).unwrap_or("convert");
    completer(shell)?.write_registration(VARIABLE, name, name, &program, &mut script)?;
    Ok(script)
}

fn completer(shell: &str) -> io::Result<&'static dyn clap_complete::env::EnvCompleter> {
    const SHELLS: Shells<'static> = Shells::builtins();
    let found = SHELLS.0.iter().find(|known| known.is(shell)).copied();
    found.ok_or_else(|| {
        io::Error::other(format!(
            "{}: no such shell; `convert completions --help` lists them",
            escape_for_terminal(shell)
        ))
    })
}

/// Returns how the script calls this program: by its path, since another `convert` may be first on
/// the `PATH`.
fn program() -> String {
    let known = PROGRAM.get().cloned();
    let path = known.or_else(|| env::current_exe().ok()).unwrap_or_else(|| "convert".into());
    path.to_string_lossy().into_owned()
}

/// Completes files, folders, and ids of sessions with their titles.
#[derive(Clone, Debug)]
pub(crate) struct Sessions;

impl ValueCompleter for Sessions {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let mut candidates = PathCompleter::any().stdio().complete(current);
        let Some(start) = current.to_str() else { return candidates };
        if !start.is_empty() && LATEST.starts_with(start) {
            let help = "the session that was written last".into();
            candidates.push(CompletionCandidate::new(LATEST).help(Some(help)));
        }
        // A session and its converted copy have one id.
        let mut known = BTreeSet::new();
        let ids = newest_sessions().into_iter().filter_map(|session| {
            let id = session.id()?.to_owned();
            let is_wanted = is_plain(&id) && id.starts_with(start) && known.insert(id.clone());
            is_wanted.then_some((id, session.path))
        });
        let (ids, paths): (Vec<_>, Vec<_>) = ids.take(MAX_IDS).unzip();
        candidates.extend(ids.into_iter().zip(titles(&paths)).map(|(id, title)| {
            CompletionCandidate::new(id).help(title.map(|title| first_words(&title).into()))
        }));
        candidates
    }
}

/// Completes folders, and those in which sessions were started.
#[derive(Clone, Debug)]
pub(crate) struct Projects;

impl ValueCompleter for Projects {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let mut candidates = PathCompleter::dir().complete(current);
        let Some(start) = current.to_str() else { return candidates };
        let mut folders = BTreeSet::new();
        let mut projects = BTreeSet::new();
        let mut n_read = 0;
        for Stored { format, path, .. } in newest_sessions() {
            // The sessions of other folders are of one project each.
            let is_shared = format.store.is_some_and(|store| store.is_shared);
            let is_wanted = match is_shared {
                true => n_read < MAX_READ,
                false => folders.insert(path.parent().map(Path::to_owned)),
            };
            if projects.len() < MAX_IDS && is_wanted {
                n_read += usize::from(is_shared);
                projects.extend(project(&Input::file(path)));
            }
        }
        let projects = projects.into_iter().filter(|it| it.starts_with(start) && !is_odd(it));
        candidates.extend(projects.map(CompletionCandidate::new));
        candidates
    }
}

/// Completes the names of tools that the newest sessions used.
#[derive(Clone, Debug)]
pub(crate) struct Tools;

impl ValueCompleter for Tools {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let Some(start) = current.to_str() else { return Vec::new() };
        let mut names = BTreeSet::new();
        for session in newest_sessions().into_iter().take(MAX_SEARCHED) {
            names.extend(tools_of(&session.path));
        }
        let names = names.into_iter().filter(|name| name.starts_with(start) && is_plain(name));
        names.map(CompletionCandidate::new).collect()
    }
}

/// Returns the sessions of this machine that are files, the newest first; none if no client keeps any. To
/// read databases takes too long for a completion.
fn newest_sessions() -> Vec<Stored> {
    let sessions = lookup(None, None, None).session_files(&mut |_| {});
    let modified = |path: &Path| {
        fs::metadata(path).and_then(|it| it.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
    };
    let mut sessions: Vec<_> =
        sessions.into_iter().map(|session| (modified(&session.path), session)).collect();
    sessions.sort_by(|(one_time, one), (other_time, other)| {
        other_time.cmp(one_time).then_with(|| other.path.cmp(&one.path))
    });
    sessions.into_iter().map(|(_, session)| session).collect()
}

/// Returns the names of the tools that the first [`MAX_BYTES`] of a session use.
fn tools_of(path: &Path) -> BTreeSet<String> {
    let input = Input::file(path.to_owned());
    let progress = Progress::of(Mode::None, [&input]);
    let mut names = BTreeSet::new();
    // A file that cannot be read has no names to offer.
    _ = read(&input, None, &Prefilter::ALL, &progress, &mut |place, _, event| {
        let message = event.ok().and_then(|event| event.message());
        for (block, _) in message.into_iter().flat_map(|message| message.blocks()) {
            if let Block::ToolUse(tool) = block {
                names.insert(tool.name.decode().into_owned());
            }
        }
        Ok(place.offset < MAX_BYTES)
    });
    names
}

/// Returns whether a name needs no quotes in a shell.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// Returns whether a path has characters that a shell or a terminal may obey.
fn is_odd(path: &str) -> bool {
    path.chars().any(|char| char.is_control() || "\"'`$\\;&|<>*?".contains(char))
}

/// Returns the start of a title, without characters that a terminal may obey.
fn first_words(title: &str) -> String {
    escape_for_terminal(&title.chars().take(60).collect::<String>())
}
