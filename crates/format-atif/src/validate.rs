//! Finds what Harbor's validator refuses in a document (FORMAT.md, "Validation").
//!
//! In: a document whose second step has the `step_id` 3. Out: a [`Problem`] of record 2 that stops
//! Harbor.

mod schema;
mod step;
mod time;

use std::collections::HashSet;

use core_model::{Checker, Findings, Problem};
use jsonl::{ErrorKind, Line, Value};

use self::{
    schema::{AGENT, DOCUMENT, FINAL_METRICS, check_object, check_present},
    step::check_step,
};
use crate::PATHS;

/// The newest version that Harbor 0.24.0 reads, after `ATIF-v1.`.
const NEWEST: u32 = 8;

/// Limit on the documents within documents that are checked.
const MAX_DOCUMENTS: usize = 10_000;

/// Returns the problems of a document for Harbor 0.24.0; an empty vector if there are none.
///
/// Harbor reads a document if no problem [stops](Problem::stops), unless a file that it names is
/// missing.
///
/// ```
/// let problems = format_atif::validate(br#"{"schema_version":"ATIF-v1.9","steps":[]}"#);
/// let rules: Vec<_> = problems.iter().map(|problem| problem.rule).collect();
/// assert_eq!(rules, ["version", "missing-member", "no-steps"]);
/// ```
pub fn validate(bytes: &[u8]) -> Vec<Problem> {
    // Reading a slice does not fail.
    crate::Checker::check_reader(bytes).unwrap_or_default()
}

/// Creates a checker for a document.
pub(crate) fn checker() -> Box<dyn Checker> {
    Box::<DocumentChecker>::default()
}

#[derive(Debug, Default)]
struct DocumentChecker {
    has_agent: bool,
    is_damaged: bool,
    /// The number of steps so far.
    n_steps: u64,
    /// The ids of the trajectories of sub-agents.
    agents: HashSet<String>,
}

impl Checker for DocumentChecker {
    fn line(&mut self, line: &Line<'_>, value: jsonl::Result<Value<'_>>, out: &mut Findings<'_>) {
        if line.offset() == 0 && line.bytes().starts_with("\u{feff}".as_bytes()) {
            out.stops("byte-order-mark", "a byte order mark: Python refuses it; remove it");
        }
        let value = match value {
            Ok(value) => value,
            Err(error) if error.kind == ErrorKind::Empty => return,
            Err(error) => return self.damage(line, &error, out),
        };
        if line.is_glue() {
            return self.glue(line, value, out);
        }
        // The trajectory of a sub-agent has steps of its own.
        let is_step = value.get("steps").is_none() || value.get("step_id").is_some();
        match is_step {
            true => {
                self.n_steps = self.n_steps.saturating_add(1);
                check_step(value, self.n_steps, out);
            }
            false => {
                check_id(value, &mut self.agents, out);
                check_documents(value, out);
            }
        }
    }

    fn finish(&mut self, out: &mut Findings<'_>) {
        if self.is_damaged {
            return;
        }
        if !self.has_agent {
            out.stops(
                "missing-member",
                "the document has no `agent`: add its `name` and `version`",
            );
        }
        if self.n_steps == 0 {
            out.stops("no-steps", "a document needs a step: Harbor refuses an empty `steps`");
        }
    }
}

impl DocumentChecker {
    fn damage(&mut self, line: &Line<'_>, error: &jsonl::Error, out: &mut Findings<'_>) {
        let at = usize::try_from(error.offset.saturating_sub(line.offset())).unwrap_or(usize::MAX);
        let rest = line.bytes().get(at..).unwrap_or_default();
        self.n_steps = self.n_steps.saturating_add(u64::from(!line.is_glue()));
        if rest.starts_with(b"NaN") || rest.starts_with(b"Inf") || rest.starts_with(b"-Inf") {
            return out.warns("number", "`NaN` or `Infinity`: only Python reads it; write null");
        }
        self.is_damaged = true;
        let message = format!("byte {}: {}: Harbor refuses the document", error.offset, error.kind);
        out.stops("json", message);
    }

    /// Checks the members around the records.
    fn glue(&mut self, line: &Line<'_>, value: Value<'_>, out: &mut Findings<'_>) {
        if !value.is_object() {
            self.is_damaged = true;
            return out.stops("object", "the document is no object: Harbor refuses it");
        }
        self.has_agent |= value.get("agent").is_some();
        let is_blank = |byte: &&u8| byte.is_ascii_whitespace();
        let content = line.content();
        // Where glue begins or ends between two records, null stands for the record.
        let n_fillers = [
            content.iter().find(|byte| !is_blank(byte)),
            content.iter().rfind(|byte| !is_blank(byte)),
        ];
        let n_fillers = n_fillers.iter().filter(|byte| **byte == Some(&b',')).count();
        let arrays = PATHS.iter().filter_map(|name| value.get(name));
        let n_items: usize = arrays.map(|array| array.items().count()).sum();
        if n_items > n_fillers {
            out.stops("record-type", "an item of `steps` is no object: Harbor refuses it");
        }
        check_document(value, out);
    }
}

/// Checks the members of a document besides its records.
fn check_document(document: Value<'_>, out: &mut Findings<'_>) {
    check_object("the document", document, DOCUMENT, out);
    if let Some(version) = document.get("schema_version").and_then(|version| version.text()) {
        let version = version.decode();
        let minor = version.strip_prefix("ATIF-v1.").and_then(|minor| minor.parse::<u32>().ok());
        let is_known = minor.is_some_and(|minor| version == format!("ATIF-v1.{minor}"));
        if !is_known || minor > Some(NEWEST) {
            let message = format!(
                "`schema_version` is none of ATIF-v1.0 to ATIF-v1.{NEWEST}: Harbor refuses it"
            );
            out.stops("version", message);
        }
    }
    if let Some(agent) = document.get("agent").filter(Value::is_object) {
        check_object("`agent`", agent, AGENT, out);
        check_present("`agent`", agent, AGENT, out);
        let tools = agent.get("tool_definitions");
        if tools.is_some_and(|tools| tools.items().any(|tool| !tool.is_object())) {
            out.stops("type", "a tool definition of `agent` is no object: Harbor refuses it");
        }
    }
    if let Some(totals) = document.get("final_metrics").filter(Value::is_object) {
        check_object("`final_metrics`", totals, FINAL_METRICS, out);
        let n_steps = totals.get("total_steps").and_then(|n| n.raw().as_f64());
        if n_steps.is_some_and(|n_steps| n_steps < 0.0) {
            out.stops("type", "`total_steps` is below 0: Harbor refuses it");
        }
    }
}

/// Checks the trajectory of a sub-agent, and the trajectories in it.
fn check_documents(document: Value<'_>, out: &mut Findings<'_>) {
    let mut open = vec![document];
    let mut n_documents = 0_usize;
    while let Some(document) = open.pop() {
        n_documents = n_documents.saturating_add(1);
        if n_documents > MAX_DOCUMENTS {
            return out
                .warns("nesting", "too many trajectories in one: the others are not checked");
        }
        check_document(document, out);
        if document.get("agent").is_none() {
            out.stops(
                "missing-member",
                "a sub-agent's trajectory has no `agent`: Harbor refuses it",
            );
        }
        let steps = document.get("steps").filter(Value::is_array);
        let mut n_steps = 0u64;
        for step in steps.into_iter().flat_map(|steps| steps.items()) {
            n_steps = n_steps.saturating_add(1);
            check_step(step, n_steps, out);
        }
        if n_steps == 0 && steps.is_none_or(|steps| steps.is_indexed()) {
            out.stops("no-steps", "a sub-agent's trajectory without steps: Harbor refuses it");
        }
        let mut ids = HashSet::new();
        for inner in document.get("subagent_trajectories").into_iter().flat_map(|it| it.items()) {
            check_id(inner, &mut ids, out);
            open.push(inner);
        }
    }
}

/// Checks that the trajectory of a sub-agent has an id, which no other one of its document has.
fn check_id(document: Value<'_>, ids: &mut HashSet<String>, out: &mut Findings<'_>) {
    match document.get("trajectory_id").and_then(|id| id.text()) {
        None => out.stops(
            "trajectory-id",
            "a sub-agent's trajectory has no `trajectory_id`: Harbor refuses it",
        ),
        Some(id) if !ids.insert(id.decode().into_owned()) => out.stops(
            "trajectory-id",
            "two trajectories have one `trajectory_id`: Harbor refuses them",
        ),
        Some(_) => {}
    }
}
