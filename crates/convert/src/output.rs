//! Where to write: a file appears whole or not at all, and nothing is overwritten unasked.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, BufWriter, Read, Seek, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use xxhash_rust::xxh3::Xxh3;

use crate::{
    compress::{Compression, Encoder},
    folder::Folder,
    interrupt::Interruptible,
    temporary::Temporary,
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

/// Where a file is to appear.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) folder: Arc<Folder>,
    pub(crate) name: OsString,
}

impl Place {
    /// Returns the place of a path of the user's own, and makes its folder if it is not there.
    ///
    /// # Errors
    ///
    /// If the path names no file, or its folder cannot be made or opened.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let folder = Folder::create(path.parent().unwrap_or(Path::new("")))?;
        Ok(Self { folder, name: file_name(path)?.to_owned() })
    }

    /// Returns the place of a path below a folder; no link on the way to it is followed.
    ///
    /// # Errors
    ///
    /// If the path leads out or through a link, or its folder cannot be made.
    pub(crate) fn below(root: &Arc<Folder>, path: &Path) -> io::Result<Self> {
        let name = file_name(path)?.to_owned();
        let folder = root.create_below(path.parent().unwrap_or(Path::new("")))?;
        Ok(Self { folder, name })
    }

    /// Returns the place beside it of a file whose name goes on with a dot and `ending`.
    pub(crate) fn beside(&self, ending: &str) -> Self {
        let mut name = self.name.clone();
        name.push(".");
        name.push(ending);
        Self { folder: self.folder.clone(), name }
    }

    /// Returns its path, for messages.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }
}

fn file_name(path: &Path) -> io::Result<&OsStr> {
    path.file_name().ok_or_else(|| io::Error::other("names no file"))
}

/// A file that is being written under a temporary name.
pub(crate) struct Pending {
    file: Encoder<BufWriter<Interruptible<Hashing<File>>>>,
    temporary: Temporary,
    place: Place,
}

impl Pending {
    /// Creates a file for a place, which grants at most what `mode` does to its owner.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub(crate) fn create(
        place: Place,
        mode: u32,
        compression: Option<Compression>,
    ) -> io::Result<Self> {
        let mode = mode & FILE_MODE;
        let (file, temporary) = Temporary::create(place.folder.clone(), &place.name, mode)?;
        let file = BufWriter::with_capacity(BUFFER, Interruptible(Hashing::new(file)));
        Ok(Self { file: Encoder::new(compression, file)?, temporary, place })
    }

    /// Hands all bytes to the system.
    ///
    /// # Errors
    ///
    /// The system's own.
    pub(crate) fn finish(self) -> io::Result<Finished> {
        let Self { file, temporary, place } = self;
        let file = file.finish()?.into_inner().map_err(|error| error.into_error())?;
        let Hashing { inner, hash, length } = file.0;
        Ok(Finished { file: inner, hash: hash.digest(), length, temporary, place })
    }
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A file that is written, but has not got its name yet.
#[derive(Debug)]
pub(crate) struct Finished {
    file: File,
    hash: u64,
    length: u64,
    temporary: Temporary,
    place: Place,
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

    /// Returns where it is to appear.
    pub(crate) fn place(&self) -> &Place {
        &self.place
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
        let Place { folder, name } = &self.place;
        let temporary = self.temporary.name();
        match replace {
            Replace::Never => match folder.rename_to_free(temporary, name) {
                // What an earlier run wrote and did not live to tell is as good as ours.
                Err(error)
                    if error.kind() == io::ErrorKind::AlreadyExists && self.is_there()? =>
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
        self.temporary.keep();
        Ok(true)
    }

    /// Returns whether the file that has its name is equal to it.
    fn is_there(&self) -> io::Result<bool> {
        let Ok(other) = self.place.folder.read(&self.place.name) else { return Ok(false) };
        Ok(other.metadata()?.len() == self.length && are_equal(self.reread()?, other)?)
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
        Ok(second) => folder.rename_over(second.name(), &backup),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// A sink that hashes and counts what passes it.
struct Hashing<W> {
    inner: W,
    hash: Xxh3,
    length: u64,
}

impl<W> Hashing<W> {
    fn new(inner: W) -> Self {
        Self { inner, hash: Xxh3::new(), length: 0 }
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.inner.write(bytes)?;
        self.hash.update(bytes.get(..n).unwrap_or(bytes));
        self.length += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
