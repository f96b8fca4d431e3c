//! Queries over a transcript: calls, errors, results, times, tokens.

use core_model::{
    Block, CompactionRule, DurationRule, ErrorPolicy, Generation, Generations, Overview, Place,
    Role, Span, TokenTotals, Tokens, ToolRun, ToolRuns, TypeCounts, failed_results,
};

use super::{Transcript, entry::plain};

/// A tool call.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FoundCall {
    /// The index of its entry.
    pub idx: usize,
    /// Its line.
    pub place: Place,
    /// The id of the tool use.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The input as written.
    pub input: String,
    /// The time of the entry as written, without quotes.
    pub timestamp: Option<String>,
}

/// A tool result that reports an error.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FoundError {
    /// The index of its entry.
    pub idx: usize,
    /// Its line.
    pub place: Place,
    /// The id of the tool use.
    pub tool_use_id: String,
    /// The text of the result.
    pub text: String,
    /// The `is_error` of the result; `None` if it has none.
    pub is_error: Option<bool>,
    /// The time of the entry as written, without quotes.
    pub timestamp: Option<String>,
}

/// A tool result in a user's entry.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FoundResult {
    /// The index of its entry.
    pub idx: usize,
    /// Its line.
    pub place: Place,
    /// The id of the tool use.
    pub tool_use_id: Option<String>,
    /// The content as written.
    pub content: Option<String>,
    /// Whether the tool failed; `false` if the result has no `is_error`.
    pub is_error: bool,
    /// The time of the entry as written, without quotes.
    pub timestamp: Option<String>,
}

impl Transcript<'_> {
    /// Returns the tool calls of the assistant, in the order of the file.
    ///
    /// ```
    /// use format_claude_code::Transcript;
    ///
    /// let file = br#"{"type":"assistant","timestamp":"2025-12-25T10:30:05.000Z","message":{"content":[
    ///     {"type":"tool_use","id":"toolu_xxx","name":"Bash","input":{"command":"git status"}}]}}"#;
    /// let file = String::from_utf8_lossy(file).replace('\n', "");
    /// let calls = Transcript::from_slice(file.as_bytes()).find_tool_calls();
    /// assert_eq!(calls[0].name, "Bash");
    /// assert_eq!(calls[0].input, r#"{"command":"git status"}"#);
    /// assert_eq!(calls[0].timestamp.as_deref(), Some("2025-12-25T10:30:05.000Z"));
    /// ```
    pub fn find_tool_calls(&self) -> Vec<FoundCall> {
        let mut calls = Vec::new();
        self.for_each(|entry| {
            let message = entry.event.message().filter(|said| said.role == Role::Assistant);
            for (block, _) in message.into_iter().flat_map(|message| message.blocks()) {
                let Block::ToolUse(tool) = block else { continue };
                calls.push(FoundCall {
                    idx: entry.idx,
                    place: entry.place,
                    id: tool.id.decode().into_owned(),
                    name: tool.name.decode().into_owned(),
                    input: tool.input.json().to_string(),
                    timestamp: entry.timestamp().map(plain),
                });
            }
        });
        calls
    }

    /// Returns the tool calls with their results.
    pub fn tool_runs(&self) -> Vec<ToolRun> {
        let mut runs = ToolRuns::with_contents();
        self.for_each(|entry| runs.push(entry.place, &entry.event));
        runs.finish()
    }

    /// Returns the tool results that report an error.
    ///
    /// ```
    /// use core_model::ErrorPolicy;
    /// use format_claude_code::Transcript;
    ///
    /// let file = br#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"0 errors"}]}}
    /// {"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"b","content":"?","is_error":true}]}}
    /// {"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c","content":null}]}}"#;
    /// let transcript = Transcript::from_slice(file);
    /// let found = |policy| -> Vec<String> {
    ///     transcript.find_errors(policy).into_iter().map(|error| error.tool_use_id).collect()
    /// };
    /// assert_eq!(found(ErrorPolicy::Text), ["a"]);
    /// assert_eq!(found(ErrorPolicy::Flag), ["b"]);
    /// assert_eq!(found(ErrorPolicy::default()), ["a", "b"]);
    /// ```
    pub fn find_errors(&self, policy: ErrorPolicy) -> Vec<FoundError> {
        let mut errors = Vec::new();
        self.for_each(|entry| {
            for result in failed_results(&entry.event, policy) {
                errors.push(FoundError {
                    idx: entry.idx,
                    place: entry.place,
                    tool_use_id: result.tool_use_id.decode().into_owned(),
                    text: result.content.joined().into_owned(),
                    is_error: result.is_error.value(),
                    timestamp: entry.timestamp().map(plain),
                });
            }
        });
        errors
    }

    /// Returns the tool results in users' entries.
    ///
    /// ```
    /// use format_claude_code::Transcript;
    ///
    /// let file = br#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_abc123","content":"Exit code 0","is_error":false}],"timestamp":1700000002.0}}
    /// {"type":"tool_result","message":{"content":"never a line of its own"}}"#;
    /// let results = Transcript::from_slice(file).tool_results();
    /// assert_eq!(results.len(), 1);
    /// assert_eq!(results[0].tool_use_id.as_deref(), Some("toolu_abc123"));
    /// assert_eq!(results[0].content.as_deref(), Some("\"Exit code 0\""));
    /// assert_eq!(results[0].timestamp.as_deref(), Some("1700000002.0"));
    /// ```
    pub fn tool_results(&self) -> Vec<FoundResult> {
        let mut results = Vec::new();
        self.for_each(|entry| {
            if entry.kind() != "user" {
                return;
            }
            for block in entry.raw_blocks() {
                let text = |name: &str| block.get(name).and_then(|value| value.text());
                if !text("type").is_some_and(|kind| kind.is("tool_result")) {
                    continue;
                }
                let flag = block.get("is_error").and_then(|flag| flag.bool());
                results.push(FoundResult {
                    idx: entry.idx,
                    place: entry.place,
                    tool_use_id: text("tool_use_id").map(|id| id.decode().into_owned()),
                    content: block.get("content").map(|content| content.raw().to_string()),
                    is_error: flag.unwrap_or(false),
                    timestamp: entry.timestamp().map(plain),
                });
            }
        });
        results
    }

    /// Returns the duration in milliseconds; `None` if the times are missing.
    ///
    /// ```
    /// use core_model::DurationRule;
    /// use format_claude_code::Transcript;
    ///
    /// let file = br#"{"type":"summary","summary":"A talk","leafUuid":"u9"}
    /// {"type":"user","timestamp":"2025-12-25T10:30:00.000Z","message":{"content":"x"}}
    /// {"type":"user","timestamp":"2025-12-25T11:15:00.000Z","message":{"content":"y"}}"#;
    /// let transcript = Transcript::from_slice(file);
    /// assert_eq!(transcript.duration(DurationRule::MinMax), Some(45 * 60_000));
    /// // The first line is a summary, which has no time.
    /// assert_eq!(transcript.duration(DurationRule::FirstLastLine), None);
    /// ```
    pub fn duration(&self, rule: DurationRule) -> Option<i64> {
        let mut span = Span::default();
        self.for_each(|entry| span.push(&entry.event));
        span.millis(rule)
    }

    /// Returns the number of entries of each type. Entries without a type count as `unknown`.
    ///
    /// ```
    /// use format_claude_code::Transcript;
    ///
    /// let file = b"{\"type\":\"user\"}\n{\"type\":\"assistant\"}\n{\"type\":\"user\"}\n{}\n";
    /// let counts = Transcript::from_slice(file).count_by_type();
    /// let counts: Vec<_> = counts.iter().collect();
    /// assert_eq!(counts, [("assistant", 1), ("unknown", 1), ("user", 2)]);
    /// ```
    pub fn count_by_type(&self) -> TypeCounts {
        let mut counts = TypeCounts::default();
        self.for_each(|entry| counts.push_kind(&entry.kind()));
        counts
    }

    /// Returns the tokens used. The last count of each response is the one that is added.
    pub fn usage_totals(&self) -> Tokens {
        let mut totals = TokenTotals::default();
        self.for_each(|entry| totals.push(&entry.event));
        totals.total()
    }

    /// Returns the indices of the entries at which the context was compacted.
    ///
    /// ```
    /// use core_model::CompactionRule;
    /// use format_claude_code::Transcript;
    ///
    /// let file = br#"{"type":"user","message":{"content":"x"}}
    /// {"type":"summary","message":{"content":"Summary of previous conversation..."}}
    /// {"type":"system","subtype":"compact_boundary"}
    /// {"type":"user","isCompactSummary":true,"message":{"content":"They talked."}}"#;
    /// let transcript = Transcript::from_slice(file);
    /// assert_eq!(transcript.compaction_boundaries(CompactionRule::SummaryLine), [1]);
    /// assert_eq!(transcript.compaction_boundaries(CompactionRule::Boundary), [2]);
    /// assert_eq!(transcript.compaction_boundaries(CompactionRule::Any), [1, 2]);
    /// ```
    pub fn compaction_boundaries(&self, rule: CompactionRule) -> Vec<usize> {
        let generations = self.generations(rule).into_iter();
        generations.filter_map(|it| it.compaction).map(|it| it.idx as usize).collect()
    }

    /// Returns the parts of the session between compactions.
    pub fn generations(&self, rule: CompactionRule) -> Vec<Generation> {
        let mut generations = Generations::new(rule);
        self.for_each(|entry| generations.push(entry.place, &entry.event));
        generations.finish()
    }

    /// Returns the overview of the session: its id, messages, tools, times, sub-agents.
    pub fn overview(&self) -> Overview {
        let mut overview = Overview::default();
        self.for_each(|entry| overview.push(&entry.event));
        overview
    }
}
