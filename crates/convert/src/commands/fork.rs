//! `fork`: copies a session of clido or Claude Code under a new id.
//!
//! In: `a.jsonl`. Out: the same conversation in `b.jsonl` with the id `b`, and the command that resumes it.

use std::{
    io::{self, BufWriter, Seek, Write},
    path::PathBuf,
};

use archive::Status;
use clap::ValueHint;
use clap_complete::engine::ArgValueCompleter;
use conversion::Source;
use core_model::{Format, event_millis, uuid_of_name};
use format_claude_code::{Fork, ForkPlan};
use jsonl::{Scanner, Stream};
use sessions::{Input, ReadError, known};
use storage::{Backend, Limits, Opened};

use crate::{
    FORMATS,
    cli::{complete::Sessions, named_output},
    environment::{inputs, lookup},
    formats::detect,
    hint::{io_message, read_message},
    new_file::{warn_of_sidecar, write_new_with_sidecar},
    reading::whole::{CHUNK, check_unchanged, seekable},
    terminal::{
        escape::escape_for_terminal, message::failed, progress::say, session_bytes::session_stdout,
        stdout::stdout,
    },
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
    /// The title of the copy (Claude Code) [default: the title of the session, then (fork)]
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
    let (mut source, format) = match read(input) {
        Ok(read) => read,
        Err(refusal) => return failed(&format!("{label}: {}", read_message(&refusal))),
    };
    let unread = |error| failed(&format!("{label}: {}", io_message(&error)));
    let (n_bytes, now) = match survey(&mut source, format) {
        Ok(found) => found,
        Err(error) => return unread(error),
    };
    let old_id = input.stem().unwrap_or("session");
    // The same session has the same copies, whenever they are made.
    let id_of = |n: u64| uuid_of_name("fork", &format!("{old_id}\0{n_bytes}\0{n}"));
    let (id, path) = match (args.install, input) {
        (true, Input::File { storage: Backend::Disk, path, .. }) => {
            let copy = |n| (id_of(n), path.with_file_name(format!("{}.jsonl", id_of(n))));
            let free = (0..u64::MAX).map(copy).find(|(_, path)| !path.exists());
            free.map_or_else(|| (id_of(0), None), |(id, path)| (id, Some(path)))
        }
        (true, _) => return failed("--install needs a session that is a file on this machine"),
        (false, _) => (id_of(0), named_output(args.output.as_deref()).map(PathBuf::from)),
    };
    let mut copy = match ForkedCopy::of(&mut source, format, args, (old_id, &id), now) {
        Ok(Ok(copy)) => copy,
        Ok(Err(reason)) => return failed(&format!("{label}: {reason}")),
        Err(error) => return unread(error),
    };
    let Some(path) = path else {
        let mut stdout = BufWriter::with_capacity(CHUNK, session_stdout());
        match copy.write(&mut source, &mut stdout) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return unread(error),
            written => written?,
        }
        stdout.flush()?;
        warn_of_sidecar(input)?;
        return Ok(Status::Done);
    };
    let written = write_new_with_sidecar(input, &path, |file| copy.write(&mut source, file));
    match written {
        // It names the output.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return failed(&io_message(&error));
        }
        Err(error) => return unread(error),
        Ok(()) => {}
    }
    say(&format!("{}: written", escape_for_terminal(&path.to_string_lossy())));
    if let Some(store) = format.store.filter(|_| args.install) {
        // The command is the only line on standard output.
        writeln!(stdout(), "{} {id}", store.resume.join(" "))?;
    }
    Ok(Status::Done)
}

/// Opens a session, and returns it with its format.
fn read(input: &Input) -> Result<(Opened, &'static Format), ReadError> {
    let mut source = seekable(input.open(Limits::default())?)?;
    let found = detect(&mut Source::new(&mut source))?;
    source.rewind()?;
    Ok((source, known(FORMATS, found)?))
}

/// A copy of a session whose lines are read when they are written.
enum ForkedCopy<'f> {
    /// A session of Claude Code, whose ids are replaced.
    Plan(Box<ForkPlan<'f>>),
    /// The first line of a copy, before the whole session.
    Line(String),
}

impl<'f> ForkedCopy<'f> {
    /// Prepares the copy. Returns an outer error if the session cannot be read, and the reason if it cannot be copied.
    fn of(
        source: &mut Opened,
        format: &Format,
        args: &'f Args,
        (source_id, session_id): (&'f str, &'f str),
        now: i64,
    ) -> io::Result<Result<Self, String>> {
        source.rewind()?;
        if format.name == format_claude_code::FORMAT.name {
            let (up_to, title) = (args.up_to.as_deref(), args.title.as_deref());
            let plan = ForkPlan::read(source, Fork { source_id, session_id, up_to, title, now })?;
            return Ok(plan.map(|it| Self::Plan(Box::new(it))).map_err(|error| error.to_string()));
        }
        if format.name != format_clido::FORMAT.name {
            return Ok(Err(format!(
                "fork copies sessions of clido and Claude Code; this is one of {}, whose client \
                 forks its sessions itself",
                format.name
            )));
        }
        if args.up_to.is_some() || args.title.is_some() {
            let reason = "--up-to and --title are for Claude Code; clido copies whole sessions";
            return Ok(Err(reason.into()));
        }
        let line = format_clido::fork_line(source, session_id, now)?;
        Ok(line.map(Self::Line).map_err(|error| error.to_string()))
    }

    /// Writes the copy. Returns an error if the session changed since it was opened, unless lines were added.
    fn write(&mut self, source: &mut Opened, sink: &mut dyn Write) -> io::Result<()> {
        source.rewind()?;
        self.write_read(source, sink)?;
        check_unchanged(source)
    }

    fn write_read(&mut self, source: &mut Opened, sink: &mut dyn Write) -> io::Result<()> {
        let first = match self {
            Self::Plan(plan) => return plan.write(source, sink),
            Self::Line(first) => first,
        };
        writeln!(sink, "{first}")?;
        let mut lines = Stream::new(source);
        let mut is_ended = true;
        while let Some(line) = lines.next()? {
            sink.write_all(line.bytes())?;
            is_ended = line.is_terminated();
        }
        if is_ended { Ok(()) } else { sink.write_all(b"\n") }
    }
}

/// Returns the size of a session, and its latest time in milliseconds since 1970, which the copy gets as its own; 0
/// without a time.
fn survey(source: &mut Opened, format: &Format) -> io::Result<(u64, i64)> {
    let (mut scanner, mut last, mut n_bytes) = (Scanner::default(), None, 0);
    let mut lines = Stream::new(source);
    while let Some(line) = lines.next()? {
        n_bytes = line.end();
        if let Ok(value) = scanner.scan(&line) {
            last = last.max(event_millis(&format.first_event(value)));
        }
    }
    Ok((n_bytes, last.unwrap_or(0)))
}
