//! Edits transcripts as the client and the SDK do: appends lines, writes new files, and never
//! changes an existing byte.
//!
//! In: the title `Pages` and a transcript. Out: the new last line
//! `{"type":"custom-title","customTitle":"Pages","sessionId":".."}`.

mod append;
mod ends;
mod fork;
mod object;

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

use self::object::Object;
pub use self::{
    append::{Appender, NewMessage, Thread},
    fork::{Fork, ForkError, ForkPlan, fork},
};

/// How often a tag is normalized again, as the SDK does, before it is used as it is.
const MAX_SPELLINGS: usize = 10;

/// Creates a transcript with permissions for its owner only.
///
/// # Errors
///
/// Returns an error if the file exists or cannot be created.
pub fn create_transcript(path: &Path) -> io::Result<File> {
    core_model::create_session_file(path)
}

/// Sets the title of a session: appends a line to its file. The last title wins.
///
/// # Errors
///
/// Returns an error if the title is blank, or if the file is missing, empty, or not writable.
pub fn rename(path: &Path, title: &str) -> io::Result<()> {
    append_line(path, &title_line(&session_id(path), title)?)
}

/// Sets the tag of a session: appends a line to its file. `None` removes the tag.
///
/// # Errors
///
/// Returns an error if the tag is blank, or if the file is missing, empty, or not writable.
pub fn tag(path: &Path, tag: Option<&str>) -> io::Result<()> {
    append_line(path, &tag_line(&session_id(path), tag)?)
}

/// Returns a line that sets the title of a session.
///
/// # Errors
///
/// Returns an error if the title is blank.
///
/// ```
/// let line = format_claude_code::title_line("s1", " A \"new\" title ")?;
/// assert_eq!(line, r#"{"type":"custom-title","customTitle":"A \"new\" title","sessionId":"s1"}"#);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn title_line(session_id: &str, title: &str) -> io::Result<String> {
    let title = title.trim();
    if title.is_empty() {
        return Err(refused("the title is blank"));
    }
    let mut line = Object::default();
    line.text("type", "custom-title");
    line.text("customTitle", title);
    line.text("sessionId", session_id);
    Ok(line.finish())
}

/// Returns a line that sets the tag of a session; `None` removes the tag.
///
/// As the SDK does (0.2.187), characters are replaced by their compatible forms (NFKC), and
/// characters that are invisible or change the direction of text are removed. Without the feature
/// `unicode`, characters are not replaced.
///
/// # Errors
///
/// Returns an error if the tag is blank.
///
/// ```
/// let line = format_claude_code::tag_line("s1", Some("later\u{200b}"))?;
/// assert_eq!(line, r#"{"type":"tag","tag":"later","sessionId":"s1"}"#);
/// # #[cfg(feature = "unicode")] {
/// let line = format_claude_code::tag_line("s1", Some("\u{ff34}odo\u{fb01}x"))?;
/// assert_eq!(line, r#"{"type":"tag","tag":"Todofix","sessionId":"s1"}"#);
/// # }
/// assert!(format_claude_code::tag_line("s1", Some("\u{202e}")).is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn tag_line(session_id: &str, tag: Option<&str>) -> io::Result<String> {
    let mut shown = tag.unwrap_or_default().to_owned();
    // Characters that a removed one kept apart may compose now, so the tag is normalized again.
    for _ in 0..MAX_SPELLINGS {
        let again: String = crate::unicode::nfkc(&shown).filter(|char| !is_unseen(*char)).collect();
        if again == shown {
            break;
        }
        shown = again;
    }
    let shown = shown.trim();
    if tag.is_some() && shown.is_empty() {
        return Err(refused("the tag is blank"));
    }
    // Lists search for lines that start with `{"type":"tag"`.
    let mut line = Object::default();
    line.text("type", "tag");
    line.text("tag", shown);
    line.text("sessionId", session_id);
    Ok(line.finish())
}

fn is_unseen(char: char) -> bool {
    matches!(char,
        '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{e000}'..='\u{f8ff}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0001}'..='\u{e007f}' | '\u{f0000}'..)
}

/// Appends a line to an existing file that is not empty.
fn append_line(path: &Path, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).open(path)?;
    if file.metadata()?.len() == 0 {
        // The client does not treat an empty file as a session.
        return Err(refused("the file is empty, so it is not a session"));
    }
    let before = missing_newline(&mut file)?;
    file.write_all(format!("{before}{line}\n").as_bytes())
}

/// Returns `"\n"` if the last line of a file has no newline, else an empty string.
fn missing_newline(file: &mut File) -> io::Result<&'static str> {
    if file.metadata()?.len() == 0 {
        return Ok("");
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(if last == *b"\n" { "" } else { "\n" })
}

/// Returns the session id: the name of the file without its ending.
fn session_id(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}
