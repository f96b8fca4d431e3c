//! Collects rows as columns.
//!
//! In: the cells `Text("a")`, `Int(1)`. Out: a row of a record batch.

use std::{ops::Range, sync::Arc};

use arrow_array::{
    ArrayRef, ArrowPrimitiveType, RecordBatch,
    builder::{
        BooleanBuilder, Float64Builder, Int64Builder, LargeBinaryBuilder, LargeStringBuilder,
        ListBuilder, PrimitiveBuilder, TimestampMicrosecondBuilder,
    },
};
use arrow_schema::SchemaRef;

use crate::{
    Result,
    schema::{Column, Kind, schema},
};

/// A value of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cell<'c> {
    Null,
    Text(&'c str),
    Int(i64),
    Float(f64),
    Bool(bool),
    /// Microseconds since 1970.
    Time(i64),
    Bytes(&'c [u8]),
    Texts(&'c [String]),
}

impl<'c> Cell<'c> {
    /// Creates a cell from a text that may be unknown.
    pub(crate) fn text(text: Option<&'c str>) -> Self {
        text.map_or(Cell::Null, Cell::Text)
    }

    /// Creates a cell from a count. A count that is too large becomes the largest number.
    pub(crate) fn count(count: u64) -> Self {
        Cell::Int(i64::try_from(count).unwrap_or(i64::MAX))
    }

    /// Creates a cell from a time in milliseconds since 1970 that may be unknown.
    pub(crate) fn time(millis: Option<i64>) -> Self {
        millis.map_or(Cell::Null, |millis| Cell::Time(millis.saturating_mul(1000)))
    }

    fn n_bytes(&self) -> usize {
        match self {
            Cell::Text(text) => text.len(),
            Cell::Bytes(bytes) => bytes.len(),
            Cell::Texts(texts) => texts.iter().map(String::len).sum(),
            _ => size_of::<i64>(),
        }
    }
}

/// The rows of a table that are not taken yet.
#[derive(Debug)]
pub struct Columns {
    schema: SchemaRef,
    builders: Vec<Builder>,
    n_rows: usize,
    n_bytes: usize,
}

#[derive(Debug)]
enum Builder {
    Text(LargeStringBuilder),
    Int(Int64Builder),
    Float(Float64Builder),
    Bool(BooleanBuilder),
    Time(TimestampMicrosecondBuilder),
    Bytes(LargeBinaryBuilder),
    Texts(ListBuilder<LargeStringBuilder>),
}

impl Columns {
    pub(crate) fn new(columns: &[Column], last: Option<Column>) -> Self {
        let builders =
            columns.iter().chain(&last).map(|column| Builder::new(column.kind)).collect();
        Self { schema: schema(columns, last), builders, n_rows: 0, n_bytes: 0 }
    }

    /// Returns the schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Returns the number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Returns the size of the rows in memory, in bytes.
    pub fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// Adds a row. Missing cells at its end are null.
    pub(crate) fn push(&mut self, cells: &[Cell<'_>]) {
        let cells = cells.iter().copied().chain(std::iter::repeat(Cell::Null));
        for (builder, cell) in self.builders.iter_mut().zip(cells) {
            self.n_bytes += cell.n_bytes();
            builder.push(cell);
        }
        self.n_rows += 1;
    }

    /// Makes the numbers of a row null in some columns. Rows that were taken stay as they are.
    pub(crate) fn clear(&mut self, row_idx: usize, columns: Range<usize>) {
        for builder in self.builders.get_mut(columns).unwrap_or_default() {
            match builder {
                Builder::Int(builder) => clear(builder, row_idx),
                Builder::Float(builder) => clear(builder, row_idx),
                _ => {}
            }
        }
    }

    /// Removes and returns the rows.
    ///
    /// # Errors
    ///
    /// Returns an error if the rows do not fit the schema.
    pub fn take(&mut self) -> Result<RecordBatch> {
        let arrays = self.builders.iter_mut().map(Builder::finish).collect();
        (self.n_rows, self.n_bytes) = (0, 0);
        Ok(RecordBatch::try_new(self.schema.clone(), arrays)?)
    }
}

impl Builder {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Text => Builder::Text(LargeStringBuilder::new()),
            Kind::Int => Builder::Int(Int64Builder::new()),
            Kind::Float => Builder::Float(Float64Builder::new()),
            Kind::Bool => Builder::Bool(BooleanBuilder::new()),
            Kind::Time => {
                Builder::Time(TimestampMicrosecondBuilder::new().with_data_type(kind.data_type()))
            }
            Kind::Bytes => Builder::Bytes(LargeBinaryBuilder::new()),
            Kind::Texts => Builder::Texts(ListBuilder::new(LargeStringBuilder::new())),
        }
    }

    /// Adds a cell. A cell of another kind than the column's becomes null.
    fn push(&mut self, cell: Cell<'_>) {
        match (self, cell) {
            (Builder::Text(builder), Cell::Text(text)) => builder.append_value(text),
            (Builder::Text(builder), _) => builder.append_null(),
            (Builder::Int(builder), Cell::Int(number)) => builder.append_value(number),
            (Builder::Int(builder), _) => builder.append_null(),
            (Builder::Float(builder), Cell::Float(number)) => builder.append_value(number),
            (Builder::Float(builder), _) => builder.append_null(),
            (Builder::Bool(builder), Cell::Bool(is)) => builder.append_value(is),
            (Builder::Bool(builder), _) => builder.append_null(),
            (Builder::Time(builder), Cell::Time(micros)) => builder.append_value(micros),
            (Builder::Time(builder), _) => builder.append_null(),
            (Builder::Bytes(builder), Cell::Bytes(bytes)) => builder.append_value(bytes),
            (Builder::Bytes(builder), _) => builder.append_null(),
            (Builder::Texts(builder), Cell::Texts(texts)) => {
                for text in texts {
                    builder.values().append_value(text);
                }
                builder.append(true);
            }
            (Builder::Texts(builder), _) => builder.append(false),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Builder::Text(builder) => Arc::new(builder.finish()),
            Builder::Int(builder) => Arc::new(builder.finish()),
            Builder::Float(builder) => Arc::new(builder.finish()),
            Builder::Bool(builder) => Arc::new(builder.finish()),
            Builder::Time(builder) => Arc::new(builder.finish()),
            Builder::Bytes(builder) => Arc::new(builder.finish()),
            Builder::Texts(builder) => Arc::new(builder.finish()),
        }
    }
}

/// Makes a number null, if there is one.
fn clear<T: ArrowPrimitiveType>(builder: &mut PrimitiveBuilder<T>, row_idx: usize) {
    let Some(value) = builder.values_slice_mut().get_mut(row_idx) else { return };
    *value = T::default_value();
    if let Some(validity) = builder.validity_slice_mut() {
        if let Some(bits) = validity.get_mut(row_idx / 8) {
            *bits &= !(1 << (row_idx % 8));
        }
        return;
    }
    // The builder has no bits for validity before its first null.
    let numbers = builder.finish();
    for (other_idx, number) in numbers.iter().enumerate() {
        builder.append_option(number.filter(|_| other_idx != row_idx));
    }
}
