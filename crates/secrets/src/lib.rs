//! Finds keys, tokens and passwords in the lines of JSONL files, and takes them out.
//!
//! A secret is known in one of two ways:
//!
//! - By its own prefix: `ghp_` and 36 letters. A rule says what may follow the prefix, how much of
//!   it, and what may not stand before and behind: `risk-proj-...` is no key, and neither is a hash
//!   of a commit. Such tokens are found in base64 too, and with a line break in them.
//! - By what stands around it: `DB_PASSWORD=`, `"apiKey": "`, `Authorization: Bearer`, `curl -u`.
//!   The name has to promise a secret (`token_count` does not), and the value has to look like one:
//!   `changeme`, `${TOKEN}`, `process.env.TOKEN`, `string` and `get_token()` are none.
//!
//! [`rules`] has all of them. One pass over the bytes finds prefixes, and the words of names.
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
//! # Why rules of its own
//!
//! Rule sets of others were looked at first. gitleaks keeps its rules well, but they are regular
//! expressions for lines of source text: over JSON they miss what is escaped, and a span that they
//! find may end inside an escape. detect-secrets measures randomness alone, trufflehog asks the
//! service online. Of the Rust crates, leakguard 0.4 knows few families and rtb-redact 0.6 takes
//! hashes of commits for secrets; stakpak-shared starts gitleaks. The prefixes and lengths here are
//! those that services document and gitleaks has; what is around names and values is read by
//! parsers that know quotes and line breaks at any level of JSON within JSON.

#![cfg_attr(
    not(test),
    deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::string_slice)
)]

mod assignment;
mod base64;
mod class;
mod command_line;
mod cookie;
mod cursor;
mod encoded;
mod header;
mod kept;
mod keys;
mod manifest;
mod matcher;
mod meaning;
mod name;
mod pieces;
mod piped;
mod placeholder;
mod prefixes;
mod randomness;
mod redact;
mod rule;
mod rules;
mod search;
mod span;
mod value;

pub use self::{
    rule::Rule,
    rules::rules,
    search::{Finding, Search},
};

/// Compiles and runs the examples of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmePage;
