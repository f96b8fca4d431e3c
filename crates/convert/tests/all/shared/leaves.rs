//! The strings of a file at any depth, and their form in a target.

use std::collections::HashSet;

use convert::Report;
use core_model::{Format, LossKind, iso_millis, millis};
use jsonl::{Scanner, Value};

use super::pieces::{as_lines, pieces};

/// A string of a file.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    /// The number of its line, from 1.
    pub(crate) line: u64,
    /// The path of members to it, joined by dots, without the numbers of items.
    pub(crate) path: String,
    /// Its meaning.
    pub(crate) text: String,
    /// The time, if it is one.
    pub(crate) millis: Option<i64>,
    /// The number, if it is one.
    pub(crate) number: Option<f64>,
}

/// Returns the strings of all records of a file, and its numbers as they are spelled.
pub(crate) fn leaves(bytes: &[u8], format: &Format) -> Vec<Leaf> {
    let mut scanner = Scanner::default();
    let mut leaves = Vec::new();
    let (bytes, numbers) = as_lines(bytes, format);
    let (bytes, mut n_lines) = (&*bytes, 0);
    let mut end = 0;
    for piece in pieces(bytes, Some(format)) {
        // The pieces of a damaged line have the number of the line.
        let is_new = end == 0 || bytes.get(end - 1) == Some(&b'\n');
        n_lines += usize::from(is_new);
        let line = numbers.of(n_lines - 1);
        end = piece.line.offset() as usize + piece.line.bytes().len();
        if let Ok(value) = scanner.scan(&piece.line) {
            grow(value, line, &mut leaves);
        }
    }
    leaves
}

fn grow(root: Value<'_>, line: u64, leaves: &mut Vec<Leaf>) {
    grow_at(String::new(), root, line, leaves);
}

fn grow_at(path: String, root: Value<'_>, line: u64, leaves: &mut Vec<Leaf>) {
    let mut open = vec![(path, root)];
    while let Some((path, value)) = open.pop() {
        if let Some(text) = value.text() {
            let (text, millis) = (text.decode().into_owned(), millis(value.raw()));
            // Codex has JSON in a string, and Codex and ATIF have images in data URLs.
            let mut scanner = Scanner::default();
            let inner = scanner.scan_slice(text.as_bytes(), 0);
            // In Copilot's list of arguments, a string is none but a string.
            let is_quoted =
                path.ends_with("arguments") && !path.ends_with("toolRequests.arguments");
            if is_quoted && let Some(inner) = inner.ok().filter(Value::is_object) {
                grow_at(path, inner, line, leaves);
                continue;
            }
            let url = text
                .strip_prefix("data:")
                .filter(|_| ["url", "source.path"].iter().any(|name| path.ends_with(name)));
            let parts = url.and_then(|url| url.split_once(";base64,"));
            if let Some((media_type, data)) = parts {
                for text in [media_type, data].map(str::to_owned) {
                    let path = path.clone();
                    leaves.push(Leaf { line, path, text, millis: None, number: None });
                }
                continue;
            }
            leaves.push(Leaf { line, path, text, millis, number: None });
            continue;
        }
        let number = value.raw().as_f64();
        if number.is_some() {
            let text = value.raw().as_str().to_owned();
            leaves.push(Leaf { line, path, text, millis: None, number });
            continue;
        }
        // Codex counts cached tokens as tokens of the input, too.
        let count = |name| value.get(name).and_then(|count| count.raw().as_u64());
        let cached = count("cached_input_tokens")
            .map(|read| read + count("cache_write_input_tokens").unwrap_or(0))
            .or_else(|| count("cachedContentTokenCount"))
            .or_else(|| {
                let extra = value.get("extra");
                let written = extra.and_then(|extra| extra.get("cache_creation_input_tokens"));
                let written = written.and_then(|count| count.raw().as_u64());
                Some(count("cached_tokens")? + written.unwrap_or(0))
            });
        for (key, member) in value.members() {
            let key = key.decode();
            let inputs = ["input_tokens", "promptTokenCount", "prompt_tokens"];
            let is_input = inputs.contains(&&*key);
            let uncached = cached.filter(|_| is_input);
            let uncached = uncached.and_then(|cached| member.raw().as_u64()?.checked_sub(cached));
            if let Some(n) = uncached {
                let (path, text, number) = (format!("{path}.{key}"), n.to_string(), n as f64);
                leaves.push(Leaf { line, path, text, millis: None, number: Some(number) });
                continue;
            }
            open.push((if path.is_empty() { key.into() } else { format!("{path}.{key}") }, member));
        }
        open.extend(value.items().map(|item| (path.clone(), item)));
    }
}

/// Members that name the kind of a thing. Every format has its own words for kinds, and other tests
/// check them by reading both files.
const TAGS: &[&str] = &["type", "role", "subtype"];

/// Members that the report does not name: members that a client writes on every line, the leaf of a
/// title, members of an index that differ from its block, and the status of an item or of a call of Gemini CLI, which is
/// read as whether it failed.
const UNNAMED: &[&str] =
    &["userType", "leafUuid", "input.command", "item.status", "toolCalls.status"];

/// Members whose values are words of a format, each with the words of other formats for the same
/// meaning.
const SYNONYMS: &[(&[&str], &[&[&str]])] = &[(
    &["stop_reason", "stopReason", "finish"],
    &[&["end_turn", "stop"], &["tool_use", "toolUse", "tool-calls"], &["max_tokens", "length"]],
)];

impl Leaf {
    /// Returns whether formats have words of their own for the value.
    fn has_synonyms(&self) -> bool {
        SYNONYMS.iter().any(|(keys, _)| keys.contains(&self.key()))
    }

    /// Returns whether another format says the same with its own word.
    fn is_synonym_of(&self, other: &Leaf) -> bool {
        SYNONYMS.iter().any(|(keys, meanings)| {
            let is_there = |leaf: &Leaf| keys.contains(&leaf.key());
            let has_both = |words: &&&[&str]| {
                words.contains(&self.text.as_str()) && words.contains(&other.text.as_str())
            };
            is_there(self) && is_there(other) && meanings.iter().any(|words| has_both(&words))
        })
    }

    /// Returns the last member of the path.
    pub(crate) fn key(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or_default()
    }

    /// Returns whether it only names the kind of a thing.
    pub(crate) fn is_tag(&self) -> bool {
        // The number of a step of ATIF is its place, and its source the role.
        let places = ["step_id", "source", "llm_call_count", "extra.kind", "extra.level"];
        let is_of_step = places.contains(&self.path.as_str());
        TAGS.contains(&self.key()) || is_of_step || self.text.starts_with("ATIF-v1.")
    }
}

/// Returns the strings of a source that are neither in its target nor in the report for their line.
pub(crate) fn unaccounted(source: &[Leaf], target: &[Leaf], report: &Report) -> Vec<Leaf> {
    // For a session without a line in the target, the report has only that.
    if report.lines_out == 0 {
        return Vec::new();
    }
    let held = joined(target);
    let is_told = |leaf: &Leaf| {
        report.losses.iter().any(|(kind, field, loss)| {
            // The report names only the first positions, and members of all lines once.
            let is_there = loss.places.iter().any(|place| place.line == leaf.line);
            let is_it = field == leaf.key() || field == "session_id" && leaf.key() == "sessionId";
            let is_more = loss.count > loss.places.len() as u64;
            kind != LossKind::Invented && (is_there || is_it || is_more)
        })
    };
    // Most texts are whole texts of the target, and to search all of it for each takes minutes.
    let texts: HashSet<&str> = target.iter().map(|leaf| leaf.text.trim()).collect();
    let bits = |number: f64| (number + 0.0).to_bits();
    let numbers: HashSet<u64> = target.iter().filter_map(|leaf| leaf.number.map(bits)).collect();
    let synonyms: Vec<&Leaf> = target.iter().filter(|leaf| leaf.has_synonyms()).collect();
    let is_held = |leaf: &Leaf| {
        let time = leaf.millis.map(iso_millis);
        let is_time = |is_held: &dyn Fn(&str) -> bool| time.as_deref().is_some_and(is_held);
        // Python spells numbers differently.
        let as_number = || leaf.number.is_some_and(|number| numbers.contains(&bits(number)));
        // OpenCode has times as milliseconds.
        let as_millis = || leaf.millis.is_some_and(|millis| numbers.contains(&bits(millis as f64)));
        let as_synonym = || synonyms.iter().any(|it| it.is_synonym_of(leaf));
        let text = leaf.text.trim();
        texts.contains(text)
            || is_time(&|time| texts.contains(time))
            || as_number()
            || as_millis()
            || as_synonym()
            || held.contains(text)
            || is_time(&|time| held.contains(time))
    };
    let is_named = |leaf: &Leaf| !leaf.is_tag() && !UNNAMED.contains(&leaf.path.as_str());
    let is_open = |leaf: &&Leaf| is_named(leaf) && !is_told(leaf) && !is_held(leaf);
    source.iter().filter(is_open).cloned().collect()
}

/// Returns the strings, one line each.
pub(crate) fn joined(leaves: &[Leaf]) -> String {
    leaves.iter().flat_map(|leaf| [leaf.text.as_str(), "\n"]).collect()
}
