//! Merges the receipts of a plan, and checks that all are there and fit the plan.

use std::{
    collections::HashMap,
    io::{self, Read},
    path::PathBuf,
    time::Duration,
};

use core_model::Formats;
use jsonl::Stream;

use super::{
    VERSION,
    planned::Planned,
    receipt::{ReceiptLine, ReceiptStatus},
    store::Store,
};
use crate::{file_report::FileReport, record};

/// The merged receipts of a plan.
#[derive(Debug)]
pub struct Merged<'p> {
    formats: Formats,
    plan: &'p [Planned],
    places: HashMap<&'p str, usize>,
    receipts: Vec<Option<Kept>>,
    /// The problems with the receipts, one per line.
    pub problems: Vec<String>,
    n_strange: u64,
    /// The lines of outputs that were about to get their names when a worker ended.
    begun: Vec<Box<str>>,
}

/// The used content of a receipt.
#[derive(Debug)]
struct Kept {
    status: ReceiptStatus,
    sha256: Option<Box<str>>,
    time: Duration,
    /// The error of a unit, if its files have none.
    error: Option<String>,
    files: Vec<FileReport>,
    written: Vec<Box<str>>,
}

impl<'p> Merged<'p> {
    /// Creates a merge without receipts.
    pub fn of(formats: Formats, plan: &'p [Planned]) -> Self {
        let places = plan.iter().enumerate().map(|(unit_idx, it)| (&*it.id, unit_idx)).collect();
        let receipts = plan.iter().map(|_| None).collect();
        let (problems, n_strange, begun) = Default::default();
        Self { formats, plan, places, receipts, problems, n_strange, begun }
    }

    /// Reads receipts in any order; for duplicate units, a successful receipt wins.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn read(&mut self, receipts: impl Read) -> io::Result<()> {
        let mut stream = Stream::new(receipts);
        while let Some(line) = stream.next()? {
            if !line.is_blank() {
                self.take(line.bytes());
            }
        }
        Ok(())
    }

    /// Reads the receipts in the output folder.
    pub fn read_store(&mut self, store: &Store) {
        for planned in self.plan {
            if let Some(receipt) = store.read(&planned.id) {
                self.take(&receipt);
            }
        }
    }

    /// Reads the lines of outputs of units that are not done: the outputs may be there.
    pub fn read_begun(&mut self, store: &Store) {
        let is_done = |kept: &Option<Kept>| {
            kept.as_ref().is_some_and(|kept| kept.status != ReceiptStatus::Fail)
        };
        for (planned, kept) in self.plan.iter().zip(&self.receipts) {
            if !is_done(kept)
                && let Ok(lines) = String::from_utf8(store.begun(&planned.id))
            {
                self.begun.extend(lines.lines().map(Box::from));
            }
        }
    }

    fn take(&mut self, line: &[u8]) {
        let line: ReceiptLine<'_> = record::read(line).unwrap_or_default();
        let place = line.id.body().and_then(|id| self.places.get(id).copied());
        let status = line.status.decoded().and_then(|name| ReceiptStatus::named(&name));
        let (Some(VERSION), Some(unit_idx), Some(status)) = (line.v.0, place, status) else {
            self.n_strange += 1;
            return;
        };
        let planned = &self.plan[unit_idx];
        let is_as_planned = line.etag.decoded().is_some_and(|etag| *etag == *planned.etag);
        if line.digest.hash() != Some(planned.digest) || !is_as_planned {
            // The receipt is of another plan, so the unit is not done.
            return;
        }
        let new = Kept::of(self.formats, &line, status);
        let id = planned.main.display();
        let kept = &mut self.receipts[unit_idx];
        match kept {
            Some(kept)
                if kept.status != ReceiptStatus::Fail && new.status != ReceiptStatus::Fail =>
            {
                if kept.sha256 != new.sha256 {
                    self.problems.push(format!("{id}: two receipts do not agree"));
                }
                // `Ok` has more content than `Skip`.
                if new.status == ReceiptStatus::Ok {
                    *kept = new;
                }
            }
            Some(_) if new.status == ReceiptStatus::Fail => {}
            _ => *kept = Some(new),
        }
    }

    /// Returns the number of units without a receipt.
    pub fn n_missing(&self) -> usize {
        self.receipts.iter().filter(|receipt| receipt.is_none()).count()
    }

    /// Returns the lines of the journal for all outputs, and for outputs that were about to get their names.
    pub fn written(&self) -> impl Iterator<Item = &str> {
        let receipts = self.receipts.iter().flatten();
        receipts.flat_map(|it| &it.written).chain(&self.begun).map(|line| &**line)
    }

    /// Returns the total time of all units.
    pub fn time(&self) -> Duration {
        self.receipts.iter().flatten().map(|it| it.time).sum()
    }

    /// Returns the reports and the problems.
    pub fn settle(self) -> MergedReports {
        let mut problems = self.problems;
        if self.n_strange > 0 {
            problems.push(format!("{} lines are no receipts of this plan", self.n_strange));
        }
        let mut of_unit: Vec<(&Planned, Kept)> = Vec::new();
        for (planned, kept) in self.plan.iter().zip(self.receipts) {
            of_unit.extend(kept.map(|kept| (planned, kept)));
        }
        of_unit.sort_by_key(|(planned, _)| &planned.main);
        let mut files = Vec::new();
        for (planned, kept) in of_unit {
            if let Some(error) = kept.error {
                problems.push(format!("{}: {error}", planned.main.display()));
            }
            let paths = std::iter::once(&planned.main).chain(&planned.subs);
            let paths = paths.chain(std::iter::repeat(&planned.main));
            let label = |path: &PathBuf| path.to_string_lossy().into_owned();
            let labels = paths.map(label);
            files.extend(
                labels.zip(kept.files).map(|(label, report)| LabeledReport { label, report }),
            );
        }
        MergedReports { files, problems }
    }
}

/// The reports of a plan's units.
#[derive(Debug)]
pub struct MergedReports {
    /// The reports, sorted by the paths of their sessions.
    pub files: Vec<LabeledReport>,
    /// Messages about units that failed, and about lines that are no receipts.
    pub problems: Vec<String>,
}

/// The report on a file, with the file's path.
#[derive(Debug)]
pub struct LabeledReport {
    /// The path.
    pub label: String,
    /// The report.
    pub report: FileReport,
}

impl Kept {
    fn of(formats: Formats, line: &ReceiptLine<'_>, status: ReceiptStatus) -> Self {
        let files = line.files.0.iter().flatten().filter_map(|file| file.0.as_ref());
        let files: Vec<FileReport> = files.filter_map(|file| file.report(formats)).collect();
        let is_told = files.iter().any(|file| !file.problems.is_empty());
        let written = line.written.0.iter().flatten();
        Self {
            status,
            sha256: line.sha256.body().map(Into::into),
            time: Duration::from_millis(line.ms.0.unwrap_or(0)),
            error: line.error.decoded().filter(|_| !is_told),
            files,
            written: written.map(|line| line.get().into()).collect(),
        }
    }
}
