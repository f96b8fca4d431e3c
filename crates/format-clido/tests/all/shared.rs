//! Functions that several of these tests use.

pub(crate) mod data;
pub(crate) mod declared;
