//! Finds the values of names of secrets, in all forms of assignment.
//!
//! In: `PASSWORD=x`, `"password": "x"`, `password: str = 'x'`, `--password x`,
//! `<password>x</password>`, `{"name": "DB_PASSWORD", "value": "x"}`. Out: the range of `x`. An
//! assignment is a name, a link, and a value. Inside JSON, the same text has backslashes before its
//! quotes and for its line breaks; it is read the same way.

use std::{borrow::Cow, ops::Range};

use memchr::memmem;

use crate::{
    class::WORD,
    cursor::Cursor,
    edge::is_edge,
    name::{Name, Word},
    placeholder::PLACEHOLDER,
    randomness::Makeup,
    span::{Quote, bare_end, is_blank, is_quote, past_blanks, past_break},
    value::{Form, Kind},
};

/// The link between a name and its value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Link {
    /// `=` or `:`, with or without blanks.
    Sign,
    /// A comma, a call, or a fallback. Only a quoted string counts as a value.
    Weak,
    /// Only blanks.
    Blank,
    /// The `>` of an XML tag.
    Tag,
}

/// A value in some text.
struct Found<'b> {
    start: Cursor<'b>,
    end: Cursor<'b>,
    form: Form,
}

/// Returns the range of the secret of a name. `start..end` is a word of the name.
pub(crate) fn find(word: Word, start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let name = Name::around(start, end)?;
    // Most names have no value, or name something else: check that first.
    let (link, at) = link(&name)?;
    let kind = name.kind(word)?;
    // `pass x` is common prose about arguments.
    let is_said = kind == Kind::Pass && link == Link::Blank && !name.is_option();
    let is_option = kind == Kind::Pass && name.is_option();
    let kind = if is_option { Kind::Password } else { kind };
    let kind = if is_said && !is_argument(&name) { return None } else { kind };
    let is_tight = link == Link::Sign && at.place() == name.end.forward(1).place();
    let secret = |found: Found<'_>| {
        let place = found.start.place();
        let secret = secret_in(kind, found.end.since(place), found.form)?;
        Some(place.saturating_add(secret.start)..place.saturating_add(secret.end))
    };
    value(&name, kind, link, at, is_tight).and_then(secret).or_else(|| {
        let at = if link == Link::Sign { inner(at).or_else(|| fallback(at)) } else { None };
        let (quote, start) = Quote::open(at?)?;
        secret(Found { start, end: quote.close(start)?, form: Form::Quoted })
    })
}

/// Returns the position of the first string in an object: `"oauth": {"github.com": "x"}`.
fn inner(at: Cursor<'_>) -> Option<Cursor<'_>> {
    let at = past_blanks(past_blanks(at, 8).past(b"{")?, 8);
    let at = past_break(at).map_or(at, |at| past_blanks(at, 40));
    let (quote, name) = Quote::open(at)?;
    let end = quote.close(name)?;
    let text = end.since(name.place());
    let is_host_or_value = text.eq_ignore_ascii_case(b"value") || text.contains(&b'.');
    let sign = past_blanks(past_closers(end).0, 8).past(b":")?;
    is_host_or_value.then(|| past_blanks(sign, 8))
}

/// Returns the position of the fallback string of a value: `get("X") ?: "x"`.
fn fallback(at: Cursor<'_>) -> Option<Cursor<'_>> {
    const SIGNS: &[&[u8]] = &[b" ?: ", b" || ", b" ?? ", b" or "];
    /// Bytes after the sign that are searched for it.
    const MAX_CALL: usize = 80;
    let line = until_placeholder(at.window(MAX_CALL))
        .split(|byte| *byte == b'\n' || *byte == b';')
        .next()?;
    let found = SIGNS.iter().find_map(|sign| Some((memmem::find(line, sign)?, sign.len())))?;
    Some(at.forward(found.0).forward(found.1))
}

/// Returns the part of a value that is a secret, if there is one. Line breaks are removed first, so
/// that a key on two lines is found.
pub(crate) fn secret_in(kind: Kind, value: &[u8], form: Form) -> Option<Range<usize>> {
    let value = without_last_break(value);
    match without_breaks(value) {
        Cow::Borrowed(value) => kind.secret_in(value, form),
        Cow::Owned(whole) => {
            let is_key = Makeup::of(&whole).is_random() && kind.secret_in(&whole, form).is_some();
            is_key.then_some(0..value.len())
        }
    }
}

/// Returns the link between a name and a value, and the position after it.
fn link<'b>(name: &Name<'b>) -> Option<(Link, Cursor<'b>)> {
    let (after, has_quote) = past_closers(name.end);
    if let Some(at) = past_tag(name, after) {
        return Some((Link::Tag, at));
    }
    if let Some(at) = past_log(name, after) {
        return Some((Link::Sign, at));
    }
    let at = past_blanks(after, 60);
    let at = if name.is_option() { past_continuation(at).unwrap_or(at) } else { at };
    let has_blank = at.place() > after.place();
    if let Some(at) = past_type(at).or_else(|| past_sign(at)) {
        return Some((Link::Sign, at));
    }
    if let Some(at) = past_value_name(name, has_quote) {
        return Some((Link::Sign, at));
    }
    match at.next()? {
        // R assigns with `<-`, and a shell passes a string to a command with `<<<`.
        b'<' if has_blank => Some((Link::Weak, at.past(b"<- ").or_else(|| at.past(b"<<< "))?)),
        b',' if has_quote => Some((Link::Weak, at.forward(1))),
        b',' if name.is_option() => Some((Link::Blank, at.forward(1))),
        b'(' if !has_quote && !has_blank => Some((Link::Weak, at.forward(1))),
        b'|' | b'?' if at.rest().starts_with(b"||") || at.rest().starts_with(b"??") => {
            Some((Link::Weak, at.forward(2)))
        }
        b'|' if has_blank && at.forward(1).next().is_some_and(is_blank) => {
            Some((Link::Sign, at.forward(1)))
        }
        b'o' if has_quote && has_blank => Some((Link::Weak, at.past(b"or ")?)),
        _ if has_blank => Some((Link::Blank, at)),
        _ => None,
    }
}

/// Returns the position after the tag of a name: `<password>`, `<password type="x">`, `<entry
/// key="password">`, `<key>password</key><string>`.
fn past_tag<'b>(name: &Name<'b>, after: Cursor<'b>) -> Option<Cursor<'b>> {
    /// Limit in bytes for a tag after its name.
    const MAX_TAG: usize = 80;
    match after.next()? {
        b'>' => {
            let is_in = |byte: &u8| !matches!(byte, b'<' | b'>' | b'\n');
            let before = without_placeholders(name.start.window_before(MAX_TAG));
            let n = before.iter().rev().take_while(|byte| is_in(byte)).count();
            let is_tag = name.start.back(n).previous() == Some(b'<');
            is_tag.then(|| after.forward(1))
        }
        b' ' if name.start.previous() == Some(b'<') => {
            let end =
                after.skip(MAX_TAG, |byte| !matches!(byte, b'<' | b'>' | b'\n' | b'/' | b'['));
            end.past(b">")
        }
        b'<' if name.start.previous() == Some(b'>') => {
            let end = after.past(b"</key>")?;
            let end = past_break(end).map_or(end, |end| past_blanks(end, 60));
            end.past(b"<string>")
        }
        _ => None,
    }
}

/// Returns the position after a name that YAML writes above its value, `? password`, or that a log
/// sets: `::set-env name=PASSWORD::`, `##vso[task.setvariable variable=PASSWORD]`.
fn past_log<'b>(name: &Name<'b>, after: Cursor<'b>) -> Option<Cursor<'b>> {
    match after.next()? {
        b':' if name.start.window_before(5) == b"name=" => after.past(b"::"),
        b']' | b';' if name.start.window_before(9) == b"variable=" => {
            after.skip(40, |byte| !matches!(byte, b'[' | b']' | b'\n')).past(b"]")
        }
        b'\n' | b'\\' if name.start.window_before(2) == b"? " => past_break(after)?.past(b": "),
        _ => None,
    }
}

/// Returns the position after the sign that continues a command on the next line.
fn past_continuation(at: Cursor<'_>) -> Option<Cursor<'_>> {
    let letter = at.skip(63, |byte| byte == b'\\');
    let after = match letter.since(at.place()).len() {
        0 => return None,
        1 => letter.past(b"\n")?,
        _ => letter.past(b"\n").or_else(|| letter.past(b"n"))?,
    };
    Some(past_blanks(after, 40))
}

/// Returns the position after the closing marks of a name, `"`, `']`, `**`, and whether the name
/// was in quotes.
pub(crate) fn past_closers(mut at: Cursor<'_>) -> (Cursor<'_>, bool) {
    /// The most closing marks are in `**"name"]):`.
    const MAX_CLOSERS: usize = 4;
    let mut has_quote = false;
    for _ in 0..MAX_CLOSERS {
        let slashes = at.skip(63, |byte| byte == b'\\');
        at = match slashes.next() {
            Some(b'"' | b'\'' | b'`') => {
                has_quote = true;
                slashes.forward(1)
            }
            Some(b']' | b')') if has_quote => at.forward(1),
            Some(b'*') if at.place() == slashes.place() => at.forward(1),
            _ => break,
        };
    }
    (at, has_quote)
}

/// Returns the position after an operator that assigns or compares.
fn past_sign(at: Cursor<'_>) -> Option<Cursor<'_>> {
    const SIGNS: &[&[u8]] =
        &[b":=", b"=>", b"===", b"==", b"!==", b"!=", b"||=", b"??=", b"?=", b"+=", b"=", b":"];
    let after = SIGNS.iter().find_map(|sign| at.past(sign))?;
    let is_other = matches!(after.window(2), [b':', ..] | [b'~', b' ' | b'/']);
    (!is_other).then_some(after)
}

/// Returns the position after the type of a variable and `=`: `: &str = `, ` string = `.
fn past_type(at: Cursor<'_>) -> Option<Cursor<'_>> {
    const GO_TYPES: &[&[u8]] = &[b"string ", b"String ", b"str ", b"NSString "];
    let start = match at.next()? {
        b':' => at.forward(1).skip(2, is_blank),
        b's' | b'S' | b'N' if GO_TYPES.iter().any(|name| at.rest().starts_with(name)) => at,
        _ => return None,
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_&'<>?.[]| ".contains(&byte);
    let sign = start.skip(40, is_name);
    let is_type = matches!(start.next(), Some(b'&' | b'A'..=b'Z' | b'a'..=b'z'));
    let after = sign.past(b"=")?;
    let is_apart = sign.previous().is_some_and(is_blank) && after.next() != Some(b'=');
    let name = sign.since(start.place());
    let is_before_quote = matches!(after.next(), Some(b'"' | b'\'' | b'\\'));
    let is_known = name.len() <= 16 && !Makeup::of(name).is_random() && is_before_quote;
    (is_type && (is_apart || is_known)).then_some(after)
}

/// Returns the position after the name of a value that follows the name of a secret: `"name":
/// "DB_PASSWORD", "value": `, `variable "password" { default = `.
fn past_value_name<'b>(name: &Name<'b>, has_quote: bool) -> Option<Cursor<'b>> {
    const NAMES: &[&[u8]] = &[
        b"value",
        b"Value",
        b"VALUE",
        b"default",
        b"Default",
        b"string_value",
        b"stringValue",
        b"content",
    ];
    let mut at = name.end;
    for _ in 0..48 {
        at = match (past_break(at), at.next()) {
            (Some(after), _) => after,
            (_, Some(b' ' | b'\t' | b'"' | b'\'' | b',' | b'{' | b'\\')) => at.forward(1),
            _ => break,
        };
    }
    if at.place() == name.end.place() {
        return None;
    }
    // An option of the same command, or the text between a property and its value in `C#`.
    const OTHERS: &[&[u8]] = &[
        b"--body ",
        b"--value ",
        b"-Value ",
        b"--data ",
        b"-b ",
        b"-v ",
        b"get; set; } =",
        b"get; } =",
        b"is: ",
        b"is ",
    ];
    if let Some(after) = OTHERS.iter().find_map(|other| at.past(other)) {
        return Some(after);
    }
    if has_quote && name.start.window_before(48).windows(9).any(|text| text == b"form-data") {
        return (at.previous() == Some(b'n') || at.previous() == Some(b'\n')).then_some(at);
    }
    let found = NAMES.iter().find_map(|name| at.past(name)).or_else(|| {
        // A Terraform variable may have other attributes before its default.
        let block = at.window(240).split(|byte| *byte == b'}').next()?;
        let is_block = past_closers(name.end).0.past(b" {").is_some();
        let found = memmem::find(block, b"default").filter(|_| has_quote && is_block)?;
        Some(at.forward(found).forward(b"default".len()))
    })?;
    let is_whole = found.next().is_some_and(|byte| !byte.is_ascii_alphanumeric());
    past_sign(past_closers(found).0.skip(40, is_blank)).filter(|_| is_whole)
}

/// Returns the value at a position, if there may be one.
fn value<'b>(
    name: &Name<'b>,
    kind: Kind,
    link: Link,
    at: Cursor<'b>,
    is_tight: bool,
) -> Option<Found<'b>> {
    let start = past_note(past_blanks(at, 40));
    if let Some((quote, start)) = open(start) {
        let end = quote.close(start)?;
        return Some(Found { start, end, form: Form::Quoted });
    }
    let start = match link {
        Link::Sign => past_block(start),
        Link::Tag => start,
        Link::Blank if is_argument(name) => start,
        Link::Blank | Link::Weak => return None,
    };
    let ends: fn(u8) -> bool = if link == Link::Tag { |byte| byte == b'<' } else { |_| false };
    let mut end = bare_end(start, ends);
    let is_over = |end: &Cursor<'_>| !end.next().is_some_and(is_blank);
    match kind {
        Kind::Authorization if !is_over(&end) && is_scheme(start, end) => {
            end = bare_end(end.forward(1), ends)
        }
        Kind::Passphrase => {
            let is_in = |byte: u8| byte.is_ascii_lowercase() || byte == b' ' || byte == b'-';
            let phrase = start.skip(200, is_in);
            end = if phrase.place() > end.place() { phrase } else { end };
        }
        _ => {}
    }
    let is_cut = end.rest().starts_with(PLACEHOLDER) || end.place() == start.place();
    let is_tight = is_tight && start.place() == at.place();
    let form = if is_tight || link == Link::Tag { Form::Tight } else { Form::Loose };
    (!is_cut).then_some(Found { start, end, form })
}

/// Returns whether the text between two positions consists of letters: the scheme of an
/// authorization.
fn is_scheme(start: Cursor<'_>, end: Cursor<'_>) -> bool {
    end.since(start.place()).iter().all(u8::is_ascii_alphabetic)
}

/// Reads the start of a string, with the prefix of its quote: `r"`, `b'`, `@"`, `String::from("`.
fn open(at: Cursor<'_>) -> Option<(Quote, Cursor<'_>)> {
    /// Limit in bytes for the name of a function that is recognized.
    const MAX_CALL: usize = 48;
    let prefixed = at.skip(2, |byte| b"bBrRfFuULl@$".contains(&byte));
    Quote::open(at).or_else(|| Quote::open(prefixed)).or_else(|| {
        let call =
            at.skip(MAX_CALL, |byte| byte.is_ascii_alphanumeric() || b"_:. ".contains(&byte));
        Quote::open(call.past(b"(")?).filter(|_| call.place() > at.place())
    })
}

/// Moves past the tag or anchor of a YAML value, `!!str` or `&anchor`, and past the line break
/// between a JSON name and its string.
fn past_note(at: Cursor<'_>) -> Cursor<'_> {
    let is_note = at.rest().starts_with(b"!!") || at.next() == Some(b'&');
    if is_note {
        let end = at.skip(24, |byte| byte.is_ascii_alphanumeric() || b"!&_-".contains(&byte));
        return if end.next() == Some(b' ') { end.skip(8, is_blank) } else { at };
    }
    let line = past_break(at).map(|line| past_blanks(line, 60));
    let is_string =
        |line: &Cursor<'_>| line.skip(63, |byte| byte == b'\\').next().is_some_and(is_quote);
    line.filter(is_string).unwrap_or(at)
}

/// Moves past the sign of a YAML block, `|` or `>-`, and the line break after it; past `<<EOT` too.
fn past_block(at: Cursor<'_>) -> Cursor<'_> {
    let here = at.past(b"<<").map(|at| {
        at.skip(1, |byte| byte == b'-' || byte == b'~').skip(24, |byte| byte.is_ascii_alphabetic())
    });
    if let Some(line) = here.and_then(past_break) {
        return past_blanks(line, 40);
    }
    let sign = at.skip(1, |byte| byte == b'|' || byte == b'>');
    let line = past_break(sign.skip(1, |byte| byte == b'-' || byte == b'+'));
    match line {
        Some(line) if sign.place() > at.place() => line.skip(40, is_blank),
        _ => at,
    }
}

/// Returns whether a value follows a name after a blank: of an option, in a `.netrc`, in a
/// `Dockerfile`, after a command that sets it.
fn is_argument(name: &Name<'_>) -> bool {
    /// Bytes before the name that are searched for a command.
    const MAX_CONTEXT: usize = 160;
    const CONTEXTS: &[&[u8]] = &[
        b"login ",
        b"machine ",
        b"ENV ",
        b"ARG ",
        b"set ",
        b"setx ",
        b"set -",
        b"config ",
        b"setenv ",
        b"secret ",
        b"add ",
        b"connect ",
    ];
    let before = context(name.start, MAX_CONTEXT);
    // The lines of a `.netrc`.
    let lines = without_placeholders(name.start.window_before(MAX_CONTEXT));
    if name.end.since(name.start.place()) == b"password" && memmem::find(lines, b"login ").is_some()
    {
        return true;
    }
    let is_first = is_edge(name.start.before());
    let is_of_redis = name.end.since(name.start.place()) == b"requirepass"
        || name.end.since(name.start.place()) == b"masterauth";
    // `--auth-type=token x`
    let is_kind = name.start.previous() == Some(b'=')
        && before.rsplit(|byte| *byte == b' ').next().is_some_and(|word| word.starts_with(b"--"));
    name.is_option() && is_first
        || is_kind
        || is_of_redis
        || CONTEXTS.iter().any(|context| memmem::find(before, context).is_some())
}

/// Returns at most `max` bytes before a position in its line, back to the last redacted secret. So
/// a second run finds no more than the first.
pub(crate) fn context(place: Cursor<'_>, max: usize) -> &[u8] {
    let before = without_placeholders(place.window_before(max));
    let line = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let escape = memmem::rfind(line, b"\\n").map_or(0, |at| at.saturating_add(2));
    line.get(escape..).unwrap_or_default()
}

/// Returns the bytes after the last placeholder of a redacted secret.
pub(crate) fn without_placeholders(before: &[u8]) -> &[u8] {
    let Some(start) = memmem::rfind(before, PLACEHOLDER) else { return before };
    let rest = before.get(start.saturating_add(PLACEHOLDER.len())..).unwrap_or_default();
    let is_in = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let name = rest.iter().take_while(|byte| is_in(byte)).count();
    let rest = rest.get(name..).and_then(|rest| rest.strip_prefix(b"]")).unwrap_or(rest);
    // The rest of a word whose start was redacted is not a word.
    let word = rest.iter().take_while(|byte| WORD.has(**byte)).count();
    rest.get(word..).unwrap_or_default()
}

/// Returns the bytes before the first placeholder of a redacted secret.
pub(crate) fn until_placeholder(after: &[u8]) -> &[u8] {
    memmem::find(after, PLACEHOLDER).and_then(|end| after.get(..end)).unwrap_or(after)
}

/// Returns a value without line breaks at its end.
fn without_last_break(value: &[u8]) -> &[u8] {
    let mut value = value.trim_ascii_end();
    while let [line @ .., b'\\', b'n' | b'r'] = value {
        let n_slashes = line.iter().rev().take_while(|byte| **byte == b'\\').count();
        value = line.get(..line.len().saturating_sub(n_slashes)).unwrap_or_default();
    }
    value
}

/// Returns a value without line breaks and the blanks after them.
fn without_breaks(value: &[u8]) -> Cow<'_, [u8]> {
    let mut whole = Vec::new();
    let (mut at, mut done) = (Cursor::new(value), 0);
    while let Some(n_plain) = memchr::memchr3(b'\\', b'\r', b'\n', at.rest()) {
        let found = at.forward(n_plain);
        at = match past_break(found) {
            Some(after) => {
                whole.extend_from_slice(found.since(done));
                let after = after.skip(40, is_blank);
                done = after.place();
                after
            }
            None => found.forward(1),
        };
    }
    if done == 0 {
        return Cow::Borrowed(value);
    }
    whole.extend_from_slice(value.get(done..).unwrap_or_default());
    Cow::Owned(whole)
}
