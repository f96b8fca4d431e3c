//! `merge`: checks that all units of a plan were converted, and writes their journal and one
//! report.

use std::{io, path::PathBuf};

use archive::{
    AllowedRoots, BadPlan, Journal, LabeledReport, Merged, OutputRoot, PlanIndex, ReportOptions,
    Status, Store, named,
};
use clap::ValueHint;
use sessions::Stores;
use storage::JOURNAL;

use crate::{
    FORMATS,
    cli::ConversionArgs,
    hint::convert_hint,
    interrupt::INTERRUPTION,
    report::{self, Closing, SummarySettings},
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
    let mut plan = match PlanIndex::read(&args.plan) {
        Ok(plan) => plan,
        Err(BadPlan::Io(error)) => return Err(error),
        Err(BadPlan::Empty) => return failed(&BadPlan::Empty.to_string()),
        Err(why) => {
            return failed(&format!(
                "{}: {why}",
                escape_for_terminal(&args.plan.to_string_lossy())
            ));
        }
    };
    let first = plan.first.clone();
    report::check_place(args.report.as_deref())?;
    if !plan.is_uniform {
        return failed(
            "the units of the plan have different output folders or options; merge each plan alone",
        );
    }
    let config = match ConversionArgs::parse_job(&first.options) {
        Ok(config) => config,
        Err(why) => return failed(&why),
    };
    let options = config.output_options.clone();
    // A journal in a folder of others would open it to workers.
    if let Err(why) = AllowedRoots::default().check(&first.root) {
        return failed(&escape_for_terminal(&why));
    }
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
    let n_units = plan.n_units();
    let mut merged = Merged::of(FORMATS, &mut plan);
    for path in &args.receipts {
        merged.read(path)?;
    }
    if args.receipts.is_empty() {
        merged.read_store(Store::of(base.clone(), INTERRUPTION))?;
    }
    let path = first.root.join(JOURNAL);
    let in_journal = |error| named(error, &path);
    let time = merged.each_written(&mut |line| journal.append_new(line).map_err(in_journal))?;
    journal.sync().and_then(|()| journal.close()).map_err(in_journal)?;
    // A worker that was killed after another one had converted its units has left files in folders to which no
    // later worker writes.
    base.remove_dead();
    let (n_missing, mut n_problems) = (merged.n_missing(), 0_u64);
    let n_brief = merged.each_problem(&mut |problem| {
        n_problems += 1;
        complain(problem);
    })?;
    if n_missing > 0 {
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
    let mut closing = Closing::new(settings);
    merged.each_report(&mut |LabeledReport { label, mut report }| {
        report.complete_json(&label);
        closing.push(&report)
    })?;
    let (is_whole, n_files) = (n_missing == 0 && n_problems == 0, closing.n_files());
    let status = closing.finish(None, time)?;
    Ok(if is_whole || n_files == 0 { status } else { status.max(Status::Attention) })
}
