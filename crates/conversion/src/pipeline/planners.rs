//! Plans each file of a session for itself: every file is a conversation of its own.
//!
//! In: the events of a session's file, and of the file of a sub-agent that begins at the offset 900.
//! Out: a [`Plan`] that joins the plans of both. One planner for all events would take the last line
//! of the sub-agent as the end of the conversation, and hide the session.

use core_model::{Event, Format, Options, Plan, Planner};

/// The planner of the current file, and the plans of the files before it.
pub(crate) struct FilePlanners<'c> {
    format: &'static Format,
    options: &'c Options,
    /// `None` if all lines are the conversation, or after the last file.
    planner: Option<Box<dyn Planner>>,
    plan: Plan,
    /// The offsets at which the files after the current one begin, the next one last.
    others: Vec<u64>,
}

impl<'c> FilePlanners<'c> {
    /// Creates a planner for the first file. `others` are the offsets at which the other ones begin, in
    /// ascending order.
    pub(crate) fn new(format: &'static Format, options: &'c Options, others: Vec<u64>) -> Self {
        let planner = format.planner.map(|planner| planner(options));
        let others = others.into_iter().rev().collect();
        Self { format, options, planner, plan: Plan::default(), others }
    }

    /// Adds an event with the offset of its line. The files follow each other.
    pub(crate) fn observe(&mut self, offset: u64, event: &Event<'_>) {
        while self.others.pop_if(|start| *start <= offset).is_some() {
            self.end_file();
            self.planner = self.format.planner.map(|planner| planner(self.options));
        }
        if let Some(planner) = &mut self.planner {
            planner.observe(offset, event);
        }
    }

    /// Returns the plan of all files; `None` if it was returned before.
    pub(crate) fn finish(&mut self) -> Option<Plan> {
        self.planner.as_ref()?;
        self.end_file();
        Some(std::mem::take(&mut self.plan))
    }

    fn end_file(&mut self) {
        let Some(planner) = self.planner.take() else { return };
        let Plan { hidden, late, keeping } = planner.finish();
        // The offsets of a file are above the offsets of the files before it.
        self.plan.hidden.extend(hidden);
        self.plan.late.extend(late);
        self.plan.keeping.extend(keeping);
    }
}
