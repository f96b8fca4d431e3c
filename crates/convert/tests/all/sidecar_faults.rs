//! Tests of sidecars whose carries were doubled, removed or damaged: the source is restored, or the
//! report says that it is not.

use std::{fs, path::Path, process::Command};

use convert::{Carry, CarryMode, Conversion, Converted, FORMATS, Report, Sidecar, by_name};
use core_model::{Format, Options};

use crate::shared::{
    fixtures::fixtures,
    program::run,
    turns::{chosen, turn},
    ways::{Written, convert, line_targets, others},
};

/// Nothing in a written file tells that its sidecar is gone, but a journal, a sidecar of another name, and the file of a
/// sub-agent beside it do.
#[test]
fn a_missing_sidecar_is_said_if_something_proves_it() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/claude-code");
    let folder = tempfile::tempdir().expect("a folder");
    let run = |args: &[&str]| run(folder.path(), args);
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("in/deep")).expect("created");
    for (source, name) in [
        ("plain.jsonl", "in/a.jsonl"),
        ("titles.jsonl", "in/deep/b.jsonl"),
        ("one-tool-call.jsonl", "in/c.jsonl"),
    ] {
        fs::copy(fixtures.join(source), path(name)).expect("copied");
    }
    assert_eq!(run(&["in", "--to", "pi", "--carry", "sidecar", "-o", "out"]).0, Some(0));
    let said = |file: &str, options: &[&str]| {
        let (status, words) =
            run(&[&[file, "--to", "claude-code", "-o", "home.jsonl", "--force"], options].concat());
        let is_said = words.contains("its carry is missing");
        assert_eq!(status == Some(1), is_said, "{words}");
        words.lines().find(|line| line.contains("its carry is missing")).map(str::to_owned)
    };
    assert_eq!(said("out/deep/b.jsonl", &[]), None);
    fs::rename(path("out/deep/b.jsonl.carry"), path("b.carry")).expect("moved");
    let words = said("out/deep/b.jsonl", &[]).expect("said");
    assert!(words.contains("the journal of the folder lists b.jsonl.carry"), "{words}");
    assert_eq!(said("out/deep/b.jsonl", &["--ignore-carry"]), None);
    fs::rename(path("b.carry"), path("out/deep/b.jsonl.carry")).expect("moved");
    // The file has another name, and its sidecar the old one.
    fs::rename(path("out/a.jsonl"), path("out/new.jsonl")).expect("renamed");
    let words = said("out/new.jsonl", &[]).expect("said");
    assert!(words.contains("a.jsonl.carry beside it has the carry of its records"), "{words}");
    assert!(words.contains("rename it to new.jsonl.carry"), "{words}");
    // A session of its client beside it has no carry.
    assert_eq!(
        run(&["in/c.jsonl", "--to", "pi", "--carry", "none", "-o", "out/n.jsonl"]).0,
        Some(0)
    );
    assert_eq!(said("out/n.jsonl", &[]), None);
    // An output that was written anew without a sidecar.
    fs::remove_file(path("out/c.jsonl.carry")).expect("removed");
    assert!(said("out/c.jsonl", &[]).is_some());
    let anew = ["in", "--to", "pi", "--carry", "none", "-o", "out", "--force"];
    assert_eq!(run(&anew).0, Some(0));
    assert_eq!(said("out/c.jsonl", &[]), None);
    // The file of a sub-agent has a carry of its own.
    let source = fixtures.join("with-agents/96d642c4-88cf-4d27-ae87-d9f4303e6ddf.jsonl");
    let source = source.display().to_string();
    for (carry, n_said) in [("sidecar", 1), ("none", 0)] {
        let main = format!("{carry}/s1.jsonl");
        assert_eq!(run(&[&source, "--to", "codex", "--carry", carry, "-o", &main]).0, Some(0));
        _ = fs::remove_file(path(&format!("{main}.carry")));
        let words = said(&main, &[]);
        assert_eq!(words.iter().len(), n_said, "{carry}");
        assert!(words.is_none_or(|words| words.contains("agent-a7f3c21.jsonl, a sub-agent of it")));
    }
    // A pipe with the name of a journal, in a folder above, holds nobody up.
    #[cfg(unix)]
    {
        let journal = path("none/.convert-journal.jsonl");
        assert!(Command::new("mkfifo").arg(journal).status().is_ok_and(|it| it.success()));
        assert_eq!(said("none/s1.jsonl", &[]), None);
    }
}

/// The first carry names the files of the session, wherever it is in the sidecar.
#[test]
fn a_session_of_several_files_is_restored_from_a_sidecar_in_another_order() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/claude-code");
    let folder = tempfile::tempdir().expect("a folder");
    let run = |args: &[&str]| run(folder.path(), args);
    let source = fixtures.join("with-agents/96d642c4-88cf-4d27-ae87-d9f4303e6ddf.jsonl");
    let source = source.display().to_string();
    let there = ["--to", "sdk-stream", "--carry", "sidecar", "-o", "there/s1.jsonl"];
    assert_eq!(run(&[&[&*source], &there[..]].concat()).0, Some(0));
    let sidecar = folder.path().join("there/s1.jsonl.carry");
    let mut carries = carries(&fs::read(&sidecar).expect("a sidecar"));
    carries.reverse();
    fs::write(&sidecar, sidecar_of(&carries)).expect("written");
    let (_, words) = run(&["there/s1.jsonl", "--to", "claude-code", "-o", "home/s1.jsonl"]);
    let home = folder.path().join("home/s1/subagents/agent-a7f3c21.jsonl");
    assert!(home.is_file() && !words.contains("-o only"), "{words}");
}

const MAGIC: &str = "carry 2\n";

/// Returns the carries of a sidecar.
fn carries(sidecar: &[u8]) -> Vec<String> {
    let text = zstd::decode_all(sidecar).expect("zstd");
    let text = String::from_utf8(text).expect("text");
    let mut rest = text.strip_prefix(MAGIC).expect("version 2");
    let mut carries = Vec::new();
    while let Some((length, after)) = rest.split_once(':') {
        let length = usize::from_str_radix(length, 36).expect("a length");
        carries.push(after[..length].to_owned());
        rest = after[length..].strip_prefix('\n').expect("a newline");
    }
    carries
}

/// Returns the sidecar with these carries.
fn sidecar_of(carries: &[String]) -> Vec<u8> {
    let mut text = MAGIC.to_owned();
    for carry in carries {
        let (mut length, mut digits) = (carry.len() as u32, Vec::new());
        while length > 0 || digits.is_empty() {
            digits.push(char::from_digit(length % 36, 36).expect("a digit"));
            length /= 36;
        }
        text.extend(digits.iter().rev());
        text = text + ":" + carry + "\n";
    }
    zstd::encode_all(text.as_bytes(), 1).expect("in memory")
}

fn home(written: &[u8], carries: &[String], from: &Format, to: &Format) -> (Written, Report) {
    let format = |format: &Format| by_name(format.name).expect("a format");
    let conversion = Conversion {
        formats: FORMATS,
        from: format(from),
        to: format(to),
        carry: CarryMode::Inline,
        options: Options::default(),
    };
    let sidecar = Sidecar::read(&sidecar_of(carries)[..]).expect("a sidecar");
    let Converted { bytes, sidecar, report } =
        conversion.convert(written, Some(sidecar)).expect("in memory");
    (Written { bytes, sidecar }, report)
}

/// Calls a function with the fixtures that have a sidecar, their names, formats and targets, and the
/// carries.
fn each_sidecar(mut each: impl FnMut(&str, &[u8], [&'static Format; 2], &[u8], Vec<String>)) {
    let mut n_sidecars = 0;
    for fixture in fixtures() {
        let Some(from) = by_name(&fixture.format) else { continue };
        let targets = line_targets().filter(|to| to.name != from.name);
        for to in chosen(&fixture.name, targets, 1) {
            let source = Written { bytes: fixture.bytes.clone(), sidecar: None };
            let written = convert(&source, from, to, CarryMode::Sidecar).expect("in memory");
            let Some(sidecar) = written.sidecar else { continue };
            n_sidecars += 1;
            let carries = carries(&sidecar);
            let (back, _) = home(&written.bytes, &carries, to, from);
            assert!(back.bytes == fixture.bytes, "{}", fixture.name);
            each(&fixture.name, &fixture.bytes, [from, to], &written.bytes, carries);
        }
    }
    assert!(n_sidecars > 50, "{n_sidecars} sidecars");
}

/// An added record names a folder before the records of the source do. No record was edited, so the source keeps its folder.
#[test]
fn an_added_folder_does_not_go_into_the_source() {
    let [from, to] = ["codex", "sdk-stream"].map(|name| by_name(name).expect("a format"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/codex/wrong-types.jsonl");
    let bytes = fs::read(path).expect("a fixture");
    let source = Written { bytes, sidecar: None };
    let written = convert(&source, from, to, CarryMode::Sidecar).expect("in memory");
    let carries = carries(&written.sidecar.expect("a sidecar"));
    let added = r#"{"subtype": "init", "data": {"type": "system", "subtype": "init", "session_id": "s", "cwd": "/other", "tools": []}}"#;
    let mut lines: Vec<&[u8]> = written.bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let added = format!("{added}\n");
    lines.insert(1, added.as_bytes());
    let (restored, report) = home(&lines.concat(), &carries, to, from);
    assert_eq!((report.restored.added, report.restored.edited), (1, 0), "{:?}", report.restored);
    let first = source.bytes.split_inclusive(|byte| *byte == b'\n').next().expect("a line");
    let restored = String::from_utf8(restored.bytes).expect("text");
    assert!(restored.contains(std::str::from_utf8(first).expect("text")), "{restored}");
}

#[test]
fn a_sidecar_that_names_the_format_of_its_file_is_said() {
    let [from, to] = ["opencode", "codex"].map(|name| by_name(name).expect("a format"));
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/opencode/compaction.json");
    let bytes = fs::read(path).expect("a fixture");
    let written = convert(&Written { bytes, sidecar: None }, from, to, CarryMode::Sidecar);
    let Written { bytes, sidecar } = written.expect("in memory");
    let mut carries = carries(&sidecar.expect("a sidecar"));
    for n_unread in [0, 1] {
        let (_, report) = home(&bytes, &carries, to, from);
        assert_eq!(report.n_sidecars_unread, n_unread);
        carries[0] = carries[0].replacen("F8:opencode", "F5:codex", 1);
    }
}

#[test]
fn a_carry_that_is_in_the_sidecar_twice_is_restored_once_and_said() {
    each_sidecar(|name, source, [from, to], written, mut carries| {
        let doubled = name.len() % carries.len();
        // Behind its first copy, and at the end.
        for place in [doubled, carries.len()] {
            carries.insert(place, carries[doubled].clone());
            let (restored, report) = home(written, &carries, to, from);
            assert!(report.restored.is_not_the_source(), "{name} to {}: {report:?}", to.name);
            // Records that are equal may have taken each other's carries.
            if report.restored.doubled == 1 && report.restored.missing == 0 {
                assert_eq!(report.restored.doubled_carries, 1, "{name} to {}", to.name);
                assert!(restored.bytes == source, "{name} to {}: {report:?}", to.name);
            }
            carries.remove(place);
        }
    });
}

#[test]
fn a_carry_that_is_not_in_the_sidecar_is_said() {
    each_sidecar(|name, source, [from, to], written, mut carries| {
        if carries.len() > 1 {
            carries.remove(name.len() % carries.len());
            let (restored, report) = home(written, &carries, to, from);
            let is_said = report.restored.is_not_the_source();
            assert!(is_said || restored.bytes == source, "{name} to {}: {report:?}", to.name);
        }
    });
}

/// A sidecar is written with its first carry, so one without a carry was cut. A restored file has none.
#[test]
fn a_sidecar_without_a_carry_is_said() {
    each_sidecar(|name, source, [from, to], written, carries| {
        let (_, report) = home(written, &[], to, from);
        assert_eq!(report.restored.cut, 1, "{name} to {}: {report:?}", to.name);
        assert!(report.wants_attention());
        let sidecar = Some(sidecar_of(&carries));
        let written = Written { bytes: written.to_owned(), sidecar };
        let back = convert(&written, to, from, CarryMode::Sidecar).expect("in memory");
        assert!(back.bytes == source && back.sidecar.is_none(), "{name} to {}", to.name);
    });
}

#[test]
fn a_chain_says_a_carry_whose_record_is_not_in_the_file() {
    each_sidecar(|name, _, [from, to], written, mut carries| {
        let thirds: Vec<_> = others(&[from, to]).collect();
        let third = thirds[(name.len() + turn()) % thirds.len()];
        let ways = [from, to, third].map(|format| format.name);
        let (_, report) = home(written, &carries, to, third);
        assert!(!report.restored.is_not_the_source(), "{name} {ways:?}: {report:?}");
        // The guard of another record.
        let changed = name.len() % carries.len();
        let carry = &mut carries[changed];
        let guard = carry.find("Gb:").expect("a guard") + 3;
        carry.replace_range(guard..guard + 11, "AAAAAAAAAAA");
        let (chained, report) = home(written, &carries, to, third);
        assert_eq!(report.restored.missing, 1, "{name} {ways:?}: {report:?}");
        assert!(report.wants_attention());
        // The carry goes on.
        let again = convert(&chained, third, to, CarryMode::Inline).expect("in memory");
        assert!(again.bytes == written, "{name} {ways:?}");
    });
}

#[test]
fn carries_of_a_sidecar_that_cannot_be_read_are_said_and_go_on() {
    each_sidecar(|name, _, [from, to], written, carries| {
        let n_carries = carries.len() as u64;
        let unknown = |carry: &String| carry.replacen(from.name, &"x".repeat(from.name.len()), 1);
        let newer = |carry: &String| format!("3{}", &carry[1..]);
        let damaged = |carry: &String| format!("{}\u{1}", &carry[..carry.len() - 1]);
        // The first one: the others are restored.
        for change in [&unknown as &dyn Fn(&String) -> String, &newer] {
            let mut first = carries.clone();
            first[0] = change(&first[0]);
            let (_, report) = home(written, &first, to, from);
            assert!(report.restored.is_not_the_source(), "{name} to {}: {report:?}", to.name);

            let all: Vec<_> = carries.iter().map(change).collect();
            let (native, report) = home(written, &all, to, from);
            assert_eq!(report.restored.newer, n_carries, "{name} to {}: {report:?}", to.name);
            assert!(report.wants_attention());
            // The bytes of the carries go on: the way back gives the file.
            let again = convert(&native, from, to, CarryMode::Inline).expect("in memory");
            assert!(again.bytes == written, "{name} to {}", to.name);
        }
        let mut first = carries.clone();
        first[0] = damaged(&first[0]);
        let (_, report) = home(written, &first, to, from);
        assert!(report.restored.is_not_the_source(), "{name} to {}: {report:?}", to.name);
    });
}

/// Splits a carry into its head, its entries and its end mark.
fn split(carry: &str) -> (&str, &str, &str) {
    let mut n_head = 1;
    while !carry[n_head..].starts_with(';') {
        let (length, _) = carry[n_head + 1..].split_once(':').expect("a length");
        n_head += 2 + length.len() + usize::from_str_radix(length, 36).expect("a number");
    }
    let has_end = Carry::parse(carry).expect("a carry").end.is_some();
    let n_end = if has_end { carry.rfind('!').expect("an end mark") } else { carry.len() };
    (&carry[..=n_head], &carry[n_head + 1..n_end], &carry[n_end..])
}

#[test]
fn entries_that_are_gone_or_doubled_are_said() {
    each_sidecar(|name, source, [from, to], written, mut carries| {
        let with_entries = |carry: &&String| !split(carry).1.is_empty();
        let places: Vec<_> = (0..carries.len()).filter(|n| with_entries(&&carries[*n])).collect();
        for place in chosen(name, places.into_iter(), 2) {
            let whole = carries[place].clone();
            let (head, entries, end) = split(&whole);
            carries[place] = format!("{head}{end}");
            let (_, report) = home(written, &carries, to, from);
            assert!(report.restored.is_not_the_source(), "{name} to {}, gone: {report:?}", to.name);
            carries[place] = format!("{head}{entries}{entries}{end}");
            let (restored, report) = home(written, &carries, to, from);
            assert!(report.restored.is_not_the_source(), "{name} to {}: {report:?}", to.name);
            assert!(report.restored.doubled > 0, "{name} to {}: {report:?}", to.name);
            assert!(restored.bytes == source, "{name} to {}, doubled: {report:?}", to.name);
            carries[place] = whole;
        }
    });
}

#[test]
fn a_first_carry_of_another_format_is_said() {
    each_sidecar(|name, source, [from, to], written, mut carries| {
        let other = others(&[from, to]).next().expect("a format").name;
        let old = format!("2F{}:{}G", digit(from.name.len()), from.name);
        let new = format!("2F{}:{other}G", digit(other.len()));
        carries[0] = carries[0].replacen(&old, &new, 1);
        let (home, report) = home(written, &carries, to, from);
        let is_said = report.restored.unused > 0 || carries.len() == 1;
        assert!(is_said || home.bytes == source, "{name} to {}: {report:?}", to.name);
    });
}

/// A session of `n` prompts goes to pi, to clido, gets a turn there, and comes back to pi: the old records have their
/// carries inline, and the sidecar has the carry of the new one.
#[test]
fn a_sidecar_of_the_last_records_is_read_however_long_the_file_is() {
    let [claude, clido, pi] =
        ["claude-code", "clido", "pi"].map(|name| by_name(name).expect("a format"));
    for n_prompts in [3, 100] {
        let prompt = |n: usize| {
            let parent = if n == 0 { "null".to_owned() } else { format!("\"u{}\"", n - 1) };
            format!(
                r#"{{"parentUuid":{parent},"isSidechain":false,"cwd":"/p","sessionId":"s1","version":"2.1.5","type":"user","message":{{"role":"user","content":"Prompt {n}."}},"uuid":"u{n}","timestamp":"2026-01-01T10:00:{:02}.000Z"}}"#,
                n % 60
            ) + "\n"
        };
        let source: String = (0..n_prompts).map(prompt).collect();
        let source = Written { bytes: source.into_bytes(), sidecar: None };
        let there = convert(&source, claude, pi, CarryMode::Inline).expect("in memory");
        let mut far = convert(&there, pi, clido, CarryMode::Inline).expect("in memory");
        let added = r#"{"type":"user_message","role":"user","content":[{"text":"More.","type":"text"}],"note":1}"#;
        far.bytes.extend([added.as_bytes(), b"\n"].concat());
        let back = convert(&far, clido, pi, CarryMode::Sidecar).expect("in memory");
        assert!(back.bytes.starts_with(&there.bytes) && back.sidecar.is_some());
        let restored = convert(&back, pi, claude, CarryMode::Inline).expect("in memory");
        assert!(restored.bytes.starts_with(&source.bytes), "{n_prompts}");
        // The record of clido is in the carry of the new record, with its own member.
        let text = String::from_utf8(restored.bytes).expect("text");
        let last = text.lines().next_back().expect("a line");
        assert!(last.contains("More.") && last.contains("note"), "{n_prompts}: {last}");

        // The sidecar of another file is left aside, and said.
        let other = source.bytes.repeat(2);
        let other = Written { bytes: other, sidecar: None };
        let other = convert(&other, claude, pi, CarryMode::Sidecar).expect("in memory");
        let other = carries(&other.sidecar.expect("a sidecar"));
        for (carries, n_unread) in [(&other[..0], 0), (&other[..], 1)] {
            let (restored, report) = home(&there.bytes, carries, pi, claude);
            assert!(restored.bytes == source.bytes, "{n_prompts}");
            assert_eq!(report.n_sidecars_unread, n_unread, "{n_prompts}");
        }
    }
}

fn digit(n: usize) -> char {
    char::from_digit(n as u32, 36).expect("a short name")
}

/// A start that another program added in front has its own folder, and the source keeps its own.
#[test]
fn a_start_in_front_of_the_first_record_changes_no_other() {
    let [clido, pi] = ["clido", "pi"].map(|name| by_name(name).expect("a format"));
    let start = concat!(
        r#"{"type":"session","version":3,"id":"01a204d9-c1ad-7020-8220-65475b8a1298","#,
        r#""timestamp":"2026-03-01T10:00:00.000Z","cwd":"/tmp/elsewhere"}"#,
        "\n"
    );
    let mut n_sources = 0;
    for fixture in fixtures().into_iter().filter(|fixture| fixture.format == "clido") {
        let source = Written { bytes: fixture.bytes.clone(), sidecar: None };
        let written = convert(&source, clido, pi, CarryMode::Sidecar).expect("in memory");
        let Some(sidecar) = written.sidecar else { continue };
        let has_start = String::from_utf8_lossy(&fixture.bytes).contains("project_path");
        if !has_start {
            continue;
        }
        n_sources += 1;
        let longer = [start.as_bytes(), &written.bytes].concat();
        let (restored, report) = home(&longer, &carries(&sidecar), pi, clido);
        assert!(restored.bytes.ends_with(&fixture.bytes), "{}: {report:?}", fixture.name);
        assert_eq!((report.restored.added, report.restored.edited), (1, 0), "{}", fixture.name);
    }
    assert!(n_sources > 5, "{n_sources}");
}

/// Creates something at the path of a sidecar.
type Make = Box<dyn FnOnce(&Path)>;

#[test]
fn a_sidecar_that_is_none_is_named_and_ignore_carry_leaves_it_out() {
    let source = concat!(
        r#"{"type":"meta","session_id":"s","schema_version":1,"start_time":"2026-01-01T00:00:00.000Z","project_path":"/p"}"#,
        "\n",
        r#"{"type":"user_message","role":"user","content":[{"text":"What?","type":"text"}]}"#,
        "\n"
    );
    let packed = |text: &str| zstd::encode_all(text.as_bytes(), 1).expect("in memory");
    let damaged = "not a sidecar, or a damaged one";
    let no_file = "the sidecar is no file";
    let file = |bytes: Vec<u8>| move |path: &Path| fs::write(path, bytes).expect("written");
    let mut cases: Vec<(Make, &str)> = vec![
        (Box::new(file(b"junk".to_vec())), damaged),
        (Box::new(file(Vec::new())), damaged),
        (Box::new(file(packed("hello\n"))), damaged),
        (Box::new(file(packed("carry 3\n"))), "carry of a newer version"),
        (Box::new(|path| fs::create_dir(path).expect("made")), no_file),
    ];
    #[cfg(unix)]
    cases.push((
        Box::new(|path| std::os::unix::fs::symlink("gone", path).expect("a link")),
        no_file,
    ));
    for (at, (make, why)) in cases.into_iter().enumerate() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        fs::write(folder.join("s.jsonl"), source).expect("written");
        make(&folder.join("s.jsonl.carry"));
        let to = ["s.jsonl", "--to", "claude-code", "-o", "o.jsonl"];
        let (status, said) = run(folder, &to);
        assert_eq!(status, Some(2), "{at}: {said}");
        assert!(said.contains(&format!("s.jsonl.carry: {why}")), "{at}: {said}");
        assert!(said.contains("--ignore-carry"), "{at}: {said}");
        assert!(!folder.join("o.jsonl").exists(), "{at}");
        let (status, said) = run(folder, &[&to[..], &["--ignore-carry"]].concat());
        assert_eq!(status, Some(0), "{at}: {said}");
        assert!(folder.join("o.jsonl").exists(), "{at}");
    }
}

/// A run over a folder hashes sidecars, but reads no sparse file to its end.
#[cfg(unix)]
#[test]
fn a_large_file_that_is_no_sidecar_is_refused_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    fs::create_dir(folder.join("in")).expect("made");
    let source = r#"{"type":"user","uuid":"u1","message":{"role":"user","content":"Hi"}}"#;
    fs::write(folder.join("in/s.jsonl"), source).expect("written");
    let sidecar = fs::File::create(folder.join("in/s.jsonl.carry")).expect("created");
    // Some file systems have no sparse files of this size.
    if sidecar.set_len(1 << 40).is_err() {
        return;
    }
    let (status, said) = run(folder, &["in", "--to", "clido", "-o", "out"]);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("s.jsonl.carry: not a sidecar"), "{said}");
}
