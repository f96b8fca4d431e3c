//! Tests of the active branch: forks, cycles, gaps and copies, in linear time.

use core_model::{Options, Plan};
use format_claude_code::FORMAT;
use jsonl::Scanner;

const NOTHING: [usize; 0] = [];

/// Returns the numbers of the lines that are not on the active branch.
fn hidden(lines: &[String]) -> Vec<usize> {
    plan(lines, &Options::default()).0.into_iter().map(|(line, _)| line).collect()
}

/// Returns the numbers of the hidden lines with their reasons, and of the late lines with the lines
/// that they follow.
fn plan(lines: &[String], options: &Options) -> (Vec<(usize, &'static str)>, Vec<(usize, usize)>) {
    let input = lines.join("\n") + "\n";
    let mut planner = FORMAT.planner.expect("has one")(options);
    let mut scanner = Scanner::default();
    let mut offsets = Vec::new();
    for line in jsonl::lines(input.as_bytes()) {
        offsets.push(line.offset());
        if let Ok(value) = scanner.scan(&line) {
            planner.observe(line.offset(), &FORMAT.first_event(value));
        }
    }
    let plan = planner.finish();
    assert!(plan.hidden.is_sorted_by_key(|hidden| hidden.offset));
    let number = |offset| offsets.binary_search(&offset).expect("a line");
    let hidden = plan.hidden.iter().map(|hidden| (number(hidden.offset), hidden.field));
    let late = plan.late.iter().map(|late| (number(late.offset), number(late.after)));
    (hidden.collect(), late.collect())
}

/// Returns the plan of the part after the last compaction.
fn compacted(lines: &[String]) -> (Vec<(usize, &'static str)>, Vec<(usize, usize)>) {
    plan(lines, &Options { from_last_compaction: true, ..Options::default() })
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
fn another_branch_leads_to_its_last_message() {
    let lines = [
        user("a", ""),
        user("b", "a"),
        user("c", "b"),
        user("d", "a"),
        user("e", "d"),
        user("f", "b"),
        user("g", "d"),
    ];
    let hidden = |id: &str| {
        let options = Options { branch: Some(id.to_owned()), ..Options::default() };
        plan(&lines, &options).0.into_iter().map(|(line, _)| line).collect::<Vec<_>>()
    };
    assert_eq!(hidden("a"), [1, 2, 4, 5]);
    assert_eq!(hidden("b"), [2, 3, 4, 6]);
    assert_eq!(hidden("c"), [3, 4, 5, 6]);
    assert_eq!(hidden("e"), [1, 2, 5, 6]);
    assert_eq!(hidden("nobody"), hidden("g"));
    // A circle of parents ends.
    let circle = [user("a", "b"), user("b", "a"), user("c", "")];
    let options = Options { branch: Some("a".to_owned()), ..Options::default() };
    assert_eq!(plan(&circle, &options).0, [(2, "branch")]);
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
    let boundary_to = |logical: &str| {
        format!(
            r#"{{"parentUuid":null,"logicalParentUuid":"{logical}","type":"system","subtype":"compact_boundary","uuid":"s"}}"#
        )
    };
    let lines = |logical| {
        [user("a", ""), user("b", "a"), user("x", "a"), boundary_to(logical), user("c", "s")]
    };
    assert_eq!(hidden(&lines("b")), [2]);
    assert_eq!(hidden(&lines("elsewhere")), [1]);
}

fn boundary(uuid: &str, parent: &str, metadata: &str) -> String {
    let parent = link(parent);
    format!(
        r#"{{"parentUuid":{parent},"logicalParentUuid":"b","type":"system","subtype":"compact_boundary","uuid":"{uuid}","compactMetadata":{{{metadata}}}}}"#
    )
}

fn summary(uuid: &str, parent: &str) -> String {
    user(uuid, parent).replacen('{', "{\"isCompactSummary\":true,", 1)
}

#[test]
fn a_compaction_hides_what_was_before_it_if_asked_to() {
    let bare = r#"{"type":"user","message":{"content":"x"}}"#.to_owned();
    let lines = [
        bare.clone(),
        user("a", ""),
        other("system", "n", "a"),
        user("x", "a"),
        user("b", "n"),
        boundary("s", "", ""),
        summary("c", "s"),
        user("d", "c"),
        bare,
    ];
    assert_eq!(plan(&lines, &Options::default()), (vec![(3, "branch")], vec![]));
    let hidden = [(0, "compacted"), (1, "compacted"), (2, "compacted"), (3, "branch")];
    let hidden = [&hidden[..], &[(4, "compacted")]].concat();
    assert_eq!(compacted(&lines), (hidden, vec![]));
    // The client needs only the subtype: a boundary with a parent counts too.
    let lines = [user("b", ""), boundary("s", "b", ""), summary("c", "s")];
    assert_eq!(compacted(&lines), (vec![(0, "compacted")], vec![]));
    // Of two compactions, the last one counts.
    let lines = [
        user("b", ""),
        boundary("s", "", ""),
        summary("c", "s"),
        boundary("t", "", "").replace("logicalParentUuid\":\"b", "logicalParentUuid\":\"c"),
        summary("d", "t"),
    ];
    let hidden = vec![(0, "compacted"), (1, "compacted"), (2, "compacted")];
    assert_eq!(compacted(&lines).0, hidden);
}

/// A summary without a boundary does not cut, unless it is a root.
#[test]
fn what_is_no_compaction_hides_nothing_more() {
    let lines = [user("a", ""), summary("b", "a"), user("c", "b")];
    assert_eq!(compacted(&lines), (vec![], vec![]));
    let lines = [user("a", ""), summary("b", ""), user("c", "b")];
    assert_eq!(compacted(&lines), (vec![(0, "compacted")], vec![]));
    // A boundary without a message after it is not on the path to the last message.
    let lines = [user("a", ""), user("b", "a"), boundary("s", "", "")];
    assert_eq!(compacted(&lines), (vec![], vec![]));
    assert_eq!(compacted(&[]), (vec![], vec![]));
}

/// `preservedMessages` are kept after the summary (2.1.330).
#[test]
fn what_a_compaction_preserves_is_said_after_its_summary() {
    let lines = |metadata: &str| {
        [
            user("a", ""),
            call("b", "a", "m", "t"),
            result("r", "b", "t"),
            boundary("s", "", metadata),
            summary("c", "s"),
            user("d", "c"),
        ]
    };
    let preserved =
        r#""preservedMessages":{"anchorUuid":"c","uuids":["b","r","gone",5,"b"],"allUuids":[]}"#;
    let late = vec![(1, 4), (2, 4)];
    assert_eq!(compacted(&lines(preserved)), (vec![(0, "compacted")], late));
    let nowhere = preserved.replace("\"c\"", "\"gone\"");
    let late = vec![(1, 3), (2, 3)];
    assert_eq!(compacted(&lines(&nowhere)), (vec![(0, "compacted")], late));
    assert_eq!(plan(&lines(preserved), &Options::default()), (vec![], vec![]));
    for odd in [r#""preservedMessages":5"#, r#""preservedMessages":{"uuids":"b"}"#, "\"x\":0"] {
        let hidden = vec![(0, "compacted"), (1, "compacted"), (2, "compacted")];
        assert_eq!(compacted(&lines(odd)), (hidden, vec![]));
    }
}

#[test]
fn lines_are_said_in_the_order_of_the_chain() {
    let late = |lines: &[String]| plan(lines, &Options::default()).1;
    assert_eq!(late(&[user("c", "b"), user("b", "a"), user("a", "")]), [(1, 2), (0, 2)]);
    assert_eq!(late(&[user("a", ""), user("c", "b"), user("b", "a"), user("d", "c")]), [(1, 2)]);
    // A line without words delays no other.
    let lines = [user("a", ""), user("b", "x"), other("attachment", "x", "a"), user("c", "b")];
    assert_eq!(late(&lines), []);
    // If two lines have one id and different contents, the last one counts.
    let new = user("b", "a").replace("\"content\":\"b\"", "\"content\":\"new\"");
    let lines = [user("a", ""), user("b", "a"), user("c", "b"), new, user("d", "c")];
    assert_eq!(plan(&lines, &Options::default()), (vec![(1, "branch")], vec![(2, 3)]));
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

/// The client sends `isMeta` lines, and lines that only transcripts show.
#[test]
fn what_the_client_wrote_itself_is_shown() {
    let flagged = |uuid: &str, parent: &str, flag: &str| {
        user(uuid, parent).replacen('{', &format!("{{\"{flag}\":true,"), 1)
    };
    let lines = [
        user("a", ""),
        flagged("b", "a", "isMeta"),
        flagged("c", "b", "isVisibleInTranscriptOnly"),
        flagged("d", "c", "isApiErrorMessage"),
        r#"{"type":"summary","summary":"S","leafUuid":"a"}"#.to_owned(),
        r#"{"type":"last-prompt","leafUuid":"a"}"#.to_owned(),
    ];
    assert_eq!(plan(&lines, &Options::default()), (vec![], vec![]));
}

#[test]
fn all_branches_hide_nothing() {
    let mut planner =
        FORMAT.planner.expect("has one")(&Options { all_branches: true, ..Options::default() });
    let mut scanner = Scanner::default();
    for (n, text) in [user("a", ""), user("b", "")].iter().enumerate() {
        let value = scanner.scan_slice(text.as_bytes(), 0).expect("valid");
        planner.observe(n as u64, &FORMAT.first_event(value));
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
