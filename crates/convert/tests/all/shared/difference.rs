//! The differences between the contents of two files, and whether the report names them.

use convert::Report;
use core_model::LossKind;

use super::said::{Answer, Call, Said};

/// The prefixes of the names of losses, by kind.
const FIELDS: &[(&str, &[&str])] = &[
    ("text", &["text", "content", "message.content", "message.role", "block", "prompt"]),
    ("thinking", &["thinking", "block"]),
    ("tool_use", &["tool_use", "block"]),
    ("tool_result", &["tool_result", "block"]),
];

/// Leaves that only one of two files has, by kind.
#[derive(Debug, Default)]
pub(crate) struct Difference {
    missing: Vec<(&'static str, String)>,
    added: Vec<(&'static str, String)>,
    moved: Vec<(&'static str, String)>,
}

impl Difference {
    pub(crate) fn new(source: &Said, target: &Said) -> Self {
        let mut difference = Difference::default();
        difference.words("text", &source.user, &target.user);
        difference.words("text", &source.assistant, &target.assistant);
        difference.words("thinking", &source.thinking, &target.thinking);
        difference.calls(&source.calls, &target.calls);
        difference.results(&source.results, &target.results);
        difference
    }

    /// Finds texts in other texts, in order: a target may join the texts of its source.
    fn words(&mut self, kind: &'static str, source: &[String], target: &[String]) {
        let all = target.join("\n");
        let mut at = 0;
        for text in source.iter().map(|text| text.trim()).filter(|text| !text.is_empty()) {
            match (found(&all[at..], text), all.find(text)) {
                (Some(found), _) => {
                    if !all[at..at + found].trim().is_empty() {
                        self.added.push((kind, all[at..at + found].trim().to_owned()));
                    }
                    at += found + text.len();
                }
                (None, Some(_)) => self.moved.push((kind, text.to_owned())),
                (None, None) => self.missing.push((kind, text.to_owned())),
            }
        }
        if !all[at..].trim().is_empty() {
            self.added.push((kind, all[at..].trim().to_owned()));
        }
    }

    fn calls(&mut self, source: &[Call], target: &[Call]) {
        let mut rest: Vec<&Call> = target.iter().collect();
        let mut last = 0;
        for call in source {
            match rest.iter().position(|other| *other == call) {
                Some(found) => {
                    if found < last {
                        self.moved.push(("tool_use", format!("{call:?}")));
                    }
                    last = found;
                    rest.remove(found);
                }
                None => self.missing.push(("tool_use", format!("{call:?}"))),
            }
        }
        self.added.extend(rest.iter().map(|call| ("tool_use", format!("{call:?}"))));
    }

    /// Results may change their order, because each follows its call.
    fn results(&mut self, source: &[Answer], target: &[Answer]) {
        let mut rest: Vec<&Answer> = target.iter().collect();
        for answer in source {
            let is_same = |other: &&Answer| {
                let is_text_same = if answer.is_rich && !other.is_rich {
                    answer.text.split('\n').all(|line| other.text.contains(line))
                } else {
                    answer.text == other.text
                };
                is_text_same && answer.id == other.id && answer.is_error == other.is_error
            };
            match rest.iter().position(is_same) {
                Some(found) => _ = rest.remove(found),
                None => self.missing.push(("tool_result", format!("{answer:?}"))),
            }
        }
        self.added.extend(rest.iter().map(|answer| ("tool_result", format!("{answer:?}"))));
    }

    /// Returns the differences that the report does not name.
    pub(crate) fn unreported(&self, report: &Report) -> Vec<String> {
        let mut wrong = Vec::new();
        let losses: Vec<_> = report
            .losses
            .iter()
            .map(|(kind, field, loss)| (kind, field, loss.count as usize))
            .collect();
        let count = |kinds: &[LossKind], fields: &[&str]| -> usize {
            losses
                .iter()
                .filter(|(kind, field, _)| {
                    kinds.contains(kind) && fields.iter().any(|start| field.starts_with(start))
                })
                .map(|(_, _, count)| count)
                .sum()
        };
        for (kind, fields) in FIELDS {
            let of_kind = |items: &[(&'static str, String)]| -> Vec<String> {
                let items = items.iter().filter(|(other, _)| other == kind);
                items.map(|(_, what)| what.chars().take(160).collect()).collect()
            };
            for (what, kinds, items) in [
                ("missing", &[LossKind::Dropped, LossKind::Flattened], of_kind(&self.missing)),
                ("added", &[LossKind::Invented, LossKind::Flattened], of_kind(&self.added)),
                ("moved", &[LossKind::Flattened, LossKind::Flattened], of_kind(&self.moved)),
            ] {
                let n_reported = count(kinds, fields);
                if items.len() > n_reported {
                    wrong.push(format!(
                        "{kind}: {} {what}, {n_reported} reported: {:?}; losses {losses:?}",
                        items.len(),
                        &items[..items.len().min(3)],
                    ));
                }
            }
        }
        wrong
    }
}

/// Returns the offset of a text in others. A text of a few letters is also inside words: if its first place is inside a
/// line, and the next line begins with the text, the offset is that of the next line.
fn found(all: &str, text: &str) -> Option<usize> {
    let first = all.find(text)?;
    let is_start = |at: usize| all[..at].ends_with('\n') || at == 0;
    let next_line = all[first..].find('\n').map(|end| first + end + 1);
    let next = next_line.filter(|start| all[*start..].starts_with(text));
    Some(if is_start(first) { first } else { next.unwrap_or(first) })
}
