//! Converts an archive with engines that start workers: processes, Sail, Spark, Ray.

use std::{
    env,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::scratch::{build, built_by_tests, call, in_scratch, python, target};

/// The folder of the Python program that converts archives with each engine and compares the outputs.
const SCRIPTS: &str = "xtask/src/engines";

const ENGINES: [&str; 4] = ["shell", "sail", "spark", "ray"];

/// The default number of sessions in the archive.
const N_SESSIONS: &str = "20000";

/// The package that builds the wheel.
pub(crate) const MATURIN: &str = "maturin";

/// Generates an archive, and converts it with each engine. `options` are engines such as `--sail`
/// (default: all), `--sessions N`, and folders to convert too. Returns whether all engines wrote the
/// same bytes.
pub fn engines(root: &Path, options: &[String]) -> bool {
    in_scratch("engines", |scratch| {
        let target = build(root, &["-p", "benches", "--example", "archive"])?;
        run(root, options, &target, &["--profile", "dist"], scratch)
    })
}

/// Converts 50 sessions with processes and with Sail, using the programs that the tests built.
pub(crate) fn engines_of_tests(root: &Path) -> bool {
    let options = ["--sessions", "50", "--shell", "--sail"].map(str::to_owned);
    in_scratch("engines", |scratch| run(root, &options, &built_by_tests(root)?, &[], scratch))
}

fn run(
    root: &Path,
    options: &[String],
    target: &Path,
    how: &[&str],
    scratch: &Path,
) -> Result<(), String> {
    let here = env::current_dir().map_err(|error| error.to_string())?;
    let mut n_sessions = N_SESSIONS;
    let (mut engines, mut folders) = (Vec::new(), Vec::new());
    let mut words = options.iter();
    while let Some(word) = words.next() {
        match word.strip_prefix("--") {
            Some("sessions") => {
                n_sessions = words
                    .next()
                    .ok_or("engines: --sessions needs a number, such as `--sessions 50`")?
            }
            Some(engine) if ENGINES.contains(&engine) => engines.push(engine),
            Some(_) => {
                return Err(format!(
                    "engines: unknown option {word}; the options are --sessions N, --shell, --sail, --spark, --ray"
                ));
            }
            None => folders.push(here.join(word)),
        }
    }
    if engines.is_empty() {
        engines.extend(ENGINES);
    }
    let archive = scratch.join(format!("{n_sessions} made up"));
    call(Command::new(target.join("debug/examples/archive")).arg(&archive).arg(n_sessions))?;
    let python = python(scratch, &[MATURIN])?;
    let wheel = wheel(root, how, scratch, &python)?;
    call(Command::new(&python).args(["-m", "pip", "install", "-q"]).arg(&wheel))?;
    let mut run = Command::new(&python);
    run.env("PYTHONDONTWRITEBYTECODE", "1").arg(root.join(SCRIPTS));
    run.arg(python.with_file_name("convert")).arg(wheel).arg(scratch).arg(engines.join(","));
    call(run.arg(archive).args(folders))
}

/// Builds the wheel of the Python package, which contains the program, and returns its path. `how` are
/// options of maturin, such as `--profile dist`.
pub(crate) fn wheel(
    root: &Path,
    how: &[&str],
    scratch: &Path,
    python: &Path,
) -> Result<PathBuf, String> {
    let wheels = scratch.join("wheels");
    let mut maturin = Command::new(python.with_file_name("maturin"));
    maturin.args(["build", "--quiet", "--locked", "--out"]).arg(&wheels).args(how);
    maturin.env("CARGO_TARGET_DIR", target(root));
    call(maturin.current_dir(root.join("python")))?;
    let wheels = fs::read_dir(wheels).map_err(|error| error.to_string())?;
    let mut paths = wheels.flatten().map(|entry| entry.path());
    let is_wheel = |path: &PathBuf| path.extension() == Some(OsStr::new("whl"));
    paths
        .find(is_wheel)
        .ok_or_else(|| "engines: maturin built no wheel; its messages are above".to_owned())
}
