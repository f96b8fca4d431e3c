//! Tests of the rules of the carry (docs/CARRY.md): its place, its entries, its limits.

use std::{collections::HashMap, iter};

use convert::{CarriedFormat, CarryMode, EntryKind, MEMBER, by_name, guard_of};
use core_model::Format;
use jsonl::{Records, Scanner, Style, push_canonical};

use crate::shared::{
    fixtures::fixtures,
    pieces::pieces,
    shown::shown,
    ways::{Written, convert, line_targets, there_and_back},
    written::{WrittenLine, joined, written_lines},
};

const INLINE: CarryMode = CarryMode::Inline;

fn format(name: &str) -> &'static Format {
    by_name(name).expect("a format")
}

fn fixture(name: &str) -> Vec<u8> {
    let found = fixtures().into_iter().find(|fixture| fixture.name == name);
    found.expect(name).bytes
}

fn file(bytes: &[u8]) -> Written {
    Written { bytes: bytes.to_vec(), sidecar: None }
}

fn written(bytes: &[u8], from: &str, to: &str, mode: CarryMode) -> Written {
    convert(&file(bytes), format(from), format(to), mode).expect("in memory")
}

fn restored(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    written(bytes, from, to, INLINE).bytes
}

/// Returns the offsets of the lines of a file, or of the records and the glue of a document.
fn offsets_of(source: &[u8], from: &Format) -> Vec<u64> {
    if !from.framing.is_document() {
        return pieces(source, None).iter().map(|piece| piece.line.offset()).collect();
    }
    let mut records = Records::new(source, from.framing);
    iter::from_fn(|| records.next().expect("a slice").map(|unit| unit.offset())).collect()
}

/// Calls `check` with the conversion of every fixture to every other format.
fn each_written(mode: CarryMode, mut check: impl FnMut(&str, &[u8], &'static Format, &Written)) {
    for fixture in fixtures() {
        let Some(from) = by_name(&fixture.format) else { continue };
        for to in line_targets().filter(|to| to.name != from.name) {
            let written = convert(&file(&fixture.bytes), from, to, mode).expect("in memory");
            check(&format!("{} to {}", fixture.name, to.name), &fixture.bytes, to, &written);
        }
    }
}

#[test]
fn every_written_line_ends_with_a_string_member_of_ours() {
    each_written(INLINE, |name, _, to, written| {
        for line in written_lines(&written.bytes) {
            assert!(line.carry.is_some(), "{name}: no carry");
            // The last member, in the style of the target.
            let visible = line.visible.strip_suffix('}').expect("an object");
            let comma = if visible == "{" { "" } else { to.style.comma() };
            let start = format!("{visible}{comma}\"{MEMBER}\"{}\"", to.style.colon());
            assert!(line.bytes.starts_with(start.as_bytes()), "{name}");
            assert!(line.bytes.ends_with(b"\"}\n"), "{name}");
            let value: serde_json::Value = serde_json::from_slice(&line.bytes).unwrap_or_default();
            assert!(value.is_null() || value[MEMBER].is_string(), "{name}");
            assert!(to.style != Style::Python || line.bytes.is_ascii());
        }
    });
}

#[test]
fn every_written_line_has_a_guard_even_without_records() {
    let mut n_without_records = 0;
    let mut scanner = Scanner::default();
    each_written(INLINE, |name, _, to, written| {
        for line in written_lines(&written.bytes) {
            let mut guarded = line.visible.as_bytes().to_vec();
            if to.escapes_separators {
                // The characters are hashed, and their escapes are written.
                let plain = line.visible.replace("\\u2028", "\u{2028}");
                guarded = plain.replace("\\u2029", "\u{2029}").into_bytes();
            }
            if to.rewrites.is_values() {
                // The client keeps the value, and not its bytes.
                let value = scanner.scan_slice(line.visible.as_bytes(), 0).expect("an object");
                guarded.clear();
                push_canonical(&mut guarded, value, &[MEMBER]);
            }
            let guard = guard_of(&[&guarded]);
            assert_eq!(line.carry().guard, guard, "{name}");
            n_without_records += u64::from(line.carry().entries().next().is_none());
        }
    });
    assert!(n_without_records > 100, "{n_without_records}");
}

#[test]
fn records_are_keyed_by_the_offsets_of_their_lines() {
    let formats: HashMap<_, _> = fixtures().into_iter().map(|it| (it.name, it.format)).collect();
    each_written(INLINE, |name, source, _, written| {
        let fixture = name.split(" to ").next().unwrap_or_default();
        let mut offsets = Vec::new();
        for line in written_lines(&written.bytes) {
            let entries = line.carry().entries();
            offsets.extend(entries.filter(|it| it.part == 0).map(|it| it.offset));
        }
        offsets.sort_unstable();
        let expected = offsets_of(source, format(&formats[fixture]));
        if !written.bytes.is_empty() {
            assert_eq!(offsets, expected, "{name}");
        }
    });
}

#[test]
fn records_refer_to_their_line_and_the_base_and_to_nothing_else() {
    each_written(INLINE, |name, source, to, written| {
        let lines = written_lines(&written.bytes);
        let Some(first) = lines.first() else { return };
        let carry = first.carry();
        let base = carry.template.unwrap_or_default().as_bytes();
        let style = match carry.format {
            CarriedFormat::Name("sdk-stream") => Style::Python,
            _ => Style::Compact,
        };
        for line in &lines {
            for record in line.carry().entries() {
                let mut bytes = Vec::new();
                // Attached entries do not need the line.
                let visible = if record.kind == EntryKind::Held { "" } else { &*line.visible };
                let is_right = record.restore(&mut bytes, visible.as_bytes(), base, style);
                assert!(is_right, "{name}: {record:?}");
                let rest = &source[record.offset as usize..];
                if record.n_parts == 1 {
                    assert!(rest.starts_with(&bytes), "{name} {}", to.name);
                }
            }
        }
    });
}

#[test]
fn a_source_line_over_several_written_lines_has_a_part_on_each() {
    let mut n_split = 0;
    each_written(INLINE, |name, source, _, written| {
        let lines = written_lines(&written.bytes);
        for source_line in pieces(source, None).into_iter().map(|piece| piece.line) {
            let mut parts = Vec::new();
            for line in &lines {
                let records = line.carry().entries();
                let records = records.filter(|record| record.offset == source_line.offset());
                parts.extend(records.map(|record| (record.part, record.n_parts)));
            }
            n_split += u64::from(parts.len() > 1);
            // A target may order the results of a record as their calls.
            parts.sort_unstable();
            let n_parts = parts.len() as u64;
            let expected: Vec<_> = (0..n_parts).map(|part| (part, n_parts)).collect();
            if n_parts > 0 {
                assert_eq!(parts, expected, "{name}");
            }
        }
    });
    assert!(n_split > 10, "{n_split}");
}

#[test]
fn text_respelt_is_not_carried_where_the_way_back_is_exact() {
    let text = "\\u00e9\\ud83c\\udf89 ".repeat(200);
    let session = |text: &str| {
        format!(
            "{{\"type\": \"user_message\", \"content\": \"Hi\", \"timestamp\": \"2026-01-01T10:00:00Z\"}}\n\
             {{\"content\": [{{\"text\": \"{text}\"}}], \"model\": \"m\", \"parent_tool_use_id\": null}}\n"
        )
    };
    let sizes = [session(&text), session(&text.replace("\\u00e9", "\\u00E9"))].map(|source| {
        for to in ["clido", "claude-code", "sdk-stream:wire"] {
            let to = format(to);
            let wrong = there_and_back(source.as_bytes(), format("sdk-stream"), to, INLINE);
            assert_eq!(wrong, None);
        }
        let clido = written(source.as_bytes(), "sdk-stream", "clido", INLINE).bytes;
        assert!(String::from_utf8_lossy(&clido).contains("é🎉 é🎉"));
        let lines = written_lines(&clido);
        let line = lines.iter().find(|line| line.visible.contains("é🎉")).expect("said");
        line.carry.as_ref().map_or(0, String::len)
    });
    assert!(sizes[0] < 200, "{sizes:?}: the text stands in the line");
    assert!(sizes[1] > text.len(), "{sizes:?}: what Python would not write is carried");
}

#[test]
fn bytes_that_are_not_utf_8_are_carried_in_base_64() {
    for name in ["damaged/invalid-utf-8.jsonl", "damaged/invalid-utf-8-clido.jsonl"] {
        let bytes = fixture(name);
        assert!(std::str::from_utf8(&bytes).is_err());
        let from = if name.contains("clido") { "clido" } else { "claude-code" };
        for to in line_targets().filter(|to| to.name != from) {
            let written = written(&bytes, from, to.name, INLINE).bytes;
            assert!(std::str::from_utf8(&written).is_ok());
            assert!(restored(&written, to.name, from) == bytes, "{name} to {}", to.name);
        }
    }
}

#[test]
fn the_base_is_small_and_on_the_first_line_alone() {
    let long = "x".repeat(80);
    let members: String = (0..100).map(|n| format!(",\"member{n}\":\"{long}\"")).collect();
    let line = format!(
        r#"{{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{{"role":"user","content":"Hi"}}{members}}}"#
    );
    let source = format!("{line}\n{line}\n");
    let lines = written_lines(&restored(source.as_bytes(), "claude-code", "clido"));
    let base = lines[0].carry().template.expect("on the first line").len();
    assert!((1000..=2048).contains(&base), "{base}");
    each_written(INLINE, |name, _, _, written| {
        for (n, line) in written_lines(&written.bytes).iter().enumerate() {
            assert!(n == 0 || line.carry().template.is_none(), "{name}");
            assert!(line.carry().template.is_none_or(|base| base.len() <= 2048), "{name}");
        }
    });
}

#[test]
fn what_a_carry_costs_is_bounded() {
    let (mut n_source, mut n_written) = (0, 0);
    each_written(INLINE, |_, source, to, written| {
        if to.name == "clido" {
            n_source += source.len();
            n_written += written.bytes.len();
        }
    });
    // Fixtures are short and odd. For long real sessions the ratio is 0.8.
    assert!(n_written < 2 * n_source, "{n_written} bytes of {n_source}");
}

#[test]
fn without_its_carry_a_file_is_what_is_written_without_carries() {
    let mut plain = Vec::new();
    each_written(CarryMode::None, |_, _, _, written| plain.push(written.bytes.clone()));
    let mut plain = plain.into_iter();
    let mut plain_again = plain.clone();
    each_written(CarryMode::Sidecar, |name, _, _, written| {
        assert!(Some(&written.bytes) == plain.next().as_ref(), "{name}");
        assert!(written.sidecar.is_some(), "{name}");
    });
    each_written(INLINE, |name, _, to, written| {
        let mut shown = shown(&written.bytes);
        if !to.limits.filler_record.is_empty() {
            shown = shown.replace(&format!("{}}}\n", to.limits.filler_record), "");
        }
        assert!(Some(shown.as_bytes()) == plain_again.next().as_deref(), "{name}");
    });
}

#[test]
fn what_shows_nothing_gets_a_sidecar() {
    let mut n = 0;
    each_written(INLINE, |name, source, _, written| {
        let is_empty = written.bytes.is_empty();
        assert_eq!(written.sidecar.is_some(), is_empty && !source.is_empty(), "{name}");
        n += u64::from(is_empty);
    });
    assert!(n > 0, "no such fixture");
    let source = fixture("claude-code/queue-operations-only.jsonl");
    for to in line_targets().filter(|to| to.name != "claude-code") {
        let wrong = there_and_back(&source, format("claude-code"), to, INLINE);
        assert_eq!(wrong, None);
    }
}

/// A file without visible records left a sidecar. The new file of this name has carries of its own.
#[test]
fn a_sidecar_of_another_file_is_left_alone() {
    let (name, from) = ("claude-code/one-tool-call.jsonl", "claude-code");
    let source = fixture(name);
    for to in line_targets().filter(|to| to.name != from) {
        let torn = written(&source[..10], from, to.name, INLINE);
        assert!(torn.sidecar.is_some(), "{}", to.name);
        let bytes = restored(&source, from, to.name);
        let both = Written { bytes, sidecar: torn.sidecar };
        let back = convert(&both, to, format(from), INLINE).expect("in memory");
        assert!(back.bytes == source, "{}", to.name);
    }
}

#[test]
fn a_third_format_adds_to_the_stack_and_a_format_in_it_pops() {
    let source = fixture("claude-code/one-tool-call.jsonl");
    let clido = restored(&source, "claude-code", "clido");
    let dump = restored(&clido, "clido", "sdk-stream");
    let wire = restored(&dump, "sdk-stream", "sdk-stream:wire");
    for (bytes, name) in [(&dump, "sdk-stream"), (&wire, "sdk-stream:wire")] {
        assert!(restored(bytes, name, "clido") == clido);
        assert!(restored(bytes, name, "claude-code") == source);
    }
    assert!(restored(&wire, "sdk-stream:wire", "sdk-stream") == dump);
    // Another round trip does not nest the carry deeper.
    assert!(restored(&restored(&clido, "clido", "sdk-stream"), "sdk-stream", "clido") == clido);
    assert!(wire.len() < 4 * clido.len(), "{} of {}", wire.len(), clido.len());
}

/// Returns the total size of the carries up to the first prompt, and the number of lines before it.
fn head(bytes: &[u8]) -> (usize, usize) {
    let lines = written_lines(bytes);
    let is_prompt = |line: &&WrittenLine| line.visible.contains("\"type\":\"user\"");
    let n = lines.iter().take_while(|line| !is_prompt(line)).count();
    let carried = lines[..=n].iter().filter_map(|line| line.carry.as_ref());
    (carried.map(String::len).sum(), n)
}

#[test]
fn carries_before_claude_codes_first_prompt_are_small() {
    let event = format!(
        r#"{{"type":"stream_event","uuid":"e","session_id":"s","parent_tool_use_id":null,"event":{{"delta":"{}"}}}}"#,
        "abc \\\" é ".repeat(100)
    );
    let prompt = r#"{"type":"user","message":{"role":"user","content":"Hi"},"parent_tool_use_id":null,"session_id":"s","uuid":"u","isReplay":true}"#;
    let answer = r#"{"type":"assistant","message":{"model":"m","id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"Hello"}]},"parent_tool_use_id":null,"session_id":"s","uuid":"a"}"#;
    let source = format!("{}{prompt}\n{answer}\n", format!("{event}\n").repeat(1000));
    let target = restored(source.as_bytes(), "sdk-stream:wire", "claude-code");
    let (n_carried, n_lines) = head(&target);
    assert!(n_carried <= 8 * 1024, "{n_carried} bytes before the first prompt");
    assert!(n_lines < 3, "{n_lines} lines before the first prompt");
    let carriers: Vec<_> = written_lines(&target)
        .into_iter()
        .filter(|line| line.visible == r#"{"type":"carried"}"#)
        .collect();
    assert!(carriers.len() > 3, "{}", carriers.len());
    for carrier in &carriers {
        assert!(carrier.bytes.len() <= 256 * 1024, "{}", carrier.bytes.len());
    }
    assert!(restored(&target, "claude-code", "sdk-stream:wire") == source.as_bytes());
}

#[test]
fn one_line_too_long_for_a_carrier_is_cut() {
    for unit in ["a", "\\\\ \\\"", "é", "🎉", "\\u0007", "\u{7f}^"] {
        let event = format!(
            r#"{{"type":"stream_event","uuid":"e","session_id":"s","parent_tool_use_id":null,"event":{{"delta":"{}"}}}}"#,
            unit.repeat(700_000 / unit.len())
        );
        let prompt = r#"{"type":"user","message":{"role":"user","content":"Hi"},"parent_tool_use_id":null,"session_id":"s","uuid":"u","isReplay":true}"#;
        let source = format!("{event}\n{prompt}\n{event}\n{event}\n");
        let target = restored(source.as_bytes(), "sdk-stream:wire", "claude-code");
        assert!(head(&target).0 <= 8 * 1024);
        for line in written_lines(&target) {
            assert!(line.bytes.len() <= 256 * 1024, "{unit:?}: {}", line.bytes.len());
        }
        assert!(restored(&target, "claude-code", "sdk-stream:wire") == source.as_bytes());
    }
}

#[test]
fn carriers_stand_before_titles() {
    let source = [
        r#"{"type":"meta","session_id":"s","schema_version":1,"start_time":"2026-01-01T00:00:00Z","project_path":"/p"}"#,
        r#"{"type":"user_message","role":"user","content":[{"type":"text","text":"Hi"}]}"#,
        r#"{"type":"assistant_message","content":[{"type":"text","text":"Hello"}]}"#,
        r#"{"type":"title","title":"Greeting"}"#,
    ];
    let unknown = format!(r#"{{"type":"future","x":"{}"}}"#, "y".repeat(90_000));
    let source = format!("{}\n{unknown}\n{unknown}\n", source.join("\n"));
    let target = restored(source.as_bytes(), "clido", "claude-code");
    let tail = &target[target.len() - 64 * 1024..];
    assert!(String::from_utf8_lossy(tail).contains("\"aiTitle\":\"Greeting\""));
    assert!(restored(&target, "claude-code", "clido") == source.as_bytes());
}

#[test]
fn a_member_of_that_name_that_is_not_ours_is_data() {
    for name in ["claude-code/carried-member-not-ours.jsonl", "claude-code/carried-in-text.jsonl"] {
        let source = fixture(name);
        for to in line_targets().filter(|to| to.name != "claude-code") {
            assert_eq!(there_and_back(&source, format("claude-code"), to, INLINE), None, "{name}");
        }
    }
    let forged = [
        "",
        "1",
        "1a",
        "1aAAAAAAAAAAA",
        "1aAAAAAAAAAAAHzz:",
        "2aAAAAAAAAAAA",
        "1aAAAAAAAAAAAH9999999999999:x",
        "1aAAAAAAAAAAA0@nAAAAAA",
        "1aAAAAAAAAAAA0,0,zzzzzzzzzzzz@nAAAAAA5Lhello",
        "1aAAAAAAAAAAAzzzzzzzzzzzzz&nAAAAAAzzzzzzzzzzzz,zzzzzzzzzzzzV",
    ];
    for text in forged {
        let line = format!(
            r#"{{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{{"role":"user","content":"Hi"}},"_carried":"{text}"}}"#
        );
        for to in line_targets().filter(|to| to.name != "claude-code") {
            let wrong = there_and_back(line.as_bytes(), format("claude-code"), to, INLINE);
            assert_eq!(wrong, None, "{text}");
        }
        let clido =
            format!(r#"{{"type":"user_message","role":"user","content":[],"_carried":"{text}"}}"#);
        _ = restored(clido.as_bytes(), "clido", "claude-code");
    }
}

#[test]
fn a_lost_first_line_takes_no_more_with_it_than_it_must() {
    let source = fixture("claude-code/one-tool-call.jsonl");
    let target = restored(&source, "claude-code", "clido");
    let lines = written_lines(&target);
    let without = joined(&lines[1..]);
    let home = shown(&restored(&without, "clido", "claude-code"));
    // Without the template, lines are converted, and have the same content.
    assert!(home.lines().count() >= 4, "{home}");
    assert!(home.contains("tool_use") && home.contains("tool_result"), "{home}");
    for line in home.lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
    }
}
