//! Stores receipts below an output folder: a file, or an object, for each unit.
//!
//! A receipt is the commit point of its unit. A unit without a receipt, or with one that a power
//! cut tore, is converted again. Before an output gets its name, a line with its hash is appended to a
//! file beside the receipt, which is removed once the unit is done:
//!
//! ```text
//! append  .convert-receipts/0c/8e..41.begun   {"v":1,"begun":"s1.jsonl",..}
//! rename  .s1.jsonl.tmp-14610-32b66833-09f5685f  s1.jsonl
//! write   .convert-receipts/0c/8e..41.json
//! remove  .convert-receipts/0c/8e..41.begun
//! ```
//!
//! If the worker is killed before the receipt is there, the next worker knows by the line that the
//! output is of this program, and replaces it if the source has changed in the meantime.

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};
use storage::{Interruption, RECEIPTS};

use super::receipt::ReceiptLine;
use crate::{
    journal::OutputRoot,
    record::{self, hex},
};

/// Limit on the size of a receipt in bytes.
const MAX_RECEIPT: u64 = 64 * 1024 * 1024;

/// The receipts of an output folder.
#[derive(Clone, Debug)]
pub struct Store {
    base: OutputRoot,
    interruption: Interruption,
}

impl Store {
    /// Returns the receipts of an output folder, which may be none.
    pub fn of(base: OutputRoot, interruption: Interruption) -> Self {
        Self { base, interruption }
    }

    /// Returns the receipt of a unit; `None` if there is none or it is torn.
    pub fn read(&self, id: &str) -> Option<Vec<u8>> {
        let receipt = self.read_file(&name(id, "json"))?;
        let is_it = record::read::<ReceiptLine<'_>>(&receipt)?.id.body()? == id;
        is_it.then_some(receipt)
    }

    /// Stores the receipt of a unit, over an earlier one.
    ///
    /// # Errors
    ///
    /// Returns an error if the disk or the store does. The earlier receipt may be lost then.
    pub fn write(&self, id: &str, receipt: &[u8]) -> io::Result<()> {
        self.base.write(&name(id, "json"), receipt, self.interruption)
    }

    /// Appends lines of outputs of a unit that are about to get their names. A store has none.
    ///
    /// # Errors
    ///
    /// Returns an error if the disk does.
    pub(super) fn begin(&self, id: &str, lines: &[u8]) -> io::Result<()> {
        self.base.append(&name(id, "begun"), lines)
    }

    /// Returns the lines of outputs of a unit that were about to get their names when a worker ended.
    pub(super) fn begun(&self, id: &str) -> Vec<u8> {
        let is_on_disk = self.base.folder().is_some();
        is_on_disk.then(|| self.read_file(&name(id, "begun"))).flatten().unwrap_or_default()
    }

    /// Removes the lines of outputs of a unit that is done.
    pub(super) fn end(&self, id: &str) {
        if self.base.folder().is_some() {
            // The lines of outputs that were replaced later name no file that is there.
            _ = self.base.remove(&name(id, "begun"));
        }
    }

    fn read_file(&self, below: &Path) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        self.base.read(below).ok()?.take(MAX_RECEIPT).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }
}

/// Returns the name of a unit's file with an ending. An id itself may not be a valid name.
fn name(id: &str, ending: &str) -> PathBuf {
    let hash = hex(&Sha256::digest(id.as_bytes()));
    let (first, rest) = hash.split_at(2);
    PathBuf::from(format!("{RECEIPTS}/{first}/{rest}.{ending}"))
}
