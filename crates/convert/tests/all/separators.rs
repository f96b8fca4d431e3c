//! Tests of U+2028 and U+2029, at which Node's `readline` ends a line, so that Gemini CLI and Qwen Code lose the line.

use convert::{CarryMode, Conversion, FORMATS, Sidecar, by_name};
use core_model::Options;

/// Returns a session of Claude Code with a text in a prompt, a response, and a line that no target shows.
fn session(text: &str) -> String {
    let context = r#""sessionId":"0199a213-81d4-7800-8000-000000000001","timestamp":"2026-01-01T10:00:00.000Z","cwd":"/p","version":"2""#;
    // Some targets have one line for the texts of a response.
    let response = |uuid: &str, parent: &str, text: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"{uuid}","parentUuid":"{parent}",{context},"message":{{"id":"m","role":"assistant","model":"claude-x","content":[{{"type":"text","text":"{text}"}}]}}}}"#
        )
    };
    [
        format!(r#"{{"type":"file-history-snapshot","messageId":"{text}"}}"#),
        format!(
            r#"{{"type":"user","uuid":"a","parentUuid":null,{context},"message":{{"role":"user","content":"{text} asks"}}}}"#
        ),
        response("b", "a", "first"),
        response("c", "b", &format!("{text} answers")),
        response("d", "c", "last"),
        String::new(),
    ]
    .join("\n")
}

#[test]
fn separators_are_escaped_for_clients_that_end_lines_at_them() {
    let raw = "a\u{2028}b\u{2029}“";
    for text in [raw, r"a\u2028b\\u2029", &format!(r"{raw}\u2028"), &format!(r"\u2029 {raw}")] {
        let source = session(text);
        for to in ["qwen", "gemini", "codex", "pi"] {
            for carry in [CarryMode::Inline, CarryMode::Sidecar] {
                let [from, to] = ["claude-code", to].map(|name| by_name(name).expect("a format"));
                let what = format!("{text:?} to {} {carry:?}", to.name);
                let there =
                    Conversion { formats: FORMATS, from, to, carry, options: Options::default() };
                let written = there.convert(source.as_bytes(), None).expect("in memory");
                let target = String::from_utf8(written.bytes).expect("text");
                let has_separators = target.contains(['\u{2028}', '\u{2029}']);
                assert!(!(to.escapes_separators && has_separators), "{what}: {target}");
                let sidecar = written.sidecar.as_deref().map(Sidecar::read);
                let sidecar = sidecar.transpose().expect("a sidecar");
                let back = Conversion { from: to, to: from, ..there };
                let home = back.convert(target.as_bytes(), sidecar).expect("in memory");
                assert_eq!(std::str::from_utf8(&home.bytes), Ok(source.as_str()), "{what}");
                assert!(!home.report.wants_attention(), "{what}");
            }
        }
    }
}
