//! Runs the recipes in the documentations of the formats with `grep` and `jq`: on our output they print
//! the same as on the source.

use std::{
    fs,
    io::{self, Cursor, Write},
    process::{Command, Stdio},
};

use convert::{CarryMode, Conversion, FORMATS, Sidecar, by_name};
use core_model::{Format, Options};
use format_sdk_stream::{Message, StreamReader, count_tool_uses, prompts, total_cost};

use crate::shared::{
    data, fixtures,
    turns::{chosen, share},
    ways::others,
};

/// The recipes of clido's documentation.
const USER_TEXTS: &str = r#"jq -r 'select(.type == "user_message") | .content[] | select(.type == "text") | .text' session.jsonl"#;
const COSTS: &str = r#"jq -r 'select(.type == "result") | .total_cost_usd' ~/.local/share/clido/sessions/*/*.jsonl | paste -sd+ | bc"#;

/// The recipes of the orchestrator's documentation.
const CONVERSATION: &str = r#"grep -E '(user_message|"text":)' session.jsonl"#;
const PROMPTS: &str = r#"grep '"type": "user_message"' session.jsonl | jq -r '.content'"#;
const RESPONSES: &str = r#"grep '"text":' session.jsonl | jq -r '.content[0].text'"#;
const INVOCATIONS: &str = r#"grep '"name":' session.jsonl | grep '"input":' | jq '.content[0] | {tool: .name, input: .input}'"#;
const RESULTS: &str = r#"grep '"tool_use_id":' session.jsonl | jq -r '.content[0].content'"#;
const TOTAL_COST: &str =
    r#"grep '"total_cost_usd"' session.jsonl | jq -s 'map(.total_cost_usd) | add'"#;
const TOOL_USES: &str = r#"grep -c '"name":' session.jsonl | grep '"input":'"#;

const OF_CLIDO: [&str; 2] = [USER_TEXTS, COSTS];
const OF_STREAMS: [&str; 7] =
    [CONVERSATION, PROMPTS, RESPONSES, INVOCATIONS, RESULTS, TOTAL_COST, TOOL_USES];

/// Returns whether the tools are installed. CI has them. Elsewhere, a note is printed and the tests
/// pass.
fn has_tools() -> bool {
    let is_here = |name: &str| {
        let mut look = Command::new("sh");
        look.args(["-c", &format!("command -v {name}")]).stdout(Stdio::null());
        look.status().is_ok_and(|status| status.success())
    };
    let missing: Vec<_> =
        ["grep", "jq", "paste", "bc"].into_iter().filter(|name| !is_here(name)).collect();
    assert!(missing.is_empty() || std::env::var_os("CI").is_none(), "install {missing:?}");
    if !missing.is_empty() {
        _ = writeln!(io::stderr(), "skipped: {missing:?} not installed");
    }
    missing.is_empty()
}

/// Runs recipes over a session and returns the output of each.
fn run(recipes: &[&str], session: &[u8]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let project = folder.path().join(".local/share/clido/sessions/_home_ada_demo");
    fs::create_dir_all(&project).expect("made");
    fs::write(project.join("session.jsonl"), session).expect("written");
    fs::write(folder.path().join("session.jsonl"), session).expect("written");
    let script: Vec<_> = recipes
        .iter()
        .enumerate()
        .map(|(recipe_idx, recipe)| format!("{{ {recipe}\n}} > {recipe_idx}.out"))
        .collect();
    let mut sh = Command::new("sh");
    sh.args(["-c", &script.join("\n")]).current_dir(&folder).env("HOME", folder.path());
    sh.stderr(Stdio::null()).status().expect("sh runs");
    let printed = |recipe_idx| fs::read(folder.path().join(format!("{recipe_idx}.out")));
    (0..recipes.len())
        .map(|idx| String::from_utf8_lossy(&printed(idx).expect("printed")).into_owned())
        .collect()
}

/// Returns the sessions of a format: fixtures, and sessions of clients if the data exists.
fn sessions(format: &str, folder: &str) -> Vec<(String, Vec<u8>)> {
    let is_whole = |name: &str| !name.starts_with("damaged/");
    let fixtures = fixtures::fixtures().into_iter();
    let fixtures = fixtures.filter(|it| it.format == format && is_whole(&it.name));
    let mut sessions: Vec<_> = fixtures.map(|it| (it.name, it.bytes)).collect();
    sessions.extend(data::data(&[folder]));
    assert!(sessions.len() > 20);
    sessions
}

/// Returns one in nine sessions, in turn.
fn some(sessions: Vec<(String, Vec<u8>)>) -> Vec<(String, Vec<u8>)> {
    share(sessions, 9)
}

/// Returns the lines of a list about sessions that begin with the name of one of these.
fn about(list: &[&'static str], names: &[String]) -> Vec<&'static str> {
    let is_about = |line: &&&str| {
        line.split_once(": ").is_some_and(|(name, _)| names.iter().any(|it| it == name))
    };
    list.iter().filter(is_about).copied().collect()
}

fn format(name: &str) -> &'static Format {
    by_name(name).expect("a format")
}

fn conversion(from: &'static Format, to: &'static Format) -> Conversion {
    let options = Options::default();
    Conversion { formats: FORMATS, from, to, carry: CarryMode::Inline, options }
}

fn converted(session: &[u8], from: &'static Format, to: &'static Format) -> Vec<u8> {
    conversion(from, to).convert(session, None).expect("in memory").bytes
}

/// Converts a session to another format and back.
fn through(session: &[u8], from: &'static Format, to: &'static Format) -> Vec<u8> {
    let there = conversion(from, to).convert(session, None).expect("in memory");
    // A file without a record has its carries in a sidecar.
    let sidecar = there.sidecar.map(|bytes| Sidecar::open(Cursor::new(bytes)).expect("a sidecar"));
    conversion(to, from).convert(&there.bytes, sidecar).expect("in memory").bytes
}

/// One in nine sessions is converted to one of the other formats in turn, because starting processes
/// takes long.
fn there_and_back(format_name: &str, folder: &str, recipes: &[&str]) {
    if !has_tools() {
        return;
    }
    let from = format(format_name);
    for (name, session) in some(sessions(format_name, folder)) {
        for to in chosen(&name, others(&[from]), 1) {
            let back = through(&session, from, to);
            assert_eq!(run(recipes, &back), run(recipes, &session), "{name} by {}", to.name);
        }
    }
}

#[test]
fn clidos_recipes_after_there_and_back() {
    there_and_back("clido", "clients/clido", &OF_CLIDO);
}

#[test]
fn the_orchestrators_recipes_after_there_and_back() {
    there_and_back("sdk-stream", "clients/sdk", &OF_STREAMS);
}

/// Compares the prompts and costs that two recipes print for sessions with the ones that two other
/// recipes print for their conversions. They differ for `expected`.
fn compare(
    (from, folder): (&str, &str),
    recipes: [&str; 2],
    to: &str,
    recipes_after: [&str; 2],
    expected: &[&'static str],
) {
    let sessions = some(sessions(from, folder));
    let names: Vec<String> = sessions.iter().map(|(name, _)| name.clone()).collect();
    let mut odd = Vec::new();
    for (name, session) in sessions {
        let written = converted(&session, format(from), format(to));
        let (before, after) = (run(&recipes, &session), run(&recipes_after, &written));
        if before[0] != after[0] {
            odd.push(format!("{name}: prompts"));
        }
        // `bc` adds decimals, jq adds floats. Without a result, one prints nothing and the other `null`.
        let number = |printed: &str| match printed.trim() {
            "" | "null" => Some(0.0),
            printed => printed.parse::<f64>().ok(),
        };
        let is_same = match (number(&before[1]), number(&after[1])) {
            (Some(before), Some(after)) => (before - after).abs() < 1e-12,
            (before, after) => before == after,
        };
        if !is_same {
            odd.push(format!("{name}: cost"));
        }
    }
    assert_eq!(odd, about(expected, &names));
}

/// The sessions for which the recipes of source and target differ.
const OTHERWISE_AS_DUMP: &[&str] = &[
    // An image alone is a prompt without text.
    "clido/image-of-both-shapes.jsonl: prompts",
    // `bc` does not parse small numbers in the form that jq prints.
    "clido/cost-1e-05.jsonl: cost",
    // Text beside a result is no prompt.
    "clido/result-block-in-user-message.jsonl: prompts",
    // The recipe does not count content that is a string.
    "clido/wrong-types.jsonl: prompts",
    // jq stops at an unpaired surrogate.
    "clido/lone-surrogates.jsonl: cost",
];

#[test]
fn a_clido_session_shows_the_same_as_a_dump() {
    if has_tools() {
        let source = ("clido", "clients/clido");
        compare(source, OF_CLIDO, "sdk-stream", [PROMPTS, TOTAL_COST], OTHERWISE_AS_DUMP);
    }
}

const OTHERWISE_AS_CLIDO: &[&str] = &[
    // clido needs a prompt.
    // A result alone has no prompt, so one is invented.
    "sdk-stream/result-only.jsonl: prompts",
    "sdk-stream/no-prompt.jsonl: prompts",
    // The recipe searches for the space that Python writes.
    "sdk-stream/compact-spelling.jsonl: prompts",
    // `bc` does not parse small numbers in the form that jq prints.
    "sdk-stream/numbers.jsonl: cost",
    // The recipe searches for unescaped characters.
    "sdk-stream/escapes.jsonl: prompts",
    // A prompt that is not text does not count.
    "sdk-stream/wrong-types.jsonl: prompts",
];

#[test]
fn a_dump_shows_the_same_as_a_clido_session() {
    if has_tools() {
        let source = ("sdk-stream", "clients/sdk");
        compare(source, [PROMPTS, TOTAL_COST], "clido", OF_CLIDO, OTHERWISE_AS_CLIDO);
    }
}

const OTHERWISE_THAN_FUNCTIONS: &[&str] = &[
    // The recipe searches for the space that Python writes.
    "sdk-stream/compact-spelling.jsonl: prompts",
    "sdk-stream/escapes.jsonl: prompts",
    // A prompt that is not text does not count.
    "sdk-stream/wrong-types.jsonl: prompts",
    // jq stops at an unpaired surrogate.
    "claude-code/lone-surrogates.jsonl: prompts",
    "claude-code/lone-surrogates.jsonl: tools",
];

/// Returns whether each message of the model has one block, as the client writes them. Of several
/// blocks, the recipe reads only the first.
fn has_one_block_each(stream: &[u8]) -> bool {
    StreamReader::from_slice(stream).filter_map(Result::ok).all(|message| match message {
        Message::Assistant { content, .. } => content.len() < 2,
        _ => true,
    })
}

#[test]
fn the_functions_find_what_the_recipes_print() {
    if !has_tools() {
        return;
    }
    let mut odd = Vec::new();
    let mut streams = sessions("sdk-stream", "clients/sdk");
    let is_main = |name: &str| !name.contains("agent-");
    let transcripts = fixtures::fixtures()
        .into_iter()
        .filter(|it| it.format == "claude-code" && is_main(&it.name));
    streams
        .extend(transcripts.map(|it| {
            (it.name, converted(&it.bytes, format("claude-code"), format("sdk-stream")))
        }));
    let streams = some(streams);
    let names: Vec<String> = streams.iter().map(|(name, _)| name.clone()).collect();
    let mut n_tools = 0;
    for (name, dump) in streams {
        let printed = run(&[PROMPTS, INVOCATIONS, TOTAL_COST, TOOL_USES], &dump);
        let asked: String = prompts(&dump).iter().map(|prompt| format!("{prompt}\n")).collect();
        if printed[0] != asked {
            odd.push(format!("{name}: prompts"));
        }
        let n_printed = printed[1].matches("\n  \"tool\": \"").count() as u64;
        if n_printed != count_tool_uses(&dump) && has_one_block_each(&dump) {
            odd.push(format!("{name}: tools"));
        }
        n_tools += n_printed;
        let cost = total_cost(&dump).unwrap_or(0.0);
        if printed[2].trim().parse::<f64>().unwrap_or(0.0) != cost {
            odd.push(format!("{name}: cost"));
        }
        // The recipe finds nothing to count; `count_tool_uses` does.
        assert_eq!(printed[3], "", "{name}");
    }
    assert!(n_tools > 0, "no tool uses");
    assert_eq!(odd, about(OTHERWISE_THAN_FUNCTIONS, &names));
}
