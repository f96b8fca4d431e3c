//! Names that are safe as parts of paths and of commands.
//!
//! In: `abc-1`, `../../x`. Out: `abc-1`, `x-` and a hash.

use std::fmt;

use crate::Sha256;

/// A name that is safe as a part of a path and as an argument of a command.
///
/// It starts with an ASCII letter or digit and contains only letters, digits, `-` and `_`. It has
/// at most 64 bytes and is not a device name of Windows.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SafeName(String);

impl SafeName {
    /// Limit of a name's length in bytes.
    pub const MAX_LENGTH: usize = 64;

    /// Creates a name; returns `None` if it is not safe.
    ///
    /// ```
    /// use core_model::SafeName;
    ///
    /// assert!(SafeName::new("2a86484a-eb59-46ef").is_some());
    /// for unsafe_name in ["", "..", "../x", "a/b", "-rf", "a b", "NUL", "com1", "é", "a\n"] {
    ///     assert!(SafeName::new(unsafe_name).is_none(), "{unsafe_name:?}");
    /// }
    /// ```
    pub fn new(name: &str) -> Option<Self> {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let is_safe = name.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric)
            && name.len() <= Self::MAX_LENGTH
            && name.bytes().all(is_word)
            && !is_device(name);
        is_safe.then(|| Self(name.to_owned()))
    }

    /// Creates a name for any text: the text itself if it is safe, else `x-` and a hash of it.
    ///
    /// ```
    /// use core_model::SafeName;
    ///
    /// assert_eq!(SafeName::of("abc").as_str(), "abc");
    /// assert_eq!(SafeName::of("../x").as_str().len(), 34);
    /// assert_ne!(SafeName::of("../x"), SafeName::of("../y"));
    /// ```
    pub fn of(text: &str) -> Self {
        Self::new(text).unwrap_or_else(|| {
            let hash = Sha256::of(text.as_bytes());
            let hex: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
            Self(format!("x-{hex}"))
        })
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SafeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns whether a name without its extension is a device of Windows.
pub fn is_device(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "con" | "prn" | "aux" | "nul" | "conin" | "conout" | "conin$" | "conout$" => true,
        _ => {
            let number = name.strip_prefix("com").or(name.strip_prefix("lpt"));
            let is_digit = |c: char| matches!(c, '0'..='9' | '¹' | '²' | '³');
            number.is_some_and(|number| number.strip_prefix(is_digit) == Some(""))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_at_most_64_bytes() {
        assert!(SafeName::new(&"a".repeat(64)).is_some());
        assert!(SafeName::new(&"a".repeat(65)).is_none());
        assert!(SafeName::new(SafeName::of(&"a".repeat(65)).as_str()).is_some());
        assert!(SafeName::new("lpt9").is_none() && SafeName::new("lpt10").is_some());
        assert!(is_device("CONIN$") && is_device("COM¹") && !is_device("COM¹²"));
    }

    /// Values that a session may have instead of an id.
    const HOSTILE: [&str; 29] = [
        "",
        ".",
        "..",
        "../../etc/passwd",
        "..\\..\\x",
        "/etc/passwd",
        "C:\\x",
        "C:x",
        "\\\\host\\share",
        "a/b",
        "a\\b",
        "a\0b",
        "a\nb",
        "\u{1b}[31m",
        "-rf",
        "--help",
        "$(id)",
        "`id`",
        "a;b",
        "a b",
        "~",
        "CON",
        "nul",
        "com1",
        "a.",
        "a:stream",
        "\u{202e}gpj.exe",
        "e\u{301}",
        "\u{e9}",
    ];

    #[test]
    fn hostile_ids_become_names_of_their_own() {
        let long = "x".repeat(4_096);
        let mut names = std::collections::HashSet::new();
        for id in HOSTILE.into_iter().chain([&*long]) {
            assert!(SafeName::new(id).is_none(), "{id:?}");
            let name = SafeName::of(id);
            assert_eq!(SafeName::new(name.as_str()).as_ref(), Some(&name), "{id:?}");
            assert!(names.insert(name), "{id:?} has the name of another");
        }
    }

    #[test]
    fn names_of_a_million_ids_do_not_collide() {
        // Some differ in case or in normal form only.
        let n_ids = std::env::var("NAMES").ok().and_then(|it| it.parse().ok()).unwrap_or(50_000);
        let mut names = std::collections::HashMap::with_capacity(n_ids);
        for n in 0..n_ids {
            let stem = n / 10;
            let id = match n % 10 {
                0 => format!("{stem:08x}-eb59-46ef"),
                1 => format!("../{stem}"),
                2 => format!("..\\{stem}"),
                3 => format!("caf\u{e9}-{stem}"),
                4 => format!("cafe\u{301}-{stem}"),
                5 => format!("CAF\u{c9}-{stem}"),
                6 => format!("a/{stem}"),
                7 => format!("A/{stem}"),
                8 => format!("agent-{stem}"),
                _ => format!("{stem}\0"),
            };
            // Names must differ on file systems that ignore case, too.
            let folded = SafeName::of(&id).as_str().to_ascii_lowercase();
            if let Some(other) = names.insert(folded, id.clone()) {
                assert!(other.is_empty(), "{id:?} and {other:?}");
            }
        }
        assert_eq!(names.len(), n_ids);
    }
}
