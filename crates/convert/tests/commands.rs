//! The transcripts below `commands`, which are the manual too.
//!
//! `TRYCMD=overwrite cargo test -p convert --test commands` writes them anew.

#[test]
fn commands_do_what_their_transcripts_show() {
    trycmd::TestCases::new().case("tests/commands/*.md").case("tests/commands/*.toml");
}

#[test]
fn folders_are_the_same_for_any_number_of_jobs() {
    let folder = tempfile::tempdir().expect("a folder");
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures");
    let written = ["1", "4"].map(|jobs| {
        let target = folder.path().join(jobs);
        let report = folder.path().join(format!("{jobs}.json"));
        let status = std::process::Command::new(env!("CARGO_BIN_EXE_convert"))
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
            .stderr(std::process::Stdio::null())
            .status()
            .expect("the program runs");
        assert_eq!(status.code(), Some(1), "some fixtures are damaged");
        let mut files = Vec::new();
        let mut folders = vec![target.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
                let path = entry.path();
                if entry.file_name() == ".convert-journal.jsonl" {
                    // It tells what was done in the order in which it was done, and when.
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
