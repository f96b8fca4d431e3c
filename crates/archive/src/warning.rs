//! Warnings of a run: things that a person should know of, and that stop nothing.

use std::{fmt, path::PathBuf, sync::Arc};

/// Something that a person should know of. Its text is one line, as it is: whoever prints it escapes it
/// for a terminal.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Warning {
    /// The search for sessions met something odd.
    Sessions(sessions::Warning),
    /// A source is smaller than when it was converted; the older output is kept.
    Shrunk {
        /// What the source is called.
        label: String,
        /// The output.
        output: PathBuf,
    },
    /// Files of a session are left out, because standard output has no place for them.
    OtherFiles {
        /// What the main file of the session is called.
        label: String,
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
    /// Hands each warning to a function.
    pub fn new(warn: impl Fn(Warning) + Send + Sync + 'static) -> Self {
        Self(Arc::new(warn))
    }

    /// Hands a warning on.
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
