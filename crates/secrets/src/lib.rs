//! Finds keys, tokens and passwords in the lines of JSONL files, and takes them out.
//!
//! A rule is a prefix that a service gives its keys, what may follow it and how much of that, and an
//! edge before and behind: `risk-proj-...` is no key, and neither is a hash of a commit. Nothing is
//! guessed by how random it looks. [`RULES`] has them all.
//!
//! Strings are searched for what they mean: `sk-\u0061nt-...` is found, and so is a key in JSON that
//! is itself a string. Ids, signatures and the base64 of pictures are left alone. A line that is no
//! JSON is searched as if it were a string, so that a torn one hides nothing.
//!
//! ```
//! let mut search = secrets::Search::new();
//! let lines = b"{\"text\":\"glpat-0123456789abcdefghij\"}\n{\"text\":\"task-runner\"}\n";
//! let mut out = Vec::new();
//! for line in jsonl::lines(lines) {
//!     search.redact(&line, &mut out, &mut |finding| assert_eq!(finding.pointer, "/text"));
//! }
//! assert_eq!(out, b"{\"text\":\"[REDACTED:gitlab-token]\"}\n{\"text\":\"task-runner\"}\n");
//! ```
//!
//! # Why a table of its own
//!
//! Rule sets of others were looked at first. gitleaks keeps its rules well, but they are regular
//! expressions for lines of source text: over JSON they miss what is escaped, many need a word such
//! as `key` nearby and then measure randomness, and a span that they find may end inside an escape.
//! detect-secrets measures randomness too, trufflehog asks the service online. Of the Rust crates,
//! leakguard 0.4 knows few families and rtb-redact 0.6 takes hashes of commits for secrets;
//! stakpak-shared starts gitleaks. What is left of all of them without randomness and network is a
//! list of prefixes with lengths: that is this table, in one pass of one automaton.

#![cfg_attr(
    not(test),
    deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::string_slice)
)]

mod class;
mod cursor;
mod kept;
mod matcher;
mod meaning;
mod redact;
mod rule;
mod rules;
mod search;

pub use self::{
    rule::Rule,
    rules::RULES,
    search::{Finding, Search},
};
