//! What a format is: a row of functions, and the two traits behind them.

use jsonl::{Style, Value};

use crate::{Bundles, Checker, CostPolicy, Event, Facts, Output, Plan, Store};

/// A format, in one of its dialects.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// The name, as `--to` takes it.
    pub name: &'static str,
    /// The letter that stands for it in a carry.
    pub tag: char,
    /// A sentence about it.
    pub about: &'static str,
    /// The crate's formats share a family: what only they can say passes between them.
    pub family: &'static str,
    /// How it spells JSON.
    pub style: Style,
    /// Whether sub-agents' messages stand among the others.
    pub has_inline_agents: bool,
    /// Whether a line is in this format and in no other.
    pub detect: fn(Value<'_>) -> bool,
    /// Whether an object at the end of a damaged line is a line of this format, rather than a value
    /// inside one.
    pub is_record: fn(Value<'_>) -> bool,
    /// Reads a line. A pure function: no line needs another.
    pub read: for<'l> fn(Value<'l>) -> Event<'l>,
    /// Creates a writer.
    pub writer: fn(&Options, Facts) -> Box<dyn Writer>,
    /// Creates what decides which lines are the conversation; `None` if all are.
    pub planner: Option<fn(&Options) -> Box<dyn Planner>>,
    /// Creates what finds in a file what its client would stumble upon.
    pub checker: fn() -> Box<dyn Checker>,
    /// Returns what lists show of a prompt, `None` if its client wrote it; where there is no such
    /// function, they show all of it.
    pub heading: Option<fn(&str) -> Option<String>>,
    /// What the cost in an outcome means.
    pub cost: CostPolicy,
    /// Where its client keeps its sessions; `None` if it keeps none.
    pub store: Option<Store>,
    /// How its client spreads a session over files; `None` if a file is a session.
    pub bundles: Option<Bundles>,
    /// What a file of this format must keep to, so that its client finds it.
    pub limits: Limits,
}

/// The limits of carries in a format.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// The bytes of carries until the first prompt is written; 0 for no limit.
    pub head: usize,
    /// The start of a line of an own type that the client ignores, on which carries may ride: a
    /// JSON object without its closing brace. Empty if the format has none.
    pub carrier: &'static str,
    /// The bytes of one carrier line.
    pub carrier_size: usize,
}

/// What a user may ask of a conversion.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The version of the SDK whose dump is written.
    pub sdk_version: SdkVersion,
    /// Whether a source with a line that cannot be read is refused.
    pub is_strict: bool,
    /// Whether branches off the active one are written too.
    pub all_branches: bool,
    /// Whether only that is written with which the client would go on after the last compaction.
    pub from_last_compaction: bool,
}

/// A version of the Agent SDK for Python whose dump is known.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum SdkVersion {
    /// 0.1.6, with the fewest keys.
    V0_1_6,
    /// 0.2.187.
    #[default]
    V0_2_187,
}

/// Writes events as lines of a format. What it must remember of earlier events is its state.
pub trait Writer {
    /// Writes an event.
    fn write(&mut self, event: &Event<'_>, out: &mut Output);

    /// Takes note of an event of the writer's own format that already stands in the output: what
    /// comes next is linked to it.
    fn resume(&mut self, event: &Event<'_>, out: &mut Output);

    /// Writes what comes after the last event. Nothing, if nothing was written since the last
    /// event that was resumed.
    fn finish(&mut self, out: &mut Output);
}

/// Decides which lines are the conversation, from a first pass over a file.
pub trait Planner {
    /// Takes note of an event and the offset of its line.
    fn observe(&mut self, offset: u64, event: &Event<'_>);

    /// Returns which lines are the conversation.
    fn finish(self: Box<Self>) -> Plan;
}
