//! Finds signs that the agent of a session is still running.

use std::{path::Path, time::Duration};

use storage::{Holder, holders, time_since_change};

/// A file that was changed within this time may get more lines soon.
const QUIET: Duration = Duration::from_secs(3);

/// Returns why a session may still get lines from its agent; `None` if nothing says so.
pub(super) fn reason(session: &Path) -> Option<String> {
    reason_to_keep_closed(session).or_else(|| reason_to_wait(session))
}

/// Returns which process has a session open; `None` if none is seen.
pub(super) fn reason_to_keep_closed(session: &Path) -> Option<String> {
    let Holder { pid, program } = holders(session).into_iter().next()?;
    Some(format!(
        "{} is open in process {pid} ({program}); end that session first, or go on with --force",
        session.display()
    ))
}

fn reason_to_wait(session: &Path) -> Option<String> {
    let path = session.display();
    let is_fresh = time_since_change(session).is_some_and(|time| time < QUIET);
    is_fresh.then(|| {
        let seconds = QUIET.as_secs();
        format!(
            "{path} was written less than {seconds} seconds ago, so its agent may be running; end it \
             and try again, or go on with --force"
        )
    })
}
