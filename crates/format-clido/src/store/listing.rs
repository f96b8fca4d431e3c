//! Lists the sessions of a folder, as clido lists them.
//!
//! In: a folder with a session of three turns. Out: a [`SessionSummary`] with `num_turns` 3 and the
//! first 80 characters of the prompt.

use std::{cmp::Reverse, io, path::Path, time::UNIX_EPOCH};

use core_model::{ReadError, session_files};

use super::SessionReader;
use crate::{ContentBlock, SessionLine};

/// Length of a preview in characters.
const PREVIEW: usize = 80;

/// A session in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionSummary {
    /// The id that clido uses: the name of the file without its ending.
    pub id: String,
    /// The id in the first line, which clido does not use.
    pub meta_id: String,
    /// The folder that clido was started in.
    pub project_path: String,
    /// The start, RFC 3339.
    pub start_time: String,
    /// The modification time of the file, in nanoseconds since 1970.
    pub modified_nanos: u128,
    /// The turns of the last result; without a result, the number of prompts.
    pub num_turns: u32,
    /// The cost in US dollars of the last result.
    pub total_cost_usd: f64,
    /// The start of the first prompt.
    pub preview: String,
    /// The last title.
    pub title: Option<String>,
}

/// The sessions of a folder.
#[derive(Debug, Default)]
pub struct Listing {
    /// The sessions that clido lists, most recently modified first.
    pub sessions: Vec<SessionSummary>,
    /// Files that clido skips silently because it does not load them, by their ids.
    pub refused: Vec<(String, ReadError)>,
}

/// Lists the sessions of a folder, as clido does. A session has a `meta` line first, at least one
/// turn, and no line that clido does not load.
///
/// # Errors
///
/// Returns an error if the folder cannot be read. A missing folder has no sessions.
///
/// ```
/// let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/clido");
/// let listing = format_clido::list_sessions(folder)?;
/// let found = listing.sessions.iter().find(|session| session.id == "seed-000").expect("listed");
/// assert_eq!((found.num_turns, found.total_cost_usd), (1, 0.0009));
/// assert_eq!(found.preview, "How many lines is src/main.rs?");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn list_sessions(folder: impl AsRef<Path>) -> io::Result<Listing> {
    let mut listing = Listing::default();
    for path in session_files(folder.as_ref())? {
        let Some(id) = path.file_stem().and_then(|stem| stem.to_str()) else { continue };
        match summary(&path, id) {
            Ok(Some(summary)) => listing.sessions.push(summary),
            Ok(None) => {}
            Err(error) => listing.refused.push((id.to_owned(), error)),
        }
    }
    listing.sessions.sort_by_key(|session| Reverse(session.modified_nanos));
    Ok(listing)
}

fn summary(path: &Path, id: &str) -> Result<Option<SessionSummary>, ReadError> {
    let mut lines = SessionReader::open(path)?.strict();
    let first = lines.next().transpose()?;
    let mut gathered = Gathered::default();
    for line in lines {
        gathered.add(&line?);
    }
    let Some(SessionLine::Meta { session_id, start_time, project_path, .. }) = first else {
        return Ok(None);
    };
    let num_turns = gathered.num_turns.unwrap_or(gathered.n_prompts);
    if num_turns == 0 {
        return Ok(None);
    }
    let modified = path.metadata()?.modified()?;
    let modified = modified.duration_since(UNIX_EPOCH).map(|since| since.as_nanos());
    Ok(Some(SessionSummary {
        id: id.to_owned(),
        meta_id: session_id,
        project_path,
        start_time,
        modified_nanos: modified.unwrap_or_default(),
        num_turns,
        total_cost_usd: gathered.total_cost_usd,
        preview: gathered.preview.unwrap_or_default(),
        title: gathered.title,
    }))
}

#[derive(Default)]
struct Gathered {
    n_prompts: u32,
    num_turns: Option<u32>,
    total_cost_usd: f64,
    preview: Option<String>,
    title: Option<String>,
}

impl Gathered {
    fn add(&mut self, line: &SessionLine) {
        match line {
            SessionLine::UserMessage { content, .. } => {
                self.n_prompts = self.n_prompts.saturating_add(1);
                // A prompt that starts with an image has no preview.
                if let (None, Some(ContentBlock::Text { text })) =
                    (&self.preview, content.first().and_then(ContentBlock::decode))
                {
                    self.preview = Some(preview(text.trim()));
                }
            }
            SessionLine::Result { num_turns, total_cost_usd, .. } => {
                self.num_turns = Some(*num_turns);
                self.total_cost_usd = *total_cost_usd;
            }
            SessionLine::Title { title } => self.title = Some(title.clone()),
            _ => {}
        }
    }
}

fn preview(text: &str) -> String {
    match text.char_indices().nth(PREVIEW) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn previews_have_at_most_80_characters() {
        assert_eq!(preview(&"é".repeat(80)), "é".repeat(80));
        assert_eq!(preview(&"é".repeat(81)), format!("{}…", "é".repeat(80)));
    }
}
