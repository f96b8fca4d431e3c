//! Replaces the secrets in a line and leaves all other bytes unchanged.
//!
//! In: `{"text":"key ghp_…"}`. Out: `{"text":"key [REDACTED:github-token]"}`.

use std::borrow::Cow;

use jsonl::Line;

use crate::{Finding, Search, cursor::Cursor, matcher::Matcher};

impl Search {
    /// Appends a line to `out` with each secret replaced by `[REDACTED:rule]`. Calls `each` with
    /// the findings, and returns whether there was one. All other bytes are copied unchanged, and JSON
    /// stays valid.
    ///
    /// ```
    /// let mut search = secrets::Search::new();
    /// let line = br#"{"text":"login AKIA0123456789ABCDEF","id":"a"}"#;
    /// let mut out = Vec::new();
    /// assert!(search.redact(&jsonl::Line::new(line, 0), &mut out, &mut |_| {}));
    /// assert_eq!(out, br#"{"text":"login [REDACTED:aws-key-id]","id":"a"}"#);
    /// ```
    pub fn redact(
        &mut self,
        line: &Line<'_>,
        out: &mut Vec<u8>,
        each: &mut dyn FnMut(&Finding<'_>),
    ) -> bool {
        let mut done = Cursor::new(line.bytes());
        self.find(line, &mut |finding| {
            let secret = done.to(finding.written.start);
            out.extend_from_slice(secret.since(done.place()));
            out.extend_from_slice(finding.rule.placeholder().as_bytes());
            done = done.to(finding.written.end);
            each(finding);
        });
        out.extend_from_slice(done.rest());
        done.place() > 0
    }
}

/// Returns decoded text without its secrets.
pub(crate) fn redacted_text<'t>(matcher: &Matcher, text: &'t str) -> Cow<'t, str> {
    let mut redacted = String::new();
    let mut done = 0;
    matcher.for_each(text.as_bytes(), &mut |fit| {
        redacted.push_str(text.get(done..fit.secret.start).unwrap_or_default());
        redacted.push_str(&fit.rule.placeholder());
        done = fit.secret.end;
    });
    if done == 0 {
        return Cow::Borrowed(text);
    }
    redacted.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(redacted)
}
