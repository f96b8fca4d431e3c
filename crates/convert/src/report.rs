//! Prints the summary of a run, writes its report, and returns the exit status.
//!
//! In: a [`FileReport`] per file. Out: lines on standard error, a JSON file if `--report` asks for
//! one, and 0, 1 or 2.

mod summary;

use std::{
    fs::File,
    io::{self, Read, Seek, Write},
    path::Path,
    time::Duration,
};

use archive::{FileReport, FileStatus, JobConfig, ReportOptions, Status};
use storage::{AtomicFile, AtomicFileOptions, FILE_MODE, Place, Replace, is_folder, unwritten};
use tempfile::SpooledTempFile;

use crate::{
    interrupt::INTERRUPTION,
    names::NameWarnings,
    report::summary::Summary,
    terminal::{
        escape::escape_for_terminal,
        figures::{count, grouped},
        message::complain,
        progress::say,
    },
};

/// The settings of a run that its summary needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SummarySettings<'t> {
    pub(crate) config: &'t JobConfig,
    pub(crate) report_options: ReportOptions,
    /// The output file or folder; `None` for standard output.
    pub(crate) output: Option<&'t Path>,
    /// Whether the run writes nothing.
    pub(crate) is_dry_run: bool,
    /// The path of the report.
    pub(crate) report: Option<&'t Path>,
}

/// Prints the summary, writes the report, and returns the status.
///
/// `full` is the path of a file system without space, if there was one; `time` is the duration of
/// the run.
pub(crate) fn close(
    settings: &SummarySettings<'_>,
    files: &[FileReport],
    full: Option<&str>,
    time: Duration,
) -> io::Result<Status> {
    if files.iter().any(|it| it.status == FileStatus::OutputClosed) {
        return Ok(Status::Done);
    }
    let mut closing = Closing::new(*settings);
    files.iter().try_for_each(|file| closing.push(file))?;
    closing.finish(full, time)
}

/// The end of a run: gets the reports of its files one by one, and keeps sums.
pub(crate) struct Closing<'t> {
    settings: SummarySettings<'t>,
    summary: Summary,
    /// The number of files, and of the files that are left.
    n_all: usize,
    n_left: usize,
    n_strays: u64,
    /// The names of the first stray files.
    strays: Vec<String>,
    worst: Option<Status>,
    is_something_done: bool,
    /// Whether a file was refused because of damage.
    is_strict: bool,
    has_problems: bool,
    names: NameWarnings,
    /// The objects of the report.
    objects: SpooledTempFile,
    n_objects: u64,
}

/// Limit on printed names of stray files.
const MAX_NAMES: usize = 5;

/// Limit on the bytes of a report in memory.
const MAX_IN_MEMORY: usize = 1024 * 1024;

impl<'t> Closing<'t> {
    /// Starts the end of a run.
    pub(crate) fn new(settings: SummarySettings<'t>) -> Self {
        Self {
            settings,
            summary: Summary::default(),
            n_all: 0,
            n_left: 0,
            n_strays: 0,
            strays: Vec::new(),
            worst: None,
            is_something_done: false,
            is_strict: false,
            has_problems: false,
            names: NameWarnings::new(settings.config.redact),
            objects: SpooledTempFile::new(MAX_IN_MEMORY),
            n_objects: 0,
        }
    }

    /// Returns the number of files.
    pub(crate) fn n_files(&self) -> usize {
        self.n_all
    }

    /// Prints the messages of a file, and adds it to the sums and to the report.
    pub(crate) fn push(&mut self, file: &FileReport) -> io::Result<()> {
        file.problems.iter().for_each(|problem| complain(problem));
        if let Some(output) = &file.output {
            self.names.warn(output, "convert it again");
        }
        if !self.settings.report_options.quiet {
            file.summary.iter().for_each(|line| say(&escape_for_terminal(line)));
        }
        if let Some(stray) = &file.stray {
            self.n_strays += 1;
            if self.strays.len() < MAX_NAMES {
                self.strays.push(escape_for_terminal(stray));
            }
        }
        self.n_all += 1;
        self.n_left += usize::from(file.status.is_left());
        self.worst = self.worst.max(Some(file.exit));
        self.is_something_done |= file.is_fine();
        self.is_strict |= file.is_refused_for_damage;
        self.has_problems |= !file.problems.is_empty();
        self.summary.push(file);
        self.push_object(&file.json)
    }

    /// Adds an object to the report, if there is one.
    fn push_object(&mut self, json: &[u8]) -> io::Result<()> {
        if self.settings.report.is_none() || json.is_empty() {
            return Ok(());
        }
        self.objects.write_all(if self.n_objects == 0 { b"[" } else { b",\n" })?;
        self.n_objects += 1;
        self.objects.write_all(json)
    }

    /// Prints the summary, writes the report, and returns the status.
    pub(crate) fn finish(mut self, full: Option<&str>, time: Duration) -> io::Result<Status> {
        let report_options = self.settings.report_options;
        self.tell_strays();
        let (n_left, n_all) = (self.n_left, self.n_all);
        match full {
            Some(place) if n_left == 0 => complain(&format!(
                "no space left on the file system of {place}; make room, and run the same command again"
            )),
            Some(place) => complain(&format!(
                "no space left on the file system of {place}: {} of {} files are left; \
                 the same command goes on with them",
                grouped(n_left as u64),
                grouped(n_all as u64)
            )),
            None if n_left > 0 => {
                let same = if report_options.is_folder {
                    "; the same command goes on with them"
                } else {
                    ""
                };
                let (files, are) =
                    (count(n_all as u64, "file"), if n_left == 1 { "is" } else { "are" });
                complain(&format!(
                    "interrupted: {} of {files} {are} left{same}",
                    grouped(n_left as u64)
                ));
            }
            None => {}
        }
        if report_options.is_folder && !report_options.quiet {
            self.summary.print(&self.settings, time);
        }
        if let Some(path) = self.settings.report {
            if report_options.is_folder {
                self.push_object(&self.summary.json())?;
            }
            self.objects.write_all(if self.n_objects == 0 { b"[]\n" } else { b"]\n" })?;
            self.objects.rewind()?;
            if let Err(error) = write_report(path, &mut self.objects) {
                complain(&unwritten(error, path).to_string());
                self.worst = self.worst.max(Some(Status::Attention));
            }
        }
        let status = self.status(full.is_some());
        if status == Status::Failed && !self.has_problems && n_left == 0 {
            complain(&match n_all {
                0 => "nothing to convert: no file was found".to_owned(),
                n => format!("no session among {}", count(n as u64, "file")),
            });
        }
        Ok(status)
    }

    /// Prints the number of stray files in folders of sessions, and the first names.
    fn tell_strays(&self) {
        if self.strays.is_empty() {
            return;
        }
        let n_more = self.n_strays - self.strays.len() as u64;
        let more = if n_more == 0 { String::new() } else { format!(" and {n_more} more") };
        complain(&format!(
            "{} left out, unknown to the client of the session beside: {}{more}",
            count(self.n_strays, "file"),
            self.strays.join(", ")
        ));
    }

    /// Returns 0 if all is well, 2 if nothing was converted or a damaged file was refused, otherwise 1.
    fn status(&self, is_full: bool) -> Status {
        match self.worst.unwrap_or(Status::Failed) {
            _ if is_full => Status::Attention,
            Status::Failed if self.is_strict => Status::Failed,
            Status::Failed if self.is_something_done => Status::Attention,
            Status::Done if !self.is_something_done => Status::Failed,
            worst => worst,
        }
    }
}

/// Checks that a report may be written to a path: nothing is there, or an older report, or an empty file, or a pipe or
/// a device.
///
/// # Errors
///
/// Returns an error if the path names a folder, or if another file is there, such as a session.
pub(crate) fn check_place(path: Option<&Path>) -> io::Result<()> {
    let Some(path) = path else { return Ok(()) };
    let problem = if is_folder(path) {
        "names a folder; name a file"
    } else if !is_report(path) {
        "exists and is no report; name another file"
    } else {
        return Ok(());
    };
    let path = escape_for_terminal(&path.to_string_lossy());
    Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("--report {path}: {problem}")))
}

/// Returns whether a path may be replaced by a report.
fn is_report(path: &Path) -> bool {
    /// The starts of reports: of a file, of a folder without a file, and without an object.
    const STARTS: &[&[u8]] = &[b"[{\"source\":", b"[{\"totals\":", b"[]"];
    let mut start = Vec::new();
    // A link is followed, as it is when the report is written.
    if !path.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return true;
    }
    let read = File::open(path).and_then(|file| file.take(16).read_to_end(&mut start));
    read.is_ok() && (start.is_empty() || STARTS.iter().any(|text| start.starts_with(text)))
}

/// Writes the report, readable by its owner alone.
fn write_report(path: &Path, report: &mut impl Read) -> io::Result<()> {
    // A terminal, a pipe, or a link such as /dev/stdout must not be replaced by a file.
    if path.symlink_metadata().is_ok_and(|metadata| !metadata.is_file()) {
        let mut file = File::options().write(true).truncate(true).open(path)?;
        return io::copy(report, &mut file).map(|_| ());
    }
    let place = Place::of(path)?;
    let folder = place.folder.clone();
    let options = AtomicFileOptions { interruption: INTERRUPTION, ..AtomicFileOptions::default() };
    let mut pending = AtomicFile::create(place, FILE_MODE, options)?;
    io::copy(report, &mut pending)?;
    let finished = pending.finish()?;
    finished.sync()?;
    // A file that came during the run is kept as a backup.
    finished.publish(if is_report(path) { Replace::Own } else { Replace::KeepOld })?;
    folder.sync()
}
