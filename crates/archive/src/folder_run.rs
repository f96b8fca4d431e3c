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
    session::refused,
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
            let convert = || self.job.convert_session(task.unit, &task.path, self.is_mirrored);
            let results = match self.not_converted(task) {
                Some(results) => results,
                // A fault in one session does not stop the others.
                None => catch_unwind(AssertUnwindSafe(convert))
                    .unwrap_or_else(|_| refused(task.unit, || ConvertError::Fault)),
            };
            for refusal in results.iter().filter_map(|(_, result)| result.as_ref().err()) {
                self.job.outputs.note_refusal(&task.path, refusal);
            }
            task.unit.files().for_each(|input| progress.add_input(input));
            let reports =
                results.into_iter().map(|(input, result)| self.finish_file(input, result));
            let mut files: Vec<FileReport> = reports.collect();
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
        (!is_free).then(|| refused(unit, || ConvertError::SameName(path.display().to_string())))
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
