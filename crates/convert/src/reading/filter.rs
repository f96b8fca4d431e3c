//! Which parts of a session are wanted: by kind, tool, file, error, words, time, and conversation.

use std::collections::HashSet;

use clap::ValueEnum;
use clap_complete::engine::ArgValueCompleter;
use core_model::{ErrorPolicy, Event, ToolUse, event_millis, is_failure, named_time, tool_path};
use jsonl::Scanner;

use crate::{
    cli::complete::Tools,
    reading::{
        needle::{Needle, Prefilter},
        part::{Kind, Part},
    },
};

/// What is wanted, as the command line has it.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct FilterArgs {
    /// Only parts that contain this text
    #[arg(short, long, value_name = "WORDS")]
    text: Option<String>,
    /// Ignore the case of --text
    #[arg(short, long, requires = "text")]
    ignore_case: bool,
    /// Only parts of these kinds
    #[arg(long = "type", value_name = "KIND", value_enum, value_delimiter = ',')]
    kinds: Vec<Kind>,
    /// Only uses of these tools
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        add = ArgValueCompleter::new(Tools)
    )]
    tool: Vec<String>,
    /// Only uses of tools on this file: its path, or the end of the path
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// Only failed tool results: by their flag, by words in their text, or by either (default)
    #[arg(
        long,
        value_name = "RULE",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "either"
    )]
    errors: Option<ErrorRule>,
    /// Only from this time on: 2026-01-17 or 2026-01-17T20:31, in UTC without a zone
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Option<i64>,
    /// Only until this time; a day is included
    #[arg(long, value_name = "TIME", value_parser = until)]
    until: Option<i64>,
    /// Only the main conversation, all sub-agents, or the sub-agent with this id
    #[arg(long, value_name = "main|agents|ID")]
    thread: Option<String>,
}

/// When a tool result tells of an error.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum ErrorRule {
    /// The result is marked as an error
    Flag,
    /// The text contains `error` or `failed`, as in `0 errors`
    Text,
    /// One of the two
    Either,
}

impl From<ErrorRule> for ErrorPolicy {
    fn from(rule: ErrorRule) -> Self {
        match rule {
            ErrorRule::Flag => ErrorPolicy::Flag,
            ErrorRule::Text => ErrorPolicy::Text,
            ErrorRule::Either => ErrorPolicy::Either,
        }
    }
}

fn since(text: &str) -> Result<i64, &'static str> {
    named_time(text).map(|named| named.start).ok_or(NO_TIME)
}

fn until(text: &str) -> Result<i64, &'static str> {
    named_time(text).map(|named| named.end).ok_or(NO_TIME)
}

const NO_TIME: &str = "not a time such as 2026-01-17 or 2026-01-17T20:31:59Z";

/// What is wanted.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    needle: Option<Needle>,
    kinds: Vec<Kind>,
    tools: Vec<String>,
    file: Option<String>,
    errors: Option<ErrorPolicy>,
    since: i64,
    until: i64,
    thread: Option<String>,
    /// Whether a result is wanted because the use of the tool is.
    with_results: bool,
}

impl FilterArgs {
    /// Returns the filter; `with_results` if a result is wanted because the use of the tool is.
    pub(crate) fn filter(&self, with_results: bool) -> Filter {
        let errors = self.errors.map(ErrorPolicy::from);
        let needle = self.text.as_ref().map(|text| Needle::new(text, self.ignore_case));
        Filter {
            with_results: with_results
                || needle.is_some()
                || errors.is_some()
                || self.kinds.contains(&Kind::ToolResult),
            needle,
            kinds: self.kinds.clone(),
            tools: self.tool.clone(),
            file: self.file.clone(),
            errors,
            since: self.since.unwrap_or(i64::MIN),
            until: self.until.unwrap_or(i64::MAX),
            thread: self.thread.clone(),
        }
    }

    /// Returns whether everything is wanted.
    pub(crate) fn is_empty(&self) -> bool {
        self.is_time_only() && self.since.is_none() && self.until.is_none()
    }

    /// Returns whether everything is wanted that was at some time, if at all one is asked for.
    pub(crate) fn is_time_only(&self) -> bool {
        let has_words = self.text.is_some() || self.thread.is_some() || self.file.is_some();
        let has_lists = !self.kinds.is_empty() || !self.tool.is_empty();
        !has_words && !has_lists && self.errors.is_none()
    }
}

impl Filter {
    /// Returns the words that are looked for.
    pub(crate) fn needle(&self) -> Option<&Needle> {
        self.needle.as_ref()
    }

    /// Returns what a line must have in it to hold a part that is wanted.
    pub(crate) fn prefilter(&self) -> Prefilter {
        const RESULT: &str = "tool_use_id";
        let is_call_wanted = !self.tools.is_empty() || self.file.is_some();
        if is_call_wanted {
            let names = self.tools.iter().flat_map(|name| spellings(name));
            let mut words: Vec<&str> = names.collect();
            if words.is_empty() {
                words.extend(self.file.as_deref());
            }
            if self.with_results {
                words.push(RESULT);
            }
            return Prefilter::any_of(&words, false);
        }
        match &self.needle {
            Some(needle) => needle.prefilter(),
            // With the names of the tools that the results are of.
            None if self.errors.is_some() => Prefilter::any_of(&[RESULT, "input"], false),
            None => Prefilter::ALL,
        }
    }

    /// Returns whether a time is wanted; one that nobody knows is, if every time is.
    fn has_time(&self, time: Option<i64>) -> bool {
        match time {
            Some(time) => self.since <= time && time < self.until,
            None => self.since == i64::MIN && self.until == i64::MAX,
        }
    }

    /// Returns whether something between two times is wanted.
    pub(crate) fn has_span(&self, start: Option<i64>, end: Option<i64>) -> bool {
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

/// Returns the names that a tool has had.
fn spellings(name: &str) -> impl Iterator<Item = &str> {
    // `Task` is called `Agent` since 2.1.63.
    let other = match name {
        "Task" => Some("Agent"),
        "Agent" => Some("Task"),
        _ => None,
    };
    std::iter::once(name).chain(other)
}

/// Finds what is wanted in the events of one file, in their order.
#[derive(Debug)]
pub(crate) struct Matcher<'f> {
    filter: &'f Filter,
    /// The ids of the tool uses that are wanted.
    uses: HashSet<String>,
    scanner: Scanner,
}

impl<'f> Matcher<'f> {
    /// Creates a matcher for one file.
    pub(crate) fn new(filter: &'f Filter) -> Self {
        Self { filter, uses: HashSet::new(), scanner: Scanner::default() }
    }

    /// Returns whether parts of an event may be wanted.
    pub(crate) fn wants_event(&self, event: &Event<'_>) -> bool {
        self.filter.has_time(event_millis(event)) && self.filter.has_thread(event)
    }

    /// Returns whether a part of such an event is wanted.
    pub(crate) fn wants(&mut self, part: &Part<'_>) -> bool {
        let filter = self.filter;
        if !filter.tools.is_empty() || filter.file.is_some() {
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
        let Some(file) = filter.file.as_deref().filter(|_| is_tool) else { return is_tool };
        let path = tool_path(tool.input, &mut self.scanner);
        path.is_some_and(|path| is_path_or_end(&path, file))
    }
}

/// Returns whether `end` is a path, or all of its last parts.
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

    #[test]
    fn times_are_named_as_days_or_moments() {
        assert_eq!(since("2026-01-17"), Ok(1_768_608_000_000));
        assert_eq!(until("2026-01-17"), Ok(1_768_608_000_000 + 86_400_000));
        assert_eq!(since("yesterday"), Err(NO_TIME));
    }
}
