//! Tests of sources that are written, cut and removed while they are read.

use std::{
    fs::{self, File},
    io::Write,
    os::unix::fs::PermissionsExt,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use super::stage::{Dice, Stage, files, has, line, rounds, tell, text};

/// Every cut part is written again, so that the file is always a prefix of the same text.
#[test]
fn what_is_written_of_a_live_file_is_a_prefix_of_it() {
    let stage = Stage::new(1, 1);
    let whole: String = (0..20_000).map(|n| line(n, &format!("{n} of a live session"))).collect();
    let source = stage.path("in/live.jsonl");
    let mut dice = Dice(3);
    let (mut n_written, mut n_changing, n_rounds) = (0, 0, rounds(10, 1000));
    for round in 0..n_rounds {
        let output = stage.path("out.jsonl");
        _ = fs::remove_file(&output);
        let start = dice.below(whole.len() as u64 / 2);
        fs::write(&source, &whole[..start as usize]).expect("written");
        let is_over = AtomicBool::new(false);
        let said = thread::scope(|scope| {
            scope.spawn(|| {
                let mut dice = Dice(round as u64);
                let mut file = File::options().append(true).open(&source).expect("opened");
                let mut length = start as usize;
                while !is_over.load(Ordering::Relaxed) {
                    if dice.below(8) == 0 {
                        length = dice.below(length as u64 + 1) as usize;
                        file.set_len(length as u64).expect("cut");
                    }
                    let end = (length + 1 + dice.below(2000) as usize).min(whole.len());
                    file.write_all(&whole.as_bytes()[length..end]).expect("written");
                    length = end;
                    thread::sleep(Duration::from_micros(dice.below(3000)));
                }
            });
            let mut run = Command::new(env!("CARGO_BIN_EXE_convert"));
            let run = run.arg(&source).args(["--from", "claude-code", "--to", "clido", "-o"]);
            let said = run.arg(&output).output();
            is_over.store(true, Ordering::Relaxed);
            said.expect("it runs")
        });
        assert!(said.status.code().is_some(), "round {round}: ended by a signal");
        assert!(!text(&said).contains("panicked"), "{}", text(&said));
        n_changing += usize::from(text(&said).contains("changes while it is read"));
        if !output.exists() {
            assert_ne!(said.status.code(), Some(0), "{}", text(&said));
            continue;
        }
        n_written += 1;
        let back = Command::new(env!("CARGO_BIN_EXE_convert"))
            .arg(&output)
            .args(["--from", "clido", "--to", "claude-code", "-q"])
            .output()
            .expect("it runs");
        let at = whole.bytes().zip(&back.stdout).take_while(|(one, other)| one == *other).count();
        assert_eq!(
            at,
            back.stdout.len(),
            "round {round}: no prefix; {}; {}",
            text(&said),
            text(&back)
        );
    }
    tell(&format!(
        "{n_rounds} rounds: {n_written} prefixes written, {n_changing} said to be changing, 0 signals"
    ));
}

/// A session of several files that are written all the time. Each is restored to a prefix of its source.
#[test]
fn what_is_written_of_a_live_session_is_a_start_of_each_file() {
    let stage = Stage::new(1, 1);
    let names = ["live.jsonl", "live/subagents/agent-a1.jsonl", "live/tool-results/t1.txt"];
    let whole: String = (0..20_000).map(|n| line(n, &format!("{n} of a live session"))).collect();
    let sources = names.map(|name| stage.path("live").join(name));
    let (mut n_changing, n_rounds) = (0, rounds(5, 200));
    for round in 0..n_rounds {
        let [there, back] = ["there.jsonl", "back"].map(|name| stage.path(name));
        _ = (fs::remove_file(&there), fs::remove_dir_all(&back));
        let mut dice = Dice(round as u64);
        for source in &sources {
            fs::create_dir_all(source.parent().expect("a folder")).expect("made");
            let start = dice.below(whole.len() as u64 / 4) as usize;
            fs::write(source, &whole[..start]).expect("written");
        }
        let is_over = AtomicBool::new(false);
        let said = thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let source = &sources[dice.below(3) as usize];
                    let mut file = File::options().append(true).open(source).expect("opened");
                    let start = file.metadata().expect("there").len() as usize;
                    let end = (start + 1 + dice.below(2000) as usize).min(whole.len());
                    file.write_all(&whole.as_bytes()[start..end]).expect("written");
                    thread::sleep(Duration::from_micros(dice.below(1000)));
                }
            });
            let mut run = Command::new(env!("CARGO_BIN_EXE_convert"));
            let run = run.args(["--to", "sdk-stream:wire", "-o"]).args([&there, &sources[0]]);
            let said = run.output();
            is_over.store(true, Ordering::Relaxed);
            said.expect("it runs")
        });
        assert!(there.exists(), "round {round}: {}", text(&said));
        n_changing += usize::from(text(&said).contains("changes while it is read"));
        let mut run = Command::new(env!("CARGO_BIN_EXE_convert"));
        let run = run.args(["-q", "--to", "claude-code", "-o"]).arg(back.join("live.jsonl"));
        let said = run.arg(&there).output().expect("it runs");
        assert!(said.status.code() < Some(2), "round {round}: {}", text(&said));
        for name in names {
            let restored = fs::read(back.join(name)).expect("restored");
            assert!(whole.as_bytes().starts_with(&restored), "round {round}: {name} is no start");
        }
    }
    tell(&format!("{n_rounds} rounds: all written, {n_changing} said to be changing"));
}

#[test]
fn files_that_vanish_during_a_run_do_not_stop_it() {
    let n_files = rounds(100, 1000);
    let stage = Stage::new(n_files, 30);
    let expected = stage.expected(&[]);
    let report = stage.path("report.json");
    let run = stage
        .command("out", &["--report", report.to_str().expect("text")])
        .spawn()
        .expect("it runs");
    let mut gone = Vec::new();
    for file in (0..n_files).step_by(20) {
        let name = format!("d{}/s{file}.jsonl", file % 3);
        thread::sleep(Duration::from_millis(1));
        fs::remove_file(stage.path("in").join(&name)).expect("removed");
        gone.push(name);
    }
    let output = run.wait_with_output().expect("it ran");
    let written = files(&stage.path("out"));
    let said = fs::read_to_string(report).expect("a report");
    let mut n_vanished = 0;
    for (name, bytes) in &expected {
        let name = name.to_str().expect("text");
        let object = said.lines().find(|it| it.contains(&format!("in/{name}\"")));
        let object = object.unwrap_or_default();
        match written.get(std::path::Path::new(name)) {
            Some(it) => assert!(it == bytes && object.contains("\"status\":\"Done\""), "{object}"),
            None => {
                assert!(gone.iter().any(|it| it == name), "{name} is not there");
                // Files that were removed before the folder was listed are unknown.
                assert!(
                    object.is_empty() || object.contains("\"status\":\"Vanished\""),
                    "{object}"
                );
                n_vanished += usize::from(!object.is_empty());
            }
        }
    }
    let code = output.status.code();
    assert_eq!(code, Some(i32::from(n_vanished > 0)), "{}", text(&output));
    tell(&format!(
        "{n_files} files, {} removed during the run: {n_vanished} Vanished, {} converted",
        gone.len(),
        written.len()
    ));
}

/// A user without some permissions finds files and a folder that cannot be read.
#[test]
fn what_may_not_be_read_does_not_stop_the_others() {
    let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    if !has("setpriv", &[&nobody[..], &["true"]].concat()) {
        return;
    }
    let n_files = rounds(100, 1000);
    let stage = Stage::new(n_files, 3);
    let expected = stage.expected(&[]);
    let program = stage.path("convert");
    // Programs that other tests start would inherit a copy that is open for writing, and it could not run.
    let copy = Command::new("cp").arg(env!("CARGO_BIN_EXE_convert")).arg(&program).status();
    assert!(copy.expect("it runs").success());
    let give = "chown -R 65534:65534 \"$1\"";
    let given = Command::new("sh").args(["-c", give, "sh"]).arg(stage.folder.path()).status();
    assert!(given.expect("it runs").success());
    let mut locked = Vec::new();
    for file in (0..n_files).step_by(20) {
        let name = format!("d{}/s{file}.jsonl", file % 3);
        let mode = fs::Permissions::from_mode(0o000);
        fs::set_permissions(stage.path("in").join(&name), mode).expect("set");
        locked.push(name);
    }
    let report = stage.path("report.json");
    let mut run = Command::new("setpriv");
    run.args(nobody).arg(&program).arg(stage.path("in")).args(["--to", "clido", "-o"]);
    run.arg(stage.path("out")).arg("--report").arg(&report);
    let output = run.output().expect("it runs");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let said = fs::read_to_string(report).expect("a report");
    let written = files(&stage.path("out"));
    assert_eq!(written.len(), n_files - locked.len(), "{}", text(&output));
    assert!(written.iter().all(|(name, bytes)| expected.get(name) == Some(bytes)));
    for name in &locked {
        let object = said.lines().find(|it| it.contains(&format!("in/{name}\"")));
        let object = object.unwrap_or_default();
        assert!(object.contains("\"status\":\"PermissionDenied\""), "{name}: {object}");
    }
    tell(&format!("{n_files} files, {} not to be read: each PermissionDenied", locked.len()));
}
