//! Checks the tokens of the last response, because clients of version 2.0 compact a large session
//! when they resume it.

use core_model::{Findings, Place, Severity};

use crate::Record;

/// Tokens from which client 2.0 compacts (FORMAT.md, "What an older client makes of usage").
const MAX_TOKENS: u64 = 155_000;

/// The members of `usage` that count towards the context.
const COUNTED: [&str; 4] =
    ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"];

/// The tokens of the last response since the last compaction.
#[derive(Debug, Default)]
pub(super) struct Usage {
    last: Option<(Place, u64)>,
}

impl Usage {
    pub(super) fn line(&mut self, record: &Record<'_>, is_assistant: bool, place: Place) {
        if record.subtype.is_some_and(|subtype| subtype.is("compact_boundary")) {
            self.last = None;
        }
        if !is_assistant || record.is_sidechain {
            return;
        }
        let Some(usage) = record.message.and_then(|message| message.get("usage")) else { return };
        let tokens = COUNTED.iter().filter_map(|name| usage.get(name)?.raw().as_u64());
        self.last = Some((place, tokens.fold(0, u64::saturating_add)));
    }

    pub(super) fn finish(&mut self, out: &mut Findings<'_>) {
        if let Some((place, tokens)) = self.last
            && tokens >= MAX_TOKENS
        {
            let message =
                format!("{tokens} tokens in the last response: 2.0 compacts the session at once");
            out.add(place, Severity::Warns, "huge-usage", message.into());
        }
    }
}
