//! Finds tokens that a terminal or an editor broke into lines.
//!
//! In: `ghp_0123\n4567…`, or with `\\n` in JSON, or `"ghp_0123" + "4567…"`. Out: the range over both
//! pieces.

use std::ops::Range;

use memchr::memmem;

use crate::{
    class::{BASE64_URL, Class, PIECE},
    cursor::Cursor,
    margin::{past_line, past_margin},
    placeholder::is_example,
    randomness::{Makeup, has_many_humps},
    span::{Quote, is_blank, is_quote, past_blanks, past_break, past_colors, past_tab},
};

/// Limit of the indentation of a line that continues a token.
const MAX_INDENT: usize = 16;

/// Limit of the blanks between a piece of a token and the right border of its box.
const MAX_BORDER: usize = 120;

/// Limit of the lines of a token.
const MAX_LINES: usize = 16;

/// Returns the end of a run of a class with a length within limits. A shorter run may continue in
/// the next lines.
pub(crate) fn run_over_breaks<'b>(
    class: &Class,
    start: Cursor<'b>,
    min: usize,
    max: usize,
) -> Option<Cursor<'b>> {
    let length = class.run(start.rest(), max);
    let mut at = start.forward(length);
    if length >= min {
        // Padding is at the end of a token.
        let is_open = at.previous() != Some(b'=');
        // A full stop at the end of a sentence is not part of the token.
        let ends_a_sentence = max == usize::MAX && length > min && at.previous() == Some(b'.');
        at = if ends_a_sentence { at.back(1) } else { at };
        let n_more = max.saturating_sub(length);
        return Some(if is_open && n_more > 0 { pieces_within(class, at, n_more) } else { at });
    }
    if length == 0 && !start.next().is_some_and(may_break) {
        return None;
    }
    let mut whole = start.window(length).to_vec();
    for _ in 0..MAX_LINES {
        let line = past_seam(at).map(|(line, _)| line).or_else(|| past_joint(at, true))?;
        // A code in a URL is a letter of the token.
        whole.extend(at.next().filter(|byte| *byte == b'%'));
        let length = class.run(line.rest(), max.saturating_sub(whole.len()));
        at = line.forward(length);
        whole.extend_from_slice(at.since(line.place()));
        if length == 0 {
            return None;
        }
        if whole.len() >= min {
            let is_open = at.previous() != Some(b'=');
            let n_more = max.saturating_sub(whole.len());
            let end = if is_open { pieces_within(class, at, n_more) } else { at };
            let makeup = Makeup::of(&whole);
            // `xoxb-504008332715-2…` is mostly digits.
            let is_key = makeup.is_random() || makeup.n_digits >= 10 || has_many_humps(&whole);
            return is_key.then_some(end);
        }
    }
    None
}

/// Returns the end of the value of a name, past the lines or the strings that contain only its next pieces:
/// `token = "fp6yPdu8" +`, and `"7RGvzOfy"` in the next line. A short value, or one of another class, has no pieces.
pub(crate) fn past_pieces(value: Range<usize>, end: Cursor<'_>) -> Range<usize> {
    /// Minimum length of a first piece.
    const MIN_FIRST: usize = 12;
    let last = end.back(end.place().saturating_sub(value.end));
    let text = last.since(value.start);
    let is_piece = text.len() >= MIN_FIRST && text.iter().all(|byte| PIECE.has(*byte));
    let makeup = Makeup::of(text);
    let is_random = makeup.is_random() && makeup.n_digits > 0;
    if !is_piece || !is_random {
        return value;
    }
    value.start..last_pieces(&PIECE, last).place()
}

/// Returns the end of a complete token, past the lines or the strings that contain only remainders of it.
pub(crate) fn last_pieces<'b>(class: &Class, end: Cursor<'b>) -> Cursor<'b> {
    pieces_within(class, end, usize::MAX)
}

/// Returns the end of a complete token, past remainders of at most `max` bytes in all.
fn pieces_within<'b>(class: &Class, end: Cursor<'b>, max: usize) -> Cursor<'b> {
    let (mut at, mut n_left) = (end, max);
    for _ in 0..MAX_LINES {
        let Some(piece) = last_piece(class, at).filter(|piece| piece.len() <= n_left) else {
            break;
        };
        n_left = n_left.saturating_sub(piece.len());
        at = at.to(piece.end);
    }
    at
}

/// Returns whether a token may be broken at a byte: at a line break, a closing quote, an escape or a terminal color.
pub(crate) fn may_break(byte: u8) -> bool {
    matches!(byte, b'\\' | b'\r' | b'\n' | b'"' | b'\'' | 0x1b)
}

/// Returns the remainder of a complete token, if the next line or the next string contains only that.
fn last_piece(class: &Class, end: Cursor<'_>) -> Option<Range<usize>> {
    /// Minimum length of a remainder. Shorter ones may be words.
    const MIN_PIECE: usize = 6;
    /// Minimum length of a remainder that code joins to a token.
    const MIN_JOINED: usize = 4;
    /// Limit in bytes for a remainder: a session token of Amazon may have a kilobyte.
    const MAX_PIECE: usize = 2048;
    let (line, seam) = past_seam(end)?;
    let after = line.forward(class.run(line.rest(), MAX_PIECE));
    let piece = after.since(line.place());
    let makeup = Makeup::of(piece);
    let kinds = [makeup.n_lower, makeup.n_upper, makeup.n_digits];
    let n_kinds = kinds.into_iter().filter(|n| *n > 0).count();
    let is_over = after.next().is_none_or(|byte| match (seam, byte) {
        // The next part of a token of several parts.
        (Seam::Joint | Seam::List | Seam::Mark, b'.') => true,
        (Seam::Break, b'.') => {
            let next = after.forward(1);
            let is_claims = next.rest().starts_with(b"eyJ");
            n_kinds == 3 && piece.len() >= 8 && (is_claims || class.run(next.rest(), 16) == 16)
        }
        (Seam::Joint | Seam::List, byte) => is_quote(byte) || byte == b'\\',
        (_, b' ') => n_kinds == 3 && piece.len() >= 10 || seam == Seam::Mark,
        // A mailer ends each line with `=`.
        (Seam::Mark, b'=') => past_seam(after).is_some(),
        (_, byte) => !byte.is_ascii_alphanumeric() && !b"_=:(-./".contains(&byte),
    });
    let is_key = piece.len() >= MIN_PIECE && n_kinds >= 2 && makeup.is_random();
    // Code joins no words to a token.
    let is_key = is_key || seam == Seam::Joint && piece.len() >= MIN_JOINED && n_kinds >= 2;
    // With an example, the whole token would count as one.
    // A string that code joins to a token is no other one.
    let is_another = !matches!(seam, Seam::Joint | Seam::List) && is_another(piece);
    let is_fit = is_over && is_key && !is_another && !is_assignment(piece) && !is_example(piece);
    let is_piece =
        is_fit || !piece.is_empty() && (seam == Seam::Hidden || is_before_signature(after));
    is_piece.then(|| line.place()..after.place())
}

/// Returns whether a full stop and the signature of a token follow: `In0.i1pQm5dHaIbbTxxLoqu`.
fn is_before_signature(at: Cursor<'_>) -> bool {
    /// Minimum number of letters of a signature in its line.
    const MIN_LETTERS: usize = 20;
    let Some(start) = at.past(b".") else { return false };
    let text = start.window(BASE64_URL.run(start.rest(), 64));
    let makeup = Makeup::of(text);
    text.len() >= MIN_LETTERS && makeup.is_random() && makeup.n_digits > 0 && makeup.n_upper > 0
}

/// The separator between two pieces of a token.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Seam {
    /// A line break.
    Break,
    /// A line break with a mark that continues the line or frames it: `^`, `│`, `+`, `>`.
    Mark,
    /// A joint of two strings in code, such as `" + "`.
    Joint,
    /// The comma of a list, whose strings are joined.
    List,
    /// A character without a width, or the code of a letter in a URL. Nothing shows it.
    Hidden,
}

/// Returns the position at which a token continues, and the seam before it.
pub(crate) fn past_seam(at: Cursor<'_>) -> Option<(Cursor<'_>, Seam)> {
    /// Marks before a line break within a token: the escapes of shells, and the right border of a box.
    const MARKS: &[&[u8]] = &[
        b"^",
        b"`",
        "│".as_bytes(),
        "┃".as_bytes(),
        "║".as_bytes(),
        b"|",
        "↵".as_bytes(),
        b"=",
        b"$",
    ];
    // Most runs end here.
    if at.next().is_none_or(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    if let Some(next) = past_hidden(at).or_else(|| past_code(at)) {
        return Some((next, Seam::Hidden));
    }
    let border = past_colors(at).skip(MAX_BORDER, is_blank);
    let marked = MARKS.iter().find_map(|mark| border.past(mark));
    // `psql` ends each line of a value but the last with `+`.
    let marked = marked.or_else(|| at.past(b"+"));
    let broken = past_break(border).map(|line| (line, false));
    let broken = broken.or_else(|| Some((past_tag(at)?, true)));
    let broken = broken.or_else(|| Some((past_break(marked?)?, true)));
    if let Some((line, is_marked)) = broken {
        // The lines of a program in JSON are strings of a list.
        if let Some(next) = past_joint(line, true) {
            return Some((next, Seam::List));
        }
        let margin = past_margin(at, line).or_else(|| past_same(at, line));
        let frame = margin.or_else(|| past_frame(line));
        let is_marked = is_marked || frame.is_some();
        let line = past_blanks(past_colors(frame.unwrap_or(line)), MAX_INDENT);
        // A line of code with one of two joined strings is a joint.
        return Some((line, if is_marked { Seam::Mark } else { Seam::Break }));
    }
    let color = past_colors(at);
    // `grep` colors a part of a token.
    if color.place() > at.place() && !color.since(at.place()).contains(&b' ') {
        return Some((color, Seam::Break));
    }
    let is_listed = || {
        const LISTERS: &[&[u8]] = &[b"concat", b"join", b"Join", b"paste", b"strcat"];
        let before = at.window_before(240);
        let is_joined = memmem::find(at.window(160), b"].join(").is_some();
        is_joined || LISTERS.iter().any(|name| memmem::find(before, name).is_some())
    };
    let plain = past_joint(at, false).or_else(|| past_quotes(at));
    if let Some(joint) = plain {
        return Some((joint, Seam::Joint));
    }
    Some((past_joint(at, true).filter(|_| is_listed())?, Seam::List))
}

/// Moves past a character without a width, also where JSON escapes it: `ghp_0123\u200b4567…`.
fn past_hidden(at: Cursor<'_>) -> Option<Cursor<'_>> {
    const CHARS: &[(&str, &str)] = &[
        ("\u{200b}", "u200b"),
        ("\u{200c}", "u200c"),
        ("\u{200d}", "u200d"),
        ("\u{2060}", "u2060"),
        ("\u{feff}", "ufeff"),
        ("\u{ad}", "u00ad"),
    ];
    if !matches!(at.next(), Some(b'\\' | 0xc2 | 0xe2 | 0xef)) {
        return None;
    }
    let letter = at.skip(63, |byte| byte == b'\\');
    let is_escaped = letter.place() > at.place();
    CHARS.iter().find_map(|(char, escape)| match is_escaped {
        true => {
            let is_same = letter.window(escape.len()).eq_ignore_ascii_case(escape.as_bytes());
            is_same.then(|| letter.forward(escape.len()))
        }
        false => at.past(char.as_bytes()),
    })
}

/// Moves past the code of a letter, a digit, `-` or `_` in a URL: `ghp%5F0123`.
fn past_code(at: Cursor<'_>) -> Option<Cursor<'_>> {
    let [b'%', digits @ ..] = at.window(3) else { return None };
    let code = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    let is_fit = code.is_ascii_alphanumeric() || matches!(code, b'-' | b'_');
    (is_fit && digits.iter().all(u8::is_ascii_hexdigit)).then(|| at.forward(3))
}

/// Moves past a tag of HTML that allows or makes a line break, and a line break after it.
fn past_tag(at: Cursor<'_>) -> Option<Cursor<'_>> {
    const TAGS: &[&[u8]] = &[b"<br>", b"<wbr>", b"<br/>", b"<br />"];
    // A viewer of code marks the parts of a line.
    let marked = || {
        let opening = at.past(b"</span>")?.past(b"<span")?;
        opening.skip(80, |byte| byte != b'>' && byte != b'<').past(b">")
    };
    let end = TAGS.iter().find_map(|tag| at.past(tag)).or_else(marked)?;
    Some(past_break(end).unwrap_or(end))
}

/// Moves past two quotes that close a string and open the next one, as a shell joins them: `"ghp_0123""4567…"`.
fn past_quotes(at: Cursor<'_>) -> Option<Cursor<'_>> {
    let (quote, closed) = Quote::open(at)?;
    let (next_quote, next) = Quote::open(closed)?;
    (quote == next_quote).then_some(next)
}

/// Returns the position after the joint of two strings that code concatenates: `" +`, a line break,
/// `"`. Between the strings of a list, there may be a comma.
pub(crate) fn past_joint(at: Cursor<'_>, may_be_listed: bool) -> Option<Cursor<'_>> {
    const CALLS: &[&[u8]] = &[b").append(", b".concat(", b").concat(", b"}${"];
    let (_, closed) = Quote::open(at)?;
    let is_glue = |byte: u8| {
        is_blank(byte) || b"+.&~^|<>_*/".contains(&byte) || may_be_listed && byte == b','
    };
    let called = CALLS.iter().find_map(|call| closed.past(call)).or_else(|| past_call(closed));
    let line = called.or_else(|| past_shell(closed)).unwrap_or_else(|| {
        let glue = past_comment(closed.skip(8, is_glue));
        if may_be_listed { past_member(glue).unwrap_or(glue) } else { glue }
    });
    // A hyphen or `¬` continues a line of a script.
    let marked = line.past(b"-").or_else(|| line.past("¬".as_bytes())).or_else(|| line.past(b"`"));
    let line = marked.filter(|line| past_break(*line).is_some()).unwrap_or(line);
    let line = match past_break(line) {
        Some(next) => {
            let margin = past_margin(line, next).or_else(|| past_frame(next));
            past_blanks(margin.unwrap_or(next).skip(60, is_glue), 60)
        }
        None => line,
    };
    let line = if line.place() > closed.place() {
        line.skip(1, |byte| b"fFbBrR".contains(&byte))
    } else {
        line
    };
    // A shell joins two strings without a mark between them.
    let is_joined = line.place() > closed.place() || may_be_listed;
    let (_, next) = Quote::open(line).filter(|_| is_joined)?;
    (closed.previous() == next.previous()).then_some(next)
}

/// Moves past a comment at the end of a line of code: `# the first half`.
fn past_comment(at: Cursor<'_>) -> Cursor<'_> {
    /// Limit in bytes for a comment.
    const MAX_COMMENT: usize = 80;
    let is_comment = at.next() == Some(b'#') || at.window_before(3).ends_with(b"// ");
    if !is_comment {
        return at;
    }
    let end = at.skip(MAX_COMMENT, |byte| !matches!(byte, b'\r' | b'\n' | b'\\' | b'"' | b'\''));
    if past_break(end).is_some() { end } else { at }
}

/// Moves past the string of a line break that a shell joins to two others: `"..."$'\n'"..."`.
fn past_shell(closed: Cursor<'_>) -> Option<Cursor<'_>> {
    closed.past(b"$'")?.skip(63, |byte| byte == b'\\').past(b"n'")
}

/// Moves past the short name of the next part of an object: `{ a: "ghp_0123", b: "4567…" }`.
fn past_member(at: Cursor<'_>) -> Option<Cursor<'_>> {
    let name = Quote::open(at).map_or(at, |(_, name)| name);
    let end = name.skip(4, |byte| byte.is_ascii_alphanumeric());
    let letters = end.since(name.place());
    let is_short = letters.len() == 1 || letters.last().is_some_and(u8::is_ascii_digit);
    let sign = crate::around::past_closers(end).0.past(b":").filter(|_| is_short)?;
    Some(past_blanks(sign, 4))
}

/// Moves past the end of a line of code and the call or the operator that appends to its string: `")`, a line break,
/// `.append("`; `";`, a line break, `key += "`.
fn past_call(closed: Cursor<'_>) -> Option<Cursor<'_>> {
    const CALLS: &[&[u8]] = &[
        b".append(",
        b".concat(",
        b".push_str(",
        b".WriteString(",
        b" += ",
        b" .= ",
        b" << ",
        b"+=",
    ];
    let end = closed.skip(2, |byte| byte == b')' || byte == b';');
    let line = past_blanks(past_line(end)?, 60);
    let name = line.skip(24, |byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$');
    CALLS.iter().find_map(|call| name.past(call))
}

/// Moves past the prefix that a tool adds to a line: its number, a sign of a diff, a border, a mark of a quotation or a
/// comment.
fn past_frame(line: Cursor<'_>) -> Option<Cursor<'_>> {
    const FRAMES: &[&[u8]] = &[
        b"+",
        b"-",
        b"> ",
        b">> ",
        "║".as_bytes(),
        "│".as_bytes(),
        "┃".as_bytes(),
        b"| ",
        b"# ",
        b"// ",
        b"* ",
    ];
    let start = line.skip(MAX_INDENT, is_blank);
    let frame = past_number(line)
        .or_else(|| past_dump(start))
        .or_else(|| FRAMES.iter().find_map(|frame| start.past(frame)))?;
    Some(past_cell(frame).unwrap_or(frame))
}

/// Moves past the empty first cell of a row: the name of the value is in the row above.
fn past_cell(at: Cursor<'_>) -> Option<Cursor<'_>> {
    const BORDERS: &[&[u8]] = &["│".as_bytes(), "┃".as_bytes(), "║".as_bytes(), b"|"];
    let border = at.skip(MAX_BORDER, is_blank);
    let cell = BORDERS.iter().find_map(|text| border.past(text));
    cell.filter(|_| border.place() > at.place())
}

/// Moves past the offset and the hexadecimal bytes before the text in a line of a dump.
fn past_dump(line: Cursor<'_>) -> Option<Cursor<'_>> {
    let offset = line.skip(16, |byte| byte.is_ascii_hexdigit());
    let bytes = offset.skip(2, |byte| is_blank(byte) || byte == b':');
    let end = bytes.skip(80, |byte| byte.is_ascii_hexdigit() || is_blank(byte));
    let is_dump = offset.since(line.place()).len() >= 7
        && bytes.place() > offset.place()
        && end.since(bytes.place()).len() >= 8;
    let is_apart = |at: Cursor<'_>| at.window_before(2) == b"  ";
    if !is_dump {
        return None;
    }
    if let Some(text) = end.past(b"|").filter(|_| is_apart(end)) {
        return Some(text);
    }
    // The text may start with hexadecimal digits.
    let n_text = memmem::rfind(end.since(bytes.place()), b"  ")?;
    Some(bytes.forward(n_text).forward(2))
}

/// Moves past the text that starts the line of a token and its next line: `web-1  | `, `[pod/x] `.
fn past_same<'b>(at: Cursor<'b>, line: Cursor<'b>) -> Option<Cursor<'b>> {
    /// Bytes of the line of a token that are compared.
    const MAX_LINE: usize = 160;
    let first = crate::around::context(at, MAX_LINE);
    // A search before decoding sees the quote of JSON.
    let string = first.rsplit(|byte| *byte == b'"').next().unwrap_or_default();
    [first, string].into_iter().find_map(|first| {
        let is_same = |(a, b): &(&u8, &u8)| a == b;
        let n_same = first.iter().zip(line.rest()).take_while(is_same).count();
        let same = line.window(n_same);
        let is_end = |byte: &u8| matches!(byte, b' ' | b'\t' | b'|' | b']');
        let n_prefix = same.iter().rposition(is_end)?.saturating_add(1);
        let has_name = same.iter().take(n_prefix).any(u8::is_ascii_alphanumeric);
        has_name.then(|| line.forward(n_prefix))
    })
}

/// Moves past the number that `cat -n` or a client writes before a line.
pub(crate) fn past_number(line: Cursor<'_>) -> Option<Cursor<'_>> {
    const ENDS: &[&[u8]] = &["→".as_bytes(), b": ", b"| ", b" | ", "│".as_bytes()];
    let start = line.skip(MAX_INDENT, is_blank);
    let number = start.skip(6, |byte| byte.is_ascii_digit());
    let end = past_tab(number).or_else(|| ENDS.iter().find_map(|end| number.past(end)));
    end.filter(|_| number.place() > start.place())
}

/// Returns whether a line gives a value to a name, unlike the last line of a token, which may end in `=`:
/// `EXPIRES_IN=7d`.
fn is_assignment(piece: &[u8]) -> bool {
    let Some(sign) = memchr::memchr(b'=', piece) else { return false };
    let value = piece.get(sign.saturating_add(1)..).unwrap_or_default();
    // A token of Atlassian ends in a checksum.
    let is_digit = |byte: &u8| byte.is_ascii_digit() || (b'A'..=b'F').contains(byte);
    let is_sum =
        value.len() == 8 && value.iter().all(is_digit) && value.iter().any(u8::is_ascii_digit);
    value.iter().any(|byte| *byte != b'=') && !is_sum
}

/// Returns whether a line starts like another token: `sk-`, `glpat-`, `AKIA`.
fn is_another(piece: &[u8]) -> bool {
    let n_letters = piece.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    let has_prefix = (2..=10).contains(&n_letters) && piece.get(n_letters) == Some(&b'-');
    has_prefix
        || [&b"AKIA"[..], b"ASIA", b"AIza", b"eyJ"].iter().any(|text| piece.starts_with(text))
}
