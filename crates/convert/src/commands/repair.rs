//! `repair`: writes a damaged or cut session so that its client takes it, and lists every change.
//!
//! In: a clido session whose last line is torn, with an open call. Out: the session without the torn
//! line, with an error as the result of the call; and these two changes as messages.

mod pieces;

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use archive::Status;
use clap::ValueHint;
use clap_complete::engine::ArgValueCompleter;
use conversion::{CarryMode, Conversion, Source, Target};
use core_model::{Format, Options, Problem};
use format_clido::{BadLines, Repaired};
use sessions::{Input, ReadError, known};
use storage::Identity;

use self::pieces::Pieces;
use crate::{
    FORMATS, by_name,
    cli::{complete::Sessions, format_names, named_output},
    environment::{inputs, lookup},
    formats::detect,
    hint::{io_message, read_message},
    new_file::{warn_of_sidecar, write_new_with_sidecar},
    reading::whole::read_whole,
    terminal::{
        escape::escape_for_terminal, figures::count, message::failed, progress::say, stdout::stdout,
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
    let (pieces, left) = match repaired(&source, format) {
        Ok(repaired) => repaired,
        Err(error) => return failed(&format!("{label}: {}", io_message(&error))),
    };
    let mut changes: Vec<_> = pieces.changes.iter().collect();
    changes.sort_by_key(|change| change.offset);
    for change in changes {
        let place = match change.line {
            0 => String::new(),
            line => format!("{line}: byte {}:", change.offset),
        };
        say(&format!("{label}:{place} {}", escape_for_terminal(&change.what.to_string())));
    }
    if let Some(problem) = left.first() {
        let message = format!(
            "{label}: cannot be repaired: {} would still refuse line {}: {} ({}); nothing is written",
            format.name, problem.line, problem.message, problem.rule
        );
        return failed(&message);
    }
    if !pieces.has_message() && Pieces::of(&source, format)?.has_message() {
        return failed(&format!(
            "{label}: cannot be repaired: no message would be left; nothing is written"
        ));
    }
    let records = count(pieces.len() as u64, "record");
    let changes = match pieces.changes.len() {
        0 => "nothing to repair".to_owned(),
        n_changes => count(n_changes as u64, "change"),
    };
    let fate = if args.dry_run { "nothing is written" } else { "`convert check` accepts them" };
    if !args.dry_run {
        let bytes = pieces.bytes();
        match output {
            Some(path) => {
                // A file with other bytes is not overwritten.
                if let Err(error) = write_new_with_sidecar(input, path, &bytes) {
                    return failed(&io_message(&error));
                }
            }
            None => {
                let mut stdout = stdout();
                stdout.write_all(&bytes)?;
                stdout.flush()?;
                warn_of_sidecar(input)?;
            }
        }
    }
    say(&format!("{label}: {records} ({}), {changes}; {fate}", format.name));
    Ok(Status::Done)
}

/// Returns the bytes of a session, expanded, and its format.
fn read(input: &Input, args: &Args) -> Result<(Vec<u8>, &'static Format), ReadError> {
    let source = read_whole(input)?;
    let format = match args.format.as_deref().and_then(by_name) {
        Some(format) => format,
        None => known(FORMATS, detect(&mut Source::new(io::Cursor::new(&source)))?)?,
    };
    if format.framing.is_document() {
        let message = format!("a {} session is one JSON document; repair takes lines", format.name);
        return Err(io::Error::other(message).into());
    }
    Ok((source, format))
}

/// Repairs a session. Returns its records, and the problems that are left.
fn repaired<'s>(
    source: &'s [u8],
    format: &'static Format,
) -> io::Result<(Pieces<'s>, Vec<Problem>)> {
    let mut pieces = Pieces::of(source, format)?;
    // A damaged record may have been the parent of others.
    if pieces.has_damage {
        let is_dangling = |problem: &&Problem| DANGLING_RULES.contains(&problem.rule);
        for problem in pieces.problems().iter().filter(is_dangling) {
            pieces.link_to_previous(problem.line);
        }
    }
    let mut problems = pieces.stops();
    let is_mark = |problem: &Problem| problem.rule == "byte-order-mark";
    if problems.iter().any(is_mark) && pieces.remove_mark() {
        problems = pieces.stops();
    }
    if format.name == format_clido::FORMAT.name {
        as_clido(&mut pieces);
        problems = pieces.stops();
    }
    let mut has_header = true;
    for _ in 0..MAX_PASSES {
        let is_header = |problem: &Problem| HEADER_RULES.contains(&problem.rule);
        let (headers, others): (Vec<_>, Vec<_>) = problems.iter().cloned().partition(is_header);
        let is_changed = match headers.first() {
            Some(header) if others.is_empty() && has_header => {
                has_header = false;
                // A bad header is replaced, and a missing one is added.
                let is_bad = !header.rule.ends_with("-first");
                if is_bad {
                    pieces.leave_out(&headers);
                }
                match new_header(&pieces.bytes(), format)? {
                    Some(line) => {
                        pieces.put_first(line, "added a new first record".to_owned());
                        true
                    }
                    None => is_bad,
                }
            }
            _ => {
                let is_link = |problem: &&Problem| LINK_RULES.contains(&problem.rule);
                let (links, rest): (Vec<_>, Vec<_>) =
                    others.into_iter().partition(|problem| is_link(&problem));
                // What is left out may cut a link, so links come last.
                match links.first() {
                    Some(link) if rest.is_empty() => {
                        pieces.link_to_previous(link.line) || pieces.leave_out(&links)
                    }
                    _ => pieces.leave_out(&rest),
                }
            }
        };
        if !is_changed {
            break;
        }
        problems = pieces.stops();
    }
    Ok((pieces, problems))
}

/// Leaves out what clido does not load, and answers open calls as clido does.
fn as_clido(pieces: &mut Pieces<'_>) {
    let session = pieces.bytes();
    let Repaired { session: repaired, bad_lines, bad_blocks, closed } =
        format_clido::repair(&session, BadLines::Drop);
    for Problem { line, rule, message, .. } in bad_lines {
        pieces.change(line, format!("left out a record ({rule}): {message}"));
    }
    // The blocks are in the order of their records, which are not known.
    for block in bad_blocks {
        let json: String = block.as_str().chars().take(MAX_JSON).collect();
        pieces.change(0, format!("left out a block that clido does not know: {json}"));
    }
    for id in closed {
        let what = format!("gave the open call {id} an error as its result, as clido does");
        pieces.change(pieces.len() as u64, what);
    }
    if repaired != session {
        pieces.replace(&repaired);
    }
}

/// Limit on the printed characters of a block.
const MAX_JSON: usize = 80;

/// Returns the first record that the format's writer writes for a session.
fn new_header(source: &[u8], format: &'static Format) -> io::Result<Option<Vec<u8>>> {
    let conversion = Conversion {
        formats: FORMATS,
        from: format,
        to: format,
        carry: CarryMode::None,
        options: Options::default(),
    };
    let mut written = Vec::new();
    Source::new(io::Cursor::new(source))
        .with_events(format, |events| conversion.run_events(events, Target::of(&mut written)))?;
    let first = jsonl::lines(&written).next().map(|line| line.bytes().to_vec());
    Ok(first.map(|line| line.strip_suffix(b"\n").unwrap_or(&line).to_vec()))
}
