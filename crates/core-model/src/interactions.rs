//! The interactions of a session, with the model and the permission mode of each. The memory grows
//! only with changes.
//!
//! In: two prompts, answered by `a` and `b`. Out: two interactions with the models `a` and `b`.

use crate::words::Words;

/// The facts of an interaction. Strings are JSON strings as written in the source.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Interaction<'i> {
    /// The first model that answers.
    pub model: Option<&'i str>,
    /// The permission mode that was last set before the interaction ends.
    pub permission_mode: Option<&'i str>,
}

/// The interactions of a session, each opened by a prompt.
///
/// ```
/// use core_model::{Interaction, Interactions};
///
/// let mut interactions = Interactions::default();
/// for _ in 0..1_000_000 {
///     interactions.open();
///     interactions.note_model("\"m-1\"");
/// }
/// interactions.set_permission_mode("\"plan\"");
/// assert_eq!(interactions.len(), 1_000_000);
/// let first = Interaction { model: Some("\"m-1\""), permission_mode: None };
/// assert_eq!(interactions.get(0), Some(first));
/// let last = Interaction { permission_mode: Some("\"plan\""), ..first };
/// assert_eq!(interactions.get(999_999), Some(last));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Interactions {
    /// The number of interactions.
    n: usize,
    /// Runs of equal interactions, without the last interaction.
    runs: Vec<Run>,
    /// The last interaction.
    last: Numbers,
    /// The distinct models and modes.
    words: Words,
}

/// The numbers of a model and of a mode in the words; 0 for none.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Numbers {
    model: u32,
    permission_mode: u32,
}

/// Interactions with the same model and mode.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// The number of the first one.
    first: usize,
    numbers: Numbers,
}

impl Interactions {
    /// Opens an interaction, with the permission mode of the previous one.
    pub fn open(&mut self) {
        if let Some(last) = self.n.checked_sub(1)
            && self.runs.last().is_none_or(|run| run.numbers != self.last)
        {
            self.runs.push(Run { first: last, numbers: self.last });
        }
        self.n += 1;
        self.last.model = 0;
    }

    /// Notes that a model answers in the last interaction; the first one counts.
    pub fn note_model(&mut self, model: &str) {
        if self.n > 0 && self.last.model == 0 {
            self.last.model = self.words.number(model);
        }
    }

    /// Sets the permission mode of the last interaction.
    pub fn set_permission_mode(&mut self, mode: &str) {
        if self.n > 0 && self.words.get(self.last.permission_mode) != Some(mode) {
            self.last.permission_mode = self.words.number(mode);
        }
    }

    /// Returns the number of interactions.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Returns whether there is no interaction.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Returns an interaction by its index.
    pub fn get(&self, number: usize) -> Option<Interaction<'_>> {
        if number + 1 >= self.n {
            return (number + 1 == self.n).then(|| self.interaction(self.last));
        }
        let after = self.runs.partition_point(|run| run.first <= number);
        self.runs.get(after.checked_sub(1)?).map(|run| self.interaction(run.numbers))
    }

    /// Returns the first model that answers in the session.
    pub fn first_model(&self) -> Option<&str> {
        let all = self.runs.iter().map(|run| run.numbers).chain([self.last]);
        all.filter_map(|numbers| self.words.get(numbers.model)).next()
    }

    fn interaction(&self, numbers: Numbers) -> Interaction<'_> {
        let word = |number| self.words.get(number);
        Interaction { model: word(numbers.model), permission_mode: word(numbers.permission_mode) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_interaction_has_its_own_model_and_mode() {
        let mut interactions = Interactions::default();
        interactions.note_model("\"nobody asked\"");
        interactions.set_permission_mode("\"nobody asked\"");
        let mut expected: Vec<(Option<String>, Option<String>)> = Vec::new();
        for n in 0..200usize {
            interactions.open();
            let mode = expected.last().and_then(|(_, mode)| mode.clone());
            let model = (n % 7 > 1).then(|| format!("\"m{}\"", n / 20));
            if let Some(model) = &model {
                interactions.note_model(model);
                interactions.note_model("\"too late\"");
            }
            let mode = if n % 50 == 9 { Some(format!("\"mode{}\"", n / 100)) } else { mode };
            if let Some(mode) = &mode {
                interactions.set_permission_mode(mode);
            }
            expected.push((model, mode));
        }
        for (n, (model, mode)) in expected.iter().enumerate() {
            let (model, permission_mode) = (model.as_deref(), mode.as_deref());
            assert_eq!(interactions.get(n), Some(Interaction { model, permission_mode }), "{n}");
        }
        assert_eq!((interactions.get(200), interactions.len()), (None, 200));
        assert_eq!(interactions.first_model(), Some("\"m0\""));
    }
}
