//! `work`: converts units of a plan, and prints a receipt for each.

use std::{
    io::{self, Read, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use archive::{
    AllowedRoots, Queue, Shard, Status, Warnings, Worker, on_threads, open, receipt_of_no_unit,
};
use clap::{ValueHint, builder::PossibleValuesParser};
use sessions::Stores;

use crate::{
    cli::{ConversionArgs, Durability, format_names},
    environment::{n_cores, n_jobs},
    hint::convert_hint,
    interrupt::{INTERRUPTION, is_interrupted},
    program::words,
    terminal::{message::warn, stdout::stdout},
};

/// Limit on the units that all threads of a worker flush to the disk together.
const MAX_UNITS: usize = 64;
/// The bytes of units after which a thread flushes.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// The plan, and the options of the worker.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Plans, one after the other; `-` or nothing for standard input
    #[arg(value_hint = ValueHint::FilePath)]
    plans: Vec<PathBuf>,
    /// Convert every N-th unit of the plan, starting with unit I, counted from 1
    #[arg(long, value_name = "I/N", value_parser = Shard::parse)]
    shard: Option<Shard>,
    #[command(flatten)]
    how: WorkerArgs,
}

/// The options that `work` and workers in a program share.
#[derive(clap::Args, Debug)]
pub(crate) struct WorkerArgs {
    /// Refuse units that are planned for another format
    #[arg(long, value_parser = format_names())]
    to: Option<String>,
    /// Refuse units that are planned for another folder. Needed for a folder that has files of others and no
    /// journal, and for a new hidden one
    #[arg(short, long, value_name = "FOLDER", value_hint = ValueHint::AnyPath)]
    output: Option<PathBuf>,
    /// Put the reports of files into the receipts, for `merge --report`
    #[arg(long, value_name = "FORM", value_parser = PossibleValuesParser::new(["json"]))]
    report: Option<String>,
    /// Overwrite existing files and keep each as NAME.bak
    #[arg(long)]
    force: bool,
    /// When to flush written files to the disk; receipts follow
    #[arg(
        long,
        value_enum,
        default_value = "batch",
        env = "CONVERT_DURABILITY",
        hide_env_values = true
    )]
    durability: Durability,
    /// The number of units to convert at once [default: the number of cores]
    #[arg(short, long, env = "CONVERT_JOBS", hide_env_values = true)]
    jobs: Option<usize>,
}

/// Converts all units, prints a receipt for each, and returns the status. A failed unit is in its
/// receipt and does not change the status.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let mut plan: Box<dyn Read + Send> = Box::new(io::empty());
    for path in &args.plans {
        plan = Box::new(plan.chain(open(path)?));
    }
    if args.plans.is_empty() {
        plan = Box::new(io::stdin());
    }
    let queue = Queue::read(plan, args.shard)?;
    UnitWorker::of(&args.how).work_all(&queue, &|receipts| {
        let mut out = stdout();
        out.write_all(receipts)?;
        out.flush()
    })?;
    Ok(Status::Done)
}

/// A worker that converts units of plans, with the options of `convert work`.
pub struct UnitWorker {
    worker: Worker,
    n_jobs: usize,
}

impl UnitWorker {
    /// Creates a worker with options such as `["--jobs", "1"]`.
    ///
    /// # Errors
    ///
    /// Returns an error with the message of the command line if an option is unknown.
    pub fn new(options: &[String]) -> io::Result<Self> {
        Ok(Self::of(&words::<WorkerArgs>("work", options)?))
    }

    fn of(args: &WorkerArgs) -> Self {
        let worker = Worker {
            hint: Some(convert_hint),
            parse: ConversionArgs::parse_work,
            interruption: INTERRUPTION,
            warnings: Warnings::new(warn),
            to: args.to.clone(),
            allowed: AllowedRoots { output: args.output.clone() },
            durability: args.durability.into(),
            force: args.force,
            wants_reports: args.report.is_some(),
            roots: Mutex::default(),
            stores: Mutex::new(Stores::new(INTERRUPTION)),
        };
        Self { worker, n_jobs: n_jobs(args.jobs, n_cores()) }
    }

    /// Converts units, one line each, and returns their receipts as lines, in any order. A failed unit is
    /// in its receipt.
    ///
    /// # Errors
    ///
    /// Returns an error if a thread cannot go on.
    pub fn work(&self, units: Vec<u8>) -> io::Result<Vec<u8>> {
        let all = Mutex::new(Vec::new());
        self.work_all(&Queue::read(io::Cursor::new(units), None)?, &|receipts| {
            all.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(receipts);
            Ok(())
        })?;
        Ok(all.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Converts the units of a queue, and calls `each` with the receipts of some at a time.
    fn work_all(
        &self,
        queue: &Queue,
        each: &(dyn Fn(&[u8]) -> io::Result<()> + Sync),
    ) -> io::Result<()> {
        let caught = || {
            // A panic in one thread does not stop the others.
            catch_unwind(AssertUnwindSafe(|| self.work_on(queue, each))).unwrap_or_else(|_| {
                Err(io::Error::other(
                    "a fault in convert itself; the message before this one says where",
                ))
            })
        };
        on_threads(self.n_jobs, caught).into_iter().collect()
    }

    /// Converts units on this thread until the queue is empty.
    fn work_on(
        &self,
        queue: &Queue,
        each: &(dyn Fn(&[u8]) -> io::Result<()> + Sync),
    ) -> io::Result<()> {
        // With many threads, each flushes after few units: unflushed files stay open.
        let max_units = (MAX_UNITS / self.n_jobs).max(4);
        while !is_interrupted() {
            let lines = queue.take(max_units, MAX_BYTES)?;
            if lines.is_empty() {
                break;
            }
            let (mut units, mut receipts) = (Vec::new(), Vec::new());
            for line in lines {
                match line {
                    Ok(planned) => units.push(planned),
                    Err((number, why)) => receipts.push(receipt_of_no_unit(number, &why)),
                }
            }
            receipts.extend(self.worker.work(&units));
            each(&receipts.concat())?;
        }
        Ok(())
    }
}
