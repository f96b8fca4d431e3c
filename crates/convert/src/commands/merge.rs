//! `merge`: checks that all units of a plan were converted, and writes their journal and one
//! report.

use std::{
    io,
    path::{Path, PathBuf},
};

use archive::{
    Journal, Merged, MergedReports, OutputRoot, Planned, Queue, ReportOptions, Status, Store,
    named, open,
};
use clap::ValueHint;
use sessions::Stores;

use crate::{
    FORMATS,
    cli::ConversionArgs,
    hint::convert_hint,
    interrupt::INTERRUPTION,
    report::{self, SummarySettings},
    terminal::{
        escape::escape_for_terminal,
        figures::count,
        message::{complain, failed},
        progress::say,
    },
};

/// The receipts, the plan, and the report.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Files with receipts; `-` for standard input; nothing for the receipts stored in the output
    /// folder
    #[arg(value_hint = ValueHint::FilePath)]
    receipts: Vec<PathBuf>,
    /// The plan
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    plan: PathBuf,
    /// Write a report as JSON: an object for each file, and the totals
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    report: Option<PathBuf>,
    /// Print errors only
    #[arg(short, long)]
    quiet: bool,
}

/// Merges the receipts. Returns the status that a single run would have returned.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let plan = match read_plan(&args.plan)? {
        Ok(plan) => plan,
        Err(why) => {
            return failed(&format!(
                "{}: {why}",
                escape_for_terminal(&args.plan.to_string_lossy())
            ));
        }
    };
    let Some(first) = plan.first() else {
        return failed("the plan has no units; write one with `convert plan`");
    };
    report::check_place(args.report.as_deref())?;
    let is_like_first = |it: &Planned| it.root == first.root && it.digest == first.digest;
    if !plan.iter().all(is_like_first) {
        return failed(
            "the units of the plan have different output folders or options; merge each plan alone",
        );
    }
    let config = match ConversionArgs::parse_job(&first.options) {
        Ok(config) => config,
        Err(why) => return failed(&why),
    };
    let options = config.output_options.clone();
    let base = OutputRoot::open(&first.root, &mut Stores::new(INTERRUPTION));
    let base = base.map_err(|error| named(error, &first.root))?;
    let journal = match Journal::of_base(&base, options.clone()) {
        Ok(journal) => journal,
        Err(why) => {
            return failed(&format!(
                "{}: {why}",
                escape_for_terminal(&first.root.to_string_lossy())
            ));
        }
    };
    let mut merged = Merged::of(FORMATS, &plan);
    for path in &args.receipts {
        merged.read(open(path)?).map_err(|error| named(error, path))?;
    }
    let store = Store::of(base.clone(), INTERRUPTION);
    if args.receipts.is_empty() {
        merged.read_store(&store);
    }
    merged.read_begun(&store);
    for line in merged.written() {
        journal.append_new(line.as_bytes())?;
    }
    journal.sync()?;
    journal.close()?;
    // A worker that was killed after another one had converted its units has left files in folders to which no
    // later worker writes.
    base.remove_dead();
    let (n_missing, time) = (merged.n_missing(), merged.time());
    let MergedReports { mut files, problems } = merged.settle();
    let n_brief: u64 =
        files.iter_mut().map(|it| u64::from(it.report.complete_json(&it.label))).sum();
    let reports: Vec<_> = files.into_iter().map(|it| it.report).collect();
    problems.iter().for_each(|problem| complain(problem));
    if n_missing > 0 {
        let n_units = plan.len();
        complain(&format!(
            "{n_missing} of {n_units} units have no receipt; run `convert work` with the plan again"
        ));
    }
    if args.report.is_some() && n_brief > 0 && !args.quiet {
        say(&format!(
            "{} in the report with their counts alone; `work --report json` adds the positions",
            count(n_brief, "file"),
        ));
    }
    let settings = SummarySettings {
        config: &config,
        report_options: ReportOptions {
            hint: Some(convert_hint),
            fail_on_loss: config.fail_on_loss,
            is_folder: true,
            quiet: args.quiet,
            verbose: false,
            wants_objects: args.report.is_some(),
            interruption: INTERRUPTION,
        },
        output: Some(&first.root),
        is_dry_run: false,
        report: args.report.as_deref(),
    };
    let status = report::close(&settings, &reports, None, time)?;
    let is_whole = n_missing == 0 && problems.is_empty();
    Ok(if is_whole || reports.is_empty() { status } else { status.max(Status::Attention) })
}

/// Reads a plan. An invalid line is reported with its number.
fn read_plan(path: &Path) -> io::Result<Result<Vec<Planned>, String>> {
    let queue = Queue::read(open(path)?, None)?;
    let mut plan = Vec::new();
    loop {
        let lines = queue.take(usize::MAX, u64::MAX).map_err(|error| named(error, path))?;
        if lines.is_empty() {
            return Ok(Ok(plan));
        }
        for line in lines {
            match line {
                Ok(planned) => plan.push(planned),
                Err((number, why)) => return Ok(Err(format!("line {number} is no unit: {why}"))),
            }
        }
    }
}
