//! Draws a session as bars over time, with marks for failures.

use core_model::PointKind;
use jiff::tz::TimeZone;

use super::numbers::Numbers;
use crate::{reading::moments::printed, terminal::Terminal};

const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The columns for times before and after the bars.
const MARGIN: usize = 20;

/// Returns the picture; `None` without a terminal, or if no time passes.
pub(super) fn of(numbers: &Numbers, terminal: &Terminal, zone: &TimeZone) -> Option<String> {
    if !terminal.is_terminal {
        return None;
    }
    let times = || numbers.timeline.points.iter().map(|point| point.time);
    let (start, end) = (times().min()?, times().max()?);
    let columns = terminal.columns.checked_sub(MARGIN).filter(|_| end > start)?;
    let moments = numbers.timeline.points.iter().map(|point| (point.time, point.kind));
    Some(drawn(moments, (start, end), columns, terminal.has_color, zone))
}

/// Returns a bar for each part of the time, and the marks below.
fn drawn(
    moments: impl Iterator<Item = (i64, PointKind)>,
    (start, end): (i64, i64),
    columns: usize,
    has_color: bool,
    zone: &TimeZone,
) -> String {
    let mut heights = vec![0u64; columns];
    let mut marks = vec![' '; columns];
    // A file may have any times, even in reverse.
    let length = end.abs_diff(start).max(1);
    for (time, kind) in moments {
        let passed = u128::from(time.abs_diff(start)) * (columns as u128 - 1);
        let column = (passed / u128::from(length)) as usize;
        let (Some(height), Some(mark)) = (heights.get_mut(column), marks.get_mut(column)) else {
            continue;
        };
        *height += 1;
        match kind {
            PointKind::Error => *mark = '!',
            PointKind::Compaction if *mark == ' ' => *mark = '┆',
            _ => {}
        }
    }
    let highest = heights.iter().copied().max().unwrap_or(0).max(1);
    let bar = |height: &u64| {
        // Rounding up keeps the smallest count visible.
        let bar = (height * 8).div_ceil(highest) as usize;
        BARS.get(bar).copied().unwrap_or('█')
    };
    let bars: String = heights.iter().map(bar).collect();
    let clock = |time| printed(time, zone).get(11..16).unwrap_or_default().to_owned();
    let marks: String = marks.iter().collect();
    let (red, plain) = if has_color { ("\u{1b}[31m", "\u{1b}[0m") } else { ("", "") };
    let mut picture = format!("{}  {bars}  {}\n", clock(start), clock(end));
    if !marks.trim().is_empty() {
        picture.push_str(&format!("       {red}{}{plain}\n", marks.trim_end()));
    }
    picture
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_tell_when_and_marks_what_failed() {
        let moments = [
            (0, PointKind::Prompt),
            (0, PointKind::Response),
            (30_000, PointKind::Compaction),
            (60_000, PointKind::Error),
        ];
        let picture = drawn(moments.into_iter(), (0, 60_000), 5, false, &TimeZone::UTC);
        assert_eq!(picture, "00:00  █ ▄ ▄  00:01\n         ┆ !\n");
        let picture = drawn(
            [(i64::MAX, PointKind::Error)].into_iter(),
            (i64::MIN, i64::MAX),
            3,
            true,
            &TimeZone::UTC,
        );
        assert!(picture.ends_with("\u{1b}[31m  !\u{1b}[0m\n"), "{picture}");
    }
}
