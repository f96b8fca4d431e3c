//! Every backend finds the same in lines of every kind, and in what they become when bytes change.

#[path = "differential/mutation.rs"]
mod mutation;

use std::{fs, path::Path};

use mutation::{Judges, Random, mutate};

/// Miri takes a second for what else takes a millisecond.
const N_MUTATIONS: usize = if cfg!(miri) { 30 } else { 200_000 };

/// Lines of this length at most: what matters lies near the borders of blocks and windows.
const MAX_LENGTH: usize = 4_000;

#[test]
fn backends_agree_on_mutated_lines() {
    let mut lines = hard_lines();
    if !cfg!(miri) {
        fixture_lines(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures"), &mut lines);
    }
    assert!(lines.len() > 10, "there are fixtures");
    let mut judges = Judges::default();
    let mut random = Random::new(1);
    let mut n_accepted = 0;
    for line in &lines {
        judges.accept(line);
    }
    for n in 0..N_MUTATIONS {
        let mut line = lines[n % lines.len()].clone();
        mutate(&mut line, &mut random);
        n_accepted += usize::from(judges.accept(&line));
    }
    assert!(n_accepted > N_MUTATIONS / 20, "only {n_accepted} are JSON");
}

#[test]
fn backends_agree_wherever_a_block_ends() {
    let mut judges = Judges::default();
    let bodies =
        ["\\", "\\\\", "\\\"", "\\u00e9", "\\ud800", "é", "\"", "\t", "\\x", "\\u12", "\",\""];
    for body in bodies {
        for before in if cfg!(miri) { 60..66 } else { 0..200 } {
            for after in [0, 1, 63] {
                let (before, after) = ("x".repeat(before), "y".repeat(after));
                judges.accept(format!("[\"{before}{body}{after}\"]").as_bytes());
                judges.accept(format!("[\"{before}{body}").as_bytes());
            }
        }
    }
}

#[test]
fn backends_agree_on_more_quotes_than_a_window_holds() {
    let mut judges = Judges::default();
    for n in if cfg!(miri) { 520..521 } else { 500..1_100 } {
        let line = format!("[{}\"\\n\"]", "\"\",".repeat(n));
        assert!(judges.accept(line.as_bytes()));
        assert!(!judges.accept(&line.as_bytes()[..line.len() - 2]));
        judges.accept(format!("[{}\"{}\"]", "\"\",".repeat(n), "\\\\".repeat(n)).as_bytes());
    }
    assert!(!judges.accept(&[b'"'; 5_001]));
}

fn hard_lines() -> Vec<Vec<u8>> {
    let lines = [
        r#"{"type":"user","message":{"role":"user","content":"a \"b\" \\ \u00e9\ud83c\udf89\n"}}"#,
        r#"{"a":[1,-0,1.5e+3,true,false,null,{"b":{}},[[]]],"a":"\\\\\"","é":"🎉"}"#,
        r#"{"usage": {"input_tokens": 12345678901234567890, "cost": 0.025106700000000003}}"#,
        r#"["\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\"" ]"#,
        r#" [ "\b\f\n\r\t\/\\\"" , "" , "\u0000" ] "#,
        "\"\"",
        "0",
        "[[[[[[[[[[[[[[[[[[[[[[\"deep\",1]]]]]]]]]]]]]]]]]]]]]]",
        "{\"\":{\"\":\"\"}}",
        "{\"tab\":\t\"between\"}",
        "\"\u{7f}\u{80}\u{7ff}\u{800}\u{ffff}\u{10000}\"",
    ];
    lines.map(|line| line.as_bytes().to_vec()).to_vec()
}

/// Collects the first line of each kind of each fixture.
fn fixture_lines(folder: &Path, lines: &mut Vec<Vec<u8>>) {
    let mut paths: Vec<_> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            fixture_lines(&path, lines);
        } else if let Ok(bytes) = fs::read(&path) {
            let new = jsonl::lines(&bytes).map(|line| line.content());
            lines.extend(new.filter(|line| line.len() < MAX_LENGTH).take(20).map(<[u8]>::to_vec));
        }
    }
}
