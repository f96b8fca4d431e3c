//! Selects parts of sessions by kind, tool, file, error, words, time, and conversation.
//!
//! In: `tools: ["Bash"]` and the events of a file. Out: `true` for each use of Bash.

use std::collections::HashSet;

use core_model::{
    ErrorPolicy, Event, ToolUse, event_millis, is_api_error, is_failure, shell_command, tool_path,
};
use jsonl::Scanner;

use crate::{
    needle::{Needle, Prefilter},
    part::{self, Part, PartKind},
};

/// Conditions for parts of a session. By default, every part is selected.
#[derive(Clone, Debug)]
pub struct Filter {
    /// The words that a part must contain.
    pub needle: Option<Needle>,
    /// The kinds of parts; empty for all.
    pub kinds: Vec<PartKind>,
    /// The names of tools; empty for all. A tool that its client renamed is found by either name:
    /// `Task` and `Agent` of Claude Code are one.
    pub tools: Vec<String>,
    /// The path of the file that a tool is used on, or the end of the path.
    pub file: Option<String>,
    /// The text that the shell command of a tool use must contain.
    pub command: Option<Needle>,
    /// Whether only links to pull requests are selected.
    pub only_pull_requests: bool,
    /// The rule for tool results that are errors, if only errors are selected. A failed request to
    /// the API is an error by every rule.
    pub errors: Option<ErrorPolicy>,
    /// The first selected time, in milliseconds since 1970. `i64::MIN` selects all. An event without
    /// a time is selected only if neither bound is set.
    pub since: i64,
    /// The time after the last selected one, in milliseconds since 1970: an event at exactly this
    /// time is not selected. `i64::MAX` selects all.
    pub until: i64,
    /// `main`, `agents`, or the id of a sub-agent.
    pub thread: Option<String>,
    /// Whether the result of a selected tool use is selected too.
    pub with_results: bool,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            needle: None,
            kinds: Vec::new(),
            tools: Vec::new(),
            file: None,
            command: None,
            only_pull_requests: false,
            errors: None,
            since: i64::MIN,
            until: i64::MAX,
            thread: None,
            with_results: false,
        }
    }
}

impl Filter {
    /// Returns the bytes that a line with a selected part must contain.
    pub fn prefilter(&self) -> Prefilter {
        // The members with the id of the call in results, in all formats.
        const RESULTS: [&str; 3] = ["tool_use_id", "call_id", "toolCallId"];
        // The type of records that link a pull request, in all formats.
        const PULL_REQUEST: &str = "pr-link";
        if self.only_pull_requests {
            return Prefilter::any_of(&[PULL_REQUEST], false);
        }
        if self.is_of_calls() {
            let names = self.tools.iter().flat_map(|name| spellings(name));
            let mut words: Vec<&str> = names.collect();
            if words.is_empty() {
                // The words of a command may be the items of an array.
                let command = self.command.as_ref().map(Needle::longest_word);
                words.extend(command.or(self.file.as_deref()));
            }
            if self.with_results {
                words.extend(RESULTS);
            }
            return Prefilter::any_of(&words, false);
        }
        match &self.needle {
            Some(needle) => needle.prefilter(),
            None => Prefilter::ALL,
        }
    }

    /// Returns whether only uses of tools are selected, and their results.
    pub fn is_of_calls(&self) -> bool {
        !self.tools.is_empty() || self.file.is_some() || self.command.is_some()
    }

    /// Returns the parts of an event that the filter can select, in their order.
    pub fn parts<'e, 'l>(
        &self,
        event: &'e Event<'l>,
    ) -> impl Iterator<Item = Part<'l>> + use<'e, 'l> {
        let link = self.only_pull_requests.then(|| pull_request(event)).flatten();
        link.into_iter().chain(part::parts(event))
    }

    /// Returns whether a time is selected. An unknown time is only if all times are.
    fn has_time(&self, time: Option<i64>) -> bool {
        match time {
            Some(time) => self.since <= time && time < self.until,
            None => self.since == i64::MIN && self.until == i64::MAX,
        }
    }

    /// Returns whether a span of time overlaps the selected times.
    pub fn has_span(&self, start: Option<i64>, end: Option<i64>) -> bool {
        match (start.or(end), end.or(start)) {
            (Some(start), Some(end)) => self.since <= end && start < self.until,
            _ => self.has_time(None),
        }
    }

    fn has_thread(&self, event: &Event<'_>) -> bool {
        match self.thread.as_deref() {
            None => true,
            Some("main") => !event.is_sub_agent(),
            Some("agents") => event.is_sub_agent(),
            Some(id) => {
                let context = &event.context;
                [context.agent_id, context.parent_tool_use].iter().flatten().any(|it| it.is(id))
            }
        }
    }
}

/// Returns the link of a record to a pull request.
fn pull_request<'l>(event: &Event<'l>) -> Option<Part<'l>> {
    let address = (event.vocabulary.pull_request)(event)?;
    Some(Part::Other(event.kind, address))
}

/// Returns the names that a tool has had in versions of its client.
fn spellings(name: &str) -> impl Iterator<Item = &str> {
    // `Task` is called `Agent` since 2.1.63.
    let other = match name {
        "Task" => Some("Agent"),
        "Agent" => Some("Task"),
        _ => None,
    };
    std::iter::once(name).chain(other)
}

/// Applies a filter to the events of one file, in order.
#[derive(Debug)]
pub struct Matcher<'f> {
    filter: &'f Filter,
    /// The ids of selected tool uses.
    uses: HashSet<String>,
    /// Whether the event is a failed request.
    is_api_error: bool,
    /// Whether the event links a pull request.
    is_pull_request: bool,
    scanner: Scanner,
}

impl<'f> Matcher<'f> {
    /// Creates a matcher for one file.
    pub fn new(filter: &'f Filter) -> Self {
        Self {
            filter,
            uses: HashSet::new(),
            is_api_error: false,
            is_pull_request: false,
            scanner: Scanner::default(),
        }
    }

    /// Returns the filter.
    pub fn filter(&self) -> &'f Filter {
        self.filter
    }

    /// Returns whether parts of an event may be selected. Its parts are asked for next.
    pub fn wants_event(&mut self, event: &Event<'_>) -> bool {
        self.is_api_error = self.filter.errors.is_some() && is_api_error(event);
        self.is_pull_request = self.filter.only_pull_requests && pull_request(event).is_some();
        self.filter.has_time(event_millis(event)) && self.filter.has_thread(event)
    }

    /// Returns whether a part of such an event is selected.
    pub fn wants(&mut self, part: &Part<'_>) -> bool {
        let filter = self.filter;
        if filter.only_pull_requests && !self.is_pull_request {
            return false;
        }
        if filter.is_of_calls() {
            match part {
                Part::ToolUse(tool) if self.is_wanted_use(tool) => {
                    self.uses.insert(tool.id.decode().into_owned());
                }
                Part::ToolResult(result)
                    if filter.with_results && self.uses.contains(&*result.tool_use_id.decode()) => {
                }
                _ => return false,
            }
        }
        if let Some(policy) = filter.errors
            && !self.is_api_error
            && !part.result().is_some_and(|result| is_failure(result, policy))
        {
            return false;
        }
        if !filter.kinds.is_empty() && !filter.kinds.contains(&part.kind()) {
            return false;
        }
        let Some(needle) = &filter.needle else { return true };
        let mut has_words = false;
        part.for_each_text(&mut self.scanner, &mut |text| {
            has_words = has_words || needle.find(text).is_some();
        });
        has_words
    }

    fn is_wanted_use(&mut self, tool: &ToolUse<'_>) -> bool {
        let filter = self.filter;
        let is_tool = filter.tools.is_empty()
            || filter.tools.iter().flat_map(|name| spellings(name)).any(|name| tool.name.is(name));
        if !is_tool {
            return false;
        }
        if let Some(needle) = &filter.command {
            let command = shell_command(tool, &mut self.scanner);
            if command.is_none_or(|command| needle.find(&command).is_none()) {
                return false;
            }
        }
        let Some(file) = filter.file.as_deref() else { return true };
        let path = tool_path(tool.input.json().raw(), &mut self.scanner);
        path.is_some_and(|path| is_path_or_end(&path, file))
    }
}

/// Returns whether `end` is a path, or its last components.
fn is_path_or_end(path: &str, end: &str) -> bool {
    let before = path.strip_suffix(end);
    before.is_some_and(|before| before.is_empty() || before.ends_with(['/', '\\']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_its_path_or_the_end_of_it() {
        assert!(is_path_or_end("/a/b/c.rs", "/a/b/c.rs") && is_path_or_end("/a/b/c.rs", "b/c.rs"));
        assert!(is_path_or_end("C:\\a\\c.rs", "c.rs") && !is_path_or_end("/a/bc.rs", "c.rs"));
    }
}
