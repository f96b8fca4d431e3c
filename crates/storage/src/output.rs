//! Writes files that appear whole or not at all, and replaces other files only if asked.
//!
//! In: bytes for `out/a.jsonl`. The bytes go to `out/.a.jsonl.tmp-PID-BOOT-RANDOM`;
//! `Finished::publish` renames the file. Out: `out/a.jsonl`, and a [`Published`] that can remove it
//! again. If the process dies before the rename, a later run removes the temporary file.

mod backup;
mod buffered;
mod finished;
pub(crate) mod hashing;
mod place;
mod stored;

#[cfg(feature = "cloud")]
use std::sync::Arc;
use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use core_model::system_words;
use sha2::Digest;

pub use self::buffered::Buffered;
use self::stored::Stored;
use crate::{
    backend::{Backend, Changed},
    compress::{Compression, Encoder},
    folder::FILE_MODE,
    interruption::{Interruptible, Interruption},
    names::one_line,
    output::hashing::{Asked, Hashing},
    scratch::Scratch,
    temporary::{Temporary, sweep_once},
};

pub use self::{
    backup::{newer_version, rename_to_backup},
    finished::{Finished, Named, Published, are_equal},
    place::Place,
};
#[cfg(feature = "cloud")]
use crate::backend::cloud::Bucket;

/// What to do with an existing file of the same name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Replace {
    /// Keep it, and return an error, unless it has the same bytes as the new file.
    Never,
    /// Rename it to `NAME.bak`, or `NAME.bak2` and so on if that name is taken, unless it has the same bytes as the new
    /// file.
    KeepOld,
    /// As `KeepOld`, for outputs whose source has shrunk: only the older file has the lost records.
    KeepEach,
    /// Replace it: this program wrote it, and it is unchanged.
    Own,
}

/// Options of writing a file. By default it is neither compressed nor hashed.
#[derive(Clone, Copy, Debug, Default)]
pub struct AtomicFileOptions {
    /// The compression.
    pub compression: Option<Compression>,
    /// The hashes to compute.
    pub asked: Asked,
    /// The interruption that makes writes fail.
    pub interruption: Interruption,
}

/// Limit on the files written at a time whose bytes are hashed while they are written. A hash that is not finished takes
/// half a kilobyte; of more files, each is read again when it is finished.
const MAX_HASHED: usize = 1024;

/// A file that is being written under a temporary name. If it is dropped, that file is removed.
pub struct AtomicFile {
    file: Encoder<Buffered<Interruptible<Hashing<Stored>>>>,
    home: Home,
    /// The hashes of the bytes to compute when the file is finished.
    asked_at_end: Asked,
}

/// The position of an unpublished file, and its final position.
#[derive(Debug)]
enum Home {
    /// Under a temporary name in the folder of its final name.
    Here(Temporary, Place),
    /// In a temporary file without a folder. Its bytes go to the store when it is published.
    #[cfg(feature = "cloud")]
    Away(Arc<Bucket>, PathBuf),
    /// Never published: a dry run.
    Nowhere(Backend, PathBuf),
}

impl AtomicFile {
    /// Creates a file for a place. Its permissions are at most the owner's bits of `mode`.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn create(place: Place, mode: u32, options: AtomicFileOptions) -> io::Result<Self> {
        let mode = mode & FILE_MODE;
        sweep_once(&place.folder);
        let (file, temporary) = Temporary::create(place.folder.clone(), &place.name, mode)?;
        let file = Hashing::of(Stored::Open(file), options.asked);
        Self::new(file, Home::Here(temporary, place), options)
    }

    /// Creates a file as [`AtomicFile::create`] does that is opened only to write its buffer. Any
    /// number of such files can be pending; with `n_files`, their buffers are small. It is not compressed.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn create_shut(
        place: Place,
        mode: u32,
        n_files: usize,
        options: AtomicFileOptions,
    ) -> io::Result<Self> {
        let mode = mode & FILE_MODE;
        sweep_once(&place.folder);
        let (_, temporary) = Temporary::create(place.folder.clone(), &place.name, mode)?;
        let file = Stored::Shut(place.folder.clone(), temporary.name().to_owned());
        Self::shut(n_files, file, Home::Here(temporary, place), options)
    }

    /// Creates a file that becomes an object.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    #[cfg(feature = "cloud")]
    pub fn of_object(
        bucket: &Arc<Bucket>,
        path: &Path,
        options: AtomicFileOptions,
    ) -> io::Result<Self> {
        let home = Home::Away(bucket.clone(), path.to_owned());
        let file = Hashing::of(Stored::Open(tempfile::tempfile()?), options.asked);
        Self::new(file, home, options)
    }

    /// Creates a file for a dry run, which is never published.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn create_for_dry_run(
        storage: &Backend,
        path: &Path,
        options: AtomicFileOptions,
    ) -> io::Result<Self> {
        let home = Home::Nowhere(storage.clone(), path.to_owned());
        Self::new(Hashing::new(Stored::Open(tempfile::tempfile()?)), home, options)
    }

    /// Creates a file for a dry run, in a scratch folder, that is opened only to write its buffer.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn create_shut_for_dry_run(
        storage: &Backend,
        path: &Path,
        scratch: &Scratch,
        n_files: usize,
        options: AtomicFileOptions,
    ) -> io::Result<Self> {
        let file = tempfile::NamedTempFile::new_in(scratch.path())?;
        let file = Stored::Scratch(file.into_temp_path());
        let home = Home::Nowhere(storage.clone(), path.to_owned());
        let options = AtomicFileOptions { asked: Asked::Xxh3, ..options };
        Self::shut(n_files, file, home, options)
    }

    /// Creates one of `n_files` files that are not held open.
    fn shut(
        n_files: usize,
        file: Stored,
        home: Home,
        options: AtomicFileOptions,
    ) -> io::Result<Self> {
        let options = AtomicFileOptions { compression: None, ..options };
        let (asked, asked_at_end) = match n_files > MAX_HASHED {
            true => (Asked::Nothing, options.asked),
            false => (options.asked, Asked::Nothing),
        };
        let file = Self::buffered(n_files, Hashing::of(file, asked), home, options)?;
        Ok(Self { asked_at_end, ..file })
    }

    fn new(file: Hashing<Stored>, home: Home, options: AtomicFileOptions) -> io::Result<Self> {
        Self::buffered(1, file, home, options)
    }

    fn buffered(
        n_files: usize,
        file: Hashing<Stored>,
        home: Home,
        options: AtomicFileOptions,
    ) -> io::Result<Self> {
        let file = Interruptible::new(file, options.interruption);
        let file = Buffered::of_files(n_files, file);
        let file = Encoder::new(options.compression, file)?;
        Ok(Self { file, home, asked_at_end: Asked::Nothing })
    }

    /// Flushes all bytes to the system.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn finish(self) -> io::Result<Finished> {
        let Self { file, home, asked_at_end } = self;
        let path = home.path();
        let file = file.finish().and_then(Buffered::into_inner);
        let Hashed { file, hash, length, sha256 } = file
            .and_then(|file| Hashed::of(file.into_inner(), asked_at_end))
            .map_err(|error| unwritten(error, &path))?;
        Ok(Finished {
            file,
            hash,
            length,
            sha256,
            home,
            #[cfg(feature = "cloud")]
            origin: None,
        })
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|error| unwritten(error, &self.home.path()))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|error| unwritten(error, &self.home.path()))
    }
}

/// The bytes of a file, and their hashes.
struct Hashed {
    file: Stored,
    hash: u64,
    length: u64,
    sha256: Option<[u8; 32]>,
}

impl Hashed {
    /// Finishes the hashes of a written file. If hashes are asked for at the end, the file is read again.
    fn of(written: Hashing<Stored>, asked_at_end: Asked) -> io::Result<Self> {
        if asked_at_end == Asked::Nothing {
            let (hash, length) = (written.digest(), written.length);
            let sha256 = written.sha256.map(|hash| hash.finalize().into());
            return Ok(Self { file: written.inner, hash, length, sha256 });
        }
        let Hashing { inner: file, length, .. } = written;
        let mut read = Hashing::of(io::sink(), asked_at_end);
        io::copy(&mut file.reread()?, &mut read)?;
        if read.length != length {
            return Err(io::Error::other(Changed));
        }
        let (hash, sha256) = (read.digest(), read.sha256.map(|hash| hash.finalize().into()));
        Ok(Self { file, hash, length, sha256 })
    }
}

impl Home {
    fn path(&self) -> PathBuf {
        match self {
            Home::Here(_, place) => place.path(),
            #[cfg(feature = "cloud")]
            Home::Away(_, path) => path.clone(),
            Home::Nowhere(_, path) => path.clone(),
        }
    }
}

/// The error for a file that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {}", one_line(path), system_words(error))]
pub struct Unwritten {
    path: PathBuf,
    /// The error of the write.
    pub error: io::Error,
}

/// Adds the path of the file to an error of writing it.
pub fn unwritten(error: io::Error, path: &Path) -> io::Error {
    if error.get_ref().is_some_and(|cause| cause.is::<Unwritten>()) {
        return error;
    }
    io::Error::new(error.kind(), Unwritten { path: path.to_owned(), error })
}

/// Returns whether an error of this kind means that the file system or the quota is full.
pub fn is_no_space(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of thousands of files is hashed when it is finished. Its hashes are the same, and it takes little memory until
    /// then.
    #[test]
    fn one_of_many_files_has_the_hashes_of_a_single_one() {
        let folder = tempfile::tempdir().expect("a folder");
        for asked in [Asked::Nothing, Asked::Xxh3, Asked::Sha256] {
            let [one, many] = [1, MAX_HASHED + 1].map(|n_files| {
                let place = Place::of(&folder.path().join("a.txt")).expect("a place");
                let options = AtomicFileOptions { asked, ..AtomicFileOptions::default() };
                let mut file =
                    AtomicFile::create_shut(place, FILE_MODE, n_files, options).expect("created");
                file.write_all(b"one ").expect("written");
                file.flush().expect("flushed");
                file.write_all(b"two").expect("written");
                let finished = file.finish().expect("finished");
                (finished.hash(), finished.length(), finished.sha256())
            });
            assert_eq!(one, many, "{asked:?}");
            assert_eq!(one.0 == 0, asked == Asked::Nothing);
        }
        assert!(size_of::<AtomicFile>() <= 320, "{} bytes", size_of::<AtomicFile>());
    }
}
