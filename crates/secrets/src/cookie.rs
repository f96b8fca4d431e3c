//! Finds cookies in headers, calls, options and cookie files.
//!
//! In: `Cookie: theme=dark; sid=4f9aK2…`, `cookies={"sid": ".."}`, `res.cookie("sid", "..")`, `curl
//! -b sid=..`, and the seven columns of a cookie file. Out: the range of each value that a program
//! generated, whatever its name is. `dark` is not one.

use std::ops::Range;

use memchr::memmem;

use crate::{
    around::{context, past_closers, until_placeholder, without_placeholders},
    cursor::Cursor,
    margin::past_line,
    name::follows_placeholder,
    placeholder::PLACEHOLDER,
    span::{Quote, assigned, is_blank, is_quote, past_blanks, past_tab},
    value::{Form, Kind, is_scrambled, is_uuid},
};

/// Limit for the cookies in a header.
const MAX_PAIRS: usize = 64;

/// Limit for the lines of a list of cookies.
const MAX_LINES: usize = 24;

/// Words between a cookie and its value in prose.
const SAYS: &[&[u8]] = &[b"is ", b"is: ", b"was ", b"value is ", b"value: ", b"value "];

/// Finds the value of an object with the name of a session: `"name":"session","value":"624f…"`.
pub(crate) fn object(_: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    const NAMES: &[&[u8]] = &[b"value", b"Value"];
    let found = || {
        let (closed, _) = past_closers(end.back(1));
        let mut at = past_blanks(closed.past(b",")?, 8);
        at = past_line(at).map_or(at, |line| past_blanks(line, 40));
        let name = Quote::open(at).map_or(at, |(_, name)| name);
        let name = NAMES.iter().find_map(|text| name.past(text))?;
        let sign = past_blanks(past_closers(name).0, 4);
        let sign = sign.past(b"=>").or_else(|| sign.past(b":")).or_else(|| sign.past(b"="))?;
        let (_, value) = Quote::open(past_blanks(sign, 4))?;
        secret(value, value.skip(4096, is_in_value))
    };
    found().into_iter().collect()
}

/// Finds the values after the word `Cookie`.
pub(crate) fn header(start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    if follows_placeholder(start) {
        return Vec::new();
    }
    let name = end.skip(1, |byte| byte == b's' || byte == b'S');
    let name = name
        .past(b"().set")
        .or_else(|| name.past(b".set"))
        .or_else(|| name.past(b".Set"))
        .unwrap_or(name);
    // `cookie_header = "sid=x"`
    const ENDINGS: &[&[u8]] =
        &[b" jar", b"_header", b"_str", b"_string", b"Header", b"Str", b"String"];
    let name = ENDINGS.iter().find_map(|ending| name.past(ending)).unwrap_or(name);
    let closed = past_closers(name).0;
    let at = past_blanks(closed, 8);
    // `the session cookie is 624f…`
    if let Some(value) = SAYS.iter().find_map(|word| at.past(word)) {
        let value = Quote::open(value).map_or(value, |(_, value)| value);
        return secret(value, value.skip(4096, is_in_value)).into_iter().collect();
    }
    let is_sign = matches!(at.next(), Some(b':' | b'=' | b'(' | b','));
    // The prefix has no first letter, which may be a capital: `--cookie`.
    // `<Cookie session_id=x for app.corp.io/>`
    let is_shown =
        start.window_before(2).starts_with(b"<") || start.window_before(2).ends_with(b"<C");
    let is_option = at.place() > closed.place()
        && (is_shown || matches!(start.window_before(3), b"--c" | b"--C"));
    match at.skip(2, |byte| b":=>(,".contains(&byte)) {
        sign if is_sign => {
            // All are returned, so that a second run finds no other one.
            alone(sign).into_iter().chain(pairs(sign)).chain(objects(sign)).collect()
        }
        _ if is_option => pairs(at),
        // `proxy_set_header Cookie "sid=x"`
        _ if at.place() > closed.place()
            && Quote::open(at)
                .is_some_and(|(_, name)| name.skip(64, is_in_name).next() == Some(b'=')) =>
        {
            pairs(at)
        }
        // `use this cookie sid=x`
        _ if at.place() > closed.place() && at.skip(64, is_in_name).next() == Some(b'=') => {
            pairs(at)
        }
        _ => Vec::new(),
    }
}

/// Finds the value before or after the settings of a cookie: `"value": "x", "domain": "..", "httpOnly"`.
pub(crate) fn described(start: Cursor<'_>, _: Cursor<'_>) -> Vec<Range<usize>> {
    /// Bytes before the settings that are searched for the value.
    const MAX_BEFORE: usize = 300;
    let found = || {
        let before = without_placeholders(start.window_before(MAX_BEFORE));
        let place = memmem::rfind(before, b"alue")?;
        let name = start.back(before.len()).forward(place).forward(4);
        // Another cookie is between them.
        let is_near =
            !name.rest().get(..start.place().saturating_sub(name.place()))?.contains(&b'}');
        let sign = past_blanks(past_closers(name).0.skip(1, |byte| byte == b'='), 4);
        let sign = sign.past(b":").or_else(|| sign.past(b"=")).unwrap_or(sign);
        let (_, value) = Quote::open(past_blanks(sign, 4)).filter(|_| is_near)?;
        secret(value, value.skip(4096, is_in_value))
    };
    let after = || {
        let text = until_placeholder(start.window(MAX_BEFORE));
        let text = text.split(|byte| matches!(byte, b'{' | b'}')).next()?;
        let name = start.forward(memmem::find(text, b"alue")?).forward(4);
        let (_, value) = assigned(name)?;
        secret(value, value.skip(4096, is_in_value))
    };
    found().into_iter().chain(after()).collect()
}

/// Returns the values in a list of objects: `"cookies": [{"name": "SID", "value": "x"}]`.
fn objects(sign: Cursor<'_>) -> Vec<Range<usize>> {
    /// Bytes of a list that are searched.
    const MAX_LIST: usize = 4096;
    let mut at = sign.skip(2, |byte| is_blank(byte) || byte == b'[');
    at = past_line(at).map_or(at, |line| past_blanks(line, 40)).skip(1, |byte| byte == b'[');
    at = past_line(at).map_or(at, |line| past_blanks(line, 40));
    if at.next() != Some(b'{') {
        return Vec::new();
    }
    let text = at.window(MAX_LIST).split(|byte| *byte == b']').next().unwrap_or_default();
    let names = memmem::find_iter(text, b"alue").take(MAX_PAIRS);
    let value = |n: usize| {
        let (_, value) = assigned(at.forward(n).forward(4))?;
        secret(value, value.skip(4096, is_in_value))
    };
    names.filter_map(value).collect()
}

/// Finds the value that stands apart from the name of a session: `PHPSESSID x`, `the PHPSESSID from my browser: x`, or
/// the columns of a browser.
pub(crate) fn apart(_: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    /// Bytes after the name that are searched for a colon.
    const MAX_WORDS: usize = 48;
    const SIGNS: &[&[u8]] = &[b": ", b" is "];
    let found = || {
        let closed = past_closers(end).0;
        let at = past_tab(closed).or_else(|| closed.past(b" "))?;
        let words = until_placeholder(at.window(MAX_WORDS));
        let words = words.split(|byte| matches!(byte, b'\n' | b'\\')).next()?;
        let colon = SIGNS.iter().find_map(|sign| Some((memmem::find(words, sign)?, sign)));
        let spoken = colon.map(|(n, sign)| at.forward(n).forward(sign.len()));
        let range = |value: Cursor<'_>| {
            let value = Quote::open(value).map_or(value, |(_, value)| value);
            let value_end = value.skip(4096, is_in_value);
            let text = value_end.since(value.place());
            let is_fit = text.len() >= 20 && !is_uuid(text);
            secret(value, value_end).filter(|_| is_fit)
        };
        range(at).or_else(|| range(spoken?))
    };
    found().into_iter().collect()
}

/// Finds the value in a call that sets a cookie: `jar.set('sid', 'x', domain='x.dev')`.
pub(crate) fn call(_: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    pairs(end)
}

/// Finds the value of a cookie whose name ends in a hash: `wordpress_logged_in_4f9a…=x`.
pub(crate) fn hashed(_: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    let name = end.skip(64, |byte| byte.is_ascii_hexdigit());
    let found = || {
        let value = name.past(b"=").or_else(|| past_tab(name))?;
        secret(value, value.skip(4096, is_in_value))
    };
    found().into_iter().collect()
}

/// Finds the values after `-b` of `curl` and `-C` of `ab`.
pub(crate) fn option(start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    let is_apart = end.next().is_some_and(|byte| is_blank(byte) || is_quote(byte));
    // `tar -C` has a folder.
    let is_bench = start.rest().starts_with(b" -C");
    let is_curl = || memmem::find(context(start, 160), b"curl").is_some() && !is_bench;
    // Each option may be in its own line.
    let quoted = Quote::open(past_blanks(end, 4)).map(|(_, value)| value.skip(64, is_in_name));
    let is_pair = quoted.is_some_and(|name| name.next() == Some(b'='));
    if is_apart && (is_pair || is_curl()) { pairs(end) } else { Vec::new() }
}

/// Finds the value in a line of a cookie file: domain, `TRUE` or `FALSE`, path, `TRUE` or `FALSE`,
/// expiry, name, value. `start..end` is one of the flags with the tab before it.
pub(crate) fn jar(_: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    let found = || {
        let time = past_tab(end)?;
        let name = time.skip(20, |byte| byte.is_ascii_digit());
        let name = past_tab(name).filter(|_| name.place() > time.place())?;
        let value = past_tab(name.skip(128, is_in_name))?;
        secret(value, value.skip(4096, is_in_value))
    };
    found().into_iter().collect()
}

/// Finds the values in the lines after a list's title: `Cookie jar for app.corp.io:`, `  * sid = x (secure)`.
pub(crate) fn listed(_: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    /// Bytes of the title after the word `Cookie`.
    const MAX_TITLE: usize = 80;
    let title = until_placeholder(end.window(MAX_TITLE));
    let mut colons = memchr::memchr_iter(b':', title).map(|n| end.forward(n).forward(1));
    let Some(mut line) = colons.find_map(past_line) else { return Vec::new() };
    let mut found = Vec::new();
    for _ in 0..MAX_LINES {
        let mark = line.skip(12, |byte| is_blank(byte) || b"*-+".contains(&byte));
        let mark = mark.past("• ".as_bytes()).unwrap_or(mark);
        let name = mark.skip(128, is_in_name);
        let closed = past_blanks(past_closers(name).0, 40);
        let sign = closed.past(b"=").or_else(|| closed.past(b":"));
        let Some(sign) = sign.filter(|_| name.place() > mark.place()) else { break };
        let value = past_blanks(sign, 8);
        let value = Quote::open(value).map_or(value, |(_, value)| value);
        let value_end = value.skip(4096, is_in_value);
        found.extend(secret(value, value_end));
        let rest = value_end.skip(160, |byte| byte != b'\n' && byte != b'\\');
        let Some(next) = past_line(rest) else { break };
        line = next;
    }
    found
}

/// Finds the values in the rows that a query of a browser's cookies prints: `sid|x`.
pub(crate) fn rows(start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    /// Limit in bytes for the rest of the query.
    const MAX_QUERY: usize = 200;
    let is_in_line = |byte: u8| byte != b'\n' && byte != b'\\';
    const SELECTS: &[&[u8]] = &[b"select ", b"SELECT "];
    let before = context(start, MAX_QUERY);
    if !SELECTS.iter().any(|word| memmem::find(before, word).is_some()) {
        return Vec::new();
    }
    let query = until_placeholder(end.back(1).window(MAX_QUERY));
    let mut breaks = memchr::memchr2_iter(b'\n', b'\\', query);
    let mut line = breaks.find_map(|n| past_line(end.back(1).forward(n)));
    let mut found = Vec::new();
    for _ in 0..MAX_LINES {
        let Some(start) = line else { break };
        let line_end = start.skip(512, is_in_line);
        let text = until_placeholder(line_end.since(start.place()));
        if !text.contains(&b'|') {
            break;
        }
        let mut at = start;
        for column in text.split(|byte| *byte == b'|') {
            let value = past_blanks(at, 40);
            let value_end = value.skip(4096, |byte| is_in_value(byte) && byte != b'|');
            let is_over = value_end.next().is_none_or(|byte| b" |\n\r\\\"".contains(&byte));
            // The first column is a name or a host.
            let is_value = is_over && at.place() > start.place();
            found.extend(secret(value, value_end).filter(|_| is_value));
            at = at.forward(column.len()).forward(1);
        }
        line = past_line(line_end);
    }
    found
}

/// Finds the value of a cookie in the export of a browser: `"Content raw":"x"`.
pub(crate) fn raw(start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    let found = || {
        let is_content = start.window_before(8) == b"Content ";
        let closed = past_closers(end.back(1)).0;
        let sign = past_blanks(closed, 4).past(b":").filter(|_| is_content)?;
        let (_, value) = Quote::open(past_blanks(sign, 4))?;
        secret(value, value.skip(4096, is_in_value))
    };
    found().into_iter().collect()
}

fn is_in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.~%$!".contains(&byte)
}

fn is_in_value(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b";,\\<>{}()[]".contains(&byte) && !is_quote(byte)
}

/// Finds the value after a name such as `laravel_session=`.
pub(crate) fn named(start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    let is_host = start.window_before(7) == b"__Host-" || start.window_before(9) == b"__Secure-";
    if !is_host && !matches!(start.previous(), Some(b'_' | b'.')) {
        return Vec::new();
    }
    let value = Quote::open(end).map_or(end, |(_, value)| value);
    let value_end = value.skip(4096, is_in_value);
    let is_id = is_uuid(value_end.since(value.place()));
    let first = secret(value, value_end).filter(|_| !is_id);
    // `_shop_session=x; known_sign_in=y`
    let others = value_end.past(b"; ").filter(|_| first.is_some()).map(pairs);
    first.into_iter().chain(others.into_iter().flatten()).collect()
}

/// Finds the value of a cookie that keeps a user logged in: `rememberMe=x`, `rememberMe = "x"`.
pub(crate) fn remembered(_: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    let found = || {
        let value = match assigned(end) {
            Some((_, value)) => value,
            None => past_blanks(past_blanks(past_closers(end).0, 4).past(b"=")?, 4),
        };
        secret(value, value.skip(4096, is_in_value))
    };
    found().into_iter().collect()
}

/// Finds a value without a name: `session cookie: 624f…`.
fn alone(sign: Cursor<'_>) -> Option<Range<usize>> {
    let value = past_blanks(sign, 4);
    let value = Quote::open(value).map_or(value, |(_, value)| value);
    let end = value.skip(4096, |byte| is_in_value(byte) && byte != b'=' && byte != b':');
    let is_over = end.next().is_none_or(|byte| !is_in_value(byte) && byte != b'(');
    secret(value, end).filter(|_| is_over)
}

/// Returns the secrets among pairs of names and values.
fn pairs(start: Cursor<'_>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let is_opener = |byte: u8| b" \t\"'`\\[{(@\n".contains(&byte);
    let line = past_blanks(start, 8);
    let at = past_line(line).unwrap_or(start).skip(24, is_opener);
    // `cookies=dict(session_id="x")`
    let called =
        at.skip(24, |byte| byte.is_ascii_alphanumeric() || b"._".contains(&byte)).past(b"(");
    let mut at = called.map_or(at, |at| at.skip(24, is_opener));
    for _ in 0..MAX_PAIRS {
        let name = at.skip(128, is_in_name);
        if name.place() == at.place() {
            break;
        }
        let (closed, has_quote) = past_closers(name);
        let sign = past_blanks(closed, 4);
        let value = match sign.next() {
            Some(b'=') => sign.forward(1),
            Some(b':') if has_quote || sign.forward(1).next() == Some(b' ') => sign.forward(1),
            Some(b',') if has_quote => sign.forward(1),
            // `HttpOnly`
            Some(b';') => name,
            _ => break,
        };
        let value = past_blanks(value, 4);
        let value = Quote::open(value).map_or(value, |(_, value)| value);
        let end = value.skip(4096, is_in_value);
        found.extend(secret(value, end));
        let next = past_closers(end).0;
        if !matches!(next.next(), Some(b';' | b',')) {
            break;
        }
        at = past_blanks(next.forward(1), 4).skip(64, |byte| is_quote(byte) || byte == b'\\');
    }
    found
}

/// Returns the range of a value that a program generated.
fn secret(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let is_sentence = end.previous() == Some(b'.') && end.next().is_none_or(is_blank);
    let end = if is_sentence { end.back(1) } else { end };
    let value = end.since(start.place());
    // A short one has no digit between its letters: `HSID=AlTvC2fPTakXiXEBz`.
    let is_letters = value.len() >= 16 && value.iter().all(u8::is_ascii_alphanumeric);
    let is_secret = is_uuid(value)
        || Kind::Token.secret_in(value, Form::Quoted).is_some()
        || is_letters && is_scrambled(value);
    let is_cut = end.rest().starts_with(PLACEHOLDER);
    (is_secret && !is_cut).then(|| start.place()..end.place())
}
