//! Tests of a full disk, a file that may not grow, a closed pipe, and permissions.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Output},
};

use super::stage::{Files, Stage, files, has, tell, temporaries, text};

/// Runs a script in which `$convert`, `$in` and `$out` are the program, the input and the output.
fn shell(stage: &Stage, before: &[&str], script: &str) -> Output {
    let mut words = before.iter().copied().chain(["sh", "-c", script]);
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).env("convert", env!("CARGO_BIN_EXE_convert"));
    command.env("in", stage.path("in")).env("out", stage.path("out"));
    command.env("copy", stage.path("copy")).output().expect("it runs")
}

fn are_whole(written: &Files, expected: &Files) {
    for (name, bytes) in written {
        assert_eq!(Some(bytes), expected.get(name), "{}", name.display());
    }
    assert_eq!(temporaries(written), [] as [&std::path::PathBuf; 0]);
}

#[test]
fn a_full_disk_ends_the_run_and_is_named() {
    if !has("unshare", &["-m", "mount", "-t", "tmpfs", "none", "/mnt"]) {
        return;
    }
    let stage = Stage::new(60, 20);
    let expected = stage.expected(&[]);
    fs::create_dir(stage.path("out")).expect("made");
    let script = "mount -t tmpfs -o size=256k,mode=700 none $out && \
                  $convert $in --to clido -o $out; code=$?; cp -a $out $copy; exit $code";
    let output = shell(&stage, &["unshare", "-m"], script);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let place = stage.path("out").display().to_string();
    assert!(said.contains(&format!("no space left on the file system of {place}")), "{said}");
    let written = files(&stage.path("copy"));
    are_whole(&written, &expected);
    assert!(!said.contains("panicked"));
    tell(&format!("256 KiB: {} of 60 files whole, 0 torn, 0 temporary, status 1", written.len()));
}

#[test]
fn a_name_may_be_as_long_as_a_name_may_be() {
    let stage = Stage::new(1, 2);
    let name = format!("in/d0/{}.jsonl", "n".repeat(249));
    fs::rename(stage.path("in/d0/s0.jsonl"), stage.path(&name)).expect("renamed");
    let output = stage.run("out", &[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(stage.path(&name.replacen("in", "out", 1)).is_file());
    // The name of a sidecar would be longer.
    let output = stage.run("beside", &["--carry", "sidecar"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert_eq!(files(&stage.path("beside")), Files::new());
}

/// It may hide that the carry is lost. Waiting for its writer would never end.
#[test]
fn a_pipe_with_the_name_of_a_sidecar_is_said() {
    let stage = Stage::new(1, 2);
    let pipe = stage.path("in/d0/s0.jsonl.carry");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("it runs").success());
    let run = |more| {
        let script = format!("exec $convert $in -o $out {more}");
        shell(&stage, &["timeout", "60"], &script)
    };
    let output = run("--to clido");
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("s0.jsonl.carry: the sidecar is no file"), "{}", text(&output));
    assert!(!stage.path("out/d0/s0.jsonl").exists());
    // A copy in its own format has a copy of its sidecar.
    for more in ["--ignore-carry --to clido", "--ignore-carry --force --to claude-code"] {
        let output = run(more);
        assert_eq!(output.status.code(), Some(0), "{more}: {}", text(&output));
        assert!(stage.path("out/d0/s0.jsonl").is_file());
    }
}

/// Two names of one folder simulate file systems that do not distinguish case or normal forms of
/// Unicode.
#[test]
fn of_names_that_are_one_the_first_stays() {
    if !has("unshare", &["-m", "mount", "-t", "tmpfs", "none", "/mnt"]) {
        return;
    }
    for more in ["", "--force", "--durability file", "--force --durability file"] {
        let stage = Stage::new(1, 1);
        fs::write(stage.path("in/d0/s.jsonl"), super::stage::session(9, "first")).expect("written");
        fs::create_dir(stage.path("in/D0")).expect("made");
        fs::write(stage.path("in/D0/s.jsonl"), super::stage::session(3, "second"))
            .expect("written");
        let expected = stage.expected(&[]);
        for folder in ["out/d0", "out/D0"] {
            fs::create_dir_all(stage.path(folder)).expect("made");
        }
        let script = format!(
            "mount --bind $out/d0 $out/D0 && $convert $in --to clido -o $out --jobs 1 {more}"
        );
        let output = shell(&stage, &["unshare", "-m"], &script);
        assert_eq!(output.status.code(), Some(1), "{more}: {}", text(&output));
        assert!(text(&output).contains("D0/s.jsonl"), "{more}: {}", text(&output));
        let written = files(&stage.path("out"));
        assert_eq!(written.len(), 2, "{more}: {:?}", written.keys());
        assert!(written[Path::new("d0/s.jsonl")] == expected[Path::new("d0/s.jsonl")], "{more}");
    }
}

#[test]
fn a_file_that_may_not_grow_fails_alone() {
    let stage = Stage::new(10, 5);
    fs::write(stage.path("in/large.jsonl"), super::stage::session(5000, "large")).expect("written");
    let expected = stage.expected(&[]);
    let output = shell(&stage, &["env"], "ulimit -f 128; exec $convert $in --to clido -o $out");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("large.jsonl"), "{}", text(&output));
    let written = files(&stage.path("out"));
    are_whole(&written, &expected);
    assert_eq!(written.len(), 10);
}

#[test]
fn a_sink_that_is_full_is_an_error_and_one_that_is_closed_is_not() {
    let stage = Stage::new(1, 5000);
    let full = shell(&stage, &["env"], "$convert $in/d0/s0.jsonl --to clido > /dev/full");
    assert_eq!(full.status.code(), Some(1), "{}", text(&full));
    assert!(text(&full).contains("standard output: No space left"), "{}", text(&full));
    let script = "{ $convert $in/d0/s0.jsonl --to clido -q; echo $? >&2; } | head -c 1 > /dev/null";
    assert_eq!(text(&shell(&stage, &["env"], script)), "0\n");
}

#[test]
fn only_the_owner_may_read_whatever_the_umask() {
    for umask in ["000", "022", "077"] {
        let stage = Stage::new(4, 3);
        let locked = stage.path("in/d0/s0.jsonl");
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o444)).expect("set");
        let script = format!(
            "umask {umask}; $convert $in --to clido --carry sidecar -o $out --report $copy"
        );
        let output = shell(&stage, &["env"], &script);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o777;
        for name in files(&stage.path("out")).keys() {
            let is_locked = name.to_string_lossy().starts_with("d0/s0.jsonl");
            let expected = if is_locked { 0o400 } else { 0o600 };
            assert_eq!(mode(&stage.path("out").join(name)), expected, "{}", name.display());
        }
        for folder in ["out", "out/d0", "out/d1"] {
            assert_eq!(mode(&stage.path(folder)), 0o700, "{folder}");
        }
        for file in ["out/.convert-journal.jsonl", "copy"] {
            assert_eq!(mode(&stage.path(file)), 0o600, "{file}");
        }
    }
}
