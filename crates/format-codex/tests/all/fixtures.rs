//! Tests of the reader, the writer and the check with fixtures.

use std::collections::BTreeSet;

use core_model::{Block, Body, Event, Facts, Field, LossKind, Losses, Options, Output, Role};
use format_codex::{FORMAT, history, validate};
use jsonl::{Scanner, Style, lines};

use crate::face::fixtures;

/// Reads a session and writes it again.
fn rewrite(session: &[u8]) -> (String, Losses) {
    let mut facts = Facts::default();
    each_event(session, |_, event| facts.observe(event));
    let mut writer = (FORMAT.writer)(&Options::default(), facts);
    let mut out = Output::new(Style::Compact, Style::Compact, "session");
    let mut written = String::new();
    each_event(session, |line, event| {
        if event.nth == 0 {
            out.start_source(line, Style::Compact);
        }
        writer.write(event, &mut out);
        take(&mut out, &mut written);
    });
    writer.finish(&mut out);
    take(&mut out, &mut written);
    (written, out.losses().clone())
}

fn each_event(session: &[u8], mut each: impl FnMut(&jsonl::Line<'_>, &Event<'_>)) {
    let mut scanner = Scanner::default();
    for line in lines(session) {
        if let Ok(value) = scanner.scan(&line) {
            FORMAT.for_each_event(value, |event| {
                each(&line, event);
                true
            });
        }
    }
}

fn take(out: &mut Output, written: &mut String) {
    while let Some(line) = out.next_emitted() {
        written.push_str(std::str::from_utf8(out.bytes(line)).expect("UTF-8"));
        written.push('\n');
        out.release(line);
    }
}

fn fixture(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/codex/");
    std::fs::read_to_string(format!("{folder}{name}.jsonl")).expect("a fixture")
}

/// Returns what the events of a fixture say, in a few words each.
fn said(name: &str) -> Vec<String> {
    let mut said = Vec::new();
    each_event(fixture(name).as_bytes(), |_, event| match &event.body {
        Body::Message(message) => {
            let role = match (message.role, message.is_summary, message.is_meta) {
                (Role::Assistant, ..) => "assistant",
                (Role::User, true, _) => "summary",
                (Role::User, false, true) => "meta",
                (Role::User, false, false) => "user",
            };
            for (block, _) in message.blocks() {
                said.push(format!("{role} {}", shown(&block)));
            }
        }
        Body::Notice(notice) => {
            let text = notice.text.and_then(|text| text.as_text());
            let text = text.map(|text| text.decode()).unwrap_or_default();
            said.push(format!("{:?} {text}", notice.kind));
        }
        Body::Title(title) => said.push(format!("title {}", title.text.decode())),
        _ => {}
    });
    said
}

fn shown(block: &Block<'_>) -> String {
    match block {
        Block::Text(text) => format!("text {}", text.decode()),
        Block::Thinking { text, signature } => {
            let signature = signature.map(|it| it.decode()).unwrap_or_default();
            format!("thinking {} {signature}", text.decode()).trim_end().to_owned()
        }
        Block::ToolUse(tool) => {
            let server = if tool.is_server { "server " } else { "" };
            let (id, name) = (tool.id.decode(), tool.name.decode());
            format!("{server}call {id} {name} {}", tool.input.json())
        }
        Block::ToolResult(result) => {
            let failed = if result.is_error == Field::Value(true) { "failed " } else { "" };
            let texts = result.content.blocks().map(|(block, _)| shown(&block));
            let texts = texts.collect::<Vec<_>>().join(", ");
            format!("{failed}result {}: {texts}", result.tool_use_id.decode())
        }
        Block::Image { media_type, .. } => format!("image {}", media_type.decode()),
        Block::Other { kind, .. } => {
            format!("other {}", kind.map(|kind| kind.decode()).unwrap_or_default())
        }
        _ => "block".to_owned(),
    }
}

#[test]
fn what_is_written_is_accepted() {
    // A summary from a compaction by the API is not there, and old calls may lack outputs.
    let harmless = ["open-call", "duplicate-call", "output-twice", "call-name", "image"];
    for path in fixtures() {
        let session = std::fs::read(&path).expect("a file");
        let (written, _) = rewrite(&session);
        let problems = validate(written.as_bytes());
        let is_listed = written.contains("\"user_message\"");
        let found = problems.iter().filter(|problem| !harmless.contains(&problem.rule));
        let found: Vec<_> =
            found.filter(|problem| problem.rule != "not-listed" || is_listed).collect();
        assert!(found.is_empty(), "{path:?}: {found:?}\n{written}");
        assert!(written.contains("\"type\":\"session_meta\""), "{path:?}");
    }
}

#[test]
fn writing_again_changes_nothing() {
    for path in fixtures() {
        let (once, _) = rewrite(&std::fs::read(&path).expect("a file"));
        let (twice, _) = rewrite(once.as_bytes());
        let (thrice, _) = rewrite(twice.as_bytes());
        assert_eq!(twice, thrice, "{path:?}");
    }
}

#[test]
fn a_call_has_the_json_of_its_arguments() {
    let expected = [
        "meta text <environment_context>\n  <cwd>/home/ada/app</cwd>\n</environment_context>",
        "user text List the files",
        "assistant thinking **Listing**",
        r#"assistant call call_1 shell_command {"command":"ls","workdir":"/home/ada/app"}"#,
        "user result call_1: text Exit code: 0\nWall time: 0.1 seconds\nOutput:\na.rs\n",
        "assistant text One file: a.rs.",
    ];
    assert_eq!(said("one-call"), expected);
}

#[test]
fn the_namespace_of_a_server_is_part_of_the_name_of_its_tool() {
    let said = said("namespaces");
    let calls = said.iter().filter_map(|said| said.strip_prefix("assistant call "));
    let calls: Vec<_> = calls.map(|call| call.split_once(" {").map_or("", |(it, _)| it)).collect();
    let expected = [
        "call_1 mcp__mock__echo",
        "call_2 mcp__mock__echo",
        "call_3 mcp__codex_apps__github_fetch_pr",
        "call_4 mcp__mock__echo",
        // A tool of Codex itself has the name of older versions.
        "call_5 spawn_agent",
        "call_6 mcp__sql__query",
    ];
    assert_eq!(calls, expected);
    let mut names = Vec::new();
    let mut facts = Facts::default();
    each_event(fixture("namespaces").as_bytes(), |_, event| {
        facts.observe(event);
        (event.vocabulary.list)(event, &mut |name| names.push(name.to_owned()));
    });
    let tools = [
        "\"mcp__mock__echo\"",
        "\"mcp__codex_apps__github_fetch_pr\"",
        "\"spawn_agent\"",
        "\"mcp__sql__query\"",
    ];
    assert_eq!(facts.tools, tools);
    assert_eq!(names.iter().filter(|name| *name == "payload.namespace").count(), 1, "{names:?}");
}

#[test]
fn patches_and_scripts_are_plain_text() {
    let said = said("apply-patch");
    let patch = "assistant call call_1 apply_patch {\"input\":\"*** Begin Patch\\n";
    assert!(said[1].starts_with(patch), "{said:?}");
    assert!(said[2].starts_with("user result call_1: "), "{said:?}");
    assert!(said[4].starts_with("user failed result call_2: "), "{said:?}");
    assert!(self::said("code-mode")[1].contains("call call_1 exec {\"input\":\"const r"));
}

#[test]
fn outputs_say_whether_their_calls_failed() {
    let failed = |name: &str| {
        let said = said(name).into_iter();
        said.filter(|it| it.contains("result")).map(|it| it.contains("failed")).collect::<Vec<_>>()
    };
    assert_eq!(failed("parallel-calls"), [false, true]);
    assert_eq!(failed("old-outputs"), [false, true]);
    assert_eq!(failed("aborted-and-errors"), [false, true]);
}

#[test]
fn reasoning_is_thinking_without_a_signature() {
    let expected = [
        "user text Think",
        "assistant thinking **One**\n\nFirst.",
        "assistant thinking **Two**\n\nThen.",
        "assistant thinking In the open.",
        "assistant text Thought.",
    ];
    assert_eq!(said("reasoning"), expected);
    let expected = [
        "user text Think",
        "assistant thinking Let me see. c2ln",
        "assistant thinking And so.",
        "assistant text Thought.",
        "Info A notice.",
    ];
    assert_eq!(said("thinking-of-another-format"), expected);
}

#[test]
fn a_compaction_is_a_notice_and_a_summary() {
    let expected = [
        "user text One",
        "assistant text 1",
        "Compaction ",
        "summary text One",
        "summary text Another model said: Summary of one.",
        "user text Two",
        "assistant text 2",
        "Compaction ",
        "summary text Two",
        "user text Three",
        "assistant text 3",
    ];
    assert_eq!(said("compaction"), expected);
    let expected = ["Compaction ", "summary text Summary of one."];
    assert_eq!(said("compaction-without-replacement")[2..4], expected);
    let (written, _) = rewrite(fixture("compaction-by-convert").as_bytes());
    let compacted = r#""type":"compacted","payload":{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Summary."}]}],"trigger":"auto","pre_tokens":155000}"#;
    assert_eq!(written.matches(compacted).count(), 1, "{written}");
    assert_eq!(written.matches("\"type\":\"notice\"").count(), 0, "{written}");
}

#[test]
fn texts_of_the_client_are_no_prompts() {
    let expected = [
        "meta text # AGENTS.md instructions for /home/ada/app\n\nx",
        "meta text <environment_context>y</environment_context>",
        "meta text <skill>z</skill>",
        "user text # Title\n\nA prompt",
        "meta text <user_shell_command>ls</user_shell_command>",
        "assistant text Yes.",
    ];
    assert_eq!(said("harness-texts"), expected);
    assert_eq!(said("paginated")[0], "meta text <environment_context>x</environment_context>");
    assert_eq!(said("paginated")[1], "user text Run it");
}

#[test]
fn old_files_have_items_without_envelopes() {
    let expected = [
        "user text Hi",
        r#"assistant call call_1 shell {"command":["ls"]}"#,
        "user result call_1: text a.rs",
        "assistant text a.rs.",
    ];
    assert_eq!(said("before-0.32"), expected);
    let mut branches = Vec::new();
    each_event(fixture("before-0.32").as_bytes(), |_, event| {
        branches.extend(event.context.git_branch.map(|branch| branch.decode().into_owned()));
    });
    assert_eq!(branches, ["main"]);
}

#[test]
fn searches_are_calls_of_the_server() {
    let said = said("local-shell-and-searches");
    assert!(said[1].starts_with("assistant call call_1 local_shell {\"type\":\"exec\""));
    assert!(said[3].starts_with("assistant server call ws_1 web_search {\"type\":\"search\""));
    assert!(said[4].starts_with("assistant server call web_search_call web_search null"));
    assert_eq!(said[5], r#"assistant call call_2 tool_search {"query":"mail"}"#);
    assert_eq!(said[6], "user result call_2: other function");
}

#[test]
fn errors_and_titles_are_read() {
    let said_errors = said("aborted-and-errors");
    for expected in ["Info interrupted", "Error stream disconnected", "Error 529 overloaded"] {
        assert!(said_errors.iter().any(|it| it == expected), "{expected}: {said_errors:?}");
    }
    assert_eq!(said("titles")[2], "title A trip");
    assert_eq!(said("titles").len(), 3);
}

#[test]
fn tokens_are_counted_once() {
    let mut totals = core_model::TokenTotals::default();
    each_event(fixture("tokens").as_bytes(), |_, event| totals.push(event));
    let tokens = totals.total();
    assert_eq!((tokens.input, tokens.cache_read, tokens.output), (160, 140, 30));
}

#[test]
fn members_without_a_place_are_named() {
    let (_, losses) = rewrite(fixture("paginated").as_bytes());
    let names: BTreeSet<_> = losses
        .iter()
        .filter(|(kind, ..)| *kind == LossKind::Dropped)
        .map(|(_, name, _)| name.to_owned())
        .collect();
    for name in [
        "metadata",
        "ordinal",
        "payload.base_instructions",
        "payload.git.commit_hash",
        "payload.model_provider",
        "payload.phase",
        "payload.sandbox_policy",
    ] {
        assert!(names.contains(name), "{name}: {names:?}");
    }
}

#[test]
fn lines_of_other_formats_are_not_ours() {
    let detects = |line: &str| {
        format_codex::detect(Scanner::default().scan_slice(line.as_bytes(), 0).expect("valid"))
    };
    assert!(detects(r#"{"timestamp":"t","type":"world_state","payload":{}}"#));
    assert!(detects(r#"{"id":"x","timestamp":"t","instructions":null}"#));
    assert!(detects(r#"{"record_type":"state"}"#));
    for line in [
        r#"{"type":"session","id":"x","timestamp":"t"}"#,
        r#"{"type":"event_msg","payload":[]}"#,
        r#"{"type":"future","payload":{}}"#,
        r#"{"type":"event_msg","payload":{},"sessionId":"s"}"#,
        r#"{"id":"x","timestamp":"t"}"#,
        r#"{"type":"message","role":"user","content":[]}"#,
        "[]",
    ] {
        assert!(!detects(line), "{line}");
    }
}

#[test]
fn each_rule_has_a_fixture() {
    let rules = |name: &str| {
        let problems = validate(fixture(name).as_bytes());
        problems.into_iter().map(|it| (it.rule, it.stops())).collect::<BTreeSet<_>>()
    };
    let has = |name: &str, rule: &'static str, stops: bool| {
        let rules = rules(name);
        assert!(rules.contains(&(rule, stops)), "{name}: {rule}: {rules:?}");
    };
    for name in ["minimal", "crlf", "one-call", "parallel-calls", "tokens", "rolled-back"] {
        assert_eq!(rules(name), BTreeSet::new(), "{name}");
    }
    has("no-first-line", "meta-first", true);
    has("carried-first", "meta-first", true);
    has("before-0.32", "meta-first", true);
    has("no-start-time", "meta-member", true);
    has("paginated", "model-provider", false);
    has("fork-with-history-base", "history-base", false);
    has("sub-agent", "source", false);
    has("bad-lines", "json", false);
    has("bad-lines", "timestamp", false);
    has("unread-items", "item-type", false);
    has("unread-items", "event-type", false);
    has("unread-items", "line-type", false);
    has("unread-items", "item-member", false);
    has("odd-calls", "open-call", false);
    has("odd-calls", "orphan-output", false);
    has("odd-calls", "output-kind", false);
    has("odd-calls", "output-twice", false);
    has("wrong-types", "compacted", false);
    has("wrong-types", "turn-context", false);
    has("images", "image", false);
    has("reasoning", "reasoning", false);
    has("sub-agent", "not-listed", false);
    has("unicode-and-surrogates", "surrogate", false);
    let rule = |session: &str| validate(session.as_bytes())[0].rule;
    assert_eq!(rule(&format!("\u{feff}{}", fixture("minimal"))), "byte-order-mark");
    assert_eq!(rule(&fixture("minimal").replacen("01a20000-", "x", 1)), "id");
    let number = fixture("minimal").replacen("\"2026-03-01T10:00:00.000Z\"", "1", 1);
    assert_eq!(rule(&number), "timestamp");
    let paginated = fixture("fork-with-history-base");
    let unnumbered = paginated.replace("\"ordinal\":4,", "");
    let problems = validate(unnumbered.as_bytes());
    assert!(problems.iter().any(|it| it.rule == "ordinal" && it.stops()), "{problems:?}");
    let long = fixture("one-call").replace("call_1", &"c".repeat(65));
    assert_eq!(rule(&long), "call-id");
    let repeated = fixture("parallel-calls").replace("call_2", "call_1");
    assert_eq!(rule(&repeated), "duplicate-call");
    let spaced = fixture("one-call").replace("shell_command", "my tool");
    assert_eq!(rule(&spaced), "call-name");
}

#[test]
fn a_prompt_must_be_among_the_first_lines() {
    let session = fixture("minimal");
    let (first, rest) = session.split_once('\n').expect("lines");
    let filler = "{\"timestamp\":\"t\",\"type\":\"carried\",\"payload\":{}}\n";
    let with = |n: usize| format!("{first}\n{}{rest}", filler.repeat(n));
    assert_eq!(validate(with(205).as_bytes()), []);
    assert_eq!(validate(with(230).as_bytes())[0].rule, "not-listed");
}

#[test]
fn the_history_of_what_is_written_is_what_was_said() {
    let (written, _) = rewrite(fixture("parallel-calls").as_bytes());
    let (before, after) =
        (history(fixture("parallel-calls").as_bytes()), history(written.as_bytes()));
    assert_eq!(before, after);
    let (written, _) = rewrite(fixture("apply-patch").as_bytes());
    let (before, after) = (history(fixture("apply-patch").as_bytes()), history(written.as_bytes()));
    assert_eq!(before, after);
}

/// The API encrypts the summary of its compactions. The message says nothing of that item.
#[test]
fn an_item_of_a_compaction_that_nobody_can_read_is_lost() {
    let is_lost = |session: &[u8]| {
        let (_, losses) = rewrite(session);
        losses.iter().any(|(_, field, _)| field == "payload.replacement_history")
    };
    let item = r#"{"type":"compaction","encrypted_content":"gAAAAA=="}"#;
    let said = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"Two"}]}"#;
    for (history, expected) in [
        (item.to_owned(), true),
        (said.to_owned(), false),
        (format!("{said},{said}"), false),
        (format!("{said},{item}"), true),
    ] {
        let line = format!(
            r#"{{"timestamp":"2026-03-01T10:00:00.000Z","type":"compacted","payload":{{"message":"S","replacement_history":[{history}]}}}}"#
        );
        assert_eq!(is_lost(line.as_bytes()), expected, "{history}");
    }
}
