//! Checks whether clido would load, resume and list a file (FORMAT.md, "Loading").
//!
//! In: a file whose line 2 has `"is_error":null`. Out: a [`Problem`] of line 2 that stops clido.

mod history;
mod shape;

use core_model::{Check, Checker, Findings, Place, Problem, Severity};
use jsonl::{Line, MAX_SERDE_DEPTH, Value, is_loadable};

pub(crate) use self::shape::members_of_line;
use self::{history::History, shape::members_of_block};
use crate::SCHEMA_VERSION;

/// Returns the problems of a session file for clido 1.0.15; an empty vector if there are none.
///
/// clido loads and resumes a file if and only if no problem [stops](Problem::stops). Problems with
/// a rule `block-..` stop resuming only: clido still shows the session.
///
/// ```
/// let problems = format_clido::validate_strict(b"{\"type\":\"title\",\"title\":null}\n");
/// assert!(problems[0].stops());
/// assert_eq!(
///     problems[0].to_string(),
///     "line 1: byte 0: stops member: `title` is missing or of another type"
/// );
/// ```
pub fn validate_strict(bytes: &[u8]) -> Vec<Problem> {
    Check::all(checker(), bytes)
}

/// Creates a checker for a session file.
pub(crate) fn checker() -> Box<dyn Checker> {
    Box::<SessionChecker>::default()
}

/// Returns whether clido skips a line. clido trims more characters than JSON's white space.
pub(crate) fn is_blank(line: &Line<'_>) -> bool {
    std::str::from_utf8(line.bytes()).is_ok_and(|line| line.trim().is_empty())
}

#[derive(Debug, Default)]
struct SessionChecker {
    has_lines: bool,
    has_meta_first: bool,
    has_user_message: bool,
    /// The last result, if it has no turns.
    no_turns: Option<Place>,
    history: History,
}

impl Checker for SessionChecker {
    fn line(&mut self, line: &Line<'_>, value: jsonl::Result<Value<'_>>, out: &mut Findings<'_>) {
        if line.offset() == 0 && line.bytes().starts_with(b"\xef\xbb\xbf") {
            out.stops("byte-order-mark", "the file starts with a byte order mark");
        }
        if is_blank(line) {
            return;
        }
        let is_first = !std::mem::replace(&mut self.has_lines, true);
        let value = match value {
            Ok(value) => value,
            Err(error) => {
                let place = Place { offset: error.offset, ..out.place };
                let message = error.kind.to_string().into();
                return out.add(place, Severity::Stops, "json", message);
            }
        };
        let oddities = value.oddities();
        let is_odd = oddities.surrogate_escape
            || oddities.wide_number
            || oddities.depth as usize > MAX_SERDE_DEPTH;
        if is_odd && !is_loadable(value.raw().as_str(), MAX_SERDE_DEPTH) {
            out.stops(
                "value",
                "half a surrogate pair, a number out of range, or nested too deeply",
            );
        }
        if !value.is_object() {
            return out.stops("object", "not an object");
        }
        self.object(value, is_first, out);
    }

    fn finish(&mut self, out: &mut Findings<'_>) {
        self.history.finish(out);
        let first = Place { line: 1, offset: 0 };
        let mut warn = |place, rule, message: &'static str| {
            out.add(place, Severity::Warns, rule, message.into());
        };
        if !self.has_meta_first {
            warn(first, "meta-first", "no meta line first: the session is not listed");
        }
        if !self.has_user_message {
            warn(first, "user-message", "no user message: the next start deletes the session");
        }
        if let Some(place) = self.no_turns {
            warn(place, "turns", "the last result counts no turns: the session is not listed");
        }
    }
}

impl SessionChecker {
    fn object(&mut self, value: Value<'_>, is_first: bool, out: &mut Findings<'_>) {
        let kind = value.get("type").and_then(|kind| kind.text()).map(|kind| kind.decode());
        let kind = kind.as_deref().unwrap_or_default();
        let Some(members) = members_of_line(kind) else {
            return out.stops("type", "`type` is unknown or missing");
        };
        if count(value, "type") > 1 {
            out.stops("duplicate", "the member `type` occurs twice");
        }
        for (name, shape) in members {
            if count(value, name) > 1 {
                out.stops("duplicate", format!("the member `{name}` occurs twice"));
            }
            if !shape.fits(value.get(name)) {
                out.stops("member", format!("`{name}` is missing or of another type"));
            }
        }
        let number = |name| value.get(name).and_then(|number| number.raw().as_u64());
        match kind {
            "meta" => {
                self.has_meta_first |= is_first;
                if number("schema_version").is_some_and(|version| version > SCHEMA_VERSION) {
                    out.stops("schema-version", "`schema_version` is newer than 1");
                }
                let time = value.get("start_time").and_then(|time| time.text());
                if time.is_some_and(|time| !time.decode().is_ascii()) {
                    out.warns("start-time", "`start_time` is not ASCII: `stats` may crash");
                }
            }
            "user_message" | "assistant_message" => {
                self.has_user_message |= kind == "user_message";
                for block in value.get("content").into_iter().flat_map(|content| content.items()) {
                    check_block(block, out);
                }
            }
            "tool_result" => {
                let hash = value.get("content_hash").and_then(|hash| hash.text());
                if hash.is_some_and(|hash| hash.decode().starts_with("sha256:")) {
                    out.warns(
                        "content-hash",
                        "`content_hash` with a prefix never fits: `-p --resume` refuses",
                    );
                }
            }
            "result" => {
                self.no_turns = (number("num_turns") == Some(0)).then_some(out.place);
            }
            _ => {}
        }
        self.history.line(kind, value, out);
    }
}

/// Returns whether clido resumes with a block.
pub(crate) fn is_resumable(block: Value<'_>) -> bool {
    let kind = block.get("type").and_then(|kind| kind.text()).map(|kind| kind.decode());
    let members = members_of_block(kind.as_deref().unwrap_or_default());
    members.is_some_and(|members| members.iter().all(|(name, shape)| shape.fits(block.get(name))))
}

fn check_block(block: Value<'_>, out: &mut Findings<'_>) {
    let kind = block.get("type").and_then(|kind| kind.text()).map(|kind| kind.decode());
    let Some(members) = members_of_block(kind.as_deref().unwrap_or_default()) else {
        return out.stops("block-type", "a content block's `type` is unknown or missing");
    };
    for (name, shape) in members {
        if !shape.fits(block.get(name)) {
            let message = format!("a content block's `{name}` is missing or of another type");
            out.stops("block-member", message);
        }
    }
}

fn count(value: Value<'_>, name: &str) -> usize {
    value.members().filter(|(key, _)| key.is(name)).count()
}
