//! Edits and additions of facts about a session in a written file are restored, and the rest of the
//! source is unchanged.

use convert::{CarryMode, Conversion, Converted, FORMATS, Report, Sidecar, by_name};
use core_model::{Format, Options};

use crate::shared::ways::line_targets;

const CLAUDE: &str = r#"{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/home/ada/demo","sessionId":"1f4c30c7-6323-48e7-8fee-608fc0066a87","version":"2.1.330","gitBranch":"main","type":"user","message":{"role":"user","content":"Hello there"},"uuid":"258ffdb1-4d99-4b9b-8ea5-17c461b6ccdf","timestamp":"2026-02-03T10:00:01.500Z"}
{"parentUuid":"258ffdb1-4d99-4b9b-8ea5-17c461b6ccdf","isSidechain":false,"userType":"external","cwd":"/home/ada/demo","sessionId":"1f4c30c7-6323-48e7-8fee-608fc0066a87","version":"2.1.330","gitBranch":"main","message":{"model":"claude-opus-4-5-20251101","id":"msg_01","type":"message","role":"assistant","content":[{"type":"text","text":"Four."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":12,"output_tokens":9}},"requestId":"req_01101","type":"assistant","uuid":"c932b89c-e018-43d4-9a26-902e22f28d89","timestamp":"2026-02-03T10:00:03.000Z"}
{"type":"custom-title","customTitle":"Old title","sessionId":"1f4c30c7-6323-48e7-8fee-608fc0066a87"}
"#;

const CLIDO: &str = r#"{"type":"meta","session_id":"1f4c30c7-6323-48e7-8fee-608fc0066a87","schema_version":1,"start_time":"2026-02-03T10:00:01.500Z","project_path":"/home/ada/demo"}
{"type":"user_message","role":"user","content":[{"text":"Hello there","type":"text"}]}
{"type":"assistant_message","content":[{"text":"Four.","type":"text"}]}
{"type":"result","exit_status":"completed","total_cost_usd":0.00042,"num_turns":1,"duration_ms":295}
{"type":"title","title":"Old title"}
"#;

const WIRE: &str = r#"{"type":"system","subtype":"init","cwd":"/home/ada/demo","session_id":"1f4c30c7-6323-48e7-8fee-608fc0066a87","tools":["Bash"],"mcp_servers":[],"model":"claude-opus-4-5-20251101","permissionMode":"default","slash_commands":[],"apiKeySource":"none","claude_code_version":"2.1.330","output_style":"default","agents":[],"skills":[],"plugins":[],"uuid":"2e8e57ad-c963-48a6-98e8-a6b4fdcca77b"}
{"type":"user","message":{"role":"user","content":"Hello there"},"parent_tool_use_id":null,"session_id":"1f4c30c7-6323-48e7-8fee-608fc0066a87","uuid":"1a0d0485-9344-4914-997f-5dd78059055c","isReplay":true}
{"type":"assistant","message":{"model":"claude-opus-4-5-20251101","id":"msg_01","type":"message","role":"assistant","content":[{"type":"text","text":"Four."}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":7,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"1f4c30c7-6323-48e7-8fee-608fc0066a87","uuid":"64d9d735-739f-433b-8bc3-7f73c2767c73"}
{"type":"result","subtype":"success","is_error":false,"duration_ms":2100,"duration_api_ms":1900,"num_turns":1,"result":"Four.","session_id":"1f4c30c7-6323-48e7-8fee-608fc0066a87","total_cost_usd":0.0125,"usage":{"input_tokens":12,"output_tokens":3},"modelUsage":{},"permission_denials":[],"uuid":"7c1d0a52-0000-4000-8000-000000000001"}
"#;

/// A session in every format.
fn sessions() -> Vec<(&'static Format, Vec<u8>)> {
    let [claude, clido, dump, wire] = ["claude-code", "clido", "sdk-stream", "sdk-stream:wire"]
        .map(|it| by_name(it).expect("a format"));
    let conversion = Conversion {
        formats: FORMATS,
        from: wire,
        to: dump,
        carry: CarryMode::None,
        options: Options::default(),
    };
    let dumped = conversion.convert(WIRE.as_bytes(), None).expect("in memory").bytes;
    vec![(claude, CLAUDE.into()), (clido, CLIDO.into()), (dump, dumped), (wire, WIRE.into())]
}

/// Returns a file in which a text is replaced in the visible part of its lines.
fn exchanged(written: &str, old: &str, new: &str) -> String {
    let each =
        |line: &str| match line.split_once(",\"_carried\"").or(line.split_once(", \"_carried\"")) {
            Some((shown, _)) => shown.replace(old, new) + &line[shown.len()..],
            None => line.replace(old, new),
        };
    written.lines().map(|line| each(line) + "\n").collect()
}

/// Returns the restored file after `old` is replaced; none if the file does not show it.
fn home(
    (from, source): (&'static Format, &[u8]),
    to: &'static Format,
    [carry, carry_back]: [CarryMode; 2],
    (old, new): (&str, &str),
) -> Option<(String, Report)> {
    let there = Conversion { formats: FORMATS, from, to, carry, options: Options::default() };
    let Converted { bytes, sidecar, .. } = there.convert(source, None).expect("in memory");
    let written = String::from_utf8(bytes).expect("text");
    let changed = exchanged(&written, old, new);
    if changed == written {
        return None;
    }
    let sidecar = sidecar.as_deref().map(|it| Sidecar::read(it).expect("a sidecar"));
    let back = Conversion {
        formats: FORMATS,
        from: to,
        to: from,
        carry: carry_back,
        options: Options::default(),
    };
    let Converted { bytes: home, report, .. } =
        back.convert(changed.as_bytes(), sidecar).expect("in memory");
    Some((String::from_utf8(home).expect("text"), report))
}

const OLD: &str = "/home/ada/demo";
const NEW: &str = "/home/ada/new";

#[test]
fn an_edited_project_path_gets_home() {
    let mut wrong = Vec::new();
    for (from, source) in sessions() {
        let text = String::from_utf8(source.clone()).expect("text");
        // A stream of Codex has no path of the project. Clients of documents set path and title anew when they
        // import one (OpenCode: FORMAT.md, "Going on"), so that an edit of these says nothing.
        for to in line_targets().filter(|to| to.name != from.name) {
            for carry in [CarryMode::Inline, CarryMode::Sidecar] {
                let found = home((from, &source), to, [carry, CarryMode::None], (OLD, NEW));
                let expected = match from.name {
                    "claude-code" => format!(
                        "{text}{{\"type\":\"relocated\",\"relocatedCwd\":\"{NEW}\",\"sessionId\":\"1f4c30c7-6323-48e7-8fee-608fc0066a87\"}}\n"
                    ),
                    _ => text.replace(OLD, NEW),
                };
                let way = format!("{} to {}, {carry:?}", from.name, to.name);
                match found {
                    None => wrong.push(format!("{way}: not shown")),
                    // Each line of Qwen Code has the path, so each is converted.
                    Some((home, report))
                        if to.name == "qwen"
                            && from.name == "claude-code"
                            && !home.contains(OLD)
                            && report.restored.edited > 0 => {}
                    Some((home, report)) if home != expected || report.restored.edited == 0 => {
                        wrong.push(format!("{way}: {:?}\n{home}", report.restored));
                    }
                    Some(_) => {}
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn an_edited_title_gets_home() {
    let mut wrong = Vec::new();
    for (from, source) in sessions() {
        let text = String::from_utf8(source.clone()).expect("text");
        for to in line_targets().filter(|to| to.name != from.name) {
            for carry in [CarryMode::Inline, CarryMode::Sidecar] {
                let Some((home, report)) =
                    home((from, &source), to, [carry, CarryMode::None], ("Old title", "New title"))
                else {
                    continue;
                };
                let way = format!("{} to {}, {carry:?}", from.name, to.name);
                let last = match from.name {
                    "clido" => r#"{"type":"title","title":"New title"}"#,
                    _ => {
                        r#"{"type":"custom-title","customTitle":"New title","sessionId":"1f4c30c7-6323-48e7-8fee-608fc0066a87"}"#
                    }
                };
                if home != format!("{text}{last}\n") {
                    wrong.push(format!("{way}: {:?}\n{home}", report.restored));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn an_edited_first_record_of_clido_is_kept_at_home() {
    let claude = by_name("claude-code").expect("a format");
    let clido = by_name("clido").expect("a format");
    for (old, new) in [
        (r#""start_time":"2026-02-03T10:00:01.500Z""#, r#""start_time":"2020-01-01T00:00:00Z""#),
        (r#""schema_version":1"#, r#""schema_version":1,"tags":["mine"]"#),
        ("1f4c30c7-6323-48e7-8fee-608fc0066a87", "2f4c30c7-6323-48e7-8fee-608fc0066a87"),
    ] {
        let found = home((claude, CLAUDE.as_bytes()), clido, [CarryMode::Inline; 2], (old, new));
        let (home, report) = found.expect("clido's first record shows it");
        let kept = home.strip_prefix(CLAUDE).expect("the source, unchanged");
        assert!(kept.starts_with(r#"{"type":"carried","_carried":""#), "{kept}");
        let members = new.replace('"', "^");
        assert!(kept.contains(&members), "{kept}");
        assert_eq!((report.restored.edited, report.n_left_out), (1, 0), "{old}");
    }
}
