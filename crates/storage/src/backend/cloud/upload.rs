//! Objects that are written: whole or not at all, and only if what is there may go.

use std::{
    collections::VecDeque,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use object_store::{
    Error, MultipartUpload, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload,
    PutResult, UpdateVersion, path::Path as Key,
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

/// What is larger goes in parts.
const MAX_WHOLE: u64 = 16 * 1024 * 1024;

/// The bytes of a part, at least.
const MIN_PART: u64 = 8 * 1024 * 1024;

/// S3 takes at most ten thousand parts.
const MAX_PARTS: u64 = 9_000;

/// How many parts are on their way at a time.
const MAX_BEGUN: usize = 2;

/// What must hold of an object's name for it to be written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Condition {
    /// No object has it.
    Free,
    /// Whatever has it goes.
    Any,
    /// The object that has it is still this one, by its etag.
    Same(Option<String>),
}

impl Bucket {
    /// Writes an object of so many bytes, and returns what it is then.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if the name is not free; [`Changed`](crate::backend::Changed) if the object is
    /// not the same any more; those of the store. Nothing is written then.
    pub fn put(
        &self,
        path: &Path,
        bytes: &mut dyn Read,
        length: u64,
        condition: &Condition,
    ) -> io::Result<Stat> {
        let key = self.key(path)?;
        let result = if length <= MAX_WHOLE {
            self.put_whole(&key, bytes, length, condition)
        } else {
            self.put_large(path, &key, bytes, length, condition)
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
    ) -> io::Result<PutResult> {
        let mode = match condition {
            Condition::Free => PutMode::Create,
            Condition::Any => PutMode::Overwrite,
            Condition::Same(etag) => PutMode::Update(self.version(key, etag.as_deref())?),
        };
        let payload = PutPayload::from(part(bytes, length)?);
        self.put_bytes(key, payload, mode)
    }

    /// Writes what is at hand.
    pub(super) fn put_bytes(
        &self,
        key: &Key,
        payload: PutPayload,
        mode: PutMode,
    ) -> io::Result<PutResult> {
        let (store, key) = (self.store.clone(), key.clone());
        let options = PutOptions { mode, ..PutOptions::default() };
        let put = async move { store.put_opts(&key, payload, options).await };
        self.runtime.wait(put)?.map_err(|error| failure(&error))
    }

    /// Writes an object in parts. Stores put no condition on those: where the name must be free, the
    /// parts become an object of another name first, which is copied on that condition.
    fn put_large(
        &self,
        path: &Path,
        key: &Key,
        bytes: &mut dyn Read,
        length: u64,
        condition: &Condition,
    ) -> io::Result<PutResult> {
        if let Condition::Same(etag) = condition {
            self.version(key, etag.as_deref())?;
        }
        if *condition != Condition::Free {
            return self.put_parts(key, bytes, length);
        }
        let name = path.file_name().unwrap_or_default();
        let between = self.key(&path.with_file_name(new_name(name)))?;
        self.put_parts(&between, bytes, length)?;
        let (store, from, to) = (self.store.clone(), between.clone(), key.clone());
        let copied = self.runtime.wait(async move {
            store.copy_if_not_exists(&from, &to).await?;
            store.head(&to).await
        });
        let store = self.store.clone();
        // What cannot be removed is called as what a dead run left.
        _ = self.runtime.finish(async move { store.delete(&between).await });
        let meta = copied?.map_err(|error| failure(&error))?;
        Ok(PutResult { e_tag: meta.e_tag, version: meta.version, extensions: Default::default() })
    }

    fn put_parts(&self, key: &Key, bytes: &mut dyn Read, length: u64) -> io::Result<PutResult> {
        let (store, target) = (self.store.clone(), key.clone());
        let begun = self.runtime.wait(async move { store.put_multipart(&target).await })?;
        let mut upload = begun.map_err(|error| failure(&error))?;
        match self.send_parts(&mut upload, bytes, length) {
            Ok(()) => {}
            Err(error) => {
                // Parts of what never becomes an object would be paid for.
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

    /// Returns by which version the store knows an object that is to be this one still.
    fn version(&self, key: &Key, etag: Option<&str>) -> io::Result<UpdateVersion> {
        let (store, asked) = (self.store.clone(), key.clone());
        let meta = self.runtime.wait(async move { store.head(&asked).await })?;
        let meta = meta.map_err(|error| failure(&error))?;
        if bare(etag) != bare(meta.e_tag.as_deref()) {
            return Err(io::Error::other(crate::backend::Changed));
        }
        Ok(UpdateVersion { e_tag: meta.e_tag, version: meta.version })
    }

    /// Keeps an object under another name too, in place of what has that.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such object; those of the store.
    pub fn copy(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (store, from, to) = (self.store.clone(), self.key(from)?, self.key(to)?);
        let copied = self.runtime.wait(async move { store.copy(&from, &to).await })?;
        copied.map_err(|error| failure(&error))
    }

    /// Removes an object.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn remove(&self, path: &Path) -> io::Result<()> {
        let (store, key) = (self.store.clone(), self.key(path)?);
        self.forget(&key);
        let removed = self.runtime.finish(async move { store.delete(&key).await });
        match removed {
            None | Some(Ok(()) | Err(Error::NotFound { .. })) => Ok(()),
            Some(Err(error)) => Err(failure(&error)),
        }
    }

    /// Removes what dead runs left of objects that were to be copied to their names.
    pub fn sweep(&self, objects: &[PathBuf]) {
        for path in objects {
            if path.file_name().is_some_and(is_temporary) && self.is_old(path) {
                // What cannot be removed now is removed by a later run.
                _ = self.remove(path);
            }
        }
    }

    /// Returns whether an object has just these bytes, as it is now.
    ///
    /// # Errors
    ///
    /// Those of reading either.
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

/// Reads so many bytes.
fn part(bytes: &mut dyn Read, length: u64) -> io::Result<Vec<u8>> {
    let mut part = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    bytes.take(length).read_to_end(&mut part)?;
    if part.len() as u64 == length { Ok(part) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
