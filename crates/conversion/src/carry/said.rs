//! Reads the texts of events that every format must show, and compares the texts of a written record with
//! the restored ones.
//!
//! In: `{"role":"assistant","content":[{"type":"text","text":"Hi"},{"type":"tool_use","id":"t","name":"Bash",..}]}`. Out:
//! the text `Hi`, the call `t` of `Bash`, and its input.

use std::{borrow::Cow, hash::Hasher};

use core_model::{Block, Content, Event, Format, Input, Role, ToolName, replacement_tool_name};
use jsonl::{Raw, Style, Text, Value, each_respelt, respell};

use super::{
    portions::{each_portion, is_unread},
    seed::{seeded_hash, seeded_hasher},
};

/// The kind of a compared text.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum Kind {
    User,
    Assistant,
    Thinking,
    /// The id and the name of a tool use.
    Call,
    /// The input of a tool use.
    Input,
    /// The tool use id of a tool result.
    Answer,
    /// The text of a tool result.
    Result,
}

/// Hashes of the texts of messages. Most records agree, and equal hashes show it fast.
#[derive(Debug, Default)]
pub(super) struct Digest {
    hashes: Vec<u64>,
}

impl Digest {
    /// Adds the texts of an event.
    pub(super) fn add(&mut self, event: &Event<'_>) {
        each_piece(event, &mut |kind, piece| self.hashes.push(piece.hash(kind)));
    }

    /// Adds the texts of a record; if `is_whole`, also the texts in lists that are not indexed. Returns false if some
    /// values are not read.
    pub(super) fn add_record(
        &mut self,
        format: &Format,
        record: Value<'_>,
        is_whole: bool,
    ) -> bool {
        let add_to = |digest: &mut Self, record: Value<'_>| {
            format.for_each_event(record, |event| {
                digest.add(event);
                true
            })
        };
        if !is_whole || !is_unread(record) {
            return add_to(self, record);
        }
        let mut outside: Option<Self> = None;
        each_portion(record, &mut |portion| {
            let mut digest = Self::default();
            add_to(&mut digest, portion);
            match &outside {
                Some(outside) => digest.remove(outside),
                None => digest.hashes.sort_unstable(),
            }
            self.hashes.extend_from_slice(&digest.hashes);
            outside.get_or_insert(digest);
            true
        })
    }

    /// Removes the texts of a sorted digest, each as often as that has it.
    fn remove(&mut self, other: &Self) {
        self.hashes.sort_unstable();
        let mut others = other.hashes.iter().peekable();
        self.hashes.retain(|hash| {
            while others.next_if(|other| *other < hash).is_some() {}
            others.next_if_eq(&hash).is_none()
        });
    }

    /// Returns whether two digests have the same texts, in any order.
    pub(super) fn is_equal(&mut self, other: &mut Self) -> bool {
        if self.hashes == other.hashes {
            return true;
        }
        self.hashes.sort_unstable();
        other.hashes.sort_unstable();
        self.hashes == other.hashes
    }

    /// Returns whether another digest has all texts of this one, each at least as often, in any order.
    ///
    /// ```text
    /// this    a b b
    /// others  b a c b  true
    ///         a b c    false
    /// ```
    pub(super) fn is_within(&mut self, other: &mut Self) -> bool {
        self.hashes.sort_unstable();
        other.hashes.sort_unstable();
        let mut others = other.hashes.iter();
        self.hashes.iter().all(|hash| others.find(|other| *other >= hash) == Some(hash))
    }
}

/// The texts that a written record shows, in order: the hash of each as it is written, or `None` for a text that is
/// not one slice of the record.
#[derive(Debug, Default)]
pub(super) struct ShownTexts {
    hashes: Vec<Option<u64>>,
}

impl ShownTexts {
    /// Adds the texts of an event.
    pub(super) fn add(&mut self, event: &Event<'_>) {
        each_piece(event, &mut |kind, piece| self.hashes.push(piece.written_hash(kind)));
    }
}

/// A comparison of restored texts with the shown ones, one by one. Only texts that are spelled in another way are
/// unescaped.
///
/// ```text
/// shown     "caf\u00e9"    "a\nb"
/// restored  "café"         "a\nb"
/// unescaped: the first
/// ```
#[derive(Debug)]
pub(super) struct TextComparison<'t> {
    shown: &'t ShownTexts,
    n_restored: usize,
    /// The places of texts that are spelled in another way, with the hashes of the restored ones, unescaped.
    respelt: Vec<(usize, u64)>,
}

impl<'t> TextComparison<'t> {
    pub(super) fn new(shown: &'t ShownTexts) -> Self {
        Self { shown, n_restored: 0, respelt: Vec::new() }
    }

    /// Adds the texts of an event of a restored record.
    pub(super) fn add(&mut self, event: &Event<'_>) {
        each_piece(event, &mut |kind, piece| {
            let written = piece.written_hash(kind);
            if written.is_none() || self.shown.hashes.get(self.n_restored) != Some(&written) {
                self.respelt.push((self.n_restored, piece.hash(kind)));
            }
            self.n_restored = self.n_restored.saturating_add(1);
        });
    }

    /// Returns whether all texts are equal, in this order. `each_shown` calls its argument with the events of the
    /// written record. If it returns false, the texts may be equal in another order.
    pub(super) fn is_equal(&self, each_shown: impl FnOnce(&mut dyn FnMut(&Event<'_>))) -> bool {
        if self.n_restored != self.shown.hashes.len() {
            return false;
        }
        if self.respelt.is_empty() {
            return true;
        }
        let (mut respelt, mut n, mut is_equal) = (self.respelt.iter().peekable(), 0, true);
        each_shown(&mut |event| {
            each_piece(event, &mut |kind, piece| {
                if let Some((_, restored)) = respelt.next_if(|(place, _)| *place == n) {
                    is_equal = is_equal && piece.hash(kind) == *restored;
                }
                n += 1;
            });
        });
        is_equal
    }
}

/// A text of an event that every format must show.
pub(super) enum SaidPiece<'p, 'l> {
    Text(Text<'l>),
    /// The id and the name of a tool use.
    Call(Text<'l>, ToolName<'l>),
    /// The input of a tool use.
    Input(&'p Input<'l>),
    /// The texts of a tool result.
    Result(&'p Content<'l>),
}

impl<'l> SaidPiece<'_, 'l> {
    /// Returns the text.
    pub(super) fn text(&self) -> Cow<'l, str> {
        match *self {
            SaidPiece::Text(text) => text.decode(),
            SaidPiece::Call(id, name) => {
                [&id.decode(), "\u{1}", &*accepted_name(name)].concat().into()
            }
            SaidPiece::Input(input) => spelled(input.json().raw(), Style::Python).into(),
            SaidPiece::Result(content) => content.joined(),
        }
    }

    /// Returns the hash of the text.
    fn hash(&self, kind: Kind) -> u64 {
        let long = match *self {
            SaidPiece::Input(input) => long_input_hash(input, kind),
            _ => None,
        };
        long.unwrap_or_else(|| self.hash_of_text(kind))
    }

    fn hash_of_text(&self, kind: Kind) -> u64 {
        seeded_hash(kind as u64, &self.text())
    }

    /// Returns the hash of the text as it is written.
    fn written_hash(&self, kind: Kind) -> Option<u64> {
        Some(seeded_hash(kind as u64, &self.written()?))
    }

    /// Returns the text as it is written, if it is one slice of the record; the text of a call is short, and
    /// made in either case.
    fn written(&self) -> Option<Cow<'l, str>> {
        match *self {
            SaidPiece::Text(text) => Some(text.body().into()),
            SaidPiece::Call(..) => Some(self.text()),
            SaidPiece::Input(Input::Json(raw)) => Some(raw.as_str().into()),
            SaidPiece::Input(_) => None,
            SaidPiece::Result(content) => written_result(content),
        }
    }
}

/// The length in bytes from which the hash of an input is computed piece by piece.
const LONG: usize = 256 * 1024;

/// Returns the hash of a long input's text without a copy in another spelling. Duplicate members stay in that text, which
/// only makes the comparison stricter.
fn long_input_hash(input: &Input<'_>, kind: Kind) -> Option<u64> {
    let written = match *input {
        Input::Json(raw) => raw.as_str(),
        Input::JsonString(text) => text.as_str(),
        Input::Text(_) | Input::Member(..) => "",
    };
    if written.len() < LONG {
        return None;
    }
    let mut hasher = seeded_hasher(kind as u64);
    let decoded = match *input {
        // Another text than an object has the member `arguments` around it.
        Input::JsonString(text) => {
            text.try_decode().filter(|it| it.trim_start().starts_with('{'))?
        }
        _ => written.into(),
    };
    each_respelt(decoded.trim(), Style::Python, &mut |piece| hasher.write(piece)).ok()?;
    Some(hasher.finish())
}

/// Returns the only text of a tool result as it is written; `None` if it has several.
fn written_result<'l>(content: &Content<'l>) -> Option<Cow<'l, str>> {
    if matches!(content, Content::Other(_)) {
        return None;
    }
    let mut texts = content.blocks().filter_map(|(block, _)| match block {
        Block::Text(text) => Some(text.body()),
        _ => None,
    });
    let first = texts.next().unwrap_or_default();
    texts.next().is_none().then_some(first.into())
}

/// Calls `each` with the texts of an event that every format must show.
pub(super) fn each_piece<'l>(event: &Event<'l>, each: &mut dyn FnMut(Kind, SaidPiece<'_, 'l>)) {
    let Some(message) = event.message() else { return };
    let said = if message.role == Role::User { Kind::User } else { Kind::Assistant };
    let is_list = matches!(message.content, Content::Blocks(_));
    for (block, raw) in message.blocks() {
        match block {
            // A string in a list of blocks is no block, and formats drop it.
            Block::Text(_) if is_list && raw.as_text().is_some() => {}
            Block::Text(text) => each(said, SaidPiece::Text(text)),
            Block::Thinking { text, .. } => each(Kind::Thinking, SaidPiece::Text(text)),
            Block::ToolUse(tool) if tool.is_server => {}
            Block::ToolUse(tool) => {
                each(Kind::Call, SaidPiece::Call(tool.id, tool.name));
                each(Kind::Input, SaidPiece::Input(&tool.input));
            }
            Block::ToolResult(result) => {
                each(Kind::Answer, SaidPiece::Text(result.tool_use_id));
                each(Kind::Result, SaidPiece::Result(&result.content));
            }
            _ => {}
        }
    }
}

/// Returns a value in the spelling of a style.
pub(super) fn spelled(raw: Raw<'_>, style: Style) -> String {
    let mut written = Vec::new();
    respell(&mut written, raw, style);
    // No copy: a value may be as long as its line.
    String::from_utf8(written)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Returns the name of a tool in the form that an API accepts: writers replace other names.
pub(super) fn accepted_name(name: ToolName<'_>) -> Cow<'_, str> {
    let name = name.decode();
    replacement_tool_name(&name).map_or(name, Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_within_another_one() {
        for (hashes, others, is_within) in [
            (&[][..], &[][..], true),
            (&[], &[1], true),
            (&[1], &[], false),
            (&[2, 1, 2], &[2, 3, 1, 2], true),
            (&[2, 1, 2], &[2, 3, 1, 3], false),
            (&[4], &[3, 5], false),
            (&[1, 5], &[5, 4, 1], true),
        ] {
            let [mut digest, mut other] =
                [hashes, others].map(|hashes| Digest { hashes: hashes.to_vec() });
            assert_eq!(digest.is_within(&mut other), is_within, "{hashes:?} {others:?}");
        }
    }
}
