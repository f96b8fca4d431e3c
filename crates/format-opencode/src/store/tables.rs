//! Reads a session of the client's database, in the versions 1.2 to 1.18.
//!
//! ```text
//! in   session: id ses_1, slug a, directory /p, ..; message: id msg_1, data {"role":"user",..};
//!      part: id prt_1, data {"type":"text",..}
//! out  {"info":{"id":"ses_1","slug":"a",..},"messages":[{"info":{"role":"user",..,"id":"msg_1",
//!      "sessionID":"ses_1"},"parts":[{"type":"text",..,"id":"prt_1",..}]}]}
//! ```
//!
//! The members of the session are columns, and a version that lacks a column does not export its member.

use std::{collections::HashMap, io, io::Write};

use core_model::{Cell, EachDocument, StoredDocument, Tables};
use jsonl::{Scanner, Style, push_canonical, push_string};

use super::{
    document::{DocumentWriter, with_members},
    odd,
};

/// The columns of a session that the export has.
const COLUMNS: [&str; 29] = [
    "id",
    "slug",
    "project_id",
    "workspace_id",
    "directory",
    "path",
    "parent_id",
    "title",
    "agent",
    "model",
    "version",
    "summary_additions",
    "summary_deletions",
    "summary_files",
    "summary_diffs",
    "cost",
    "tokens_input",
    "tokens_output",
    "tokens_reasoning",
    "tokens_cache_read",
    "tokens_cache_write",
    "share_url",
    "metadata",
    "revert",
    "permission",
    "time_created",
    "time_updated",
    "time_compacting",
    "time_archived",
];

/// Calls `each` with each session of the database.
pub(super) fn list(tables: &dyn Tables, each: &mut EachDocument<'_>) -> io::Result<()> {
    check(tables)?;
    let mut sizes: HashMap<String, u64> = HashMap::new();
    let query = "SELECT session_id, sum(octet_length(data)) FROM part GROUP BY session_id";
    tables.rows(query, &[], &mut |row| {
        if let [id, size] = row {
            let size = size.integer().and_then(|size| u64::try_from(size).ok());
            sizes.insert(id.text().unwrap_or_default().to_owned(), size.unwrap_or_default());
        }
        Ok(())
    })?;
    let query = "SELECT id, directory, time_updated FROM session ORDER BY id";
    tables.rows(query, &[], &mut |row| {
        let [id, directory, updated] = row else { return Ok(()) };
        let id = id.text().unwrap_or_default().to_owned();
        let size = sizes.get(&id).copied().unwrap_or_default();
        let project = directory.text().map(str::to_owned);
        each(StoredDocument { id, project, updated: updated.integer().unwrap_or_default(), size })
    })
}

/// Refuses a database without the tables of the client.
fn check(tables: &dyn Tables) -> io::Result<()> {
    for (table, columns) in [
        ("session", ["id", "directory", "time_updated"]),
        ("message", ["id", "session_id", "data"]),
        ("part", ["id", "message_id", "data"]),
    ] {
        let found = tables.columns(table)?;
        let has = |column: &&str| found.iter().any(|name| name == column);
        if !columns.iter().all(has) {
            return Err(odd(format!("no database of OpenCode: it lacks the table `{table}`")));
        }
    }
    Ok(())
}

/// Writes the document of the session with this id.
pub(super) fn write(tables: &dyn Tables, id: &str, out: &mut dyn Write) -> io::Result<()> {
    check(tables)?;
    let Some(info) = session(tables, id)? else { return Err(io::ErrorKind::NotFound.into()) };
    let mut writer = DocumentWriter::start(&info, out)?;
    // Sorted without their data, so that a long session needs little memory.
    let messages =
        ids(tables, "SELECT id FROM message WHERE session_id = ?1 ORDER BY time_created, id", id)?;
    for message in messages {
        let data = data(tables, "SELECT data FROM message WHERE id = ?1", &message)?;
        let info = with_members(&data, &[("id", &message), ("sessionID", id)])?;
        writer.message(&message, &info)?;
        for part in ids(tables, "SELECT id FROM part WHERE message_id = ?1 ORDER BY id", &message)?
        {
            let data = self::data(tables, "SELECT data FROM part WHERE id = ?1", &part)?;
            let members = [("id", &*part), ("sessionID", id), ("messageID", &*message)];
            writer.part(&part, &with_members(&data, &members)?)?;
        }
    }
    writer.finish()
}

fn ids(tables: &dyn Tables, query: &str, of: &str) -> io::Result<Vec<String>> {
    let mut ids = Vec::new();
    tables.rows(query, &[of], &mut |row| {
        let id = row.first().and_then(|id| id.text());
        ids.push(id.ok_or_else(|| odd(format!("{of}: an id is no text")))?.to_owned());
        Ok(())
    })?;
    Ok(ids)
}

fn data(tables: &dyn Tables, query: &str, id: &str) -> io::Result<String> {
    let mut found = None;
    tables.rows(query, &[id], &mut |row| {
        found = row.first().and_then(|data| data.text()).map(str::to_owned);
        Ok(())
    })?;
    found.ok_or_else(|| odd(format!("{id}: no JSON text")))
}

/// Returns the session as a JSON object; `None` if there is none.
fn session(tables: &dyn Tables, id: &str) -> io::Result<Option<Vec<u8>>> {
    let there = tables.columns("session")?;
    let has = |column: &&&str| there.iter().any(|name| name == **column);
    let columns: Vec<&str> = COLUMNS.iter().filter(has).copied().collect();
    let query = format!("SELECT {} FROM session WHERE id = ?1", columns.join(", "));
    let mut info = None;
    tables.rows(&query, &[id], &mut |row| {
        let cells = columns.iter().copied().zip(row.iter().copied()).collect();
        info = Some(Session { id, cells }.encode()?);
        Ok(())
    })?;
    Ok(info)
}

/// The row of a session.
struct Session<'r> {
    id: &'r str,
    cells: HashMap<&'r str, Cell<'r>>,
}

impl Session<'_> {
    /// Returns the object, with the members in the order of the client.
    fn encode(&self) -> io::Result<Vec<u8>> {
        let mut out = Object::default();
        for (key, column) in [
            ("id", "id"),
            ("slug", "slug"),
            ("projectID", "project_id"),
            ("workspaceID", "workspace_id"),
            ("directory", "directory"),
            ("path", "path"),
            ("parentID", "parent_id"),
            ("title", "title"),
            ("agent", "agent"),
        ] {
            self.member(&mut out, key, column)?;
        }
        self.selected(&mut out, "model", &["id", "providerID", "variant"])?;
        self.member(&mut out, "version", "version")?;
        self.summary(&mut out)?;
        self.member(&mut out, "cost", "cost")?;
        if self.cell("tokens_input").is_some() {
            let mut cache = Object::default();
            self.member(&mut cache, "read", "tokens_cache_read")?;
            self.member(&mut cache, "write", "tokens_cache_write")?;
            let mut tokens = Object::default();
            self.member(&mut tokens, "input", "tokens_input")?;
            self.member(&mut tokens, "output", "tokens_output")?;
            self.member(&mut tokens, "reasoning", "tokens_reasoning")?;
            tokens.push("cache", &cache.end());
            out.push("tokens", &tokens.end());
        }
        // An empty address is none.
        if self.cell("share_url").and_then(Cell::text).is_some_and(|url| !url.is_empty()) {
            let mut share = Object::default();
            self.member(&mut share, "url", "share_url")?;
            out.push("share", &share.end());
        }
        self.json(&mut out, "metadata", "metadata")?;
        self.selected(&mut out, "revert", &["messageID", "partID", "snapshot", "diff"])?;
        self.json(&mut out, "permission", "permission")?;
        let mut time = Object::default();
        self.member(&mut time, "created", "time_created")?;
        self.member(&mut time, "updated", "time_updated")?;
        self.member(&mut time, "compacting", "time_compacting")?;
        self.member(&mut time, "archived", "time_archived")?;
        out.push("time", &time.end());
        Ok(out.end())
    }

    /// Returns a value; `None` for `NULL` or a column that this version lacks.
    fn cell(&self, column: &str) -> Option<Cell<'_>> {
        self.cells.get(column).copied().filter(|cell| !cell.is_null())
    }

    /// Adds a member with the text or number of a column, if it has one.
    fn member(&self, out: &mut Object, key: &str, column: &str) -> io::Result<()> {
        let Some(cell) = self.cell(column) else { return Ok(()) };
        let mut value = Vec::new();
        match cell {
            Cell::Text(text) => push_string(&mut value, text, Style::Compact),
            Cell::Integer(number) => value.extend_from_slice(number.to_string().as_bytes()),
            Cell::Real(number) => push_number(&mut value, number),
            _ => return Err(odd(format!("{}: {column} is no text", self.id))),
        }
        out.push(key, &value);
        Ok(())
    }

    /// Adds a member with the JSON of a column, if it has any.
    fn json(&self, out: &mut Object, key: &str, column: &str) -> io::Result<()> {
        let Some(cell) = self.cell(column) else { return Ok(()) };
        let text = cell.text().filter(|text| jsonl::validate(text.as_bytes()).is_ok());
        let text = text.ok_or_else(|| odd(format!("{}: {column} is no JSON", self.id)))?;
        if text.trim() != "null" {
            out.push(key, text.as_bytes());
        }
        Ok(())
    }

    /// Adds an object with some members of the object in a column, in this order.
    fn selected(&self, out: &mut Object, column: &str, keys: &[&str]) -> io::Result<()> {
        let Some(text) = self.cell(column) else { return Ok(()) };
        let mut scanner = Scanner::default();
        let value = text.text().and_then(|text| scanner.scan_slice(text.as_bytes(), 0).ok());
        let value = value.ok_or_else(|| odd(format!("{}: {column} is no JSON", self.id)))?;
        if !value.is_object() {
            return Ok(());
        }
        let mut object = Object::default();
        for key in keys {
            if let Some(member) = value.get(key) {
                object.push(key, member.raw().as_str().as_bytes());
            }
        }
        out.push(column, &object.end());
        Ok(())
    }

    /// Adds the summary of the changes, if a column of it has a value. A count without one is 0.
    fn summary(&self, out: &mut Object) -> io::Result<()> {
        let counts = [
            ("additions", "summary_additions"),
            ("deletions", "summary_deletions"),
            ("files", "summary_files"),
        ];
        if counts.iter().all(|(_, column)| self.cell(column).is_none()) {
            return Ok(());
        }
        let mut summary = Object::default();
        for (key, column) in counts {
            match self.cell(column) {
                Some(_) => self.member(&mut summary, key, column)?,
                None => summary.push(key, b"0"),
            }
        }
        self.json(&mut summary, "diffs", "summary_diffs")?;
        out.push("summary", &summary.end());
        Ok(())
    }
}

/// An object that is written.
#[derive(Default)]
struct Object(Vec<u8>);

impl Object {
    fn push(&mut self, key: &str, value: &[u8]) {
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        push_string(&mut self.0, key, Style::Compact);
        self.0.push(b':');
        self.0.extend_from_slice(value);
    }

    fn end(mut self) -> Vec<u8> {
        if self.0.is_empty() {
            self.0.push(b'{');
        }
        self.0.push(b'}');
        self.0
    }
}

/// Appends a number as JavaScript prints it.
fn push_number(out: &mut Vec<u8>, number: f64) {
    let mut scanner = Scanner::default();
    let spelled = format!("{number:e}");
    match scanner.scan_slice(spelled.as_bytes(), 0) {
        Ok(value) => push_canonical(out, value, &[]),
        // Infinity, which `JSON.stringify` prints so.
        Err(_) => out.extend_from_slice(b"null"),
    }
}
