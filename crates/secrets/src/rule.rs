//! What a rule is: a prefix, and what follows it.

use crate::class::Class;

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
}

/// A part of a secret.
#[derive(Debug)]
pub(crate) enum Part {
    /// These bytes.
    Is(&'static str),
    /// At least and at most so many bytes of a class.
    Run(&'static Class, usize, usize),
    /// The lines of a key to its last one, or as far as they go.
    Armor,
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
        Self { name, what, prefixes, before: None, parts, edge: Edge::Word, secret: Secret::Whole }
    }
}
