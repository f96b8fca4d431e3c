//! Finds the abilities of the terminal: cursor, colors, columns.

pub(crate) mod escape;
pub(crate) mod figures;
pub(crate) mod message;
pub(crate) mod pager;
pub(crate) mod progress;
pub(crate) mod session_bytes;
pub(crate) mod shell;
pub(crate) mod stdout;
pub(crate) mod table;
pub(crate) mod wrap;

use std::{ffi::OsString, io::IsTerminal};

use terminal_size::{Width, terminal_size_of};

/// The number of columns if it is unknown.
const COLUMNS: usize = 80;

/// Minimum number of columns.
const MIN_COLUMNS: usize = 20;

/// The terminal, or other sink, of an output stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Terminal {
    /// Whether it is a terminal that can move its cursor.
    pub(crate) is_terminal: bool,
    /// Whether to print colors.
    pub(crate) has_color: bool,
    /// The number of columns.
    pub(crate) columns: usize,
}

impl Terminal {
    /// Returns the terminal of standard output.
    pub(crate) fn of_stdout() -> Self {
        let stdout = std::io::stdout();
        let size = terminal_size_of(&stdout).map(|(Width(columns), _)| columns);
        Self::new(stdout.is_terminal(), size, &|name| std::env::var_os(name))
    }

    /// Returns the terminal of standard error.
    pub(crate) fn of_stderr() -> Self {
        let stderr = std::io::stderr();
        let size = terminal_size_of(&stderr).map(|(Width(columns), _)| columns);
        Self::new(stderr.is_terminal(), size, &|name| std::env::var_os(name))
    }

    /// <https://no-color.org>, <https://bixense.com/clicolors>: a variable that is empty is unset.
    fn new(
        is_terminal: bool,
        size: Option<u16>,
        variable: &dyn Fn(&str) -> Option<OsString>,
    ) -> Self {
        let variable = |name| variable(name).filter(|value| !value.is_empty());
        let is_dumb = variable("TERM").is_some_and(|term| term == "dumb");
        let is_forced = variable("CLICOLOR_FORCE").is_some_and(|value| value != "0");
        let is_refused = variable("NO_COLOR").is_some()
            || variable("CLICOLOR").is_some_and(|value| value == "0");
        let columns = variable("COLUMNS").and_then(|columns| columns.to_str()?.parse().ok());
        Self {
            is_terminal: is_terminal && !is_dumb,
            has_color: !is_refused && (is_forced || is_terminal && !is_dumb),
            columns: columns.or(size.map(usize::from)).unwrap_or(COLUMNS).max(MIN_COLUMNS),
        }
    }
}

/// Returns text in a color, if there are colors.
pub(crate) fn painted(has_color: bool, color: &str, text: &str) -> String {
    match has_color && !text.is_empty() {
        true => format!("\u{1b}[{color}m{text}\u{1b}[0m"),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_say_what_is_wanted() {
        let terminal = |is_terminal, variables: &[(&str, &str)]| {
            Terminal::new(is_terminal, Some(132), &|name| {
                let (_, value) = variables.iter().find(|(variable, _)| *variable == name)?;
                Some(value.into())
            })
        };
        let colors =
            |is_terminal, variables: &[(&str, &str)]| terminal(is_terminal, variables).has_color;
        assert!(colors(true, &[]) && !colors(false, &[]));
        assert!(!colors(true, &[("NO_COLOR", "1")]) && colors(true, &[("NO_COLOR", "")]));
        assert!(!colors(true, &[("TERM", "dumb")]) && !colors(true, &[("CLICOLOR", "0")]));
        assert!(colors(false, &[("CLICOLOR_FORCE", "1")]));
        assert!(!colors(false, &[("CLICOLOR_FORCE", "0")]));
        assert!(!colors(true, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
        assert!(!terminal(true, &[("TERM", "dumb")]).is_terminal);
        let columns = |value| terminal(true, &[("COLUMNS", value)]).columns;
        assert_eq!(["100", "3", "wide", ""].map(columns), [100, 20, 132, 132]);
        assert_eq!(Terminal::new(false, None, &|_| None).columns, 80);
    }
}
