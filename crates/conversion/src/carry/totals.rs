//! Compares the carries of a file with the end mark of their conversion.
//!
//! In: carries with the ordinals 0 and 1, of one entry each, and the end mark `!3,4,2g`. Out: one record is missing. If the
//! third carry is there, but has one entry instead of two: it is miscounted.

use std::io::{self, Read, Seek};

use core_model::Format;

use crate::{
    carry::{
        Carry, End, Member,
        ordinals::{Ordinals, Seen},
        sidecar::Sidecar,
        sum_of_guards,
    },
    pipeline::source::Source,
};

/// Returns the end mark of a written file, whose carries are its own or in a sidecar; `None` if it has none.
///
/// # Errors
///
/// Returns an error if the file or the sidecar cannot be read.
pub fn end_mark<R: Read + Seek + Send>(
    written: &'static Format,
    source: &mut Source<R>,
    sidecar: Option<&mut Sidecar>,
) -> io::Result<Option<End>> {
    let mut totals = CarryTotals::default();
    let mut note = |carry: &str| Carry::parse(carry).map_or((), |carry| totals.note(&carry));
    source.for_each_piece(&[written], &mut |_, value| {
        let member = value.ok().and_then(|value| Member::find(value, written));
        member.iter().for_each(|member| note(&member.carry));
        true
    })?;
    if let Some(sidecar) = sidecar {
        while let Some(carry) = sidecar.next_left()? {
            note(&carry);
        }
    }
    Ok(totals.end)
}

/// The carries that were read of a file.
#[derive(Debug, Default)]
pub(crate) struct CarryTotals {
    ordinals: Ordinals,
    /// The entries of these carries, and the bytes that they restore.
    n_entries: u64,
    n_bytes: u64,
    /// The sum of their guards.
    guards: u64,
    end: Option<End>,
    /// Whether a carry of version 2 was read. Version 1 has no ordinals and no end mark.
    has_ordinals: bool,
}

/// The difference between the carries of a file and their end mark.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Shortfall {
    /// Whether the end mark is missing.
    pub(crate) is_cut: bool,
    /// The number of carries that are missing.
    pub(crate) missing: u64,
    /// Whether all carries are there, with other entries or guards than they were written with.
    pub(crate) is_miscounted: bool,
}

impl CarryTotals {
    /// Stores the end mark of a carry, if it has one.
    pub(crate) fn note(&mut self, carry: &Carry<'_>) {
        let is_last = |end: &End| self.end.is_none_or(|known| known.carries < end.carries);
        if let Some(end) = carry.end.filter(is_last) {
            self.end = Some(end);
        }
        self.has_ordinals |= carry.ordinal.is_some();
    }

    /// Adds a carry, unless its ordinal was read before.
    pub(crate) fn see(&mut self, carry: &Carry<'_>) -> Seen {
        let seen = carry.ordinal.map_or(Seen::Next, |ordinal| self.ordinals.see(ordinal));
        if seen != Seen::Again {
            let (n_entries, n_bytes) = carry.totals();
            self.n_entries = self.n_entries.saturating_add(n_entries);
            self.n_bytes = self.n_bytes.saturating_add(n_bytes);
            self.guards = sum_of_guards(self.guards, carry.guard);
        }
        seen
    }

    /// Returns whether a carry with this ordinal was added.
    pub(crate) fn has(&self, ordinal: u64) -> bool {
        self.ordinals.has(ordinal)
    }

    /// Returns whether the first carry was added; true for version 1, which has no ordinals.
    pub(crate) fn has_first(&self) -> bool {
        !self.has_ordinals || self.ordinals.has(0)
    }

    /// Returns the number of carries that are missing before the last one so far.
    pub(crate) fn missing_so_far(&self) -> u64 {
        self.ordinals.end() - self.ordinals.n_seen()
    }

    /// Compares the carries with the end mark, at the end of the file.
    pub(crate) fn shortfall(&self) -> Shortfall {
        if !self.has_ordinals {
            return Shortfall::default();
        }
        let (n_seen, highest) = (self.ordinals.n_seen(), self.ordinals.end());
        let Some(end) = self.end.filter(|end| end.carries >= highest) else {
            return Shortfall { is_cut: true, missing: highest - n_seen, is_miscounted: false };
        };
        let missing = end.carries - n_seen;
        // A record of another conversion may have as many entries and bytes, or none.
        let is_equal = (self.n_entries, self.n_bytes) == (end.entries, end.bytes)
            && end.guards.is_none_or(|guards| guards == self.guards);
        Shortfall { is_cut: false, missing, is_miscounted: missing == 0 && !is_equal }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shortfall(carries: &[&str]) -> Shortfall {
        let mut totals = CarryTotals::default();
        for text in carries {
            let carry = Carry::parse(text).expect("a carry");
            totals.note(&carry);
            totals.see(&carry);
        }
        totals.shortfall()
    }

    #[test]
    fn carries_are_compared_with_their_end_mark() {
        let first = r#"2F5:clidoGb:AAAAAAAAAAAN1:0;0@n8:LiAWQ37L{"a":1}"#;
        let last = r#"2F5:clidoGb:AAAAAAAAAAAN1:1;8@n8:LiAWQ37L{"a":1}!2,2,g"#;
        let emptied = "2F5:clidoGb:AAAAAAAAAAAN1:1;!2,2,g";
        let whole = Shortfall::default();
        assert_eq!(shortfall(&[first, last]), whole);
        assert_eq!(shortfall(&[first, last, first]), whole);
        assert_eq!(shortfall(&[last]), Shortfall { missing: 1, ..whole });
        assert_eq!(shortfall(&[first]), Shortfall { is_cut: true, ..whole });
        assert_eq!(shortfall(&[first, emptied]), Shortfall { is_miscounted: true, ..whole });
        let other = first.replace("AAAAAAAAAAA", "BAAAAAAAAAA");
        for (guards, is_miscounted) in [("", false), (",0", true), (",1", false)] {
            let last = format!("{last}{guards}");
            let expected = Shortfall { is_miscounted, ..whole };
            assert_eq!(shortfall(&[&other, &last]), expected, "{guards}");
        }
    }
}
