//! Writes a session line by line, as clido does.
//!
//! In: `SessionLine::Title`. Out: `{"type":"title","title":".."}` at the end of the file.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
};

use core_model::{append_session_file, create_session_file};

use crate::{SCHEMA_VERSION, SessionLine};

/// A session file to which lines are appended. Each line is flushed. The crate exports it also as
/// `Appender`, the name that every format crate has.
///
/// To add a turn to a session that exists, open it, and write the user's message, then the answer. clido
/// loads lines in any order, but the API wants each tool use answered by a result in the next message:
/// [`Checker::check`](crate::Checker) says whether it is so.
///
/// ```
/// use format_clido::{Appender, Checker, ContentBlock, SessionLine};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("s.jsonl");
/// # Appender::create(&path, "s", "2026-03-21T14:30:00Z", "/home/ada/pages")?;
/// let mut session = Appender::open(&path)?;
/// let text = |text: &str| vec![ContentBlock::Text { text: text.to_owned() }.encode()];
/// session.write_line(&SessionLine::UserMessage { role: "user".to_owned(), content: text("Hello") })?;
/// session.write_line(&SessionLine::AssistantMessage { content: text("Hi.") })?;
/// assert!(Checker::check(&path)?.is_empty());
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// A new session:
///
/// ```
/// use format_clido::{ContentBlock, SessionLine, SessionReader, SessionWriter};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("s.jsonl");
/// let mut session = SessionWriter::create(&path, "s", "2026-03-21T14:30:00Z", "/home/ada/pages")?;
/// let said = ContentBlock::Text { text: "How many lines?".to_owned() };
/// let line = SessionLine::UserMessage { role: "user".to_owned(), content: vec![said.encode()] };
/// session.write_line(&line)?;
/// assert_eq!(
///     std::fs::read_to_string(&path)?.lines().nth(1),
///     Some(r#"{"type":"user_message","role":"user","content":[{"text":"How many lines?","type":"text"}]}"#)
/// );
/// assert!(SessionWriter::create(&path, "s", "2026-03-21T14:30:00Z", "/p").is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct SessionWriter {
    file: File,
}

impl SessionWriter {
    /// Creates a session file with permissions for its owner only, and writes its `meta` line.
    ///
    /// # Errors
    ///
    /// Returns an error if the file exists or cannot be written.
    pub fn create(
        path: impl AsRef<Path>,
        session_id: &str,
        start_time: &str,
        project_path: &str,
    ) -> io::Result<Self> {
        let mut writer = Self { file: create_session_file(path.as_ref())? };
        writer.write_line(&SessionLine::Meta {
            session_id: session_id.to_owned(),
            schema_version: SCHEMA_VERSION as u32,
            start_time: start_time.to_owned(),
            project_path: project_path.to_owned(),
        })?;
        Ok(writer)
    }

    /// Opens a session file for appending. Same as [`SessionWriter::append`], under the name that
    /// every format crate has.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is missing, or cannot be read and written.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::append(path)
    }

    /// Opens a session file for appending. A last line without a newline gets one.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is missing, or cannot be read and written.
    pub fn append(path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self { file: append_session_file(path.as_ref())? })
    }

    /// Writes a line as clido does, and flushes it. Secrets are not removed.
    ///
    /// # Errors
    ///
    /// Returns [`io::ErrorKind::InvalidInput`] if clido would not load the line; nothing is written
    /// then. Returns an error if the file cannot be written.
    pub fn write_line(&mut self, line: &SessionLine) -> io::Result<()> {
        let mut written =
            line.encode().map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))?;
        written.push('\n');
        self.file.write_all(written.as_bytes())?;
        self.file.flush()
    }
}
