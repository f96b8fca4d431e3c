//! Keeps the facts of each event in a few bytes, so that the facts of some events can be computed when
//! the plan of the conversation is known, and no line is read again for them.
//!
//! In: a prompt at offset 0, and 300 bytes later another one, of the same session, folder and version. Out, for the
//! second one, 35 bytes:
//!
//! ```text
//! 1c 54 01 00           flags: a message, a prompt, with text of the user, a session id, ..
//! 2c 01 00 00           300 bytes behind the event before
//! 1a 22 32 30 .. 22     26 bytes: the time as written
//! ```

use super::{
    Facts,
    calls::SharedCalls,
    event_facts::{EventFacts, Mention},
};
use crate::{Answers, Event, IdHasher, TitleRank, views::Spoken, words::Words};

/// Limit in bytes for a log. A usual event has 40 bytes, so that this is a session of about 100,000 lines.
const MAX_BYTES: usize = 4 * 1024 * 1024;

const IS_SIDECHAIN: u32 = 1;
const NAMES_TOOL_USE: u32 = 1 << 1;
const IS_MESSAGE: u32 = 1 << 2;
const IS_PROMPT: u32 = 1 << 3;
const HAS_USER_TEXT: u32 = 1 << 4;
const IS_RELOCATION: u32 = 1 << 5;
const HAS_OUTCOME: u32 = 1 << 6;
const HAS_COMPACTION: u32 = 1 << 7;
const HAS_START: u32 = 1 << 8;
/// The event says something as the assistant.
const IS_SAID: u32 = 1 << 9;
/// A word, and whether it is another one than the last word of its kind.
const SESSION_ID: u32 = 1 << 10;
const CWD: u32 = 1 << 12;
const VERSION: u32 = 1 << 14;
const TIME: u32 = 1 << 16;
/// The offset is too far from the one before for four bytes.
const IS_FAR: u32 = 1 << 17;
const PERMISSION_MODE: u32 = 1 << 18;
const MODEL: u32 = 1 << 20;
const TITLE: u32 = 1 << 22;
const ANSWER: u32 = 1 << 23;
const MENTIONS: u32 = 1 << 24;

/// The facts of each event of a session in the order of the file, at most 4 MiB of them.
///
/// ```
/// use core_model::{FactLog, Facts};
/// # use core_model::{Body, Content, Event, Message, Role};
/// # let mut scanner = jsonl::Scanner::default();
/// # let line = scanner.scan_slice(br#"{"text":"Hi"}"#, 0)?;
/// # let content = Content::Text(line.get("text").and_then(|text| text.text()).expect("a text"));
/// # let said = Message::new(Role::User, content);
/// # let event = Event { body: Body::Message(said), ..Event::other("message", line) };
/// let mut facts = Facts::default();
/// let mut log = FactLog::new(&facts);
/// for offset in [0, 300, 600] {
///     log.observe(offset, &event, Some(&mut facts));
/// }
/// assert_eq!(facts.n_messages, 3);
///
/// // The line at offset 300 turns out to be in a branch that was left.
/// let shown = log.facts(&mut |event| event.offset != 300).expect("the log is small");
/// assert_eq!(shown.n_messages, 2);
/// # Ok::<(), jsonl::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct FactLog {
    bytes: Vec<u8>,
    /// The mentions of the event that is being added.
    mentions: Vec<u8>,
    words: Words,
    /// The size of the words.
    n_word_bytes: usize,
    last: Last,
    hasher: IdHasher,
    is_full: bool,
}

/// The values of the events before, from which the next ones differ.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    offset: u64,
    session_id: u32,
    cwd: u32,
    version: u32,
    permission_mode: u32,
    model: u32,
}

/// An event in a log.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LoggedEvent {
    /// The offset of its line.
    pub offset: u64,
    /// Whether it is a message.
    pub is_message: bool,
    /// Whether it is in a side chain.
    pub is_sidechain: bool,
    /// Whether it names the tool use that started its sub-agent.
    pub names_tool_use: bool,
}

impl FactLog {
    /// Creates an empty log. Its hashes are the ones of these facts.
    pub fn new(facts: &Facts) -> Self {
        Self { hasher: facts.hasher().clone(), ..Self::default() }
    }

    /// Adds an event of the line at an offset to the log, and to facts.
    pub fn observe(&mut self, offset: u64, event: &Event<'_>, facts: Option<&mut Facts>) {
        if self.is_full {
            facts.into_iter().for_each(|facts| facts.observe(event));
            return;
        }
        let Self { mentions, hasher, .. } = self;
        let each = |mention: &Mention<'_>| match mention {
            Mention::Call { id, name } => {
                mentions.push(1);
                mentions.extend_from_slice(&id.to_le_bytes());
                push_number(mentions, name.len() as u64);
                mentions.extend_from_slice(name.as_bytes());
            }
            Mention::Result { id } => {
                mentions.push(2);
                mentions.extend_from_slice(&id.to_le_bytes());
            }
        };
        let read = match facts {
            Some(facts) => facts.observe_with(event, each),
            None => EventFacts::read(event, &hasher.clone(), each),
        };
        self.push(offset, event, &read);
    }

    fn push(&mut self, offset: u64, event: &Event<'_>, facts: &EventFacts<'_>) {
        let Self { bytes, mentions, words, n_word_bytes, last, .. } = self;
        let said = match facts.said {
            Some(Spoken::Message) => IS_SAID,
            Some(Spoken::Answer(_)) => ANSWER,
            None => 0,
        };
        let mut flags = said
            | flag(event.context.is_sidechain, IS_SIDECHAIN)
            | flag(event.context.parent_tool_use.is_some(), NAMES_TOOL_USE)
            | flag(facts.is_message, IS_MESSAGE)
            | flag(facts.is_prompt, IS_PROMPT)
            | flag(facts.has_user_text, HAS_USER_TEXT)
            | flag(facts.is_relocation, IS_RELOCATION)
            | flag(facts.has_outcome, HAS_OUTCOME)
            | flag(facts.has_compaction, HAS_COMPACTION)
            | flag(facts.has_start, HAS_START)
            | flag(facts.title.is_some(), TITLE)
            | flag(!mentions.is_empty(), MENTIONS);
        let (mut new_words, mut n_new) = ([0u32; 5], 0);
        let mut note = |word: Option<&str>, kind: u32, last: &mut u32| {
            let Some(word) = word else { return };
            flags |= kind;
            if words.get(*last) != Some(word) {
                *last = number(words, n_word_bytes, word);
                flags |= kind << 1;
                if let Some(new) = new_words.get_mut(n_new) {
                    (*new, n_new) = (*last, n_new + 1);
                }
            }
        };
        note(facts.session_id, SESSION_ID, &mut last.session_id);
        note(facts.cwd, CWD, &mut last.cwd);
        note(facts.version, VERSION, &mut last.version);
        note(facts.permission_mode, PERMISSION_MODE, &mut last.permission_mode);
        note(facts.model, MODEL, &mut last.model);
        flags |= flag(facts.time.is_some(), TIME);
        if flags == 0 {
            return;
        }
        let more = offset.wrapping_sub(last.offset);
        last.offset = offset;
        let near = u32::try_from(more).unwrap_or_default();
        let is_far = u64::from(near) != more;
        let head = u64::from(flags | flag(is_far, IS_FAR)) | u64::from(near) << 32;
        bytes.extend_from_slice(&head.to_le_bytes());
        if is_far {
            bytes.extend_from_slice(&more.to_le_bytes());
        }
        for new in new_words.get(..n_new).unwrap_or_default() {
            push_number(bytes, (*new).into());
        }
        if let Some(time) = facts.time {
            push_number(bytes, time.len() as u64);
            bytes.extend_from_slice(time.as_bytes());
        }
        if let Some((rank, text)) = facts.title {
            bytes.push(rank as u8);
            push_number(bytes, number(words, n_word_bytes, text).into());
        }
        if let Some(Spoken::Answer(hash)) = facts.said {
            bytes.extend_from_slice(&hash.to_le_bytes());
        }
        if !mentions.is_empty() {
            push_number(bytes, mentions.len() as u64);
            bytes.append(mentions);
        }
        if bytes.len() + *n_word_bytes > MAX_BYTES {
            *self = Self { hasher: self.hasher.clone(), is_full: true, ..Self::default() };
        }
    }

    /// Returns the facts of the events for which `is_shown` returns true, answers that no message has included
    /// ([`Answers`]); `None` if there were too many events for the log.
    pub fn facts(&self, is_shown: &mut dyn FnMut(&LoggedEvent) -> bool) -> Option<Facts> {
        if self.is_full {
            return None;
        }
        let calls = SharedCalls::new(self.hasher.clone());
        let mut facts = Facts { calls, ..Facts::default() };
        let (mut log, mut last, mut answers) =
            (Log(&self.bytes), Last::default(), Answers::default());
        // The last time is copied once.
        let mut end = None;
        while !log.0.is_empty() {
            let flags = u32::from_le_bytes(*log.take()?);
            let more = u32::from_le_bytes(*log.take()?).into();
            let more = if flags & IS_FAR != 0 { u64::from_le_bytes(*log.take()?) } else { more };
            last.offset = last.offset.wrapping_add(more);
            let has = |flag: u32| flags & flag != 0;
            let mut word = |kind: u32, last: &mut u32| {
                if has(kind << 1) {
                    *last = log.number()?.try_into().ok()?;
                }
                has(kind).then_some(*last)
            };
            let session_id = word(SESSION_ID, &mut last.session_id);
            let cwd = word(CWD, &mut last.cwd);
            let version = word(VERSION, &mut last.version);
            let permission_mode = word(PERMISSION_MODE, &mut last.permission_mode);
            let model = word(MODEL, &mut last.model);
            let time = match has(TIME) {
                true => Some(log.text()?),
                false => None,
            };
            let title = match has(TITLE) {
                true => {
                    let [rank] = *log.take()?;
                    Some((
                        TITLE_RANKS.get(usize::from(rank)).copied()?,
                        u32::try_from(log.number()?).ok()?,
                    ))
                }
                false => None,
            };
            let said = match has(ANSWER) {
                true => Some(Spoken::Answer(u64::from_le_bytes(*log.take()?))),
                false => has(IS_SAID).then_some(Spoken::Message),
            };
            let mut mentions = match has(MENTIONS) {
                true => Log(log.bytes()?),
                false => Log(&[]),
            };
            let event = LoggedEvent {
                offset: last.offset,
                is_message: has(IS_MESSAGE),
                is_sidechain: has(IS_SIDECHAIN),
                names_tool_use: has(NAMES_TOOL_USE),
            };
            if !is_shown(&event) {
                continue;
            }
            // An answer is a message of its own.
            facts.n_messages += u64::from(said.is_some_and(|said| answers.is_new(said)));
            while let Some([tag]) = mentions.take() {
                let id = u64::from_le_bytes(*mentions.take()?);
                facts.add_mention(&match tag {
                    1 => Mention::Call { id, name: mentions.text()?.into() },
                    _ => Mention::Result { id },
                });
            }
            end = time.or(end);
            let time = time.filter(|_| facts.start.is_none());
            let text = |number: Option<u32>| self.words.get(number.unwrap_or_default());
            let title = title.and_then(|(rank, word)| Some((rank, self.words.get(word)?)));
            facts.add(&EventFacts {
                session_id: text(session_id),
                cwd: text(cwd),
                version: text(version),
                time,
                permission_mode: text(permission_mode),
                model: text(model),
                title,
                said,
                is_relocation: has(IS_RELOCATION),
                is_message: event.is_message,
                is_prompt: has(IS_PROMPT),
                has_user_text: has(HAS_USER_TEXT),
                has_outcome: has(HAS_OUTCOME),
                has_compaction: has(HAS_COMPACTION),
                has_start: has(HAS_START),
            });
        }
        facts.end = end.map(str::to_owned);
        Some(facts)
    }
}

/// Ranks by their numbers.
const TITLE_RANKS: [TitleRank; 3] = [TitleRank::Summary, TitleRank::Model, TitleRank::User];

/// The rest of a log.
struct Log<'l>(&'l [u8]);

impl<'l> Log<'l> {
    fn take<const N: usize>(&mut self) -> Option<&'l [u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(taken)
    }

    /// Reads a number of seven bits a byte, the lowest first.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let [byte] = *self.take()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn bytes(&mut self) -> Option<&'l [u8]> {
        let length = self.number()?.try_into().ok()?;
        self.0.split_off(..length)
    }

    fn text(&mut self) -> Option<&'l str> {
        std::str::from_utf8(self.bytes()?).ok()
    }
}

fn flag(is_set: bool, flag: u32) -> u32 {
    if is_set { flag } else { 0 }
}

fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Returns the number of a word, and counts the bytes of a new word.
fn number(words: &mut Words, n_word_bytes: &mut usize, word: &str) -> u32 {
    let n_words = words.len();
    let number = words.number(word);
    if words.len() > n_words {
        *n_word_bytes += word.len() + 64;
    }
    number
}
