//! The types of records by which a transcript is detected.

/// Types of records that only Claude Code writes (up to 2.1.330). `user`, `assistant` and `system`
/// are not among them, because streams have them too.
pub(super) const OWN_KINDS: [&str; 49] = [
    "agent-color",
    "agent-name",
    "agent-setting",
    "agent_metadata",
    "ai-title",
    "api-request",
    "api-request-blob",
    "api-request-resumed",
    "api-request-shape",
    "artifact-autoreact-ledger",
    "artifact-comment-monitor",
    "atis-latch",
    "attachment",
    "attribution-snapshot",
    "bridge-session",
    "carried",
    "content-replacement",
    "continued-in",
    "cost-state",
    "custom-title",
    "data-flow-incomplete",
    "data-flow-records",
    "derived-from",
    "dev-mods",
    "ended-by-model",
    "file-history-delta",
    "file-history-snapshot",
    "fork-context-ref",
    "frame-link",
    "history-suppression",
    "host-row",
    "hybrid-organization",
    "isolation-latch",
    "last-prompt",
    "memory-mode",
    "mode",
    "observer-ref",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "relocated",
    "repl-mode",
    "resume-head-vouch",
    "session-owner",
    "summary",
    "tag",
    "tools-used",
    "worktree-state",
];

#[cfg(all(test, feature = "serde"))]
mod tests {
    use crate::TypedRecord;

    #[test]
    fn every_kind_has_a_struct() {
        let others = ["user", "assistant", "system", "tool_result"];
        let mut kinds: Vec<_> = super::OWN_KINDS.iter().chain(&others).copied().collect();
        kinds.sort_unstable();
        let mut typed: Vec<_> = TypedRecord::KINDS.iter().map(|(kind, ..)| *kind).collect();
        typed.sort_unstable();
        assert_eq!(typed, kinds);
    }
}
