//! Compressed sessions that are too large for memory: every command reads them completely.

use std::{fs, path::Path, process::Command};

/// Returns the output of a command for a file, without its name.
fn said(folder: &Path, arguments: &[&str], name: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
    let output = command.current_dir(folder).args(arguments).arg(name).output().expect("it runs");
    let words = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{arguments:?} {name}");
    words.replace(name, "NAME")
}

#[test]
fn a_large_one_says_what_it_says_without_compression() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = |n: usize| {
        let text = if n == 1 { "at the start".to_owned() } else { "lorem ipsum ".repeat(200) };
        format!(
            "{{\"type\":\"user\",\"sessionId\":\"s1\",\"uuid\":\"u{n}\",\"timestamp\":\
             \"2026-01-01T10:00:00.{:03}Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n",
            n % 1000
        )
    };
    // More than the 8 MiB of decompressed bytes that are kept.
    let session: String = (1..=4000).map(line).collect();
    assert!(session.len() > 9 * 1024 * 1024, "{}", session.len());
    fs::write(folder.path().join("s1.jsonl"), &session).expect("written");
    let packed = zstd::encode_all(session.as_bytes(), 1).expect("packed");
    fs::write(folder.path().join("s1.jsonl.zst"), packed).expect("written");
    for arguments in [
        &["detect"][..],
        &["stats"],
        &["stats", "--json"],
        &["list", "--json"],
        &["list", "--columns", "messages,title,size"],
        &["find", "-t", "at the start"],
        &["find", "-t", "lorem"],
        &["show", "--no-pager"],
        &["--quiet", "--to", "clido"],
    ] {
        let [plain, packed] =
            ["s1.jsonl", "s1.jsonl.zst"].map(|name| said(folder.path(), arguments, name));
        assert!(plain == packed, "{arguments:?}: {} and {} bytes", plain.len(), packed.len());
    }
}

/// A folder of a compressed session that cannot be looked at is said, as beside one that is not compressed.
#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_looked_at_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let line =
        r#"{"type":"user","uuid":"u1","sessionId":"s1","message":{"role":"user","content":"Hi"}}"#;
    let packed = zstd::encode_all(format!("{line}\n").as_bytes(), 1).expect("packed");
    fs::write(folder.path().join("s1.jsonl.zst"), packed).expect("written");
    fs::write(folder.path().join("s1.jsonl"), format!("{line}\n")).expect("written");
    // A link to itself.
    std::os::unix::fs::symlink("s1", folder.path().join("s1")).expect("linked");
    for (name, output) in [("s1.jsonl", "plain.jsonl"), ("s1.jsonl.zst", "packed.jsonl")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
        command.current_dir(folder.path()).args([name, "--to", "clido", "-o", output]);
        let done = command.output().expect("it runs");
        let words = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{name}: {words}");
        assert!(words.contains("may be missing"), "{name}: {words}");
        assert!(folder.path().join(output).exists(), "{name}");
    }
}
