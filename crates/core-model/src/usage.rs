//! The tokens of a response, as a format writes them.
//!
//! In: Codex's `{"input_tokens":90,"cached_input_tokens":60,"output_tokens":7}`. Out: 30 tokens of
//! input, 60 from the cache, and 7 of output.

use std::{
    borrow::Cow,
    ops::{Add, AddAssign},
};

use jsonl::{Raw, Value};

/// The tokens of a response, as written.
#[derive(Clone, Copy, Debug)]
pub struct Usage<'l> {
    value: Value<'l>,
    /// The format's function that reads the counts; `None` for the names of Anthropic's API.
    read: Option<fn(Value<'_>) -> Tokens>,
}

impl<'l> Usage<'l> {
    /// Creates a usage with a format's own names for the counts.
    pub fn new(value: Value<'l>, read: fn(Value<'_>) -> Tokens) -> Self {
        Self { value, read: Some(read) }
    }

    /// Returns the value as written.
    pub fn value(&self) -> Value<'l> {
        self.value
    }

    /// Returns the bytes as written.
    pub fn raw(&self) -> Raw<'l> {
        self.value.raw()
    }

    /// Returns whether the value is an object with the names of Anthropic's API.
    pub fn is_of_api(&self) -> bool {
        self.read.is_none() && self.value.is_object()
    }

    /// Returns the counts as JSON with the API's names: the bytes as written, if they have them.
    ///
    /// ```
    /// use core_model::{Tokens, Usage};
    ///
    /// let mut scanner = jsonl::Scanner::default();
    /// let value = scanner.scan_slice(br#"{"in":1,"out":2}"#, 0)?;
    /// let usage = Usage::new(value, |value| {
    ///     let count = |name| value.get(name).and_then(|count| count.raw().as_u64());
    ///     let [input, output] = ["in", "out"].map(|name| count(name).unwrap_or(0));
    ///     Tokens { input, output, ..Tokens::default() }
    /// });
    /// assert_eq!(
    ///     usage.to_api_json(),
    ///     r#"{"input_tokens":1,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":2}"#
    /// );
    /// # Ok::<(), jsonl::Error>(())
    /// ```
    pub fn to_api_json(&self) -> Cow<'l, str> {
        if self.read.is_none() {
            return Cow::Borrowed(self.raw().as_str());
        }
        let Tokens { input, output, cache_read, cache_creation } = self.tokens();
        Cow::Owned(format!(
            "{{\"input_tokens\":{input},\"cache_creation_input_tokens\":{cache_creation},\
             \"cache_read_input_tokens\":{cache_read},\"output_tokens\":{output}}}"
        ))
    }

    /// Returns whether the value is `null`.
    pub fn is_null(&self) -> bool {
        self.value.is_null()
    }

    /// Returns whether the value is an object.
    pub fn is_object(&self) -> bool {
        self.value.is_object()
    }

    /// Returns the counts. A value that is no object counts nothing.
    pub fn tokens(&self) -> Tokens {
        match self.read {
            Some(read) => read(self.value),
            None => Tokens::read(self.value),
        }
    }
}

/// A usage with the names of Anthropic's API.
impl<'l> From<Value<'l>> for Usage<'l> {
    fn from(value: Value<'l>) -> Self {
        Self { value, read: None }
    }
}

/// Numbers of tokens.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Tokens {
    /// Input tokens outside the cache: `input_tokens`.
    pub input: u64,
    /// Output tokens: `output_tokens`.
    pub output: u64,
    /// Input tokens read from the cache: `cache_read_input_tokens`.
    pub cache_read: u64,
    /// Tokens written to the cache: `cache_creation_input_tokens`.
    pub cache_creation: u64,
}

impl Tokens {
    /// Reads a `usage` object. Members that are not whole numbers count as 0.
    ///
    /// ```
    /// let mut scanner = jsonl::Scanner::default();
    /// let usage = br#"{"input_tokens":12345,"output_tokens":678,"service_tier":null}"#;
    /// let tokens = core_model::Tokens::read(scanner.scan_slice(usage, 0)?);
    /// assert_eq!((tokens.input, tokens.output, tokens.total()), (12345, 678, 13023));
    /// # Ok::<(), jsonl::Error>(())
    /// ```
    pub fn read(usage: Value<'_>) -> Self {
        let mut tokens = Self::default();
        usage.read_members(|key, value| {
            let place = match key {
                b"input_tokens" => &mut tokens.input,
                b"output_tokens" => &mut tokens.output,
                b"cache_read_input_tokens" => &mut tokens.cache_read,
                b"cache_creation_input_tokens" => &mut tokens.cache_creation,
                _ => return false,
            };
            *place = value.raw().as_u64().unwrap_or(0);
            true
        });
        tokens
    }

    /// Returns the sum of all four.
    pub fn total(&self) -> u64 {
        let parts = [self.output, self.cache_read, self.cache_creation];
        parts.into_iter().fold(self.input, u64::saturating_add)
    }
}

impl Add for Tokens {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_creation: self.cache_creation.saturating_add(other.cache_creation),
        }
    }
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
