//! The types of ATIF's records as structs of Rust, through serde (feature `serde`).
//!
//! In: `{"step_id":1,"source":"user","message":"Hi"}`. Out: a [`StepRecord`] with `step_id`,
//! `source` and `message`, which serializes to the same bytes.

use std::borrow::Cow;

use core_model::TypedContent;
use jsonl::{Item, Number, RawBuf, Value, typed_record, typed_records};

use crate::{Entry, Record, record::is_of_document};

typed_records! {
    /// A record of a document: the members around its steps, a step, or the trajectory of a
    /// sub-agent.
    ///
    /// ```
    /// use format_atif::{Reader, TypedRecord};
    ///
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/atif/one-call.json");
    /// let mut n_calls = 0;
    /// for record in Reader::open(path)? {
    ///     if let TypedRecord::Step(step) = TypedRecord::decode(record?.value()) {
    ///         n_calls += step.tool_calls.map_or(0, |calls| calls.len());
    ///     }
    /// }
    /// assert_eq!(n_calls, 1);
    /// # Ok::<(), format_atif::core_model::ReadError>(())
    /// ```
    pub enum TypedRecord by kind {
        /// The document without its steps, or the part of it before or behind them.
        Document(DocumentRecord) = "document",
        /// A step.
        Step(StepRecord) = "step",
        /// The trajectory of a sub-agent, with its steps.
        Trajectory(TrajectoryRecord) = "trajectory",
    }
}

typed_record! {
    /// The document without its steps, or the part of it before or behind them.
    pub struct DocumentRecord {
        schema_version: String = "schema_version",
        session_id: String = "session_id",
        trajectory_id: String = "trajectory_id",
        agent: TypedAgent = "agent",
        steps: RawBuf = "steps",
        notes: String = "notes",
        final_metrics: TypedFinalMetrics = "final_metrics",
        continued_trajectory_ref: String = "continued_trajectory_ref",
        subagent_trajectories: RawBuf = "subagent_trajectories",
        extra: RawBuf = "extra",
    }
}

typed_record! {
    /// The trajectory of a sub-agent. Trajectories inside it are kept as written.
    pub struct TrajectoryRecord {
        schema_version: String = "schema_version",
        session_id: String = "session_id",
        trajectory_id: String = "trajectory_id",
        agent: TypedAgent = "agent",
        steps: Vec<Item<StepRecord>> = "steps",
        notes: String = "notes",
        final_metrics: TypedFinalMetrics = "final_metrics",
        continued_trajectory_ref: String = "continued_trajectory_ref",
        subagent_trajectories: RawBuf = "subagent_trajectories",
        extra: RawBuf = "extra",
    }
}

typed_record! {
    /// A step.
    pub struct StepRecord {
        step_id: Number = "step_id",
        timestamp: String = "timestamp",
        source: String = "source",
        model_name: String = "model_name",
        reasoning_effort: RawBuf = "reasoning_effort",
        message: TypedContent<TypedPart> = "message",
        reasoning_content: String = "reasoning_content",
        tool_calls: Vec<Item<TypedCall>> = "tool_calls",
        observation: TypedObservation = "observation",
        metrics: TypedMetrics = "metrics",
        is_copied_context: bool = "is_copied_context",
        llm_call_count: Number = "llm_call_count",
        extra: RawBuf = "extra",
    }
}

typed_record! {
    /// The agent of a document.
    pub struct TypedAgent {
        name: String = "name",
        version: String = "version",
        model_name: String = "model_name",
        tool_definitions: RawBuf = "tool_definitions",
        extra: RawBuf = "extra",
    }
}

typed_record! {
    /// A call of a tool.
    pub struct TypedCall {
        tool_call_id: String = "tool_call_id",
        function_name: String = "function_name",
        arguments: RawBuf = "arguments",
        extra: RawBuf = "extra",
    }
}

typed_record! {
    /// The results of the calls of a step.
    pub struct TypedObservation {
        results: Vec<Item<TypedResult>> = "results",
    }
}

typed_record! {
    /// The result of a call.
    pub struct TypedResult {
        source_call_id: String = "source_call_id",
        content: TypedContent<TypedPart> = "content",
        subagent_trajectory_ref: Vec<Item<TypedReference>> = "subagent_trajectory_ref",
        extra: RawBuf = "extra",
    }
}

typed_record! {
    /// A reference to the trajectory of a sub-agent.
    pub struct TypedReference {
        trajectory_id: String = "trajectory_id",
        session_id: String = "session_id",
        trajectory_path: String = "trajectory_path",
        extra: RawBuf = "extra",
    }
}

typed_record! {
    /// A part of a message or of a result, of whichever type.
    pub struct TypedPart {
        kind: String = "type",
        text: String = "text",
        source: TypedSource = "source",
    }
}

typed_record! {
    /// The file of an image or of a sound.
    pub struct TypedSource {
        media_type: String = "media_type",
        path: String = "path",
        duration_sec: Number = "duration_sec",
    }
}

typed_record! {
    /// The tokens and the cost of a step.
    pub struct TypedMetrics {
        prompt_tokens: Number = "prompt_tokens",
        completion_tokens: Number = "completion_tokens",
        cached_tokens: Number = "cached_tokens",
        cost_usd: Number = "cost_usd",
        prompt_token_ids: RawBuf = "prompt_token_ids",
        completion_token_ids: RawBuf = "completion_token_ids",
        logprobs: RawBuf = "logprobs",
        extra: RawBuf = "extra",
    }
}

typed_record! {
    /// The totals of a document.
    pub struct TypedFinalMetrics {
        total_prompt_tokens: Number = "total_prompt_tokens",
        total_completion_tokens: Number = "total_completion_tokens",
        total_cached_tokens: Number = "total_cached_tokens",
        total_cost_usd: Number = "total_cost_usd",
        total_steps: Number = "total_steps",
        extra: RawBuf = "extra",
    }
}

/// Returns the kind of a record: `document`, `step` or `trajectory`.
fn kind<'l>(value: Value<'l>) -> Option<Cow<'l, str>> {
    let name = match Record::decode(value).entry {
        Entry::Document(_) => "document",
        Entry::Step(_) => "step",
        Entry::Trajectory(_) => "trajectory",
        // The members behind the steps have neither the version nor the agent.
        Entry::Other if value.members().any(|(key, _)| is_of_document(key)) => "document",
        Entry::Other => return None,
    };
    Some(name.into())
}
