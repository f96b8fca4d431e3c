//! Recognizes texts that Claude Code writes in the user's role, by their start.
//!
//! In: `<local-command-stdout>ok</local-command-stdout>`. Out: `true`.

use jsonl::Text;

/// Starts of texts that nobody typed: the output of a command that the user ran in the client
/// (2.0.77, 2.1.237), and the notification of a finished background task (2.1.215, 2.1.330).
const STARTS: [&str; 5] = [
    "<local-command-stdout>",
    "<local-command-caveat>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
];

/// Returns whether the client wrote a text in the user's role. Sessions converted from Claude Code
/// contain the same texts.
///
/// ```
/// let text = jsonl::Text::new(r#""<task-notification>\nDone""#).expect("a string");
/// assert!(core_model::is_client_text(text));
/// ```
pub fn is_client_text(text: Text<'_>) -> bool {
    let body = text.body();
    body.starts_with('<') && STARTS.iter().any(|start| body.starts_with(start))
}
