//! The words of an error of the system.

use std::io;

/// Returns the words of an error of the system without its number, which says nothing more.
///
/// In: `No such file or directory (os error 2)`. Out: `No such file or directory`. The words of other errors stay.
pub fn system_words(error: &io::Error) -> String {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<io::Error>());
    if let Some(inner) = inner {
        return system_words(inner);
    }
    let words = error.to_string();
    let number = error.raw_os_error().map(|number| format!(" (os error {number})"));
    let bare = number.and_then(|number| words.strip_suffix(&number).map(str::to_owned));
    bare.unwrap_or(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_system_has_words_and_no_number() {
        let error = || io::Error::from_raw_os_error(2);
        let words = system_words(&error());
        assert!(!words.is_empty() && !words.contains("os error"), "{words}");
        assert_eq!(system_words(&io::Error::other(error())), words);
        // The name of a file stays.
        let name = "a (os error 2)";
        assert_eq!(system_words(&io::Error::other(name)), name);
    }
}
