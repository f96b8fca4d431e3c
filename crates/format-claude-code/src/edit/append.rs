//! Appends messages to a transcript. Each one is linked to the message before it.
//!
//! ```text
//! in   {"role":"user","content":"And now?"}
//! out  {"parentUuid":"<id of the last message>",..,"type":"user","message":{"role":"user","content":"And now?"},"uuid":..,"timestamp":..}
//! ```

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
};

use core_model::{Role, iso_millis, uuid_of_name};
use jsonl::{RawBuf, Scanner};

use super::{Object, create_transcript, missing_newline, refused, session_id};
use crate::{ChainRule, Transcript, writer::TIMES};

/// Appends messages to a transcript, each linked to the one before it.
///
/// ```
/// use std::fs;
///
/// use core_model::Role;
/// use format_claude_code::{Appender, ChainRule, NewMessage, Thread, Transcript};
///
/// # let folder = std::env::temp_dir().join(format!("appender-doc-{}", std::process::id()));
/// # fs::create_dir_all(&folder)?;
/// let path = folder.join("2a86484a-eb59-46ef-ac4a-848742436c10.jsonl");
/// let thread = Thread { cwd: Some("/p".to_owned()), ..Thread::default() };
/// let mut appender = Appender::create(&path, thread)?;
/// appender.append(&NewMessage::user("How many lines?", 1_768_681_919_197))?;
/// drop(appender);
///
/// let message = r#"{"role":"assistant","content":[{"type":"text","text":"312."}]}"#;
/// let message = jsonl::RawBuf::new(message).expect("JSON");
/// let said = NewMessage { role: Role::Assistant, message, time: 1_768_681_920_000 };
/// Appender::open(&path)?.append(&said)?;
/// let transcript = Transcript::open(&path)?;
/// assert_eq!(transcript.active_chain(ChainRule::Sdk), [0, 1]);
/// # fs::remove_dir_all(&folder)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Appender {
    file: File,
    thread: Thread,
    /// The newline that the last line of the file lacks, or an empty string.
    before: &'static str,
    /// The number of appended messages, from which their ids are made.
    n_appended: u64,
}

/// Values that the next line takes over from the lines before it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Thread {
    /// The session id: by default the name of the file.
    pub session_id: String,
    /// The id of the message before the next one.
    pub parent: Option<String>,
    /// The working directory.
    pub cwd: Option<String>,
    /// The client's version.
    pub version: Option<String>,
    /// The git branch.
    pub git_branch: Option<String>,
    /// The latest time so far, in milliseconds since 1970.
    pub time: Option<i64>,
}

/// A message to append.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NewMessage {
    /// Who speaks.
    pub role: Role,
    /// The message as the API has it: an object.
    pub message: RawBuf,
    /// The time in milliseconds since 1970. If a message of the file is not earlier, the latest time of
    /// the file plus 1 ms is written.
    pub time: i64,
}

impl NewMessage {
    /// Creates a prompt.
    pub fn user(text: &str, time: i64) -> Self {
        let mut message = Object::default();
        message.text("role", "user");
        message.text("content", text);
        let message = RawBuf::new(message.finish()).expect("an object of two strings");
        Self { role: Role::User, message, time }
    }
}

impl Appender {
    /// Opens a transcript for appending after the last message of its conversation.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is missing, or cannot be read and written.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = OpenOptions::new().read(true).append(true).open(path)?;
        let thread = Thread::of(&Transcript::open(path)?, session_id(path));
        let before = missing_newline(&mut file)?;
        Ok(Self { file, thread, before, n_appended: 0 })
    }

    /// Creates a transcript with permissions for its owner only.
    ///
    /// # Errors
    ///
    /// Returns an error if the file exists or cannot be created.
    pub fn create(path: &Path, mut thread: Thread) -> io::Result<Self> {
        if thread.session_id.is_empty() {
            thread.session_id = session_id(path);
        }
        Ok(Self { file: create_transcript(path)?, thread, before: "", n_appended: 0 })
    }

    /// Appends a message and returns its id. The id is made from the session id, the parent's id,
    /// the number of messages appended before, the time and the message. A newline that the last line
    /// of the file lacks is written before the message.
    ///
    /// # Errors
    ///
    /// Returns an error if the message is not an object, or the file cannot be written.
    pub fn append(&mut self, said: &NewMessage) -> io::Result<String> {
        let message = said.message.as_str();
        if !message.starts_with('{') {
            return Err(refused("the message is not a JSON object"));
        }
        let thread = &mut self.thread;
        let time = thread.time.map_or(said.time, |latest| said.time.max(latest.saturating_add(1)));
        let parent = thread.parent.as_deref().unwrap_or_default();
        let name =
            format!("{}\0{parent}\0{}\0{time}\0{message}", thread.session_id, self.n_appended);
        let uuid = uuid_of_name("appended", &name);
        let mut line = Object::default();
        line.maybe("parentUuid", thread.parent.as_deref());
        line.raw("isSidechain", "false");
        line.text("userType", "external");
        let places = [("cwd", &thread.cwd), ("version", &thread.version)];
        for (name, value) in places.into_iter().chain([("gitBranch", &thread.git_branch)]) {
            if let Some(value) = value {
                line.text(name, value);
            }
        }
        line.text("sessionId", &thread.session_id);
        line.text("type", if said.role == Role::User { "user" } else { "assistant" });
        line.raw("message", message);
        line.text("uuid", &uuid);
        line.text("timestamp", &iso_millis(time));
        // One write for the whole line, because other programs may append to the file too.
        let before = std::mem::take(&mut self.before);
        self.file.write_all(format!("{before}{}\n", line.finish()).as_bytes())?;
        thread.parent = Some(uuid.clone());
        thread.time = Some(time);
        self.n_appended = self.n_appended.saturating_add(1);
        Ok(uuid)
    }

    /// Returns the values that the next line takes over.
    pub fn thread(&self) -> &Thread {
        &self.thread
    }
}

impl Thread {
    /// Returns the values that the next line of a transcript takes over.
    pub fn of(transcript: &Transcript<'_>, session_id: String) -> Self {
        let mut thread = Self { session_id, ..Self::default() };
        transcript.for_each(|entry| {
            let context = &entry.event.context;
            let places = [
                (&mut thread.cwd, context.cwd),
                (&mut thread.version, context.version),
                (&mut thread.git_branch, context.git_branch),
            ];
            for (slot, text) in places {
                if let Some(text) = text.filter(|_| !context.is_sidechain) {
                    *slot = Some(text.decode().into_owned());
                }
            }
            thread.time = thread.time.max(entry.millis().filter(|time| TIMES.contains(time)));
        });
        let mut scanner = Scanner::default();
        for idx in transcript.active_chain(ChainRule::Cli).into_iter().rev() {
            let entry = transcript.entry(idx, &mut scanner);
            if let Some(uuid) = entry.and_then(|entry| entry.event.context.uuid) {
                thread.parent = Some(uuid.decode().into_owned());
                break;
            }
        }
        thread
    }
}
