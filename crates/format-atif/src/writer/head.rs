//! Writes the document around the steps: the agent before them, the totals behind them.
//!
//! In: the facts of a session of Claude Code 2.1.0. Out:
//! `{"schema_version":"ATIF-v1.8","session_id":..,"agent":{"name":"claude-code","version":"2.1.0",..}}`
//! and `{"final_metrics":{"total_prompt_tokens":..,"total_steps":7}}`.

use std::ops::Add;

use core_model::{DocumentPart, LossKind, Output, Tokens};
use jsonl::{Text, json_string};

use super::{DocumentWriter, json};

/// The version that is written: the newest one of Harbor 0.24.0.
const VERSION: &str = "ATIF-v1.8";

/// The sums over all steps.
#[derive(Debug, Default)]
pub(super) struct Totals {
    pub(super) n_steps: u64,
    tokens: Option<Tokens>,
}

impl Totals {
    /// Adds a step with its tokens.
    pub(super) fn add_step(&mut self, tokens: Option<Tokens>) {
        self.n_steps = self.n_steps.saturating_add(1);
        if let Some(tokens) = tokens {
            // Its sums saturate.
            self.tokens = Some(self.tokens.unwrap_or_default().add(tokens));
        }
    }
}

impl DocumentWriter {
    /// Writes the head, unless the output has one.
    pub(super) fn write_head(&mut self, out: &mut Output) {
        if self.has_head {
            return;
        }
        self.model = self.model_name();
        self.has_head = true;
        let line = out.open_derived();
        out.put_args(line, format_args!("{{\"schema_version\":\"{VERSION}\""));
        let fact = |fact: &Option<String>| {
            let text = Text::new(fact.as_deref()?)?;
            Some(json_string(&text.decode()))
        };
        if let Some(id) = fact(&self.facts.session_id) {
            out.put(line, ",\"session_id\":");
            out.put(line, &id);
        }
        if let Some(agent) = &self.facts.agent {
            out.put(line, ",\"trajectory_id\":");
            out.put(line, &json_string(agent));
        }
        out.put(line, ",\"agent\":{\"name\":");
        out.put(line, &json_string(self.agent));
        out.put(line, ",\"version\":");
        match fact(&self.facts.version) {
            Some(version) => out.put(line, &version),
            None => {
                out.lose(LossKind::Invented, "agent.version");
                out.put(line, "\"unknown\"");
            }
        }
        if let Some(model) = &self.model {
            out.put(line, ",\"model_name\":");
            out.put(line, model);
        }
        let (cwd, branch) = (fact(&self.facts.cwd), self.git_branch.clone());
        let mut separator = ",\"extra\":{";
        for (name, value) in [("cwd", &cwd), ("git_branch", &branch)] {
            if let Some(value) = value {
                out.put_args(line, format_args!("{separator}\"{name}\":"));
                out.put(line, value);
                separator = ",";
            }
        }
        out.put(line, if separator == "," { "}}" } else { "}" });
        let title = self.facts.title.as_ref().and_then(|(_, title)| Text::new(title));
        let title = title.map(|title| format!("\"title\":{}", json_string(&title.decode())));
        json::put_extra(line, &title.unwrap_or_default(), out);
        out.put(line, "}");
        out.emit_as(line, DocumentPart::Head);
    }

    /// Returns the model of the session, a JSON string: the one of the head, of the first response, or
    /// of the start.
    pub(super) fn model_name(&self) -> Option<String> {
        if self.has_head && self.model.is_some() {
            return self.model.clone();
        }
        let first = self.facts.interactions.first_model().and_then(Text::new);
        first.map(|model| json_string(&model.decode())).or_else(|| self.model.clone())
    }

    /// Writes the totals behind the steps.
    pub(super) fn write_tail(&mut self, out: &mut Output) {
        let line = out.open_derived();
        out.put(line, "{\"final_metrics\":{");
        if let Some(tokens) = self.totals.tokens {
            let prompt = json::prompt_tokens(tokens);
            out.put_args(line, format_args!("\"total_prompt_tokens\":{prompt},"));
            let Tokens { output, cache_read, .. } = tokens;
            out.put_args(line, format_args!("\"total_completion_tokens\":{output},"));
            out.put_args(line, format_args!("\"total_cached_tokens\":{cache_read},"));
        }
        out.put_args(line, format_args!("\"total_steps\":{}}}}}", self.totals.n_steps));
        out.emit_as(line, DocumentPart::Tail);
    }
}
