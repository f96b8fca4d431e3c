//! Tests of pages of sessions in all formats: they are complete, in order, and have no element from
//! the session.

#[path = "shared/parsed.rs"]
mod parsed;
#[path = "../../core-model/tests/shared/skipped.rs"]
mod skipped;
#[path = "../../convert/tests/all/shared/turns.rs"]
mod turns;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use core_model::{Body, Format};
use export_html::{Entry, Figures, FinishedPage, Page, Spent, Survey, write_index};
use jsonl::{Scanner, Style, push_string};
use parsed::{Parsed, parse};
use skipped::say_skipped;
use turns::share;

const FORMATS: [&Format; 4] = [
    &format_claude_code::FORMAT,
    &format_clido::FORMAT,
    &format_sdk_stream::DUMP,
    &format_sdk_stream::WIRE,
];

/// Returns the page of a session.
fn page(format: &Format, session: &[u8]) -> String {
    let mut scanner = Scanner::default();
    let mut survey = Survey::new(format);
    for line in jsonl::lines(session) {
        match scanner.scan(&line) {
            Ok(value) => survey.push(&format.first_event(value)),
            Err(_) => survey.push_unreadable(),
        }
    }
    let mut page = Page::new(Vec::new(), survey, "a <b>name</b>").expect("memory");
    for line in jsonl::lines(session) {
        match scanner.scan(&line) {
            Ok(value) => page.push(&format.first_event(value)).expect("memory"),
            Err(error) => page.push_unreadable(&error.to_string()).expect("memory"),
        }
    }
    let html = page.finish().expect("memory").sink;
    String::from_utf8(html).expect("text")
}

fn claude_code(session: &str) -> Parsed {
    let page = page(&format_claude_code::FORMAT, session.as_bytes());
    let parsed = parse(&page);
    assert_eq!(parsed.problems, [""; 0], "{page}");
    parsed
}

/// Returns the text that follows the start of the conversation.
fn conversation(parsed: &Parsed) -> String {
    let words: Vec<_> = parsed.text.split_whitespace().collect();
    let words = words.join(" ");
    words.split_once("Prompts").map_or(words.clone(), |(_, rest)| rest.to_owned())
}

fn files(folder: PathBuf) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files
}

/// The elements that this crate writes. A page has no others.
const ELEMENTS: &str = "a article b blockquote body br button circle code dd del details dialog div \
    dl dt em footer form g h1 h2 h3 h4 h5 head header hr html i img input ins kbd li line main meta \
    nav ol output p pre rect script section span strong style summary svg table tbody td th thead \
    time title tr ul";

/// A third of the fixtures, other ones each day.
#[test]
fn every_fixture_and_every_hostile_file_is_a_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let data = std::env::var_os("CONVERT_DATA").map_or(root.join("../shared/data"), PathBuf::from);
    let mut paths = files(root.join("fixtures"));
    assert!(paths.len() > 100, "the fixtures are there");
    paths = share(paths, 3);
    let n_fixtures = paths.len();
    paths.extend(files(data.join("hostile")));
    paths.extend(files(data.join("clients")));
    if paths.len() == n_fixtures {
        say_skipped(format_args!("no data in {}", data.display()));
    }
    let allowed: BTreeSet<&str> = ELEMENTS.split_whitespace().collect();
    let check = |path: &PathBuf| {
        // The first kilobytes of a damaged file have all its faults.
        let bytes = fs::read(path).expect("readable");
        let bytes = bytes.get(..40_000).unwrap_or(&bytes);
        for format in FORMATS {
            let parsed = parse(&page(format, bytes));
            let (path, name) = (path.display(), format.name);
            assert_eq!(parsed.problems, [""; 0], "{path} as {name}");
            for (element, _) in &parsed.elements {
                assert!(allowed.contains(&**element), "{path} as {name}: <{element}>");
            }
        }
    };
    let next = AtomicUsize::new(0);
    let n_threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..n_threads {
            scope.spawn(|| {
                while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
                    check(path);
                }
            });
        }
    });
}

/// Texts that would do harm if a page contained them unescaped.
const ATTACKS: [&str; 12] = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</style></title></pre></details></main>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "<!-- --!><iframe srcdoc='x'>",
    "<svg/onload=alert(1)>",
    "[x](javascript:alert(1)) ![x](https://example.org/pixel.png)",
    "[x]: <data:text/html,x>\n[x]",
    "\u{0}\u{8}\u{1b}]0;title\u{7}\u{1b}[31m\u{9b}31m\u{7f}\u{85}",
    "\u{202e}\u{2066}gnp.exe\u{2028}\u{feff}\u{fffe}",
    "&lt;b&gt; &#60; &amp",
];

#[test]
fn no_word_of_a_session_is_markup_wherever_it_stands() {
    for attack in ATTACKS {
        let mut quoted = Vec::new();
        push_string(&mut quoted, attack, Style::Compact);
        let quoted = String::from_utf8(quoted).expect("text");
        let session = [
            r#"{"type":"user","uuid":@,"sessionId":@,"cwd":@,"version":@,"timestamp":@,"message":{"role":"user","content":@}}"#,
            r#"{"type":"assistant","uuid":@,"sessionId":"s","timestamp":"2026-01-01T10:00:00.000Z","message":{"role":"assistant","id":@,"model":@,"content":[{"type":"thinking","thinking":@},{"type":"text","text":@},{"type":"tool_use","id":@,"name":@,"input":{"command":@,@:@,"old_string":@,"new_string":@}},{"type":@,"x":@},{"type":"image","source":{"type":"base64","media_type":@,"data":@}}],"usage":{"input_tokens":@,"output_tokens":3}}}"#,
            r#"{"type":"user","isSidechain":true,"agentId":@,"sessionId":"s","message":{"role":"user","content":@}}"#,
            r#"{"type":"user","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":@,"is_error":true,"content":[{"type":"text","text":@},{"type":@}]},{"type":"tool_result","tool_use_id":"other","content":@}]}}"#,
            r#"{"type":"system","subtype":@,"level":"error","content":@,"sessionId":"s"}"#,
            r#"{"type":"system","subtype":"compact_boundary","content":@,"compactMetadata":{"trigger":@,"preTokens":5},"sessionId":"s"}"#,
            r#"{"type":"custom-title","customTitle":@,"sessionId":"s"}"#,
        ];
        let session = session.join("\n").replace('@', &quoted);
        let parsed = claude_code(&session);
        let allowed: BTreeSet<&str> = ELEMENTS.split_whitespace().collect();
        assert!(parsed.elements.iter().all(|(name, _)| allowed.contains(&**name)));
        if attack.starts_with('<') {
            assert!(parsed.text.matches(attack).count() >= 15, "{attack}: {}", parsed.text);
        }
    }
}

#[test]
fn results_stand_beneath_their_calls() {
    let parsed = claude_code(concat!(
        r#"{"type":"user","sessionId":"s","message":{"role":"user","content":"Prompts: go"}}"#,
        "\n",
        r#"{"type":"assistant","sessionId":"s","message":{"role":"assistant","id":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"one"}}]}}"#,
        "\n",
        r#"{"type":"assistant","sessionId":"s","message":{"role":"assistant","id":"m","content":[{"type":"tool_use","id":"t2","name":"Read","input":{"file_path":"two"}}]}}"#,
        "\n",
        r#"{"type":"assistant","sessionId":"s","message":{"role":"assistant","id":"m","content":[{"type":"tool_use","id":"t3","name":"Grep","input":{"pattern":"three"}}]}}"#,
        "\n",
        r#"{"type":"user","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"of two"}]}}"#,
        "\n",
        r#"{"type":"user","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"of one"}]}}"#,
        "\n",
        r#"{"type":"user","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t9","content":"of none"}]}}"#,
        "\n",
        r#"{"type":"assistant","sessionId":"s","message":{"role":"assistant","content":[{"type":"text","text":"finished"}]}}"#,
    ));
    let text = conversation(&parsed);
    let order = ["one error", "of one", "two", "of two", "three no result", "of none", "finished"];
    let places: Vec<_> = order.iter().map(|words| text.find(words)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}: {text}");
}

#[test]
fn results_of_one_id_stand_beneath_their_calls_in_order() {
    let parsed = claude_code(concat!(
        r#"{"type":"user","sessionId":"s","message":{"role":"user","content":"go"}}"#,
        "\n",
        r#"{"type":"assistant","sessionId":"s","message":{"role":"assistant","id":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"one"}},{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"two"}}]}}"#,
        "\n",
        r#"{"type":"user","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"of one"}]}}"#,
        "\n",
        r#"{"type":"user","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"of two"}]}}"#,
        "\n",
    ));
    let text = conversation(&parsed);
    let places = ["one error", "of one", "two", "of two"].map(|words| text.find(words));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}: {text}");
}

#[test]
fn branches_that_are_left_out_are_folded() {
    let lines = [
        r#"{"type":"user","sessionId":"s","message":{"role":"user","content":"go"}}"#,
        r#"{"type":"assistant","sessionId":"s","message":{"role":"assistant","id":"m","content":[{"type":"text","text":"first try"},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}"#,
        r#"{"type":"user","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a file"}]}}"#,
        r#"{"type":"assistant","sessionId":"s","message":{"role":"assistant","id":"n","content":[{"type":"text","text":"second try"}]}}"#,
    ];
    let is_left_out = |line_idx| (1..3).contains(&line_idx);
    let format = &format_claude_code::FORMAT;
    let (mut scanner, mut survey) = (Scanner::default(), Survey::new(format));
    for (line_idx, line) in lines.iter().enumerate() {
        let value = scanner.scan_slice(line.as_bytes(), 0).expect("a line");
        let event = format.first_event(value);
        match is_left_out(line_idx) {
            true => survey.skip_left_out(&event),
            false => survey.push(&event),
        }
    }
    let mut page = Page::new(Vec::new(), survey, "name").expect("memory");
    for (line_idx, line) in lines.iter().enumerate() {
        let value = scanner.scan_slice(line.as_bytes(), 0).expect("a line");
        let event = format.first_event(value);
        match is_left_out(line_idx) {
            true => page.push_left_out(&event).expect("memory"),
            false => page.push(&event).expect("memory"),
        }
    }
    let FinishedPage { sink: html, figures } = page.finish().expect("memory");
    let parsed = parse(&String::from_utf8(html).expect("text"));
    assert_eq!(parsed.problems, [""; 0]);
    assert_eq!(figures.n_tool_calls, 0);
    let words = parsed.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let order =
        ["go", "Left-out branch first try", "first try", "Bash ls", "Resulta file", "second try"];
    let mut rest = words.split_once("#").map_or("", |(_, rest)| rest);
    for part in order {
        let found = rest.split_once(part);
        assert!(found.is_some(), "{part}: {words}");
        rest = found.map_or("", |(_, rest)| rest);
    }
    assert!(!words.contains("no result"), "{words}");
}

#[test]
fn a_message_id_of_two_requests_is_two_responses_and_a_told_response_is_none() {
    let line = |request: &str| {
        format!(
            r#"{{"type":"assistant","sessionId":"s","requestId":"{request}","message":{{"role":"assistant","id":"m","content":[{{"type":"text","text":"part"}}],"usage":{{"input_tokens":1,"output_tokens":2}}}}}}"#
        )
    };
    let told = r#"{"type":"progress","sessionId":"s","data":{"type":"agent_progress","message":{"type":"assistant","message":{"role":"assistant","id":"told","usage":{"input_tokens":5,"output_tokens":7}}}}}"#;
    let format = &format_claude_code::FORMAT;
    let (mut scanner, mut survey) = (Scanner::default(), Survey::new(format));
    let mut n_told = 0;
    for line in [line("one"), line("one"), line("two"), told.to_owned()] {
        let event = format.first_event(scanner.scan_slice(line.as_bytes(), 0).expect("a line"));
        n_told +=
            usize::from(matches!(&event.body, Body::Usage(usage) if usage.message_id.is_some()));
        survey.push(&event);
        if let Some(usage) = event.message().and_then(|message| message.usage) {
            survey.spend(&event, Spent { tokens: usage.tokens(), cost: Some(1.0) });
        }
    }
    assert_eq!(n_told, 1);
    let figures = survey.figures();
    assert_eq!((figures.tokens.input, figures.tokens.output), (2, 4));
    assert_eq!(figures.cost, Some(2.0));
}

#[test]
fn tokens_and_cost_are_at_each_response() {
    let line = |output: u32| {
        format!(
            r#"{{"type":"assistant","sessionId":"s","message":{{"role":"assistant","id":"m","content":[{{"type":"text","text":"part"}}],"usage":{{"input_tokens":1200,"output_tokens":{output}}}}}}}"#
        )
    };
    let format = &format_claude_code::FORMAT;
    let (mut scanner, mut survey) = (Scanner::default(), Survey::new(format));
    let lines = [line(1), line(9)];
    for line in &lines {
        let event = format.first_event(scanner.scan_slice(line.as_bytes(), 0).expect("a line"));
        let tokens = event.message().and_then(|it| it.usage).expect("usage").tokens();
        survey.push(&event);
        survey.spend(&event, Spent { tokens, cost: Some(tokens.output as f64) });
    }
    let mut page = Page::new(Vec::new(), survey, "name").expect("memory");
    for line in &lines {
        let value = scanner.scan_slice(line.as_bytes(), 0).expect("a line");
        page.push(&format.first_event(value)).expect("memory");
    }
    let FinishedPage { sink: html, figures } = page.finish().expect("memory");
    assert_eq!(figures.cost, Some(9.0));
    let html = String::from_utf8(html).expect("text");
    let at_responses: Vec<&str> = html.split("class=\"spent\"").skip(1).collect();
    assert_eq!(at_responses.len(), 1);
    assert!(
        at_responses[0].starts_with(
            " title=\"1,200 tokens sent, 0 read from the cache, 0 written to the cache, 9 answered\">\
             1.2 k → 9 <b>$9.00</b></p>"
        ),
        "{}",
        at_responses[0]
    );
}

#[test]
fn sub_agents_stand_in_their_calls() {
    let task = |id: &str, prompt: &str| {
        format!(
            "{{\"type\":\"assistant\",\"sessionId\":\"s\",\"message\":{{\"role\":\"assistant\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"Task\",\"input\":{{\"prompt\":\"{prompt}\"}}}}]}}}}\n"
        )
    };
    let side = |uuid: &str, parent: &str, role: &str, text: &str| {
        format!(
            "{{\"type\":\"{role}\",\"isSidechain\":true,\"uuid\":\"{uuid}\",\"parentUuid\":{parent},\"sessionId\":\"s\",\"message\":{{\"role\":\"{role}\",\"content\":\"{text}\"}}}}\n"
        )
    };
    let result = |id: &str, text: &str| {
        format!(
            "{{\"type\":\"user\",\"sessionId\":\"s\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"{id}\",\"content\":\"{text}\"}}]}}}}\n"
        )
    };
    let session = [
        task("t1", "find A"),
        task("t2", "find B"),
        side("b1", "null", "user", "find B"),
        side("a1", "null", "user", "find A"),
        side("b2", "\"b1\"", "assistant", "looking for B"),
        side("a2", "\"a1\"", "assistant", "looking for A"),
        result("t2", "found B"),
        result("t1", "found A"),
        side("a3", "\"a2\"", "assistant", "A after the result"),
        side("c1", "null", "user", "nobody started this"),
    ];
    let text = conversation(&claude_code(&session.concat()));
    let order = [
        "looking for A",
        "A after the result",
        "found A",
        "looking for B",
        "found B",
        "nobody started this",
    ];
    let places: Vec<_> = order.iter().map(|words| text.find(words)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}: {text}");
}

#[test]
fn a_call_says_that_its_sub_agent_is_in_no_file() {
    let line = br#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Task","input":{}}]}}"#;
    let mut scanner = Scanner::default();
    let event = format_claude_code::read(scanner.scan_slice(line, 0).expect("valid"));
    let mut survey = Survey::new(&format_claude_code::FORMAT);
    survey.push(&event);
    survey.note_missing("t1");
    let mut page = Page::new(Vec::new(), survey, "name").expect("memory");
    page.push(&event).expect("memory");
    let html = page.finish().expect("memory").sink;
    let parsed = parse(std::str::from_utf8(&html).expect("text"));
    assert!(parsed.problems.is_empty() && parsed.text.contains("is in no file"), "{parsed:?}");
}

#[test]
fn agents_in_agents_end_somewhere() {
    let mut session = String::new();
    for depth in 0..200 {
        let parent = match depth {
            0 => "null".to_owned(),
            _ => format!("\"t{}\"", depth - 1),
        };
        session.push_str(&format!(
            "{{\"type\":\"assistant\",\"session_id\":\"s\",\"uuid\":\"u\",\"parent_tool_use_id\":{parent},\"message\":{{\"role\":\"assistant\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"t{depth}\",\"name\":\"Task\",\"input\":{{}}}}]}}}}\n"
        ));
    }
    session.push_str(
        &"{\"type\":\"assistant\",\"session_id\":\"s\",\"parent_tool_use_id\":\"own\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"own\",\"name\":\"Task\",\"input\":{}}]}}\n"
        .repeat(3),
    );
    let page = page(&format_sdk_stream::WIRE, session.as_bytes());
    let parsed = parse(&page);
    assert_eq!(parsed.problems, [""; 0]);
    let calls = |(name, attributes): &&(String, Vec<(String, String)>)| {
        name == "details" && attributes.iter().any(|(_, value)| value.starts_with("call"))
    };
    assert_eq!(parsed.elements.iter().filter(calls).count(), 203);
}

#[test]
fn every_link_of_the_timeline_leads_to_an_element() {
    // Qwen Code writes `parts` where Claude Code writes `content`.
    let page = page(
        &format_claude_code::FORMAT,
        br#"{"type":"user","uuid":"1","timestamp":"2026-02-03T10:00:00Z","message":{"role":"user","content":"Hi"}}
{"type":"assistant","uuid":"2","timestamp":"2026-02-03T10:00:01Z","message":{"role":"assistant","content":null}}
{"type":"assistant","uuid":"3","timestamp":"2026-02-03T10:00:02Z","message":{"role":"model","parts":[{"text":"a"}]}}
{"type":"assistant","uuid":"4","timestamp":"2026-02-03T10:00:03Z","isApiErrorMessage":true,"message":{"role":"assistant","content":[]}}
{"type":"assistant","uuid":"5","timestamp":"2026-02-03T10:00:09Z","message":{"role":"assistant","content":[{"type":"text","text":"Yes"}]}}
"#,
    );
    let links: Vec<&str> =
        page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(links.contains(&"e5"), "{page}");
    for link in links {
        assert!(page.contains(&format!("id=\"{link}\"")), "{link}: {page}");
    }
}

#[test]
fn the_page_asks_for_nothing() {
    let session =
        include_bytes!("../../../fixtures/sample/fb02d60f-60fc-4f60-a756-f9afd272cd18.jsonl");
    let page = page(&format_claude_code::FORMAT, session);
    assert!(page.contains("content=\"default-src 'none'; img-src data:; style-src 'sha256-"));
    for (name, _) in parse(&page).elements {
        assert!(!["link", "iframe", "object", "embed", "base"].contains(&&*name), "{name}");
    }
}

#[test]
fn an_index_of_hostile_names() {
    let entries: Vec<_> = ATTACKS
        .iter()
        .map(|attack| Entry {
            path: format!("{attack}.html"),
            name: (*attack).to_owned(),
            figures: Box::new(Figures { title: Some((*attack).to_owned()), ..Figures::default() }),
        })
        .collect();
    let mut page = Vec::new();
    write_index(&mut page, ATTACKS[0], &entries).expect("memory");
    let page = String::from_utf8(page).expect("text");
    assert_eq!(parse(&page).problems, [""; 0], "{page}");
}
