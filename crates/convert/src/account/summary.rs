//! The summary of a run over a folder, in at most four lines.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use archive::{FileEnd, FileReport, Object};
use conversion::CarryMode;
use core_model::LossKind;

use crate::{
    account::{Account, sources},
    terminal::{
        escape::escape_for_terminal,
        figures::{count, grouped, size},
        progress::say,
        shell::quoted,
    },
};

/// Limit on named fields that the target does not show.
const MAX_FIELDS: usize = 3;

/// Totals over all files of a run.
pub(crate) struct Summary {
    /// The number of files by result. A session counts with all its files.
    files: HashMap<FileEnd, u64>,
    /// The number of main files by result.
    sessions: HashMap<FileEnd, u64>,
    from: Vec<&'static str>,
    bytes_in: u64,
    lines_out: u64,
    n_damaged: u64,
    /// Fields that the target does not show, the most frequent first.
    losses: Vec<(Box<str>, u64)>,
    /// All losses by kind and field.
    by_kind: BTreeMap<(LossKind, Box<str>), u64>,
}

impl Summary {
    /// Adds up the reports of files.
    pub(crate) fn of(settled: &[FileReport]) -> Self {
        let (mut files, mut sessions) = (HashMap::new(), HashMap::new());
        let mut losses = HashMap::new();
        let mut by_kind: BTreeMap<(LossKind, Box<str>), u64> = BTreeMap::new();
        for it in settled {
            *files.entry(it.end).or_insert(0) += 1;
            *sessions.entry(it.end).or_insert(0) += u64::from(it.is_main);
            for (kind, field, n) in &it.figures.losses {
                if *kind != LossKind::Invented {
                    *losses.entry(&**field).or_insert(0) += n;
                }
                *by_kind.entry((*kind, (&**field).into())).or_default() += n;
            }
        }
        let mut losses: Vec<(Box<str>, u64)> =
            losses.into_iter().map(|(field, n)| (field.into(), n)).collect();
        losses.sort_unstable_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(&other.0)));
        let sum = |of: fn(&FileReport) -> u64| settled.iter().map(of).sum();
        Self {
            files,
            sessions,
            from: sources(settled).into_iter().collect(),
            bytes_in: sum(|it| it.figures.bytes_in),
            lines_out: sum(|it| it.figures.lines_out),
            n_damaged: sum(|it| it.figures.n_damaged),
            losses,
            by_kind,
        }
    }

    /// Returns the totals as an object, for the report.
    pub(crate) fn object(&self) -> Object {
        let mut totals = Object::new();
        for (name, counts) in [("sessions", &self.sessions), ("files", &self.files)] {
            let mut object = Object::new();
            let n = |end| counts.get(&end).copied().unwrap_or(0);
            object.plain("all", counts.values().sum::<u64>());
            object.plain("converted", n(FileEnd::Converted));
            if name == "files" {
                object.plain("copied", n(FileEnd::Copied)).plain("inside", n(FileEnd::Inside));
            }
            object.plain("up_to_date", n(FileEnd::UpToDate)).plain("failed", n(FileEnd::Refused));
            object.plain("same_as_others", n(FileEnd::SameAsAnother));
            object.plain("not_sessions", n(FileEnd::NotOurs)).plain("left", n(FileEnd::Left));
            totals.object(name, &object);
        }
        totals.plain("bytes_in", self.bytes_in).plain("lines_out", self.lines_out);
        totals.plain("lines_damaged", self.n_damaged);
        let losses = self.by_kind.iter().map(|((kind, field), n)| {
            let mut loss = Object::new();
            loss.string("kind", kind.name()).string("field", field).plain("count", n);
            loss.bytes()
        });
        totals.values("losses", losses);
        let mut object = Object::new();
        object.object("totals", &totals);
        object
    }

    /// Prints the summary.
    pub(crate) fn print(&self, account: &Account<'_>, time: Duration) {
        for line in self.lines(account, time) {
            say(&line);
        }
    }

    fn n(&self, end: FileEnd) -> u64 {
        self.files.get(&end).copied().unwrap_or(0)
    }

    fn n_sessions(&self, end: FileEnd) -> u64 {
        self.sessions.get(&end).copied().unwrap_or(0)
    }

    fn lines(&self, account: &Account<'_>, time: Duration) -> Vec<String> {
        let to = account.config.to.name;
        let output = account.output.map(|path| path.to_string_lossy().into_owned());
        let n_converted = self.n_sessions(FileEnd::Converted);
        let n_files =
            self.n(FileEnd::Converted) + self.n(FileEnd::Copied) + self.n(FileEnd::Inside);
        let seconds = time.as_secs_f64();
        let rate = if seconds > 0.0 { self.bytes_in as f64 / seconds } else { 0.0 };
        let what = if account.is_dry_run { "Would convert" } else { "Converted" };
        let from =
            if self.from.is_empty() { String::new() } else { format!(" {}", self.from.join(", ")) };
        let mut lines = vec![format!(
            "{what} {} ({}, {}){from} → {to} in {seconds:.1} s, {}/s",
            count(n_converted, "session"),
            count(n_files, "file"),
            size(self.bytes_in),
            size(rate as u64),
        )];
        let verb = if account.is_dry_run { "to write" } else { "written" };
        let place = output
            .as_deref()
            .map(|it| format!(" to {}", escape_for_terminal(it)))
            .unwrap_or_default();
        let mut parts = vec![
            format!("{} {verb}{place}", count(self.lines_out, "record")),
            format!("{} up to date", grouped(self.n_sessions(FileEnd::UpToDate))),
            format!("{} failed", grouped(self.n(FileEnd::Refused))),
        ];
        for (n, what) in [
            (self.n_damaged, "malformed lines kept"),
            (self.n(FileEnd::SameAsAnother), "the same as others"),
            (self.n(FileEnd::NotOurs), "not sessions"),
            (self.n(FileEnd::Left), "left"),
        ] {
            if n > 0 {
                parts.push(format!("{} {what}", grouped(n)));
            }
        }
        lines.push(format!("  {}", parts.join(" · ")));
        if !self.losses.is_empty() {
            let kept = match account.config.carry {
                CarryMode::Inline => "kept in its lines",
                CarryMode::Sidecar => "kept in sidecars",
                CarryMode::None => "gone without a carry",
            };
            let field = |(field, n): &(Box<str>, u64)| {
                format!("{} ×{}", escape_for_terminal(field), grouped(*n))
            };
            let mut fields: Vec<_> = self.losses.iter().take(MAX_FIELDS).map(field).collect();
            if self.losses.len() > MAX_FIELDS {
                fields.push(format!("{} more", self.losses.len() - MAX_FIELDS));
            }
            lines.push(format!("  Not expressible in {to}, {kept}: {}", fields.join(", ")));
        }
        let mut hints = Vec::new();
        if let Some(report) = account.report {
            hints.push(format!("Report: {}", escape_for_terminal(&report.to_string_lossy())));
        }
        if let ([from], Some(output), false) = (&*self.from, &output, account.is_dry_run)
            && *from != to
            && !matches!(account.config.carry, CarryMode::None)
        {
            let output = quoted(&escape_for_terminal(output));
            hints.push(format!("Undo: convert {output} --to {from} -o restored/"));
        }
        if !hints.is_empty() {
            lines.push(format!("  {}", hints.join("     ")));
        }
        lines
    }
}
