//! Decides which events are errors: tool results that failed, and failed requests to the API.
//!
//! In: a result `0 errors` without `is_error`. Out: no failure by [`ErrorPolicy::Flag`], a failure
//! by [`ErrorPolicy::Text`].

use jsonl::Text;

use super::Viewed;
use crate::{Block, Body, Content, Event, NoticeKind, ToolResult};

/// The numbers of errors, by what failed. Lists, summaries, searches and pages count by this one
/// definition. The end of a run is no error: it is the outcome of the session.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Errors {
    /// The number of tool results that are errors.
    pub n_tool: u64,
    /// The number of failed requests, by [`is_api_error`].
    pub n_api: u64,
}

impl Errors {
    /// Counts the errors of an event.
    pub fn of(event: &Event<'_>, policy: ErrorPolicy) -> Self {
        let n_tool = failed_results(event, policy).count() as u64;
        Self { n_tool, n_api: u64::from(is_api_error(event)) }
    }

    pub(super) fn view(viewed: &Viewed<'_, '_>, policy: ErrorPolicy) -> Self {
        let n_tool = viewed.failed_results(policy).count() as u64;
        Self { n_tool, n_api: u64::from(is_api_error(viewed.event)) }
    }

    /// Returns the number of all errors.
    pub fn total(&self) -> u64 {
        self.n_tool.saturating_add(self.n_api)
    }
}

impl std::ops::AddAssign for Errors {
    fn add_assign(&mut self, other: Self) {
        self.n_tool = self.n_tool.saturating_add(other.n_tool);
        self.n_api = self.n_api.saturating_add(other.n_api);
    }
}

/// Returns whether an event is a failed request: a message in place of a response, or the client's
/// notice of an error, such as of a request that it tries again.
pub fn is_api_error(event: &Event<'_>) -> bool {
    match &event.body {
        Body::Message(message) => message.is_api_error,
        Body::Notice(notice) => notice.kind == NoticeKind::Error,
        _ => false,
    }
}

/// The policy that decides whether a tool result is an error.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ErrorPolicy {
    /// Its `is_error` is true.
    Flag,
    /// Its text contains `error` or `failed`, in any case; also in `0 errors`.
    Text,
    /// Either of the two.
    #[default]
    Either,
}

/// Returns whether a tool result is an error.
pub fn is_failure(result: &ToolResult<'_>, policy: ErrorPolicy) -> bool {
    let by_flag = || result.is_error.value() == Some(true);
    match policy {
        ErrorPolicy::Flag => by_flag(),
        ErrorPolicy::Text => has_error_words(result),
        ErrorPolicy::Either => by_flag() || has_error_words(result),
    }
}

/// Returns the tool results of an event that are errors.
pub fn failed_results<'e, 'l>(
    event: &'e Event<'l>,
    policy: ErrorPolicy,
) -> impl Iterator<Item = ToolResult<'l>> + use<'e, 'l> {
    let results = event.message().into_iter().flat_map(|message| message.tool_results());
    results.filter(move |result| is_failure(result, policy))
}

fn has_error_words(result: &ToolResult<'_>) -> bool {
    if let Content::Other(raw) = result.content {
        return !raw.is_null() && has_word(raw.as_str(), false);
    }
    result.content.blocks().any(|(block, _)| match block {
        Block::Text(text) => says_word(text),
        _ => false,
    })
}

/// Returns whether an unescaped string contains one of the words.
fn says_word(text: Text<'_>) -> bool {
    match text.has_needless_escape() {
        true => has_word(&text.decode(), false),
        false => has_word(text.body(), true),
    }
}

/// Returns whether a text contains one of the words, in any case.
///
/// Results are half of all bytes of a session. So 32 positions are compared at once by two letters
/// of a word, and only matching positions are compared completely.
fn has_word(text: &str, is_escaped: bool) -> bool {
    const PLACES: usize = 32;
    /// Number of bytes of the positions and of a word that begins at the last one.
    const BLOCK: usize = PLACES + 5;

    let may_begin = |block: &[u8; BLOCK]| {
        let is = |byte: &u8, letter: u8| byte | 0x20 == letter;
        let may_begin_at = |word: &[u8]| {
            let [first, second, third, _, _, last] = word else { return false };
            is(second, b'r') & is(third, b'r') | is(first, b'f') & is(last, b'd')
        };
        block.windows(6).fold(false, |any, word| any | may_begin_at(word))
    };
    let bytes = text.as_bytes();
    let begins_at = |at: usize| {
        let begins = |word: &[u8]| {
            bytes.get(at..at + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word))
        };
        // In `\f` after an even number of backslashes, the `f` is an escape and not a letter.
        let is_letter = || {
            let before = bytes.get(..at).unwrap_or_default();
            let n_backslashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
            !is_escaped || n_backslashes % 2 == 0
        };
        begins(b"error") || begins(b"failed") && is_letter()
    };
    let mut start = 0;
    while let Some(block) = bytes.get(start..).and_then(<[u8]>::first_chunk) {
        if may_begin(block) && (start..start + PLACES).any(begins_at) {
            return true;
        }
        start += PLACES;
    }
    (start..bytes.len()).any(begins_at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(body: &str) -> bool {
        says_word(Text::new(&format!("\"{body}\"")).expect("a string"))
    }

    #[test]
    fn words_are_found_in_what_a_string_means() {
        let cases = [
            ("an ErRoR", true),
            ("FAILED", true),
            ("faile", false),
            ("", false),
            (r"err\u006Fr", true),
            (r"\u001b[31merror", true),
            (r"\failed", false),
            (r"\\failed", true),
            (r"\nfailed", true),
            (r"er\ror", false),
            (r"\u001b[31mer ror \ud83d\ude00", false),
            ("fa\u{130}led", false),
        ];
        for (body, expected) in cases {
            let found = says(body);
            assert_eq!(found, expected, "{body}");
            let meaning =
                Text::new(&format!("\"{body}\"")).expect("a string").decode().to_lowercase();
            assert_eq!(found, meaning.contains("error") || meaning.contains("failed"), "{body}");
        }
    }

    #[test]
    fn words_are_found_wherever_they_stand() {
        for before in 0..100 {
            for after in 0..40 {
                for word in ["Error", "failed"] {
                    let text = ["é".repeat(before / 2), "r".repeat(before % 2)].concat();
                    assert!(says(&format!("{text}{word}{}", "d".repeat(after))));
                    assert!(!says(&format!("{text}{}{}", &word[..4], "d".repeat(after))));
                }
            }
        }
    }
}
