//! Converts every fixture to every other format and back, byte for byte: whole, cut, and through a
//! third.

use std::io::{self, Read, Seek, SeekFrom};

use convert::{CarryMode, Conversion, Detected, FORMATS, Source, by_name, detect};
use core_model::{Format, Options};

use crate::shared::{
    fixtures::{Fixture, fixtures},
    parallel::check_all,
    turns::{self, chosen, share},
    ways::{Written, convert, others, there_and_back},
};

/// The refused fixtures, and the reasons.
const REFUSED: &[(&str, &str)] = &[
    ("agent-a7f3c21.meta.json", "unknown"),
    ("toolu_01A.txt", "unknown"),
    ("only-nul.jsonl", "unknown"),
    ("one-brace.jsonl", "unknown"),
    ("nothing-readable.jsonl", "unknown"),
    ("chat-completions.jsonl", "unknown"),
    ("utf-16-le.jsonl", "UTF-16 text"),
    ("utf-16-be.jsonl", "UTF-16 text"),
    ("picture.png", "unknown"),
    ("binary.jsonl", "unknown"),
    ("prose.jsonl", "unknown"),
    ("table.csv", "unknown"),
    ("other-json.jsonl", "unknown"),
    ("three-formats.jsonl", "claude-code or clido"),
];

const MODES: [CarryMode; 2] = [CarryMode::Inline, CarryMode::Sidecar];

/// Returns the fixtures that are sessions, with their formats.
fn sessions() -> Vec<(Fixture, &'static Format)> {
    let sessions = fixtures().into_iter().filter_map(|fixture| {
        let format = by_name(&fixture.format)?;
        Some((fixture, format))
    });
    sessions.collect()
}

fn name((fixture, _): &(Fixture, &'static Format)) -> String {
    fixture.name.clone()
}

fn detected(bytes: &[u8]) -> String {
    match detect(&mut Source::new(io::Cursor::new(bytes))) {
        Ok(Detected::Format(format)) => format.name.to_owned(),
        Ok(Detected::Ambiguous(one, other)) => format!("{} or {}", one.name, other.name),
        Ok(Detected::Foreign(what) | Detected::Archive(what)) => what.to_owned(),
        Ok(Detected::Unknown) => "unknown".to_owned(),
        Ok(Detected::Empty) => "empty".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn every_fixture_comes_back_from_every_format() {
    check_all(&share(sessions(), 3), name, |(fixture, from)| {
        let mut wrong = Vec::new();
        for to in others(&[from]) {
            for mode in MODES {
                wrong.extend(there_and_back(&fixture.bytes, from, to, mode));
            }
        }
        wrong
    });
}

/// The number of chains of four formats that a run chooses for each fixture.
const N_CHAINS: usize = 4;

/// `carry_faults` has the chains of three formats, in every mode and by every way home.
#[test]
fn every_fixture_comes_back_through_three_other_formats() {
    check_all(&sessions(), name, |(fixture, from)| {
        let mut wrong = Vec::new();
        let source = Written { bytes: fixture.bytes.clone(), sidecar: None };
        let inline = CarryMode::Inline;
        let chains = others(&[from]).flat_map(|second| {
            let thirds = others(&[from, second]);
            thirds.flat_map(move |third| {
                others(&[from, second, third]).map(move |fourth| [second, third, fourth])
            })
        });
        for [second, third, fourth] in chosen(&fixture.name, chains, N_CHAINS) {
            let there = convert(&source, from, second, inline).expect("in memory");
            if there.sidecar.is_some() {
                // The target shows nothing, so there is no file to convert.
                continue;
            }
            let on = convert(&there, second, third, inline).expect("in memory");
            let far = convert(&on, third, fourth, inline).expect("in memory");
            let home = convert(&far, fourth, from, inline).expect("in memory");
            if home.bytes != fixture.bytes {
                let way = [second, third, fourth, from].map(|format| format.name);
                wrong.push(format!("{} -> {}", from.name, way.join(" -> ")));
            }
        }
        wrong
    });
}

/// Limit on the size of fixtures that are cut at every byte within `FEW_TURNS` days.
const SMALL: usize = 500;

/// A larger fixture is cut within so many days at each line end, and at the byte before and behind it.
const FEW_TURNS: usize = 3;

/// A larger fixture is cut within so many days at all other bytes.
const MANY_TURNS: usize = 48;

/// Returns the offsets at which a fixture is cut on a turn.
fn cuts(bytes: &[u8], turn: usize) -> Vec<usize> {
    let is_line_end = |at: usize| bytes.get(at) == Some(&b'\n');
    let is_cut = |end: usize| {
        let is_at_line_end = is_line_end(end) || end > 0 && is_line_end(end - 1);
        let has_few_turns = bytes.len() <= SMALL || is_at_line_end;
        let period = if has_few_turns { FEW_TURNS } else { MANY_TURNS };
        end % period == turn % period
    };
    (0..bytes.len()).filter(|end| is_cut(*end)).collect()
}

#[test]
fn every_byte_has_its_turn() {
    for (fixture, _) in sessions() {
        let mut all: Vec<_> = (0..MANY_TURNS).flat_map(|turn| cuts(&fixture.bytes, turn)).collect();
        all.sort_unstable();
        all.dedup();
        assert!(all.into_iter().eq(0..fixture.bytes.len()), "{}", fixture.name);
    }
}

/// Each cut is converted to one of the other formats in turn, because all of them take minutes. `cargo
/// xtask matrix` cuts at every byte.
#[test]
fn every_fixture_comes_back_cut_at_every_byte() {
    let turns = turns::turn()..turns::turn() + turns::n_turns();
    check_all(&sessions(), name, |(fixture, from)| {
        let mut wrong = Vec::new();
        let targets: Vec<_> = others(&[from]).collect();
        let all = || (0..fixture.bytes.len()).collect();
        let some = || turns.clone().flat_map(|turn| cuts(&fixture.bytes, turn)).collect();
        let ends: Vec<usize> = if turns::are_all() { all() } else { some() };
        for end in ends {
            let bytes = &fixture.bytes[..end];
            let to = targets[end % targets.len()];
            let mode = MODES[usize::from(end % 61 == 0)];
            let failure = there_and_back(bytes, from, to, mode);
            wrong.extend(failure.map(|failure| format!("[..{end}] {failure}")));
        }
        wrong
    });
}

#[test]
fn every_fixture_comes_back_without_each_of_its_lines() {
    check_all(&sessions(), name, |(fixture, from)| {
        let mut wrong = Vec::new();
        let lines: Vec<_> = jsonl::lines(&fixture.bytes).map(|line| line.bytes()).collect();
        for left_out in 0..lines.len() {
            let bytes = [&lines[..left_out], &lines[left_out + 1..]].concat().concat();
            for to in chosen(&format!("{} {left_out}", fixture.name), others(&[from]), 1) {
                let failure = there_and_back(&bytes, from, to, CarryMode::Inline);
                wrong.extend(failure.map(|failure| format!("without {left_out}: {failure}")));
            }
        }
        wrong
    });
}

#[test]
fn what_is_written_is_found_to_be_in_its_format() {
    check_all(&share(sessions(), 3), name, |(fixture, from)| {
        let source = Written { bytes: fixture.bytes.clone(), sidecar: None };
        let mut wrong = Vec::new();
        for to in others(&[from]) {
            for mode in [CarryMode::None, CarryMode::Inline, CarryMode::Sidecar] {
                let written = convert(&source, from, to, mode).expect("in memory");
                let found = detected(&written.bytes);
                if !written.bytes.is_empty() && found != to.name {
                    wrong.push(format!("to {}, {mode:?}: {found}", to.name));
                }
            }
        }
        wrong
    });
}

#[test]
fn the_manifest_knows_what_detection_says() {
    for fixture in fixtures() {
        let found = detected(&fixture.bytes);
        match &*fixture.format {
            "none" => assert!(found == "unknown" || found == "empty", "{}: {found}", fixture.name),
            "foreign" => assert!(by_name(&found).is_none(), "{}: {found}", fixture.name),
            format => assert_eq!(found, format, "{}", fixture.name),
        }
    }
}

#[test]
fn exactly_what_is_no_session_is_refused() {
    let refused: Vec<_> = fixtures()
        .into_iter()
        .map(|fixture| (fixture.name, detected(&fixture.bytes)))
        .filter(|(_, found)| by_name(found).is_none() && found != "empty")
        .collect();
    let refused: Vec<_> = refused
        .iter()
        .map(|(name, why)| (name.rsplit('/').next().unwrap_or_default(), &**why))
        .collect();
    assert_eq!(refused, REFUSED);
}

#[test]
fn what_is_refused_comes_back_when_its_format_is_named_for_it() {
    let refused: Vec<_> =
        fixtures().into_iter().filter(|fixture| by_name(&fixture.format).is_none()).collect();
    check_all(
        &refused,
        |fixture| fixture.name.clone(),
        |fixture| {
            let mut wrong = Vec::new();
            for from in FORMATS.iter().copied() {
                for to in others(&[from]) {
                    for mode in MODES {
                        wrong.extend(there_and_back(&fixture.bytes, from, to, mode));
                    }
                }
            }
            wrong
        },
    );
}

/// A reader that returns a few bytes at a time.
struct Trickle<'b>(io::Cursor<&'b [u8]>, usize);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.1.min(buffer.len());
        self.0.read(&mut buffer[..n])
    }
}

impl Seek for Trickle<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

#[test]
fn reading_in_pieces_of_any_size_is_reading_whole() {
    check_all(&share(sessions(), 3), name, |(fixture, from)| {
        let mut wrong = Vec::new();
        for to in FORMATS.iter().copied() {
            let conversion = Conversion {
                formats: FORMATS,
                from,
                to,
                carry: CarryMode::Inline,
                options: Options::default(),
            };
            let whole = conversion.convert(&fixture.bytes, None).expect("in memory").bytes;
            for size in [1, 7, 4096] {
                let mut source = Source::new(Trickle(io::Cursor::new(&fixture.bytes), size));
                let mut pieces = Vec::new();
                conversion.run(&mut source, None, &mut pieces).expect("in memory");
                if pieces != whole {
                    wrong.push(format!("to {} in pieces of {size}", to.name));
                }
            }
        }
        wrong
    });
}

#[test]
fn a_source_too_large_to_keep_is_read_again() {
    let clido = by_name("clido").expect("a format");
    let small = fixtures().into_iter().find(|fixture| fixture.name == "clido/parallel-calls.jsonl");
    let small = small.expect("a fixture").bytes;
    let large = small.repeat(9 * 1024 * 1024 / small.len());
    for to in chosen("large", others(&[clido]), 1) {
        assert_eq!(there_and_back(&large, clido, to, CarryMode::Inline), None);
        let conversion = Conversion {
            formats: FORMATS,
            from: clido,
            to,
            carry: CarryMode::None,
            options: Options::default(),
        };
        let whole = conversion.convert(&large, None).expect("in memory").bytes;
        let mut source = Source::new(Trickle(io::Cursor::new(&large), 100_000));
        let mut pieces = Vec::new();
        conversion.run(&mut source, None, &mut pieces).expect("in memory");
        assert!(pieces == whole, "to {}", to.name);
    }
}
