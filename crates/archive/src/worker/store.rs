//! Where receipts are kept, below the place that is written to: a file, or an object, for each unit.
//!
//! A receipt is the commit point of its unit. Whoever finds none does the unit again; whoever finds a
//! torn one, after a power cut, too.

use std::{
    io::{self, Read},
    path::PathBuf,
};

use jsonl::Scanner;
use sha2::{Digest, Sha256};
use storage::{Interruption, RECEIPTS};

use crate::journal::{Base, hex};

/// The largest receipt that is read.
const MAX_RECEIPT: u64 = 64 * 1024 * 1024;

/// The receipts of a place.
#[derive(Clone, Debug)]
pub struct Store {
    base: Base,
    interruption: Interruption,
}

impl Store {
    /// Returns the receipts of a place, whether there are any or not.
    pub fn of(base: Base, interruption: Interruption) -> Self {
        Self { base, interruption }
    }

    /// Returns the receipt of a unit, if there is a whole one.
    pub fn read(&self, id: &str) -> Option<Vec<u8>> {
        let mut receipt = Vec::new();
        self.base.read(&name(id)).ok()?.take(MAX_RECEIPT).read_to_end(&mut receipt).ok()?;
        let mut scanner = Scanner::default();
        let value = scanner.scan_slice(&receipt, 0).ok()?;
        let is_it = value.get("id")?.text()?.body() == id;
        is_it.then_some(receipt)
    }

    /// Keeps the receipt of a unit, in place of an earlier one.
    ///
    /// # Errors
    ///
    /// Those of the disk or the store; then there is the earlier one, or none.
    pub fn write(&self, id: &str, receipt: &[u8]) -> io::Result<()> {
        self.base.write(&name(id), receipt, self.interruption)
    }
}

/// Returns the name of a unit's receipt below the place: an id may be no name.
fn name(id: &str) -> PathBuf {
    let hash = hex(&Sha256::digest(id.as_bytes()));
    let (first, rest) = hash.split_at(2);
    PathBuf::from(format!("{RECEIPTS}/{first}/{rest}.json"))
}
