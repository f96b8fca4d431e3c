//! The environment of the program, as the crates below it take it: by value.

use std::{ffi::OsString, path::Path};

use core_model::{Environment, Format, System};
use sessions::Lookup;

use crate::FORMATS;

/// Returns the environment of this program.
pub(crate) fn environment() -> Environment<'static> {
    fn variable(name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }
    Environment::new(System::HERE, &variable)
}

/// Creates a lookup among the sessions of this machine in one format, or in all but that of the target.
pub(crate) fn lookup(
    project: Option<&Path>,
    from: Option<&'static Format>,
    to: Option<&'static Format>,
) -> Lookup<'static> {
    Lookup::new(FORMATS, environment(), project, from, to)
}
