//! Opens pages of sessions in Chromium, and uses them as a person does.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use crate::scratch::{build, call, in_scratch, script};

/// The actions on a page and the expected results.
const SCRIPT: &str = include_str!("pages.py");

/// Opens pages of three sessions: one with sub-agents, one with pictures, and one of 50 MB that is
/// joined from the longest sessions. Returns whether all checks pass.
///
/// Sessions come from `folders`, or from the fixtures if there are none. Screenshots are written to
/// `target/pages`.
pub fn pages(root: &Path, folders: &[String]) -> bool {
    in_scratch("pages", |scratch| run(root, folders, scratch))
}

fn run(root: &Path, folders: &[String], scratch: &Path) -> Result<(), String> {
    let mut driver = Command::new("chromedriver");
    if call(driver.arg("--version").stdout(Stdio::null())).is_err() {
        return Err("pages: chromedriver does not run; install Chromium and its driver (in Debian: chromium \
                    and chromium-driver)"
            .to_owned());
    }
    let target = build(root, &["-p", "sessionlog-convert", "--bin", "convert"])?;
    let script = script(scratch, "pages.py", SCRIPT)?;
    let mut open = Command::new("python3");
    open.arg(script).arg(target.join("debug/convert"));
    open.arg(scratch.join("work")).arg(target.join("pages"));
    if folders.is_empty() {
        open.arg(root.join("fixtures"));
    }
    call(open.args(folders))
}
