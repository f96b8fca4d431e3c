//! The call for programs: converts one session to a file.
//!
//! In: the path of a session in any format of a table, and the path of the new file. Out: the file, with
//! sub-agents in files beside it, and a report on each file of the session.

use std::{path::Path, sync::Arc};

use core_model::{Format, Formats};
use sessions::{Input, SessionFiles};
use storage::Interruption;

use crate::{
    config::JobConfig,
    error::ConvertError,
    file_report::FileReport,
    job::Job,
    outputs::RunOutputs,
    warning::{Warning, Warnings},
};

/// Converts a session to a file, on this thread, with the defaults of [`JobConfig::new`]. A file that
/// exists is not replaced. `warn` receives the warnings.
///
/// Returns the reports, of the main file first.
///
/// ```
/// use core_model::Formats;
///
/// static FORMATS: Formats = Formats::new(&[&format_claude_code::FORMAT, &format_clido::FORMAT]);
///
/// let folder = tempfile::tempdir()?;
/// let [source, target] = ["s1.jsonl", "s2.jsonl"].map(|name| folder.path().join(name));
/// let line = r#"{"type":"user","uuid":"u1","message":{"role":"user","content":"Hello"}}"#;
/// std::fs::write(&source, format!("{line}\n"))?;
///
/// let warn = |warning| eprintln!("{warning}");
/// archive::convert_file(FORMATS, &source, &format_clido::FORMAT, &target, warn)?;
/// assert!(std::fs::read_to_string(&target)?.contains("user_message"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Returns the error of the first file that was not converted.
pub fn convert_file(
    formats: Formats,
    source: &Path,
    to: &'static Format,
    target: &Path,
    warn: impl Fn(Warning) + Send + Sync + 'static,
) -> Result<Vec<FileReport>, ConvertError> {
    let job = Job {
        config: JobConfig::new(formats, to),
        outputs: Arc::new(RunOutputs::anywhere(false, Interruption::default())),
        n_scanners: 0,
        warnings: Warnings::new(warn),
    };
    let inputs = vec![Input::file(source.to_owned())];
    let warn = &mut |warning| job.warnings.push(Warning::Sessions(warning));
    let sessions = SessionFiles::group(formats, inputs, warn);
    let results = sessions.iter().flat_map(|session| job.convert_session(session, target, false));
    results.map(|(_, result)| result).collect()
}
