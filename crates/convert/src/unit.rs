//! What is converted as one: a session with the files that belong to it.

use std::path::Path;

use crate::{
    CarryMode,
    conversions::Results,
    input::Input,
    job::{Order, Refusal},
};

/// A session: its main file, and the files that belong to it.
#[derive(Debug)]
pub(crate) struct Unit {
    /// The main file, or a file that belongs to no other input.
    pub(crate) main: Input,
    /// The files that belong to the main one, in the order of their names.
    pub(crate) others: Vec<Input>,
}

impl Unit {
    /// Groups inputs into sessions, in the order of their main files.
    pub(crate) fn group(inputs: Vec<Input>) -> Vec<Unit> {
        inputs.into_iter().map(|main| Unit { main, others: Vec::new() }).collect()
    }

    /// Returns the files, the main one first.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Input> + Clone {
        std::iter::once(&self.main).chain(&self.others)
    }

    /// Returns that none of the files was converted, and why.
    pub(crate) fn refused(&self, why: impl Fn() -> Refusal) -> Results<'_> {
        self.files().map(|input| (input, Err(why()))).collect()
    }
}

impl Order {
    /// Returns whether an input is copied as it is: it is no session, but belongs to one.
    pub(crate) fn is_copied(&self, input: &Input, is_folder: bool) -> bool {
        is_folder && self.carry != CarryMode::None && input.is_side_file()
    }

    /// Converts a session to the file `path` and what belongs beside it, and returns what became of
    /// each of its files.
    pub(crate) fn unit_to_files<'u>(
        &self,
        unit: &'u Unit,
        path: &Path,
        is_folder: bool,
    ) -> Results<'u> {
        let input = &unit.main;
        let is_copied = self.is_copied(input, is_folder);
        let result = if is_copied { self.copy(input, path) } else { self.to_file(input, path) };
        vec![(input, result)]
    }
}
