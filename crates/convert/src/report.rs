//! Prints the summary of a run, writes its report, and returns the exit status.
//!
//! In: a [`FileReport`] per file. Out: lines on standard error, a JSON file if `--report` asks for
//! one, and 0, 1 or 2.

mod summary;

use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, Read, Write},
    path::Path,
    time::Duration,
};

use archive::{FileReport, FileStatus, JobConfig, ReportOptions, Status};
use storage::{AtomicFile, AtomicFileOptions, FILE_MODE, Place, Replace};

use crate::{
    interrupt::INTERRUPTION,
    report::summary::Summary,
    terminal::{escape::escape_for_terminal, figures::count, message::complain, progress::say},
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
    let report_options = settings.report_options;
    if files.iter().any(|it| it.status == FileStatus::OutputClosed) {
        return Ok(Status::Done);
    }
    for it in files {
        it.problems.iter().for_each(|problem| complain(problem));
        if !report_options.quiet {
            it.summary.iter().for_each(|line| say(&escape_for_terminal(line)));
        }
    }
    tell_strays(files);
    let n_left = files.iter().filter(|it| it.status.is_left()).count();
    let n_all = files.len();
    match full {
        Some(place) => complain(&format!(
            "no space left on the file system of {place}: {n_left} of {n_all} files are left; \
             the same command goes on with them"
        )),
        None if n_left > 0 => {
            let same =
                if report_options.is_folder { "; the same command goes on with them" } else { "" };
            complain(&format!("interrupted: {n_left} of {n_all} files are left{same}"));
        }
        None => {}
    }
    if report_options.is_folder && !report_options.quiet {
        Summary::of(files).print(settings, time);
    }
    if let Some(path) = settings.report {
        let totals = report_options.is_folder.then(|| Summary::of(files).json());
        let objects = files.iter().map(|it| &*it.json).filter(|json| !json.is_empty());
        let objects: Vec<&[u8]> = objects.chain(totals.as_deref()).collect();
        let report = [b"[", &*objects.join(&b",\n"[..]), b"]\n"].concat();
        write_report(path, &report).map_err(|error| {
            io::Error::new(
                error.kind(),
                format!("{}: {error}", escape_for_terminal(&path.to_string_lossy())),
            )
        })?;
    }
    let status = status(files, full.is_some());
    if status == Status::Failed && files.iter().all(|it| it.problems.is_empty()) {
        complain(&match files.len() {
            0 => "nothing to convert: no file was found".to_owned(),
            n => format!("no session among {}", count(n as u64, "file")),
        });
    }
    Ok(status)
}

/// Prints the number of stray files in folders of sessions, and the first five names.
fn tell_strays(files: &[FileReport]) {
    /// Limit on printed names.
    const MAX_NAMES: usize = 5;
    let names: Vec<String> =
        files.iter().filter_map(|it| it.stray.as_deref()).map(escape_for_terminal).collect();
    if names.is_empty() {
        return;
    }
    let (some, more) = names.split_at(names.len().min(MAX_NAMES));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    complain(&format!(
        "{} left out, unknown to the client of the session beside: {}{more}",
        count(names.len() as u64, "file"),
        some.join(", ")
    ));
}

/// Returns 0 if all is well, 2 if nothing was converted or a damaged file was refused, otherwise 1.
fn status(files: &[FileReport], is_full: bool) -> Status {
    let is_something_done = files.iter().any(FileReport::is_fine);
    let worst = files.iter().map(|it| it.exit).max().unwrap_or(Status::Failed);
    let is_strict = files.iter().any(|it| it.is_refused_for_damage);
    match worst {
        _ if is_full => Status::Attention,
        Status::Failed if is_strict => Status::Failed,
        Status::Failed if is_something_done => Status::Attention,
        Status::Done if !is_something_done => Status::Failed,
        worst => worst,
    }
}

/// Checks that a report may be written to a path: nothing is there, or an older report, or an empty file, or no regular file.
///
/// # Errors
///
/// Returns an error if another file is there, such as a session.
pub(crate) fn check_place(path: Option<&Path>) -> io::Result<()> {
    match path {
        Some(path) if !is_report(path) => {
            let path = escape_for_terminal(&path.to_string_lossy());
            let message = format!("--report {path}: exists and is no report; name another file");
            Err(io::Error::new(io::ErrorKind::AlreadyExists, message))
        }
        _ => Ok(()),
    }
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
fn write_report(path: &Path, report: &[u8]) -> io::Result<()> {
    // A terminal, a pipe, or a link such as /dev/stdout must not be replaced by a file.
    if path.symlink_metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return File::options().write(true).truncate(true).open(path)?.write_all(report);
    }
    let place = Place::of(path)?;
    let folder = place.folder.clone();
    let options = AtomicFileOptions { interruption: INTERRUPTION, ..AtomicFileOptions::default() };
    let mut pending = AtomicFile::create(place, FILE_MODE, options)?;
    pending.write_all(report)?;
    let finished = pending.finish()?;
    finished.sync()?;
    // A file that came during the run is kept as a backup.
    finished.publish(if is_report(path) { Replace::Own } else { Replace::KeepOld })?;
    folder.sync()
}

/// Returns the formats of the converted files.
pub(crate) fn sources(files: &[FileReport]) -> BTreeSet<&'static str> {
    files.iter().filter_map(|it| it.figures.from).collect()
}
