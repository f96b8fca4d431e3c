//! Rules for written files beyond loading, over every fixture. `README.md` beside this folder lists the
//! other tests of each rule.

use std::sync::atomic::{AtomicUsize, Ordering};

use convert::{CarryMode, Conversion, FORMATS, by_name};
use core_model::{Format, Options, SdkVersion, millis};
use jsonl::{Scanner, Style, Value};

use crate::shared::{
    fixtures::{Fixture, fixtures},
    parallel::check_all,
};

fn convert(fixture: &Fixture, to: &'static Format, options: Options) -> Vec<u8> {
    let from = by_name(&fixture.format).expect("a format");
    let conversion = Conversion { formats: FORMATS, from, to, carry: CarryMode::None, options };
    conversion.convert(&fixture.bytes, None).expect("in memory").bytes
}

/// Calls `check` with the conversion of every fixture of another family.
fn each_written(
    to: &str,
    options: &Options,
    check: impl Fn(&Fixture, &[u8]) -> Vec<String> + Send + Sync,
) {
    let to = by_name(to).expect("a format");
    let sessions: Vec<Fixture> = fixtures()
        .into_iter()
        .filter(|fixture| by_name(&fixture.format).is_some_and(|from| from.family != to.family))
        .collect();
    check_all(
        &sessions,
        |fixture| fixture.name.clone(),
        |fixture| check(fixture, &convert(fixture, to, options.clone())),
    );
}

/// Calls `look` with the parsed value of each line.
fn each_line(bytes: &[u8], mut look: impl FnMut(usize, Value<'_>)) {
    let mut scanner = Scanner::default();
    for (n, line) in jsonl::lines(bytes).enumerate() {
        look(n + 1, scanner.scan(&line).expect("what we write is JSON"));
    }
}

fn word(value: Value<'_>, name: &str) -> String {
    let text = value.get(name).and_then(|value| value.text());
    text.map(|text| text.decode().into_owned()).unwrap_or_default()
}

fn keys(value: Value<'_>) -> Vec<String> {
    value.members().map(|(key, _)| key.decode().into_owned()).collect()
}

/// Rule 1: the meta line is first. A result with turns is last if the model spoke last, and there is
/// none after a result of a tool, because the end of the run is unknown. One response is one line, then
/// its calls, then their results in order. No record of a file that clido did not write, because `-p
/// --resume` would refuse it. No empty line of the model.
#[test]
fn clido_gets_its_sessions_in_its_own_order() {
    each_written("clido", &Options::default(), |fixture, written| {
        let mut wrong = Vec::new();
        let mut has_result = false;
        let (mut calls, mut results, mut last) = (Vec::new(), Vec::new(), String::new());
        each_line(written, |n, line| {
            let kind = word(line, "type");
            if (kind == "meta") != (n == 1) {
                wrong.push(format!("line {n}: {kind}"));
            }
            for name in ["path", "content_hash", "mtime_nanos"] {
                if kind == "tool_result" && line.get(name).is_some() {
                    wrong.push(format!("line {n}: {name}"));
                }
            }
            match kind.as_str() {
                "assistant_message" => {
                    let content = line.get("content").expect("a content");
                    let uses = content.items().filter(|block| word(*block, "type") == "tool_use");
                    calls = uses.map(|block| word(block, "id")).collect();
                    results.clear();
                }
                "tool_call" if !results.is_empty() => wrong.push(format!("line {n}: late call")),
                "tool_result" => {
                    let id = word(line, "tool_use_id");
                    let place = calls.iter().position(|call| *call == id);
                    if place.is_some() && results.last() > Some(&place) {
                        wrong.push(format!("line {n}: {id} is out of order"));
                    }
                    results.push(place);
                }
                "result" => {
                    let turns = line.get("num_turns").and_then(|turns| turns.raw().as_u64());
                    if turns.is_none_or(|turns| turns == 0) {
                        wrong.push(format!("line {n}: no turns"));
                    }
                }
                _ => {}
            }
            has_result |= kind == "result";
            // A call of a proxy is not from the model, and its result is not from a tool.
            let is_orphan = kind == "tool_result" && results.last() == Some(&None);
            if ["user_message", "assistant_message", "tool_result"].contains(&kind.as_str())
                && !is_orphan
            {
                last = kind;
            }
        });
        if last == "assistant_message" && calls.is_empty() && !has_result {
            wrong.push("no result".to_owned());
        }
        // Transcripts do not contain the ends of runs.
        if fixture.format == "claude-code" && last == "tool_result" && has_result {
            wrong.push("a result that is made up".to_owned());
        }
        wrong
    });
}

/// Rule 2: lines are spelled as the lists of the client search for them, without spaces; other
/// characters are not escaped; the session id is in lower case; times increase; no usage is invented.
#[test]
fn claude_code_gets_what_its_lists_look_for() {
    each_written("claude-code", &Options::default(), |fixture, written| {
        let mut wrong = Vec::new();
        let mut newest = None;
        each_line(written, |n, line| {
            let text = line.raw().as_str();
            let kind = word(line, "type");
            if !text.contains(&format!("\"type\":\"{kind}\"")) {
                wrong.push(format!("line {n}: spaces: {text}"));
            }
            if ["custom-title", "ai-title", "permission-mode"].contains(&kind.as_str())
                && !text.starts_with(&format!("{{\"type\":\"{kind}\",\""))
            {
                wrong.push(format!("line {n}: {text}"));
            }
            let usage = line.get("message").and_then(|message| message.get("usage"));
            if usage.is_some() && fixture.format == "clido" {
                wrong.push(format!("line {n}: usage"));
            }
            let session = word(line, "sessionId");
            if format_claude_code::session_uuid(&session) != session {
                wrong.push(format!("line {n}: session {session}"));
            }
            let Some(time) = line.get("timestamp") else { return };
            let time = millis(time.raw());
            if time <= newest {
                wrong.push(format!("line {n}: {time:?} after {newest:?}"));
            }
            newest = time;
        });
        wrong
    });
    let clido = fixtures().into_iter().find(|it| it.name == "clido/unicode.jsonl").expect("there");
    let written = convert(&clido, by_name("claude-code").expect("a format"), Options::default());
    assert!(!String::from_utf8_lossy(&written).contains("\\u00"));
}

/// Rule 3: a dump is spelled as Python spells it, and has the members of one version of the SDK.
#[test]
fn dumps_have_the_members_and_the_spelling_of_their_sdk() {
    const RESULT: [&str; 9] = [
        "subtype",
        "duration_ms",
        "duration_api_ms",
        "is_error",
        "num_turns",
        "session_id",
        "total_cost_usd",
        "usage",
        "result",
    ];
    const RESULT_NOW: [&str; 21] = [
        "subtype",
        "duration_ms",
        "duration_api_ms",
        "is_error",
        "num_turns",
        "session_id",
        "stop_reason",
        "total_cost_usd",
        "usage",
        "result",
        "structured_output",
        "model_usage",
        "permission_denials",
        "deferred_tool_use",
        "errors",
        "api_error_status",
        "uuid",
        "terminal_reason",
        "origin",
        "user_message_uuid",
        "user_message_uuids",
    ];
    for (sdk_version, assistant, user, result) in [
        (
            SdkVersion::V0_1_6,
            &["content", "model", "parent_tool_use_id"][..],
            &["content", "parent_tool_use_id"][..],
            &RESULT[..],
        ),
        (
            SdkVersion::V0_2_187,
            &[
                "content",
                "model",
                "parent_tool_use_id",
                "error",
                "usage",
                "message_id",
                "stop_reason",
                "session_id",
                "uuid",
                "user_message_uuid",
                "user_message_uuids",
            ],
            &["content", "uuid", "parent_tool_use_id", "tool_use_result", "origin"],
            &RESULT_NOW,
        ),
    ] {
        let options = Options { sdk_version, ..Options::default() };
        each_written("sdk-stream", &options, |_, written| {
            let mut wrong = Vec::new();
            each_line(written, |n, line| {
                let keys = keys(line);
                let has = |name: &str| keys.iter().any(|key| key == name);
                let expected = match () {
                    () if has("type") => &["type", "content", "timestamp"][..],
                    () if has("data") => &["subtype", "data"],
                    () if has("model") => assistant,
                    () if has("duration_ms") => result,
                    () => user,
                };
                if keys != expected {
                    wrong.push(format!("line {n}: {keys:?}"));
                }
                let mut again = Vec::new();
                jsonl::respell(&mut again, line.raw(), Style::Python);
                if again != line.raw().as_str().as_bytes() {
                    wrong.push(format!("line {n}: {}", line.raw()));
                }
            });
            wrong
        });
    }
}

/// A stream has no members of the log, and the ids of the log.
#[test]
fn streams_speak_of_sessions_in_snake_case_and_keep_the_ids_of_the_log() {
    each_written("sdk-stream:wire", &Options::default(), |_, written| {
        let mut wrong = Vec::new();
        each_line(written, |n, line| {
            for name in ["sessionId", "parentUuid", "cwd", "isSidechain", "toolUseResult"] {
                let is_init = word(line, "subtype") == "init";
                if line.get(name).is_some() && !(is_init && name == "cwd") {
                    wrong.push(format!("line {n}: {name}"));
                }
            }
            for name in ["type", "session_id", "uuid"] {
                if word(line, name).is_empty() {
                    wrong.push(format!("line {n}: no {name}: {}", line.raw()));
                }
            }
        });
        wrong
    });
    let log =
        fixtures().into_iter().find(|it| it.name == "claude-code/plain.jsonl").expect("there");
    let ids = |bytes: &[u8]| {
        let mut ids = Vec::new();
        each_line(bytes, |_, line| {
            if ["user", "assistant"].contains(&word(line, "type").as_str()) {
                ids.push(word(line, "uuid"));
            }
        });
        ids
    };
    let written = convert(&log, by_name("sdk-stream:wire").expect("a format"), Options::default());
    assert_eq!(ids(&written), ids(&log.bytes));
}

/// Codex lists a session only with the event of a prompt, so a session without a text of the user gets one. A
/// session whose only texts of the user are the client's, or begin with a summary, has prompts that are no events.
#[test]
fn codex_lists_sessions_without_a_prompt() {
    let n_silent = AtomicUsize::new(0);
    each_written("codex", &Options::default(), |fixture, written| {
        let (mut has_response, mut has_event, mut is_user_silent) = (false, false, true);
        each_line(written, |_, line| {
            let payload = line.get("payload").expect("a payload");
            let (kind, role) = (word(payload, "type"), word(payload, "role"));
            has_response |= kind == "message" && role == "assistant";
            is_user_silent &= role != "user";
            has_event |= kind == "user_message";
        });
        let is_silent = has_response && is_user_silent;
        n_silent.fetch_add(usize::from(is_silent), Ordering::Relaxed);
        if is_silent && !has_event {
            vec![format!("{}: no event of a prompt", fixture.name)]
        } else {
            Vec::new()
        }
    });
    assert!(n_silent.into_inner() > 0, "no fixture without a text of the user");
}
