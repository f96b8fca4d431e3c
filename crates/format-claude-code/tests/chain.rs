//! The active branch: forks, cycles, gaps and copies, in linear time.

use core_model::{Options, Plan};
use format_claude_code::FORMAT;
use jsonl::Scanner;

const NOTHING: [usize; 0] = [];

/// Returns the numbers of the lines that are not on the active branch.
fn hidden(lines: &[String]) -> Vec<usize> {
    let input = lines.join("\n") + "\n";
    let mut planner = FORMAT.planner.expect("has one")(&Options::default());
    let mut scanner = Scanner::default();
    let mut offsets = Vec::new();
    for line in jsonl::lines(input.as_bytes()) {
        offsets.push(line.offset());
        if let Ok(value) = scanner.scan(&line) {
            planner.observe(line.offset(), &(FORMAT.read)(value));
        }
    }
    let hidden = planner.finish().hidden;
    assert!(hidden.is_sorted_by_key(|hidden| hidden.offset));
    hidden.iter().map(|hidden| offsets.binary_search(&hidden.offset).expect("a line")).collect()
}

fn link(parent: &str) -> String {
    if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") }
}

fn user(uuid: &str, parent: &str) -> String {
    let parent = link(parent);
    format!(
        r#"{{"parentUuid":{parent},"type":"user","uuid":"{uuid}","message":{{"content":"{uuid}"}}}}"#
    )
}

fn other(kind: &str, uuid: &str, parent: &str) -> String {
    let parent = link(parent);
    format!(r#"{{"parentUuid":{parent},"type":"{kind}","uuid":"{uuid}"}}"#)
}

fn call(uuid: &str, parent: &str, message_id: &str, tool: &str) -> String {
    let parent = link(parent);
    format!(
        r#"{{"parentUuid":{parent},"type":"assistant","uuid":"{uuid}","message":{{"id":"{message_id}","content":[{{"type":"tool_use","id":"{tool}","name":"X","input":{{}}}}]}}}}"#
    )
}

fn result(uuid: &str, parent: &str, tool: &str) -> String {
    let parent = link(parent);
    format!(
        r#"{{"parentUuid":{parent},"type":"user","uuid":"{uuid}","message":{{"content":[{{"type":"tool_result","tool_use_id":"{tool}","content":"{uuid}"}}]}}}}"#
    )
}

fn sidechain(line: String) -> String {
    line.replacen('{', "{\"isSidechain\":true,", 1)
}

#[test]
fn the_branch_last_in_the_file_is_active() {
    let lines = [user("a", ""), user("b", "a"), user("c", "b"), user("d", "a"), user("e", "d")];
    assert_eq!(hidden(&lines), [1, 2]);
}

#[test]
fn an_earlier_branch_continued_last_is_active() {
    let lines = [user("a", ""), user("b", "a"), user("c", "a"), user("d", "b")];
    assert_eq!(hidden(&lines), [2]);
}

#[test]
fn leaves_that_are_no_messages_count_as_the_message_before() {
    let lines = [
        user("a", ""),
        user("b", "a"),
        other("progress", "p", "b"),
        user("c", "a"),
        other("progress", "q", "b"),
    ];
    assert_eq!(hidden(&lines), [1]);
}

#[test]
fn attachments_are_links_of_the_chain() {
    let lines = [user("a", ""), other("attachment", "x", "a"), user("b", "x"), user("c", "zz")];
    assert_eq!(hidden(&lines), NOTHING);
}

#[test]
fn a_root_in_the_middle_cuts_and_a_gap_does_not() {
    assert_eq!(hidden(&[user("a", ""), user("b", "")]), [0]);
    assert_eq!(hidden(&[user("a", ""), user("b", "gone"), user("c", "b")]), NOTHING);
    assert_eq!(hidden(&[user("a", "gone")]), NOTHING);
}

#[test]
fn cycles_end() {
    assert_eq!(hidden(&[user("a", "b"), user("b", "a")]), NOTHING);
    assert_eq!(hidden(&[user("a", "a")]), NOTHING);
    assert_eq!(hidden(&[user("a", "a"), user("b", "a")]), NOTHING);
    assert_eq!(hidden(&[user("x", ""), user("a", "b"), user("b", "a")]), [1, 2]);
}

#[test]
fn parents_may_come_later() {
    assert_eq!(hidden(&[user("c", "b"), user("b", "a"), user("a", "")]), NOTHING);
}

#[test]
fn copies_are_hidden_and_replacements_win() {
    let lines = [user("a", ""), user("b", "a"), user("b", "a"), user("c", "b")];
    assert_eq!(hidden(&lines), [2]);
    let new = user("b", "a").replace("\"content\":\"b\"", "\"content\":\"new\"");
    assert_eq!(hidden(&[user("a", ""), user("b", "a"), new, user("c", "b")]), [1]);
    let history = [user("a", ""), user("b", "a")];
    let copied = [&history[..], &[user("x", "b")], &history, &[user("c", "b")]].concat();
    assert_eq!(hidden(&copied), [2, 3, 4]);
}

#[test]
fn parallel_results_beside_the_chain_are_part_of_it() {
    let lines = [
        user("p", ""),
        call("c1", "p", "m", "t1"),
        call("c2", "c1", "m", "t2"),
        call("c3", "c1", "m", "t3"),
        result("r1", "c1", "t1"),
        result("r2", "c2", "t2"),
        result("r3", "c3", "t3"),
        call("d", "r2", "n", "t4"),
    ];
    assert_eq!(hidden(&lines), NOTHING);
}

#[test]
fn a_second_answer_on_another_branch_is_not_part_of_the_chain() {
    let lines = [
        user("p", ""),
        call("c1", "p", "m", "t1"),
        result("r0", "c1", "t1"),
        user("stop", "r0"),
        result("r1", "c1", "t1"),
        user("next", "r1"),
    ];
    assert_eq!(hidden(&lines), [2, 3]);
}

#[test]
fn history_goes_on_before_a_compaction() {
    let boundary = |logical: &str| {
        format!(
            r#"{{"parentUuid":null,"logicalParentUuid":"{logical}","type":"system","subtype":"compact_boundary","uuid":"s"}}"#
        )
    };
    let lines = |logical| {
        [user("a", ""), user("b", "a"), user("x", "a"), boundary(logical), user("c", "s")]
    };
    assert_eq!(hidden(&lines("b")), [2]);
    assert_eq!(hidden(&lines("elsewhere")), [1]);
}

#[test]
fn lines_without_ids_are_never_hidden() {
    let bare = r#"{"type":"user","message":{"content":"x"}}"#.to_owned();
    assert_eq!(hidden(&[bare.clone(), user("a", ""), user("b", ""), bare]), [1]);
}

#[test]
fn sidechains_are_another_thread_unless_they_are_all_there_is() {
    let lines = [
        user("a", ""),
        sidechain(user("s", "")),
        sidechain(user("t", "s")),
        user("b", "a"),
        sidechain(user("u", "b")),
    ];
    assert_eq!(hidden(&lines), NOTHING);
    let agent =
        [sidechain(user("a", "elsewhere")), sidechain(user("b", "a")), sidechain(user("c", "a"))];
    assert_eq!(hidden(&agent), [1]);
}

#[test]
fn all_branches_hide_nothing() {
    let mut planner =
        FORMAT.planner.expect("has one")(&Options { all_branches: true, ..Options::default() });
    let mut scanner = Scanner::default();
    for (n, text) in [user("a", ""), user("b", "")].iter().enumerate() {
        let value = scanner.scan_slice(text.as_bytes(), 0).expect("valid");
        planner.observe(n as u64, &(FORMAT.read)(value));
    }
    assert_eq!(planner.finish(), Plan::default());
}

#[test]
fn long_chains_and_many_tips_take_linear_time() {
    let n = 20_000;
    let mut lines = vec![user("0", "")];
    lines.extend((1..n).map(|n| user(&n.to_string(), &(n - 1).to_string())));
    assert_eq!(hidden(&lines), NOTHING);
    let progress = |n: usize| {
        let parent = if n == 1 { "0".to_owned() } else { format!("p{}", n - 1) };
        [other("progress", &format!("p{n}"), &parent), other("progress", &format!("q{n}"), &parent)]
    };
    let mut lines = vec![user("0", "")];
    lines.extend((1..n).flat_map(progress));
    assert_eq!(hidden(&lines), NOTHING);
    let reversed: Vec<_> = lines.into_iter().rev().collect();
    assert_eq!(hidden(&reversed), NOTHING);
}
