//! Finds the command that a mistyped word is nearest to.
//!
//! In: `shwo`. Out: `show`.

/// Returns the name with the fewest edits from a word: at most one for a short word, two from six
/// letters on. A start of at least three letters is near too: `comp` is near `completions`. Returns
/// `None` if no name is near.
pub(super) fn nearest<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let word = word.to_ascii_lowercase();
    let n_chars = word.chars().count();
    if n_chars > MAX_WORD {
        return None;
    }
    let limit = if n_chars < 6 { 1 } else { 2 };
    let rank = |name: &'n str| {
        let is_start = n_chars >= 3 && name.starts_with(&word);
        let edits = if is_start { 0 } else { n_edits(&word, name) };
        (edits <= limit).then_some((edits, name))
    };
    names.filter_map(rank).min().map(|(_, name)| name)
}

/// Limit on the letters of a compared word. Commands are shorter.
const MAX_WORD: usize = 24;

/// Counts the letters to insert, remove, replace or swap with the next one: `shwo` is one edit from
/// `show`.
fn n_edits(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=other.len()).collect()];
    for i in 1..=one.len() {
        let mut row = vec![i];
        for j in 1..=other.len() {
            let is_same = one[i - 1] == other[j - 1];
            let mut edits = (rows[i - 1][j - 1] + usize::from(!is_same))
                .min(rows[i - 1][j] + 1)
                .min(row[j - 1] + 1);
            let is_swapped =
                i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
            if is_swapped {
                edits = edits.min(rows[i - 2][j - 2] + 1);
            }
            row.push(edits);
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_near_by_one_or_two_edits_or_by_their_start() {
        let near = |word| nearest(word, ["list", "show", "stats", "completions"].into_iter());
        assert_eq!(near("shwo"), Some("show"));
        assert_eq!(near("lst"), Some("list"));
        assert_eq!(near("Stat"), Some("stats"));
        assert_eq!(near("complitoins"), Some("completions"));
        assert_eq!(near("comp"), Some("completions"));
        assert_eq!(near("notes.jsonl"), None);
        assert_eq!(near(""), None);
    }
}
