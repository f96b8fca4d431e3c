//! A name for any text is safe, and texts that differ have names that differ.

use core_model::SafeName;

/// Checks the name of some text, and those of its neighbors.
pub fn safe_name(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let name = SafeName::of(&text);
    let bytes = name.as_str().as_bytes();
    assert!((1..=SafeName::MAX_LENGTH).contains(&bytes.len()), "{name}: a short name");
    assert!(bytes[0].is_ascii_alphanumeric(), "{name}: no option, no hidden file");
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
    assert!(bytes.iter().all(is_word), "{name}: nothing that a path or a shell reads");
    assert_eq!(SafeName::new(name.as_str()), Some(name.clone()), "a name is a name");
    assert_eq!(SafeName::of(name.as_str()), name, "of a name, the name");
    for other in
        [format!("{text} "), format!("{text}\0"), format!("./{text}"), text.replace('/', "_")]
    {
        let is_same = *other == *text || other == name.as_str();
        assert_eq!(SafeName::of(&other) == name, is_same, "{text:?} and {other:?}");
    }
}
