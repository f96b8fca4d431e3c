//! Reads titles that a client keeps in one file for all its sessions.
//!
//! In: sessions, and `{"id":"01a2","thread_name":"A trip","updated_at":".."}` in the file beside their
//! folder. Out: `A trip` for the session `01a2`. Each such file is read once, and only titles of the
//! given sessions are kept.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    io::{self, Read},
    path::{Path, PathBuf},
};

use core_model::{Format, ReadTitles, TitleIndex, system_words};
use jsonl::{Scanner, Stream};
use storage::Limits;

use crate::{input::Input, warning::Warning};

/// Limit on the bytes of a line with a title.
const MAX_LINE: u64 = 1024 * 1024;

/// Returns the title of each session, given its file, its format and its id; `None` without one.
pub fn indexed_titles<'s>(
    sessions: impl Iterator<Item = (&'s Input, &'static Format, &'s str)>,
    warn: &mut dyn FnMut(Warning),
) -> Vec<Option<String>> {
    let mut titles = Vec::new();
    let mut of_index: BTreeMap<PathBuf, (TitleIndex, HashMap<&str, Vec<usize>>)> = BTreeMap::new();
    for (session_idx, (input, format, id)) in sessions.enumerate() {
        titles.push(None);
        let Some(index) = format.store.and_then(|store| store.titles) else { continue };
        if let Some(path) = index_path(input, index) {
            let (_, wanted) = of_index.entry(path).or_insert_with(|| (index, HashMap::new()));
            wanted.entry(id).or_default().push(session_idx);
        }
    }
    for (path, (index, wanted)) in of_index {
        if let Err(error) = read_index(&path, index, &wanted, &mut titles) {
            warn(Warning::TitlesUnread(path, system_words(&error)));
        }
    }
    titles
}

/// Returns the path of the file with the title of a session on the disk.
fn index_path(input: &Input, index: TitleIndex) -> Option<PathBuf> {
    let path = input.absolute().ok()?.filter(|_| input.storage().is_disk())?;
    (index.file)(&path)
}

fn read_index(
    path: &Path,
    index: TitleIndex,
    wanted: &HashMap<&str, Vec<usize>>,
    titles: &mut [Option<String>],
) -> io::Result<()> {
    let limits = Limits { line: Some(MAX_LINE), ..Limits::default() };
    let opened = match Input::file(path.to_owned()).open(limits) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    let mut set = |id: &str, title: Cow<'_, str>| {
        for session_idx in wanted.get(id).into_iter().flatten() {
            if let Some(slot) = titles.get_mut(*session_idx) {
                *slot = Some(title.clone().into_owned()).filter(|title| !title.trim().is_empty());
            }
        }
    };
    match index.read {
        ReadTitles::Lines(read) => {
            let (mut stream, mut scanner) = (Stream::new(opened), Scanner::default());
            while let Some(line) = stream.next()? {
                // The client skips lines that are not JSON.
                let Some((id, title)) = scanner.scan(&line).ok().and_then(read) else { continue };
                set(&id.decode(), title.decode());
            }
        }
        ReadTitles::File(read) => {
            let mut bytes = Vec::new();
            opened.take(MAX_LINE).read_to_end(&mut bytes)?;
            if let Some((id, title)) = read(&bytes) {
                set(&id, Cow::Owned(title));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use core_model::Store;

    use super::*;

    #[test]
    fn the_last_title_of_a_session_wins_and_a_blank_one_removes_it() {
        const TITLES: TitleIndex = TitleIndex {
            file: |session| Some(session.parent()?.join("index")),
            read: ReadTitles::Lines(|line| {
                Some((line.get("id")?.text()?, line.get("name")?.text()?))
            }),
        };
        const STORE: Store = Store { titles: Some(TITLES), ..STORE_OF_CLIDO };
        const STORE_OF_CLIDO: Store = match format_clido::FORMAT.store {
            Some(store) => store,
            None => panic!("clido has a store"),
        };
        static FORMAT: Format = format_clido::FORMAT.store(STORE);
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let index = [
            r#"{"id":"a","name":"One"}"#,
            r#"{"id":"b","name":"Two"}"#,
            "{torn",
            r#"{"id":"a","name":"\u00c9n"}"#,
            r#"{"id":"b","name":" "}"#,
        ];
        fs::write(path("index"), index.join("\n")).expect("written");
        let input = Input::file(path("x.jsonl"));
        let mut warnings = Vec::new();
        let mut titles = |ids: [&'static str; 3]| {
            let sessions = ids.into_iter().map(|id| (&input, &FORMAT, id));
            indexed_titles(sessions, &mut |warning| warnings.push(warning))
        };
        assert_eq!(titles(["b", "a", "c"]), [None, Some("\u{c9}n".to_owned()), None]);
        fs::write(path("index"), vec![b' '; 2 << 20]).expect("written");
        assert_eq!(titles(["a", "b", "c"]), [None, None, None]);
        fs::remove_file(path("index")).expect("removed");
        assert_eq!(titles(["a", "b", "c"]), [None, None, None]);
        let [warning] = &warnings[..] else { panic!("{warnings:?}") };
        let expected = "index: a line has more than 1048576 bytes; titles may be missing";
        assert!(warning.to_string().ends_with(expected), "{warning}");
    }
}
