//! Tests of whole sessions as Markdown, with their sub-agents.

use std::{fs, path::Path};

use format_claude_code::{Filter, SessionMarkdown};

fn printed(options: &SessionMarkdown<'_>, main: &Path) -> String {
    let mut out = Vec::new();
    options.print(main, &mut out).expect("a session");
    String::from_utf8(out).expect("text")
}

#[test]
fn a_sub_agent_stands_before_its_result() {
    let name = "with-agents/96d642c4-88cf-4d27-ae87-d9f4303e6ddf.jsonl";
    let main = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/claude-code").join(name);
    let text = printed(&SessionMarkdown::default(), &main);
    let at = |words: &str| text.find(words).unwrap_or_else(|| unreachable!("{words}: {text}"));
    assert!(at("# Session Reconstruction") < at("**Session ID:** `96d642c4"));
    let delegation = at("--- *Sub-Agent Delegation `a7f3c21`* ---");
    assert!(at("**Tool Use**") < delegation && delegation < at("\n> **User** ("));
    let result = text.rfind("\n**Tool Result**").expect("the result");
    assert!(at("\n> **User** (") < at("\n----------") && at("\n----------") < result, "{text}");
    let agents = SessionMarkdown { agents_only: true, ..SessionMarkdown::default() };
    let text = printed(&agents, &main);
    assert!(text.contains("\n> **User** (") && !text.contains("\n## User ("), "{text}");
    let none = Filter { from: Some(i64::MAX), ..Filter::default() };
    let text = printed(&SessionMarkdown { filter: none, ..SessionMarkdown::default() }, &main);
    assert!(!text.contains("**User** ("), "{text}");
}

fn call(id: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"{id}","name":"Task","input":{{"prompt":"{id}"}}}}]}}}}"#
    )
}

fn result(id: &str, agent: &str) -> String {
    format!(
        r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","content":"agentId: {agent}\nDone"}}]}},"toolUseResult":{{"agentId":"{agent}"}}}}"#
    )
}

#[test]
fn agents_of_agents_in_circles_lost_and_beyond_the_deepest() {
    let folder = std::env::temp_dir().join(format!("markdown-{}", std::process::id()));
    let agents = folder.join("s1/subagents");
    fs::create_dir_all(&agents).expect("a folder");
    let main = folder.join("s1.jsonl");
    let lines = |pairs: &[(&str, &str)]| {
        let pairs =
            pairs.iter().map(|(id, agent)| format!("{}\n{}\n", call(id), result(id, agent)));
        pairs.collect::<String>()
    };
    fs::write(&main, lines(&[("t0", "a0"), ("t9", "lost")])).expect("a file");
    for n in 0..15 {
        let text = lines(&[(&format!("t{}0", n + 1), &format!("a{}", n + 1)), ("t0", "a0")]);
        fs::write(agents.join(format!("agent-a{n}.jsonl")), text).expect("a file");
    }
    fs::write(agents.join("agent-a99.jsonl"), call("alone")).expect("a file");
    let text = printed(&SessionMarkdown::default(), &main);
    for n in (0..15).chain([99]) {
        let count = text.matches(&format!("Sub-Agent Delegation `a{n}`")).count();
        assert_eq!(count, 1, "a{n}: {text}");
    }
    assert!(text.contains("(Sub-agent log file not found)"), "{text}");
    assert!(text.contains("(More than 10 sub-agents deep)"), "{text}");
    fs::remove_dir_all(folder).expect("the folder");
}
