//! What a rule is: a prefix, and what follows it.

use std::ops::Range;

use crate::{class::Class, cursor::Cursor, name::Word, placeholder::is_example};

/// A kind of secret, and how it is spelled.
#[derive(Debug)]
pub struct Rule {
    /// Its name, in lower case with hyphens.
    pub name: &'static str,
    /// Whose it is, and what it opens.
    pub what: &'static str,
    /// What it starts with, one of these.
    pub(crate) prefixes: &'static [&'static str],
    /// What stands before the prefix and belongs to it: how many bytes of a class.
    pub(crate) before: Option<(&'static Class, usize, usize)>,
    /// What follows the prefix.
    pub(crate) parts: &'static [Part],
    /// What may not stand before it.
    pub(crate) edge: Edge,
    /// Where the secret starts: with the prefix, or behind it and some parts.
    pub(crate) secret: Secret,
    /// Whether what fits is a secret, and no example of one.
    pub(crate) accepts: fn(&[u8]) -> bool,
    /// Whether it is for keys that open nothing but a test environment.
    pub(crate) is_for_tests: bool,
}

/// Returns where the secret lies that a prefix leads to: `start` and `end` are around the prefix.
pub(crate) type Finder = fn(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>>;

/// Returns where the secrets lie that a prefix leads to, in order.
pub(crate) type Lister = fn(start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>>;

/// A part of a secret.
#[derive(Debug)]
pub(crate) enum Part {
    /// These bytes.
    Is(&'static str),
    /// At least and at most so many bytes of a class.
    Run(&'static Class, usize, usize),
    /// The lines of a key to its last one, or as far as they go.
    Armor,
    /// The value of a name that has the prefix in it.
    Named(Word),
    /// What a function finds.
    By(Finder),
    /// What a function finds, more than one.
    Each(Lister),
}

/// What may not stand before a secret.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Edge {
    /// A letter, a digit, or `_`.
    Word,
    /// A byte that the part after the prefix could have too.
    Run,
    /// Anything may.
    None,
}

/// Which part of what is found is the secret.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Secret {
    /// All of it.
    Whole,
    /// The part of this index: the rest is a name, and is kept.
    Part(usize),
}

impl Rule {
    /// Creates a rule of prefixes at the start of a word, and what follows them.
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

    /// Returns how much is known of a secret: most by its prefix, least by the name before it.
    pub(crate) fn rank(&self) -> u8 {
        match self.parts {
            [Part::Named(_)] => 0,
            [Part::By(_) | Part::Each(_)] => 1,
            _ => 2,
        }
    }

    /// Returns whether a secret is a token that is looked for in base64 too.
    pub(crate) fn is_found_in_base64(&self) -> bool {
        let is_token = self.before.is_none() && self.secret == Secret::Whole;
        let is_word = self.edge == Edge::Word || matches!(self.parts, [.., Part::Armor]);
        is_token && is_word && self.rank() == 2 && !self.is_for_tests || self.is_name_in_base64()
    }

    /// Returns whether base64 of a whole file of settings is known by names in it.
    fn is_name_in_base64(&self) -> bool {
        matches!(self.parts, [Part::Named(Word::Pass | Word::Secret | Word::Token)])
    }
}
