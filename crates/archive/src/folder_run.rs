//! Converts many sessions to a folder on all cores, the largest first.

pub(crate) mod duplicates;
pub(crate) mod plan;
pub(crate) mod pool;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    time::Instant,
};

use sessions::{Input, Progress};

use self::{
    plan::{Task, largest_first},
    pool::each_of,
};
use crate::{
    error::ConvertError,
    file_report::{FileReport, ReportOptions, Results},
    job::Job,
    session::{has_unread_folder, refused, refused_for},
    status::FileStatus,
};

/// A run over many sessions.
pub struct FolderRun<'r> {
    /// The options of reports.
    pub report_options: &'r ReportOptions,
    /// The job.
    pub job: &'r Job,
    /// The sessions and their output paths.
    pub tasks: &'r [Task<'r>],
    /// Whether the names of inputs are kept in the output folder.
    pub is_mirrored: bool,
    /// The number of sessions to convert at a time.
    pub n_jobs: usize,
}

impl FolderRun<'_> {
    /// Converts all sessions. Returns the reports on the files of each, in the order of the tasks.
    /// The main file is the first of a session.
    pub fn run(&self, progress: &dyn Progress) -> Vec<Vec<FileReport>> {
        let done = each_of(&largest_first(self.tasks), self.n_jobs, |it| {
            let (task, start) = (&self.tasks[it.task_idx], Instant::now());
            let new_reports =
                || SessionReports::new(self.report_options.verbose, task.unit.files().count());
            let mut files = new_reports();
            let mut each = |input, result| files.push(self.settled(task, input, result));
            match self.not_converted(task) {
                Some(results) => {
                    results.into_iter().for_each(|(input, result)| each(input, result))
                }
                None => {
                    let Task { unit, path, .. } = task;
                    let mut convert =
                        || self.job.convert_session_to(unit, path, self.is_mirrored, &mut each);
                    // A fault in one session does not stop the others.
                    if catch_unwind(AssertUnwindSafe(&mut convert)).is_err() {
                        files = new_reports();
                        for (input, result) in refused(unit, || ConvertError::Fault) {
                            files.push(self.settled(task, input, result));
                        }
                    }
                }
            }
            task.unit.files().for_each(|input| progress.add_input(input));
            let mut files = files.finish();
            mark_parts(&mut files);
            if let Some(main) = files.first_mut() {
                main.time = start.elapsed();
            }
            (it.task_idx, files)
        });
        let mut worked: Vec<Vec<FileReport>> = self.tasks.iter().map(|_| Vec::new()).collect();
        for (task_idx, files) in done {
            worked[task_idx] = files;
        }
        for (path, refusal) in self.job.outputs.close() {
            self.take_back(&mut worked, &path, refusal);
        }
        self.remove_unwritten(&mut worked);
        worked
    }

    /// Removes older outputs of files that are now in the file of their session, after that was
    /// published.
    fn remove_unwritten(&self, worked: &mut [Vec<FileReport>]) {
        for (task, files) in self.tasks.iter().zip(worked) {
            if !files.first().is_some_and(FileReport::is_converted) {
                continue;
            }
            for (input, file) in task.unit.files().zip(files) {
                if file.status.is_in_session()
                    && let Err(error) = self.job.outputs.remove_unwritten(input)
                {
                    *file = self.finish_file(input, Err(error.into()));
                    file.is_main = false;
                }
            }
        }
    }

    /// Finishes the report on a file of a session.
    fn settled(
        &self,
        task: &Task<'_>,
        input: &Input,
        result: Result<FileReport, ConvertError>,
    ) -> FileReport {
        if let Err(refusal) = &result {
            self.job.outputs.note_refusal(&task.path, refusal);
        }
        self.finish_file(input, result)
    }

    fn finish_file(&self, input: &Input, result: Result<FileReport, ConvertError>) -> FileReport {
        let status = result.as_ref().err().map(FileStatus::of_error);
        let report = FileReport::finish(self.report_options, input, result);
        if let Some(status) = status.filter(|status| !status.is_left()) {
            self.job.outputs.note_failure(input, status);
        }
        report
    }

    /// Changes the report on a converted file that could not be published.
    fn take_back(&self, worked: &mut [Vec<FileReport>], path: &Path, refusal: ConvertError) {
        let output = Some(path.display().to_string());
        let mut refusal = Some(refusal);
        for (task, files) in self.tasks.iter().zip(worked) {
            let place = files.iter().position(|file| file.output == output);
            let place = place.or((task.path == path && task.is_free).then_some(0));
            if let Some(file_idx) = place
                && let Some((input, file)) = task.unit.files().zip(files).nth(file_idx)
                && let Some(refusal) = refusal.take()
            {
                let FileReport { is_main, time, .. } = *file;
                *file = FileReport { is_main, time, ..self.finish_file(input, Err(refusal)) };
                return;
            }
        }
    }

    /// Returns the results of a session that must not be converted; `None` if it is to be converted.
    fn not_converted<'u>(&self, task: &Task<'u>) -> Option<Results<'u>> {
        let Task { unit, path, is_free, same_as } = task;
        if self.report_options.interruption.is_requested() {
            return Some(refused(unit, || ConvertError::Interrupted));
        }
        if let Some(place) = self.job.outputs.full() {
            return Some(refused(unit, || ConvertError::NoSpace(place.to_owned())));
        }
        if let Some(other) = same_as {
            return Some(vec![(&unit.main, Ok(FileReport::same_as(other.clone())))]);
        }
        if !is_free {
            return Some(refused(unit, || ConvertError::SameName(path.display().to_string())));
        }
        // With a journal, the next run sees that files were added, and converts the session again.
        let is_final = !self.job.outputs.has_journal();
        let is_whole = || !has_unread_folder(unit, self.tasks.iter().map(|task| task.unit));
        (is_final && !is_whole()).then(|| refused_for(unit, ConvertError::NotWhole))
    }
}

/// The reports on the files of a session. Only the first summaries are kept, because a session may have tens of
/// thousands of sub-agents.
struct SessionReports {
    files: Vec<FileReport>,
    /// Whether all summaries are kept.
    is_verbose: bool,
    n_summaries: usize,
}

impl SessionReports {
    /// Number of summaries: the main file and the first five others.
    const MAX_SUMMARIES: usize = 6;

    /// Creates an empty list with room for so many reports.
    fn new(is_verbose: bool, n_files: usize) -> Self {
        Self { files: Vec::with_capacity(n_files), is_verbose, n_summaries: 0 }
    }

    fn push(&mut self, mut report: FileReport) {
        if !report.summary.is_empty() {
            self.n_summaries += 1;
            if self.n_summaries > Self::MAX_SUMMARIES && !self.is_verbose {
                report.summary = Vec::new();
            }
        }
        self.files.push(report);
    }

    /// Returns the reports. The last summary says how many others there are.
    fn finish(mut self) -> Vec<FileReport> {
        let n_more = self.n_summaries.saturating_sub(Self::MAX_SUMMARIES);
        let last = self.files.iter_mut().rev().find(|file| !file.summary.is_empty());
        if let Some(last) = last.filter(|_| n_more > 0 && !self.is_verbose) {
            last.summary.push(format!("and {n_more} more files of this session; -v lists them"));
        }
        self.files
    }
}

/// Marks all files after the main one as parts of a session. They are up to date if it is.
pub(crate) fn mark_parts(files: &mut [FileReport]) {
    let Some((main, parts)) = files.split_first_mut() else { return };
    for part in parts {
        part.is_main = false;
        part.is_up_to_date |= main.is_up_to_date && part.status.is_in_session();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reports_of_a_session_have_no_spare_room() {
        for n_files in [1, 5, 20] {
            let mut reports = SessionReports::new(false, n_files);
            (0..n_files).for_each(|_| reports.push(FileReport::new(FileStatus::Done)));
            assert_eq!(reports.finish().capacity(), n_files);
        }
    }
}
