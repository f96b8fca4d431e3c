//! Merges the receipts of a plan, and checks that all are there and fit the plan.
//!
//! Plans and receipts are read again when their content is needed. For each unit, places and hashes are kept.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use core_model::Formats;

use super::{
    VERSION,
    kept_lines::{KeptLines, LinePlace},
    named,
    plan_index::{PlanIndex, hash},
    planned::Planned,
    receipt::{ReceiptLine, ReceiptStatus},
    store::Store,
};
use crate::{file_report::FileReport, record};

/// The merged receipts of a plan.
pub struct Merged<'p> {
    formats: Formats,
    plan: &'p mut PlanIndex,
    /// The files of receipts.
    files: Vec<KeptLines>,
    store: Option<Store>,
    kept: Vec<Option<Kept>>,
    /// The order of the units by the paths of their sessions; `None` if it is the plan's.
    order: Option<Vec<u32>>,
    problems: Vec<String>,
    n_strange: u64,
}

/// A receipt that was read: the place of its line, and the facts that decide between two receipts of a unit.
#[derive(Clone, Copy, Debug)]
struct Kept {
    /// The file and the place of its line; `None` in the store.
    place: Option<(u32, LinePlace)>,
    status: ReceiptStatus,
    has_sha256: bool,
    sha256: u32,
}

/// The receipt of a unit.
struct Receipt {
    planned: Planned,
    line: Vec<u8>,
}

/// The report on a file, with the file's path.
#[derive(Debug)]
pub struct LabeledReport {
    /// The path.
    pub label: String,
    /// The report.
    pub report: FileReport,
}

impl<'p> Merged<'p> {
    /// Creates a merge without receipts.
    pub fn of(formats: Formats, plan: &'p mut PlanIndex) -> Self {
        let kept = vec![None; plan.n_units()];
        let (files, store, order, problems) = (Vec::new(), None, None, Vec::new());
        Self { formats, plan, files, store, kept, order, problems, n_strange: 0 }
    }

    /// Reads receipts in any order, from standard input for `-`; for duplicate units, a successful receipt wins.
    ///
    /// # Errors
    ///
    /// Returns an error if the file or the plan cannot be read.
    pub fn read(&mut self, path: &Path) -> io::Result<()> {
        let mut lines = KeptLines::open(path)?;
        let (file_idx, mut taken) = (u32::try_from(self.files.len()).unwrap_or(u32::MAX), Ok(()));
        let read = lines.each(&mut |_, place, line| {
            taken = self.take(line, Some((file_idx, place)));
            taken.is_ok()
        });
        read.map_err(|error| named(error, path))?;
        self.files.push(lines);
        taken
    }

    /// Reads the receipts in the output folder.
    ///
    /// # Errors
    ///
    /// Returns an error if the plan cannot be read.
    pub fn read_store(&mut self, store: Store) -> io::Result<()> {
        let mut line = Vec::new();
        for unit_idx in 0..self.plan.n_units() {
            let planned = self.plan.unit(unit_idx, &mut line)?;
            if let Some(receipt) = store.read(&planned.id) {
                self.take(&receipt, None)?;
            }
        }
        self.store = Some(store);
        Ok(())
    }

    fn take(&mut self, line: &[u8], place: Option<(u32, LinePlace)>) -> io::Result<()> {
        let line: ReceiptLine<'_> = record::read(line).unwrap_or_default();
        let unit_idx = line.id.body().and_then(|id| self.plan.find(id));
        let status = line.status.decoded().and_then(|name| ReceiptStatus::named(&name));
        let (Some(VERSION), Some(unit_idx), Some(status)) = (line.v.0, unit_idx, status) else {
            self.n_strange += 1;
            return Ok(());
        };
        let planned = self.plan.unit(unit_idx, &mut Vec::new())?;
        let is_as_planned = line.etag.decoded().is_some_and(|etag| *etag == *planned.etag);
        let Some(kept) = self.kept.get_mut(unit_idx) else { return Ok(()) };
        if line.digest.hash() != Some(planned.digest) || !is_as_planned {
            // The receipt is of another plan, so the unit is not done.
            return Ok(());
        }
        let sha256 = line.sha256.body();
        let (has_sha256, sha256) = (sha256.is_some(), sha256.map_or(0, |it| hash(it) as u32));
        let new = Kept { place, status, has_sha256, sha256 };
        match kept {
            Some(kept)
                if kept.status != ReceiptStatus::Fail && new.status != ReceiptStatus::Fail =>
            {
                if (kept.has_sha256, kept.sha256) != (new.has_sha256, new.sha256) {
                    let id = planned.main.display();
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
        Ok(())
    }

    /// Returns the number of units without a receipt.
    pub fn n_missing(&self) -> usize {
        self.kept.iter().filter(|kept| kept.is_none()).count()
    }

    /// Reads the receipt of a unit again; `None` if there is none.
    fn receipt(&mut self, unit_idx: usize) -> io::Result<Option<Receipt>> {
        let Some(kept) = self.kept.get(unit_idx).copied().flatten() else { return Ok(None) };
        let mut line = Vec::new();
        let planned = self.plan.unit(unit_idx, &mut line)?;
        let changed = || {
            let main = planned.main.display();
            io::Error::other(format!("{main}: its receipt was changed while it was read"))
        };
        match kept.place {
            Some((file_idx, place)) => {
                let file = self.files.get_mut(file_idx as usize).ok_or_else(changed)?;
                file.read(place, &mut line)?;
            }
            None => {
                let store = self.store.as_ref().ok_or_else(changed)?;
                line = store.read(&planned.id).ok_or_else(changed)?;
            }
        }
        let is_of_unit = record::read::<ReceiptLine<'_>>(&line)
            .is_some_and(|receipt| receipt.id.body() == Some(&planned.id));
        if is_of_unit { Ok(Some(Receipt { planned, line })) } else { Err(changed()) }
    }

    /// Calls `each` with the lines of the journal for all outputs, and returns the total time of all units.
    ///
    /// # Errors
    ///
    /// Returns an error if the plan or the receipts cannot be read again, or if `each` returns one.
    pub fn each_written(
        &mut self,
        each: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<Duration> {
        let mut time = Duration::ZERO;
        let (mut is_sorted, mut before) = (true, PathBuf::new());
        for unit_idx in 0..self.plan.n_units() {
            let Some(Receipt { planned, line }) = self.receipt(unit_idx)? else { continue };
            let receipt: ReceiptLine<'_> = record::read(&line).unwrap_or_default();
            // The numbers of a stranger's receipts may be any.
            time = time.saturating_add(Duration::from_millis(receipt.ms.0.unwrap_or(0)));
            receipt.each_written(each)?;
            is_sorted &= before <= planned.main;
            before = planned.main;
        }
        self.order = if is_sorted { None } else { Some(self.by_path()?) };
        Ok(time)
    }

    /// Sorts the units by the paths of their sessions.
    fn by_path(&mut self) -> io::Result<Vec<u32>> {
        /// Limit on the bytes of paths in memory.
        const MAX_PATHS: usize = 2 * 1024 * 1024;
        let (mut runs, mut run, mut n_bytes) = (Vec::new(), Vec::new(), 0);
        let mut line = Vec::new();
        let sorted = |run: &mut Vec<(PathBuf, u32)>| {
            run.sort_by(|(one, _), (other, _)| one.cmp(other));
            run.drain(..).map(|(_, unit_idx)| unit_idx).collect::<Vec<u32>>().into_iter()
        };
        for unit_idx in 0..self.plan.n_units() {
            let main = self.plan.unit(unit_idx, &mut line)?.main;
            n_bytes += main.as_os_str().len() + size_of::<(PathBuf, u32)>();
            run.push((main, u32::try_from(unit_idx).unwrap_or(u32::MAX)));
            if n_bytes > MAX_PATHS {
                runs.push(sorted(&mut run));
                n_bytes = 0;
            }
        }
        runs.push(sorted(&mut run));
        drop(run);
        // The next unit of each run. Of equal paths, the first unit of the plan comes first.
        let mut next = BinaryHeap::new();
        let mut order = Vec::with_capacity(self.plan.n_units());
        let mut read = |at: u32| Ok::<_, io::Error>(self.plan.unit(at as usize, &mut line)?.main);
        for (run_idx, run) in runs.iter_mut().enumerate() {
            if let Some(first) = run.next() {
                next.push(Reverse((read(first)?, run_idx, first)));
            }
        }
        while let Some(Reverse((_, run_idx, unit_idx))) = next.pop() {
            order.push(unit_idx);
            if let Some(following) = runs.get_mut(run_idx).and_then(Iterator::next) {
                next.push(Reverse((read(following)?, run_idx, following)));
            }
        }
        Ok(order)
    }

    /// Calls `each` with the receipts, sorted by the paths of their sessions. [`Merged::each_written`] finds this order.
    fn each_receipt(
        &mut self,
        each: &mut dyn FnMut(&Planned, &ReceiptLine<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let order = self.order.take();
        for place in 0..self.plan.n_units() {
            let unit_idx = match &order {
                Some(order) => order.get(place).map_or(place, |unit_idx| *unit_idx as usize),
                None => place,
            };
            let Some(Receipt { planned, line }) = self.receipt(unit_idx)? else { continue };
            let receipt: ReceiptLine<'_> = record::read(&line).unwrap_or_default();
            each(&planned, &receipt)?;
        }
        self.order = order;
        Ok(())
    }

    /// Calls `each` with messages about units that failed, and about lines that are no receipts. Returns the number of
    /// files whose reports have counts alone.
    ///
    /// # Errors
    ///
    /// Returns an error if the plan or the receipts cannot be read again.
    pub fn each_problem(&mut self, each: &mut dyn FnMut(&str)) -> io::Result<u64> {
        std::mem::take(&mut self.problems).iter().for_each(|problem| each(problem));
        if self.n_strange > 0 {
            each(&format!("{} lines are no receipts of this plan", self.n_strange));
        }
        let (mut n_brief, formats) = (0, self.formats);
        self.each_receipt(&mut |planned, receipt| {
            let mut is_told = false;
            receipt.each_file(formats, &mut |mut file| {
                is_told |= !file.problems.is_empty();
                n_brief += u64::from(file.complete_json(""));
                Ok(())
            })?;
            // The error of a unit, if its files have none.
            if let Some(error) = receipt.error.decoded().filter(|_| !is_told) {
                each(&format!("{}: {error}", planned.main.display()));
            }
            Ok(())
        })?;
        Ok(n_brief)
    }

    /// Calls `each` with the reports, sorted by the paths of their sessions.
    ///
    /// # Errors
    ///
    /// Returns an error if the plan or the receipts cannot be read again, or if `each` returns one.
    pub fn each_report(
        &mut self,
        each: &mut dyn FnMut(LabeledReport) -> io::Result<()>,
    ) -> io::Result<()> {
        let formats = self.formats;
        self.each_receipt(&mut |planned, receipt| {
            let paths = std::iter::once(&planned.main).chain(&planned.subs);
            let mut paths = paths.chain(std::iter::repeat(&planned.main));
            receipt.each_file(formats, &mut |report| {
                let path = paths.next().unwrap_or(&planned.main);
                each(LabeledReport { label: path.to_string_lossy().into_owned(), report })
            })
        })
    }
}
