//! Reads from a line which tool use started which sub-agent.
//!
//! In: `"toolUseResult":{"agentId":"a1"}` beside a result of `toolu_1`. Out: the link from
//! `toolu_1` to `a1`, with its evidence. FORMAT.md, "Sub-agents", ranks the five kinds of evidence.

use core_model::{Block, Content, Event, Evidence, Link, Linked, ToolResult};
use jsonl::{Scanner, Text, Value};

/// Text before a sub-agent's id in a tool result.
const WORD: &str = "agentId:";

/// Bytes of a result's text that are searched for the id: the client writes it near the start, and
/// output of a command further back may repeat it.
const MAX_WORDS: usize = 256;

/// Calls `each` with every link between a tool use and a sub-agent that an event shows.
pub(super) fn links(event: &Event<'_>, each: &mut dyn FnMut(Link)) {
    let Some(message) = event.message() else { return of_progress(event.value, each) };
    let mut results = message.tool_results();
    let Some(first) = results.next() else { return of_calls(event, each) };
    if let (Some(known), None) = (message.tool_use_result, results.next()) {
        of_result(first, known.as_str(), each);
    }
    for result in message.tool_results() {
        of_words(result, each);
    }
}

/// Reads `{"type":"progress","data":{"type":"agent_progress","agentId":..},"parentToolUseID":..}`
/// (2.1.11 to 2.1.83).
fn of_progress(line: Value<'_>, each: &mut dyn FnMut(Link)) {
    let text = |value: Value<'_>, name: &str| {
        Some(value.get(name).and_then(|it| it.text())?.decode().into_owned())
    };
    let Some(data) = line.get("data") else { return };
    if let (Some(agent), Some(tool_use)) = (text(data, "agentId"), text(line, "parentToolUseID")) {
        each(Link { agent: Linked::Agent(agent), tool_use, evidence: Evidence::Progress });
    }
}

/// Reads `toolUseResult.agentId`, or the `runId` of a workflow, whose sub-agents share a folder.
fn of_result(result: ToolResult<'_>, known: &str, each: &mut dyn FnMut(Link)) {
    if !known.starts_with('{') || !(known.contains("\"agentId\"") || known.contains("\"runId\"")) {
        return;
    }
    let mut scanner = Scanner::default();
    let Ok(known) = scanner.scan_slice(known.as_bytes(), 0) else { return };
    let text = |name| Some(known.get(name).and_then(|it| it.text())?.decode().into_owned());
    let tool_use = result.tool_use_id.decode().into_owned();
    let evidence = Evidence::Result;
    if let Some(agent) = text("agentId") {
        each(Link { agent: Linked::Agent(agent), tool_use: tool_use.clone(), evidence });
    }
    if let Some(folder) = text("runId") {
        each(Link { agent: Linked::Folder(folder), tool_use, evidence });
    }
}

/// Reads `agentId: abc123` near the start of a result's text.
fn of_words(result: ToolResult<'_>, each: &mut dyn FnMut(Link)) {
    let mut of_text = |text: Text<'_>| {
        let body = text.body();
        let head = body.get(..body.floor_char_boundary(MAX_WORDS)).unwrap_or_default();
        let Some((_, after)) = head.split_once(WORD) else { return };
        // An id may contain `-` and `_` (`acompact-1f2e`).
        let after = after.trim_start_matches([' ', '\t']);
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let end = after.find(|c| !is_word(c)).unwrap_or(after.len());
        let Some(id) = after.get(..end).filter(|id| !id.is_empty()) else { return };
        each(Link {
            agent: Linked::Agent(id.to_owned()),
            tool_use: result.tool_use_id.decode().into_owned(),
            evidence: Evidence::Words,
        });
    };
    match result.content {
        Content::Text(text) => of_text(text),
        content => content.blocks().for_each(|(block, _)| {
            if let Block::Text(text) = block {
                of_text(text);
            }
        }),
    }
}

/// Reads the prompts of tool uses that may start a sub-agent. The client has called the tool `Task`
/// (up to 2.1.6x) and `Agent`.
fn of_calls(event: &Event<'_>, each: &mut dyn FnMut(Link)) {
    let blocks = event.message().into_iter().flat_map(|message| message.blocks());
    for (block, _) in blocks {
        let Block::ToolUse(tool) = block else { continue };
        if !(tool.name.is("Task") || tool.name.is("Agent")) {
            continue;
        }
        let mut scanner = Scanner::default();
        let json = tool.input.json();
        let Ok(input) = scanner.scan_raw(json.raw()) else { continue };
        if let Some(prompt) = input.get("prompt").and_then(|prompt| prompt.text()) {
            each(Link {
                agent: Linked::Prompt(prompt.decode().into_owned()),
                tool_use: tool.id.decode().into_owned(),
                evidence: Evidence::Prompt,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Vec<(Linked, String, Evidence)> {
        let mut scanner = Scanner::default();
        let value = scanner.scan_slice(line.as_bytes(), 0).expect("JSON");
        let mut found = Vec::new();
        links(&crate::read(value), &mut |link| {
            found.push((link.agent, link.tool_use, link.evidence));
        });
        found
    }

    fn agent(id: &str) -> Linked {
        Linked::Agent(id.to_owned())
    }

    #[test]
    fn a_result_names_its_agent() {
        let line = r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result",
            "tool_use_id":"toolu_1","content":[{"type":"text","text":"Done."},{"type":"text",
            "text":"agentId: aprompt_suggestion-1f2e (use SendMessage)"}]}]},
            "toolUseResult":{"status":"completed","agentId":"aprompt_suggestion-1f2e"}}"#;
        let id = agent("aprompt_suggestion-1f2e");
        let of = |evidence| (id.clone(), "toolu_1".to_owned(), evidence);
        assert_eq!(found(line), [of(Evidence::Result), of(Evidence::Words)]);
    }

    #[test]
    fn two_results_on_a_line_leave_open_whose_agent_it_is() {
        let line = r#"{"type":"user","message":{"role":"user","content":[
            {"type":"tool_result","tool_use_id":"toolu_1","content":"a"},
            {"type":"tool_result","tool_use_id":"toolu_2","content":"agentId: b7\nDone."}]},
            "toolUseResult":{"agentId":"b7"}}"#;
        assert_eq!(found(line), [(agent("b7"), "toolu_2".to_owned(), Evidence::Words)]);
    }

    #[test]
    fn progress_a_workflow_and_a_prompt() {
        let progress = r#"{"type":"progress","toolUseID":"agent_msg_1","parentToolUseID":"toolu_1",
            "data":{"type":"agent_progress","agentId":"a7f5273"}}"#;
        assert_eq!(found(progress), [(agent("a7f5273"), "toolu_1".to_owned(), Evidence::Progress)]);
        let workflow = r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result",
            "tool_use_id":"toolu_1","content":"started"}]},"toolUseResult":{"runId":"wf_1"}}"#;
        let run = Linked::Folder("wf_1".to_owned());
        assert_eq!(found(workflow), [(run, "toolu_1".to_owned(), Evidence::Result)]);
        let call = r#"{"type":"assistant","message":{"role":"assistant","content":[
            {"type":"tool_use","id":"toolu_1","name":"Task","input":{"prompt":"Look."}}]}}"#;
        let asked = Linked::Prompt("Look.".to_owned());
        assert_eq!(found(call), [(asked, "toolu_1".to_owned(), Evidence::Prompt)]);
        let other = r#"{"type":"assistant","message":{"role":"assistant","content":[
            {"type":"tool_use","id":"toolu_1","name":"Bash","input":{"prompt":"Look."}}]}}"#;
        assert_eq!(found(other), []);
    }
}
