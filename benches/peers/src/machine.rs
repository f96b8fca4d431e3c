//! Describes the machine, the date and the versions of a measurement.

use std::{fs, path::Path, process::Command, thread};

/// Returns the machine in one line: processor, cores, memory, kernel.
pub(crate) fn machine() -> String {
    let model = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = model.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model.unwrap_or("an unknown processor").trim_start_matches(['\t', ' ', ':']);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let memory = memory.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok());
    let memory = memory.unwrap_or_default() >> 20;
    format!("{model}, {cores} cores, {memory} GiB, {}", said("uname", &["-sr"], None))
}

/// Returns the load of the machine in the last minute.
pub(crate) fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().unwrap_or_default().to_owned()
}

/// Returns today's date.
pub(crate) fn date() -> String {
    said("date", &["-u", "+%Y-%m-%d"], None)
}

/// Returns the version of our program, with the commit of the source beside it.
pub(crate) fn ours(convert: &Path, scripts: &Path) -> String {
    let version = said(&convert.display().to_string(), &["--version"], None);
    let commit = said("git", &["describe", "--always", "--dirty"], Some(scripts));
    format!("{version} ({commit}), {}", said("rustc", &["--version"], Some(scripts)))
}

/// Returns the first digits of the SHA-256 of a file.
pub(crate) fn hash(file: &Path) -> String {
    let sum = said("sha256sum", &[&file.display().to_string()], None);
    sum.chars().take(12).collect()
}

fn said(program: &str, arguments: &[&str], folder: Option<&Path>) -> String {
    let mut command = Command::new(program);
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    let output = command.args(arguments).output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&output).trim().to_owned()
}
