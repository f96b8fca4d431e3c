//! The summary of a run over a folder, in at most four lines.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    iter,
    path::Path,
    time::Duration,
};

use archive::{FileCounts, FileReport, Totals};
use conversion::CarryMode;
use core_model::LossKind;

use crate::{
    report::SummarySettings,
    terminal::{
        escape::escape_for_terminal,
        figures::{count, grouped, size},
        progress::say,
        shell::quoted,
    },
};

/// Limit on named fields that the target does not show.
const MAX_FIELDS: usize = 3;

/// Returns the name of a folder that does not exist: this name, or else with a number, such as `restored2`.
fn new_folder(name: &str) -> String {
    let numbered = (2_u64..).map(|number| format!("{name}{number}"));
    let mut names = iter::once(name.to_owned()).chain(numbered);
    names.find(|name| Path::new(name).symlink_metadata().is_err()).unwrap_or_default()
}

/// Totals over all files of a run.
pub(crate) struct Summary {
    /// The files. A session counts with all its files.
    files: FileCounts,
    /// The main files.
    sessions: FileCounts,
    from: BTreeSet<&'static str>,
    bytes_in: u64,
    lines_out: u64,
    n_damaged: u64,
    /// Fields that the target does not show.
    losses: HashMap<Box<str>, u64>,
    /// All losses by kind and field.
    by_kind: BTreeMap<(LossKind, Box<str>), u64>,
}

impl Default for Summary {
    fn default() -> Self {
        Self {
            files: FileCounts::of_files(),
            sessions: FileCounts::of_sessions(),
            from: BTreeSet::new(),
            bytes_in: 0,
            lines_out: 0,
            n_damaged: 0,
            losses: HashMap::new(),
            by_kind: BTreeMap::new(),
        }
    }
}

impl Summary {
    /// Adds the report of a file.
    pub(crate) fn push(&mut self, report: &FileReport) {
        self.files.push(report);
        if report.is_main {
            self.sessions.push(report);
        }
        let figures = &report.figures;
        self.from.extend(figures.from);
        // The numbers of a stranger's receipts may be any.
        let add = |sum: &mut u64, n: u64| *sum = sum.saturating_add(n);
        add(&mut self.bytes_in, figures.bytes_in);
        add(&mut self.lines_out, figures.lines_out);
        add(&mut self.n_damaged, figures.n_damaged);
        for (kind, field, n) in &figures.losses {
            if *kind != LossKind::Invented {
                add(self.losses.entry((&**field).into()).or_default(), *n);
            }
            add(self.by_kind.entry((*kind, (&**field).into())).or_default(), *n);
        }
    }

    /// Returns the totals as a JSON object, for the report.
    pub(crate) fn json(&self) -> Vec<u8> {
        let losses: Vec<(&str, &str, u64)> =
            self.by_kind.iter().map(|((kind, field), n)| (kind.name(), &**field, *n)).collect();
        let totals = Totals {
            sessions: self.sessions,
            files: self.files,
            bytes_in: self.bytes_in,
            lines_out: self.lines_out,
            lines_damaged: self.n_damaged,
            losses: &losses,
        };
        totals.json()
    }

    /// Prints the summary.
    pub(crate) fn print(&self, settings: &SummarySettings<'_>, time: Duration) {
        for line in self.lines(settings, time) {
            say(&line);
        }
    }

    fn lines(&self, settings: &SummarySettings<'_>, time: Duration) -> Vec<String> {
        let to = settings.config.to.name;
        let output = settings.output.map(|path| path.to_string_lossy().into_owned());
        let n_converted = self.sessions.converted;
        let n_files =
            self.files.converted + self.files.copied.unwrap_or(0) + self.files.inside.unwrap_or(0);
        let seconds = time.as_secs_f64();
        let rate = if seconds > 0.0 { self.bytes_in as f64 / seconds } else { 0.0 };
        let what = if settings.is_dry_run { "Would convert" } else { "Converted" };
        let from: Vec<&str> = self.from.iter().copied().collect();
        let of_formats =
            if from.is_empty() { String::new() } else { format!(" {}", from.join(", ")) };
        let mut lines = vec![format!(
            "{what} {} ({}, {}){of_formats} → {to} in {seconds:.1} s, {}/s",
            count(n_converted, "session"),
            count(n_files, "file"),
            size(self.bytes_in),
            size(rate as u64),
        )];
        let verb = if settings.is_dry_run { "to write" } else { "written" };
        let place = output
            .as_deref()
            .map(|it| format!(" to {}", escape_for_terminal(it)))
            .unwrap_or_default();
        let mut parts = vec![
            format!("{} {verb}{place}", count(self.lines_out, "record")),
            format!("{} up to date", grouped(self.sessions.up_to_date)),
            format!("{} failed", grouped(self.files.failed)),
        ];
        for (n, what) in [
            (self.n_damaged, "malformed lines kept"),
            (self.files.same_as_others, "the same as others"),
            (self.files.not_sessions, "not sessions"),
            (self.files.left, "left"),
        ] {
            if n > 0 {
                parts.push(format!("{} {what}", grouped(n)));
            }
        }
        lines.push(format!("  {}", parts.join(" · ")));
        if !self.losses.is_empty() {
            let kept = match settings.config.carry {
                CarryMode::Inline => "kept in its lines",
                CarryMode::Sidecar => "kept in sidecars",
                CarryMode::None => "gone without a carry",
            };
            let losses = self.losses.iter().map(|(field, n)| (&**field, *n));
            let mut losses: Vec<(&str, u64)> = losses.collect();
            losses.sort_unstable_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
            let field = |(field, n): &(&str, u64)| {
                format!("{} ×{}", escape_for_terminal(field), grouped(*n))
            };
            let mut fields: Vec<_> = losses.iter().take(MAX_FIELDS).map(field).collect();
            if self.losses.len() > MAX_FIELDS {
                fields.push(format!("{} more", self.losses.len() - MAX_FIELDS));
            }
            lines.push(format!("  Not expressible in {to}, {kept}: {}", fields.join(", ")));
        }
        let mut hints = Vec::new();
        if let Some(report) = settings.report {
            hints.push(format!("Report: {}", escape_for_terminal(&report.to_string_lossy())));
        }
        if let ([from], Some(output), false) = (&*from, &output, settings.is_dry_run)
            && *from != to
            && !matches!(settings.config.carry, CarryMode::None)
            // Without its control characters, the name is of another folder.
            && escape_for_terminal(output) == *output
        {
            let (output, folder) = (quoted(output), new_folder("restored"));
            hints.push(format!("Undo: convert {output} --to {from} -o {folder}/"));
        }
        if !hints.is_empty() {
            lines.push(format!("  {}", hints.join("     ")));
        }
        lines
    }
}
