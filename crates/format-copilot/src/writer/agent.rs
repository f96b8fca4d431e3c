//! Writes the lines of sub-agents, which have the member `agentId` and follow the call that started
//! them.
//!
//! In: an event with the tool use `t1` as its parent. Out: once
//! `{"type":"subagent.started","data":{"toolCallId":"t1",..},"agentId":"a1",..}`, and its lines with
//! `"agentId":"a1"`.

use core_model::{Event, Output, uuid_of_name};
use jsonl::{Text, json_string};

use super::{SessionWriter, thread::put_type};

/// A sub-agent.
#[derive(Debug, PartialEq)]
pub(super) struct Speaker {
    /// Its id, a JSON string.
    agent: String,
    /// The call that started it, a JSON string.
    pub(super) tool_use: String,
}

impl SessionWriter {
    /// Sets the speaker of the lines that follow.
    ///
    /// An event that names a sub-agent and no call is shown only where there is nothing else: then the
    /// sub-agent's lines are the session.
    pub(super) fn hear(&mut self, event: &Event<'_>, out: &mut Output) {
        let context = &event.context;
        let tool_use = context.parent_tool_use.filter(|_| event.message().is_some());
        let speaker = tool_use.filter(|id| !id.is_empty()).map(|tool_use| {
            let name = || uuid_of_name("agent", &tool_use.decode());
            let agent = context.agent_id.filter(|agent| !agent.is_empty());
            let agent = agent.map_or_else(name, |agent| agent.decode().into_owned());
            Speaker { agent: json_string(&agent), tool_use: json_string(&tool_use.decode()) }
        });
        if speaker == self.speaker || event.message().is_none() {
            return;
        }
        self.flush(out);
        self.thread.agent = speaker.as_ref().map(|speaker| speaker.agent.clone());
        if let Some(speaker) = &speaker
            && self.started.insert(&speaker.agent)
        {
            let uuid = out.uuid(event, "agent", 0);
            let line = self.thread.open_derived(&uuid, out);
            put_type(line.id, "subagent.started", out);
            out.put_args(line.id, format_args!("\"toolCallId\":{}", speaker.tool_use));
            // Copilot refuses a file that lacks one of these.
            out.put(line.id, ",\"agentName\":\"agent\",\"agentDisplayName\":\"agent\"");
            out.put(line.id, ",\"agentDescription\":\"\"");
            self.emit(line, out);
        }
        self.speaker = speaker;
    }

    /// Returns whether the line has the sub-agent of an event, so that it is not lost.
    pub(super) fn has_speaker(&self, event: &Event<'_>) -> bool {
        let has = |id: Option<Text<'_>>, known: fn(&Speaker) -> &String| {
            let speaker = self.speaker.as_ref();
            id.is_none_or(|id| speaker.is_some_and(|it| *known(it) == json_string(&id.decode())))
        };
        has(event.context.agent_id, |it| &it.agent)
            && has(event.context.parent_tool_use, |it| &it.tool_use)
    }
}
