//! Where to write: a file appears whole or not at all, and nothing is overwritten unasked.

mod backup;
mod finished;
pub(crate) mod hashing;
mod place;
mod stored;

#[cfg(feature = "cloud")]
use std::sync::Arc;
use std::{
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use sha2::Digest;

use self::stored::Stored;
use crate::{
    backend::Backend,
    compress::{Compression, Encoder},
    folder::FILE_MODE,
    interruption::{Interruptible, Interruption},
    names::one_line,
    output::hashing::{Asked, Hashing},
    scratch::Scratch,
    temporary::{Temporary, sweep_once},
};

pub use self::{
    finished::{Finished, Named, Published, are_equal},
    place::Place,
};
#[cfg(feature = "cloud")]
use crate::backend::cloud::Bucket;

/// The bytes that are handed to the system at a time; longer lines go without a copy.
const BUFFER: usize = 32 * 1024;

/// What becomes of an older file of the same name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Replace {
    /// It stays, and to write another is an error.
    Never,
    /// It is kept as `NAME.bak`.
    KeepOld,
    /// It is kept as `NAME.bak`, or as `NAME.bak2` and so on if that is taken: its source has shrunk,
    /// and it alone says what the source said.
    KeepEach,
    /// It goes: we wrote it, and nobody changed it since.
    Own,
}

/// How a file is written; by default as it is, with nothing asked of its bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct PendingOptions {
    /// How it is compressed.
    pub compression: Option<Compression>,
    /// What will be asked of its bytes.
    pub asked: Asked,
    /// What makes each write fail.
    pub interruption: Interruption,
}

/// A file that is being written under a temporary name.
pub struct Pending {
    file: Encoder<BufWriter<Interruptible<Hashing<Stored>>>>,
    home: Home,
}

/// Where a file is, and where it is to appear.
#[derive(Debug)]
enum Home {
    /// Under a temporary name, beside its own.
    Here(Temporary, Place),
    /// In no folder: its bytes go to a store as its name is given.
    #[cfg(feature = "cloud")]
    Away(Arc<Bucket>, PathBuf),
    /// Nowhere: this is a rehearsal of what it would become there.
    Nowhere(Backend, PathBuf),
}

impl Pending {
    /// Creates a file for a place, which grants at most what `mode` does to its owner.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub fn create(place: Place, mode: u32, options: PendingOptions) -> io::Result<Self> {
        let mode = mode & FILE_MODE;
        sweep_once(&place.folder);
        let (file, temporary) = Temporary::create(place.folder.clone(), &place.name, mode)?;
        let file = Hashing::of(Stored::Open(file), options.asked);
        Self::new(file, Home::Here(temporary, place), options)
    }

    /// Creates a file as [`Pending::create`] does, which is open only while bytes go to the system:
    /// one of any number that are written at a time. It is not compressed.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub fn create_shut(place: Place, mode: u32, options: PendingOptions) -> io::Result<Self> {
        let mode = mode & FILE_MODE;
        sweep_once(&place.folder);
        let (_, temporary) = Temporary::create(place.folder.clone(), &place.name, mode)?;
        let file = Stored::Shut(place.folder.clone(), temporary.name().to_owned());
        let options = PendingOptions { compression: None, ..options };
        Self::new(Hashing::of(file, options.asked), Home::Here(temporary, place), options)
    }

    /// Creates what becomes an object.
    ///
    /// # Errors
    ///
    /// The system's own.
    #[cfg(feature = "cloud")]
    pub fn of_object(
        bucket: &Arc<Bucket>,
        path: &Path,
        options: PendingOptions,
    ) -> io::Result<Self> {
        let home = Home::Away(bucket.clone(), path.to_owned());
        let file = Hashing::of(Stored::Open(tempfile::tempfile()?), options.asked);
        Self::new(file, home, options)
    }

    /// Creates a file that never appears, as if it were for a path.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub fn rehearse(storage: &Backend, path: &Path, options: PendingOptions) -> io::Result<Self> {
        let home = Home::Nowhere(storage.clone(), path.to_owned());
        Self::new(Hashing::new(Stored::Open(tempfile::tempfile()?)), home, options)
    }

    /// Creates a file as [`Pending::rehearse`] does, in a folder of ours, which is open only while
    /// bytes go to the system.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub fn rehearse_shut(
        storage: &Backend,
        path: &Path,
        scratch: &Scratch,
        options: PendingOptions,
    ) -> io::Result<Self> {
        let file = tempfile::NamedTempFile::new_in(scratch.path())?;
        let file = Stored::Scratch(file.into_temp_path());
        let options = PendingOptions { compression: None, ..options };
        Self::new(Hashing::new(file), Home::Nowhere(storage.clone(), path.to_owned()), options)
    }

    fn new(file: Hashing<Stored>, home: Home, options: PendingOptions) -> io::Result<Self> {
        let file = Interruptible::new(file, options.interruption);
        let file = BufWriter::with_capacity(BUFFER, file);
        Ok(Self { file: Encoder::new(options.compression, file)?, home })
    }

    /// Hands all bytes to the system.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub fn finish(self) -> io::Result<Finished> {
        let Self { file, home } = self;
        let path = home.path();
        let file = file.finish().and_then(|file| file.into_inner().map_err(|it| it.into_error()));
        let file = file.map_err(|error| unwritten(error, &path))?.into_inner();
        let (hash, length) = (file.digest(), file.length);
        let sha256 = file.sha256.map(|hash| hash.finalize().into());
        Ok(Finished { file: file.inner, hash, length, sha256, home })
    }
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|error| unwritten(error, &self.home.path()))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|error| unwritten(error, &self.home.path()))
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

/// A file that could not be written, and why.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", one_line(path))]
pub struct Unwritten {
    path: PathBuf,
    /// Why it could not be written.
    pub error: io::Error,
}

/// Returns an error of writing a file, which names it.
pub fn unwritten(error: io::Error, path: &Path) -> io::Error {
    if error.get_ref().is_some_and(|cause| cause.is::<Unwritten>()) {
        return error;
    }
    io::Error::new(error.kind(), Unwritten { path: path.to_owned(), error })
}

/// Returns whether an error of this kind says that a file system has no space for anything more.
pub fn is_no_space(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
