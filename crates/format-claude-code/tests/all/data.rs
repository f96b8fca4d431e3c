//! Tests over the shared data, if it exists: nothing panics, and written transcripts break no rule.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use core_model::{CompactionRule, ErrorPolicy, Facts, Messages, Options, Output};
use format_claude_code::{ChainRule, FORMAT, Transcript};
use jsonl::{Scanner, Style};

use crate::shared::written::validate;
use crate::skipped::say_skipped;

fn files(folder: &str) -> Vec<PathBuf> {
    let data = match std::env::var_os("CONVERT_DATA") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    };
    let mut files = Vec::new();
    let mut folders = vec![data.join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { &mut folders } else { &mut files }.push(path);
        }
    }
    if files.is_empty() {
        say_skipped(format_args!("no data in {}", data.display()));
    }
    files
}

/// Writes the conversation of a transcript as a new one, without sub-agents.
fn rewrite(input: &[u8]) -> Vec<u8> {
    let mut scanner = Scanner::default();
    let options = Options::default();
    let mut planner = FORMAT.planner.expect("has one")(&options);
    for line in jsonl::lines(input) {
        if let Ok(value) = scanner.scan(&line) {
            planner.observe(line.offset(), &FORMAT.first_event(value));
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
            let event = FORMAT.first_event(value);
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

#[test]
fn questions_have_answers_that_agree() {
    let paths: Vec<PathBuf> = ["real", "clients", "hostile"].into_iter().flat_map(files).collect();
    if paths.is_empty() {
        eprintln!("the shared data is not at hand: nothing is asked");
    }
    for path in paths {
        let transcript = Transcript::open(&path).expect("readable");
        let name = path.display();
        let n_entries = transcript.n_entries() as u64;
        assert_eq!(transcript.count_by_type().total(), n_entries, "{name}");
        let overview = transcript.overview();
        assert_eq!(overview.n_events, n_entries, "{name}");
        let flagged = transcript.find_errors(ErrorPolicy::Flag).len() as u64;
        assert_eq!(overview.errors.n_tool, flagged, "{name}");
        let runs = transcript.tool_runs();
        let called: HashSet<&str> =
            runs.iter().filter(|run| run.called.is_some()).map(|run| run.id.as_str()).collect();
        assert_eq!(overview.n_tool_calls, called.len() as u64, "{name}");
        let generations = transcript.generations(CompactionRule::Any);
        assert_eq!(generations.iter().map(|it| it.n_events).sum::<u64>(), n_entries, "{name}");
        let (mut messages, mut n_lines, mut n_said) = (Messages::default(), 0, 0);
        transcript.for_each(|entry| {
            n_lines += u64::from(entry.event.message().is_some());
            let said = messages.push(entry.place, &entry.event);
            n_said += said.iter().map(|said| said.n_lines).sum::<u64>();
        });
        n_said += messages.finish().iter().map(|said| said.n_lines).sum::<u64>();
        assert_eq!(n_said, n_lines, "{name}");
        // The client's rule hides no message that the SDK shows. Of two copies, either may be
        // shown.
        let mut scanner = Scanner::default();
        let mut ids = |rule| -> HashSet<String> {
            let chain = transcript.active_chain(rule).into_iter();
            let mut id = |idx| {
                let entry = transcript.entry(idx, &mut scanner)?;
                Some(entry.event.context.uuid?.decode().into_owned())
            };
            chain.filter_map(&mut id).collect()
        };
        let (sdk, cli) = (ids(ChainRule::Sdk), ids(ChainRule::Cli));
        assert!(sdk.is_subset(&cli), "{name}: {:?}", sdk.difference(&cli));
    }
}
