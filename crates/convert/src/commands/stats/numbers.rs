//! Counts of a session, and their sum.

use std::collections::BTreeMap;

use core_model::{
    DurationRule, ErrorPolicy, Event, FilesTouched, Format, Generations, Overview, Place, Timeline,
    Tokens, Touches, TypeCounts, Viewed,
};

use super::runs::Runs;
use crate::object::Object;

/// The counts of one or more sessions.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    pub(super) n_sessions: u64,
    pub(super) n_files: u64,
    pub(super) n_bytes: u64,
    /// Damaged lines, and damaged pieces between recovered records.
    pub(super) n_bad_lines: u64,
    pub(super) formats: BTreeMap<&'static str, u64>,
    pub(super) overview: Overview,
    /// Durations by the three rules, in milliseconds. The sum of the known ones for several
    /// sessions.
    pub(super) durations: [Option<i64>; 3],
    pub(super) types: BTreeMap<String, u64>,
    pub(super) tools: BTreeMap<String, Tool>,
    pub(super) tokens: Tokens,
    /// The tokens of sub-agents' responses that only their sessions mention, as they began.
    pub(super) mentioned: Tokens,
    pub(super) cost: Option<f64>,
    pub(super) n_compactions: u64,
    pub(super) files: BTreeMap<String, Touches>,
    /// The events over time in one session; empty for several.
    pub(super) timeline: Timeline,
}

/// The counts of a tool.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tool {
    pub(super) n_calls: u64,
    pub(super) n_errors: u64,
    /// The sum of the known durations in milliseconds.
    pub(super) millis: i64,
}

/// The duration rules, in the order of [`Numbers::durations`], and their names.
pub(super) const RULES: [(DurationRule, &str); 3] = [
    (DurationRule::MinMax, "earliest_to_latest"),
    (DurationRule::FirstLastSeen, "first_to_last_time"),
    (DurationRule::FirstLastLine, "first_to_last_line"),
];

/// Counts a session.
#[derive(Debug, Default)]
pub(super) struct Counter {
    pub(super) n_bad_lines: u64,
    pub(super) n_bytes: u64,
    pub(super) mentioned: Tokens,
    numbers: Numbers,
    policy: ErrorPolicy,
    overview: Overview,
    types: TypeCounts,
    runs: Runs,
    generations: Generations,
    files: FilesTouched,
    timeline: Timeline,
}

impl Numbers {
    /// Creates a counter for one session.
    pub(super) fn counter(policy: ErrorPolicy) -> Counter {
        let mut counter = Counter { policy, ..Counter::default() };
        counter.overview.policy = Some(policy);
        counter
    }

    /// Returns the sum of two counts.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.n_sessions += other.n_sessions;
        self.n_files += other.n_files;
        self.n_bytes += other.n_bytes;
        self.n_bad_lines += other.n_bad_lines;
        let (sum, more) = (&mut self.overview, other.overview);
        sum.n_events += more.n_events;
        sum.n_user_messages += more.n_user_messages;
        sum.n_tool_calls += more.n_tool_calls;
        sum.n_sub_agents += more.n_sub_agents;
        sum.errors += more.errors;
        sum.outcome = None;
        let runs = sum.run_millis.map(|it| it.saturating_add(more.run_millis.unwrap_or(0)));
        sum.run_millis = runs.or(more.run_millis);
        for name in more.sub_agents {
            if !sum.sub_agents.contains(&name) {
                sum.sub_agents.push(name);
            }
        }
        for (sum, more) in self.durations.iter_mut().zip(other.durations) {
            *sum = sum.map(|sum| sum.saturating_add(more.unwrap_or(0))).or(more);
        }
        for (name, n_files) in other.formats {
            *self.formats.entry(name).or_default() += n_files;
        }
        for (kind, n_lines) in other.types {
            *self.types.entry(kind).or_default() += n_lines;
        }
        for (name, more) in other.tools {
            let sum = self.tools.entry(name).or_default();
            sum.n_calls += more.n_calls;
            sum.n_errors += more.n_errors;
            sum.millis = sum.millis.saturating_add(more.millis);
        }
        self.tokens += other.tokens;
        self.mentioned += other.mentioned;
        self.cost = self.cost.map(|cost| cost + other.cost.unwrap_or(0.0)).or(other.cost);
        self.n_compactions += other.n_compactions;
        for (path, more) in other.files {
            let sum = self.files.entry(path).or_default();
            sum.read += more.read;
            sum.written += more.written;
            sum.edited += more.edited;
        }
        self.timeline = Timeline::default();
        self
    }

    /// Returns the counts as an object.
    pub(super) fn object(&self) -> Object {
        let overview = &self.overview;
        let mut object = Object::new();
        if let (1, Some(id)) = (self.n_sessions, &overview.session_id) {
            object.string("session", id);
        }
        object.plain("sessions", self.n_sessions).plain("files", self.n_files);
        object.plain("bytes", self.n_bytes).plain("bad_lines", self.n_bad_lines);
        object.object("formats", &counts(&self.formats));
        object.plain("events", overview.n_events);
        object.plain("user_messages", overview.n_user_messages);
        object.plain("tool_calls", overview.n_tool_calls);
        object.plain("sub_agents", overview.n_sub_agents);
        object.strings("sub_agent_names", overview.sub_agents.iter().map(String::as_str));
        object.plain("errors", overview.errors.total());
        object.plain("tool_errors", overview.errors.n_tool);
        object.plain("api_errors", overview.errors.n_api);
        object.plain("compactions", self.n_compactions);
        if let Some(outcome) = overview.outcome {
            object.string("outcome", outcome.words());
        }
        let mut durations = Object::new();
        for ((_, name), millis) in RULES.iter().zip(self.durations) {
            if let Some(millis) = millis {
                durations.plain(name, millis);
            }
        }
        if let Some(millis) = overview.run_millis {
            durations.plain("runs", millis);
        }
        object.object("duration_ms", &durations).object("types", &counts(&self.types));
        let mut tools = Object::new();
        for (name, tool) in &self.tools {
            let mut numbers = Object::new();
            numbers.plain("calls", tool.n_calls).plain("errors", tool.n_errors);
            tools.object(name, numbers.plain("duration_ms", tool.millis));
        }
        object.object("tools", &tools).object("tokens", &tokens(&self.tokens));
        if self.mentioned != Tokens::default() {
            object.object("tokens_only_mentioned", &tokens(&self.mentioned));
        }
        if let Some(cost) = self.cost {
            // Rounding removes the error that floats add to a sum.
            object.plain("cost_usd", (cost * 1e9).round() / 1e9);
        }
        let mut files = Object::new();
        for (path, touches) in &self.files {
            let mut numbers = Object::new();
            numbers.plain("read", touches.read).plain("written", touches.written);
            files.object(path, numbers.plain("edited", touches.edited));
        }
        object.object("files_touched", &files);
        object
    }
}

fn tokens(tokens: &Tokens) -> Object {
    let Tokens { input, output, cache_read, cache_creation } = *tokens;
    let mut object = Object::new();
    object.plain("input", input).plain("output", output);
    object.plain("cache_read", cache_read).plain("cache_creation", cache_creation);
    object
}

fn counts<'c, K: AsRef<str> + 'c>(counts: impl IntoIterator<Item = (&'c K, &'c u64)>) -> Object {
    let mut object = Object::new();
    for (key, count) in counts {
        object.plain(key.as_ref(), count);
    }
    object
}

impl Counter {
    /// Counts an event.
    pub(super) fn push(&mut self, place: Place, event: &Event<'_>) {
        let viewed = &Viewed::new(event);
        self.overview.view(viewed);
        self.types.push(event);
        self.runs.view(viewed, self.policy);
        self.generations.push(place, event);
        self.files.view(viewed);
        self.timeline.view(place, viewed);
    }

    /// Adds a file that was read to its end.
    pub(super) fn add_file(&mut self, format: Option<&'static Format>) {
        self.numbers.n_files += 1;
        if let Some(format) = format {
            *self.numbers.formats.entry(format.name).or_default() += 1;
        }
    }

    /// Returns the counts of the session with this id, without tokens and cost.
    pub(super) fn finish(mut self, id: &str) -> Numbers {
        // All records of a session may be copies.
        if self.overview.session_id.is_none() && !id.is_empty() {
            self.overview.session_id = Some(id.to_owned());
        }
        let mut tools: BTreeMap<String, Tool> = BTreeMap::new();
        for run in self.runs.runs() {
            let tool = tools.entry(self.runs.name(run).to_owned()).or_default();
            tool.n_calls += 1;
            tool.n_errors += u64::from(run.is_failed);
            tool.millis = tool.millis.saturating_add(run.millis().max(0));
        }
        Numbers {
            n_sessions: 1,
            n_bytes: self.n_bytes,
            mentioned: self.mentioned,
            n_bad_lines: self.n_bad_lines,
            durations: RULES.map(|(rule, _)| self.overview.span.millis(rule)),
            overview: self.overview,
            types: self.types.iter().map(|(kind, count)| (kind.to_owned(), count)).collect(),
            tools,
            n_compactions: self.generations.compactions().len() as u64,
            files: self.files.iter().map(|(path, it)| (path.to_owned(), it)).collect(),
            timeline: self.timeline,
            ..self.numbers
        }
    }
}
