//! A member that may be absent or null.

/// A member that is absent, null, or has a value. Every format distinguishes the three.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Field<T> {
    /// The member is absent.
    #[default]
    Absent,
    /// The member is `null`.
    Null,
    /// The member has a value.
    Value(T),
}

impl<T> Field<T> {
    /// Returns the value, if there is one.
    pub fn value(self) -> Option<T> {
        match self {
            Field::Value(value) => Some(value),
            _ => None,
        }
    }
}
