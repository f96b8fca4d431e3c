//! Reads and writes the orchestrator's settings file `<name>.meta.json`.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use core_model::{Problem, ReadError, Severity};
use jsonl::{Scanner, Style, Value, push_string};

use super::is_session_name;

/// The settings of a session.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SessionMeta {
    /// The name: 1 to 60 letters, digits, `_`, `-`.
    pub session_name: String,
    /// The client's session id; `None` until the run prints it.
    pub session_id: Option<String>,
    /// The agent, if the user named one.
    pub agent: Option<String>,
    /// The project, an absolute path.
    pub project_dir: String,
    /// The folder of agents.
    pub agents_dir: String,
    /// The creation time: ISO 8601, UTC with `Z`.
    pub created_at: String,
    /// The time of the last run.
    pub last_resumed_at: String,
    /// The version of the file: `1.0`, or `legacy` for a file without a version.
    pub schema_version: String,
}

impl SessionMeta {
    /// Decodes a file of settings.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is not JSON, lacks a member, or has an invalid session name.
    pub fn decode(file: &[u8]) -> Result<Self, ReadError> {
        let mut scanner = Scanner::default();
        let value = scanner
            .scan_slice(file, 0)
            .map_err(|error| problem(error.offset, "json", error.kind.to_string()))?;
        let required = |name| {
            let missing = || problem(0, "member", format!("`{name}` is missing or no text"));
            text(value, name).ok_or_else(missing)
        };
        let session_name = required("session_name")?;
        if !is_session_name(&session_name) {
            return Err(problem(
                0,
                "name",
                "not a name of a session: letters, digits, - and _".to_owned(),
            ));
        }
        Ok(Self {
            session_name,
            session_id: text(value, "session_id"),
            agent: text(value, "agent"),
            project_dir: required("project_dir")?,
            agents_dir: required("agents_dir")?,
            created_at: required("created_at")?,
            last_resumed_at: required("last_resumed_at")?,
            schema_version: text(value, "schema_version").unwrap_or_else(|| "legacy".to_owned()),
        })
    }

    /// Returns the file as the orchestrator writes it.
    ///
    /// ```
    /// use format_sdk_stream::SessionMeta;
    ///
    /// let file = r#"{
    ///   "session_name": "site",
    ///   "agent": null,
    ///   "project_dir": "/home/ada/caf\u00e9",
    ///   "agents_dir": "/home/ada/agents",
    ///   "created_at": "2025-11-12T13:54:29.687393Z",
    ///   "last_resumed_at": "2025-11-12T13:54:29.687393Z",
    ///   "schema_version": "1.0",
    ///   "session_id": "d796e8ba-ef3c-453f-97d7-b644930563f5"
    /// }
    /// "#;
    /// let meta = SessionMeta::decode(file.as_bytes())?;
    /// assert_eq!(meta.project_dir, "/home/ada/café");
    /// assert_eq!(meta.encode(), file);
    /// # Ok::<(), core_model::ReadError>(())
    /// ```
    pub fn encode(&self) -> String {
        let members = [
            ("session_name", Some(&self.session_name)),
            ("agent", self.agent.as_ref()),
            ("project_dir", Some(&self.project_dir)),
            ("agents_dir", Some(&self.agents_dir)),
            ("created_at", Some(&self.created_at)),
            ("last_resumed_at", Some(&self.last_resumed_at)),
            ("schema_version", Some(&self.schema_version)),
        ];
        // The id is appended when the run prints it.
        let id = self.session_id.as_ref().map(|id| ("session_id", Some(id)));
        let mut out = b"{".to_vec();
        for (member_idx, (name, value)) in members.into_iter().chain(id).enumerate() {
            let start = if member_idx > 0 { ",\n  " } else { "\n  " };
            out.extend_from_slice(start.as_bytes());
            push_string(&mut out, name, Style::Python);
            out.extend_from_slice(b": ");
            match value {
                Some(value) => push_string(&mut out, value, Style::Python),
                None => out.extend_from_slice(b"null"),
            }
        }
        out.extend_from_slice(b"\n}\n");
        String::from_utf8(out).unwrap_or_default()
    }

    /// Reads the settings of a session.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read or decoded.
    pub fn read(folder: &Path, name: &str) -> Result<Self, ReadError> {
        Self::decode(&fs::read(path(folder, name)?)?)
    }

    /// Writes the settings of a session atomically. An existing file is replaced.
    ///
    /// # Errors
    ///
    /// Returns [`io::ErrorKind::InvalidInput`] if the session name is invalid. Returns an error if
    /// the file cannot be written.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let path = path(folder, &self.session_name)?;
        let temporary = path.with_extension("json.tmp");
        // A run that was killed may have left the temporary file.
        match fs::remove_file(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = fs::File::create_new(&temporary)?;
        file.write_all(self.encode().as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, &path)
    }
}

fn path(folder: &Path, name: &str) -> io::Result<std::path::PathBuf> {
    let why = "not a name of a session: letters, digits, - and _";
    let is_name = is_session_name(name);
    let path = is_name.then(|| folder.join(format!("{name}.meta.json")));
    path.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, why))
}

fn text(value: Value<'_>, name: &str) -> Option<String> {
    Some(value.get(name)?.text()?.decode().into_owned())
}

fn problem(offset: u64, rule: &'static str, message: String) -> ReadError {
    let severity = Severity::Stops;
    ReadError::Line(Problem { offset, line: 1, severity, rule, message: message.into() })
}
