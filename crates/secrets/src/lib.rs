//! Finds keys, tokens and passwords in the lines of JSON Lines files, and removes them.
//!
//! A secret is found in one of two ways:
//!
//! - By its own prefix: `ghp_` and 36 letters. A rule defines which bytes may follow the prefix,
//!   how many, and which may not precede or follow the token: `risk-proj-...` is not a key, nor is
//!   a commit hash. Such tokens are also found in base64, and with a line break inside.
//! - By its surroundings: `DB_PASSWORD=`, `"apiKey": "`, `Authorization: Bearer`, `curl -u`. The
//!   name must be that of a secret (`token_count` is not), and the value must look like one
//!   (`changeme`, `${TOKEN}`, `process.env.TOKEN`, `string` and `get_token()` do not).
//!
//! [`rules()`] lists all rules. One pass over the bytes finds the prefixes and the words of names.
//!
//! Strings are searched in decoded form: `sk-\u0061nt-...` is found, and so is a key in JSON that
//! is itself a string. Ids, signatures and base64 of images are not searched. Inside the input and
//! the result of a tool (`input`, `toolUseResult`, `tool_use_result`) ids are searched too, because
//! the members there are the tool's own. A line that is not JSON is searched like a string, so that
//! a torn line hides nothing.
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
//! Other rule sets were evaluated first. The rules of gitleaks are well maintained, but they are
//! regular expressions for source text. In JSON they miss escaped text, and a match may end inside
//! an escape. detect-secrets measures only randomness, and trufflehog asks the service online. Of
//! the Rust crates, leakguard 0.4 knows few families, rtb-redact 0.6 treats hashes of commits as
//! secrets, and stakpak-shared runs gitleaks. The prefixes and lengths here come from the
//! documentation of the services and from gitleaks. Parsers read names and values, with quotes and
//! line breaks at any level of JSON within JSON.

#![cfg_attr(
    not(test),
    deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::string_slice)
)]

mod announced;
mod arguments;
mod around;
mod assignment;
mod attribute;
mod base64;
mod before;
mod blank;
mod body;
mod class;
mod clear;
mod columns;
mod command_line;
mod cookie;
mod cursor;
mod edge;
mod encoded;
mod file_name;
mod fit;
mod foreign;
mod hash;
mod header;
mod inner;
mod insert;
mod joined;
mod jwk;
mod jwt;
mod kept;
mod keys;
mod license;
mod link;
mod link_user;
mod listed;
mod manifest;
mod margin;
mod matcher;
mod meaning;
mod name;
mod nearby;
mod pieces;
mod piped;
mod place;
mod placeholder;
mod prefixes;
mod printed;
mod proxy;
mod randomness;
mod recovery;
mod redact;
mod rule;
mod rules;
mod search;
mod span;
mod spoken;
mod tag;
mod value;
mod vicinity;
mod webhook;
mod worded;
mod words;

pub use self::{
    rule::Rule,
    rules::rules,
    search::{Finding, Search},
};

/// Compiles and runs the examples of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmePage;
