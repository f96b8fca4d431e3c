//! Files of equal content among the inputs of a run.

use std::{
    collections::HashMap,
    io::{self, Read},
};

use sessions::{Input, SessionFiles};
use sha2::{Digest, Sha256};

use crate::folder_run::pool::each_of;

/// Returns for each unit which earlier one has the same content, if one does.
///
/// Only files of the same size are read. A session with files of its own is like no other.
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
        // What cannot be read is like no other; its own job tells why.
        let Some(hash) = hash else { continue };
        let first = *first.entry(hash).or_insert(unit_idx);
        duplicates[unit_idx] = (first != unit_idx).then_some(first);
    }
    duplicates
}

/// No one can make two files with the same hash, so that one of them would be left out.
fn hash_of(input: &Input) -> io::Result<[u8; 32]> {
    let mut opened = input.open_as_it_is()?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match opened.read(&mut buffer) {
            Ok(0) => return Ok(hash.finalize().into()),
            Ok(n) => hash.update(&buffer[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
