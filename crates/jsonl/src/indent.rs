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
    let mut n_spaces = base;
    let (mut in_string, mut is_escaped) = (false, false);
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let mut bytes = value.bytes().peekable();
    let start_line = |out: &mut Vec<u8>, n_spaces: usize| {
        let has_room = out.len() - start + n_spaces < longest;
        out.push(b'\n');
        out.extend(std::iter::repeat_n(b' ', if has_room { n_spaces } else { 0 }));
        has_room
    };
    let mut has_room = true;
    while let Some(byte) = bytes.next() {
        if !has_room || out.len() - start >= longest {
            out.truncate(start);
            return false;
        }
        if in_string {
            out.push(byte);
            in_string = is_escaped || byte != b'"';
            is_escaped = !is_escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'"' => {
                in_string = true;
                out.push(byte);
            }
            b'{' | b'[' => {
                out.push(byte);
                while bytes.next_if(is_blank).is_some() {}
                if let Some(close) = bytes.next_if(|byte| matches!(byte, b'}' | b']')) {
                    out.push(close);
                } else {
                    n_spaces = n_spaces.saturating_add(LEVEL);
                    has_room = start_line(out, n_spaces);
                }
            }
            b'}' | b']' => {
                n_spaces = n_spaces.saturating_sub(LEVEL);
                has_room = start_line(out, n_spaces);
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                has_room = start_line(out, n_spaces);
            }
            b':' => out.extend_from_slice(b": "),
            byte if is_blank(&byte) => {}
            _ => out.push(byte),
        }
    }
    let is_fine = has_room && out.len() - start <= longest;
    if !is_fine {
        out.truncate(start);
    }
    is_fine
}

/// Returns whether a text has a newline or a carriage return.
///
/// ```
/// assert!(jsonl::has_newline("{\n}") && !jsonl::has_newline("{}"));
/// ```
pub fn has_newline(text: &str) -> bool {
    memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_some()
}
