//! Tests of written files that were cut, moved, duplicated or respelled, and of chains of formats: the
//! source is restored, or the report counts the missing records.

use std::{
    fs,
    path::Path,
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
};

use convert::{Carry, CarryMode, Conversion, Converted, FORMATS, Member, Report, Sidecar, by_name};
use core_model::{Format, Options};

use crate::shared::{
    fixtures::{Fixture, fixtures},
    parallel::check_all,
    shown::shown,
    turns::chosen,
    ways::{Written, convert, line_targets, others},
    written::{WrittenLine, joined, written_lines},
};

const SAMPLE: &str = "claude-code/one-tool-call.jsonl";

fn format(name: &str) -> &'static Format {
    by_name(name).expect("a format")
}

fn fixture(name: &str) -> Vec<u8> {
    let found = fixtures().into_iter().find(|fixture| fixture.name == name);
    found.expect(name).bytes
}

fn there(source: &[u8], from: &Format, to: &Format, carry: CarryMode) -> Written {
    let source = Written { bytes: source.to_vec(), sidecar: None };
    convert(&source, format(from.name), format(to.name), carry).expect("in memory")
}

fn home(written: &Written, from: &Format, to: &Format) -> (Vec<u8>, Report) {
    let conversion = Conversion {
        formats: FORMATS,
        from: format(from.name),
        to: format(to.name),
        carry: CarryMode::Inline,
        options: Options::default(),
    };
    let sidecar = written.sidecar.as_deref().map(|it| Sidecar::read(it).expect("a sidecar"));
    let Converted { bytes, report, .. } =
        conversion.convert(&written.bytes, sidecar).expect("in memory");
    (bytes, report)
}

fn inline(lines: &[WrittenLine]) -> Written {
    Written { bytes: joined(lines), sidecar: None }
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    jsonl::lines(bytes).map(|line| line.bytes()).collect()
}

/// Calls a function with every fixture, its format, `n` other formats in turn, and its conversion to
/// them.
fn each_written(
    n: usize,
    carry: CarryMode,
    mut each: impl FnMut(&str, &[u8], &Format, &Format, Written),
) {
    for fixture in fixtures() {
        let Some(from) = by_name(&fixture.format) else { continue };
        let targets = line_targets().filter(|to| to.name != from.name);
        for to in chosen(&fixture.name, targets, n) {
            let written = there(&fixture.bytes, from, to, carry);
            each(&fixture.name, &fixture.bytes, from, to, written);
        }
    }
}

#[test]
fn a_file_that_is_as_it_was_written_has_no_fault() {
    for carry in [CarryMode::Inline, CarryMode::Sidecar] {
        each_written(2, carry, |name, source, from, to, written| {
            let (restored, report) = home(&written, to, from);
            assert!(restored == source, "{name} to {}", to.name);
            assert!(!report.restored.is_not_the_source(), "{name} to {}: {report:?}", to.name);
        });
    }
}

#[test]
fn a_file_cut_at_a_line_end_says_so() {
    for carry in [CarryMode::Inline, CarryMode::Sidecar] {
        each_written(1, carry, |name, _, from, to, mut written| {
            let n_lines = lines(&written.bytes).len();
            for n_left in 1..n_lines {
                let cut = lines(&written.bytes)[..n_left].concat();
                // A sidecar is cut with its file, or the carries of the lines report what is missing.
                let cut = Written { bytes: cut, sidecar: written.sidecar.clone() };
                let (_, report) = home(&cut, to, from);
                assert!(
                    report.restored.cut + report.restored.missing > 0,
                    "{name} to {}, {n_left} of {n_lines}: {report:?}",
                    to.name
                );
                assert!(report.wants_attention());
            }
            // Cut inside its first record, a file has no carry that could count what is missing.
            written.bytes.truncate(lines(&written.bytes).first().map_or(0, |line| line.len() / 2));
            if carry == CarryMode::Inline && !written.bytes.is_empty() {
                let (_, report) = home(&written, to, from);
                assert!(report.wants_attention(), "{name} to {}, inside a line", to.name);
            }
        });
    }
}

#[test]
fn carries_after_lines_without_one_are_used_or_said() {
    let source = fixture(SAMPLE);
    let from = format("claude-code");
    for to in line_targets().filter(|to| to.name != from.name) {
        let written = there(&source, from, to, CarryMode::Inline).bytes;
        let native = there(&source, from, to, CarryMode::None).bytes;
        let [written, native] = [lines(&written), lines(&native)];
        let first = native.first().expect("a line");
        let n_carries = written.iter().filter(|line| line.ends_with(b"\"}\n")).count() as u64;
        let at = |n: usize, file: Vec<&[u8]>| {
            let (bytes, report) = home(&Written { bytes: file.concat(), sidecar: None }, to, from);
            (bytes, report.restored, report.wants_attention(), format!("{n} lines, {}", to.name))
        };
        // Lines that another program added at the start.
        for n in [1, 2, 5, 40] {
            let file = [vec![*first; n], written.clone()].concat();
            let (bytes, restored, _, what) = at(n, file);
            let is_there = bytes.windows(source.len()).any(|bytes| bytes == source);
            assert!(is_there, "{what}: {restored:?}");
        }
        // First lines that lost their carries.
        for n in 1..native.len().min(written.len()) {
            let file = [&native[..n], &written[n..]].concat();
            let (_, restored, wants_attention, what) = at(n, file);
            assert!(restored.missing > 0 && wants_attention, "{what}: {restored:?}");
        }
        // Too many lines: the file is taken for a native one.
        let file = [vec![*first; 200], written.clone()].concat();
        let (_, restored, wants_attention, what) = at(200, file);
        assert!(restored.unused > 0 && restored.unused <= n_carries, "{what}: {restored:?}");
        assert!(wants_attention, "{what}: {restored:?}");
        // One carry behind them, also in a record that no line of the target shows.
        for line in written.iter().filter(|line| n_entries(line) > 0) {
            let (_, restored, wants_attention, what) =
                at(200, [vec![*first; 200], vec![*line]].concat());
            let line = String::from_utf8_lossy(line);
            assert!(wants_attention && restored.unused == 1, "{what}: {restored:?}: {line}");
        }
    }
}

/// Returns the number of entries in the carry of a line; 0 without a carry.
fn n_entries(line: &[u8]) -> usize {
    let mut scanner = jsonl::Scanner::default();
    let value = scanner.scan_slice(line.trim_ascii_end(), 0).expect("JSON");
    let member = Member::find_any(value, FORMATS);
    member.map_or(0, |member| Carry::parse(&member.carry).expect("a carry").entries().count())
}

#[test]
fn a_moved_line_is_said_and_the_order_that_is_seen_wins() {
    let source = fixture("claude-code/response-over-three-lines.jsonl");
    for to in line_targets().filter(|to| to.name != "claude-code") {
        let written = there(&source, format("claude-code"), to, CarryMode::Inline);
        let n_lines = written_lines(&written.bytes).len();
        for from_place in 0..n_lines {
            for to_place in 0..n_lines {
                if from_place == to_place {
                    continue;
                }
                let mut moved = written_lines(&written.bytes);
                let line = moved.remove(from_place);
                moved.insert(to_place, line);
                let (_, report) = home(&inline(&moved), to, format("claude-code"));
                let what = format!("{}: {from_place} to {to_place}: {report:?}", to.name);
                assert!(report.restored.is_not_the_source(), "{what}");
            }
        }
    }
    // Four prompts; the third comes before the second.
    let prompt = |n: u32| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"u{n}\",\"sessionId\":\"s\",\"timestamp\":\"2026-01-01T10:00:0{n}Z\",\"message\":{{\"role\":\"user\",\"content\":\"Prompt number {n}\"}}}}\n"
        )
    };
    let source: String = (0..4).map(prompt).collect();
    let from = format("claude-code");
    {
        let to = format("clido");
        let written = there(source.as_bytes(), from, to, CarryMode::Inline);
        let mut moved = written_lines(&written.bytes);
        let place = |moved: &[WrittenLine], n: u32| {
            let words = format!("Prompt number {n}");
            moved.iter().position(|line| line.visible.contains(&words)).expect("said")
        };
        let line = moved.remove(place(&moved, 2));
        let at = place(&moved, 1);
        moved.insert(at, line);
        let (restored, report) = home(&inline(&moved), to, from);
        let wanted: String = [0, 2, 1, 3].into_iter().map(prompt).collect();
        assert_eq!(String::from_utf8_lossy(&restored), wanted, "{}", to.name);
        assert_eq!(report.restored.moved, 1, "{report:?}");
    }
}

#[test]
fn a_doubled_line_is_said_and_its_copy_has_a_uuid_of_its_own() {
    let source = fixture(SAMPLE);
    let from = format("claude-code");
    for to in line_targets().filter(|to| to.name != from.name) {
        for carry in [CarryMode::Inline, CarryMode::Sidecar] {
            let written = there(&source, from, to, carry);
            let n_lines = lines(&written.bytes).len();
            for place in 0..n_lines {
                let mut doubled = lines(&written.bytes);
                doubled.insert(place, doubled[place]);
                let doubled = Written { bytes: doubled.concat(), sidecar: written.sidecar.clone() };
                let (restored, report) = home(&doubled, to, from);
                let what = format!("{} {place} {carry:?}: {report:?}", to.name);
                assert_eq!(report.restored.doubled, 1, "{what}");
                let is_repeated = carry == CarryMode::Sidecar;
                assert_eq!(report.restored.repeated, u64::from(is_repeated), "{what}");
                assert!(report.wants_attention(), "{what}");
                let mut uuids = Vec::new();
                for line in lines(&restored) {
                    let value: serde_json::Value = serde_json::from_slice(line).expect("JSON");
                    if let Some(uuid) = value["uuid"].as_str() {
                        uuids.push(uuid.to_owned());
                    }
                }
                let n_uuids = uuids.len();
                uuids.sort();
                uuids.dedup();
                assert_eq!(uuids.len(), n_uuids, "{what}");
                // Through a third format, too.
                let mut thirds = others(&[from, to]).cycle().skip(place + n_lines);
                let third = thirds.next().expect("a format");
                let far = convert(&doubled, to, third, CarryMode::Inline).expect("in memory");
                let (_, report) = home(&far, third, from);
                assert_eq!(report.restored.doubled, 1, "{} {what} {report:?}", third.name);
            }
        }
    }
}

#[test]
fn a_byte_order_mark_before_the_last_file_of_a_chain_is_no_fault() {
    let source = fixture(SAMPLE);
    let [from, second, third] = ["claude-code", "clido", "pi"].map(format);
    for carry in [CarryMode::Inline, CarryMode::Sidecar] {
        let written = there(&source, from, second, carry);
        let written = convert(&written, second, third, carry).expect("in memory");
        let bytes = [b"\xef\xbb\xbf", &*written.bytes].concat();
        let (restored, report) = home(&Written { bytes, ..written }, third, from);
        assert_eq!(restored, source, "{carry:?}: {report:?}");
        assert!(!report.wants_attention(), "{carry:?}: {report:?}");
    }
}

/// A line of Codex that shows no source record may be between the lines that show the parts of one.
#[test]
fn an_edited_line_between_the_parts_of_a_record_leaves_them() {
    let source = fixture("atif/one-call.json");
    let [from, to] = ["atif", "codex"].map(format);
    let written = there(&source, from, to, CarryMode::Inline);
    let mut changed = 0;
    for (place, line) in lines(&written.bytes).into_iter().enumerate() {
        let text = String::from_utf8(line.to_vec()).expect("text");
        let edited = text.replacen("\"message\":\"I look.", "\"message\":\"I edit.", 1);
        if edited == text {
            continue;
        }
        changed += 1;
        let mut all = lines(&written.bytes);
        all[place] = edited.as_bytes();
        let edited = Written { bytes: all.concat(), sidecar: None };
        let (restored, report) = home(&edited, to, from);
        let restored = String::from_utf8(restored).expect("text");
        for words in ["First the folder.", "I look.", "ls -l", "a.rs\\nb.rs", "Two files."] {
            assert!(restored.contains(words), "{words}: {restored}");
        }
        assert_eq!((report.restored.edited, report.restored.doubled), (1, 0), "{report:?}");
    }
    assert_eq!(changed, 1);
}

/// Changes the spelling of a line as other programs do: blanks, sorted members, escapes.
fn respellings(line: &[u8]) -> Vec<Vec<u8>> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let value: serde_json::Value = serde_json::from_slice(line).expect("JSON");
    let sorted = serde_json::to_string(&value).expect("JSON");
    let pretty = serde_json::to_string_pretty(&value).expect("JSON").replace('\n', " ");
    let mut spaced = Vec::new();
    jsonl::respell_str(&mut spaced, std::str::from_utf8(line).expect("text"), jsonl::Style::Python);
    let mut ascii_only = Vec::new();
    jsonl::respell_str(&mut ascii_only, &sorted, jsonl::Style::Python);
    [sorted.into_bytes(), pretty.into_bytes(), spaced, ascii_only]
        .map(|it| [&it[..], b"\n"].concat())
        .into()
}

#[test]
fn a_file_that_was_spelled_anew_comes_back_whole() {
    for carry in [CarryMode::Inline, CarryMode::Sidecar] {
        each_written(1, carry, |name, source, from, to, written| {
            let is_json = |line: &&[u8]| {
                let value = serde_json::from_slice::<serde_json::Value>(line);
                let written = value.ok().map(|value| value.to_string());
                // Those programs change numbers beyond a double, and duplicate members.
                written.is_some_and(|it| serde_json::from_str::<serde_json::Value>(&it).is_ok())
            };
            let lines = lines(&written.bytes);
            if name.starts_with("damaged/") || !lines.iter().all(is_json) {
                return;
            }
            let is_exact = |line: &&[u8]| {
                // serde_json changes such numbers and duplicate members.
                let mut ours = Vec::new();
                let text = String::from_utf8_lossy(line);
                let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
                jsonl::respell_str(&mut ours, &text, jsonl::Style::Compact);
                let ours = String::from_utf8(ours).expect("text");
                ours.len() == value.to_string().len() && ours == text.trim_end()
                    || to.style == jsonl::Style::Python && ours.len() == value.to_string().len()
            };
            if !lines.iter().all(is_exact) {
                return;
            }
            for n in 0..respellings(lines.first().copied().unwrap_or(b"{}\n")).len() {
                let anew: Vec<u8> =
                    lines.iter().flat_map(|line| respellings(line)[n].clone()).collect();
                let anew = Written { bytes: anew, sidecar: written.sidecar.clone() };
                let (restored, report) = home(&anew, to, from);
                let what = format!("{name} to {}, {carry:?}, respelling {n}: {report:?}", to.name);
                assert!(restored == source, "{what}");
                assert!(!report.restored.is_not_the_source(), "{what}");
            }
        });
    }
}

#[test]
fn a_carry_that_cannot_be_read_is_said_and_goes_on() {
    let source = fixture(SAMPLE);
    let (from, to) = (format("claude-code"), format("clido"));
    let written = there(&source, from, to, CarryMode::Inline);
    let text = String::from_utf8(written.bytes).expect("text");
    let newer = text.replace("\"_carried\":\"2", "\"_carried\":\"3");
    let cut = text.replace("\"_carried\":\"2", "\"_carried\":\"");
    let unknown = text.replace("claude-code", "other-agent");
    let n_lines = lines(text.as_bytes()).len() as u64;
    for (file, is_newer) in [(newer, true), (cut, false), (unknown, true)] {
        let file = Written { bytes: file.into_bytes(), sidecar: None };
        let (_, report) = home(&file, to, from);
        let found = (report.restored.newer, report.restored.damaged);
        assert_eq!(found, if is_newer { (n_lines, 0) } else { (0, n_lines) });
        assert!(report.wants_attention());
        // No byte is lost: converting back gives the same file.
        let converted = there(&file.bytes, to, from, CarryMode::Inline);
        assert!(home(&converted, from, to).0 == file.bytes);
    }
}

/// A carry with another template is whole, but of another file.
#[test]
fn a_carry_of_another_conversion_is_not_damaged() {
    let (from, to) = (format("claude-code"), format("clido"));
    let written = there(&fixture(SAMPLE), from, to, CarryMode::Inline).bytes;
    let other = there(&fixture("claude-code/titles.jsonl"), from, to, CarryMode::Inline).bytes;
    let joined = Written { bytes: [written, other].concat(), sidecar: None };
    let stats = home(&joined, to, from).1.restored;
    assert_eq!((stats.foreign, stats.damaged), (1, 0), "{stats:?}");
    assert!(stats.is_not_the_source());
}

#[test]
fn every_chain_of_three_formats_and_modes_comes_back() {
    let modes = [CarryMode::Inline, CarryMode::Sidecar];
    let n_chains = AtomicUsize::new(0);
    let name = |fixture: &Fixture| fixture.name.clone();
    check_all(&fixtures(), name, |fixture| {
        let mut wrong = Vec::new();
        let Some(from) = by_name(&fixture.format) else { return wrong };
        let source = Written { bytes: fixture.bytes.clone(), sidecar: None };
        let chains = others(&[from]).flat_map(|second| {
            let thirds = others(&[from, second]);
            let pairs = modes.into_iter().flat_map(move |one| modes.map(|other| (one, other)));
            thirds.flat_map(move |third| pairs.clone().map(move |modes| (second, third, modes)))
        });
        for (second, third, (first_mode, second_mode)) in chosen(&fixture.name, chains, 4) {
            let there = convert(&source, from, second, first_mode).expect("in memory");
            let far = convert(&there, second, third, second_mode).expect("in memory");
            let what = format!(
                "{} {first_mode:?} {} {second_mode:?} {}",
                from.name, second.name, third.name
            );
            let back = convert(&far, third, from, CarryMode::Inline).expect("in memory");
            if back.bytes != fixture.bytes {
                wrong.push(format!("{what}, straight home"));
            }
            let step = convert(&far, third, second, CarryMode::Inline).expect("there");
            if step.bytes != there.bytes {
                wrong.push(format!("{what}, one step back"));
            }
            let back = convert(&step, second, from, CarryMode::Inline).expect("home");
            if back.bytes != fixture.bytes {
                wrong.push(format!("{what}, step by step"));
            }
            n_chains.fetch_add(1, Ordering::Relaxed);
        }
        wrong
    });
    let n_chains = n_chains.into_inner();
    assert!(n_chains > 1000, "{n_chains}");
}

/// Records that are added to a clido file.
const ADDED: &str = concat!(
    r#"{"type":"user_message","role":"user","content":[{"text":"More?","type":"text"}]}"#,
    "\n",
    r#"{"type":"assistant_message","content":[{"text":"No more.","type":"text"}]}"#,
    "\n",
);

/// The old records have their carries inline, and the added ones have them in a sidecar.
#[test]
fn a_file_with_carries_inline_and_a_sidecar_for_added_records_comes_home() {
    let (from, third) = (format("claude-code"), format("clido"));
    let source = fixture(SAMPLE);
    for second in others(&[from, third]) {
        let inline = there(&source, from, second, CarryMode::Inline);
        let mut far = there(&inline.bytes, second, third, CarryMode::Inline);
        far.bytes.extend_from_slice(ADDED.as_bytes());
        let back = convert(&far, third, second, CarryMode::Sidecar).expect("in memory");
        assert!(back.sidecar.is_some(), "{}", second.name);
        let (restored, report) = home(&back, second, from);
        let text = String::from_utf8_lossy(&restored);
        assert!(!report.restored.is_not_the_source(), "{}: {report:?}", second.name);
        assert!(restored.starts_with(&source), "{}: {text}", second.name);
        // The carries of the sidecar go on.
        assert!(text.contains("F5:clido"), "{}: {text}", second.name);
    }
}

/// The session of a client, continued in another one, has a sidecar for its new records when it is home again.
#[test]
fn a_session_that_was_continued_elsewhere_goes_away_again() {
    let (from, to) = (format("claude-code"), format("clido"));
    for third in others(&[from, to]) {
        for carry in [CarryMode::Inline, CarryMode::Sidecar] {
            let mut written = there(&fixture(SAMPLE), from, to, carry);
            written.bytes.extend_from_slice(ADDED.as_bytes());
            let back = |written: &Written, format: &'static Format, to: &'static Format| {
                let next = convert(written, format, to, carry).expect("in memory");
                let (_, report) = home(written, format, to);
                assert!(
                    !report.restored.is_not_the_source(),
                    "{} {carry:?}: {report:?}",
                    third.name
                );
                next
            };
            let mut far = written;
            let mut before = to;
            for next in [from, to, from, third, to, from, to, third, from] {
                far = back(&far, before, next);
                before = next;
            }
            let text = shown(&far.bytes);
            assert_eq!(text.matches("No more.").count(), 1, "{} {carry:?}: {text}", third.name);
            assert!(far.bytes.starts_with(&fixture(SAMPLE)), "{} {carry:?}: {text}", third.name);
        }
    }
}

/// A chain of formats whose last file lost its first carry does not name the first format: nothing is restored.
#[test]
fn a_chain_says_that_the_first_carry_of_its_last_file_is_gone() {
    let (from, bytes) = (format("claude-code"), fixture(SAMPLE));
    let source = Written { bytes: bytes.clone(), sidecar: None };
    for second in others(&[from]) {
        for third in others(&[from, second]).filter(|third| !third.framing.is_document()) {
            let there = convert(&source, from, second, CarryMode::Inline).expect("in memory");
            let far = convert(&there, second, third, CarryMode::Inline).expect("in memory");
            let mut all = written_lines(&far.bytes);
            let first = all.iter().position(|line| line.carry.is_some()).expect("a carry");
            let rest = all.split_off(first + 1);
            let line = all.remove(first);
            let (line, visible) = (line.bytes, line.visible + "\n");
            let damaged = String::from_utf8_lossy(&line).replacen("2F", "2X", 1);
            for (what, bytes) in [
                ("removed", joined(&rest)),
                ("dropped", [visible.into_bytes(), joined(&rest)].concat()),
                ("damaged", [damaged.into_bytes(), joined(&rest)].concat()),
                ("two removed", joined(rest.get(1..).unwrap_or_default())),
                ("cut", line),
            ] {
                let (restored, report) = home(&Written { bytes, sidecar: None }, third, from);
                let is_said = report.restored.is_not_the_source() || report.lines_in == 0;
                let ways = format!("{}, {}, {what}", second.name, third.name);
                assert!(is_said || restored == source.bytes, "{ways}: {report:?}");
            }
        }
    }
}

/// The session has a file beside it, `{}`, which is no record without a carry.
#[test]
fn a_chain_of_several_files_says_that_its_first_carry_is_gone() {
    let folder = tempfile::tempdir().expect("a folder");
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/copilot/sub-agent.jsonl");
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
        let output = command.args(args).current_dir(folder.path()).output().expect("run");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let source = source.display().to_string();
    assert_eq!(run(&[&source, "--to", "claude-code", "-o", "1/x.jsonl"]).0, Some(0));
    assert_eq!(run(&["1/x.jsonl", "--to", "sdk-stream", "-o", "2/x.jsonl"]).0, Some(0));
    let far = folder.path().join("2/x.jsonl");
    let bytes = fs::read_to_string(&far).expect("read");
    fs::write(&far, bytes.split_once('\n').expect("lines").1).expect("written");
    let (status, words) = run(&["2/x.jsonl", "--to", "copilot", "-o", "3/x.jsonl"]);
    assert!(status == Some(1) && words.contains("1 record with a carry is missing"), "{words}");
}

/// The first carry names pi, and the other file came from clido by another format, so that no carry names clido.
#[test]
fn a_file_of_a_chain_behind_another_file_is_said() {
    let [from, second, third, first] = ["clido", "sdk-stream:wire", "qwen", "pi"].map(format);
    let source = there(&fixture(SAMPLE), format("claude-code"), from, CarryMode::None);
    let chained = convert(&source, from, second, CarryMode::Inline).expect("in memory");
    let far = convert(&chained, second, third, CarryMode::Inline).expect("in memory");
    let other = there(&fixture("pi/minimal.jsonl"), first, third, CarryMode::Inline);
    let mixed = Written { bytes: [other.bytes, far.bytes].concat(), sidecar: None };
    for to in [from, second, format("codex")] {
        let (_, report) = home(&mixed, third, to);
        assert!(report.restored.unused > 0, "{}: {report:?}", to.name);
    }
}

/// The other file's records come from ATIF itself, and say nothing about the first one's.
#[test]
fn a_chain_says_that_its_last_file_is_mixed_with_another_conversion() {
    let [from, second, third] = ["opencode", "atif", "pi"].map(format);
    let chained = there(&fixture("opencode/one-call.json"), from, second, CarryMode::Inline);
    let chained = convert(&chained, second, third, CarryMode::Inline).expect("in memory");
    let other = there(&fixture("atif/parts-and-images.json"), second, third, CarryMode::Inline);
    let mut mixed = written_lines(&other.bytes);
    for (n, line) in written_lines(&chained.bytes).into_iter().enumerate() {
        mixed.insert((2 * n + 1).min(mixed.len()), line);
    }
    let (_, report) = home(&Written { bytes: joined(&mixed), sidecar: None }, third, from);
    assert!(report.restored.foreign > 0, "{report:?}");
}

/// A session that came home has carries of another format, too, but they name a source with records before theirs.
#[test]
fn records_of_a_conversion_from_another_format_are_said_in_a_restored_file() {
    let [from, written, other] = ["claude-code", "sdk-stream:wire", "pi"].map(format);
    let source = there(&fixture(SAMPLE), from, written, CarryMode::Inline).bytes;
    let others = there(&fixture("pi/minimal.jsonl"), other, written, CarryMode::Inline).bytes;
    let (mut mixed, rest) = (written_lines(&source), written_lines(&others));
    let behind = [joined(&mixed), others].concat();
    for (n, line) in rest.into_iter().enumerate() {
        mixed.insert((2 * n + 1).min(mixed.len()), line);
    }
    for bytes in [joined(&mixed), behind] {
        let (_, report) = home(&Written { bytes, sidecar: None }, written, from);
        assert!(report.restored.unused > 0, "{report:?}");
    }
}

/// One written record holds all of them, and they follow the source record that it shows.
#[test]
fn many_records_after_the_last_shown_one_come_back_in_order() {
    let mut source = fixture(SAMPLE);
    for n in 0..100_000 {
        source.extend_from_slice(format!("{{\"type\":\"made-up-{n}\",\"n\":{n}}}\n").as_bytes());
    }
    let (from, to) = (format("claude-code"), format("clido"));
    for mode in [CarryMode::Inline, CarryMode::Sidecar] {
        let (bytes, report) = home(&there(&source, from, to, mode), to, from);
        assert!(bytes == source, "{mode:?}: {:?}", report.restored);
        assert_eq!(report.restored.gaps, 0, "{mode:?}");
    }
}

/// Returns a document without its records: its arrays of records are empty.
fn without_records(mut document: serde_json::Value) -> serde_json::Value {
    let members: Vec<&mut serde_json::Value> = match &mut document {
        serde_json::Value::Object(object) => object.values_mut().collect(),
        _ => Vec::new(),
    };
    for member in members {
        if let Some(records) = member.as_array_mut().filter(|records| !records.is_empty()) {
            let has_records = records.iter().all(serde_json::Value::is_object);
            records.retain(|_| !has_records);
        }
    }
    document
}

#[test]
fn a_document_stays_one_when_written_lines_are_moved_or_cut() {
    let documents: Vec<Fixture> = fixtures()
        .into_iter()
        .filter(|fixture| by_name(&fixture.format).is_some_and(|it| it.framing.is_document()))
        .filter(|fixture| serde_json::from_slice::<serde_json::Value>(&fixture.bytes).is_ok())
        .collect();
    assert!(documents.len() > 15, "{}", documents.len());
    let mut wrong = Vec::new();
    for fixture in documents {
        let from = by_name(&fixture.format).expect("a format");
        let source: serde_json::Value = serde_json::from_slice(&fixture.bytes).expect("JSON");
        let modes = [CarryMode::Inline, CarryMode::Sidecar];
        let ways = line_targets().flat_map(|to| modes.map(|mode| (to, mode)));
        for (to, mode) in chosen(&fixture.name, ways, 2) {
            let written = there(&fixture.bytes, from, to, mode);
            let all = lines(&written.bytes);
            let n = all.len();
            let mut orders: Vec<Vec<usize>> = vec![(0..n).rev().collect()];
            for at in 1..n {
                let mut swapped: Vec<usize> = (0..n).collect();
                swapped.swap(at - 1, at);
                orders.push(swapped);
                orders.push((at..n).chain(0..at).collect());
                // The first lines, and one of the others, are gone.
                orders.push((at..n).collect());
                orders.push((0..n).filter(|it| *it != at).collect());
            }
            for order in orders {
                let is_moved = order.len() == n;
                let changed = order.iter().flat_map(|at| all[*at].iter().copied()).collect();
                let changed = Written { bytes: changed, sidecar: written.sidecar.clone() };
                // Two equal lines were exchanged.
                if changed.bytes == written.bytes {
                    continue;
                }
                let (restored, report) = home(&changed, to, from);
                let what = format!("{} to {} {mode:?}, {order:?}", fixture.name, to.name);
                match serde_json::from_slice::<serde_json::Value>(&restored) {
                    Err(error) => wrong.push(format!("{what}: {error}")),
                    Ok(_) if !report.wants_attention() => wrong.push(format!("{what}: unsaid")),
                    // Items that are no records, and are in no order, are among the records of the other fixture.
                    Ok(home) if is_moved && !fixture.name.ends_with("of-another-kind.json") => {
                        let [home, source] = [home, source.clone()].map(without_records);
                        if home != source {
                            wrong.push(format!("{what}: {home} for {source}"));
                        }
                    }
                    Ok(_) => {}
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// The separators of a document are restored as long as its records follow each other.
#[test]
fn a_document_has_its_records_in_the_order_that_is_seen() {
    let source = fixture("opencode/one-call.json");
    let (from, to) = (format("opencode"), format("clido"));
    let written = there(&source, from, to, CarryMode::Inline);
    let mut moved = written_lines(&written.bytes);
    moved.swap(1, 2);
    let (restored, report) = home(&inline(&moved), to, from);
    assert_eq!((report.restored.moved, report.restored.edited), (1, 0));
    let [mut expected, found] =
        [&source, &restored].map(|bytes| serde_json::from_slice::<serde_json::Value>(bytes));
    let messages = expected.as_mut().expect("JSON")["messages"].as_array_mut().expect("messages");
    messages.swap(0, 1);
    assert_eq!(found.expect("JSON"), expected.expect("JSON"));
}

#[test]
fn every_source_record_comes_home_from_moved_lines() {
    // The pieces of a damaged line are joined only if they follow each other.
    for fixture in fixtures().into_iter().filter(|it| !it.name.starts_with("damaged/")) {
        let Some(from) = by_name(&fixture.format).filter(|from| !from.framing.is_document()) else {
            continue;
        };
        let trimmed = |bytes: &[u8]| {
            let mut lines: Vec<Vec<u8>> =
                lines(bytes).iter().map(|line| line.trim_ascii().to_vec()).collect();
            lines.sort_unstable();
            lines
        };
        let modes = [CarryMode::Inline, CarryMode::Sidecar];
        let targets = line_targets().filter(|to| to.name != from.name);
        let ways = targets.flat_map(|to| modes.map(|mode| (to, mode)));
        for (to, mode) in chosen(&fixture.name, ways, 1) {
            let written = there(&fixture.bytes, from, to, mode);
            let all = lines(&written.bytes);
            let mut orders = vec![all.clone(); 3];
            if let [reversed, first_is_last, swapped] = &mut orders[..]
                && all.len() > 1
            {
                reversed.reverse();
                first_is_last.rotate_left(1);
                swapped.swap(0, 1);
            }
            for (order, bytes) in orders.iter().enumerate() {
                let changed = Written { bytes: bytes.concat(), sidecar: written.sidecar.clone() };
                let (restored, report) = home(&changed, to, from);
                let what = format!("{} to {} {mode:?}, order {order}", fixture.name, to.name);
                assert_eq!(report.restored.edited, 0, "{what}: {report:?}");
                assert!(trimmed(&restored) == trimmed(&fixture.bytes), "{what}: {report:?}");
            }
        }
    }
}

/// A document with another value at a path.
fn with_member(written: &Written, path: &str, value: &serde_json::Value) -> Written {
    let mut document: serde_json::Value = serde_json::from_slice(&written.bytes).expect("JSON");
    let (parent, key) = path.rsplit_once('/').expect("a path");
    document.pointer_mut(parent).expect(path)[key] = value.clone();
    Written { bytes: document.to_string().into_bytes(), sidecar: written.sidecar.clone() }
}

/// OpenCode changes no message that it has stored, and members of the session only when it imports them; then it adds
/// `path`.
#[test]
fn members_that_opencode_does_not_change_are_edited() {
    let (from, to) = (format("claude-code"), format("opencode"));
    let source = fixture(SAMPLE);
    for carry in [CarryMode::Inline, CarryMode::Sidecar] {
        let written = there(&source, from, to, carry);
        let mut imported = with_member(&written, "/info/path", &"home/ada".into());
        for (path, value) in [
            ("/info/directory", "/home/ada/other".into()),
            ("/info/projectID", "f00d".into()),
            ("/info/agent", "build".into()),
            ("/info/cost", 0.5.into()),
            ("/info/time/updated", 1_796_024_895_361_u64.into()),
        ] {
            imported = with_member(&imported, path, &value);
        }
        let (restored, report) = home(&imported, to, from);
        let is_said = report.restored.is_not_the_source();
        assert!(restored == source && !is_said, "{carry:?}: {:?}", report.restored);
        for (path, in_store) in [
            ("/info/slug", true),
            ("/info/version", true),
            ("/info/revert", true),
            ("/info/directory", false),
            ("/info/projectID", false),
            ("/info/time/updated", false),
            ("/messages/0/info/agent", true),
            ("/messages/0/info/model/modelID", true),
            ("/messages/1/info/cost", true),
            ("/messages/1/info/tokens/input", true),
            ("/messages/1/info/path/cwd", true),
        ] {
            let edited = with_member(&written, path, &7.into());
            let (_, report) = home(&edited, to, from);
            assert!(report.restored.is_not_the_source(), "{carry:?} {path}: {report:?}");
            let edited = with_member(&imported, path, &7.into());
            let (_, report) = home(&edited, to, from);
            assert_eq!(report.restored.is_not_the_source(), in_store, "{carry:?} {path}");
        }
    }
}

/// The totals of an ATIF document come behind its steps, so that no carry has a guard of them. Added steps may be in
/// them or not.
#[test]
fn totals_of_atif_that_are_no_sums_are_said() {
    let (from, to) = (format("claude-code"), format("atif"));
    let source = fixture(SAMPLE);
    for carry in [CarryMode::Inline, CarryMode::Sidecar] {
        let written = there(&source, from, to, carry);
        for (path, value) in [
            ("/final_metrics/total_steps", 77.into()),
            ("/final_metrics/total_prompt_tokens", 77.into()),
            ("/final_metrics/total_cost_usd", 0.5.into()),
            ("/final_metrics", serde_json::Value::Null),
        ] {
            let (_, report) = home(&with_member(&written, path, &value), to, from);
            let stats = report.restored;
            assert_eq!((stats.wrong_totals, stats.edited), (1, 0), "{carry:?} {path}");
            assert!(stats.is_not_the_source());
        }
        let document: serde_json::Value = serde_json::from_slice(&written.bytes).expect("JSON");
        let mut steps = document["steps"].as_array().expect("steps").clone();
        let step = serde_json::json!({"step_id": 99, "source": "user", "message": "Added."});
        steps.push(step);
        let n_steps = steps.len();
        let added = with_member(&written, "/steps", &steps.into());
        for n_steps in [n_steps, n_steps - 1] {
            let path = "/final_metrics/total_steps";
            let added = with_member(&added, path, &n_steps.into());
            let stats = home(&added, to, from).1.restored;
            assert_eq!((stats.added, stats.is_not_the_source()), (1, false), "{carry:?}");
        }
    }
}

/// The head of a document has no record, and is edited, not missing, where its carry is in a sidecar.
#[test]
fn an_edited_head_of_a_document_is_edited() {
    let (from, source) = (format("claude-code"), fixture(SAMPLE));
    for (to, path) in [("opencode", "/info/slug"), ("atif", "/session_id")] {
        let to = format(to);
        for carry in [CarryMode::Inline, CarryMode::Sidecar] {
            let written = there(&source, from, to, carry);
            let (_, report) = home(&with_member(&written, path, &"other".into()), to, from);
            let stats = report.restored;
            assert_eq!((stats.edited, stats.missing), (1, 0), "{carry:?} {path}: {stats:?}");
        }
    }
}

/// The head of another session has a carry with the ordinal 0 and no entry, as the head of this one.
#[test]
fn the_head_of_another_session_is_said() {
    for to in ["pi", "gemini", "copilot", "sdk-stream"] {
        let (from, to) = (format("claude-code"), format(to));
        let source = fixture(SAMPLE);
        let text = String::from_utf8(source.clone()).expect("text");
        let session = "3285ccd6-44df-46ab-bebf-94ec7fdee0c4";
        assert!(text.contains(session));
        let other = text.replace(session, "3285ccd6-44df-46ab-bebf-94ec7fdee0c5");
        let written = there(&source, from, to, CarryMode::Inline);
        let other = there(other.as_bytes(), from, to, CarryMode::Inline);
        let lines = |written: &Written| -> Vec<Vec<u8>> {
            jsonl::lines(&written.bytes).map(|line| line.bytes().to_vec()).collect()
        };
        let (ours, theirs) = (lines(&written), lines(&other));
        assert_ne!(ours[0], theirs[0], "{}", to.name);
        let mixed = [&theirs[..1], &ours[1..]].concat().concat();
        let (_, report) = home(&Written { bytes: mixed, sidecar: None }, to, from);
        assert!(report.restored.is_not_the_source(), "{}: {report:?}", to.name);
        assert!(!home(&written, to, from).1.restored.is_not_the_source(), "{}", to.name);
    }
}
