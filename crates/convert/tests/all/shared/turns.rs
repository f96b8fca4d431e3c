//! Chooses some cases of a test that has too many for each run. Each day chooses others, so that all of
//! them get their turn.
//!
//! `TURN=N` chooses the turn instead of the day, and `ALL_TURNS=1` all cases, as `cargo xtask matrix` does.

use std::{env, time::UNIX_EPOCH};

/// Returns whether all cases run.
pub(crate) fn are_all() -> bool {
    env::var_os("ALL_TURNS").is_some()
}

/// Returns the number of the turn: `TURN`, or the days since 1970.
pub(crate) fn turn() -> usize {
    let asked = env::var("TURN").ok().and_then(|turn| turn.parse().ok());
    let days = || UNIX_EPOCH.elapsed().map_or(0, |time| time.as_secs() / 86_400) as usize;
    asked.unwrap_or_else(days)
}

/// Returns about `n` of the cases of an item. The item's name shifts the turn, so that each run has all
/// kinds of cases, with some item each.
pub(crate) fn chosen<T>(name: &str, cases: impl Iterator<Item = T>, n: usize) -> Vec<T> {
    let shift = name.bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31) + usize::from(byte));
    if are_all() { cases.collect() } else { picked(turn().wrapping_add(shift), cases, n) }
}

/// Returns about `n` of the cases. Another number picks others, and successive numbers pick all.
pub(crate) fn picked<T>(number: usize, cases: impl Iterator<Item = T>, n: usize) -> Vec<T> {
    let cases: Vec<T> = cases.collect();
    if n >= cases.len() {
        return cases;
    }
    // An odd number, because the last part of a case is often one of two modes.
    let n_turns = cases.len().div_ceil(n) | 1;
    let picked = cases.into_iter().enumerate().filter(|(at, _)| at % n_turns == number % n_turns);
    picked.map(|(_, case)| case).collect()
}

#[test]
fn every_case_has_its_turn() {
    for (n_cases, n) in [(1_usize, 1), (6, 2), (12, 5), (120, 15), (990, 15)] {
        let on = |turn| picked(turn, 0..n_cases, n);
        let n_turns = if n < n_cases { n_cases.div_ceil(n) | 1 } else { 1 };
        let mut all: Vec<usize> = (0..n_turns).flat_map(on).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..n_cases), "{n} of {n_cases}");
        assert!(on(7).len() <= n, "{n} of {n_cases}");
    }
}
