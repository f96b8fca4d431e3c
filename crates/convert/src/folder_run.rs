//! A run over many inputs: the largest first, on all cores, to files.

pub(crate) mod duplicates;
pub(crate) mod pool;

use std::{
    collections::HashSet,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use crate::{
    cli::ConvertArgs,
    compress::Compression,
    conversions::{Outcome, Results},
    folder_run::{duplicates::duplicates, pool::each_of},
    input::Input,
    interrupt::is_interrupted,
    job::{Order, Refusal, settled::Settled},
    terminal::progress::{Mode, Progress},
    unit::Unit,
};

/// A run over many inputs.
pub(crate) struct FolderRun<'r> {
    pub(crate) args: &'r ConvertArgs,
    pub(crate) order: &'r Order,
    pub(crate) units: &'r [Unit],
    /// The folder, or the file, to write to.
    pub(crate) output: &'r Path,
    /// Whether several files were asked for.
    pub(crate) is_folder: bool,
    pub(crate) n_jobs: usize,
}

/// A session and where it goes.
struct Task<'u> {
    unit: &'u Unit,
    path: PathBuf,
    /// Whether no earlier one goes there.
    is_free: bool,
    /// The one that goes in its place.
    same_as: Option<&'u Unit>,
}

impl<'r> FolderRun<'r> {
    /// Converts all, and returns what is left to say of each file, in the order of the inputs.
    pub(crate) fn run(&self) -> Vec<Settled> {
        let mode = if self.args.quiet { Mode::None } else { self.args.progress };
        let progress = Progress::of(mode, self.units.iter().flat_map(Unit::files));
        let tasks = self.tasks();
        // The longest job last would leave all cores but one without work.
        let mut order: Vec<(u64, usize)> =
            tasks.iter().enumerate().map(|(task_idx, task)| (size(task.unit), task_idx)).collect();
        order.sort_by_key(|(size, task_idx)| (u64::MAX - size, *task_idx));
        let done = each_of(&order, self.n_jobs, |(_, task_idx)| {
            let task = &tasks[*task_idx];
            let results = self.task(task);
            task.unit.files().for_each(|input| progress.add_input(input));
            let settled = results.iter().map(|(input, result)| self.settle(input, result));
            (*task_idx, settled.collect::<Vec<_>>())
        });
        let mut settled: Vec<Vec<Settled>> = tasks.iter().map(|_| Vec::new()).collect();
        for (task_idx, files) in done {
            settled[task_idx] = files;
        }
        for (path, refusal) in self.order.outputs.close() {
            self.take_back(&tasks, &mut settled, &path, refusal);
        }
        settled.into_iter().flatten().collect()
    }

    fn settle(&self, input: &Input, result: &Result<Outcome, Refusal>) -> Settled {
        let settled = Settled::of(self.args, self.is_folder, input, result);
        let is_left = matches!(result, Err(Refusal::Interrupted | Refusal::NoSpace(_)));
        if result.is_err() && !is_left {
            self.order.outputs.note_failure(input, settled.verdict);
        }
        settled
    }

    /// Takes note that a file that was converted did not get its name.
    fn take_back(
        &self,
        tasks: &[Task<'_>],
        settled: &mut [Vec<Settled>],
        path: &Path,
        refusal: Refusal,
    ) {
        let output = Some(path.display().to_string());
        let result = Err(refusal);
        for (task, files) in tasks.iter().zip(settled) {
            let place = files.iter().position(|file| file.output == output);
            let place = place.or((task.path == path && task.is_free).then_some(0));
            if let Some(file_idx) = place
                && let Some((input, file)) = task.unit.files().zip(files).nth(file_idx)
            {
                *file = self.settle(input, &result);
                return;
            }
        }
    }

    fn tasks(&self) -> Vec<Task<'r>> {
        let is_folder = self.is_folder || self.output.is_dir();
        let same_as = if self.args.dedupe {
            duplicates(self.units, self.n_jobs)
        } else {
            vec![None; self.units.len()]
        };
        let names: HashSet<&Path> = self.units.iter().filter_map(|it| name(&it.main)).collect();
        let target = |input: &Input| match (input, name(input)) {
            (Input::Stdin, _) if is_folder => self.output.join("stdin.jsonl"),
            (_, Some(name)) if is_folder => {
                let is_copied = self.order.is_copied(input, is_folder);
                self.output.join(if is_copied { name.to_owned() } else { self.named(name, &names) })
            }
            _ => self.output.to_owned(),
        };
        let mut taken = HashSet::new();
        let tasks = self.units.iter().zip(same_as).map(|(unit, same_as)| {
            let path = target(&unit.main);
            let same_as = same_as.and_then(|unit_idx| self.units.get(unit_idx));
            let is_free = same_as.is_some() || taken.insert(path.clone());
            Task { unit, path, is_free, same_as }
        });
        tasks.collect()
    }

    /// Returns what an output is called: as its input, but for the ending that tells of compression.
    fn named(&self, name: &Path, names: &HashSet<&Path>) -> PathBuf {
        let ending = name.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let is_packed = ["gz", "zst", "zstd"].contains(&ending.to_ascii_lowercase().as_str());
        let bare = name.with_extension("");
        let name = if is_packed && !names.contains(&*bare) { &bare } else { name };
        match self.args.compress.map(Compression::ending) {
            Some(ending) => crate::input::beside(name, ending),
            None => name.to_owned(),
        }
    }

    fn task<'u>(&self, task: &Task<'u>) -> Results<'u> {
        let Task { unit, path, .. } = task;
        if is_interrupted() {
            return unit.refused(|| Refusal::Interrupted);
        }
        if let Some(place) = self.order.outputs.full() {
            return unit.refused(|| Refusal::NoSpace(place.to_owned()));
        }
        if let Some(other) = task.same_as {
            return vec![(&unit.main, Ok(Outcome::SameAs(other.main.label())))];
        }
        if !task.is_free {
            return unit.refused(|| Refusal::SameName(path.display().to_string()));
        }
        let is_folder = self.is_folder || self.output.is_dir();
        // One file that we are wrong about does not stop the others.
        let convert = AssertUnwindSafe(|| self.order.unit_to_files(unit, path, is_folder));
        let results = catch_unwind(convert).unwrap_or_else(|_| unit.refused(|| Refusal::Fault));
        for refusal in results.iter().filter_map(|(_, result)| result.as_ref().err()) {
            self.order.outputs.note_refusal(path, refusal);
        }
        results
    }
}

fn name(input: &Input) -> Option<&Path> {
    match input {
        Input::File { name, .. } => Some(name),
        Input::Stdin | Input::Missing { .. } => None,
    }
}

fn size(unit: &Unit) -> u64 {
    unit.files().map(Input::size).sum()
}
