//! Documents: files that are one JSON value, with records and glue instead of lines.

mod book;

use std::{
    fs,
    io::{self, Cursor},
    path::Path,
};

use conversion::{Events, OtherTarget, Target, without_carry};
use convert::{
    Carry, CarryMode, Conversion, Converted, Detected, EntryKind, ManifestEntryKind, Member, Piece,
    RestoreStats, Sidecar, Source,
};
use core_model::{Format, Options};
use export_html::{Page, Survey};
use jsonl::{Document, ErrorKind, Records, Scanner, UnitScanner};
use sessions::{Input, Needle, Prefilter, Session, SessionEvents, SessionPlace, parts};
use storage::{Backend, Interruption};

use book::{BOOK, FORMATS, SHELF};

const MODES: [CarryMode; 2] = [CarryMode::Inline, CarryMode::Sidecar];

fn format(name: &str) -> &'static Format {
    FORMATS.by_name(name).expect(name)
}

fn run(
    from: &'static Format,
    to: &'static Format,
    carry: CarryMode,
    source: &[u8],
    sidecar: Option<&[u8]>,
) -> Converted {
    let conversion = Conversion { formats: FORMATS, from, to, carry, options: Options::default() };
    let sidecar =
        sidecar.map(|bytes| Sidecar::open(Cursor::new(bytes.to_vec())).expect("a sidecar"));
    conversion.convert(source, sidecar).expect("converted")
}

/// A document of a test format, as its client prints it with two spaces.
fn session(name: &str) -> String {
    let document = serde_json::json!({
        "info": { name: 1, "id": "s1", "cwd": "/home/ada", "created": "2026-01-01T10:00:00.000Z" },
        "messages": [
            { name: 1, "id": "m1", "role": "user", "time": "2026-01-01T10:00:01.000Z",
              "content": [{ "kind": "text", "text": "List the files, please: é \"x\" {]} \n end" }] },
            { name: 1, "id": "m2", "role": "assistant", "time": "2026-01-01T10:00:02.000Z",
              "content": [
                  { "kind": "text", "text": "I look." },
                  { "kind": "call", "id": "t1", "name": "Bash",
                    "input": { "command": "ls -l /home/ada", "options": { "deep": [1, 2.50, {}, []] } } },
              ] },
            { name: 1, "id": "m3", "role": "user", "time": "2026-01-01T10:00:03.000Z",
              "content": [{ "kind": "result", "id": "t1", "output": "a.rs\nb.rs" }] },
            { name: 1, "id": "m4", "role": "odd", "content": { "some": ["thing", "else"] } },
            { name: 1, "id": "m5", "role": "assistant", "time": "2026-01-01T10:00:05.000Z",
              "content": [{ "kind": "text", "text": "Two files: a.rs and b.rs." }] },
        ],
        "total": { "messages": 5, "tokens": [1, 2] },
    });
    serde_json::to_string_pretty(&document).expect("JSON") + "\n"
}

/// The same document in other spellings.
fn spellings(name: &str) -> Vec<(&'static str, String)> {
    let pretty = session(name);
    let value: serde_json::Value = serde_json::from_str(&pretty).expect("JSON");
    let compact = value.to_string();
    let head = format!("\"info\": {},", value["info"]);
    vec![
        ("compact", compact.clone()),
        ("one record on each line", compact.replace(",{\"", ",\n{\"")),
        ("four spaces and CRLF", pretty.replace("  ", "    ").replace('\n', "\r\n")),
        ("byte order mark", format!("\u{feff}{pretty}")),
        ("no messages", format!("{{{head} \"messages\": []}}")),
        ("no array", format!("{{{head} \"n\": 1}}\n")),
        ("an item that is no record", pretty.replace("\"messages\": [", "\"messages\": [null, 7,")),
        ("nested arrays", pretty.replace(
            "\"total\"",
            &format!("\"agents\": [ {{\"messages\": {}, \"n\": 1}}, {{\"messages\": []}} ], \"total\"", value["messages"]),
        )),
        ("torn", pretty[..pretty.len() * 2 / 3].to_owned()),
        ("torn between records", pretty[..pretty.find("\"m3\"").expect("there") - 30].to_owned()),
        ("torn head", pretty[..40].to_owned()),
        ("a lost block", pretty.replace("\"role\": \"user\"", "\0\0\0\0\0\0\0\0")),
        ("two documents", pretty.repeat(2)),
        ("a lost quote", pretty.replacen("\"I look.\"", "\"I look.", 1)),
        ("messages first", {
            let (messages, info) = (&value["messages"], &value["info"]);
            format!("{{\"messages\": {messages}, \"info\": {info}}}")
        }),
        ("pretty", pretty),
    ]
}

/// Returns the carries of a written file, of lines or of a document.
fn carries(format: &Format, bytes: &[u8]) -> Vec<String> {
    let (mut records, mut units) = (Records::new(bytes, format.framing), UnitScanner::default());
    let mut found = Vec::new();
    while let Some(unit) = records.next().expect("a slice") {
        if let (_, Ok(value)) = units.scan(&unit, format.framing.paths())
            && let Some(member) = Member::find(value, format)
        {
            found.push(member.carry.into_owned());
        }
    }
    found
}

#[test]
fn documents_come_back_from_every_format() {
    for name in ["book", "shelf"] {
        for (spelling, source) in spellings(name) {
            let from = format(name);
            for to in FORMATS.iter().filter(|to| to.name != name) {
                for carry in MODES {
                    let place = format!("{name} as {spelling} to {} {carry:?}", to.name);
                    let there = run(from, to, carry, source.as_bytes(), None);
                    if !to.framing.is_document() {
                        let is_line =
                            |line: &[u8]| serde_json::from_slice::<serde_json::Value>(line).is_ok();
                        let mut lines = jsonl::lines(&there.bytes);
                        assert!(lines.all(|line| is_line(line.content())), "{place}");
                    }
                    let back = run(to, from, carry, &there.bytes, there.sidecar.as_deref());
                    assert_eq!(String::from_utf8_lossy(&back.bytes), source, "{place}");
                    // The test format has no pictures.
                    let stats = RestoreStats { differs: 0, ..back.report.restored };
                    assert!(!stats.is_not_the_source() && stats.added == 0, "{place}: {stats:?}");
                }
            }
        }
    }
}

/// Returns the fixtures of a format.
fn fixtures(folder: &str) -> Vec<(String, Vec<u8>)> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/");
    let mut found = Vec::new();
    for entry in fs::read_dir(format!("{root}{folder}")).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            found.push((path.display().to_string(), fs::read(&path).expect("a fixture")));
        }
    }
    assert!(found.len() > 3, "{folder}");
    found
}

const SOURCES: [(&str, &str); 5] = [
    ("claude-code", "claude-code"),
    ("clido", "clido"),
    ("pi", "pi"),
    ("sdk-stream", "sdk-stream"),
    ("sdk-wire", "sdk-stream:wire"),
];

#[test]
fn sessions_come_back_from_a_document() {
    for (folder, from) in SOURCES {
        for (path, source) in fixtures(folder) {
            for to in [&BOOK, &SHELF] {
                for carry in MODES {
                    let place = format!("{path} to {} {carry:?}", to.name);
                    let there = run(format(from), to, carry, &source, None);
                    if !there.bytes.is_empty() {
                        assert_eq!(jsonl::validate(&there.bytes), Ok(()), "{place}");
                    }
                    let back = run(to, format(from), carry, &there.bytes, there.sidecar.as_deref());
                    assert!(back.bytes == source, "{place}: {:?}", back.report.restored);
                    // The test format has no pictures.
                    let stats = RestoreStats { differs: 0, ..back.report.restored };
                    assert!(!stats.is_not_the_source() && stats.added == 0, "{place}: {stats:?}");
                }
            }
        }
    }
}

#[test]
fn the_entries_of_a_document_are_its_records_and_glue() {
    let source = br#"{"info":{"book":1,"id":"s"},"messages":[{"book":1,"role":"user","content":"a"}, {"book":1}]}"#;
    let written = run(&BOOK, format("clido"), CarryMode::Inline, source, None).bytes;
    let mut found = Vec::new();
    for carry in carries(format("clido"), &written) {
        for entry in Carry::parse(&carry).expect("a carry").entries() {
            found.push((entry.offset, entry.is_glue, entry.kind));
        }
    }
    found.sort_by_key(|entry| entry.0);
    let places: Vec<_> = found.iter().map(|entry| (entry.0, entry.1)).collect();
    assert_eq!(places, [(0, true), (40, false), (78, true), (80, false), (90, true)]);
    let written =
        run(&BOOK, format("clido"), CarryMode::Inline, session("book").as_bytes(), None).bytes;
    let mut n_indented = 0;
    for carry in carries(format("clido"), &written) {
        let carry = Carry::parse(&carry).expect("a carry");
        let pieces = carry.entries().flat_map(|entry| entry.pieces());
        n_indented += pieces.filter(|piece| matches!(piece, Piece::Indented(..))).count();
    }
    assert_eq!(n_indented, 1, "the input of the tool use");
    assert_eq!(found[1].2, EntryKind::Own);
    assert_eq!(found[2].2, EntryKind::Held);
}

#[test]
fn records_of_a_format_that_is_written_anew_refer_to_nothing() {
    for (folder, from) in SOURCES {
        for (path, source) in fixtures(folder) {
            let written = run(format(from), &SHELF, CarryMode::Inline, &source, None).bytes;
            for carry in carries(&SHELF, &written) {
                let carry = Carry::parse(&carry).expect("a carry");
                assert!(carry.template.is_none(), "{path}");
                let is_literal =
                    |piece: Piece<'_>| matches!(piece, Piece::Literal(_) | Piece::Base64(_));
                assert!(carry.entries().all(|entry| entry.pieces().all(is_literal)), "{path}");
            }
        }
    }
}

/// Spells a value anew: members in reverse order at each level, four spaces, numbers with a point.
fn spell_anew(value: &serde_json::Value, indent: usize, out: &mut String) {
    let pad = " ".repeat(4 * indent + 4);
    match value {
        serde_json::Value::Object(members) => {
            out.push('{');
            for (n, (key, member)) in members.iter().rev().enumerate() {
                out.push_str(if n > 0 { ",\n" } else { "\n" });
                *out += &format!("{pad}{} : ", serde_json::to_string(key).expect("JSON"));
                spell_anew(member, indent + 1, out);
            }
            out.push('}');
        }
        serde_json::Value::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                out.push_str(if n > 0 { ",\n" } else { "\n" });
                out.push_str(&pad);
                spell_anew(item, indent + 1, out);
            }
            out.push(']');
        }
        serde_json::Value::Number(number) if number.is_u64() => *out += &format!("{number}.0"),
        serde_json::Value::String(text) => {
            out.push('"');
            for unit in text.encode_utf16() {
                *out += &format!("\\u{unit:04X}");
            }
            out.push('"');
        }
        other => *out += &other.to_string(),
    }
}

#[test]
fn a_document_that_is_written_anew_comes_back() {
    let mut n_anew = 0;
    for (folder, from) in SOURCES {
        for (path, source) in fixtures(folder) {
            for carry in MODES {
                let there = run(format(from), &SHELF, carry, &source, None);
                // serde_json refuses half a surrogate pair and numbers beyond a double.
                let Ok(mut value) = serde_json::from_slice::<serde_json::Value>(&there.bytes)
                else {
                    continue;
                };
                value["info"]["seen"] = serde_json::json!({ "at": 12 });
                value["info"]["updated"] = "2026-02-02".into();
                let mut anew = String::new();
                spell_anew(&value, 0, &mut anew);
                let (from, sidecar) = (format(from), there.sidecar.as_deref());
                let back = run(&SHELF, from, carry, anew.as_bytes(), sidecar);
                assert!(back.bytes == source, "{path} {carry:?}: {:?}", back.report.restored);
                let stats = RestoreStats { differs: 0, ..back.report.restored };
                assert!(!stats.is_not_the_source() && stats.added == 0, "{path} {stats:?}");
                n_anew += 1;
            }
        }
    }
    assert!(n_anew > 100, "{n_anew}");
}

#[test]
fn a_carry_is_in_the_object_that_its_client_keeps() {
    let mut n_inner = 0;
    for (folder, from) in SOURCES {
        for (path, source) in fixtures(folder) {
            let written = run(format(from), &SHELF, CarryMode::Inline, &source, None).bytes;
            if let Ok(document) = serde_json::from_slice::<serde_json::Value>(&written) {
                assert!(document["info"]["meta"]["convert"]["_carried"].is_string(), "{path}");
                for message in document["messages"].as_array().expect("messages") {
                    let items = message["content"].as_array().expect("items");
                    let is_kept = |kind: &serde_json::Value| kind == "text" || kind == "result";
                    let is_inner = items.iter().any(|item| is_kept(&item["kind"]));
                    let carries = items.iter().map(|item| &item["meta"]["convert"]["_carried"]);
                    let n_carries = carries.filter(|carry| carry.is_string()).count();
                    assert_eq!(n_carries, usize::from(is_inner), "{path}: {message}");
                    assert_eq!(message["_carried"].is_null(), is_inner, "{path}: {message}");
                    n_inner += n_carries;
                }
            }
            let plain = run(format(from), &SHELF, CarryMode::None, &source, None).bytes;
            let mut records = Records::new(&written[..], SHELF.framing);
            let (mut units, mut stripped) = (UnitScanner::default(), Vec::new());
            while let Some(unit) = records.next().expect("a slice") {
                let (unit, value) = units.scan(&unit, SHELF.framing.paths());
                let visible = value.ok().and_then(|value| without_carry(&unit, value, FORMATS));
                stripped.extend(visible.unwrap_or_else(|| unit.bytes().to_vec()));
            }
            assert_eq!(
                String::from_utf8_lossy(&stripped),
                String::from_utf8_lossy(&plain),
                "{path}"
            );
        }
    }
    assert!(n_inner > 100, "{n_inner}");
}

fn parsed(bytes: &[u8]) -> serde_json::Value {
    serde_json::from_slice(bytes).expect("JSON")
}

fn texts(document: &serde_json::Value) -> Vec<String> {
    let messages = document["messages"].as_array().expect("messages");
    messages.iter().map(|message| message.to_string()).collect()
}

#[test]
fn lines_that_are_deleted_leave_a_valid_document() {
    for name in ["book", "shelf"] {
        for (spelling, source) in spellings(name) {
            if serde_json::from_str::<serde_json::Value>(source.trim_start_matches('\u{feff}'))
                .is_err()
            {
                continue;
            }
            for to in ["claude-code", "clido", "pi", "sdk-stream", "sdk-stream:wire"] {
                let written =
                    run(format(name), format(to), CarryMode::Inline, source.as_bytes(), None);
                let lines: Vec<&[u8]> =
                    written.bytes.split_inclusive(|byte| *byte == b'\n').collect();
                for deleted in 0..lines.len() {
                    let mut left = lines.clone();
                    left.remove(deleted);
                    let left = left.concat();
                    if left.is_empty() {
                        continue;
                    }
                    let back = run(format(to), format(name), CarryMode::Inline, &left, None);
                    let place = format!("{name} as {spelling} from {to} without line {deleted}");
                    let document =
                        back.bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&back.bytes);
                    assert_eq!(
                        jsonl::validate(document),
                        Ok(()),
                        "{place}: {}",
                        String::from_utf8_lossy(document)
                    );
                }
            }
        }
    }
}

#[test]
fn an_edit_and_an_addition_change_one_record() {
    for name in ["book", "shelf"] {
        let source = session(name);
        for to in ["claude-code", "clido", "pi", "sdk-stream"] {
            let place = format!("{name} {to}");
            let written =
                run(format(name), format(to), CarryMode::Inline, source.as_bytes(), None).bytes;
            let written = String::from_utf8(written).expect("text");
            let expected = texts(&parsed(source.as_bytes()));

            let edited = written.replacen("Two files: a.rs and b.rs.\"", "Three files.\"", 1);
            assert_ne!(edited, written, "{place}");
            let back = run(format(to), format(name), CarryMode::Inline, edited.as_bytes(), None);
            assert_eq!(back.report.restored.edited, 1, "{place}");
            let document = parsed(&back.bytes);
            let found = texts(&document);
            assert_eq!(found[..4], expected[..4], "{place}");
            assert_eq!(found.len(), 5, "{place}: {found:?}");
            assert!(found[4].contains("Three files."), "{place}: {found:?}");
            assert_eq!(document["info"], parsed(source.as_bytes())["info"], "{place}");

            let new = run(
                &BOOK,
                format(to),
                CarryMode::None,
                source.replace("List the files, please", "And now").as_bytes(),
                None,
            );
            let new = String::from_utf8(new.bytes).expect("text");
            let line = new.lines().find(|line| line.contains("And now")).expect("a line");
            let added = format!("{written}{line}\n");
            let back = run(format(to), format(name), CarryMode::Inline, added.as_bytes(), None);
            let found = texts(&parsed(&back.bytes));
            assert_eq!(found[..5], expected[..], "{place}");
            assert_eq!(found.len(), 6, "{place}: {found:?}");
            assert!(found[5].contains("And now"), "{place}: {found:?}");
            let n_same =
                back.bytes.iter().zip(source.as_bytes()).take_while(|(a, b)| a == b).count();
            assert!(n_same > source.find("b.rs.").expect("there"), "{place}");
        }
    }
}

#[test]
fn an_edited_document_changes_one_line() {
    let path =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/claude-code/one-tool-call.jsonl");
    let source = fs::read_to_string(path).expect("a fixture");
    for to in [&BOOK, &SHELF] {
        let written =
            run(format("claude-code"), to, CarryMode::Inline, source.as_bytes(), None).bytes;
        let mut document = parsed(&written);
        let messages = document["messages"].as_array_mut().expect("messages");
        let n_messages = messages.len();
        let last = messages.last_mut().expect("one");
        // A carry in the content stays there.
        let items = last["content"].as_array().expect("items");
        let meta = items.iter().map(|item| item["meta"].clone()).find(|meta| meta.is_object());
        let text = serde_json::json!({ "kind": "text", "text": "All is different.", "meta": meta });
        last["content"] = serde_json::json!([text]);
        let edited = document.to_string();
        let back = run(to, format("claude-code"), CarryMode::Inline, edited.as_bytes(), None);
        assert_eq!(back.report.restored.edited, 1, "{}: {:?}", to.name, back.report.restored);
        let text = String::from_utf8(back.bytes).expect("text");
        let (old, new): (Vec<_>, Vec<_>) = (source.lines().collect(), text.lines().collect());
        assert!(new.iter().any(|line| line.contains("All is different.")), "{}", to.name);
        let n_kept = old.iter().filter(|line| new.contains(line)).count();
        assert_eq!(n_kept, old.len() - 1, "{}", to.name);

        let messages = document["messages"].as_array_mut().expect("messages");
        messages.remove(n_messages / 2);
        let cut = document.to_string();
        let back = run(to, format("claude-code"), CarryMode::Inline, cut.as_bytes(), None);
        assert!(back.report.restored.missing > 0, "{}", to.name);
    }
}

#[test]
fn hostile_documents_are_carried() {
    let (head, tail) = (r#"{"info":{"book":1,"id":"s"},"messages":["#, "]}");
    let record = r#"{"book":1,"role":"user","content":"a"}"#;
    let deep = "[".repeat(100_000);
    let long = format!(r#"{{"book":1,"role":"user","content":"{}"}}"#, "x".repeat(3_000_000));
    let many = vec!["{}"; 30_000].join(",");
    for source in [
        format!("{head}{record},{{\"x\":{deep}"),
        format!("{head}{record},{{\"x\":{deep}{}}},{record}{tail}", "]".repeat(100_000)),
        format!("{deep}{head}{record}{tail}"),
        format!("{head}{record},{long}{tail}"),
        format!("{head}{record},{many}{tail}"),
        format!("{head}{record}{tail}{}", tail.repeat(10_000)),
        format!("{head}{record},\"{}", "x\n".repeat(10_000)),
        "{\"messages\":[".repeat(10_000),
        format!("{head}{record}{}", ",\n\n\n".repeat(10_000)),
    ] {
        for to in ["clido", "sdk-stream", "shelf"] {
            for carry in MODES {
                let there = run(&BOOK, format(to), carry, source.as_bytes(), None);
                let back = run(format(to), &BOOK, carry, &there.bytes, there.sidecar.as_deref());
                let start = &source[..source.len().min(90)];
                assert!(
                    back.bytes == source.as_bytes(),
                    "{start} {to} {carry:?} {:?}",
                    back.report.restored
                );
            }
        }
    }
}

#[test]
fn damage_is_counted_by_records() {
    let source = session("book");
    let damaged = source.replace("\"I look.\"", "I look.");
    let report = run(&BOOK, format("clido"), CarryMode::Inline, damaged.as_bytes(), None).report;
    assert_eq!((report.lines_in, report.n_damaged), (5, 1));
    assert_eq!(report.damaged[0].line, 2);
    assert!(report.damaged[0].to_string().starts_with("record 2: "), "{}", report.damaged[0]);
    let torn = &source[..source.len() / 2];
    let report = run(&BOOK, format("clido"), CarryMode::Inline, torn.as_bytes(), None).report;
    assert!(report.torn.is_some());
    let sound = run(&BOOK, format("clido"), CarryMode::Inline, source.as_bytes(), None).report;
    assert_eq!((sound.lines_in, sound.n_damaged, sound.torn), (5, 0, None));
    let copied = run(&BOOK, &BOOK, CarryMode::Inline, source.as_bytes(), None);
    assert_eq!((copied.report.lines_in, copied.report.lines_out), (5, 5));
    assert_eq!(copied.bytes, source.as_bytes());

    for (bytes, is_refused) in
        [(source.as_bytes(), false), (damaged.as_bytes(), true), (torn.as_bytes(), true)]
    {
        let options = Options { is_strict: true, ..Options::default() };
        let conversion = Conversion {
            formats: FORMATS,
            from: &BOOK,
            to: format("clido"),
            carry: CarryMode::Inline,
            options,
        };
        assert_eq!(conversion.convert(bytes, None).is_err(), is_refused);
    }
}

#[test]
fn a_document_that_is_cut_behind_a_record_is_torn() {
    let run = |from, to, carry, source: &[u8]| {
        let (formats, options) = (convert::FORMATS, Options::default());
        Conversion { formats, from, to, carry, options }.convert(source, None).expect("converted")
    };
    let mut n_cuts = 0;
    for (name, bytes) in fixtures("claude-code") {
        let from = convert::by_name("claude-code").expect("a format");
        for to in ["atif", "opencode"].map(|name| convert::by_name(name).expect("a format")) {
            for carry in [CarryMode::Inline, CarryMode::None] {
                let written = run(from, to, carry, &bytes).bytes;
                let paths = to.framing.paths();
                let mut document = Document::new(&written[..], paths);
                let mut ends = Vec::new();
                while let Some(unit) = document.next().expect("a slice") {
                    ends.extend((!unit.is_glue()).then_some(unit.end() as usize));
                }
                let Some(last) = ends.last().copied() else { continue };
                for end in [ends[0], ends[ends.len() / 2], last] {
                    for blank in ["", "\n", "  \n\n"] {
                        let cut = [&written[..end], blank.as_bytes()].concat();
                        let back = run(to, from, CarryMode::Inline, &cut);
                        let report = &back.report;
                        n_cuts += 1;
                        let way = format!("{name}, {}, {carry:?}, {end} {blank:?}", to.name);
                        if carry == CarryMode::None {
                            let torn = report.torn.unwrap_or_else(|| panic!("{way}: {report:?}"));
                            assert_eq!(torn.error.kind, ErrorKind::UnexpectedEnd, "{way}");
                            let home = run(from, to, CarryMode::Inline, &back.bytes);
                            assert!(home.bytes == cut, "{way}");
                        } else if end == last {
                            assert!(back.bytes == bytes || report.wants_attention(), "{way}");
                            assert_eq!(report.restored.added, 0, "{way}");
                        } else {
                            assert!(report.wants_attention(), "{way}");
                        }
                    }
                }
            }
        }
    }
    assert!(n_cuts > 500, "{n_cuts}");
}

#[test]
fn documents_are_detected() {
    for name in ["book", "shelf"] {
        for (spelling, source) in spellings(name) {
            if spelling == "torn head" {
                continue;
            }
            let mut source = Source::new(Cursor::new(source.as_bytes()));
            let found = conversion::detect_format(FORMATS, &mut source).expect("read");
            assert!(
                matches!(found, Detected::Format(format) if format.name == name),
                "{spelling}: {found:?}"
            );
        }
    }
    for (folder, from) in SOURCES {
        for (path, source) in fixtures(folder) {
            let with =
                conversion::detect_format(FORMATS, &mut Source::new(Cursor::new(&source[..])));
            let without = convert::detect(&mut Source::new(Cursor::new(&source[..])));
            let [with, without] =
                [with, without].map(|found| format!("{:?}", found.expect("read")));
            assert_eq!(with, without, "{path} {from}");
        }
    }
}

/// A new message is on a line of its own, and a line of Gemini CLI's log looks the same.
#[test]
fn a_document_with_a_new_turn_is_still_one() {
    let convert = |from, to, source: &[u8]| {
        let [from, to] = [from, to].map(|name| convert::by_name(name).expect("a format"));
        let (formats, options) = (convert::FORMATS, Options::default());
        let conversion = Conversion { formats, from, to, carry: CarryMode::Inline, options };
        conversion.convert(source, None).expect("converted")
    };
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let source = fs::read(fixtures.join("gemini-document/short.json")).expect("a fixture");
    let mut lines = convert("gemini:document", "clido", &source).bytes;
    lines.extend_from_slice(
        b"{\"type\":\"user_message\",\"role\":\"user\",\"content\":[{\"text\":\"And now?\",\"type\":\"text\"}]}\n",
    );
    let home = convert("clido", "gemini:document", &lines).bytes;
    let found = convert::detect(&mut Source::new(Cursor::new(&home[..]))).expect("read");
    assert!(matches!(found, Detected::Format(it) if it.name == "gemini:document"), "{found:?}");
    let read = sessions::format_of(convert::FORMATS, &home).expect("a format");
    assert_eq!(read.name, "gemini:document");
    let again = convert("gemini:document", "pi", &home);
    assert!(String::from_utf8_lossy(&again.bytes).contains("And now?"));
    assert_eq!(again.report.n_damaged, 0);
}

#[test]
fn the_longest_unit_of_a_large_document_is_short() {
    struct Endless {
        n_left: usize,
        rest: Vec<u8>,
        at: usize,
    }
    impl io::Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.at == self.rest.len() {
                if self.n_left == 0 {
                    return Ok(0);
                }
                self.n_left -= 1;
                self.rest = format!(",\n{{\"text\":\"{}\"}}", "x".repeat(9_000)).into_bytes();
                self.at = 0;
            }
            let n = buffer.len().min(self.rest.len() - self.at);
            buffer[..n].copy_from_slice(&self.rest[self.at..self.at + n]);
            self.at += n;
            Ok(n)
        }
    }
    let input = Endless { n_left: 3_300, rest: b"{\"messages\":[{}".to_vec(), at: 0 };
    let (mut document, mut n_bytes, mut longest) = (Document::new(input, &["messages"]), 0, 0);
    while let Some(unit) = document.next().expect("no errors") {
        n_bytes += unit.bytes().len();
        longest = longest.max(unit.bytes().len());
    }
    assert!(n_bytes > 29_000_000 && longest < 10_000, "{n_bytes} {longest}");
}

#[test]
fn documents_come_back_in_several_steps() {
    let claude = fixtures("claude-code").into_iter().step_by(4);
    let claude = claude.map(|(path, source)| ("claude-code", path, source));
    let documents =
        ["book", "shelf"].map(|name| (name, name.to_owned(), session(name).into_bytes()));
    for (from, path, source) in claude.chain(documents) {
        for steps in [
            ["book", "clido"],
            ["clido", "book"],
            ["shelf", "book"],
            ["book", "sdk-stream"],
            ["pi", "shelf"],
        ] {
            if steps.contains(&from) {
                continue;
            }
            for carry in MODES {
                let (mut bytes, mut sidecar, mut last) = (source.clone(), None::<Vec<u8>>, from);
                for to in steps {
                    let there = run(format(last), format(to), carry, &bytes, sidecar.as_deref());
                    (bytes, sidecar, last) = (there.bytes, there.sidecar, to);
                }
                let back = run(format(last), format(from), carry, &bytes, sidecar.as_deref());
                let place = format!("{path} by {steps:?} {carry:?}: {:?}", back.report.restored);
                assert!(back.bytes == source, "{place}");
            }
        }
    }
}

/// Reads a file as the reading commands do, and returns the place and the texts of each event.
fn read(
    path: &Path,
    given: Option<&'static Format>,
    prefilter: &Prefilter,
) -> (Option<&'static str>, Vec<(u64, u64, String)>) {
    let mut found = Vec::new();
    let input = Input::file(path.to_owned());
    let never = Interruption::default();
    let format =
        sessions::read(FORMATS, &input, given, prefilter, &(), never, &mut |place, _, event| {
            let texts: Vec<String> = match event {
                Ok(event) => parts(event)
                    .map(|part| part.words(&mut Scanner::default()).into_owned())
                    .collect(),
                Err(error) => vec![error.to_string()],
            };
            found.push((place.line, place.offset, texts.join("|")));
            Ok(true)
        });
    (format.expect("read").map(|format| format.name), found)
}

#[test]
fn views_read_documents() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["book", "shelf"] {
        for (spelling, source) in [("pretty", session(name)), spellings(name).swap_remove(0)] {
            let path = folder.path().join("s1.json");
            fs::write(&path, &source).expect("written");
            for given in [None, Some(format(name))] {
                let (found, events) = read(&path, given, &Prefilter::ALL);
                assert_eq!(found, Some(name), "{spelling}");
                let places: Vec<u64> = events.iter().map(|event| event.0).collect();
                // The head, five records and the tail.
                assert_eq!(places, [1, 1, 2, 3, 4, 5, 6], "{spelling}");
                assert!(events.is_sorted_by_key(|event| event.1), "{spelling}");
                assert!(events[2].2.starts_with("I look.|"), "{spelling}: {:?}", events[2]);
                assert_eq!(events[5].2, "Two files: a.rs and b.rs.", "{spelling}");
                let (_, events) = read(&path, given, &Needle::new("two FILES", true).prefilter());
                assert_eq!(events.len(), 1, "{spelling}");
            }

            let mut input = Source::new(Cursor::new(source.as_bytes()));
            let page = input
                .with_events(format(name), |events| {
                    let (mut page, mut survey) = (Vec::new(), Survey::new(format(name)));
                    events.for_each(&mut |_, event| {
                        match event {
                            Ok(event) => survey.push(event),
                            Err(_) => survey.push_unreadable(),
                        }
                        true
                    })?;
                    let mut writer = Page::new(&mut page, survey, "s1")?;
                    events.for_each(&mut |_, event| {
                        event.map_or(Ok(()), |event| writer.push(event)).is_ok()
                    })?;
                    writer.finish()?;
                    Ok(page)
                })
                .expect("a page");
            let page = String::from_utf8(page).expect("text");
            assert!(page.contains("Two files: a.rs and b.rs."), "{spelling}");
        }
    }
}

#[test]
fn a_session_of_several_files_has_documents() {
    let folder = tempfile::tempdir().expect("a folder");
    let [main, side] = ["s1.json", "note.txt"].map(|name| folder.path().join(name));
    let source = session("book");
    fs::write(&main, &source).expect("written");
    fs::write(&side, "one\ntwo\n").expect("written");
    let files = [
        (main, ManifestEntryKind::Main, String::new(), String::new()),
        (side, ManifestEntryKind::Side, "*/note.txt".to_owned(), String::new()),
    ];
    let session = Session::new(&SessionPlace::Stored(Backend::Disk), files).expect("measured");
    let mut events = SessionEvents::new(&session, &BOOK);
    for _ in 0..2 {
        let (mut joined, mut n_messages, mut offset) = (Vec::new(), 0, 0);
        events
            .for_each(&mut |line, event| {
                assert_eq!(line.offset(), offset);
                offset = line.end();
                joined.extend_from_slice(line.bytes());
                n_messages += u64::from(event.is_ok_and(|event| event.message().is_some()));
                true
            })
            .expect("read");
        assert_eq!(String::from_utf8_lossy(&joined), source.clone() + "one\ntwo\n");
        assert_eq!(n_messages, 4);
    }
    let there = Conversion {
        formats: FORMATS,
        from: &BOOK,
        to: format("clido"),
        carry: CarryMode::Inline,
        options: Options::default(),
    };
    let mut written = Vec::new();
    let report = sessions::run_session(&there, &session, Target::of(&mut written)).expect("run");
    assert_eq!((report.n_damaged, report.lines_in), (0, 5));
    let back = Conversion { from: there.to, to: there.from, ..there };
    let mut input = Source::new(Cursor::new(&written[..]));
    let history = back.conversion_history(&mut input, None).expect("read");
    let manifest = history.manifest.clone().expect("a manifest");
    assert_eq!(manifest.entries.len(), 2);
    let (mut restored, mut note) = (Vec::new(), Vec::new());
    let beside =
        OtherTarget { entry: manifest.entries[1].clone(), agent: None, sink: Some(&mut note) };
    let target = Target { others: vec![beside], ..Target::of(&mut restored) };
    back.run_to(&mut input, &history, None, target).expect("run");
    assert_eq!(String::from_utf8_lossy(&restored), source);
    assert_eq!(note, b"one\ntwo\n");
}

/// A line of a pretty document is no JSON, so that a token that is broken by an escape is found only
/// in its record.
#[test]
fn secrets_of_documents_are_removed() {
    let tail = "0123456789abcdefghijABCDEFGHIJ012345";
    let plain = format!("ghp_{tail}");
    let escaped = format!("\\u0067hp_{tail}");
    for name in ["book", "shelf"] {
        let sound =
            ["compact", "one record on each line", "byte order mark", "messages first", "pretty"];
        for (how, spelled) in spellings(name).into_iter().filter(|(how, _)| sound.contains(how)) {
            for secret in [&plain, &escaped] {
                let source = spelled.replace("I look.", &format!("I look at {secret} now."));
                let (mut clean, what) = (Vec::new(), format!("{name}, {how}: {secret}"));
                let found = conversion::redact(FORMATS, source.as_bytes(), &mut clean);
                let found = found.expect("in memory");
                let places: Vec<_> = found.iter().flat_map(|(_, it)| &it.places).collect();
                assert_eq!(places.iter().map(|it| it.line).collect::<Vec<_>>(), [2], "{what}");
                let expected = source.replace(secret.as_str(), "[REDACTED:github-token]");
                assert_eq!(String::from_utf8_lossy(&clean), expected, "{what}");
            }
        }
        // The carries of a document go, and the document stays one.
        let secret = &plain;
        let source = format!(
            "{{\"type\":\"user\",\"uuid\":\"u\",\"sessionId\":\"s\",\"note\":\"{secret}\",\"message\":{{\"role\":\"user\",\"content\":\"Hi\"}}}}\n"
        );
        let written =
            run(format("claude-code"), format(name), CarryMode::Inline, source.as_bytes(), None);
        assert!(String::from_utf8_lossy(&written.bytes).contains(secret.as_str()), "{name}");
        let mut clean = Vec::new();
        let found = conversion::redact(FORMATS, &written.bytes[..], &mut clean).expect("in memory");
        assert!(found.n_carries > 0, "{name}");
        let clean = String::from_utf8(clean).expect("text");
        assert!(!clean.contains(secret.as_str()) && !clean.contains("_carried"), "{name}: {clean}");
        // The content without the object that holds the carry of a shelf.
        let contents = |bytes: &[u8]| -> Vec<serde_json::Value> {
            let mut document = parsed(bytes);
            let messages = document["messages"].as_array_mut().expect("messages");
            for item in messages.iter_mut().flat_map(|it| it["content"].as_array_mut()).flatten() {
                item.as_object_mut().expect("an item").remove("meta");
            }
            messages.iter().map(|message| message["content"].clone()).collect()
        };
        assert_eq!(contents(clean.as_bytes()), contents(&written.bytes), "{name}");
    }
}

#[cfg(feature = "parquet")]
#[test]
fn tables_keep_documents() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = session("book");
    let options = export_parquet::Options { with_raw: true };
    let mut dataset = export_parquet::Dataset::below(folder.path(), &options);
    let mut file = export_parquet::SessionFile::new("s1.json", BOOK.name);
    let mut input = Source::new(Cursor::new(source.as_bytes()));
    input
        .with_events(&BOOK, |events| {
            events.for_each(&mut |line, event| {
                file.observe(line, event.ok());
                true
            })?;
            events.for_each(&mut |line, event| {
                dataset.push(&mut file, line, event.ok()).expect("pushed");
                true
            })
        })
        .expect("read");
    dataset.end_file(file).expect("ended");
    dataset.finish().expect("written");
    let mut restored = Vec::new();
    export_parquet::restore(folder.path(), &mut |_, bytes| {
        restored.extend_from_slice(bytes);
        Ok(())
    })
    .expect("restored");
    assert_eq!(String::from_utf8_lossy(&restored), source);
}

#[test]
fn a_document_without_its_carries_has_all_else() {
    for name in ["book", "shelf"] {
        let source = fixtures("claude-code").swap_remove(0).1;
        let to = format(name);
        let [with, without] = [CarryMode::Inline, CarryMode::None]
            .map(|carry| run(format("claude-code"), to, carry, &source, None).bytes);
        let (mut document, mut units) =
            (Document::new(&with[..], to.framing.paths()), UnitScanner::default());
        let mut stripped = Vec::new();
        while let Some(unit) = document.next().expect("a slice") {
            let (unit, value) = units.scan(&unit, to.framing.paths());
            let left = value.ok().and_then(|value| without_carry(&unit, value, FORMATS));
            stripped.extend(left.unwrap_or_else(|| unit.bytes().to_vec()));
        }
        assert_eq!(String::from_utf8_lossy(&stripped), String::from_utf8_lossy(&without));
    }
}
