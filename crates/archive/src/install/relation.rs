//! Compares two versions of a file that only grows.
//!
//! In: `{"n":1}` and `{"n":1}`, `{"n":2}`. Out: the second is longer, and starts with the first.

use std::io::{self, BufRead, BufReader, Read};

/// How an existing file is related to a new one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Relation {
    /// Both have the same bytes.
    Equal,
    /// The existing file is the start of the new one.
    Shorter,
    /// The new file is the start of the existing one.
    Longer,
    /// Neither is the start of the other.
    Differ,
}

/// Compares a new file with an existing one. An empty file is the start of no other one.
///
/// # Errors
///
/// Returns an error if a file cannot be read.
pub(super) fn relation(new: impl Read, existing: impl Read) -> io::Result<Relation> {
    let (mut new, mut existing) = (BufReader::new(new), BufReader::new(existing));
    let mut is_empty = true;
    loop {
        let (ours, theirs) = (new.fill_buf()?, existing.fill_buf()?);
        let length = ours.len().min(theirs.len());
        if length == 0 {
            return Ok(match (ours.is_empty(), theirs.is_empty()) {
                (true, true) => Relation::Equal,
                _ if is_empty => Relation::Differ,
                (false, _) => Relation::Shorter,
                (true, false) => Relation::Longer,
            });
        }
        if ours.get(..length) != theirs.get(..length) {
            return Ok(Relation::Differ);
        }
        is_empty = false;
        new.consume(length);
        existing.consume(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_grows_by_its_end() {
        let long = "x".repeat(100_000);
        let longer = format!("{long}y");
        for (new, existing, expected) in [
            ("a", "a", Relation::Equal),
            ("", "", Relation::Equal),
            ("ab", "a", Relation::Shorter),
            ("a", "ab", Relation::Longer),
            ("ab", "ac", Relation::Differ),
            ("a", "", Relation::Differ),
            ("", "a", Relation::Differ),
            (&longer, &long, Relation::Shorter),
            (&long, &longer, Relation::Longer),
        ] {
            let found = relation(new.as_bytes(), existing.as_bytes()).expect("in memory");
            assert_eq!(found, expected, "{} {}", new.len(), existing.len());
        }
    }
}
