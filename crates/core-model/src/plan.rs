//! The plan of a conversation, from a first pass over a file.
//!
//! In: a file whose line at offset 300 is on an abandoned branch. Out: that offset in
//! [`Plan::hidden`].

/// The lines of the conversation and their order.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Plan {
    /// The lines that are not part of the conversation, in the order of the file.
    pub hidden: Vec<Hidden>,
    /// The lines that are written later than their place in the file, in the order of the
    /// conversation.
    pub late: Vec<Late>,
    /// The lines of compactions that keep the messages shown before them, in the order of the file. A
    /// client sends their summaries as messages like any other.
    pub keeping: Vec<u64>,
}

/// A line that is not part of the conversation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Hidden {
    /// The offset of the line in the file.
    pub offset: u64,
    /// The reason: the field under which its loss is counted.
    pub field: &'static str,
}

/// A line that is written later than its place in the file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Late {
    /// The offset of the line in the file.
    pub offset: u64,
    /// The offset of the line that it follows. That line keeps its place.
    pub after: u64,
}

impl Plan {
    /// Returns whether all lines are the conversation, in their order.
    pub fn is_empty(&self) -> bool {
        self.hidden.is_empty() && self.late.is_empty() && self.keeping.is_empty()
    }

    /// Returns the reason why a line is not part of the conversation; `None` if it is part of it.
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

    /// Returns whether the line is a compaction that keeps the messages shown before it.
    ///
    /// ```
    /// use core_model::Plan;
    ///
    /// let plan = Plan { keeping: vec![300], ..Plan::default() };
    /// assert_eq!((plan.keeps(300), plan.keeps(0)), (true, false));
    /// ```
    pub fn keeps(&self, offset: u64) -> bool {
        self.keeping.binary_search(&offset).is_ok()
    }
}
