//! Copies a session under a new id, as clido 1.0.15 does: with a second `meta` line before the old one.
//!
//! ```text
//! in   {"type":"meta","session_id":"a",..}
//! out  {"type":"meta","session_id":"b",..}
//!      {"type":"meta","session_id":"a",..}
//! ```

use std::io::{self, Read};

use core_model::iso_millis;

use crate::{NotLoadable, SCHEMA_VERSION, SessionLine, SessionReader};

/// Returns a copy of a session with a new first line. `now` is the time of the copy in milliseconds since
/// 1970. clido itself drops unknown members of lines; here, all old lines stay byte for byte.
///
/// # Errors
///
/// Returns an error if clido would not load the new line: the id has half a surrogate pair.
///
/// ```
/// let session = b"{\"type\":\"meta\",\"session_id\":\"a\",\"schema_version\":1,\
///     \"start_time\":\"2026-01-17T10:00:00Z\",\"project_path\":\"/p\"}\n\
///     {\"type\":\"user_message\",\"role\":\"user\",\"content\":[]}";
/// let copy = format_clido::fork(session, "b", 1_768_681_919_197)?;
/// let copy = String::from_utf8(copy).expect("UTF-8");
/// let (first, rest) = copy.split_once('\n').expect("lines");
/// assert_eq!(
///     first,
///     "{\"type\":\"meta\",\"session_id\":\"b\",\"schema_version\":1,\
///      \"start_time\":\"2026-01-17T20:31:59.197Z\",\"project_path\":\"/p\"}"
/// );
/// assert_eq!(rest.as_bytes(), [session, &b"\n"[..]].concat());
/// # Ok::<(), format_clido::NotLoadable>(())
/// ```
pub fn fork(session: &[u8], session_id: &str, now: i64) -> Result<Vec<u8>, NotLoadable> {
    // Reading bytes in memory does not fail.
    let project_path = project_path(session).ok().flatten();
    let mut copy = first_line(session_id, project_path, now)?.into_bytes();
    copy.push(b'\n');
    copy.extend_from_slice(session);
    if copy.last() != Some(&b'\n') {
        copy.push(b'\n');
    }
    Ok(copy)
}

/// Returns the new first line of a copy, as [`fork`] writes it, without its end.
///
/// # Errors
///
/// Returns an outer error if the session cannot be read, and an inner one if clido would not load the line.
pub fn fork_line(
    session: impl Read,
    session_id: &str,
    now: i64,
) -> io::Result<Result<String, NotLoadable>> {
    Ok(first_line(session_id, project_path(session)?, now))
}

/// Returns the folder of the project, from the first line that has it.
fn project_path(session: impl Read) -> io::Result<Option<String>> {
    for line in SessionReader::from_reader(session).lines_raw() {
        if let Ok(Some(SessionLine::Meta { project_path, .. })) = line?.line {
            return Ok(Some(project_path));
        }
    }
    Ok(None)
}

fn first_line(
    session_id: &str,
    project_path: Option<String>,
    now: i64,
) -> Result<String, NotLoadable> {
    let meta = SessionLine::Meta {
        session_id: session_id.to_owned(),
        schema_version: SCHEMA_VERSION as u32,
        start_time: iso_millis(now),
        project_path: project_path.unwrap_or_default(),
    };
    meta.encode()
}
