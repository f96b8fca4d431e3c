//! Arguments that select parts of sessions.

use clap::ValueEnum;
use clap_complete::engine::ArgValueCompleter;
use core_model::ErrorPolicy;
use sessions::{Filter, Needle, PartKind};

use super::moments::Period;
use crate::cli::complete::Tools;

/// The arguments of a filter.
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
    /// Only calls of these tools
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        add = ArgValueCompleter::new(Tools)
    )]
    tool: Vec<String>,
    /// Only calls of tools on this file: its path, or the end of its path
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// Only calls that run a shell command with this text
    #[arg(long, value_name = "TEXT")]
    command: Option<String>,
    /// Only records that link a pull request
    #[arg(long)]
    has_pr: bool,
    /// Only errors: failed requests to the API, and tool results that failed by their flag (default),
    /// by words in their text, or by either
    #[arg(
        long,
        value_name = "RULE",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "flag"
    )]
    errors: Option<ErrorRule>,
    #[command(flatten)]
    pub(crate) period: Period,
    /// Only the main conversation, all sub-agents, or the sub-agent with this id
    #[arg(long, value_name = "main|agents|ID")]
    thread: Option<String>,
}

/// The kind of a part.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Kind {
    /// Text of the user
    User,
    /// Text of the assistant
    Assistant,
    /// Thinking of the assistant
    Thinking,
    /// A call of a tool
    ToolUse,
    /// The result of a tool
    ToolResult,
    /// A picture
    Image,
    /// Text of the client, also in messages of the user or the assistant
    Notice,
    /// A title of the session, or a summary
    Title,
    /// Any other content
    Other,
}

impl From<Kind> for PartKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::User => PartKind::User,
            Kind::Assistant => PartKind::Assistant,
            Kind::Thinking => PartKind::Thinking,
            Kind::ToolUse => PartKind::ToolUse,
            Kind::ToolResult => PartKind::ToolResult,
            Kind::Image => PartKind::Image,
            Kind::Notice => PartKind::Notice,
            Kind::Title => PartKind::Title,
            Kind::Other => PartKind::Other,
        }
    }
}

/// The rule by which a tool result is an error.
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

impl FilterArgs {
    /// Returns the filter. With `with_results`, the result of a wanted tool use is wanted too.
    pub(crate) fn filter(&self, with_results: bool) -> Filter {
        let errors = self.errors.map(ErrorPolicy::from);
        let bounds = self.period.bounds();
        let needle = self.text.as_ref().map(|text| Needle::new(text, self.ignore_case));
        Filter {
            with_results: with_results || self.wants_results(),
            needle,
            kinds: self.kinds.iter().copied().map(PartKind::from).collect(),
            tools: self.tool.clone(),
            file: self.file.clone(),
            command: self.command.as_ref().map(|text| Needle::new(text, false)),
            only_pull_requests: self.has_pr,
            errors,
            since: bounds.start,
            until: bounds.end,
            thread: self.thread.clone(),
        }
    }

    /// Returns whether results are asked for by their kind, or selected by their words.
    pub(crate) fn wants_results(&self) -> bool {
        self.text.is_some() || self.errors.is_some() || self.kinds.contains(&Kind::ToolResult)
    }

    /// Returns whether everything is wanted.
    pub(crate) fn is_empty(&self) -> bool {
        self.is_time_only() && self.period.is_all()
    }

    /// Returns whether only times are filtered.
    pub(crate) fn is_time_only(&self) -> bool {
        let has_words = self.text.is_some() || self.thread.is_some() || self.file.is_some();
        let has_lists = !self.kinds.is_empty() || !self.tool.is_empty();
        let is_of_records = self.command.is_some() || self.has_pr;
        !has_words && !has_lists && !is_of_records && self.errors.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_the_names_of_parts() {
        for kind in Kind::value_variants() {
            let name = kind.to_possible_value().map(|it| it.get_name().to_owned());
            assert_eq!(name.as_deref(), Some(PartKind::from(*kind).name()));
        }
    }
}
