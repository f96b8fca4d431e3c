//! A call in the output that waits for its result.

use std::sync::Arc;

/// Limit on the bytes of a call's id: the client sends ids unchanged, and the APIs of other providers refuse longer
/// ones.
pub(super) const MAX_CALL_ID: usize = 64;

/// A call without a result.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// The id in the output, if it differs from the source's.
    pub(super) written: Option<Box<str>>,
    /// The name of the tool, a JSON string.
    pub(super) name: Arc<str>,
    /// The number of the call in its response.
    pub(super) place: usize,
}
