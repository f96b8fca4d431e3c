//! What several of these tests need.

pub(crate) mod data;
pub(crate) mod declared;
