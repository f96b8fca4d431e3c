//! Merges the receipts of a plan, and checks that all are there and fit the plan.

use std::{
    collections::{BTreeMap, HashMap},
    io::{self, Read},
    path::PathBuf,
    time::Duration,
};

use core_model::Formats;
use jsonl::{Scanner, Stream, Value};

use super::{
    VERSION,
    planned::Planned,
    receipt::{self, ReceiptStatus},
    store::Store,
};
use crate::file_report::FileReport;

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
}

/// The used content of a receipt.
#[derive(Debug)]
struct Kept {
    word: ReceiptStatus,
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
        Self { formats, plan, places, receipts, problems: Vec::new(), n_strange: 0 }
    }

    /// Reads receipts in any order; for duplicate units, a successful receipt wins.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn read(&mut self, receipts: impl Read) -> io::Result<()> {
        let (mut stream, mut scanner) = (Stream::new(receipts), Scanner::default());
        while let Some(line) = stream.next()? {
            if !line.is_blank() {
                self.take(scanner.scan(&line).ok());
            }
        }
        Ok(())
    }

    /// Reads the receipts in the output folder.
    pub fn read_store(&mut self, store: &Store) {
        let mut scanner = Scanner::default();
        for planned in self.plan {
            if let Some(receipt) = store.read(&planned.id) {
                self.take(scanner.scan_slice(&receipt, 0).ok());
            }
        }
    }

    fn take(&mut self, line: Option<Value<'_>>) {
        let text = |name| line.and_then(|line| line.get(name)?.text());
        let version = line.and_then(|line| line.get("v")?.raw().as_u64());
        let place = text("id").and_then(|id| self.places.get(id.body()).copied());
        let word = text("status").and_then(|status| ReceiptStatus::named(&status.decode()));
        let (Some(VERSION), Some(unit_idx), Some(word)) = (version, place, word) else {
            self.n_strange += 1;
            return;
        };
        let planned = &self.plan[unit_idx];
        let digest = text("digest").and_then(|text| u64::from_str_radix(text.body(), 16).ok());
        let is_as_planned = text("etag").is_some_and(|etag| etag.decode() == *planned.etag);
        if digest != Some(planned.digest) || !is_as_planned {
            // The receipt is of another plan, so the unit is not done.
            return;
        }
        let new = Kept::of(self.formats, line, word);
        let id = planned.main.display();
        let kept = &mut self.receipts[unit_idx];
        match kept {
            Some(kept) if kept.word != ReceiptStatus::Fail && new.word != ReceiptStatus::Fail => {
                if kept.sha256 != new.sha256 {
                    self.problems.push(format!("{id}: two receipts do not agree"));
                }
                // `Ok` has more content than `Skip`.
                if new.word == ReceiptStatus::Ok {
                    *kept = new;
                }
            }
            Some(_) if new.word == ReceiptStatus::Fail => {}
            _ => *kept = Some(new),
        }
    }

    /// Returns the number of units without a receipt.
    pub fn n_missing(&self) -> usize {
        self.receipts.iter().filter(|receipt| receipt.is_none()).count()
    }

    /// Returns the pieces of each file that was planned in pieces and is complete, in order, and
    /// its number of lines.
    pub fn whole_files(&self) -> Vec<(Vec<&'p Planned>, u64)> {
        let mut files: BTreeMap<&str, Option<(Vec<&Planned>, u64)>> = BTreeMap::new();
        for (planned, receipt) in self.plan.iter().zip(&self.receipts) {
            let Some(piece) = &planned.piece else { continue };
            let file = files.entry(&piece.of).or_insert_with(|| Some(Default::default()));
            let receipt = receipt.as_ref().filter(|receipt| receipt.word != ReceiptStatus::Fail);
            *file = file.take().zip(receipt).map(|((mut pieces, n_lines), receipt)| {
                pieces.push(planned);
                let of_piece = receipt.files.iter().map(|it| it.figures.lines_out).sum::<u64>();
                (pieces, n_lines + of_piece)
            });
        }
        let mut files: Vec<(Vec<&Planned>, u64)> = files.into_values().flatten().collect();
        for (pieces, _) in &mut files {
            pieces.sort_by_key(|it| it.piece.as_ref().map(|piece| piece.range));
        }
        files
    }

    /// Returns the lines of the journal for all outputs.
    pub fn written(&self) -> impl Iterator<Item = &str> {
        // The lines of pieces are not needed after their file was joined.
        let of_units = self.plan.iter().zip(&self.receipts).filter(|(it, _)| it.piece.is_none());
        let receipts = of_units.filter_map(|(_, receipt)| receipt.as_ref());
        receipts.flat_map(|it| it.written.iter().map(|line| &**line))
    }

    /// Returns the total time of all units.
    pub fn time(&self) -> Duration {
        self.receipts.iter().flatten().map(|it| it.time).sum()
    }

    /// Returns the report on each file with its path, sorted by path, and the problems.
    pub fn settle(self) -> (Vec<(String, FileReport)>, Vec<String>) {
        let mut problems = self.problems;
        if self.n_strange > 0 {
            problems.push(format!("{} lines are no receipts of this plan", self.n_strange));
        }
        let mut of_unit: Vec<(&Planned, Kept)> = Vec::new();
        for (planned, kept) in self.plan.iter().zip(self.receipts) {
            of_unit.extend(kept.map(|kept| (planned, kept)));
        }
        let range = |planned: &Planned| planned.piece.as_ref().map(|piece| piece.range);
        of_unit.sort_by_key(|(planned, _)| (&planned.main, range(planned)));
        let mut settled: Vec<(String, FileReport)> = Vec::new();
        let mut last = None;
        for (planned, kept) in of_unit {
            if let Some(error) = kept.error {
                problems.push(format!("{}: {error}", planned.main.display()));
            }
            let of = planned.piece.as_ref().map(|piece| &piece.of);
            match (kept.files, settled.last_mut()) {
                (files, Some((_, whole))) if of.is_some() && of == last => {
                    files.into_iter().for_each(|piece| whole.absorb(piece));
                }
                (files, _) => {
                    let paths = std::iter::once(&planned.main).chain(&planned.subs);
                    let paths = paths.chain(std::iter::repeat(&planned.main));
                    let label = |path: &PathBuf| path.to_string_lossy().into_owned();
                    settled.extend(paths.map(label).zip(files));
                }
            }
            last = of;
        }
        (settled, problems)
    }
}

impl Kept {
    fn of(formats: Formats, line: Option<Value<'_>>, word: ReceiptStatus) -> Self {
        let text = |name| line.and_then(|line| line.get(name)?.text());
        let items =
            |name| line.and_then(|line| Some(line.get(name)?.items())).into_iter().flatten();
        let files: Vec<FileReport> =
            items("files").filter_map(|file| receipt::settled(formats, file)).collect();
        let is_told = files.iter().any(|file| !file.problems.is_empty());
        let millis = line.and_then(|line| line.get("ms")?.raw().as_u64()).unwrap_or(0);
        Self {
            word,
            sha256: text("sha256").map(|text| text.body().into()),
            time: Duration::from_millis(millis),
            error: text("error").filter(|_| !is_told).map(|text| text.decode().into_owned()),
            files,
            written: items("written").map(|line| line.raw().as_str().into()).collect(),
        }
    }
}
