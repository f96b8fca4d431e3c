//! A toy format: one line for each text that somebody says.
//!
//! ```text
//! {"toy":1,"who":"you","says":"Hello","at":"2026-01-01T10:00:00.000Z"}
//! {"toy":1,"who":"it","says":"Hi. What shall we do?"}
//! ```
//!
//! The row [`TOY`] and a table of formats ([`FORMATS`]) are all that `conversion` needs. What a toy line
//! cannot say, such as a tool call, rides in the carry.
//!
//! ```
//! use conversion::{CarryMode, Conversion};
//! use toy_format::{FORMATS, TOY};
//!
//! let session = concat!(
//!     r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s1","#,
//!     r#""timestamp":"2026-01-01T10:00:00.000Z","message":{"role":"user","content":"Hello"}}"#,
//!     "\n",
//! );
//! let there = Conversion {
//!     formats: FORMATS,
//!     from: &format_claude_code::FORMAT,
//!     to: &TOY,
//!     carry: CarryMode::Inline,
//!     options: Default::default(),
//! };
//! let toy = there.convert(session.as_bytes(), None)?.bytes;
//! assert!(toy.starts_with(br#"{"toy":1,"who":"you","says":"Hello""#));
//!
//! let back = Conversion { from: there.to, to: there.from, ..there.clone() };
//! let restored = back.convert(&toy, None)?.bytes;
//! assert_eq!(restored, session.as_bytes());
//! # Ok::<(), std::io::Error>(())
//! ```

use core_model::{
    Block, Body, Checker, Content, Context, CostPolicy, Event, Facts, Findings, Format, Formats,
    Functions, Limits, LossKind, Message, Options, Output, Role, EventWriter,
};
use jsonl::{Line, Value};

/// The formats that this crate converts between.
pub static FORMATS: Formats = Formats::new(&[&format_claude_code::FORMAT, &TOY]);

/// The toy format.
pub static TOY: Format = Format::new(
    "toy",
    't',
    "one line for each text that somebody says",
    Functions {
        detect: is_toy,
        is_record: is_toy,
        read,
        writer: |_: &Options, _: Facts| Box::new(ToyWriter),
        checker: || Box::new(ToyChecker),
    },
)
.with_inline_agents()
.cost(CostPolicy::Cumulative)
.limits(Limits { head: 0, filler_record: r#"{"toy":1,"who":"nobody""#, filler_record_size: 0 });

/// Returns whether a line is a toy's: no other format has a member `toy`.
fn is_toy(line: Value<'_>) -> bool {
    line.get("toy").is_some_and(|version| version.raw().as_u64() == Some(1))
}

/// Reads a line.
fn read(line: Value<'_>) -> Event<'_> {
    let mut event = Event::other("toy", line);
    let [who, says, at] = line.get_all(["who", "says", "at"]);
    event.context = Context { time: at.map(|at| at.raw()), ..Context::default() };
    let who = who.and_then(|who| who.text());
    let role = match who.map(|who| who.decode()).as_deref() {
        Some("you") => Role::User,
        Some("it") => Role::Assistant,
        _ => return event,
    };
    let content = Content::new(says, |block| Block::Other { kind: None, raw: block.raw() });
    event.body = Body::Message(Message::new(role, content));
    event
}

/// Writes events as toy lines. No line needs another: there is no state.
struct ToyWriter;

impl EventWriter for ToyWriter {
    fn write(&mut self, event: &Event<'_>, out: &mut Output) {
        let Some(message) = event.message() else { return out.lose_record(event) };
        for (block, _) in message.blocks() {
            let Block::Text(text) = block else {
                out.lose(LossKind::Dropped, "blocks that are no text");
                continue;
            };
            let line = out.open();
            let who = if message.role == Role::User { "you" } else { "it" };
            out.put(line, r#"{"toy":1,"who":""#);
            out.put(line, who);
            out.put(line, r#"","says":"#);
            out.copy_text(line, text);
            if let Some(time) = event.context.time {
                out.put(line, r#","at":"#);
                out.put_raw(line, time);
            }
            out.put(line, "}");
            out.emit(line);
        }
        out.lose_members(event);
    }

    fn resume(&mut self, _: &Event<'_>, _: &mut Output) {}

    fn finish(&mut self, _: &mut Output) {}
}

/// Finds nothing: there is no client that would refuse a toy line.
struct ToyChecker;

impl Checker for ToyChecker {
    fn line(&mut self, _: &Line<'_>, _: jsonl::Result<Value<'_>>, _: &mut Findings<'_>) {}

    fn finish(&mut self, _: &mut Findings<'_>) {}
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Cursor, path::Path};

    use conversion::{CarryMode, Conversion, Converted, Detected, Sidecar, Source, detect_format};

    use super::*;

    fn to_toy() -> Conversion {
        Conversion {
            formats: FORMATS,
            from: &format_claude_code::FORMAT,
            to: &TOY,
            carry: CarryMode::Inline,
            options: Options::default(),
        }
    }

    #[test]
    fn every_fixture_of_claude_code_comes_back() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/claude-code");
        let there = to_toy();
        let back = Conversion { from: there.to, to: there.from, ..there.clone() };
        let mut n_files = 0;
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_none_or(|ending| ending != "jsonl") {
                continue;
            }
            let source = fs::read(&path).expect("read");
            let Converted { bytes: toy, sidecar, .. } =
                there.convert(&source, None).expect("converted");
            let sidecar = sidecar.map(|bytes| Sidecar::open(Cursor::new(bytes)).expect("opened"));
            let restored = back.convert(&toy, sidecar).expect("restored").bytes;
            assert!(restored == source, "{}", path.display());
            n_files += 1;
        }
        assert!(n_files > 10, "{n_files} fixtures");
    }

    #[test]
    fn a_toy_is_detected_and_converted() {
        let toy = concat!(
            r#"{"toy":1,"who":"you","says":"Hello","at":"2026-01-01T10:00:00.000Z"}"#,
            "\n",
            r#"{"toy":1,"who":"it","says":"Hi"}"#,
            "\n",
        );
        let mut source = Source::new(Cursor::new(toy.as_bytes()));
        let found = detect_format(FORMATS, &mut source).expect("read");
        assert!(matches!(found, Detected::Format(format) if format.name == "toy"));
        let there = Conversion { from: &TOY, to: &format_claude_code::FORMAT, ..to_toy() };
        let Converted { bytes: written, report, .. } =
            there.convert(toy.as_bytes(), None).expect("converted");
        assert_eq!((report.lines_in, report.lines_out), (2, 2));
        let back = Conversion { from: there.to, to: there.from, ..there.clone() };
        assert_eq!(back.convert(&written, None).expect("restored").bytes, toy.as_bytes());
    }
}
