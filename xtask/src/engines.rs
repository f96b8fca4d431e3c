//! One archive through everything that can start workers: processes, Sail, Spark, Ray.

use std::{env, ffi::OsStr, fs, path::Path, process::Command};

use crate::scratch::{build, call, in_scratch, python, script};

/// Works on the archive with each engine, and compares what they write.
const SCRIPT: &str = include_str!("engines.py");

const ENGINES: [&str; 4] = ["shell", "sail", "spark", "ray"];

/// How many sessions the archive has, if nothing else is said.
const N_SESSIONS: &str = "20000";

/// Makes an archive of sessions and converts it with the engines that the options name, such as
/// `--sail`, or with all; returns whether all wrote the same.
pub fn engines(root: &Path, options: &[String]) -> bool {
    in_scratch("engines", |scratch| run(root, options, scratch))
}

fn run(root: &Path, options: &[String], scratch: &Path) -> Result<(), String> {
    let mut n_sessions = N_SESSIONS;
    let mut engines = Vec::new();
    let mut words = options.iter();
    while let Some(word) = words.next() {
        match word.strip_prefix("--") {
            Some("sessions") => n_sessions = words.next().ok_or("--sessions N")?,
            Some(engine) if ENGINES.contains(&engine) => engines.push(engine),
            _ => return Err(format!("{word}: neither --sessions nor one of {ENGINES:?}")),
        }
    }
    if engines.is_empty() {
        engines.extend(ENGINES);
    }
    build(root, &["-p", "benches", "--example", "archive"])?;
    let target = build(root, &["--release", "-p", "convert"])?;
    let archive = scratch.join("archive");
    call(Command::new(target.join("debug/examples/archive")).arg(&archive).arg(n_sessions))?;
    let wheel = match engines.as_slice() {
        ["shell"] => "none".into(),
        _ => wheel(root, scratch)?,
    };
    let script = script(scratch, "engines.py", SCRIPT)?;
    let mut run = Command::new("python3");
    run.arg(&script).arg(target.join("release/convert")).arg(&archive).arg(scratch);
    call(run.arg(wheel).args(engines))
}

/// Builds the wheel of the Python package, with the program in it, and returns its path.
fn wheel(root: &Path, scratch: &Path) -> Result<std::ffi::OsString, String> {
    let wheels = scratch.join("wheels");
    let mut maturin = Command::new(python(scratch, &["maturin"])?.with_file_name("maturin"));
    maturin.args(["build", "--release", "--quiet", "--out"]).arg(&wheels);
    maturin.arg("--manifest-path").arg(root.join("python/pyproject.toml"));
    if env::var_os("CARGO_TARGET_DIR").is_none() {
        maturin.arg("--target-dir").arg(root.join("target"));
    }
    call(maturin.current_dir(root.join("python")))?;
    let wheels = fs::read_dir(wheels).map_err(|error| error.to_string())?;
    let mut paths = wheels.flatten().map(|entry| entry.path());
    let is_wheel = |path: &std::path::PathBuf| path.extension() == Some(OsStr::new("whl"));
    paths.find(is_wheel).map(Into::into).ok_or_else(|| "maturin built no wheel".to_owned())
}
