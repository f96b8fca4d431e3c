//! Changes targets and checks that a changed target restores its source, or that the report says what is
//! missing, edited or moved.
//!
//! The property `mutate` and a test of `convert` use this file.

use convert::{CarryMode, Conversion, Converted, FORMATS, Sidecar};
use core_model::{Format, Options};
use jsonl::Style;

/// A source and its target in another format.
pub(crate) struct Written<'s> {
    source: &'s [u8],
    from: &'static Format,
    to: &'static Format,
    carry: CarryMode,
    bytes: Vec<u8>,
    sidecar: Option<Vec<u8>>,
}

impl<'s> Written<'s> {
    /// Converts a source.
    pub(crate) fn new(
        source: &'s [u8],
        from: &'static Format,
        to: &'static Format,
        carry: CarryMode,
    ) -> Self {
        let conversion =
            Conversion { formats: FORMATS, from, to, carry, options: Options::default() };
        let there = conversion.convert(source, None).expect("memory has no errors");
        Self { source, from, to, carry, bytes: there.bytes, sidecar: there.sidecar }
    }

    /// Changes the target in a way that the random numbers choose, and checks the result of converting
    /// it back.
    ///
    /// # Errors
    ///
    /// Returns the change, the files and the counts if bytes are lost without a report.
    pub(crate) fn check_change(&self, state: &mut u64) -> Result<(), String> {
        let mut lines: Vec<Vec<u8>> =
            self.bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        if lines.is_empty() {
            return Ok(());
        }
        let change = self.change(&mut lines, state);
        self.check(&lines.concat(), change)
    }

    fn change(&self, lines: &mut Vec<Vec<u8>>, state: &mut u64) -> &'static str {
        let n_lines = lines.len();
        let at = next(state) as usize % n_lines;
        let other = next(state) as usize % n_lines;
        match next(state) % 12 {
            0 => {
                lines.truncate(at);
                "cut at a line"
            }
            1 => {
                lines.truncate(at + 1);
                let length = next(state) as usize % (lines[at].len() + 1);
                lines[at].truncate(length);
                "cut at a byte"
            }
            2 => {
                lines.swap(at, other);
                "two lines swapped"
            }
            3 => {
                let line = lines.remove(at);
                lines.insert(other, line);
                "a line moved"
            }
            4 => {
                let line = lines[at].clone();
                lines.insert(other, line);
                "a line doubled"
            }
            5 => {
                lines.remove(at);
                "a line deleted"
            }
            6 | 7 => {
                edit(&mut lines[at], state);
                "an edit"
            }
            8 => {
                respell(&mut lines[at], state);
                "a line respelt"
            }
            9 => {
                let foreign: [&[u8]; 6] = [
                    b"{}\n",
                    b"\n",
                    b"not JSON\n",
                    b"{\"type\":\"title\",\"title\":\"Another title\"}\n",
                    b"{\"type\":\"user_message\",\"role\":\"user\",\"content\":[{\"text\":\"Added\",\"type\":\"text\"}]}\n",
                    b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"Added\"},\"uuid\":\"00000000-0000-4000-8000-00000000000a\",\"sessionId\":\"s\"}\n",
                ];
                lines.insert(at, foreign[next(state) as usize % foreign.len()].to_vec());
                "a line inserted"
            }
            10 => {
                let byte = lines[at].len();
                let place = next(state) as usize % byte;
                lines[at][place] = b"\"{}[]:,0aZ^\\"[next(state) as usize % 12];
                "a byte changed"
            }
            _ => {
                let title = lines.iter().position(|line| is_about(line));
                edit(&mut lines[title.unwrap_or(at)], state);
                "a line about the session edited"
            }
        }
    }

    fn check(&self, changed: &[u8], change: &str) -> Result<(), String> {
        let sidecar = self.sidecar.as_deref().map(|it| Sidecar::read(it).expect("a sidecar"));
        let (from, to) = (self.to, self.from);
        let options = Options::default();
        let back = Conversion { formats: FORMATS, from, to, carry: CarryMode::Inline, options };
        let Converted { bytes: restored, report, .. } =
            back.convert(changed, sidecar).expect("memory has no errors");
        let tally = report.restored;
        let is_law = restored == self.source
            || report.wants_attention()
            // Added lines are converted, and no source line is missing.
            || tally.added > 0 && has_all(&restored, self.source)
            || is_bare(changed, from) && self.sidecar.is_none();
        // An edit counts as no difference, except a new title of a document that the source's format cannot show.
        let title = shown_title(changed);
        let is_title_lost = title != shown_title(&self.bytes)
            && title.is_some_and(|title| memchr::memmem::find(&restored, title).is_none());
        if is_law && tally.differs <= u64::from(is_title_lost) {
            return Ok(());
        }
        Err(format!(
            "{} to {}, {:?}, {change}: {tally:?}\nsource:\n{}\nwritten:\n{}\nchanged:\n{}\nrestored:\n{}",
            self.from.name,
            self.to.name,
            self.carry,
            String::from_utf8_lossy(self.source),
            String::from_utf8_lossy(&self.bytes),
            String::from_utf8_lossy(changed),
            String::from_utf8_lossy(&restored),
        ))
    }
}

/// Returns the first title in a written document, as it is spelled.
fn shown_title(document: &[u8]) -> Option<&[u8]> {
    const KEY: &[u8] = b"\"title\":\"";
    let title = &document[memchr::memmem::find(document, KEY)? + KEY.len()..];
    Some(&title[..memchr::memchr(b'"', title)?])
}

/// Returns whether a file has no carry: then nothing shows that it was converted. A carry in an object
/// with another name than that of its place, or inside one, is a member like any other.
fn is_bare(changed: &[u8], format: &Format) -> bool {
    memchr::memmem::find_iter(changed, b"\"_carried\":").all(|at| {
        !format.carry_places.is_empty()
            && format.carry_places.iter().all(|place| is_elsewhere(&changed[..at], place))
    })
}

/// Returns whether the objects that begin at the end of `before` have other names than a place, such as
/// `parts[].metadata.convert`: `"metadata":{"convers":{` and `"m7tadata":{"convert":{` have.
fn is_elsewhere(before: &[u8], place: &str) -> bool {
    let mut before = before;
    for name in place.rsplit('.').take_while(|name| !name.ends_with("[]")) {
        // The carry is the only member of its object at a place. Outer objects may have others before.
        let Some(object) = before.trim_ascii_end().strip_suffix(b"{") else { return false };
        let Some(key) = object.trim_ascii_end().strip_suffix(b":") else { return false };
        let quoted = format!("\"{name}\"");
        match key.trim_ascii_end().strip_suffix(quoted.as_bytes()) {
            Some(rest) => before = rest,
            None => return true,
        }
    }
    false
}

/// Returns whether a file contains all bytes of a source in their order, blanks left out.
fn has_all(restored: &[u8], source: &[u8]) -> bool {
    let is_said = |byte: &&u8| !byte.is_ascii_whitespace();
    let mut restored = restored.iter().filter(is_said);
    source.iter().filter(is_said).all(|byte| restored.any(|it| it == byte))
}

fn is_about(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    ["\"project_path\"", "\"type\":\"meta\"", "title\"", "\"subtype\":\"init\""]
        .iter()
        .any(|words| text.contains(words))
}

/// Changes a letter or a digit of a line before its carry.
fn edit(line: &mut [u8], state: &mut u64) {
    let shown = memchr::memmem::find(line, b"\"_carried\"").unwrap_or(line.len());
    let places: Vec<usize> = (0..shown).filter(|at| line[*at].is_ascii_alphanumeric()).collect();
    if let Some(place) = places.get(next(state) as usize % places.len().max(1)) {
        line[*place] = if line[*place] == b'7' { b'8' } else { b'7' };
    }
}

/// Changes the spelling of a line, as another program might.
fn respell(line: &mut Vec<u8>, state: &mut u64) {
    let Ok(text) = std::str::from_utf8(line) else { return };
    let text = text.trim_end();
    if jsonl::validate(text.as_bytes()).is_err() {
        return;
    }
    let mut respelt = Vec::new();
    match next(state) % 3 {
        0 => jsonl::respell_str(&mut respelt, text, Style::Python),
        1 => jsonl::respell_str(&mut respelt, text, Style::Compact),
        _ => {
            let Ok(value) = serde_json::from_str::<serde_json::Value>(text) else { return };
            respelt = value.to_string().into_bytes();
        }
    }
    respelt.push(b'\n');
    *line = respelt;
}

/// Returns the next number of a xorshift generator.
pub(crate) fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state >> 11
}
