//! Chooses the columns of a table that are built.
//!
//! In: the names `role`, `text`. Out: a table with these two columns, in this order.

use crate::{
    Column, EVENTS, Error, Result, SESSIONS,
    schema::{Place, RAW},
};

/// The columns of a table that are built, in their order. What only other columns need is not read.
///
/// ```
/// use export_parquet::Selection;
///
/// let selection = Selection::of_events(&["role", "text"])?;
/// assert_eq!(selection.names().collect::<Vec<_>>(), ["role", "text"]);
/// let error = Selection::of_sessions(&["role"]).expect_err("a column of the other table");
/// assert!(error.to_string().starts_with("no column `role`; the columns are file, source_format, "));
/// # Ok::<(), export_parquet::Error>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Selection {
    table: &'static [Column],
    /// The places of the columns in the table.
    places: Vec<usize>,
}

impl Selection {
    /// Selects all columns of `events`, with the bytes of the lines as the last one if asked for.
    pub fn all_events(with_raw: bool) -> Self {
        Self { table: EVENTS, places: (0..EVENTS.len() + usize::from(with_raw)).collect() }
    }

    /// Selects all columns of `sessions`.
    pub fn all_sessions() -> Self {
        Self { table: SESSIONS, places: (0..SESSIONS.len()).collect() }
    }

    /// Selects columns of `events` by their names. `raw` is the bytes of the lines.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no name, a name is unknown, or one occurs twice.
    pub fn of_events(names: &[impl AsRef<str>]) -> Result<Self> {
        Self::of(EVENTS, Some(&RAW), names)
    }

    /// Selects columns of `sessions` by their names.
    ///
    /// # Errors
    ///
    /// As for [`Selection::of_events`].
    pub fn of_sessions(names: &[impl AsRef<str>]) -> Result<Self> {
        Self::of(SESSIONS, None, names)
    }

    fn of(
        table: &'static [Column],
        raw: Option<&Column>,
        names: &[impl AsRef<str>],
    ) -> Result<Self> {
        let known = || table.iter().chain(raw).map(|column| column.name);
        let listed = || known().collect::<Vec<_>>().join(", ");
        let mut places = Vec::new();
        for name in names {
            let name = name.as_ref();
            let place = known().position(|column| column == name);
            let place = place.ok_or_else(|| Error::NoColumn(name.to_owned(), listed()))?;
            if places.contains(&place) {
                return Err(Error::Twice(name.to_owned()));
            }
            places.push(place);
        }
        if places.is_empty() {
            return Err(Error::NoColumns(listed()));
        }
        Ok(Self { table, places })
    }

    /// Adds the bytes of the lines as the last column of `events`, unless they are selected.
    #[must_use]
    pub fn with_raw(mut self) -> Self {
        if self.table == EVENTS && !self.has(Place::Raw) {
            self.places.push(Place::Raw as usize);
        }
        self
    }

    /// Returns the names of the columns.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.columns().map(|column| column.name)
    }

    /// Returns whether a column of `events` is built.
    pub(crate) fn has(&self, place: Place) -> bool {
        self.places.contains(&(place as usize))
    }

    pub(crate) fn columns(&self) -> impl Iterator<Item = Column> {
        self.places.iter().map(|place| self.table.get(*place).copied().unwrap_or(RAW))
    }

    pub(crate) fn places(&self) -> &[usize] {
        &self.places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_named_once() {
        let message =
            |names: &[&str]| Selection::of_events(names).expect_err("no table").to_string();
        assert_eq!(message(&["text", "role", "text"]), "column `text` is named twice");
        assert!(
            message(&[]).starts_with("no column is named; the columns are source_format, file, ")
        );
        let unknown = message(&["text", "x"]);
        assert!(unknown.starts_with("no column `x`; ") && unknown.ends_with(", raw"), "{unknown}");
    }

    #[test]
    fn the_bytes_of_lines_are_a_column_once() {
        for names in [&["raw", "text"][..], &["text"]] {
            let selection = Selection::of_events(names).expect("columns").with_raw();
            assert_eq!(selection.names().filter(|name| *name == "raw").count(), 1);
        }
        assert_eq!(Selection::all_events(false).with_raw(), Selection::all_events(true));
        assert!(!Selection::all_sessions().with_raw().names().any(|name| name == "raw"));
    }
}
