//! Tests of restoring written files that were edited, cut or continued.

use convert::{CarryMode, Conversion, Converted, EntryKind, FORMATS, Report, Sidecar, by_name};
use core_model::{Check, Field, Format, Options};
use jsonl::Scanner;

use crate::shared::{
    fixtures::fixtures,
    pieces::pieces,
    shown::shown,
    turns::chosen,
    ways::line_targets,
    written::{WrittenLine, joined, written_lines},
};

fn format(name: &str) -> &'static Format {
    by_name(name).expect("a format")
}

fn conversion(from: &'static Format, to: &'static Format) -> Conversion {
    Conversion { formats: FORMATS, from, to, carry: CarryMode::Inline, options: Options::default() }
}

fn there(source: &[u8], from: &str, to: &str) -> Vec<WrittenLine> {
    let target =
        conversion(format(from), format(to)).convert(source, None).expect("in memory").bytes;
    written_lines(&target)
}

fn home(target: &[u8], from: &str, to: &str) -> (Vec<u8>, Report) {
    let Converted { bytes: restored, report, .. } =
        conversion(format(from), format(to)).convert(target, None).expect("in memory");
    (restored, report)
}

fn fixture(name: &str) -> Vec<u8> {
    let found = fixtures().into_iter().find(|fixture| fixture.name == name);
    found.expect(name).bytes
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    jsonl::lines(bytes).map(|line| line.bytes()).collect()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

/// Replaces `old` by `new` in the visible part of a line, as an editor would.
fn edit(line: &mut WrittenLine, old: &str, new: &str) {
    let edited = line.visible.replacen(old, new, 1);
    assert_ne!(edited, line.visible, "{old} is not in {}", line.visible);
    let whole = text(&line.bytes).replacen(old, new, 1);
    line.visible = edited;
    line.bytes = whole.into_bytes();
}

fn position(lines: &[WrittenLine], words: &str) -> usize {
    let found = lines.iter().position(|line| line.visible.contains(words));
    found.expect(words)
}

/// Asserts that two files differ in exactly one line, and returns it.
fn only_other<'l>(source: &'l [u8], restored: &'l [u8]) -> (&'l str, &'l str) {
    let (source, restored) = (lines(source), lines(restored));
    assert_eq!(source.len(), restored.len(), "as many lines");
    let mut others = source.iter().zip(&restored).filter(|(one, other)| one != other);
    let (one, other) = others.next().expect("one differs");
    assert_eq!(others.count(), 0, "only one differs");
    (text(one), text(other))
}

#[test]
fn an_edited_line_is_converted_and_the_others_are_untouched() {
    let source = fixture("claude-code/one-tool-call.jsonl");
    for to in line_targets().filter(|to| to.name != "claude-code") {
        let mut target = there(&source, "claude-code", to.name);
        let last = text(lines(&source).last().expect("lines")).to_owned();
        let said = last.split("\"text\":\"").nth(1).and_then(|rest| rest.split('"').next());
        let said = said.expect("the last line says something");
        let at = target.iter().position(|line| {
            // Codex has each text twice, and reads it where the item is.
            let is_repeated = line.visible.contains("\"agent_message\"");
            let is_outcome = line.visible.contains("total_cost_usd");
            line.visible.contains(said) && !is_outcome && !is_repeated
        });
        edit(&mut target[at.expect("said")], said, "Edited words");
        let (restored, report) = home(&joined(&target), to.name, "claude-code");
        let (old, new) = only_other(&source, &restored);
        assert_eq!((report.restored.edited, report.restored.gaps), (1, 0), "{}", to.name);
        assert!(new.contains("Edited words") && !new.contains(said), "{new}");
        let mut scanner = Scanner::default();
        let old_line = jsonl::Line::new(old.as_bytes(), 1);
        let old_event = format("claude-code").first_event(scanner.scan(&old_line).expect("JSON"));
        let mut scanner = Scanner::default();
        let new_line = jsonl::Line::new(new.as_bytes(), 1);
        let new_event = format("claude-code").first_event(scanner.scan(&new_line).expect("JSON"));
        let uuid =
            |event: &core_model::Event<'_>| event.context.uuid.map(|it| it.as_str().to_owned());
        assert_eq!(uuid(&new_event), uuid(&old_event), "{}", to.name);
        let parent = |event: &core_model::Event<'_>| match event.context.parent {
            Field::Value(parent) => parent.as_str().to_owned(),
            other => format!("{other:?}"),
        };
        assert_eq!(parent(&new_event), parent(&old_event), "{}", to.name);
        let id = |event: &core_model::Event<'_>| {
            event.message().and_then(|message| message.id).map(|id| id.as_str().to_owned())
        };
        assert_eq!(id(&new_event), id(&old_event), "{}", to.name);
    }
}

#[test]
fn thinking_that_stands_beside_a_message_survives_an_edit_of_the_message() {
    let source = fixture("clido/thinking.jsonl");
    let source = text(&source).replace("Signed.\",\"signature\":\"Er8B", "Alone.");
    let mut lines = there(source.as_bytes(), "clido", "claude-code");
    for words in ["a.txt", "\"Thought."] {
        let at = position(&lines, words);
        edit(&mut lines[at], words, &words.replace('t', "T"));
    }
    let at = position(&lines, "\"Alone.\"");
    edit(&mut lines[at], "Alone", "All one");
    let target = joined(&lines);
    let (restored, report) = home(&target, "claude-code", "clido");
    assert_eq!(report.restored.edited, 3, "{}", text(&restored));
    for words in ["Hm.\\nSo.", "a.TxT", "All one.", "ThoughT."] {
        assert!(text(&restored).contains(words), "{words}: {}", text(&restored));
    }
}

#[test]
fn a_line_written_anew_by_another_program_comes_back() {
    let source = fixture("claude-code/one-tool-call.jsonl");
    let mut target = there(&source, "claude-code", "clido");
    let at = position(&target, "assistant_message");
    let value: serde_json::Value = serde_json::from_slice(&target[at].bytes).expect("JSON");
    let mut sorted = serde_json::to_vec_pretty(&value).expect("JSON");
    sorted.retain(|byte| *byte != b'\n');
    sorted.push(b'\n');
    assert_ne!(sorted, target[at].bytes);
    target[at].bytes = sorted;
    let (restored, report) = home(&joined(&target), "clido", "claude-code");
    assert_eq!((report.restored.respelt, report.restored.edited), (1, 0));
    assert!(restored == source);
}

/// Leaves the numbers of a value as Python prints them: `1000.0` for `1e3`.
fn as_it_is(_: &mut serde_json::Value) {}

/// Changes the numbers of a value to numbers that are printed as JavaScript prints them: `1000` for `1e3`.
fn without_fractions(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Array(items) => items.iter_mut().for_each(without_fractions),
        serde_json::Value::Object(members) => members.values_mut().for_each(without_fractions),
        serde_json::Value::Number(number) => {
            if let Some(whole) = number.as_f64().filter(|it| it.fract() == 0.0) {
                *value = (whole as i64).into();
            }
        }
        _ => {}
    }
}

/// A program that reads and writes JSON may spell a number in another way. The value stays the same.
#[test]
fn a_line_with_numbers_written_anew_comes_back() {
    let source = fixture("claude-code/one-tool-call.jsonl");
    let members =
        ["\"limit\":1e3,\"n\":[1.0,2.5,3.0],\"count\":3,", "\"limit\":1e3,\"rate\":0.50,"];
    for (members, to) in members.iter().flat_map(|it| ["clido", "codex", "pi"].map(|to| (it, to))) {
        let source = text(&source).replace("\"input\":{", &format!("\"input\":{{{members}"));
        for carry in [CarryMode::Inline, CarryMode::Sidecar] {
            let conversion =
                |from, to| Conversion { carry, ..conversion(format(from), format(to)) };
            let Converted { bytes, sidecar, .. } =
                conversion("claude-code", to).convert(source.as_bytes(), None).expect("in memory");
            let home = |written: &str| {
                let sidecar = sidecar.as_ref().map(|it| Sidecar::read(&it[..]).expect("read"));
                conversion(to, "claude-code").convert(written.as_bytes(), sidecar).expect("read")
            };
            let written = text(&bytes);
            for spell in [as_it_is, without_fractions] {
                let spelled = written.lines().map(|line| {
                    let mut line: serde_json::Value = serde_json::from_str(line).expect("JSON");
                    spell(&mut line);
                    format!("{line}\n")
                });
                let anew: String = spelled.collect();
                let Converted { bytes: restored, report, .. } = home(&anew);
                let stats = report.restored;
                assert_eq!((stats.edited, stats.added), (0, 0), "{to}: {anew}");
                assert!(restored == source.as_bytes(), "{to}: {anew}");
                assert!(stats.respelt > 0 && !report.wants_attention(), "{to}");
            }
            // Another value is an edit.
            let [old, new] = ["\"limit\":1e3", "\"limit\":1001"];
            let other = written.replace(old, new);
            let other = other.replace(&old.replace('"', "\\\""), &new.replace('"', "\\\""));
            assert!(other != written && home(&other).report.restored.edited > 0, "{to}: {other}");
        }
    }
}

#[test]
fn all_source_lines_of_an_edited_line_are_converted_and_no_others() {
    let source = fixture("claude-code/response-over-three-lines.jsonl");
    let mut target = there(&source, "claude-code", "clido");
    let at = position(&target, "I will look.");
    assert_eq!(target[at].carry().entries().count(), 3, "one response over three lines");
    edit(&mut target[at], "I will look.", "I will see.");
    let (restored, report) = home(&joined(&target), "clido", "claude-code");
    assert_eq!(report.restored.edited, 1);
    let (source, restored) = (lines(&source), lines(&restored));
    assert_eq!(restored[0], source[0]);
    assert_eq!(restored[restored.len() - 2..], source[source.len() - 2..]);
    let response: Vec<_> = restored[1..restored.len() - 2].iter().map(|line| text(line)).collect();
    // The edited line did not have the signature of the thinking, so the thinking is not in a block any
    // more.
    for words in ["\"Hm.\"", "\"I will see.\"", "\"toolu_01A\""] {
        assert!(response.concat().contains(words), "{words}: {response:?}");
    }
}

#[test]
fn of_parts_one_that_is_missing_or_edited_turns_all_into_conversions() {
    let source = concat!(
        r#"{"type":"meta","session_id":"s","schema_version":1,"start_time":"2026-01-01T00:00:00Z","project_path":"/p"}"#,
        "\n",
        r#"{"type":"user_message","role":"user","content":[{"text":"First words","type":"text"}]}"#,
        "\n",
        r#"{"type":"assistant_message","content":[{"text":"One part","type":"text"},{"text":"Another part","type":"text"},{"text":"The third part","type":"text"}],"extra":[1,2,3,4,5,6,7,8,9]}"#,
        "\n",
        r#"{"type":"user_message","role":"user","content":[{"text":"Last words","type":"text"}]}"#,
        "\n",
    );
    let check = |target: &[WrittenLine], expected: &[&str], gone: &str| {
        let (restored, report) = home(&joined(target), "claude-code", "clido");
        assert!(report.restored.edited > 0, "{report:?}");
        let restored = shown(&restored);
        for words in expected {
            assert_eq!(restored.matches(words).count(), 1, "{words}: {restored}");
        }
        assert!(!restored.contains(gone) && !restored.contains("\"extra\""), "{restored}");
        for line in source.lines().filter(|line| !line.contains("assistant_message")) {
            assert!(restored.lines().any(|restored| restored == line), "{line}: {restored}");
        }
    };
    let mut target = there(source.as_bytes(), "clido", "claude-code");
    let at = position(&target, "Another part");
    edit(&mut target[at], "Another part", "Edited");
    check(&target, &["One part", "Edited", "The third part"], "Another part");

    let mut target = there(source.as_bytes(), "clido", "claude-code");
    target.remove(position(&target, "Another part"));
    check(&target, &["One part", "The third part"], "Another part");

    let mut target = there(source.as_bytes(), "clido", "claude-code");
    let at = position(&target, "The third part");
    target[at].bytes = format!("{}\n", target[at].visible).into_bytes();
    check(&target, &["One part", "Another part"], "\"extra\"");
}

/// Unsigned thinking moves to the entry of the next text of the assistant.
#[test]
fn a_line_may_say_one_source_line_whole_and_a_part_of_another() {
    let line = |content: &str| {
        format!(
            r#"{{"content": [{content}], "model": "m", "parent_tool_use_id": null, "message_id": "msg_1", "usage": {{}}}}"#
        ) + "\n"
    };
    let source = [
        "{\"type\": \"user_message\", \"content\": \"Hi\", \"timestamp\": \"2026-01-01T10:00:00Z\"}\n",
        &line(r#"{"thinking": "Thoughts of mine", "signature": ""}"#),
        &line(r#"{"text": "The first words"}, {"text": "The second words"}"#),
        &line(r#"{"text": "The last words"}"#),
    ]
    .concat();
    let target = there(source.as_bytes(), "sdk-stream", "claude-code");
    let at = position(&target, "Thoughts of mine");
    assert_eq!(at, position(&target, "The first words"));
    assert!(home(&joined(&target), "claude-code", "sdk-stream").0 == source.as_bytes());

    let mut edited = there(source.as_bytes(), "sdk-stream", "claude-code");
    edit(&mut edited[at], "The first words", "Edited words");
    let (restored, report) = home(&joined(&edited), "claude-code", "sdk-stream");
    let restored = shown(&restored);
    assert!(report.restored.edited > 0);
    for words in ["Edited words", "The second words", "The last words"] {
        assert_eq!(restored.matches(words).count(), 1, "{words}: {restored}");
    }
}

#[test]
fn held_entries_survive_an_edit_of_their_line() {
    let rider = r#"{"type":"future","note":"rides along"}"#;
    let source = text(&fixture("clido/plain.jsonl")).to_owned();
    let mut source_lines: Vec<&str> = source.lines().collect();
    source_lines.insert(2, rider);
    source_lines.push(rider);
    let source = source_lines.join("\n") + "\n";
    for to in line_targets().filter(|to| to.name != "clido") {
        let mut target = there(source.as_bytes(), "clido", to.name);
        for line in &mut target {
            let before = line.bytes.clone();
            line.bytes = text(&before).replacen("\"4\"", "\"Four\"", 1).into_bytes();
        }
        let (restored, report) = home(&joined(&target), to.name, "clido");
        assert!(report.restored.edited > 0, "{}", to.name);
        assert_eq!(report.restored.unreadable, 0, "{}", to.name);
        assert_eq!(text(&restored).matches(rider).count(), 2, "{}: {}", to.name, text(&restored));
        assert!(text(&restored).contains("\"Four\""), "{}", to.name);
    }
}

#[test]
fn trailing_held_entries_are_on_the_last_line() {
    let source = text(&fixture("clido/plain.jsonl")).to_owned() + "{\"type\":\"future\"}\n\n  \n";
    for to in line_targets().filter(|to| to.name != "clido") {
        let target = there(source.as_bytes(), "clido", to.name);
        let last = target.last().expect("lines");
        let n_held = last.carry().entries().filter(|entry| entry.kind == EntryKind::Held).count();
        assert!(n_held >= 3, "{}: {n_held}", to.name);
    }
}

#[test]
fn a_deleted_line_leaves_a_gap_that_is_reported_and_not_filled() {
    for fixture in fixtures() {
        let Some(from) = by_name(&fixture.format).filter(|from| !from.framing.is_document()) else {
            // `document.rs` has the tests of documents whose targets are edited.
            continue;
        };
        let targets = line_targets().filter(|to| to.name != from.name);
        for to in chosen(&fixture.name, targets, 1) {
            let target = there(&fixture.bytes, from.name, to.name);
            for deleted in 1..target.len() {
                let is_own = |line: &WrittenLine| {
                    let mut entries = line.carry().entries();
                    entries.any(|entry| entry.kind == EntryKind::Own && entry.n_parts == 1)
                };
                let rest = target.iter().enumerate().filter(|(n, _)| *n != deleted);
                let rest = joined(rest.map(|(_, line)| line));
                let (restored, report) = home(&rest, to.name, from.name);
                let name = format!("{} without line {deleted} of {}", fixture.name, to.name);
                if target[deleted].carry().entries().next().is_none() {
                    assert!(restored == fixture.bytes, "{name}");
                    continue;
                }
                // A piece of a damaged line without its neighbor becomes a line.
                let source = pieces(&fixture.bytes, Some(from));
                let mut wanted = source.iter().map(|piece| piece.line.content());
                let mut n_converted = 0;
                for line in pieces(&restored, Some(from)) {
                    let line = line.line.content();
                    // The remaining lines keep their order. Parts of a line are converted.
                    n_converted += u64::from(!wanted.clone().any(|it| it == line));
                    if wanted.clone().any(|it| it == line) {
                        _ = wanted.by_ref().find(|it| *it == line);
                    }
                }
                // Records may be shown in another order than that of the source: after the last record of the
                // source there is no gap.
                let last = |line: &WrittenLine| line.carry().entries().map(|it| it.offset).max();
                let goes_on =
                    target[deleted + 1..].iter().any(|line| last(line) > last(&target[deleted]));
                if is_own(&target[deleted]) && goes_on {
                    assert!(report.restored.gaps > 0, "{name}: {:?}", report.restored);
                }
                assert!(report.restored.missing + report.restored.cut > 0, "{name}");
                assert!(n_converted == 0 || report.restored.edited > 0, "{name}: {n_converted}");
            }
        }
    }
}

/// Editors add a blank line at the end, or between lines. It is no message.
#[test]
fn a_blank_line_that_was_added_changes_nothing() {
    let blank_lines = ["\n", " \t\n", "\r\n"];
    for name in ["claude-code/one-tool-call.jsonl", "codex/apply-patch.jsonl"] {
        let (folder, _) = name.split_once('/').expect("a folder");
        let plain = fixture(name);
        let mut source = b"\n".to_vec();
        for line in lines(&plain) {
            source.extend_from_slice(line);
            source.extend_from_slice(b" \n");
        }
        for (source, carry) in [
            (&plain, CarryMode::Inline),
            (&source, CarryMode::Inline),
            (&plain, CarryMode::Sidecar),
            (&source, CarryMode::Sidecar),
        ] {
            for to in line_targets().filter(|to| to.name != folder) {
                let there = Conversion { carry, ..conversion(format(folder), to) };
                let Converted { bytes, sidecar, .. } =
                    there.convert(source, None).expect("in memory");
                let written = lines(&bytes);
                for at in 0..=written.len() {
                    let (before, after) = written.split_at(at);
                    let added = blank_lines[at % blank_lines.len()].as_bytes();
                    let target = [&before.concat(), added, &after.concat()].concat();
                    let sidecar =
                        sidecar.as_deref().map(|it| Sidecar::read(it).expect("a sidecar"));
                    let back = conversion(to, format(folder));
                    let Converted { bytes, report, .. } =
                        back.convert(&target, sidecar).expect("in memory");
                    let stats = report.restored;
                    let way = format!("{name} {} {carry:?} {at}: {stats:?}", to.name);
                    assert!(bytes == *source, "{way}");
                    assert!(stats.added == 0 && !stats.is_not_the_source(), "{way}");
                }
            }
        }
    }
}

#[test]
fn a_line_added_in_the_middle_is_converted_where_it_stands() {
    let source = fixture("claude-code/two-session-ids.jsonl");
    let mut target = there(&source, "claude-code", "clido");
    let added =
        r#"{"type":"user_message","role":"user","content":[{"text":"Added words","type":"text"}]}"#;
    let at = position(&target, "user_message") + 1;
    let bytes = format!("{added}\n").into_bytes();
    target.insert(at, WrittenLine { bytes, visible: added.to_owned(), carry: None });
    let (restored, report) = home(&joined(&target), "clido", "claude-code");
    assert_eq!((report.restored.added, report.restored.edited), (1, 0));
    let restored = lines(&restored);
    let new = restored.iter().position(|line| text(line).contains("Added words")).expect("there");
    let others: Vec<_> = restored.iter().enumerate().filter(|(n, _)| *n != new).collect();
    assert!(others.iter().map(|(_, line)| **line).eq(lines(&source)));
}

/// The head of a document holds the lines that no step shows, also the last ones. They stay at their places.
#[test]
fn a_step_added_to_a_document_moves_no_other_line() {
    let added = r#"{"step_id":0,"timestamp":"2026-01-01T00:00:00.000Z","source":"agent","message":"Added words"},"#;
    for name in ["one-run.jsonl", "two-runs.jsonl", "tools.jsonl"] {
        let source = fixture(&format!("codex-stream/{name}"));
        let there = conversion(format("codex-stream"), format("atif"));
        let document = there.convert(&source, None).expect("in memory").bytes;
        let document = text(&document);
        let steps: Vec<usize> = document.match_indices("{\"step_id\":").map(|it| it.0).collect();
        assert!(steps.len() > 1, "{name}");
        for at in steps {
            let (before, after) = document.split_at(at);
            let edited = [before, added, after].concat();
            let (restored, report) = home(edited.as_bytes(), "atif", "codex-stream");
            let stats = report.restored;
            assert!(stats.added == 1 && !stats.is_not_the_source(), "{name} {at}: {stats:?}");
            let restored = lines(&restored);
            let others = restored.iter().filter(|line| !text(line).contains("Added words"));
            assert!(others.copied().eq(lines(&source)), "{name} {at}");
        }
    }
}

/// Returns lines that the client of a format would append: a prompt and an answer.
fn continuation(format: &Format, target: &[u8]) -> String {
    let mut parent = String::new();
    let mut scanner = Scanner::default();
    for line in jsonl::lines(target) {
        let Ok(value) = scanner.scan(&line) else { continue };
        let event = format.first_event(value);
        if event.message().is_some()
            && let Some(uuid) = event.context.uuid
        {
            parent = uuid.decode().into_owned();
        }
    }
    let lines: &[&str] = match format.name {
        "clido" => &[
            r#"{"type":"user_message","role":"user","content":[{"text":"And more?","type":"text"}]}"#,
            r#"{"type":"assistant_message","content":[{"text":"Much more.","type":"text"}]}"#,
            r#"{"type":"result","exit_status":"completed","total_cost_usd":0.1,"num_turns":2,"duration_ms":900}"#,
        ],
        "claude-code" => &[
            r#"{"parentUuid":"PARENT","isSidechain":false,"userType":"external","cwd":"/p","sessionId":"s","version":"2.1.330","gitBranch":"","type":"user","message":{"role":"user","content":"And more?"},"uuid":"00000000-0000-4000-8000-000000000001","timestamp":"2030-02-03T10:00:01.000Z"}"#,
            r#"{"parentUuid":"00000000-0000-4000-8000-000000000001","isSidechain":false,"userType":"external","cwd":"/p","sessionId":"s","version":"2.1.330","gitBranch":"","message":{"model":"claude-opus-4-5-20251101","id":"msg_new","type":"message","role":"assistant","content":[{"type":"text","text":"Much more."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":2}},"requestId":"req_1","type":"assistant","uuid":"00000000-0000-4000-8000-000000000002","timestamp":"2030-02-03T10:00:02.000Z"}"#,
        ],
        "codex" => &[
            r#"{"timestamp":"2030-02-03T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"And more?"}]}}"#,
            r#"{"timestamp":"2030-02-03T10:00:02.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Much more."}]}}"#,
        ],
        "copilot" => &[
            r#"{"type":"user.message","data":{"content":"And more?"},"id":"f0000000-0000-4000-8000-000000000001","timestamp":"2030-02-03T10:00:01.000Z","parentId":null}"#,
            r#"{"type":"assistant.message","data":{"messageId":"m-new","model":"claude-opus-4-5-20251101","content":"Much more.","toolRequests":[],"apiCallId":"msg_new"},"id":"f0000000-0000-4000-8000-000000000002","timestamp":"2030-02-03T10:00:02.000Z","parentId":"f0000000-0000-4000-8000-000000000001"}"#,
        ],
        "pi" => &[
            r#"{"type":"message","id":"f0000001","parentId":"PARENT","timestamp":"2030-02-03T10:00:01.000Z","message":{"role":"user","content":[{"type":"text","text":"And more?"}],"timestamp":1896343201000}}"#,
            r#"{"type":"message","id":"f0000002","parentId":"f0000001","timestamp":"2030-02-03T10:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Much more."}],"api":"anthropic-messages","provider":"anthropic","model":"claude-opus-4-5-20251101","usage":{"input":1,"output":2,"cacheRead":0,"cacheWrite":0,"totalTokens":3,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":1896343202000}}"#,
        ],
        "gemini" => &[
            r#"{"id":"f0000001","timestamp":"2030-02-03T10:00:01.000Z","type":"user","content":[{"text":"And more?"}]}"#,
            r#"{"id":"f0000002","timestamp":"2030-02-03T10:00:02.000Z","type":"gemini","content":"Much more.","thoughts":[],"model":"gemini-2.5-pro"}"#,
        ],
        "qwen" => &[
            r#"{"uuid":"f0000001","parentUuid":"PARENT","sessionId":"SESSION","timestamp":"2030-02-03T10:00:01.000Z","type":"user","cwd":"/p","message":{"role":"user","parts":[{"text":"And more?"}]}}"#,
            r#"{"uuid":"f0000002","parentUuid":"f0000001","sessionId":"SESSION","timestamp":"2030-02-03T10:00:02.000Z","type":"assistant","cwd":"/p","message":{"role":"model","parts":[{"text":"Much more."}]},"model":"qwen3-coder"}"#,
        ],
        "sdk-stream" => &[
            r#"{"type": "user_message", "content": "And more?", "timestamp": "2030-02-03T10:00:01.000000Z"}"#,
            r#"{"content": [{"text": "Much more."}], "model": "claude-opus-4-5-20251101", "parent_tool_use_id": null}"#,
            r#"{"subtype": "success", "duration_ms": 900, "duration_api_ms": 800, "is_error": false, "num_turns": 1, "session_id": "s", "total_cost_usd": 0.1, "usage": {}, "result": "Much more."}"#,
        ],
        _ => &[
            r#"{"type":"user","message":{"role":"user","content":"And more?"},"parent_tool_use_id":null,"session_id":"s","uuid":"00000000-0000-4000-8000-000000000001","isReplay":true}"#,
            r#"{"type":"assistant","message":{"model":"claude-opus-4-5-20251101","id":"msg_new","type":"message","role":"assistant","content":[{"type":"text","text":"Much more."}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":2}},"parent_tool_use_id":null,"session_id":"s","uuid":"00000000-0000-4000-8000-000000000002"}"#,
            r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":900,"duration_api_ms":800,"num_turns":1,"result":"Much more.","session_id":"s","total_cost_usd":0.1,"usage":{},"modelUsage":{},"permission_denials":[],"uuid":"00000000-0000-4000-8000-000000000003"}"#,
        ],
    };
    (lines.join("\n") + "\n").replace("PARENT", &parent)
}

#[test]
fn a_session_continued_in_the_other_client_comes_home_with_its_new_lines() {
    let mut n_checked = 0;
    for fixture in fixtures() {
        let Some(from) = by_name(&fixture.format) else { continue };
        // A stream of Codex has no place for a prompt. New messages of a document are not behind its old
        // bytes, but behind its last record: `document.rs` has the test.
        if from.is_read_only || from.framing.is_document() {
            continue;
        }
        let targets = line_targets().filter(|to| to.name != from.name);
        for to in chosen(&fixture.name, targets, 3) {
            let name = format!("{} continued in {}", fixture.name, to.name);
            let target = joined(&there(&fixture.bytes, from.name, to.name));
            if target.is_empty() {
                continue;
            }
            let continued = [&target[..], continuation(to, &target).as_bytes()].concat();
            let (restored, report) = home(&continued, to.name, from.name);
            let mut old = fixture.bytes.clone();
            if !old.ends_with(b"\n") {
                old.push(b'\n');
            }
            assert!(restored.starts_with(&old), "{name}: the old part is the source");
            let new = shown(&restored[old.len()..]);
            // Codex says each text twice.
            let says = |words: &str| {
                let lines = new.lines().filter(|line| line.contains(words));
                lines.filter(|line| !line.contains("\"event_msg\"")).count()
            };
            assert_eq!(says("And more?"), 1, "{name}: {new}");
            assert!(says("Much more.") > 0, "{name}: {new}");
            assert!(report.restored.added >= 2, "{name}: {:?}", report.restored);
            assert_eq!((report.restored.edited, report.restored.gaps), (0, 0), "{name}");
            // The new lines have no problem that the old part does not have.
            let problems = Check::all((from.checker)(), &restored);
            let problems: Vec<_> = problems
                .iter()
                .filter(|problem| problem.offset >= old.len() as u64)
                .map(|problem| problem.to_string())
                .collect();
            if fixture.name.contains("plain") || fixture.name.contains("tool") {
                assert!(problems.is_empty(), "{name}: {problems:?}\n{new}");
                n_checked += 1;
            }
            // The result is a session like any other, and can be converted and restored.
            let target = joined(&there(&restored, from.name, to.name));
            assert!(shown(&target).contains("Much more."), "{name}: shown");
            assert!(home(&target, to.name, from.name).0 == restored, "{name}: again");
        }
    }
    assert!(n_checked > 20, "{n_checked}");
}

#[test]
fn new_entries_of_claude_code_follow_the_last_old_one() {
    let source = fixture("claude-code/plain.jsonl");
    for to in line_targets().filter(|to| to.name != "claude-code") {
        let target = joined(&there(&source, "claude-code", to.name));
        let continued = [&target[..], continuation(to, &target).as_bytes()].concat();
        let (restored, _) = home(&continued, to.name, "claude-code");
        let mut scanner = Scanner::default();
        let mut last: Option<String> = None;
        let mut n_entries = 0;
        for line in jsonl::lines(&restored) {
            let event = format("claude-code").first_event(scanner.scan(&line).expect("JSON"));
            let Some(uuid) = event.context.uuid else { continue };
            let parent = event.context.parent.value().map(|it| it.decode().into_owned());
            assert_eq!(parent, last, "{}: {}", to.name, text(line.bytes()));
            let id = event.context.session_id.map(|id| id.decode().into_owned());
            assert_eq!(id.as_deref(), Some("6c70a1d0-9a49-4fae-bf1a-04376caed019"), "{}", to.name);
            last = Some(uuid.decode().into_owned());
            n_entries += 1;
        }
        assert!(n_entries >= 4, "{}: {n_entries}", to.name);
    }
}

#[test]
fn a_sidecar_survives_lines_inserted_and_appended() {
    let source = fixture("claude-code/one-tool-call.jsonl");
    for to in line_targets().filter(|to| to.name != "claude-code") {
        let way = Conversion { carry: CarryMode::Sidecar, ..conversion(format("claude-code"), to) };
        let Converted { bytes: target, sidecar, .. } =
            way.convert(&source, None).expect("in memory");
        let sidecar = sidecar.expect("a sidecar");
        let back = conversion(to, format("claude-code"));
        let home = |target: &[u8]| {
            let sidecar = Sidecar::read(&sidecar[..]).expect("a sidecar");
            let Converted { bytes: restored, report, .. } =
                back.convert(target, Some(sidecar)).expect("in memory");
            (restored, report)
        };
        assert!(home(&target).0 == source, "{}", to.name);

        let added = continuation(to, &target);
        let (restored, report) = home(&[&target[..], added.as_bytes()].concat());
        assert!(restored.starts_with(&source), "{}: appended", to.name);
        assert!(text(&restored[source.len()..]).contains("Much more."), "{}", to.name);
        assert!(report.restored.added >= 2, "{}", to.name);

        // Inserted after the first prompt.
        let mut inserted = lines(&target);
        let answer = added.lines().nth(1).expect("an answer");
        let answer = format!("{answer}\n");
        inserted.insert(2, answer.as_bytes());
        let (restored, report) = home(&inserted.concat());
        assert_eq!(report.restored.added, 1, "{}", to.name);
        let rest: Vec<_> = lines(&restored)
            .into_iter()
            .filter(|line| !text(line).contains("Much more."))
            .collect();
        assert!(rest.concat() == source, "{}: inserted\n{}", to.name, text(&restored));
    }
}

#[test]
fn what_a_client_redacted_is_not_carried_where_carries_are_stripped() {
    let source = fixture("claude-code/one-tool-call.jsonl");
    for to in line_targets().filter(|to| to.name != "claude-code") {
        let target = there(&source, "claude-code", to.name);
        let stripped = shown(&joined(&target));
        let (restored, report) = home(stripped.as_bytes(), to.name, "claude-code");
        assert_eq!(report.restored.restored, 0, "{}", to.name);
        // It is converted like any other file: the target shows all that it can.
        assert!(text(&restored).contains("tool_use") && text(&restored).contains("tool_result"));
    }
}

#[test]
fn a_title_that_was_changed_in_a_document_comes_home() {
    const NEW: &str = "A \\\"new\\\" name \\u00e9";
    let convert = |source: &[u8], from: &str, to: &str| home(source, from, to).0;
    let mut n_checked = 0;
    for fixture in fixtures() {
        let Some(from) = by_name(&fixture.format).filter(|from| {
            !from.framing.is_document()
                && ["codex", "claude-code", "copilot", "gemini", "pi", "qwen"].contains(&from.name)
        }) else {
            continue;
        };
        let document = convert(&fixture.bytes, from.name, "opencode");
        // Of a file with several sessions, and of one that is no text, the head is not edited here.
        let Some((before, rest)) =
            std::str::from_utf8(&document).ok().and_then(|it| it.split_once("\"title\":\""))
        else {
            continue;
        };
        let end = rest.find("\",").expect("the end of the title");
        let document = format!("{before}\"title\":\"{NEW}{}", &rest[end..]);
        let (restored, report) = home(document.as_bytes(), "opencode", from.name);
        assert!(restored.starts_with(&fixture.bytes), "{}", fixture.name);
        let again = convert(&restored, from.name, "opencode");
        if text(&again).contains("A \\\"new\\\" name é") {
            assert_eq!(report.restored.added, 1, "{}", fixture.name);
            assert!(convert(&again, "opencode", from.name) == restored, "{}", fixture.name);
            n_checked += 1;
        }
    }
    assert!(n_checked > 100, "{n_checked}");
    // A stream has no titles.
    let source = fixture("sdk-stream/plain-0.2.187.jsonl");
    let document = convert(&source, "sdk-stream", "opencode");
    let document = text(&document).replacen("New session - ", NEW, 1);
    let (restored, report) = home(document.as_bytes(), "opencode", "sdk-stream");
    assert!(restored == source);
    assert_eq!((report.restored.added, report.restored.differs), (0, 1));
    assert!(report.wants_attention() && report.losses.is_empty());
    // A title that begins as the client's own is one.
    let at = document.find(NEW).expect("the title") + NEW.len();
    let title = document.get(at..).and_then(|rest| rest.split('"').next()).expect("its end");
    let renamed =
        document.replacen(&format!("{NEW}{title}"), &format!("New session - {title}, again"), 1);
    let (_, report) = home(renamed.as_bytes(), "opencode", "sdk-stream");
    assert_eq!(report.restored.differs, 1);
    let unchanged = document.replacen(NEW, "New session - ", 1);
    let (_, report) = home(unchanged.as_bytes(), "opencode", "sdk-stream");
    assert_eq!(report.restored.differs, 0);
}

#[test]
fn a_title_that_was_added_or_edited_in_lines_comes_home_to_a_document() {
    const NEW: &str = "A \"new\" name é";
    let spelled = serde_json::to_string(NEW).expect("JSON");
    let records = [
        ("claude-code", r#"{"type":"custom-title","customTitle":NEW,"sessionId":"s"}"#),
        ("clido", r#"{"type":"title","title":NEW}"#),
        (
            "codex",
            r#"{"timestamp":"2026-11-27T10:00:00.000Z","type":"event_msg","payload":{"type":"thread_name_updated","thread_id":"s","thread_name":NEW}}"#,
        ),
        ("gemini", r#"{"$set":{"summary":NEW}}"#),
    ];
    let mut n_edited = 0;
    for fixture in fixtures() {
        let Some(from) = by_name(&fixture.format).filter(|from| from.framing.is_document()) else {
            continue;
        };
        let Ok(source) = serde_json::from_slice::<serde_json::Value>(&fixture.bytes) else {
            continue;
        };
        let expected = |new: &str| {
            let mut document = source.clone();
            let place = from.title_place.expect("a place");
            let member = place.split('.').fold(&mut document, |object, key| &mut object[key]);
            *member = new.into();
            document
        };
        for (to, record) in records {
            let what = format!("{} to {to}", fixture.name);
            let target = joined(&there(&fixture.bytes, from.name, to));
            let record = record.replace("NEW", &spelled);
            let added = [&target[..], record.as_bytes(), b"\n"].concat();
            let (restored, report) = home(&added, to, from.name);
            let restored: serde_json::Value = serde_json::from_slice(&restored).expect("JSON");
            assert_eq!(restored, expected(NEW), "{what}");
            let stats = report.restored;
            assert_eq!((stats.added, stats.edited, report.n_left_out), (1, 1, 0), "{what}");

            let added = joined(&there(&fixture.bytes, from.name, to));
            let mut lines = written_lines(&added);
            let title = from.title_place.expect("a place").split('.');
            let old = title.fold(&source, |object, key| &object[key]).as_str();
            let Some(old) = old.filter(|old| !old.starts_with("New session")) else { continue };
            let is_title = |line: &WrittenLine| {
                let keys = ["customTitle", "title", "thread_name", "summary"];
                keys.iter().any(|key| line.visible.contains(&format!("{key}\":\"{old}\"")))
            };
            let Some(at) = lines.iter().position(is_title) else { continue };
            edit(&mut lines[at], old, "Edited title");
            let (restored, report) = home(&joined(&lines), to, from.name);
            let restored: serde_json::Value = serde_json::from_slice(&restored).expect("JSON");
            assert_eq!(restored, expected("Edited title"), "{what}");
            assert!(report.restored.edited > 0, "{what}");
            n_edited += 1;
        }
    }
    assert!(n_edited > 10, "{n_edited}");
}

/// A title that is no record of its own: in the head of another document.
#[test]
fn a_title_that_was_changed_in_a_document_comes_home_to_another_document() {
    let source = fixture("atif/of-harbor.json");
    let document = home(&source, "atif", "opencode").0;
    assert!(home(&document, "opencode", "atif").0 == source);
    let mut renamed: serde_json::Value = serde_json::from_slice(&document).expect("JSON");
    renamed["info"]["title"] = "Another name".into();
    let (restored, report) = home(renamed.to_string().as_bytes(), "opencode", "atif");
    let restored: serde_json::Value = serde_json::from_slice(&restored).expect("JSON");
    let mut expected: serde_json::Value = serde_json::from_slice(&source).expect("JSON");
    expected["extra"]["title"] = "Another name".into();
    assert_eq!(restored, expected);
    assert_eq!((report.restored.edited, report.restored.differs), (1, 0));
}

/// A turn that was added in another client comes home behind the point to which the user undid the session. OpenCode
/// hides it and deletes it with the next prompt.
#[test]
fn messages_behind_the_point_of_a_revert_are_said() {
    let source = fixture("opencode/reverted.json");
    for (to, added) in [
        (
            "codex",
            r#"{"timestamp":"2027-01-05T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Added."}]}}"#,
        ),
        (
            "clido",
            r#"{"type":"user_message","role":"user","content":[{"text":"Added.","type":"text"}]}"#,
        ),
    ] {
        let target = joined(&there(&source, "opencode", to));
        let (restored, report) = home(&target, to, "opencode");
        assert!(restored == source && report.n_hidden == 0 && !report.wants_attention(), "{to}");
        let target = [&target, added.as_bytes(), b"\n"].concat();
        let (restored, report) = home(&target, to, "opencode");
        assert!(text(&restored).contains("Added."), "{to}");
        assert_eq!((report.restored.added, report.n_hidden), (1, 1), "{to}");
        assert!(report.wants_attention(), "{to}");
        // A session of what is shown is not undone.
        let (shown, _) = home(&joined_without_carries(&target), to, "opencode");
        let found = home(&shown, "opencode", to).0;
        assert!(text(&found).contains("Added."), "{to}");
    }
    // Without a revert, the client shows it.
    let target = joined(&there(&fixture("opencode/thinking.json"), "opencode", "clido"));
    let added =
        r#"{"type":"user_message","role":"user","content":[{"text":"Added.","type":"text"}]}"#;
    let (_, report) = home(&[&target, added.as_bytes(), b"\n"].concat(), "clido", "opencode");
    assert_eq!((report.restored.added, report.n_hidden), (1, 0));
}

/// Returns a written file without its carries.
fn joined_without_carries(target: &[u8]) -> Vec<u8> {
    let lines = written_lines(target);
    lines.iter().flat_map(|line| [line.visible.as_bytes(), b"\n"].concat()).collect()
}

#[test]
fn records_that_no_line_can_hold_are_named_by_their_lines() {
    // OpenCode has no record for an error alone.
    let mut target = there(&fixture("opencode/error.json"), "opencode", "copilot");
    let at = position(&target, "mock says no");
    edit(&mut target[at], "mock says no", "mock says yes");
    let start: usize = target[..at].iter().map(|line| line.bytes.len()).sum();
    let (_, report) = home(&joined(&target), "copilot", "opencode");
    assert_eq!((report.restored.edited, report.n_left_out), (1, 1));
    let places: Vec<_> = report.left_out.iter().map(|it| (it.line, it.offset)).collect();
    assert_eq!(places, [(at as u64 + 1, start as u64)]);
}
