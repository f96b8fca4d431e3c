//! The name of a tool: one string of the record, or a namespace and a name.
//!
//! In: Codex's `"name":"echo","namespace":"mcp__mock"`. Out: the name `mcp__mock__echo`, which
//! Claude Code and older versions of Codex write as one string.

use std::borrow::Cow;

use jsonl::Text;

/// The name of a tool.
///
/// ```
/// use core_model::ToolName;
/// use jsonl::Text;
///
/// let text = |written| Text::new(written).expect("a JSON string");
/// let whole = ToolName::from(text(r#""mcp__mock__echo""#));
/// let parts = ToolName::in_namespace(text(r#""mcp__mock""#), "__", text(r#""echo""#));
/// assert_eq!(parts.decode(), whole.decode());
/// assert!(parts.is("mcp__mock__echo") && !parts.is("echo"));
/// assert!(whole.as_text().is_some() && parts.as_text().is_none());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ToolName<'l> {
    namespace: Option<Namespace<'l>>,
    name: Text<'l>,
}

/// The first part of a name.
#[derive(Clone, Copy, Debug)]
struct Namespace<'l> {
    text: Text<'l>,
    /// The characters between the namespace and the name.
    separator: &'static str,
}

impl<'l> ToolName<'l> {
    /// Creates the name of a tool in a namespace: both texts with a separator between them.
    pub fn in_namespace(namespace: Text<'l>, separator: &'static str, name: Text<'l>) -> Self {
        Self { namespace: Some(Namespace { text: namespace, separator }), name }
    }

    /// Returns the name as a string of the record; `None` if the record has it in two strings.
    #[inline]
    pub fn as_text(&self) -> Option<Text<'l>> {
        self.namespace.is_none().then_some(self.name)
    }

    /// Returns the string of the record that has the name without its namespace.
    pub fn without_namespace(&self) -> Text<'l> {
        self.name
    }

    /// Returns the unescaped name, with U+FFFD for lone surrogates.
    #[inline]
    pub fn decode(&self) -> Cow<'l, str> {
        match self.namespace {
            None => self.name.decode(),
            Some(namespace) => self.join(namespace),
        }
    }

    #[cold]
    fn join(&self, namespace: Namespace<'l>) -> Cow<'l, str> {
        [&namespace.text.decode(), namespace.separator, &*self.name.decode()].concat().into()
    }

    /// Returns whether the unescaped name equals `name`.
    #[inline]
    pub fn is(&self, name: &str) -> bool {
        match self.namespace {
            None => self.name.is(name),
            Some(_) => self.decode() == name,
        }
    }
}

impl<'l> From<Text<'l>> for ToolName<'l> {
    #[inline]
    fn from(name: Text<'l>) -> Self {
        Self { namespace: None, name }
    }
}
