//! Finds string members in text without parsing it, because lines may be cut at both ends.
//!
//! In: `..uncated"}\n{"type":"tag","tag":"work"}` and `tag`. Out: `work`.

use jsonl::Text;
use memchr::{memchr2, memmem};

/// Returns the first string member with a name, at any depth; `None` if it is empty.
pub(super) fn first(text: &str, name: &str) -> Option<String> {
    let found = patterns(name).iter().find_map(|pattern| all(text, pattern).next());
    found.filter(|found| !found.is_empty())
}

/// Returns the last string member with a name, at any depth; `None` if it is empty. A member with a
/// space before its value is preferred, as in the SDK.
pub(super) fn last(text: &str, name: &str) -> Option<String> {
    let found = patterns(name).iter().rev().find_map(|pattern| all(text, pattern).last());
    found.filter(|found| !found.is_empty())
}

fn patterns(name: &str) -> [String; 2] {
    [format!("\"{name}\":\""), format!("\"{name}\": \"")]
}

/// Returns the strings after each occurrence of a pattern.
fn all<'t>(text: &'t str, pattern: &'t str) -> impl Iterator<Item = String> + 't {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, found) =
            rest.split_at_checked(memmem::find(rest.as_bytes(), pattern.as_bytes())?)?;
        let after = found.strip_prefix(pattern)?;
        let (body, after) = after.split_at_checked(end_of_string(after)?)?;
        rest = after.strip_prefix('"')?;
        Some(meaning(body))
    })
}

/// Returns the position of the quote that ends a string.
fn end_of_string(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0_usize;
    loop {
        at = at.saturating_add(memchr2(b'"', b'\\', bytes.get(at..)?)?);
        if bytes.get(at) == Some(&b'"') {
            return Some(at);
        }
        at = at.saturating_add(2);
    }
}

/// Returns the decoded body of a string; a body that cannot be decoded is returned as it is.
fn meaning(body: &str) -> String {
    if !body.contains('\\') {
        return body.to_owned();
    }
    let written = format!("\"{body}\"");
    Text::new(&written).map_or_else(|| body.to_owned(), |text| text.decode().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_lines_that_are_cut() {
        let text = r#"tle":"torn"},{"a":"1","a":"2\"x","b":"","a": "spaced","c":"no end"#;
        assert_eq!(first(text, "a").as_deref(), Some("1"));
        assert_eq!(last(text, "a").as_deref(), Some("spaced"));
        assert_eq!((first(text, "b"), last(text, "c"), first(text, "d")), (None, None, None));
        assert_eq!(last(r#"{"a":"1","a":"2\"x"}"#, "a").as_deref(), Some("2\"x"));
    }
}
