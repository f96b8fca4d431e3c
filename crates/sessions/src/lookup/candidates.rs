//! Names the sessions of which one is meant, for an error.
//!
//! In: the sessions `01ab-7` of pi and `01ab-8` of Codex. Out: `01ab-7 (pi) or 01ab-8 (codex)`.

use crate::stored::Stored;

/// Limit on the sessions that an error names.
const MAX_CANDIDATES: usize = 8;

/// Minimum letters of an id in an error.
const MIN_SHOWN: usize = 8;

/// Returns the starts of the ids of sessions, long enough to tell them apart; the paths, if two ids are
/// equal. Long lists are cut.
///
/// In: `01ab-7`, `01ab-8`. Out: `01ab-7 (pi) or 01ab-8 (codex)`.
pub(super) fn candidates(sessions: &[Stored]) -> String {
    let mut ids: Vec<&str> = sessions.iter().filter_map(Stored::id).collect();
    ids.sort_unstable();
    let n_common = |one: &str, other: &str| {
        one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count()
    };
    let pairs = || ids.iter().zip(ids.iter().skip(1));
    let has_equal = pairs().any(|(one, other)| one == other);
    let longest = pairs().map(|(one, other)| n_common(one, other)).max().unwrap_or(0);
    let name = |session: &Stored| match session.id() {
        Some(id) if !has_equal => {
            let start: String = id.chars().take(MIN_SHOWN.max(longest + 1)).collect();
            format!("{start} ({})", session.format.name)
        }
        _ => session.path.display().to_string(),
    };
    let mut names: Vec<String> = sessions.iter().take(MAX_CANDIDATES).map(name).collect();
    let last = match sessions.len().saturating_sub(names.len()) {
        0 => names.pop().unwrap_or_default(),
        n_more => format!("{n_more} others"),
    };
    format!("{} or {last}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use format_claude_code::FORMAT;

    use super::*;

    #[test]
    fn candidates_are_named_by_the_starts_of_their_ids() {
        let stored = |path: &str| Stored::file(&FORMAT, path.into());
        let sessions = ["a/0123456789-1.jsonl", "a/0123456789-2.jsonl", "b/3.jsonl"].map(stored);
        assert_eq!(
            candidates(&sessions),
            "0123456789-1 (claude-code), 0123456789-2 (claude-code) or 3 (claude-code)"
        );
        let twice = ["a/01234567.jsonl", "b/01234567.jsonl"].map(stored);
        assert_eq!(candidates(&twice), "a/01234567.jsonl or b/01234567.jsonl");
        let many: Vec<Stored> = (10..30).map(|n| stored(&format!("{n}000000-1.jsonl"))).collect();
        let named = candidates(&many);
        assert!(named.starts_with("10000000 (claude-code), 11000000 (claude-code), "), "{named}");
        assert!(named.ends_with("17000000 (claude-code) or 12 others"), "{named}");
    }
}
