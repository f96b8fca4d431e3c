//! Backends: the disk, an object store, or a store that yields documents.
//!
//! In: a path or an URL. Out: a [`Stat`] or the bytes.

#[cfg(feature = "cloud")]
pub(crate) mod cloud;
pub(crate) mod documents;

use std::{
    collections::HashMap,
    fs::{self, File},
    io::{self, Read, Seek},
    path::{Path, PathBuf},
    sync::Arc,
};

use core_model::{Disk, Files, FolderEntry, Format, Formats, Layout, LayoutFile, folder_of};

use self::documents::Documents;
use crate::{folder::list::list, system};

#[cfg(feature = "cloud")]
use self::cloud::{Bucket, Reader};

/// The starts of URLs of objects.
const SCHEMES: [&str; 10] =
    ["s3", "s3a", "gs", "az", "azure", "adl", "abfs", "abfss", "http", "https"];

/// The place of files.
#[derive(Clone, Debug)]
pub enum Backend {
    /// A disk of this machine.
    Disk,
    /// An object store. Paths are URLs.
    #[cfg(feature = "cloud")]
    Bucket(Arc<Bucket>),
    /// A store of a client that yields documents. Paths are below it.
    Documents(Arc<Documents>),
}

/// The metadata that show whether a file has changed.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Stat {
    /// In bytes.
    pub length: u64,
    /// The time of the last change of content, in nanoseconds since 1970.
    pub modified: i128,
    /// The time of the last change of content or name (`ctime`), in nanoseconds since 1970.
    /// Programs cannot set it.
    pub changed: Option<i128>,
    /// The inode number.
    pub inode: Option<u64>,
    /// The etag of an object.
    pub etag: Option<String>,
}

/// The error for an input that changed since it was listed or opened, so that it cannot be read on.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("changed while it was read")]
pub struct Changed;

impl Backend {
    /// Returns the metadata of a file.
    ///
    /// # Errors
    ///
    /// Returns `NotFound` if there is no such file, and an error if the disk or the store fails.
    pub fn stat(&self, path: &Path) -> io::Result<Stat> {
        match self {
            Backend::Disk => Ok(Stat::of(&fs::metadata(path)?)),
            #[cfg(feature = "cloud")]
            Backend::Bucket(bucket) => bucket.stat(path),
            Backend::Documents(documents) => documents.stat(path),
        }
    }

    /// Returns the metadata of a file as [`Backend::stat`] does, but fails if the path is not a
    /// regular file, such as a pipe.
    ///
    /// # Errors
    ///
    /// Returns `NotFound` if there is no such file, and an error if the disk or the store fails.
    pub fn stat_file(&self, path: &Path) -> io::Result<Stat> {
        match self {
            Backend::Disk => {
                let metadata = fs::metadata(path)?;
                let is_file = metadata.is_file();
                is_file.then(|| Stat::of(&metadata)).ok_or(io::ErrorKind::NotFound.into())
            }
            #[cfg(feature = "cloud")]
            Backend::Bucket(bucket) => bucket.stat(path),
            Backend::Documents(documents) => documents.stat(path),
        }
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    ///
    /// Returns `NotFound` if there is no such file, and an error if the disk or the store fails.
    pub fn reader(&self, path: &Path) -> io::Result<Box<dyn Bytes>> {
        match self {
            Backend::Disk => Ok(Box::new(File::open(path)?)),
            #[cfg(feature = "cloud")]
            Backend::Bucket(bucket) => Ok(Box::new(bucket.open(path)?)),
            Backend::Documents(documents) => Ok(Box::new(documents.document(path)?)),
        }
    }

    /// Returns whether a path exists, even as a broken link.
    pub fn is_taken(&self, path: &Path) -> bool {
        match self {
            Backend::Disk => path.symlink_metadata().is_ok(),
            #[cfg(feature = "cloud")]
            Backend::Bucket(bucket) => bucket.stat(path).is_ok(),
            Backend::Documents(documents) => documents.session(path).is_ok(),
        }
    }

    /// Returns the first format whose layout has files that belong to a session's main file, and these
    /// files, sorted by name; `None` if the main file is alone. Each folder is listed once. `beside` has the entries of
    /// the main file's folder that may belong to it, on a disk; without it, that folder is listed too.
    ///
    /// # Errors
    ///
    /// Returns an error if a folder or the store cannot be listed.
    pub fn belonging(
        &self,
        formats: Formats,
        main: &Path,
        beside: Option<Arc<Vec<FolderEntry>>>,
    ) -> io::Result<Option<Belonging>> {
        let layouts = formats.iter().filter_map(|format| Some((*format, format.layout?)));
        let mut find: Box<dyn FnMut(Layout) -> io::Result<Vec<LayoutFile>>> = match self {
            Backend::Disk => {
                let mut listed = HashMap::new();
                listed.extend(beside.map(|entries| (folder_of(main).to_owned(), entries)));
                Box::new(move |layout| {
                    layout.files_listed(main, &mut |folder| {
                        if let Some(entries) = listed.get(folder) {
                            return Ok(Arc::clone(entries));
                        }
                        let entries = match list(folder) {
                            Err(error) if is_missing(&error) => Vec::new(),
                            entries => entries?,
                        };
                        let entries = Arc::new(entries);
                        listed.insert(folder.to_owned(), Arc::clone(&entries));
                        Ok(entries)
                    })
                })
            }
            #[cfg(feature = "cloud")]
            Backend::Bucket(bucket) => {
                let mut files = bucket.beside(main)?;
                files.retain(|path| path != main);
                Box::new(move |layout| {
                    let owned = |path: &PathBuf| {
                        let owner =
                            (layout.owner)(path, self).filter(|owner| owner.main == main)?;
                        Some(LayoutFile { path: path.clone(), role: owner.role })
                    };
                    Ok(files.iter().filter_map(owned).collect())
                })
            }
            // A document is a session.
            Backend::Documents(_) => return Ok(None),
        };
        for (format, layout) in layouts {
            let files = find(layout)?;
            if !files.is_empty() {
                return Ok(Some(Belonging { format, files }));
            }
        }
        Ok(None)
    }

    /// Returns whether the files are on the disk.
    pub fn is_disk(&self) -> bool {
        matches!(self, Backend::Disk)
    }

    /// Returns whether the metadata of a file show each change of it. In a store of documents, the time of a
    /// session is the time of its last prompt, and the answer comes later.
    pub fn has_change_times(&self) -> bool {
        !matches!(self, Backend::Documents(_))
    }
}

/// Returns whether an error says that there is no folder of this name.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The files that belong to a session's main file.
#[derive(Debug)]
pub struct Belonging {
    /// The format whose client has this layout.
    pub format: &'static Format,
    /// The files, sorted by name.
    pub files: Vec<LayoutFile>,
}

impl Eq for Backend {}

impl PartialEq for Backend {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Backend::Disk, Backend::Disk) => true,
            #[cfg(feature = "cloud")]
            (Backend::Bucket(one), Backend::Bucket(other)) => Arc::ptr_eq(one, other),
            (Backend::Documents(one), Backend::Documents(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl Files for Backend {
    fn size(&self, path: &Path) -> io::Result<u64> {
        match self {
            Backend::Disk => Disk.size(path),
            #[cfg(feature = "cloud")]
            Backend::Bucket(bucket) => Ok(bucket.stat(path)?.length),
            Backend::Documents(documents) => Ok(documents.stat(path)?.length),
        }
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        Ok(self.reader(path)?)
    }
}

impl Stat {
    /// Converts the system's metadata.
    pub fn of(metadata: &fs::Metadata) -> Self {
        let times = system::stat(metadata);
        Self {
            length: metadata.len(),
            modified: times.modified,
            changed: times.changed,
            inode: times.inode,
            etag: None,
        }
    }
}

/// The bytes of an open file, on the disk or in an object store.
pub trait Bytes: Read + Seek + Send {
    /// Returns whether the file is still as `stat` describes it.
    ///
    /// # Errors
    ///
    /// Returns an error if the file's metadata cannot be read.
    fn is_unchanged(&self, stat: &Stat) -> io::Result<bool>;

    /// Returns whether the file may change while it is read, so that its bytes must be compared.
    fn may_change(&self) -> bool;
}

impl Bytes for File {
    fn is_unchanged(&self, stat: &Stat) -> io::Result<bool> {
        Ok(Stat::of(&self.metadata()?) == *stat)
    }

    fn may_change(&self) -> bool {
        true
    }
}

#[cfg(feature = "cloud")]
impl Bytes for Reader {
    fn is_unchanged(&self, _stat: &Stat) -> io::Result<bool> {
        Ok(!self.is_changed())
    }

    /// Every block of an object is read of one version, or not at all.
    fn may_change(&self) -> bool {
        false
    }
}

/// Returns whether a path is an URL of an object store. A file with such a name is `./s3://..`.
pub fn is_url(path: &Path) -> bool {
    let scheme = path.to_str().and_then(|path| path.split_once("://")).map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        SCHEMES.contains(&scheme) || cfg!(feature = "memory") && scheme == "memory"
    })
}

/// Returns whether a path is a folder: an existing one, or a path that ends with a separator.
pub fn is_folder(path: &Path) -> bool {
    let ends_as_one = path.as_os_str().as_encoded_bytes().ends_with(b"/");
    ends_as_one || !is_url(path) && path.is_dir()
}

/// Returns whether a path is a device or a pipe.
pub fn is_stream(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// Returns an URL for messages, without its query (signatures) and its user (passwords).
pub fn without_query(url: &Path) -> PathBuf {
    let url = url.to_string_lossy();
    let (scheme, rest) = url.split_once("://").unwrap_or(("", &url));
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (host, name) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit('@').next().unwrap_or_default();
    PathBuf::from(format!("{scheme}://{host}{name}"))
}

/// Returns the error for an URL in a program without the feature `cloud`.
#[cfg(not(feature = "cloud"))]
pub fn without_cloud() -> io::Error {
    let how = "cargo install --path crates/convert --features cloud";
    io::Error::other(format!("this program was built without object stores: {how}"))
}

/// Returns whether an error means that an input changed while it was read.
pub fn is_changed(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|cause| cause.is::<Changed>())
}
