//! Finds sessions that two clients keep: the original, and a copy that was converted from it.
//!
//! `convert --to clido --install ID` writes a session of Claude Code to clido's folder, under the
//! same id. Each line of the copy has a carry; a line that clido adds later has none:
//!
//! ```text
//! {"type":"user_message", .., "_carried":".."}     converted
//! {"type":"user_message", ..}                      added: the copy has turns that the original lacks
//! ```

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::{self, Cursor, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use conversion::{Carry, Member, Source, detect_format};
use core_model::{Format, Formats};
use jsonl::{Document, Scanner, UnitScanner, Value};
use storage::{Backend, Limits, is_url};

use crate::{
    error::single_format,
    input::Input,
    reader::{MAX_HEAD, document_of},
    stored::id_inside,
};

/// Limit on the bytes at each end of a file that are searched for a carry.
const MAX_END: u64 = 4 * 1024 * 1024;

/// Limit on the lines that are searched for a session's id.
const MAX_LINES: usize = 64;

/// The origin of a file, by its carries.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Converted {
    /// It was not converted.
    No,
    /// It was converted from a session of this format; `is_continued` if a client added lines.
    From {
        /// The name of that format.
        from: &'static str,
        /// Whether the last line has no carry.
        is_continued: bool,
    },
}

impl Converted {
    /// Reads the first and the last line of a file, or the records of a document.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn read(formats: Formats, input: &Input) -> io::Result<Self> {
        let Input::File { storage: Backend::Disk, path, .. } = input else {
            return Self::of_document(formats, input);
        };
        let mut file = File::open(path)?;
        let mut head = Vec::new();
        (&mut file).take(MAX_END).read_to_end(&mut head)?;
        let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let Some(from) = format_of_line(formats, first) else {
            let is_document =
                formats.has_documents() && Scanner::default().scan_slice(first, 0).is_err();
            return if is_document { Self::of_document(formats, input) } else { Ok(Converted::No) };
        };
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(MAX_END)))?;
        let mut tail = Vec::new();
        file.take(MAX_END).read_to_end(&mut tail)?;
        let last = tail.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        Ok(Converted::From { from, is_continued: format_of_line(formats, last).is_none() })
    }

    /// Reads the document around the records, the first record and the last one. The records of an original
    /// may have carries too: turns of a copy that came home.
    fn of_document(formats: Formats, input: &Input) -> io::Result<Self> {
        let mut opened = input.open(Limits::default())?;
        let mut head = Vec::new();
        opened.by_ref().take(MAX_HEAD).read_to_end(&mut head)?;
        let Some(format) = document_of(formats, &head) else { return Ok(Converted::No) };
        let paths = format.framing.paths();
        let mut document = Document::new(Cursor::new(head).chain(opened), paths);
        let mut units = UnitScanner::default();
        let (mut from, mut n_records, mut is_continued) = (None, 0_u64, false);
        while let Some(unit) = document.next()? {
            let is_record = !unit.is_glue();
            let (_, value) = units.scan(&unit, paths);
            n_records += u64::from(is_record);
            let Ok(value) = value else { continue };
            let found = carried_format(formats, value);
            if n_records <= 1 {
                from = from.or(found);
            }
            if is_record {
                is_continued = found.is_none();
            }
        }
        Ok(from.map_or(Converted::No, |from| Converted::From { from, is_continued }))
    }

    /// Returns whether the file is a copy that has no turn of its own.
    pub fn is_untouched(self) -> bool {
        matches!(self, Converted::From { is_continued: false, .. })
    }
}

fn format_of_line(formats: Formats, line: &[u8]) -> Option<&'static str> {
    carried_format(formats, Scanner::default().scan_slice(line, 0).ok()?)
}

/// Returns the name of the format that a record was converted from; `None` without a readable carry.
pub fn carried_format(formats: Formats, record: Value<'_>) -> Option<&'static str> {
    let member = Member::find_any(record, formats)?;
    let carry = Carry::parse(&member.carry).ok()?;
    carry.format.of(formats).map(|format| format.name)
}

/// Returns the file with the newest turns among several files of one session.
///
/// A copy without added lines has no turn that its original does not have, though its file is
/// newer.
pub(crate) fn newest(formats: Formats, files: &[Input]) -> Option<&Input> {
    newest_with_turns(formats, files).or_else(|| files.iter().max_by_key(|file| changed(file)))
}

/// Returns the newest of several files of one session, without copies that have no turn of their own;
/// `None` if there is no other.
pub fn newest_with_turns(formats: Formats, files: &[Input]) -> Option<&Input> {
    let is_untouched =
        |file: &&Input| Converted::read(formats, file).is_ok_and(Converted::is_untouched);
    files.iter().filter(|file| !is_untouched(file)).max_by_key(|file| changed(file))
}

/// Returns the time of the last change of a file, in nanoseconds since 1970; 0 if it is unknown.
pub(crate) fn changed(file: &Input) -> i128 {
    let Input::File { storage, path, .. } = file else { return 0 };
    storage.stat(path).map_or(0, |stat| stat.modified)
}

/// Returns a session's id without the parts that clients spell differently.
pub(crate) fn plain_id(id: &str) -> String {
    id.replace('-', "").to_ascii_lowercase()
}

/// Returns the id in the name of a session's file: `rollout-2026-11-22T19-55-43-ID` has `ID`. Clients
/// write other words around it, and the shortest reading of the name has none of them. A client that
/// keeps each session in a folder names the folder.
fn named_id(formats: Formats, path: &Path, stem: &str) -> String {
    let is_file =
        |format: &&&Format| format.session_folder.is_some_and(|it| path.ends_with(it.file));
    if let Some(format) = formats.iter().find(is_file) {
        return plain_id(format.session_id(path, stem).unwrap_or(stem));
    }
    // A name with a part of an id.
    let mut of_parts = formats.iter().filter(|format| {
        format.has_ids_inside && format.session_id(path, stem).is_some_and(|id| id != stem)
    });
    if let Some(id) = of_parts.find_map(|format| id_inside(path, format)) {
        return plain_id(&id);
    }
    let stores = formats.iter().filter(|format| format.store.is_some());
    let ids = stores.filter_map(|format| format.session_id(path, stem));
    plain_id(ids.min_by_key(|id| id.len()).unwrap_or(stem))
}

/// Removes one file of each pair of an original and a converted copy from the inputs: the copy, or
/// the original if the copy was continued. Returns the number of removed sessions.
pub fn leave_out_copies(formats: Formats, inputs: &mut Vec<Input>) -> u64 {
    let mut of_name: HashMap<String, Vec<usize>> = HashMap::new();
    for (input_idx, input) in inputs.iter().enumerate() {
        if let (Input::File { path, .. }, Some(stem)) = (input, input.stem())
            && !is_url(path)
        {
            of_name.entry(named_id(formats, path, stem)).or_default().push(input_idx);
        }
    }
    let mut left_out = HashSet::new();
    for same in of_name.into_values().filter(|same| same.len() > 1) {
        let copy = |at: &usize| {
            let input = inputs.get(*at)?;
            Some((input, Converted::read(formats, input).ok()?))
        };
        let files: Vec<(&Input, Converted)> = same.iter().filter_map(copy).collect();
        for (input, copy) in &files {
            let Converted::From { from, is_continued } = *copy else { continue };
            let original = files.iter().find(|(other, copy)| {
                *copy == Converted::No && is_same_session(formats, input, other, from)
            });
            if let Some((original, _)) = original {
                let older = if is_continued { original } else { input };
                left_out.extend(older.path().map(Path::to_owned));
            }
        }
    }
    if !left_out.is_empty() {
        inputs.retain(|input| input.path().is_none_or(|path| !is_of_any(path, &left_out)));
    }
    left_out.len() as u64
}

/// Returns whether a file is one of the sessions, or a sub-agent of one:
/// `ID/subagents/agent-1.jsonl`, `ID_agent-1.jsonl`.
fn is_of_any(path: &Path, sessions: &HashSet<PathBuf>) -> bool {
    let with_ending = |path: &Path| sessions.contains(&path.with_extension("jsonl"));
    let named =
        path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.split_once('_'));
    let is_beside = named.is_some_and(|(id, _)| with_ending(&path.with_file_name(id)));
    sessions.contains(path) || is_beside || path.ancestors().skip(1).any(with_ending)
}

/// Returns whether two files have one session id, and the second has this format.
fn is_same_session(formats: Formats, copy: &Input, original: &Input, format: &str) -> bool {
    let (copy, original) = (session_of(formats, copy), session_of(formats, original));
    match (copy, original) {
        (Some((_, copy)), Some((found, original))) => found.name == format && copy == original,
        _ => false,
    }
}

/// Returns the format of a file and the id of its session.
fn session_of(formats: Formats, file: &Input) -> Option<(&'static Format, String)> {
    let mut source = Source::new(file.open(Limits::default()).ok()?);
    let format = single_format(detect_format(formats, &mut source).ok()?).ok()??;
    let (mut id, mut n_lines) = (None, 0);
    source.set_framing(format.framing);
    let read = source.for_each(&mut |_, value| {
        let event = value.ok().map(|value| format.first_event(value));
        id = event.and_then(|event| Some(event.context.session_id?.decode().into_owned()));
        n_lines += 1;
        id.is_none() && n_lines < MAX_LINES
    });
    read.ok()?;
    Some((format, plain_id(&id?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_session_are_known_by_their_names() {
        let sessions = HashSet::from([PathBuf::from("/p/5f3c.jsonl")]);
        for (path, is_of_it) in [
            ("/p/5f3c.jsonl", true),
            ("/p/5f3c/subagents/agent-1.jsonl", true),
            ("/p/5f3c_agent-1.jsonl", true),
            ("/p/5f3d.jsonl", false),
            ("/q/5f3c.jsonl", false),
            ("/p/other_agent-1.jsonl", false),
        ] {
            assert_eq!(is_of_any(Path::new(path), &sessions), is_of_it, "{path}");
        }
        assert_eq!(plain_id("2A86484A-EB59"), "2a86484aeb59");
    }
}
