//! Writes the images of a document to files beside it.
//!
//! In: the image `images/4c4b6a3be1314ab8.png` of `out/s1.json`. Out: a temporary file in `out/images`, which
//! gets its name before the document does. Several sessions may have the same image: the first one
//! writes the file, and the others find it equal.

use std::{
    collections::HashSet,
    io::{self, Write},
    path::Path,
};

use conversion::EachImage;
use core_model::{Format, ImageFile};
use storage::{Finished, Named, Replace};

use super::RunOutputs;
use crate::{error::ConvertError, journal::JournalEntry, paths::has_link};

/// The unpublished images of a document.
pub(crate) struct Images<'o> {
    outputs: &'o RunOutputs,
    document: &'o Path,
    mode: u32,
    known: HashSet<String>,
    paths: Vec<String>,
    files: Vec<Finished>,
}

impl<'o> Images<'o> {
    /// Creates the images of a document, of which there are none yet.
    pub(crate) fn new(outputs: &'o RunOutputs, document: &'o Path, mode: u32) -> Self {
        let (known, paths, files) = Default::default();
        Self { outputs, document, mode, known, paths, files }
    }

    /// Returns a function that writes each image to a file.
    pub(crate) fn writing(&mut self) -> impl FnMut(ImageFile) -> io::Result<()> {
        |image| self.write(image)
    }

    fn write(&mut self, image: ImageFile) -> io::Result<()> {
        if !self.known.insert(image.path.clone()) {
            return Ok(());
        }
        let path = self.document.with_file_name(&image.path);
        if has_link(&path, self.document) {
            let folder = path.parent().unwrap_or(&path).display().to_string();
            let message = format!("{folder}: is a link; remove it, or write to another folder");
            return Err(io::Error::other(message));
        }
        let mut file = self.outputs.create_beside(self.document, &path, self.mode, 0)?;
        file.write_all(&image.bytes)?;
        self.files.push(file.finish()?);
        self.paths.push(image.path);
        Ok(())
    }

    /// Returns the files, and their paths from the folder of the document on.
    pub(crate) fn finish(self) -> (Vec<Finished>, Vec<String>) {
        (self.files, self.paths)
    }
}

/// Returns the receiver of images if a target has them in files.
pub(crate) fn receiver<'w>(to: &Format, write: EachImage<'w>) -> Option<EachImage<'w>> {
    to.has_image_files.then_some(write)
}

impl RunOutputs {
    /// Publishes the images of a document, and adds their positions to `names`. If the document
    /// cannot get its name, none is published.
    pub(super) fn name_images(
        &self,
        images: Vec<Finished>,
        (files, ways): (&[Finished], &[Replace]),
        records: &mut [JournalEntry],
        names: &mut Vec<Named>,
    ) -> Result<(), ConvertError> {
        let taken = files
            .iter()
            .zip(ways)
            .find(|(file, replace)| **replace == Replace::Never && !file.is_free_or_equal());
        if let Some((file, _)) = taken {
            return Err(ConvertError::Exists(file.path().display().to_string()));
        }
        for (image_idx, image) in images.into_iter().enumerate() {
            let replace = match self.write_options.replace() {
                replace if replace != Replace::Never && !image.is_free_or_equal() => replace,
                _ => Replace::Never,
            };
            let published = self.name_one(image, replace)?;
            if let Some(written) = records.get_mut(image_idx).and_then(|it| it.written.as_mut()) {
                written.etag = published.etag;
            }
            names.push(published.named);
        }
        Ok(())
    }
}
