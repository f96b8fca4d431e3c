//! What is kept of a file when its job is over: what is to be said of it, and its figures.

use std::io;

use core_model::LossKind;
use jsonl::{Style, push_string};

use crate::{
    account::describe::{Done, place},
    cli::ConvertArgs,
    conversions::Outcome,
    input::Input,
    interrupt::is_interrupted,
    job::{Refusal, verdict::Verdict},
    output::is_no_space,
    run::Status,
    terminal::shown::shown,
};

/// What is kept of a file when its job is over.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) end: End,
    pub(crate) verdict: Verdict,
    pub(crate) status: Status,
    /// Whether it has a line that cannot be read, and that is not wanted.
    pub(crate) is_refused_for_damage: bool,
    /// What wants attention, a line each.
    pub(crate) problems: Vec<String>,
    /// What was done, a line each.
    pub(crate) summary: Vec<String>,
    /// Its object in the report.
    pub(crate) json: Vec<u8>,
    /// Where it was written, as the report says it.
    pub(crate) output: Option<String>,
    pub(crate) figures: Figures,
}

/// How the job of a file ended.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum End {
    Converted,
    Copied,
    /// It is within the file of its session, or left out as asked for.
    Inside,
    UpToDate,
    /// Another file has the same content, and was converted.
    SameAsAnother,
    /// It is no session.
    NotOurs,
    /// The run ended before.
    Left,
    /// Whoever reads what we write has read enough.
    Enough,
    Refused,
}

/// The figures of a file.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    pub(crate) bytes_in: u64,
    pub(crate) lines_out: u64,
    pub(crate) n_damaged: u64,
    pub(crate) from: Option<&'static str>,
    pub(crate) losses: Vec<(LossKind, &'static str, u64)>,
}

impl Settled {
    /// Takes from the result of a file what the end of the run needs.
    pub(crate) fn of(
        args: &ConvertArgs,
        is_folder: bool,
        input: &Input,
        result: &Result<Outcome, Refusal>,
    ) -> Self {
        let mut settled = Self {
            end: End::Refused,
            verdict: Verdict::of(result),
            status: Status::Done,
            is_refused_for_damage: false,
            problems: Vec::new(),
            summary: Vec::new(),
            json: Vec::new(),
            output: None,
            figures: Figures::default(),
        };
        match result {
            Ok(Outcome::Converted(done)) => settled.take_done(args, is_folder, done),
            Ok(Outcome::Copied) => settled.end = End::Copied,
            Ok(Outcome::Inside | Outcome::LeftOut) => settled.end = End::Inside,
            Ok(Outcome::UpToDate(verdict)) => {
                settled.end = End::UpToDate;
                let is_loss = *verdict == Verdict::DoneWithLoss && args.fail_on_loss;
                if *verdict == Verdict::Damaged || is_loss {
                    settled.status = Status::Attention;
                }
                if !is_folder || args.verbose {
                    let label = shown(&input.label());
                    settled.summary.push(format!("{label}: up to date"));
                }
            }
            Ok(Outcome::SameAs(_)) => settled.end = End::SameAsAnother,
            Err(Refusal::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                settled.end = End::Enough;
            }
            Err(Refusal::NoSpace(_)) => settled.end = End::Left,
            Err(_) if is_interrupted() => settled.end = End::Left,
            // In a folder, files of other programs are no failure.
            Err(Refusal::Unknown) if is_folder && input.is_found() => {
                settled.end = End::NotOurs;
                if args.verbose {
                    settled.problems.push(format!("{}: not a session", shown(&input.label())));
                }
            }
            Err(refusal) => settled.take_refusal(input, refusal),
        }
        let is_told = !matches!(settled.end, End::NotOurs | End::Left | End::Enough);
        if args.report.is_some() && is_told && settled.json.is_empty() {
            settled.json = object(input, settled.verdict, result);
        }
        settled
    }

    fn take_done(&mut self, args: &ConvertArgs, is_folder: bool, done: &Done) {
        let report = &done.report;
        self.end = End::Converted;
        let is_loss = args.fail_on_loss && !report.losses.is_empty();
        if report.wants_attention() || is_loss || done.is_changing {
            self.status = Status::Attention;
        }
        self.problems = done.problems();
        if !args.quiet && (!is_folder || args.verbose) {
            self.summary = done.summary();
        }
        if args.report.is_some() {
            done.push_json(self.verdict, &mut self.json);
        }
        self.output.clone_from(&done.output);
        self.figures = Figures {
            bytes_in: report.bytes_in,
            lines_out: report.lines_out,
            n_damaged: report.n_damaged,
            from: Some(done.from),
            losses: report.losses.iter().map(|(kind, field, it)| (kind, field, it.count)).collect(),
        };
    }

    fn take_refusal(&mut self, input: &Input, refusal: &Refusal) {
        let label = shown(&input.label());
        self.status = Status::Failed;
        self.is_refused_for_damage = refusal.damage().is_some();
        self.problems.push(match refusal.damage() {
            Some(damage) => format!("{} (--strict)", place(&label, damage)),
            None => format!("{label}: {refusal}"),
        });
        // A disk that is full is no fault of what was asked for.
        let is_too_large = |error: &io::Error| error.kind() == io::ErrorKind::FileTooLarge;
        if matches!(refusal, Refusal::Io(error) if is_no_space(error) || is_too_large(error)) {
            self.status = Status::Attention;
        }
    }
}

/// Returns the report's object of a file that was not converted now.
fn object(input: &Input, verdict: Verdict, result: &Result<Outcome, Refusal>) -> Vec<u8> {
    let mut out = b"{\"source\":".to_vec();
    push_string(&mut out, &input.label(), Style::Compact);
    out.extend_from_slice(format!(",\"status\":\"{}\"", verdict.name()).as_bytes());
    match result {
        Ok(Outcome::UpToDate(_)) => out.extend_from_slice(b",\"up_to_date\":true"),
        Ok(Outcome::SameAs(other)) => {
            out.extend_from_slice(b",\"same_as\":");
            push_string(&mut out, other, Style::Compact);
        }
        Ok(_) => {}
        Err(refusal) => {
            out.extend_from_slice(b",\"error\":");
            push_string(&mut out, &refusal.to_string(), Style::Compact);
        }
    }
    out.push(b'}');
    out
}
