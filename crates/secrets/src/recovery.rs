//! Finds secrets that open something by themselves, and that no prefix marks: words of a wallet, recovery keys, recovery
//! codes, private numbers, hashes of Windows.
//!
//! In: `seed phrase: gravity lunar pottery ..`, with twelve words. Out: the range of the words.

use std::ops::Range;

use crate::{
    around::{past_closers, until_placeholder},
    class::{ANY_HEX, LETTERS},
    cursor::Cursor,
    edge::is_edge,
    margin::past_line,
    placeholder::{PLACEHOLDER, is_template},
    randomness::Makeup,
    span::{Quote, is_blank, past_blanks, past_break},
};

/// Numbers of words that a seed phrase has.
const N_WORDS: [usize; 5] = [12, 15, 18, 21, 24];

/// Limit in bytes for a note after a name.
const MAX_NOTE: usize = 40;

/// Finds the words of a seed phrase after its name.
pub(crate) fn phrase(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    /// Words of sentences that the list of BIP 39 does not have.
    const OTHERS: &[&[u8]] = &[
        b"the", b"and", b"for", b"are", b"was", b"your", b"from", b"have", b"has", b"not",
        b"which", b"words", b"should",
    ];
    let start = value_of(end)?;
    let (mut at, mut last, mut n_words) = (start, start, 0_usize);
    let mut whole = None;
    // One more word than the longest phrase shows that it is a sentence.
    for _ in 0..25 {
        let word_end = at.skip(9, |byte| byte.is_ascii_lowercase());
        let word = word_end.since(at.place());
        // `vcp_x` is no word, and starts a token.
        let goes_on = word_end.next().is_some_and(|byte| LETTERS.has(byte) || byte == b'_');
        if !(3..=8).contains(&word.len()) || OTHERS.contains(&word) || goes_on {
            break;
        }
        (last, n_words) = (word_end, n_words.saturating_add(1));
        let next = past_blanks(word_end.past(b",").unwrap_or(word_end), 4);
        // Other text may follow in the next line.
        if N_WORDS.contains(&n_words) && past_break(next).is_some() {
            whole = Some(word_end);
        }
        let next = past_line(next).map_or(next, |line| past_blanks(line, 16));
        if next.place() == word_end.place() {
            break;
        }
        at = next;
    }
    let last = if N_WORDS.contains(&n_words) { Some(last) } else { whole };
    last.map(|last| start.place()..last.place())
}

/// Returns the position of the value after a name, a note, and a sign: ` (12 words): "`.
fn value_of(end: Cursor<'_>) -> Option<Cursor<'_>> {
    let closed = past_closers(end).0;
    let note = until_placeholder(closed.window(MAX_NOTE));
    let sign = note.iter().position(|byte| matches!(byte, b':' | b'='));
    let verb = [&b" is "[..], b" are "]
        .iter()
        .find_map(|verb| Some(memchr::memmem::find(note, verb)?.saturating_add(verb.len())));
    // `fromPhrase("x")`, `--mnemonic "x"`
    let string = past_blanks(closed.past(b"(").unwrap_or(closed), 2);
    let after = || Some(closed.forward(sign.map(|n| n.saturating_add(1)).or(verb)?));
    let at = if Quote::open(string).is_some() { string } else { after()? };
    let at = past_blanks(at, 8);
    let at = past_line(at).map_or(at, |line| past_blanks(line, 40));
    Some(Quote::open(at).map_or(at, |(_, value)| value))
}

/// Finds the recovery key of BitLocker: eight groups of six digits.
pub(crate) fn groups(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    /// Bytes after the name that are searched.
    const MAX_BETWEEN: usize = 240;
    const LENGTH: usize = 55;
    let is_in = |byte: u8| byte.is_ascii_digit() || byte == b'-';
    let last = end.place().saturating_add(until_placeholder(end.window(MAX_BETWEEN)).len());
    let mut at = end;
    while at.place() < last {
        let run = at.skip(LENGTH.saturating_add(1), is_in);
        let text = run.since(at.place());
        let mut groups = text.split(|byte| *byte == b'-');
        if text.len() == LENGTH && groups.all(|group| group.len() == 6) {
            return Some(at.place()..run.place());
        }
        at = run.forward(usize::from(run.place() == at.place()));
        at.next()?;
    }
    None
}

/// Finds the codes for a second factor, in lines or columns after their name: `Recovery codes:`, `4f9a2-1c8e7`.
pub(crate) fn codes(_: Cursor<'_>, end: Cursor<'_>) -> Vec<Range<usize>> {
    /// Limit for the codes of a list.
    const MAX_CODES: usize = 24;
    let is_in = |byte: u8| LETTERS.has(byte) || byte == b'-';
    let is_between = |byte: u8| !byte.is_ascii() || b" \t,*-|.)[]\"'".contains(&byte);
    let Some(mut at) = list_of(end) else { return Vec::new() };
    let mut found: Vec<Range<usize>> = Vec::new();
    for _ in 0..MAX_CODES {
        let code_end = at.skip(24, is_in);
        let code = code_end.since(at.place());
        let makeup = Makeup::of(code);
        let n_groups = code.split(|byte| *byte == b'-').count();
        let is_small = makeup.n_upper == 0 || makeup.n_lower == 0;
        let is_code = (8..=23).contains(&code.len()) && makeup.n_digits > 0 && n_groups <= 4;
        let is_code = is_code && is_small;
        if is_code && !is_template(code) {
            found.push(at.place()..code_end.place());
        } else if n_groups > 1 || !code.iter().all(u8::is_ascii_digit) {
            break;
        }
        // The number of a line is before some codes.
        let next = past_closers(code_end).0.skip(12, is_between);
        let next = past_line(next).map_or(next, |line| line.skip(12, is_between));
        let next = Quote::open(next).map_or(next, |(_, code)| code);
        if next.place() == code_end.place() {
            break;
        }
        at = next;
    }
    if found.len() > 1 { found } else { Vec::new() }
}

/// Returns the start of the list after a name, a note in its line, and a sign or a line break.
fn list_of(end: Cursor<'_>) -> Option<Cursor<'_>> {
    let note = end.skip(MAX_NOTE, |byte| byte != b':' && byte != b'\n' && byte != b'\\');
    let sign = note.past(b":").unwrap_or(note);
    let at = sign.skip(8, |byte| is_blank(byte) || byte == b'[');
    let at = past_line(at)
        .map_or(at, |line| line.skip(12, |byte| !byte.is_ascii() || b" \t*-|".contains(&byte)));
    let at = Quote::open(at).map_or(at, |(_, code)| code);
    (at.place() > end.place()).then_some(at)
}

/// Finds the key of a second factor near a word for it, in the same line: `2FA key for ada: x`, `pyotp.TOTP("x")`. It has 16,
/// 26, 32 or 52 letters of base32.
pub(crate) fn second_factor(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    /// Bytes after the word that are searched.
    const MAX_BETWEEN: usize = 48;
    let is_in = |byte: u8| matches!(byte, b'A'..=b'Z' | b'2'..=b'7');
    let line = until_placeholder(end.window(MAX_BETWEEN)).split(|byte| *byte == b'\n').next()?;
    let last = end.place().saturating_add(line.len());
    let mut at = end;
    while at.place() < last {
        at = at.skip(MAX_BETWEEN, |byte| !is_in(byte));
        let run = at.skip(64, is_in);
        let text = run.since(at.place());
        let n_digits = text.iter().filter(|byte| byte.is_ascii_digit()).count();
        let is_key =
            matches!(text.len(), 16 | 26 | 32 | 52) && n_digits > 1 && n_digits < text.len() / 2;
        let is_whole = is_edge(at.before())
            && !run
                .next()
                .is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        if is_key && is_whole && at.place() < last && !is_template(text) {
            return Some(at.place()..run.place());
        }
        at = run.forward(1);
        at.next()?;
    }
    None
}

/// Finds the number of a private key in a call, with or without `0x`: `new Wallet("0x4c08…")`.
pub(crate) fn wallet(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    const LENGTH: usize = 64;
    let at = past_blanks(end, 8);
    let at = past_line(at).map_or(at, |line| past_blanks(line, 60));
    let start = Quote::open(at).map_or(at, |(_, value)| value);
    let digits = start.past(b"0x").unwrap_or(start);
    let last = digits.skip(LENGTH.saturating_add(1), |byte| ANY_HEX.has(byte));
    let text = last.since(digits.place());
    let is_key = text.len() == LENGTH && Makeup::of(text).is_random();
    is_key.then(|| start.place()..last.place())
}

/// Finds the pairs of digits that `openssl` prints for a private number: `priv:`, `4f:c2:09:..` in the next lines.
pub(crate) fn numbers(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    /// Limit for the lines of a number.
    const MAX_LINES: usize = 80;
    const MIN_PAIRS: usize = 16;
    let is_in = |byte: u8| ANY_HEX.has(byte) || byte == b':';
    let start = past_blanks(past_line(end)?, 16);
    let (mut at, mut last) = (start, start);
    let mut n_pairs = 0_usize;
    for _ in 0..MAX_LINES {
        let line_end = at.skip(64, is_in);
        let line = line_end.since(at.place());
        let mut pairs = line.split(|byte| *byte == b':').filter(|pair| !pair.is_empty());
        if line.len() < 2 || !pairs.all(|pair| pair.len() == 2) {
            break;
        }
        n_pairs = n_pairs.saturating_add(line.len() / 3);
        last = line_end;
        let Some(next) = past_line(line_end).map(|line| past_blanks(line, 16)) else { break };
        at = next;
    }
    let is_cut = last.rest().starts_with(PLACEHOLDER);
    (n_pairs >= MIN_PAIRS && !is_cut).then(|| start.place()..last.place())
}

/// Finds the hash that opens an account of Windows: `* NTLM     : 144eb0b4…`.
pub(crate) fn nt_hash(_: Cursor<'_>, end: Cursor<'_>) -> Option<Range<usize>> {
    const LENGTH: usize = 32;
    let name = end.skip(6, |byte| byte.is_ascii_alphabetic() || byte == b' ');
    let start = past_blanks(past_blanks(name, 16).past(b":")?, 4);
    let last = start.skip(LENGTH.saturating_add(1), |byte| ANY_HEX.has(byte));
    let text = last.since(start.place());
    let is_hash = text.len() == LENGTH && Makeup::of(text).is_random();
    is_hash.then(|| start.place()..last.place())
}
