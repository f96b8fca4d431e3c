//! Where receipts are kept, below the folder that is written to: a file for each unit.
//!
//! A receipt is the commit point of its unit. Whoever finds none does the unit again; whoever finds a
//! torn one, after a power cut, too.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Read, Write},
    sync::Arc,
};

use jsonl::Scanner;
use sha2::{Digest, Sha256};

use crate::{
    folder::Folder,
    input::RECEIPTS,
    journal::hex,
    output::{FILE_MODE, Pending, Place, Replace, hashing::Asked},
};

/// The largest receipt that is read.
const MAX_RECEIPT: u64 = 64 * 1024 * 1024;

/// The receipts of a folder.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    folder: Arc<Folder>,
}

impl Store {
    /// Returns the receipts of a folder, whether there are any or not.
    pub(crate) fn of(folder: Arc<Folder>) -> Self {
        Self { folder }
    }

    /// Returns the receipt of a unit, if there is a whole one.
    pub(crate) fn read(&self, id: &str) -> Option<Vec<u8>> {
        let [first, name] = names(id);
        let folder =
            self.folder.enter(OsStr::new(RECEIPTS)).ok()?.enter(OsStr::new(&first)).ok()?;
        let receipt = read(folder.read(OsStr::new(&name)).ok()?).ok()?;
        let mut scanner = Scanner::default();
        let value = scanner.scan_slice(&receipt, 0).ok()?;
        let is_it = value.get("id")?.text()?.body() == id;
        is_it.then_some(receipt)
    }

    /// Keeps the receipt of a unit, in place of an earlier one.
    ///
    /// # Errors
    ///
    /// The system's own; then there is the earlier one, or none.
    pub(crate) fn write(&self, id: &str, receipt: &[u8]) -> io::Result<()> {
        let [first, name] = names(id);
        let folder =
            self.folder.create_below(&[RECEIPTS, &first].iter().collect::<std::path::PathBuf>())?;
        let place = Place { folder, name: name.into() };
        let mut pending = Pending::create(place, FILE_MODE, None, Asked::Nothing)?;
        pending.write_all(receipt)?;
        pending.finish()?.publish(Replace::Own).map(|_| ())
    }
}

/// Returns the names of the folder and the file of a unit's receipt: an id may be no name.
fn names(id: &str) -> [String; 2] {
    let hash = hex(&Sha256::digest(id.as_bytes()));
    let (first, rest) = hash.split_at(2);
    [first.to_owned(), format!("{rest}.json")]
}

fn read(file: File) -> io::Result<Vec<u8>> {
    let mut receipt = Vec::new();
    file.take(MAX_RECEIPT).read_to_end(&mut receipt)?;
    Ok(receipt)
}
