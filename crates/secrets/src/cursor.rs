//! A position in bytes that cannot leave their bounds. Parsers use it instead of indices.

/// A position in bytes: between two bytes, before the first, or after the last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'b> {
    bytes: &'b [u8],
    /// At most the length of the bytes.
    place: usize,
}

impl<'b> Cursor<'b> {
    /// Creates a position before the first byte.
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, place: 0 }
    }

    /// Returns all of the bytes.
    pub(crate) fn whole(self) -> &'b [u8] {
        self.bytes
    }

    /// Returns the number of bytes before it.
    pub(crate) fn place(self) -> usize {
        self.place
    }

    /// Returns the bytes before it.
    pub(crate) fn before(self) -> &'b [u8] {
        self.since(0)
    }

    /// Returns the bytes from an earlier position to this one. Returns none for a later position.
    pub(crate) fn since(self, place: usize) -> &'b [u8] {
        self.bytes.get(place..self.place).unwrap_or_default()
    }

    /// Returns the bytes after it.
    pub(crate) fn rest(self) -> &'b [u8] {
        self.bytes.get(self.place..).unwrap_or_default()
    }

    /// Moves to a position, or to the end if it is beyond.
    pub(crate) fn to(self, place: usize) -> Self {
        Self { place: place.min(self.bytes.len()), ..self }
    }

    /// Returns the position in the bytes before an offset only.
    pub(crate) fn until(self, place: usize) -> Self {
        let bytes = self.bytes.get(..place).unwrap_or(self.bytes);
        Self { bytes, place: self.place.min(bytes.len()) }
    }

    /// Moves forward by a number of bytes, at most to the end.
    pub(crate) fn forward(self, length: usize) -> Self {
        self.to(self.place.saturating_add(length))
    }

    /// Moves back by a number of bytes, at most to the start.
    pub(crate) fn back(self, length: usize) -> Self {
        Self { place: self.place.saturating_sub(length), ..self }
    }

    /// Returns the byte after it.
    pub(crate) fn next(self) -> Option<u8> {
        #[cfg(test)]
        work::add(1);
        self.rest().first().copied()
    }

    /// Returns the byte before it.
    pub(crate) fn previous(self) -> Option<u8> {
        self.before().last().copied()
    }

    /// Returns at most `max` bytes after it.
    pub(crate) fn window(self, max: usize) -> &'b [u8] {
        let rest = self.rest();
        rest.get(..max).unwrap_or(rest)
    }

    /// Returns at most `max` bytes before it.
    pub(crate) fn window_before(self, max: usize) -> &'b [u8] {
        self.since(self.place.saturating_sub(max))
    }

    /// Moves past the bytes that `is_in` accepts, at most `max`.
    pub(crate) fn skip(self, max: usize, is_in: impl Fn(u8) -> bool) -> Self {
        let length = self.rest().iter().take(max).take_while(|byte| is_in(**byte)).count();
        #[cfg(test)]
        work::add(length.saturating_add(1));
        self.forward(length)
    }

    /// Moves past a text, if the text follows.
    pub(crate) fn past(self, text: &[u8]) -> Option<Self> {
        self.rest().starts_with(text).then(|| self.forward(text.len()))
    }
}

/// Counts the bytes that are looked at one by one, so that tests can bound the work of a search.
#[cfg(test)]
pub(crate) mod work {
    use std::cell::Cell;

    thread_local! {
        static N_BYTES: Cell<usize> = const { Cell::new(0) };
    }

    pub(crate) fn add(n_bytes: usize) {
        N_BYTES.set(N_BYTES.get().saturating_add(n_bytes));
    }

    /// Returns the number of bytes that a function looks at.
    pub(crate) fn of(run: impl FnOnce()) -> usize {
        N_BYTES.set(0);
        run();
        N_BYTES.get()
    }
}
