//! A folder of sessions to convert, its expected outputs, and a comparison with the actual ones.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// Returns the number of rounds: a few, or the number in RELIABILITY.md.
pub(crate) fn rounds(few: usize, all: usize) -> usize {
    if std::env::var_os("TRUST_FULL").is_some() { all } else { few }
}

/// Prints a figure for RELIABILITY.md.
pub(crate) fn tell(figure: &str) {
    eprintln!("trust: {figure}");
}

/// Returns whether a program can be run; prints a note if not.
pub(crate) fn has(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    let is_there = command.status().is_ok_and(|status| status.success());
    if !is_there {
        eprintln!("skipped: {program} {} does not work here", arguments.join(" "));
    }
    is_there
}

/// Returns whether strace runs, with filters in the kernel: programs then stop only at the calls that are traced.
pub(crate) fn has_strace() -> bool {
    has("strace", &["-f", "--seccomp-bpf", "-e", "trace=close", "-o", "/dev/null", "true"])
}

/// A generator of pseudo-random numbers, the same in each run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % end
    }
}

/// The files of a folder by name, without the journal and receipts.
pub(crate) type Files = BTreeMap<PathBuf, Vec<u8>>;

/// A scratch folder with sessions in `in`.
pub(crate) struct Stage {
    pub(crate) folder: tempfile::TempDir,
}

impl Stage {
    pub(crate) fn new(n_files: usize, n_lines: usize) -> Self {
        let stage = Self { folder: tempfile::tempdir().expect("a folder") };
        stage.write(n_files, n_lines, "old");
        stage
    }

    /// Writes the sources again.
    pub(crate) fn write(&self, n_files: usize, n_lines: usize, word: &str) {
        for file in 0..n_files {
            let folder = self.path("in").join(format!("d{}", file % 3));
            fs::create_dir_all(&folder).expect("made");
            let session = session(n_lines + file % 5, &format!("{word} {file}"));
            fs::write(folder.join(format!("s{file}.jsonl")), session).expect("written");
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the command that converts `in` to a folder.
    pub(crate) fn command(&self, output: &str, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
        command.arg(self.path("in")).args(["--to", "clido", "-o"]).arg(self.path(output));
        command.args(more).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, output: &str, more: &[&str]) -> Output {
        self.command(output, more).output().expect("it runs")
    }

    /// Returns the expected outputs.
    pub(crate) fn expected(&self, more: &[&str]) -> Files {
        let name = "expected";
        _ = fs::remove_dir_all(self.path(name));
        let output = self.run(name, more);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        files(&self.path(name))
    }
}

/// Returns a transcript of `n` prompts with their answers.
pub(crate) fn session(n_prompts: usize, word: &str) -> String {
    let mut session = String::new();
    for n in 0..n_prompts {
        let text = format!("{word} {n} {}", "lorem ipsum ".repeat(20));
        session.push_str(&line(n, &text));
    }
    session
}

/// Returns a line of a transcript.
pub(crate) fn line(n: usize, text: &str) -> String {
    let parent = n.checked_sub(1).map_or("null".to_owned(), |n| format!("\"u{n}\""));
    format!(
        "{{\"parentUuid\":{parent},\"sessionId\":\"s\",\"type\":\"user\",\"uuid\":\"u{n}\",\
         \"timestamp\":\"2026-01-01T10:00:00.000Z\",\"cwd\":\"/x\",\"version\":\"2.0.77\",\
         \"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
    )
}

/// Returns the content of a folder, with links as their targets.
pub(crate) fn files(folder: &Path) -> Files {
    let mut files = Files::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(it) = folders.pop() {
        for entry in fs::read_dir(it).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_name() == ".convert-receipts" {
                // The receipts of workers have times.
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if entry.file_name() != ".convert-journal.jsonl" {
                let name = path.strip_prefix(folder).expect("below").to_owned();
                files.insert(name, fs::read(&path).unwrap_or_default());
            }
        }
    }
    files
}

/// Returns the names of temporary files.
pub(crate) fn temporaries(files: &Files) -> Vec<&PathBuf> {
    files.keys().filter(|name| name.to_string_lossy().contains(".tmp-")).collect()
}

/// Returns the standard error of a run.
pub(crate) fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
