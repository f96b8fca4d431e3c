//! Compares the reader and the writer of lines with clido's own declarations, rebuilt with serde.

use format_clido::{
    ContentBlock, SessionLine, SessionReader, SessionWriter, count_by_type, validate_strict,
};
use jsonl::RawBuf;
use serde_json::Value;

use crate::shared::{data::data, declared::Declared};

fn files(folder: &str) -> Vec<(String, Vec<u8>)> {
    let folder = format!("{}/../../{folder}", env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| {
            let path = entry.expect("an entry").path();
            (path.display().to_string(), std::fs::read(path).expect("a file"))
        })
        .collect();
    files.sort();
    files
}

/// Returns the fixtures, and sessions of the real client if the data exists.
fn sessions() -> Vec<(String, Vec<u8>)> {
    let mut sessions = files("fixtures/clido");
    assert!(sessions.len() > 30);
    sessions.extend(files("fixtures/damaged"));
    sessions.extend(data("clients/clido"));
    sessions.extend(data("hostile/clido"));
    sessions
}

#[test]
fn lines_are_printed_as_clido_prints_them() {
    let mut n_equal = 0;
    for (name, session) in sessions() {
        for line in SessionReader::from_slice(&session).strict().lines_raw() {
            let line = line.expect("in memory");
            let Ok(Some(read)) = &line.line else { continue };
            let bytes = line.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line.bytes);
            let declared: Declared = serde_json::from_slice(bytes).expect("clido loads it");
            let expected = serde_json::to_string(&declared).expect("a line");
            assert_eq!(read.encode().as_deref(), Ok(&*expected), "{name}");
            n_equal += 1;
        }
    }
    assert!(n_equal > 200, "{n_equal}");
}

#[test]
fn lines_changed_by_a_byte_are_read_as_clido_reads_them() {
    let replacements = b"\"{}[]:,0-9.eE\\ut \xff";
    let mut n_read = 0;
    for name in ["file-record", "parallel-calls", "image", "several-results", "titles"] {
        let path = format!("{}/../../fixtures/clido/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
        let session = std::fs::read(path).expect("a fixture");
        for line in jsonl::lines(&session) {
            for (at, byte) in (0..line.bytes().len()).zip(replacements.iter().cycle()) {
                let mut bytes = line.bytes().to_vec();
                bytes[at] = *byte;
                let Some(Ok(read)) = SessionReader::from_slice(&bytes).strict().next() else {
                    continue;
                };
                let declared: Declared = serde_json::from_slice(&bytes).expect("clido loads it");
                let expected = serde_json::to_string(&declared).expect("a line");
                assert_eq!(read.encode().as_deref(), Ok(&*expected));
                n_read += 1;
            }
        }
    }
    assert!(n_read > 1000, "{n_read}");
}

#[test]
fn what_clido_wrote_is_written_again() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["file-record", "parallel-calls", "plain", "image", "titles"] {
        let path = format!("{}/../../fixtures/clido/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
        let session = std::fs::read_to_string(&path).expect("a fixture");
        let mut lines = SessionReader::open(&path).expect("a fixture");
        let Some(Ok(SessionLine::Meta { session_id, start_time, project_path, .. })) = lines.next()
        else {
            panic!("no meta in {name}");
        };
        let copy = folder.path().join(name);
        let mut writer =
            SessionWriter::create(&copy, &session_id, &start_time, &project_path).expect("new");
        for (line_idx, line) in lines.enumerate() {
            if line_idx == 2 {
                writer = SessionWriter::append(&copy).expect("there");
            }
            writer.write_line(&line.expect("a line")).expect("written");
        }
        assert_eq!(std::fs::read_to_string(&copy).expect("there"), session, "{name}");
    }
}

#[test]
fn a_line_after_a_torn_one_stands_for_itself() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("torn.jsonl");
    std::fs::write(&path, "{\"type\":\"tit").expect("written");
    let mut writer = SessionWriter::append(&path).expect("there");
    writer.write_line(&SessionLine::Title { title: "x".to_owned() }).expect("written");
    let expected = "{\"type\":\"tit\n{\"type\":\"title\",\"title\":\"x\"}\n";
    assert_eq!(std::fs::read_to_string(&path).expect("there"), expected);
    assert!(SessionWriter::append(folder.path().join("none")).is_err());
}

/// A generator of numbers that are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    fn value(&mut self, depth: u32) -> String {
        const STRINGS: &[&str] = &[
            r#""""#,
            r#""a""#,
            r#""\u0061b""#,
            r#""\/\"\\""#,
            r#""é\u00e9\ud83c\udf89""#,
            "\"\\u001f\u{7f}\"",
        ];
        const NUMBERS: &[&str] = &[
            "0",
            "-0",
            "1.0",
            "-1e-7",
            "1E+2",
            "0.00001",
            "1e15",
            "1e16",
            "1e17",
            "123456789.125",
            "18446744073709551615",
            "18446744073709551616",
            "-9223372036854775808",
            "5e-324",
            "-9223372036854775809",
            "0.1",
            "1e300",
            "123456789012345680.0",
            "0.000123",
            "1e-5",
        ];
        let kind = self.below(if depth < 5 { 6 } else { 4 });
        let n = self.below(4);
        match kind {
            0 => ["null", "true", "false"][self.below(3) as usize].to_owned(),
            1 => STRINGS[self.below(STRINGS.len() as u64) as usize].to_owned(),
            2 => NUMBERS[self.below(NUMBERS.len() as u64) as usize].to_owned(),
            // With more digits or a larger exponent, clido's parser is sometimes off by a bit.
            3 => format!("{}e{}", self.below(1 << 50), self.below(40) as i32 - 20),
            4 => {
                let items: Vec<_> = (0..n).map(|_| self.value(depth + 1)).collect();
                format!("[ {}]", items.join(" ,"))
            }
            _ => {
                let members: Vec<_> = (0..n)
                    .map(|_| {
                        let key = STRINGS[self.below(STRINGS.len() as u64) as usize];
                        format!("{key} : {}", self.value(depth + 1))
                    })
                    .collect();
                format!("{{{} }}", members.join(", "))
            }
        }
    }
}

#[test]
fn any_input_is_printed_as_a_tree_of_sorted_keys() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for _ in 0..20_000 {
        let input = numbers.value(0);
        let line = SessionLine::ToolCall {
            tool_use_id: "t".to_owned(),
            tool_name: "N".to_owned(),
            input: RawBuf::new(input.as_str()).expect("JSON"),
        };
        let value: Value = serde_json::from_str(&input).expect("JSON");
        let expected =
            format!(r#"{{"type":"tool_call","tool_use_id":"t","tool_name":"N","input":{value}}}"#);
        assert_eq!(line.encode().as_deref(), Ok(&*expected), "{input}");
    }
    let deep = format!("{}{{\"b\":1,\"a\":2}}{}", "[".repeat(125), "]".repeat(125));
    let call = |input: &str| SessionLine::ToolCall {
        tool_use_id: String::new(),
        tool_name: String::new(),
        input: RawBuf::new(input).expect("JSON"),
    };
    let line = call(&deep).encode().expect("loadable");
    assert!(line.ends_with(&format!("{{\"a\":2,\"b\":1}}{}}}", "]".repeat(125))), "{line}");
    assert!(serde_json::from_str::<Declared>(&line).is_ok());
    for input in [format!("[{deep}]"), "\"\\ud800\"".to_owned(), "[1e400]".to_owned()] {
        assert!(call(&input).encode().is_err(), "{input}");
    }
}

#[test]
fn the_strict_reader_and_the_strict_check_agree() {
    for (name, session) in sessions() {
        let mut refused: Vec<_> = validate_strict(&session);
        refused.retain(|problem| problem.stops() && !problem.rule.starts_with("block-"));
        refused.dedup_by_key(|problem| problem.line);
        let errors: Vec<_> = SessionReader::from_slice(&session)
            .strict()
            .filter_map(|line| line.err()?.problem().cloned())
            .collect();
        assert_eq!(errors, refused, "{name}");
    }
}

#[test]
fn every_line_that_says_something_is_read() {
    for (name, session) in sessions() {
        let n_read = SessionReader::from_slice(&session).filter(Result::is_ok).count() as u64;
        let n_errors = SessionReader::from_slice(&session).filter(Result::is_err).count();
        let n_values = count_by_type(&session).total();
        assert!(n_read <= n_values, "{name}");
        let is_odd = name.contains("damaged") || name.contains("wrong-types");
        assert!(is_odd || name.contains("hostile") || n_errors == 0, "{name}");
    }
}

#[test]
fn strings_in_the_place_of_blocks_are_text() {
    let session = br#"{"type":"user_message","role":"user","content":"caf\u00e9"}"#;
    let mut lines = SessionReader::from_slice(session);
    let line = lines.next().expect("a line").expect("a message");
    let [block] = line.content() else { panic!("one block") };
    let text = ContentBlock::Text { text: "café".to_owned() };
    assert_eq!(ContentBlock::decode(block), Some(text));
    assert!(SessionReader::from_slice(session).strict().next().expect("a line").is_err());
}
