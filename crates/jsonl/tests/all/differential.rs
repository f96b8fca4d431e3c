//! Tests that every backend finds the same values in lines of every kind, and in mutations of them.

mod mutation;
mod samples;
#[cfg(not(miri))]
mod tape;

use self::mutation::{Judges, Random, mutate};

/// Number of mutations. Under Miri, a millisecond becomes a second.
const N_MUTATIONS: usize = if cfg!(miri) { 20 } else { 200_000 };

#[test]
fn backends_agree_on_mutated_lines() {
    let lines = samples::lines();
    let mut judges = Judges::default();
    let mut random = Random::new(1);
    let mut n_accepted = 0;
    for line in &lines {
        judges.accept(line);
    }
    for n in 0..N_MUTATIONS {
        let mut line = lines[n % lines.len()].clone();
        mutate(&mut line, &mut random);
        n_accepted += usize::from(judges.accept(&line));
    }
    assert!(n_accepted > N_MUTATIONS / 20, "only {n_accepted} are JSON");
}

#[test]
fn backends_agree_wherever_a_block_ends() {
    let mut judges = Judges::default();
    let bodies =
        ["\\", "\\\\", "\\\"", "\\u00e9", "\\ud800", "é", "\"", "\t", "\\x", "\\u12", "\",\""];
    for body in bodies {
        for before in if cfg!(miri) { 61..64 } else { 0..200 } {
            for after in [0, 1, 63] {
                let (before, after) = ("x".repeat(before), "y".repeat(after));
                judges.accept(format!("[\"{before}{body}{after}\"]").as_bytes());
                judges.accept(format!("[\"{before}{body}").as_bytes());
            }
        }
    }
}

#[test]
fn backends_agree_on_more_quotes_than_a_window_holds() {
    let mut judges = Judges::default();
    for n in if cfg!(miri) { 520..521 } else { 500..1_100 } {
        let line = format!("[{}\"\\n\"]", "\"\",".repeat(n));
        assert!(judges.accept(line.as_bytes()));
        assert!(!judges.accept(&line.as_bytes()[..line.len() - 2]));
        judges.accept(format!("[{}\"{}\"]", "\"\",".repeat(n), "\\\\".repeat(n)).as_bytes());
    }
    assert!(!judges.accept(&[b'"'; 5_001]));
}

#[test]
#[cfg(not(miri))]
fn the_tape_of_simd_json_has_the_same_values() {
    let lines = samples::lines();
    let mut random = Random::new(2);
    let mut tape = tape::Judge::default();
    let mut n_accepted = lines.iter().filter(|line| tape.accept(line)).count();
    for n in 0..N_MUTATIONS / 10 {
        let mut line = lines[n % lines.len()].clone();
        mutate(&mut line, &mut random);
        n_accepted += usize::from(tape.accept(&line));
    }
    assert!(n_accepted > N_MUTATIONS / 200, "only {n_accepted} are JSON");
}
