//! Tests of small files that expand to large ones.

use std::{
    fs,
    io::Write,
    process::{Command, Output},
};

use super::stage::{Stage, session, text};

const MIB: usize = 1024 * 1024;

/// Compresses bytes `n_times` in a row, in equal frames of at most 64 times.
fn zst(bytes: &[u8], n_times: usize) -> Vec<u8> {
    let in_frame = n_times.min(64);
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).expect("set up");
    for _ in 0..in_frame {
        encoder.write_all(bytes).expect("written");
    }
    encoder.finish().expect("written").repeat(n_times / in_frame)
}

/// Converts a file with a limit on the address space.
fn convert(stage: &Stage, file: &str, more: &str) -> Output {
    let script =
        format!("ulimit -v 600000; exec $convert $file --to clido -o $out --jobs 1 {more}");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).env("convert", env!("CARGO_BIN_EXE_convert"));
    command.env("file", stage.path(file)).env("out", stage.path("out.jsonl"));
    command.output().expect("it runs")
}

#[test]
fn a_bomb_is_refused_in_little_memory() {
    let stage = Stage::new(1, 1);
    // One line of blanks, many lines of blanks, a bomb in a bomb.
    let blanks = zst(&vec![b' '; MIB], 1024);
    let lines = zst(&b" \n".repeat(MIB / 2), 1024);
    let nested = zst(&blanks, 1);
    for (name, bytes, more, said) in [
        ("line", &blanks, "", "a line has more than 33554432 bytes"),
        ("lines", &lines, "--max-expanded 16MiB", "it expands to more than 16777216 bytes"),
        ("nested", &nested, "", "a zstd file, which convert does not read"),
    ] {
        fs::write(stage.path(name), bytes).expect("written");
        let output = convert(&stage, name, more);
        assert_eq!(output.status.code(), Some(2), "{name}: {}", text(&output));
        assert!(text(&output).contains(said), "{name}: {}", text(&output));
        assert!(!stage.path("out.jsonl").exists(), "{name}");
    }
}

#[test]
fn a_bomb_beside_a_session_is_named_and_stops_no_other() {
    let stage = Stage::new(1, 1);
    let packed = zst(session(10, "s1").as_bytes(), 1);
    for (name, bytes) in [
        ("tree/s1.jsonl.zst", &packed),
        ("tree/s1/tool-results/bomb.txt.zst", &zst(&b" \n".repeat(MIB / 2), 1024)),
        ("tree/s2.jsonl.zst", &packed),
        ("tree/s2/subagents/agent-a1.jsonl.zst", &zst(&vec![b' '; MIB], 1024)),
        ("tree/s3.jsonl.zst", &packed),
    ] {
        let path = stage.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, bytes).expect("written");
    }
    let output = convert(&stage, "tree", "--max-expanded 64MiB");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    for said in [
        "bomb.txt.zst: it expands to more than 67108864 bytes",
        "agent-a1.jsonl.zst: a line has more than 33554432 bytes",
    ] {
        assert!(text(&output).contains(said), "{}", text(&output));
    }
    let there = |name: &str| stage.path("out.jsonl").join(name).exists();
    assert!(there("s3.jsonl") && !there("s1.jsonl") && !there("s2.jsonl"));
}

#[test]
fn what_is_compressed_is_converted_like_what_is_not() {
    let stage = Stage::new(1, 1);
    let text_of = session(60_000, "large");
    assert!(text_of.len() > 16 * MIB, "larger than what is kept");
    fs::write(stage.path("plain"), &text_of).expect("written");
    let encoded = zst(text_of.as_bytes(), 1);
    fs::write(stage.path("packed"), &encoded).expect("written");
    let mut outputs = Vec::new();
    for name in ["plain", "packed"] {
        _ = fs::remove_file(stage.path("out.jsonl"));
        let output = convert(&stage, name, "-q --verify");
        assert_eq!(output.status.code(), Some(0), "{name}: {}", text(&output));
        outputs.push(fs::read(stage.path("out.jsonl")).expect("written"));
    }
    assert!(outputs[0] == outputs[1]);
    fs::write(stage.path("torn"), &encoded[..encoded.len() / 2]).expect("written");
    _ = fs::remove_file(stage.path("out.jsonl"));
    assert_eq!(convert(&stage, "torn", "").status.code(), Some(2));
    assert!(!stage.path("out.jsonl").exists());
}
