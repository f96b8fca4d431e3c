//! Finds secrets among the arguments of known calls and commands, by their position.
//!
//! In: `jwt.sign(payload, 'x'`, `createHmac('sha256', 'x'`, `Buffer.from('ada:x')`, `htpasswd -nb ada
//! x`, `sqlplus ada/x@//db`. Out: the range of `x`.

use std::ops::Range;

use memchr::memmem;

use crate::{
    around::{context, past_closers, until_placeholder},
    clear::is_clear_password,
    command_line::password,
    cursor::Cursor,
    edge::is_edge,
    foreign,
    margin::past_line,
    piped::is_named,
    placeholder::PLACEHOLDER,
    randomness::Makeup,
    span::{Quote, bare_end, ends_line, is_blank, is_quote, past_blanks, string_or_word},
    value::{Form, Kind, is_scrambled, is_strong, is_uuid},
    worded::{are_words_and_number, is_coined, is_invented, is_word_list},
};

/// Limit in bytes for the arguments of a call.
const MAX_CALL: usize = 400;

/// Finds the key that signs or verifies: the last string that a program generated.
pub(crate) fn key(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    /// Minimum length of a key. Shorter strings name an algorithm or a member.
    const MIN_KEY: usize = 16;
    /// Minimum length of a key that a person invented.
    const MIN_INVENTED: usize = 12;
    /// Minimum length of a short key, which is random and has no mark.
    const MIN_SHORT: usize = 10;
    let is_key = |(start, end): &(Cursor<'_>, Cursor<'_>)| {
        let text = end.since(start.place());
        let is_generated = || Kind::Secret.secret_in(text, Form::Quoted).is_some();
        let is_invented = || is_invented(text) || is_word_list(text, 0);
        let is_short = || {
            let makeup = Makeup::of(text);
            makeup.n_digits > 2 && makeup.is_random() && text.iter().all(u8::is_ascii_alphanumeric)
        };
        text.len() >= MIN_KEY && is_generated()
            || text.len() >= MIN_INVENTED && is_invented()
            || text.len() >= MIN_SHORT && is_short() && is_generated()
    };
    let (start, end) = strings(end).into_iter().rfind(is_key)?;
    Some(start.place()..end.place())
}

/// Finds all keys among the strings of a call.
pub(crate) fn all(_: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    let is_key = |(start, end): &(Cursor<'_>, Cursor<'_>)| is_strong(end.since(start.place()));
    let found = strings(end).into_iter().filter(is_key);
    found.filter_map(|(start, end)| password(start, end)).collect()
}

/// Finds the password of a connection: `new PDO(dsn, 'ada', 'x')`, `new mysqli(host, 'ada', 'x', 'shop')`.
pub(crate) fn connection(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let found = strings(end);
    let is_clear =
        |(start, end): &&(Cursor<'_>, Cursor<'_>)| is_clear_password(end.since(start.place()));
    let after_first = found.get(1..).unwrap_or_default();
    // A client of Oracle has the address after the password.
    let is_oracle = end.window_before(16).ends_with(b"racle.connect(")
        || end.window_before(16).ends_with(b"oracledb.connect(");
    if is_oracle {
        let (value, value_end) = after_first.first()?;
        return password(*value, *value_end);
    }
    let clear = after_first.iter().rfind(is_clear).filter(|_| after_first.len() < 3);
    let (start, end) = clear.or(found.get(2)).or(found.last()).filter(|_| found.len() > 1)?;
    password(*start, *end)
}

/// Finds the password that is the third string of a call, after the host and the user.
pub(crate) fn third(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let is_client = start.window_before(5) == b"clien";
    let (value, value_end) = strings(end).get(2).copied().filter(|_| is_client)?;
    password(value, value_end)
}

/// Finds the password that is the second string of a call, after the user.
pub(crate) fn second(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let (start, end) = strings(end).get(1).copied()?;
    password(start, end)
}

/// Finds the value after the name of a setting: `dotnet user-secrets set "Api:Key" "x"`.
pub(crate) fn setting(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let (name, name_end) = string_or_word(end)?;
    let next = past_closers(name_end).0.past(b" ")?;
    let (value, value_end) = string_or_word(past_blanks(next, 4))?;
    let is_secret = is_named(name_end.since(name.place()));
    password(value, value_end).filter(|_| is_secret || is_strong(value_end.since(value.place())))
}

/// Finds the password that is the first string of a call.
pub(crate) fn first(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let (start, end) = strings(end).into_iter().next()?;
    password(start, end)
}

/// Finds the passwords in the first two arguments, the old and the new one: `EXEC sp_password 'x', 'y', 'ada'`.
/// The old one may be `NULL`, and the user may be missing.
pub(crate) fn old_and_new(_: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    let (mut at, mut n_commas, mut argument) = (end, 0_usize, None);
    let found = strings(end).into_iter().filter_map(|(start, value_end)| {
        let between = start.since(at.place());
        let n_between = between.iter().filter(|byte| **byte == b',').count();
        (at, n_commas) = (value_end, n_commas.saturating_add(n_between));
        // A doubled quote is a quote within the string. Another string without a comma before it is no argument.
        let is_argument = argument.replace(n_commas) != Some(n_commas) || between == b"''";
        password(start, value_end).filter(|_| is_argument && n_commas < 2)
    });
    found.collect()
}

/// Finds the last word of a string after variables: `secure_link_md5 "$uri x"`.
pub(crate) fn last_of_string(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let (quote, start) = Quote::open(end)?;
    let value_end = quote.close(start)?;
    let text = value_end.since(start.place());
    let n_before = memchr::memrchr(b' ', text)?.saturating_add(1);
    password(start.forward(n_before), value_end).filter(|_| text.starts_with(b"$"))
}

/// Finds the parameter `p` of a request to InfluxDB that has the parameter `u` before it: `/query?u=ada&p=x`.
pub(crate) fn of_request(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    const DATABASES: &[&[u8]] = &[b"/write?", b"/query?", b"?db=", b"&db="];
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || is_quote(*byte);
    let before = context(start, 160).rsplit(is_end).next().unwrap_or_default();
    let has =
        |text: &[u8], names: &[&[u8]]| names.iter().any(|name| memmem::find(text, name).is_some());
    let value_end = bare_end(end, |byte| byte == b'&');
    let after = until_placeholder(value_end.window(160)).split(is_end).next().unwrap_or_default();
    let is_fit =
        has(before, &[b"?u=", b"&u="]) && (has(before, DATABASES) || has(after, DATABASES));
    password(end, value_end).filter(|_| is_fit)
}

/// Finds the generated value of a name, after a sign: `device_code=x`.
pub(crate) fn generated(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    /// Minimum length of a value.
    const MIN_VALUE: usize = 16;
    let is_signed = end.previous().is_some_and(|byte| byte == b'=' || byte == b':');
    let closed = past_closers(end.back(usize::from(end.previous().is_some_and(is_quote)))).0;
    let sign = past_blanks(closed, 8);
    let at =
        if is_signed { sign } else { sign.past(b"=").or_else(|| sign.past(b":")).unwrap_or(sign) };
    if !is_signed && at.place() == sign.place() && Quote::open(at).is_none() {
        return None;
    }
    let (value, value_end) = string_or_word(past_blanks(at, 8))?;
    let text = value_end.since(value.place());
    let is_path = text.contains(&b'/') && !text.ends_with(b"=");
    let is_random = is_strong(text) || text.len() >= 20 && is_scrambled(text);
    let is_key = text.len() >= MIN_VALUE && is_random && !is_path || is_invented(text);
    password(value, value_end).filter(|_| is_key)
}

/// Finds the digits of a key in a call that decodes them: `AES.new(bytes.fromhex("x"))`.
pub(crate) fn digits(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    /// Minimum number of digits.
    const MIN_DIGITS: usize = 32;
    const WORDS: &[&[u8]] = &[
        b"key", b"KEY", b"Key", b"AES", b"aes", b"ipher", b"ecret", b"ECRET", b"hmac", b"HMAC",
        b"priv",
    ];
    const OTHERS: &[&[u8]] =
        &[b"ublic", b"pub", b"hash", b"igest", b"hecksum", b"expected", b"nonce", b"iv ="];
    let before = context(start, 80);
    let has = |words: &[&[u8]]| words.iter().any(|word| memmem::find(before, word).is_some());
    let (value, value_end) = strings(end).into_iter().next()?;
    let text = value_end.since(value.place());
    let is_key = text.len() >= MIN_DIGITS
        && text.iter().all(u8::is_ascii_hexdigit)
        && is_strong(text)
        && has(WORDS)
        && !has(OTHERS);
    password(value, value_end).filter(|_| is_key)
}

/// Finds the first argument of a call whose later argument is the name of a secret: `set("x", forKey: "apiToken")`.
pub(crate) fn before_name(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let (quote, name) = Quote::open(end)?;
    let name = quote.close(name)?.since(name.place());
    let before = context(start, 240);
    let call = start.back(before.len()).forward(memchr::memrchr(b'(', before)?).forward(1);
    let (value, value_end) = strings(call).into_iter().next()?;
    let is_before = value_end.place() < start.place();
    // Many things have an alias.
    let text = value_end.since(value.place());
    let is_clear = || is_strong(text) || is_invented(text);
    let is_fit = is_before && is_named(name) && (start.next() != Some(b'l') || is_clear());
    password(value, value_end).filter(|_| is_fit)
}

/// Returns the strings directly among the arguments of a call.
fn strings(start: Cursor<'_>) -> Vec<(Cursor<'_>, Cursor<'_>)> {
    strings_until(start, b')')
}

/// Returns the strings directly among the items of a list or the arguments of a call, up to its closing bracket.
fn strings_until(start: Cursor<'_>, close: u8) -> Vec<(Cursor<'_>, Cursor<'_>)> {
    let last = start.place().saturating_add(until_placeholder(start.window(MAX_CALL)).len());
    let (mut at, mut depth, mut found) = (start, 0_usize, Vec::new());
    while let Some(byte) = at.next().filter(|_| at.place() < last) {
        if let Some((quote, value)) = Quote::open(at) {
            let Some(end) = quote.close(value) else { break };
            // `[]byte("x")` is an argument too, `{"sub": "x"}` has members.
            if depth == 0 || is_converted(value) {
                found.push((value, end));
            }
            at = end.skip(63, |byte| byte == b'\\').forward(1);
            continue;
        }
        depth = match byte {
            b'(' | b'{' => depth.saturating_add(1),
            b')' | b'}' if depth == 0 => break,
            byte if byte == close && depth == 0 => break,
            b')' | b'}' => depth.saturating_sub(1),
            b';' => break,
            _ => depth,
        };
        at = at.forward(1);
    }
    found
}

/// Returns whether a call that converts a string to bytes is before the string: `[]byte("x")`, `utf8.encode("x")`.
fn is_converted(value: Cursor<'_>) -> bool {
    /// Bytes of the call and the quote before the string.
    const MAX_BEFORE: usize = 14;
    const CALLS: &[&[u8]] = &[b"byte(", b"encode(", b"Bytes(", b"bytes(", b"Data(", b".utf8("];
    let before = value.window_before(MAX_BEFORE);
    let is_mark = |byte: &u8| is_quote(*byte) || matches!(byte, b'\\' | b'b');
    let n_marks = before.iter().rev().take_while(|byte| is_mark(byte)).count();
    let before = before.get(..before.len().saturating_sub(n_marks)).unwrap_or_default();
    CALLS.iter().any(|call| before.ends_with(call))
}

/// Finds the password in a string of a user and a password: `Buffer.from('ada:x')`, `CURLOPT_USERPWD,
/// 'ada:x'`.
pub(crate) fn pair(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let at = end.skip(16, |byte| is_blank(byte) || b",[]()=>byte".contains(&byte));
    let (quote, value) = Quote::open(at)?;
    let value_end = quote.close(value)?;
    after_user(value, value_end, b':')
}

/// Finds the password of `CORP/ada:x@host`, as tools of Impacket have it.
pub(crate) fn domain_user(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let is_in = |byte: u8| byte.is_ascii_graphic() && byte != b':' && byte != b'\\';
    let word = past_blanks(end.skip(24, |byte| byte.is_ascii_alphanumeric() || byte == b'.'), 8);
    let word = Quote::open(word).map_or(word, |(_, word)| word);
    let user = word.skip(80, is_in);
    let value = user.past(b":").filter(|_| user.since(word.place()).contains(&b'/'))?;
    if let Some((quote, value)) = Quote::open(value) {
        return password(value, quote.close(value)?);
    }
    let whole = value.skip(200, |byte| byte.is_ascii_graphic() && !is_quote(byte) && byte != b'\\');
    password(value, value.forward(memchr::memrchr(b'@', whole.since(value.place()))?))
}

/// Finds the value after a name, with a sign or a blank between them.
pub(crate) fn after_name(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let sign = past_blanks(past_closers(end).0, 40);
    let at = past_blanks(sign.skip(2, |byte| b":=>".contains(&byte)), 8);
    let (value, value_end) = string_or_word(at)?;
    let text = value_end.since(value.place());
    // In prose, a word may follow the name.
    let n_digits = text.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_fit = n_digits > 0 && text.len() >= 8 || is_strong(text) || is_word_list(text, 0);
    password(value, value_end).filter(|_| is_fit && value.place() > end.place().saturating_sub(2))
}

/// Finds the password in a list of a user and a password: `'auth' => ['ada', 'x']`, `auth: ("ada", "x")`.
pub(crate) fn login_list(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    // `stats auth ada:x`
    if let Some(value) = end.past(b" ").filter(|_| start.window_before(6) == b"stats ") {
        return after_user(value, bare_end(value, |_| false), b':');
    }
    const SIGNS: &[&[u8]] = &[b"=>", b":", b"="];
    if end.next().is_none_or(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return None;
    }
    let sign = past_blanks(past_closers(end).0, 4);
    let at = past_blanks(SIGNS.iter().find_map(|sign_text| sign.past(sign_text))?, 4);
    // `auth: "ada:x"`
    if let Some((quote, value)) = Quote::open(at) {
        let found = after_user(value, quote.close(value)?, b':')?;
        let text = value.to(found.end).since(found.start);
        let is_clear = is_strong(text) || is_invented(text) || is_word_list(text, 0);
        return Some(found).filter(|_| is_clear);
    }
    // A placeholder starts like a list.
    if at.rest().starts_with(PLACEHOLDER) {
        return None;
    }
    let list = at.past(b"(").or_else(|| at.past(b"{")).or_else(|| at.past(b"array("));
    let found = match at.past(b"[") {
        Some(list) => strings_until(list, b']'),
        None => strings(list?),
    };
    match found.as_slice() {
        [_, (value, value_end)] => password(*value, *value_end),
        // The third string names the scheme.
        [_, (value, value_end), (scheme, scheme_end)] => {
            let scheme = scheme_end.since(scheme.place());
            let is_scheme = [&b"basic"[..], b"digest", b"ntlm"]
                .iter()
                .any(|name| scheme.eq_ignore_ascii_case(name));
            if is_scheme { password(*value, *value_end) } else { None }
        }
        _ => None,
    }
}

/// Finds the password in the value of a name: `npmAuthIdent: "ada:x"`, also in base64.
pub(crate) fn ident(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let sign = past_blanks(past_closers(end).0, 4);
    let at = past_blanks(sign.past(b":").or_else(|| sign.past(b"="))?, 4);
    let (value, value_end) = string_or_word(at)?;
    let is_encoded = crate::base64::user_and_password(value_end.since(value.place()));
    if is_encoded {
        Some(value.place()..value_end.place())
    } else {
        after_user(value, value_end, b':')
    }
}

/// Finds the password of `Authorization: Basic ada x` and `Authorization: Basic ada:x`.
pub(crate) fn spelled(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let user = end.skip(64, |byte| byte.is_ascii_alphanumeric() || b"_-.@".contains(&byte));
    let value =
        user.past(b" ").or_else(|| user.past(b":")).filter(|_| user.place() > end.place())?;
    password(value, bare_end(value, |_| false))
}

/// Finds the password of a user in prose: `login: ada / x`, `creds: ada:x`.
pub(crate) fn said(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    const JOINTS: &[&[u8]] =
        &[b" / ", b"/", b":", b" | ", b", ", b" - ", b" and ", b" with ", b" using "];
    let at = Quote::open(end).map_or(end, |(_, at)| at);
    let user = at.skip(64, |byte| byte.is_ascii_alphanumeric() || b"_-.@".contains(&byte));
    let closed = past_closers(user).0;
    let joint =
        JOINTS.iter().find_map(|joint| closed.past(joint)).filter(|_| user.place() > at.place())?;
    let value = Quote::open(joint).map_or(joint, |(_, value)| value);
    let value_end = bare_end(value, |_| false);
    let text = value_end.since(value.place());
    // `login page / section12345`
    let is_verb = end.since(start.place()) == b"login ";
    let is_joined = text.iter().any(|byte| matches!(byte, b'.' | b'_'));
    let is_strong =
        is_strong(text) || is_word_list(text, 0) || is_invented(text) && (is_joined || !is_verb);
    let has_digit = text.iter().any(u8::is_ascii_digit);
    let is_strong = is_strong || !is_verb && has_digit && is_scrambled(text);
    let is_login = matches!(start.next(), Some(b'c' | b'C' | b'e'))
        || [&b": "[..], b"= "].contains(&end.window_before(2));
    let is_strong = is_strong || is_login && (are_words_and_number(text) || is_coined(text));
    password(value, value_end).filter(|_| is_strong)
}

/// Finds the password of a user in a word such as `ada:x@host`, `ada/x@//host`.
pub(crate) fn login(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let is_in = |byte: u8| byte.is_ascii_graphic() && !is_quote(byte) && !b"<>\\;|".contains(&byte);
    // An option before the word.
    let mut at = past_blanks(end, 8);
    while at.next() == Some(b'-') {
        at = past_blanks(at.skip(32, |byte| byte.is_ascii_graphic()), 8);
    }
    let at = Quote::open(at).map_or(at, |(_, value)| value);
    let whole = at.skip(200, is_in);
    // `ada/"x"@//host`
    let user = at.skip(64, |byte| byte.is_ascii_alphanumeric() || b"_-.$#".contains(&byte));
    let quoted = user.past(b"/").filter(|_| user.place() > at.place()).and_then(Quote::open);
    if let Some((quote, value)) = quoted {
        return password(value, quote.close(value)?);
    }
    let text = whole.since(at.place());
    // `logon host/ada,x`
    if start.rest().starts_with(b"TERADATA") || start.rest().starts_with(b".logon") {
        let comma = memchr::memchr(b',', text)?;
        return password(at.forward(comma).forward(1), whole);
    }
    let may_end = start.forward(1).rest().starts_with(b"pdp")
        || start.next() == Some(b'S')
        || start.rest().starts_with(b"sqlplus")
            && user.past(b"/").is_some_and(|value| is_coined(whole.since(value.place())));
    let host = memchr::memrchr(b'@', text).or(may_end.then_some(text.len()))?;
    let is_oracle = !start.rest().starts_with(b"mysqlsh");
    after_user(at, at.forward(host), if is_oracle { b'/' } else { b':' })
}

fn after_user(start: Cursor<'_>, end: Cursor<'_>, joint: u8) -> Option<Range<usize>> {
    let user_end = start.skip(64, |byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    let value = user_end.past(&[joint]).filter(|_| user_end.place() > start.place())?;
    password(value, end).filter(|found| found.end <= end.place())
}

/// Finds the last word of a command that makes a hash of it: `htpasswd -nb ada x`, `openssl passwd -6 x`.
pub(crate) fn last_word(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let is_file = start.rest().starts_with(b"htpasswd");
    let (mut at, mut last, mut n_words) = (end, None, 0_usize);
    for n in 0..8 {
        let word = past_blanks(at, 8);
        if n > 0 && word.place() == at.place() {
            break;
        }
        at = word;
        let (value, value_end, after) = match Quote::open(at) {
            Some((quote, value)) => {
                // A search before decoding sees the quote of JSON.
                let Some(value_end) = quote.close(value) else { break };
                (value, value_end, value_end.skip(63, |byte| byte == b'\\').forward(1))
            }
            None => {
                let value_end = bare_end(at, |byte| byte == b'|');
                (at, value_end, value_end)
            }
        };
        if value_end.place() == value.place() {
            break;
        }
        if value.next() != Some(b'-') {
            last = Some((value, value_end));
            n_words = n_words.saturating_add(1);
        }
        at = after;
    }
    // The only word of `htpasswd` is a user or a file.
    let (value, value_end) = last.filter(|_| !is_file || n_words > 1)?;
    // Two of the prefixes start within a word.
    let is_edge = is_edge(start.before()) || matches!(start.next(), Some(b'd' | b'-'));
    password(value, value_end).filter(|_| is_edge)
}

/// Finds the line that a command prints: `wg genkey`, and the key in the next line.
pub(crate) fn printed(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    /// Limit in bytes for the rest of the command.
    const MAX_REST: usize = 120;
    let is_in = |byte: u8| byte != b'\\' && !byte.is_ascii_control();
    let rest = past_line(end).map_or_else(|| end.skip(MAX_REST, is_in), |_| end);
    // A result in another file or variable is not printed.
    let is_printed = !rest.since(end.place()).contains(&b'>') || end.previous() == Some(b'y');
    let line = past_line(rest).filter(|_| is_printed)?;
    let prefixed = line.skip(1, |byte| byte == b'b');
    let value = Quote::open(prefixed).map_or(line, |(_, value)| value);
    let value_end = bare_end(value, |_| false);
    let text = value_end.since(value.place());
    let is_key = ends_line(value_end)
        && text.len() >= 16
        && is_strong(text)
        && password(value, value_end).is_some();
    is_key.then(|| value.place()..value_end.place())
}

/// Finds the key that a client has as its argument: `cohere.Client("x")`, `CosmosClient(url, "x")`.
pub(crate) fn client(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    /// Minimum length of a key. Shorter strings name a service or an application.
    const MIN_KEY: usize = 28;
    let found = strings(end);
    let (value, value_end) = found.last()?;
    let text = value_end.since(value.place());
    let is_key =
        text.len() >= MIN_KEY && !is_uuid(text) && !text.contains(&b'.') && is_strong(text);
    let is_key = is_key && Kind::Secret.secret_in(text, Form::Quoted).is_some();
    is_key.then(|| value.place()..value_end.place())
}

/// Finds the value after the short name `pw`.
pub(crate) fn short_name(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let is_whole = is_edge(start.before()) && start.previous() != Some(b'-');
    let at = past_blanks(end, 4);
    let (value, value_end) = match Quote::open(at).filter(|_| is_whole) {
        Some((quote, value)) => (value, quote.close(value)?),
        None => (at, bare_end(at, |_| false)),
    };
    let text = value_end.since(value.place());
    let n_letters = text.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    // `pw` may also be the width in pixels.
    let is_clear = || is_strong(text) || is_invented(text);
    if end.previous() == Some(b' ') && end.since(start.place()).len() == 3 {
        // `root pw on db1 is x`
        return match is_whole {
            true if is_clear() => password(at, value_end),
            true => foreign::after_words(start, end.back(1)),
            false => None,
        };
    }
    let is_word = n_letters > 3 && text.len() > n_letters.saturating_add(2);
    let kind = if is_word { Kind::Password } else { Kind::Pass };
    let is_secret = is_whole && kind.secret_in(text, Form::Loose).is_some();
    let is_cut = memmem::find(value_end.window(10), PLACEHOLDER).is_some();
    (is_secret && !is_cut).then(|| value.place()..value_end.place())
}

/// Finds the second string after an id in a call: `Api('rzp_live_..', 'x')`.
pub(crate) fn after_id(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let id = end.skip(32, |byte| byte.is_ascii_alphanumeric());
    let joint = past_closers(id).0.skip(16, |byte| is_blank(byte) || b",:/|".contains(&byte));
    let joint = past_line(joint).map_or(joint, |line| past_blanks(line, 16));
    if joint.place() == id.place() {
        return None;
    }
    let (value, value_end) = string_or_word(joint)?;
    let text = value_end.since(value.place());
    let is_key = text.len() >= 20 && (is_strong(text) || is_scrambled(text));
    password(value, value_end).filter(|_| is_key)
}
