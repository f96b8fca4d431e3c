//! Runs the transcripts below `commands`, which are also the manual.
//!
//! `TRYCMD=overwrite cargo test -p sessionlog-convert --test all commands::` updates them.

use std::{
    io::{Read, Write},
    path::Path,
    process::{Child, Command, Stdio},
};

#[test]
fn commands_do_what_their_transcripts_show() {
    trycmd::TestCases::new()
        // Times are printed in the zone of the machine.
        .env("TZ", "UTC")
        .case("tests/commands/*.md")
        .case("tests/commands/*.toml");
}

#[test]
fn folders_are_the_same_for_any_number_of_jobs() {
    let folder = tempfile::tempdir().expect("a folder");
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures");
    let written = ["1", "4"].map(|jobs| {
        let target = folder.path().join(jobs);
        let report = folder.path().join(format!("{jobs}.json"));
        let status = Command::new(env!("CARGO_BIN_EXE_convert"))
            .args([
                fixtures,
                "--to",
                "claude-code",
                "--carry",
                "sidecar",
                "--quiet",
                "--jobs",
                jobs,
            ])
            .arg("-o")
            .arg(&target)
            .arg("--report")
            .arg(&report)
            .stderr(Stdio::null())
            .status()
            .expect("the program runs");
        assert_eq!(status.code(), Some(1), "some fixtures are damaged");
        let mut files = Vec::new();
        let mut folders = vec![target.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
                let path = entry.path();
                if entry.file_name() == ".convert-journal.jsonl" {
                    // It lists the finished files in order, with times.
                    continue;
                }
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(&target).expect("below").to_owned();
                    files.push((name, std::fs::read(path).expect("a file")));
                }
            }
        }
        files.sort();
        let report = std::fs::read_to_string(report).expect("a report");
        let folder = target.display().to_string();
        (files, report.replace(&folder, "TARGET"))
    });
    assert!(written[0].0.len() > 200, "{} files", written[0].0.len());
    assert!(written[0] == written[1]);
}

#[test]
fn a_session_is_followed_while_it_grows() {
    let fixture = |name: &str| {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/claude-code/");
        std::fs::read_to_string(format!("{path}{name}")).expect("a fixture")
    };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("live.jsonl");
    let (first, second) = (fixture("plain.jsonl"), fixture("one-tool-call.jsonl"));
    std::fs::write(&path, &first).expect("written");
    let mut followed = Followed::new(&path);
    let mut read_until = |words: &str| followed.read_until(words);
    assert!(!read_until("4\n").contains("a.txt"));
    // An incomplete line is not shown until it is complete.
    let (half, rest) = second.split_at(second.find("Show").expect("its prompt") + 2);
    let mut file = std::fs::File::options().append(true).open(&path).expect("writable");
    file.write_all(half.as_bytes()).expect("written");
    std::thread::sleep(std::time::Duration::from_millis(600));
    file.write_all(rest.as_bytes()).expect("written");
    assert_eq!(read_until("Two lines.\n").matches("Show a.txt").count(), 1);
    std::fs::write(&path, &first).expect("written");
    let printed = read_until("from its start)\n\nUser");
    assert_eq!(printed.matches("(the file was cut or replaced").count(), 1);
}

/// A run of `show --follow`, which ends with the value.
struct Followed {
    child: Child,
    printed: String,
}

impl Followed {
    fn new(path: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
        command.args(["show", "--follow", "--quiet"]).arg(path).stdout(Stdio::piped());
        Self { child: command.spawn().expect("the program runs"), printed: String::new() }
    }

    /// Returns all that was printed, up to the words or a little longer.
    fn read_until(&mut self, words: &str) -> String {
        let stdout = self.child.stdout.as_mut().expect("a pipe");
        let mut buffer = [0; 4096];
        while !self.printed.contains(words) {
            let n_bytes = stdout.read(&mut buffer).expect("readable");
            assert!(n_bytes > 0, "it ended after {}", self.printed);
            self.printed.push_str(&String::from_utf8_lossy(&buffer[..n_bytes]));
        }
        self.printed.clone()
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// The lines that are there are said together; a run ends where the program has read all of them.
#[test]
fn damaged_lines_of_a_followed_session_are_said_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("live.jsonl");
    let prompt = |words: &str| {
        format!(
            r#"{{"type":"user","uuid":"{words}","sessionId":"s","message":{{"role":"user","content":"{words}"}}}}"#
        ) + "\n"
    };
    let lines = [&*prompt("one"), &"{\n".repeat(500), &prompt("two")];
    std::fs::write(&path, lines.concat()).expect("written");
    let printed = Followed::new(&path).read_until("two\n");
    assert!(printed.contains("line 2: byte "), "{printed}");
    assert!(printed.contains("lines 3 to 501: 499 such lines; "), "{printed}");
    assert_eq!(printed.matches("unexpected end of line").count(), 2, "{printed}");
}

#[test]
fn colors_are_for_those_who_want_them() {
    let printed = |variables: &[(&str, &str)]| {
        let output = Command::new(env!("CARGO_BIN_EXE_convert"))
            .args(["show", "--full"])
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/sample"))
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE")
            .envs(variables.iter().copied())
            .output()
            .expect("the program runs");
        String::from_utf8(output.stdout).expect("text")
    };
    let plain = printed(&[]);
    assert!(!plain.contains('\u{1b}') && plain.contains("> Bash cargo test"), "{plain}");
    assert_eq!(printed(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), plain);
    let colored = printed(&[("CLICOLOR_FORCE", "1")]);
    assert!(colored.contains("> \u{1b}[33mBash\u{1b}[0m cargo test"), "{colored}");
    let mut without = String::new();
    for piece in colored.split('\u{1b}') {
        without.push_str(
            piece.split_once('m').filter(|_| piece.starts_with('[')).map_or(piece, |it| it.1),
        );
    }
    assert_eq!(without, plain);
}

/// A file that is not regular is written to like standard output, read until a line is too long, and
/// left out of a folder with a message.
#[cfg(unix)]
#[test]
fn devices_and_pipes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let plain = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/claude-code/plain.jsonl");
    let (source, pipe, out) = (path("in/plain.jsonl"), path("in/pipe"), path("out"));
    std::fs::create_dir(path("in")).expect("made");
    std::fs::copy(plain, &source).expect("copied");
    let mkfifo = Command::new("mkfifo").arg(&pipe).status().expect("it runs");
    assert!(mkfifo.success());
    let convert = |arguments: &[&str]| {
        let program = env!("CARGO_BIN_EXE_convert");
        let output = Command::new(program).args(arguments).output().expect("it runs");
        let words = String::from_utf8(output.stderr).expect("text");
        (output.status.code(), output.stdout, words)
    };
    let (status, _, words) = convert(&["--to", "clido", "-o", &out, &path("in")]);
    assert_eq!(status, Some(0), "{words}");
    assert!(words.contains(&format!("{pipe}: no regular file; left out")), "{words}");
    let (status, _, words) = convert(&["--to", "clido", "-o", "/dev/null", &source]);
    assert_eq!(status, Some(0), "{words}");
    let (_, expected, _) = convert(&["--to", "clido", &source]);
    let reader = Command::new("cat").arg(&pipe).stdout(Stdio::piped()).spawn().expect("it runs");
    let (status, written, words) = convert(&["--to", "clido", "-o", &pipe, &source]);
    assert_eq!((status, written.len()), (Some(0), 0), "{words}");
    assert_eq!(reader.wait_with_output().expect("it ends").stdout, expected);
    let endless = ["--to", "clido", "--max-line", "1MiB", "/dev/zero"];
    let (status, _, words) = convert(&endless);
    assert_eq!(status, Some(2), "{words}");
    assert!(words.contains("a line has more than 1048576 bytes"), "{words}");
}

/// A sidecar does not belong to an output that is written again without one.
#[test]
fn what_stood_beside_an_older_output_is_kept_aside() {
    let folder = tempfile::tempdir().expect("a folder");
    let source =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/damaged/torn-in-the-middle.jsonl");
    let out = folder.path().join("out.jsonl");
    let convert = |arguments: &[&str]| {
        let status = Command::new(env!("CARGO_BIN_EXE_convert"))
            .args(["--quiet", "--force", "--to", "clido", "-o"])
            .arg(&out)
            .args(arguments)
            .arg(source)
            .stderr(Stdio::null())
            .status();
        assert!(status.expect("it runs").code() < Some(2));
        let names = std::fs::read_dir(folder.path()).expect("a folder");
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.expect("an entry").file_name().into_string().expect("text")
        };
        let mut names: Vec<String> = names.map(name).collect();
        names.sort();
        names
    };
    let with_sidecar = ["out.jsonl", "out.jsonl.carry"];
    assert_eq!(convert(&["--carry", "sidecar"]), with_sidecar);
    let inline = ["out.jsonl", "out.jsonl.bak", "out.jsonl.carry.bak"];
    assert_eq!(convert(&[]), inline);
    let none = [
        "out.jsonl",
        "out.jsonl.bak",
        "out.jsonl.bak2",
        "out.jsonl.carry.bak",
        "out.jsonl.residue",
    ];
    assert_eq!(convert(&["--carry", "none"]), none);
    // The output without a carry, as the first backup is.
    let inline = [
        "out.jsonl",
        "out.jsonl.bak",
        "out.jsonl.bak2",
        "out.jsonl.carry.bak",
        "out.jsonl.residue.bak",
    ];
    assert_eq!(convert(&[]), inline);
}

#[test]
fn an_older_backup_is_never_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("p.jsonl"), "mine\n").expect("written");
    std::fs::write(path("p.jsonl.bak"), "older\n").expect("written");
    let source =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/claude-code/one-tool-call.jsonl");
    for to in ["clido", "codex"] {
        let status = Command::new(env!("CARGO_BIN_EXE_convert"))
            .args(["--quiet", "--force", "--to", to, "-o"])
            .args([path("p.jsonl").as_os_str(), source.as_ref()])
            .status();
        assert_eq!(status.expect("it runs").code(), Some(0));
    }
    let text = |name: &str| std::fs::read_to_string(path(name)).expect(name);
    assert_eq!(text("p.jsonl.bak"), "older\n");
    assert_eq!(text("p.jsonl.bak2"), "mine\n");
    assert!(text("p.jsonl.bak3").contains("schema_version"));
}

#[test]
fn a_report_replaces_no_other_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let source =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/claude-code/one-tool-call.jsonl");
    std::fs::copy(source, path("s.jsonl")).expect("copied");
    let run = |report: &str| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_convert"));
        program.args(["--quiet", "--force", "--to", "clido", "-o"]).arg(path("o.jsonl"));
        program.arg(path("s.jsonl")).arg("--report").arg(path(report));
        program.output().expect("it runs")
    };
    std::os::unix::fs::symlink("s.jsonl", path("link.json")).expect("a link");
    for name in ["s.jsonl", "link.json"] {
        let refused = run(name);
        assert_eq!(refused.status.code(), Some(2));
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(said.contains("exists and is no report"), "{said}");
    }
    // A name with a slash is that of a folder, not of the file.
    for name in ["s.jsonl/", "."] {
        let refused = run(name);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(said.contains("names a folder"), "{said}");
        assert_eq!(refused.status.code(), Some(2));
    }
    let equal = std::fs::read(path("s.jsonl")).expect("kept");
    assert!(equal == std::fs::read(source).expect("a fixture"));
    // An older report is replaced.
    for _ in 0..2 {
        assert_eq!(run("r.json").status.code(), Some(0));
    }
    assert!(std::fs::read(path("r.json")).expect("a report").starts_with(b"[{\"source\":"));
    assert!(!path("r.json.bak").exists());
}

/// A written file that was cut in its first line is no session, but it is not another program's either.
#[test]
fn a_converted_file_that_was_cut_in_its_first_line_fails_in_a_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("in")).expect("a folder");
    let source =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/claude-code/one-tool-call.jsonl");
    let run = |arguments: &[&std::ffi::OsStr]| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_convert"));
        program.args(arguments).output().expect("it runs")
    };
    for (name, carry, n_left) in [("a.jsonl", "inline", 500), ("b.jsonl", "sidecar", 60)] {
        let out = path("in").join(name);
        let [to, clido, mode, with] = ["--to", "clido", "--carry", carry].map(AsRef::as_ref);
        run(&[to, clido, mode, with, "-o".as_ref(), out.as_ref(), source.as_ref()]);
        let bytes = std::fs::read(&out).expect("written");
        assert!(!bytes[..n_left].contains(&b'\n'), "the first line is longer");
        std::fs::write(&out, &bytes[..n_left]).expect("cut");
    }
    std::fs::write(path("in").join("c.jsonl"), "{\"other\":1}\n").expect("written");
    let (input, output) = (path("in"), path("out"));
    let [to, claude] = ["--to", "claude-code"].map(AsRef::as_ref);
    let output = run(&[to, claude, "-o".as_ref(), output.as_ref(), input.as_ref()]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("a.jsonl: ") && said.contains("b.jsonl: "), "{said}");
    assert!(said.contains("2 failed · 1 not sessions"), "{said}");
}

/// A file in the target's format is copied. Its sidecar is a part of it, so the copy comes home as the file does.
#[test]
fn a_copy_of_a_file_with_a_sidecar_comes_home() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = std::path::Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/claude-code/rewind.jsonl"
    ));
    let convert = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_convert"))
            .current_dir(folder.path())
            .args(arguments)
            .output()
            .expect("it runs");
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), words, output.stdout)
    };
    let bytes_of = |name: &str| std::fs::read(folder.path().join(name)).expect(name);
    let source_path = source.display().to_string();
    convert(&["--quiet", "--to", "clido", "--carry", "sidecar", "-o", "in/a.jsonl", &source_path]);
    for (target, input, copy) in
        [("b.jsonl", "in/a.jsonl", "b.jsonl"), ("folder", "in", "folder/a.jsonl")]
    {
        // `--carry` is for what is converted; a copy keeps the carry of its source.
        assert_eq!(convert(&["--to", "clido", "--carry", "none", "-o", target, input]).0, Some(0));
        assert_eq!(bytes_of(copy), bytes_of("in/a.jsonl"));
        assert_eq!(bytes_of(&format!("{copy}.carry")), bytes_of("in/a.jsonl.carry"));
        let (status, words, home) = convert(&["--quiet", "--to", "claude-code", copy]);
        assert_eq!((status, words.as_str()), (Some(0), ""));
        assert_eq!(home, std::fs::read(source).expect("the fixture"));
    }
    // A repaired session and a fork keep it too; of a fork, the records are as they were, and one is new.
    for (command, copy, n_added) in [("repair", "r.jsonl", 0), ("fork", "f.jsonl", 1)] {
        assert_eq!(convert(&[command, "in/a.jsonl", "-o", copy]).0, Some(0));
        let (_, words, home) = convert(&["--quiet", "--to", "claude-code", copy]);
        assert_eq!(words.contains("1 added record was converted"), n_added == 1, "{words}");
        let n_lines = |bytes: &[u8]| bytes.split(|byte| *byte == b'\n').count();
        let expected = n_lines(&std::fs::read(source).expect("the fixture")) + n_added;
        assert_eq!(n_lines(&home), expected, "{command}: {words}");
        let (status, words, _) = convert(&[command, "in/a.jsonl"]);
        assert_eq!(status, Some(0));
        assert!(words.contains("its sidecar is not copied to standard output"), "{words}");
    }
    // Standard output has no place for a sidecar.
    let (status, words, _) = convert(&["--to", "clido", "in/a.jsonl"]);
    assert_eq!(status, Some(1));
    assert!(words.contains("1 sidecar beside"), "{words}");
    // A carry may hold secrets.
    let (status, words, _) = convert(&["--to", "clido", "--redact", "-o", "c.jsonl", "in/a.jsonl"]);
    assert_eq!(status, Some(1));
    assert!(words.contains("1 sidecar beside"), "{words}");
    assert!(!folder.path().join("c.jsonl.carry").exists());
}
