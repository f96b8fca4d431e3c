//! Tests plans that another person may have written: where `work` and `merge` write.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::{Value, json};

const SESSION: &str = concat!(
    r#"{"type":"user","uuid":"u1","sessionId":"s","timestamp":"2026-01-01T00:00:00.000Z","#,
    r#""message":{"role":"user","content":"What?"}}"#,
    "\n"
);

/// A folder with a session in `in`, and its plan for `out`.
struct Place {
    folder: tempfile::TempDir,
    unit: Value,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut place = Self { folder, unit: Value::Null };
        fs::create_dir(place.path("in")).expect("made");
        fs::write(place.path("in/a.jsonl"), SESSION).expect("written");
        let plan = place.run(&["plan", "in", "--to", "clido", "-o", "out"]);
        place.unit = serde_json::from_slice(&plan.stdout).expect("a unit");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.folder.path()).expect("a folder").join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut convert = Command::new(env!("CARGO_BIN_EXE_convert"));
        convert.args(arguments).current_dir(self.folder.path()).output().expect("the program runs")
    }

    /// Writes the plan with another output folder.
    fn plan_to(&self, root: &str) {
        let mut unit = self.unit.clone();
        unit["root"] = json!(self.path(root));
        unit["out"] = json!(self.path(root).join("a.jsonl"));
        fs::write(self.path("plan"), unit.to_string() + "\n").expect("written");
    }

    /// Returns the status and the error of the receipt.
    fn work(&self, more: &[&str]) -> (String, String) {
        let worked = self.run(&[&["work", "plan"], more].concat());
        assert_eq!(worked.status.code(), Some(0));
        let receipt: Value = serde_json::from_slice(&worked.stdout).expect("a receipt");
        let text = |name: &str| receipt[name].as_str().unwrap_or_default().to_owned();
        (text("status"), text("error"))
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).map(|entries| entries.flatten().collect::<Vec<_>>());
    let names = entries.unwrap_or_default().into_iter().map(|it| it.file_name());
    names.map(|name| name.to_string_lossy().into_owned()).collect()
}

#[test]
fn a_plan_alone_opens_no_folder_of_others_and_no_hidden_one() {
    for (root, why) in [
        ("home", "has files of others, and no journal of a run"),
        (".ssh", "a new folder in a hidden place"),
        (".config/autostart", "a new folder in a hidden place"),
        ("in/../home", "has files of others, and no journal of a run"),
    ] {
        let place = Place::new();
        fs::create_dir(place.path("home")).expect("made");
        fs::write(place.path("home/mine"), "mine").expect("written");
        let before = names(&place.path(root));
        place.plan_to(root);
        for more in [&[][..], &["--force"]] {
            let (status, error) = place.work(more);
            assert_eq!(status, "fail", "{root}");
            assert!(error.contains(why) && error.contains("--output"), "{root}: {error}");
        }
        let merged = place.run(&["merge", "--plan", "plan"]);
        assert_eq!(merged.status.code(), Some(2), "{root}");
        assert_eq!(names(&place.path(root)), before, "{root}");
        let (status, error) = place.work(&["--output", "elsewhere"]);
        assert!(status == "fail" && error.contains("for another folder"), "{root}: {error}");
        assert_eq!(names(&place.path(root)), before, "{root}");
        // Who names the folder may write to it, and later runs know it by its journal.
        assert_eq!(place.work(&["--output", root]), ("ok".to_owned(), String::new()), "{root}");
        assert!(place.path(root).join("a.jsonl").exists());
        assert_eq!(place.work(&[]).0, "skip", "{root}");
        assert_eq!(place.run(&["merge", "--plan", "plan"]).status.code(), Some(0), "{root}");
    }
}

#[test]
fn a_plan_leads_back_from_no_folder_that_is_not_there() {
    let place = Place::new();
    fs::create_dir(place.path("home")).expect("made");
    fs::write(place.path("home/mine"), "mine").expect("written");
    for root in ["out/../home", "out/../home/../.ssh", "in/../.ssh"] {
        place.plan_to(root);
        let (status, error) = place.work(&[]);
        assert!(status == "fail" && error.contains("--output"), "{root}: {error}");
        assert_eq!(place.run(&["merge", "--plan", "plan"]).status.code(), Some(2), "{root}");
    }
    assert_eq!(names(&place.path("home")), ["mine"]);
    assert!(!place.path("out").exists() && !place.path(".ssh").exists());
    place.plan_to("in/../new");
    assert_eq!(place.work(&[]), ("ok".to_owned(), String::new()));
}

#[test]
fn a_new_folder_and_the_folder_of_an_earlier_run_need_no_name() {
    let place = Place::new();
    place.plan_to("out");
    assert_eq!(place.work(&["--output", "out/"]).0, "ok");
    assert_eq!(place.work(&[]).0, "skip");
    fs::create_dir(place.path("empty")).expect("made");
    for root in ["new/folder", "empty"] {
        place.plan_to(root);
        assert_eq!(place.work(&[]).0, "ok", "{root}");
    }
}

#[test]
fn the_numbers_of_a_stranger_do_not_overflow() {
    let place = Place::new();
    place.plan_to("out");
    let worked = place.run(&["work", "plan"]);
    let mut receipt: Value = serde_json::from_slice(&worked.stdout).expect("a receipt");
    receipt["ms"] = json!(u64::MAX);
    let mut file = receipt["files"][0].clone();
    for name in ["bytes_in", "lines_out", "damaged"] {
        file[name] = json!(u64::MAX);
    }
    file["losses"] = json!({"dropped x": u64::MAX});
    receipt["files"] = json!([file, file]);
    fs::write(place.path("receipts"), receipt.to_string() + "\n").expect("written");
    let merged = place.run(&["merge", "--plan", "plan", "receipts", "--report", "report"]);
    let said = String::from_utf8_lossy(&merged.stderr);
    assert_eq!(merged.status.code(), Some(0), "{said}");
    let report = fs::read_to_string(place.path("report")).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let totals = &report.as_array().and_then(|objects| objects.last()).expect("totals")["totals"];
    assert_eq!(totals["bytes_in"], json!(u64::MAX), "{totals}");
}

/// A journal that cannot be written is named, and the same command writes it later.
#[test]
#[cfg(unix)]
fn merge_names_a_journal_that_it_cannot_write() {
    let place = Place::new();
    place.plan_to("out");
    assert_eq!(place.work(&[]).0, "ok");
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -f 0 && exec \"$0\" merge --plan plan"]);
    limited.arg(env!("CARGO_BIN_EXE_convert")).current_dir(place.folder.path());
    let limited = limited.output().expect("it runs");
    let said = String::from_utf8_lossy(&limited.stderr);
    let journal = place.path("out/.convert-journal.jsonl").display().to_string();
    assert!(limited.status.code() == Some(2) && said.contains(&journal), "{said}");
    assert_eq!(place.run(&["merge", "--plan", "plan"]).status.code(), Some(0));
    assert!(fs::metadata(journal).expect("a journal").len() > 0);
}

#[test]
#[cfg(unix)]
fn an_endless_file_is_no_table_of_prices() {
    let place = Place::new();
    let too_long = place.run(&["usage", "--prices", "/dev/zero", "in"]);
    let said = String::from_utf8_lossy(&too_long.stderr);
    assert!(too_long.status.code() == Some(2) && said.contains("at most 1 MiB"), "{said}");
}
