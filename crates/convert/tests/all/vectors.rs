//! Tests the example and the test vectors of docs/CARRY.md: the encoder writes the same bytes, and the
//! decoder reads them.

use std::{fs, path::Path};

use convert::{Carry, CarryError, CarryMode, Conversion, FORMATS, by_name};
use core_model::Options;
use jsonl::Style;

/// A vector: the values of its keys.
#[derive(Default)]
struct Vector {
    name: String,
    carry: String,
    record: String,
    is_python: bool,
    restores: Option<Vec<u8>>,
    verdict: Option<String>,
}

fn text(json: &str) -> String {
    serde_json::from_str::<String>(json).expect(json)
}

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/CARRY.md");
    fs::read_to_string(path).expect("the page")
}

/// Returns the code blocks of a language in the section with a title.
fn blocks(title: &str, language: &str) -> Vec<String> {
    let page = page();
    let section = page.split("\n## ").find(|section| section.starts_with(title)).expect(title);
    let fence = format!("```{language}\n");
    let blocks = section.split(&fence).skip(1);
    blocks.map(|block| block.split("```").next().unwrap_or_default().to_owned()).collect()
}

fn vectors() -> Vec<Vector> {
    let mut vectors = Vec::new();
    for block in blocks("Test vectors", "text") {
        for paragraph in block.trim_end().split("\n\n") {
            let mut vector = Vector::default();
            for line in paragraph.lines() {
                match line.split_once(' ').map(|(key, value)| (key, value.trim_start())) {
                    Some(("carry", value)) => vector.carry = text(value),
                    Some(("record", value)) => vector.record = text(value),
                    Some(("style", value)) => vector.is_python = value == "python",
                    Some(("verdict", value)) => vector.verdict = Some(value.to_owned()),
                    Some(("restores", value)) if value.starts_with('"') => {
                        vector.restores = Some(text(value).into_bytes());
                    }
                    Some(("restores", value)) => {
                        let digits: Vec<char> = value.chars().collect();
                        let byte = |pair: &[char]| {
                            u8::from_str_radix(&pair.iter().collect::<String>(), 16).expect("hex")
                        };
                        vector.restores = Some(digits.chunks(2).map(byte).collect());
                    }
                    _ => vector.name = line.to_owned(),
                }
            }
            vectors.push(vector);
        }
    }
    vectors
}

/// The result of decoding a carry: the restored bytes, or the error.
fn read(vector: &Vector) -> Result<Vec<u8>, &'static str> {
    let carry = Carry::parse(&vector.carry).map_err(|error| match error {
        CarryError::Newer => "newer",
        CarryError::Damaged => "damaged",
    })?;
    let style = if vector.is_python { Style::Python } else { Style::Compact };
    let template = carry.template.unwrap_or_default().as_bytes();
    let mut restored = Vec::new();
    for entry in carry.entries() {
        let (record, start, mut pieces) = (vector.record.as_bytes(), restored.len(), Vec::new());
        let is_right = entry.restore(&mut restored, record, template, style);
        let mut each = |piece: &[u8]| pieces.extend_from_slice(piece);
        assert_eq!(entry.each_restored(record, template, style, &mut each), is_right);
        if !is_right {
            return Err("refused");
        }
        assert_eq!(pieces, restored[start..]);
    }
    Ok(restored)
}

#[test]
fn the_vectors_of_the_document_hold() {
    let vectors = vectors();
    assert!(vectors.len() >= 35, "{} vectors", vectors.len());
    let mut wrong = Vec::new();
    for vector in vectors {
        let found = read(&vector);
        let expected = match (&vector.restores, &vector.verdict) {
            (Some(bytes), None) => Ok(bytes.clone()),
            (_, verdict) => Err(verdict.as_deref().unwrap_or("no verdict")),
        };
        if found != expected {
            wrong.push(format!("{}: {found:?}", vector.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_example_of_the_document_is_what_is_written() {
    let blocks = blocks("Example", "json");
    let [source, written] = &blocks[..] else { panic!("{} blocks", blocks.len()) };
    let [claude, clido] = ["claude-code", "clido"].map(|name| by_name(name).expect("a format"));
    let convert = |from, to, bytes: &str| {
        let way = Conversion {
            formats: FORMATS,
            from,
            to,
            carry: CarryMode::Inline,
            options: Options::default(),
        };
        let bytes = way.convert(bytes.as_bytes(), None).expect("in memory").bytes;
        String::from_utf8(bytes).expect("text")
    };
    assert_eq!(convert(claude, clido, source), *written);
    assert_eq!(convert(clido, claude, written), *source);
}
