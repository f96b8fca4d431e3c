//! Plans a run: the output path of each session, and the largest sessions first.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use conversion::CarryMode;
use sessions::{Input, SessionFiles};
use storage::{Compression, beside};

use super::duplicates::duplicates;
use crate::config::JobConfig;

/// A session and its output.
#[derive(Debug)]
pub struct Task<'u> {
    /// The session.
    pub unit: &'u SessionFiles,
    /// The output path.
    pub path: PathBuf,
    /// Whether no earlier session has this output path.
    pub is_free: bool,
    /// The name of an earlier session with equal content.
    pub same_as: Option<String>,
}

/// The sessions and the output of a run.
#[derive(Debug)]
pub struct Plan<'p> {
    /// The options of the job.
    pub config: &'p JobConfig,
    /// The sessions.
    pub units: &'p [SessionFiles],
    /// The folder, or the file, to write to.
    pub output: &'p Path,
    /// Whether it is a folder, in which the names of inputs are kept.
    pub is_mirrored: bool,
    /// Whether files of equal content are converted once.
    pub dedupe: bool,
}

impl<'p> Plan<'p> {
    /// Returns a task for each session, in order.
    pub fn tasks(&self, n_jobs: usize) -> Vec<Task<'p>> {
        let same_as = match self.dedupe {
            true => duplicates(self.units, n_jobs),
            false => vec![None; self.units.len()],
        };
        let names: HashSet<&Path> = self.units.iter().filter_map(|it| name(&it.main)).collect();
        let mut taken = HashSet::new();
        let tasks = self.units.iter().zip(same_as).map(|(unit, same_as)| {
            let path = self.target(&unit.main, &names);
            let same_as = same_as.and_then(|unit_idx| self.units.get(unit_idx));
            let same_as = same_as.map(|other| other.main.label());
            // A missing input has no output.
            let is_free = same_as.is_some() || !unit.main.is_found() || taken.insert(path.clone());
            Task { unit, path, is_free, same_as }
        });
        tasks.collect()
    }

    fn target(&self, input: &Input, names: &HashSet<&Path>) -> PathBuf {
        match (input, name(input)) {
            (Input::Stdin, _) if self.is_mirrored => self.output.join("stdin.jsonl"),
            (_, Some(name)) if self.is_mirrored => {
                let is_kept = self.config.carry != CarryMode::None;
                let is_copied = is_kept && input.is_side_file();
                self.output.join(if is_copied { name.to_owned() } else { self.named(name, names) })
            }
            _ => self.output.to_owned(),
        }
    }

    /// Returns the name of an output: the name of its input, without an ending of compression.
    fn named(&self, name: &Path, names: &HashSet<&Path>) -> PathBuf {
        let bare = Compression::bare_path(name);
        let name = if names.contains(&*bare) { name } else { &bare };
        match self.config.compression.map(Compression::ending) {
            Some(ending) => beside(name, ending),
            None => name.to_owned(),
        }
    }
}

/// A task in the order of a run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OrderedTask {
    /// The index of the task.
    pub task_idx: usize,
    /// The size of its session, in bytes.
    pub size: u64,
}

/// Returns the order of tasks, the largest first. A large session at the end would keep one core
/// busy and the others idle.
pub fn largest_first(tasks: &[Task<'_>]) -> Vec<OrderedTask> {
    let sizes = tasks.iter().map(|task| task.unit.size()).enumerate();
    let ordered = |(task_idx, size)| OrderedTask { task_idx, size };
    let mut order: Vec<OrderedTask> = sizes.map(ordered).collect();
    order.sort_by_key(|it| (u64::MAX - it.size, it.task_idx));
    order
}

fn name(input: &Input) -> Option<&Path> {
    match input {
        Input::File { name, .. } => Some(name),
        Input::Stdin | Input::Missing { .. } => None,
    }
}
