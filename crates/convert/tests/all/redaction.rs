//! Tests of `--redact`: no secret is left at any position, and nothing else is missing.

use std::{fs, io::Read, path::Path, process::Command};

use convert::{CarryMode, FORMATS, by_name, redact};

use crate::shared::{
    data::data,
    fixtures::fixtures,
    turns::chosen,
    ways::{Written, convert, others, there_and_back},
};

/// Secrets, assembled here so that no file contains one.
fn secrets() -> [String; 3] {
    let tail = "0123456789abcdefghijABCDEFGHIJ012345";
    [format!("ghp_{tail}"), format!("sk-ant-api03-{tail}{tail}"), format!("xoxb-1234567890-{tail}")]
}

/// Adds a secret at the start of every string that follows one of these, and at the end of lines that
/// are not JSON.
fn with_secrets(bytes: &[u8]) -> Vec<u8> {
    let [one, two, three] = secrets();
    let text: Vec<String> = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .map(|line| match std::str::from_utf8(line) {
            Ok(line) => line
                .replace("\"text\":\"", &format!("\"text\":\"{one} "))
                .replace("\"content\":\"", &format!("\"content\":\"x={two} "))
                .replace("\"text\": \"", &format!("\"text\": \"{one}\\n"))
                .replace(
                    "\"command\":\"",
                    &format!("\"command\":\"\\u{:04x}{} ", u32::from('x'), &three[1..]),
                ),
            Err(_) => format!("{{\"torn {one}\n"),
        })
        .collect();
    text.concat().into_bytes()
}

/// Asserts that no secret and no half of one is left.
fn assert_clean(bytes: &[u8], what: &str) {
    for secret in secrets() {
        for part in [&secret[..20], &secret[secret.len() - 20..]] {
            let is_there = memchr::memmem::find(bytes, part.as_bytes()).is_some();
            assert!(!is_there, "{what}: {part} in {}", String::from_utf8_lossy(bytes));
        }
    }
}

fn redacted(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    redact(FORMATS, bytes, &mut out).expect("in memory");
    out
}

fn expanded(sidecar: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut decoder = zstd::stream::read::Decoder::new(sidecar).expect("zstd");
    decoder.read_to_end(&mut out).expect("whole");
    out
}

/// Each fixture goes to some of the targets, other ones each day.
#[test]
fn nothing_is_left_in_any_target_and_the_way_back_gives_the_redacted_source() {
    let mut n_redacted = 0;
    for fixture in fixtures() {
        let Some(from) = by_name(&fixture.format) else { continue };
        let source = redacted(&with_secrets(&fixture.bytes));
        n_redacted += usize::from(source != fixture.bytes);
        assert_clean(&source, &fixture.name);
        let source = Written { bytes: source, sidecar: None };
        for to in chosen(&fixture.name, others(&[from]), 3) {
            for mode in [CarryMode::Inline, CarryMode::Sidecar, CarryMode::None] {
                let there = convert(&source, from, to, mode).expect("in memory");
                assert_clean(&there.bytes, &fixture.name);
                assert_clean(&expanded_or_empty(&there), &fixture.name);
                if mode != CarryMode::None {
                    let wrong = there_and_back(&source.bytes, from, to, mode);
                    assert_eq!(wrong, None, "{}", fixture.name);
                }
            }
        }
    }
    assert!(n_redacted > 50, "{n_redacted}");
}

fn expanded_or_empty(written: &Written) -> Vec<u8> {
    written.sidecar.as_deref().map(expanded).unwrap_or_default()
}

#[test]
fn what_was_carried_before_goes_too_torn_or_not() {
    let mut n_carries = 0;
    for fixture in fixtures() {
        let Some(from) = by_name(&fixture.format) else { continue };
        let source = Written { bytes: with_secrets(&fixture.bytes), sidecar: None };
        for to in chosen(&fixture.name, others(&[from]), 1) {
            let there = convert(&source, from, to, CarryMode::Inline).expect("in memory").bytes;
            let mut clean = Vec::new();
            n_carries += redact(FORMATS, &there[..], &mut clean).expect("in memory").n_carries;
            assert_clean(&clean, &fixture.name);
            for cut in [there.len() / 3, there.len() / 2, there.len().saturating_sub(2)] {
                let clean = redacted(&there[..cut]);
                let is_left = |secret: &String| memchr::memmem::find(&clean, secret.as_bytes());
                assert_eq!(secrets().iter().find_map(is_left), None, "{}", fixture.name);
            }
        }
    }
    assert!(n_carries > 75, "{n_carries}");
}

#[test]
fn what_has_no_secrets_does_not_change() {
    let mut n_lines = 0;
    let fixtures = fixtures().into_iter().map(|fixture| (fixture.name, fixture.bytes));
    for (name, bytes) in fixtures.chain(data(&["real", "clients", "sdk-dump"])) {
        if memchr::memmem::find(&bytes, b"_carried").is_some() {
            continue;
        }
        n_lines += jsonl::lines(&bytes).count();
        let mut out = Vec::new();
        let found = redact(FORMATS, &bytes[..], &mut out).expect("in memory");
        let rules: Vec<_> = found.iter().map(|(rule, _)| rule).collect();
        assert!(out == bytes, "{name}: {rules:?}");
    }
    assert!(n_lines > 500, "{n_lines}");
}

fn run(arguments: &[&str], folder: &Path) -> (Option<i32>, Vec<u8>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
    let output = command.args(arguments).current_dir(folder).output().expect("the program runs");
    (output.status.code(), [output.stdout, output.stderr].concat())
}

/// Copies a folder, and adds secrets to every file.
fn copy_with_secrets(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_with_secrets(&entry.path(), &target);
        } else {
            let mut bytes = with_secrets(&fs::read(entry.path()).expect("a file"));
            if entry.path().extension().is_some_and(|ending| ending == "txt") {
                bytes.extend_from_slice(secrets()[0].as_bytes());
            }
            fs::write(target, bytes).expect("written");
        }
    }
}

fn check_folder(folder: &Path) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            check_folder(&path);
            continue;
        }
        let bytes = fs::read(&path).expect("a file");
        let is_sidecar = path.extension().is_some_and(|ending| ending == "carry");
        let bytes = if is_sidecar { expanded(&bytes) } else { bytes };
        assert_clean(&bytes, &path.display().to_string());
    }
}

#[test]
fn a_folder_with_all_that_belongs_to_its_sessions_is_clean() {
    let folder = tempfile::tempdir().expect("a folder");
    let fixtures =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/claude-code/with-agents");
    copy_with_secrets(&fixtures, &folder.path().join("in"));
    let (status, found) = run(&["scan", "in"], folder.path());
    assert_eq!(status, Some(1));
    assert_clean(&found, "what scan prints");
    for carry in ["inline", "sidecar", "none"] {
        let report = format!("{carry}.json");
        let arguments =
            ["in", "--to", "clido", "--redact", "--verify", "--carry", carry, "-v", "-o", carry];
        let arguments = [&arguments[..], &["--report", &report]].concat();
        let (status, said) = run(&arguments, folder.path());
        assert!(status < Some(2), "{}", String::from_utf8_lossy(&said));
        assert_clean(&said, "what is printed");
        assert_clean(&fs::read(folder.path().join(&report)).expect("a report"), "the report");
        check_folder(&folder.path().join(carry));
        assert_eq!(run(&["scan", carry], folder.path()).0, Some(0), "{carry}");
    }
    // Without the option, the secrets are there.
    run(&["in", "--to", "clido", "-o", "plain"], folder.path());
    assert_eq!(run(&["scan", "plain"], folder.path()).0, Some(1));
}

/// Asserts that pages, text, Markdown and tables of a folder have no secret with `--redact`, and have
/// some without it.
#[test]
fn what_other_commands_write_is_clean_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let fixtures =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/claude-code/with-agents");
    copy_with_secrets(&fixtures, &folder.path().join("in"));
    let mut commands = vec![
        vec!["export", "--html", "in", "-o", "OUT"],
        vec!["show", "--markdown", "--full", "in"],
        vec!["show", "--no-pager", "--full", "in"],
    ];
    if cfg!(feature = "parquet") {
        commands.push(vec!["tables", "in", "-o", "OUT"]);
        commands.push(vec!["tables", "--with-raw", "in", "-o", "OUT"]);
    }
    for (n, command) in commands.iter().enumerate() {
        let written = |output: &str, redact: &[&str]| {
            let command: Vec<&str> =
                command.iter().map(|word| if *word == "OUT" { output } else { word }).collect();
            let (status, said) = run(&[&command[..], redact].concat(), folder.path());
            assert!(status < Some(2), "{command:?}: {}", String::from_utf8_lossy(&said));
            said
        };
        let (plain, clean) = (format!("plain-{n}"), format!("clean-{n}"));
        let said = written(&clean, &["--redact"]);
        assert_clean(&said, &format!("{command:?}"));
        let said_plain = written(&plain, &[]);
        if !command.contains(&"OUT") {
            assert_ne!(said, said_plain, "{command:?}: secrets were there");
            assert!(String::from_utf8_lossy(&said).contains("[REDACTED:github-token]"));
            continue;
        }
        check_folder(&folder.path().join(&clean));
        if command[0] == "tables" {
            // Columns are compressed, so the files are restored from them.
            if command.contains(&"--with-raw") {
                run(&["restore", &clean, "-o", "restored"], folder.path());
                check_folder(&folder.path().join("restored"));
                assert_eq!(run(&["scan", "restored"], folder.path()).0, Some(0));
            }
        } else {
            let pages = fs::read_dir(folder.path().join(&plain)).expect("pages").flatten();
            let mut pages = pages.filter_map(|page| fs::read_to_string(page.path()).ok());
            assert!(pages.any(|page| page.contains(&secrets()[0])), "{command:?}");
        }
    }
}

/// A sidecar may hold secrets in pieces, as an inline carry may.
#[test]
fn a_sidecar_that_is_left_out_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let fixture = "../../fixtures/claude-code/one-tool-call.jsonl";
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(fixture).display().to_string();
    let convert = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
        let output = command.current_dir(&folder).args(arguments).output().expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    convert(&[&source, "--to", "clido", "--carry", "sidecar", "--quiet", "-o", "there.jsonl"]);
    assert!(folder.path().join("there.jsonl.carry").exists());
    let words = "redacted what 1 sidecar carried of another format";
    let back = ["there.jsonl", "--to", "claude-code", "-o", "back.jsonl", "--force"];
    let said = convert(&[&back[..], &["--redact", "--report", "report.json"]].concat());
    assert!(said.contains(words), "{said}");
    let report = fs::read_to_string(folder.path().join("report.json")).expect("a report");
    assert!(report.contains(r#""sidecars_redacted":1"#), "{report}");
    let said = convert(&["there.jsonl", "--to", "claude-code", "--redact"]);
    assert!(said.contains(words), "{said}");
    assert!(!convert(&back).contains(words));
}

/// Asserts that `show --follow --redact` prints no secret: from existing lines, from a line that is
/// written in two halves, and after the file was replaced.
#[test]
fn what_is_followed_is_clean_too() {
    let prompt = |text: &str| {
        format!(
            "{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}},\
             \"uuid\":\"5f0c2ce1-6c6f-4b5e-9a58-0d1c2b3a4f5e\",\"parentUuid\":null,\
             \"sessionId\":\"s\",\"timestamp\":\"2026-01-01T00:00:00.000Z\"}}\n"
        )
    };
    let [one, two, three] = secrets();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("live.jsonl");
    fs::write(&path, prompt(&format!("first {one} done"))).expect("written");
    let follow = |redact: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_convert"))
            .args([&["show", "--follow", "--full"], redact].concat())
            .arg(&path)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("the program runs")
    };
    let read_until = |child: &mut std::process::Child, printed: &mut String, words: &str| {
        let stdout = child.stdout.as_mut().expect("a pipe");
        let mut buffer = [0; 4096];
        while !printed.contains(words) {
            let n_bytes = stdout.read(&mut buffer).expect("readable");
            assert!(n_bytes > 0, "it ended after {printed}");
            printed.push_str(&String::from_utf8_lossy(&buffer[..n_bytes]));
        }
    };
    let (mut clean, mut plain) = (follow(&["--redact"]), follow(&[]));
    let (mut said, mut said_plain) = (String::new(), String::new());
    read_until(&mut clean, &mut said, "done");
    read_until(&mut plain, &mut said_plain, "done");
    // The first half of the line ends within the secret.
    let line = prompt(&format!("second DB_PASSWORD={two} whole"));
    let (half, rest) = line.split_at(line.find(&two).expect("the secret") + 25);
    let mut file = fs::File::options().append(true).open(&path).expect("writable");
    std::io::Write::write_all(&mut file, half.as_bytes()).expect("written");
    std::thread::sleep(std::time::Duration::from_millis(600));
    std::io::Write::write_all(&mut file, rest.as_bytes()).expect("written");
    read_until(&mut clean, &mut said, "whole");
    read_until(&mut plain, &mut said_plain, "whole");
    fs::write(&path, prompt(&format!("third {three} again"))).expect("written");
    read_until(&mut clean, &mut said, "again");
    for mut child in [clean, plain] {
        child.kill().expect("it runs");
        child.wait().expect("it ends");
    }
    assert_clean(said.as_bytes(), "show --follow --redact");
    assert_eq!(said.matches("[REDACTED:").count(), 3, "{said}");
    assert!(said_plain.contains(&one) && said_plain.contains(&two), "{said_plain}");
}

/// A secret with an escape is longer in the file than decoded: both numbers of `--json` count bytes of the file.
#[test]
fn the_offset_and_the_length_of_a_secret_are_those_of_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let password = ["q7Vx2m", r"\/Lp9Zt4", "Kd1w"].concat();
    let line = format!("{{\"note\":\"export DB_PASSWORD={password}\"}}\n");
    fs::write(folder.path().join("a.jsonl"), &line).expect("written");
    let (status, found) = run(&["scan", "--json", "a.jsonl"], folder.path());
    assert_eq!(status, Some(1));
    let found: serde_json::Value = serde_json::from_slice(&found).expect("one object");
    let number = |name: &str| found[name].as_u64().expect("a number") as usize;
    let start = number("offset");
    assert_eq!(&line[start..start + number("length")], password);
}

/// The name of a file or of a folder is reported, and not changed: a client finds a session by its name.
#[test]
fn a_secret_in_a_name_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let [token, ..] = secrets();
    // A client writes the path of a project as the name of a folder.
    let project = format!("-home-ada-{}", token.replace('_', "-"));
    let source = folder.path().join("in").join(&project);
    fs::create_dir_all(&source).expect("created");
    let fixture =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/claude-code/plain.jsonl");
    for name in ["a.jsonl".to_owned(), format!("{token}.jsonl")] {
        fs::copy(&fixture, source.join(name)).expect("copied");
    }
    let run = |arguments: &[&str]| {
        let (status, printed) = run(arguments, folder.path());
        (status, String::from_utf8(printed).expect("text"))
    };
    let name = "-home-ada-[REDACTED:github-token]";
    let file = format!("{name}/[REDACTED:github-token].jsonl");
    let (status, found) = run(&["scan", "in"]);
    assert_eq!(status, Some(1));
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(lines.len(), 2, "{found}");
    assert!(lines[0].starts_with(&format!("in/{name}: github-token in the name, 40 bytes ")));
    assert!(lines[1].starts_with(&format!("in/{file}: github-token in the name, 40 bytes ")));
    let (_, json) = run(&["scan", "--json", "in"]);
    for offset in ["-home-ada-".len(), 0] {
        let place = format!("\"line\":0,\"offset\":{offset},\"rule\":\"github-token\"");
        assert!(json.contains(&place), "{json}");
    }
    let (status, said) = run(&["in", "--to", "codex", "--redact", "-o", "out"]);
    assert_eq!(status, Some(0));
    for path in [name, &file] {
        assert!(said.contains(&format!("out/{path}: the name has a secret (github-token), ")));
    }
    assert_eq!(said.matches("the name has a secret").count(), 2, "{said}");
    assert!(!said.contains(&token[4..]) && !found.contains(&token[4..]), "{said}{found}");
    assert!(folder.path().join("out").join(&project).join("a.jsonl").exists());
    let (_, said) = run(&["in", "--to", "codex", "-q", "-o", "out2"]);
    assert!(!said.contains("the name has a secret"), "{said}");
    let page = format!("{token}.html");
    let session = format!("in/{project}/a.jsonl");
    let mut commands = vec![
        (vec!["export", "--html", "in", "-o", "pages"], format!("pages/{name}"), 2),
        (vec!["export", "--html", &session, "-o", &page], "[REDACTED:github-token].html".into(), 1),
    ];
    if cfg!(feature = "parquet") {
        commands.push((vec!["tables", "in", "-o", "tables"], format!("in/{name}"), 2));
    }
    for (mut command, path, n_names) in commands {
        command.extend(["-q", "--redact"]);
        let (status, said) = run(&command);
        assert_eq!(status, Some(0), "{said}");
        assert!(said.contains(&format!("{path}: the name has a secret (github-token), ")));
        assert_eq!(said.matches("the name has a secret").count(), n_names, "{said}");
        assert!(!said.contains(&token[4..]), "{said}");
    }
    // The pages themselves show no secret: only their addresses have it.
    let untitled = folder.path().join("untitled");
    fs::create_dir(&untitled).expect("created");
    let prompt = r#"{"type":"user","uuid":"u1","message":{"role":"user","content":"Hi"}}"#;
    fs::write(untitled.join(format!("{token}.jsonl")), prompt).expect("written");
    run(&["export", "--html", "untitled", "-o", "pages2", "--redact"]);
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("a page");
    assert!(!read(&format!("pages2/{token}.html")).contains(&token));
    let index = read("pages2/index.html");
    assert_eq!(index.matches(&token).count(), 1, "{index}");
    assert!(index.contains(&format!("href=\"./{token}.html\"")), "{index}");
}

/// Asserts that secrets in a carry are found: in a member that the target does not have, by prefix and
/// by name, on a plain line and in JSON within JSON.
#[test]
fn what_only_a_carry_says_is_scanned() {
    let folder = tempfile::tempdir().expect("a folder");
    let [token, ..] = secrets();
    let password = format!("{}{}", "q7Vx2mLp", "9Zt4Kd1w");
    for (n, member) in [
        format!("\"note\":\"{token}\""),
        format!("\"env\":{{\"DB_PASSWORD\":\"{password}\"}}"),
        format!("\"note\":\"{{\\\"api_key\\\": \\\"{password}\\\"}}\""),
        format!("\"note\":\"a\\nexport DB_PASSWORD={password}\\nb\""),
    ]
    .iter()
    .enumerate()
    {
        let line = format!(
            "{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"Hi\"}},{member},\
             \"uuid\":\"u1\",\"parentUuid\":null,\"sessionId\":\"s1\",\
             \"timestamp\":\"2026-01-01T10:00:00.000Z\"}}\n"
        );
        fs::write(folder.path().join("a.jsonl"), line).expect("written");
        for carry in ["inline", "sidecar", "none"] {
            let out = format!("{carry}-{n}.jsonl");
            let command = ["a.jsonl", "--to", "clido", "--carry", carry, "-o", &out];
            let (_, said) = run(&command, folder.path());
            let (status, found) = run(&["scan", &out], folder.path());
            let found = String::from_utf8_lossy(&found).into_owned();
            let expected = i32::from(carry != "none");
            let said = String::from_utf8_lossy(&said);
            assert_eq!(status, Some(expected), "{out}: {member}: {found}{said}");
            assert!(!found.contains(&password) && !found.contains(&token), "{found}");
            if carry == "inline" {
                let line = fs::read_to_string(folder.path().join(&out)).expect("written");
                let place = line.find(&password).or_else(|| line.find(&token)).expect("carried");
                assert!(found.contains(&format!("byte {place}: ")), "{place}: {found}");
            }
        }
    }
}

#[test]
fn keys_of_tests_are_secrets_if_that_is_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = format!("sk_test_{}", "8aJd02kLmQ9xPzRt");
    let line = format!(
        "{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"pay with {key}\"}},\
         \"uuid\":\"u1\",\"parentUuid\":null,\"sessionId\":\"s1\",\
         \"timestamp\":\"2026-01-01T10:00:00.000Z\"}}\n"
    );
    fs::write(folder.path().join("a.jsonl"), line).expect("written");
    for command in [&["scan"][..], &["--to", "clido", "--redact"], &["show", "--redact"]] {
        let run = |options: &[&str]| run(&[command, options, &["a.jsonl"]].concat(), folder.path());
        let (plain, with_tests) = (run(&[]), run(&["--test-keys"]));
        if command[0] == "scan" {
            assert_eq!((plain.0, with_tests.0), (Some(0), Some(1)));
            continue;
        }
        let has_key = |said: &[u8]| memchr::memmem::find(said, key.as_bytes()).is_some();
        assert!(has_key(&plain.1) && !has_key(&with_tests.1), "{command:?}");
    }
    // Without --redact, the option has no effect.
    assert_eq!(run(&["show", "--test-keys", "a.jsonl"], folder.path()).0, Some(2));
}

#[test]
fn text_that_is_not_searched_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.jsonl"), b"\xff\xfe{\0}\0").expect("written");
    fs::write(folder.path().join("b.jsonl"), b"{}\n").expect("written");
    let (status, said) = run(&["scan", "a.jsonl", "b.jsonl"], folder.path());
    assert_eq!(status, Some(1));
    let expected = "convert: a.jsonl: UTF-16 text, which scan cannot search; convert it to UTF-8\nno key, token or password found in 1 file\n";
    assert_eq!(String::from_utf8_lossy(&said), expected);
    assert_eq!(run(&["scan", "no-such-file"], folder.path()).0, Some(2));
}
