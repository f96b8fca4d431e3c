//! Compares two texts line by line.
//!
//! In: `a\nb` and `a\nc`. Out: `a` is the same, `b` is removed, `c` is added.

/// The change of a line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Change {
    Same,
    Removed,
    Added,
}

/// Limit for the cells of the comparison table. Beyond it, all old lines are removed and all new
/// ones added.
const MAX_CELLS: usize = 1 << 20;

/// Returns the lines of both texts, with removed lines before added ones.
pub(crate) fn diff<'t>(old: &'t str, new: &'t str) -> Vec<(Change, &'t str)> {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let n_before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (before, old) = old.split_at(n_before);
    let (_, new) = new.split_at(n_before);
    let n_after =
        old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, after) = old.split_at(old.len() - n_after);
    let (new, _) = new.split_at(new.len() - n_after);
    let mut changes: Vec<_> = before.iter().map(|line| (Change::Same, *line)).collect();
    pair(old, new, &mut changes);
    changes.extend(after.iter().map(|line| (Change::Same, *line)));
    changes
}

/// Pairs the lines of two texts by their longest common subsequence.
fn pair<'t>(old: &[&'t str], new: &[&'t str], changes: &mut Vec<(Change, &'t str)>) {
    let width = new.len() + 1;
    let (mut old_idx, mut new_idx) = (0, 0);
    if (old.len() + 1).saturating_mul(width) <= MAX_CELLS {
        let lengths = common_lengths(old, new);
        let length = |old_idx: usize, new_idx: usize| lengths.get(old_idx * width + new_idx);
        while let (Some(removed), Some(added)) = (old.get(old_idx), new.get(new_idx)) {
            if removed == added {
                changes.push((Change::Same, removed));
                old_idx += 1;
                new_idx += 1;
            } else if length(old_idx + 1, new_idx) >= length(old_idx, new_idx + 1) {
                changes.push((Change::Removed, removed));
                old_idx += 1;
            } else {
                changes.push((Change::Added, added));
                new_idx += 1;
            }
        }
    }
    let rest = |lines: &[&'t str], from: usize| lines.get(from..).unwrap_or_default().to_vec();
    changes.extend(rest(old, old_idx).into_iter().map(|line| (Change::Removed, line)));
    changes.extend(rest(new, new_idx).into_iter().map(|line| (Change::Added, line)));
}

/// Returns, row by row, the number of common lines of the rest of the old text and the rest of the
/// new text.
fn common_lengths(old: &[&str], new: &[&str]) -> Vec<u32> {
    let width = new.len() + 1;
    let mut rows = vec![vec![0u32; width]];
    for removed in old.iter().rev() {
        let below = rows.last().map(Vec::as_slice).unwrap_or_default();
        let mut row = vec![0u32; width];
        for (idx, added) in new.iter().enumerate().rev() {
            let at = |row: &[u32], idx: usize| row.get(idx).copied().unwrap_or_default();
            let length = match removed == added {
                true => at(below, idx + 1) + 1,
                false => at(below, idx).max(at(&row, idx + 1)),
            };
            if let Some(cell) = row.get_mut(idx) {
                *cell = length;
            }
        }
        rows.push(row);
    }
    rows.into_iter().rev().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(old: &str, new: &str) -> String {
        let sign = |change| match change {
            Change::Same => ' ',
            Change::Removed => '-',
            Change::Added => '+',
        };
        let lines = diff(old, new);
        lines.iter().map(|(change, line)| format!("{}{line}\n", sign(*change))).collect()
    }

    #[test]
    fn lines_that_stay_are_shown_once() {
        assert_eq!(shown("a\nb\nc\nd\n", "a\nx\nc\ny\nd\n"), " a\n-b\n+x\n c\n+y\n d\n");
        assert_eq!(shown("", "a\n"), "+a\n");
        assert_eq!(shown("a", ""), "-a\n");
        assert_eq!(shown("a\nb", "a\nb"), " a\n b\n");
        assert_eq!(shown("a\na", "a\na\na"), " a\n a\n+a\n");
    }

    #[test]
    fn long_texts_are_not_paired() {
        let text = |word: &str| (0..2000).map(|n| format!("{word} {n}\n")).collect::<String>();
        let (old, new) = (text("old"), text("new"));
        let lines = diff(&old, &new);
        assert!(lines.iter().take(2000).all(|(change, _)| *change == Change::Removed));
        assert!(lines.iter().skip(2000).all(|(change, _)| *change == Change::Added));
        assert_eq!(lines.len(), 4000);
    }
}
