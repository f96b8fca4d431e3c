//! A bucket and a cache of its objects' metadata.
//!
//! In: `s3://bucket/a.jsonl`. Out: its [`Stat`], from the last listing or request, or a reader of
//! that version of the object.

use std::{
    collections::HashMap,
    fmt, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, UNIX_EPOCH},
};

use futures_util::TryStreamExt;
use object_store::{
    Error, GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt, path::Path as Key,
};

use super::{
    failure::failure,
    ranged::Reader,
    runtime::{Begun, Runtime},
};
use crate::{
    backend::{Stat, is_changed, is_folder},
    interruption::Interruption,
};

/// Limit on attempts to open an object that changes at each attempt.
const MAX_ATTEMPTS: usize = 3;

/// Older temporary objects belong to no run, whatever their names say.
const MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// A bucket, or one object of the web.
pub struct Bucket {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) runtime: Runtime,
    /// The prefix of its objects' paths.
    root: String,
    /// Whether it is one object of the web, which is read in one piece.
    is_web: bool,
    seen: Mutex<Seen>,
}

/// The metadata cache.
#[derive(Default)]
struct Seen {
    objects: HashMap<Key, Look>,
    /// Listed prefixes: an object below one that is not in the cache does not exist.
    listed: Vec<Key>,
}

/// The cached metadata of an object.
enum Look {
    There(Stat),
    Missing,
    /// The object has changed since.
    Stale,
}

impl fmt::Debug for Bucket {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Bucket of {}", self.root)
    }
}

impl Bucket {
    pub(super) fn new(
        store: Arc<dyn ObjectStore>,
        root: String,
        is_web: bool,
        interruption: Interruption,
    ) -> io::Result<Self> {
        let runtime = Runtime::start(interruption)?;
        Ok(Self { store, runtime, root, is_web, seen: Mutex::default() })
    }

    /// Returns whether the bucket is one object of the web.
    pub fn is_web(&self) -> bool {
        self.is_web
    }

    /// Returns whether a path names an object, and not a prefix.
    pub fn is_object(&self, path: &Path) -> bool {
        self.is_web || !is_folder(path) && self.stat(path).is_ok()
    }

    /// Returns whether an object is so old that no run can still need it as a temporary object.
    pub fn is_old(&self, path: &Path) -> bool {
        let modified = self.stat(path).ok().and_then(|stat| u64::try_from(stat.modified).ok());
        let age = modified.map(|it| (UNIX_EPOCH + Duration::from_nanos(it)).elapsed());
        age.is_some_and(|age| age.is_ok_and(|age| age > MAX_AGE))
    }

    /// Returns the metadata of an object, from the cache or the store.
    ///
    /// # Errors
    ///
    /// Returns `NotFound` if there is no such object, and an error if the store cannot be asked.
    pub fn stat(&self, path: &Path) -> io::Result<Stat> {
        let key = self.key(path)?;
        if let Some(stat) = self.seen().look(&key) {
            return stat.ok_or_else(|| failure(&missing(&key)));
        }
        self.ask(&key)
    }

    /// Requests the metadata of an object from the store.
    fn ask(&self, key: &Key) -> io::Result<Stat> {
        let (store, asked) = (self.store.clone(), key.clone());
        let found = self.runtime.wait(async move { store.head(&asked).await })?;
        let look = match found {
            Ok(meta) => Look::There(stat_of(&meta)),
            Err(Error::NotFound { .. }) => Look::Missing,
            Err(error) => return Err(failure(&error)),
        };
        let mut seen = self.seen();
        seen.objects.insert(key.clone(), look);
        seen.look(key).flatten().ok_or_else(|| failure(&missing(key)))
    }

    /// Opens the version of an object that is in the cache, or, if the object has changed, the new
    /// version.
    ///
    /// # Errors
    ///
    /// Returns `NotFound` if there is no such object, and an error if the store cannot be read.
    pub fn open(self: &Arc<Self>, path: &Path) -> io::Result<Reader> {
        let key = self.key(path)?;
        if self.is_web {
            return Reader::of_web(self, key);
        }
        let mut opened = Reader::new(self, key.clone(), self.stat(path)?);
        for _ in 1..MAX_ATTEMPTS {
            match opened {
                Err(error) if is_changed(&error) => {
                    opened = Reader::new(self, key.clone(), self.ask(&key)?);
                }
                opened => return opened,
            }
        }
        opened
    }

    /// Returns the sorted paths of the objects below a prefix.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be listed.
    pub fn list(&self, prefix: &Path) -> io::Result<Vec<PathBuf>> {
        let key = self.key(prefix)?;
        let (store, asked) = (self.store.clone(), key.clone());
        let whole = Some(asked).filter(|key| !key.as_ref().is_empty());
        let listing = async move { store.list(whole.as_ref()).try_collect::<Vec<_>>().await };
        let found = self.runtime.wait(listing)?.map_err(|error| failure(&error))?;
        let paths = self.note_all(&found);
        self.seen().listed.push(key);
        Ok(paths)
    }

    /// Returns the paths of objects that may belong to a session: objects in the folder of `main`,
    /// and objects below its name without the ending.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be listed.
    pub fn beside(&self, main: &Path) -> io::Result<Vec<PathBuf>> {
        if self.is_web {
            return Ok(Vec::new());
        }
        let folder = self.key(main.parent().unwrap_or(main))?;
        let store = self.store.clone();
        let whole = Some(folder).filter(|key| !key.as_ref().is_empty());
        let listing = async move { store.list_with_delimiter(whole.as_ref()).await };
        let found = self.runtime.wait(listing)?.map_err(|error| failure(&error))?;
        let below = main.with_extension("");
        let key = self.key(&below)?;
        let mut paths = self.note_all(&found.objects);
        if found.common_prefixes.contains(&key) {
            paths.extend(self.list(&below)?);
        }
        paths.sort();
        Ok(paths)
    }

    /// Caches the metadata of objects, and returns their sorted paths.
    fn note_all(&self, found: &[ObjectMeta]) -> Vec<PathBuf> {
        let mut seen = self.seen();
        let path = |meta: &ObjectMeta| {
            let look = Look::There(stat_of(meta));
            seen.objects.insert(meta.location.clone(), look);
            PathBuf::from(format!("{}/{}", self.root, meta.location))
        };
        let mut paths: Vec<PathBuf> = found.iter().map(path).collect();
        paths.sort();
        paths
    }

    /// Caches the metadata of an object.
    pub(super) fn note(&self, key: &Key, stat: Stat) {
        self.seen().objects.insert(key.clone(), Look::There(stat));
    }

    /// Marks the cached metadata of an object as stale.
    pub(super) fn forget(&self, key: &Key) {
        self.seen().objects.insert(key.clone(), Look::Stale);
    }

    /// Clears the metadata cache; the next lookup asks the store.
    pub(super) fn forget_all(&self) {
        *self.seen() = Seen::default();
    }

    /// Starts reading a range of an object, which must still have the same etag.
    pub(super) fn begin(
        &self,
        key: &Key,
        etag: Option<String>,
        range: std::ops::Range<u64>,
    ) -> Begun<object_store::Result<Vec<u8>>> {
        let (store, key) = (self.store.clone(), key.clone());
        self.runtime.begin(async move {
            let range = Some(GetRange::Bounded(range));
            let options = GetOptions { range, if_match: etag.clone(), ..GetOptions::default() };
            let result = store.get_opts(&key, options).await?;
            // Some stores ignore the condition.
            if etag.is_some() && bare(etag.as_deref()) != bare(result.meta.e_tag.as_deref()) {
                let (path, source) = (key.to_string(), "another version".into());
                return Err(Error::Precondition { path, source });
            }
            Ok(Vec::from(result.bytes().await?))
        })
    }

    /// Returns the key of an object.
    ///
    /// # Errors
    ///
    /// Returns an error if the path is not in this bucket.
    pub(super) fn key(&self, path: &Path) -> io::Result<Key> {
        if self.is_web {
            let is_it = path == Path::new(&self.root);
            // A file beside an object of the web has another URL, and so another bucket.
            return if is_it { Ok(Key::default()) } else { Err(io::ErrorKind::NotFound.into()) };
        }
        let below = path.to_str().and_then(|path| path.strip_prefix(&self.root));
        let below = below.ok_or_else(|| io::Error::other("no valid name for an object"))?;
        let parts: Vec<&str> = below.split('/').filter(|it| !it.is_empty() && *it != ".").collect();
        Key::parse(parts.join("/")).map_err(|_| io::Error::other("no valid name for an object"))
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    /// Returns the cached metadata: `Some(None)` for an object known to be missing, `None` if the
    /// store must be asked.
    fn look(&self, key: &Key) -> Option<Option<Stat>> {
        match self.objects.get(key) {
            Some(Look::There(stat)) => Some(Some(stat.clone())),
            Some(Look::Missing) => Some(None),
            Some(Look::Stale) => None,
            None => self.listed.iter().any(|prefix| key.prefix_matches(prefix)).then_some(None),
        }
    }
}

/// Returns an etag without quotes, which some stores add in some answers.
pub(super) fn bare(etag: Option<&str>) -> Option<&str> {
    etag.map(|etag| etag.trim_matches('"'))
}

pub(super) fn stat_of(meta: &ObjectMeta) -> Stat {
    let modified = meta.last_modified.timestamp_nanos_opt().map_or(0, i128::from);
    Stat { length: meta.size, modified, changed: None, inode: None, etag: meta.e_tag.clone() }
}

fn missing(key: &Key) -> Error {
    Error::NotFound { path: key.to_string(), source: "not listed".into() }
}
