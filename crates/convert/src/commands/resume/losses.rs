//! Decides which losses keep a session from going on in another agent.

use std::collections::BTreeMap;

use archive::ConvertedFile;
use core_model::LossKind;

use crate::terminal::{escape::escape_for_terminal, figures::grouped};

/// Limit on named fields that the target does not show.
const MAX_FIELDS: usize = 3;

/// The losses of the files of a session.
#[derive(Debug, Default)]
pub(super) struct LossCounts {
    /// Losses for which `resume` refuses.
    that_matter: BTreeMap<String, u64>,
    not_shown: BTreeMap<String, u64>,
}

impl LossCounts {
    /// Adds the losses of a file.
    ///
    /// Two things matter. Tool calls, results and content blocks such as pictures must be in the target: the
    /// agent would act as if they had never been. Everything else must be in the target or in its carry, so
    /// that it comes home. So blank texts, usage, ids, and thinking with another vendor's signature, which
    /// the carry keeps, do not count.
    pub(super) fn add(&mut self, ConvertedFile { report, .. }: &ConvertedFile) {
        for (kind, field, n) in report.losses.counts() {
            if kind == LossKind::Dropped && is_content(&field) {
                add(&mut self.that_matter, &field, n);
            }
            if kind != LossKind::Invented {
                add(&mut self.not_shown, &field, n);
            }
        }
        let restored = &report.restored;
        for (n, what) in [
            (report.n_left_out, "records that no line can hold"),
            (report.n_hidden, "messages behind the point to which the user undid the session"),
            (restored.gaps + restored.cut + restored.miscounted, "gaps in its carry"),
            (restored.unreadable + restored.refused, "records that cannot be restored"),
            (restored.damaged, "damaged carries"),
            (restored.newer, "carries of a newer version"),
            (restored.unused, "carries that are not used"),
        ] {
            if n > 0 {
                add(&mut self.that_matter, what, n);
            }
        }
    }

    /// Returns the losses for which `resume` refuses, with their counts; `None` if there are none.
    pub(super) fn that_matter(&self) -> Option<String> {
        let counts: Vec<String> =
            self.that_matter.iter().map(|(what, n)| format!("{what} ×{}", grouped(*n))).collect();
        (!counts.is_empty()).then(|| counts.join(", "))
    }

    /// Returns the fields that the target does not show, the most frequent first; `None` if it shows all.
    pub(super) fn not_shown(&self) -> Option<String> {
        let mut counts: Vec<(&String, &u64)> = self.not_shown.iter().collect();
        counts.sort_by(|one, other| other.1.cmp(one.1).then_with(|| one.0.cmp(other.0)));
        let shown = counts.iter().take(MAX_FIELDS);
        let mut fields: Vec<String> = shown
            .map(|(field, n)| format!("{} ×{}", escape_for_terminal(field), grouped(**n)))
            .collect();
        if counts.len() > MAX_FIELDS {
            fields.push(format!("{} more", counts.len() - MAX_FIELDS));
        }
        (!fields.is_empty()).then(|| fields.join(", "))
    }
}

fn add(counts: &mut BTreeMap<String, u64>, name: &str, n: u64) {
    match counts.get_mut(name) {
        Some(count) => *count += n,
        None => _ = counts.insert(name.to_owned(), n),
    }
}

fn is_content(field: &str) -> bool {
    let block = field.strip_prefix("block.");
    matches!(field, "tool_use" | "tool_result")
        || block.is_some_and(|kind| !kind.contains("thinking"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_results_and_blocks_are_content() {
        for field in ["tool_use", "tool_result", "block.image", "block.document"] {
            assert!(is_content(field), "{field}");
        }
        for field in ["text", "thinking", "block.redacted_thinking", "usage", "tool_use.order"] {
            assert!(!is_content(field), "{field}");
        }
    }
}
