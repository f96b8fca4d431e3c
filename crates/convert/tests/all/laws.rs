//! Tests laws of conversions with generated sessions. `LAWS_CASES` sets the number for each format,
//! `PROPTEST_CASES` the number for all tests. Without them, each run has the same sessions.

use std::{collections::HashSet, fmt, thread};

use convert::{CarryMode, Conversion, Converted, FORMATS, by_name};
use core_model::{Block, Check, Format, Options, Severity};
use jsonl::Scanner;
use proptest::{
    prelude::*,
    test_runner::{FileFailurePersistence, RngSeed},
};

use crate::shared::{
    difference::Difference,
    leaves::{leaves, unaccounted},
    lines::{Spelling, file},
    made_up::made_up,
    said::{Said, for_each_event},
    sessions::{
        Happening, atif, claude_code, clido, copilot, dump, gemini, happenings, opencode, pi, qwen,
        rollout, wire,
    },
    shown::{shown, shown_document},
    turns::{n_turns, picked},
    ways::{Written, convert, line_targets, others, there_and_back},
};

/// The default number of cases, enough for each change.
const CASES: u32 = 171;

fn config() -> ProptestConfig {
    let is_set = std::env::var_os("PROPTEST_CASES").is_some();
    let default = ProptestConfig::default();
    let of_each = std::env::var("LAWS_CASES").ok().and_then(|text| text.parse::<u32>().ok());
    let of_all = of_each.map(|n| n.saturating_mul(FORMATS.len() as u32));
    ProptestConfig {
        cases: of_all.unwrap_or(if is_set { default.cases } else { CASES * n_turns() as u32 }),
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        max_shrink_iters: 2000,
        // A change is judged by the same sessions as the change before. Longer runs make new ones.
        rng_seed: if of_all.is_none() && !is_set { RngSeed::Fixed(1) } else { RngSeed::Random },
        ..default
    }
}

/// A generated session.
#[derive(Clone)]
struct Session {
    from: &'static Format,
    bytes: Vec<u8>,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} as {}", self.bytes.escape_ascii(), self.from.name)
    }
}

fn spellings() -> impl Strategy<Value = Spelling> {
    prop_oneof![Just(Spelling::Compact), Just(Spelling::Python), Just(Spelling::Spacious)]
}

/// Returns the formats with a generator: all but the ones that are only read.
fn sources() -> Vec<&'static Format> {
    FORMATS.targets().collect()
}

/// Returns the formats whose files are lines. A document ends behind its last record, so that no prefix of
/// it is a document, and its head has facts about the whole session.
fn line_sources() -> Vec<&'static Format> {
    line_targets().collect()
}

/// Returns sessions of any dialect: tidy ones as clients write them, or disordered ones.
fn session(is_tidy: bool) -> impl Strategy<Value = Session> {
    let format = prop::sample::select(sources());
    let spelling = if is_tidy { Just(None).boxed() } else { spellings().prop_map(Some).boxed() };
    (format, any::<bool>(), spelling).prop_flat_map(move |(format, is_split, spelling)| {
        let lines =
            happenings(is_tidy).prop_map(move |all| spelled(format, &all, is_split, spelling));
        file(lines, !is_tidy).prop_map(move |bytes| Session { from: format, bytes })
    })
}

fn spelled(
    format: &Format,
    all: &[Happening],
    is_split: bool,
    spelling: Option<Spelling>,
) -> Vec<String> {
    match format.name {
        "atif" => atif(all, spelling.unwrap_or(Spelling::Compact)),
        "claude-code" => claude_code(all, is_split, spelling.unwrap_or(Spelling::Compact)),
        "clido" => clido(all, spelling.unwrap_or(Spelling::Compact)),
        "sdk-stream" => dump(all, spelling.unwrap_or(Spelling::Python)),
        "codex" => rollout(all, spelling.unwrap_or(Spelling::Compact)),
        "copilot" => copilot(all, spelling.unwrap_or(Spelling::Compact)),
        "gemini" => gemini(all, spelling.unwrap_or(Spelling::Compact)),
        "opencode" => opencode(all, spelling.unwrap_or(Spelling::Compact)),
        "pi" => pi(all, spelling.unwrap_or(Spelling::Compact)),
        "qwen" => qwen(all, spelling.unwrap_or(Spelling::Compact)),
        name => {
            assert_eq!(name, "sdk-stream:wire", "no generator: add one to shared/sessions.rs");
            wire(all, spelling.unwrap_or(Spelling::Compact))
        }
    }
}

fn conversion(from: &'static Format, to: &'static Format, carry: CarryMode) -> Conversion {
    Conversion { formats: FORMATS, from, to, carry, options: Options::default() }
}

fn written(bytes: &[u8], from: &'static Format, to: &'static Format, carry: CarryMode) -> Vec<u8> {
    conversion(from, to, carry).convert(bytes, None).expect("in memory").bytes
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn p1_a_format_into_itself_is_a_copy(Session { from, bytes } in session(false)) {
        for mode in [CarryMode::Inline, CarryMode::Sidecar, CarryMode::None] {
            prop_assert!(written(&bytes, from, from, mode) == bytes);
        }
    }

    #[test]
    fn p2_there_and_back_is_the_source(Session { from, bytes } in session(false)) {
        for to in others(&[from]) {
            for mode in [CarryMode::Inline, CarryMode::Sidecar] {
                let wrong = there_and_back(&bytes, from, to, mode);
                prop_assert!(wrong.is_none(), "{}\n{}", wrong.unwrap_or_default(), text(&bytes));
            }
        }
    }

    #[test]
    fn p2_there_and_back_through_a_third_is_the_source(
        Session { from, bytes } in session(false),
        number in any::<usize>(),
    ) {
        let source = Written { bytes, sidecar: None };
        let chains = others(&[from]).flat_map(|second| {
            others(&[from, second]).map(move |third| (second, third))
        });
        for (second, third) in picked(number, chains, 5) {
            let there = convert(&source, from, second, CarryMode::Inline)?;
            for mode in [CarryMode::Inline, CarryMode::Sidecar] {
                let on = convert(&there, second, third, mode)?;
                let way = format!("{} -> {} -> {}", from.name, second.name, third.name);
                for (to, bytes) in [(from, &source.bytes), (second, &there.bytes)] {
                    let home = convert(&on, third, to, CarryMode::Inline)?.bytes;
                    prop_assert!(home == *bytes, "{way} -> {}, {mode:?}\n{}", to.name, text(&source.bytes));
                }
            }
        }
    }

    #[test]
    fn p3_and_p7_what_is_said_is_the_same_or_the_report_tells(Session { from, bytes } in session(true)) {
        for to in others(&[from]) {
            let Converted { bytes: target, report, .. } =
                conversion(from, to, CarryMode::None).convert(&bytes, None)?;
            let difference = Difference::new(&Said::of(&bytes, from, to), &Said::of(&target, to, to));
            let unreported = difference.unreported(&report);
            prop_assert!(unreported.is_empty(), "to {}: {unreported:?}\n{}", to.name, text(&bytes));
        }
    }

    #[test]
    fn l5_every_string_of_a_source_is_in_the_target_or_told_of(Session { from, bytes } in session(true)) {
        for to in others(&[from]) {
            let Converted { bytes: target, report, .. } = conversion(from, to, CarryMode::None).convert(&bytes, None)?;
            let left = unaccounted(&leaves(&bytes, from), &leaves(&target, to), &report);
            prop_assert!(left.is_empty(), "to {}: {left:?}\n{:?}\n{}\n{}", to.name, report.losses, text(&bytes), text(&target));
        }
    }

    #[test]
    fn l9_every_string_of_a_target_is_in_the_source_or_told_of(Session { from, bytes } in session(false)) {
        for to in others(&[from]) {
            let Converted { bytes: target, report, .. } = conversion(from, to, CarryMode::None).convert(&bytes, None)?;
            let left = made_up(&bytes, &leaves(&bytes, from), &leaves(&target, to), &report);
            prop_assert!(left.is_empty(), "to {}: {left:?}\n{:?}\n{}\n{}", to.name, report.losses, text(&bytes), text(&target));
        }
    }

    #[test]
    fn p4_what_is_written_is_accepted(Session { from, bytes } in session(true)) {
        for to in others(&[from]) {
            for mode in [CarryMode::None, CarryMode::Inline] {
                let target = written(&bytes, from, to, mode);
                let mut problems = Check::file(to, &target);
                // The client drops a response that has only thinking, also from its own files. Copilot
                // does not send thinking without a signature, which the report of the conversion says.
                problems.retain(|problem| !["only-thinking", "thinking"].contains(&problem.rule));
                prop_assert!(problems.is_empty(), "{}: {problems:?}\n{}\n{}", to.name, text(&bytes), text(&target));
            }
        }
    }

    #[test]
    fn p4_nothing_stops_the_client_whatever_the_source(Session { from, bytes } in session(false)) {
        for to in others(&[from]) {
            for mode in [CarryMode::None, CarryMode::Inline] {
                let target = written(&bytes, from, to, mode);
                // An empty source has no file to load.
                if target.is_empty() {
                    continue;
                }
                let mut problems = Check::file(to, &target);
                problems.retain(|problem| problem.severity == Severity::Stops);
                // Lines of the same family are copied with their faults.
                if from.family == to.family {
                    continue;
                }
                prop_assert!(problems.is_empty(), "{}: {problems:?}\n{}\n{}", to.name, text(&bytes), text(&target));
            }
        }
    }

    #[test]
    fn p5_runs_on_any_thread_give_equal_bytes(
        Session { from, bytes } in session(false),
        number in any::<usize>(),
    ) {
        for to in picked(number, others(&[from]), 2) {
            for mode in [CarryMode::Inline, CarryMode::Sidecar] {
                let run = || {
                    conversion(from, to, mode).convert(&bytes, None)
                        .map(|it| (it.bytes, it.sidecar, format!("{:?}", it.report)))
                        .expect("in memory")
                };
                let (one, two) = thread::scope(|scope| {
                    let handles = [scope.spawn(run), scope.spawn(run)];
                    let [one, two] = handles.map(|handle| handle.join().expect("no panic"));
                    (one, two)
                });
                prop_assert_eq!(one, two);
            }
        }
    }

    #[test]
    fn p6_a_prefix_becomes_a_prefix(
        (format, all) in (prop::sample::select(line_sources()), happenings(true)),
        is_split in any::<bool>(),
    ) {
        let whole = spelled(format, &all, is_split, None).join("\n") + "\n";
        for (n, happening) in all.iter().enumerate().skip(1) {
            // Before a prompt, no call is open.
            if !matches!(happening, Happening::Prompt(_)) {
                continue;
            }
            let prefix = spelled(format, &all[..n], is_split, None).join("\n") + "\n";
            prop_assert!(whole.starts_with(&prefix));
            for to in line_targets().filter(|to| to.name != format.name) {
                let [whole, prefix] = [&whole, &prefix]
                    .map(|source| written(source.as_bytes(), format, to, CarryMode::None))
                    .map(|target| lasting_lines(&target));
                prop_assert!(
                    whole.starts_with(&prefix),
                    "to {}\n{}\nis no prefix of\n{}", to.name, prefix.join("\n"), whole.join("\n")
                );
            }
        }
    }

    #[test]
    fn p8_every_result_follows_its_call(Session { from, bytes } in session(false)) {
        for to in others(&[from]) {
            let target = written(&bytes, from, to, CarryMode::None);
            let (mut called, mut answered) = (HashSet::new(), HashSet::new());
            let mut wrong = Vec::new();
            for_each_event(&target, to, |event| {
                for (block, _) in event.message().into_iter().flat_map(|message| message.blocks()) {
                    match block {
                        Block::ToolUse(tool) => {
                            let id = tool.id.decode().into_owned();
                            wrong.extend(answered.contains(&id).then(|| id.clone()));
                            called.insert(id);
                        }
                        Block::ToolResult(result) => {
                            let id = result.tool_use_id.decode().into_owned();
                            if !called.contains(&id) {
                                answered.insert(id);
                            }
                        }
                        _ => {}
                    }
                }
            });
            prop_assert!(wrong.is_empty(), "{wrong:?}\n{}", text(&target));
        }
    }

    #[test]
    fn l12_a_signature_goes_with_its_thinking_or_not_at_all(Session { from, bytes } in session(false)) {
        let known = signed(&bytes, from);
        for to in others(&[from]) {
            for (thinking, signature) in signed(&written(&bytes, from, to, CarryMode::None), to) {
                prop_assert!(known.contains(&(thinking, signature)), "to {}: {}", to.name, text(&bytes));
            }
        }
    }

    #[test]
    fn l13_a_format_is_known_in_any_order_and_spelling_and_torn(Session { from, bytes } in session(true)) {
        let (mut reversed, mut respelt) = (Vec::new(), Vec::new());
        let mut scanner = Scanner::default();
        let values: Vec<&[u8]> = match from.framing.is_document() {
            true => vec![&bytes],
            false => bytes.split(|byte| *byte == b'\n').collect(),
        };
        for value in values {
            let Ok(value) = scanner.scan_slice(value, 0) else { continue };
            let members: Vec<_> = value
                .members()
                .map(|(key, value)| format!("{} : {}", escaped(key), value.raw()))
                .collect();
            let members: Vec<_> = members.iter().rev().map(String::as_str).collect();
            reversed.extend_from_slice(format!("{{{}}}\n", members.join(" ,")).as_bytes());
            jsonl::respell(&mut respelt, value.raw(), jsonl::Style::Python);
            respelt.push(b'\n');
        }
        let torn = [&bytes[..], &bytes[..bytes.len() / 2]].concat();
        let spliced = [&b"{\"type\":\"us"[..], &bytes].concat();
        // A document is written as a whole: no torn line is before it.
        let spliced = (!from.framing.is_document()).then_some(&spliced);
        for other in [&bytes, &reversed, &respelt, &torn].into_iter().chain(spliced) {
            prop_assert_eq!(detected(other), from.name, "{}", text(other));
        }
    }

    #[test]
    fn without_its_carry_a_file_is_what_is_written_without_carries(Session { from, bytes } in session(false)) {
        for to in others(&[from]) {
            let plain = written(&bytes, from, to, CarryMode::None);
            prop_assert!(written(&bytes, from, to, CarryMode::Sidecar) == plain);
            let inline = written(&bytes, from, to, CarryMode::Inline);
            if to.framing.is_document() {
                prop_assert!(shown_document(&inline, to) == plain, "to {}", to.name);
                continue;
            }
            let mut inline = shown(&inline);
            if !to.limits.filler_record.is_empty() {
                inline = inline.replace(&format!("{}}}\n", to.limits.filler_record), "");
            }
            prop_assert!(inline.as_bytes() == plain, "to {}", to.name);
        }
    }

    #[test]
    fn an_edit_of_any_byte_of_a_written_file_harms_no_more_than_its_line(
        Session { from, bytes } in session(true),
        place in any::<prop::sample::Index>(),
        byte in prop_oneof![Just(b'x'), Just(b'"'), Just(b'\\'), Just(b'}'), Just(b'\n'), any::<u8>()],
    ) {
        for to in others(&[from]) {
            let mut target = written(&bytes, from, to, CarryMode::Inline);
            let at = place.index(target.len());
            target[at] = byte;
            // Any input: no panic, and the restored file consists of lines.
            let home = written(&target, to, from, CarryMode::Inline);
            let is_whole = from.framing.is_document() || home.ends_with(b"\n");
            prop_assert!(home.is_empty() || is_whole);
        }
    }
}

/// Returns the signed thinking of a file, with its signatures.
fn signed(bytes: &[u8], format: &Format) -> HashSet<(String, String)> {
    let mut signed = HashSet::new();
    for_each_event(bytes, format, |event| {
        for (block, _) in event.message().into_iter().flat_map(|message| message.blocks()) {
            if let Block::Thinking { text, signature: Some(signature) } = block
                && !signature.is_empty()
            {
                signed.insert((text.decode().into_owned(), signature.decode().into_owned()));
            }
        }
    });
    signed
}

/// Returns a key with its first character as an escape.
fn escaped(key: jsonl::Text<'_>) -> String {
    let key = key.decode();
    let mut chars = key.chars();
    let first = chars.next().map_or(String::new(), |char| format!("\\u{:04x}", u32::from(char)));
    format!("\"{first}{}\"", chars.as_str())
}

fn detected(bytes: &[u8]) -> String {
    match convert::detect(&mut convert::Source::new(std::io::Cursor::new(bytes))) {
        Ok(convert::Detected::Format(format)) => format.name.to_owned(),
        other => format!("{other:?}"),
    }
}

/// Returns the lines that do not have facts about the whole session.
fn lasting_lines(target: &[u8]) -> Vec<String> {
    let lines = String::from_utf8_lossy(target);
    let derived = [
        "{\"type\":\"meta\"",
        "{\"type\":\"result\"",
        "{\"type\":\"title\"",
        "{\"$set\":{\"summary\"",
        "{\"type\":\"ai-title\"",
        "{\"type\":\"custom-title\"",
        "{\"type\":\"session_info\"",
        "\"type\":\"task_complete\"",
        "\"type\":\"thread_name_updated\"",
        "{\"type\":\"permission-mode\"",
        "\"subtype\":\"init\"",
        "{\"subtype\": \"init\"",
        "{\"subtype\": \"success\"",
        "\"subtype\":\"turn_duration\"",
        "{\"subtype\": \"error_during_execution\"",
    ];
    // `str::contains` is compiled without optimization here, and would take a third of the time of the tests.
    let has = |line: &str, start: &str| memchr::memmem::find(line.as_bytes(), start.as_bytes());
    let is_lasting = |line: &&str| !derived.iter().any(|start| has(line, start).is_some());
    lines.lines().filter(is_lasting).map(str::to_owned).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn made_up_sessions_are_of_their_formats() {
    use proptest::{strategy::ValueTree, test_runner::TestRunner};
    let mut runner = TestRunner::deterministic();
    let mut n_blocks = 0;
    for _ in 0..50 {
        let Session { from: format, bytes } =
            session(true).new_tree(&mut runner).expect("one").current();
        let said = Said::of(&bytes, format, format);
        n_blocks += said.calls.len() + said.results.len() + said.thinking.len();
        assert!(!said.user.is_empty() || format.name.ends_with("wire"), "{}", text(&bytes));
        for problem in Check::file(format, &bytes) {
            assert!(!problem.stops(), "{}: {problem}\n{}", format.name, text(&bytes));
        }
    }
    assert!(n_blocks > 100, "{n_blocks}");
    assert!(by_name("clido").is_some());
}
