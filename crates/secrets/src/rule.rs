//! The rules: a prefix and the parts after it.

use std::ops::Range;

use crate::{class::Class, cursor::Cursor, name::Word, placeholder::is_example};

/// A kind of secret and its spelling.
#[derive(Debug)]
pub struct Rule {
    /// The name of the rule, in lower case with hyphens.
    pub name: &'static str,
    /// The service, and the access that the secret gives.
    pub what: &'static str,
    /// The prefixes. The secret starts with one of them.
    pub(crate) prefixes: &'static [&'static str],
    /// The number and class of bytes before the prefix that belong to the secret.
    pub(crate) before: Option<(&'static Class, usize, usize)>,
    /// The parts after the prefix.
    pub(crate) parts: &'static [Part],
    /// The kind of bytes that may not precede it.
    pub(crate) edge: Edge,
    /// The start of the secret: the prefix, or a part after it.
    pub(crate) secret: Secret,
    /// Returns whether a match is a secret and not an example.
    pub(crate) accepts: fn(&[u8]) -> bool,
    /// Whether the rule is for keys of test environments.
    pub(crate) is_for_tests: bool,
}

/// Function that returns the range of the secret of a prefix at `start..end`.
pub(crate) type Finder = fn(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>>;

/// Function that returns the ranges of the secrets after a prefix, in order.
pub(crate) type Lister = fn(start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>>;

/// A part of a secret.
#[derive(Debug)]
pub(crate) enum Part {
    /// These bytes.
    Is(&'static str),
    /// A number of bytes of a class, within limits.
    Run(&'static Class, usize, usize),
    /// The lines of a key up to its last line, or up to the first line that is not part of it.
    Armor,
    /// The value of a name that contains the prefix.
    Named(Word),
    /// The range that a function finds.
    By(Finder),
    /// The ranges that a function finds.
    Each(Lister),
}

/// The bytes that may not precede a secret.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Edge {
    /// A letter, a digit, or `_`.
    Word,
    /// A byte of the class of the part after the prefix.
    Run,
    /// Anything may.
    None,
}

/// The part of a match that is the secret.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Secret {
    /// All of it.
    Whole,
    /// The part with this index. The rest is a name and is kept.
    Part(usize),
}

impl Rule {
    /// Creates a rule of prefixes at the start of a word, and the parts after them.
    pub(crate) const fn new(
        name: &'static str,
        what: &'static str,
        prefixes: &'static [&'static str],
        parts: &'static [Part],
    ) -> Self {
        Self {
            name,
            what,
            prefixes,
            before: None,
            parts,
            edge: Edge::Word,
            secret: Secret::Whole,
            accepts: |secret| !is_example(secret),
            is_for_tests: false,
        }
    }

    /// Returns the text in place of a secret. No rule matches it, and it needs no escapes.
    pub(crate) fn placeholder(&self) -> String {
        format!("[REDACTED:{}]", self.name)
    }

    /// Returns the certainty of a match: highest for a prefix, lowest for a name.
    pub(crate) fn rank(&self) -> u8 {
        match self.parts {
            [Part::Named(_)] => 0,
            [Part::By(_) | Part::Each(_)] => 1,
            _ => 2,
        }
    }

    /// Returns whether the secret is also searched in base64.
    pub(crate) fn is_found_in_base64(&self) -> bool {
        self.is_token_or_armor() || self.is_name_in_base64() || self.is_user_of_url()
    }

    /// Returns whether the secret is also searched in base64 of base64. Each rule costs a little of the speed, so only
    /// common ones are.
    pub(crate) fn is_found_in_base64_of_base64(&self) -> bool {
        const NAMES: &[&str] = &[
            "anthropic-key",
            "atlassian-token",
            "aws-key-id",
            "databricks-token",
            "digitalocean-token",
            "doppler-token",
            "github-token",
            "gitlab-token",
            "google-key",
            "hugging-face-token",
            "linear-key",
            "npm-token",
            "openai-key",
            "private-key",
            "pypi-token",
            "sendgrid-key",
            "slack-token",
            "stripe-key",
            "vault-token",
        ];
        NAMES.contains(&self.name) && self.is_token_or_armor()
    }

    /// Returns whether the rule is for whole tokens, or for the lines of a key after a prefix.
    fn is_token_or_armor(&self) -> bool {
        let is_armor = matches!(self.parts, [.., Part::Armor]);
        self.is_token() || is_armor && self.rank() == 2
    }

    /// Returns whether a line may end within the prefix: of a whole token at the start of a word.
    pub(crate) fn is_token(&self) -> bool {
        let is_whole = self.before.is_none() && self.secret == Secret::Whole;
        is_whole && self.edge == Edge::Word && self.rank() == 2 && !self.is_for_tests
    }

    /// Returns whether the secret is the password of a user in a URL.
    fn is_user_of_url(&self) -> bool {
        self.name == "url-password" && self.secret == Secret::Part(2)
    }

    /// Returns whether the name of the rule identifies base64 of a whole settings file.
    fn is_name_in_base64(&self) -> bool {
        matches!(self.parts, [Part::Named(Word::Pass | Word::Secret | Word::Token)])
    }
}
