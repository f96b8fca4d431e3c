//! Generates a folder of Claude Code sessions from a seed.

use std::{fs, io, path::Path};

use crate::corpus::{Random, lines};

/// The distribution of session sizes: a share of the sessions, and their maximum size in bytes.
const SIZES: [(f64, f64); 5] =
    [(0.0, 2_000.0), (0.5, 20_000.0), (0.9, 90_000.0), (0.99, 400_000.0), (1.0, 4_000_000.0)];

/// The number of sessions of a project. Every `WITH_AGENT`th session has a sub-agent.
const PER_PROJECT: u64 = 40;
const WITH_AGENT: u64 = 10;

/// Writes sessions below a folder, the same in every run. Returns their total size in bytes.
///
/// # Errors
///
/// Returns an error if a file cannot be written.
pub fn write_archive(folder: &Path, n_sessions: u64) -> io::Result<u64> {
    let mut random = Random::new(0x9e6c_63d0_876a_68de);
    let mut n_bytes = 0;
    let mut write = |path: &Path, bytes: &[u8]| {
        n_bytes += bytes.len() as u64;
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(path, bytes)
    };
    for n in 0..n_sessions {
        let id = random.uuid();
        let project = folder.join(format!("-home-user-project-{:04}", n / PER_PROJECT));
        let size = random.between(&SIZES) as usize;
        let session = lines(size, &id, random.next());
        write(&project.join(format!("{id}.jsonl")), &session)?;
        if n % WITH_AGENT == 0 {
            let agent = lines(size / 4, &id, random.next());
            write(&project.join(&id).join("subagents/agent-a7f3c21.jsonl"), &agent)?;
        }
    }
    Ok(n_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_the_same_in_every_run() {
        let folders = ["one", "other"].map(|name| {
            let folder = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
            write_archive(&folder, 50).expect("written");
            folder
        });
        let files = folders.each_ref().map(|folder| crate::files_below(folder));
        assert_eq!(files[0].len(), 55);
        for (one, other) in files[0].iter().zip(&files[1]) {
            assert_eq!(one.strip_prefix(&folders[0]).ok(), other.strip_prefix(&folders[1]).ok());
            assert_eq!(fs::read(one).expect("read"), fs::read(other).expect("read"));
        }
        folders.iter().for_each(|folder| fs::remove_dir_all(folder).expect("removed"));
    }
}
