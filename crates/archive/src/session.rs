//! Converts sessions with several files.
//!
//! In: `s1.jsonl` and `s1/subagents/agent-a1.jsonl`. Out: the files of the same session in the
//! target's layout.

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

use crate::{
    error::ConvertError,
    file_report::{EachResult, Results},
};

pub use self::strays::strays;
pub(crate) use self::{beside::OtherFile, names::moved};

/// Returns the error `why` for each file of a session.
pub(crate) fn refused(unit: &SessionFiles, mut why: impl FnMut() -> ConvertError) -> Results<'_> {
    unit.files().map(|input| (input, Err(why()))).collect()
}

/// Collects the results that a conversion of a session passes on.
pub(crate) fn collected<'u>(convert: impl FnOnce(&mut EachResult<'_, 'u>)) -> Results<'u> {
    let mut results = Vec::new();
    convert(&mut |input, result| results.push((input, result)));
    results
}

/// Calls `each` with the error for the main file of a session; the other files were not converted because of
/// it.
pub(crate) fn refuse_for<'u>(
    unit: &'u SessionFiles,
    refusal: ConvertError,
    each: &mut EachResult<'_, 'u>,
) {
    refused_for(unit, refusal).into_iter().for_each(|(input, result)| each(input, result));
}

/// Returns the error for the main file of a session; the other files were not converted because of
/// it.
pub(crate) fn refused_for(unit: &SessionFiles, refusal: ConvertError) -> Results<'_> {
    let mut refusal = Some(refusal);
    refused(unit, || refusal.take().unwrap_or(ConvertError::NotAlone))
}
