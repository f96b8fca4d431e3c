//! The canonical spelling of a value: what is left after any program has parsed and written it.
//!
//! In: `{ "b" : 1.0, "a" : "\u00e9" }`. Out: `{"a":"é","b":1}`. Members are sorted, of equal keys
//! the last one counts, there are no spaces, and numbers are printed as JavaScript does.

mod long;

pub use self::long::each_canonical_of;
use crate::{
    Kind, Raw, Scanner, Style, Value, number::push_javascript_number, respell, respell::push_token,
    scan::same::n_same, tokens::Tokens,
};

/// Limit on the depth of a value whose members are sorted.
const MAX_DEPTH: u32 = 128;

/// Appends a value in its canonical spelling, without the members at some paths. Keys of a path are
/// joined by dots. A path goes through arrays: `parts.time` is the member `time` of each item of
/// `parts`. A value of more than 128 levels is appended with its order and its numbers.
///
/// ```
/// let mut scanner = jsonl::Scanner::default();
/// let text = r#"{ "b":[{"t":5,"x":1.0e2}], "a":"\u00e9", "t":{} }"#;
/// let value = scanner.scan_slice(text.as_bytes(), 0)?;
/// let mut out = Vec::new();
/// jsonl::push_canonical(&mut out, value, &["b.t"]);
/// assert_eq!(std::str::from_utf8(&out), Ok(r#"{"a":"é","b":[{"x":100}],"t":{}}"#));
/// # Ok::<(), jsonl::Error>(())
/// ```
pub fn push_canonical(out: &mut Vec<u8>, value: Value<'_>, without: &[&str]) {
    push(&mut Sink { buffer: out, each: None }, value, without);
}

/// Calls `each` with the pieces of a value's canonical spelling, as [`push_canonical`] appends it. A long string that
/// is spelled so already is a piece without a copy.
///
/// ```
/// let mut scanner = jsonl::Scanner::default();
/// let value = scanner.scan_slice(br#"{ "b":1.0, "a":"text" }"#, 0)?;
/// let mut joined = Vec::new();
/// jsonl::each_canonical(value, &[], &mut |piece| joined.extend_from_slice(piece));
/// assert_eq!(joined, br#"{"a":"text","b":1}"#);
/// # Ok::<(), jsonl::Error>(())
/// ```
pub fn each_canonical(value: Value<'_>, without: &[&str], each: &mut dyn FnMut(&[u8])) {
    let mut sink = Sink { buffer: &mut Vec::new(), each: Some(each) };
    push(&mut sink, value, without);
    sink.flush();
}

/// The size in bytes at which a buffer is passed on.
const FULL: usize = 64 * 1024;

/// The length in bytes from which a string is passed on without a copy.
const LONG: usize = 4 * 1024;

/// The end of a canonical spelling: a buffer that is passed on when it is full, or keeps all of it.
struct Sink<'s> {
    buffer: &'s mut Vec<u8>,
    each: Option<&'s mut dyn FnMut(&[u8])>,
}

impl Sink<'_> {
    fn put(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
        self.pass_on();
    }

    fn respell(&mut self, value: Raw<'_>) {
        respell(self.buffer, value, Style::Compact);
        self.pass_on();
    }

    /// Appends a container that has too many values for an index as [`respell`] does, piece by piece.
    fn respell_tokens(&mut self, container: Raw<'_>) {
        for (_, token) in Tokens::new(container.as_str(), 0) {
            push_token(self.buffer, token, Style::Compact);
            self.pass_on();
        }
    }

    fn string(&mut self, string: Raw<'_>) {
        let written = string.as_str().as_bytes();
        let body = written.get(1..written.len().saturating_sub(1)).unwrap_or_default();
        let is_direct = self.each.is_some() && written.len() >= LONG;
        if !is_direct || n_same(body, false) < body.len() {
            return self.respell(string);
        }
        self.flush();
        if let Some(each) = &mut self.each {
            each(written);
        }
    }

    fn pass_on(&mut self) {
        if self.buffer.len() >= FULL {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if let Some(each) = &mut self.each {
            each(self.buffer);
            self.buffer.clear();
            // Frees the memory of a long value.
            self.buffer.shrink_to(2 * FULL);
        }
    }
}

fn push(out: &mut Sink<'_>, value: Value<'_>, without: &[&str]) {
    match value.oddities().depth > MAX_DEPTH {
        true => out.respell(value.raw()),
        false => push_value(out, value, without),
    }
}

/// Recursion is limited by [`MAX_DEPTH`].
fn push_value(out: &mut Sink<'_>, value: Value<'_>, without: &[&str]) {
    match value.kind() {
        // Deep values are not in the index of their line, so they are scanned on their own.
        Kind::Object | Kind::Array if !value.is_indexed() => {
            let mut scanner = Scanner::default();
            match scanner.scan_raw(value.raw()) {
                Ok(inner) if inner.is_indexed() => return push_value(out, inner, without),
                Ok(_) => {}
                Err(_) => return out.respell(value.raw()),
            }
            drop(scanner);
            out.respell_tokens(value.raw());
        }
        Kind::Object => push_object(out, value, without),
        Kind::Array => {
            out.put(b"[");
            for (n, item) in value.items().enumerate() {
                if n > 0 {
                    out.put(b",");
                }
                push_value(out, item, without);
            }
            out.put(b"]");
        }
        Kind::Number => push_javascript_number(out.buffer, value.raw().as_str()),
        Kind::String => out.string(value.raw()),
        Kind::Null | Kind::True | Kind::False => out.respell(value.raw()),
    }
}

/// A member of an object: its key in the buffer of keys, and the node or the offset of its value. In twelve bytes, because a line may
/// have a million.
#[derive(Clone, Copy)]
struct Member {
    start: u32,
    end: u32,
    at: u32,
}

fn push_object(out: &mut Sink<'_>, object: Value<'_>, without: &[&str]) {
    // All keys are in one buffer, because an object may have as many as its line has bytes for.
    let (mut keys, mut members) = (Vec::new(), Vec::new());
    for (key, value) in object.members() {
        if without.iter().any(|path| key.is(path)) {
            continue;
        }
        let start = keys.len();
        respell(&mut keys, key.into(), Style::Compact);
        // No key is longer than its line, whose offsets have 32 bits.
        members.push(Member { start: start as u32, end: keys.len() as u32, at: value.place() });
    }
    push_members(out, &keys, members, without, &mut |out, at, without| {
        if let Some(value) = object.at_place(at) {
            push_value(out, value, without);
        }
    });
}

/// Appends an object. `push_one` appends the value at a place.
fn push_members(
    out: &mut Sink<'_>,
    keys: &[u8],
    mut members: Vec<Member>,
    without: &[&str],
    push_one: &mut dyn FnMut(&mut Sink<'_>, u32, &[&str]),
) {
    let key_of =
        |member: &Member| keys.get(member.start as usize..member.end as usize).unwrap_or_default();
    // Equal keys stay in order, because the last one counts.
    members
        .sort_unstable_by(|one, other| key_of(one).cmp(key_of(other)).then(one.at.cmp(&other.at)));
    out.put(b"{");
    let mut n_pushed = 0;
    let mut members = members.into_iter().peekable();
    while let Some(member) = members.next() {
        let key = key_of(&member);
        if members.peek().is_some_and(|next| key_of(next) == key) {
            continue;
        }
        if n_pushed > 0 {
            out.put(b",");
        }
        n_pushed += 1;
        out.put(key);
        out.put(b":");
        let inner: Vec<&str> = without.iter().filter_map(|path| inner_path(path, key)).collect();
        push_one(out, member.at, &inner);
    }
    out.put(b"}");
}

/// Returns the rest of a path behind a key, which is a JSON string.
fn inner_path<'p>(path: &'p str, key: &[u8]) -> Option<&'p str> {
    let (first, rest) = path.split_once('.')?;
    let body = key.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    (body == first.as_bytes()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str, without: &[&str]) -> String {
        let mut scanner = Scanner::default();
        let mut out = Vec::new();
        push_canonical(&mut out, scanner.scan_slice(text.as_bytes(), 0).expect("JSON"), without);
        let (mut joined, value) =
            (Vec::new(), scanner.scan_slice(text.as_bytes(), 0).expect("JSON"));
        each_canonical(value, without, &mut |piece| joined.extend_from_slice(piece));
        assert_eq!(joined, out);
        String::from_utf8(out).expect("text")
    }

    /// Long strings are passed on as they are, unless they have another spelling.
    #[test]
    fn long_values_in_pieces() {
        for text in ["a", "\\n", "\\u00e9", "\\/"] {
            let long = text.repeat(LONG);
            for n in [1, 2, 40] {
                let items = vec![format!("\"{long}\""); n].join(",");
                let value = format!(r#"{{"b":[{items}],"a":["{text}",{items}]}}"#);
                assert!(canonical(&value, &[]).len() > n * LONG);
            }
        }
    }

    #[test]
    fn values_as_a_program_prints_them() {
        for (text, expected) in [
            (r#"{"b":1,"a":2,"b":3}"#, r#"{"a":2,"b":3}"#),
            (
                r#" [ 1e5 , -0, 1.50,1E400,12345678901234567890 ] "#,
                "[100000,0,1.5,null,12345678901234567000]",
            ),
            (r#"{"\u0062":"\/\ud800\u000A"}"#, r#"{"b":"/\ud800\n"}"#),
            ("null", "null"),
        ] {
            assert_eq!(canonical(text, &[]), expected, "{text}");
            assert_eq!(canonical(expected, &[]), expected);
        }
        let text = r#"{"time":{"created":1,"updated":2},"parts":[{"id":1,"n":2},[{"n":3}]],"n":4}"#;
        let expected = r#"{"n":4,"parts":[{"id":1},[{}]],"time":{"created":1}}"#;
        assert_eq!(canonical(text, &["time.updated", "parts.n"]), expected);
    }

    #[test]
    fn deep_values() {
        let deep = |n: usize| "[ ".repeat(n) + "{ \"b\":1.0,\"a\":2}" + &"]".repeat(n);
        let flat = |n: usize, inner: &str| "[".repeat(n) + inner + &"]".repeat(n);
        assert_eq!(canonical(&deep(100), &[]), flat(100, "{\"a\":2,\"b\":1}"));
        assert!(canonical(&deep(5000), &[]).starts_with("[[["));
    }
}
