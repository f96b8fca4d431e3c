//! Checks recovery: the pieces of a damaged line are the line, and a complete record at its start or its
//! end is found.

use jsonl::{Line, Recovery, Scanner, Value};

/// A record with braces and quotes in its text.
const RECORD: &[u8] = br#"{"type":"user","sessionId":"s","message":{"content":"\"}{\\"}}"#;

/// Checks the pieces of each line, also with a record before it and after it.
pub fn recover(input: &[u8]) {
    for line in jsonl::lines(input) {
        let content = line.content();
        pieces(&line);
        let behind = [content, RECORD].concat();
        let before = [RECORD, content].concat();
        let behind = Line::new(&behind, 7);
        if Scanner::default().scan(&behind).is_err() {
            let found = pieces(&behind);
            let last = found.pieces.last().expect("a record ends the line");
            assert!(last.is_record, "a record ends the line");
            assert_eq!(last.line.bytes().trim_ascii(), RECORD, "the record that ends the line");
        }
        let before = Line::new(&before, 7);
        if Scanner::default().scan(&before).is_err() {
            let found = pieces(&before);
            let first = found.pieces.first().expect("a record starts the line");
            assert!(first.is_record, "a record starts the line");
            assert_eq!(first.line.bytes().trim_ascii(), RECORD, "the record that starts the line");
        }
    }
}

/// Checks the pieces of a line, and returns them.
fn pieces<'l>(line: &Line<'l>) -> Recovery<'l> {
    let mut scanner = Scanner::default();
    let recovery = jsonl::recover(line, &mut scanner, &is_record);
    let length = line.bytes().len() as u64;
    assert!(recovery.n_examined <= 4 * length, "{} for {length}", recovery.n_examined);
    let mut offset = line.offset();
    for piece in &recovery.pieces {
        assert_eq!(
            piece.line.offset(),
            offset,
            "a piece does not start at the end of the piece before it"
        );
        assert!(!piece.line.bytes().is_empty(), "an empty piece");
        offset += piece.line.bytes().len() as u64;
        let is_object = scanner.scan(&piece.line).is_ok_and(|value| value.is_object());
        assert!(is_object || !piece.is_record, "a record that is no object");
    }
    let is_apart = |pair: &[jsonl::Piece<'_>]| pair.iter().any(|piece| piece.is_record);
    assert!(
        recovery.pieces.windows(2).all(is_apart),
        "two pieces without a record follow each other"
    );
    let is_some = !recovery.pieces.is_empty();
    assert!(!is_some || offset == line.offset() + length, "the pieces joined are not the line");
    assert_eq!(
        is_some,
        recovery.pieces.iter().any(|piece| piece.is_record),
        "pieces without a record"
    );
    recovery
}

fn is_record(value: Value<'_>) -> bool {
    value.get("type").is_some() && value.get("sessionId").is_some()
}
