//! The template: members that repeat on every line, stored once and referred to.
//!
//! In: the template `,"cwd":"/home/ada","v":1` and the source `{"a":2,"cwd":"/home/ada","v":1}`.
//! Out: a literal `{"a":2`, the reference `0,oT` (24 bytes of the template, from byte 0), and a
//! literal `}`.

use memchr::memmem::Finder;

/// Limit on the bytes of a template.
pub(super) const MAX_TEMPLATE: usize = 2048;

const WINDOW: usize = 8;
const TABLE_BITS: u32 = 12;
/// A longer string does not repeat and is cut out of the template.
const LONGEST_STRING: usize = 96;

/// The two bytes before most members. A search for the quote alone would find so many strings that
/// the checks would cost more than all else.
const BEFORE_MEMBER: &[u8; 2] = b",\"";

/// Text that many source lines share, with an index of its members.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    bytes: Vec<u8>,
    table: Vec<u16>,
    finder: Finder<'static>,
}

impl Default for Template {
    fn default() -> Self {
        Self { bytes: Vec::new(), table: Vec::new(), finder: Finder::new(BEFORE_MEMBER) }
    }
}

impl Template {
    /// Creates a template of these bytes.
    #[cfg(test)]
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let mut template = Template::default();
        template.extend(bytes);
        template.index();
        template
    }

    /// Creates a template from the members of sample lines, without long strings.
    pub(crate) fn of_lines<'l>(lines: impl IntoIterator<Item = &'l str>) -> Self {
        let mut template = Template::default();
        for line in lines {
            let mut rest = line;
            while let Some(start) = next_long_string(rest) {
                template.extend(rest.get(..start).unwrap_or_default().as_bytes());
                let body = rest.get(start..).unwrap_or_default();
                rest = body.get(end_of_string(body)..).unwrap_or_default();
            }
            template.extend(rest.as_bytes());
        }
        while std::str::from_utf8(&template.bytes).is_err() {
            template.bytes.pop();
        }
        template.index();
        template
    }

    fn extend(&mut self, bytes: &[u8]) {
        let room = MAX_TEMPLATE - self.bytes.len();
        self.bytes.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }

    /// Indexes the starts of members: lines repeat whole members.
    fn index(&mut self) {
        if self.bytes.len() < WINDOW {
            return;
        }
        self.table = vec![0; 1 << TABLE_BITS];
        // Backwards, so that the first of equal members stays in the index.
        let last = self.bytes.len() - WINDOW;
        for at in (0..=last).rev().filter(|at| self.bytes[*at..].starts_with(BEFORE_MEMBER)) {
            let slot = hash(&self.bytes, at);
            self.table[slot] = at as u16 + 1;
        }
    }

    /// Returns the bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the first part of `text` from `from` on that the template has: its offset in `text`,
    /// its offset in the template, and its length.
    pub(super) fn find(&self, text: &str, from: usize) -> Option<(usize, usize, usize)> {
        let bytes = text.as_bytes();
        if self.table.is_empty() {
            return None;
        }
        let last = bytes.len().checked_sub(WINDOW)?;
        let searched = bytes.get(from..=last + 1)?;
        for at in self.finder.find_iter(searched).map(|at| from + at) {
            let found = self.table[hash(bytes, at)] as usize;
            if let Some(place) = found.checked_sub(1) {
                let length = common_prefix(&bytes[at..], &self.bytes[place..]);
                if length >= WINDOW {
                    let before = common_suffix(&bytes[from..at], &self.bytes[..place]);
                    let start = boundary_after(text, at - before);
                    let end = boundary_before(text, at + length);
                    return Some((start, (place + start) - at, end - start));
                }
            }
        }
        None
    }
}

fn hash(bytes: &[u8], at: usize) -> usize {
    let mut window = [0; WINDOW];
    window.copy_from_slice(&bytes[at..at + WINDOW]);
    let hash = u64::from_le_bytes(window).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (hash >> (64 - TABLE_BITS)) as usize
}

/// Returns the length of the common prefix, compared eight bytes at a time.
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let ((a_words, _), (b_words, _)) = (a.as_chunks::<WINDOW>(), b.as_chunks::<WINDOW>());
    let mut n_equal = 0;
    for (a, b) in a_words.iter().zip(b_words) {
        let difference = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if difference != 0 {
            return n_equal + difference.trailing_zeros() as usize / 8;
        }
        n_equal += WINDOW;
    }
    let rest = a.iter().zip(b).skip(n_equal);
    n_equal + rest.take_while(|(a, b)| a == b).count()
}

/// Returns the length of the common suffix, compared eight bytes at a time.
fn common_suffix(a: &[u8], b: &[u8]) -> usize {
    let ((_, a_words), (_, b_words)) = (a.as_rchunks::<WINDOW>(), b.as_rchunks::<WINDOW>());
    let mut n_equal = 0;
    for (a, b) in a_words.iter().rev().zip(b_words.iter().rev()) {
        let difference = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if difference != 0 {
            return n_equal + difference.leading_zeros() as usize / 8;
        }
        n_equal += WINDOW;
    }
    let rest = a.iter().rev().zip(b.iter().rev()).skip(n_equal);
    n_equal + rest.take_while(|(a, b)| a == b).count()
}

fn boundary_after(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

fn boundary_before(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns the start of the body of the next long string.
fn next_long_string(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let start = from + memchr::memchr(b'"', text.as_bytes().get(from..)?)? + 1;
        let length = end_of_string(text.get(start..)?);
        if length > LONGEST_STRING {
            return Some(start);
        }
        from = start + length + 1;
    }
}

/// Returns the length of a string's body. `body` starts after the opening quote.
fn end_of_string(body: &str) -> usize {
    let bytes = body.as_bytes();
    let mut at = 0;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        if bytes[at] == b'"' {
            return at;
        }
        at += 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_strings_do_not_go_into_a_base() {
        let line = format!(r#"{{"a":"short \" one","b":"{}","c":1}}"#, "x".repeat(200));
        let template = Template::of_lines([line.as_str()]);
        assert_eq!(template.bytes(), br#"{"a":"short \" one","b":"","c":1}"#);
    }

    #[test]
    fn what_is_the_same_is_counted_to_the_byte() {
        let text: Vec<u8> = (0..40).collect();
        for n_equal in 0..40 {
            for (n_first, n_second) in [(40, 40), (40, n_equal), (n_equal, 40)] {
                let (mut head, mut tail) = (text.clone(), text.clone());
                head[n_equal] ^= 0x80;
                tail[39 - n_equal] ^= 0x80;
                assert_eq!(common_prefix(&text[..n_first], &head[..n_second]), n_equal);
                let (n_first, n_second) = (40 - n_first, 40 - n_second);
                assert_eq!(common_suffix(&text[n_first..], &tail[n_second..]), n_equal);
            }
        }
    }

    #[test]
    fn parts_are_found_on_character_boundaries() {
        let template = Template::new(",\"cwd\":\"/home/é/projects\",\"slug\":1".as_bytes());
        let text = "xx,\"cwd\":\"/home/ê/projects\",\"slug\":12";
        let mut at = 0;
        let mut found = Vec::new();
        while let Some((start, from, len)) = template.find(text, at) {
            assert_eq!(&template.bytes()[from..from + len], &text.as_bytes()[start..start + len]);
            found.push(&text[start..start + len]);
            at = start + len;
        }
        assert_eq!(found, [",\"cwd\":\"/home/", "/projects\",\"slug\":1"]);
    }
}
