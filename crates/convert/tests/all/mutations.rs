//! Changes written files, and checks that they restore their source, or that the report says what
//! differs.
//!
//! `MUTATIONS=N` sets the number of changes, and `MUTATIONS_SEED=N` the seed.

#[path = "../../../../fuzz/src/mutations.rs"]
mod law;

use std::collections::BTreeMap;

use convert::{CarryMode, FORMATS, by_name};

use self::law::Written;
use crate::shared::fixtures::fixtures;

#[test]
fn a_changed_file_restores_its_source_or_says_so() {
    let asked = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let n_changes = asked("MUTATIONS").unwrap_or(2_000);
    let mut state = asked("MUTATIONS_SEED").unwrap_or(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let fixtures: Vec<_> = fixtures()
        .into_iter()
        .filter_map(|fixture| Some((by_name(&fixture.format)?, fixture)))
        .collect();
    let (mut n_done, mut wrong) = (0, BTreeMap::new());
    'all: loop {
        for (from, fixture) in &fixtures {
            for to in FORMATS.targets().filter(|to| to.name != from.name) {
                for carry in [CarryMode::Inline, CarryMode::Sidecar] {
                    if n_done >= n_changes {
                        break 'all;
                    }
                    n_done += 1;
                    let written = Written::new(&fixture.bytes, from, to, carry);
                    if let Err(why) = written.check_change(&mut state) {
                        let kind = why.lines().next().unwrap_or_default().to_owned();
                        wrong.entry(kind).or_insert_with(|| format!("{}: {why}", fixture.name));
                    }
                }
            }
        }
    }
    let all: Vec<&str> = wrong.values().map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} kinds:\n{}", wrong.len(), all.join("\n\n"));
}
