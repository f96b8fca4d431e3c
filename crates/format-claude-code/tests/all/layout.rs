//! Tests of sessions of several files: their files, and the evidence for the links.

use std::{
    fs,
    path::{Path, PathBuf},
};

use core_model::{Evidence, Missing, Sidechains};
use format_claude_code::{FORMAT, open_session_tree};
use jsonl::Scanner;

use crate::skipped::say_skipped;

fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }
    folder
}

fn call(id: &str, prompt: &str) -> String {
    format!(
        r#"{{"type":"assistant","uuid":"a-{id}","sessionId":"s1","message":{{"role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"Task","input":{{"prompt":"{prompt}"}}}}]}}}}"#
    ) + "\n"
}

fn result(id: &str, words: &str, known: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"r-{id}","sessionId":"s1","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"{words}"}}]}}{known}}}"#
    ) + "\n"
}

fn agent(id: &str, session: &str, prompt: &str) -> String {
    format!(
        r#"{{"type":"user","isSidechain":true,"agentId":"{id}","uuid":"u-{id}","sessionId":"{session}","message":{{"role":"user","content":"{prompt}"}}}}"#
    ) + "\n"
}

/// Returns names, tool uses, parents and evidence of the sub-agents of a session.
fn agents(main: &Path) -> Vec<(String, Option<String>, Option<String>, Vec<Evidence>)> {
    let tree = open_session_tree(main).expect("read");
    let row = |agent: core_model::Agent| (agent.id, agent.tool_use, agent.parent, agent.evidence);
    tree.agents.into_iter().map(row).collect()
}

fn row(
    id: &str,
    tool_use: Option<&str>,
    parent: Option<&str>,
    evidence: &[Evidence],
) -> (String, Option<String>, Option<String>, Vec<Evidence>) {
    (id.to_owned(), tool_use.map(str::to_owned), parent.map(str::to_owned), evidence.to_vec())
}

#[test]
fn every_evidence_links_a_sub_agent() {
    let known = r#","toolUseResult":{"status":"completed","agentId":"aresult"}"#;
    let run = r#","toolUseResult":{"runId":"wf_1"}"#;
    let gone = r#","toolUseResult":{"agentId":"agone"}"#;
    let progress = concat!(
        r#"{"type":"progress","uuid":"p1","sessionId":"s1","parentToolUseID":"t3","#,
        r#""data":{"type":"agent_progress","agentId":"aprogress"}}"#,
        "\n"
    );
    let main = [
        call("t1", "One."),
        result("t1", "Done.", known),
        result("t2", "agentId: awords (use SendMessage)", ""),
        progress.to_owned(),
        call("t4", "Four."),
        result("t5", "started", run),
        result("t6", "Done.", gone),
        result("t7", "agentId: poison01 (just plain output)", ""),
        call("t8", "Same."),
        call("t9", "Same."),
    ];
    let nested = agent("aresult", "s1", "One.") + &result("t10", "agentId: anested", "");
    let folder = tree(&[
        ("s1.jsonl", &main.concat()),
        ("s1/subagents/agent-aresult.jsonl", &nested),
        ("s1/subagents/agent-awords.jsonl", &agent("awords", "s1", "Two.")),
        ("s1/subagents/agent-aprogress.jsonl", &agent("aprogress", "s1", "Three.")),
        ("s1/subagents/agent-aprompt.jsonl", &agent("aprompt", "s1", "Four.")),
        ("s1/subagents/agent-anested.jsonl", &agent("anested", "s1", "Ten.")),
        ("s1/subagents/agent-ameta.jsonl", &agent("ameta", "s1", "Eleven.")),
        (
            "s1/subagents/agent-ameta.meta.json",
            r#"{"agentType":"Explore","toolUseId":"t11","description":"Look"}"#,
        ),
        ("s1/subagents/agent-acompact-1f.jsonl", &agent("acompact-1f", "s1", "Sum up.")),
        ("s1/subagents/agent-same1.jsonl", &agent("same1", "s1", "Same.")),
        ("s1/subagents/agent-same2.jsonl", &agent("same2", "s1", "Same.")),
        ("s1/subagents/workflows/wf_1/agent-arun.jsonl", &agent("arun", "s1#arun", "Run.")),
        ("s1/tool-results/toolu_1.txt", "output"),
        ("s2.jsonl", "{}\n"),
        ("s2/subagents/agent-other.jsonl", &agent("other", "s2", "Other.")),
    ]);
    let main = folder.path().join("s1.jsonl");
    use Evidence::{Description, Progress, Prompt, Result, Words};
    assert_eq!(
        agents(&main),
        [
            row("acompact-1f", None, None, &[]),
            row("ameta", Some("t11"), None, &[Description]),
            row("anested", Some("t10"), Some("aresult"), &[Words]),
            row("aprogress", Some("t3"), None, &[Progress]),
            row("aprompt", Some("t4"), None, &[Prompt]),
            row("aresult", Some("t1"), None, &[Result, Prompt]),
            row("awords", Some("t2"), None, &[Words]),
            row("same1", Some("t8"), None, &[Prompt]),
            row("same2", Some("t9"), None, &[Prompt]),
            row("arun", Some("t5"), None, &[Result]),
        ]
    );
    let tree = open_session_tree(&main).expect("read");
    let below = |path: &str| folder.path().join(path);
    assert_eq!(
        tree.side_files,
        [below("s1/subagents/agent-ameta.meta.json"), below("s1/tool-results/toolu_1.txt")]
    );
    assert_eq!(tree.agents[1].description.as_ref().expect("one").kind.as_deref(), Some("Explore"));
    let (id, tool_use) = ("agone".to_owned(), "t6".to_owned());
    assert_eq!(tree.missing, [Missing { id, tool_use, evidence: Result }]);
}

#[test]
fn flat_files_belong_to_the_session_that_they_name() {
    let late = "\n{\"type\":\"summary\"}\n".to_owned() + &agent("alate", "s1", "Two.");
    let folder = tree(&[
        ("s1.jsonl", &call("t1", "One.")),
        ("s2.jsonl", "{}\n"),
        ("agent-aone.jsonl", &agent("aone", "s1", "One.")),
        ("agent-alate.jsonl", &late),
        ("agent-aother.jsonl", &agent("aother", "s2", "One.")),
        ("agent-anobody.jsonl", &agent("anobody", "s3", "One.")),
        ("agent-aout.jsonl", &agent("aout", "../s1", "One.")),
        ("agent-aempty.jsonl", ""),
    ]);
    assert_eq!(
        agents(&folder.path().join("s1.jsonl")),
        [row("alate", None, None, &[]), row("aone", Some("t1"), None, &[Evidence::Prompt])]
    );
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let folder = tree(&[("s1.jsonl", "{}\n"), ("s2/agent-a1.jsonl", "{}\n")]);
    fs::create_dir(folder.path().join("s1")).expect("made");
    let (there, here) = (folder.path().join("s2"), folder.path().join("s1/subagents"));
    std::os::unix::fs::symlink(there, here).expect("linked");
    assert_eq!(agents(&folder.path().join("s1.jsonl")), []);
}

fn sidechains(lines: impl IntoIterator<Item = String>) -> Sidechains {
    let mut sidechains = Sidechains::new(FORMAT.layout.expect("has them"));
    let mut scanner = Scanner::default();
    for (offset, line) in lines.into_iter().enumerate() {
        let value = scanner.scan_slice(line.as_bytes(), 0).expect("JSON");
        sidechains.observe(offset as u64, &FORMAT.first_event(value));
    }
    sidechains.link();
    sidechains
}

fn sidechain(uuid: &str, parent: &str, text: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        r#"{{"type":"user","isSidechain":true,"uuid":"{uuid}","parentUuid":{parent},"message":{{"role":"user","content":"{text}"}}}}"#
    )
}

#[test]
fn sidechains_in_the_main_file_are_told_apart_by_their_parents() {
    let found = sidechains([
        call("t1", "Look."),
        call("t2", "Look."),
        sidechain("a", "", "Look."),
        sidechain("b", "", "Look."),
        sidechain("c", "a", "At a."),
        sidechain("d", "b", "At b."),
        sidechain("e", "gone", "At b, the last before."),
        sidechain("f", "a-t2", "Of its own: the session is its parent."),
        r#"{"type":"user","isSidechain":true,"message":{"content":"Goes on."}}"#.to_owned(),
    ]);
    let places: Vec<_> = (0..9).map(|offset| found.place_of(offset)).collect();
    let sidechains = [0, 1, 0, 1, 1, 2, 2].map(Some);
    assert_eq!(places, [&[None, None][..], &sidechains].concat());
    let tool_uses = found.agents().iter().map(|agent| agent.tool_use.as_deref());
    assert_eq!(tool_uses.collect::<Vec<_>>(), [Some("t1"), Some("t2"), None]);
}

/// A search through a list for each line would take a billion steps here.
#[test]
fn as_many_sidechains_as_lines_take_linear_time() {
    let n = 20_000;
    let calls = (0..n).map(|n| call(&format!("t{n}"), "Look."));
    let starts = (0..n).map(|n| sidechain(&format!("s{n}"), "", "Look."));
    let found = sidechains(calls.chain(starts));
    let mut by: Vec<_> = found.agents().iter().map(|agent| agent.tool_use.clone()).collect();
    by.sort();
    by.dedup();
    assert_eq!(by.len(), n);
    // Sub-agents with equal first lines have different ids.
    let same = sidechains((0..n).map(|_| sidechain("s", "", "Look.")));
    let ids: std::collections::BTreeSet<_> = same.agents().iter().map(|agent| &agent.id).collect();
    assert_eq!(ids.len(), n);
}

#[test]
fn sub_agents_of_real_sessions() {
    let data = std::env::var_os("CONVERT_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let tests = data.join("real/iansherr+claude-code-log/test/test_data");
    if !tests.is_dir() {
        say_skipped(format_args!("no data in {}", data.display()));
        return;
    }
    let linked = |main: PathBuf| -> Vec<(String, Option<String>, Option<String>)> {
        agents(&main).into_iter().map(|(id, by, parent, _)| (id, by, parent)).collect()
    };
    let nested = linked(tests.join("nested_agents/33330000-0000-4000-8000-000000000001.jsonl"));
    let of = |id: &str, parent: Option<&str>| {
        (id.to_owned(), Some(format!("toolu_ns_{id}")), parent.map(str::to_owned))
    };
    assert_eq!(
        nested,
        [
            of("nschain1", None),
            of("nschain2", Some("nschain1")),
            of("nschain3", Some("nschain2")),
            of("nsintr01", None),
            of("nsleaf11", Some("nsmid001")),
            of("nsleaf12", Some("nsmid001")),
            of("nsleaf21", Some("nsmid002")),
            of("nsleaf22", Some("nsmid002")),
            of("nsmid001", None),
            of("nsmid002", None),
        ]
    );
    let workflow = linked(tests.join("workflow_basic/11110000-0000-4000-8000-000000000001.jsonl"));
    assert_eq!(workflow, [("ag000002".to_owned(), Some("toolu_wf01".to_owned()), None)]);
}
