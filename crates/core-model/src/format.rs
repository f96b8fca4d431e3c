//! The row of a format: its name and functions, and the traits [`Writer`] and [`Planner`].

use jsonl::{Style, Value};

use crate::{Bundles, Checker, CostPolicy, Event, Facts, Output, Plan, Store};

/// A format, in one of its dialects.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// The name for `--to`.
    pub name: &'static str,
    /// The letter of the format in a carry.
    pub tag: char,
    /// A sentence about it.
    pub about: &'static str,
    /// The family of the crate's formats. Content that only they can hold is converted between
    /// them.
    pub family: &'static str,
    /// The spelling of JSON.
    pub style: Style,
    /// Whether sub-agents' messages are among the others.
    pub has_inline_agents: bool,
    /// Whether a line is in this format and in no other.
    pub detect: fn(Value<'_>) -> bool,
    /// Returns whether an object at the end of a damaged line is a line of this format, and not an
    /// inner value.
    pub is_record: fn(Value<'_>) -> bool,
    /// Reads a line. A pure function: no line needs another.
    pub read: for<'l> fn(Value<'l>) -> Event<'l>,
    /// Creates a writer.
    pub writer: fn(&Options, Facts) -> Box<dyn Writer>,
    /// Creates a planner that decides which lines are the conversation; `None` if all are.
    pub planner: Option<fn(&Options) -> Box<dyn Planner>>,
    /// Creates a checker that finds the faults that the client would refuse or skip.
    pub checker: fn() -> Box<dyn Checker>,
    /// Returns the part of a prompt that lists show; `None` if the client wrote the text. Without
    /// this function, lists show the whole prompt.
    pub prompt_preview: Option<fn(&str) -> Option<String>>,
    /// The meaning of the cost in an outcome.
    pub cost: CostPolicy,
    /// The place of its client's sessions; `None` if the client keeps none.
    pub store: Option<Store>,
    /// The layout of a session's files; `None` if a file is a session.
    pub bundles: Option<Bundles>,
    /// The limits of a file within which its client finds it.
    pub limits: Limits,
}

/// The limits of carries in a format.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Limit in bytes for carries before the first prompt; 0 for no limit.
    pub head: usize,
    /// The start of a line of a type that the client ignores, for carries: a JSON object without
    /// its closing brace. Empty if the format has none.
    pub filler_record: &'static str,
    /// Limit in bytes of one filler record.
    pub filler_record_size: usize,
}

/// The options of a conversion.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The version of the SDK whose dump is written.
    pub sdk_version: SdkVersion,
    /// Whether a source with an unreadable line is refused.
    pub is_strict: bool,
    /// Whether branches off the active one are written too.
    pub all_branches: bool,
    /// Whether to write only the part after the last compaction, from which the client would
    /// continue.
    pub from_last_compaction: bool,
}

/// A version of the Agent SDK for Python that dumps are written for.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum SdkVersion {
    /// 0.1.6, with the fewest keys.
    V0_1_6,
    /// 0.2.187.
    #[default]
    V0_2_187,
}

/// Writer of events as lines of a format, with state from earlier events.
pub trait Writer {
    /// Writes an event.
    fn write(&mut self, event: &Event<'_>, out: &mut Output);

    /// Adds an event of the writer's own format that is already in the output. Later lines are
    /// linked to it.
    fn resume(&mut self, event: &Event<'_>, out: &mut Output);

    /// Writes the end of the output. Writes nothing if nothing was written since the last resumed
    /// event.
    fn finish(&mut self, out: &mut Output);
}

/// Planner of a conversation: decides which lines are part of it, in a first pass over a file.
pub trait Planner {
    /// Adds an event with the offset of its line.
    fn observe(&mut self, offset: u64, event: &Event<'_>);

    /// Returns the plan of the conversation.
    fn finish(self: Box<Self>) -> Plan;
}
