//! Finds the sub-agents of a document: their trajectories inside it, and documents beside it.
//!
//! In: the result `{"source_call_id":"t1","subagent_trajectory_ref":[{"trajectory_id":"a1"}]}`. Out:
//! the tool use `t1` started the sub-agent `a1`.

use core_model::{Event, Evidence, Framing, Layout, Link, Linked, NamedAgents};

use crate::{
    PATHS,
    reader::detect,
    record::{Entry, Record},
};

/// The names of sub-agents' documents: `<session>_agent-<agent>.jsonl`, as in every output folder.
const AGENTS: NamedAgents =
    NamedAgents { separator: "_agent-", detect, framing: Framing::Document(PATHS) };

/// The layout of sub-agents' documents, and the links to their trajectories.
pub(crate) const LAYOUT: Layout = Layout {
    owner: |path, files| AGENTS.owner(path, files),
    role: |name| AGENTS.role(name),
    agent_name: |stem, agent| format!("{stem}{}{agent}.jsonl", AGENTS.separator),
    links,
    ..Layout::NAMED
};

/// Calls `each` with the sub-agents that the results of a step name.
fn links(event: &Event<'_>, each: &mut dyn FnMut(Link)) {
    let Entry::Step(step) = Record::decode(event.value).entry else { return };
    for result in step.results().into_iter().flat_map(|results| results.items()) {
        let [call, refs] = result.get_all(["source_call_id", "subagent_trajectory_ref"]);
        let Some(tool_use) = call.and_then(|call| call.text()) else { continue };
        for reference in refs.into_iter().flat_map(|refs| refs.items()) {
            let Some(id) = reference.get("trajectory_id").and_then(|id| id.text()) else {
                continue;
            };
            each(Link {
                evidence: Evidence::Result,
                agent: Linked::Agent(id.decode().into_owned()),
                tool_use: tool_use.decode().into_owned(),
            });
        }
    }
}
