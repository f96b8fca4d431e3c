//! Finds the items of a list whose name says that they are secrets.
//!
//! In: `TOKENS=("x" "y")`, `secrets: [x, y]`, `API_KEYS=x,y`, `tokens = {"a": "x", "b": "y"}`, `passwords:` with `  - x` and
//! `  - y` below it. Out: the ranges of `x` and of `y`. A list of the same name may have words of a language, numbers, or
//! names of secrets, so only clear items count.

use std::ops::Range;

use crate::{
    around::past_closers,
    command_line::{password, value_of},
    cursor::Cursor,
    margin::past_line,
    name::{Name, Word},
    placeholder::{PLACEHOLDER, is_check},
    span::{Quote, is_blank, is_quote, past_blanks, string_or_word},
    value::{Form, Kind},
    worded::are_words_and_number,
};

/// Minimum length of an item.
const MIN_SECRET: usize = 6;

/// Limit for the lines of a list before its first secret.
const MAX_OTHERS: usize = 4;

/// Limit for the items of a list.
const MAX_ITEMS: usize = 64;

/// Limit in bytes for a list.
const MAX_LIST: usize = 4096;

/// Finds the items. `start..end` is the word of the name, with its `s`.
pub(crate) fn find(start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    // The counts of tokens are the most frequent values: `"input_tokens":1203`.
    if matches!(end.window(4), [b'"', b':', b'0'..=b'9', ..] | [b'\\', b'"', b':', b'0'..=b'9']) {
        return Vec::new();
    }
    // Most words are in sentences or have a number as their value.
    let called = past_call(end);
    let (at, is_tight, is_said) = match (past_sign(end), past_words(end)) {
        (Some((at, is_tight)), _) => (at, is_tight, false),
        (None, Some(at)) => (at, false, true),
        (None, None) => (called.unwrap_or(end), false, false),
    };
    if at.place() == end.place() {
        return Vec::new();
    }
    // `USERS = {"ada": "x"}`
    if start.next() == Some(b'U') {
        let list =
            List { kind: Kind::Secrets, is_named: true, last: at.place().saturating_add(MAX_LIST) };
        return past_blanks(at, 8).past(b"{").map_or_else(Vec::new, |item| list.items(item));
    }
    let word = match start.next() {
        Some(b'p' | b'P') => Word::Pass,
        Some(b's' | b'S') => Word::Secret,
        Some(b't' | b'T') => Word::Token,
        Some(b'c' | b'C') => Word::Credential,
        _ => Word::Key,
    };
    let singular = match word {
        Word::Pass => start.forward(b"pass".len()),
        _ => end.back(1),
    };
    let Some(name) = Name::around(start, singular) else { return Vec::new() };
    let Some(kind) = name.plural(word).filter(|_| name.end.place() == end.place()) else {
        return Vec::new();
    };
    let list = List { kind, is_named: false, last: at.place().saturating_add(MAX_LIST) };
    let at = past_blanks(at, 8);
    if is_said {
        return list.sentence(at);
    }
    if called.is_some() {
        return list.items(at);
    }
    if let Some((quote, text)) = Quote::open(at) {
        return quote.close(text).map_or_else(Vec::new, |text_end| list.parts(text, text_end));
    }
    if let Some(line) = past_line(at) {
        return list.lines(line);
    }
    let is_capital = !name.end.since(name.start.place()).iter().any(u8::is_ascii_lowercase);
    let said = list.sentence(at);
    if said.len() > 1 {
        return said;
    }
    match opened(at) {
        Some(item) => list.items(item),
        // Most settings have one short word.
        None if is_tight
            && is_capital
            && at.skip(MIN_SECRET, is_in_word).since(at.place()).len() == MIN_SECRET =>
        {
            // A sign belongs to the next setting.
            let is_in = |byte: u8| is_in_word(byte) && byte != b'=' || byte == b',';
            list.parts(at, at.skip(MAX_LIST, is_in))
        }
        None => Vec::new(),
    }
}

/// Finds the strings of a list of passwords: `"passwords": ["x", "y"]`. The prefix may end in a quote.
pub(crate) fn strings(_: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    let is_mark = end.previous().is_some_and(|byte| is_quote(byte) || byte == b'\\');
    let sign = past_blanks(past_closers(end.back(usize::from(is_mark))).0, 4);
    let list = sign.past(b":").or_else(|| sign.past(b"=")).map(|at| past_blanks(at, 4));
    let list = list.filter(|at| !at.rest().starts_with(PLACEHOLDER)).and_then(|at| at.past(b"["));
    let (Some(mut at), mut found) = (list, Vec::new()) else { return Vec::new() };
    for _ in 0..MAX_ITEMS {
        let item = past_blanks(at, 40);
        let item = past_line(item).map_or(item, |line| past_blanks(line, 60));
        let Some((quote, value)) = Quote::open(item) else { break };
        let Some(value_end) = quote.close(value) else { break };
        let is_check = is_check(value_end.since(value.place()));
        found.extend(password(value, value_end).filter(|_| !is_check));
        let closed = past_blanks(past_closers(value_end).0, 8);
        let Some(next) = closed.past(b",") else { break };
        at = next;
    }
    found
}

/// Moves past the sign after a name, and returns whether the value follows directly: `=`, `+=`, `:=`, `":`, `.add(`.
fn past_sign(end: Cursor<'_>) -> Option<(Cursor<'_>, bool)> {
    const SIGNS: &[&[u8]] = &[b":=", b"+=", b"=>", b"=", b":"];
    let closed = past_closers(past_index(end)).0;
    let sign = past_blanks(closed, 8);
    let at = SIGNS.iter().find_map(|text| sign.past(text))?;
    let is_tight = sign.place() == end.place() && at.next().is_some_and(is_in_word);
    Some((at, is_tight))
}

/// Moves past the start of a call or the sign that adds an item: `.add(`, ` << `.
fn past_call(end: Cursor<'_>) -> Option<Cursor<'_>> {
    const CALLS: &[&[u8]] =
        &[b".add(", b".append(", b".push(", b".insert(", b".put(", b".set(", b" << "];
    CALLS.iter().find_map(|call| end.past(call))
}

/// Moves past the index or the name of an item in brackets: `[0]`, `["a"]`.
fn past_index(end: Cursor<'_>) -> Cursor<'_> {
    let is_in =
        |byte: u8| byte.is_ascii_alphanumeric() || is_quote(byte) || b"_\\-.".contains(&byte);
    end.past(b"[").and_then(|index| index.skip(32, is_in).past(b"]")).unwrap_or(end)
}

/// Moves past the words of a sentence between a name and its values: `the tokens are x and y`, `both passwords (x and y)`.
fn past_words(end: Cursor<'_>) -> Option<Cursor<'_>> {
    const WORDS: &[&[u8]] = &[b" are ", b" were ", b" (", b" are: "];
    WORDS.iter().find_map(|words| end.past(words))
}

/// Returns the position after the bracket that opens a list, with the type before it: `[`, `{`, `(`, `[]string{`,
/// `new Set([`.
fn opened(at: Cursor<'_>) -> Option<Cursor<'_>> {
    /// Limit in bytes for the type.
    const MAX_TYPE: usize = 48;
    if at.rest().starts_with(PLACEHOLDER) {
        return None;
    }
    let (mut place, mut found) = (at, None);
    for _ in 0..MAX_TYPE {
        let byte = place.next()?;
        let after = place.forward(1);
        match byte {
            b'[' | b'(' | b'{' => found = Some(after),
            // `vec![`, and no other macro.
            b'!' if after.next() != Some(b'[') => break,
            byte if byte.is_ascii_alphanumeric() || b"_<>:.!&%]= ".contains(&byte) => {}
            _ => break,
        }
        place = after;
    }
    found
}

fn is_in_word(byte: u8) -> bool {
    byte.is_ascii_graphic() && !is_quote(byte) && !b",;()[]{}\\".contains(&byte)
}

/// A list.
struct List {
    kind: Kind,
    /// Whether only the items with names count.
    is_named: bool,
    /// The end of the bytes that are searched.
    last: usize,
}

impl List {
    fn secret(&self, start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
        value_of(self.kind, Form::Quoted, start, end)
    }

    /// Returns the secrets between commas or blanks.
    fn parts(&self, start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
        let text = end.since(start.place());
        if text.len() > MAX_LIST {
            return Vec::new();
        }
        let (mut at, mut found) = (start, Vec::new());
        for part in text.split(|byte| is_blank(*byte) || b",;|".contains(byte)).take(MAX_ITEMS) {
            let part_end = at.forward(part.len());
            found.extend(self.secret(at, part_end));
            at = part_end.forward(1);
        }
        found
    }

    /// Returns the secrets among the items after an opening bracket. An item may have a name: `"a": "x"`, `a = "x"`.
    fn items(&self, start: Cursor<'_>) -> Vec<Range<usize>> {
        let (mut at, mut found) = (start, Vec::new());
        for _ in 0..MAX_ITEMS {
            at = past_gap(at);
            let Some((value, value_end, after)) = item(at).filter(|_| at.place() < self.last)
            else {
                break;
            };
            let sign = past_blanks(after, 8);
            let named = sign.past(b":").or_else(|| sign.past(b"=>")).or_else(|| sign.past(b"="));
            let is_counted = named.is_some() || !self.is_named;
            let (value, value_end, after) = match named.map(|at| item(past_blanks(at, 8))) {
                // The names of a set are its items: `{"x": true}`.
                Some(Some((flag, flag_end, after))) if is_flag(flag_end.since(flag.place())) => {
                    (value, value_end, after)
                }
                Some(Some(item)) => item,
                Some(None) => break,
                None => (value, value_end, after),
            };
            found.extend(self.secret(value, value_end).filter(|_| is_counted));
            at = past_method(after);
        }
        found
    }

    /// Returns the secrets of a sentence up to the first word that is none: `x (admin), y and z`.
    fn sentence(&self, start: Cursor<'_>) -> Vec<Range<usize>> {
        const JOINTS: &[&[u8]] = &[b", and ", b", ", b" and ", b" or ", b" und ", b" y ", b" et "];
        let (mut at, mut found) = (start, Vec::new());
        for _ in 0..MAX_ITEMS {
            let is_quoted = Quote::open(at).is_some();
            let Some((value, value_end)) = string_or_word(at) else { break };
            let text = value_end.since(value.place());
            let is_made_up = is_quoted && are_words_and_number(text);
            let secret = match is_made_up {
                true => password(value, value_end),
                false => self.secret(value, value_end),
            };
            let is_open = text.first().is_some_and(|byte| b"[({".contains(byte));
            let Some(secret) = secret.filter(|_| !is_open) else { break };
            found.push(secret);
            let closed = if is_quoted { past_closers(value_end).0 } else { value_end };
            // `x (admin)`
            let is_in = |byte: u8| byte.is_ascii_alphanumeric() || b" -_".contains(&byte);
            let note = closed.past(b" (").and_then(|note| note.skip(24, is_in).past(b")"));
            let next = note.unwrap_or(closed);
            let Some(next) = JOINTS.iter().find_map(|joint| next.past(joint)) else { break };
            at = next;
        }
        found
    }

    /// Returns the secrets in the lines below a name, which are indented or start with `- `.
    fn lines(&self, first: Cursor<'_>) -> Vec<Range<usize>> {
        let (mut line, mut found) = (first, Vec::new());
        for n in 0..MAX_ITEMS {
            let is_other = n > MAX_OTHERS && found.is_empty();
            let text = line.skip(40, is_blank);
            let number = text.skip(3, |byte| byte.is_ascii_digit());
            let bullet = text.past(b"- ").or_else(|| text.past(b"* "));
            let item_start = bullet
                .or_else(|| number.past(b". ").filter(|_| number.place() > text.place()))
                .unwrap_or(text);
            if item_start.place() == line.place() || line.place() > self.last || is_other {
                break;
            }
            let name =
                item_start.skip(40, |byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
            let value = past_blanks(name.past(b": ").unwrap_or(item_start), 8);
            let Some((value, value_end, after)) = item(value) else { break };
            let is_last = |at: Cursor<'_>| {
                at.next().is_none_or(|byte| is_quote(byte) || b"\\\r\n".contains(&byte))
                    || at.rest().starts_with(b" #")
            };
            found.extend(self.secret(value, value_end).filter(|_| is_last(after)));
            let line_end = after.skip(200, |byte| !matches!(byte, b'\n' | b'\r' | b'\\'));
            let Some(next) = past_line(line_end) else { break };
            line = next;
        }
        found
    }
}

/// Returns the start and the end of the string or word at a position, and the position after it.
fn item(at: Cursor<'_>) -> Option<(Cursor<'_>, Cursor<'_>, Cursor<'_>)> {
    /// Limit in bytes for an item.
    const MAX_ITEM: usize = 512;
    // A redacted item is an item too.
    if at.rest().starts_with(PLACEHOLDER) {
        let end = at.skip(MAX_ITEM, |byte| byte != b']').forward(1);
        return Some((at, end, end));
    }
    if let Some((quote, value)) = Quote::open(at) {
        let end = quote.close(value)?;
        return Some((value, end, end.skip(63, |byte| byte == b'\\').forward(1)));
    }
    let end = at.skip(MAX_ITEM, |byte| is_in_word(byte) && byte != b'=');
    let end = if end.previous() == Some(b':') { end.back(1) } else { end };
    let is_call = matches!(end.next(), Some(b'(' | b'[' | b'{' | b'.'));
    (end.place() > at.place() && !is_call).then_some((at, end, end))
}

/// Returns whether the value of a name in a set only says that the name is in it.
fn is_flag(text: &[u8]) -> bool {
    [&b"true"[..], b"True", b"1"].contains(&text)
}

/// Moves past a call that converts a string: `"x".to_string()`.
fn past_method(at: Cursor<'_>) -> Cursor<'_> {
    let name =
        at.past(b".").map(|at| at.skip(24, |byte| byte.is_ascii_alphanumeric() || byte == b'_'));
    name.and_then(|name| name.past(b"()")).unwrap_or(at)
}

/// Moves past the end of an item with several members and the start of the next one: `}, {`, `), (`.
fn past_items(at: Cursor<'_>) -> Option<Cursor<'_>> {
    let is_end = |byte: u8| matches!(byte, b'}' | b']' | b')');
    let closed = at.skip(1, is_end);
    let comma = past_blanks(closed, 8).past(b",").filter(|_| closed.place() > at.place())?;
    let next = past_blanks(comma, 8);
    let next = past_line(next).map_or(next, |line| past_blanks(line, 60));
    next.past(b"{").or_else(|| next.past(b"[")).or_else(|| next.past(b"("))
}

/// Moves past blanks, commas, line breaks and comments between two items.
fn past_gap(mut at: Cursor<'_>) -> Cursor<'_> {
    const MAX_GAPS: usize = 8;
    for _ in 0..MAX_GAPS {
        let blank = at.skip(80, |byte| is_blank(byte) || byte == b',');
        let is_comment = blank.rest().starts_with(b"# ") || blank.rest().starts_with(b"// ");
        let blank = match is_comment {
            true => blank.skip(200, |byte| !matches!(byte, b'\n' | b'\r' | b'\\')),
            false => blank,
        };
        match past_line(blank) {
            Some(line) => at = line,
            None => match past_items(blank) {
                Some(next) => at = next,
                None => return blank,
            },
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_clear_item_is_found() {
        let (x, y) = ("kQ9vLz2xWm7RtB4nYc1d", "p4Rt71NsQwXe9UbVy2Zd");
        for (text, n_found) in [
            ("tokens = ['@', \"%\"]", 2),
            ("tokens := []string{\"@\", \"%\"}", 2),
            ("tokens := map[string]string{\"a\": \"@\", \"b\": \"%\"}", 2),
            ("tokens: [@, %]", 2),
            ("tokens: [\n  \"@\",  # first\n  \"%\",\n]", 2),
            ("tokens:\n  - @\n  - %\nother: 1", 2),
            ("tokens:\\n  access: @\\n  refresh: '%'\\nother: 1", 2),
            ("tokens=(\"@\" '%')", 2),
            ("tokens.add(\"@\")", 1),
            ("tokens\\\": [\\\"@\\\",\\\"%\\\"]", 2),
            ("tokens = \"@ %\"", 2),
            ("tokens = {a = \"@\", n = \"LeftParen2024\"}", 1),
            ("tokens = ['primary-500', 'Identifier2024', 'color.primary.500']", 0),
            ("tokens = quote! { pub fn rusqlite_xkcd_init22(a: u8) }", 0),
            ("tokens: 1204, [@]", 0),
            ("tokens for @", 0),
        ] {
            let text = text.replace('@', x).replace('%', y);
            let start = Cursor::new(text.as_bytes());
            let found = find(start, start.forward(6));
            let found: Vec<&str> = found.into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, [x, y][..n_found], "{text}");
        }
    }
}
