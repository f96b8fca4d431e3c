//! Finds secrets in the names of files and folders, each name once, and warns of them.
//!
//! In: `out/ghp_…/a.jsonl`. Out: `out/[REDACTED:github-token]/a.jsonl`, and a call with `out/[REDACTED:github-token]`.

use std::{collections::BTreeSet, path::is_separator};

use secrets::{Finding, Search};
use sessions::Redact;

use crate::terminal::message::complain;

/// The paths of the names with a secret that were found before.
#[derive(Debug, Default)]
pub(crate) struct Names {
    known: BTreeSet<String>,
}

/// The callback for the path up to a name with a secret, without secrets, and the finding.
type Each<'e> = dyn FnMut(&str, &Finding<'_>) + 'e;

impl Names {
    /// Returns a path without the secrets in its names. Calls `each` with the names that were not found before.
    pub(crate) fn redacted(
        &mut self,
        search: &mut Search,
        path: &str,
        each: &mut Each<'_>,
    ) -> String {
        let (mut redacted, mut end) = (String::new(), 0);
        for part in path.split_inclusive(is_separator) {
            end += part.len();
            let name = part.strip_suffix(is_separator).unwrap_or(part);
            let mut has_secret = false;
            let name_redacted = search.redact_name(name, &mut |_| has_secret = true);
            redacted.push_str(&name_redacted);
            if has_secret && self.known.insert(path.get(..end).unwrap_or(path).to_owned()) {
                search.redact_name(name, &mut |finding| each(&redacted, finding));
            }
            redacted.push_str(part.get(name.len()..).unwrap_or_default());
        }
        redacted
    }
}

/// Warns of secrets in the names of outputs, which `--redact` does not change. Without `--redact`, it warns of none.
#[derive(Debug)]
pub(crate) struct NameWarnings {
    search: Option<Search>,
    names: Names,
}

impl NameWarnings {
    /// Creates the warnings of a run.
    pub(crate) fn new(redact: Redact) -> Self {
        Self { search: redact.search(), names: Names::default() }
    }

    /// Warns of secrets in the names of a path that were not found before. `again` is the advice that follows "rename the
    /// source and", such as `convert it again`.
    pub(crate) fn warn(&mut self, path: &str, again: &str) {
        let Some(search) = &mut self.search else { return };
        self.names.redacted(search, path, &mut |path, finding| {
            let secret = finding.rule.name;
            complain(&format!(
                "{path}: the name has a secret ({secret}), which --redact leaves in names; rename the source and {again}"
            ));
        });
    }

    /// Returns a name to show in an output, with `--redact` without its secrets.
    pub(crate) fn shown(redact: Redact, name: &str) -> String {
        match redact.search() {
            Some(mut search) => Names::default().redacted(&mut search, name, &mut |_, _| {}),
            None => name.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_once() {
        let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
        let (mut names, mut search, mut found) = (Names::default(), Search::new(), Vec::new());
        for file in ["a.jsonl", "b.jsonl", &format!("{token}.jsonl")] {
            let path = format!("out/-home-{token}/{file}");
            let redacted = names.redacted(&mut search, &path, &mut |path, finding| {
                found.push((path.to_owned(), finding.length));
            });
            assert!(!redacted.contains("0123456789"), "{redacted}");
        }
        let folder = "out/-home-[REDACTED:github-token]";
        let file = format!("{folder}/[REDACTED:github-token].jsonl");
        assert_eq!(found, [(folder.to_owned(), 40), (file, 40)]);
    }
}
