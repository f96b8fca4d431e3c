//! Recognizes places in code.
//!
//! In: `config.go:66`. Out: a place, so that a table with `Config.PWD` and `config.go:66` has no password.

/// Returns whether a value is a place in code, with its line: `config.go:66`, `src/main.rs:12:5`.
pub(crate) fn is_place_in_code(value: &[u8]) -> bool {
    const ENDINGS: &[&[u8]] = &[
        b"c", b"cc", b"cpp", b"cs", b"css", b"go", b"h", b"hpp", b"html", b"java", b"js", b"json",
        b"jsx", b"kt", b"md", b"mjs", b"php", b"py", b"rb", b"rs", b"scala", b"sh", b"sql",
        b"swift", b"toml", b"ts", b"tsx", b"vue", b"yaml", b"yml",
    ];
    let mut parts = value.splitn(3, |byte| *byte == b':');
    let file = parts.next().unwrap_or_default();
    let is_number =
        |part: &[u8]| (1..=6).contains(&part.len()) && part.iter().all(u8::is_ascii_digit);
    let is_in = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./".contains(byte);
    let Some(dot) = memchr::memrchr(b'.', file) else { return false };
    let (name, ending) = file.split_at_checked(dot).unwrap_or_default();
    let ending = ending.get(1..).unwrap_or_default();
    let mut lines = parts.peekable();
    lines.peek().is_some()
        && lines.all(is_number)
        && !name.is_empty()
        && name.iter().all(is_in)
        && ENDINGS.contains(&ending)
}

#[cfg(test)]
mod tests {
    use super::is_place_in_code;
    use crate::Search;
    use jsonl::Line;

    #[test]
    fn a_file_with_a_line_is_a_place() {
        for place in ["config.go:66", "src/auth/login.rs:112:9", "a.b.ts:1"] {
            assert!(is_place_in_code(place.as_bytes()), "{place}");
        }
        for other in [
            "config.go",
            "config.go:",
            "config.go:x9",
            ".go:66",
            "Kelvor#7.go:66",
            "ada:5281",
            "a.go:1:2:3",
        ] {
            assert!(!is_place_in_code(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn a_place_beside_the_name_of_a_password_stays() {
        for text in ["Config.PWD | config.go:66", "the `Config.PWD` (`config.go:66`)"] {
            let line = format!("{{\"text\":\"{text}\"}}");
            Search::new().find(&Line::new(line.as_bytes(), 0), &mut |_| panic!("{text}"));
        }
    }
}
