//! Tests of the recovery of damaged lines, and of its running time.

use jsonl::{Line, Scanner, Value, recover};

fn has_id(value: Value<'_>) -> bool {
    value.get("id").is_some()
}

/// Returns the pieces of a line as text, records in angle quotes.
fn pieces(bytes: &[u8], offset: u64) -> Vec<String> {
    let line = Line::new(bytes, offset);
    let recovery = recover(&line, &mut Scanner::default(), &has_id);
    let mut end = offset;
    let mut shown = Vec::new();
    for piece in &recovery.pieces {
        assert_eq!(piece.line.offset(), end, "pieces follow each other");
        assert!(piece.line.is_piece() && !piece.line.bytes().is_empty());
        end += piece.line.bytes().len() as u64;
        let text = piece.line.bytes().escape_ascii().to_string().replace("\\\"", "'");
        shown.push(if piece.is_record { format!("<{text}>") } else { text });
        let is_object = |value: Value<'_>| value.is_object();
        let value = Scanner::default().scan(&piece.line).map(is_object);
        assert!(!piece.is_record || value == Ok(true), "a record is an object");
    }
    let joined: Vec<u8> =
        recovery.pieces.iter().flat_map(|piece| piece.line.bytes()).copied().collect();
    assert!(joined.is_empty() || joined == bytes, "pieces joined are the line");
    shown
}

fn check(line: &str, expected: &[&str]) {
    assert_eq!(pieces(line.as_bytes(), 7), expected, "{line:?}");
}

#[test]
fn glued_records() {
    check("{'a':1}{'b':2}".replace('\'', "\"").as_str(), &["<{'a':1}>", "<{'b':2}>"]);
    check("{}{}{}\n", &["<{}>", "<{}>", "<{}\\n>"]);
    check(" {} \t{}\r{}\r\n", &["< {} \\t>", "<{}\\r>", "<{}\\r\\n>"]);
}

#[test]
fn torn_records_before_and_after_complete_ones() {
    check("{\"id\":\"x{\"id\":2}\n", &["{'id':'x", "<{'id':2}\\n>"]);
    check("{\"id\":1}{\"id\":\"x", &["<{'id':1}>", "{'id':'x"]);
    check("{\"a\":{\"b\":1}{\"id\":2}{\"id\":3}", &["{'a':{'b':1}", "<{'id':2}>", "<{'id':3}>"]);
    check("{\"id\":1}{\"x\":\"}{\"id\":2}", &["<{'id':1}>", "{'x':'}", "<{'id':2}>"]);
    // Escapes before and after the tear.
    check(
        "{\"x\":\"\\\\\\\"{\"id\":\"\\\\\\\"}{\"}",
        &["{'x':'\\\\\\\\\\\\'", "<{'id':'\\\\\\\\\\\\'}{'}>"],
    );
}

#[test]
fn bytes_of_no_value_around_records() {
    check("\0\0{}\n", &["\\x00\\x00", "<{}\\n>"]);
    check("\x1e{}\n", &["\\x1e", "<{}\\n>"]);
    check("{}\0\0{}\0\n", &["<{}>", "\\x00\\x00", "<{}>", "\\x00\\n"]);
    check("{}}\n", &[]);
    check("{\"id\":1}}\n", &["<{'id':1}>", "}\\n"]);
    check("\u{feff}{} {", &["\\xef\\xbb\\xbf", "<{} >", "{"]);
    check("{\"x\":\"{\"id\":1}\0\0", &["{'x':'", "<{'id':1}>", "\\x00\\x00"]);
    check("{\"x\":\"\u{e9}", &[]);
    // A byte order mark at the start of the file belongs to the first line.
    assert_eq!(pieces(b"\xef\xbb\xbf {}{}", 0), ["<\\xef\\xbb\\xbf {}>", "<{}>"]);
    assert_eq!(pieces(b"\xff{\"id\":1}", 0), ["\\xff", "<{'id':1}>"]);
    assert_eq!(pieces(b"{\"id\":1}\xff", 0), ["<{'id':1}>", "\\xff"]);
}

#[test]
fn values_inside_others_are_no_records() {
    check("{\"id\":1,\"in\":{\"a\":1}\n", &[]);
    check("\"x\":{\"a\":1}}", &[]);
    check("{\"a\":1},\"id\":2}", &[]);
    check("{\"a\":1}],\"id\":2}", &[]);
    check(",{\"a\":1}", &[]);
    check("[{\"a\":1},", &[]);
    check("[{\"id\":1},\n", &["[", "<{'id':1}>", ",\\n"]);
    check("{\"id\":2}]\n", &["<{'id':2}>", "]\\n"]);
    check("[1,{\"id\":2}]]", &["[1,", "<{'id':2}>", "]]"]);
    // Two writers at once: neither record is complete.
    check("{\"id\":1,\"b\":{\"id\":2,\"c\":3}\"x\"}", &[]);
}

#[test]
fn lines_without_a_complete_record_stay_whole() {
    for line in ["", "\n", " \r\n", "{", "}", "{]}", "{\"a\":tru}", "\0\0\n", "1 2", "\"a", "{}}]"]
    {
        assert!(pieces(line.as_bytes(), 0).is_empty(), "{line:?}");
    }
}

/// Lines that could make a search read the same bytes many times.
fn traps(size: usize) -> Vec<(&'static str, Vec<u8>)> {
    let repeated = |unit: &str| unit.repeat(size / unit.len()).into_bytes();
    let quoted = |unit: &str| [b"{\"", &*repeated(unit), b"}"].concat();
    vec![
        ("open braces", repeated("{")),
        ("closed braces", repeated("}")),
        (
            "nested, one brace short",
            [repeated("{\"a\":"), b"1".to_vec(), repeated("}    ")].concat(),
        ),
        ("records", repeated("{\"id\":1}")),
        ("records of no id", repeated("{\"di\":1}x")),
        ("torn records", repeated("{\"id\":\"x")),
        ("backslashes", quoted("\\")),
        ("quotes", quoted("\"")),
        ("escaped quotes", quoted("\\\"")),
        ("NUL", repeated("\0")),
        ("NUL and braces", repeated("\0}")),
        ("commas and empty objects", repeated(",{}")),
        ("brackets", repeated("[")),
        ("pairs after a tear", [b"{\"x\":\"".to_vec(), repeated("{\"id\":1}")].concat()),
        ("spaces", [repeated(" "), b"{}".to_vec(), repeated(" "), b"x".to_vec()].concat()),
    ]
}

#[test]
fn work_grows_with_the_line_and_no_faster() {
    const SIZE: usize = 20_000;
    for n in [1, 2, 4] {
        for (name, line) in traps(n * SIZE) {
            let recovery = recover(&Line::new(&line, 0), &mut Scanner::default(), &has_id);
            let most = 4 * line.len() as u64;
            assert!(recovery.n_examined <= most, "{name}: {} of {most}", recovery.n_examined);
        }
    }
}

#[test]
fn a_line_of_tiny_objects_is_not_cut_to_pieces_without_end() {
    let line = "{}".repeat(300_000);
    let line = Line::new(line.as_bytes(), 0);
    let recovery = recover(&line, &mut Scanner::default(), &has_id);
    assert_eq!(recovery.pieces.len(), 64 * 1024 + 1);
    let n_bytes: usize = recovery.pieces.iter().map(|piece| piece.line.bytes().len()).sum();
    assert_eq!(n_bytes, line.bytes().len());
}
