//! Writes a table as numbered parts of bounded size.
//!
//! In: batches of rows. Out: `events/part-00000.parquet`, `events/part-00001.parquet`, ..

use parquet::{
    arrow::ArrowWriter,
    basic::{Compression, ZstdLevel},
    file::{
        metadata::KeyValue,
        properties::{EnabledStatistics, WriterProperties},
    },
    schema::types::ColumnPath,
};

use crate::{Result, Shelf, columns::Columns, schema::VERSION};

/// Size in bytes of a batch of rows that is passed to Parquet.
const BATCH: usize = 8 * 1024 * 1024;

/// Size in bytes of a row group before compression. A query reads a group at a time.
const ROW_GROUP: usize = 32 * 1024 * 1024;

/// Size in bytes at which a part is closed and the next one begins.
const PART: usize = 192 * 1024 * 1024;

/// A table that is being written.
pub(crate) struct Parts<S: Shelf> {
    table: &'static str,
    writer: Option<ArrowWriter<S::Part>>,
    n_parts: usize,
    n_rows: u64,
    n_bytes: u64,
}

impl<S: Shelf> Parts<S> {
    /// Creates a table without rows.
    pub(crate) fn new(table: &'static str) -> Self {
        Self { table, writer: None, n_parts: 0, n_rows: 0, n_bytes: 0 }
    }

    /// Writes the rows if there are enough.
    pub(crate) fn settle(&mut self, columns: &mut Columns, shelf: &mut S) -> Result<()> {
        if columns.n_bytes() >= BATCH { self.write(columns, shelf) } else { Ok(()) }
    }

    fn write(&mut self, columns: &mut Columns, shelf: &mut S) -> Result<()> {
        if columns.n_rows() == 0 && self.n_parts > 0 {
            return Ok(());
        }
        let mut writer = match self.writer.take() {
            Some(writer) => writer,
            None => self.next_part(columns, shelf)?,
        };
        self.n_rows += columns.n_rows() as u64;
        writer.write(&columns.take()?)?;
        if writer.in_progress_size() >= ROW_GROUP {
            writer.flush()?;
        }
        if writer.bytes_written() >= PART {
            self.n_bytes += shelf.close(writer.into_inner()?)?;
        } else {
            self.writer = Some(writer);
        }
        Ok(())
    }

    fn next_part(&mut self, columns: &Columns, shelf: &mut S) -> Result<ArrowWriter<S::Part>> {
        let part = shelf.create(&format!("{}/part-{:05}.parquet", self.table, self.n_parts))?;
        self.n_parts += 1;
        Ok(ArrowWriter::try_new(part, columns.schema(), Some(properties()?))?)
    }

    /// Ends the table, and returns the number of its rows and the size of its files in bytes.
    pub(crate) fn finish(mut self, columns: &mut Columns, shelf: &mut S) -> Result<(u64, u64)> {
        self.write(columns, shelf)?;
        if let Some(writer) = self.writer.take() {
            self.n_bytes += shelf.close(writer.into_inner()?)?;
        }
        Ok((self.n_rows, self.n_bytes))
    }
}

fn properties() -> Result<WriterProperties> {
    let mut builder = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_key_value_metadata(Some(vec![
            KeyValue::new("convert.schema".to_owned(), VERSION.to_owned()),
            KeyValue::new("convert.version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        ]));
    // Long texts rarely repeat, so a dictionary costs time and saves nothing.
    for name in ["text", "tool_input", "raw"] {
        let column = ColumnPath::from(name);
        builder = builder
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_statistics_enabled(column, EnabledStatistics::None);
    }
    for name in ["uuid", "tool_use_id"] {
        builder = builder.set_column_bloom_filter_enabled(ColumnPath::from(name), true);
    }
    Ok(builder.build())
}
