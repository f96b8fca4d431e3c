//! A damaged line in pieces is the line; a complete record at its start or its end is found.

use jsonl::{Line, Recovery, Scanner, Value};

/// A record, as clients write them.
const RECORD: &[u8] = br#"{"type":"user","sessionId":"s","message":{"content":"\"}{\\"}}"#;

/// Checks what is recovered from each line, and from each with a record before and behind it.
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
        assert_eq!(piece.line.offset(), offset, "a piece starts where the one before ended");
        assert!(!piece.line.bytes().is_empty(), "a piece is something");
        offset += piece.line.bytes().len() as u64;
        let is_object = scanner.scan(&piece.line).is_ok_and(|value| value.is_object());
        assert!(is_object || !piece.is_record, "a record is an object");
    }
    let is_apart = |pair: &[jsonl::Piece<'_>]| pair.iter().any(|piece| piece.is_record);
    assert!(recovery.pieces.windows(2).all(is_apart), "the rest is not cut");
    let is_some = !recovery.pieces.is_empty();
    assert!(!is_some || offset == line.offset() + length, "pieces joined are the line");
    assert_eq!(is_some, recovery.pieces.iter().any(|piece| piece.is_record), "or it stays whole");
    recovery
}

fn is_record(value: Value<'_>) -> bool {
    value.get("type").is_some() && value.get("sessionId").is_some()
}
