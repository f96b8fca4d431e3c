//! `fork`: copies a session of clido or Claude Code under a new id.
//!
//! In: `a.jsonl`. Out: the same conversation in `b.jsonl` with the id `b`, and the command that resumes it.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use archive::Status;
use clap::ValueHint;
use clap_complete::engine::ArgValueCompleter;
use conversion::Source;
use core_model::{Format, event_millis, uuid_of_name};
use format_claude_code::{Fork, Transcript};
use jsonl::Scanner;
use sessions::{Input, ReadError, known};
use storage::Backend;

use crate::{
    FORMATS,
    cli::{complete::Sessions, named_output},
    environment::{inputs, lookup},
    formats::detect,
    hint::{io_message, read_message},
    new_file::{warn_of_sidecar, write_new_with_sidecar},
    reading::whole::read_whole,
    terminal::{escape::escape_for_terminal, message::failed, progress::say, stdout::stdout},
};

/// The session to copy, and the place of the copy.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// A file, or the id of a session
    #[arg(value_hint = ValueHint::FilePath, add = ArgValueCompleter::new(Sessions))]
    input: PathBuf,
    /// The file to write, which must not exist [default: -, standard output]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Write the copy beside the session, under its new id, and print the command that resumes it
    #[arg(long, conflicts_with = "output")]
    install: bool,
    /// Copy up to the message with this id (Claude Code)
    #[arg(long, value_name = "ID")]
    up_to: Option<String>,
    /// The title of the copy (Claude Code) [default: that of the session and ` (fork)`]
    #[arg(long)]
    title: Option<String>,
}

/// Copies a session.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let lookup = &lookup(None, None, None);
    let (inputs, is_folder) = inputs(std::slice::from_ref(&args.input), lookup)?;
    let input = match inputs.as_slice() {
        [input] if !is_folder => input,
        _ => return failed("fork takes one session: name a file or an id"),
    };
    let label = input.label();
    let (source, format) = match read(input) {
        Ok(read) => read,
        Err(refusal) => return failed(&format!("{label}: {}", read_message(&refusal))),
    };
    let old_id = input.stem().unwrap_or("session");
    // The same session has the same copies, whenever they are made.
    let id_of = |n: u64| uuid_of_name("fork", &format!("{old_id}\0{}\0{n}", source.len()));
    let (id, path) = match (args.install, input) {
        (true, Input::File { storage: Backend::Disk, path, .. }) => {
            let copy = |n| (id_of(n), path.with_file_name(format!("{}.jsonl", id_of(n))));
            let free = (0..u64::MAX).map(copy).find(|(_, path)| !path.exists());
            free.map_or_else(|| (id_of(0), None), |(id, path)| (id, Some(path)))
        }
        (true, _) => return failed("--install needs a session that is a file on this machine"),
        (false, _) => (id_of(0), named_output(args.output.as_deref()).map(PathBuf::from)),
    };
    let copy = match copied(&source, format, args, (old_id, &id)) {
        Ok(copy) => copy,
        Err(reason) => return failed(&format!("{label}: {reason}")),
    };
    let Some(path) = path else {
        let mut stdout = stdout();
        stdout.write_all(&copy)?;
        stdout.flush()?;
        warn_of_sidecar(input)?;
        return Ok(Status::Done);
    };
    if let Err(error) = write_new_with_sidecar(input, &path, |file| file.write_all(&copy)) {
        return failed(&io_message(&error));
    }
    say(&format!("{}: written", escape_for_terminal(&path.to_string_lossy())));
    if let Some(store) = format.store.filter(|_| args.install) {
        // The command is the only line on standard output.
        writeln!(stdout(), "{} {id}", store.resume.join(" "))?;
    }
    Ok(Status::Done)
}

/// Returns the bytes of a session, expanded, and its format.
fn read(input: &Input) -> Result<(Vec<u8>, &'static Format), ReadError> {
    let source = read_whole(input)?;
    let found = detect(&mut Source::new(io::Cursor::new(&source)))?;
    Ok((source, known(FORMATS, found)?))
}

/// Returns the copy, or the reason why there is none.
fn copied(
    source: &[u8],
    format: &Format,
    args: &Args,
    (source_id, session_id): (&str, &str),
) -> Result<Vec<u8>, String> {
    let now = last_time(source, format);
    if format.name == format_claude_code::FORMAT.name {
        let (up_to, title) = (args.up_to.as_deref(), args.title.as_deref());
        let ids = Fork { source_id, session_id, up_to, title, now };
        let copy = format_claude_code::fork(&Transcript::from_slice(source), &ids);
        return copy.map(String::into_bytes).map_err(|error| error.to_string());
    }
    if format.name != format_clido::FORMAT.name {
        return Err(format!(
            "fork copies sessions of clido and Claude Code; this is one of {}, whose client forks \
             its sessions itself",
            format.name
        ));
    }
    if args.up_to.is_some() || args.title.is_some() {
        return Err("--up-to and --title are for Claude Code; clido copies whole sessions".into());
    }
    format_clido::fork(source, session_id, now).map_err(|error| error.to_string())
}

/// Returns the latest time in a session, in milliseconds since 1970, which the copy gets as its own; 0
/// without a time.
fn last_time(source: &[u8], format: &Format) -> i64 {
    let (mut scanner, mut last) = (Scanner::default(), None);
    for line in jsonl::lines(source) {
        if let Ok(value) = scanner.scan(&line) {
            last = last.max(event_millis(&format.first_event(value)));
        }
    }
    last.unwrap_or(0)
}
