//! What is converted as one: a session with the files that belong to it.

mod beside;
mod derived;
mod files;
mod names;
mod paths;
mod restored;
mod stdout;
mod stepwise;
mod strays;

use sessions::SessionFiles;

use crate::{error::ConvertError, outcome::Results};

pub use self::strays::strays;
pub(crate) use self::{beside::OtherFile, names::moved, strays::is_in_folder_of_session};

/// Returns that none of the files of a session was converted, and why.
pub(crate) fn refused(unit: &SessionFiles, mut why: impl FnMut() -> ConvertError) -> Results<'_> {
    unit.files().map(|input| (input, Err(why()))).collect()
}

/// Returns that the main file of a session was not converted, and why, and therefore none of the others.
pub(crate) fn refused_for(unit: &SessionFiles, refusal: ConvertError) -> Results<'_> {
    let mut refusal = Some(refusal);
    refused(unit, || refusal.take().unwrap_or(ConvertError::NotAlone))
}
