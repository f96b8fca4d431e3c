//! Sessions of each dialect as raw text: turns with calls and results, and what else is in logs.

use std::fmt::Write;

use proptest::{collection::vec, option, prelude::*, sample::select};

use super::lines::{Members, Spelling, in_disorder, input, spell, string, value, words};

/// What happens in a session, apart from how a format says it.
#[derive(Clone, Debug)]
pub(crate) enum Happening {
    /// A prompt.
    Prompt(String),
    /// A response of blocks; the results of its calls follow.
    Response(Vec<Piece>),
    /// A line of another kind: which, and a value in it.
    Other(u8, String),
    /// The user goes back so many lines, and on from there; only transcripts know of it.
    Rewind(usize),
    /// What a sub-agent is asked, and answers.
    Agent(String),
    /// Members that the line before or after gets in disorder.
    Odd(Members),
}

/// A block of a response.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Text(String),
    Thinking(String, Option<String>),
    /// A call: its input, its result if there is one, and whether that is an error.
    Call(String, Option<(String, Option<bool>)>),
    Other(String),
}

fn piece(text: BoxedStrategy<String>, is_tidy: bool) -> impl Strategy<Value = Piece> {
    let result = (text.clone(), option::of(any::<bool>()));
    let result = if is_tidy { result.prop_map(Some).boxed() } else { option::of(result).boxed() };
    prop_oneof![
        4 => text.clone().prop_map(Piece::Text),
        2 => (text.clone(), option::of(words()))
            .prop_map(|(text, signature)| Piece::Thinking(text, signature)),
        4 => (input(is_tidy), result).prop_map(|(input, result)| Piece::Call(input, result)),
        1 => select(vec![
            r#"{"type":"redacted_thinking","data":"abc"}"#,
            // A block of a type that no API knows stops the client: no tidy session has one.
            if is_tidy {
                r#"{"type":"fallback","from":{"model":"a"},"to":{"model":"b"}}"#
            } else {
                r#"{"type":"future","x":1}"#
            },
            r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}"#,
        ]).prop_map(|block| Piece::Other(block.to_owned())),
    ]
}

/// Returns what happens in a session: tidy, or with anything in any order.
pub(crate) fn happenings(is_tidy: bool) -> BoxedStrategy<Vec<Happening>> {
    let text = if is_tidy { words().boxed() } else { string().boxed() };
    let one = prop_oneof![
        3 => text.clone().prop_map(Happening::Prompt),
        5 => vec(piece(text, is_tidy), 1..4).prop_map(Happening::Response),
        if is_tidy { 1 } else { 3 } => (0..8u8, words()).prop_map(|(kind, value)| Happening::Other(kind, value)),
    ];
    if is_tidy {
        return (words(), vec(one, 1..8))
            .prop_map(|(prompt, mut all)| {
                all.insert(0, Happening::Prompt(prompt));
                all
            })
            .boxed();
    }
    let members = vec(
        (select(&["type", "content", "message", "subtype"][..]).prop_map(str::to_owned), value()),
        0..4,
    );
    let odd = in_disorder(members).prop_map(Happening::Odd);
    let aside =
        prop_oneof![(0..6usize).prop_map(Happening::Rewind), words().prop_map(Happening::Agent),];
    vec(prop_oneof![6 => one, 1 => odd, 1 => aside], 0..9).boxed()
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

fn call_block(n: usize, input: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"toolu_{n}","name":"Bash","input":{input}}}"#)
}

fn result_block(n: usize, content: &str, is_error: Option<bool>) -> String {
    let mut block =
        format!(r#"{{"tool_use_id":"toolu_{n}","type":"tool_result","content":{content}"#);
    if let Some(is_error) = is_error {
        _ = write!(block, ",\"is_error\":{is_error}");
    }
    block + "}"
}

fn api_block(piece: &Piece, n_calls: usize) -> String {
    match piece {
        Piece::Text(text) => format!(r#"{{"type":"text","text":{text}}}"#),
        Piece::Thinking(text, Some(signature)) => {
            format!(r#"{{"type":"thinking","thinking":{text},"signature":{signature}}}"#)
        }
        Piece::Thinking(text, None) => format!(r#"{{"type":"thinking","thinking":{text}}}"#),
        Piece::Call(input, _) => call_block(n_calls, input),
        Piece::Other(block) => block.clone(),
    }
}

/// Returns the results of a response's calls, numbered from `n_calls` on.
fn results(pieces: &[Piece], mut n_calls: usize) -> Vec<(usize, String, Option<bool>)> {
    let mut results = Vec::new();
    for piece in pieces {
        if let Piece::Call(_, result) = piece {
            if let Some((content, is_error)) = result {
                results.push((n_calls, content.clone(), *is_error));
            }
            n_calls += 1;
        }
    }
    results
}

fn count_calls(pieces: &[Piece]) -> usize {
    pieces.iter().filter(|piece| matches!(piece, Piece::Call(..))).count()
}

/// Lines of Claude Code, each of which follows the one before, unless it is told otherwise.
struct Transcript {
    lines: Vec<String>,
    parent: String,
    spelling: Spelling,
}

impl Transcript {
    fn uuid(n: usize) -> String {
        format!("\"00000000-0000-4000-8000-{n:012}\"")
    }

    fn push(&mut self, kind: &str, body: &[(&str, String)]) {
        let uuid = Self::uuid(self.lines.len());
        let parent = std::mem::replace(&mut self.parent, uuid);
        self.push_after(&parent, false, kind, body);
    }

    /// Has the next line follow one before the last ones: from there on, another branch grows.
    fn rewind(&mut self, n_lines: usize) {
        if let Some(n) = self.lines.len().checked_sub(n_lines + 1) {
            self.parent = Self::uuid(n);
        }
    }

    /// Adds what a sub-agent is asked and what it answers, beside the conversation.
    fn push_agent(&mut self, n: usize, text: &str) {
        let question = format!(r#"{{"role":"user","content":{text}}}"#);
        self.push_after("null", true, "user", &[("message", question)]);
        let parent = Self::uuid(self.lines.len() - 1);
        let answer = format!(
            r#"{{"model":"claude-haiku-4-5","id":"msg_agent_{n}","type":"message","role":"assistant","content":[{{"type":"text","text":{text}}}],"stop_reason":"end_turn","stop_sequence":null,"usage":{{"input_tokens":1}}}}"#
        );
        self.push_after(&parent, true, "assistant", &[("message", answer)]);
    }

    fn push_after(
        &mut self,
        parent: &str,
        is_sidechain: bool,
        kind: &str,
        body: &[(&str, String)],
    ) {
        let n = self.lines.len();
        let mut members: Members = vec![
            ("parentUuid".into(), parent.to_owned()),
            ("isSidechain".into(), is_sidechain.to_string()),
            ("userType".into(), "\"external\"".into()),
            ("cwd".into(), "\"/home/ada/demo\"".into()),
            ("sessionId".into(), "\"6c70a1d0-9a49-4fae-bf1a-04376caed019\"".into()),
            ("version".into(), "\"2.1.100\"".into()),
            ("gitBranch".into(), "\"main\"".into()),
            ("type".into(), quoted(kind)),
        ];
        members.extend(is_sidechain.then(|| ("agentId".into(), "\"a1b2c3d\"".into())));
        members.extend(body.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        members.push(("uuid".into(), Self::uuid(n)));
        members.push((
            "timestamp".into(),
            format!("\"2026-02-03T10:{:02}:{:02}.500Z\"", n / 60 % 60, n % 60),
        ));
        self.lines.push(spell(&members, self.spelling));
    }
}

/// Spells what happens as Claude Code does; `is_split` puts each block on a line of its own.
pub(crate) fn claude_code(all: &[Happening], is_split: bool, spelling: Spelling) -> Vec<String> {
    let mut log = Transcript { lines: Vec::new(), parent: "null".to_owned(), spelling };
    let mut n_calls = 0;
    for (n, happening) in all.iter().enumerate() {
        match happening {
            Happening::Prompt(text) => {
                log.push("user", &[("message", format!(r#"{{"role":"user","content":{text}}}"#))]);
            }
            Happening::Response(pieces) => {
                let mut n_seen = n_calls;
                let mut blocks = Vec::new();
                for piece in pieces {
                    blocks.push(api_block(piece, n_seen));
                    n_seen += usize::from(matches!(piece, Piece::Call(..)));
                }
                let contents = if is_split { blocks } else { vec![blocks.join(",")] };
                for content in contents {
                    let message = format!(
                        r#"{{"model":"claude-opus-4-5-20251101","id":"msg_{n}","type":"message","role":"assistant","content":[{content}],"stop_reason":"end_turn","stop_sequence":null,"usage":{{"input_tokens":1,"output_tokens":{n}}}}}"#
                    );
                    log.push(
                        "assistant",
                        &[("message", message), ("requestId", format!("\"req_{n}\""))],
                    );
                }
                for (call, content, is_error) in results(pieces, n_calls) {
                    let block = result_block(call, &content, is_error);
                    let message = format!(r#"{{"role":"user","content":[{block}]}}"#);
                    log.push("user", &[("message", message), ("toolUseResult", content)]);
                }
                n_calls = n_seen;
            }
            Happening::Other(kind, text) => match kind {
                0 | 1 => log.push(
                    "system",
                    &[
                        ("subtype", "\"informational\"".into()),
                        ("content", text.clone()),
                        ("level", "\"info\"".into()),
                    ],
                ),
                2 => log.push(
                    "attachment",
                    &[("attachment", format!("{{\"type\":\"date\",\"x\":{text}}}"))],
                ),
                3 => log.push(
                    "progress",
                    &[("data", format!("{{\"type\":\"hook_progress\",\"x\":{text}}}"))],
                ),
                4 => log.push("future", &[("x", text.clone())]),
                5 => log.push(
                    "system",
                    &[
                        ("subtype", "\"api_error\"".into()),
                        ("level", "\"error\"".into()),
                        ("error", "{\"status\":529}".into()),
                    ],
                ),
                6 => log.push(
                    "user",
                    &[
                        ("isMeta", "true".into()),
                        ("message", format!(r#"{{"role":"user","content":{text}}}"#)),
                    ],
                ),
                _ => log.push("ai-title", &[("aiTitle", text.clone())]),
            },
            Happening::Rewind(n_lines) => log.rewind(*n_lines),
            Happening::Agent(text) => log.push_agent(n, text),
            Happening::Odd(members) => {
                let members: Vec<_> =
                    members.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
                log.push("user", &members);
            }
        }
    }
    log.lines
}

/// Spells what happens as clido does.
pub(crate) fn clido(all: &[Happening], spelling: Spelling) -> Vec<String> {
    let mut lines = vec![
        r#"{"type":"meta","session_id":"920b7261-ef3c-4e1c-8556-681a81660d84","schema_version":1,"start_time":"2026-11-21T21:20:53.942982378+00:00","project_path":"/home/ada/demo"}"#.to_owned(),
    ];
    let mut n_calls = 0;
    let line = |members: &[(&str, String)]| {
        let members: Vec<_> =
            members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        spell(&members, spelling)
    };
    for happening in all {
        match happening {
            Happening::Prompt(text) => lines.push(line(&[
                ("type", "\"user_message\"".into()),
                ("role", "\"user\"".into()),
                ("content", format!(r#"[{{"text":{text},"type":"text"}}]"#)),
            ])),
            Happening::Response(pieces) => {
                let mut n_seen = n_calls;
                let mut blocks = Vec::new();
                let mut calls = Vec::new();
                for piece in pieces {
                    match piece {
                        Piece::Call(input, _) => {
                            blocks.push(format!(r#"{{"id":"toolu_{n_seen}","input":{input},"name":"Bash","type":"tool_use"}}"#));
                            calls.push(line(&[
                                ("type", "\"tool_call\"".into()),
                                ("tool_use_id", format!("\"toolu_{n_seen}\"")),
                                ("tool_name", "\"Bash\"".into()),
                                ("input", input.clone()),
                            ]));
                            n_seen += 1;
                        }
                        Piece::Thinking(text, _) => blocks.push(format!(r#"{{"thinking":{text},"type":"thinking"}}"#)),
                        Piece::Other(_) => blocks.push(r#"{"base64_data":"aGk=","media_type":"image/png","type":"image"}"#.into()),
                        Piece::Text(text) => blocks.push(format!(r#"{{"text":{text},"type":"text"}}"#)),
                    }
                }
                lines.push(line(&[
                    ("type", "\"assistant_message\"".into()),
                    ("content", format!("[{}]", blocks.join(","))),
                ]));
                lines.append(&mut calls);
                for (call, content, is_error) in results(pieces, n_calls) {
                    lines.push(line(&[
                        ("type", "\"tool_result\"".into()),
                        ("tool_use_id", format!("\"toolu_{call}\"")),
                        ("content", content),
                        ("is_error", is_error.unwrap_or(false).to_string()),
                        ("duration_ms", "1234".into()),
                    ]));
                }
                n_calls += count_calls(pieces);
            }
            Happening::Other(kind, text) => lines.push(match kind {
                0..4 => line(&[("type", "\"system\"".into()), ("subtype", "\"warning\"".into()), ("message", text.clone())]),
                4 => line(&[("type", "\"title\"".into()), ("title", text.clone())]),
                _ => r#"{"type":"result","exit_status":"completed","total_cost_usd":0.00042,"num_turns":1,"duration_ms":295}"#.into(),
            }),
            Happening::Rewind(_) | Happening::Agent(_) => {}
            Happening::Odd(members) => lines.push(spell(members, spelling)),
        }
    }
    lines
}

/// Spells what happens as the client does on its wire.
pub(crate) fn wire(all: &[Happening], spelling: Spelling) -> Vec<String> {
    const TAIL: &str =
        r#""parent_tool_use_id":null,"session_id":"5e528e59-5503-4293-9072-fdf682793871","uuid":"#;
    let mut lines: Vec<String> = Vec::new();
    let mut n_calls = 0;
    for (n, happening) in all.iter().enumerate() {
        let uuid = format!("\"10000000-0000-4000-8000-{n:012}\"");
        match happening {
            Happening::Prompt(text) => {
                lines.push(format!(r#"{{"type":"system","subtype":"init","cwd":"/p","session_id":"5e528e59-5503-4293-9072-fdf682793871","tools":["Bash"],"mcp_servers":[],"model":"claude-opus-4-5-20251101","permissionMode":"default","uuid":{uuid}}}"#));
                lines.push(format!(r#"{{"type":"user","message":{{"role":"user","content":{text}}},{TAIL}{uuid},"isReplay":true}}"#));
            }
            Happening::Response(pieces) => {
                let mut n_seen = n_calls;
                for piece in pieces {
                    let block = match piece {
                        // The wire has always a signature.
                        Piece::Thinking(text, None) => format!(r#"{{"type":"thinking","thinking":{text},"signature":""}}"#),
                        _ => api_block(piece, n_seen),
                    };
                    n_seen += usize::from(matches!(piece, Piece::Call(..)));
                    lines.push(format!(r#"{{"type":"assistant","message":{{"model":"claude-opus-4-5-20251101","id":"msg_{n}","type":"message","role":"assistant","content":[{block}],"stop_reason":null,"stop_sequence":null,"usage":{{"input_tokens":7}}}},{TAIL}{uuid}}}"#));
                }
                for (call, content, is_error) in results(pieces, n_calls) {
                    let block = result_block(call, &content, is_error);
                    lines.push(format!(r#"{{"type":"user","message":{{"role":"user","content":[{block}]}},{TAIL}{uuid},"tool_use_result":{{"stdout":{content}}}}}"#));
                }
                n_calls = n_seen;
            }
            Happening::Other(kind, text) => lines.push(match kind {
                0 | 1 => format!(r#"{{"type":"system","subtype":"status","message":{text},"session_id":"s","uuid":{uuid}}}"#),
                2 => format!(r#"{{"type":"stream_event","event":{{"x":{text}}},{TAIL}{uuid}}}"#),
                3 => format!(r#"{{"type":"future","x":{text},"session_id":"s","uuid":{uuid}}}"#),
                4 => format!(r#"{{"type":"rate_limit_event","rate_limit_info":{{"status":"allowed"}},"session_id":"s","uuid":{uuid}}}"#),
                _ => format!(r#"{{"type":"result","subtype":"success","is_error":false,"duration_ms":667,"duration_api_ms":339,"num_turns":1,"result":{text},"session_id":"5e528e59-5503-4293-9072-fdf682793871","total_cost_usd":0.0012,"usage":{{}},"uuid":{uuid}}}"#),
            }),
            Happening::Rewind(_) => {}
            Happening::Agent(text) => lines.push(format!(
                r#"{{"type":"assistant","message":{{"model":"claude-haiku-4-5","id":"msg_agent_{n}","type":"message","role":"assistant","content":[{{"type":"text","text":{text}}}],"stop_reason":null,"stop_sequence":null,"usage":{{"input_tokens":7}}}},"parent_tool_use_id":"toolu_0","session_id":"5e528e59-5503-4293-9072-fdf682793871","uuid":{uuid}}}"#
            )),
            Happening::Odd(members) => lines.push(spell(members, spelling)),
        }
    }
    lines
}

/// Spells what happens as an orchestrator does that dumps the messages of the SDK.
pub(crate) fn dump(all: &[Happening], spelling: Spelling) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut n_calls = 0;
    let object = |members: &[(&str, String)]| {
        let members: Vec<_> =
            members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        spell(&members, spelling)
    };
    let id = || "\"ad940eb5-20e5-4a9b-855d-085cc4a08058\"".to_owned();
    for (n, happening) in all.iter().enumerate() {
        match happening {
            Happening::Prompt(text) => {
                lines.push(object(&[
                    ("type", quoted("user_message")),
                    ("content", text.clone()),
                    ("timestamp", format!("\"2026-11-21T20:{:02}:50.613171Z\"", n % 60)),
                ]));
                let data = object(&[
                    ("type", quoted("system")),
                    ("subtype", quoted("init")),
                    ("cwd", quoted("/home/ada/demo")),
                    ("session_id", id()),
                    ("tools", "[\"Bash\"]".into()),
                    ("model", quoted("claude-opus-4-5-20251101")),
                ]);
                lines.push(object(&[("subtype", quoted("init")), ("data", data)]));
            }
            Happening::Response(pieces) => {
                let mut n_seen = n_calls;
                for piece in pieces {
                    let block = match piece {
                        Piece::Text(text) => object(&[("text", text.clone())]),
                        Piece::Thinking(text, signature) => {
                            let signature = signature.clone().unwrap_or_else(|| quoted(""));
                            object(&[("thinking", text.clone()), ("signature", signature)])
                        }
                        Piece::Call(input, _) => {
                            n_seen += 1;
                            object(&[
                                ("id", format!("\"toolu_{}\"", n_seen - 1)),
                                ("name", quoted("Bash")),
                                ("input", input.clone()),
                            ])
                        }
                        Piece::Other(_) => continue,
                    };
                    lines.push(object(&[
                        ("content", format!("[{block}]")),
                        ("model", quoted("claude-opus-4-5-20251101")),
                        ("parent_tool_use_id", "null".into()),
                        ("error", "null".into()),
                        ("usage", "{\"input_tokens\": 7}".into()),
                        ("message_id", format!("\"msg_{n}\"")),
                    ]));
                }
                for (call, content, is_error) in results(pieces, n_calls) {
                    let block = object(&[
                        ("tool_use_id", format!("\"toolu_{call}\"")),
                        ("content", content.clone()),
                        ("is_error", is_error.map_or("null".into(), |it| it.to_string())),
                    ]);
                    lines.push(object(&[
                        ("content", format!("[{block}]")),
                        ("uuid", "null".into()),
                        ("parent_tool_use_id", "null".into()),
                        ("tool_use_result", content),
                    ]));
                }
                n_calls = n_seen;
            }
            Happening::Other(kind, text) => lines.push(match kind {
                0..4 => {
                    let data = object(&[
                        ("type", quoted("system")),
                        ("subtype", quoted("status")),
                        ("message", text.clone()),
                        ("session_id", id()),
                    ]);
                    object(&[("subtype", quoted("status")), ("data", data)])
                }
                _ => object(&[
                    ("subtype", quoted("success")),
                    ("duration_ms", "169".into()),
                    ("duration_api_ms", "49".into()),
                    ("is_error", "false".into()),
                    ("num_turns", "1".into()),
                    ("session_id", id()),
                    ("total_cost_usd", "0.0074328".into()),
                    ("usage", "{}".into()),
                    ("result", text.clone()),
                ]),
            }),
            Happening::Rewind(_) => {}
            Happening::Agent(text) => lines.push(object(&[
                ("content", format!("[{}]", object(&[("text", text.clone())]))),
                ("model", quoted("claude-haiku-4-5")),
                ("parent_tool_use_id", quoted("toolu_0")),
                ("error", "null".into()),
                ("usage", "{\"input_tokens\": 7}".into()),
                ("message_id", format!("\"msg_agent_{n}\"")),
            ])),
            Happening::Odd(members) => lines.push(spell(members, spelling)),
        }
    }
    lines
}
