//! A line with the members that the SDK's rule needs.

use core_model::Role;
use jsonl::{Kind, Text, Value};

/// A line with an id.
#[derive(Debug, Default)]
pub(super) struct SdkEntry {
    /// The number that the caller gave the line.
    pub(super) place: usize,
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) role: Option<Role>,
    /// The API's id of the response; `None` for other lines than the assistant's.
    pub(super) message_id: Option<String>,
    pub(super) is_sidechain: bool,
    pub(super) is_meta: bool,
    pub(super) is_team: bool,
    /// The `agentId` as written.
    pub(super) agent_id: Option<String>,
    /// The time as text: the SDK compares it as text.
    pub(super) time: String,
    /// The `uuid` of the line with the call that a result answers (`sourceToolAssistantUUID`).
    pub(super) source: Option<String>,
    /// Ids of the tool uses in the line.
    pub(super) calls: Vec<String>,
    /// Ids of the tool uses that the results in the line answer.
    answers: Vec<String>,
    /// Whether the line has a tool result, with an id or without one.
    has_result: bool,
}

impl SdkEntry {
    /// Reads a line; `None` if its type is not part of the chain or it has no `uuid`.
    pub(super) fn read(place: usize, line: Value<'_>) -> Option<Self> {
        let text = |name: &str| line.get(name).and_then(|value| value.text());
        let kind = text("type")?;
        let role = match &*kind.decode() {
            "user" => Some(Role::User),
            "assistant" => Some(Role::Assistant),
            "progress" | "system" | "attachment" => None,
            _ => return None,
        };
        let id = owned(text("uuid")?);
        let flag = |name: &str| line.get(name).is_some_and(is_true);
        let message = line.get("message").filter(Value::is_object);
        let message_id = message.and_then(|message| message.get("id")?.text());
        let message_id = message_id.filter(|id| role == Some(Role::Assistant) && !id.is_empty());
        let mut entry = Self {
            place,
            id,
            parent: text("parentUuid").filter(|parent| !parent.is_empty()).map(owned),
            role,
            message_id: message_id.map(owned),
            is_sidechain: flag("isSidechain"),
            is_meta: flag("isMeta"),
            is_team: flag("teamName"),
            agent_id: line.get("agentId").filter(|id| !id.is_null()).map(agent),
            time: text("timestamp").map(owned).unwrap_or_default(),
            source: text("sourceToolAssistantUUID").map(owned),
            ..Self::default()
        };
        let content = message.and_then(|message| message.get("content"));
        for block in content.into_iter().flat_map(|content| content.items()) {
            let text = |name: &str| block.get(name).and_then(|value| value.text());
            let Some(kind) = text("type") else { continue };
            if kind.is("tool_use") {
                entry.calls.extend(text("id").map(owned));
            } else if kind.is("tool_result") {
                entry.has_result = true;
                entry.answers.extend(text("tool_use_id").map(owned));
            }
        }
        Some(entry)
    }

    /// Returns whether the conversation may end here: the line is of the main thread, not of a
    /// team, and not `isMeta`.
    pub(super) fn is_main(&self) -> bool {
        !self.is_sidechain && !self.is_team && !self.is_meta
    }

    pub(super) fn is_visible(&self) -> bool {
        self.role.is_some() && self.is_main()
    }

    /// Returns the ids of the tool uses that the line answers.
    pub(super) fn answers(&self) -> impl Iterator<Item = &str> {
        self.answers.iter().map(String::as_str)
    }

    /// Returns whether the line is a tool result with a parent.
    pub(super) fn is_answer(&self) -> bool {
        self.role == Some(Role::User) && self.parent.is_some() && self.has_result
    }

    /// Returns whether the same agent wrote both lines.
    pub(super) fn is_of_the_writer_of(&self, other: &Self) -> bool {
        self.is_sidechain == other.is_sidechain && self.agent_id == other.agent_id
    }
}

/// Returns whether Python treats a value as true: not `null`, `false`, 0, or empty.
fn is_true(value: Value<'_>) -> bool {
    match value.kind() {
        Kind::Null | Kind::False => false,
        Kind::True => true,
        Kind::Number => value.raw().as_f64() != Some(0.0),
        Kind::String => value.text().is_some_and(|text| !text.is_empty()),
        Kind::Array => value.items().next().is_some(),
        Kind::Object => value.members().next().is_some(),
    }
}

fn agent(id: Value<'_>) -> String {
    id.text().map_or_else(|| id.raw().as_str().to_owned(), owned)
}

fn owned(text: Text<'_>) -> String {
    text.decode().into_owned()
}
