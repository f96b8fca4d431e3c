//! Tests of records that clients really write: queued prompts, texts of the client, answers that only a
//! result has, sessions that moved.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use convert::{CarryMode, Conversion, Converted, FORMATS, by_name};
use core_model::{Body, Event, Format, Options};
use jsonl::Scanner;

use crate::shared::pieces::as_lines;

fn path_of(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures")).join(name)
}

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(path_of(name)).expect("a fixture")
}

fn format(name: &str) -> &'static Format {
    by_name(name).expect("a format")
}

/// Converts without a carry.
fn converted(bytes: &[u8], from: &str, to: &str) -> String {
    converted_with(bytes, from, to, CarryMode::None).0
}

fn converted_with(bytes: &[u8], from: &str, to: &str, carry: CarryMode) -> (String, Vec<String>) {
    let (from, to) = (format(from), format(to));
    let conversion = Conversion { formats: FORMATS, from, to, carry, options: Options::default() };
    let Converted { bytes: written, report, .. } =
        conversion.convert(bytes, None).expect("in memory");
    let losses = report.losses.iter().map(|(kind, field, _)| format!("{} {field}", kind.name()));
    (String::from_utf8(written).expect("UTF-8"), losses.collect())
}

/// Calls `each` with the events of a file.
fn for_each_event(bytes: &[u8], format: &Format, each: &mut dyn FnMut(&Event<'_>)) {
    let mut scanner = Scanner::default();
    for line in jsonl::lines(&as_lines(bytes, format).0) {
        if let Ok(value) = scanner.scan(&line) {
            each(&format.first_event(value));
        }
    }
}

/// Returns the prompts of a file, `(image)` for a picture.
fn prompts(bytes: &[u8], format: &Format) -> Vec<String> {
    let mut prompts = Vec::new();
    for_each_event(bytes, format, &mut |event| {
        let Some(message) = event.message().filter(|_| event.is_prompt()) else { return };
        let blocks = message.blocks().map(|(block, _)| match block {
            core_model::Block::Text(text) => text.decode().into_owned(),
            core_model::Block::Image { .. } => "(image)".to_owned(),
            _ => "(other)".to_owned(),
        });
        prompts.push(blocks.collect::<Vec<_>>().join(" "));
    });
    prompts
}

fn run(args: &[&str], name: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
    command.args(args).arg(path_of(name)).output().expect("the program runs")
}

fn printed(args: &[&str], name: &str) -> String {
    String::from_utf8(run(args, name).stdout).expect("UTF-8")
}

/// Returns the names of the tools in a file, in the order of their calls.
fn tools(bytes: &[u8], format: &Format) -> Vec<String> {
    let mut tools = Vec::new();
    let mut scanner = Scanner::default();
    for line in jsonl::lines(&as_lines(bytes, format).0) {
        let Ok(value) = scanner.scan(&line) else { continue };
        format.for_each_event(value, |event| {
            let blocks = event.message().into_iter().flat_map(|message| message.blocks());
            tools.extend(blocks.filter_map(|(block, _)| match block {
                core_model::Block::ToolUse(tool) => Some(tool.name.decode().into_owned()),
                _ => None,
            }));
            true
        });
    }
    tools
}

#[test]
fn a_tool_in_the_namespace_of_a_server_has_one_name_everywhere() {
    const FIXTURE: &str = "codex/namespaces.jsonl";
    let expected = [
        "mcp__mock__echo",
        "mcp__mock__echo",
        "mcp__codex_apps__github_fetch_pr",
        "mcp__mock__echo",
        "spawn_agent",
        "mcp__sql__query",
    ];
    let source = fixture(FIXTURE);
    for to in FORMATS.targets().filter(|to| to.name != "codex") {
        let (written, losses) = converted_with(&source, "codex", to.name, CarryMode::None);
        assert_eq!(tools(written.as_bytes(), to), expected, "{}", to.name);
        // Only the namespace of Codex's own tool is lost.
        assert!(
            losses.contains(&"dropped payload.namespace".to_owned()),
            "{}: {losses:?}",
            to.name
        );
        let (carried, _) = converted_with(&source, "codex", to.name, CarryMode::Inline);
        let (restored, _) = converted_with(carried.as_bytes(), to.name, "codex", CarryMode::Inline);
        assert_eq!(restored.as_bytes(), source, "{}", to.name);
    }
    let there = converted(&source, "codex", "claude-code");
    let pi = converted(there.as_bytes(), "claude-code", "pi");
    assert_eq!(tools(pi.as_bytes(), format("pi")), expected);
    // A name of another client stays one string.
    let back = converted(there.as_bytes(), "claude-code", "codex");
    assert!(back.contains(r#""name":"mcp__mock__echo""#) && !back.contains("namespace"), "{back}");

    let found = printed(&["find", "--tool", "mcp__mock__echo", "--type", "tool-use"], FIXTURE);
    assert_eq!(found.matches("mcp__mock__echo").count(), 3, "{found}");
    let stats = printed(&["stats"], FIXTURE);
    assert!(stats.contains("mcp__codex_apps__github_fetch_pr"), "{stats}");
    let shown = printed(&["show", "--no-pager"], FIXTURE);
    assert!(shown.contains("mcp__sql__query"), "{shown}");
}

#[test]
fn the_project_of_a_session_is_what_the_marker_of_its_client_names() {
    let home = tempfile::tempdir().expect("a folder");
    let tmp = home.path().join(".gemini/tmp");
    for (folder, project, fixture, name) in [
        (
            "app",
            "/home/ada/my-app",
            "gemini/one-call.jsonl",
            "session-2026-03-01T10-00-71de4fac.jsonl",
        ),
        // A session of an older version, in its folder since.
        (
            "old",
            "/home/ada/old-app",
            "gemini-document/one-call.json",
            "session-2025-12-03T04-00-ff205d73.json",
        ),
    ] {
        let chats = tmp.join(folder).join("chats");
        std::fs::create_dir_all(&chats).expect("a folder");
        std::fs::write(tmp.join(folder).join(".project_root"), project).expect("written");
        std::fs::copy(path_of(fixture), chats.join(name)).expect("copied");
    }
    let list = |arguments: &[&str], folder: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
        command.args(["list", "--columns", "project,format"]).args(arguments);
        let ran = command.current_dir(folder).env("HOME", home.path()).output().expect("it runs");
        let lines = String::from_utf8(ran.stdout).expect("UTF-8");
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        lines.lines().skip(1).map(words).collect::<Vec<_>>()
    };
    let (app, old) = ("my-app gemini", "old-app gemini:document");
    assert_eq!(list(&[], home.path()), [app, old]);
    assert_eq!(list(&["--project", "/home/ada/my-app"], home.path()), [app]);
    assert_eq!(list(&["--project", "/home/ada/old-app"], home.path()), [old]);
    assert_eq!(list(&["."], &tmp.join("old/chats")), [old]);
}

#[test]
fn a_call_that_a_checkpoint_repeats_counts_once() {
    let stats = printed(&["stats", "--json"], "gemini/resumed.jsonl");
    let stats: serde_json::Value = serde_json::from_str(&stats).expect("JSON");
    let shown = printed(&["show", "--no-pager"], "gemini/resumed.jsonl");
    let n_shown = |words: &str| shown.lines().filter(|line| line.starts_with(words)).count();
    assert_eq!((n_shown("  > read_file"), n_shown("User ")), (1, 2), "{shown}");
    assert_eq!(stats["tools"]["read_file"]["calls"], 1, "{stats}");
    assert_eq!((&stats["tool_calls"], &stats["user_messages"]), (&1.into(), &2.into()), "{stats}");
}

#[test]
fn two_calls_of_one_id_have_results_and_times_of_their_own() {
    let call =
        |name: &str| format!(r#"{{"type":"tool_use","id":"t1","name":"{name}","input":{{}}}}"#);
    let line = |kind: &str, second: u32, blocks: &str| {
        format!(
            r#"{{"type":"{kind}","timestamp":"2026-01-02T03:04:{second:02}.000Z","message":{{"content":[{blocks}]}}}}"#
        )
    };
    let result = |second, is_error| {
        let block = format!(
            r#"{{"type":"tool_result","tool_use_id":"t1","content":"x","is_error":{is_error}}}"#
        );
        line("user", second, &block)
    };
    let calls = line("assistant", 6, &[call("Bash"), call("Read")].join(","));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("session.jsonl");
    let session = [calls, result(7, true), result(16, false)].join("\n") + "\n";
    std::fs::write(&path, session).expect("written");
    let stats = printed(&["stats", "--json"], &path.to_string_lossy());
    let stats: serde_json::Value = serde_json::from_str(&stats).expect("JSON");
    let of = |name: &str| {
        ["calls", "errors", "duration_ms"].map(|key| stats["tools"][name][key].clone())
    };
    assert_eq!(
        (of("Bash"), of("Read")),
        ([1, 1, 1000].map(Into::into), [1, 0, 10_000].map(Into::into))
    );
}

#[test]
fn no_writer_makes_up_a_model() {
    for name in ["clido/plain.jsonl", "clido/parallel-calls.jsonl"] {
        let source = fixture(name);
        for to in FORMATS.targets().filter(|to| to.name != "clido") {
            let written = converted(&source, "clido", to.name);
            let spaceless = written.replace(": ", ":");
            assert!(!spaceless.contains(r#""model":"unknown""#), "{name} to {}", to.name);
            // The SDK requires the member. In Claude Code, an unknown value loses all thinking.
            let has_null = spaceless.contains(r#""model":null"#);
            assert_eq!(has_null, to.family == "sdk-stream", "{name} to {}", to.name);
        }
    }
    let unknown = br#"{"type":"user","session_id":"s","parent_tool_use_id":null,"message":{"role":"user","content":"hi"}}
{"type":"assistant","session_id":"s","parent_tool_use_id":null,"message":{"id":"m","type":"message","role":"assistant","model":"unknown","content":[{"type":"text","text":"x"}]}}
"#;
    let (written, losses) =
        converted_with(unknown, "sdk-stream:wire", "claude-code", CarryMode::None);
    assert!(!written.contains("unknown"), "{written}");
    assert!(losses.contains(&"dropped model".to_owned()), "{losses:?}");
}

#[test]
fn new_lines_take_the_model_of_the_last_response_on_the_way_home() {
    let source = fixture("claude-code/words-of-the-client.jsonl");
    let (mut there, _) = converted_with(&source, "claude-code", "clido", CarryMode::Inline);
    there.push_str(
        r#"{"type":"user_message","role":"user","content":[{"text":"And now?","type":"text"}]}
{"type":"assistant_message","content":[{"text":"Now too.","type":"text"}]}
"#,
    );
    let (home, _) = converted_with(there.as_bytes(), "clido", "claude-code", CarryMode::Inline);
    assert!(home.as_bytes().starts_with(&source));
    let last = home.lines().find(|line| line.contains("Now too.")).expect("the new line");
    assert!(last.contains(r#""model":"claude-opus-4-5-20251101""#), "{last}");
}

#[test]
fn a_queued_prompt_is_a_prompt_at_its_place_everywhere() {
    const PROMPTS: [&str; 3] =
        ["Count the files.", "Only those like this one, please. (image)", "And the hidden ones?"];
    let name = "claude-code/queued-prompts.jsonl";
    let source = fixture(name);
    assert_eq!(prompts(&source, format("claude-code")), PROMPTS);
    for to in FORMATS.targets().filter(|to| to.name != "claude-code") {
        let written = converted(&source, "claude-code", to.name);
        let expected = match to.name {
            // The line of a prompt in a dump has only text, and the loss is reported.
            "sdk-stream" => PROMPTS.map(|prompt| prompt.trim_end_matches(" (image)").to_owned()),
            // A document has the place of the image as a text, and the loss is reported.
            "atif" => PROMPTS.map(|it| it.replace("(image)", "[image image/png, 72 bytes]")),
            _ => PROMPTS.map(str::to_owned),
        };
        assert_eq!(prompts(written.as_bytes(), to), expected, "{}", to.name);
        let at = |words: &str| written.find(words).expect(words);
        assert!(at("toolu_1") < at("Only those") && at("Only those") < at("*.png"), "{}", to.name);
        // No run starts or ends there.
        let n_starts = written.matches("claude_code_version").count();
        assert_eq!(n_starts, usize::from(to.family == "sdk-stream"), "{}", to.name);
    }
    let shown = printed(&["show", "--no-pager"], name);
    assert!(shown.contains("User, while the agent worked"), "{shown}");
    assert!(shown.contains("(Image: image/png)") && shown.contains("<task-id>b1"), "{shown}");
    let found = printed(&["find", "--type", "user", "--json"], name);
    assert_eq!(found.lines().count(), 3, "{found}");
    assert!(!found.contains("task-notification"), "{found}");
    let stats = printed(&["stats", "--json"], name);
    assert!(stats.contains(r#""user_messages":3"#), "{stats}");
    let page = printed(&["export", "--html"], name);
    assert!(page.contains("Only those like this one") && page.contains("And the hidden ones?"));
}

#[test]
fn an_answer_that_only_a_result_says_is_a_message_everywhere() {
    let name = "sdk-wire/result-only.jsonl";
    for (from, name) in [("sdk-stream:wire", name), ("sdk-stream", "sdk-stream/result-only.jsonl")]
    {
        let source = fixture(name);
        for to in ["claude-code", "clido"] {
            let written = converted(&source, from, to);
            let mut said = Vec::new();
            for_each_event(written.as_bytes(), format(to), &mut |event| {
                let message = event.message().filter(|it| it.role == core_model::Role::Assistant);
                said.extend(message.map(|message| message.content.joined().into_owned()));
            });
            assert_eq!(said, ["Four."], "{name} to {to}");
        }
    }
    let shown = printed(&["show", "--no-pager"], name);
    assert!(shown.contains("Assistant") && shown.contains("Four."), "{shown}");
    assert!(printed(&["show", "--markdown", "--no-pager"], name).contains("\nFour."));
    let found = printed(&["find", "--type", "assistant", "--text", "Four"], name);
    assert_eq!(found.lines().count(), 1, "{found}");
    assert!(
        printed(&["list", "--json", "--columns", "messages"], name).contains(r#""messages":1"#)
    );
    assert!(printed(&["export", "--html"], name).contains("Four."));
}

#[test]
fn an_answer_is_said_once() {
    let name = "sdk-wire/plain.jsonl";
    let text = printed(&["find", "--type", "assistant", "--json"], name);
    let n_said = text.lines().count();
    let source = fixture(name);
    let written = converted(&source, "sdk-stream:wire", "clido");
    assert_eq!(written.matches("assistant_message").count(), n_said, "{written}");
    // The last two results have the same failure. It is shown once, and not as text of the assistant.
    let written = converted(&fixture("sdk-wire/results-only.jsonl"), "sdk-stream:wire", "clido");
    assert_eq!(written.matches("assistant_message").count(), 1, "{written}");
    assert_eq!(written.matches(r#""message":"Not logged in.""#).count(), 1, "{written}");
}

#[test]
fn the_words_of_the_client_are_its_own() {
    let name = "claude-code/words-of-the-client.jsonl";
    let source = fixture(name);
    let expected = [
        "<ide_opened_file>The user opened /home/u/app/a.rs</ide_opened_file> Why is it slow?",
        "Again, please.",
    ];
    assert_eq!(prompts(&source, format("claude-code")), expected);
    let written = converted(&source, "claude-code", "clido");
    assert_eq!(written.matches("assistant_message").count(), 1, "{written}");
    assert!(written.contains(r#"{"type":"system","subtype":"error","message":"API Error: 529"#));
    for to in ["claude-code", "clido"] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("session.jsonl");
        let bytes = if to == "clido" { written.as_bytes() } else { &source };
        std::fs::write(&path, bytes).expect("written");
        let listed = printed(&["list", "--columns", "title"], path.to_str().expect("UTF-8"));
        let expected = if to == "clido" { "The build is done." } else { "Why is it slow?" };
        assert!(listed.contains(expected), "{to}: {listed}");
    }
    let found = printed(&["find", "--type", "user,assistant", "--json"], name);
    assert_eq!(found.lines().count(), 4, "{found}");
    let shown = printed(&["show", "--no-pager"], name);
    assert!(shown.contains("Client, a failed request"), "{shown}");
    let markdown = printed(&["show", "--markdown", "--no-pager"], name);
    assert!(markdown.contains("## Client (2026-07-22 09:00:03)\nAPI Error"), "{markdown}");
}

#[test]
fn what_the_client_tells_of_files_and_plans_is_shown() {
    let name = "claude-code/files-and-plan-mode.jsonl";
    let shown = printed(&["show", "--no-pager"], name);
    for words in [
        "file: /home/u/app/hello.txt",
        "hello world",
        "edited_text_file: /home/u/app/notes.md",
        "4    eggs",
        "plan_mode: /home/u/.claude/plans/a-plan.md",
        "hook_additional_context: UserPromptSubmit",
        "Be brief.",
        "file: /home/u/app/dot.png",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!shown.contains("task_reminder"), "{shown}");
    let written = converted(&fixture(name), "claude-code", "clido");
    assert!(written.contains(r#""message":"/home/u/app/hello.txt\nhello world\n""#), "{written}");
    assert_eq!(prompts(written.as_bytes(), format("clido")).len(), 1);
}

#[test]
fn no_outcome_is_made_up_for_what_may_still_be_going_on() {
    let source = fixture("claude-code/one-tool-call.jsonl");
    let lines: Vec<&[u8]> = jsonl::lines(&source).map(|line| line.bytes()).collect();
    for to in FORMATS.targets().filter(|to| to.name != "claude-code") {
        for n_lines in 1..=lines.len() {
            let written = converted(&lines[..n_lines].concat(), "claude-code", to.name);
            let mut n_outcomes = 0;
            for_each_event(written.as_bytes(), to, &mut |event| {
                n_outcomes += u64::from(matches!(event.body, Body::Outcome(_)));
            });
            let is_answered = n_lines == lines.len();
            // pi, Gemini CLI, Qwen Code, Codex and Copilot have no line for the end of a run, and a stream none
            // that is made up.
            let has_none =
                ["atif", "codex", "codex-stream", "copilot", "gemini", "opencode", "pi", "qwen"]
                    .contains(&to.name);
            let expected = u64::from(is_answered && !has_none);
            assert_eq!(n_outcomes, expected, "{}: {written}", to.name);
        }
    }
    // The file of a sub-agent does not have the end of its run.
    let agent = fixture("claude-code/agent-a1d4d82.jsonl");
    let written = converted(&agent, "claude-code", "sdk-stream");
    assert!(!written.contains("error_during_execution"), "{written}");
}

#[test]
fn a_session_that_moved_belongs_to_its_new_folder() {
    let name = "claude-code/moved-and-continued.jsonl";
    let listed = printed(&["list", "--json"], name);
    assert!(listed.contains(r#""project":"/home/u/elsewhere""#), "{listed}");
    let written = converted(&fixture(name), "claude-code", "clido");
    assert!(written.contains(r#""project_path":"/home/u/elsewhere""#), "{written}");
    let shown = printed(&["show", "--no-pager"], name);
    assert!(shown.contains("continued-in: 5b0f3c1e-7a51-4d3e-9a41-0c7e1f2a9b05"), "{shown}");
    assert!(shown.contains("derived-from: 5b0f3c1e-7a51-4d3e-9a41-0c7e1f2a9b01"), "{shown}");
}

#[test]
fn tokens_of_a_sub_agent_without_a_file_are_told_apart() {
    let stats = printed(&["stats", "--json"], "claude-code/progress-of-an-agent.jsonl");
    // 2 responses of the session with 9 and 4 tokens; of its sub-agent, 100 and 20, 100 and 30.
    assert!(stats.contains(r#""tokens":{"input":18,"output":8,"#), "{stats}");
    assert!(stats.contains(r#""tokens_only_mentioned":{"input":200,"output":50,"#), "{stats}");
}

#[test]
fn tokens_of_a_sub_agent_with_a_file_count_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let main = folder.path().join("5b0f3c1e-7a51-4d3e-9a41-0c7e1f2a9b06.jsonl");
    let agents = main.with_extension("").join("subagents");
    std::fs::create_dir_all(&agents).expect("a folder");
    std::fs::write(&main, fixture("claude-code/progress-of-an-agent.jsonl")).expect("written");
    let line = |id: &str, output: u64| {
        format!(
            r#"{{"type":"assistant","isSidechain":true,"agentId":"a7f5273","uuid":"{id}","parentUuid":null,"sessionId":"5b0f3c1e-7a51-4d3e-9a41-0c7e1f2a9b06","message":{{"id":"{id}","role":"assistant","content":[{{"type":"text","text":"x"}}],"usage":{{"input_tokens":100,"output_tokens":{output}}}}}}}"#
        )
    };
    let file = format!("{}\n{}\n", line("msg_a1", 21), line("msg_a2", 31));
    std::fs::write(agents.join("agent-a7f5273.jsonl"), file).expect("written");
    let stats = printed(&["stats", "--json"], main.to_str().expect("UTF-8"));
    assert!(stats.contains(r#""tokens":{"input":218,"output":60,"#), "{stats}");
}

#[test]
fn names_without_room_are_counted_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let main = folder.path().join("5b0f3c1e-7a51-4d3e-9a41-0c7e1f2a9b06.jsonl");
    let line = |id: &str, name: &str| {
        format!(
            r#"{{"type":"assistant","isSidechain":false,"cwd":"/p","uuid":"{id}","parentUuid":null,"sessionId":"5b0f3c1e-7a51-4d3e-9a41-0c7e1f2a9b06","timestamp":"2026-02-03T10:00:03.000Z","message":{{"id":"m{id}","model":"{name}","role":"assistant","content":[{{"type":"tool_use","id":"t{id}","name":"{name}","input":{{}}}},{{"type":"tool_use","id":"r{id}","name":"Read","input":{{"file_path":"/{name}"}}}}],"usage":{{"input_tokens":1,"output_tokens":2}}}}}}"#
        )
    };
    let long = ["x", "y"].map(|letter| letter.repeat(5_000));
    let lines = [line("1", &long[0]), line("2", "short"), line("3", &long[1])].join("\n") + "\n";
    std::fs::write(&main, lines).expect("written");
    let main = main.to_str().expect("UTF-8");
    let object = |args: &[&str]| {
        serde_json::from_str::<serde_json::Value>(&printed(args, main)).expect("an object")
    };
    let stats = object(&["stats", "--json"]);
    for (place, count) in [("tools", "calls"), ("files_touched", "read")] {
        let counts = stats[place].as_object().expect("counts");
        let counts: Vec<_> =
            counts.iter().map(|(name, counts)| (name.as_str(), counts[count].as_u64())).collect();
        let (short, read) = if place == "tools" { ("short", 3) } else { ("/short", 0) };
        let mut expected = vec![("(others)", Some(2)), (short, Some(1))];
        if read > 0 {
            expected.insert(1, ("Read", Some(read)));
        }
        assert_eq!(counts, expected, "{place}");
    }
    let usage = printed(&["usage", "--by", "model", "--json"], main);
    assert!(usage.contains("(others)") && usage.contains("short"), "{usage}");
    assert!(!usage.contains("xxxx") && usage.len() < 4_000, "{usage}");
}

#[test]
fn an_older_version_of_a_session_that_shrank_is_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let (archive, out) = (folder.path().join("archive"), folder.path().join("out"));
    std::fs::create_dir(&archive).expect("a folder");
    let source = archive.join("s.jsonl");
    let long = fixture("claude-code/one-tool-call.jsonl");
    let ends: Vec<usize> = memchr::memchr_iter(b'\n', &long).map(|at| at + 1).collect();
    let convert = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
        command.arg(&archive).args(["--to", "clido", "-o"]).arg(&out);
        let done = command.output().expect("the program runs");
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{said}");
        (std::fs::read(out.join("s.jsonl")).expect("written"), said)
    };
    let mut versions = Vec::new();
    for end in [ends[3], ends[2], ends[1]] {
        std::fs::write(&source, &long[..end]).expect("written");
        let (written, said) = convert();
        assert_eq!(said.contains("smaller than"), !versions.is_empty(), "{said}");
        versions.push(written);
    }
    // A file that grows starts with its old content.
    std::fs::write(&source, &long).expect("written");
    let (_, said) = convert();
    assert!(!said.contains("smaller than"), "{said}");
    let backups = ["s.jsonl.bak", "s.jsonl.bak2"].map(|name| std::fs::read(out.join(name)));
    for (version, backup) in versions.iter().zip(backups) {
        assert!(backup.is_ok_and(|backup| backup == *version));
    }
    assert!(!out.join("s.jsonl.bak3").exists());
}

/// A line that cannot be read, and one with more values than its index has room for, may have the words or the tokens.
#[test]
fn lines_that_are_not_read_are_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = |n: u64, kind: &str, content: &str| {
        let parent = if n == 0 { "null" } else { "\"00000000-0000-4000-8000-000000000000\"" };
        format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"cwd":"/w","sessionId":"11111111-2222-4333-8444-555555555555","version":"2.1.0","type":"{kind}","message":{{"role":"{kind}","content":{content}}},"uuid":"0000000{n}-0000-4000-8000-000000000000","timestamp":"2026-03-21T14:30:0{n}.500Z"}}"#
        ) + "\n"
    };
    let prompt = record(0, "user", r#""begin""#);
    let call = r#"{"type":"tool_use","id":"needle","name":"B","input":{}}"#;
    let calls = vec![call; (1 << 20) / 9 + 1].join(",");
    let torn = r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"needle"#;
    for (line, words) in [
        (record(1, "assistant", &format!("[{calls}]")), "more values than are read"),
        (torn.to_owned(), "unexpected end of line"),
    ] {
        let path = folder.path().join("11111111-2222-4333-8444-555555555555.jsonl");
        std::fs::write(&path, [&*prompt, &line].concat()).expect("written");
        for (args, expected) in [
            (&["show"][..], words),
            (&["show", "--markdown"], words),
            (&["stats"], "1 line that cannot be read"),
            (&["check"], words),
            (&["--dry-run", "--to", "clido"], if line == torn { words } else { "too many values" }),
            (&["usage"], "1 line cannot be read, so that a sum may be too low"),
            (&["find", "--text", "needle"], "; 1 line cannot be read"),
            (&["find", "--text", "needle", "--context", "1"], "; 1 line cannot be read"),
        ] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
            let output = command.args(args).arg(&path).output().expect("the program runs");
            let printed = [output.stdout, output.stderr].concat();
            let printed = String::from_utf8_lossy(&printed);
            assert!(printed.contains(expected), "{args:?}: {printed:.2000}");
        }
    }
}

/// A line of two bytes took a block of 80 or more.
#[test]
fn unreadable_lines_that_follow_each_other_are_said_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.jsonl");
    let prompt = |words: &str| {
        format!(
            r#"{{"type":"user","uuid":"{words}","sessionId":"s","message":{{"role":"user","content":"{words}"}}}}"#
        ) + "\n"
    };
    // Neither a blank line nor a record that is not shown is printed between them.
    let (damage, n_lines) =
        (["{\n", "\n", "{\n", "{\"type\":\"new\"}\n"].concat().repeat(500), 2000);
    let lines = [&*prompt("one"), &damage, &prompt("two"), "{\n", &prompt("three"), "{\n{\n"];
    std::fs::write(&path, lines.concat()).expect("written");
    for args in [&["show", "--no-pager"][..], &["show", "--markdown"], &["export", "--html"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
        let output = command.args(args).arg(&path).output().expect("the program runs");
        let printed = String::from_utf8_lossy(&output.stdout);
        let said = [
            "line 2: byte ",
            &format!("lines 4 to {n_lines}: 999 such lines; the first of them: byte "),
            "two",
            &format!("line {}: byte ", n_lines + 3),
            "three",
            &format!("line {}: byte ", n_lines + 5),
            &format!("line {}: byte ", n_lines + 6),
        ];
        let start = printed.find(said[0]).expect("the first line");
        let mut rest = &printed[start..];
        for words in said {
            let Some((_, after)) = rest.split_once(words) else {
                panic!("{args:?}: no {words}: {:.2000}", &printed[start..]);
            };
            rest = after;
        }
        let n_said = printed.matches(": unexpected end of line").count();
        assert_eq!(n_said, 5, "{args:?}: {:.2000}", &printed[start..]);
    }
}
