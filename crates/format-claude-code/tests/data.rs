//! The shared data, where it is at hand: nothing panics, and what is written keeps to the rules.

#[path = "shared/written.rs"]
mod written;

use std::{
    fs,
    path::{Path, PathBuf},
};

use core_model::{Facts, Options, Output};
use format_claude_code::FORMAT;
use jsonl::{Scanner, Style};
use written::validate;

fn files(folder: &str) -> Vec<PathBuf> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let mut files = Vec::new();
    let mut folders = vec![data.join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { &mut folders } else { &mut files }.push(path);
        }
    }
    files
}

/// Writes a transcript anew: what the planner hides and sub-agents say left out.
fn rewrite(input: &[u8]) -> Vec<u8> {
    let mut scanner = Scanner::default();
    let options = Options::default();
    let mut planner = FORMAT.planner.expect("has one")(&options);
    for line in jsonl::lines(input) {
        if let Ok(value) = scanner.scan(&line) {
            planner.observe(line.offset(), &(FORMAT.read)(value));
        }
    }
    let plan = planner.finish();
    let mut facts = Facts::default();
    let mut writer = None;
    let mut out = Output::new(Style::Compact, Style::Compact, "session");
    let mut written = Vec::new();
    for is_written in [false, true] {
        for line in jsonl::lines(input) {
            let Ok(value) = scanner.scan(&line) else { continue };
            let event = (FORMAT.read)(value);
            if event.is_sub_agent() || plan.hides(line.offset()).is_some() {
                continue;
            }
            if !is_written {
                facts.observe(&event);
                continue;
            }
            let writer =
                writer.get_or_insert_with(|| (FORMAT.writer)(&options, std::mem::take(&mut facts)));
            out.start_source(&line, Style::Compact);
            writer.write(&event, &mut out);
            take(&mut out, &mut written);
        }
    }
    if let Some(mut writer) = writer {
        writer.finish(&mut out);
    }
    take(&mut out, &mut written);
    written
}

fn take(out: &mut Output, written: &mut Vec<u8>) {
    while let Some(line) = out.next_emitted() {
        written.extend_from_slice(out.bytes(line));
        written.push(b'\n');
        out.release(line);
    }
}

#[test]
fn real_and_hostile_sessions_are_rewritten_as_valid_ones() {
    for folder in ["real", "clients", "hostile"] {
        for path in files(folder) {
            let input = fs::read(&path).expect("readable");
            let written = rewrite(&input);
            let stop = format_claude_code::validate(&written).into_iter().find(|it| it.stops());
            assert_eq!(stop, None, "{}", path.display());
            let problems = validate(&written);
            let some: Vec<_> = problems.iter().take(3).collect();
            assert!(problems.is_empty(), "{}: {some:?}", path.display());
        }
    }
}

#[test]
fn files_of_other_formats_are_not_ours() {
    let others = ["clients/clido", "clients/sdk", "sdk-dump", "real/marquex+trackgentic"];
    for path in others.into_iter().flat_map(files) {
        let input = fs::read(&path).expect("readable");
        let mut scanner = Scanner::default();
        for line in jsonl::lines(&input) {
            let is_ours = scanner.scan(&line).is_ok_and(FORMAT.detect);
            assert!(!is_ours, "{} at byte {}", path.display(), line.offset());
        }
    }
}
