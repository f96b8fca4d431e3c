//! Checks redaction: it changes nothing but secrets, and redacting twice changes nothing more.

use std::cell::RefCell;

use jsonl::{Line, Scanner};
use secrets::Search;

thread_local! {
    /// Kept for all inputs, because building it takes longer than a thousand searches.
    static SEARCH: RefCell<Search> = RefCell::new(Search::new());
}

/// A secret that is found at any position and needs no escape.
const SECRET: &str = concat!("ghp", "_0123456789abcdefghijABCDEFGHIJ012345");

/// Checks the lines of an input, also with a secret before, behind and around them.
pub fn redact(input: &[u8]) {
    SEARCH.with_borrow_mut(|search| redact_lines(search, input));
}

fn redact_lines(search: &mut Search, input: &[u8]) {
    let mut scanner = Scanner::default();
    for line in jsonl::lines(input) {
        redacted(search, &mut scanner, line.bytes());
        let content = line.content();
        for with in [
            [SECRET.as_bytes(), b"\" ", content].concat(),
            [content, b" \"", SECRET.as_bytes()].concat(),
            [&b"{\"text\":\""[..], SECRET.as_bytes(), b"\",\"x\":", content, b"}"].concat(),
        ] {
            let once = redacted(search, &mut scanner, &with);
            // In the middle of a word, the text is no secret, so the content may have it already.
            let is_left = count(&once) > count(content);
            assert!(!is_left, "{} is left in {}", SECRET, once.escape_ascii());
        }
    }
}

fn count(bytes: &[u8]) -> usize {
    bytes.windows(SECRET.len()).filter(|window| *window == SECRET.as_bytes()).count()
}

/// Redacts a line, checks the result, and returns it.
fn redacted(search: &mut Search, scanner: &mut Scanner, line: &[u8]) -> Vec<u8> {
    let (mut once, mut kept) = (Vec::new(), Vec::new());
    let mut done = 0;
    search.redact(&Line::new(line, 1), &mut once, &mut |finding| {
        let place = &finding.written;
        assert!(
            done <= place.start && place.start < place.end,
            "findings that overlap or are not in order"
        );
        kept.extend_from_slice(&line[done..place.start]);
        kept.extend_from_slice(format!("[REDACTED:{}]", finding.rule.name).as_bytes());
        done = place.end;
    });
    kept.extend_from_slice(&line[done..]);
    assert_eq!(once, kept, "more than the secrets was changed");
    let was_json = scanner.scan(&Line::new(line, 1)).is_ok();
    assert!(!was_json || scanner.scan(&Line::new(&once, 1)).is_ok(), "redacted JSON is no JSON");
    let mut twice = Vec::new();
    search.redact(&Line::new(&once, 1), &mut twice, &mut |finding| {
        panic!("{} is found in the redacted line of: {}", finding.rule.name, line.escape_ascii());
    });
    assert_eq!(twice, once, "redacting twice changed more");
    once
}
