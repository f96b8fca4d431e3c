//! Stores that yield documents: a client keeps its sessions in a database, or each in many small files,
//! and a session is read as the document that the client would export.
//!
//! In: the database `opencode.db`, which has a session `ses_1`. Out: the document of `ses_1`, under the
//! path `opencode.db/ses_1.json`, which no file has.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::Environment;

/// The stores of a format's client, and the command that imports a document into them. They are only
/// read.
#[derive(Clone, Copy, Debug)]
pub struct DocumentStore {
    /// Returns the databases and folders in which the client keeps its sessions, the newest first. They
    /// need not exist. If several have a session, that of the first one counts.
    pub places: fn(&Environment<'_>) -> Vec<PathBuf>,
    /// Returns the kind of a place of the client, given its path; `None` for any other path.
    pub kind: fn(&Path) -> Option<PlaceKind>,
    /// Returns whether the id of a session of the client was made from the id that another client has
    /// given it.
    pub is_made_from: fn(id: &str, other: &str) -> bool,
    /// Reads a folder of small files; `None` if no version of the client has one.
    pub folder: Option<FolderDocuments>,
    /// Reads a database; `None` if no version of the client has one.
    pub database: Option<TableDocuments>,
    /// The words of the command that imports a document, without the name of its file.
    pub import: &'static [&'static str],
}

/// The kind of a place with sessions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PlaceKind {
    /// A folder of small files.
    Folder,
    /// A database, which is one file, and the files of its log beside it.
    Database,
}

/// A session of a store.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct StoredDocument {
    /// Its id.
    pub id: String,
    /// The folder that its client was started in.
    pub project: Option<String>,
    /// The time of its last change, in milliseconds since 1970.
    pub updated: i64,
    /// Its approximate size in bytes; 0 if it is unknown.
    pub size: u64,
}

/// Receives the sessions of a store.
pub type EachDocument<'e> = dyn FnMut(StoredDocument) -> io::Result<()> + 'e;

/// The functions that read a folder of small files.
#[derive(Clone, Copy, Debug)]
pub struct FolderDocuments {
    /// Calls `each` with each session of the folder.
    pub list: fn(&Path, each: &mut EachDocument<'_>) -> io::Result<()>,
    /// Writes the document of the session with this id.
    pub write: fn(&Path, id: &str, out: &mut dyn io::Write) -> io::Result<()>,
}

/// The functions that read the tables of a database.
#[derive(Clone, Copy, Debug)]
pub struct TableDocuments {
    /// Calls `each` with each session of the database.
    pub list: fn(&dyn Tables, each: &mut EachDocument<'_>) -> io::Result<()>,
    /// Writes the document of the session with this id.
    pub write: fn(&dyn Tables, id: &str, out: &mut dyn io::Write) -> io::Result<()>,
}

/// The tables of an open database.
pub trait Tables {
    /// Returns the names of a table's columns; none if there is no such table, or if it is a view.
    ///
    /// # Errors
    ///
    /// Returns an error if the database is damaged.
    fn columns(&self, table: &str) -> io::Result<Vec<String>>;

    /// Calls `each` with the rows of a query. The parameters are texts. A query may be asked for within
    /// `each`.
    ///
    /// # Errors
    ///
    /// Returns an error if the query is refused, if the database is damaged, if a value or the query
    /// exceeds a limit, or if `each` returns an error.
    fn rows(
        &self,
        query: &str,
        parameters: &[&str],
        each: &mut dyn FnMut(&[Cell<'_>]) -> io::Result<()>,
    ) -> io::Result<()>;
}

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'r> {
    /// No value.
    Null,
    /// An integer.
    Integer(i64),
    /// A number.
    Real(f64),
    /// A text.
    Text(&'r str),
    /// Bytes, or a text that is not UTF-8.
    Bytes(&'r [u8]),
}

impl<'r> Cell<'r> {
    /// Returns the text; `None` for another value.
    pub fn text(self) -> Option<&'r str> {
        match self {
            Cell::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the integer, or a number without its fraction; `None` for another value.
    pub fn integer(self) -> Option<i64> {
        match self {
            Cell::Integer(number) => Some(number),
            // Numbers out of range become the nearest integer.
            Cell::Real(number) => Some(number as i64),
            _ => None,
        }
    }

    /// Returns whether there is no value.
    pub fn is_null(self) -> bool {
        self == Cell::Null
    }
}
