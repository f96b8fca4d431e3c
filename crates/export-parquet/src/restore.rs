//! Restores the files from the tables.
//!
//! In: rows with `raw` at the offsets 0, 40, 95 of `a.jsonl`. Out: the bytes of `a.jsonl`, or
//! [`Error::Gap`] if a row is missing.

use std::{
    collections::HashMap,
    fs::File,
    hash::{BuildHasher, RandomState},
    path::{Path, PathBuf},
};

use arrow_array::{Array, Int64Array, LargeBinaryArray, LargeStringArray, RecordBatch};
use parquet::arrow::{ProjectionMask, arrow_reader::ParquetRecordBatchReaderBuilder};

use crate::{Error, Result, schema::RAW};

/// Number of rows in a batch. Each may have a long line.
const BATCH: usize = 256;

/// Reads the files in the tables of a folder, in the order of their rows. Calls `each` with the
/// name of a file and its next bytes. The name is untrusted: the caller must check it. A file of 0
/// bytes gets one call with an empty slice, after all other files.
///
/// # Errors
///
/// Returns an error if the tables cannot be read, if they were written without the bytes of the
/// lines ([`Error::NoRaw`]), if a row of a file is missing, or if `each` returns an error. The bytes
/// before the missing row were passed to `each` already. If all rows of a file are missing, the error is
/// [`Error::Missing`], and all other files were passed to `each`.
pub fn restore(
    folder: &Path,
    each: &mut dyn FnMut(&str, &[u8]) -> std::io::Result<()>,
) -> Result<()> {
    let mut place = Place::default();
    let columns = ["file", "offset", "length", RAW.name];
    for_each_batch(&folder.join("events"), &columns, &mut |batch| place.batch(&batch, each))?;
    place.end_file()?;
    let Place { mut sizes, hasher, .. } = place;
    let mut missing = Missing::default();
    for_each_batch(&folder.join("sessions"), &["file", "bytes"], &mut |batch| {
        let files: &LargeStringArray = column(&batch, "file")?;
        let expected: &Int64Array = column(&batch, "bytes")?;
        for row in 0..batch.num_rows() {
            let (file, expected) = (files.value(row), expected.value(row) as u64);
            let found = sizes.remove(&hasher.hash_one(file)).unwrap_or(0);
            if found != expected {
                missing.push(file, expected, found);
            } else if expected == 0 {
                // A file without a line has no row in events.
                each(file, b"")?;
            }
        }
        Ok(())
    })?;
    match missing.first {
        Some((file, expected, found)) => {
            Err(Error::Missing { file, expected, found, n_files: missing.n_files })
        }
        None if !sizes.is_empty() => Err(Error::NoSessions(sizes.len() as u64)),
        None => Ok(()),
    }
}

/// The files whose bytes are not all in the tables.
#[derive(Debug, Default)]
struct Missing {
    /// The first one, with its size and the number of its bytes in the tables.
    first: Option<(String, u64, u64)>,
    n_files: u64,
}

impl Missing {
    fn push(&mut self, file: &str, expected: u64, found: u64) {
        self.n_files += 1;
        self.first.get_or_insert_with(|| (file.to_owned(), expected, found));
    }
}

/// Reads columns of all parts of a table, in order.
fn for_each_batch(
    folder: &Path,
    columns: &[&'static str],
    each: &mut dyn FnMut(RecordBatch) -> Result<()>,
) -> Result<()> {
    let mut parts = names(folder).map_err(|error| in_part(folder, error.into()))?;
    parts.retain(|path| path.extension().is_some_and(|extension| extension == "parquet"));
    parts.sort();
    for part in parts {
        let in_it = |error: Error| in_part(&part, error);
        let file = File::open(&part).map_err(|error| in_it(error.into()))?;
        let builder =
            ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| in_it(error.into()))?;
        if columns.contains(&RAW.name) && builder.schema().column_with_name(RAW.name).is_none() {
            return Err(Error::NoRaw(part.display().to_string()));
        }
        let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied());
        let batches = builder.with_projection(mask).with_batch_size(BATCH).build();
        for batch in batches.map_err(|error| in_it(error.into()))? {
            each(batch.map_err(|error| in_it(error.into()))?)?;
        }
    }
    Ok(())
}

/// Adds the path of a part, or of its folder, to an error.
fn in_part(part: &Path, error: Error) -> Error {
    Error::Part { part: part.display().to_string(), error: Box::new(error) }
}

/// Returns the paths of the entries of a folder.
#[cfg(not(unix))]
fn names(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
}

/// Returns the paths of the entries of a folder. The standard library panics if a folder cannot be
/// closed.
#[cfg(unix)]
fn names(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let opened = File::open(folder)?;
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(&opened)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        names.push(folder.join(name));
    }
    Ok(names)
}

/// The progress of restoring.
#[derive(Debug, Default)]
struct Place {
    file: String,
    /// The next offset.
    next: u64,
    /// The end of the line whose rows are being read.
    end: u64,
    /// The sizes of the files before this one, by the hashes of their names.
    sizes: HashMap<u64, u64>,
    hasher: RandomState,
}

impl Place {
    fn batch(
        &mut self,
        batch: &RecordBatch,
        each: &mut dyn FnMut(&str, &[u8]) -> std::io::Result<()>,
    ) -> Result<()> {
        let files: &LargeStringArray = column(batch, "file")?;
        let offsets: &Int64Array = column(batch, "offset")?;
        let lengths: &Int64Array = column(batch, "length")?;
        let raws: &LargeBinaryArray = column(batch, RAW.name)?;
        for row in 0..batch.num_rows() {
            if raws.is_null(row) {
                continue;
            }
            let (file, raw) = (files.value(row), raws.value(row));
            if file != self.file {
                self.end_file()?;
                file.clone_into(&mut self.file);
            }
            let (offset, length) = (offsets.value(row) as u64, lengths.value(row) as u64);
            if self.next == self.end {
                self.starts_at(offset)?;
                self.end = offset.saturating_add(length);
            }
            each(file, raw)?;
            self.next = self.next.saturating_add(raw.len() as u64);
        }
        Ok(())
    }

    /// Returns an error unless a line starts at the end of the line before it.
    fn starts_at(&self, found: u64) -> Result<()> {
        let (file, expected) = (self.file.clone(), self.next);
        if found == expected { Ok(()) } else { Err(Error::Gap { file, expected, found }) }
    }

    /// Notes the size of a file. Returns an error unless its last line is complete.
    fn end_file(&mut self) -> Result<()> {
        let (size, end) = (std::mem::take(&mut self.next), std::mem::take(&mut self.end));
        if size != end {
            return Err(Error::Gap { file: self.file.clone(), expected: size, found: end });
        }
        if size > 0 {
            let file = self.hasher.hash_one(self.file.as_str());
            self.sizes.insert(file, size);
        }
        Ok(())
    }
}

fn column<'b, A: Array + 'static>(batch: &'b RecordBatch, name: &'static str) -> Result<&'b A> {
    let column = batch.column_by_name(name).and_then(|column| column.as_any().downcast_ref());
    Ok(column.ok_or_else(|| arrow_schema::ArrowError::SchemaError(format!("no column {name}")))?)
}
