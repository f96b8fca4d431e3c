//! Says whether clido would load a file, resume it, and list it (FORMAT.md).

mod shape;

use std::fmt;

use jsonl::{ErrorKind, Line, Scanner, Value};

use self::shape::{members_of_block, members_of_line};
use crate::{
    SCHEMA_VERSION,
    loadable::{MAX_DEPTH, is_loadable},
};

/// A reason for which clido refuses a file, or does not show it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Problem {
    /// The number of the line, from 1.
    pub line: u64,
    /// The offset from the start of the file, in bytes: of the fault if it is one of spelling,
    /// else of the line.
    pub offset: u64,
    /// What clido does not get to do.
    pub stage: Stage,
    /// What it expects.
    pub rule: Rule,
}

impl Problem {
    /// Returns whether clido refuses to load or to resume the session, rather than to list it.
    pub fn is_fatal(&self) -> bool {
        self.stage != Stage::List
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.rule)
    }
}

/// What clido does with a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stage {
    /// It reads all lines, or refuses the file.
    Load,
    /// It makes messages of the lines, or refuses to go on with the session.
    Resume,
    /// It shows the session in its lists and keeps it.
    List,
}

/// What clido expects of a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Rule {
    /// No byte order mark.
    ByteOrderMark,
    /// A JSON value per line.
    Json(ErrorKind),
    /// No half of a surrogate pair, no number beyond an `f64`, no nesting beyond 127.
    Loadable,
    /// An object per line.
    Object,
    /// A known `type`.
    Type,
    /// A schema version that is not newer than 1.
    SchemaVersion,
    /// No second member of a name that clido knows.
    Duplicate(&'static str),
    /// A member, and of its type.
    Member(&'static str),
    /// A content block of a known type.
    BlockType,
    /// A content block's member, and of its type.
    BlockMember(&'static str),
    /// A meta line first.
    MetaFirst,
    /// A message of the user.
    UserMessage,
    /// A last result that does not count 0 turns.
    Turns,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::ByteOrderMark => f.write_str("byte order mark"),
            Rule::Json(kind) => write!(f, "{kind}"),
            Rule::Loadable => {
                f.write_str("lone surrogate, number out of range, or nested too deeply")
            }
            Rule::Object => f.write_str("not an object"),
            Rule::Type => f.write_str("unknown or missing type"),
            Rule::SchemaVersion => f.write_str("unsupported schema version"),
            Rule::Duplicate(name) => write!(f, "duplicate member `{name}`"),
            Rule::Member(name) => write!(f, "member `{name}` missing or of another type"),
            Rule::BlockType => f.write_str("content block of unknown or missing type"),
            Rule::BlockMember(name) => {
                write!(f, "member `{name}` of a content block missing or of another type")
            }
            Rule::MetaFirst => f.write_str("meta line not first"),
            Rule::UserMessage => f.write_str("no user message"),
            Rule::Turns => f.write_str("last result counts no turns"),
        }
    }
}

/// Returns why clido 1.0.15 would refuse or not show a session file; nothing if it is in order.
///
/// A file is loaded and resumed exactly if no problem is [fatal](Problem::is_fatal).
///
/// ```
/// let problems = format_clido::validate_strict(b"{\"type\":\"title\",\"title\":null}\n");
/// assert!(problems[0].is_fatal());
/// assert_eq!(problems[0].to_string(), "line 1: member `title` missing or of another type");
/// ```
pub fn validate_strict(bytes: &[u8]) -> Vec<Problem> {
    let mut check = Check::default();
    let mut scanner = Scanner::default();
    if bytes.starts_with(b"\xef\xbb\xbf") {
        check.line = 1;
        check.add(Stage::Load, Rule::ByteOrderMark);
    }
    for line in jsonl::lines(bytes) {
        check.line += 1;
        check.offset = line.offset();
        if !is_blank(&line) {
            check.line(&line, &mut scanner);
        }
    }
    check.finish();
    check.problems
}

/// Returns whether clido skips a line; it trims more than JSON's white space.
fn is_blank(line: &Line<'_>) -> bool {
    std::str::from_utf8(line.bytes()).is_ok_and(|line| line.trim().is_empty())
}

#[derive(Debug, Default)]
struct Check {
    problems: Vec<Problem>,
    line: u64,
    offset: u64,
    has_lines: bool,
    has_meta_first: bool,
    has_user_message: bool,
    /// Where the last result counts no turns.
    no_turns: Option<(u64, u64)>,
}

impl Check {
    fn add(&mut self, stage: Stage, rule: Rule) {
        self.problems.push(Problem { line: self.line, offset: self.offset, stage, rule });
    }

    fn line(&mut self, line: &Line<'_>, scanner: &mut Scanner) {
        let is_first = !self.has_lines;
        self.has_lines = true;
        let value = match scanner.scan(line) {
            Ok(value) => value,
            Err(error) => {
                self.offset = error.offset;
                return self.add(Stage::Load, Rule::Json(error.kind));
            }
        };
        let oddities = value.oddities();
        let is_odd = oddities.surrogate_escape
            || oddities.wide_number
            || oddities.depth as usize > MAX_DEPTH;
        if is_odd && !is_loadable(value.raw().as_str(), MAX_DEPTH) {
            self.add(Stage::Load, Rule::Loadable);
        }
        if !value.is_object() {
            return self.add(Stage::Load, Rule::Object);
        }
        self.object(value, is_first);
    }

    fn object(&mut self, value: Value<'_>, is_first: bool) {
        let kind = value.get("type").and_then(|kind| kind.text()).map(|kind| kind.decode());
        let kind = kind.as_deref().unwrap_or_default();
        let Some(members) = members_of_line(kind) else {
            return self.add(Stage::Load, Rule::Type);
        };
        if count(value, "type") > 1 {
            self.add(Stage::Load, Rule::Duplicate("type"));
        }
        for (name, shape) in members {
            if count(value, name) > 1 {
                self.add(Stage::Load, Rule::Duplicate(name));
            }
            if !shape.fits(value.get(name)) {
                self.add(Stage::Load, Rule::Member(name));
            }
        }
        let number = |name| value.get(name).and_then(|number| number.raw().as_u64());
        match kind {
            "meta" => {
                self.has_meta_first |= is_first;
                if number("schema_version").is_some_and(|version| version > SCHEMA_VERSION) {
                    self.add(Stage::Load, Rule::SchemaVersion);
                }
            }
            "user_message" | "assistant_message" => {
                self.has_user_message |= kind == "user_message";
                for block in value.get("content").into_iter().flat_map(|content| content.items()) {
                    self.block(block);
                }
            }
            "result" => {
                let has_no_turns = number("num_turns") == Some(0);
                self.no_turns = has_no_turns.then_some((self.line, self.offset));
            }
            _ => {}
        }
    }

    fn block(&mut self, block: Value<'_>) {
        let kind = block.get("type").and_then(|kind| kind.text()).map(|kind| kind.decode());
        let Some(members) = members_of_block(kind.as_deref().unwrap_or_default()) else {
            return self.add(Stage::Resume, Rule::BlockType);
        };
        for (name, shape) in members {
            if !shape.fits(block.get(name)) {
                self.add(Stage::Resume, Rule::BlockMember(name));
            }
        }
    }

    fn finish(&mut self) {
        (self.line, self.offset) = (1, 0);
        if !self.has_meta_first {
            self.add(Stage::List, Rule::MetaFirst);
        }
        if !self.has_user_message {
            self.add(Stage::List, Rule::UserMessage);
        }
        if let Some((line, offset)) = self.no_turns {
            (self.line, self.offset) = (line, offset);
            self.add(Stage::List, Rule::Turns);
        }
    }
}

fn count(value: Value<'_>, name: &str) -> usize {
    value.members().filter(|(key, _)| key.is(name)).count()
}
