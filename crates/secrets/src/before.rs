//! Finds the value that stands before its name.
//!
//! In: `SET value='x' WHERE name='api_key'`, `<input value="x" name="api_key">`, `echo x >
//! /etc/wireguard/private.key`. Out: the range of `x`.

use memchr::memmem;

use crate::{
    around::{context, past_closers},
    cursor::Cursor,
    name::Name,
    piped::echoed,
    span::{Quote, is_blank, is_quote, past_blanks},
};

/// Bytes before a name that are searched for its value.
const MAX_BEFORE: usize = 400;

/// Returns the start and the end of the value before a name.
pub(crate) fn find<'b>(name: &Name<'b>) -> Option<(Cursor<'b>, Cursor<'b>)> {
    // Few names have something before them that these forms have. The longer look is for these few.
    let near = name.start.window_before(20);
    match near.last()? {
        b'>' => in_file(name.start),
        b'/' => is_written(name.start.window_before(96)).then(|| in_file(name.start))?,
        byte if is_blank(*byte) => {
            is_written(name.start.window_before(6)).then(|| in_file(name.start))?
        }
        byte if is_quote(*byte) && near.iter().any(|byte| matches!(byte, b'=' | b':')) => {
            in_row(name.start).or_else(|| in_member(name.start))
        }
        byte if is_quote(*byte) => is_written(near).then(|| in_file(name.start))?,
        _ => None,
    }
}

/// Returns whether a command writes to a file in some bytes before its name.
fn is_written(before: &[u8]) -> bool {
    memchr::memchr(b'>', before).is_some() || memmem::find(before, b"tee ").is_some()
}

/// Finds what `echo` writes to a file with the name of a secret.
fn in_file(name: Cursor<'_>) -> Option<(Cursor<'_>, Cursor<'_>)> {
    let is_in_path = |byte: &u8| byte.is_ascii_graphic() && !b"<>|&;()".contains(byte);
    let before = context(name, MAX_BEFORE);
    let n_path = before.iter().rev().take_while(|byte| is_in_path(byte)).count();
    let n_blank = before.iter().rev().skip(n_path).take_while(|byte| is_blank(**byte)).count();
    let sign = name.back(n_path.saturating_add(n_blank));
    let line = name.back(before.len());
    let command = sign.since(line.place());
    if command.ends_with(b" tee") || command.ends_with(b" tee -a") {
        return echoed(line, line.forward(memchr::memrchr(b'|', command)?));
    }
    let end = sign.back(1);
    if sign.previous() != Some(b'>') {
        return None;
    }
    echoed(line, if end.previous() == Some(b'>') { end.back(1) } else { end })
}

/// Finds the column that SQL sets in the row with the name of a secret.
fn in_row(name: Cursor<'_>) -> Option<(Cursor<'_>, Cursor<'_>)> {
    /// Limit for the signs that are tried.
    const MAX_SIGNS: usize = 8;
    let before = context(name, MAX_BEFORE);
    let line = name.back(before.len());
    let place =
        [&b" WHERE "[..], b" where "].iter().find_map(|word| memmem::rfind(before, word))?;
    let clause = line.forward(place);
    let set = before.get(..place)?;
    memchr::memrchr_iter(b'=', set).take(MAX_SIGNS).find_map(|sign| {
        let (quote, value) = Quote::open(past_blanks(line.forward(sign).forward(1), 4))?;
        let end = quote.close(value)?;
        (past_closers(end).0.place() == clause.place()).then_some((value, end))
    })
}

/// Finds the value of an object or an element whose name follows it.
fn in_member(name: Cursor<'_>) -> Option<(Cursor<'_>, Cursor<'_>)> {
    const MAX_BETWEEN: usize = 48;
    let before = context(name, MAX_BEFORE);
    let key = memmem::rfind(before, b"name").or_else(|| memmem::rfind(before, b"Name"))?;
    let line = name.back(before.len());
    let key = line.forward(key);
    let place = memmem::rfind(key.since(line.place()), b"alue")?;
    let sign = past_blanks(past_closers(line.forward(place).forward(4)).0, 4);
    let sign = sign.past(b":").or_else(|| sign.past(b"="))?;
    let (quote, value) = Quote::open(past_blanks(sign, 4))?;
    let end = quote.close(value).filter(|end| end.place() < key.place())?;
    let is_near = |from: Cursor<'_>, to: Cursor<'_>| {
        let between = to.since(from.place());
        let is_in = |byte: &u8| is_blank(*byte) || is_quote(*byte) || b",:=\\".contains(byte);
        between.len() <= MAX_BETWEEN && between.iter().all(is_in)
    };
    (is_near(end, key) && is_near(key.forward(4), name)).then_some((value, end))
}
