//! Writes objects, whole or not at all, on a condition about the object that has the name.
//!
//! In: bytes, their length, and a condition such as "the name is free". Out: the metadata of the
//! new object; with an unmet condition, an error, and nothing is written.

use std::{
    collections::VecDeque,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use object_store::{
    Attribute, Attributes, Error, GetOptions, MultipartUpload, ObjectStore, ObjectStoreExt,
    PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult, UpdateVersion,
    path::Path as Key,
};

use super::{
    bucket::{Bucket, bare},
    failure::failure,
    runtime::Begun,
};
use crate::{
    backend::Stat,
    temporary::{is_temporary, new_name},
};

/// A larger object is uploaded in parts.
const MAX_WHOLE: u64 = 16 * 1024 * 1024;

/// Minimum size of a part in bytes.
const MIN_PART: u64 = 8 * 1024 * 1024;

/// Limit on parts; S3 accepts at most ten thousand.
const MAX_PARTS: u64 = 9_000;

/// Limit on parts that are uploaded at a time.
const MAX_BEGUN: usize = 2;

/// The name of an object's metadata that hold its origin. Azure allows no hyphen in it.
const ORIGIN: &str = "convertorigin";

/// A condition for writing an object.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Condition {
    /// No object has the name.
    Free,
    /// Any object with the name is replaced.
    Any,
    /// The object with the name still has this etag.
    Same(Option<String>),
}

impl Bucket {
    /// Writes an object of `length` bytes and returns its metadata. Writes nothing on an error. `origin` is ASCII, and
    /// stays with the object until another one has its name; web servers do not store it.
    ///
    /// # Errors
    ///
    /// Returns `AlreadyExists` if the name must be free and is not,
    /// [`Changed`](crate::backend::Changed) if the object is not the expected one, and an error if
    /// the store cannot be written.
    pub fn put(
        &self,
        path: &Path,
        bytes: &mut dyn Read,
        length: u64,
        condition: &Condition,
        origin: Option<&str>,
    ) -> io::Result<Stat> {
        let attributes = origin_attributes(origin);
        let key = self.key(path)?;
        let result = if length <= MAX_WHOLE {
            self.put_whole(&key, bytes, length, condition, attributes)
        } else {
            self.put_large(path, &key, bytes, length, condition, attributes)
        }?;
        let stat = Stat { length, modified: 0, changed: None, inode: None, etag: result.e_tag };
        self.note(&key, stat.clone());
        Ok(stat)
    }

    fn put_whole(
        &self,
        key: &Key,
        bytes: &mut dyn Read,
        length: u64,
        condition: &Condition,
        attributes: Attributes,
    ) -> io::Result<PutResult> {
        let mode = match condition {
            Condition::Free => PutMode::Create,
            Condition::Any => PutMode::Overwrite,
            Condition::Same(etag) => PutMode::Update(self.version(key, etag.as_deref())?),
        };
        let payload = PutPayload::from(part(bytes, length)?);
        self.put_bytes(key, payload, mode, attributes)
    }

    /// Writes an object from memory.
    pub(super) fn put_bytes(
        &self,
        key: &Key,
        payload: PutPayload,
        mode: PutMode,
        attributes: Attributes,
    ) -> io::Result<PutResult> {
        let (store, key) = (self.store.clone(), key.clone());
        let options = PutOptions { mode, attributes, ..PutOptions::default() };
        let put = async move { store.put_opts(&key, payload, options).await };
        self.runtime.wait(put)?.map_err(|error| failure(&error))
    }

    /// Writes an object in parts. Stores accept no condition for parts: if the name must be free,
    /// the parts become an object under another name first, which is copied on that condition.
    fn put_large(
        &self,
        path: &Path,
        key: &Key,
        bytes: &mut dyn Read,
        length: u64,
        condition: &Condition,
        attributes: Attributes,
    ) -> io::Result<PutResult> {
        if let Condition::Same(etag) = condition {
            self.version(key, etag.as_deref())?;
        }
        if *condition != Condition::Free {
            return self.put_parts(key, bytes, length, attributes);
        }
        let name = path.file_name().unwrap_or_default();
        let between = self.key(&path.with_file_name(new_name(name)))?;
        // The copy has the same attributes.
        self.put_parts(&between, bytes, length, attributes)?;
        let (store, from, to) = (self.store.clone(), between.clone(), key.clone());
        let copied = self.runtime.wait(async move {
            store.copy_if_not_exists(&from, &to).await?;
            store.head(&to).await
        });
        let store = self.store.clone();
        // If this object cannot be removed, its name marks it as temporary, and a later run removes
        // it.
        _ = self.runtime.finish(async move { store.delete(&between).await });
        let meta = copied?.map_err(|error| failure(&error))?;
        Ok(PutResult { e_tag: meta.e_tag, version: meta.version, extensions: Default::default() })
    }

    fn put_parts(
        &self,
        key: &Key,
        bytes: &mut dyn Read,
        length: u64,
        attributes: Attributes,
    ) -> io::Result<PutResult> {
        let (store, target) = (self.store.clone(), key.clone());
        let options = PutMultipartOptions { attributes, ..PutMultipartOptions::default() };
        let begun =
            self.runtime.wait(async move { store.put_multipart_opts(&target, options).await })?;
        let mut upload = begun.map_err(|error| failure(&error))?;
        match self.send_parts(&mut upload, bytes, length) {
            Ok(()) => {}
            Err(error) => {
                // Stores charge for parts of unfinished uploads.
                _ = self.runtime.finish(async move { upload.abort().await });
                return Err(error);
            }
        }
        let completed = self.runtime.wait(async move {
            let completed = upload.complete().await;
            if completed.is_err() {
                _ = upload.abort().await;
            }
            completed
        })?;
        completed.map_err(|error| failure(&error))
    }

    fn send_parts(
        &self,
        upload: &mut Box<dyn MultipartUpload>,
        bytes: &mut dyn Read,
        length: u64,
    ) -> io::Result<()> {
        let part_length = MIN_PART.max(length.div_ceil(MAX_PARTS));
        let mut sent = 0;
        let mut begun: VecDeque<Begun<object_store::Result<()>>> = VecDeque::new();
        while sent < length {
            if begun.len() == MAX_BEGUN
                && let Some(first) = begun.pop_front()
            {
                first.wait()?.map_err(|error| failure(&error))?;
            }
            let next = part(bytes, part_length.min(length - sent))?;
            sent += next.len() as u64;
            begun.push_back(self.runtime.begin(upload.put_part(PutPayload::from(next))));
        }
        for part in begun {
            part.wait()?.map_err(|error| failure(&error))?;
        }
        Ok(())
    }

    /// Returns the version to replace, for an object that must still have this etag.
    fn version(&self, key: &Key, etag: Option<&str>) -> io::Result<UpdateVersion> {
        let (store, asked) = (self.store.clone(), key.clone());
        let meta = self.runtime.wait(async move { store.head(&asked).await })?;
        let meta = meta.map_err(|error| failure(&error))?;
        if bare(etag) != bare(meta.e_tag.as_deref()) {
            return Err(io::Error::other(crate::backend::Changed));
        }
        Ok(UpdateVersion { e_tag: meta.e_tag, version: meta.version })
    }

    /// Returns the origin of an object, as it was given to [`Bucket::put`]; `None` if it has none.
    ///
    /// # Errors
    ///
    /// Returns `NotFound` if there is no such object, and an error if the store cannot be asked.
    pub fn origin(&self, path: &Path) -> io::Result<Option<String>> {
        // A listing has no such metadata. It says which objects are missing.
        self.stat(path)?;
        let (store, key) = (self.store.clone(), self.key(path)?);
        let options = GetOptions { head: true, ..GetOptions::default() };
        let found = self.runtime.wait(async move { store.get_opts(&key, options).await })?;
        let attributes = found.map_err(|error| failure(&error))?.attributes;
        let origin = attributes.get(&Attribute::Metadata(ORIGIN.into()));
        Ok(origin.map(|origin| origin.to_string()))
    }

    /// Copies an object over another.
    ///
    /// # Errors
    ///
    /// Returns `NotFound` if there is no such object, and an error if the store cannot be written.
    pub fn copy(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (store, from, to) = (self.store.clone(), self.key(from)?, self.key(to)?);
        let copied = self.runtime.wait(async move { store.copy(&from, &to).await })?;
        copied.map_err(|error| failure(&error))
    }

    /// Removes an object.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot remove it.
    pub fn remove(&self, path: &Path) -> io::Result<()> {
        let (store, key) = (self.store.clone(), self.key(path)?);
        self.forget(&key);
        let removed = self.runtime.finish(async move { store.delete(&key).await });
        match removed {
            None | Some(Ok(()) | Err(Error::NotFound { .. })) => Ok(()),
            Some(Err(error)) => Err(failure(&error)),
        }
    }

    /// Removes temporary objects of dead runs.
    pub fn sweep(&self, objects: &[PathBuf]) {
        for path in objects {
            if path.file_name().is_some_and(is_temporary) && self.is_old(path) {
                // An object that cannot be removed now is removed by a later run.
                _ = self.remove(path);
            }
        }
    }

    /// Returns whether an object has exactly these bytes now.
    ///
    /// # Errors
    ///
    /// Returns an error if the object or the bytes cannot be read.
    pub fn is_equal(
        self: &Arc<Self>,
        path: &Path,
        bytes: &mut dyn Read,
        length: u64,
    ) -> io::Result<bool> {
        self.forget(&self.key(path)?);
        let mut theirs = self.open(path)?;
        if theirs.stat().length != length {
            return Ok(false);
        }
        crate::output::are_equal(bytes, &mut theirs)
    }
}

/// Returns the attributes of an object with this origin.
fn origin_attributes(origin: Option<&str>) -> Attributes {
    let origin = origin.map(|origin| (Attribute::Metadata(ORIGIN.into()), origin.to_owned()));
    Attributes::from_iter(origin)
}

/// Reads `length` bytes.
fn part(bytes: &mut dyn Read, length: u64) -> io::Result<Vec<u8>> {
    let mut part = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    bytes.take(length).read_to_end(&mut part)?;
    if part.len() as u64 == length { Ok(part) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
