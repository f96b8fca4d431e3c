//! Tests with generated lines: only secrets change, JSON stays valid, and a second run finds
//! nothing.
//!
//! `LINES=1000000 cargo test --release -p sessionlog-secrets --test all twice` makes more of them.

use jsonl::{Line, Scanner};
use secrets::Search;

use crate::{
    made_up::{Random, levels},
    values::made,
};

/// The spellings of other tests, and texts without a secret.
const TEXTS: [&str; 4] = [
    include_str!("held_out/open.tsv"),
    include_str!("held_out/held_out.tsv"),
    include_str!("held_out/shapes.tsv"),
    include_str!("held_out/benign.txt"),
];

/// Texts that are inserted between the bytes of a line.
const PIECES: &[&str] = &[
    "\\",
    "\"",
    "'",
    "\\n",
    "\\\"",
    "\\\\n",
    "=",
    ":",
    ",",
    ";",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    " ",
    "-",
    "|",
    "<",
    ">",
    "\\t",
    "\\u0041",
    "[REDACTED:password]",
    "password=",
    "token: ",
    " | docker login \
     --password-stdin",
    "Cookie: a=",
    "kind: Secret",
    "data:",
    "curl -u a:",
    "é",
    "<<< ",
    "\u{1b}[0m",
];

/// Returns a line with a few changes at random places.
fn changed(line: &str, other: &str, random: &mut Random) -> Vec<u8> {
    let mut bytes = line.as_bytes().to_vec();
    for _ in 0..random.number(5) {
        let at = random.number(bytes.len() + 1);
        match random.number(6) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..(at + random.number(4)).min(bytes.len()))),
            2 => drop(bytes.splice(at..at, random.one(PIECES).bytes())),
            3 => drop(bytes.splice(at..at, other.bytes())),
            4 => bytes.extend_from_slice(other.as_bytes()),
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = random.text(" \"'\\=:;,-az09{}", 1).as_bytes()[0];
                }
            }
        }
    }
    bytes
}

/// Redacts a line, checks the result, and returns the number of its secrets.
fn check(search: &mut Search, scanner: &mut Scanner, line: &[u8]) -> usize {
    let (mut once, mut kept, mut twice) = (Vec::new(), Vec::new(), Vec::new());
    let (mut done, mut n_found) = (0, 0);
    search.redact(&Line::new(line, 1), &mut once, &mut |finding| {
        let place = &finding.written;
        assert!(done <= place.start && place.start < place.end, "{}", line.escape_ascii());
        kept.extend_from_slice(&line[done..place.start]);
        kept.extend_from_slice(format!("[REDACTED:{}]", finding.rule.name).as_bytes());
        done = place.end;
        n_found += 1;
    });
    kept.extend_from_slice(&line[done..]);
    assert!(once == kept, "{}", line.escape_ascii());
    let was_json = scanner.scan(&Line::new(line, 1)).is_ok();
    let is_json = scanner.scan(&Line::new(&once, 1)).is_ok();
    assert!(!was_json || is_json, "no JSON: {}", line.escape_ascii());
    let mut again = None;
    search.redact(&Line::new(&once, 1), &mut twice, &mut |finding| {
        again = Some((finding.rule.name, finding.written.clone()));
    });
    let [line, once] = [line, &once].map(<[u8]>::escape_ascii);
    assert!(again.is_none(), "{again:?} the second time: {line}\n{once}");
    n_found
}

#[test]
fn made_up_lines_are_redacted_once() {
    let lines = std::env::var("LINES").ok().and_then(|n| n.parse().ok()).unwrap_or(4_000);
    let seed = std::env::var("SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let texts: Vec<&str> = TEXTS.into_iter().flat_map(str::lines).collect();
    let mut random = Random::new(seed);
    let (mut search, mut scanner) = (Search::with_test_keys(), Scanner::default());
    let (mut n_lines, mut n_found) = (0_usize, 0_usize);
    while n_lines < lines {
        let text = |random: &mut Random| {
            let row = texts[random.number(texts.len())];
            made(row.split_once('\t').map_or(row, |row| row.1), random).0
        };
        let (one, other) = (text(&mut random), text(&mut random));
        for line in levels(&one).iter().chain([&one]) {
            n_found += check(&mut search, &mut scanner, line.as_bytes());
            n_found += check(&mut search, &mut scanner, &changed(line, &other, &mut random));
            n_lines += 2;
        }
    }
    println!("{n_lines} lines, {n_found} secrets");
}
