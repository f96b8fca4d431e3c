//! A record of a file, borrowed or owned.

use std::{fmt, marker::PhantomData};

use jsonl::{Value, ValueBuf};

use super::RecordFormat;
use crate::{Event, Place};

/// A record that borrows from its reader.
pub struct RecordRef<'l, F> {
    place: Place,
    value: Value<'l>,
    format: PhantomData<fn() -> F>,
}

impl<'l, F: RecordFormat> RecordRef<'l, F> {
    /// Creates a record from a scanned line.
    pub fn new(place: Place, value: Value<'l>) -> Self {
        Self { place, value, format: PhantomData }
    }

    /// Returns the number of the line, from 1, and the offset of its first byte.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Returns the bytes of the record as in the file, without white space around them.
    pub fn raw(&self) -> &'l [u8] {
        self.value.raw().as_str().as_bytes()
    }

    /// Returns the record as a JSON value.
    pub fn value(&self) -> Value<'l> {
        self.value
    }

    /// Returns the record with its members.
    pub fn record(&self) -> F::Record<'l> {
        F::record(self.value)
    }

    /// Returns the first event of the record, in the model that all formats share.
    pub fn event(&self) -> Event<'l> {
        F::format().first_event(self.value)
    }

    /// Calls `each` with the events of the record, in order, until it returns false. Most records
    /// have one event.
    pub fn for_each_event(&self, each: impl FnMut(&Event<'l>) -> bool) {
        F::format().for_each_event(self.value, each);
    }

    /// Copies the record, to keep it or to send it to another thread.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is not JSON, which is never so for a record from a reader.
    pub fn to_buf(&self) -> jsonl::Result<RecordBuf<F>> {
        Ok(RecordBuf { place: self.place, value: self.value.to_buf()?, format: PhantomData })
    }
}

impl<F> Clone for RecordRef<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for RecordRef<'_, F> {}

impl<F> fmt::Debug for RecordRef<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let raw = self.value.raw();
        f.debug_struct("RecordRef").field("place", &self.place).field("raw", &raw.as_str()).finish()
    }
}

/// A record that owns its bytes and can go to another thread.
pub struct RecordBuf<F> {
    place: Place,
    value: ValueBuf,
    format: PhantomData<fn() -> F>,
}

impl<F: RecordFormat> RecordBuf<F> {
    /// Returns a borrowed view of the record.
    pub fn as_ref(&self) -> RecordRef<'_, F> {
        RecordRef::new(self.place, self.value.value())
    }

    /// Returns the number of the line, from 1, and the offset of its first byte.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Returns the bytes of the record as in the file, without white space around them.
    pub fn raw(&self) -> &[u8] {
        self.as_ref().raw()
    }

    /// Returns the record as a JSON value.
    pub fn value(&self) -> Value<'_> {
        self.value.value()
    }

    /// Returns the record with its members.
    pub fn record(&self) -> F::Record<'_> {
        self.as_ref().record()
    }

    /// Returns the first event of the record, in the model that all formats share.
    pub fn event(&self) -> Event<'_> {
        self.as_ref().event()
    }

    /// Calls `each` with the events of the record, in order, until it returns false. Most records
    /// have one event.
    pub fn for_each_event(&self, each: impl FnMut(&Event<'_>) -> bool) {
        self.as_ref().for_each_event(each);
    }
}

impl<F> Clone for RecordBuf<F> {
    fn clone(&self) -> Self {
        Self { place: self.place, value: self.value.clone(), format: PhantomData }
    }
}

impl<F> Eq for RecordBuf<F> {}

impl<F> PartialEq for RecordBuf<F> {
    fn eq(&self, other: &Self) -> bool {
        (self.place, &self.value) == (other.place, &other.value)
    }
}

impl<F> fmt::Debug for RecordBuf<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let raw = self.value.as_str();
        f.debug_struct("RecordBuf").field("place", &self.place).field("raw", &raw).finish()
    }
}
