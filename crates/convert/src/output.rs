//! Where to write: a file appears whole or not at all, and nothing is overwritten unasked.

pub(crate) mod hashing;
mod place;
pub(crate) mod temporary;

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, BufWriter, Read, Seek, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::fs::FileType;
use sha2::Digest;

pub(crate) use self::place::Place;
use crate::{
    compress::{Compression, Encoder},
    folder::{Folder, Identity},
    interrupt::Interruptible,
    output::{hashing::Hashing, temporary::Temporary},
    terminal::shown::shown,
};

/// What a file that we write grants at most: it is for its owner alone.
pub(crate) const FILE_MODE: u32 = 0o600;

/// The bytes that are handed to the system at a time; longer lines go without a copy.
const BUFFER: usize = 32 * 1024;

/// What becomes of an older file of the same name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Replace {
    /// It stays, and to write another is an error.
    Never,
    /// It is kept as `NAME.bak`.
    KeepOld,
    /// It goes: we wrote it, and nobody changed it since.
    Own,
}

/// A file that is being written under a temporary name.
pub(crate) struct Pending {
    file: Encoder<BufWriter<Interruptible<Hashing<File>>>>,
    home: Home,
}

/// Where a file is, and where it is to appear.
#[derive(Debug)]
enum Home {
    /// Under a temporary name, beside its own.
    Here(Temporary, Place),
    /// Nowhere: this is a rehearsal.
    Nowhere(PathBuf),
}

impl Pending {
    /// Creates a file for a place, which grants at most what `mode` does to its owner;
    /// `is_signed`, if its SHA-256 will be asked for.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub(crate) fn create(
        place: Place,
        mode: u32,
        compression: Option<Compression>,
        is_signed: bool,
    ) -> io::Result<Self> {
        let mode = mode & FILE_MODE;
        let (file, temporary) = Temporary::create(place.folder.clone(), &place.name, mode)?;
        let file = Hashing::signed(file, is_signed);
        Self::new(file, Home::Here(temporary, place), compression)
    }

    /// Creates a file that never appears, as if it were for a path.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub(crate) fn rehearse(path: &Path, compression: Option<Compression>) -> io::Result<Self> {
        Self::new(Hashing::new(tempfile::tempfile()?), Home::Nowhere(path.to_owned()), compression)
    }

    fn new(file: Hashing<File>, home: Home, compression: Option<Compression>) -> io::Result<Self> {
        let file = BufWriter::with_capacity(BUFFER, Interruptible(file));
        Ok(Self { file: Encoder::new(compression, file)?, home })
    }

    /// Hands all bytes to the system.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub(crate) fn finish(self) -> io::Result<Finished> {
        let Self { file, home } = self;
        let path = home.path();
        let file = file.finish().and_then(|file| file.into_inner().map_err(|it| it.into_error()));
        let Hashing { inner, hash, length, sha256 } =
            file.map_err(|error| unwritten(error, &path))?.0;
        let sha256 = sha256.map(|hash| hash.finalize().into());
        Ok(Finished { file: inner, hash: hash.digest(), length, sha256, home })
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
            Home::Nowhere(path) => path.clone(),
        }
    }
}

/// A file that is written, but has not got its name yet.
#[derive(Debug)]
pub(crate) struct Finished {
    file: File,
    hash: u64,
    length: u64,
    sha256: Option<[u8; 32]>,
    home: Home,
}

impl Finished {
    /// Returns how many bytes it has.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Returns the XXH3 of its bytes.
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    /// Returns the SHA-256 of its bytes, if it was asked for.
    pub(crate) fn sha256(&self) -> Option<[u8; 32]> {
        self.sha256
    }

    /// Returns where it is to appear; nowhere in a rehearsal.
    pub(crate) fn place(&self) -> Option<&Place> {
        match &self.home {
            Home::Here(_, place) => Some(place),
            Home::Nowhere(_) => None,
        }
    }

    /// Returns its path, for messages.
    pub(crate) fn path(&self) -> PathBuf {
        self.home.path()
    }

    /// Returns which file it is; nothing in a rehearsal.
    pub(crate) fn identity(&self) -> Option<Identity> {
        self.place().and_then(|_| Identity::of(&self.file).ok())
    }

    /// Returns it from its start, for reading.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub(crate) fn reread(&self) -> io::Result<File> {
        let mut file = self.file.try_clone()?;
        file.rewind()?;
        Ok(file)
    }

    /// Brings its bytes to the disk.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Gives it its name; returns whether that is new, and not that of an equal file.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if another file has it, and is to stay; the system's own.
    pub(crate) fn publish(self, replace: Replace) -> io::Result<bool> {
        let (temporary, Place { folder, name }) = match &self.home {
            Home::Here(temporary, place) => (temporary.name(), place),
            Home::Nowhere(path) if replace == Replace::Never => return self.rehearse(path),
            Home::Nowhere(_) => return Ok(true),
        };
        match replace {
            Replace::Never => match folder.rename_to_free(temporary, name) {
                // What an earlier run wrote and did not live to tell is as good as ours.
                Err(error)
                    if error.kind() == io::ErrorKind::AlreadyExists
                        && folder.read(name).is_ok_and(|other| self.is_equal(other)) =>
                {
                    return Ok(false);
                }
                result => result?,
            },
            Replace::KeepOld => {
                keep_old(folder, name)?;
                folder.rename_over(temporary, name)?;
            }
            Replace::Own => folder.rename_over(temporary, name)?,
        }
        if let Home::Here(temporary, _) = self.home {
            temporary.keep();
        }
        Ok(true)
    }

    fn rehearse(&self, path: &Path) -> io::Result<bool> {
        match path.symlink_metadata() {
            Ok(_) if File::open(path).is_ok_and(|other| self.is_equal(other)) => Ok(false),
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => Ok(true),
        }
    }

    fn is_equal(&self, other: File) -> bool {
        let is_long = other.metadata().is_ok_and(|metadata| metadata.len() == self.length);
        is_long && self.reread().and_then(|file| are_equal(file, other)).unwrap_or(false)
    }
}

fn are_equal(one: File, other: File) -> io::Result<bool> {
    let (mut one, mut other) = (io::BufReader::new(one), io::BufReader::new(other));
    let mut buffers = [[0; 8192]; 2];
    loop {
        let [ours, theirs] = &mut buffers;
        let n = one.read(ours)?;
        if n == 0 {
            return Ok(other.read(theirs)? == 0);
        }
        match other.read_exact(&mut theirs[..n]) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            result => result?,
        }
        if ours[..n] != theirs[..n] {
            return Ok(false);
        }
    }
}

/// Keeps a file as `NAME.bak`: neither that name nor its own is ever without a file.
fn keep_old(folder: &Arc<Folder>, name: &OsStr) -> io::Result<()> {
    let mut backup = name.to_owned();
    backup.push(".bak");
    match Temporary::second(folder.clone(), name) {
        Ok(_) if !is_file(folder, name)? => Err(io::Error::other("is no file to overwrite")),
        Ok(second) => folder.rename_over(second.name(), &backup),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns whether a name is of a regular file, or of a link, which is replaced and not followed.
fn is_file(folder: &Folder, name: &OsStr) -> io::Result<bool> {
    Ok(matches!(folder.kind(name)?, FileType::RegularFile | FileType::Symlink))
}

/// A file that could not be written, and why.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", shown(&path.to_string_lossy()))]
pub(crate) struct Unwritten {
    path: PathBuf,
    error: io::Error,
}

/// Returns an error of writing a file, which names it.
pub(crate) fn unwritten(error: io::Error, path: &Path) -> io::Error {
    if error.get_ref().is_some_and(|cause| cause.is::<Unwritten>()) {
        return error;
    }
    io::Error::new(error.kind(), Unwritten { path: path.to_owned(), error })
}

/// Returns whether an error says that a file system has no space for anything more.
pub(crate) fn is_no_space(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
