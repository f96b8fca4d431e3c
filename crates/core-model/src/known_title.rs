//! A title that others are compared with.
//!
//! In: a title of 8 MB, which the output has. Out: its length and its hash, so that it is not in memory once more.

use crate::Sha256;

/// Limit on the bytes of a title that is kept as it is.
const MAX_KEPT: usize = 1024;

/// A title that others are compared with, such as the last one in the output; at first none. A long one takes no memory.
///
/// ```
/// use core_model::KnownTitle;
///
/// let mut last = KnownTitle::default();
/// assert!(last.is_none() && !last.is("\"Tests\""));
/// last.set("\"Tests\"");
/// assert!(last.is("\"Tests\"") && !last.is("\"Test\""));
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct KnownTitle(Known);

#[derive(Clone, Debug, Default, Eq, PartialEq)]
enum Known {
    #[default]
    None,
    Text(Box<str>),
    Long {
        n_bytes: usize,
        sha256: [u8; 32],
    },
}

impl KnownTitle {
    /// Creates a title from its text, in the spelling of the others.
    pub fn of(text: &str) -> Self {
        let n_bytes = text.len();
        Self(match n_bytes {
            0..=MAX_KEPT => Known::Text(text.into()),
            _ => Known::Long { n_bytes, sha256: Sha256::of(text.as_bytes()) },
        })
    }

    /// Replaces the title.
    pub fn set(&mut self, text: &str) {
        *self = Self::of(text);
    }

    /// Returns whether there is no title.
    pub fn is_none(&self) -> bool {
        matches!(self.0, Known::None)
    }

    /// Returns whether a text is the title.
    pub fn is(&self, text: &str) -> bool {
        match &self.0 {
            Known::None => false,
            Known::Text(known) => **known == *text,
            Known::Long { n_bytes, sha256 } => {
                *n_bytes == text.len() && *sha256 == Sha256::of(text.as_bytes())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_equal_to_its_text_alone_and_a_long_one_is_not_kept() {
        for text in ["", "\"a\"", &"é".repeat(MAX_KEPT / 2), &"é".repeat(MAX_KEPT)] {
            let known = KnownTitle::of(text);
            assert!(known.is(text) && !known.is_none() && known == KnownTitle::of(text));
            let other = format!("b{}", text.get(1..).unwrap_or_default());
            for other in [other, format!("{text} ")] {
                assert!(!known.is(&other) && known != KnownTitle::of(&other), "{}", text.len());
            }
            assert_eq!(matches!(known.0, Known::Text(_)), text.len() <= MAX_KEPT);
        }
    }
}
