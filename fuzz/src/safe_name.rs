//! Checks file names: the name for any text is safe, and different texts have different names.

use core_model::SafeName;

/// Checks the name for a text, and the names for similar texts.
pub fn safe_name(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let name = SafeName::of(&text);
    let bytes = name.as_str().as_bytes();
    assert!((1..=SafeName::MAX_LENGTH).contains(&bytes.len()), "{name}: too long or empty");
    assert!(bytes[0].is_ascii_alphanumeric(), "{name}: like an option or a hidden file");
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
    assert!(bytes.iter().all(is_word), "{name}: a character that paths or shells interpret");
    assert_eq!(SafeName::new(name.as_str()), Some(name.clone()), "its own name is refused");
    assert_eq!(SafeName::of(name.as_str()), name, "a safe name is changed");
    for other in
        [format!("{text} "), format!("{text}\0"), format!("./{text}"), text.replace('/', "_")]
    {
        let is_same = *other == *text || other == name.as_str();
        assert_eq!(SafeName::of(&other) == name, is_same, "{text:?} and {other:?}");
    }
}
