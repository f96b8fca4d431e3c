//! Reads breadcrumbs: small JSON files that name a session by its project and its id, such as
//! `{"project":"/p","sessionId":"abc"}` (FORMAT.md, "Described elsewhere").

use std::{io, path::PathBuf};

use core_model::{SafeName, session_files};
use jsonl::Scanner;

use crate::project_folders;

/// The project and the id of a session.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Breadcrumb {
    /// The path of the project.
    pub project: String,
    /// The session id, which is the name of its file.
    pub session_id: SafeName,
    /// The time, for information only.
    pub timestamp: Option<String>,
}

impl Breadcrumb {
    /// Size limit in bytes.
    const MAX_SIZE: usize = 64 * 1024;

    /// Reads a breadcrumb; `None` if a member is missing or the id is not a [`SafeName`].
    ///
    /// ```
    /// use format_claude_code::Breadcrumb;
    ///
    /// let crumb = Breadcrumb::parse(br#"{"project":"/p","sessionId":"abc123xyz"}"#);
    /// assert_eq!(crumb.map(|crumb| crumb.project).as_deref(), Some("/p"));
    /// assert!(Breadcrumb::parse(br#"{"project":"/p","sessionId":"../../x"}"#).is_none());
    /// ```
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        if bytes.len() > Self::MAX_SIZE {
            return None;
        }
        let mut scanner = Scanner::default();
        // The object may be spread over several lines.
        let value = scanner.scan_slice(bytes.trim_ascii(), 0).ok()?;
        let text = |name| Some(value.get(name)?.text()?.decode().into_owned());
        if value.get("type").is_some() {
            return None;
        }
        Some(Self {
            project: text("project")?,
            session_id: SafeName::new(&text("sessionId")?)?,
            timestamp: text("timestamp"),
        })
    }

    /// Returns the session's file; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Returns an error if the folders of projects cannot be read.
    pub fn resolve(&self, config_dir: &std::path::Path) -> io::Result<Option<PathBuf>> {
        for folder in project_folders(config_dir, &self.project)? {
            let is_it = |path: &PathBuf| {
                path.file_stem().is_some_and(|stem| stem == self.session_id.as_str())
            };
            if let Some(path) = session_files(&folder)?.into_iter().find(is_it) {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_breadcrumb_leads_to_its_session_in_any_layout() {
        let root = std::env::temp_dir().join(format!("breadcrumb-{}", std::process::id()));
        let folder = root.join("projects/-Users-name-Code-pro.ject");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("abc123xyz.jsonl"), "").expect("a file");
        let crumb = Breadcrumb::parse(
            b"{\n  \"project\": \"/Users/name/Code/pro.ject\",\n  \"sessionId\": \"abc123xyz\",\n  \
              \"timestamp\": \"2026-01-17T20:31:59.197Z\"\n}\n",
        )
        .expect("a breadcrumb");
        let found = crumb.resolve(&root).expect("folders");
        assert_eq!(found, Some(folder.join("abc123xyz.jsonl")));
        let elsewhere = Breadcrumb { project: "..".to_owned(), ..crumb };
        assert_eq!(elsewhere.resolve(&root).expect("folders"), None);
        fs::remove_dir_all(&root).expect("the folder");
    }

    #[test]
    fn what_is_no_breadcrumb() {
        for bytes in [
            &b"{}"[..],
            b"",
            b"[]",
            br#"{"project":5,"sessionId":"a"}"#,
            br#"{"project":"/p","sessionId":"/etc/passwd"}"#,
            br#"{"project":"/p","sessionId":""}"#,
            br#"{"type":"user","project":"/p","sessionId":"a"}"#,
            b"{\"project\":\"/p\",\"sessionId\":\"a\"}\n{}",
        ] {
            assert_eq!(Breadcrumb::parse(bytes), None);
        }
    }
}
