//! What a first pass over a file finds of the conversation in it.

/// Which lines are the conversation, and in which order.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Plan {
    /// The lines that are not part of the conversation, in the order of the file.
    pub hidden: Vec<Hidden>,
    /// The lines that are said later than they stand in the file, in the order of the conversation.
    pub late: Vec<Late>,
}

/// A line that is not part of the conversation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Hidden {
    /// Where the line starts in the file.
    pub offset: u64,
    /// What it belongs to instead: the field under which it is dropped.
    pub field: &'static str,
}

/// A line that is said later than it stands in the file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Late {
    /// Where the line starts in the file.
    pub offset: u64,
    /// Where the line starts after which it is said; that one is said where it stands.
    pub after: u64,
}

impl Plan {
    /// Returns what a line belongs to, if it is not part of the conversation.
    ///
    /// ```
    /// use core_model::{Hidden, Plan};
    ///
    /// let hidden = vec![Hidden { offset: 120, field: "branch" }];
    /// let plan = Plan { hidden, ..Plan::default() };
    /// assert_eq!((plan.hides(120), plan.hides(0)), (Some("branch"), None));
    /// ```
    pub fn hides(&self, offset: u64) -> Option<&'static str> {
        let found = self.hidden.binary_search_by_key(&offset, |hidden| hidden.offset).ok()?;
        self.hidden.get(found).map(|hidden| hidden.field)
    }
}
