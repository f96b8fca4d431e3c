//! Without its secrets a line is what it was, and twice is once.

use std::cell::RefCell;

use jsonl::{Line, Scanner};
use secrets::Search;

thread_local! {
    /// To build one takes longer than to search an input a thousand times.
    static SEARCH: RefCell<Search> = RefCell::new(Search::new());
}

/// A secret of a kind that needs no escape, wherever it stands.
const SECRET: &str = concat!("ghp", "_0123456789abcdefghijABCDEFGHIJ012345");

/// Checks the lines of an input, and each with a secret before and behind it.
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
            // In the middle of a word it is none.
            let is_left = count(&once) > count(content);
            assert!(!is_left, "{} is left in {}", SECRET, once.escape_ascii());
        }
    }
}

fn count(bytes: &[u8]) -> usize {
    bytes.windows(SECRET.len()).filter(|window| *window == SECRET.as_bytes()).count()
}

/// Redacts a line, checks what became of it, and returns it.
fn redacted(search: &mut Search, scanner: &mut Scanner, line: &[u8]) -> Vec<u8> {
    let (mut once, mut kept) = (Vec::new(), Vec::new());
    let mut done = 0;
    search.redact(&Line::new(line, 1), &mut once, &mut |finding| {
        let place = &finding.written;
        assert!(done <= place.start && place.start < place.end, "secrets in order");
        kept.extend_from_slice(&line[done..place.start]);
        kept.extend_from_slice(format!("[REDACTED:{}]", finding.rule.name).as_bytes());
        done = place.end;
    });
    kept.extend_from_slice(&line[done..]);
    assert_eq!(once, kept, "nothing but secrets changes");
    let was_json = scanner.scan(&Line::new(line, 1)).is_ok();
    assert!(!was_json || scanner.scan(&Line::new(&once, 1)).is_ok(), "JSON stays JSON");
    let mut twice = Vec::new();
    search.redact(&Line::new(&once, 1), &mut twice, &mut |finding| {
        panic!("{} is found the second time: {}", finding.rule.name, line.escape_ascii());
    });
    assert_eq!(twice, once, "twice is once");
    once
}
