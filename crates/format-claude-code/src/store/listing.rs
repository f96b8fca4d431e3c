//! Reads the facts that lists show from the first and the last 64 KiB of a file, as text without
//! parsing. A list of thousands of sessions is then fast.
//!
//! In: a file that ends in `{"type":"tag","tag":"work",..}`. Out: a [`SessionInfo`] with the tag
//! `work`.

mod fields;

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
    time::UNIX_EPOCH,
};

use core_model::{millis, session_files};
use jsonl::Text;

use self::fields::{first, last};
use crate::{prompt::FirstPrompt, session_uuid};

/// Bytes at each end of a file that are read.
const WINDOW: u64 = 64 * 1024;

/// A row of a list of sessions, as the SDK for Python 0.2.187 makes it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SessionInfo {
    /// The name of the file, without its ending.
    pub session_id: String,
    /// The text to show: the custom title, else the last prompt, else a summary, else the first
    /// prompt.
    pub summary: Option<String>,
    /// The title from the user, else from a model.
    pub custom_title: Option<String>,
    /// The first prompt, at most 200 characters.
    pub first_prompt: Option<String>,
    /// The git branch.
    pub git_branch: Option<String>,
    /// The working directory.
    pub cwd: Option<String>,
    /// The tag.
    pub tag: Option<String>,
    /// The first time in the file, in milliseconds since 1970.
    pub created: Option<i64>,
    /// The modification time of the file, in milliseconds since 1970.
    pub modified: Option<i64>,
    /// The size of the file in bytes.
    pub size: u64,
    /// Whether the first line is a sub-agent's.
    pub is_sidechain: bool,
}

impl SessionInfo {
    /// Returns whether the client's own lists show the session: its id is a UUID, it is not a
    /// sub-agent, and it has a text to show.
    pub fn is_listed(&self) -> bool {
        let is_uuid = session_uuid(&self.session_id.to_ascii_lowercase())
            == self.session_id.to_ascii_lowercase();
        is_uuid && !self.is_sidechain && self.summary.is_some()
    }

    /// Reads the facts from the ends of a file. `size` is the size of the whole file in bytes.
    ///
    /// ```
    /// use format_claude_code::SessionInfo;
    ///
    /// let file = br#"{"type":"user","cwd":"/p","message":{"content":"Fix it"},"timestamp":"2026-01-17T20:31:59.197Z"}
    /// {"type":"tag","tag":"later","sessionId":"s"}
    /// {"type":"custom-title","customTitle":"A bug","sessionId":"s"}"#;
    /// let info = SessionInfo::of_ends("s", file, file, file.len() as u64);
    /// assert_eq!(info.summary.as_deref(), Some("A bug"));
    /// assert_eq!(info.first_prompt.as_deref(), Some("Fix it"));
    /// assert_eq!((info.cwd.as_deref(), info.tag.as_deref()), (Some("/p"), Some("later")));
    /// assert_eq!(info.created, Some(1768681919197));
    /// ```
    pub fn of_ends(session_id: &str, head: &[u8], tail: &[u8], size: u64) -> Self {
        let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
        let first_line = head.split('\n').next().unwrap_or_default();
        let is_sidechain = ["\"isSidechain\":true", "\"isSidechain\": true"]
            .iter()
            .any(|words| first_line.contains(words));
        let title = |name: &str| last(&tail, name).or_else(|| last(&head, name));
        let custom_title = title("customTitle").or_else(|| title("aiTitle"));
        let mut prompt = FirstPrompt::default();
        let found = head.split('\n').find_map(|line| prompt.line(line));
        let first_prompt = found.or_else(|| prompt.finish());
        let summary = custom_title
            .clone()
            .or_else(|| last(&tail, "lastPrompt"))
            .or_else(|| last(&tail, "summary"))
            .or_else(|| first_prompt.clone());
        let tag_line = tail.rsplit('\n').find(|line| line.starts_with("{\"type\":\"tag\""));
        let created = first(&head, "timestamp").and_then(|time| {
            let written = format!("\"{time}\"");
            millis(Text::new(&written)?.into())
        });
        Self {
            session_id: session_id.to_owned(),
            summary,
            custom_title,
            first_prompt,
            git_branch: last(&tail, "gitBranch").or_else(|| first(&head, "gitBranch")),
            cwd: first(&head, "cwd"),
            tag: tag_line.and_then(|line| last(line, "tag")),
            created,
            modified: None,
            size,
            is_sidechain,
        }
    }
}

/// Returns the facts about a session from the first and the last 64 KiB of its file; `None` for an
/// empty file.
///
/// # Errors
///
/// Returns an error if the file cannot be read.
pub fn head_tail_scan(path: &Path) -> io::Result<Option<SessionInfo>> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    let size = metadata.len();
    let mut head = Vec::new();
    file.by_ref().take(WINDOW).read_to_end(&mut head)?;
    if head.is_empty() {
        return Ok(None);
    }
    let mut tail = Vec::new();
    let tail_start = size.checked_sub(WINDOW).filter(|start| *start > 0);
    if let Some(start) = tail_start {
        file.seek(SeekFrom::Start(start))?;
        file.take(WINDOW).read_to_end(&mut tail)?;
    }
    let tail = if tail_start.is_some() { &tail } else { &head };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut info = SessionInfo::of_ends(&stem, &head, tail, size);
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    info.modified = modified.and_then(|since| i64::try_from(since.as_millis()).ok());
    Ok(Some(info))
}

/// Returns the sessions in a folder that the client's own lists show, most recently modified first.
///
/// Files that cannot be read are skipped, as in the client.
///
/// # Errors
///
/// Returns an error if the folder cannot be read.
pub fn list_sessions(folder: impl AsRef<Path>) -> io::Result<Vec<SessionInfo>> {
    let files = session_files(folder.as_ref())?;
    let infos = files.iter().filter_map(|path| head_tail_scan(path).ok().flatten());
    let mut infos: Vec<SessionInfo> = infos.filter(SessionInfo::is_listed).collect();
    infos.sort_by_key(|info| std::cmp::Reverse(info.modified));
    Ok(infos)
}
