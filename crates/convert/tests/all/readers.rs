//! Tests that a format reads the same events from a record, all in one call or one by one.

use convert::{CarryMode, Conversion, FORMATS, by_name};
use core_model::{Format, Options};
use jsonl::{Scanner, Value};

use crate::shared::{
    fixtures::{Fixture, fixtures},
    parallel::check_all,
    pieces::{as_lines, pieces},
};

/// Returns the events of a record up to event `last`, and whether all were passed on.
fn events(format: &Format, record: Value<'_>, last: u32) -> (Vec<String>, bool) {
    let mut all = Vec::new();
    let is_whole = format.for_each_event(record, |event| {
        all.push(format!("{event:?}"));
        event.nth < last
    });
    (all, is_whole)
}

/// Compares the events of each record of a file, also of a caller that stops early.
fn check(format: &Format, bytes: &[u8]) -> Vec<String> {
    let mut single = *format;
    single.read_each = None;
    let mut scanner = Scanner::default();
    let mut wrong = Vec::new();
    for piece in pieces(&as_lines(bytes, format).0, Some(format)) {
        let Ok(record) = scanner.scan(&piece.line) else { continue };
        for last in [0, 1, u32::MAX] {
            let (all, one_by_one) = (events(format, record, last), events(&single, record, last));
            if all != one_by_one {
                wrong.push(format!("{}: {all:?} instead of {one_by_one:?}", format.name));
            }
        }
    }
    wrong
}

#[test]
fn all_events_of_a_record_are_the_single_ones() {
    let rows: Vec<&Format> =
        FORMATS.iter().filter(|row| row.read_each.is_some()).copied().collect();
    let check_fixture = |fixture: &Fixture| {
        let mut wrong = Vec::new();
        for to in &rows {
            wrong.extend(check(to, &fixture.bytes));
            let Some(from) = by_name(&fixture.format) else { continue };
            let (carry, options) = (CarryMode::None, Options::default());
            let conversion = Conversion { formats: FORMATS, from, to, carry, options };
            let written = conversion.convert(&fixture.bytes, None).expect("in memory");
            wrong.extend(check(to, &written.bytes));
        }
        wrong
    };
    check_all(&fixtures(), |fixture| fixture.name.clone(), check_fixture);
}
