//! `repair`: writes a damaged or cut session so that its client takes it, and lists every change.
//!
//! In: a clido session whose last line is torn, with an open call. Out: the session without the torn
//! line, with an error as the result of the call; and these two changes as messages.

mod bytes;
mod changes;
mod pieces;

use std::{
    io::{self, BufWriter, Seek, Write},
    path::{Path, PathBuf},
};

use archive::Status;
use clap::ValueHint;
use clap_complete::engine::ArgValueCompleter;
use conversion::{CarryMode, Conversion, Source, Target};
use core_model::{Format, Options, Problem};
use sessions::{Input, ReadError, known};
use storage::{Identity, Limits, Opened};

use self::pieces::Pieces;
use crate::{
    FORMATS, by_name,
    cli::{complete::Sessions, format_names, named_output},
    environment::{inputs, lookup},
    formats::detect,
    hint::{io_message, read_message},
    new_file::{warn_of_sidecar, write_new_with_sidecar},
    reading::whole::{CHUNK, seekable},
    terminal::{
        escape::escape_for_terminal, figures::count, message::failed, progress::say,
        session_bytes::session_stdout,
    },
};

/// The session to repair, and the file to write.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// A file, or the id of a session; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath, add = ArgValueCompleter::new(Sessions))]
    input: PathBuf,
    /// The file to write, which must not exist [default: -, standard output]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// The format whose client will load the session, instead of detecting it
    #[arg(long = "as", visible_alias = "from", value_name = "FORMAT", value_parser = format_names())]
    format: Option<String>,
    /// List the changes and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Limit on passes that leave records out: one may leave another without its call.
const MAX_PASSES: usize = 16;

/// Rules about the first record of a session, which cannot be left out.
const HEADER_RULES: [&str; 4] = ["meta-first", "header-first", "id", "meta-member"];

/// Rules about the links of records.
const LINK_RULES: [&str; 2] = ["prompt-first", "circle"];

/// Rules about a parent that is not in the file.
const DANGLING_RULES: [&str; 2] = ["dangling-parent", "missing-parent"];

/// Repairs a session and writes it.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let lookup = &lookup(None, None, None);
    let (inputs, is_folder) = inputs(std::slice::from_ref(&args.input), lookup)?;
    let [input] = inputs.as_slice() else {
        return failed("repair takes one session: name a file or an id");
    };
    if is_folder {
        return failed("repair takes one session: name a file or an id");
    }
    let label = escape_for_terminal(&input.label());
    let output = named_output(args.output.as_deref());
    let is_input = |output: &&Path| {
        let place = |path: &Path| Identity::of_path(path).ok();
        input.path().and_then(place).is_some_and(|source| place(output) == Some(source))
    };
    if let Some(output) = output.filter(is_input) {
        let output = output.to_string_lossy();
        return failed(&format!("{output}: exists; name a file that does not, with -o"));
    }
    let (source, format) = match read(input, args) {
        Ok(read) => read,
        Err(refusal) => return failed(&format!("{label}: {}", read_message(&refusal))),
    };
    let unread = |error| failed(&format!("{label}: {}", io_message(&error)));
    let (mut pieces, left) = match repaired(source, format) {
        Ok(repaired) => repaired,
        Err(error) => return unread(error),
    };
    let printed = pieces.each_change(&mut |change| {
        let place = match change.line {
            0 => String::new(),
            line => format!("{line}: byte {}:", change.offset),
        };
        say(&format!("{label}:{place} {}", escape_for_terminal(&change.what.to_string())));
    });
    if let Err(error) = printed {
        return unread(error);
    }
    if let Some(problem) = left.first() {
        let message = format!(
            "{label}: cannot be repaired: {} would still refuse line {}: {} ({}); nothing is written",
            format.name, problem.line, problem.message, problem.rule
        );
        return failed(&message);
    }
    if pieces.had_message && !pieces.has_message()? {
        return failed(&format!(
            "{label}: cannot be repaired: no message would be left; nothing is written"
        ));
    }
    let records = count(pieces.len() as u64, "record");
    let changes = match pieces.changes.len() as u64 + pieces.n_split {
        0 => "nothing to repair".to_owned(),
        n_changes => count(n_changes, "change"),
    };
    let fate = if args.dry_run { "nothing is written" } else { "`convert check` accepts them" };
    if !args.dry_run {
        match output {
            Some(path) => {
                // A file with other bytes is not overwritten.
                if let Err(error) = write_new_with_sidecar(input, path, |file| pieces.write(file)) {
                    return failed(&io_message(&error));
                }
            }
            None => {
                let mut stdout = BufWriter::with_capacity(CHUNK, session_stdout());
                pieces.write(&mut stdout)?;
                stdout.flush()?;
                warn_of_sidecar(input)?;
            }
        }
    }
    say(&format!("{label}: {records} ({}), {changes}; {fate}", format.name));
    Ok(Status::Done)
}

/// Opens a session, and returns it with its format.
fn read(input: &Input, args: &Args) -> Result<(Opened, &'static Format), ReadError> {
    let mut source = seekable(input.open(Limits::default())?)?;
    let format = match args.format.as_deref().and_then(by_name) {
        Some(format) => format,
        None => known(FORMATS, detect(&mut Source::new(&mut source))?)?,
    };
    if format.framing.is_document() {
        let message = format!("a {} session is one JSON document; repair takes lines", format.name);
        return Err(io::Error::other(message).into());
    }
    source.rewind()?;
    Ok((source, format))
}

/// Repairs a session. Returns its records, and the problems that are left.
fn repaired(source: Opened, format: &'static Format) -> io::Result<(Pieces, Vec<Problem>)> {
    let mut pieces = Pieces::of(source, format)?;
    // A damaged record may have been the parent of others.
    if pieces.has_damage {
        for problem in pieces.problems(|problem| DANGLING_RULES.contains(&problem.rule))? {
            pieces.link_to_previous(problem.line)?;
        }
    }
    let mut problems = pieces.stops()?;
    let is_mark = |problem: &Problem| problem.rule == "byte-order-mark";
    if problems.iter().any(is_mark) && pieces.remove_mark()? {
        problems = pieces.stops()?;
    }
    if format.name == format_clido::FORMAT.name {
        pieces.repair_as_clido()?;
        problems = pieces.stops()?;
    }
    let mut has_header = true;
    for _ in 0..MAX_PASSES {
        let is_header = |problem: &Problem| HEADER_RULES.contains(&problem.rule);
        let (headers, others): (Vec<_>, Vec<_>) = problems.into_iter().partition(is_header);
        let is_changed = match headers.first() {
            Some(header) if others.is_empty() && has_header => {
                has_header = false;
                // A bad header is replaced, and a missing one is added.
                let is_bad = !header.rule.ends_with("-first");
                if is_bad {
                    pieces.leave_out(&headers)?;
                }
                match new_header(&mut pieces, format)? {
                    Some(line) => {
                        pieces.put_first(&line, "added a new first record".to_owned())?;
                        true
                    }
                    None => is_bad,
                }
            }
            _ => {
                let is_link = |problem: &Problem| LINK_RULES.contains(&problem.rule);
                let (links, rest): (Vec<_>, Vec<_>) = others.into_iter().partition(is_link);
                // What is left out may cut a link, so links come last.
                match links.first() {
                    Some(link) if rest.is_empty() => {
                        pieces.link_to_previous(link.line)? || pieces.leave_out(&links)?
                    }
                    _ => pieces.leave_out(&rest)?,
                }
            }
        };
        problems = pieces.stops()?;
        if !is_changed {
            break;
        }
    }
    Ok((pieces, problems))
}

/// Returns the first record that the format's writer writes for a session.
fn new_header(pieces: &mut Pieces, format: &'static Format) -> io::Result<Option<Vec<u8>>> {
    let conversion = Conversion {
        formats: FORMATS,
        from: format,
        to: format,
        carry: CarryMode::None,
        options: Options::default(),
    };
    let mut written = FirstLine::default();
    pieces
        .written_source()?
        .with_events(format, |events| conversion.run_events(events, Target::of(&mut written)))?;
    Ok(Some(written.line).filter(|_| written.has_bytes))
}

/// Keeps the first line that is written.
#[derive(Default)]
struct FirstLine {
    /// The line without its newline.
    line: Vec<u8>,
    has_bytes: bool,
    is_whole: bool,
}

impl Write for FirstLine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.has_bytes |= !bytes.is_empty();
        if !self.is_whole {
            let end = memchr::memchr(b'\n', bytes);
            self.line
                .extend_from_slice(bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default());
            self.is_whole = end.is_some();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
