//! Finds the values of names of secrets, in all forms of assignment.
//!
//! In: `PASSWORD=x`, `"password": "x"`, `password: str = 'x'`, `--password x`,
//! `<password>x</password>`, `{"name": "DB_PASSWORD", "value": "x"}`. Out: the range of `x`. An
//! assignment is a name, a link, and a value. Inside JSON, the same text has backslashes before its
//! quotes and for its line breaks; it is read the same way.

use std::{borrow::Cow, ops::Range};

use memchr::memmem;

use crate::{
    announced::{is_spoken, is_told},
    around::{context, past_closers},
    before,
    blank::{is_apart, is_argument, is_introduced, is_long, is_said_with, is_setting, past_level},
    class::USER,
    cursor::Cursor,
    inner::{default_below, fallback, inner},
    link::{Link, link},
    margin::past_line,
    name::{Name, Word},
    nearby::{is_below_user, is_in_section, is_plain},
    pieces::past_pieces,
    placeholder::{PLACEHOLDER, is_template},
    randomness::Makeup,
    span::{Quote, bare_end, ends_line, is_blank, is_quote, past_blanks, past_colors},
    tag::past_markup,
    value::{Form, Kind, is_scheme, is_strong},
    worded::{is_coined, is_invented, is_varied, is_word_list},
};

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
    let Some((link, at)) = link(&name) else {
        let (start, end) = before::find(&name)?;
        return found(name.kind(word)?, &name, &Found { start, end, form: Form::Quoted });
    };
    // `--password-file <(echo x)` has a password, not a file.
    let is_echoed = at.previous() == Some(b' ') && at.window_before(7) == b"<(echo "
        || at.rest().starts_with(b"<(echo ");
    let kind = name.kind(word).or_else(|| is_echoed.then_some(Kind::Password))?;
    // `pass x` is common prose about arguments.
    let is_said = kind == Kind::Pass && link == Link::Blank && !name.is_option();
    let is_option = kind == Kind::Pass && name.is_option();
    let kind = if is_option { Kind::Password } else { kind };
    let kind = match is_said && !is_argument(&name) {
        true if is_said_with(&name, at) || is_setting(&name, kind, at) => Kind::Password,
        true => return None,
        // `enable secret 0 x`
        false if kind == Kind::Secret && link == Link::Blank && is_setting(&name, kind, at) => {
            Kind::Password
        }
        false => kind,
    };
    let is_tight = link == Link::Sign && at.place() == name.end.forward(1).place();
    let secret = |value: Found<'_>| found(kind, &name, &value);
    let inner = || {
        let at = if link == Link::Sign { inner(at).or_else(|| fallback(at)) } else { None };
        let (quote, start) = Quote::open(at?)?;
        secret(Found { start, end: quote.close(start)?, form: Form::Quoted })
    };
    let below = || {
        let (start, end) = if link == Link::Sign { default_below(at)? } else { return None };
        let is_bare = !end.next().is_some_and(|byte| is_quote(byte) || byte == b'\\');
        secret(Found { start, end, form: if is_bare { Form::Loose } else { Form::Quoted } })
    };
    let earlier = || {
        // A second run must find no more than the first.
        let value = past_blanks(at, 8).skip(8, |byte| is_quote(byte) || byte == b'\\');
        let (start, end) =
            before::find(&name).filter(|_| !value.rest().starts_with(PLACEHOLDER))?;
        secret(Found { start, end, form: Form::Quoted })
    };
    value(&name, kind, link, at, is_tight)
        .and_then(secret)
        .or_else(inner)
        .or_else(below)
        .or_else(earlier)
}

/// Returns the range of the secret in a value.
fn found(kind: Kind, name: &Name<'_>, value: &Found<'_>) -> Option<Range<usize>> {
    // The start of a command that prints a password: `--password-command 'echo x'`.
    let start = past_printer(value.start).unwrap_or(value.start);
    let (place, text) = (start.place(), value.end.since(start.place()));
    // In prose, `token: ` may announce an id.
    const OWNERS: &[&[u8]] = &[
        b"access ",
        b"Access ",
        b"api ",
        b"API ",
        b"auth ",
        b"bearer ",
        b"refresh ",
        b"deploy ",
        b"heroku ",
        b"Heroku ",
        b"project ",
        b"railway ",
        b"Railway ",
        b"scaleway ",
        b"vault ",
    ];
    let is_owned = || OWNERS.iter().any(|word| name.start.window_before(10).ends_with(word));
    let is_said = name.is_bare() && value.form == Form::Loose && !is_owned();
    let kind = if kind == Kind::TokenOrUuid && is_said { Kind::Token } else { kind };
    // The name of a resource of Amazon, and the id of a key of GnuPG in the settings of git.
    let is_resource = name.is_bare()
        && value.form != Form::Quoted
        && memmem::find(context(name.start, 64), b"arn:aws").is_some();
    let is_id = text.len() <= 40
        && name.end.since(name.start.place()).ends_with(b"signingkey")
        && text.iter().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_lowercase());
    // Kubernetes decrypts a sealed secret only in its cluster.
    let is_sealed = || {
        let is_base64 = text.starts_with(b"Ag") && text.len() >= 40;
        is_base64 && memmem::find(name.start.window_before(4096), b"encryptedData").is_some()
    };
    if is_resource || is_id || is_sealed() {
        return None;
    }
    if is_like_name(name, value, text) {
        return None;
    }
    // `pwd` is no verb, and a folder has a slash.
    let is_short = || name.end.since(name.start.place()).eq_ignore_ascii_case(b"pwd");
    let is_mine = || {
        let before = name.start.window_before(4);
        before.ends_with(b"my ") || before.ends_with(b"the ")
    };
    let is_introduced = kind == Kind::Pass
        && value.form == Form::Loose
        && (is_introduced(name.start) || is_short() || is_mine())
        && (is_invented(text) || is_strong(text) || is_varied(text) || is_coined(text));
    let kind = if is_introduced { Kind::Password } else { kind };
    if kind == Kind::Password && value.form == Form::Loose && is_plain(text) && is_below_user(name)
    {
        return Some(place..place.saturating_add(text.len()));
    }
    if kind == Kind::Padded && name.is_bare() && is_in_section(name, text) {
        return Some(place..place.saturating_add(text.len()));
    }
    if is_number(name, value, text) {
        return Some(place..place.saturating_add(text.len()));
    }
    // `API_KEY = "marble-maple-thunder-orbit"`
    let is_list = kind == Kind::Secret
        && value.form == Form::Quoted
        && name.is_constant()
        && is_word_list(text, 0);
    // `APP_TOKEN=EmberWillow41`
    let is_varied = kind == Kind::TokenOrUuid
        && value.form != Form::Loose
        && name.is_constant()
        && is_varied(text);
    // `REDIS_AUTH=lotus186kayak`
    let is_login = kind == Kind::UserAndPassword
        && value.form == Form::Tight
        && name.is_constant()
        && is_coined(text);
    let secret = match is_list || is_varied || is_login {
        true => 0..text.len(),
        false => secret_in(kind, text, value.form)?,
    };
    let range = place.saturating_add(secret.start)..place.saturating_add(secret.end);
    // A person's password is in one piece.
    let is_token = !matches!(kind, Kind::Password | Kind::Pass | Kind::Passphrase | Kind::Id);
    Some(if is_token { past_pieces(range, value.end) } else { range })
}

/// Returns whether a value is named after its name, as constants and functions are: `getKey = xmlMngrGetKey`,
/// `"ssh2_auth_password", "ssh2_auth_pubkey_file"`.
fn is_like_name(name: &Name<'_>, value: &Found<'_>, text: &[u8]) -> bool {
    /// Length of a start that the name and the value have in common.
    const MIN_START: usize = 8;
    let name = name.end.since(name.start.place());
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let n_same = name.iter().zip(text).take_while(|(a, b)| a == b).count();
    let is_same = n_same >= MIN_START && text.get(..n_same).unwrap_or_default().contains(&b'_');
    let end = text.get(text.len().saturating_sub(name.len())..).unwrap_or_default();
    let is_end = value.form != Form::Quoted
        && name.len() > 4
        && text.len() > name.len()
        && end.eq_ignore_ascii_case(name);
    text.iter().all(is_word) && (is_same || is_end)
}

/// Returns whether a value is a number of at least six digits, in quotes or after a name in quotes that says nothing but
/// `password`.
fn is_number(name: &Name<'_>, value: &Found<'_>, text: &[u8]) -> bool {
    const NAMES: &[&[u8]] =
        &[b"password", b"passwd", b"passcode", b"pwd", b"userPassword", b"user_password"];
    let is_quoted = value.form == Form::Quoted || past_closers(name.end).1;
    is_quoted
        && (6..=24).contains(&text.len())
        && text.iter().all(u8::is_ascii_digit)
        && NAMES.iter().any(|text| name.end.since(name.start.place()).eq_ignore_ascii_case(text))
        && !is_template(text)
        && text.iter().any(|digit| text.first() != Some(digit))
        && !value.end.rest().starts_with(PLACEHOLDER)
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

/// Returns the value at a position, if there may be one.
fn value<'b>(
    name: &Name<'b>,
    kind: Kind,
    link: Link,
    at: Cursor<'b>,
    is_tight: bool,
) -> Option<Found<'b>> {
    // `**Password:** x`
    let bold = at.past(b"** ").filter(|_| name.start.window_before(64).ends_with(b"**"));
    let start = past_note(past_markup(past_blanks(bold.unwrap_or(at), 40)));
    let start = past_blanks(past_colors(start), 2);
    let start = past_echo(start).unwrap_or(start);
    if let Some((quote, first)) = open(start) {
        let (string, start) = (start, first);
        let Some(end) = quote.close(start) else { return cut(start) };
        let text = end.since(start.place());
        let is_phrase = || kind == Kind::Passphrase && kind.secret_in(text, Form::Quoted).is_some();
        let is_said = || kind == Kind::Password && is_spoken(string);
        let is_fit = link != Link::Apart || is_strong(text) || is_phrase() || is_said();
        return is_fit.then_some(Found { start, end, form: Form::Quoted });
    }
    let start = match link {
        Link::Sign if at.previous() == Some(b':') => next_line(past_block(start)),
        // An indented line continues a setting.
        Link::Sign if at.previous() == Some(b'=') && is_indented(start) => next_line(start),
        Link::Sign => past_block(start),
        Link::Tag => in_tag(start),
        Link::Apart if is_long(start) => start,
        Link::Apart
            if matches!(kind, Kind::Password | Kind::Passphrase)
                && (is_spoken(start) || is_told(name, start)) =>
        {
            start
        }
        Link::Blank if is_argument(name) || is_apart(name, kind, start) => start,
        Link::Blank if is_setting(name, kind, start) => past_level(start),
        Link::Blank | Link::Weak | Link::Apart => return None,
    };
    let ends: fn(u8) -> bool = if link == Link::Tag {
        |byte| byte == b'<'
    } else if is_in_url(name) {
        // The user of a URL may have the name of a secret: `://x-token-auth:x@host`.
        |byte| byte == b'@'
    } else {
        |_| false
    };
    // A connection string has braces around a value with marks: `PWD={x}`.
    // Logs of Spring have a list: `password=[x]`.
    for (open, close) in [(b"{", b"}"), (b"[", b"]")] {
        let inside = start.past(open).filter(|_| is_tight && start.place() == at.place());
        if let Some(found) = inside.and_then(|inside| in_braces(inside, close)) {
            return Some(found);
        }
    }
    let mut end = without_delimiter(name, start, bare_end(start, ends));
    let is_over = |end: &Cursor<'_>| !end.next().is_some_and(is_blank);
    match kind {
        Kind::Authorization if !is_over(&end) && is_scheme(end.since(start.place())) => {
            end = bare_end(end.forward(1), ends)
        }
        Kind::Passphrase => {
            let may_have_blanks = !name.is_option();
            let is_in = |byte: u8| {
                byte.is_ascii_lowercase() || byte == b'-' || byte == b' ' && may_have_blanks
            };
            let phrase = start.skip(200, is_in);
            end = if phrase.place() > end.place() { phrase } else { end };
        }
        _ => {}
    }
    // In a URL whose marks have codes, a code ends the value.
    if at.window_before(3).eq_ignore_ascii_case(b"%3d") {
        let n = memchr::memchr(b'%', end.since(start.place()));
        end = n.map_or(end, |n| start.forward(n));
    }
    // The name of a container before the line: `password: |`, and `web-1  | x` in the next line.
    let is_margin = start.previous() == Some(b'n') || start.previous() == Some(b'\n');
    if is_margin && past_blanks(end, 40).next() == Some(b'|') {
        return None;
    }
    let is_cut = end.rest().starts_with(PLACEHOLDER) || end.place() == start.place();
    let is_tight = is_tight && start.place() == at.place();
    let form =
        if is_tight || matches!(link, Link::Tag | Link::Blank) { Form::Tight } else { Form::Loose };
    (!is_cut).then_some(Found { start, end, form })
}

/// Returns a long random value whose closing quote is missing, at the end of its line.
fn cut(start: Cursor<'_>) -> Option<Found<'_>> {
    let end = bare_end(start, |_| false);
    (ends_line(end) && is_long(start)).then_some(Found { start, end, form: Form::Quoted })
}

/// Returns whether the line after a position starts with blanks.
fn is_indented(at: Cursor<'_>) -> bool {
    past_line(at).is_some_and(|line| line.next().is_some_and(is_blank))
}

/// Moves to the value that is alone in the line after its tag: `<token>`, `  x`, `</token>`.
fn in_tag(at: Cursor<'_>) -> Cursor<'_> {
    let Some(start) = past_line(at).map(|line| past_blanks(line, 60)) else { return at };
    let end = bare_end(start, |byte| byte == b'<');
    let next = past_line(past_blanks(end, 8)).map(|line| past_blanks(line, 60));
    let is_alone = next.is_some_and(|next| next.rest().starts_with(b"</"));
    if is_alone { start } else { at }
}

/// Returns whether a name is in the user part of a URL.
fn is_in_url(name: &Name<'_>) -> bool {
    let before = name.start.window_before(64);
    let user = memmem::rfind(before, b"://").and_then(|n| before.get(n.saturating_add(3)..));
    user.is_some_and(|user| user.iter().all(|byte| USER.has(*byte)))
}

/// Returns a strong or an invented value up to the mark that closes it.
fn in_braces<'b>(start: Cursor<'b>, close: &[u8; 1]) -> Option<Found<'b>> {
    let is_in = |byte: u8| byte.is_ascii_graphic() && [byte] != *close && !is_quote(byte);
    let end = start.skip(128, is_in);
    let after = end.past(close)?;
    let is_over = after.next().is_none_or(|byte| b";\\,}] ".contains(&byte) || is_quote(byte));
    let text = end.since(start.place());
    let is_fit = is_over && (is_strong(text) || close == b"]" && is_invented(text));
    is_fit.then_some(Found { start, end, form: Form::Tight })
}

/// Moves past a command that prints its argument: `echo x`.
fn past_printer(at: Cursor<'_>) -> Option<Cursor<'_>> {
    const PRINTERS: &[&[u8]] = &[b"echo -n ", b"echo ", b"printf '%s' ", b"printf %s ", b"printf "];
    PRINTERS.iter().find_map(|printer| at.past(printer))
}

/// Moves past a command whose output is the value: `TOKEN=$(echo "x")`.
fn past_echo(at: Cursor<'_>) -> Option<Cursor<'_>> {
    const OPENINGS: &[&[u8]] = &[b"$(", b"`", b"<("];
    past_printer(OPENINGS.iter().find_map(|opening| at.past(opening))?)
}

/// Returns the end of a value without the delimiter of a replacement: `s/^TOKEN=.*/TOKEN=x/`.
fn without_delimiter<'b>(name: &Name<'b>, start: Cursor<'b>, end: Cursor<'b>) -> Cursor<'b> {
    let delimiter = name.start.previous().filter(|byte| b"/|#,".contains(byte));
    match (end.since(start.place()), delimiter) {
        ([_, .., last], Some(byte)) if *last == byte => end.back(1),
        ([_, .., last, b'g' | b'i' | b'I'], Some(byte)) if *last == byte => end.back(2),
        _ => end,
    }
}

/// Returns the start of a value that is alone in the line after its name: `Password:`, `Tiger9658%`.
fn next_line(at: Cursor<'_>) -> Cursor<'_> {
    let Some(line) = past_line(at) else { return at };
    let line = past_line(line).unwrap_or(line).skip(8, is_blank);
    let line = line.past(b"- ").unwrap_or(line);
    let end = bare_end(line, |_| false);
    let value = end.since(line.place());
    let mut parts = value.split(|byte| matches!(byte, b':' | b'(' | b'='));
    // Base64 may end in `=`.
    let is_one = parts.next().is_some() && parts.all(<[u8]>::is_empty);
    let has = |is: fn(&u8) -> bool| value.iter().filter(|byte| is(byte)).count();
    let is_fit = value.len() >= 8
        && has(u8::is_ascii_digit) > 1
        && has(u8::is_ascii_uppercase) > 0
        && has(u8::is_ascii_lowercase) > 2;
    if ends_line(end) && is_one && (is_fit || is_strong(value)) { line } else { at }
}

/// Reads the start of a string, with the prefix of its quote: `r"`, `b'`, `@"`, `String::from("`.
fn open(at: Cursor<'_>) -> Option<(Quote, Cursor<'_>)> {
    /// Limit in bytes for the name of a function that is recognized.
    const MAX_CALL: usize = 48;
    let prefixed = at.skip(2, |byte| b"bBrRfFuULlN@$".contains(&byte));
    let converted = at.past(b"[]byte(");
    let quote = Quote::open(at).or_else(|| Quote::open(prefixed));
    quote.or_else(|| converted.and_then(Quote::open)).or_else(|| {
        let call =
            at.skip(MAX_CALL, |byte| byte.is_ascii_alphanumeric() || b"_:. ".contains(&byte));
        let name = call.since(at.place());
        let (quote, argument) = Quote::open(call.past(b"(")?).filter(|_| !name.is_empty())?;
        // `password.encode("latin1")` names an encoding.
        let is_codec = [&b".encode"[..], b".decode"].iter().any(|method| name.ends_with(method));
        let length = quote.close(argument).map_or(0, |end| end.since(argument.place()).len());
        (!is_codec || length > 12).then_some((quote, argument))
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
    let line = past_line(at).map(|line| past_blanks(line, 60));
    // PHP prints `string(3) "abc"`.
    let dumped =
        line.unwrap_or(at).past(b"string(").map(|at| at.skip(6, |byte| byte.is_ascii_digit()));
    if let Some(string) = dumped.and_then(|at| at.past(b") ")) {
        return string;
    }
    let is_string =
        |line: &Cursor<'_>| line.skip(63, |byte| byte == b'\\').next().is_some_and(is_quote);
    line.filter(is_string).unwrap_or(at)
}

/// Moves past the sign of a YAML block, `|` or `>-`, and the line break after it; past `<<EOT` too.
fn past_block(at: Cursor<'_>) -> Cursor<'_> {
    let here = at.past(b"<<").map(|at| {
        at.skip(1, |byte| byte == b'-' || byte == b'~').skip(24, |byte| byte.is_ascii_alphabetic())
    });
    if let Some(line) = here.and_then(past_line) {
        return past_blanks(line, 40);
    }
    let sign = at.skip(1, |byte| byte == b'|' || byte == b'>');
    let line = past_line(sign.skip(1, |byte| byte == b'-' || byte == b'+'));
    match line {
        Some(line) if sign.place() > at.place() => line.skip(40, is_blank),
        _ => at,
    }
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
        at = match past_line(found) {
            Some(after) => {
                whole.extend_from_slice(found.since(done));
                // The sign of a diff.
                let added = after.past(b"+").filter(|at| at.next().is_some_and(is_blank));
                let after = added.unwrap_or(after).skip(40, is_blank);
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
