//! Resolves URLs to an object, or to all objects below a prefix.
//!
//! In: `s3://bucket/team/`. Out: an input for each object below it.

use std::{io, path::Path};

use core_model::Formats;
use storage::{Backend, Interruption, is_url, without_query};

use crate::{documents::store_of, input::Input};

#[cfg(feature = "cloud")]
use crate::walk::is_ours;
#[cfg(feature = "cloud")]
use storage::Buckets;
#[cfg(feature = "cloud")]
use storage::is_folder;
#[cfg(not(feature = "cloud"))]
use storage::without_cloud;

/// The stores of a run.
#[derive(Debug, Default)]
pub struct Stores {
    #[cfg(feature = "cloud")]
    buckets: Buckets,
}

impl Stores {
    /// Creates an empty set. An interruption ends waiting for requests.
    pub fn new(interruption: Interruption) -> Self {
        #[cfg(feature = "cloud")]
        return Self { buckets: Buckets::new(interruption) };
        #[cfg(not(feature = "cloud"))]
        {
            _ = interruption;
            Self {}
        }
    }

    /// Returns the backend of a path in a plan.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL is of no known store, if the program has no stores, or if the path is
    /// below a store of documents that cannot be read.
    pub fn of(&mut self, formats: Formats, path: &Path) -> io::Result<Backend> {
        if !is_url(path) {
            let documents = store_of(formats, path).transpose()?;
            return Ok(documents.map_or(Backend::Disk, Backend::Documents));
        }
        #[cfg(feature = "cloud")]
        return Ok(Backend::Bucket(self.buckets.of(path)?.0));
        #[cfg(not(feature = "cloud"))]
        Err(without_cloud())
    }

    /// Clears the metadata caches; the next lookup asks the store.
    pub fn forget(&self) {
        #[cfg(feature = "cloud")]
        self.buckets.forget();
    }

    /// Returns the store of an output URL.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be written to.
    #[cfg(feature = "cloud")]
    pub fn target(&mut self, url: &Path) -> io::Result<Backend> {
        let (bucket, _) = self.buckets.of(url)?;
        if bucket.is_web() {
            return Err(io::Error::other(
                "web addresses can only be read; write to a folder or an object store",
            ));
        }
        Ok(Backend::Bucket(bucket))
    }

    /// Returns the error for a program without stores.
    ///
    /// # Errors
    ///
    /// Always.
    #[cfg(not(feature = "cloud"))]
    pub fn target(&mut self, _: &Path) -> io::Result<Backend> {
        Err(without_cloud())
    }

    /// Adds the objects of an URL to the inputs. Returns whether the URL is a prefix. An unreadable
    /// object becomes an input that cannot be opened, so that the others are still read.
    #[cfg(feature = "cloud")]
    pub fn add(&mut self, url: &Path, is_one_of_many: bool, inputs: &mut Vec<Input>) -> bool {
        let (bucket, path) = match self.buckets.of(url) {
            Ok(found) => found,
            Err(error) => {
                inputs.push(Input::missing(&without_query(url), &error));
                return false;
            }
        };
        let storage = Backend::Bucket(bucket.clone());
        if bucket.is_object(&path) {
            inputs.push(Input::stored(storage, path));
            return false;
        }
        let name = if is_one_of_many { path.file_name().unwrap_or_default() } else { "".as_ref() };
        let name = Path::new(name);
        match bucket.list(&path) {
            Ok(found) if found.is_empty() => {
                let nothing = io::Error::new(
                    io::ErrorKind::NotFound,
                    "no such object, and no object below this name",
                );
                inputs.push(Input::missing(&path, &nothing));
                is_folder(&path)
            }
            Ok(found) => {
                for object in found {
                    let below = object.strip_prefix(&path).unwrap_or(&object);
                    if !object.file_name().is_some_and(is_ours) {
                        let (storage, name) = (storage.clone(), name.join(below));
                        inputs.push(Input::File { storage, path: object, name, is_named: false });
                    }
                }
                true
            }
            Err(error) => {
                inputs.push(Input::missing(&path, &error));
                is_folder(&path)
            }
        }
    }

    /// Adds an input with the error for a program without stores.
    #[cfg(not(feature = "cloud"))]
    pub fn add(&mut self, url: &Path, _: bool, inputs: &mut Vec<Input>) -> bool {
        inputs.push(Input::missing(&without_query(url), &without_cloud()));
        false
    }
}
