//! Generated spellings of secrets: families × names × surroundings × levels of JSON. None of them
//! is in the table of rules, so the recall shows how well the rules generalize.

use std::collections::BTreeMap;

use jsonl::Line;
use secrets::Search;

use crate::made_up::{Random, Value, body, families, levels, places};

/// The number of planted secrets of a family, and the faults.
#[derive(Default)]
struct Recall {
    n_planted: usize,
    wrong: Vec<String>,
}

/// Plants secrets of each family in lines, and returns the recall.
fn recall(seed: u64, is_held_out: bool) -> BTreeMap<&'static str, Recall> {
    let mut random = Random::new(seed);
    let mut search = Search::with_test_keys();
    let mut recalls: BTreeMap<&'static str, Recall> = BTreeMap::new();
    for family in families(is_held_out) {
        for place in places(&family, is_held_out) {
            for _ in 0..4 {
                let Value { secret, text } = family.value(&mut random, place);
                for (level, line) in levels(&text).into_iter().enumerate() {
                    let recall = recalls.entry(family.name).or_default();
                    recall.n_planted += 1;
                    if let Some(wrong) = wrong(&mut search, &line, &secret) {
                        recall.wrong.push(format!("level {level}: {wrong}: {line}"));
                    }
                }
            }
        }
    }
    recalls
}

/// Returns the fault of a redacted line: a part of the secret is left, or other text is missing.
fn wrong(search: &mut Search, line: &str, secret: &str) -> Option<String> {
    let mut redact = |line: &str| {
        let mut out = Vec::new();
        search.redact(&Line::new(line.as_bytes(), 0), &mut out, &mut |_| {});
        String::from_utf8(out).expect("text")
    };
    let out = redact(line);
    assert!(jsonl::validate(out.as_bytes()).is_ok(), "{line}\n{out}");
    assert_eq!(redact(&out), out, "twice is once: {line}");
    let written = body(secret);
    let Some((before, _)) = out.split_once("[REDACTED:") else { return Some("not found".into()) };
    let (_, after) = out.rsplit_once("[REDACTED:")?;
    let (_, after) = after.split_once(']')?;
    let planted = line.get(before.len()..line.len().checked_sub(after.len())?)?;
    let is_whole = [secret, &written].iter().any(|secret| {
        let bare: String = planted.chars().filter(|char| *char != '\\').collect();
        let all: String = secret.chars().filter(|char| *char != '\\').collect();
        bare == all
    });
    (!is_whole).then(|| format!("not exactly the secret: {out}"))
}

#[expect(clippy::print_stdout, reason = "the recall is a figure to read")]
fn check(recalls: &BTreeMap<&'static str, Recall>) {
    let mut n_bad = 0;
    for (name, Recall { n_planted, wrong }) in recalls {
        let n_found = n_planted - wrong.len();
        let rate = n_found as f64 / *n_planted as f64 * 100.0;
        println!("{name}: {n_found} of {n_planted}, {rate:.1} %");
        if rate < 95.0 {
            n_bad += 1;
        }
        for wrong in wrong.iter().step_by(wrong.len() / 6 + 1) {
            println!("    {wrong}");
        }
    }
    assert_eq!(n_bad, 0, "families with a recall below 95 %");
}

#[test]
fn known_spellings_are_found_in_each_family() {
    for seed in [1, 2] {
        check(&recall(seed, false));
    }
}

#[test]
fn spellings_that_the_rules_were_not_made_for_are_found_in_each_family() {
    for seed in [3, 4] {
        check(&recall(seed, true));
    }
}
