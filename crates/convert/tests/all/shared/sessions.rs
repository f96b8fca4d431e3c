//! Generates sessions of each dialect as raw text: turns with calls and results, and other records of
//! logs.

mod atif;

use std::fmt::Write;

use proptest::{collection::vec, option, prelude::*, sample::select};

pub(crate) use self::atif::atif;
use super::lines::{Members, Spelling, in_disorder, input, spell, string, value, words};

/// An event of a session, independent of a format.
#[derive(Clone, Debug)]
pub(crate) enum Happening {
    /// A prompt.
    Prompt(String),
    /// A response of blocks, followed by the results of its calls.
    Response(Vec<Piece>),
    /// A record of another kind: the kind, and a value in it.
    Other(u8, String),
    /// The user rewinds this number of lines and continues there. Only transcripts have such branches.
    Rewind(usize),
    /// The prompt and the answer of a sub-agent.
    Agent(String),
    /// Members that disordered sessions add to a line before or after.
    Odd(Members),
}

/// A block of a response.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Text(String),
    Thinking(String, Option<String>),
    /// A call: its input, its result if it has one, and whether the result is an error.
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
            // A block of a type that the API does not have stops the client, so no tidy session has one.
            if is_tidy {
                r#"{"type":"fallback","from":{"model":"a"},"to":{"model":"b"}}"#
            } else {
                r#"{"type":"future","x":1}"#
            },
            r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}"#,
        ]).prop_map(|block| Piece::Other(block.to_owned())),
    ]
}

/// Returns the events of a session: a tidy one, or one with any events in any order.
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

/// Returns the results of the calls of a response, numbered from `n_calls`.
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

/// Lines of Claude Code. The parent of each is the line before it, unless a branch starts.
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

    /// Starts a branch: the parent of the next line is an earlier line.
    fn rewind(&mut self, n_lines: usize) {
        if let Some(n) = self.lines.len().checked_sub(n_lines + 1) {
            self.parent = Self::uuid(n);
        }
    }

    /// Adds the prompt and the answer of a sub-agent, outside of the main conversation.
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

/// Writes events as Claude Code does. `is_split` puts each block on a line of its own.
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

/// Writes events as clido does.
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

/// Entries of pi, after the header. The parent of each is the entry before it, unless a branch starts.
struct Tree {
    lines: Vec<String>,
    parent: String,
    spelling: Spelling,
}

impl Tree {
    fn id(n: usize) -> String {
        format!("\"{n:08x}\"")
    }

    fn push(&mut self, kind: &str, body: &[(&str, String)]) {
        let n = self.lines.len();
        let parent = std::mem::replace(&mut self.parent, Self::id(n));
        let mut members: Members = vec![
            ("type".into(), quoted(kind)),
            ("id".into(), Self::id(n)),
            ("parentId".into(), parent),
            (
                "timestamp".into(),
                format!("\"2026-03-01T10:{:02}:{:02}.000Z\"", n / 60 % 60, n % 60),
            ),
        ];
        members.extend(body.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        self.lines.push(spell(&members, self.spelling));
    }

    fn push_message(&mut self, message: &str) {
        // An entry is written when its message ends, a second after its own time.
        let millis = 1_772_359_199_000 + 1000 * self.lines.len();
        self.push("message", &[("message", format!("{{{message},\"timestamp\":{millis}}}"))]);
    }

    /// Starts a branch: the parent of the next line is an earlier line.
    fn rewind(&mut self, n_lines: usize) {
        if let Some(n) = self.lines.len().checked_sub(n_lines + 1).filter(|n| *n > 0) {
            self.parent = Self::id(n);
        }
    }
}

/// Lines of Qwen Code. The parent of each is the line before it, unless a branch starts.
struct QwenLog {
    lines: Vec<String>,
    parent: String,
    spelling: Spelling,
}

impl QwenLog {
    fn push(&mut self, kind: &str, body: &[(&str, String)]) {
        let n = self.lines.len();
        let parent = std::mem::replace(&mut self.parent, Transcript::uuid(n));
        let time = format!("\"2026-03-01T10:{:02}:{:02}.000Z\"", n / 60 % 60, n % 60);
        let mut members: Members = vec![
            ("uuid".into(), Transcript::uuid(n)),
            ("parentUuid".into(), parent),
            ("sessionId".into(), quoted("6e47e829-b0aa-4753-a26b-636f4a629329")),
            ("timestamp".into(), time),
            ("type".into(), quoted(kind)),
            ("cwd".into(), quoted("/home/ada/demo")),
            ("version".into(), quoted("0.24.4")),
        ];
        members.extend(body.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        self.lines.push(spell(&members, self.spelling));
    }

    fn push_system(&mut self, subtype: &str, payload: String) {
        self.push("system", &[("subtype", quoted(subtype)), ("systemPayload", payload)]);
    }

    fn push_user(&mut self, text: &str) {
        let message = format!(r#"{{"role":"user","parts":[{{"text":{text}}}]}}"#);
        self.push("user", &[("provenance", "\"real_user\"".into()), ("message", message)]);
    }
}

/// Lines of Gemini CLI.
struct GeminiLog {
    lines: Vec<String>,
    spelling: Spelling,
}

impl GeminiLog {
    fn id(n: usize) -> String {
        format!("m{n:04}")
    }

    fn time(n: usize) -> String {
        format!("\"2026-03-01T10:{:02}:{:02}.000Z\"", n / 60 % 60, n % 60)
    }

    fn push(&mut self, members: &[(&str, String)]) {
        let members: Members =
            members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        self.lines.push(spell(&members, self.spelling));
    }

    fn push_message(&mut self, kind: &str, body: &[(&str, String)]) {
        let n = self.lines.len();
        let envelope =
            [("id", quoted(&Self::id(n))), ("timestamp", Self::time(n)), ("type", quoted(kind))];
        self.push(&[&envelope, body].concat());
    }

    fn push_user(&mut self, text: &str) {
        self.push_message("user", &[("content", format!(r#"[{{"text":{text}}}]"#))]);
    }
}

/// Writes events as Gemini CLI does.
pub(crate) fn gemini(all: &[Happening], spelling: Spelling) -> Vec<String> {
    let mut log = GeminiLog { lines: Vec::new(), spelling };
    log.push(&[
        ("sessionId", quoted("71de4fac-a477-400c-b3c5-34bbe2c339ed")),
        ("projectHash", quoted("9dad1e4e08b0")),
        ("startTime", GeminiLog::time(0)),
        ("kind", quoted("main")),
        ("directories", r#"["/home/ada/demo"]"#.to_owned()),
    ]);
    let mut n_calls = 0;
    for (n, happening) in all.iter().enumerate() {
        match happening {
            Happening::Prompt(text) | Happening::Agent(text) => log.push_user(text),
            Happening::Response(pieces) => {
                let (mut parts, mut thoughts, mut calls) = (Vec::new(), Vec::new(), Vec::new());
                let time = GeminiLog::time(log.lines.len());
                for piece in pieces {
                    match piece {
                        Piece::Text(text) => parts.push(format!(r#"{{"text":{text}}}"#)),
                        Piece::Thinking(text, _) => thoughts.push(format!(
                            r#"{{"subject":"","description":{text},"timestamp":{time}}}"#
                        )),
                        Piece::Call(input, result) => {
                            let id = format!("toolu_{n_calls}");
                            n_calls += 1;
                            let result = result.as_ref().map(|(content, is_error)| {
                                let is_error = is_error.unwrap_or(false);
                                let (key, status) =
                                    if is_error { ("error", "error") } else { ("output", "success") };
                                format!(
                                    r#","result":[{{"functionResponse":{{"id":"{id}","name":"bash","response":{{"{key}":{content}}}}}}}],"status":"{status}","timestamp":{time}"#
                                )
                            });
                            let result =
                                result.unwrap_or_else(|| r#","status":"executing""#.into());
                            calls.push(format!(
                                r#"{{"id":"{id}","name":"bash","args":{input}{result}}}"#
                            ));
                        }
                        Piece::Other(_) => parts.push(r#"{"fileData":{"fileUri":"a"}}"#.into()),
                    }
                }
                let tokens = format!(
                    r#"{{"input":{},"output":{n},"cached":3,"thoughts":0,"tool":0,"total":{}}}"#,
                    n + 7,
                    n + n + 7
                );
                log.push_message(
                    "gemini",
                    &[
                        ("content", format!("[{}]", parts.join(","))),
                        ("thoughts", format!("[{}]", thoughts.join(","))),
                        ("tokens", tokens),
                        ("model", "\"gemini-2.5-pro\"".into()),
                        ("toolCalls", format!("[{}]", calls.join(","))),
                    ],
                );
            }
            Happening::Other(kind, text) => match kind {
                0 => log.push_message("info", &[("content", text.clone())]),
                1 => log.push_message("error", &[("content", text.clone())]),
                2 => log.push(&[("$set", format!(r#"{{"memoryScratchpad":{{"x":{text}}}}}"#))]),
                3 => log.push(&[("$set", format!(r#"{{"lastUpdated":{}}}"#, GeminiLog::time(n)))]),
                4 => log.push_message("warning", &[("content", format!(r#"[{{"text":{text}}}]"#))]),
                _ => log.push(&[("$set", format!(r#"{{"summary":{text}}}"#))]),
            },
            Happening::Rewind(n_lines) => {
                if let Some(n) = log.lines.len().checked_sub(n_lines + 1).filter(|n| *n > 0) {
                    log.push(&[("$rewindTo", quoted(&GeminiLog::id(n)))]);
                }
            }
            Happening::Odd(members) => log.lines.push(spell(members, spelling)),
        }
    }
    log.lines
}

/// Writes events as Qwen Code does.
pub(crate) fn qwen(all: &[Happening], spelling: Spelling) -> Vec<String> {
    let mut log = QwenLog { lines: Vec::new(), parent: "null".to_owned(), spelling };
    let mut n_calls = 0;
    for (n, happening) in all.iter().enumerate() {
        match happening {
            Happening::Prompt(text) => log.push_user(text),
            Happening::Response(pieces) => {
                let mut n_seen = n_calls;
                let mut parts = Vec::new();
                for piece in pieces {
                    parts.push(match piece {
                        Piece::Text(text) => format!(r#"{{"text":{text}}}"#),
                        Piece::Thinking(text, None) => {
                            format!(r#"{{"text":{text},"thought":true}}"#)
                        }
                        Piece::Thinking(text, Some(signature)) => format!(
                            r#"{{"text":{text},"thought":true,"thoughtSignature":{signature}}}"#
                        ),
                        Piece::Call(input, _) => {
                            n_seen += 1;
                            format!(
                                r#"{{"functionCall":{{"id":"toolu_{}","name":"bash","args":{input}}}}}"#,
                                n_seen - 1
                            )
                        }
                        Piece::Other(_) => r#"{"inlineData":{"mimeType":"image/png","data":"aGk="}}"#.into(),
                    });
                }
                let usage = format!(
                    r#"{{"promptTokenCount":{},"candidatesTokenCount":{n},"totalTokenCount":{},"cachedContentTokenCount":3}}"#,
                    n + 7,
                    n + n + 7
                );
                log.push(
                    "assistant",
                    &[
                        ("model", "\"claude-sonnet-4-5\"".into()),
                        ("message", format!(r#"{{"role":"model","parts":[{}]}}"#, parts.join(","))),
                        ("usageMetadata", usage),
                    ],
                );
                for (call, content, is_error) in results(pieces, n_calls) {
                    let is_error = is_error.unwrap_or(false);
                    let key = if is_error { "error" } else { "output" };
                    let status = if is_error { "error" } else { "success" };
                    let message = format!(
                        r#"{{"role":"user","parts":[{{"functionResponse":{{"id":"toolu_{call}","name":"bash","response":{{"{key}":{content}}}}}}}]}}"#
                    );
                    let result = format!(r#"{{"callId":"toolu_{call}","status":"{status}"}}"#);
                    log.push("tool_result", &[("message", message), ("toolCallResult", result)]);
                }
                n_calls = n_seen;
            }
            Happening::Other(kind, text) => match kind {
                0 | 1 => log.push(
                    "user",
                    &[
                        ("provenance", "\"system\"".into()),
                        ("subtype", "\"notification\"".into()),
                        ("message", format!(r#"{{"role":"user","parts":[{{"text":{text}}}]}}"#)),
                    ],
                ),
                2 => log.push_system("ui_telemetry", format!(r#"{{"uiEvent":{{"x":{text}}}}}"#)),
                3 => log.push_system(
                    "notice",
                    format!(r#"{{"kind":"info","subtype":"hint","text":{text}}}"#),
                ),
                4 => log.push_system("from_future", format!(r#"{{"x":{text}}}"#)),
                _ => log.push_system("custom_title", format!(r#"{{"customTitle":{text}}}"#)),
            },
            Happening::Rewind(n_lines) => {
                if let Some(n) = log.lines.len().checked_sub(n_lines + 1) {
                    log.parent = Transcript::uuid(n);
                }
            }
            Happening::Agent(text) => log.push_user(text),
            Happening::Odd(members) => log.lines.push(spell(members, spelling)),
        }
    }
    log.lines
}

/// Writes events as pi does.
pub(crate) fn pi(all: &[Happening], spelling: Spelling) -> Vec<String> {
    let header = [
        ("type", quoted("session")),
        ("version", "3".to_owned()),
        ("id", quoted("01a204d9-c1ad-7020-8220-65475b8a1298")),
        ("timestamp", quoted("2026-03-01T10:00:00.000Z")),
        ("cwd", quoted("/home/ada/demo")),
    ];
    let header: Members = header.map(|(name, value)| (name.to_owned(), value)).into();
    let lines = vec![spell(&header, spelling)];
    let mut log = Tree { lines, parent: "null".to_owned(), spelling };
    let mut n_calls = 0;
    for (n, happening) in all.iter().enumerate() {
        match happening {
            Happening::Prompt(text) => {
                log.push_message(&format!(r#""role":"user","content":{text}"#));
            }
            Happening::Response(pieces) => {
                let mut n_seen = n_calls;
                let mut blocks = Vec::new();
                for piece in pieces {
                    blocks.push(match piece {
                        Piece::Text(text) => format!(r#"{{"type":"text","text":{text}}}"#),
                        Piece::Thinking(text, None) => {
                            format!(r#"{{"type":"thinking","thinking":{text}}}"#)
                        }
                        Piece::Thinking(text, Some(signature)) => format!(
                            r#"{{"type":"thinking","thinking":{text},"thinkingSignature":{signature}}}"#
                        ),
                        Piece::Call(input, _) => {
                            n_seen += 1;
                            format!(
                                r#"{{"type":"toolCall","id":"toolu_{}","name":"bash","arguments":{input}}}"#,
                                n_seen - 1
                            )
                        }
                        Piece::Other(_) => r#"{"type":"thinking","thinking":"[Reasoning redacted]","thinkingSignature":"abc","redacted":true}"#.into(),
                    });
                }
                let stop_reason = if n_seen > n_calls { "toolUse" } else { "stop" };
                log.push_message(&format!(
                    r#""role":"assistant","content":[{}],"api":"anthropic-messages","provider":"anthropic","model":"claude-sonnet-4-5","usage":{{"input":7,"output":{n},"cacheRead":0,"cacheWrite":3,"totalTokens":{},"cost":{{"input":0.5,"output":0,"cacheRead":0,"cacheWrite":0,"total":0.5}}}},"stopReason":"{stop_reason}","responseId":"msg_{n}""#,
                    blocks.join(","),
                    n + 10,
                ));
                for (call, content, is_error) in results(pieces, n_calls) {
                    log.push_message(&format!(
                        r#""role":"toolResult","toolCallId":"toolu_{call}","toolName":"bash","content":[{{"type":"text","text":{content}}}],"isError":{}"#,
                        is_error.unwrap_or(false)
                    ));
                }
                n_calls = n_seen;
            }
            Happening::Other(kind, text) => match kind {
                0 | 1 => log.push(
                    "custom_message",
                    &[
                        ("customType", "\"ext\"".into()),
                        ("content", text.clone()),
                        ("display", (*kind == 0).to_string()),
                    ],
                ),
                2 => log.push(
                    "custom",
                    &[("customType", "\"ext\"".into()), ("data", format!("{{\"x\":{text}}}"))],
                ),
                3 => log.push("label", &[("targetId", Tree::id(1)), ("label", text.clone())]),
                4 => log.push("future", &[("x", text.clone())]),
                5 => log.push(
                    "model_change",
                    &[("provider", "\"anthropic\"".into()), ("modelId", text.clone())],
                ),
                6 => log.push("thinking_level_change", &[("thinkingLevel", "\"high\"".into())]),
                _ => log.push("session_info", &[("name", text.clone())]),
            },
            Happening::Rewind(n_lines) => log.rewind(*n_lines),
            // pi has no sub-agents.
            Happening::Agent(_) => {}
            Happening::Odd(members) => {
                let members: Vec<_> =
                    members.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
                log.push("message", &members);
            }
        }
    }
    log.lines
}

/// Lines of Copilot. The parent of each is the line before it.
struct Events {
    lines: Vec<String>,
    spelling: Spelling,
}

impl Events {
    fn id(n: usize) -> String {
        format!("\"20000000-0000-4000-8000-{n:012}\"")
    }

    fn push(&mut self, kind: &str, data: &str) {
        let n = self.lines.len();
        let parent = n.checked_sub(1).map_or_else(|| "null".to_owned(), Self::id);
        let time = format!("\"2026-03-01T10:{:02}:{:02}.000Z\"", n / 60 % 60, n % 60);
        let members: Members = vec![
            ("type".into(), quoted(kind)),
            ("data".into(), format!("{{{data}}}")),
            ("id".into(), Self::id(n)),
            ("timestamp".into(), time),
            ("parentId".into(), parent),
        ];
        self.lines.push(spell(&members, self.spelling));
    }

    /// Adds the lines of a response: thinking, a text, then calls. Another block after a later one
    /// begins a line.
    fn push_response(&mut self, n: usize, pieces: &[Piece], mut n_calls: usize) {
        let (mut thoughts, mut text, mut calls) = (Vec::new(), None, Vec::new());
        for piece in pieces {
            let is_after = match piece {
                Piece::Thinking(..) | Piece::Other(_) => text.is_some() || !calls.is_empty(),
                Piece::Text(_) => text.is_some() || !calls.is_empty(),
                Piece::Call(..) => false,
            };
            if is_after {
                self.push_line(n, &mut thoughts, &mut text, &mut calls);
            }
            match piece {
                Piece::Text(words) => text = Some(words.clone()),
                Piece::Thinking(words, None) => {
                    thoughts.push(format!(r#"{{"type":"thinking","thinking":{words}}}"#));
                }
                Piece::Thinking(words, Some(signature)) => thoughts.push(format!(
                    r#"{{"type":"thinking","thinking":{words},"signature":{signature}}}"#
                )),
                Piece::Other(_) => {
                    thoughts.push(r#"{"type":"redacted_thinking","data":"abc"}"#.to_owned());
                }
                Piece::Call(input, _) => {
                    calls.push(format!(
                        r#"{{"toolCallId":"toolu_{n_calls}","name":"bash","arguments":{input},"type":"function"}}"#
                    ));
                    n_calls += 1;
                }
            }
        }
        self.push_line(n, &mut thoughts, &mut text, &mut calls);
    }

    fn push_line(
        &mut self,
        n: usize,
        thoughts: &mut Vec<String>,
        text: &mut Option<String>,
        calls: &mut Vec<String>,
    ) {
        let blocks = std::mem::take(thoughts).join(",");
        let blocks = if blocks.is_empty() {
            String::new()
        } else {
            format!(r#","reasoningBlocks":{{"provider":"anthropic-messages","blocks":[{blocks}]}}"#)
        };
        let text = text.take().unwrap_or_else(|| "\"\"".to_owned());
        let calls = std::mem::take(calls).join(",");
        self.push("assistant.message", &format!(
            r#""messageId":"m{n}","model":"claude-sonnet-4-5","content":{text},"toolRequests":[{calls}],"apiCallId":"msg_{n}"{blocks}"#
        ));
    }
}

/// Writes events as Copilot does.
pub(crate) fn copilot(all: &[Happening], spelling: Spelling) -> Vec<String> {
    let mut log = Events { lines: Vec::new(), spelling };
    log.push(
        "session.start",
        r#""sessionId":"0b1e0000-4816-4876-a877-1c435b4dc2af","version":1,"producer":"copilot-agent","copilotVersion":"1.0.102","startTime":"2026-03-01T10:00:00.000Z","context":{"cwd":"/home/ada/demo"}"#,
    );
    let mut n_calls = 0;
    for (n, happening) in all.iter().enumerate() {
        match happening {
            Happening::Prompt(text) => log.push("user.message", &format!(r#""content":{text}"#)),
            Happening::Response(pieces) => {
                log.push("session.usage_record", &format!(
                    r#""usage":{{"model":"claude-sonnet-4-5","inputTokens":7,"outputTokens":{n},"apiCallId":"msg_{n}"}}"#
                ));
                log.push_response(n, pieces, n_calls);
                for (call, content, is_error) in results(pieces, n_calls) {
                    log.push("tool.execution_complete", &match is_error {
                        Some(true) => format!(
                            r#""toolCallId":"toolu_{call}","success":false,"error":{{"message":{content},"code":"failure"}}"#
                        ),
                        _ => format!(
                            r#""toolCallId":"toolu_{call}","success":true,"result":{{"content":{content}}}"#
                        ),
                    });
                }
                n_calls += count_calls(pieces);
            }
            Happening::Other(kind, text) => match kind {
                0 => log.push("session.info", &format!(r#""infoType":"x","message":{text}"#)),
                1 => log.push("session.model_change", &format!(r#""newModel":{text}"#)),
                2 => log.push(
                    "session.compaction_complete",
                    &format!(r#""success":true,"preCompactionTokens":7,"summaryContent":{text}"#),
                ),
                3 => log.push("session.title_changed", &format!(r#""title":{text}"#)),
                4 => log.push("future.event", &format!(r#""x":{text}"#)),
                5 => log.push("session.error", &format!(r#""errorType":"query","message":{text}"#)),
                6 => log.push("system.message", &format!(r#""role":"system","content":{text}"#)),
                _ => log.push("abort", r#""reason":"user_initiated""#),
            },
            // Copilot removes lines when the user rewinds.
            Happening::Rewind(_) | Happening::Agent(_) => {}
            Happening::Odd(members) => log.lines.push(spell(members, spelling)),
        }
    }
    log.lines
}

/// Lines of Codex, after the first one.
struct Rollout {
    lines: Vec<String>,
    spelling: Spelling,
}

impl Rollout {
    fn push(&mut self, kind: &str, payload: &str) {
        let n = self.lines.len();
        let time = format!("\"2026-03-01T10:{:02}:{:02}.000Z\"", n / 60 % 60, n % 60);
        let members: Members = vec![
            ("timestamp".into(), time),
            ("type".into(), quoted(kind)),
            ("payload".into(), format!("{{{payload}}}")),
        ];
        self.lines.push(spell(&members, self.spelling));
    }

    fn item(&mut self, item: &str) {
        self.push("response_item", item);
    }

    fn event(&mut self, event: &str) {
        self.push("event_msg", event);
    }
}

/// Writes events as Codex does.
pub(crate) fn rollout(all: &[Happening], spelling: Spelling) -> Vec<String> {
    let mut log = Rollout { lines: Vec::new(), spelling };
    log.push(
        "session_meta",
        r#""id":"01a204d9-c1ad-7020-8220-65475b8a1298","timestamp":"2026-03-01T10:00:00.000Z","cwd":"/home/ada/demo","originator":"codex_cli_rs","cli_version":"0.120.0","source":"cli""#,
    );
    let message = |role: &str, kind: &str, text: &str| {
        format!(r#""type":"message","role":"{role}","content":[{{"type":"{kind}","text":{text}}}]"#)
    };
    let mut n_calls = 0;
    for (n, happening) in all.iter().enumerate() {
        match happening {
            Happening::Prompt(text) => {
                log.item(&message("user", "input_text", text));
                log.event(&format!(r#""type":"user_message","message":{text},"images":[]"#));
            }
            Happening::Response(pieces) => {
                let mut n_seen = n_calls;
                // Codex writes the calls of a response last: each of 1,376 calls in real sessions has
                // its output before the next message.
                let is_call = |piece: &&Piece| matches!(piece, Piece::Call(..));
                let (calls, others): (Vec<_>, Vec<_>) = pieces.iter().partition(is_call);
                for piece in others.into_iter().chain(calls) {
                    match piece {
                        Piece::Text(text) => {
                            log.event(&format!(r#""type":"agent_message","message":{text}"#));
                            log.item(&message("assistant", "output_text", text));
                        }
                        Piece::Thinking(text, None) => log.item(&format!(
                            r#""type":"reasoning","summary":[{{"type":"summary_text","text":{text}}}],"encrypted_content":"gAAA""#
                        )),
                        Piece::Thinking(text, Some(signature)) => log.event(&format!(
                            r#""type":"agent_reasoning","text":{text},"signature":{signature}"#
                        )),
                        Piece::Call(input, _) => {
                            let input = serde_json::to_string(input).expect("a string");
                            log.item(&format!(
                                r#""type":"function_call","name":"shell","arguments":{input},"call_id":"toolu_{n_seen}""#
                            ));
                            n_seen += 1;
                        }
                        Piece::Other(_) => log.item(
                            r#""type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"x"}"#,
                        ),
                    }
                }
                for (call, content, _) in results(pieces, n_calls) {
                    log.item(&format!(
                        r#""type":"function_call_output","call_id":"toolu_{call}","output":{content}"#
                    ));
                }
                log.event(&format!(
                    r#""type":"token_count","info":{{"total_token_usage":{{"input_tokens":{n}}},"last_token_usage":{{"input_tokens":7}}}},"rate_limits":null"#
                ));
                n_calls = n_seen;
            }
            Happening::Other(kind, text) => match kind {
                0 => log.push("world_state", &format!(r#""full":true,"state":{{"x":{text}}}"#)),
                1 => log.push(
                    "turn_context",
                    &format!(
                        r#""cwd":"/home/ada/demo","approval_policy":"never","sandbox_policy":{{"type":"read-only"}},"model":"claude-sonnet-4-5","summary":{text}"#
                    ),
                ),
                2 => log.push(
                    "compacted",
                    &format!(
                        r#""message":"","replacement_history":[{{"type":"message","role":"user","content":[{{"type":"input_text","text":{text}}}]}}]"#
                    ),
                ),
                3 => log.event(&format!(r#""type":"thread_name_updated","thread_name":{text}"#)),
                4 => log.item(r#""type":"additional_tools","role":"developer","tools":[]"#),
                5 => log.event(&format!(r#""type":"error","message":{text}"#)),
                6 => log.item(&message("developer", "input_text", text)),
                _ => log.event(r#""type":"turn_aborted","reason":"interrupted""#),
            },
            Happening::Rewind(n_turns) => {
                log.event(&format!(r#""type":"thread_rolled_back","num_turns":{n_turns}"#));
            }
            Happening::Agent(text) => log.item(&format!(
                r#""type":"agent_message","author":"a","recipient":"b","content":[{{"type":"input_text","text":{text}}}]"#
            )),
            Happening::Odd(members) => log.lines.push(spell(members, spelling)),
        }
    }
    log.lines
}

/// Writes events as the client does in its wire form.
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
                        // The wire form always has a signature.
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

/// Writes events as an orchestrator that dumps the messages of the SDK.
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

/// Returns a message of OpenCode.
fn opencode_message(n: usize, info: &str, parts: &[String], spelling: Spelling) -> String {
    let ids = format!(r#""sessionID":"ses_3dd0e2523fffTEgpCfVO2B8KzG","messageID":"msg_{n:04}""#);
    let with_ids = |(at, part): (usize, &String)| {
        format!(r#"{},"id":"prt_{n:04}{at:02}",{ids}}}"#, part.strip_suffix('}').unwrap_or(part))
    };
    let parts: Vec<_> = parts.iter().enumerate().map(with_ids).collect();
    let info =
        format!(r#"{{{info},"id":"msg_{n:04}","sessionID":"ses_3dd0e2523fffTEgpCfVO2B8KzG"}}"#);
    let members = [("info", info), ("parts", format!("[{}]", parts.join(",")))];
    spell(&members.map(|(name, value)| (name.to_owned(), value)), spelling)
}

/// Writes events as OpenCode does: a document with each message on a line.
pub(crate) fn opencode(all: &[Happening], spelling: Spelling) -> Vec<String> {
    let time = |n: usize| 1_772_359_200_000 + 1000 * n;
    let mut messages = Vec::new();
    let mut n_calls = 0;
    let prompt = |n: usize, part: String| {
        let info = format!(
            r#""role":"user","time":{{"created":{}}},"agent":"build","model":{{"providerID":"anthropic","modelID":"claude-sonnet-4-5"}}"#,
            time(n)
        );
        opencode_message(n, &info, &[part], spelling)
    };
    for happening in all {
        let n = messages.len();
        match happening {
            Happening::Prompt(text) | Happening::Agent(text) => {
                messages.push(prompt(n, format!(r#"{{"type":"text","text":{text}}}"#)));
            }
            Happening::Response(pieces) => {
                let start = time(n);
                let mut parts = vec![r#"{"type":"step-start"}"#.to_owned()];
                for piece in pieces {
                    let times = format!(r#""time":{{"start":{start},"end":{start}}}"#);
                    parts.push(match piece {
                        Piece::Text(text) => format!(r#"{{"type":"text","text":{text},{times}}}"#),
                        Piece::Thinking(text, None) => {
                            format!(r#"{{"type":"reasoning","text":{text},{times}}}"#)
                        }
                        Piece::Thinking(text, Some(signature)) => format!(
                            r#"{{"type":"reasoning","text":{text},{times},"metadata":{{"anthropic":{{"signature":{signature}}}}}}}"#
                        ),
                        Piece::Call(input, result) => {
                            let state = match result {
                                Some((output, Some(true))) => format!(
                                    r#""status":"error","input":{input},"error":{output},{times}"#
                                ),
                                Some((output, _)) => format!(
                                    r#""status":"completed","input":{input},"output":{output},"title":"","metadata":{{}},{times}"#
                                ),
                                None => format!(
                                    r#""status":"running","input":{input},"time":{{"start":{start}}}"#
                                ),
                            };
                            n_calls += 1;
                            format!(
                                r#"{{"type":"tool","callID":"toolu_{}","tool":"bash","state":{{{state}}}}}"#,
                                n_calls - 1
                            )
                        }
                        Piece::Other(_) => format!(
                            r#"{{"type":"reasoning","text":"",{times},"metadata":{{"anthropic":{{"redactedData":"abc"}}}}}}"#
                        ),
                    });
                }
                let finish = if count_calls(pieces) > 0 { "tool-calls" } else { "stop" };
                let info = format!(
                    r#""parentID":"msg_0000","role":"assistant","mode":"build","agent":"build","path":{{"cwd":"/home/ada/demo","root":"/"}},"cost":0.5,"tokens":{{"total":{},"input":7,"output":{n},"reasoning":0,"cache":{{"write":3,"read":0}}}},"modelID":"claude-sonnet-4-5","providerID":"anthropic","time":{{"created":{start},"completed":{start}}},"finish":"{finish}""#,
                    n + 10,
                );
                messages.push(opencode_message(n, &info, &parts, spelling));
            }
            Happening::Other(kind, text) => messages.push(match kind {
                0 | 1 => prompt(n, format!(r#"{{"type":"text","text":{text},"synthetic":true}}"#)),
                2 => prompt(n, format!(r#"{{"type":"text","text":{text},"ignored":true}}"#)),
                3 => prompt(n, r#"{"type":"compaction","auto":true}"#.to_owned()),
                4 => prompt(n, format!(r#"{{"type":"agent","name":{text}}}"#)),
                _ => prompt(
                    n,
                    r#"{"type":"file","mime":"image/png","url":"data:image/png;base64,aGk="}"#
                        .to_owned(),
                ),
            }),
            // The messages have no branches.
            Happening::Rewind(_) => {}
            Happening::Odd(members) => messages.push(spell(members, spelling)),
        }
    }
    let info = format!(
        r#"{{"id":"ses_3dd0e2523fffTEgpCfVO2B8KzG","slug":"glowing-cabin","projectID":"global","directory":"/home/ada/demo","title":"Some title","version":"1.18.33","time":{{"created":{},"updated":{}}}}}"#,
        time(0),
        time(messages.len())
    );
    let mut lines = vec![format!(r#"{{"info":{info},"messages":["#)];
    let n_messages = messages.len();
    let comma = |(n, message): (usize, String)| message + if n + 1 < n_messages { "," } else { "" };
    lines.extend(messages.into_iter().enumerate().map(comma));
    lines.push("]}".to_owned());
    lines
}
