//! Reads the facts of one event.
//!
//! In: `{"type":"user","sessionId":"s1","message":{"content":"Hi"},..}`. Out: a message and a prompt of
//! the session `"s1"`.

use std::borrow::Cow;

use jsonl::json_string;

use crate::{
    Block, BlockCounts, Body, Event, IdHasher, NoticeKind, Role, TitleRank, views::Spoken,
};

/// The facts of an event. Strings are JSON strings as written in the source.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EventFacts<'l> {
    pub(super) session_id: Option<&'l str>,
    pub(super) cwd: Option<&'l str>,
    pub(super) version: Option<&'l str>,
    /// A JSON string or a number.
    pub(super) time: Option<&'l str>,
    pub(super) permission_mode: Option<&'l str>,
    /// The model, in a message of the assistant.
    pub(super) model: Option<&'l str>,
    pub(super) title: Option<(TitleRank, &'l str)>,
    pub(super) said: Option<Spoken>,
    /// Whether the session moves to the folder `cwd`.
    pub(super) is_relocation: bool,
    pub(super) is_message: bool,
    pub(super) is_prompt: bool,
    pub(super) has_user_text: bool,
    pub(super) has_outcome: bool,
    pub(super) has_compaction: bool,
    pub(super) has_start: bool,
}

/// A tool use or a tool result in a message. The id is a hash.
#[derive(Clone, Debug)]
pub(super) enum Mention<'l> {
    /// The name is a JSON string.
    Call {
        id: u64,
        name: Cow<'l, str>,
    },
    Result {
        id: u64,
    },
}

impl<'l> Mention<'l> {
    fn of(block: &Block<'l>, hasher: &IdHasher) -> Option<Self> {
        match block {
            Block::ToolUse(tool) => {
                let name = match tool.name.as_text() {
                    Some(name) => name.as_str().into(),
                    None => json_string(&tool.name.decode()).into(),
                };
                Some(Self::Call { id: hasher.hash_text(tool.id), name })
            }
            Block::ToolResult(result) => {
                Some(Self::Result { id: hasher.hash_text(result.tool_use_id) })
            }
            _ => None,
        }
    }
}

impl<'l> EventFacts<'l> {
    /// Reads the facts of an event. Calls `each` with its mentions of tools.
    pub(super) fn read(
        event: &Event<'l>,
        hasher: &IdHasher,
        mut each: impl FnMut(&Mention<'l>),
    ) -> Self {
        let context = &event.context;
        let mut facts = Self {
            session_id: context.session_id.map(|text| text.as_str()),
            cwd: context.cwd.map(|text| text.as_str()),
            version: context.version.map(|text| text.as_str()),
            time: context.time.map(|time| time.as_str()),
            permission_mode: context.permission_mode.map(|mode| mode.as_str()),
            said: Spoken::of(event, hasher),
            ..Self::default()
        };
        match &event.body {
            Body::Message(message) => {
                let mut block_counts = BlockCounts::default();
                message.each_block(|block| {
                    block_counts.add(block);
                    if let Some(mention) = Mention::of(block, hasher) {
                        each(&mention);
                    }
                });
                facts.is_message = true;
                facts.is_prompt = event.is_prompt_of(block_counts);
                facts.has_user_text = message.role == Role::User && block_counts.n_said() > 0;
                let model = message.model.filter(|_| message.role == Role::Assistant);
                facts.model = model.map(|model| model.as_str());
            }
            Body::Title(title) => facts.title = Some((title.rank, title.text.as_str())),
            Body::Outcome(_) => facts.has_outcome = true,
            Body::Notice(notice) => facts.has_compaction = notice.kind == NoticeKind::Compaction,
            Body::Start(_) => facts.has_start = true,
            Body::Relocation => facts.is_relocation = true,
            Body::ToolCall(_) | Body::Usage(_) | Body::Other => {}
        }
        facts
    }
}
