//! Moves past the margin that a tool writes before each line: the number of a listing, the name of a file, the sign of a
//! diff, the time of a log.
//!
//! In: `    12→password: |`, and the next line `    13→  x`. Out: the position of `  x`. The line before must have the same
//! kind of margin, so that a list in YAML keeps its `-` below other text.

use crate::{
    around::last_line,
    cursor::Cursor,
    span::{is_blank, past_break, past_tab},
};

/// Limit in bytes for the line before, which is searched for its margin.
const MAX_LINE: usize = 320;

/// Limit in bytes for a margin.
const MAX_MARGIN: usize = 120;

/// Returns the position after a line break and the margin of the next line.
pub(crate) fn past_line(at: Cursor<'_>) -> Option<Cursor<'_>> {
    let line = past_break(at)?;
    Some(past_margin(at, line).unwrap_or(line))
}

/// Moves past the margin of a line. `end` is a position in the line before.
pub(crate) fn past_margin<'b>(end: Cursor<'b>, line: Cursor<'b>) -> Option<Cursor<'b>> {
    /// Limit for the quotes that are tried as the start of the line before.
    const MAX_QUOTES: usize = 12;
    if !may_have_margin(line) {
        return None;
    }
    let before = end.window_before(MAX_LINE);
    let first = last_line(before);
    let start = end.back(first.len());
    let is_whole = first.len() < MAX_LINE;
    // A search before decoding sees the text around the string, so the line may start after any quote.
    let quotes = memchr::memrchr_iter(b'"', first).map(|n| start.forward(n).forward(1));
    quotes
        .take(MAX_QUOTES)
        .chain(is_whole.then_some(start))
        .find_map(|above| past_same(above, line, is_whole && above.place() == start.place()))
}

/// Returns whether a line starts like one with a margin, so that the line before it must be searched. Most lines do not.
fn may_have_margin(line: Cursor<'_>) -> bool {
    let start = line.skip(MAX_MARGIN, is_blank);
    match start.next() {
        Some(b'0'..=b'9' | b'+' | b'-' | b'>' | b'#' | b'/' | b'*' | b';' | b'[') => true,
        Some(b'.' | b'~' | b'A'..=b'Z' | b'a'..=b'z') if start.place() == line.place() => {
            let name = line.skip(MAX_MARGIN, is_in_name);
            let text = name.since(line.place());
            let is_name = match name.next() {
                Some(b':') => {
                    let is_number = |byte: u8| byte.is_ascii_digit();
                    text.contains(&b'.') || name.forward(1).next().is_some_and(is_number)
                }
                // `web-1  | `, `Feb  3 `
                Some(b' ') => {
                    text.len() == 3 || name.skip(MAX_MARGIN, is_blank).next() == Some(b'|')
                }
                _ => text.ends_with(b"-"),
            };
            is_name || text.windows(2).any(|two| matches!(two, [b'-', b'0'..=b'9']))
        }
        _ => false,
    }
}

/// Returns whether a byte is in the name of a file, of a container or of a process.
fn is_in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_./@+-~".contains(&byte)
}

/// Moves past at most two margins that two lines have in common: of a container, and of a log.
fn past_same<'b>(above: Cursor<'b>, line: Cursor<'b>, is_start: bool) -> Option<Cursor<'b>> {
    let (above, line) = past_one(above, line, is_start)?;
    Some(past_one(above, line, false).map_or(line, |(_, line)| line))
}

/// The positions after a margin in a line and in the line above it.
type Both<'b> = (Cursor<'b>, Cursor<'b>);

fn past_one<'b>(above: Cursor<'b>, line: Cursor<'b>, is_start: bool) -> Option<Both<'b>> {
    past_numbers(above, line)
        .or_else(|| past_files(above, line))
        .or_else(|| past_times(above, line))
        .or_else(|| past_names(above, line))
        .or_else(|| past_signs(above, line, is_start))
        .or_else(|| past_marks(above, line))
}

/// Moves past the numbers of two lines in a listing: `    12→`, `12:`, `12-`.
fn past_numbers<'b>(above: Cursor<'b>, line: Cursor<'b>) -> Option<Both<'b>> {
    const MAX_INDENT: usize = 16;
    let [above, line] = [above, line].map(|at| at.skip(MAX_INDENT, is_blank));
    past_counted(above, line)
}

/// Moves past two numbers, of which the second is the next one, and the marks after them.
fn past_counted<'b>(above: Cursor<'b>, line: Cursor<'b>) -> Option<Both<'b>> {
    let (number, above) = number(above)?;
    let (next, line) = self::number(line)?;
    let is_next = number.checked_add(1) == Some(next);
    Some((past_mark(above)?, past_mark(line)?)).filter(|_| is_next)
}

fn number(at: Cursor<'_>) -> Option<(u32, Cursor<'_>)> {
    let end = at.skip(7, |byte| byte.is_ascii_digit());
    let text = std::str::from_utf8(end.since(at.place())).ok()?;
    Some((text.parse().ok()?, end))
}

/// Moves past the mark after the number of a line, also where JSON escapes it.
fn past_mark(at: Cursor<'_>) -> Option<Cursor<'_>> {
    const ENDS: &[&[u8]] =
        &["→".as_bytes(), "│".as_bytes(), b" | ", b"| ", " │ ".as_bytes(), b":", b"-"];
    const ESCAPED: &[&[u8]] = &[b"u2192", b"u2502"];
    past_tab(at).or_else(|| ENDS.iter().find_map(|end| at.past(end))).or_else(|| {
        let letter = at.skip(63, |byte| byte == b'\\');
        let is_escaped = letter.place() > at.place();
        ESCAPED.iter().find_map(|end| letter.past(end)).filter(|_| is_escaped)
    })
}

/// Moves past the names of files and the numbers of lines that `grep` writes: `app.yml:12:`, `app.yml-13-`, `app.yml:`.
fn past_files<'b>(above: Cursor<'b>, line: Cursor<'b>) -> Option<Both<'b>> {
    let is_sign = |at: Cursor<'_>| matches!(at.next(), Some(b':' | b'-'));
    let n_same = n_same(above, line);
    let same = line.forward(n_same);
    // The name ends before the first number that differs, and before the sign of a line that only is near.
    let n_digits =
        line.window(n_same).iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let name = match is_sign(same) && is_sign(above.forward(n_same)) {
        true => same,
        false => Some(same.back(n_digits)).filter(|at| is_sign(at.back(1)))?.back(1),
    };
    let text = name.since(line.place());
    let is_name = |text: &[u8]| {
        text.iter().copied().all(is_in_name) && text.iter().any(u8::is_ascii_alphanumeric)
    };
    let numbers = past_counted(above.forward(text.len()).forward(1), name.forward(1));
    numbers.filter(|_| is_name(text)).or_else(|| {
        let colon = line.skip(n_same, is_in_name);
        let text = colon.since(line.place());
        let is_file = text.contains(&b'.') && text.last().is_some_and(u8::is_ascii_alphanumeric);
        let line = colon.past(b":").filter(|_| is_file && text.len() < n_same)?;
        Some((above.forward(text.len()).forward(1), line))
    })
}

/// Returns the number of bytes that two lines have in common at their start.
fn n_same(above: Cursor<'_>, line: Cursor<'_>) -> usize {
    let pairs = above.window(MAX_MARGIN).iter().zip(line.window(MAX_MARGIN));
    pairs.take_while(|(a, b)| a == b && !matches!(b, b'\n' | b'\\')).count()
}

/// Moves past the times of two lines of a log, with the words before and after them that are the same.
fn past_times<'b>(above: Cursor<'b>, line: Cursor<'b>) -> Option<Both<'b>> {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    // `12:00:01`
    let clock = |five: &[u8]| matches!(five, [a, b, b':', c, d, b':'] if [a, b, c, d].into_iter().all(is_digit));
    let n_before = line.window(MAX_MARGIN).windows(6).position(clock)?;
    let is_time = |at: &Cursor<'_>| clock(at.forward(n_before).window(6));
    // Digits of the date differ, too.
    let pairs = above.window(n_before).iter().zip(line.window(n_before));
    let is_alike = pairs.clone().all(|(a, b)| a == b || is_digit(a) && is_digit(b));
    if !is_alike || !is_time(&above) || line.window(n_before).contains(&b'\n') {
        return None;
    }
    let after = |at: Cursor<'b>| {
        at.forward(n_before).skip(24, |byte| byte.is_ascii_digit() || b":.,".contains(&byte))
    };
    let zone = |at: Cursor<'b>| {
        let zone = at
            .skip(1, |byte| b"+-".contains(&byte))
            .skip(6, |byte| is_digit(&byte) || byte == b':');
        let zone = if zone.place() > at.place() { zone } else { at.past(b"Z").unwrap_or(at) };
        zone.past(b"]").unwrap_or(zone)
    };
    let (above, line) = (zone(after(above)), zone(after(line)));
    // `INFO `, `host app[12]: `
    let n_same = n_same(above, line);
    let same = line.window(n_same);
    const ENDS: &[&[u8]] =
        &[b"]: ", b"] ", b"INFO ", b"DEBUG ", b"WARN ", b"ERROR ", b" F ", b" - "];
    let n_after = ENDS
        .iter()
        .filter_map(|end| Some(memchr::memmem::rfind(same, end)?.saturating_add(end.len())))
        .max();
    let n_after = n_after.unwrap_or_default();
    let blank = line.forward(n_after);
    let is_apart = n_after > 0 || blank.next().is_some_and(|byte| is_blank(byte) || byte == b'|');
    is_apart.then(|| (above.forward(n_after), blank))
}

/// Moves past the name of a container or of a process, which is the same in both lines: `web-1  | `, `[web] `.
fn past_names<'b>(above: Cursor<'b>, line: Cursor<'b>) -> Option<Both<'b>> {
    let bracket = line.past(b"[");
    let name = bracket.unwrap_or(line);
    let name_end = name.skip(MAX_MARGIN, is_in_name);
    let end = match bracket {
        Some(_) => name_end.past(b"] "),
        None => name_end.skip(MAX_MARGIN, is_blank).past(b"|"),
    }?;
    let text = end.since(line.place());
    let above = above.past(text).filter(|_| name_end.place() > name.place())?;
    Some((above, end))
}

/// Moves past the signs of two lines of a diff. Above an added or a removed line there may be one that stays.
fn past_signs<'b>(above: Cursor<'b>, line: Cursor<'b>, is_start: bool) -> Option<Both<'b>> {
    let is_sign = |byte: u8| matches!(byte, b'+' | b'-');
    let sign = line.next().filter(|byte| is_sign(*byte))?;
    // The fence of a key, and the line between two documents.
    let is_fence =
        sign == b'-' && line.rest().starts_with(b"---") && !line.rest().starts_with(b"------");
    let first = above.next()?;
    let is_diff = is_sign(first) || is_start && first == b' ';
    (is_diff && !is_fence).then(|| (above.forward(1), line.forward(1)))
}

/// Moves past the mark of a quotation or of a comment, which both lines have.
fn past_marks<'b>(above: Cursor<'b>, line: Cursor<'b>) -> Option<Both<'b>> {
    const MARKS: &[&[u8]] = &[b"> ", b"# ", b"#", b"// ", b"* ", b";; ", b"; "];
    const MAX_INDENT: usize = 16;
    let start = line.skip(MAX_INDENT, is_blank);
    let mark = MARKS.iter().find(|mark| start.past(mark).is_some())?;
    let first = above.skip(MAX_INDENT, is_blank);
    Some((first.past(mark)?, start.past(mark)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_that_two_lines_share_is_skipped() {
        for (text, rest) in [
            ("    12→a: |\n    13→  x", "  x"),
            ("    12\ta: |\n    13\t  x", "  x"),
            ("    12\\ta: |\\n    13\\t  x", "  x"),
            (r"    12\u2192a: |\n    13\u2192  x", "  x"),
            (r#"{"b":"    12→a: |\n    13→  x"#, "  x"),
            (r#"{"b":{\"c\":\"    12→a: |\\n    13→  x"#, "  x"),
            ("12:a: |\n13-  x", "  x"),
            ("k8s/app.yml:12:a: |\nk8s/app.yml:13:  x", "  x"),
            ("k8s/app2:9:a: |\nk8s/app2-10-  x", "  x"),
            ("k8s/app.yml:a: |\nk8s/app.yml:  x", "  x"),
            ("+a: |\n+  x", "  x"),
            ("-a: |\n+  x", "  x"),
            (" a: |\n+  x", "  x"),
            ("> a: |\n>   x", "  x"),
            ("# a: |\n#   x", "  x"),
            ("  // a: |\n  //   x", "  x"),
            ("web-1  | a: |\nweb-1  |   x", "   x"),
            ("[web] a: |\n[web]   x", "  x"),
            ("2026-02-03T10:00:01.500Z a: |\n2026-02-03T10:00:02.7Z   x", "   x"),
            ("[2026-02-03 10:00:01] INFO a: |\n[2026-02-03 10:00:02] INFO   x", "  x"),
            ("Feb  3 10:00:01 h app[12]: a: |\nFeb  3 10:00:02 h app[12]:   x", "  x"),
            ("web-1  | 10:00:01 a: |\nweb-1  | 10:00:02   x", "   x"),
            // No margin.
            ("a: |\n  x", "  x"),
            ("a:\n- x", "- x"),
            ("12: a\n14: x", "14: x"),
            ("a.yml:12:a\nb.yml:13:x", "b.yml:13:x"),
            ("  a: b\n---\nc", "---\nc"),
            ("export A=x\nexport B=y", "export B=y"),
            ("a: 1\na: 2", "a: 2"),
        ] {
            let at = Cursor::new(text.as_bytes());
            let end = (0..text.len()).map(|n| at.to(n)).find(|at| past_break(*at).is_some());
            let line = past_line(end.expect("a line break")).expect("a line");
            assert_eq!(String::from_utf8_lossy(line.rest()), rest, "{text}");
        }
    }
}
