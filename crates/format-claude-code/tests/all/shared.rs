//! Functions that several of these tests use.

pub(crate) mod written;
