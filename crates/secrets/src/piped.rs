//! Finds passwords that a command reads from another command, or has as a bare word.
//!
//! In: `echo x | docker login --password-stdin`, `gh secret set NAME <<< x`, `net use Z:
//! \\host\share x`, `poetry config pypi-token.shop x`. Out: the range of `x`.

use std::ops::Range;

use memchr::memmem;

use crate::{
    around::{context, past_closers, until_placeholder, without_placeholders},
    command_line::password,
    cursor::Cursor,
    edge::is_edge,
    margin::past_line,
    span::{Quote, bare_end, is_blank, is_quote, past_blanks, past_break},
    value::is_uuid,
};

/// Bytes before a command that are searched for the command that writes to it.
const MAX_WRITER: usize = 400;

/// Bytes after a word that are searched for the rest of its command.
const MAX_COMMAND: usize = 200;

/// Finds the passwords that a command reads. `start..end` is the option that makes it read them.
pub(crate) fn read(start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    // A variable may have any value, unless its name says otherwise.
    let is_variable = start.rest().starts_with(b"nv ");
    if is_variable && !is_named(line(end)) {
        return Vec::new();
    }
    // All of them are returned, so that a second run finds no other one.
    let found = [written(start, end), handed(end), second_word(end), data(end)];
    found.into_iter().flatten().collect()
}

/// Returns whether a name is that of a password or a token. A key may be one of a cache.
pub(crate) fn is_password(name: &[u8]) -> bool {
    has_any(name, &["PASS", "PWD", "SECRET", "TOKEN", "CREDENTIAL"])
}

/// Returns whether a command has the name of a secret.
pub(crate) fn is_named(command: &[u8]) -> bool {
    is_password(command) || has_any(command, &["KEY"])
}

/// Returns whether a text contains one of the words, in any case.
fn has_any(text: &[u8], words: &[&str]) -> bool {
    let upper = text.to_ascii_uppercase();
    words.iter().any(|word| memmem::find(&upper, word.as_bytes()).is_some())
}

/// Finds what `echo`, `printf` or `cat` before the last `|` writes.
fn written(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let before = writer(start);
    let line = start.back(before.len());
    let pipe = memchr::memrchr(b'|', before)?;
    if memmem::find(before.get(..pipe)?, b"cat <<").is_some() {
        return here(end);
    }
    let (value, value_end) = echoed(line, line.forward(pipe))?;
    secret(value, value_end)
}

/// Returns the command before a position in its line. The format of `printf` may end in a line break.
fn writer(start: Cursor<'_>) -> &[u8] {
    let before = context(start, MAX_WRITER);
    let line = start.back(before.len());
    let letter = line.window_before(64);
    let n_slashes = letter.strip_suffix(b"n").unwrap_or_default();
    let n_slashes = n_slashes.iter().rev().take_while(|byte| **byte == b'\\').count();
    let has_writer =
        [&b"echo "[..], b"printf "].iter().any(|word| memmem::find(before, word).is_some());
    if n_slashes == 0 || has_writer || !before.iter().any(|byte| is_quote(*byte)) {
        return before;
    }
    let format = line.back(n_slashes.saturating_add(1));
    start.since(format.place().saturating_sub(context(format, MAX_WRITER).len()))
}

/// Finds the user and the password that a command encodes: `echo -n 'ada:x' | base64`. The prefix
/// starts with the `|`, or follows it.
pub(crate) fn encoded(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let before = context(end, MAX_WRITER);
    let line = end.back(before.len());
    let pipe = line.forward(memchr::memrchr(b'|', before).filter(|_| end.place() > start.place())?);
    let (value, value_end) = echoed(line, pipe)?;
    secret(value, value_end).filter(|found| found.start > value.place())
}

/// Returns the last word that `echo` or `printf` writes between the start of a line and a `|` or `>`.
pub(crate) fn echoed<'b>(line: Cursor<'b>, pipe: Cursor<'b>) -> Option<(Cursor<'b>, Cursor<'b>)> {
    const WRITERS: &[&[u8]] = &[b"echo ", b"printf ", b"Write-Output ", b"yes "];
    let writer = pipe.since(line.place());
    let place = WRITERS.iter().filter_map(|word| memmem::rfind(writer, word)).max()?;
    let mut at = line.forward(place).skip(16, |byte| !is_blank(byte));
    let mut last = None;
    // Skips an option and a format before the written text.
    for _ in 0..6 {
        at = past_blanks(at, 8);
        if at.place() >= pipe.place() {
            break;
        }
        let (value, value_end, after) = word(at)?;
        last = Some((value, value_end));
        at = after;
    }
    last.filter(|(_, end)| end.place() <= pipe.place())
}

/// Finds the passwords in the list of users of cloud-init: `list: |`, and `    root:x` in each line after it.
pub(crate) fn users(_: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    /// Limit for the users.
    const MAX_USERS: usize = 16;
    let Some(n) = memmem::find(until_placeholder(end.window(60)), b"list:") else {
        return Vec::new();
    };
    let (mut at, mut found) = (end.forward(n).forward(b"list:".len()), Vec::new());
    for _ in 0..MAX_USERS {
        let blank = at.skip(8, |byte| is_blank(byte) || b"|-[".contains(&byte));
        let line = past_line(blank).map_or(blank, |line| past_blanks(line, 40));
        let item = past_blanks(line.past(b"- ").unwrap_or(line), 8);
        let user = Quote::open(item).map_or(item, |(_, user)| user);
        let user_end = user.skip(32, |byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
        let Some(value) = user_end.past(b":").filter(|_| user_end.place() > user.place()) else {
            break;
        };
        let value_end = bare_end(value, |_| false);
        found.extend(password(value, value_end));
        at = past_closers(value_end).0;
    }
    found
}

/// Finds the input that a shell passes to a command: `<<< x`, or the lines after `<<EOF`.
fn handed(end: Cursor<'_>) -> Option<Range<usize>> {
    let line = line(end);
    let at = end.forward(memmem::find(line, b"<<")?);
    match at.past(b"<<<") {
        Some(at) => {
            let (value, value_end, _) = word(past_blanks(at, 8))?;
            secret(value, value_end)
        }
        None => here(at),
    }
}

/// Finds the first line of a document in a script.
fn here(end: Cursor<'_>) -> Option<Range<usize>> {
    let value = past_line(end.forward(line(end).len()))?;
    secret(value, bare_end(value, |_| false))
}

/// Finds the value of an option after the name of a secret: `drone secret add --name ssh_pw --data x`.
fn data(end: Cursor<'_>) -> Option<Range<usize>> {
    const OPTIONS: &[&[u8]] = &[
        b" --data ",
        b" --data=",
        b" --value ",
        b" --value=",
        b" --body ",
        b" --body=",
        b" --secret-string ",
        b" --secret-string=",
        b" --data-value ",
    ];
    let line = line(end);
    let found = OPTIONS.iter().find_map(|text| Some((memmem::find(line, text)?, text.len())))?;
    let (value, value_end, _) = word(end.forward(found.0).forward(found.1))?;
    let is_file = value.next() == Some(b'@');
    password(value, value_end).filter(|_| !is_file)
}

/// Finds the second word after `secret set`, `secrets add`.
fn second_word(end: Cursor<'_>) -> Option<Range<usize>> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
    const ACTIONS: &[&[u8]] = &[b" put", b" set", b" add", b" create"];
    let is_action = ACTIONS.iter().any(|action| end.window_before(8).ends_with(action));
    let name = past_blanks(end, 8);
    let name_end = name.skip(64, is_name);
    const OPTIONS: &[&[u8]] = &[b"--body ", b"--body=", b"-b ", b"--value ", b"--value="];
    let blank = past_blanks(name_end, 8);
    let value = OPTIONS.iter().find_map(|option| blank.past(option)).unwrap_or(blank);
    let is_apart = name_end.place() > name.place() && value.place() > name_end.place();
    if !is_action || !is_apart || value.next() == Some(b'-') {
        return None;
    }
    let (value, value_end, _) = word(value)?;
    secret(value, value_end)
}

/// Finds the password of `net use` and `net user`.
pub(crate) fn net(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let is_user = end.previous() == Some(b'r');
    // A secret directly before it is redacted, and ends in a bracket then.
    let is_edge = is_edge(start.before()) && start.previous() != Some(b']');
    let last = end.place().saturating_add(until_placeholder(end.window(MAX_COMMAND)).len());
    let mut at = end;
    for n in 0..6 {
        let next = past_blanks(at, 8);
        if !is_edge || next.place() == at.place() || next.place() >= last {
            return None;
        }
        let (value, value_end, after) = match next.next()? {
            b'/' | b'*' | b'\\' if Quote::open(next).is_none() => {
                let after = next.skip(128, |byte| byte.is_ascii_graphic());
                (next, after, after)
            }
            _ => word(next)?,
        };
        let is_drive = value_end.next() == Some(b':');
        let after = match is_drive {
            true => value_end.forward(1),
            false => after,
        };
        let is_other =
            matches!(value.next()?, b'/' | b'*' | b'\\') || is_drive || is_user && n == 0;
        if !is_other {
            return secret(value, value_end);
        }
        at = after;
    }
    None
}

/// Finds the answer of a program to a password prompt: `child.expect('password:')`, `child.sendline('x')`.
pub(crate) fn sent_line(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    const PROMPTS: &[&[u8]] =
        &[b"assword:", b"assword?", b"assword.*", b"assphrase", b"assword for"];
    // `n.write(` may also be a call of something else.
    let is_write = start.rest().starts_with(b"n.write(");
    let is_input = !is_write || start.window_before(4) == b"stdi";
    let before = without_placeholders(start.window_before(if is_input { 160 } else { 0 }));
    let is_asked = PROMPTS.iter().any(|prompt| memmem::find(before, prompt).is_some());
    let at = end.skip(1, |byte| byte == b'b');
    let (quote, value) = Quote::open(at).filter(|_| is_asked)?;
    let value_end = quote.close(value)?;
    let text = value_end.since(value.place());
    let n = memchr::memchr(b'\\', text).unwrap_or(text.len());
    password(value, value.forward(n))
}

/// Finds the answer of a script to a password prompt: `expect "assword:"`, `send "x\r"`.
pub(crate) fn sent(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let is_asked =
        memmem::find(without_placeholders(start.window_before(120)), b"assword").is_some();
    let end = end.past(b"-- ").unwrap_or(end);
    let (quote, value) = Quote::open(past_blanks(end, 8)).filter(|_| is_asked)?;
    let value_end = quote.close(value)?;
    let text = value_end.since(value.place());
    let n = memchr::memchr(b'\\', text).unwrap_or(text.len());
    password(value, value.forward(n))
}

/// Finds the password after `/p:` and `/pass:` in commands of Windows.
pub(crate) fn slash(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    const OTHERS: &[&[u8]] = &[b"/u:", b"/user:", b"/v:", b"/u ", b"/user ", b"/ru ", b"signtool"];
    let command = context(start, MAX_COMMAND);
    let is_login = OTHERS.iter().any(|word| memmem::find(command, word).is_some());
    let (value, value_end, _) = word(past_blanks(end, 4)).filter(|_| is_login)?;
    password(value, value_end)
}

/// Finds the key of a wireless network: `psk="x"`.
pub(crate) fn wireless(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let is_whole = is_edge(start.before()) || start.rest().starts_with(b"c.psk");
    let (value, value_end, _) = word(past_blanks(end, 4)).filter(|_| is_whole)?;
    password(value, value_end)
}

/// Finds the word after `AUTH` of Redis.
pub(crate) fn redis(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let command = context(start, MAX_COMMAND);
    let is_redis =
        [&b"redis"[..], b"valkey"].iter().any(|name| memmem::find(command, name).is_some());
    let (value, value_end, _) = word(past_blanks(end, 8)).filter(|_| is_redis)?;
    secret(value, value_end)
}

/// Finds the words after `config` of a package tool that are secrets. All of them are returned, so that a
/// second run finds no other one.
pub(crate) fn config(start: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    const TOOLS: &[&[u8]] =
        &[b"poetry", b"bundle", b"composer", b"gem", b"npm", b"yarn", b"pip", b"mc"];
    const NAMES: &[&[u8]] = &[b"token", b"auth", b"basic", b"pass", b"secret", b"key"];
    let before = start.window_before(10);
    let is_tool = TOOLS.iter().any(|tool| before.ends_with(tool));
    // These tools need no name.
    let is_bundle = before.ends_with(b"bundle") || before.ends_with(b"mc");
    let words = line(end);
    let is_named = is_bundle || NAMES.iter().any(|name| memmem::find(words, name).is_some());
    if !is_tool || !is_named {
        return Vec::new();
    }
    let (mut at, mut found) = (end, Vec::new());
    for n in 0..8 {
        let next = past_blanks(at, 8);
        let is_over = next.place() >= end.place().saturating_add(words.len());
        if is_over || n > 0 && next.place() == at.place() {
            break;
        }
        at = next;
        let Some((value, value_end, after)) = word(at) else { break };
        if value_end.place() == value.place() {
            break;
        }
        if n > 0 {
            found.extend(secret(value, value_end));
        }
        at = after;
    }
    found
}

/// Finds the password in `user:password` after a name or a host without a word such as `password`.
pub(crate) fn user_and_password(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let name = end.skip(64, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let sign = past_blanks(name, 8);
    let at = past_blanks(sign.skip(1, |byte| byte == b':' || byte == b'='), 8);
    let (value, value_end, _) = word(at)?;
    secret(value, value_end).filter(|found| found.start > value.place())
}

/// Finds the password in a call with a user: `auth=("ada", "x")`, `basic_auth("ada", "x")`.
pub(crate) fn call(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let mut at = end;
    let mut last = None;
    for n in 0..6 {
        at = past_blanks(at, 16);
        at = past_line(at).map_or(at, |at| past_blanks(at, 64));
        at = at.past(b"Some(").unwrap_or(at);
        at = match Quote::open(at) {
            Some((quote, value)) => {
                let value_end = quote.close(value)?;
                // A host may follow the password.
                let found = (n > 0).then_some((value, value_end));
                last = found
                    .filter(|_| last.is_none() || password(value, value_end).is_some())
                    .or(last);
                value_end.skip(63, |byte| byte == b'\\').forward(1)
            }
            None => {
                last = None;
                at.skip(64, |byte| byte.is_ascii_alphanumeric() || b"_.:$&".contains(&byte))
            }
        };
        at = at.skip(1, |byte| byte == b')');
        let Some(after) = past_blanks(at, 8).past(b",") else { break };
        at = after;
    }
    // The ids of a tenant and of a client are not secret.
    let is_id = |value: Cursor<'_>, end: Cursor<'_>| {
        start.rest().starts_with(b"redential(") && is_uuid(end.since(value.place()))
    };
    let (value, value_end) = last.filter(|(value, end)| !is_id(*value, *end))?;
    password(value, value_end)
}

/// Finds the password before the host of a data source: `user:x@tcp(host)`, `thin:user/x@//host`.
pub(crate) fn source(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let before = without_placeholders(start.window_before(160));
    let is_in = |byte: &u8| byte.is_ascii_graphic() && !b"\"'`<>\\,;".contains(byte);
    let n = before.iter().rev().take_while(|byte| is_in(byte)).count();
    let text = before.get(before.len().saturating_sub(n)..).unwrap_or_default();
    let is_oracle = end.previous() == Some(b'/');
    let joint = match is_oracle {
        true => memmem::rfind(text, b"thin:").and_then(|at| {
            let user = text.get(at..)?;
            Some(at.saturating_add(memchr::memchr(b'/', user)?))
        }),
        false => memchr::memrchr(b':', text),
    }?;
    let value = start.back(n).forward(joint).forward(1);
    password(value, start)
}

/// Returns the rest of a line.
fn line(at: Cursor<'_>) -> &[u8] {
    let line = until_placeholder(at.window(MAX_COMMAND))
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    let end = memmem::find(line, b"\\n").map(|end| {
        let before = line.get(..end).unwrap_or_default();
        end.saturating_sub(before.iter().rev().take_while(|byte| **byte == b'\\').count())
    });
    line.get(..end.unwrap_or(line.len())).unwrap_or_default()
}

/// Returns the start and the end of a word of a command, and the position after it.
fn word(at: Cursor<'_>) -> Option<(Cursor<'_>, Cursor<'_>, Cursor<'_>)> {
    match Quote::open(at) {
        Some((quote, value)) => {
            let end = quote.close(value)?;
            // The format of `printf` may end in a line break.
            let mut escapes = memchr::memchr_iter(b'\\', end.since(value.place()));
            let line_end = escapes.find(|n| past_break(value.forward(*n)).is_some());
            let value_end = line_end.map_or(end, |n| value.forward(n));
            Some((value, value_end, past_closers(end).0))
        }
        // `$'x\n'`
        None if at.past(b"$").and_then(Quote::open).is_some() => word(at.forward(1)),
        None => {
            let end = bare_end(at, |byte| byte == b'|');
            Some((at, end, end))
        }
    }
}

/// Returns the range of the secret in a word: in `user:password`, of the password.
fn secret(start: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    let value = end.since(start.place());
    let joint = memchr::memchr(b':', value).filter(|at| {
        let user = value.get(..*at).unwrap_or_default();
        let is_path = value.get(at.saturating_add(1)) == Some(&b'/');
        !is_path
            && !user.is_empty()
            && user.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-.@".contains(byte))
    });
    password(joint.map_or(start, |at| start.forward(at).forward(1)), end)
}
