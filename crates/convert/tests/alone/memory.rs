//! Tests of the memory of commands: at most 32 MiB, three times the longest line, and 64 bytes for each
//! id. `cargo xtask limits` measures all commands on many more files.

#![cfg(target_os = "linux")]

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
    process::Command,
    thread::sleep,
    time::Duration,
};

use crate::turns::{chosen, share};

const MIB: usize = 1024 * 1024;

/// The length of the one long line.
const LONG: usize = 64 * MIB;

const HEAD: &str = r#"{"parentUuid":null,"type":"user","uuid":"11111111-0000-4000-8000-000000000001","sessionId":"11111111-1111-4111-8111-111111111111","timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":"#;

/// Writes a session of a short line and a long one, which consists of `start`, repetitions of `part`,
/// and `end`.
fn session(path: &Path, start: &str, part: &str, end: &str) {
    let mut file = BufWriter::new(File::create(path).expect("a file"));
    let mut put = |text: &str| file.write_all(text.as_bytes()).expect("written");
    put(HEAD);
    put("\"hello\"}}\n");
    put(HEAD);
    put(start);
    for _ in 0..LONG / part.len() {
        put(part);
    }
    put(end);
    put("\n");
}

/// Code of the optimized program in memory, in bytes (11.5 to 13.1 MiB of pages of files). The unoptimized one has up to twice
/// as much, which says nothing about the memory for a session.
const CODE: usize = 12 * MIB;

/// Returns the peak memory of a process so far, in bytes, with the code of the optimized program; `None` if it has ended.
fn peak_of(process: u32) -> Option<usize> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let member = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let kib: usize = line.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(kib * 1024)
    };
    Some(member("VmHWM:")? - member("RssFile:")?.saturating_sub(CODE))
}

/// Converts a session to clido, and returns the peak memory in bytes.
fn peak_of_conversion(source: &Path, target: &Path, carry: &str) -> usize {
    let mut process = Command::new(env!("CARGO_BIN_EXE_convert"))
        .args(["--quiet", "--jobs", "1", "--from", "claude-code", "--to", "clido"])
        .args(["--carry", carry, "--output"])
        .args([target, source])
        .spawn()
        .expect("the program");
    let mut peak = 0;
    loop {
        peak = peak.max(peak_of(process.id()).unwrap_or(0));
        match process.try_wait().expect("a child") {
            Some(status) => {
                assert!(status.success(), "{} {carry}: {status}", source.display());
                return peak;
            }
            None => sleep(Duration::from_millis(2)),
        }
    }
}

#[test]
fn many_short_lines_or_values() {
    let folder = tempfile::tempdir().expect("a folder");
    let numbers = format!(",\"x\":[{}1]", "1,".repeat(1000));
    for (name, more) in [("lines", ""), ("values", &numbers)] {
        let source = folder.path().join(format!("{name}.jsonl"));
        let mut file = BufWriter::new(File::create(&source).expect("a file"));
        let (mut n_lines, mut n_bytes) = (0, 0);
        // A smaller input is kept in memory, if it takes no more there.
        while n_bytes < 8 * MIB - 4096 {
            let line = format!(
                r#"{{"type":"user","uuid":"u{n_lines}","message":{{"content":"hi"}}{more}}}"#
            );
            writeln!(file, "{line}").expect("written");
            n_lines += 1;
            n_bytes += line.len() + 1;
        }
        file.flush().expect("written");
        for carry in ["none", "inline"] {
            let target = folder.path().join(format!("{name}.{carry}.jsonl"));
            let peak = peak_of_conversion(&source, &target, carry);
            // For a line, 80 bytes are kept: its id, the id of its parent, and its offset.
            let max_peak = 32 * MIB + 80 * n_lines;
            assert!(peak < max_peak, "{name} {carry}: {} MiB", peak / MIB);
        }
    }
}

#[test]
fn a_file_of_short_lines_beside_a_session() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("s1.jsonl");
    std::fs::write(&source, format!("{HEAD}\"hello\"}}}}\n")).expect("written");
    let outputs = folder.path().join("s1/tool-results");
    std::fs::create_dir_all(&outputs).expect("made");
    let size = 16 * MIB;
    std::fs::write(outputs.join("toolu_1.txt"), "x\n".repeat(size / 2)).expect("written");
    for carry in ["sidecar", "inline"] {
        let target = folder.path().join(format!("{carry}.jsonl"));
        let peak = peak_of_conversion(&source, &target, carry);
        // With an inline carry, the last line contains the whole carry.
        let written = std::fs::metadata(&target).expect("written").len() as usize;
        let most = 32 * MIB + 3 * written.max(size);
        assert!(peak <= most, "{carry}: {} of {} MiB", peak / MIB, most / MIB);
        assert!(written < 2 * size, "{carry}: {written} bytes for {size}");
    }
}

#[test]
fn one_long_line_of_any_shape() {
    let folder = tempfile::tempdir().expect("a folder");
    let block = format!(r#"{{"type":"text","text":"{}"}},"#, "What is it? ".repeat(80));
    let short = format!(r#"{{"type":"text","text":"{}"}},"#, "0123456789".repeat(5));
    let shapes = [
        ("string", "\"", "0123456789abcdef", "\"}}"),
        ("escapes", "\"", "\\u00e9\\n\\\"", "\"}}"),
        ("blocks", "[", &block, r#"{"type":"text","text":""}]}}"#),
        ("short blocks", "[", &short, r#"{"type":"text","text":""}]}}"#),
        ("tiny", "\"x\"},\"toolUseResult\":{\"a\":[", "{},", "{}]}}"),
        ("numbers", "\"x\"},\"toolUseResult\":[", "0.125,1,", "2]}"),
    ];
    for (name, start, part, end) in chosen("", shapes.into_iter(), 1) {
        let source = folder.path().join(format!("{name}.jsonl"));
        session(&source, start, part, end);
        for carry in ["none", "inline"] {
            let target = folder.path().join(format!("{name}.{carry}.jsonl"));
            let peak = peak_of_conversion(&source, &target, carry);
            // A carry has a reference for each block, which is half as long as a short block.
            let written = std::fs::metadata(&target).expect("written").len() as usize;
            let max_peak = 32 * MIB + 3 * written.max(LONG);
            assert!((LONG..max_peak).contains(&peak), "{name} {carry}: {} MiB", peak / MIB);
            std::fs::remove_file(&target).expect("written");
        }
        std::fs::remove_file(&source).expect("there");
    }
}

/// Memory that a command may use beside the longest record and the ids.
const ALLOWANCE: usize = 32 * MIB;

/// Runs a command on a file and returns its peak memory in bytes. `IN` is the file, `OUT` a new one
/// beside it.
fn peak_of_command(arguments: &str, source: &Path) -> usize {
    let target = source.with_extension("out");
    let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
    for argument in arguments.split(' ') {
        match argument {
            "IN" => command.arg(source),
            "OUT" => command.arg(&target),
            argument => command.arg(argument),
        };
    }
    let silent = || std::process::Stdio::null();
    let mut process = command.stdout(silent()).stderr(silent()).spawn().expect("the program");
    let mut peak = 0;
    while process.try_wait().expect("a child").is_none() {
        peak = peak.max(peak_of(process.id()).unwrap_or(0));
        sleep(Duration::from_millis(1));
    }
    for path in [target.clone(), target.with_extension("out.carry")] {
        _ = std::fs::remove_file(path);
    }
    peak
}

/// The commands that read a session from its first line to its last.
const COMMANDS: [&str; 12] = [
    "check IN",
    "scan IN",
    "list --columns messages,tokens,cost,errors,title IN",
    "find --errors IN",
    "stats IN",
    "show --no-pager --full IN",
    "show --markdown IN",
    "export --html -o OUT IN",
    "--force --to clido -o OUT IN",
    "--force --to clido --carry sidecar -o OUT IN",
    "--force --to sdk-stream --carry none -o OUT IN",
    "--force --to sdk-stream:wire -o OUT IN",
];

/// Checks one of the commands, in turn, on a file of `size` bytes that is odd in one way: `start`, repetitions of `part`,
/// and `end`. Its longest line has about `longest` bytes. It has no ids to keep.
fn check_law(name: &str, size: usize, (start, part, end): (&str, &str, &str), longest: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("in.jsonl");
    let mut file = BufWriter::new(File::create(&source).expect("a file"));
    let mut put = |text: &str| file.write_all(text.as_bytes()).expect("written");
    put(HEAD);
    put("\"hello\"}}\n");
    put(start);
    (0..size / part.len()).for_each(|_| put(part));
    put(end);
    file.flush().expect("written");
    for command in chosen(name, COMMANDS.into_iter(), 1) {
        let peak = peak_of_command(command, &source);
        let law = ALLOWANCE + 3 * longest;
        assert!(peak <= law, "{command} of {name}: {} of {} MiB", peak / MIB, law / MIB);
    }
}

#[test]
fn many_lines_that_say_nothing() {
    for (name, line) in [
        ("newlines", "\n"),
        ("empty objects", "{}\n"),
        ("damage", "no JSON\n"),
        ("types", "{\"type\":\"made-up\",\"value\":1}\n"),
        ("messages without ids", "{\"type\":\"user\",\"message\":{\"content\":\"hi\"}}\n"),
    ] {
        // 3 million newlines: 8 bytes that are kept for each of them would break the law.
        check_law(name, 3 * MIB, ("", line, ""), 0);
    }
}

#[test]
fn one_line_that_is_deep_or_never_closed() {
    let size = 12 * MIB;
    let nested = "[".repeat(size / 2) + &"]".repeat(size / 2);
    check_law("open arrays", size, ("", "[", "\n"), size);
    check_law("open objects", size, ("", "{\"a\":", "\n"), size);
    check_law("glued objects", size, ("", "{}", "\n"), size);
    check_law("deep content", size, (HEAD, &nested, "}}\n"), size);
}

/// `repair` kept the session in memory, and up to six copies of its longest line.
#[test]
fn repair_of_one_long_line_or_many_lines() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("in.jsonl");
    let meta = r#"{"type":"meta","session_id":"s","schema_version":1,"start_time":"2026-01-01T00:00:00.000Z","project_path":""}"#;
    let start = r#"{"type":"user_message","role":"user","content":[{"type":"text","text":""#;
    let size = 24 * MIB;
    let long = format!("{start}{}\"}}]}}\n", "* ".repeat(size / 2));
    let short = format!("{start}hello\"}}]}}\n").repeat(size / 80);
    let damage = "[{\"type\":\n".repeat(6 * MIB / 10);
    let kinds = [("long", long, size), ("short", short, 0), ("damage", damage, 0)];
    for (name, lines, longest) in share(kinds.into(), 3) {
        std::fs::write(&source, format!("{meta}\n{start}hello\"}}]}}\n{lines}")).expect("written");
        let peak = peak_of_command("repair --as clido -o OUT IN", &source);
        let law = ALLOWANCE + 3 * longest;
        assert!(peak <= law, "{name}: {} of {} MiB", peak / MIB, law / MIB);
    }
}

/// `fork` kept the session and its copy in memory.
#[test]
fn fork_of_many_lines() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("in.jsonl");
    let clido = r#"{"type":"user_message","role":"user","content":[{"type":"text","text":"#;
    let meta = r#"{"type":"meta","session_id":"s","schema_version":1,"start_time":"2026-01-01T00:00:00.000Z","project_path":""}"#;
    let text = "* ".repeat(MIB / 8);
    for (first, start, end) in [("", HEAD, "}}"), (meta, clido, "}]}")] {
        let mut file = BufWriter::new(File::create(&source).expect("a file"));
        writeln!(file, "{first}").expect("written");
        (0..100).for_each(|_| writeln!(file, "{start}\"{text}\"{end}").expect("written"));
        file.flush().expect("written");
        let peak = peak_of_command("fork -o OUT IN", &source);
        let law = ALLOWANCE + 3 * text.len();
        assert!(peak <= law, "{start}: {} of {} MiB", peak / MIB, law / MIB);
    }
}

/// `merge` kept the plan, the receipts and the reports: 0.7 kB for each unit.
#[test]
fn merge_of_many_units() {
    const N_UNITS: usize = 12_000;
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("in")).expect("made");
    std::fs::write(path("in/a.jsonl"), format!("{HEAD}\"hello\"}}}}\n")).expect("written");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
        let output = command.current_dir(&folder).args(arguments).output().expect("the program");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let plan = run(&["plan", "in", "--to", "clido", "-o", "out"]);
    std::fs::write(path("one"), &plan).expect("written");
    let receipt = run(&["work", "one"]);
    let peak_of = |n_units: usize| {
        for (name, line) in [("plan", &plan), ("receipts", &receipt)] {
            let mut file = BufWriter::new(File::create(path(name)).expect("a file"));
            // The plan is not in the order of its paths.
            for n in (0..n_units).rev() {
                let line = line.replace("a.jsonl", &format!("unit-{n:09}.jsonl"));
                file.write_all(line.as_bytes()).expect("written");
            }
        }
        let arguments = format!("merge --report OUT --plan {} IN", path("plan").display());
        peak_of_command(&arguments, &path("receipts"))
    };
    let (few, many) = (peak_of(10), peak_of(N_UNITS));
    let law = ALLOWANCE + 64 * N_UNITS;
    assert!(many <= law, "{} of {} MiB", many / MIB, law / MIB);
    // Buffers grow to their limits: by 7 MiB. The units themselves would take 8 MiB more.
    let growth = many.saturating_sub(few);
    assert!(growth <= 9 * MIB + 64 * N_UNITS, "{} MiB more for {N_UNITS} units", growth / MIB);
}
