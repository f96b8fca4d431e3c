//! Finds the calls that started sub-agents. Their lines are in the file of the session.
//!
//! In: `{"type":"subagent.started","data":{"toolCallId":"t1",..},"agentId":"a1",..}`. Out: the
//! sub-agent `a1` was started by the call `t1`.

use core_model::{Event, Evidence, Layout, Link, Linked};

use crate::record::{Record, text};

/// The layout of a session: one file.
pub(crate) const LAYOUT: Layout = Layout { links, ..Layout::NAMED };

fn links(event: &Event<'_>, each: &mut dyn FnMut(Link)) {
    let record = Record::decode(event.value);
    let (Some(agent), Some(data)) = (record.agent_id, record.data) else { return };
    let is_start = record.kind.is_some_and(|kind| kind.body().starts_with("subagent."));
    let (name, evidence) = match is_start {
        true => ("toolCallId", Evidence::Result),
        false => ("parentToolCallId", Evidence::Progress),
    };
    if let Some(tool_use) = text(data, name) {
        let agent = Linked::Agent(agent.decode().into_owned());
        each(Link { evidence, agent, tool_use: tool_use.decode().into_owned() });
    }
}
