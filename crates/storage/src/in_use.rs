//! Finds signs that another program is writing to a file.
//!
//! In: the path of a session. Out: the processes that have it open, and the time since its last
//! change. A client that opens the file for each line and closes it again is seen by the time alone,
//! and a client that waits for its user is not seen at all.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::folder::{Identity, list::list};

/// The folder in which Linux lists processes.
const PROCESSES: &str = "/proc";

/// Limit on the bytes of a process's name.
const MAX_NAME: u64 = 256;

/// A process that has a file open.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Holder {
    /// The id of the process.
    pub pid: u32,
    /// The name of its program; empty if it is unknown.
    pub program: String,
}

/// Returns the other processes that have a file open. Returns none on systems without `/proc`, and
/// does not see the processes of other users.
pub fn holders(path: &Path) -> Vec<Holder> {
    let own = std::process::id();
    let Ok(wanted) = File::open(path).and_then(|file| Identity::of(&file)) else {
        return Vec::new();
    };
    let processes = list(Path::new(PROCESSES)).unwrap_or_default();
    let pids = processes.into_iter().filter_map(|entry| pid_of(&entry.name));
    let has_it = |pid: &u32| *pid != own && has_open(*pid, path, wanted);
    let mut found: Vec<u32> = pids.filter(has_it).collect();
    found.sort_unstable();
    found.into_iter().map(|pid| Holder { pid, program: program_of(pid) }).collect()
}

/// Returns the time since the last change of a file; `None` if it is unknown or lies in the future.
pub fn time_since_change(path: &Path) -> Option<Duration> {
    fs::metadata(path).ok()?.modified().ok()?.elapsed().ok()
}

fn pid_of(name: &OsStr) -> Option<u32> {
    name.to_str()?.parse().ok()
}

/// Returns whether a process has the file open. The name of the target is compared first, because a
/// look at each open file of each process takes long.
fn has_open(pid: u32, path: &Path, wanted: Identity) -> bool {
    let folder = PathBuf::from(format!("{PROCESSES}/{pid}/fd"));
    list(&folder).unwrap_or_default().into_iter().any(|entry| {
        let entry = folder.join(entry.name);
        let is_named = fs::read_link(&entry)
            .is_ok_and(|target| target.is_absolute() && target.file_name() == path.file_name());
        is_named && Identity::of_path(&entry).is_ok_and(|found| found == wanted)
    })
}

fn program_of(pid: u32) -> String {
    let mut name = String::new();
    if let Ok(file) = File::open(format!("{PROCESSES}/{pid}/comm")) {
        // A process that has just ended has no name.
        _ = file.take(MAX_NAME).read_to_string(&mut name);
    }
    name.trim().to_owned()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_that_has_a_file_open_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.jsonl");
        fs::write(&path, "{}\n").expect("written");
        let own = File::open(&path).expect("opened");
        assert_eq!(holders(&path), []);
        let mut other = Command::new("sleep")
            .arg("60")
            .stdin(Stdio::from(own))
            .spawn()
            .expect("the program runs");
        let found = holders(&path);
        other.kill().and_then(|()| other.wait()).expect("ended");
        assert_eq!(found, [Holder { pid: other.id(), program: "sleep".to_owned() }]);
        assert_eq!(holders(&path), []);
        assert_eq!(holders(&folder.path().join("none")), []);
    }

    #[test]
    fn the_time_since_a_change() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.jsonl");
        assert_eq!(time_since_change(&path), None);
        fs::write(&path, "{}\n").expect("written");
        assert!(time_since_change(&path).is_some_and(|time| time.as_secs() < 60));
    }
}
