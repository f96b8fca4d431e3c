//! Stores receipts below an output folder: a file, or an object, for each unit.
//!
//! A receipt is the commit point of its unit. A unit without a receipt, or with one that a power
//! cut tore, is converted again: receipts are not flushed to the disk. The log of begun outputs (`journal/begun.rs`)
//! shows which outputs without a receipt this program wrote.
//!
//! ```text
//! rename  .s1.jsonl.tmp-14610-32b66833-09f5685f  s1.jsonl
//! write   .convert-receipts/0c/8e..41.json
//! ```

use std::{
    io::{self, Read},
    path::PathBuf,
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
        let mut receipt = Vec::new();
        self.base.read(&name(id)).ok()?.take(MAX_RECEIPT).read_to_end(&mut receipt).ok()?;
        let is_it = record::read::<ReceiptLine<'_>>(&receipt)?.id.body()? == id;
        is_it.then_some(receipt)
    }

    /// Stores the receipt of a unit, over an earlier one.
    ///
    /// # Errors
    ///
    /// Returns an error if the disk or the store does. The earlier receipt may be lost then.
    pub fn write(&self, id: &str, receipt: &[u8]) -> io::Result<()> {
        self.base.write(&name(id), receipt, self.interruption)
    }
}

/// Returns the name of a unit's receipt. An id itself may not be a valid name.
fn name(id: &str) -> PathBuf {
    let hash = hex(&Sha256::digest(id.as_bytes()));
    let (first, rest) = hash.split_at(2);
    PathBuf::from(format!("{RECEIPTS}/{first}/{rest}.json"))
}
