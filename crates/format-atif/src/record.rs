//! The members of a record: of a step, or of the document around the steps.
//!
//! In: `{"step_id":1,"source":"user","message":"Hi"}`. Out: an [`Entry::Step`] with the source
//! `user`.

use jsonl::{Text, Value};

/// A record of a document.
#[derive(Clone, Copy, Debug)]
pub struct Record<'l> {
    /// The record itself.
    pub value: Value<'l>,
    /// Its members.
    pub entry: Entry<'l>,
}

/// The members of a record.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "it is short-lived, and no step is allocated")]
#[non_exhaustive]
pub enum Entry<'l> {
    /// The document without its steps, or the part of it with the agent.
    Document(Document<'l>),
    /// A step.
    Step(Step<'l>),
    /// The trajectory of a sub-agent, with its steps.
    Trajectory(Document<'l>),
    /// The members behind the steps, or another object.
    Other,
}

/// The members of a document besides its steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Document<'l> {
    /// The version: `ATIF-v1.8`.
    pub schema_version: Option<Text<'l>>,
    /// The id of the run.
    pub session_id: Option<Text<'l>>,
    /// The id of the document.
    pub trajectory_id: Option<Text<'l>>,
    /// The agent: `name`, `version`, `model_name`, `tool_definitions`, `extra`.
    pub agent: Option<Value<'l>>,
    /// Notes in plain text.
    pub notes: Option<Text<'l>>,
    /// Other members of any kind.
    pub extra: Option<Value<'l>>,
    /// The steps: empty in the document around the records.
    pub steps: Option<Value<'l>>,
}

/// The members of a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Step<'l> {
    /// The number of the step, from 1.
    pub step_id: Option<Value<'l>>,
    /// The time, in ISO 8601.
    pub timestamp: Option<Value<'l>>,
    /// The speaker: `system`, `user` or `agent`.
    pub source: Option<Text<'l>>,
    /// The text, or an array of parts.
    pub message: Option<Value<'l>>,
    /// The model, if it is not the one of the document.
    pub model_name: Option<Text<'l>>,
    /// The thinking.
    pub reasoning_content: Option<Text<'l>>,
    /// The calls.
    pub tool_calls: Option<Value<'l>>,
    /// The results of the calls: `{"results":[..]}`.
    pub observation: Option<Value<'l>>,
    /// The tokens and the cost.
    pub metrics: Option<Value<'l>>,
    /// Other members of any kind.
    pub extra: Option<Value<'l>>,
}

impl<'l> Step<'l> {
    /// Returns the array of the results; `None` without results.
    pub fn results(&self) -> Option<Value<'l>> {
        let results = self.observation?.get("results")?;
        results.items().next().map(|_| results)
    }

    /// Returns a member of `extra`.
    pub fn extra_member(&self, name: &str) -> Option<Value<'l>> {
        self.extra?.get(name)
    }
}

impl<'l> Record<'l> {
    /// Decodes a record.
    ///
    /// ```
    /// use format_atif::{Entry, Record};
    ///
    /// let mut scanner = jsonl::Scanner::default();
    /// let step = br#"{"step_id":1,"source":"user","message":"Hi"}"#;
    /// let record = Record::decode(scanner.scan_slice(step, 0)?);
    /// assert!(matches!(record.entry, Entry::Step(step) if step.source.is_some_and(|it| it.is("user"))));
    /// # Ok::<(), jsonl::Error>(())
    /// ```
    pub fn decode(value: Value<'l>) -> Self {
        let (mut document, mut step) = (Document::default(), Step::default());
        value.read_members(|key, member| {
            match key {
                b"schema_version" => document.schema_version = member.text(),
                b"session_id" => document.session_id = member.text(),
                b"trajectory_id" => document.trajectory_id = member.text(),
                b"agent" => document.agent = Some(member).filter(Value::is_object),
                b"notes" => document.notes = member.text(),
                b"steps" => document.steps = Some(member).filter(Value::is_array),
                b"step_id" => step.step_id = Some(member),
                b"timestamp" => step.timestamp = Some(member).filter(|it| !it.is_null()),
                b"source" => step.source = member.text(),
                b"message" => step.message = Some(member),
                b"model_name" => step.model_name = member.text(),
                b"reasoning_content" => step.reasoning_content = member.text(),
                b"tool_calls" => step.tool_calls = Some(member).filter(Value::is_array),
                b"observation" => step.observation = Some(member).filter(Value::is_object),
                b"metrics" => step.metrics = Some(member).filter(Value::is_object),
                b"extra" => {
                    document.extra = Some(member).filter(Value::is_object);
                    step.extra = document.extra;
                }
                _ => return false,
            }
            true
        });
        let has_steps = document.steps.is_some_and(|steps| steps.items().any(|it| it.is_object()));
        let entry = match document.agent.is_some() || document.schema_version.is_some() {
            true if has_steps => Entry::Trajectory(document),
            true => Entry::Document(document),
            false if step.source.is_some() => Entry::Step(step),
            false => Entry::Other,
        };
        Self { value, entry }
    }
}

/// Returns whether a member is one of a document, and of no step.
#[cfg(feature = "serde")]
pub(crate) fn is_of_document(key: Text<'_>) -> bool {
    let names = [
        "steps",
        "notes",
        "final_metrics",
        "continued_trajectory_ref",
        "subagent_trajectories",
        "session_id",
        "trajectory_id",
    ];
    names.iter().any(|name| key.is(name))
}
