//! Gives converted sessions to the clients themselves, and compares what they load, send and keep.
//!
//! The clients run in a network namespace that has only the loopback, where a mock answers the
//! model API. The request that a client sends after it resumed a session is the history that it
//! understood. `real_clients/__main__.py` is the program.

use std::{path::Path, process::Command};

use crate::scratch::{build, call};

const SCRIPTS: &str = "xtask/src/real_clients";

/// Converts sessions, resumes them in the clients, and prints a table of the differences. Returns
/// whether there are none.
///
/// `arguments` are names of clients, options, and folders. Clients are installed below
/// `target/real-clients` and are kept there.
pub fn real_clients(root: &Path, arguments: &[String]) -> bool {
    let result =
        build(root, &["-p", "sessionlog-convert", "--bin", "convert"]).and_then(|target| {
            let mut run = Command::new("python3");
            run.env("PYTHONDONTWRITEBYTECODE", "1").arg(root.join(SCRIPTS));
            run.arg(target.join("debug/convert")).args(arguments);
            call(run.arg("--installed").arg(target.join("real-clients")))
        });
    result.inspect_err(|error| report(error)).is_ok()
}

#[expect(clippy::print_stderr, reason = "a task prints to the terminal")]
fn report(error: &str) {
    eprintln!("{error}");
}
