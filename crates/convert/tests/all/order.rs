//! Tests of the order and the start of a conversation: it is the one that the client would send.

use convert::{CarryMode, Conversion, Converted, FORMATS, Report, Sidecar, by_name};
use core_model::{Block, Format, LossKind, Options};

use crate::shared::{
    fixtures::{Fixture, fixtures},
    parallel::check_all,
    said::for_each_event,
};

fn compacted() -> Options {
    Options { from_last_compaction: true, ..Options::default() }
}

fn convert(
    bytes: &[u8],
    ways: (&'static Format, &'static Format),
    carry: CarryMode,
    options: Options,
) -> Converted {
    let conversion = Conversion { formats: FORMATS, from: ways.0, to: ways.1, carry, options };
    conversion.convert(bytes, None).expect("in memory")
}

/// Returns the texts of the messages of a file.
fn words(bytes: &[u8], format: &Format) -> Vec<String> {
    let mut words = Vec::new();
    for_each_event(bytes, format, |event| {
        for (block, _) in event.message().into_iter().flat_map(|message| message.blocks()) {
            if let Block::Text(text) = block {
                words.push(text.decode().into_owned());
            }
        }
    });
    words
}

fn others() -> impl Iterator<Item = &'static Format> {
    FORMATS.targets().filter(|format| format.family != "claude-code")
}

fn claude_code() -> &'static Format {
    by_name("claude-code").expect("a format")
}

fn fixture(name: &str) -> Vec<u8> {
    let found = fixtures().into_iter().find(|fixture| fixture.name == name);
    found.expect(name).bytes
}

/// The history restarts at the boundary. Preserved messages are kept verbatim after the summary.
#[test]
fn from_the_last_compaction_on_it_is_what_the_client_sends() {
    let source = fixture("claude-code/compaction.jsonl");
    let summary =
        "This session is being continued from a previous conversation. They talked.".to_owned();
    for to in others() {
        let ways = (claude_code(), to);
        let Converted { bytes: target, report, .. } =
            convert(&source, ways, CarryMode::None, compacted());
        let expected = [&summary, "Very long.", "Go on", "Going on."];
        assert_eq!(words(&target, to), expected, "{}", to.name);
        let lost: Vec<_> = report
            .losses
            .iter()
            .filter(|(kind, field, _)| (*kind, *field) == (LossKind::Dropped, "compacted"))
            .map(|(_, _, loss)| loss.places.iter().map(|place| place.line).collect::<Vec<_>>())
            .collect();
        assert_eq!(lost, [[1]], "{}", to.name);
        let target = convert(&source, ways, CarryMode::None, Options::default()).bytes;
        let expected = ["A long talk", "Very long.", &summary, "Go on", "Going on."];
        assert_eq!(words(&target, to), expected, "{}", to.name);
    }
}

/// A compaction of Codex before 0.59 keeps the user's messages, as texts before its summary.
#[test]
fn a_compaction_of_codex_that_replaces_nothing_keeps_the_messages_of_the_user() {
    let source = fixture("codex/compaction-without-replacement.jsonl");
    let codex = by_name("codex").expect("a format");
    let sent = ["One", "Summary of one.", "Two", "2"];
    for to in FORMATS.targets().filter(|format| format.family != "codex") {
        let lost = |report: &Report, kind: LossKind, field: &str| -> Vec<u64> {
            let losses = report.losses.iter();
            let found = losses.filter(|(other, name, _)| (*other, *name) == (kind, field));
            found.flat_map(|(_, _, loss)| loss.places.iter().map(|place| place.line)).collect()
        };
        for carry in [CarryMode::None, CarryMode::Inline] {
            let Converted { bytes: target, report, .. } =
                convert(&source, (codex, to), carry, compacted());
            assert_eq!(words(&target, to), sent, "{}", to.name);
            // A client that resumes a summary cuts off what is before it.
            for_each_event(&target, to, |event| {
                let is_summary = event.message().is_some_and(|message| message.is_summary);
                assert!(!is_summary, "{}: {}", to.name, event.value.raw().as_str());
            });
            // OpenCode has no place for the notice of line 6, whose type has the same name.
            let gone = lost(&report, LossKind::Dropped, "compacted");
            assert_eq!(
                gone.iter().filter(|line| **line != 6).collect::<Vec<_>>(),
                [&5],
                "{}",
                to.name
            );
            let flag = lost(&report, LossKind::Flattened, "isCompactSummary");
            assert_eq!(flag, [6], "{}", to.name);
            if carry == CarryMode::Inline {
                let home = convert(&target, (to, codex), carry, Options::default()).bytes;
                assert!(home == source, "{}", to.name);
            }
        }
        let there = Conversion {
            formats: FORMATS,
            from: codex,
            to,
            carry: CarryMode::Sidecar,
            options: compacted(),
        };
        let back = Conversion { from: to, to: codex, options: Options::default(), ..there.clone() };
        let Converted { bytes: target, sidecar, .. } =
            there.convert(&source, None).expect("in memory");
        assert_eq!(words(&target, to), sent, "{}", to.name);
        let sidecar = Sidecar::read(&*sidecar.expect("a sidecar")).expect("a sidecar");
        let home = back.convert(&target, Some(sidecar)).expect("in memory").bytes;
        assert!(home == source, "{}", to.name);
    }
}

/// Messages follow the chain of parents, not the order of lines in the file.
#[test]
fn what_follows_a_line_that_comes_later_in_the_file_is_said_after_it() {
    let line = |uuid: &str, parent: &str| {
        format!(
            r#"{{"parentUuid":{parent},"type":"user","uuid":"{uuid}","sessionId":"s","message":{{"role":"user","content":"{uuid}"}}}}"#
        ) + "\n"
    };
    let lines = [
        line("a", "null"),
        line("d", "\"c\""),
        line("c", "\"b\""),
        line("b", "\"a\""),
        line("e", "\"d\""),
    ];
    let source = lines.concat();
    for to in others() {
        let ways = (claude_code(), to);
        let Converted { bytes: target, report, .. } =
            convert(source.as_bytes(), ways, CarryMode::Inline, Options::default());
        assert_eq!(words(&target, to), ["a", "b", "c", "d", "e"], "{}", to.name);
        assert_eq!(report.lines_in, 5);
        let home =
            convert(&target, (to, claude_code()), CarryMode::Inline, Options::default()).bytes;
        assert_eq!(String::from_utf8_lossy(&home), source, "{}", to.name);
    }
}

/// A line is deferred by at most the distance that restoring allows.
#[test]
fn a_line_whose_parent_is_far_away_is_said_where_it_stands() {
    let line = |uuid: &str, parent: &str, size: usize| {
        let words = uuid.repeat(size);
        format!(
            r#"{{"parentUuid":{parent},"type":"user","uuid":"{uuid}","sessionId":"s","message":{{"role":"user","content":"{words}"}}}}"#
        ) + "\n"
    };
    let to = by_name("clido").expect("a format");
    for (size, expected) in [(5_000_000, ["a", "c", "b"]), (3_000_000, ["a", "b", "c"])] {
        let lines = [line("a", "null", 1), line("c", "\"b\"", size), line("b", "\"a\"", size)];
        let source = lines.concat();
        let target =
            convert(source.as_bytes(), (claude_code(), to), CarryMode::Inline, Options::default())
                .bytes;
        let starts: Vec<_> = words(&target, to).iter().map(|words| words[..1].to_owned()).collect();
        assert_eq!(starts, expected);
        let home =
            convert(&target, (to, claude_code()), CarryMode::Inline, Options::default()).bytes;
        assert!(home == source.as_bytes(), "{size}");
    }
}

#[test]
fn every_fixture_comes_back_though_only_a_part_of_it_is_shown() {
    let sessions: Vec<Fixture> =
        fixtures().into_iter().filter(|fixture| fixture.format == "claude-code").collect();
    check_all(
        &sessions,
        |fixture| fixture.name.clone(),
        |fixture| {
            let mut wrong = Vec::new();
            for to in others() {
                for carry in [CarryMode::Inline, CarryMode::Sidecar] {
                    let ways = (claude_code(), to);
                    let Converted { bytes: target, sidecar, .. } =
                        convert(&fixture.bytes, ways, carry, compacted());
                    let back = Conversion {
                        formats: FORMATS,
                        from: to,
                        to: claude_code(),
                        carry,
                        options: Options::default(),
                    };
                    let sidecar = sidecar.and_then(|bytes| Sidecar::read(&*bytes).ok());
                    let home = back.convert(&target, sidecar).expect("in memory").bytes;
                    if home != fixture.bytes {
                        wrong.push(format!("{} {carry:?}", to.name));
                    }
                }
            }
            wrong
        },
    );
}

/// A session of 12 MB that begins with its last record, as no client writes it. On the way back, its
/// records wait in a file until the first record of the source comes.
#[test]
fn a_long_session_in_backward_order_comes_back() {
    const N_RECORDS: usize = 42_000;
    let uuid = |n: usize| format!("00000000-0000-4000-8000-{n:012x}");
    let record = |n: usize| {
        let parent = if n == 0 { "null".to_owned() } else { format!("\"{}\"", uuid(n - 1)) };
        format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"cwd\":\"/w\",\"sessionId\":\"{}\",\
             \"version\":\"2.1.0\",\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\
             \"{n}\"}},\"uuid\":\"{}\",\"timestamp\":\"2026-03-21T14:30:01.500Z\"}}\n",
            uuid(0),
            uuid(n)
        )
    };
    let source: String = (0..N_RECORDS).rev().map(record).collect();
    let clido = by_name("clido").expect("a format");
    for carry in [CarryMode::Inline, CarryMode::Sidecar] {
        let there = convert(source.as_bytes(), (claude_code(), clido), carry, Options::default());
        assert_eq!(words(&there.bytes, clido).first().map(String::as_str), Some("1"));
        let sidecar = there.sidecar.map(|bytes| Sidecar::read(&bytes[..]).expect("a sidecar"));
        let conversion = Conversion {
            formats: FORMATS,
            from: clido,
            to: claude_code(),
            carry: CarryMode::None,
            options: Options::default(),
        };
        let back = conversion.convert(&there.bytes, sidecar).expect("in memory");
        assert!(back.bytes == source.as_bytes(), "{carry:?}");
    }
}

/// The head of a document stays if a record was added before the first one.
#[test]
fn a_record_added_first_keeps_the_head_of_a_document() {
    let source = fixture("opencode/one-call.json");
    let opencode = by_name("opencode").expect("a format");
    let there =
        convert(&source, (opencode, claude_code()), CarryMode::Inline, Options::default()).bytes;
    let changed = [b"{}\n", &*there].concat();
    let back =
        convert(&changed, (claude_code(), opencode), CarryMode::Inline, Options::default()).bytes;
    assert!(jsonl::validate(&back).is_ok(), "{}", String::from_utf8_lossy(&back));
    let end = source.windows(10).position(|part| part == b"\"messages\"").expect("messages");
    assert_eq!(back.get(..end), source.get(..end));
}
