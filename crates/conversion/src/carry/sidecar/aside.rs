//! Carries of a sidecar that belong to no record, in a temporary file until they are restored.
//!
//! In: the third carry `2Fc..`, and the fourth, `2Fd..`. Out: the same carries, in order, one at a time.

use std::io::{self, Read, Seek, SeekFrom, Write};

use crate::carry::temporary::{Temporary, temporary};

const WORD: usize = size_of::<u64>();
const HEADER: usize = 2 * WORD;

/// A queue of carries in a file: the number and the length of each, as 8 bytes each, and the carry.
#[derive(Debug, Default)]
pub(super) struct Aside {
    file: Option<Temporary>,
    /// The offset of the first carry, and of the end.
    at: u64,
    end: u64,
    /// The number of the first carry.
    first: Option<u64>,
}

impl Aside {
    /// Returns the number of the first carry in the sidecar; `None` without one.
    pub(super) fn first(&self) -> Option<u64> {
        self.first
    }

    /// Adds the carry with a number.
    ///
    /// # Errors
    ///
    /// Returns an error if the temporary file cannot be written.
    pub(super) fn push(&mut self, number: u64, carry: &str) -> io::Result<()> {
        let file = self.file.get_or_insert_with(temporary);
        file.seek(SeekFrom::Start(self.end))?;
        let length = carry.len() as u64;
        file.write_all(&number.to_le_bytes())?;
        file.write_all(&length.to_le_bytes())?;
        file.write_all(carry.as_bytes())?;
        self.end += HEADER as u64 + length;
        self.first.get_or_insert(number);
        Ok(())
    }

    /// Removes and returns the first carry; `None` without one.
    ///
    /// # Errors
    ///
    /// Returns an error if the temporary file cannot be read.
    pub(super) fn pop(&mut self) -> io::Result<Option<String>> {
        let Some(file) = self.file.as_mut().filter(|_| self.first.is_some()) else {
            return Ok(None);
        };
        file.seek(SeekFrom::Start(self.at + WORD as u64))?;
        let length = word(file)?;
        // As long as the carry, which may be long, and no longer.
        let mut carry = String::with_capacity(usize::try_from(length).unwrap_or_default());
        Read::by_ref(file).take(length).read_to_string(&mut carry)?;
        self.at += HEADER as u64 + length;
        if self.at < self.end {
            self.first = Some(word(file)?);
        } else {
            // The space on the disk is free again.
            *self = Self::default();
        }
        Ok(Some(carry))
    }
}

fn word(file: &mut Temporary) -> io::Result<u64> {
    let mut word = [0; WORD];
    file.read_exact(&mut word)?;
    Ok(u64::from_le_bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carries_come_in_order() {
        let mut aside = Aside::default();
        assert_eq!(aside.pop().expect("read"), None);
        aside.push(2, "a").expect("written");
        aside.push(3, "éé").expect("written");
        assert_eq!((aside.first(), aside.pop().expect("read").as_deref()), (Some(2), Some("a")));
        aside.push(5, "").expect("written");
        assert_eq!((aside.first(), aside.pop().expect("read").as_deref()), (Some(3), Some("éé")));
        assert_eq!((aside.first(), aside.pop().expect("read").as_deref()), (Some(5), Some("")));
        assert!(aside.first().is_none() && aside.pop().expect("read").is_none());
    }
}
