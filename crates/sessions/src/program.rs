//! The calls for programs: the sessions of this machine, one session, and its events.
//!
//! In: a table of formats and an environment. Out: the sessions in the folders of all clients. In: the path of
//! one. Out: its files, and each event of its main file and of its sub-agents.
//!
//! ```
//! use core_model::{Environment, Formats, System};
//!
//! static FORMATS: Formats = Formats::new(&[&format_claude_code::FORMAT, &format_clido::FORMAT]);
//!
//! let home = tempfile::tempdir()?;
//! let project = home.path().join(".claude/projects/-p");
//! std::fs::create_dir_all(&project)?;
//! let line = r#"{"type":"user","uuid":"u1","message":{"role":"user","content":"Hello"}}"#;
//! std::fs::write(project.join("s1.jsonl"), format!("{line}\n"))?;
//!
//! let variable = |name: &str| (name == "HOME").then(|| home.path().into());
//! let mut n_prompts = 0;
//! for stored in sessions::sessions(FORMATS, Environment::new(System::Unix, &variable))? {
//!     let session = sessions::open(FORMATS, &stored.path, &mut |warning| eprintln!("{warning}"))?;
//!     session.for_each(&mut |read| {
//!         n_prompts += u64::from(read.event.is_ok_and(|event| event.is_prompt()));
//!         true
//!     })?;
//! }
//! assert_eq!(n_prompts, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::{io, path::Path};

use core_model::{Environment, Event, FileRole, Format, Formats, Place};
use jsonl::Line;
use storage::Interruption;

use crate::{
    error::ReadError, input::Input, lookup::Lookup, needle::Prefilter, reader::read,
    session_files::SessionFiles, stored::Stored, warning::Warning,
};

/// Returns the sessions in the folders of all clients on this machine, sorted by folder and name.
///
/// The environment has the variables that name the folders. A client without a folder has no sessions.
///
/// # Errors
///
/// Returns an error if a folder cannot be read.
pub fn sessions(formats: Formats, environment: Environment<'_>) -> io::Result<Vec<Stored>> {
    Lookup::new(formats, environment, None, None, None).sessions()
}

/// Opens the session with this main file: finds the files that its client keeps beside it.
///
/// # Errors
///
/// Returns an error if a folder beside the file cannot be listed. A missing file is an error when it is
/// read.
pub fn open(
    formats: Formats,
    path: &Path,
    warn: &mut dyn FnMut(Warning),
) -> io::Result<OpenSession> {
    let files = SessionFiles::of_file(formats, path.to_owned(), warn)?;
    Ok(OpenSession { formats, files })
}

/// A session with its files, whose events can be read as often as needed.
#[derive(Debug)]
pub struct OpenSession {
    formats: Formats,
    /// The files: the main one, and the others beside it.
    pub files: SessionFiles,
}

/// One event of a session, or the error of a damaged record.
#[derive(Debug)]
pub struct ReadEvent<'l> {
    /// The id of the sub-agent whose file this is; `None` for the main file.
    pub agent: Option<&'l str>,
    /// The place in the file.
    pub place: Place,
    /// The bytes of the record.
    pub line: &'l Line<'l>,
    /// The event.
    pub event: jsonl::Result<&'l Event<'l>>,
}

impl OpenSession {
    /// Calls `each` with the events of the main file, and then of each sub-agent's file. `each` returns
    /// false to stop. Everything happens on this thread, and no file is kept in memory.
    ///
    /// Returns the format; `None` if there is no record.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read, or if its format is unknown.
    pub fn for_each(
        &self,
        each: &mut dyn FnMut(ReadEvent<'_>) -> bool,
    ) -> Result<Option<&'static Format>, ReadError> {
        let mut goes_on = true;
        let mut file = |input: &Input, format, agent: Option<&str>| {
            let never = Interruption::default();
            read(
                self.formats,
                input,
                format,
                &Prefilter::ALL,
                &(),
                never,
                &mut |place, line, event| {
                    goes_on = each(ReadEvent { agent, place, line, event });
                    Ok(goes_on)
                },
            )
            .map(|format| (format, goes_on))
        };
        let (main, mut reads_more) = file(&self.files.main, None, None)?;
        let format = self.files.format_of_all(main);
        for other in &self.files.others {
            if let FileRole::Agent(agent) = &other.role
                && reads_more
            {
                (_, reads_more) = file(&other.input, format, Some(agent))?;
            }
        }
        Ok(main)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    static FORMATS: Formats = Formats::new(&[&format_claude_code::FORMAT, &format_clido::FORMAT]);

    fn line(uuid: &str, rest: &str) -> String {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"{uuid}\"{rest},\"message\":{{\"role\":\"user\",\"content\":\"Hi\"}}}}\n"
        )
    }

    /// Writes a session with a damaged line and a sub-agent, and returns its path.
    fn session(folder: &Path) -> std::path::PathBuf {
        let main = folder.join("s1.jsonl");
        fs::write(&main, line("u1", "") + "{\"type\":\"user\",\n" + &line("u2", ""))
            .expect("written");
        let agents = folder.join("s1/subagents");
        fs::create_dir_all(&agents).expect("made");
        let text = line("a1", ",\"isSidechain\":true,\"agentId\":\"7\"");
        fs::write(agents.join("agent-7.jsonl"), text).expect("written");
        main
    }

    fn seen(folder: &Path, limit: usize) -> Vec<String> {
        let session = open(FORMATS, &session(folder), &mut |_| {}).expect("opened");
        let mut seen = Vec::new();
        let format = session.for_each(&mut |read| {
            let uuid = read.event.map_or("damaged".into(), |event| {
                event.context.uuid.map_or("none".into(), |uuid| uuid.decode().into_owned())
            });
            seen.push(format!("{} {} {uuid}", read.agent.unwrap_or("main"), read.place.line));
            seen.len() < limit
        });
        assert_eq!(format.expect("read").map(|format| format.name), Some("claude-code"));
        seen
    }

    #[test]
    fn events_of_sub_agents_follow_and_damage_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let all = ["main 1 u1", "main 2 damaged", "main 3 u2", "7 1 a1"];
        assert_eq!(seen(folder.path(), 9), all);
    }

    #[test]
    fn a_receiver_stops_in_any_file() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(seen(folder.path(), 1), ["main 1 u1"]);
        assert_eq!(seen(folder.path(), 3).len(), 3);
    }

    #[test]
    fn a_missing_file_is_an_error_when_it_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let missing = folder.path().join("none.jsonl");
        let session = open(FORMATS, &missing, &mut |_| {}).expect("listed");
        assert!(matches!(session.for_each(&mut |_| true), Err(ReadError::Io(_))));
    }
}
