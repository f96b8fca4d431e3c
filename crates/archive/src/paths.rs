//! Paths as JSON strings, of whatever bytes they are.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use jsonl::{Style, Text, push_string};
use storage::path_of_bytes;

/// Returns whether a terminal may obey a character, print what follows it in another direction, or print
/// nothing for it. The two joiners U+200C and U+200D are invisible too, but words and emoji need them.
pub fn is_harmful(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}')
        || matches!(char, '\u{2066}'..='\u{206f}' | '\u{200e}' | '\u{200f}' | '\u{61c}')
        || matches!(char, '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{feff}')
        || matches!(char, '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns a path as the body of a JSON string; what is not UTF-8 is spelled as Python does it, with
/// a lone surrogate for each byte. Characters that a terminal would obey are escaped: people look at
/// plans and journals.
pub fn path_body(path: &Path) -> Box<str> {
    // Nearly all paths are such: a run writes six bodies for each file.
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    if let Some(text) = path.to_str().filter(|text| text.as_bytes().iter().all(is_plain)) {
        return text.into();
    }
    let bytes = path.as_os_str().as_encoded_bytes();
    let mut body = String::new();
    for chunk in bytes.utf8_chunks() {
        let mut text = Vec::new();
        push_string(&mut text, chunk.valid(), Style::Compact);
        let text = String::from_utf8_lossy(&text);
        for char in text.get(1..text.len() - 1).unwrap_or_default().chars() {
            match is_harmful(char) {
                true => {
                    for unit in char.encode_utf16(&mut [0; 2]) {
                        _ = write!(body, "\\u{unit:04x}");
                    }
                }
                false => body.push(char),
            }
        }
        for byte in chunk.invalid() {
            _ = write!(body, "\\udc{byte:02x}");
        }
    }
    body.into()
}

/// Returns a path that somebody spelled as [`path_body`] spells it.
pub(crate) fn body_of(text: Text<'_>) -> Arc<str> {
    let body = text.body();
    let is_plain = body.bytes().all(|byte| matches!(byte, b' '..=b'~' if byte != b'\\'));
    if is_plain { body.into() } else { Arc::from(&*path_body(&path_of(text))) }
}

/// Returns the path that [`path_body`] spelled so, or a program that spells text otherwise.
pub(crate) fn path_of(text: Text<'_>) -> PathBuf {
    let (mut path, mut rest) = (Vec::new(), text.body());
    while let Some((before, byte, after)) = lone_byte(rest) {
        path.extend_from_slice(decoded(before).as_bytes());
        path.push(byte);
        rest = after;
    }
    path.extend_from_slice(decoded(rest).as_bytes());
    path_of_bytes(path)
}

/// Finds the first surrogate that stands for a byte, and what is before and after it.
fn lone_byte(body: &str) -> Option<(&str, u8, &str)> {
    let (mut at, mut is_after_high) = (0, false);
    loop {
        let start = at + body.get(at..)?.find('\\')?;
        is_after_high &= start == at;
        let digits = body.get(start + 2..start + 6).filter(|_| body[start + 1..].starts_with('u'));
        let code = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        at = start + if code.is_some() { 6 } else { 2 };
        match code {
            Some(code @ 0xdc80..=0xdcff) if !is_after_high => {
                return Some((body.get(..start)?, (code & 0xff) as u8, body.get(at..)?));
            }
            code => is_after_high = code.is_some_and(|code| (0xd800..0xdc00).contains(&code)),
        }
    }
}

fn decoded(body: &str) -> String {
    let written = format!("\"{body}\"");
    Text::new(&written).map(|text| text.decode().into_owned()).unwrap_or_default()
}

#[cfg(all(test, unix))]
mod tests {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    use super::*;

    #[test]
    fn any_path_comes_back() {
        let paths: [&[u8]; 8] = [
            b"/a \"b\"\n/\xff\xc3.jsonl",
            b"",
            "/\u{1f389}/\u{dc}\\udc80".as_bytes(),
            b"\\\\udcff",
            b"\xed\xb3\xbf",
            b"\x80\\\x80",
            "/a\u{202e}b\u{9b}\u{7f}".as_bytes(),
            "/a\u{200b}b\u{feff}\u{e0041}\u{2063}".as_bytes(),
        ];
        for path in paths {
            let path = Path::new(OsStr::from_bytes(path));
            let written = format!("\"{}\"", path_body(path));
            let text = Text::new(&written).expect("text");
            assert_eq!(path_of(text), path, "{written}");
            assert_eq!(*body_of(text), *path_body(path));
            assert!(!written.contains(is_harmful), "{written}");
        }
    }

    #[test]
    fn what_others_spell_is_understood() {
        let path = |written| path_of(Text::new(written).expect("text"));
        assert_eq!(path(r#""/\ud83c\udf89\udce9\u00e9""#).as_os_str().as_encoded_bytes(), {
            b"/\xf0\x9f\x8e\x89\xe9\xc3\xa9"
        });
        // The second half of a pair is no byte.
        assert_eq!(path(r#""\ud83c\udc80""#), Path::new("\u{1f080}"));
    }
}

/// Returns whether a folder between the main file's and a file's is a link.
pub(crate) fn has_link(path: &Path, main: &Path) -> bool {
    let root = main.parent().unwrap_or(Path::new(""));
    let folders = path.ancestors().skip(1).take_while(|folder| *folder != root);
    folders.into_iter().any(Path::is_symlink)
}
