//! Finds signs that the agent of a session is still running.

use std::{
    path::Path,
    time::{Duration, UNIX_EPOCH},
};

use sessions::Input;
use storage::{Backend, Holder, holders, time_since_change};

/// A file that was changed within this time may get more lines soon.
const QUIET: Duration = Duration::from_secs(3);

/// Returns why a session may still get lines from its agent; `None` if nothing says so.
///
/// A client keeps its database open while it runs, also when it writes to no session. So for a session in a
/// database or store, only the time of its last change counts.
pub(super) fn reason(session: &Input) -> Option<String> {
    let Input::File { storage, path, .. } = session else { return None };
    match storage {
        Backend::Disk => {
            reason_to_keep_closed(path).or_else(|| reason_to_wait(path, time_since_change(path)?))
        }
        storage => {
            let modified = u64::try_from(storage.stat(path).ok()?.modified).ok()?;
            let changed = UNIX_EPOCH.checked_add(Duration::from_nanos(modified))?;
            reason_to_wait(path, changed.elapsed().ok()?)
        }
    }
}

/// Returns which process has a session open; `None` if none is seen.
pub(super) fn reason_to_keep_closed(session: &Path) -> Option<String> {
    let Holder { pid, program } = holders(session).into_iter().next()?;
    Some(format!(
        "{} is open in process {pid} ({program}); end that session first, or go on with --force",
        session.display()
    ))
}

fn reason_to_wait(session: &Path, unchanged: Duration) -> Option<String> {
    let path = session.display();
    (unchanged < QUIET).then(|| {
        let seconds = QUIET.as_secs();
        format!(
            "{path} was written less than {seconds} seconds ago, so its agent may be running; end it \
             and try again, or go on with --force"
        )
    })
}
