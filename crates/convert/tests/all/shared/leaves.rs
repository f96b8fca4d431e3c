//! The strings of a file, wherever they stand in it, and what a target makes of them.

use convert::Report;
use core_model::{Format, LossKind, iso_millis, millis};
use jsonl::{Scanner, Value};

use super::pieces::pieces;

/// A string of a file.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    /// The number of its line, from 1.
    pub(crate) line: u64,
    /// The members that lead to it, joined by dots; items of a list are not numbered.
    pub(crate) path: String,
    /// What it means.
    pub(crate) text: String,
    /// The time, if it is one.
    millis: Option<i64>,
    /// The number, if it is one.
    pub(crate) number: Option<f64>,
}

/// Returns the strings of all records of a file, and its numbers as they are spelled.
pub(crate) fn leaves(bytes: &[u8], format: &Format) -> Vec<Leaf> {
    let mut scanner = Scanner::default();
    let mut leaves = Vec::new();
    let mut line = 0;
    let mut end = 0;
    for piece in pieces(bytes, Some(format)) {
        // Pieces of a damaged line are of one line.
        let is_new = end == 0 || bytes.get(end - 1) == Some(&b'\n');
        line += u64::from(is_new);
        end = piece.line.offset() as usize + piece.line.bytes().len();
        if let Ok(value) = scanner.scan(&piece.line) {
            grow(value, line, &mut leaves);
        }
    }
    leaves
}

fn grow(root: Value<'_>, line: u64, leaves: &mut Vec<Leaf>) {
    let mut open = vec![(String::new(), root)];
    while let Some((path, value)) = open.pop() {
        if let Some(text) = value.text() {
            let (text, millis) = (text.decode().into_owned(), millis(value.raw()));
            leaves.push(Leaf { line, path, text, millis, number: None });
            continue;
        }
        let number = value.raw().as_f64();
        if number.is_some() {
            let text = value.raw().as_str().to_owned();
            leaves.push(Leaf { line, path, text, millis: None, number });
            continue;
        }
        for (key, member) in value.members() {
            let key = key.decode();
            open.push((if path.is_empty() { key.into() } else { format!("{path}.{key}") }, member));
        }
        open.extend(value.items().map(|item| (path.clone(), item)));
    }
}

/// Members that say what kind of thing something is: every format has words of its own for them, and
/// what tells two things apart is held by the reading of both.
const TAGS: &[&str] = &["type", "role", "subtype"];

/// Members that the report does not name: what each client writes of itself on every line, the leaf
/// that a title is of, and what an index says otherwise than the block that it is of.
const UNNAMED: &[&str] = &["userType", "leafUuid", "input.command"];

impl Leaf {
    /// Returns the member that it is of.
    pub(crate) fn key(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or_default()
    }

    /// Returns whether it only says what kind of thing something is.
    pub(crate) fn is_tag(&self) -> bool {
        TAGS.contains(&self.key())
    }
}

/// Returns the strings of a source that its target does not hold, and that the report does not tell
/// of at their lines.
pub(crate) fn unaccounted(source: &[Leaf], target: &[Leaf], report: &Report) -> Vec<Leaf> {
    // Of a session that the target has no line for, the report says just that.
    if report.lines_out == 0 {
        return Vec::new();
    }
    let held = joined(target);
    let is_told = |leaf: &Leaf| {
        report.losses.iter().any(|(kind, field, loss)| {
            // Of many, only the first places are told, and what all lines say is told of once.
            let is_there = loss.places.iter().any(|place| place.line == leaf.line);
            let is_it = field == leaf.key() || field == "session_id" && leaf.key() == "sessionId";
            let is_more = loss.count > loss.places.len() as u64;
            kind != LossKind::Invented && (is_there || is_it || is_more)
        })
    };
    let is_held = |leaf: &Leaf| {
        let in_millis = || leaf.millis.is_some_and(|time| held.contains(&iso_millis(time)));
        // Python spells numbers its own way.
        let as_number =
            || leaf.number.is_some() && target.iter().any(|it| it.number == leaf.number);
        held.contains(leaf.text.trim()) || in_millis() || as_number()
    };
    let is_named = |leaf: &Leaf| !leaf.is_tag() && !UNNAMED.contains(&leaf.path.as_str());
    let is_open = |leaf: &&Leaf| is_named(leaf) && !is_held(leaf) && !is_told(leaf);
    source.iter().filter(is_open).cloned().collect()
}

/// Returns the strings, a line each.
pub(crate) fn joined(leaves: &[Leaf]) -> String {
    leaves.iter().flat_map(|leaf| [leaf.text.as_str(), "\n"]).collect()
}
