//! Finds inputs with equal content.
//!
//! In: three files, of which the first and the last are equal. Out: `[None, None, Some(0)]`.

use std::{
    collections::HashMap,
    io::{self, Read},
};

use sessions::{Input, SessionFiles};
use sha2::{Digest, Sha256};

use crate::folder_run::pool::each_of;

/// Returns for each unit the index of an earlier one with equal content.
///
/// Only files of equal size are read. A session with several files has no duplicate.
pub(crate) fn duplicates(units: &[SessionFiles], n_jobs: usize) -> Vec<Option<usize>> {
    let mut of_size: HashMap<u64, Vec<usize>> = HashMap::new();
    for (unit_idx, unit) in units.iter().enumerate() {
        if unit.others.is_empty() && matches!(unit.main, Input::File { .. }) {
            of_size.entry(unit.main.size()).or_default().push(unit_idx);
        }
    }
    let mut candidates: Vec<usize> =
        of_size.into_values().filter(|units| units.len() > 1).flatten().collect();
    candidates.sort_unstable();
    let hashes = each_of(&candidates, n_jobs, |unit_idx| hash_of(&units[*unit_idx].main).ok());
    let mut first = HashMap::new();
    let mut duplicates = vec![None; units.len()];
    for (unit_idx, hash) in candidates.into_iter().zip(hashes) {
        // An unreadable file has no duplicate; its own job reports the error.
        let Some(hash) = hash else { continue };
        let first = *first.entry(hash).or_insert(unit_idx);
        duplicates[unit_idx] = (first != unit_idx).then_some(first);
    }
    duplicates
}

/// SHA-256, because with a weaker hash a forged file could make another one be left out.
fn hash_of(input: &Input) -> io::Result<[u8; 32]> {
    sha256_of(&mut input.open_as_it_is()?)
}

/// Returns the SHA-256 of the bytes of a reader.
pub(crate) fn sha256_of(reader: &mut impl Read) -> io::Result<[u8; 32]> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(hash.finalize().into()),
            Ok(n) => hash.update(&buffer[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
