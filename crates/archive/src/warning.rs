//! Warnings of a run, which stop nothing.

use std::{fmt, path::PathBuf, sync::Arc};

/// A warning. Its text is one line and not escaped for a terminal.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Warning {
    /// A warning of the search for sessions.
    Sessions(sessions::Warning),
    /// A source is smaller than when it was converted; the older output is kept.
    Shrunk {
        /// The name of the source.
        label: String,
        /// The output.
        output: PathBuf,
    },
    /// Files of a session are left out, because standard output has no place for them.
    OtherFiles {
        /// The name of the main file.
        label: String,
    },
    /// The client loads an installed session, and does not go on with it before a later time.
    Later {
        /// The name of the session's main file.
        label: String,
        /// The fault and its consequence.
        message: String,
    },
}

impl From<sessions::Warning> for Warning {
    fn from(warning: sessions::Warning) -> Self {
        Warning::Sessions(warning)
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::Sessions(warning) => warning.fmt(formatter),
            Warning::Shrunk { label, output } => write!(
                formatter,
                "{label}: smaller than when it was converted last; {} is kept beside the new one, \
                 as .bak",
                output.display()
            ),
            Warning::Later { label, message } => write!(formatter, "{label}: {message}"),
            Warning::OtherFiles { label } => write!(
                formatter,
                "{label}: the other files of the session are written with -o only"
            ),
        }
    }
}

/// Receives the warnings of a run, from any thread.
#[derive(Clone)]
pub struct Warnings(Arc<dyn Fn(Warning) + Send + Sync>);

impl Warnings {
    /// Creates warnings that call a function.
    pub fn new(warn: impl Fn(Warning) + Send + Sync + 'static) -> Self {
        Self(Arc::new(warn))
    }

    /// Passes a warning to the function.
    pub(crate) fn push(&self, warning: impl Into<Warning>) {
        (self.0)(warning.into());
    }
}

/// Ignores warnings.
impl Default for Warnings {
    fn default() -> Self {
        Self::new(|_| {})
    }
}

impl fmt::Debug for Warnings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Warnings")
    }
}
