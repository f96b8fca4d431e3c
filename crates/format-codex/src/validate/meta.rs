//! Checks the first line of a session.
//!
//! In: `{"id":"s1","timestamp":"t","cwd":"/a","originator":"x","cli_version":"1"}`. Out: a problem
//! that stops Codex, because `s1` is no UUID.

use core_model::Findings;

use crate::record::SessionMeta;

/// Checks the members of a `session_meta`. `name_id` is the id in the file's name.
pub(super) fn check_meta(meta: &SessionMeta<'_>, name_id: Option<&str>, out: &mut Findings<'_>) {
    let id = meta.id.map(|id| id.decode());
    match &id {
        Some(id) if super::is_session_id(id) => {}
        Some(_) => out.stops("id", "`id` is no UUID: Codex refuses the file; give it a UUID"),
        None => out.stops("id", "`id` is missing or no string: Codex refuses the file"),
    }
    for name in ["timestamp", "cwd", "originator", "cli_version"] {
        if meta.value.get(name).and_then(|value| value.text()).is_none() {
            let message = format!("`{name}` is missing or no string: Codex refuses the file");
            out.stops("meta-member", message);
        }
    }
    if let (Some(id), Some(name_id)) = (&id, name_id)
        && !id.eq_ignore_ascii_case(name_id)
    {
        out.warns(
            "file-name",
            "the name has another id than the file: 0.169 finds both, 0.120 only the one in the \
             name",
        );
    }
    if let Some(base) = meta.history_base {
        let thread = base.thread_id.decode();
        out.warns(
            "history-base",
            format!(
                "the history starts with lines of the session {thread}: Codex refuses the file \
                 where that session's file is missing; keep both"
            ),
        );
    }
    if let Some(provider) = meta.value.get("model_provider").and_then(|it| it.text()) {
        let provider = provider.decode();
        out.warns(
            "model-provider",
            format!(
                "`model_provider` is `{provider}`: 0.169 refuses the session under another \
                 provider; leave the member out"
            ),
        );
    }
    let source = meta.value.get("source");
    let is_shown = |source: jsonl::Text<'_>| source.is("cli") || source.is("vscode");
    if source.is_some_and(|source| !source.text().is_some_and(is_shown)) {
        out.warns(
            "source",
            "`source` is neither `cli` nor `vscode`: Codex loads the session, and does not list it",
        );
    }
}
