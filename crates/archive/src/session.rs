//! Converts sessions with several files.
//!
//! In: `s1.jsonl` and `s1/subagents/agent-a1.jsonl`. Out: the files of the same session in the
//! target's layout.

mod beside;
mod derived;
mod files;
mod lost_carry;
mod names;
mod paths;
mod restored;
mod stdout;
mod stepwise;
mod strays;

use std::{path::Path, ptr};

use sessions::{Input, SessionFiles};
use storage::Compression;

use crate::{
    error::ConvertError,
    file_report::{EachResult, Results},
};

pub use self::strays::strays;
pub(crate) use self::{beside::OtherFile, names::moved};

/// Returns whether a folder with files of a session could not be read. It is an input of its own among `units`.
pub(crate) fn has_unread_folder<'u>(
    unit: &SessionFiles,
    mut units: impl Iterator<Item = &'u SessionFiles>,
) -> bool {
    let Some(main) = unit.main.path().map(Compression::bare_path) else { return false };
    let own = main.with_extension("");
    let above = match main.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let is_its = |path: &Path| path == above || path.starts_with(&own);
    units.any(|other| matches!(&other.main, Input::Missing { path, .. } if is_its(path)))
}

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

/// Returns an error for each file of a session, in order: its own, or [`ConvertError::NotAlone`].
pub(crate) fn all_refused<'u>(unit: &'u SessionFiles, results: Results<'u>) -> Results<'u> {
    let mut results = results.into_iter().peekable();
    let mut refused = refused(unit, || ConvertError::NotAlone);
    for (input, refusal) in &mut refused {
        let own = results.next_if(|(of, _)| ptr::eq(*of, *input));
        if let Some((_, Err(error))) = own {
            *refusal = Err(error);
        }
    }
    refused.extend(results.filter(|(_, result)| result.is_err()));
    refused
}
