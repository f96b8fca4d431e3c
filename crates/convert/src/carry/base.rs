//! The base: members that repeat on every line, kept once and referred to.

/// The size of a base, in bytes.
pub(super) const MAX_BASE: usize = 2048;

const WINDOW: usize = 8;
const TABLE_BITS: u32 = 12;
/// A string longer than this is cut out of a base: it will not repeat.
const LONGEST_STRING: usize = 96;

/// Text that many source lines share, with an index of its places.
#[derive(Clone, Debug, Default)]
pub(crate) struct Base {
    bytes: Vec<u8>,
    table: Vec<u16>,
}

impl Base {
    /// Creates a base of bytes as they are.
    #[cfg(test)]
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let mut base = Base::default();
        base.extend(bytes);
        base.index();
        base
    }

    /// Creates a base of sample lines: their members, without long strings.
    pub(crate) fn of_lines<'l>(lines: impl IntoIterator<Item = &'l str>) -> Self {
        let mut base = Base::default();
        for line in lines {
            let mut rest = line;
            while let Some(start) = next_long_string(rest) {
                base.extend(rest.get(..start).unwrap_or_default().as_bytes());
                let body = rest.get(start..).unwrap_or_default();
                rest = body.get(end_of_string(body)..).unwrap_or_default();
            }
            base.extend(rest.as_bytes());
        }
        while std::str::from_utf8(&base.bytes).is_err() {
            base.bytes.pop();
        }
        base.index();
        base
    }

    fn extend(&mut self, bytes: &[u8]) {
        let room = MAX_BASE - self.bytes.len();
        self.bytes.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }

    fn index(&mut self) {
        if self.bytes.len() < WINDOW {
            return;
        }
        self.table = vec![0; 1 << TABLE_BITS];
        // From the end, so that the first of equal places is found.
        for at in (0..=self.bytes.len() - WINDOW).rev() {
            let slot = hash(&self.bytes, at);
            self.table[slot] = at as u16 + 1;
        }
    }

    /// Returns the bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the first part of `text` from `from` on that the base holds: where it starts in
    /// `text`, where in the base, and its length.
    pub(super) fn find(&self, text: &str, from: usize) -> Option<(usize, usize, usize)> {
        let bytes = text.as_bytes();
        if self.table.is_empty() || bytes.len() < WINDOW {
            return None;
        }
        let mut at = from;
        let mut misses = 0;
        while at + WINDOW <= bytes.len() {
            let found = self.table[hash(bytes, at)] as usize;
            if found > 0 {
                let length = common_prefix(&bytes[at..], &self.bytes[found - 1..]);
                if length >= WINDOW {
                    let start = at + on_boundary_after(text, at);
                    let end = boundary_before(text, at + length);
                    if end >= start + WINDOW {
                        return Some((start, found - 1 + start - at, end - start));
                    }
                }
            }
            misses += 1;
            // Text that does not repeat is passed over faster and faster.
            at += 1 + (misses >> 6);
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

fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

fn on_boundary_after(text: &str, at: usize) -> usize {
    (0..4).find(|n| text.is_char_boundary(at + n)).unwrap_or(0)
}

fn boundary_before(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns where the body of the next long string starts.
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

/// Returns the length of a string's body, given what follows its first quote.
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
        let base = Base::of_lines([line.as_str()]);
        assert_eq!(base.bytes(), br#"{"a":"short \" one","b":"","c":1}"#);
    }

    #[test]
    fn parts_are_found_on_character_boundaries() {
        let base = Base::new("\"cwd\":\"/home/é/projects\",".as_bytes());
        let text = "xx\"cwd\":\"/home/ê/projects\"";
        let mut at = 0;
        let mut found = Vec::new();
        while let Some((start, from, len)) = base.find(text, at) {
            assert_eq!(&base.bytes()[from..from + len], &text.as_bytes()[start..start + len]);
            found.push(&text[start..start + len]);
            at = start + len;
        }
        assert_eq!(found, ["\"cwd\":\"/home/", "/projects\""]);
    }
}
