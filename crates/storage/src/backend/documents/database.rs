//! Reads a database of SQLite on a private copy, so that its client is not disturbed and nothing is
//! written beside it.
//!
//! In: `opencode.db` and its log `opencode.db-wal`, to which a client may be writing. Out: a [`Database`]
//! with the rows of both, at one moment.
//!
//! A database may be a stranger's. So it is opened for reading only, with a schema that is not trusted,
//! without extensions, and within limits: on the length of a value, on memory, and on the steps of a
//! query.

use std::{
    fs::{self, File},
    io,
    path::Path,
    thread,
    time::Duration,
};

use core_model::{Cell, Tables};
use rusqlite::{
    Connection, OpenFlags, config::DbConfig, limits::Limit, params_from_iter, types::ValueRef,
};

use super::{DATABASE_FILES, database_file, state_of};
use crate::{scratch::Scratch, system::open_input};

/// Limit on the size of a database with its log in bytes.
const MAX_DATABASE: u64 = 64 * 1024 * 1024 * 1024;

/// Limit on a value in bytes.
const MAX_VALUE: i32 = 256 * 1024 * 1024;

/// The memory of cached pages in KiB.
const CACHE: i32 = 8 * 1024;

/// Limit on the steps of all queries, in units of [`STEPS`]. To read all sessions of a database with a
/// million parts takes a hundred million steps.
const MAX_UNITS: u64 = 100_000;
const STEPS: i32 = 100_000;

/// The number of attempts to copy a database while its client writes to it, and the time between two.
const N_ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(100);

/// A private copy of a database.
pub(super) struct Database {
    connection: Connection,
    /// Keeps the copy.
    _copy: Scratch,
}

impl Database {
    /// Copies a database and its log, and opens the copy.
    ///
    /// # Errors
    ///
    /// Returns an error if the files cannot be copied, if they change all the time, or if they are no
    /// database.
    pub(super) fn open_copy(place: &Path) -> io::Result<Self> {
        let copy = Scratch::new()?;
        let path = copy.path().join("copy.db");
        copy_files(place, &path)?;
        // The index of the log is made anew from the log.
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(&path, flags).map_err(refused)?;
        restrict(&mut connection).map_err(refused)?;
        Ok(Self { connection, _copy: copy })
    }
}

/// Sets the limits of a connection, for a database that may be a stranger's.
fn restrict(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "mmap_size", 0)?;
    connection.pragma_update(None, "cache_size", -CACHE)?;
    connection.pragma_update(None, "query_only", true)?;
    let mut n_units = 0;
    let is_too_long = move || {
        n_units += 1;
        n_units > MAX_UNITS
    };
    connection.progress_handler(STEPS, Some(is_too_long))
}

/// Copies a database and its log while neither changes.
fn copy_files(place: &Path, to: &Path) -> io::Result<()> {
    let [database, log, _] = DATABASE_FILES;
    for _ in 0..N_ATTEMPTS {
        let before = state_of(place);
        let size: u64 = before.iter().flatten().map(|stat| stat.length).sum();
        if size > MAX_DATABASE {
            let message = format!("the database has {size} bytes, and {MAX_DATABASE} are read");
            return Err(io::Error::other(message));
        }
        for ending in [database, log] {
            match copy_file(&database_file(place, ending), &database_file(to, ending)) {
                // A client without an open database has no log.
                Err(error) if error.kind() == io::ErrorKind::NotFound && ending == log => {}
                copied => copied?,
            }
        }
        if state_of(place) == before {
            return Ok(());
        }
        for ending in [database, log] {
            _ = fs::remove_file(database_file(to, ending));
        }
        thread::sleep(PAUSE);
    }
    Err(io::Error::other("its client writes to it all the time; end the client and try again"))
}

/// Copies a regular file. A pipe beside a database would block.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    // A database may be a link that its user made, so that its target is opened.
    let mut file = open_input(&from.canonicalize()?, false)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other(format!("{} is no regular file", from.display())));
    }
    // SQLite opens a log for writing, so that a copy may not have the permissions of a file that is read-only.
    let mut copy = File::options();
    copy.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut copy, 0o600);
    io::copy(&mut file, &mut copy.open(to)?).map(|_| ())
}

fn refused(error: rusqlite::Error) -> io::Error {
    let reason = match error {
        rusqlite::Error::SqliteFailure(code, Some(message)) => match code.code {
            rusqlite::ErrorCode::OperationInterrupted => {
                "its queries take too many steps".to_owned()
            }
            _ => message,
        },
        error => error.to_string(),
    };
    io::Error::new(io::ErrorKind::InvalidData, format!("the database cannot be read: {reason}"))
}

impl Tables for Database {
    fn columns(&self, table: &str) -> io::Result<Vec<String>> {
        // A view or a virtual table may compute anything.
        let query = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND lower(name) = lower(?1) \
                     AND sql LIKE 'CREATE TABLE%'";
        let mut is_table = false;
        self.rows(query, &[table], &mut |_| {
            is_table = true;
            Ok(())
        })?;
        let mut columns = Vec::new();
        if is_table {
            // Without the columns that are computed.
            let query = "SELECT name FROM pragma_table_info(?1)";
            self.rows(query, &[table], &mut |row| {
                columns.extend(row.first().and_then(|name| name.text()).map(str::to_owned));
                Ok(())
            })?;
        }
        Ok(columns)
    }

    fn rows(
        &self,
        query: &str,
        parameters: &[&str],
        each: &mut dyn FnMut(&[Cell<'_>]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut statement = self.connection.prepare(query).map_err(refused)?;
        let n_columns = statement.column_count();
        let mut rows = statement.query(params_from_iter(parameters)).map_err(refused)?;
        while let Some(row) = rows.next().map_err(refused)? {
            let cell = |at| row.get_ref(at).map(cell_of).map_err(refused);
            let cells: Vec<Cell<'_>> = (0..n_columns).map(cell).collect::<io::Result<_>>()?;
            each(&cells)?;
        }
        Ok(())
    }
}

fn cell_of(value: ValueRef<'_>) -> Cell<'_> {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(text) => std::str::from_utf8(text).map_or(Cell::Bytes(text), Cell::Text),
        ValueRef::Blob(bytes) => Cell::Bytes(bytes),
    }
}
