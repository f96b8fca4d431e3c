//! Finds the orchestrator's dumped streams: `<project>/.agent-orchestrator/agent-sessions/`.

mod agent_session;
mod session_meta;
mod stream_reader;
mod stream_writer;

use std::{
    io,
    path::{Path, PathBuf},
};

use core_model::{Environment, Store};

pub use self::{
    agent_session::{
        AgentSession, agent_sessions, agent_sessions as list_sessions, result_of, status_of,
    },
    session_meta::SessionMeta,
    stream_reader::StreamReader,
    stream_writer::{Dialect, StreamWriter, StreamWriter as Appender, Written},
};

/// The place of the orchestrator's streams. Nothing is installed there, because its sessions need a
/// settings file.
pub(crate) const STORE: Store = Store {
    folders,
    is_shared: false,
    place: None,
    session_id: |stem| stem,
    resume: &["ao-resume"],
    older: None,
    breadcrumb: None,
    titles: None,
};

/// Returns the folder of a project's sessions.
///
/// The folder is `AGENT_ORCHESTRATOR_SESSIONS_DIR`, or a folder in the project.
/// `AGENT_ORCHESTRATOR_PROJECT_DIR` may name the project.
///
/// ```
/// use core_model::{Environment, System};
///
/// let environment = Environment::new(System::Unix, &|_| None);
/// let folder = format_sdk_stream::sessions_dir(&environment, Some("/p"));
/// assert_eq!(folder, Some("/p/.agent-orchestrator/agent-sessions".into()));
/// ```
pub fn sessions_dir(environment: &Environment<'_>, project: Option<&str>) -> Option<PathBuf> {
    if let Some(folder) = environment.path("AGENT_ORCHESTRATOR_SESSIONS_DIR") {
        return Some(folder);
    }
    let project = project.map(PathBuf::from);
    let project = project.or_else(|| environment.path("AGENT_ORCHESTRATOR_PROJECT_DIR"))?;
    Some(project.join(Path::new(".agent-orchestrator/agent-sessions")))
}

/// Returns whether the orchestrator accepts a session name: 1 to 60 letters, digits, `_`, `-`.
///
/// ```
/// assert!(format_sdk_stream::is_session_name("my_session-1"));
/// assert!(!format_sdk_stream::is_session_name("../x"));
/// ```
pub fn is_session_name(name: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=60).contains(&name.len()) && name.bytes().all(is_word)
}

fn folders(environment: &Environment<'_>, project: Option<&str>) -> io::Result<Vec<PathBuf>> {
    Ok(sessions_dir(environment, project).into_iter().collect())
}

#[cfg(test)]
mod tests {
    use core_model::System;

    use super::*;

    #[test]
    fn variables_name_the_folder_or_the_project() {
        let variable =
            |name: &str| (name == "AGENT_ORCHESTRATOR_SESSIONS_DIR").then(|| "/s".into());
        let environment = Environment::new(System::Unix, &variable);
        assert_eq!(sessions_dir(&environment, Some("/p")), Some("/s".into()));
        let variable = |name: &str| (name == "AGENT_ORCHESTRATOR_PROJECT_DIR").then(|| "/q".into());
        let environment = Environment::new(System::Unix, &variable);
        let expected = Some("/q/.agent-orchestrator/agent-sessions".into());
        assert_eq!(sessions_dir(&environment, None), expected);
        assert_eq!(sessions_dir(&Environment::new(System::Unix, &|_| None), None), None);
    }

    #[test]
    fn names_of_sessions() {
        assert!(is_session_name(&"a".repeat(60)) && !is_session_name(&"a".repeat(61)));
        assert!(!is_session_name("") && !is_session_name("a b"));
    }
}
