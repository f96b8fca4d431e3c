//! Generates files that are odd in one way, of any size.
//!
//! No file has content that a command may keep in memory, so the limit on memory holds for all of them.
//!
//! In: the shape `newlines` and 32 MB. Out: one message of a user, then 32 MB of newlines.

use std::io::{self, Write};

/// A file that is odd in one way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) name: &'static str,
    parts: &'static [Part],
}

/// A part of a file. In lines, `@n` is the number of the repetition, `@u` the id of the line with this
/// number, `@p` the id of the line before it, and `@x` a text of 2,000 bytes.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// Text, written once.
    Once(&'static str),
    /// Lines that are repeated up to the wanted size, numbered from 1.
    Lines(&'static str),
    /// The same with descending numbers.
    Backwards(&'static str),
    /// A text that is repeated up to the wanted size.
    Repeat(&'static str),
}

use Part::{Backwards, Lines, Once, Repeat};

/// A message of a user, the first line of most files.
const FIRST: Part = Once(
    "{\"parentUuid\":null,\"isSidechain\":false,\"cwd\":\"/w\",\"sessionId\":\"11111111-2222-4333-8444-555555555555\",\"version\":\"2.1.0\",\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"Begin.\"},\"uuid\":\"00000000-0000-4000-8000-000000000000\",\"timestamp\":\"2026-03-21T14:30:01.500Z\"}\n",
);

/// The start of a message of a user, up to its content.
const USER: Part = Once(
    "{\"parentUuid\":\"00000000-0000-4000-8000-000000000000\",\"sessionId\":\"s\",\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-000000000001\",\"timestamp\":\"2026-03-21T14:30:02.500Z\",\"message\":{\"role\":\"user\",\"content\":",
);

/// The start of a response, up to its content.
const RESPONSE: Part = Once(
    "{\"parentUuid\":\"00000000-0000-4000-8000-000000000000\",\"sessionId\":\"s\",\"type\":\"assistant\",\"uuid\":\"00000000-0000-4000-8000-000000000001\",\"timestamp\":\"2026-03-21T14:30:02.500Z\",\"message\":{\"id\":\"msg_1\",\"model\":\"m\",\"role\":\"assistant\",\"content\":",
);

/// The end of a message, after its content.
const END: Part = Once("}}\n");

macro_rules! user {
    ($uuid:literal, $parent:literal, $content:literal) => {
        concat!(
            r#"{"parentUuid":""#,
            $parent,
            r#"","sessionId":"s","type":"user","timestamp":"2026-03-21T14:30:03.500Z","uuid":""#,
            $uuid,
            r#"","message":{"role":"user","content":"#,
            $content,
            "}}\n"
        )
    };
}

macro_rules! response {
    ($uuid:literal, $parent:literal, $id:literal, $content:literal) => {
        concat!(
            r#"{"parentUuid":""#,
            $parent,
            r#"","sessionId":"s","type":"assistant","timestamp":"2026-03-21T14:30:03.500Z","uuid":""#,
            $uuid,
            r#"","message":{"role":"assistant","model":"m","id":""#,
            $id,
            r#"","usage":{"input_tokens":1,"output_tokens":1},"content":"#,
            $content,
            "}}\n"
        )
    };
}

macro_rules! agent {
    ($agent:literal) => {
        concat!(
            r#"{"parentUuid":null,"isSidechain":true,"#,
            $agent,
            r#""sessionId":"s","type":"user","timestamp":"2026-03-21T14:30:03.500Z","uuid":"@u","message":{"role":"user","content":"task @n"}}"#,
            "\n"
        )
    };
}

/// All shapes, in groups.
pub(super) const SHAPES: &[Shape] = &[
    Shape {
        name: "usual",
        parts: &[
            FIRST,
            Lines(concat!(
                response!("@u", "@p", "msg_@n", r#"[{"type":"text","text":"@x"}]"#),
                response!(
                    "b@u",
                    "@u",
                    "msg_@n",
                    r#"[{"type":"tool_use","id":"t@n","name":"Bash","input":{"command":"ls"}}]"#
                ),
                user!(
                    "c@u",
                    "b@u",
                    r#"[{"type":"tool_result","tool_use_id":"t@n","content":"@x"}]"#
                )
            )),
        ],
    },
    // Many lines without content.
    Shape { name: "newlines", parts: &[FIRST, Repeat("\n")] },
    Shape {
        name: "blank lines",
        parts: &[FIRST, Repeat(" \t\r\n"), Once(user!("z", "y", "\"end\""))],
    },
    Shape { name: "empty objects", parts: &[FIRST, Repeat("{}\n")] },
    Shape { name: "tiny values", parts: &[FIRST, Repeat("1\n[]\n\"a\"\nnull\n")] },
    Shape { name: "tiny damage", parts: &[FIRST, Repeat("x\n")] },
    Shape {
        name: "unknown types",
        parts: &[FIRST, Lines("{\"type\":\"made-up-@n\",\"value\":@n}\n")],
    },
    Shape {
        name: "titles",
        parts: &[
            FIRST,
            Lines("{\"type\":\"custom-title\",\"customTitle\":\"title @n\",\"sessionId\":\"s\"}\n"),
        ],
    },
    Shape {
        name: "queue",
        parts: &[
            FIRST,
            Lines(
                "{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"sessionId\":\"s\",\"content\":\"c@n\"}\n",
            ),
        ],
    },
    Shape {
        name: "messages without ids",
        parts: &[FIRST, Lines("{\"type\":\"user\",\"message\":{\"content\":\"hi\"}}\n")],
    },
    Shape {
        name: "torn lines",
        parts: &[
            FIRST,
            Lines("{\"type\":\"user\",\"uuid\":\"@u\",\"message\":{\"content\":\"@x\n"),
        ],
    },
    // One line that is not closed.
    Shape { name: "open arrays", parts: &[FIRST, Repeat("[")] },
    Shape { name: "open objects", parts: &[FIRST, Repeat("{\"a\":")] },
    Shape { name: "open both", parts: &[FIRST, Repeat("[{\"a\":")] },
    Shape { name: "quotes", parts: &[FIRST, Repeat("\"")] },
    Shape {
        name: "glued records",
        parts: &[
            FIRST,
            Lines("{\"type\":\"user\",\"uuid\":\"@u\",\"message\":{\"content\":\"hi\"}}"),
            Once("\n"),
        ],
    },
    // One long line.
    Shape { name: "deep content", parts: &[FIRST, USER, Repeat("["), Repeat("]"), END] },
    Shape {
        name: "deep objects",
        parts: &[FIRST, USER, Repeat("{\"a\":"), Once("1"), Repeat("}    "), END],
    },
    Shape {
        name: "deep input",
        parts: &[
            FIRST,
            RESPONSE,
            Once("[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"N\",\"input\":{\"a\":"),
            Repeat("["),
            Repeat("]"),
            Once("}}]"),
            END,
        ],
    },
    Shape {
        name: "wide below deep",
        parts: &[
            FIRST,
            RESPONSE,
            Once(
                "[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"N\",\"input\":{\"a\":[[[[[[[[[[[[[[[[[[[[",
            ),
            Repeat("[],"),
            Once("1]]]]]]]]]]]]]]]]]]]]}}]"),
            END,
        ],
    },
    Shape {
        name: "string",
        parts: &[FIRST, USER, Once("\""), Repeat("0123456789abcdef"), Once("\""), END],
    },
    Shape {
        name: "escapes",
        parts: &[FIRST, USER, Once("\""), Repeat("\\u00e9\\n\\\""), Once("\""), END],
    },
    Shape {
        name: "surrogates",
        parts: &[FIRST, USER, Once("\""), Repeat("\\ud83d\\ude00"), Once("\""), END],
    },
    Shape {
        name: "control characters",
        parts: &[FIRST, USER, Once("\""), Repeat("\\u0000\\u001b"), Once("\""), END],
    },
    Shape {
        name: "numbers",
        parts: &[
            FIRST,
            USER,
            Once("\"x\"},\"toolUseResult\":{\"a\":["),
            Repeat("0.125,1,"),
            Once("2]"),
            END,
        ],
    },
    Shape {
        name: "members",
        parts: &[
            FIRST,
            USER,
            Once("\"x\"},\"toolUseResult\":{"),
            Lines("\"k@n\":@n,"),
            Once("\"z\":1"),
            END,
        ],
    },
    Shape {
        name: "blocks",
        parts: &[
            FIRST,
            RESPONSE,
            Once("["),
            Repeat("{\"type\":\"text\",\"text\":\"t\"},"),
            Once("{}]"),
            END,
        ],
    },
    Shape {
        name: "empty blocks",
        parts: &[FIRST, USER, Once("["), Repeat("{},"), Once("{}]"), END],
    },
    Shape {
        name: "tool uses",
        parts: &[
            FIRST,
            RESPONSE,
            Once("["),
            Lines(
                "{\"type\":\"tool_use\",\"id\":\"t@n\",\"name\":\"Bash\",\"input\":{\"command\":\"ls\"}},",
            ),
            Once("{}]"),
            END,
        ],
    },
    Shape {
        name: "tool results",
        parts: &[
            FIRST,
            USER,
            Once("["),
            Lines("{\"type\":\"tool_result\",\"tool_use_id\":\"t@n\",\"content\":\"ok\"},"),
            Once("{}]"),
            END,
        ],
    },
    Shape {
        name: "tool result",
        parts: &[
            FIRST,
            USER,
            Once("[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":\""),
            Repeat("a line\\n"),
            Once("\"}]"),
            END,
        ],
    },
    Shape {
        name: "markdown",
        parts: &[
            FIRST,
            RESPONSE,
            Once("[{\"type\":\"text\",\"text\":\""),
            Repeat("* [a](b) **c** `d`\\n"),
            Once("\"}]"),
            END,
        ],
    },
    Shape {
        name: "markdown quotes",
        parts: &[
            FIRST,
            RESPONSE,
            Once("[{\"type\":\"text\",\"text\":\""),
            Repeat("> "),
            Once("\"}]"),
            END,
        ],
    },
    Shape {
        name: "comments of HTML",
        parts: &[
            FIRST,
            RESPONSE,
            Once("[{\"type\":\"text\",\"text\":\""),
            Repeat("<!-- <![CDATA[ <? "),
            Once("\"}]"),
            END,
        ],
    },
    Shape {
        name: "direction marks",
        parts: &[
            FIRST,
            RESPONSE,
            Once("[{\"type\":\"text\",\"text\":\""),
            Repeat("\\u202e\\u2028"),
            Once("\"}]"),
            END,
        ],
    },
    Shape {
        name: "long number",
        parts: &[
            FIRST,
            RESPONSE,
            Once("[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"N\",\"input\":{\"a\":0.1"),
            Repeat("2"),
            Once(",\"b\":1e"),
            Repeat("9"),
            Once("}}]"),
            END,
        ],
    },
    Shape {
        name: "numbers of an input",
        parts: &[
            FIRST,
            RESPONSE,
            Once("[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"N\",\"input\":{\"a\":["),
            Repeat("1e5,-0,1.50,"),
            Once("2]}}]"),
            END,
        ],
    },
    Shape {
        name: "picture",
        parts: &[
            FIRST,
            USER,
            Once(
                "[{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"",
            ),
            Repeat("iVBORw0KGgoA"),
            Once("\"}}]"),
            END,
        ],
    },
    // Many lines with ids.
    Shape { name: "chain", parts: &[FIRST, Lines(user!("@u", "@p", "\"x\""))] },
    Shape { name: "chain backwards", parts: &[Backwards(user!("@u", "@p", "\"x\"")), FIRST] },
    Shape { name: "orphans", parts: &[FIRST, Lines(user!("@u", "away@u", "\"x\""))] },
    Shape {
        name: "siblings",
        parts: &[
            FIRST,
            Lines(response!(
                "@u",
                "00000000-0000-4000-8000-000000000000",
                "msg_@n",
                r#"[{"type":"text","text":"@x"}]"#
            )),
        ],
    },
    Shape { name: "one id", parts: &[FIRST, Lines(user!("same", "same", "\"x\""))] },
    Shape {
        name: "one id, long",
        parts: &[FIRST, Lines(user!("same", "00000000-0000-4000-8000-000000000000", "\"@x\""))],
    },
    Shape {
        name: "one response",
        parts: &[
            FIRST,
            Lines(response!("@u", "@p", "msg_same", r#"[{"type":"text","text":"t"}]"#)),
        ],
    },
    Shape {
        name: "calls alone",
        parts: &[
            FIRST,
            Lines(response!(
                "@u",
                "@p",
                "msg_@n",
                r#"[{"type":"tool_use","id":"t@n","name":"Bash","input":{"command":"ls"}}]"#
            )),
        ],
    },
    Shape {
        name: "calls of one response",
        parts: &[
            FIRST,
            Lines(response!(
                "@u",
                "@p",
                "msg_same",
                r#"[{"type":"tool_use","id":"toolu_@n","name":"Bash","input":{"command":"ls"}}]"#
            )),
        ],
    },
    Shape {
        name: "results alone",
        parts: &[
            FIRST,
            Lines(user!(
                "@u",
                "@p",
                r#"[{"type":"tool_result","tool_use_id":"t@n","content":"ok"}]"#
            )),
        ],
    },
    Shape {
        name: "calls in one line, results in another",
        parts: &[
            FIRST,
            RESPONSE,
            Once(r#"[{"type":"text","text":"t"}"#),
            Lines(r#",{"type":"tool_use","id":"t@n","name":"Bash","input":{}}"#),
            Once("]"),
            END,
            USER,
            Once(r#"[{"type":"text","text":"t"}"#),
            Lines(r#",{"type":"tool_result","tool_use_id":"t@n","content":""}"#),
            Once("]"),
            END,
        ],
    },
    Shape {
        name: "texts in one line, then results",
        parts: &[
            FIRST,
            USER,
            Once(r#"[{"type":"text","text":"t"}"#),
            Lines(r#",{"type":"text","text":"t@n"}"#),
            Lines(r#",{"type":"tool_result","tool_use_id":"t@n","content":""}"#),
            Once("]},\"toolUseResult\":{\"durationMs\":1}}\n"),
        ],
    },
    Shape {
        name: "results after all calls",
        parts: &[
            FIRST,
            Lines(response!(
                "@u",
                "@p",
                "msg_@n",
                r#"[{"type":"tool_use","id":"t@n","name":"Bash","input":{"command":"@x"}}]"#
            )),
            Lines(user!(
                "r@u",
                "@u",
                r#"[{"type":"tool_result","tool_use_id":"t@n","content":"@x"}]"#
            )),
        ],
    },
    Shape {
        name: "results before all calls",
        parts: &[
            FIRST,
            Lines(user!(
                "r@u",
                "@u",
                r#"[{"type":"tool_result","tool_use_id":"t@n","content":"@x"}]"#
            )),
            Lines(response!(
                "@u",
                "@p",
                "msg_@n",
                r#"[{"type":"tool_use","id":"t@n","name":"Bash","input":{"command":"@x"}}]"#
            )),
        ],
    },
    Shape {
        name: "tools",
        parts: &[
            FIRST,
            Lines(response!(
                "@u",
                "@p",
                "msg_@n",
                r#"[{"type":"tool_use","id":"t@n","name":"Tool@n","input":{"file_path":"/w/@n"}}]"#
            )),
        ],
    },
    Shape { name: "sub-agents", parts: &[FIRST, Lines(agent!(""))] },
    Shape { name: "sub-agents with ids", parts: &[FIRST, Lines(agent!("\"agentId\":\"a@n\","))] },
    Shape {
        name: "sub-agents in a stream",
        parts: &[
            Once(
                "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"cwd\":\"/w\",\"model\":\"m\",\"tools\":[]}\n",
            ),
            Lines(
                "{\"type\":\"user\",\"session_id\":\"s\",\"parent_tool_use_id\":\"toolu_@n\",\"message\":{\"role\":\"user\",\"content\":\"Go.\"}}\n",
            ),
        ],
    },
    Shape {
        name: "sub-agents of sub-agents",
        parts: &[
            Once(
                "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"cwd\":\"/w\",\"model\":\"m\",\"tools\":[]}\n",
            ),
            Lines(
                "{\"type\":\"assistant\",\"session_id\":\"s\",\"parent_tool_use_id\":\"toolu_@p\",\"message\":{\"role\":\"assistant\",\"model\":\"m\",\"id\":\"msg_@n\",\"content\":[{\"type\":\"tool_use\",\"id\":\"toolu_@u\",\"name\":\"Task\",\"input\":{\"prompt\":\"Go.\"}}]},\"uuid\":\"@u\"}\n",
            ),
        ],
    },
    Shape {
        name: "stream without a prompt",
        parts: &[
            Once(
                "{\"type\":\"thread.started\",\"thread_id\":\"01a204a0-e421-75b0-82ab-3a9eeb1a2117\"}\n",
            ),
            Lines(
                "{\"type\":\"item.started\",\"item\":{\"id\":\"item_@n\",\"type\":\"command_execution\",\"command\":\"ls\",\"aggregated_output\":\"\",\"exit_code\":null,\"status\":\"in_progress\"}}\n{\"type\":\"item.completed\",\"item\":{\"id\":\"item_@n\",\"type\":\"command_execution\",\"command\":\"ls\",\"aggregated_output\":\"a.rs\",\"exit_code\":0,\"status\":\"completed\"}}\n",
            ),
        ],
    },
    Shape {
        name: "parts, then checkpoints",
        parts: &[
            Once(
                "{\"sessionId\":\"71de4fac-a477-400c-b3c5-34bbe2c339ed\",\"projectHash\":\"9dad\",\"startTime\":\"2026-03-01T10:00:00.000Z\",\"lastUpdated\":\"2026-03-01T10:00:00.000Z\",\"kind\":\"main\"}\n{\"id\":\"u1\",\"timestamp\":\"2026-03-01T10:00:01.000Z\",\"type\":\"user\",\"content\":[{\"text\":\"Begin.\"}",
            ),
            Lines(",{\"text\":\"part @n\"}"),
            Once(
                "]}\n{\"id\":\"u2\",\"timestamp\":\"2026-03-01T10:00:02.000Z\",\"type\":\"user\",\"content\":[{\"text\":\"More.\"}]}\n",
            ),
            Lines(
                "{\"$set\":{\"messages\":[{\"id\":\"u2\",\"timestamp\":\"2026-03-01T10:00:02.000Z\",\"type\":\"user\",\"content\":[{\"text\":\"More.\"}]}]}}\n",
            ),
        ],
    },
];

impl Shape {
    /// Writes a file of about `n_bytes` bytes.
    pub(super) fn write(&self, n_bytes: usize, sink: &mut dyn Write) -> io::Result<()> {
        let is_once = |part: &&Part| matches!(part, Once(_));
        let n_repeated = self.parts.len() - self.parts.iter().filter(is_once).count();
        let share = n_bytes / n_repeated.max(1);
        self.parts.iter().try_for_each(|part| part.write(share, sink))
    }
}

impl Part {
    fn write(self, n_bytes: usize, sink: &mut dyn Write) -> io::Result<()> {
        match self {
            Once(text) => sink.write_all(text.as_bytes()),
            Repeat(text) => {
                (0..n_bytes / text.len()).try_for_each(|_| sink.write_all(text.as_bytes()))
            }
            Lines(lines) => {
                let mut written = 0;
                for n in 1.. {
                    if written >= n_bytes {
                        break;
                    }
                    let line = filled(lines, n);
                    written += line.len();
                    sink.write_all(line.as_bytes())?;
                }
                Ok(())
            }
            Backwards(lines) => {
                let n_lines = n_bytes / filled(lines, 1).len();
                (1..=n_lines).rev().try_for_each(|n| sink.write_all(filled(lines, n).as_bytes()))
            }
        }
    }
}

/// Replaces `@n`, `@u`, `@p` and `@x` in lines.
fn filled(lines: &str, n: usize) -> String {
    let id = |n: usize| format!("00000000-0000-4000-8000-{n:012x}");
    let lines = lines.replace("@n", &n.to_string()).replace("@u", &id(n));
    let lines = lines.replace("@p", &id(n - 1));
    if lines.contains("@x") { lines.replace("@x", &"What is it? ".repeat(167)) } else { lines }
}
