//! Quotes text for a shell.

/// Returns text as one word of a POSIX shell.
pub(crate) fn quoted(text: &str) -> String {
    let is_plain = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-' | b'+' | b',')
    };
    if !text.is_empty() && text.bytes().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_shell() {
        for (text, word) in [
            ("/home/u/my-app", "/home/u/my-app"),
            ("/home/u/my app", "'/home/u/my app'"),
            ("/it's", r"'/it'\''s'"),
            ("/$(rm -rf ~)`x`", "'/$(rm -rf ~)`x`'"),
            ("/é", "'/é'"),
            ("~", "'~'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(text), word);
        }
    }
}
