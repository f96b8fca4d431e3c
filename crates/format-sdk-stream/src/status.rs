//! Reads the progress of a run from the last line of its file, as the orchestrator does.
//!
//! In: a file whose last line is `{"subtype": "success", .., "result": "4"}`. Out:
//! [`Progress::Finished`].

use std::borrow::Cow;

use jsonl::{Scanner, Value};

use crate::parser::is_truthy;

/// The progress of a run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Progress {
    /// The run is going on or has failed: the file does not distinguish them.
    Running,
    /// The run ended with success.
    Finished,
}

/// Returns the progress of the run in a file: finished if the last line is a successful result.
///
/// A blank line at the end hides the result, as it does for the orchestrator. An empty file is of a
/// running one.
///
/// ```
/// use format_sdk_stream::{Progress, status};
///
/// let file = b"{\"content\": []}\n{\"subtype\": \"success\", \"result\": \"4\"}\n";
/// assert_eq!(status(file), Progress::Finished);
/// assert_eq!(status(&file[..16]), Progress::Running);
/// assert_eq!(status(&[file, &b"\n"[..]].concat()), Progress::Running);
/// ```
pub fn status(bytes: &[u8]) -> Progress {
    let mut scanner = Scanner::default();
    let is_finished = last_value(bytes, &mut scanner).is_some_and(|value| {
        let subtype = value.get("subtype").and_then(|subtype| subtype.text());
        subtype.is_some_and(|subtype| subtype.is("success")) && value.get("result").is_some()
    });
    if is_finished { Progress::Finished } else { Progress::Running }
}

/// Returns the result in the last line of a file: a string decoded, any other value as written.
///
/// ```
/// let file = b"{\"subtype\": \"success\", \"result\": \"caf\\u00e9\"}\n";
/// assert_eq!(format_sdk_stream::result(file).as_deref(), Some("caf\u{e9}"));
/// assert_eq!(format_sdk_stream::result(b"{\"result\": \"\"}\n"), None);
/// ```
pub fn result(bytes: &[u8]) -> Option<String> {
    let mut scanner = Scanner::default();
    let result = last_value(bytes, &mut scanner)?.get("result").filter(|it| is_truthy(*it))?;
    let text = result.text().map_or(Cow::Borrowed(result.raw().as_str()), |text| text.decode());
    Some(text.into_owned())
}

fn last_value<'s>(bytes: &'s [u8], scanner: &'s mut Scanner) -> Option<Value<'s>> {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    scanner.scan_slice(bytes.rsplit(|byte| *byte == b'\n').next()?, 0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_line_counts() {
        let success = "{\"subtype\": \"success\", \"result\": \"x\"}";
        let cases = [
            (String::new(), Progress::Running),
            ("\n".to_owned(), Progress::Running),
            (success.to_owned(), Progress::Finished),
            (format!("{success}\n"), Progress::Finished),
            (format!("{success}\n{{\"subtype\": \"init\", \"data\": {{}}}}\n"), Progress::Running),
            (format!("{success}\n{{\"torn\": "), Progress::Running),
            ("{\"subtype\": \"success\"}\n".to_owned(), Progress::Running),
            (
                "{\"subtype\": \"error_max_turns\", \"result\": null}\n".to_owned(),
                Progress::Running,
            ),
        ];
        for (file, expected) in cases {
            assert_eq!(status(file.as_bytes()), expected, "{file}");
        }
    }
}
