//! Finds the images of a converted document that are no longer as they were written beside it.
//!
//! In: `s1.json` with `{"type":"image","source":{"path":"images/4c4b6a3be1314ab8.png"}}`, and an empty
//! folder `images`. Out: the path `images/4c4b6a3be1314ab8.png`. The name of the file is the start of the
//! image's hash.

use std::{
    collections::BTreeSet,
    fs::{File, Metadata},
    io::{self, Read, Seek},
    path::Path,
};

use conversion::Source;
use core_model::{Format, ImageFile};

use crate::{folder_run::duplicates::sha256_of, record::hex};

/// Limit on the size of an image in bytes. A sparse file may be longer, and was not written by a conversion.
const MAX_IMAGE: u64 = 256 * 1024 * 1024;

/// The key of a member with the path of an image.
const KEY: &str = "\"path\"";

/// Returns the paths of the images that a converted document names, and that are missing or edited.
pub(super) fn missing_images<R: Read + Seek + Send>(
    source: &mut Source<R>,
    from: &'static Format,
    document: &Path,
) -> io::Result<Vec<String>> {
    let mut paths = BTreeSet::new();
    source.for_each_piece(&[from], &mut |_, value| {
        if let Ok(value) = value {
            push_paths(value.raw().as_str(), &mut paths);
        }
        true
    })?;
    paths.retain(|path| !is_as_written(document, path));
    Ok(paths.into_iter().collect())
}

/// Adds the paths of images in a record. In a text, a backslash would be before each quotation mark.
fn push_paths(record: &str, paths: &mut BTreeSet<String>) {
    for (start, _) in record.match_indices("\"images/") {
        let (Some(before), Some(string)) = (record.get(..start), record.get(start + 1..)) else {
            continue;
        };
        let is_path = before
            .trim_end()
            .strip_suffix(':')
            .is_some_and(|before| before.trim_end().ends_with(KEY));
        let path = string.split('"').next().filter(|path| ImageFile::hash_in(path).is_some());
        if let Some(path) = path.filter(|_| is_path) {
            paths.insert(path.to_owned());
        }
    }
}

/// Returns whether the image at a path beside a document has the hash that is in its name.
fn is_as_written(document: &Path, path: &str) -> bool {
    let file = document.with_file_name(path);
    // A pipe would wait for its writer.
    let is_file = |metadata: Metadata| metadata.is_file() && metadata.len() <= MAX_IMAGE;
    let is_file = file.metadata().is_ok_and(is_file);
    let hash = is_file.then(|| File::open(&file).and_then(hash_of).ok()).flatten();
    hash.zip(ImageFile::hash_in(path)).is_some_and(|(hash, start)| hash.starts_with(start))
}

/// Returns the SHA-256 of a file, as hexadecimal digits.
fn hash_of(mut file: File) -> io::Result<String> {
    Ok(hex(&sha256_of(&mut file)?))
}
