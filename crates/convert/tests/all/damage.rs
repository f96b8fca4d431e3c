//! Tests of damage as crashes leave it: every complete record at the start or the end of a line is
//! found, and no other text counts as a record.

use std::{collections::BTreeMap, fs, io};

use convert::{CarryMode, Conversion, Damage, FORMATS, Recovered, Report, by_name};
use core_model::{Format, Options};
use jsonl::{Line, Scanner, Value, recover};

use crate::shared::{
    data::{data, root},
    fixtures::fixtures,
    pieces::{as_lines, pieces},
    turns::n_turns,
    ways::{others, there_and_back},
};

/// The number of damaged lines for each turn, if `DAMAGE_CASES` is not set.
const N_CASES: u64 = 8_000;

/// A xorshift generator with a fixed seed, so that every run has the same cases.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }

    fn one<'a>(&mut self, all: &'a [Vec<u8>]) -> &'a [u8] {
        &all[self.below(all.len())]
    }

    /// Returns an incomplete prefix of a record.
    fn torn<'a>(&mut self, record: &'a [u8]) -> &'a [u8] {
        &record[..1 + self.below(record.len() - 1)]
    }
}

/// A damaged line, and the records that must be found in it.
type Case = (Vec<u8>, Vec<Vec<u8>>);

/// The name of a kind of damage, and its function.
type Kind = (&'static str, fn(&mut Dice, &[Vec<u8>]) -> Case);

const KINDS: &[Kind] = &[
    ("torn, and the next record follows", |dice, all| {
        let next = dice.one(all).to_vec();
        let record = dice.one(all);
        ([dice.torn(record), &next].concat(), vec![next])
    }),
    ("torn after an inner object, and the next record follows", |dice, all| {
        let next = dice.one(all).to_vec();
        let torn = torn_after_an_object(dice, all);
        ([torn, next.clone()].concat(), vec![next])
    }),
    ("torn after an inner object", |dice, all| (torn_after_an_object(dice, all), Vec::new())),
    ("no newline between records", |dice, all| {
        let records: Vec<_> = (0..2 + dice.below(4)).map(|_| dice.one(all).to_vec()).collect();
        (records.concat(), records)
    }),
    ("NUL before a record", |dice, all| {
        let record = dice.one(all).to_vec();
        ([vec![0; 1 + dice.below(700)], record.clone()].concat(), vec![record])
    }),
    ("a torn tail", |dice, all| {
        let record = dice.one(all);
        (dice.torn(record).to_vec(), Vec::new())
    }),
    ("a torn tail after a record", |dice, all| {
        let record = dice.one(all).to_vec();
        let next = dice.one(all);
        ([&record, dice.torn(next)].concat(), vec![record])
    }),
    ("two writers at once", |dice, all| {
        let record = dice.one(all);
        let (start, end) = record.split_at(dice.torn(record).len());
        ([start, dice.one(all), end].concat(), Vec::new())
    }),
    ("a lost head", |dice, all| {
        let record = dice.one(all);
        (record[dice.torn(record).len()..].to_vec(), Vec::new())
    }),
    ("a record, a torn one, NUL, a record", |dice, all| {
        let (first, last) = (dice.one(all).to_vec(), dice.one(all).to_vec());
        let record = dice.one(all);
        let torn = dice.torn(record);
        ([&first, torn, &[0; 9], &last].concat(), vec![first, last])
    }),
];

/// Returns a record up to the end of an object inside it.
fn torn_after_an_object(dice: &mut Dice, all: &[Vec<u8>]) -> Vec<u8> {
    loop {
        let record = dice.one(all);
        let ends: Vec<_> = (0..record.len() - 1).filter(|at| record[*at] == b'}').collect();
        if !ends.is_empty() {
            return record[..=ends[dice.below(ends.len())]].to_vec();
        }
    }
}

/// Returns the lines of the fixtures in a format.
fn records_of(format: &Format) -> Vec<Vec<u8>> {
    let mut scanner = Scanner::default();
    let mut records = Vec::new();
    for fixture in fixtures() {
        if fixture.format == format.name && !fixture.name.starts_with("damaged") {
            for line in jsonl::lines(&as_lines(&fixture.bytes, format).0) {
                // Steps inside a trajectory of ATIF are records themselves.
                let is_one = |value: Value<'_>| {
                    value.get("steps").is_none_or(|it| it.items().next().is_none())
                };
                let is_record = scanner
                    .scan(&line)
                    .is_ok_and(|value| (format.is_record)(value) && is_one(value));
                records.extend(is_record.then(|| line.content().trim_ascii().to_vec()));
            }
        }
    }
    assert!(records.len() > 20, "{} records of {}", records.len(), format.name);
    records
}

#[test]
fn complete_records_are_recovered_and_none_is_invented() {
    let n_cases = std::env::var("DAMAGE_CASES").ok().and_then(|text| text.parse().ok());
    let n_each =
        n_cases.unwrap_or(N_CASES * n_turns() as u64) / (KINDS.len() * FORMATS.len()) as u64;
    let mut scanner = Scanner::default();
    for format in FORMATS.iter() {
        let all = records_of(format);
        for (name, make) in KINDS {
            let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
            for n in 0..n_each {
                let (mut line, expected) = make(&mut dice, &all);
                line.push(b'\n');
                let line = Line::new(&line, 1_000);
                if scanner.scan(&line).is_ok() {
                    // By chance, the line is not damaged.
                    continue;
                }
                let recovery = recover(&line, &mut scanner, &|value| (format.is_record)(value));
                let found: Vec<_> = recovery
                    .pieces
                    .iter()
                    .filter(|piece| piece.is_record)
                    .map(|piece| piece.line.content().trim_ascii().to_vec())
                    .collect();
                let shown = String::from_utf8_lossy(line.bytes());
                assert!(found == expected, "{} {name} {n}: {shown}", format.name);
                assert!(recovery.n_examined <= 4 * line.bytes().len() as u64, "{name}: {shown}");
            }
        }
    }
}

fn convert(bytes: &[u8], from: &'static Format, to: &'static Format) -> Report {
    let conversion = Conversion {
        formats: FORMATS,
        from,
        to,
        carry: CarryMode::None,
        options: Options::default(),
    };
    conversion.convert(bytes, None).expect("in memory").report
}

#[test]
fn damaged_files_come_back_and_their_records_are_counted() {
    // `document.rs` has the tests of damaged documents, in which no line is a record.
    for from in FORMATS.iter().copied().filter(|from| !from.framing.is_document()) {
        let all = records_of(from);
        let mut dice = Dice(0x2545_f491_4f6c_dd1d);
        for n in 0..14 * n_turns() {
            let mut file = Vec::new();
            let mut n_recovered = 0;
            for _ in 0..2 + dice.below(6) {
                if dice.below(2) == 0 {
                    file.extend_from_slice(dice.one(&all));
                } else {
                    let (line, expected) = KINDS[dice.below(KINDS.len())].1(&mut dice, &all);
                    file.extend_from_slice(&line);
                    n_recovered += expected.len() as u64;
                }
                file.extend_from_slice(if dice.below(5) == 0 { b"\r\n" } else { b"\n" });
            }
            file.truncate(file.len() - dice.below(2));
            for to in others(&[from]) {
                let report = convert(&file, from, to);
                let shown = String::from_utf8_lossy(&file);
                assert_eq!(report.n_recovered, n_recovered, "{} {n}: {shown}", from.name);
                assert_eq!(report.lines_in, jsonl::lines(&file).count() as u64, "{shown}");
                for mode in [CarryMode::Inline, CarryMode::Sidecar] {
                    assert_eq!(there_and_back(&file, from, to, mode), None, "{n}: {shown}");
                }
            }
        }
    }
}

#[test]
fn records_and_what_lies_beside_them_have_their_places() {
    let user = r#"{"type":"user_message","role":"user","content":[{"text":"Hi","type":"text"}]}"#;
    let torn = r#"{"type":"tool_call","to"#;
    let file = format!("{user}\n{torn}{user}{user}\n\0\0{user}\n{user}}}\n{torn}\n{user}{torn}");
    let (clido, wire) = (by_name("clido").expect("known"), by_name("sdk-stream:wire"));
    let report = convert(file.as_bytes(), clido, wire.expect("known"));
    let (length, torn) = (user.len() as u64, torn.len() as u64);
    assert_eq!((report.lines_in, report.n_damaged, report.n_recovered), (6, 5, 5));
    let (second, third) = (length + 1, 3 * length + torn + 2);
    let (fourth, fifth) = (third + length + 3, third + 2 * length + 5);
    let sixth = fifth + torn + 1;
    let place = |line, offset, n_records| Recovered { line, offset, n_records };
    let recovered = [
        place(2, second + torn, 2),
        place(3, third + 2, 1),
        place(4, fourth, 1),
        place(6, sixth, 1),
    ];
    assert_eq!(report.recovered, recovered);
    let places = |damage: &Damage| (damage.line, damage.start, damage.length, damage.is_piece);
    let damaged: Vec<_> = report.damaged.iter().map(places).collect();
    let expected = [
        (2, second, torn, true),
        (3, third, 2, true),
        (4, fourth + length, 1, true),
        (5, fifth, torn, false),
    ];
    assert_eq!(damaged, expected);
    assert_eq!((report.n_residues, report.bytes_residue), (4, 2 * torn + 3));
    // The file ends within the last record.
    assert_eq!(report.torn.as_ref().map(places), Some((6, sixth + length, torn, true)));
}

#[test]
fn a_large_file_is_recovered_by_any_number_of_threads() {
    let clido = by_name("clido").expect("a format");
    let all = records_of(clido);
    let small =
        [&all[0], &b"\n"[..], &all[1][..9], &all[2], b"\n\0", &all[3], &all[4], b"\n"].concat();
    let n_copies = 9 * 1024 * 1024 / small.len();
    let large = small.repeat(n_copies);
    let to = by_name("sdk-stream:wire").expect("a format");
    let conversion = Conversion {
        formats: FORMATS,
        from: clido,
        to,
        carry: CarryMode::Inline,
        options: Options::default(),
    };
    let whole = conversion.convert(&large, None).expect("in memory").bytes;
    for n_scanners in [1, 3] {
        let source = convert::Source::new(io::Cursor::new(&large));
        let mut written = Vec::new();
        let report = conversion
            .run(&mut source.with_scanners(n_scanners), None, &mut written)
            .expect("in memory")
            .report;
        assert!(written == whole, "{n_scanners} scanners");
        assert_eq!(report.n_recovered, 3 * n_copies as u64);
        assert_eq!(
            (report.n_damaged, report.n_residues),
            (2 * n_copies as u64, 2 * n_copies as u64)
        );
    }
    assert_eq!(there_and_back(&large, clido, to, CarryMode::Inline), None);
}

#[test]
fn the_first_damage_refuses_a_strict_conversion() {
    let options = Options { is_strict: true, ..Options::default() };
    for fixture in fixtures() {
        let Some(from) = by_name(&fixture.format) else { continue };
        let bad = jsonl::lines(&fixture.bytes)
            .enumerate()
            .find(|(_, line)| !line.is_blank() && Scanner::default().scan(line).is_err());
        // A document is sound as a whole.
        let is_sound = from.framing.is_document() && jsonl::validate(&fixture.bytes).is_ok();
        let bad = bad.filter(|_| !is_sound);
        for to in FORMATS.iter().copied() {
            let conversion = Conversion {
                formats: FORMATS,
                from,
                to,
                carry: CarryMode::Inline,
                options: options.clone(),
            };
            let mut written = Vec::new();
            let mut source = convert::Source::new(io::Cursor::new(&fixture.bytes));
            let result = conversion.run(&mut source, None, &mut written);
            let error = result.err().and_then(|error| error.downcast::<Damage>().ok());
            let found = error.map(|damage| (damage.line - 1, damage.start));
            let expected =
                bad.map(|(n, line)| (n as u64, line.offset_of(line.content()).unwrap_or_default()));
            assert_eq!(found, expected, "{} to {}", fixture.name, to.name);
            assert!(written.is_empty() || bad.is_none(), "{}", fixture.name);
        }
    }
}

#[test]
fn hostile_files_have_the_records_that_their_manifest_counts() {
    let files: BTreeMap<_, _> = data(&["hostile"]).into_iter().collect();
    let Ok(manifest) = fs::read(root().join("hostile/MANIFEST.json")) else { return };
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).expect("a manifest");
    let claude_code = by_name("claude-code").expect("a format");
    let mut n_checked = 0;
    for file in manifest["files"].as_array().into_iter().flatten() {
        let name = file["file"].as_str().expect("a name");
        let Some(expected) = file["records_recoverable"].as_u64() else { continue };
        let bytes = &files[&format!("hostile/{name}")];
        let is_object =
            |line: &Line<'_>| Scanner::default().scan(line).is_ok_and(|value| value.is_object());
        let found = pieces(bytes, Some(claude_code));
        let n_records =
            found.iter().filter(|piece| piece.is_record && is_object(&piece.line)).count() as u64;
        let is_exact = name.starts_with("crash/") || name.starts_with("framing/");
        assert!(n_records >= expected, "{name}: {n_records} of {expected}");
        assert!(n_records == expected || !is_exact, "{name}: {n_records} instead of {expected}");
        n_checked += 1;
    }
    assert!(n_checked > 600, "{n_checked} files");
}
