//! Tests of workers: together they write the same as one run, also if a worker fails.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::stage::{Dice, Stage, files, has, has_strace, rounds, session, tell, temporaries, text};

impl Stage {
    fn convert(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
        command.args(arguments).current_dir(self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn ask(&self, arguments: &[&str]) -> Output {
        self.convert(arguments).output().expect("it runs")
    }

    /// Plans `in` to `out`, writes the file `plan`, and returns the number of units.
    fn plan(&self, more: &[&str]) -> usize {
        let planned = self.ask(&[&["plan", "in", "-o", "out"], more].concat());
        assert_eq!(planned.status.code(), Some(0), "{}", text(&planned));
        fs::write(self.path("plan"), &planned.stdout).expect("written");
        planned.stdout.iter().filter(|byte| **byte == b'\n').count()
    }

    fn work(&self, more: &[&str]) -> Vec<Value> {
        let worked = self.ask(&[&["work", "plan"], more].concat());
        assert_eq!(worked.status.code(), Some(0), "{}", text(&worked));
        receipts(&worked.stdout)
    }
}

fn receipts(lines: &[u8]) -> Vec<Value> {
    let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).expect("a receipt")).collect()
}

fn counts(receipts: &[Value]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for receipt in receipts {
        *counts.entry(receipt["status"].as_str().expect("a word")).or_default() += 1;
    }
    counts
}

/// Adds a session with a sub-agent, damaged sessions, and other files.
fn add_fixtures(stage: &Stage) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    for name in ["claude-code/with-agents", "damaged", "foreign"] {
        copy(&fixtures.join(name), &stage.path("in"));
    }
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-r").args([from, to]).status();
    assert!(copied.is_ok_and(|status| status.success()), "{}", from.display());
}

#[test]
fn workers_give_what_one_run_gives() {
    let stage = Stage::new(12, 4);
    add_fixtures(&stage);
    for more in [
        &["--to", "clido"][..],
        &["--to", "sdk-stream", "--carry", "sidecar", "--compress", "zst"],
        &["--to", "claude-code", "--redact", "--dedupe"],
        &["--to", "clido", "--carry", "none", "--strict", "--fail-on-loss"],
    ] {
        for name in ["out", "expected"] {
            _ = fs::remove_dir_all(stage.path(name));
        }
        let absolute = stage.path("in");
        let absolute = absolute.to_str().expect("text");
        let one = ["expected", "--report", "one.json"];
        let one = stage.ask(&[&[absolute, "-o"], &one[..], more].concat());
        let n_units = stage.plan(more);
        let mut lines = Vec::new();
        for shard in ["1/3", "2/3", "3/3"] {
            let worked = stage.ask(&["work", "plan", "--report", "json", "--shard", shard]);
            assert_eq!(worked.status.code(), Some(0), "{}", text(&worked));
            lines.extend(worked.stdout);
        }
        assert_eq!(receipts(&lines).len(), n_units);
        fs::write(stage.path("receipts"), &lines).expect("written");
        let merge = ["merge", "--plan", "plan", "receipts", "--report", "all.json"];
        let merged = stage.ask(&merge);
        assert_eq!(merged.status, one.status, "{more:?}: {}", text(&merged));
        assert!(files(&stage.path("out")) == files(&stage.path("expected")), "{more:?}");
        let report = |name| fs::read_to_string(stage.path(name)).expect("a report");
        let out = stage.path("out").display().to_string();
        assert_eq!(report("all.json").replace(&out, "expected"), report("one.json"), "{more:?}");
        // The stored receipts are the same, and a second merge adds nothing to the journal.
        let journal = || fs::read(stage.path("out/.convert-journal.jsonl")).expect("a journal");
        let before = journal();
        assert_eq!(stage.ask(&["merge", "--plan", "plan"]).status, one.status);
        assert!(journal() == before);
        // A second plan has nothing to do, for workers and for one run.
        stage.plan(more);
        let again = stage.work(&[]);
        assert_eq!(counts(&again).get("ok"), None, "{again:?}");
        let run = stage.ask(&[&[absolute, "-o", "out"], more].concat());
        let said = text(&run);
        assert!(said.contains("Converted 0 sessions"), "{more:?}: {said}");
    }
}

#[test]
fn a_source_that_changed_is_done_again_and_the_merge_waits_for_it() {
    let stage = Stage::new(3, 4);
    stage.plan(&["--to", "clido"]);
    assert_eq!(counts(&stage.work(&[])), BTreeMap::from([("ok", 3)]));
    fs::write(stage.path("in/d0/s0.jsonl"), session(9, "new")).expect("written");
    stage.plan(&["--to", "clido"]);
    let merged = stage.ask(&["merge", "--plan", "plan"]);
    assert_eq!(merged.status.code(), Some(1));
    assert!(text(&merged).contains("1 of 3 units have no receipt"), "{}", text(&merged));
    assert_eq!(counts(&stage.work(&[])), BTreeMap::from([("ok", 1), ("skip", 2)]));
    assert_eq!(stage.ask(&["merge", "--plan", "plan"]).status.code(), Some(0));
    assert!(files(&stage.path("out")) == stage.expected(&[]));
    // A removed output is written again, and an edited one is not overwritten.
    fs::remove_file(stage.path("out/d1/s1.jsonl")).expect("removed");
    fs::write(stage.path("out/d2/s2.jsonl"), "mine").expect("written");
    assert_eq!(counts(&stage.work(&[])), BTreeMap::from([("fail", 1), ("ok", 1), ("skip", 1)]));
    assert_eq!(fs::read(stage.path("out/d2/s2.jsonl")).expect("read"), b"mine");
}

#[test]
fn a_piece_that_0_1_0_planned_is_refused() {
    let stage = Stage::new(1, 3);
    assert_eq!(stage.plan(&["--to", "clido"]), 1);
    let whole = fs::read_to_string(stage.path("plan")).expect("a plan");
    let piece = whole.replace("}\n", ",\"range\":[0,9],\"of\":\"d0/s0.jsonl\",\"whole\":\"/x\"}\n");
    assert_ne!(whole, piece);
    fs::write(stage.path("plan"), piece).expect("written");
    let why = "line 1 is no unit: a piece of a file, of `plan --max-bytes` of version 0.1.0; plan the \
               whole file again";
    let receipts = stage.work(&[]);
    assert_eq!(counts(&receipts), BTreeMap::from([("fail", 1)]));
    assert_eq!(receipts[0]["error"], why);
    let merged = stage.ask(&["merge", "--plan", "plan"]);
    assert_eq!(merged.status.code(), Some(2));
    assert!(text(&merged).contains(why), "{}", text(&merged));
}

/// Two workers do the same plan, one is killed at a random moment, and a third finishes.
#[test]
fn a_killed_worker_changes_nothing() {
    let stage = Stage::new(40, 20);
    let expected = stage.expected(&[]);
    let start = Instant::now();
    let n_units = stage.plan(&["--to", "clido"]);
    stage.work(&[]);
    let whole = start.elapsed().as_micros() as u64;
    let mut dice = Dice(3);
    let (mut n_killed, n_rounds) = (0, rounds(8, 500));
    for round in 0..n_rounds {
        _ = fs::remove_dir_all(stage.path("out"));
        let start = || stage.convert(&["work", "plan", "-j", "2"]).spawn().expect("it runs");
        let (mut killed, other) = (start(), start());
        thread::sleep(Duration::from_micros(dice.below(whole)));
        _ = killed.kill();
        let killed = killed.wait_with_output().expect("it ran");
        n_killed += usize::from(killed.status.code().is_none());
        let other = other.wait_with_output().expect("it ran");
        assert_eq!(receipts(&other.stdout).len(), n_units, "{}", text(&other));
        let third = stage.work(&[]);
        assert_eq!(counts(&third), BTreeMap::from([("skip", n_units)]), "round {round}");
        let merged = stage.ask(&["merge", "--plan", "plan"]);
        assert_eq!(merged.status.code(), Some(0), "round {round}: {}", text(&merged));
        stage.plan(&["--to", "clido"]);
        let written = files(&stage.path("out"));
        assert!(temporaries(&written).is_empty(), "a plan sweeps: {:?}", temporaries(&written));
        assert!(written == expected, "round {round}: not what it should be");
    }
    tell(&format!("{n_killed} of {n_rounds} workers killed; 0 units lost, wrong, done twice"));
}

/// A worker is killed before each of its renames, of outputs and of receipts, and then all sources change.
#[test]
fn sources_that_change_after_a_kill_are_converted_again() {
    if !has_strace() {
        return;
    }
    for (name, step) in [("inline", 1), ("sidecar", 2)] {
        let mut n_killed = 0;
        // Outputs get free names, and receipts replace earlier ones.
        for call in ["renameat2", "renameat"] {
            for n in (1..).step_by(step) {
                if !is_done_again_after_a_kill(name, call, n) {
                    break;
                }
                n_killed += 1;
            }
        }
        assert!(n_killed > 3, "{name}: {n_killed}");
        tell(&format!("{name}: {n_killed} workers killed, and all sources changed; 0 refused"));
    }
}

/// Kills a worker before the n-th call of a kind, changes all sources, and converts them. Returns false if there is no such
/// call.
fn is_done_again_after_a_kill(carry: &str, call: &str, n: usize) -> bool {
    let stage = Stage::new(3, 4);
    let more = ["--to", "clido", "--carry", carry];
    let place = format!("{carry}: {call} {n}");
    stage.plan(&more);
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-o"]).arg(stage.path("trace"));
    traced.args(["-e", &format!("inject={call}:signal=SIGKILL:when={n}")]);
    traced.arg(env!("CARGO_BIN_EXE_convert")).args(["work", "plan", "-j", "1"]);
    let output = traced.current_dir(stage.folder.path()).output().expect("it runs");
    if output.status.code() == Some(0) {
        return false;
    }
    stage.write(3, 6, "changed");
    stage.plan(&more);
    let receipts = stage.work(&[]);
    assert_eq!(counts(&receipts), BTreeMap::from([("ok", 3)]), "{place}: {receipts:?}");
    let merged = stage.ask(&["merge", "--plan", "plan"]);
    assert_eq!(merged.status.code(), Some(0), "{place}: {}", text(&merged));
    assert!(files(&stage.path("out")) == stage.expected(&["--carry", carry]), "{place}");
    assert!(!stage.path("out/.convert-receipts/begun").exists(), "{place}");
    true
}

/// Receipts are not flushed, and a power cut may lose them. The lines before the names are flushed, and show that the
/// outputs are of this program.
#[test]
fn sources_that_change_after_a_power_cut_are_converted_again() {
    let more = ["--to", "clido"];
    let lose_receipts = |stage: &Stage| {
        for entry in fs::read_dir(stage.path("out/.convert-receipts")).expect("receipts") {
            let path = entry.expect("an entry").path();
            if !path.ends_with("begun") {
                fs::remove_dir_all(path).expect("removed");
            }
        }
        stage.write(3, 6, "changed");
    };
    let stage = Stage::new(3, 4);
    stage.plan(&more);
    stage.work(&[]);
    lose_receipts(&stage);
    // A file of somebody else is not replaced.
    fs::write(stage.path("out/d1/s1.jsonl"), "mine").expect("written");
    stage.plan(&more);
    let receipts = stage.work(&[]);
    assert_eq!(counts(&receipts), BTreeMap::from([("fail", 1), ("ok", 2)]), "{receipts:?}");
    fs::remove_file(stage.path("out/d1/s1.jsonl")).expect("removed");
    assert_eq!(counts(&stage.work(&[])), BTreeMap::from([("ok", 1), ("skip", 2)]));
    assert_eq!(stage.ask(&["merge", "--plan", "plan"]).status.code(), Some(0));
    assert!(files(&stage.path("out")) == stage.expected(&[]));
    assert!(!stage.path("out/.convert-receipts/begun").exists());
    // One run over the folder knows the outputs of workers, too, and takes their lines over.
    let stage = Stage::new(3, 4);
    stage.plan(&more);
    stage.work(&[]);
    lose_receipts(&stage);
    let dry = stage.run("out", &["--dry-run"]);
    assert_eq!(dry.status.code(), Some(0), "{}", text(&dry));
    let run = stage.run("out", &[]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run));
    assert!(files(&stage.path("out")) == stage.expected(&[]));
    assert!(!stage.path("out/.convert-receipts/begun").exists());
}

/// Workers know the outputs of runs over the folder by its journal.
#[test]
fn outputs_of_a_run_over_the_folder_are_replaced_if_their_sources_change() {
    let stage = Stage::new(3, 4);
    stage.plan(&["--to", "clido"]);
    stage.work(&[]);
    stage.write(3, 6, "changed");
    // The receipts know older outputs.
    assert_eq!(stage.run("out", &[]).status.code(), Some(0));
    stage.write(3, 9, "changed again");
    stage.plan(&["--to", "clido"]);
    let receipts = stage.work(&[]);
    assert_eq!(counts(&receipts), BTreeMap::from([("ok", 3)]), "{receipts:?}");
    assert_eq!(stage.ask(&["merge", "--plan", "plan"]).status.code(), Some(0));
    assert!(files(&stage.path("out")) == stage.expected(&[]));
}

/// Checks that the lines of all outputs are on the disk before the outputs get their names, with one flush for a batch.
#[test]
fn lines_of_workers_are_flushed_before_the_names() {
    if !has("strace", &["-o", "/dev/null", "true"]) {
        return;
    }
    let stage = Stage::new(100, 3);
    stage.plan(&["--to", "clido"]);
    let mut traced = Command::new("strace");
    traced.args(["-f", "-y", "-qq", "-s", "100000", "-o"]).arg(stage.path("trace"));
    traced.args(["-e", "trace=fsync,fdatasync,renameat2,write"]);
    traced.arg(env!("CARGO_BIN_EXE_convert")).args(["work", "plan", "-j", "1"]);
    let output = traced.current_dir(stage.folder.path()).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let trace = fs::read_to_string(stage.path("trace")).expect("a trace");
    let lines: Vec<&str> = trace.lines().collect();
    let is_flush = |line: &&str| line.contains("fdatasync(") && line.contains("/begun/");
    let mut n_names = 0;
    for (n, line) in lines.iter().enumerate().filter(|(_, line)| line.contains("renameat2(")) {
        n_names += 1;
        let name = line.split('"').nth(3).expect("a name");
        let begun = lines[..n].iter().rposition(|line| {
            line.contains("\\\"begun\\\"") && line.contains(&format!("/{name}\\\""))
        });
        let begun = begun.expect("a line before the name");
        assert!(lines[begun..n].iter().any(is_flush), "{name}: named before its line");
    }
    assert_eq!(n_names, 100);
    assert!(lines.iter().filter(|line| is_flush(line)).count() <= 4, "a flush for each batch");
}

#[test]
fn each_bad_input_gets_a_receipt_and_the_rest_goes_on() {
    let stage = Stage::new(5, 4);
    let bomb = zstd::stream::encode_all(&*vec![b' '; 64 * 1024 * 1024], 3).expect("packed");
    fs::write(stage.path("in/bomb.jsonl"), bomb).expect("written");
    let n_units = stage.plan(&["--to", "clido"]);
    // Since the plan, one file was removed, and one is no regular file any more.
    fs::remove_file(stage.path("in/d0/s0.jsonl")).expect("removed");
    fs::remove_file(stage.path("in/d1/s1.jsonl")).expect("removed");
    fs::create_dir(stage.path("in/d1/s1.jsonl")).expect("made");
    let plan = fs::read_to_string(stage.path("plan")).expect("a plan");
    let one = plan.lines().find(|unit| unit.contains("d2/s2.jsonl")).expect("a unit");
    let id = |unit: &str| {
        let unit: Value = serde_json::from_str(unit).expect("a unit");
        format!("\"id\":{}", unit["id"])
    };
    let digest = one.split("\"digest\":\"").nth(1).expect("one").get(..16).expect("a digest");
    let more = [
        "no unit".to_owned(),
        one.replace(digest, "0000000000000000").replace(&id(one), "\"id\":\"old\""),
        one.replace("clido", "pdf").replace(&id(one), "\"id\":\"pdf\""),
        one.replace("/out/", "/elsewhere/").replace(&id(one), "\"id\":\"elsewhere\""),
    ];
    fs::write(stage.path("plan"), format!("{plan}{}\n", more.join("\n"))).expect("written");
    let receipts = stage.work(&[]);
    assert_eq!(receipts.len(), n_units + more.len());
    let error = |id: &str| {
        let of = receipts.iter().find(|it| it["id"] == id).expect("a receipt");
        assert_eq!(of["status"], "fail", "{of}");
        of["error"].as_str().expect("why").to_owned()
    };
    for (id, why) in [
        ("bomb.jsonl", "a line has more than 33554432 bytes"),
        ("d0/s0.jsonl", "No such file or directory"),
        ("d1/s1.jsonl", "not a regular file any more"),
        ("old", "its options and their hash do not agree: plan it again"),
        ("pdf", "invalid value 'pdf'"),
        ("elsewhere", "leads out of the folder"),
    ] {
        assert!(error(id).contains(why), "{id}: {}", error(id));
    }
    let no_unit = receipts.iter().find(|it| it["id"].is_null()).expect("a receipt");
    assert_eq!(no_unit["error"], format!("line {} is no unit: not JSON", n_units + 1));
    for (id, verdict) in [("bomb.jsonl", "TooLarge"), ("d0/s0.jsonl", "Vanished")] {
        let of = receipts.iter().find(|it| it["id"] == id).expect("a receipt");
        assert_eq!(of["files"][0]["verdict"], verdict, "{of}");
    }
    assert_eq!(counts(&receipts)["ok"], 3);
    assert_eq!(files(&stage.path("out")).len(), 3);
    assert!(!stage.path("elsewhere").exists());
    // The rest of the plan is converted as soon as possible.
    fs::write(stage.path("plan"), plan).expect("written");
    fs::remove_dir(stage.path("in/d1/s1.jsonl")).expect("removed");
    fs::write(stage.path("in/d1/s1.jsonl"), session(5, "back")).expect("written");
    assert_eq!(counts(&stage.work(&[])), BTreeMap::from([("fail", 2), ("ok", 1), ("skip", 3)]));
    let merged = stage.ask(&["merge", "--plan", "plan"]);
    assert_eq!(merged.status.code(), Some(1), "{}", text(&merged));
}

#[test]
#[cfg(not(feature = "cloud"))]
fn a_store_that_is_not_known_is_said_by_a_receipt() {
    let stage = Stage::new(2, 2);
    stage.plan(&["--to", "clido"]);
    let plan = fs::read_to_string(stage.path("plan")).expect("a plan");
    let source = stage.path("in/d0/s0.jsonl");
    let source = source.to_str().expect("text");
    fs::write(stage.path("plan"), plan.replace(source, "s3://logs/s0.jsonl")).expect("written");
    let receipts = stage.work(&[]);
    assert_eq!(counts(&receipts), BTreeMap::from([("fail", 1), ("ok", 1)]));
    let failed = receipts.iter().find(|it| it["status"] == "fail").expect("one");
    let why = failed["error"].as_str().expect("why");
    assert!(
        why.starts_with("s3://logs/s0.jsonl: ") && why.contains("without object stores"),
        "{why}"
    );
}

/// A file and a folder that were readable for the plan cannot be read any more.
#[test]
fn a_permission_that_is_lost_is_said_by_receipts() {
    let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    if !has("setpriv", &[&nobody[..], &["true"]].concat()) {
        return;
    }
    let stage = Stage::new(6, 4);
    let n_units = stage.plan(&["--to", "clido"]);
    let program = stage.path("convert");
    // Programs that other tests start would inherit a copy that is open for writing, and it could not run.
    let copy = Command::new("cp").arg(env!("CARGO_BIN_EXE_convert")).arg(&program).status();
    assert!(copy.expect("it runs").success());
    let give = ["chown", "-R", "65534:65534"];
    let given = Command::new(give[0]).args(&give[1..]).arg(stage.folder.path()).status();
    assert!(given.expect("it runs").success());
    let work = || {
        let mut work = Command::new("setpriv");
        work.args(nobody).arg(&program).arg("work").arg(stage.path("plan"));
        work.current_dir(stage.folder.path());
        let output = work.output().expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        receipts(&output.stdout)
    };
    let set = |name: &str, mode| {
        fs::set_permissions(stage.path(name), fs::Permissions::from_mode(mode)).expect("set");
    };
    set("in/d0/s0.jsonl", 0o000);
    set("in/d1", 0o000);
    let receipts = work();
    assert_eq!(receipts.len(), n_units);
    for receipt in &receipts {
        let id = receipt["id"].as_str().expect("an id");
        if id == "d0/s0.jsonl" || id.starts_with("d1/") {
            assert_eq!(receipt["files"][0]["verdict"], "PermissionDenied", "{receipt}");
            let why = receipt["error"].as_str().expect("why");
            assert!(why.contains("Permission denied"), "{why}");
        }
    }
    assert_eq!(counts(&receipts), BTreeMap::from([("fail", 3), ("ok", 3)]));
    // Once they are readable again, the rest is converted.
    set("in/d0/s0.jsonl", 0o600);
    set("in/d1", 0o700);
    assert_eq!(counts(&work()), BTreeMap::from([("ok", 3), ("skip", 3)]));
    assert!(files(&stage.path("out")) == stage.expected(&[]));
}

#[test]
fn two_that_go_to_the_same_name_are_two_units() {
    let stage = Stage::new(2, 2);
    let (one, other) = (stage.path("in/d0/s0.jsonl"), stage.path("in/d1/s0.jsonl"));
    fs::copy(&one, &other).expect("copied");
    let [one, other] = [&one, &other].map(|path| path.to_str().expect("text").to_owned());
    let planned = stage.ask(&["plan", &one, &other, "--to", "clido", "-o", "out"]);
    fs::write(stage.path("plan"), planned.stdout).expect("written");
    let receipts = stage.work(&[]);
    assert_eq!(counts(&receipts), BTreeMap::from([("fail", 1), ("ok", 1)]));
    let failed = receipts.iter().find(|it| it["status"] == "fail").expect("one");
    assert!(failed["error"].as_str().expect("why").contains("another input goes to"), "{failed}");
}

#[test]
fn a_full_disk_is_said_by_receipts() {
    if !has("unshare", &["-m", "mount", "-t", "tmpfs", "none", "/mnt"]) {
        return;
    }
    let stage = Stage::new(60, 20);
    let expected = stage.expected(&[]);
    fs::create_dir(stage.path("out")).expect("made");
    stage.plan(&["--to", "clido"]);
    let script = "mount -t tmpfs -o size=512k,mode=700 none $out && \
                  $convert work $plan > $receipts && cp -a $out $copy && \
                  mount -o remount,size=16m $out && $convert work $plan > $again && \
                  cp -a $out $copy.again";
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script]).env("convert", env!("CARGO_BIN_EXE_convert"));
    command.current_dir(stage.folder.path());
    for name in ["out", "plan", "receipts", "copy", "again"] {
        command.env(name, stage.path(name));
    }
    let output = command.output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let full = receipts(&fs::read(stage.path("receipts")).expect("receipts"));
    assert_eq!(full.len(), 60);
    let failed: Vec<&Value> = full.iter().filter(|it| it["status"] == "fail").collect();
    assert!(failed.len() > 10, "{full:?}");
    for it in failed {
        let why = it["error"].as_str().expect("why");
        let verdict = &it["files"][0]["verdict"];
        assert!(why.starts_with("its receipt") || verdict == "WriteFailed", "{it}");
        // Receipts need space too.
        assert!(why.to_lowercase().contains("no space left"), "{why}");
    }
    for (name, bytes) in &files(&stage.path("copy")) {
        assert_eq!(Some(bytes), expected.get(name), "{}", name.display());
    }
    // With enough space, the same plan continues.
    let again = receipts(&fs::read(stage.path("again")).expect("receipts"));
    assert_eq!(counts(&again).get("fail"), None, "{again:?}");
    assert!(files(&stage.path("copy.again")) == expected);
}

#[test]
fn a_run_and_workers_keep_out_of_each_others_way() {
    let stage = Stage::new(2, 2);
    stage.plan(&["--to", "clido"]);
    let mut waiting = stage.convert(&["work"]);
    let mut waiting = waiting.stdin(Stdio::piped()).spawn().expect("it runs");
    let plan = fs::read_to_string(stage.path("plan")).expect("a plan");
    // Each unit gets its receipt before the next one is read.
    for unit in plan.lines() {
        let answer = answer(&mut waiting, unit);
        assert_eq!(answer["status"], "ok", "{answer}");
    }
    let run = stage.run("out", &[]);
    assert_eq!(run.status.code(), Some(2));
    assert!(text(&run).contains("writes to this folder at the moment"), "{}", text(&run));
    drop(waiting.stdin.take());
    assert_eq!(waiting.wait().expect("it ran").code(), Some(0));
    assert_eq!(stage.run("out", &[]).status.code(), Some(0));
}

fn answer(worker: &mut Child, unit: &str) -> Value {
    let stdin = worker.stdin.as_mut().expect("a pipe");
    stdin.write_all(format!("{unit}\n").as_bytes()).expect("written");
    // There is only one line to read.
    let mut line = String::new();
    BufReader::with_capacity(1 << 16, worker.stdout.as_mut().expect("a pipe"))
        .read_line(&mut line)
        .expect("read");
    serde_json::from_str(&line).expect("a receipt")
}

/// Runs the shell lines of docs/WORKER.md in order, and compares their output with the page.
#[test]
fn the_document_shows_what_workers_say() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/WORKER.md");
    let document = fs::read_to_string(document).expect("the document");
    let stage = Stage { folder: tempfile::tempdir().expect("a folder") };
    let source = "claude-code/with-agents/96d642c4-88cf-4d27-ae87-d9f4303e6ddf";
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let put = |from: PathBuf, to: &str| {
        let to = stage.path("archive").join(to);
        fs::create_dir_all(to.parent().expect("a folder")).expect("made");
        assert!(
            Command::new("cp").arg("-r").arg(from).arg(to).status().expect("it runs").success()
        );
    };
    put(fixtures.join(format!("{source}.jsonl")), "app/96d642c4.jsonl");
    put(fixtures.join(source), "app/96d642c4");
    put(fixtures.join("damaged/torn-tail.jsonl"), "app/torn.jsonl");
    put(fixtures.join("foreign/utf-16-le.jsonl"), "notes/utf-16.jsonl");
    let mut said = Vec::new();
    for block in blocks(&document, "sh") {
        if block.starts_with("parallel ") && !has("parallel", &["--version"]) {
            continue;
        }
        let script = block.replace("convert ", "\"$convert\" ");
        _ = fs::remove_file(stage.path("receipts.jsonl"));
        let mut shell = Command::new("bash");
        shell.args(["-e", "-c", &script]).env("convert", env!("CARGO_BIN_EXE_convert"));
        let output = shell.current_dir(stage.folder.path()).output().expect("it runs");
        let is_fine = output.status.success() || block.contains("merge");
        assert!(is_fine, "{block}: {}", text(&output));
        for name in ["plan.jsonl", "receipts.jsonl"] {
            let lines = fs::read(stage.path(name)).unwrap_or_default();
            said.extend(receipts(&lines));
        }
    }
    let folder = stage.folder.path().display().to_string();
    let said: Vec<Value> = said.iter().map(|value| bare(value, &folder)).collect();
    for example in blocks(&document, "json") {
        let shown: Value = serde_json::from_str(&example).expect("JSON");
        if !said.contains(&bare(&shown, "/data")) {
            let id = &shown["id"];
            let alike = said.iter().filter(|it| it["id"] == *id);
            let alike: Vec<String> =
                alike.map(|it| serde_json::to_string_pretty(it).expect("JSON")).collect();
            panic!("nobody says {example}, but {}", alike.join("\n"));
        }
    }
}

fn blocks(document: &str, language: &str) -> Vec<String> {
    let start = format!("```{language}\n");
    let blocks = document.split(&start).skip(1);
    blocks.filter_map(|rest| Some(rest.split_once("\n```")?.0.to_owned())).collect()
}

/// Members that depend on the clock, the folder, the version, or the target.
const VARIABLE: [&str; 13] = [
    "ms",
    "etag",
    "mtime_ns",
    "digest",
    "ctime_ns",
    "inode",
    "tool",
    "sha256",
    "src_xxh3",
    "dst_xxh3",
    "dst_sha256",
    "dst_len",
    "out_bytes",
];

/// Returns a value without the members that differ from run to run.
fn bare(value: &Value, folder: &str) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace(folder, "/data")),
        Value::Array(items) => items.iter().map(|item| bare(item, folder)).collect(),
        Value::Object(members) => {
            let bare = |(name, value): (&String, &Value)| match VARIABLE.contains(&name.as_str()) {
                true => (name.clone(), Value::Null),
                false => (name.clone(), bare(value, folder)),
            };
            Value::Object(members.iter().map(bare).collect())
        }
        other => other.clone(),
    }
}
