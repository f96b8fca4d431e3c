//! Bounds the memory of the distinct names that a view counts by.
//!
//! In: `Read`, `Edit`, and a name of 1 MiB. Out: room for the first two, and `(others)` for the third.

/// The name of the count of all names without room.
pub const OTHERS: &str = "(others)";

/// Length in bytes up to which a name has room. Linux has no longer paths.
const MAX_NAME: usize = 4096;

/// Memory for names, in bytes. 40,000 paths of 40 bytes have room.
const MAX_SIZE: usize = 4 * 1024 * 1024;

/// Memory for a name beside its bytes: entries of a map, their counts and blocks of the allocator.
const PER_NAME: usize = 64;

/// The room for the distinct names of a view.
///
/// ```
/// use core_model::NameRoom;
///
/// let mut room = NameRoom::default();
/// assert!(room.add("Read"));
/// assert!(!room.add(&"x".repeat(1_000_000)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct NameRoom {
    n_bytes: usize,
}

impl NameRoom {
    /// Adds a name that the view does not have yet. Returns whether there is room; if not, the name
    /// counts under [`OTHERS`].
    pub fn add(&mut self, name: &str) -> bool {
        let n_bytes = self.n_bytes + name.len() + PER_NAME;
        let has_room = name.len() <= MAX_NAME && n_bytes <= MAX_SIZE;
        if has_room {
            self.n_bytes = n_bytes;
        }
        has_room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_room_up_to_four_mebibytes() {
        let mut room = NameRoom::default();
        let n_added = (0..100_000).filter(|n| room.add(&format!("/project/{n:031}"))).count();
        assert_eq!(n_added, MAX_SIZE / (40 + PER_NAME));
        assert!(room.add("x".repeat(MAX_SIZE % (40 + PER_NAME)).get(PER_NAME..).unwrap_or("")));
        assert!(!room.add("y"));
    }
}
