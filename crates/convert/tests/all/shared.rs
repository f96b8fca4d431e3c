//! Functions that several of these tests use.

pub(crate) mod data;
pub(crate) mod difference;
pub(crate) mod fixtures;
pub(crate) mod leaves;
pub(crate) mod lines;
pub(crate) mod made_up;
pub(crate) mod parallel;
pub(crate) mod pieces;
pub(crate) mod program;
pub(crate) mod said;
pub(crate) mod sessions;
pub(crate) mod shown;
pub(crate) mod turns;
pub(crate) mod ways;
pub(crate) mod written;
