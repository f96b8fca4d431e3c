//! Finds passwords in short options of commands, and in the lines of a `.pgpass`.
//!
//! In: `curl -u ada:x`, `mysql -u root -px`, `sshpass -p x`, `redis-cli -a x`. Out: the range of
//! `x`. `-p` may also be a port or a folder, so the command must contain a word that shows that it
//! is a password.

use std::ops::Range;

use jsonl::decode_base64;
use memchr::memmem;

use crate::{
    around::{command, context, past_closers, until_placeholder},
    class::BASE64,
    cursor::Cursor,
    link::past_continuation,
    margin::past_line,
    nearby::is_plain,
    placeholder::PLACEHOLDER,
    span::{Quote, bare_end, ends_line, is_blank, is_quote, string_or_word},
    value::{Form, Kind, is_scrambled, is_strong},
    worded::{is_coined, is_invented, is_word_list},
};

/// Bytes before an option that are searched for its command.
const MAX_COMMAND: usize = 160;

/// Bytes after `curl` that are searched for an option.
const MAX_LINE: usize = 1024;

/// Finds the password of `-u user:password` and `--user user:password`.
pub(crate) fn user_option(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let (value, value_end) = argument(start, end, true)?;
    let user = value.skip(128, |byte| {
        !matches!(byte, b':' | b'%' | b'/' | b',' | b'[') && !byte.is_ascii_whitespace()
    });
    // `"user":"password"` is one word of a shell.
    let is_word = !value.since(end.place()).contains(&b',') && user.place() >= value_end.place();
    let joined = past_closers(value_end).0.past(b":").filter(|_| is_word);
    if let Some((quote, value)) = joined.and_then(Quote::open) {
        return password(value, quote.close(value)?);
    }
    let text = value_end.since(value.place());
    if start.rest().starts_with(b"--auth") && text.len() >= 30 && !text.contains(&b':') {
        // `netlify deploy --auth x`
        let is_token = Kind::Secret.secret_in(text, Form::Tight).is_some() && is_strong(text);
        return if is_token { password(value, value_end) } else { None };
    }
    // The name of the command is only required if it decides: in a second run it may be redacted.
    let is_joint = match (end.previous()?, user.next()?) {
        (b'a' | b'A', b':') => has_command(start, USER_AND_PASSWORD),
        (_, b':') | (b'U', b'%') => true,
        (b'u', b',') => has_command(start, &[b"lftp"]),
        _ => false,
    };
    let after = user.forward(1);
    // `ada:'x'` is one word of a shell.
    let is_before = matches!(value_end.place().checked_sub(user.place()), Some(0 | 1));
    let quoted = Quote::open(after).filter(|_| is_joint && is_before);
    if let Some((quote, value)) = quoted {
        return password(value, quote.close(value)?);
    }
    // A key may be a user without a password: `-a live_x: host`.
    let is_key = || {
        let user_text = user.since(value.place());
        user_text.len() >= 20 && is_strong(user_text)
    };
    let is_over = after.next().is_none_or(|byte| is_blank(byte) || is_quote(byte) || byte == b'\\');
    if is_joint && after.place() >= value_end.place() && is_over && is_key() {
        return password(value, user);
    }
    // `perldoc -u Some::Module`
    let is_path = matches!(after.next(), Some(b'/' | b'\\' | b':'));
    if !is_joint || is_path || user.place() >= value_end.place() {
        return None;
    }
    password(after, value_end)
}

/// Commands whose `-a` or `-A` has a user and a password.
const USER_AND_PASSWORD: &[&[u8]] = &[b"http", b"https", b"xh", b"xhs", b"ab", b"hey"];

/// Returns whether a command has one of some words before an option.
fn has_command(start: Cursor<'_>, words: &[&[u8]]) -> bool {
    let command = command(start, MAX_COMMAND);
    let command = command.rsplit(|byte| b";|&".contains(byte)).next().unwrap_or_default();
    let mut found = command.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-');
    found.any(|word| words.contains(&word))
}

/// Finds the password of `-u` among other letters: `curl -sSfu ada:x`.
pub(crate) fn curl(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let mut at = end.back(1);
    let last = end.place().saturating_add(until_placeholder(end.window(MAX_LINE)).len());
    for _ in 0..24 {
        let option = at.skip(MAX_COMMAND, |byte| !is_blank(byte) && byte != b'\n');
        let option = option.skip(8, is_blank);
        if option.place() >= last
            || option.place() == at.place()
            || option.next().is_none_or(|byte| byte == b'\n')
        {
            return None;
        }
        let Some(letters) = option.past(b"-") else {
            at = option;
            continue;
        };
        let letters = letters.skip(8, |byte| byte.is_ascii_alphabetic());
        let n_letters = letters.place().saturating_sub(option.place());
        if n_letters > 2 && letters.previous() == Some(b'u') {
            return user_option(letters.back(2), letters);
        }
        at = letters;
    }
    None
}

/// Finds the password after the file of a certificate: `curl -E client.pem:x`.
pub(crate) fn certificate(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    const ENDINGS: &[&[u8]] = &[b".pem", b".crt", b".cer", b".p12", b".pfx", b".key"];
    let (value, value_end) = string_or_word(end)?;
    let text = value_end.since(value.place());
    let sign = memchr::memchr(b':', text)?;
    let is_file =
        ENDINGS.iter().any(|ending| text.get(..sign).unwrap_or_default().ends_with(ending));
    password(value.forward(sign).forward(1), value_end).filter(|_| is_file)
}

/// Finds the password of `-p`, `-P`, `-a`, `-w` in commands that have such an option.
pub(crate) fn password_option(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    const WORDS: &[(u8, &[&[u8]])] = &[
        (
            b'p',
            &[
                b"mysql",
                b"mariadb",
                b"sshpass",
                b"mongo",
                b"login",
                b" -u ",
                b" -u",
                b"--user",
                b"7z",
                b"smb",
                b"winrm",
                b"crackmapexec",
                b"xfreerdp",
                b"rdesktop",
                b"useradd",
                b"usermod",
                b"kinit",
                b"mongosh",
                b"hydra",
                b"security ",
                b"keychain",
                b"cypher-shell",
                b"cqlsh",
                b"psexec",
                b"nxc",
                b"netexec",
                b"pkcs12",
                b"osslsigncode",
                b"signtool",
                b"vncdo",
                b"arangosh",
                b"supabase",
                b"influx",
                b"net ads",
                b"rar ",
                b"beeline",
                b"veracrypt",
            ],
        ),
        (
            b'P',
            &[
                b"sqlcmd",
                b"bcp",
                b"zip",
                b"tsql",
                b"isql",
                b"ldap",
                b"ipmitool",
                b"mosquitto",
                b"rar",
                b"ssh-keygen",
                b"osql",
                b"freebcp",
                b"unzip",
                b"security import",
                b"openconnect",
                b"knife",
                b" -U ",
                b" -u ",
            ],
        ),
        (
            b't',
            &[
                b"vercel",
                b"vc ",
                b"netlify",
                b"railway",
                b"surge",
                b"expo",
                b"snyk",
                b"codecov",
                b"ngrok",
                b"render",
                b"now ",
                b"datadog-ci",
                b"sentry-cli",
            ],
        ),
        (b'N', &[b"ssh-keygen"]),
        (b'a', &[b"redis-cli", b"valkey-cli", b"keydb-cli"]),
        (b'A', &[b"snmp"]),
        (b'X', &[b"snmp"]),
        (b'w', &[b"ldap", b"vsql", b"generic-password", b"internet-password"]),
        (b'k', &[b"openssl enc", b"openssl aes", b"newrelic", b"api-cli"]),
    ];
    let option = end.previous()?;
    // Few positions have a value, so the command is searched last.
    let (value, value_end) = argument(start, end, matches!(option, b'p' | b'P'))?;
    let found = password(value, value_end)?;
    let command = command(start, MAX_COMMAND);
    let command = command.rsplit(|byte| b";|".contains(byte)).next().unwrap_or_default();
    let (_, words) = WORDS.iter().find(|(letter, _)| *letter == option)?;
    words.iter().any(|word| memmem::find(command, word).is_some()).then_some(found)
}

/// Finds the quoted string after `IDENTIFIED BY` and `ConvertTo-SecureString`.
pub(crate) fn quoted(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let at = end.skip(8, is_blank);
    let at = at.past(b"-String ").unwrap_or(at);
    let Some((quote, value)) = Quote::open(at) else {
        let value_end = bare_end(at, |_| false);
        let is_plain = value_end.rest().starts_with(b" -AsPlainText");
        let text = value_end.since(at.place());
        let is_strong = is_strong(text) || is_word_list(text, 0);
        // `IDENTIFIED BY x;`
        let is_last = value_end.next() == Some(b';') || ends_line(value_end);
        let is_fit = || is_scrambled(text) || is_invented(text) || is_coined(text);
        let is_strong = is_strong || is_last && is_fit();
        return if is_plain || is_strong { password(at, value_end) } else { None };
    };
    password(value, quote.close(value)?)
}

/// Finds the last word of a command that logs in, at the start of a line or after a prompt: `AUTH x`, `AUTH default x`,
/// `AUTH PLAIN ada x`, `A01 LOGIN ada "x"`, `NickServ IDENTIFY x`, and the base64 after `AUTH PLAIN`.
pub(crate) fn auth(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    /// Bytes before the command that are searched for its prompt.
    const MAX_PROMPT: usize = 64;
    /// Limit for the words of a command.
    const MAX_WORDS: usize = 3;
    let (mut value, mut value_end) = string_or_word(end)?;
    let (first, mut n_words) = (value_end.since(value.place()), 1_usize);
    while let Some(next) = past_closers(value_end).0.past(b" ").filter(|_| n_words < MAX_WORDS) {
        (value, value_end) = string_or_word(next)?;
        n_words = n_words.saturating_add(1);
    }
    let text = value_end.since(value.place());
    let is_login = start.rest().starts_with(b"LOGIN");
    let is_plain = first == b"PLAIN" && n_words == 2 && has_user(text);
    let is_clear =
        is_strong(text) || is_invented(text) || is_scrambled(text) || is_word_list(text, 0);
    let is_coined = (n_words > 1 || start.rest().starts_with(b"IDENTIFY")) && is_coined(text);
    let is_last = ends_line(value_end) || ends_line(past_closers(value_end).0);
    if !is_last || !is_plain && !is_coined && (!is_clear || is_login && n_words < 2) {
        return None;
    }
    let before = context(start, MAX_PROMPT).trim_ascii_end();
    let before = before.strip_suffix("→".as_bytes()).or_else(|| before.strip_suffix(b"u2192"));
    let before = before.unwrap_or_else(|| context(start, MAX_PROMPT).trim_ascii_end());
    // `A01 LOGIN`
    let tag = before.rsplit(|byte| !byte.is_ascii_alphanumeric()).next().unwrap_or_default();
    let is_tag = tag.len() <= 8 && (tag.len() == 1 || tag.iter().any(u8::is_ascii_digit));
    let n_before = before.len().saturating_sub(if is_tag { tag.len() } else { 0 });
    let before = before.get(..n_before).unwrap_or_default().trim_ascii_end();
    // A search before decoding sees the quote of JSON.
    let is_first = before.last().is_none_or(|byte| is_quote(*byte) || b">:|.".contains(byte));
    let is_first = is_first || before.ends_with(b"Serv");
    // `LOGIN page section12` is a sentence.
    let is_quoted = value.previous().is_some_and(is_quote);
    let is_named = is_tag && tag.iter().any(u8::is_ascii_alphabetic);
    let is_sure = !is_login || is_strong(text) || is_quoted || is_named || before.ends_with(b":");
    match is_plain {
        true => is_first.then(|| value.place()..value_end.place()),
        false => password(value, value_end).filter(|_| is_first && is_sure),
    }
}

/// Returns whether a text is base64 of a user and a password with a zero byte before both, as SMTP and IMAP send them.
fn has_user(text: &[u8]) -> bool {
    let mut decoded = Vec::new();
    decode_base64(text, &mut decoded);
    let mut parts = decoded.split(|byte| *byte == 0).skip(1);
    let parts = [parts.next(), parts.next(), parts.next()].map(Option::unwrap_or_default);
    let [user, password, []] = parts else { return false };
    text.iter().all(|byte| BASE64.has(*byte))
        && user.len() > 1
        && Kind::Password.secret_in(password, Form::Quoted).is_some()
}

/// Finds the answer to the prompt of a server for a password, in base64: `334 UGFzc3dvcmQ6`, and `x` in the next line.
pub(crate) fn answered(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let line = past_line(end)?;
    let line = line.past(b"C: ").or_else(|| line.past(b"> ")).unwrap_or(line);
    let value_end = line.skip(200, |byte| BASE64.has(byte));
    let mut decoded = Vec::new();
    decode_base64(value_end.since(line.place()), &mut decoded);
    let is_password = Kind::Password.secret_in(&decoded, Form::Quoted).is_some();
    (is_password && ends_line(value_end)).then(|| line.place()..value_end.place())
}

/// Finds the second line of a file with a user and a password: `<auth-user-pass>`, `ada`, `x`.
pub(crate) fn second_line(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let user = past_line(end)?;
    let value = past_line(user.skip(80, |byte| byte.is_ascii_graphic() && byte != b'\\'))?;
    let value_end = bare_end(value, |byte| byte == b'<');
    password(value, value_end).filter(|_| ends_line(value_end))
}

/// Finds the key of a server that checks logins: `radius-server host 10.0.0.1 key x`.
pub(crate) fn server_key(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let (value, value_end) = word_after(end, b" key ")?;
    let (value, value_end) = match value.window(2) {
        [b'0'..=b'9', b' '] => string_or_word(value.forward(2))?,
        _ => (value, value_end),
    };
    let is_last = ends_line(value_end) || ends_line(past_closers(value_end).0);
    password(value, value_end).filter(|_| is_last)
}

/// Finds the password of a user of DB2: `connect to shop user ada using x`.
pub(crate) fn using(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let (value, value_end) = word_after(end, b" using ").or_else(|| word_after(end, b" USING "))?;
    password(value, value_end)
}

/// Returns the word after a name in the rest of a command.
fn word_after<'b>(end: Cursor<'b>, name: &[u8]) -> Option<(Cursor<'b>, Cursor<'b>)> {
    let command = until_placeholder(end.back(1).window(MAX_COMMAND));
    let line = command.split(|byte| *byte == b'\n').next()?;
    string_or_word(end.back(1).forward(memmem::find(line, name)?).forward(name.len()))
}

/// Finds the second string of a line in a file of secrets of PPP: `"ada" * "x" *`. The prefix ends in a mark of its quote.
pub(crate) fn secret_of_peer(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let (quote, value) = Quote::open(end.back(1))?;
    password(value, quote.close(value)?)
}

/// Finds the word after `password` of a command: `mysqladmin -u root password 'x'`.
pub(crate) fn new_password(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let (value, value_end) = word_after(end, b" password ")?;
    let is_plain = is_plain(value_end.since(value.place()));
    let is_plain = is_plain && !value_end.rest().starts_with(PLACEHOLDER);
    password(value, value_end).or_else(|| is_plain.then(|| value.place()..value_end.place()))
}

/// Finds the last field in a line of a `.pgpass`: `host:port:database:user:password`.
pub(crate) fn pgpass(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let is_in = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.*".contains(&byte);
    let is_host = start.previous().is_some_and(is_in);
    let user = end.skip(64, is_in).past(b":")?;
    let start = user.skip(64, is_in).past(b":").filter(|_| is_host)?;
    let value_end =
        start.skip(256, |byte| !byte.is_ascii_whitespace() && byte != b'\\' && !is_quote(byte));
    password(start, value_end)
}

/// Returns the range of the value of an option.
fn argument<'b>(
    start: Cursor<'b>,
    end: Cursor<'b>,
    may_be_attached: bool,
) -> Option<(Cursor<'b>, Cursor<'b>)> {
    let is_long = start.rest().starts_with(b"--");
    let is_first =
        start.previous().is_none_or(|byte| !byte.is_ascii_alphanumeric() && byte != b'-');
    let at = end.skip(8, |byte| is_blank(byte) || byte == b'=');
    let at = past_continuation(at).unwrap_or(at);
    let is_apart = at.place() > end.place() || is_quote(end.next()?);
    if is_long && !is_first || !(is_apart || may_be_attached && !is_long) {
        return None;
    }
    // `["-u", "user:password"]`
    // `$'user:password'` is a string of a shell too.
    let dollar = at.past(b"$").filter(|at| Quote::open(*at).is_some());
    let at = dollar.unwrap_or(at);
    let at = at.skip(24, |byte| is_quote(byte) || b",\\ ".contains(&byte));
    let quote = at.previous().filter(|byte| is_quote(*byte)).map(|_| at.back(1));
    let opening = quote.map(|quote| {
        let slashes = quote.window_before(63).iter().rev().take_while(|byte| **byte == b'\\');
        quote.back(slashes.count())
    });
    if let Some((quote, value)) = opening.and_then(Quote::open) {
        let value_end = quote.close(value);
        return value_end.map(|value_end| (value, value_end));
    }
    Some((at, bare_end(at, |byte| byte == b'|')))
}

/// Finds a strong value after the name of an option that takes a token or of a setting: `--pat x`, `-Dsonar.login=x`.
pub(crate) fn strong(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let at = end.skip(4, |byte| is_blank(byte) || byte == b'=');
    let (value, value_end) = string_or_word(at)?;
    let is_key = is_strong(value_end.since(value.place()));
    password(value, value_end).filter(|_| is_key)
}

/// Finds the answer to a prompt: `Enter a secret value: › x`.
pub(crate) fn answer(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let at = end.skip(8, |byte| is_blank(byte) || !byte.is_ascii());
    let value_end = bare_end(at, |_| false);
    let text = value_end.since(at.place());
    password(at, value_end).filter(|_| is_strong(text) || is_invented(text))
}

/// Finds the value of a pair after `--from-literal=`. The pair may have any name.
pub(crate) fn literal(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let at = end.skip(1, |byte| byte == b'=' || byte == b' ');
    let at = Quote::open(at).map_or(at, |(_, at)| at);
    let name = at.skip(64, |byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    let (value, value_end) = string_or_word(name.past(b"=")?)?;
    let is_key = is_strong(value_end.since(value.place()));
    password(value, value_end).filter(|_| is_key)
}

pub(crate) fn password(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    value_of(Kind::Password, Form::Tight, start, end)
}

/// Returns the range of the secret of a kind in a value, if the value is not cut by an earlier redaction.
pub(crate) fn value_of(
    kind: Kind,
    form: Form,
    start: Cursor<'_>,
    end: Cursor<'_>,
) -> Option<Range<usize>> {
    let value = end.since(start.place());
    let is_cut = end.rest().starts_with(PLACEHOLDER);
    let found = kind.secret_in(value, form).filter(|_| !is_cut)?;
    let place = start.place();
    Some(place.saturating_add(found.start)..place.saturating_add(found.end))
}
