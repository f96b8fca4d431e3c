//! Collects rows as columns.
//!
//! In: the cells `Text("a")`, `Int(1)`. Out: a row of a record batch.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, ArrowPrimitiveType, RecordBatch,
    builder::{
        ArrayBuilder, BooleanBuilder, Float64Builder, Int64Builder, LargeBinaryBuilder,
        LargeStringBuilder, ListBuilder, PrimitiveBuilder, TimestampMicrosecondBuilder,
    },
};
use arrow_schema::SchemaRef;

use crate::{
    Result, Selection,
    schema::{Kind, schema},
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
}

/// The rows of a table that are not taken yet.
///
/// Only the cells of a row that have a value are visited: a column is filled with nulls when its next value comes, or
/// when the rows are taken.
#[derive(Debug)]
pub struct Columns {
    schema: SchemaRef,
    /// The columns by their places in the table; `None` if a column is not selected.
    builders: Vec<Option<Builder>>,
    selection: Selection,
    n_rows: usize,
    /// The size of the texts and bytes.
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

/// Adds nulls to a column until it has a number of rows. A column without nulls has no bits for validity, which
/// `append_nulls` would make even for no null.
macro_rules! fill {
    ($builder:expr, $n_rows:expr) => {
        if let Some(missing @ 1..) = $n_rows.checked_sub($builder.len()) {
            $builder.append_nulls(missing);
        }
    };
}

impl Columns {
    pub(crate) fn new(selection: Selection) -> Self {
        let mut builders = Vec::new();
        for (place, column) in selection.places().iter().zip(selection.columns()) {
            if builders.len() <= *place {
                builders.resize_with(*place + 1, || None);
            }
            if let Some(builder) = builders.get_mut(*place) {
                *builder = Some(Builder::new(column.kind, 0, 0));
            }
        }
        Self { schema: schema(selection.columns()), builders, selection, n_rows: 0, n_bytes: 0 }
    }

    /// Returns the schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Returns the number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Returns the size of the rows in memory, in bytes, but for the bits that say which cells are null.
    pub fn n_bytes(&self) -> usize {
        self.n_bytes + self.n_rows * self.selection.places().len() * size_of::<i64>()
    }

    /// Returns whether a column is selected.
    #[inline]
    pub(crate) fn has(&self, place: usize) -> bool {
        matches!(self.builders.get(place), Some(Some(_)))
    }

    /// Sets a cell of the row that [`Columns::end_row`] ends. A cell that is not set is null.
    #[inline]
    pub(crate) fn set(&mut self, place: usize, cell: Cell<'_>) {
        if let Some(Some(builder)) = self.builders.get_mut(place) {
            self.n_bytes += builder.set(self.n_rows, cell);
        }
    }

    /// Ends a row.
    pub(crate) fn end_row(&mut self) {
        self.n_rows += 1;
    }

    /// Makes the number of a row null in a column. Rows that were taken stay as they are.
    pub(crate) fn clear(&mut self, row_idx: usize, place: usize) {
        match self.builders.get_mut(place) {
            Some(Some(Builder::Int(builder))) => clear(builder, row_idx),
            Some(Some(Builder::Float(builder))) => clear(builder, row_idx),
            _ => {}
        }
    }

    /// Removes and returns the rows. The memory for the next ones is as large.
    ///
    /// # Errors
    ///
    /// Returns an error if the rows do not fit the schema.
    pub fn take(&mut self) -> Result<RecordBatch> {
        let mut arrays = Vec::new();
        for (place, column) in self.selection.places().iter().zip(self.selection.columns()) {
            if let Some(Some(builder)) = self.builders.get_mut(*place) {
                builder.fill(self.n_rows);
                let mut next = Builder::new(column.kind, self.n_rows, builder.n_bytes());
                std::mem::swap(builder, &mut next);
                arrays.push(next.finish());
            }
        }
        (self.n_rows, self.n_bytes) = (0, 0);
        Ok(RecordBatch::try_new(self.schema.clone(), arrays)?)
    }
}

impl Builder {
    /// Creates a column with room for a number of rows, and of bytes in texts.
    fn new(kind: Kind, n_rows: usize, n_bytes: usize) -> Self {
        match kind {
            Kind::Text => Builder::Text(LargeStringBuilder::with_capacity(n_rows, n_bytes)),
            Kind::Int => Builder::Int(Int64Builder::with_capacity(n_rows)),
            Kind::Float => Builder::Float(Float64Builder::with_capacity(n_rows)),
            Kind::Bool => Builder::Bool(BooleanBuilder::with_capacity(n_rows)),
            Kind::Time => {
                let builder = TimestampMicrosecondBuilder::with_capacity(n_rows);
                Builder::Time(builder.with_data_type(kind.data_type()))
            }
            Kind::Bytes => Builder::Bytes(LargeBinaryBuilder::with_capacity(n_rows, n_bytes)),
            Kind::Texts => Builder::Texts(ListBuilder::new(LargeStringBuilder::new())),
        }
    }

    /// Sets the cell of a row that has none, and returns the size of its text or bytes. A cell of another kind than the
    /// column's stays null.
    #[inline]
    fn set(&mut self, row_idx: usize, cell: Cell<'_>) -> usize {
        match (self, cell) {
            (Builder::Text(builder), Cell::Text(text)) => {
                fill!(builder, row_idx);
                builder.append_value(text);
                return text.len();
            }
            (Builder::Int(builder), Cell::Int(number)) => {
                fill!(builder, row_idx);
                builder.append_value(number);
            }
            (Builder::Float(builder), Cell::Float(number)) => {
                fill!(builder, row_idx);
                builder.append_value(number);
            }
            (Builder::Bool(builder), Cell::Bool(is)) => {
                fill!(builder, row_idx);
                builder.append_value(is);
            }
            (Builder::Time(builder), Cell::Time(micros)) => {
                fill!(builder, row_idx);
                builder.append_value(micros);
            }
            (Builder::Bytes(builder), Cell::Bytes(bytes)) => {
                fill!(builder, row_idx);
                builder.append_value(bytes);
                return bytes.len();
            }
            (Builder::Texts(builder), Cell::Texts(texts)) => {
                fill!(builder, row_idx);
                for text in texts {
                    builder.values().append_value(text);
                }
                builder.append(true);
                return texts.iter().map(String::len).sum();
            }
            _ => {}
        }
        0
    }

    /// Adds nulls until the column has a number of rows.
    fn fill(&mut self, n_rows: usize) {
        match self {
            Builder::Text(builder) => fill!(builder, n_rows),
            Builder::Int(builder) => fill!(builder, n_rows),
            Builder::Float(builder) => fill!(builder, n_rows),
            Builder::Bool(builder) => fill!(builder, n_rows),
            Builder::Time(builder) => fill!(builder, n_rows),
            Builder::Bytes(builder) => fill!(builder, n_rows),
            Builder::Texts(builder) => fill!(builder, n_rows),
        }
    }

    /// Returns the size of the texts.
    fn n_bytes(&self) -> usize {
        match self {
            Builder::Text(builder) => builder.values_slice().len(),
            Builder::Bytes(builder) => builder.values_slice().len(),
            _ => 0,
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
