//! Indents values as `JSON.stringify(value, null, 2)` and `json.dumps(value, indent=2)` do.
//!
//! In: `{"a":[1],"b":{}}` and 2 spaces. Out:
//!
//! ```text
//! {
//!     "a": [
//!       1
//!     ],
//!     "b": {}
//!   }
//! ```

/// The spaces of a level.
const LEVEL: usize = 2;

/// Returns the number of spaces before the last line of a value; 0 for a value of one line.
pub fn indentation(written: &str) -> usize {
    let last = written.rsplit_once('\n').map_or("", |(_, last)| last);
    last.len() - last.trim_start_matches(' ').len()
}

/// Appends a value with an indentation of two spaces for each level. The lines after the first are
/// indented by `base` spaces more. Strings and numbers are unchanged. Appends nothing and returns
/// false if the result would be longer than `longest` bytes.
///
/// ```
/// let mut out = Vec::new();
/// assert!(jsonl::push_indented(&mut out, r#"{"a": [1,2],"b":{}}"#, 4, 100));
/// let expected = "{\n      \"a\": [\n        1,\n        2\n      ],\n      \"b\": {}\n    }";
/// assert_eq!(std::str::from_utf8(&out), Ok(expected));
/// assert_eq!(jsonl::indentation(expected), 4);
/// ```
pub fn push_indented(out: &mut Vec<u8>, value: &str, base: usize, longest: usize) -> bool {
    let start = out.len();
    let is_fine =
        indent(&mut Indented { out, start, n_passed: 0, each: None }, value, base, longest);
    if !is_fine {
        out.truncate(start);
    }
    is_fine
}

/// Calls `each` with the pieces of a value with an indentation, as [`push_indented`] appends it. Returns false if the
/// result would be longer than `longest` bytes; then some pieces are missing.
///
/// ```
/// let mut joined = Vec::new();
/// assert!(jsonl::each_indented("[1]", 0, 100, &mut |piece| joined.extend_from_slice(piece)));
/// assert_eq!(joined, b"[\n  1\n]");
/// ```
pub fn each_indented(
    value: &str,
    base: usize,
    longest: usize,
    each: &mut dyn FnMut(&[u8]),
) -> bool {
    let out = &mut Vec::new();
    let mut indented = Indented { out, start: 0, n_passed: 0, each: Some(each) };
    let is_fine = indent(&mut indented, value, base, longest);
    indented.pass_on(0);
    is_fine
}

/// The size in bytes at which a buffer is passed on.
const FULL: usize = if cfg!(test) { 8 } else { 64 * 1024 };

/// An indented value: a buffer that is passed on when it is full, or keeps all of it behind `start`.
struct Indented<'o> {
    out: &'o mut Vec<u8>,
    start: usize,
    n_passed: usize,
    each: Option<&'o mut dyn FnMut(&[u8])>,
}

impl Indented<'_> {
    fn len(&self) -> usize {
        self.n_passed + self.out.len() - self.start
    }

    fn pass_on(&mut self, full: usize) {
        if let Some(each) = self.each.as_mut().filter(|_| self.out.len() >= full) {
            each(self.out);
            self.n_passed += self.out.len();
            self.out.clear();
        }
    }
}

/// Indents a value. Returns false if the result would be longer than `longest` bytes.
fn indent(indented: &mut Indented<'_>, value: &str, base: usize, longest: usize) -> bool {
    let mut n_spaces = base;
    let (mut in_string, mut is_escaped) = (false, false);
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let mut bytes = value.bytes().peekable();
    let start_line = |indented: &mut Indented<'_>, n_spaces: usize| {
        let has_room = indented.len() + n_spaces < longest;
        indented.out.push(b'\n');
        indented.out.extend(std::iter::repeat_n(b' ', if has_room { n_spaces } else { 0 }));
        indented.pass_on(FULL);
        has_room
    };
    let mut has_room = true;
    while let Some(byte) = bytes.next() {
        if !has_room || indented.len() >= longest {
            return false;
        }
        if in_string {
            indented.out.push(byte);
            in_string = is_escaped || byte != b'"';
            is_escaped = !is_escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'"' => {
                in_string = true;
                indented.out.push(byte);
            }
            b'{' | b'[' => {
                indented.out.push(byte);
                while bytes.next_if(is_blank).is_some() {}
                if let Some(close) = bytes.next_if(|byte| matches!(byte, b'}' | b']')) {
                    indented.out.push(close);
                } else {
                    n_spaces = n_spaces.saturating_add(LEVEL);
                    has_room = start_line(indented, n_spaces);
                }
            }
            b'}' | b']' => {
                n_spaces = n_spaces.saturating_sub(LEVEL);
                has_room = start_line(indented, n_spaces);
                indented.out.push(byte);
            }
            b',' => {
                indented.out.push(byte);
                has_room = start_line(indented, n_spaces);
            }
            b':' => indented.out.extend_from_slice(b": "),
            byte if is_blank(&byte) => {}
            _ => indented.out.push(byte),
        }
    }
    has_room && indented.len() <= longest
}

/// Returns whether a text has a newline or a carriage return.
///
/// ```
/// assert!(jsonl::has_newline("{\n}") && !jsonl::has_newline("{}"));
/// ```
pub fn has_newline(text: &str) -> bool {
    memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_some()
}
