//! Pages of sessions, opened in Chromium as a person does.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use crate::scratch::{build, call, in_scratch, script};

/// What is done on a page, and what must come of it.
const SCRIPT: &str = include_str!("pages.py");

/// Opens pages of three sessions of the folders: one with sub-agents, one with pictures, and one of
/// 20,000 lines, joined from the longest; returns whether they keep what they promise.
///
/// Without a folder, these are the fixtures. Pictures of the pages go to `target/pages`.
pub fn pages(root: &Path, folders: &[String]) -> bool {
    in_scratch("pages", |scratch| run(root, folders, scratch))
}

fn run(root: &Path, folders: &[String], scratch: &Path) -> Result<(), String> {
    let mut driver = Command::new("chromedriver");
    if call(driver.arg("--version").stdout(Stdio::null())).is_err() {
        return Err("Chromium and its driver are not installed: Debian's packages are chromium \
                    and chromium-driver"
            .to_owned());
    }
    let target = build(root, &["-p", "convert", "--bin", "convert"])?;
    let script = script(scratch, "pages.py", SCRIPT)?;
    let mut open = Command::new("python3");
    open.arg(script).arg(target.join("debug/convert"));
    open.arg(scratch.join("work")).arg(target.join("pages"));
    if folders.is_empty() {
        open.arg(root.join("fixtures"));
    }
    call(open.args(folders))
}
