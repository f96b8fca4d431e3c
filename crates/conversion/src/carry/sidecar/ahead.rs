//! Carries of a sidecar that were read before their records, the last one and a megabyte in memory, and the others in a
//! temporary file.
//!
//! In: the carries 0, 1 and 2, of 8 MB each. Out: carry 2 from memory, carry 1 from the file.

use std::{
    collections::BTreeMap,
    io::{self, Read, Seek, SeekFrom, Write},
    sync::Arc,
};

use crate::carry::temporary::{Temporary, temporary};

/// Limit on the bytes of carries in memory, beside the last one.
const MAX_IN_MEMORY: usize = if cfg!(test) { 64 } else { 1024 * 1024 };

/// The memory of a carry beside its text.
const OVERHEAD: usize = 160;

/// Carries by their numbers in the sidecar.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    carries: BTreeMap<u64, Place>,
    /// The size of all carries, and of those in memory.
    n_bytes: usize,
    n_in_memory: usize,
    file: Option<Temporary>,
    /// The size of the file, and the number of carries in it.
    end: u64,
    n_in_file: usize,
}

/// The place of a carry.
#[derive(Debug)]
enum Place {
    Memory(Arc<String>),
    File { at: u64, length: usize },
}

impl Ahead {
    pub(super) fn is_empty(&self) -> bool {
        self.carries.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.carries.len()
    }

    /// Returns the size of all carries in bytes, with the memory beside their texts.
    pub(super) fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// Returns the lowest number; `None` without a carry.
    pub(super) fn first(&self) -> Option<u64> {
        self.carries.first_key_value().map(|(number, _)| *number)
    }

    /// Adds a carry with a number. It stays in memory, because its record is probably the next one.
    ///
    /// # Errors
    ///
    /// Returns an error if the temporary file cannot be written.
    pub(super) fn push(&mut self, number: u64, carry: String) -> io::Result<()> {
        let size = carry.len() + OVERHEAD;
        if self.n_in_memory + size > MAX_IN_MEMORY {
            self.move_to_file()?;
        }
        self.n_bytes += size;
        self.n_in_memory += size;
        self.carries.insert(number, Place::Memory(Arc::new(carry)));
        Ok(())
    }

    /// Moves the carries to the file if they are more than a megabyte.
    ///
    /// # Errors
    ///
    /// As for [`Ahead::push`].
    pub(super) fn settle(&mut self) -> io::Result<()> {
        if self.n_in_memory > MAX_IN_MEMORY { self.move_to_file() } else { Ok(()) }
    }

    fn move_to_file(&mut self) -> io::Result<()> {
        if self.n_in_memory == 0 {
            return Ok(());
        }
        let file = self.file.get_or_insert_with(temporary);
        file.seek(SeekFrom::Start(self.end))?;
        for place in self.carries.values_mut() {
            let Place::Memory(carry) = place else { continue };
            file.write_all(carry.as_bytes())?;
            let (at, length) = (self.end, carry.len());
            self.end += length as u64;
            self.n_in_file += 1;
            *place = Place::File { at, length };
        }
        self.n_in_memory = 0;
        Ok(())
    }

    /// Returns the carry with a number; `None` if there is none. It stays where it is.
    ///
    /// # Errors
    ///
    /// Returns an error if the temporary file cannot be read.
    pub(super) fn get(&mut self, number: u64) -> io::Result<Option<Arc<String>>> {
        match self.carries.get(&number) {
            None => Ok(None),
            Some(Place::Memory(carry)) => Ok(Some(Arc::clone(carry))),
            Some(Place::File { at, length }) => read(self.file.as_mut(), *at, *length).map(Some),
        }
    }

    /// Returns the first carries, at most `n`.
    ///
    /// # Errors
    ///
    /// As for [`Ahead::get`].
    pub(super) fn head(&mut self, n: usize) -> io::Result<Vec<Arc<String>>> {
        let numbers: Vec<u64> = self.carries.keys().take(n).copied().collect();
        let carries = numbers.into_iter().filter_map(|number| self.get(number).transpose());
        carries.collect()
    }

    /// Returns the first carry; `None` without one. From now on it is in memory.
    ///
    /// # Errors
    ///
    /// As for [`Ahead::get`].
    pub(super) fn first_text(&mut self) -> io::Result<Option<&str>> {
        let Some(mut first) = self.carries.first_entry() else { return Ok(None) };
        if let Place::File { at, length } = *first.get() {
            first.insert(Place::Memory(read(self.file.as_mut(), at, length)?));
            self.n_in_memory += length + OVERHEAD;
            self.leave_file();
        }
        Ok(match self.carries.first_key_value() {
            Some((_, Place::Memory(carry))) => Some(carry.as_str()),
            _ => None,
        })
    }

    /// Removes and returns the carry with a number; `None` if there is none.
    ///
    /// # Errors
    ///
    /// As for [`Ahead::get`].
    pub(super) fn remove(&mut self, number: u64) -> io::Result<Option<String>> {
        let carry = match self.carries.remove(&number) {
            None => return Ok(None),
            Some(Place::Memory(carry)) => {
                self.n_in_memory = self.n_in_memory.saturating_sub(carry.len() + OVERHEAD);
                carry
            }
            Some(Place::File { at, length }) => {
                let carry = read(self.file.as_mut(), at, length)?;
                self.leave_file();
                carry
            }
        };
        self.n_bytes = self.n_bytes.saturating_sub(carry.len() + OVERHEAD);
        Ok(Some(Arc::unwrap_or_clone(carry)))
    }

    /// Notes that a carry left the file. Without carries, its space on the disk is free again.
    fn leave_file(&mut self) {
        self.n_in_file = self.n_in_file.saturating_sub(1);
        if self.n_in_file == 0 {
            (self.file, self.end) = (None, 0);
        }
    }
}

fn read(file: Option<&mut Temporary>, at: u64, length: usize) -> io::Result<Arc<String>> {
    let file = file.ok_or(io::ErrorKind::NotFound)?;
    file.seek(SeekFrom::Start(at))?;
    let mut carry = String::with_capacity(length);
    Read::by_ref(file).take(length as u64).read_to_string(&mut carry)?;
    Ok(Arc::new(carry))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carries_come_back_from_memory_and_from_the_file() {
        let mut ahead = Ahead::default();
        let carry = |number: u64| "é".repeat(number as usize * 40);
        for number in 0..6 {
            ahead.push(number, carry(number)).expect("kept");
            assert!(ahead.n_in_memory <= MAX_IN_MEMORY.max(carry(number).len() + OVERHEAD));
        }
        assert_eq!((ahead.len(), ahead.first(), ahead.n_in_file), (6, Some(0), 5));
        assert_eq!(ahead.n_bytes(), 6 * OVERHEAD + 80 * 15);
        ahead.settle().expect("written");
        assert_eq!(ahead.n_in_memory, 0);
        let head: Vec<String> =
            ahead.head(2).expect("read").iter().map(|it| it.to_string()).collect();
        assert_eq!(head, [carry(0), carry(1)]);
        assert_eq!(ahead.remove(4).expect("read"), Some(carry(4)));
        assert_eq!(ahead.remove(4).expect("none"), None);
        assert_eq!(ahead.remove(0).expect("read"), Some(carry(0)));
        assert_eq!(ahead.first_text().expect("read"), Some(&*carry(1)));
        ahead.push(6, carry(6)).expect("kept");
        for number in [1, 2, 3, 5, 6] {
            assert_eq!(ahead.get(number).expect("read").as_deref(), Some(&carry(number)));
            assert_eq!(ahead.remove(number).expect("read"), Some(carry(number)));
        }
        assert!(ahead.is_empty() && ahead.file.is_none());
        assert_eq!(
            (ahead.n_bytes(), ahead.n_in_memory, ahead.first_text().expect("none")),
            (0, 0, None)
        );
    }
}
