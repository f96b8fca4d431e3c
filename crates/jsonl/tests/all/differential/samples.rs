//! Lines of every kind: hand-made difficult ones, and lines of the fixtures.

use std::{fs, path::Path};

/// Limit for the length of lines: faults are near the borders of blocks and windows.
const MAX_LENGTH: usize = 4_000;

/// Returns the lines; under Miri only the difficult ones.
pub(crate) fn lines() -> Vec<Vec<u8>> {
    let mut lines = hard_lines();
    if !cfg!(miri) {
        fixture_lines(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures"), &mut lines);
        assert!(lines.len() > 500, "there are fixtures");
    }
    lines
}

fn hard_lines() -> Vec<Vec<u8>> {
    let lines = [
        r#"{"type":"user","message":{"role":"user","content":"a \"b\" \\ \u00e9\ud83c\udf89\n"}}"#,
        r#"{"a":[1,-0,1.5e+3,true,false,null,{"b":{}},[[]]],"a":"\\\\\"","é":"🎉"}"#,
        r#"{"usage": {"input_tokens": 12345678901234567890, "cost": 0.025106700000000003}}"#,
        r#"["\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\"" ]"#,
        r#" [ "\b\f\n\r\t\/\\\"" , "" , "\u0000" ] "#,
        "\"\"",
        "0",
        "[[[[[[[[[[[[[[[[[[[[[[\"deep\",1]]]]]]]]]]]]]]]]]]]]]]",
        "{\"\":{\"\":\"\"}}",
        "{\"tab\":\t\"between\"}",
        "\"\u{7f}\u{80}\u{7ff}\u{800}\u{ffff}\u{10000}\"",
    ];
    lines.map(|line| line.as_bytes().to_vec()).to_vec()
}

/// Collects the first line of each kind of each fixture.
fn fixture_lines(folder: &Path, lines: &mut Vec<Vec<u8>>) {
    let mut paths: Vec<_> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            // The outputs of old versions are packed.
            if !path.ends_with("compat") {
                fixture_lines(&path, lines);
            }
        } else if let Ok(bytes) = fs::read(&path) {
            let new = jsonl::lines(&bytes).map(|line| line.content());
            lines.extend(new.filter(|line| line.len() < MAX_LENGTH).take(20).map(<[u8]>::to_vec));
        }
    }
}
