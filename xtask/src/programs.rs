//! Builds `examples/programs`, which use the libraries from outside the workspace, and runs each.
//!
//! Two programs have a twin that uses `serde_json` alone, and must print or write the same. With
//! `--measure`, the task prints the table of docs/LIBRARY.md instead.

#![expect(clippy::print_stdout, reason = "a task prints a report")]

use std::{
    collections::BTreeSet,
    env,
    fmt::Display,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use crate::scratch::{call, in_scratch, target};

const MANIFEST: &str = "examples/programs/Cargo.toml";

/// The programs with the feature that each needs.
const PROGRAMS: &[(&str, &str)] = &[
    ("tokens", "tokens"),
    ("tokens_json", "json"),
    ("append", "append"),
    ("append_json", "json"),
    ("bytes", "bytes"),
    ("find", "find"),
    ("file", "file"),
];

/// A session with a command that fails, for `tokens`.
const COMMANDS: &str = "fixtures/claude-code/parallel-calls-interleaved.jsonl";

/// The sessions of the other programs, from Claude Code and clido.
const SESSION: &str = "fixtures/claude-code/one-tool-call.jsonl";
const CLIDO_SESSION: &str = "fixtures/clido/plain.jsonl";

/// Builds and runs the programs. Returns whether each does what its first line says.
pub fn programs(root: &Path) -> bool {
    in_scratch("programs", |scratch| {
        let mut build = cargo(root, "build");
        build.args(["--quiet", "--locked", "--all-features", "--target-dir"]).arg(target(root));
        call(&mut build)?;
        let all = Programs { folder: target(root).join("debug"), root, scratch };
        all.tokens()?;
        all.append()?;
        all.there_and_back()?;
        all.find()?;
        println!("programs: {} of examples/programs built and run", PROGRAMS.len());
        Ok(())
    })
}

/// Prints the lines, crates and seconds of CPU of each program, as a table of Markdown. Each is built alone
/// from nothing, without optimization.
pub fn measure_programs(root: &Path) -> bool {
    in_scratch("programs", |scratch| {
        println!("| program | lines | crates of others | all crates | CPU seconds to build |");
        println!("|---|---|---|---|---|");
        for (name, feature) in PROGRAMS {
            let folder = scratch.join(name);
            let source = root.join(format!("examples/programs/src/bin/{name}.rs"));
            let text = fs::read_to_string(source).map_err(|error| error.to_string())?;
            let is_code =
                |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
            let n_lines = text.lines().filter(is_code).count();
            let (n_foreign, n_crates) = crates(root, feature)?;
            let script = "TIMEFORMAT='%U %S'; time \"$@\"";
            let mut timed = Command::new("bash");
            timed.current_dir(root).args(["-c", script, "bash", "cargo", "build", "--quiet"]);
            timed.args(["--locked", "--manifest-path", MANIFEST, "--features", feature, "--bin"]);
            timed.arg(name).arg("--target-dir").arg(&folder);
            let output = said(timed.output(), "cargo build")?;
            let times = String::from_utf8_lossy(&output.stderr).into_owned();
            let times = times.lines().last().unwrap_or_default();
            let seconds: f64 = times.split(' ').filter_map(|word| word.parse::<f64>().ok()).sum();
            println!("| `{name}` | {n_lines} | {n_foreign} | {n_crates} | {seconds:.0} |");
            _ = fs::remove_dir_all(folder);
        }
        Ok(())
    })
}

/// Returns the numbers of crates that a feature needs: from outside this workspace, and all.
fn crates(root: &Path, feature: &str) -> Result<(usize, usize), String> {
    let mut tree = cargo(root, "tree");
    tree.args(["--locked", "-e", "normal,build", "--prefix", "none", "--features", feature]);
    let output = said(tree.output(), "cargo tree")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let names = text.lines().skip(1).filter_map(|line| line.split(' ').next());
    let names: BTreeSet<&str> = names.filter(|name| !name.is_empty()).collect();
    let is_foreign = |name: &&&str| !name.starts_with(crate::PACKAGE_PREFIX);
    Ok((names.iter().filter(is_foreign).count(), names.len()))
}

fn cargo(root: &Path, word: &str) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).args([word, "--manifest-path", MANIFEST]);
    command
}

/// Returns the output of a program that succeeded.
fn said(output: Result<Output, impl Display>, name: &str) -> Result<Output, String> {
    let output = output.map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(output);
    }
    Err(format!("{name}: {}: {}", output.status, String::from_utf8_lossy(&output.stderr)))
}

struct Programs<'r> {
    folder: PathBuf,
    root: &'r Path,
    scratch: &'r Path,
}

impl Programs<'_> {
    /// Runs a program on standard input.
    fn run(&self, name: &str, words: &[&str], input: &[u8]) -> Result<Output, String> {
        let mut command = Command::new(self.folder.join(name));
        command.current_dir(self.root).args(words).env("HOME", self.scratch);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("{name}: {error}"))?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input).map_err(|error| format!("{name}: {error}"))?;
        }
        child.wait_with_output().map_err(|error| format!("{name}: {error}"))
    }

    /// Compares the tokens and commands of a session with the output of the twin.
    fn tokens(&self) -> Result<(), String> {
        let ours = said(self.run("tokens", &[COMMANDS], b""), "tokens")?;
        let other = said(self.run("tokens_json", &[COMMANDS], b""), "tokens_json")?;
        let has_both = String::from_utf8_lossy(&ours.stdout).lines().count() > 1;
        check(ours.stdout == other.stdout && has_both, "tokens: differs from its twin")
    }

    /// Adds a prompt to a session, and compares the bytes. A damaged session must stay as it is.
    fn append(&self) -> Result<(), String> {
        let session = read(&self.root.join(CLIDO_SESSION))?;
        let damaged = [&session[..], b"{\"type\":\"user_message\"}\n"].concat();
        let turn = r#"{"type":"user_message","role":"user","content":[{"text":"Go on \"now\"","type":"text"}]}"#;
        for name in ["append", "append_json"] {
            let path = self.scratch.join(format!("{name}.jsonl"));
            let words = [&*path.to_string_lossy(), "Go on \"now\""];
            write(&path, &session)?;
            said(self.run(name, &words, b""), name)?;
            let added = read(&path)?.strip_prefix(&session[..]).map(<[u8]>::to_vec);
            if name == "append" {
                let is_exact = added == Some(format!("{turn}\n").into_bytes());
                check(is_exact, "append: the turn is not as clido writes it")?;
            } else {
                check(added.is_some_and(|it| !it.is_empty()), "append_json: no turn was added")?;
            }
            write(&path, &damaged)?;
            let is_refused = !self.run(name, &words, b"")?.status.success();
            let what = "append: a session that clido refuses was changed";
            check(is_refused && read(&path)? == damaged, what)?;
        }
        Ok(())
    }

    /// Converts a session to clido and back, as bytes and as files, and compares the bytes.
    fn there_and_back(&self) -> Result<(), String> {
        let session = read(&self.root.join(SESSION))?;
        let there = said(self.run("bytes", &["clido"], &session), "bytes")?.stdout;
        let back = said(self.run("bytes", &["claude-code"], &there), "bytes")?.stdout;
        check(back == session && there != session, "bytes: there and back gives other bytes")?;
        let [clido, restored] = ["clido", "restored"].map(|name| self.scratch.join(name));
        let (clido, restored) = (clido.to_string_lossy(), restored.to_string_lossy());
        said(self.run("file", &[SESSION, "clido", &clido], b""), "file")?;
        said(self.run("file", &[&clido, "claude-code", &restored], b""), "file")?;
        let is_back = read(Path::new(&*restored))? == session;
        check(is_back && read(Path::new(&*clido))? == there, "file: differs from `bytes`")
    }

    /// Looks for a session in a home folder that has one.
    fn find(&self) -> Result<(), String> {
        let project = self.scratch.join(".claude/projects/-p");
        fs::create_dir_all(&project).map_err(|error| error.to_string())?;
        let path = project.join("s1.jsonl");
        write(&path, &read(&self.root.join(SESSION))?)?;
        let found =
            String::from_utf8_lossy(&said(self.run("find", &[], b""), "find")?.stdout).into_owned();
        let is_it = found == format!("{} claude-code 1\n", path.display());
        check(is_it, &format!("find: does not print the session and its prompt, but {found:?}"))
    }
}

fn check(is_fine: bool, what: &str) -> Result<(), String> {
    if is_fine { Ok(()) } else { Err(what.to_owned()) }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}
