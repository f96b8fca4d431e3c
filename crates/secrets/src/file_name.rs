//! Finds secrets in the names of files and folders.
//!
//! In: `session-ghp_….jsonl`. Out: `session-[REDACTED:github-token].jsonl`. A client may write the path of a project as
//! the name of a folder, with `-` for each `_` of it, so `-home-ada-ghp-…` has a token too.

use jsonl::Line;

use crate::{Finding, Search};

/// Limit for the words of a token that had `_` between them: `github_pat_…_…`.
const MAX_WORDS: usize = 4;

/// Minimum length of a token.
const MIN_TOKEN: usize = 20;

impl Search {
    /// Returns the name of a file or a folder with each secret replaced by `[REDACTED:rule]`, and calls `each` with the
    /// findings.
    ///
    /// ```
    /// let mut search = secrets::Search::new();
    /// let name = "-home-ada-ghp-0123456789abcdefghijABCDEFGHIJ012345";
    /// assert_eq!(search.redact_name(name, &mut |_| {}), "-home-ada-[REDACTED:github-token]");
    /// ```
    pub fn redact_name(&mut self, name: &str, each: &mut dyn FnMut(&Finding<'_>)) -> String {
        let (mut found, mut redacted, mut done) = (Vec::new(), String::new(), 0);
        self.find(&Line::new(name.as_bytes(), 0), &mut |finding| {
            found.push((finding.written.clone(), finding.rule.placeholder()));
            each(finding);
        });
        for (range, placeholder) in found {
            let before = name.get(done..range.start).unwrap_or_default();
            redacted.push_str(&self.redact_part(before, done, each));
            redacted.push_str(&placeholder);
            done = range.end;
        }
        redacted + &self.redact_part(name.get(done..).unwrap_or_default(), done, each)
    }

    /// Returns a part of a name, which starts at an offset of the name, with each token with `-` for `_` replaced.
    fn redact_part(
        &mut self,
        part: &str,
        start: usize,
        each: &mut dyn FnMut(&Finding<'_>),
    ) -> String {
        let (mut redacted, mut rest) = (String::new(), part);
        loop {
            let place = start.saturating_add(part.len().saturating_sub(rest.len()));
            let mut each_in_name = |finding: &Finding<'_>| {
                let mut finding = finding.clone();
                let (start, end) = (finding.written.start, finding.written.end);
                finding.written = place.saturating_add(start)..place.saturating_add(end);
                each(&finding);
            };
            let Some((before, after)) = self.redact_words(rest, &mut redacted, &mut each_in_name)
            else {
                return redacted + rest;
            };
            redacted.push_str(before);
            rest = after;
        }
    }

    /// Redacts a token with `-` for `_` at the start of a text, and appends the words that have it. Returns the text before
    /// the next word, and the text after it; `None` at the end.
    fn redact_words<'n>(
        &mut self,
        rest: &'n str,
        redacted: &mut String,
        each: &mut dyn FnMut(&Finding<'_>),
    ) -> Option<(&'n str, &'n str)> {
        let word = rest.find('-').map_or(rest.len(), |at| at.saturating_add(1));
        rest.split_at_checked(word).filter(|_| !rest.is_empty())?;
        let signs = rest.match_indices('-').map(|(at, _)| at).chain([rest.len()]);
        let ends: Vec<usize> = signs.take(MAX_WORDS).skip(1).collect();
        for end in ends {
            let (words, after) = rest.split_at_checked(end)?;
            if words.len() < MIN_TOKEN {
                continue;
            }
            let text = words.replace('-', "_");
            let (mut out, mut is_token) = (Vec::new(), false);
            // A later finding does not undo the first one.
            let mut check = |finding: &Finding<'_>| {
                is_token |= finding.rule.is_token() && finding.written.start == 0;
                if is_token {
                    each(finding);
                }
            };
            self.redact(&Line::new(text.as_bytes(), 0), &mut out, &mut check);
            if is_token {
                redacted.push_str(&String::from_utf8_lossy(&out));
                return Some(("", after));
            }
        }
        rest.split_at_checked(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_of_a_name_is_found_at_its_place() {
        let mut search = Search::new();
        let letters = "0123456789abcdefghijABCDEFGHIJ012345";
        let token = "[REDACTED:github-token]";
        for (name, expected, places) in [
            (format!("-home-ghp-{letters}-x"), format!("-home-{token}-x"), &[(6, 46)][..]),
            (
                format!("ghp_{letters}-ghp-{letters}"),
                format!("{token}-{token}"),
                &[(0, 40), (41, 81)],
            ),
            (
                format!("ghp-{letters}-é-ghp-{letters}"),
                format!("{token}-é-{token}"),
                &[(0, 40), (44, 84)],
            ),
            (
                format!("ghp-{letters}.glpat-0123456789abcdefghij"),
                format!("{token}.[REDACTED:gitlab-token]"),
                &[(41, 67), (0, 40)],
            ),
        ] {
            let mut found = Vec::new();
            let redacted = search.redact_name(&name, &mut |finding| {
                found.push((finding.written.start, finding.written.end));
            });
            assert_eq!((redacted, &*found), (expected, places), "{name}");
        }
    }

    #[test]
    fn names_with_a_secret_are_known() {
        let mut search = Search::new();
        let letters = "0123456789abcdefghijABCDEFGHIJ012345";
        let token = "[REDACTED:github-token]";
        for (name, expected) in [
            (format!("ghp_{letters}.jsonl"), format!("{token}.jsonl")),
            (format!("rollout-ghp_{letters}-x.jsonl"), format!("rollout-{token}-x.jsonl")),
            (format!("-home-ada-ghp-{letters}-app"), format!("-home-ada-{token}-app")),
            (
                "-srv-sk-live-8aJd02kLmQ9xPzRtYw2bNc4v".to_owned(),
                "-srv-[REDACTED:stripe-key]".to_owned(),
            ),
        ] {
            let mut n_found = 0;
            assert_eq!(search.redact_name(&name, &mut |_| n_found += 1), expected);
            assert_eq!(n_found, 1, "{name}");
            assert_eq!(search.redact_name(&expected, &mut |_| n_found += 1), expected);
            assert_eq!(n_found, 1, "{expected}");
        }
        for name in [
            "6c70a1d0-9a49-4fae-bf1a-04376caed019.jsonl",
            "-home-ada-password-reset-token-service",
            "rollout-2026-02-03T10-00-01-6c70a1d0-9a49-4fae-bf1a-04376caed019.jsonl",
            "agent-a1b2c3d4e5f60718.jsonl",
            "",
            "-",
        ] {
            assert_eq!(search.redact_name(name, &mut |_| panic!("{name}")), name);
        }
    }
}
