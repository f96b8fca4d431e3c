//! Generates ATIF documents: a step for each prompt and each response, the results in the step of
//! their calls, and the trajectories of sub-agents behind the steps.

use super::{Happening, Piece, count_calls};
use crate::shared::lines::{Spelling, spell};

/// The steps of a document or of a trajectory inside it.
struct Steps {
    all: Vec<String>,
    spelling: Spelling,
}

impl Steps {
    fn push(&mut self, source: &str, members: &[(&str, String)]) {
        let n = self.all.len() + 1;
        let time = format!("\"2026-03-04T05:{:02}:{:02}.000Z\"", n / 60 % 60, n % 60);
        let mut step = vec![
            ("step_id".to_owned(), n.to_string()),
            ("timestamp".to_owned(), time),
            ("source".to_owned(), format!("\"{source}\"")),
        ];
        step.extend(members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        self.all.push(spell(&step, self.spelling));
    }

    fn push_text(&mut self, source: &str, text: &str, extra: Option<&str>) {
        let mut members = vec![("message", text.to_owned())];
        members.extend(extra.map(|extra| ("extra", format!("{{{extra}}}"))));
        self.push(source, &members);
    }

    /// Adds a response. The calls are numbered from `n_calls`.
    fn push_response(&mut self, pieces: &[Piece], mut n_calls: usize) {
        let (mut parts, mut calls, mut results) = (Vec::new(), Vec::new(), Vec::new());
        let mut thinking = None;
        for piece in pieces {
            match piece {
                Piece::Text(text) => parts.push(format!(r#"{{"type":"text","text":{text}}}"#)),
                Piece::Thinking(text, signature) => thinking = Some((text, signature)),
                Piece::Other(_) => parts.push(
                    r#"{"type":"image","source":{"media_type":"image/png","path":"https://example.com/a.png"}}"#
                        .to_owned(),
                ),
                Piece::Call(input, result) => {
                    // Arguments are an object.
                    let arguments = match input.starts_with('{') {
                        true => input.clone(),
                        false => format!("{{\"input\":{input}}}"),
                    };
                    calls.push(format!(
                        r#"{{"tool_call_id":"toolu_{n_calls}","function_name":"Bash","arguments":{arguments}}}"#
                    ));
                    if let Some((content, is_error)) = result {
                        let extra = is_error
                            .map(|it| format!(r#","extra":{{"is_error":{it}}}"#))
                            .unwrap_or_default();
                        results.push(format!(
                            r#"{{"source_call_id":"toolu_{n_calls}","content":{content}{extra}}}"#
                        ));
                    }
                    n_calls += 1;
                }
            }
        }
        let n = self.all.len();
        let message = match (parts.len(), pieces.iter().find_map(only_text)) {
            (0, _) => "\"\"".to_owned(),
            (1, Some(text)) => text.clone(),
            _ => format!("[{}]", parts.join(",")),
        };
        let mut members =
            vec![("model_name", "\"claude-opus-5-5\"".to_owned()), ("message", message)];
        let mut extra = vec![r#""stop_reason":"end_turn""#.to_owned()];
        if let Some((text, signature)) = thinking {
            members.push(("reasoning_content", text.clone()));
            let signature = signature.as_ref();
            extra.extend(signature.map(|it| format!(r#""thinking_signature":{it}"#)));
        }
        if !calls.is_empty() {
            members.push(("tool_calls", format!("[{}]", calls.join(","))));
        }
        if !results.is_empty() {
            members.push(("observation", format!(r#"{{"results":[{}]}}"#, results.join(","))));
        }
        let metrics = format!(
            r#"{{"prompt_tokens":{},"completion_tokens":{n},"cached_tokens":3,"cost_usd":0.5,"extra":{{"cache_creation_input_tokens":4}}}}"#,
            n + 9
        );
        members.push(("metrics", metrics));
        members.push(("llm_call_count", "1".to_owned()));
        members.push(("extra", format!("{{{}}}", extra.join(","))));
        self.push("agent", &members);
    }
}

fn only_text(piece: &Piece) -> Option<&String> {
    match piece {
        Piece::Text(text) => Some(text),
        _ => None,
    }
}

/// Writes events as an ATIF document with each step on a line.
pub(crate) fn atif(all: &[Happening], spelling: Spelling) -> Vec<String> {
    let mut steps = Steps { all: Vec::new(), spelling };
    let mut trajectories: Vec<String> = Vec::new();
    let mut n_calls = 0;
    for happening in all {
        match happening {
            Happening::Prompt(text) => steps.push_text("user", text, None),
            Happening::Response(pieces) => {
                steps.push_response(pieces, n_calls);
                n_calls += count_calls(pieces);
            }
            Happening::Other(kind, text) => match kind {
                0 | 1 => steps.push_text("system", text, None),
                2 => {
                    let extra = r#""kind":"notice","level":"warning","subtype":"odd""#;
                    steps.push_text("system", text, Some(extra));
                }
                3 => steps.push_text("system", text, Some(r#""kind":"compaction""#)),
                4 => {
                    let results = format!(r#"{{"results":[{{"content":{text}}}]}}"#);
                    let message = ("message", "\"\"".to_owned());
                    steps.push("system", &[message, ("observation", results)]);
                }
                5 => {
                    let copied = ("is_copied_context", "true".to_owned());
                    steps.push("user", &[("message", text.clone()), copied]);
                }
                6 => {
                    let no_call = ("llm_call_count", "0".to_owned());
                    steps.push("agent", &[("message", text.clone()), no_call]);
                }
                _ => {
                    let image = r#"{"type":"image","source":{"media_type":"image/png","path":"https://example.com/b.png"}}"#;
                    let parts = format!(r#"[{{"type":"text","text":{text}}},{image}]"#);
                    steps.push("user", &[("message", parts)]);
                }
            },
            Happening::Agent(text) => {
                let mut inner = Steps { all: Vec::new(), spelling: Spelling::Compact };
                inner.push_text("user", text, None);
                inner.push_text("agent", text, None);
                trajectories.push(format!(
                    r#"{{"schema_version":"ATIF-v1.8","trajectory_id":"t{}","agent":{{"name":"a","version":"1"}},"steps":[{}]}}"#,
                    trajectories.len(),
                    inner.all.join(",")
                ));
            }
            // The steps have no branches.
            Happening::Rewind(_) => {}
            Happening::Odd(members) => steps.all.push(spell(members, spelling)),
        }
    }
    let agent = r#"{"name":"claude-code","version":"2.1.100","model_name":"claude-opus-5-5","extra":{"cwd":"/home/ada/demo","git_branch":"main"}}"#;
    let mut lines = vec![format!(
        r#"{{"schema_version":"ATIF-v1.8","session_id":"6c70a1d0-9a49-4fae-bf1a-04376caed019","agent":{agent},"steps":["#
    )];
    let n_steps = steps.all.len();
    let with_commas = |items: Vec<String>| {
        let n = items.len();
        items
            .into_iter()
            .enumerate()
            .map(move |(at, item)| item + if at + 1 < n { "," } else { "" })
    };
    lines.extend(with_commas(steps.all));
    let totals = format!(r#""final_metrics":{{"total_steps":{n_steps},"total_cost_usd":0.5}}"#);
    if trajectories.is_empty() {
        lines.push(format!("],{totals}}}"));
    } else {
        lines.push(r#"],"subagent_trajectories":["#.to_owned());
        lines.extend(with_commas(trajectories));
        lines.push(format!("],{totals}}}"));
    }
    lines
}
