//! Finds the value of a name in XML and HTML, and moves past the tags that only mark a text.
//!
//! In: `<password>x</password>`, `<b>Password:</b> <code>x</code>`, from the end of the name. Out: the position of `x`.

use memchr::memmem;

use crate::{
    around::without_placeholders,
    cursor::Cursor,
    margin::past_line,
    name::Name,
    span::{is_quote, past_blanks},
};

/// Names of tags that have the value of a property or of a row.
const CELLS: &[&[u8]] = &[b"string", b"td", b"dd", b"div", b"p"];

/// Names of tags that only mark a text.
const MARKS: &[&[u8]] =
    &[b"b", b"strong", b"code", b"em", b"i", b"kbd", b"span", b"pre", b"tt", b"label"];

/// Moves past a tag that ends marked text: the `</b>` of `<b>Password</b>: x`.
pub(crate) fn past_closing(at: Cursor<'_>) -> Cursor<'_> {
    let name = at.past(b"</");
    name.and_then(|name| MARKS.iter().find_map(|mark| name.past(mark)?.past(b">"))).unwrap_or(at)
}

/// Moves past the tags between a sign and a value, `</b> <code>`, and past the start of a text in XML, `<![CDATA[`.
pub(crate) fn past_markup(at: Cursor<'_>) -> Cursor<'_> {
    // Few values are in tags.
    if at.next() != Some(b'<') {
        return at;
    }
    let closed = past_blanks(past_closing(at), 8);
    if let Some(text) = closed.past(b"<![CDATA[") {
        return text;
    }
    let name = closed.past(b"<");
    let opened = name.and_then(|name| MARKS.iter().find_map(|mark| name.past(mark)?.past(b">")));
    opened.unwrap_or(closed)
}

/// Returns the position after the tag of a name: `<password>`, `<password type="x">`, `<entry
/// key="password">`, `<key>password</key><string>`.
pub(crate) fn past_tag<'b>(name: &Name<'b>, after: Cursor<'b>) -> Option<Cursor<'b>> {
    /// Limit in bytes for a tag after its name.
    const MAX_TAG: usize = 80;
    match after.next()? {
        b'>' => {
            let is_in = |byte: &u8| !matches!(byte, b'<' | b'>' | b'\n');
            let before = without_placeholders(name.start.window_before(MAX_TAG));
            let n = before.iter().rev().take_while(|byte| is_in(byte)).count();
            let tag = name.start.back(n);
            // `http://ada:<password>@host`
            let is_in_url = tag.window_before(2) == b":<" && after.window(2) == b">@";
            let is_tag = tag.previous() == Some(b'<') && !is_in_url;
            is_tag.then(|| past_value_tag(after.forward(1)))
        }
        // `<string name="api_secret" translatable="false">`
        b' ' if after.previous().is_some_and(is_quote) => {
            let end = after.skip(MAX_TAG, |byte| !matches!(byte, b'<' | b'>' | b'\n' | b'['));
            let before = name.start.window_before(24);
            let is_named = memmem::find(before, b"<string name=").is_some();
            let value = end.past(b">")?;
            // `<setting name="ApiKey" serializeAs="String"><value>`
            let inner = past_value_tag(value);
            (is_named || inner.place() > value.place()).then_some(inner)
        }
        b' ' if is_first_in_tag(name.start) => {
            let end =
                after.skip(MAX_TAG, |byte| !matches!(byte, b'<' | b'>' | b'\n' | b'/' | b'['));
            end.past(b">")
        }
        b':' | b'<' if name.start.previous() == Some(b'>') => {
            if let Some(end) = after.past(b"</name>") {
                let end = past_line(end).map_or(end, |end| past_blanks(end, 60));
                return end.past(b"<value>");
            }
            past_cell(after.past(b":").unwrap_or(after))
        }
        _ => None,
    }
}

/// Moves past the tag that ends a name and the tag that starts its value: `</td><td class="x">`.
fn past_cell(at: Cursor<'_>) -> Option<Cursor<'_>> {
    /// Limit in bytes for the attributes of a tag.
    const MAX_TAG: usize = 80;
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric();
    let end = past_blanks(at.past(b"</")?.skip(10, is_letter).past(b">")?, 8);
    let open = past_line(end).map_or(end, |end| past_blanks(end, 60)).past(b"<")?;
    let tag_end = open.skip(10, is_letter);
    let is_cell = CELLS.contains(&tag_end.since(open.place()));
    let inner = tag_end.skip(MAX_TAG, |byte| !matches!(byte, b'<' | b'>' | b'\n')).past(b">")?;
    is_cell.then(|| past_markup(inner))
}

/// Returns whether a position is at the start of a tag, or after its namespace: `<wsse:`.
fn is_first_in_tag(at: Cursor<'_>) -> bool {
    let before = at.window_before(16);
    let text = before.strip_suffix(b":").unwrap_or(before);
    let n_name = match text.len() == before.len() {
        true => 0,
        false => text.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count(),
    };
    text.get(..text.len().saturating_sub(n_name)).is_some_and(|text| text.ends_with(b"<"))
}

/// Moves past the tag of a value within the tag of its name: `<Password>`, a line break, `<Value>`.
fn past_value_tag(at: Cursor<'_>) -> Cursor<'_> {
    let next = past_blanks(at, 60);
    let next = past_line(next).map_or(next, |line| past_blanks(line, 60));
    next.past(b"<Value>").or_else(|| next.past(b"<value>")).unwrap_or(at)
}
