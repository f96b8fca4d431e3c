//! Thousands of source lines of a few bytes are restored byte for byte, and their carries are not many
//! times as long.

use std::io::Cursor;

use convert::{CarryMode, Conversion, Converted, FORMATS, Sidecar, by_name};
use core_model::Options;

const PROMPT: &str = r#"{"parentUuid":null,"type":"user","uuid":"11111111-0000-4000-8000-000000000001","sessionId":"11111111-1111-4111-8111-111111111111","timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":"What time is it?"}}"#;

fn convert(
    from: &str,
    to: &str,
    carry: CarryMode,
    source: &[u8],
    sidecar: Option<&[u8]>,
) -> Converted {
    let [from, to] = [from, to].map(|name| by_name(name).expect("a format"));
    let conversion = Conversion { formats: FORMATS, from, to, carry, options: Options::default() };
    let sidecar =
        sidecar.map(|bytes| Sidecar::open(Cursor::new(bytes.to_vec())).expect("a sidecar"));
    conversion.convert(source, sidecar).expect("converted")
}

/// Returns a session with runs of tiny lines of several kinds before, between and after two prompts.
fn session(n_tiny: usize) -> Vec<u8> {
    let runs = ["\n", "{}\n", "\r\n", "x\n", "[1]\n\n", "{\"type\":\"made-up\"}\n"];
    let mut source = String::new();
    for (n, run) in runs.iter().enumerate() {
        source.push_str(&run.repeat(n_tiny));
        if n % 2 == 0 {
            source.push_str(&PROMPT.replace("000000000001", &format!("00000000000{n}")));
            source.push('\n');
        }
    }
    source.push_str("{}");
    source.into_bytes()
}

#[test]
fn runs_of_tiny_lines_come_back() {
    for n_tiny in [1, 31, 32, 33, 34, 1_000] {
        let source = session(n_tiny);
        for to in ["clido", "sdk-stream", "sdk-stream:wire"] {
            for carry in [CarryMode::Inline, CarryMode::Sidecar] {
                let Converted { bytes: written, sidecar, .. } =
                    convert("claude-code", to, carry, &source, None);
                let Converted { bytes: back, report, .. } =
                    convert(to, "claude-code", carry, &written, sidecar.as_deref());
                assert!(back == source, "{n_tiny} {to} {carry:?}");
                let n_lines = source.split(|byte| *byte == b'\n').count() as u64;
                assert_eq!(report.restored.restored, n_lines, "{n_tiny} {to} {carry:?}");
                assert_eq!(report.lines_out, n_lines, "{n_tiny} {to} {carry:?}");
            }
        }
    }
}

#[test]
fn runs_of_tiny_lines_come_back_from_a_format_further_on() {
    let source = session(200);
    let clido = convert("claude-code", "clido", CarryMode::Inline, &source, None).bytes;
    let stream = convert("clido", "sdk-stream", CarryMode::Inline, &clido, None).bytes;
    let back = convert("sdk-stream", "claude-code", CarryMode::Inline, &stream, None).bytes;
    assert!(back == source);
    // Tiny lines that are added in the middle of the file belong to the target.
    let edited = [&clido[..], "\n".repeat(100).as_bytes()].concat();
    let stream = convert("clido", "sdk-stream", CarryMode::Inline, &edited, None).bytes;
    let back = convert("sdk-stream", "clido", CarryMode::Inline, &stream, None).bytes;
    assert!(back == edited);
}

#[test]
fn what_carries_tiny_lines_is_not_many_times_their_length() {
    for (line, most) in [("\n", 4), ("{}\n", 3)] {
        let n_lines = 100_000;
        let source = format!("{PROMPT}\n{}", line.repeat(n_lines));
        for to in ["clido", "sdk-stream"] {
            let source = source.as_bytes();
            let written = convert("claude-code", to, CarryMode::Inline, source, None).bytes;
            let law = most * source.len() + 8 * 1024;
            assert!(written.len() < law, "{line:?} to {to}: {} of {law} bytes", written.len());
        }
    }
}
