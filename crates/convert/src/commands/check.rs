//! `check`: finds records that a client would refuse or ignore.

pub(super) mod stale;

use std::{
    borrow::Cow,
    collections::BTreeMap,
    io::{self, Write},
    path::Path,
};

use archive::{Status, now_millis};
use conversion::{CarryAudit, CarryFault, Source};
use core_model::{Check, Format, Problem, Severity};
use jsonl::{Style, push_string};
use sessions::{Input, ReadError, UnknownFormat, single_format};
use storage::{Limits, Opened};

use self::stale::StaleFiles;
use crate::{
    FORMATS, by_name,
    cli::{Sources, format_names},
    formats::detect,
    hint::read_message,
    interrupt::is_interrupted,
    terminal::{escape::escape_for_terminal, figures::count, message::complain, stdout::stdout},
};

/// The inputs to check, and the form of findings.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    sources: Sources,
    /// The format whose client will load the inputs, instead of detecting it
    #[arg(long = "as", value_name = "FORMAT", value_parser = format_names())]
    format: Option<String>,
    /// Also compare files that tools wrote with the disk, as clido does before `-p --resume`
    #[arg(long)]
    files: bool,
    /// Print a JSON object for each finding
    #[arg(long)]
    json: bool,
}

/// Limit on the printed findings of one rule in one file; further ones are counted. JSON has all.
const MAX_SHOWN: u64 = 10;

/// Checks all inputs, prints findings, and returns the status.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let format = args.format.as_deref().and_then(by_name);
    let (inputs, is_folder) = args.sources.inputs(format, None)?;
    let mut out = io::BufWriter::new(stdout());
    let mut check = Checked::default();
    for input in &inputs {
        match check.input(input, format, args, &mut out) {
            Ok(()) => {}
            Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                return Err(error);
            }
            Err(ReadError::Format(UnknownFormat::Unknown))
                if is_folder && args.sources.paths.len() == 1 => {}
            Err(refusal) => {
                check.n_refused += 1;
                complain(&format!(
                    "{}: {}",
                    escape_for_terminal(&input.label()),
                    read_message(&refusal)
                ));
            }
        }
        if is_interrupted() {
            break;
        }
    }
    out.flush()?;
    match (inputs.len() as u64, &check) {
        (0, _) => complain(&args.sources.nothing_found("check")),
        (n, Checked { n_checked: 0, n_refused: 0, .. }) if !is_interrupted() => {
            complain(&format!("no session among {}", count(n, "file")));
        }
        _ => {}
    }
    Ok(match check {
        Checked { n_checked: 0, .. } => Status::Failed,
        Checked { n_stopped: 0, n_refused: 0, .. } => Status::Done,
        _ => Status::Attention,
    })
}

/// The counts of a check.
#[derive(Debug, Default)]
struct Checked {
    n_checked: u64,
    /// Inputs that their client refuses.
    n_stopped: u64,
    /// Inputs that could not be checked.
    n_refused: u64,
}

impl Checked {
    /// Checks an input in the given or detected format, and prints findings.
    fn input(
        &mut self,
        input: &Input,
        format: Option<&'static Format>,
        args: &Args,
        out: &mut dyn Write,
    ) -> Result<(), ReadError> {
        let mut source = Source::new(input.open(Limits::default())?);
        let label = input.label();
        let format = match format {
            Some(format) => Some(format),
            None => single_format(detect(&mut source)?)?,
        };
        self.n_checked += 1;
        let (label, is_json) = (&*label, args.json);
        let mut printer = Printer { label, is_json, out, counts: BTreeMap::new() };
        let name = format.map_or("empty", |format| format.name);
        let (mut stops, mut result) = (false, Ok(()));
        if let Some(format) = format {
            let mut files = StaleFiles::of_format(format).filter(|_| args.files);
            findings(input, &mut source, format, files.as_mut(), &mut |problem| {
                stops |= problem.stops();
                if result.is_ok() {
                    result = printer.problem(problem, format.name);
                }
            })?;
        }
        result?;
        self.n_stopped += u64::from(stops);
        printer.finish(name)?;
        Ok(())
    }
}

/// Returns a finding that no client makes: about a carry, which clients ignore, or about the check itself.
fn warning((offset, line): (u64, u64), rule: &'static str, message: String) -> Problem {
    Problem { offset, line, severity: Severity::Warns, rule, message: message.into() }
}

/// Returns the name of a file without its endings; if it is no UTF-8, with other characters for its bytes, so that the
/// name is checked too.
fn stem_for_check(input: &Input) -> Option<Cow<'_, str>> {
    let odd = || {
        let path = input.path().filter(|path| path.to_str().is_none())?;
        Some(Cow::Owned(path.file_stem()?.to_string_lossy().into_owned()))
    };
    input.stem().map(Cow::Borrowed).or_else(odd)
}

/// Calls `each` with the problems of a source for the client of a format, and with the faults of its
/// carries.
fn findings(
    input: &Input,
    source: &mut Source<Opened>,
    format: &'static Format,
    mut files: Option<&mut StaleFiles>,
    each: &mut dyn FnMut(Problem),
) -> io::Result<()> {
    let mut check = Check::new((format.checker)()).at(now_millis());
    if let Some(path) = input.path().filter(|_| input.storage().is_disk()) {
        check = check.in_folder(path.parent().unwrap_or(Path::new("")));
    }
    if let Some(stem) = stem_for_check(input) {
        check.name(&stem, each);
    }
    let (mut carries, mut last) = (CarryAudit::new(FORMATS, format), (0, 0));
    source.set_framing(format.framing);
    source.for_each(&mut |line, value| {
        last = (line.offset(), last.1 + u64::from(!line.is_glue()));
        if let Ok(value) = value
            && let Some(CarryFault { rule, message }) = carries.record(line, value)
        {
            each(warning(last, rule, message.to_owned()));
        }
        if let Some(error) = value.ok().and_then(|value| value.unread(line)) {
            each(warning(last, "many-values", format!("{}, and not checked", error.kind)));
        }
        if let Some(files) = files.as_deref_mut() {
            files.line(line, &value, each);
        }
        check.line(line, value, each);
        true
    })?;
    check.finish(each);
    if let Some(message) = carries.finish() {
        each(warning(last, "carry-cut", message));
    }
    Ok(())
}

/// Returns the problems of a session file for its client, as `convert check` prints them. The format of
/// the client is given, or detected.
///
/// # Errors
///
/// Returns an error if the file cannot be read, or its format is unknown.
pub fn check(input: &Input, format: Option<&'static Format>) -> Result<Vec<Problem>, ReadError> {
    let mut source = Source::new(input.open(Limits::default())?);
    let format = match format {
        Some(format) => Some(format),
        None => single_format(detect(&mut source)?)?,
    };
    let mut problems = Vec::new();
    if let Some(format) = format {
        findings(input, &mut source, format, None, &mut |it| problems.push(it))?;
    }
    Ok(problems)
}

struct Printer<'p> {
    label: &'p str,
    is_json: bool,
    out: &'p mut dyn Write,
    /// The number of findings for each rule.
    counts: BTreeMap<&'static str, (Problem, u64)>,
}

impl Printer<'_> {
    fn problem(&mut self, problem: Problem, format: &str) -> io::Result<()> {
        let entry = self.counts.entry(problem.rule);
        let (_, count) = entry.or_insert_with(|| (problem.clone(), 0));
        *count += 1;
        if self.is_json {
            return self.json(Some(&problem), format);
        }
        if *count > MAX_SHOWN {
            return Ok(());
        }
        let Problem { offset, line, severity, rule, message } = problem;
        let (label, severity) = (escape_for_terminal(self.label), severity.name());
        writeln!(
            self.out,
            "{label}:{line}: byte {offset}: {severity} {rule}: {}",
            escape_for_terminal(&message)
        )
    }

    /// Prints that nothing was found, or the number of further findings for each rule.
    fn finish(&mut self, format: &str) -> io::Result<()> {
        if self.counts.is_empty() && self.is_json {
            return self.json(None, format);
        }
        let label = escape_for_terminal(self.label);
        if self.counts.is_empty() {
            return writeln!(self.out, "{label}: ok ({format})");
        }
        if self.is_json {
            return Ok(());
        }
        for (rule, (problem, count)) in &self.counts {
            if *count > MAX_SHOWN {
                let (more, severity) = (count - MAX_SHOWN, problem.severity.name());
                writeln!(self.out, "{label}: {more} more: {severity} {rule}")?;
            }
        }
        Ok(())
    }

    /// Prints a finding, or that there is none, as an ASCII object.
    fn json(&mut self, problem: Option<&Problem>, format: &str) -> io::Result<()> {
        let mut line = Vec::from(*b"{\"file\":");
        push_string(&mut line, self.label, Style::Python);
        line.extend_from_slice(b",\"format\":");
        push_string(&mut line, format, Style::Python);
        match problem {
            None => line.extend_from_slice(b",\"ok\":true}\n"),
            Some(Problem { offset, line: number, severity, rule, message }) => {
                let severity = severity.name();
                let place = format!(",\"line\":{number},\"offset\":{offset}");
                line.extend_from_slice(place.as_bytes());
                let rule = format!(",\"severity\":\"{severity}\",\"rule\":\"{rule}\",\"message\":");
                line.extend_from_slice(rule.as_bytes());
                push_string(&mut line, message, Style::Python);
                line.extend_from_slice(b"}\n");
            }
        }
        self.out.write_all(&line)
    }
}
