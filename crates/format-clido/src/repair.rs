//! Repairs a session that clido does not load, or that was cut while tools ran.
//!
//! In: a call without a result, and a torn last line. Out: the same session without the torn line,
//! with a `tool_result` line that reports the interruption.

use core_model::{Check, Place, Problem};
use jsonl::{Line, RawBuf, Scanner, Value};

use crate::{
    ContentBlock, Record, SessionLine,
    history::{INTERRUPTED, interrupted},
    store::loadable,
    validate::{self, is_resumable},
};

/// What to do with lines that clido does not load.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum BadLines {
    /// Leave them out. This is the default.
    #[default]
    Drop,
    /// Keep them. clido still does not load the session.
    Keep,
}

/// A repaired session and a list of the changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repaired {
    /// The session as JSON Lines.
    pub session: Vec<u8>,
    /// The problems of the lines that clido does not load.
    pub bad_lines: Vec<Problem>,
    /// Blocks that clido does not resume with. They are left out like bad lines.
    pub bad_blocks: Vec<RawBuf>,
    /// Ids of the calls that got an error result.
    pub closed: Vec<String>,
}

/// Repairs a session. Lines that clido does not load are left out or kept. Each call without a
/// result gets a line with the error result that clido itself would add on loading. All other lines
/// stay byte for byte.
///
/// ```
/// use format_clido::{BadLines, repair, validate_strict};
///
/// let session = br#"{"type":"meta","session_id":"s","schema_version":1,"start_time":"t","project_path":"/p"}
/// {"type":"user_message","role":"user","content":[]}
/// {"type":"assistant_message","content":[{"id":"t","input":{},"name":"Bash","type":"tool_use"}]}
/// {"type":"tool_ca"#;
/// let repaired = repair(session, BadLines::Drop);
/// assert_eq!((repaired.bad_lines.len(), repaired.closed), (1, vec!["t".to_owned()]));
/// assert!(validate_strict(&repaired.session).is_empty());
/// ```
pub fn repair(session: &[u8], bad_lines: BadLines) -> Repaired {
    let mut repaired = Repaired::default();
    let mut repairer = Repairer::new(bad_lines);
    for line in jsonl::lines(session) {
        repairer.line(&line, &mut |step| repaired.push(step));
    }
    repairer.finish(&mut |step| repaired.push(step));
    repaired
}

/// A step of a repair: a line of the repaired session, or a change.
#[derive(Debug)]
pub enum RepairStep<'s> {
    /// The current line as it is, without its newline.
    Kept(&'s [u8]),
    /// The current line without its bad blocks or with results of open calls, or a line that was added before it.
    Written(&'s [u8]),
    /// The current line is one that clido does not load. [`BadLines::Drop`] leaves it out.
    BadLine(Problem),
    /// A block of the current line was left out.
    BadBlock(RawBuf),
    /// The call with this id got an error result.
    Closed(String),
}

/// A repair that gets the lines of a session one by one. It keeps the ids of open calls.
#[derive(Debug)]
pub struct Repairer {
    bad_lines: BadLines,
    check: Check,
    scanner: Scanner,
    n_lines: u64,
    open: OpenCalls,
}

/// Receives each step.
type EachStep<'e> = dyn FnMut(RepairStep<'_>) + 'e;

impl Repairer {
    /// Creates a repair of a session.
    pub fn new(bad_lines: BadLines) -> Self {
        let check = Check::new(validate::checker());
        let (scanner, open) = (Scanner::default(), OpenCalls::default());
        Self { bad_lines, check, scanner, n_lines: 0, open }
    }

    /// Repairs the next line, and calls `each` with the steps in order.
    pub fn line(&mut self, line: &Line<'_>, each: &mut dyn FnMut(RepairStep<'_>)) {
        self.n_lines = self.n_lines.saturating_add(1);
        let bytes = line.bytes().strip_suffix(b"\n").unwrap_or(line.bytes());
        if validate::is_blank(line) {
            return each(RepairStep::Kept(bytes));
        }
        let place = Place { line: self.n_lines, offset: line.offset() };
        let value = self.scanner.scan(line);
        if let Err(problem) = loadable(&mut self.check, line, value, place) {
            each(RepairStep::BadLine(problem));
            if self.bad_lines == BadLines::Keep {
                each(RepairStep::Kept(bytes));
            }
            return;
        }
        let Ok(value) = value else { return each(RepairStep::Kept(bytes)) };
        match mended(value, self.bad_lines, &mut self.open, each) {
            Some(written) => each(RepairStep::Written(written.as_bytes())),
            None => each(RepairStep::Kept(bytes)),
        }
    }

    /// Ends the session: closes its last calls.
    pub fn finish(mut self, each: &mut dyn FnMut(RepairStep<'_>)) {
        self.open.close(each);
    }
}

/// Returns a line without its bad blocks and with results of open calls; `None` if it stays as it is.
fn mended(
    line: Value<'_>,
    bad_lines: BadLines,
    open: &mut OpenCalls,
    each: &mut EachStep<'_>,
) -> Option<String> {
    let is_bad = |block| !is_resumable(block);
    let has_bad = bad_lines == BadLines::Drop && is_message(line) && blocks(line).any(is_bad);
    let unanswered = open.note(line, each);
    if !has_bad && unanswered.is_empty() {
        return None;
    }
    let mut said = SessionLine::decode(line).ok()?;
    let content = said.content_mut()?;
    if has_bad {
        let bad = content.extract_if(.., |block| ContentBlock::decode(block).is_none());
        bad.for_each(|block| each(RepairStep::BadBlock(block)));
    }
    for id in unanswered {
        content.push(interrupted(&id).encode());
        each(RepairStep::Closed(id));
    }
    said.encode().ok()
}

/// Returns whether a line is a message.
fn is_message(value: Value<'_>) -> bool {
    matches!(Record::decode(value), Record::UserMessage(_) | Record::AssistantMessage(_))
}

/// Returns the blocks of a message.
fn blocks<'l>(value: Value<'l>) -> impl Iterator<Item = Value<'l>> {
    value.get("content").into_iter().flat_map(|content| content.items())
}

/// Returns the texts of a member in the blocks of a type that clido resumes with.
fn texts_of<'l>(value: Value<'l>, kind: &str, name: &str) -> Vec<String> {
    let text = |block: Value<'l>| {
        let is_wanted = is_resumable(block) && block.get("type")?.text()?.is(kind);
        is_wanted.then(|| Some(block.get(name)?.text()?.decode().into_owned())).flatten()
    };
    blocks(value).filter_map(text).collect()
}

impl Repaired {
    fn push(&mut self, step: RepairStep<'_>) {
        match step {
            RepairStep::Kept(line) | RepairStep::Written(line) => {
                self.session.extend_from_slice(line);
                self.session.push(b'\n');
            }
            RepairStep::BadLine(problem) => self.bad_lines.push(problem),
            RepairStep::BadBlock(block) => self.bad_blocks.push(block),
            RepairStep::Closed(id) => self.closed.push(id),
        }
    }
}

/// Calls of the last response without a result.
#[derive(Debug, Default)]
struct OpenCalls {
    ids: Vec<String>,
    has_results: bool,
}

impl OpenCalls {
    /// Updates the open calls before a line is written. Returns the calls whose results the line must get.
    fn note(&mut self, line: Value<'_>, each: &mut EachStep<'_>) -> Vec<String> {
        match Record::decode(line) {
            Record::UserMessage(_) => {
                let results = texts_of(line, "tool_result", "tool_use_id");
                // Only the next message can answer the calls: this one, or the lines of results
                // before it.
                if self.has_results || results.is_empty() {
                    self.close(each);
                    return Vec::new();
                }
                self.ids.retain(|id| !results.contains(id));
                return std::mem::take(&mut self.ids);
            }
            Record::AssistantMessage(_) => {
                self.close(each);
                self.ids.extend(texts_of(line, "tool_use", "id"));
            }
            Record::ToolResult(result) => {
                let id = result.tool_use_id;
                self.ids.retain(|open| !id.is_some_and(|id| id.is(open)));
                self.has_results = true;
            }
            _ => {}
        }
        Vec::new()
    }

    /// Writes an error result for each open call.
    fn close(&mut self, each: &mut EachStep<'_>) {
        self.has_results = false;
        for id in self.ids.drain(..) {
            let line = SessionLine::ToolResult {
                tool_use_id: id.clone(),
                tool_name: None,
                content: INTERRUPTED.to_owned(),
                is_error: true,
                duration_ms: None,
                path: None,
                content_hash: None,
                mtime_nanos: None,
            };
            let line = line.encode().expect("strings alone are loadable");
            each(RepairStep::Written(line.as_bytes()));
            each(RepairStep::Closed(id));
        }
    }
}
