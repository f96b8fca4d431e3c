//! Repairs a session that clido does not load, or that was cut while tools ran.
//!
//! In: a call without a result, and a torn last line. Out: the same session without the torn line,
//! with a `tool_result` line that reports the interruption.

use core_model::Problem;
use jsonl::RawBuf;

use crate::{
    ContentBlock, SessionLine, SessionReader,
    history::{INTERRUPTED, interrupted},
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
    let mut open = OpenCalls::default();
    for line in SessionReader::from_slice(session).strict().lines_raw().map_while(Result::ok) {
        let bytes = line.bytes.strip_suffix(b"\n").unwrap_or(&line.bytes);
        match line.line {
            Err(problem) => {
                repaired.bad_lines.push(problem);
                if bad_lines == BadLines::Keep {
                    repaired.push_line(bytes);
                }
            }
            Ok(None) => repaired.push_line(bytes),
            Ok(Some(mut said)) => {
                let is_mended = bad_lines == BadLines::Drop && repaired.drop_bad_blocks(&mut said);
                let is_answered = open.note(&mut said, &mut repaired);
                match said.encode() {
                    Ok(mended) if is_mended || is_answered => repaired.push_line(mended.as_bytes()),
                    _ => repaired.push_line(bytes),
                }
            }
        }
    }
    open.close(&mut repaired);
    repaired
}

impl Repaired {
    fn push_line(&mut self, line: &[u8]) {
        self.session.extend_from_slice(line);
        self.session.push(b'\n');
    }

    /// Removes bad blocks from a line and returns whether there were any.
    fn drop_bad_blocks(&mut self, line: &mut SessionLine) -> bool {
        let n_before = self.bad_blocks.len();
        if let Some(content) = line.content_mut() {
            self.bad_blocks.extend(content.extract_if(.., |block| is_bad(block)));
        }
        self.bad_blocks.len() > n_before
    }
}

fn is_bad(block: &RawBuf) -> bool {
    ContentBlock::decode(block).is_none()
}

/// Calls of the last response without a result.
#[derive(Default)]
struct OpenCalls {
    ids: Vec<String>,
    has_results: bool,
}

impl OpenCalls {
    /// Updates the open calls before a line is written. Returns whether a result was added to the
    /// line.
    fn note(&mut self, line: &mut SessionLine, repaired: &mut Repaired) -> bool {
        match line {
            SessionLine::UserMessage { content, .. } => {
                let results: Vec<String> = content
                    .iter()
                    .filter_map(|block| match ContentBlock::decode(block)? {
                        ContentBlock::ToolResult { tool_use_id, .. } => Some(tool_use_id),
                        _ => None,
                    })
                    .collect();
                // Only the next message can answer the calls: this one, or the lines of results
                // before it.
                if self.has_results || results.is_empty() {
                    self.close(repaired);
                    return false;
                }
                self.ids.retain(|id| !results.contains(id));
                let n_open = self.ids.len();
                for id in self.ids.drain(..) {
                    content.push(interrupted(&id).encode());
                    repaired.closed.push(id);
                }
                n_open > 0
            }
            SessionLine::AssistantMessage { content } => {
                self.close(repaired);
                for block in content.iter().filter_map(ContentBlock::decode) {
                    if let ContentBlock::ToolUse { id, .. } = block {
                        self.ids.push(id);
                    }
                }
                false
            }
            SessionLine::ToolResult { tool_use_id, .. } => {
                self.ids.retain(|id| id != tool_use_id);
                self.has_results = true;
                false
            }
            _ => false,
        }
    }

    /// Writes an error result for each open call.
    fn close(&mut self, repaired: &mut Repaired) {
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
            repaired.push_line(line.as_bytes());
            repaired.closed.push(id);
        }
    }
}
