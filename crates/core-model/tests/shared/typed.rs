//! Tests of typed records. simd-json and serde_json must give the same results, and serialized
//! records the bytes of their lines.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::format::{
    DATA, HAS_JSON_INPUTS, Reader, TypedRecord,
    core_model::{BlockBuf, BodyBuf, EventBuf},
    jsonl::{self, Style, ValueBuf, respell_str},
    style,
};

use crate::face::fixtures;
use crate::skipped::say_skipped;

/// Counts over the records of some files.
#[derive(Debug, Default)]
struct Figures {
    n_records: u64,
    n_typed: u64,
    n_same_bytes: u64,
    /// Records that no client spelled like this: with spaces, or with other escapes.
    n_respelt: u64,
}

fn compare(path: &Path, figures: &mut Figures) {
    let mut reader = Reader::open(path).expect("a file");
    while let Some(record) = reader.next_borrowed() {
        let Ok(record) = record else { continue };
        let typed = TypedRecord::decode(record.value());
        let judged = TypedRecord::decode_by_serde_json(record.value());
        let written = std::str::from_utf8(record.raw()).expect("text");
        assert_eq!(typed, judged, "{path:?} {written}");
        let encoded = typed.encode(style(&record)).expect("keys are strings");
        figures.n_records += 1;
        figures.n_typed += u64::from(!matches!(typed, TypedRecord::Other(_)));
        if encoded == written {
            figures.n_same_bytes += 1;
        } else {
            let mut as_its_client = Vec::new();
            respell_str(&mut as_its_client, written, style(&record));
            assert_ne!(as_its_client, written.as_bytes(), "{path:?} {encoded}");
            figures.n_respelt += 1;
        }
        // Other readers see the same values, and decoding again gives the same record.
        let of = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
        if let Some(value) = of(written) {
            assert_eq!(of(&encoded), Some(value), "{path:?} {written}");
        }
        let compact =
            |record: &TypedRecord| record.encode(Style::Compact).expect("keys are strings");
        let again = ValueBuf::new(compact(&typed)).expect("JSON");
        assert_eq!(compact(&TypedRecord::decode(again.value())), compact(&typed), "{path:?}");
    }
}

#[test]
fn the_tables_in_format_md_name_every_struct_with_its_members() {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/FORMAT.md"));
    let rows = text.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, kind, name, members, ..] = cells[..] else { return None };
        let name = name.strip_prefix('`')?.strip_suffix("Record`")?;
        Some((kind.trim_matches('`'), format!("{name}Record"), words(members)))
    });
    let rows: Vec<_> = rows.collect();
    let of_both = |(kind, name, _): &(&str, String, BTreeSet<&str>)| format!("{kind} {name}");
    let named: BTreeSet<_> = rows.iter().map(of_both).collect();
    let kinds = TypedRecord::KINDS.iter();
    let defined: BTreeSet<_> = kinds.map(|(kind, name, _)| format!("{kind} {name}")).collect();
    assert_eq!(named, defined);
    let everywhere = words(text);
    for (kind, _, members) in rows {
        let (_, _, fields) =
            TypedRecord::KINDS.iter().find(|(it, ..)| *it == kind).expect("a kind");
        let unknown: Vec<_> = members.iter().filter(|it| !fields.contains(it)).collect();
        assert!(unknown.is_empty(), "{kind}: {unknown:?} has no field");
        let missing: Vec<_> = fields.iter().filter(|it| !everywhere.contains(*it)).collect();
        assert!(missing.is_empty(), "{kind}: {missing:?} is not in FORMAT.md");
    }
}

/// Returns the words in backticks.
fn words(text: &str) -> BTreeSet<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn fixtures_have_the_values_that_serde_json_has() {
    let mut figures = Figures::default();
    for path in fixtures() {
        compare(&path, &mut figures);
    }
    assert!(figures.n_typed * 10 > figures.n_records * 8, "{figures:?}");
}

#[test]
fn what_clients_wrote_is_serialized_to_its_bytes() {
    let root = std::env::var_os("CONVERT_DATA").map(PathBuf::from);
    let root =
        root.unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data").into());
    let mut figures = Figures::default();
    for folder in DATA {
        let mut folders = vec![root.join(folder)];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else {
                say_skipped(format_args!("no data in {}", folder.display()));
                continue;
            };
            for path in entries.map(|entry| entry.expect("an entry").path()) {
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|it| it == "jsonl") {
                    compare(&path, &mut figures);
                }
            }
        }
    }
    eprintln!("{figures:?}");
    assert_eq!(figures.n_same_bytes + figures.n_respelt, figures.n_records);
    assert!(figures.n_respelt * 50 <= figures.n_records, "{figures:?}");
}

#[test]
fn events_are_json_with_inputs_as_they_are_written() {
    let mut n_inputs = 0;
    for path in fixtures() {
        for record in Reader::open(&path).expect("a file").flatten() {
            let event = EventBuf::from(&record.event());
            let json = serde_json::to_string(&event).expect("keys are strings");
            assert!(json.starts_with("{\"format\":"), "{json}");
            jsonl::validate(json.as_bytes()).expect("JSON");
            let BodyBuf::Message { blocks, .. } = &event.body else { continue };
            for block in blocks {
                if let BlockBuf::ToolUse { input, .. } = block {
                    let written = std::str::from_utf8(record.raw()).expect("text");
                    assert!(written.contains(input.as_str()) || !HAS_JSON_INPUTS, "{written}");
                    assert!(json.contains(input.as_str()));
                    n_inputs += 1;
                }
            }
        }
    }
    assert!(n_inputs > 0);
}
