//! Searches the strings of a line, and returns the range and the JSON pointer of each secret.
//!
//! In: `{"a":["x","ghp_…"]}`. Out: a [`Finding`] with the pointer `/a/1` and the range of the token
//! in the line.

use std::ops::Range;

use jsonl::{Items, Kind, Line, Members, Scanner, Text, Value};
use sha2::{Digest, Sha256};

use crate::{
    fit::Fit,
    kept::{is_free, is_kept},
    matcher::Matcher,
    meaning::Meaning,
    placeholder::{PLACEHOLDER, is_check},
    redact::redacted_text,
    rule::Rule,
    value::Kind as Promise,
};

/// Finder of secrets in lines.
///
/// ```
/// let mut search = secrets::Search::new();
/// let line = br#"{"env":{"token":"gh\u0070_0123456789abcdefghijABCDEFGHIJ012345"}}"#;
/// let mut found = Vec::new();
/// search.find(&jsonl::Line::new(line, 0), &mut |finding| {
///     found.push((finding.rule.name, finding.pointer.to_owned(), finding.length));
/// });
/// assert_eq!(found, [("github-token", "/env/token".to_owned(), 40)]);
/// ```
#[derive(Clone, Debug)]
pub struct Search {
    as_written: &'static Matcher,
    decoded: &'static Matcher,
    scanner: Scanner,
    meaning: Meaning,
}

/// A secret in a line, without its text.
#[derive(Clone, Debug)]
pub struct Finding<'f> {
    /// The rule that matched.
    pub rule: &'static Rule,
    /// The JSON pointer (RFC 6901) of the string, or of the member whose name contains the secret.
    /// Empty if the line is not JSON.
    pub pointer: &'f str,
    /// The range in the bytes of the line, as written. Add `Line::offset` for the range in the file.
    pub written: Range<usize>,
    /// The decoded length, in bytes. That of `written` differs if the secret has escapes.
    pub length: usize,
    secret: &'f [u8],
}

impl Finding<'_> {
    /// Returns a keyed hash of the secret. It distinguishes secrets and reveals nothing without the
    /// key.
    pub fn hash(&self, key: &[u8]) -> u64 {
        let digest = Sha256::new().chain_update(key).chain_update(self.secret).finalize();
        digest.iter().take(8).fold(0, |hash, byte| hash << 8 | u64::from(*byte))
    }
}

/// The callback for findings.
pub(crate) type EachFinding<'e> = dyn FnMut(&Finding<'_>) + 'e;

impl Default for Search {
    fn default() -> Self {
        Self::new()
    }
}

impl Search {
    /// Creates a search without keys of test environments.
    pub fn new() -> Self {
        Self::with(false)
    }

    /// Creates a search that includes keys of test environments, such as `sk_test_..` of Stripe.
    ///
    /// ```
    /// let line = jsonl::Line::new(b"{\"key\":\"sk_test_8aJd02kLmQ9xPzRt\"}", 0);
    /// let mut n_found = 0;
    /// secrets::Search::new().find(&line, &mut |_| n_found += 1);
    /// assert_eq!(n_found, 0);
    /// secrets::Search::with_test_keys().find(&line, &mut |_| n_found += 1);
    /// assert_eq!(n_found, 1);
    /// ```
    pub fn with_test_keys() -> Self {
        Self::with(true)
    }

    fn with(has_test_keys: bool) -> Self {
        Self {
            as_written: Matcher::get(false, has_test_keys),
            decoded: Matcher::get(true, has_test_keys),
            scanner: Scanner::default(),
            meaning: Meaning::default(),
        }
    }

    /// Returns whether some lines may contain a secret, without decoding them. If it returns false,
    /// they contain none.
    pub fn may_find(&self, lines: &[u8]) -> bool {
        self.as_written.may_fit(lines)
    }

    /// Calls `each` with the secrets of a line, in order. A line that is not JSON is searched like
    /// a string, all of it. In JSON, the strings of ids, signatures and images are skipped; of these,
    /// ids are searched inside the input and the result of a tool.
    pub fn find(&mut self, line: &Line<'_>, each: &mut dyn FnMut(&Finding<'_>)) {
        if !self.may_find(line.bytes()) {
            return;
        }
        let Self { decoded, scanner, meaning, .. } = self;
        let mut strings = Strings { matcher: decoded, meaning, line: line.bytes(), each };
        match scanner.scan(line) {
            Ok(value) => strings.value(value),
            Err(_) => strings.search(line.bytes(), 0, None, &mut String::new()),
        }
    }
}

/// The strings of a line.
struct Strings<'s, 'l> {
    matcher: &'s Matcher,
    meaning: &'s mut Meaning,
    line: &'l [u8],
    each: &'s mut EachFinding<'s>,
}

/// The rest of an object or an array.
struct Open<'l> {
    value: Value<'l>,
    rest: Rest<'l>,
    is_free: bool,
    /// The length of its JSON pointer.
    pointer: usize,
    /// The previous item of an array: `--password` is the name of the next one.
    before: Option<Text<'l>>,
    /// The kind of value that the name of an array announces for its items.
    named: Named,
}

/// The rule of the name of a secret, and the kind of its value.
type Named = Option<(&'static Rule, Promise)>;

enum Rest<'l> {
    Members(Members<'l>),
    Items(std::iter::Enumerate<Items<'l>>),
}

impl<'l> Open<'l> {
    fn new(value: Value<'l>, is_free: bool, pointer: usize) -> Self {
        let rest = match value.kind() {
            Kind::Object => Rest::Members(value.members()),
            _ => Rest::Items(value.items().enumerate()),
        };
        Self { value, rest, is_free, pointer, before: None, named: None }
    }
}

impl Strings<'_, '_> {
    /// Searches all strings of a value, names of members included.
    fn value(&mut self, root: Value<'_>) {
        let mut pointer = String::new();
        let mut open: Vec<Open<'_>> = Vec::new();
        if self.inner(root, None, &mut pointer) {
            open.push(Open::new(root, false, 0));
        }
        while let Some(top) = open.last_mut() {
            let Open {
                value: object,
                rest,
                is_free: is_inner_free,
                pointer: length,
                before,
                named,
            } = top;
            pointer.truncate(*length);
            let next = match rest {
                Rest::Members(members) => members.next().map(|(key, value)| (Some(key), 0, value)),
                Rest::Items(items) => items.next().map(|(n, value)| (None, n, value)),
            };
            let Some((key, n, value)) = next else {
                open.pop();
                continue;
            };
            let (object, is_inner_free, of_array) = (*object, *is_inner_free, *named);
            let before = std::mem::replace(before, value.text());
            match key {
                None => pointer.push_str(&format!("/{n}")),
                Some(key) => self.key(key, &mut pointer),
            }
            if let (Some(key), Some(text)) = (key, value.text())
                && is_kept(object, key, text, is_inner_free)
            {
                continue;
            }
            let named = value.text().and_then(|text| match key {
                Some(key) => self.named(object, key),
                None => before
                    .filter(|before| before.body().starts_with('-'))
                    .and_then(|before| self.option(before))
                    .or(of_array.filter(|_| !is_check(text.body().as_bytes()))),
            });
            if self.inner(value, named, &mut pointer) {
                let is_free = is_inner_free || key.is_some_and(is_free);
                let named = key.filter(|_| value.is_array()).and_then(|key| self.name(key));
                open.push(Open { named, ..Open::new(value, is_free, pointer.len()) });
            }
        }
    }

    /// Returns the kind of value that the name of a member announces: `"password"`, or `"value"`
    /// beside `"name":"DB_PASSWORD"`.
    fn named(&self, object: Value<'_>, key: Text<'_>) -> Named {
        const NAMES: &[&str] =
            &["name", "Name", "key", "Key", "variable", "ParameterKey", "OptionName"];
        const VALUES: &[&str] = &[
            "value",
            "Value",
            "default",
            "defaultValue",
            "stringValue",
            "content",
            "ParameterValue",
        ];
        self.name(key).or_else(|| {
            let is_value = VALUES.iter().any(|name| key.is(name));
            let name = NAMES.iter().filter(|_| is_value).find_map(|name| object.get(name)?.text());
            name.map_or_else(|| self.file(object, key), |name| self.name(name))
                .or_else(|| self.field(object).filter(|_| is_value || key.is("text")))
        })
    }

    /// Returns the kind of value that an option announces for the next argument: `--password`, or `-u` before a user with a
    /// password.
    fn option(&self, option: Text<'_>) -> Named {
        const USERS: &[&str] = &["-u", "--user", "--proxy-user", "-U"];
        let is_user = USERS.iter().any(|name| option.is(name));
        let user = || Some((self.matcher.named(b"password")?.0, Promise::Login));
        self.name(option).or_else(|| user().filter(|_| is_user))
    }

    /// Returns the kind of value that the description of a field announces: `"value"` beside
    /// `"selector":"input[type=password]"`.
    fn field(&self, object: Value<'_>) -> Named {
        const FIELDS: &[&str] =
            &["selector", "element", "label", "placeholder", "locator", "field"];
        /// Limit in bytes for a description.
        const MAX_FIELD: usize = 80;
        let is_field = |name: &str| {
            let text = object.get(name).and_then(|value| value.text());
            text.is_some_and(|text| {
                let body = text.body().as_bytes();
                body.len() <= MAX_FIELD
                    && memchr::memmem::find(&body.to_ascii_lowercase(), b"password").is_some()
            })
        };
        FIELDS.iter().any(|name| is_field(name)).then(|| self.matcher.named(b"password")).flatten()
    }

    /// Returns the kind of value that the name of a file announces: `"content"` beside
    /// `"file_path":"config/master.key"`.
    fn file(&self, object: Value<'_>, key: Text<'_>) -> Named {
        const PATHS: &[&str] = &["file_path", "filePath", "path", "filename"];
        const CONTENTS: &[&str] = &["content", "contents", "file_text"];
        const ENDINGS: &[&[u8]] = &[b".txt", b".secret"];
        if !CONTENTS.iter().any(|name| key.is(name)) {
            return None;
        }
        let path = PATHS.iter().find_map(|name| object.get(name)?.text())?.decode();
        let name = path.as_bytes().rsplit(|byte| matches!(byte, b'/' | b'\\')).next()?;
        let name = ENDINGS.iter().find_map(|ending| name.strip_suffix(*ending)).unwrap_or(name);
        self.matcher.named(name.trim_ascii())
    }

    fn name(&self, name: Text<'_>) -> Named {
        const MAX_NAME: usize = 128;
        // A redacted name may have been longer.
        let is_whole = memchr::memmem::find(name.body().as_bytes(), PLACEHOLDER).is_none();
        let is_short = name.body().len() <= MAX_NAME && is_whole;
        is_short.then(|| self.matcher.named(name.decode().as_bytes())).flatten()
    }

    /// Searches the name of a member, and appends the redacted name to the pointer.
    fn key(&mut self, key: Text<'_>, pointer: &mut String) {
        let name = key.decode();
        let name = redacted_text(self.matcher, &name);
        pointer.push('/');
        pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
        self.text(key.body(), None, pointer);
    }

    /// Searches a value. Returns true for an object or an array, which the caller walks.
    fn inner(&mut self, value: Value<'_>, named: Named, pointer: &mut String) -> bool {
        if let Some(text) = value.text() {
            self.text(text.body(), named, pointer);
            return false;
        }
        let is_container = value.is_object() || value.is_array();
        let is_indexed = value.members().next().is_some() || value.items().next().is_some();
        if is_container && !is_indexed {
            // Values that are too deep are searched as written.
            self.text(value.raw().as_str(), None, pointer);
        }
        is_container && is_indexed
    }

    fn text(&mut self, body: &str, named: Named, pointer: &mut String) {
        let start = (body.as_ptr() as usize).saturating_sub(self.line.as_ptr() as usize);
        self.search(body.as_bytes(), start, named, pointer);
    }

    /// Searches text as written, which starts at the offset `start` of the line.
    fn search(&mut self, written: &[u8], start: usize, named: Named, pointer: &mut String) {
        let Self { matcher, meaning, each, .. } = self;
        let bytes = meaning.decode(written);
        let mut fits = Vec::new();
        matcher.for_each_of_named(bytes, named, &mut |fit| fits.push(fit));
        for Fit { rule, secret, .. } in fits {
            let place = meaning.written(&secret);
            each(&Finding {
                rule,
                pointer,
                written: start.saturating_add(place.start)..start.saturating_add(place.end),
                length: secret.len(),
                secret: meaning.slice(&secret),
            });
        }
    }
}
