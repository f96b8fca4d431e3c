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
    let to = |name: &str, output: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
        command.current_dir(folder.path()).args([name, "--to", "clido", "-o", output]);
        let done = command.output().expect("it runs");
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let files = [("s1.jsonl", "plain.jsonl"), ("s1.jsonl.zst", "packed.jsonl")];
    let written = |output: &str| folder.path().join(output).exists();
    for (name, output) in files {
        // A file without a journal would stay without the sub-agents.
        let (status, words) = to(name, output);
        assert_eq!(status, Some(2), "{name}: {words}");
        assert!(words.contains("may be missing"), "{name}: {words}");
        assert!(words.contains("nothing was written; make it readable"), "{name}: {words}");
        assert!(!written(output), "{name}");
        assert_eq!(to(name, "-").0, Some(1), "{name}: standard output");
        assert_eq!(to(name, &format!("{output}.d/")).0, Some(1), "{name}: a journal");
    }
    fs::remove_file(folder.path().join("s1")).expect("removed");
    let agents = folder.path().join("s1/subagents");
    fs::create_dir_all(&agents).expect("made");
    let agent = line.replace("\"u1\"", "\"a1\",\"isSidechain\":true,\"agentId\":\"a1\"");
    fs::write(agents.join("agent-a1.jsonl"), format!("{agent}\n")).expect("written");
    for (name, output) in files {
        let stem = output.strip_suffix(".jsonl").expect("an ending");
        for output in [output.to_owned(), format!("{output}.d/")] {
            let (status, words) = to(name, &output);
            assert_eq!(status, Some(0), "{name} {output}: {words}");
        }
        assert!(written(output) && written(&format!("{stem}_a1.jsonl")), "{name}");
        assert!(written(&format!("{output}.d/s1.jsonl")), "{name}");
        assert!(written(&format!("{output}.d/s1_a1.jsonl")), "{name}");
        // The sub-agents are of the plain file as long as that is there.
        fs::remove_file(folder.path().join(name)).expect("removed");
    }
}

/// An archive is no damaged session, though it has the lines of sessions.
#[test]
fn an_archive_is_said_and_not_converted() {
    let folder = tempfile::tempdir().expect("a folder");
    let line =
        r#"{"type":"user","uuid":"u1","sessionId":"s1","message":{"role":"user","content":"Hi"}}"#;
    let mut tar = vec![0; 512];
    tar[..8].copy_from_slice(b"s1.jsonl");
    tar[257..262].copy_from_slice(b"ustar");
    tar.extend(format!("{line}\n").repeat(3).into_bytes());
    let packed = zstd::encode_all(&*tar, 1).expect("packed");
    fs::create_dir(folder.path().join("in")).expect("made");
    fs::write(folder.path().join("in/s1.jsonl"), format!("{line}\n")).expect("written");
    fs::write(folder.path().join("in/all.tar.zst"), packed).expect("written");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
        let done = command.current_dir(folder.path()).args(arguments).output().expect("it runs");
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let said = "convert: in/all.tar.zst: a tar archive, which convert does not read; \
                extract it, and name the folder with its sessions\n";
    for (arguments, status) in [
        (&["in/all.tar.zst", "--to", "clido", "-o", "out.jsonl"][..], 2),
        (&["in", "--to", "clido", "-o", "out", "-q"], 1),
        (&["show", "in/all.tar.zst"], 2),
        // Its sessions are not left out in silence.
        (&["list", "in"], 1),
        (&["usage", "in"], 1),
    ] {
        let (found, words) = run(arguments);
        assert!(words.starts_with(said) && !words.contains("byte 0"), "{arguments:?}: {words}");
        assert_eq!(found, Some(status), "{arguments:?}: {words}");
    }
    assert!(!folder.path().join("out.jsonl").exists());
    let written = fs::read_dir(folder.path().join("out")).expect("a folder").flatten();
    let names: Vec<_> = written.map(|entry| entry.file_name()).collect();
    assert!(names.iter().any(|name| name == "s1.jsonl"), "{names:?}");
    assert!(!names.iter().any(|name| name == "all.tar"), "{names:?}");
}

/// A program that compresses or expands a file leaves its sidecar under the earlier name.
#[test]
fn a_file_that_was_compressed_has_its_sidecar() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
        let output = command.current_dir(folder.path()).arg("-q").args(arguments).output();
        output.expect("it runs").status.code()
    };
    let line =
        r#"{"type":"user","uuid":"u1","sessionId":"s1","message":{"role":"user","content":"Hi"}}"#;
    fs::write(path("s1.jsonl"), format!("{line}\n")).expect("written");
    let there = ["s1.jsonl", "--to", "clido", "--carry", "sidecar", "-o", "w.jsonl"];
    assert_eq!(run(&there), Some(0));
    let written = fs::read(path("w.jsonl")).expect("written");
    let packed = zstd::encode_all(&*written, 1).expect("packed");
    for (name, sidecar) in [
        ("w.jsonl", "w.jsonl"),
        ("w.jsonl.zst", "w.jsonl"),
        ("w.jsonl", "w.jsonl.zst"),
        ("w.jsonl.zst", "w.jsonl.gz"),
    ] {
        let _ = (fs::remove_file(path("w.jsonl")), fs::remove_file(path("w.jsonl.zst")));
        let bytes = if name.ends_with(".zst") { &packed } else { &written };
        fs::write(path(name), bytes).expect("written");
        let found = fs::read_dir(folder.path()).expect("a folder").flatten();
        let found = found.map(|entry| entry.path());
        let earlier = { found }.find(|path| path.to_string_lossy().ends_with(".carry"));
        fs::rename(earlier.expect("a sidecar"), path(&format!("{sidecar}.carry"))).expect("moved");
        assert_eq!(run(&[name, "--to", "claude-code", "--force", "-o", "home.jsonl"]), Some(0));
        let home = fs::read_to_string(path("home.jsonl")).expect("written");
        assert_eq!(home, format!("{line}\n"), "{name} {sidecar}");
    }
    // A sidecar of a file that is there is not taken.
    fs::write(path("w.jsonl.gz"), b"").expect("written");
    assert_eq!(
        run(&["w.jsonl.zst", "--to", "claude-code", "--force", "-o", "home.jsonl"]),
        Some(0)
    );
    assert_ne!(fs::read_to_string(path("home.jsonl")).expect("written"), format!("{line}\n"));
}
