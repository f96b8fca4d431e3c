//! Chooses some cases of a test that has too many for each run. Each day chooses others, so that all of
//! them get their turn.
//!
//! `TURN=N` chooses the turn instead of the day, `TURNS=N` takes so many turns at once, as `.ci/run` does, and
//! `ALL_TURNS=1` takes all cases, as `cargo xtask matrix` does.

use std::{env, time::UNIX_EPOCH};

/// Returns whether all cases run.
pub(crate) fn are_all() -> bool {
    env::var_os("ALL_TURNS").is_some()
}

/// Returns the value of an environment variable that is a number.
fn number(variable: &str) -> Option<usize> {
    env::var(variable).ok()?.parse().ok()
}

/// Returns the number of the turn: `TURN`, or the days since 1970.
pub(crate) fn turn() -> usize {
    let days = || UNIX_EPOCH.elapsed().map_or(0, |time| time.as_secs() / 86_400) as usize;
    number("TURN").unwrap_or_else(days)
}

/// Returns the number of turns that a run takes: `TURNS`, or one.
pub(crate) fn n_turns() -> usize {
    number("TURNS").unwrap_or(1).max(1)
}

/// Returns about `n` of the cases of an item for each turn. The item's name shifts the turn, so that each run
/// has all kinds of cases, with some item each.
pub(crate) fn chosen<T>(name: &str, cases: impl Iterator<Item = T>, n: usize) -> Vec<T> {
    let shift = name.bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31) + usize::from(byte));
    if are_all() { cases.collect() } else { picked(turn().wrapping_add(shift), cases, n) }
}

/// Returns about one in `of` items for each turn.
pub(crate) fn share<T>(items: Vec<T>, of: usize) -> Vec<T> {
    let n = items.len().div_ceil(of);
    chosen("", items.into_iter(), n)
}

/// Returns about `n` of the cases for each turn. Another number picks others, and successive numbers pick all.
pub(crate) fn picked<T>(number: usize, cases: impl Iterator<Item = T>, n: usize) -> Vec<T> {
    picked_of(number, n_turns(), cases, n)
}

fn picked_of<T>(number: usize, n_turns: usize, cases: impl Iterator<Item = T>, n: usize) -> Vec<T> {
    let cases: Vec<T> = cases.collect();
    if n >= cases.len() {
        return cases;
    }
    // An odd number, because the last part of a case is often one of two modes.
    let period = cases.len().div_ceil(n) | 1;
    let first = number % period;
    let picked =
        cases.into_iter().enumerate().filter(|(at, _)| (at + period - first) % period < n_turns);
    picked.map(|(_, case)| case).collect()
}

#[test]
fn every_case_has_its_turn() {
    for (n_cases, n) in [(1_usize, 1), (6, 2), (12, 5), (120, 15), (990, 15)] {
        let on = |turn| picked_of(turn, 1, 0..n_cases, n);
        let period = if n < n_cases { n_cases.div_ceil(n) | 1 } else { 1 };
        let mut all: Vec<usize> = (0..period).flat_map(on).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..n_cases), "{n} of {n_cases}");
        assert!(on(7).len() <= n, "{n} of {n_cases}");
        let mut three = [on(7), on(8), on(9)].concat();
        three.sort_unstable();
        three.dedup();
        assert_eq!(picked_of(7, 3, 0..n_cases, n), three, "{n} of {n_cases}");
    }
}
