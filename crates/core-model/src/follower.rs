//! Reads the lines of a file that a client is still writing.
//!
//! In: a file that grows from `a\nb` to `a\nbc\nd`. Out: `a` at the first call, `bc` at the second.
//! `d` is incomplete.

use std::{
    fs::{File, Metadata},
    io::{self, Read, Seek, SeekFrom},
    path::PathBuf,
};

use jsonl::{Line, Stream};

use crate::Place;

/// Reader of a growing file: returns complete lines only, each once.
///
/// The file may not exist yet. If it is truncated, replaced or removed, it is followed from its
/// start again.
#[derive(Clone, Debug)]
pub struct Follower {
    path: PathBuf,
    next: Place,
    identity: Identity,
}

/// The result of a read of the file.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Followed {
    /// The number of new complete lines.
    pub n_lines: u64,
    /// Whether the file was replaced, truncated or removed since the last call, so that earlier lines
    /// are void. The next line is line 1 at offset 0.
    pub is_restarted: bool,
}

/// The identity of the file: device and inode, if the system has them.
type Identity = Option<(u64, u64)>;

/// The position before the first line.
const START: Place = Place { line: 1, offset: 0 };

impl Follower {
    /// Creates a follower that starts at the first line of a file.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), next: START, identity: None }
    }

    /// Calls `each` with every complete line since the last call.
    ///
    /// A line without a newline is still being written and is passed when it is complete. Offsets
    /// are those in the file. A file that does not exist has no lines and is no error.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read. Lines before the error are not repeated.
    pub fn poll(&mut self, each: &mut dyn FnMut(Place, &Line<'_>)) -> io::Result<Followed> {
        let mut file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let is_restarted = self.restart();
                return Ok(Followed { n_lines: 0, is_restarted });
            }
            file => file?,
        };
        let metadata = file.metadata()?;
        let is_other = self.next.offset > 0
            && (identity(&metadata) != self.identity
                || metadata.len() < self.next.offset
                || !ends_a_line(&mut file, self.next.offset)?);
        let is_restarted = is_other && self.restart();
        self.identity = identity(&metadata);
        let mut followed = Followed { n_lines: 0, is_restarted };
        let n_new = metadata.len() - self.next.offset.min(metadata.len());
        if n_new == 0 {
            return Ok(followed);
        }
        file.seek(SeekFrom::Start(self.next.offset))?;
        let mut lines = Stream::new(file.take(n_new));
        while let Some(line) = lines.next()?.filter(|line| line.is_terminated()) {
            let place = self.next;
            each(place, &Line::new(line.bytes(), place.offset));
            let offset = place.offset + line.bytes().len() as u64;
            self.next = Place { line: place.line + 1, offset };
            followed.n_lines += 1;
        }
        Ok(followed)
    }

    /// Goes back to the start, and returns whether there was anything before.
    fn restart(&mut self) -> bool {
        self.identity = None;
        std::mem::replace(&mut self.next, START) != START
    }
}

/// Returns whether a line ends before an offset. A truncated file that grew again may be longer
/// than before.
fn ends_a_line(file: &mut File, offset: u64) -> io::Result<bool> {
    file.seek(SeekFrom::Start(offset - 1))?;
    let mut last = Vec::new();
    // There are no bytes if the file was truncated a moment ago.
    file.take(1).read_to_end(&mut last)?;
    Ok(last == b"\n")
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Identity {
    None
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, OpenOptions},
        io::Write,
        path::Path,
    };

    use super::*;

    fn look(follower: &mut Follower) -> (Vec<(u64, u64, String)>, bool) {
        let mut lines = Vec::new();
        let followed = follower
            .poll(&mut |place, line| {
                assert_eq!(line.offset(), place.offset);
                let text = String::from_utf8_lossy(line.content()).into_owned();
                lines.push((place.line, place.offset, text));
            })
            .expect("a file or none");
        assert_eq!(followed.n_lines, lines.len() as u64);
        (lines, followed.is_restarted)
    }

    fn append(path: &Path, text: &str) {
        let mut file = OpenOptions::new().append(true).create(true).open(path).expect("a file");
        file.write_all(text.as_bytes()).expect("written");
    }

    #[test]
    fn complete_lines_once_each() {
        let path = std::env::temp_dir().join(format!("follower-{}", std::process::id()));
        _ = fs::remove_file(&path);
        let mut follower = Follower::new(&path);
        assert_eq!(look(&mut follower), (vec![], false), "not there yet");
        append(&path, "one\ntw");
        assert_eq!(look(&mut follower), (vec![(1, 0, "one".into())], false));
        assert_eq!(look(&mut follower), (vec![], false));
        append(&path, "o\n\n");
        let two = vec![(2, 4, "two".into()), (3, 8, String::new())];
        assert_eq!(look(&mut follower), (two, false));
        // Truncated and shorter.
        fs::write(&path, "new\n").expect("written");
        assert_eq!(look(&mut follower), (vec![(1, 0, "new".into())], true));
        // Truncated and longer: the old end of a line is inside a line now.
        fs::write(&path, "longer than it was\n").expect("written");
        let longer = vec![(1, 0, "longer than it was".into())];
        assert_eq!(look(&mut follower), (longer, true));
        // Replaced by a file with the same start.
        let other = path.with_extension("new");
        fs::write(&other, "longer than it was\nand on\n").expect("written");
        fs::rename(&other, &path).expect("renamed");
        let (lines, is_restarted) = look(&mut follower);
        assert_eq!((lines.len(), is_restarted), if cfg!(unix) { (2, true) } else { (1, false) });
        fs::remove_file(&path).expect("the file");
        assert_eq!(look(&mut follower), (vec![], true));
        assert_eq!(look(&mut follower), (vec![], false));
    }
}
