//! The kinds of damage that crashes and other programs do to a file.
//!
//! In: a fixture of sound lines, `{..}\n{..}\n`. Out, for `crlf.jsonl`: `{..}\r\n{..}\r\n`.

/// A kind of damage.
pub(crate) struct Damage {
    /// The name of the damaged file in `fixtures/damaged`.
    pub(crate) file: &'static str,
    /// The sound fixture that is damaged, below `fixtures`.
    pub(crate) base: &'static str,
    pub(crate) make: fn(&[u8]) -> Vec<u8>,
}

const CLAUDE: &str = "claude-code/one-tool-call.jsonl";
const CLIDO: &str = "clido/parallel-calls.jsonl";
const DUMP: &str = "sdk-stream/seed-002-seven-lines.jsonl";
const WIRE: &str = "sdk-wire/replayed-prompts.jsonl";

/// All kinds of damage.
pub(crate) const DAMAGES: &[Damage] = &[
    Damage {
        file: "crlf.jsonl",
        base: CLAUDE,
        make: |base| each(base, |_, line| [line, b"\r\n"].concat()),
    },
    Damage {
        file: "crlf-clido.jsonl",
        base: CLIDO,
        make: |base| each(base, |_, line| [line, b"\r\n"].concat()),
    },
    Damage {
        file: "mixed-line-ends.jsonl",
        base: DUMP,
        make: |base| {
            each(base, |n, line| [line, if n % 2 == 0 { b"\r\n" } else { &b"\n"[..] }].concat())
        },
    },
    Damage {
        file: "lone-carriage-returns.jsonl",
        base: CLAUDE,
        make: |base| each(base, |_, line| [line, b"\r"].concat()),
    },
    Damage {
        file: "byte-order-mark.jsonl",
        base: CLAUDE,
        make: |base| [b"\xef\xbb\xbf", base].concat(),
    },
    Damage {
        file: "byte-order-mark-dump.jsonl",
        base: DUMP,
        make: |base| [b"\xef\xbb\xbf", base].concat(),
    },
    Damage {
        file: "byte-order-mark-inside.jsonl",
        base: CLIDO,
        make: |base| {
            each(base, |n, line| {
                [if n == 2 { &b"\xef\xbb\xbf"[..] } else { b"" }, line, b"\n"].concat()
            })
        },
    },
    Damage { file: "no-final-newline.jsonl", base: CLAUDE, make: |base| cut(base, 1).to_vec() },
    Damage {
        file: "no-final-newline-clido.jsonl",
        base: CLIDO,
        make: |base| cut(base, 1).to_vec(),
    },
    Damage { file: "no-final-newline-dump.jsonl", base: DUMP, make: |base| cut(base, 1).to_vec() },
    Damage { file: "no-final-newline-wire.jsonl", base: WIRE, make: |base| cut(base, 1).to_vec() },
    Damage {
        file: "blank-lines.jsonl",
        base: CLAUDE,
        make: |base| {
            [b"\n", &each(base, |n, line| [line, b"\n \t\r\n", &b"\n\n\n"[..n % 3]].concat())[..]]
                .concat()
        },
    },
    Damage {
        file: "blank-lines-clido.jsonl",
        base: CLIDO,
        make: |base| each(base, |_, line| [b"\n", line, b"\n"].concat()),
    },
    Damage { file: "torn-tail.jsonl", base: CLAUDE, make: |base| cut(base, 70).to_vec() },
    Damage { file: "torn-tail-clido.jsonl", base: CLIDO, make: |base| cut(base, 40).to_vec() },
    Damage { file: "torn-tail-inside-a-letter.jsonl", base: CLIDO, make: |base| torn_letter(base) },
    Damage {
        file: "torn-head.jsonl",
        base: CLAUDE,
        make: |base| base.get(100..).unwrap_or_default().to_vec(),
    },
    Damage {
        file: "torn-and-continued.jsonl",
        base: CLAUDE,
        make: |base| {
            each(
                base,
                |n, line| if n == 1 { cut(line, 200).to_vec() } else { [line, b"\n"].concat() },
            )
        },
    },
    Damage {
        file: "torn-after-an-object.jsonl",
        base: CLAUDE,
        make: |base| {
            each(
                base,
                |n, line| if n == 1 { cut(line, 129).to_vec() } else { [line, b"\n"].concat() },
            )
        },
    },
    Damage {
        file: "torn-after-the-start-of-a-record.jsonl",
        base: CLAUDE,
        make: |base| {
            let torn = b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"say {\\\"type\\\":\\\"user\\\"} and ";
            each(base, |n, line| [if n == 1 { &torn[..] } else { b"" }, line, b"\n"].concat())
        },
    },
    Damage {
        file: "two-writers.jsonl",
        base: CLAUDE,
        make: |base| {
            let lines: Vec<&[u8]> = base.split(|byte| *byte == b'\n').collect();
            let [first, second, third, fourth, ..] = lines[..] else { return base.to_vec() };
            let (start, end) = second.split_at(40);
            [first, b"\n", start, third, end, b"\n", fourth, b"\n"].concat()
        },
    },
    Damage {
        file: "torn-in-the-middle.jsonl",
        base: WIRE,
        make: |base| {
            each(base, |n, line| [if n == 2 { cut(line, 90) } else { line }, b"\n"].concat())
        },
    },
    Damage {
        file: "invalid-utf-8.jsonl",
        base: CLAUDE,
        make: |base| replace(base, b"alpha", b"al\xffpha\xc3"),
    },
    Damage {
        file: "invalid-utf-8-clido.jsonl",
        base: CLIDO,
        make: |base| replace(base, b"Looking", b"L\xf6\xf6king"),
    },
    Damage {
        file: "surrogate-bytes.jsonl",
        base: DUMP,
        make: |base| replace(base, b"Bash tool", b"\xed\xa0\x80 tool"),
    },
    Damage {
        file: "nul-run.jsonl",
        base: CLAUDE,
        make: |base| {
            each(base, |n, line| [line, b"\n", if n == 1 { &[0; 300][..] } else { b"" }].concat())
        },
    },
    Damage {
        file: "nul-line.jsonl",
        base: CLIDO,
        make: |base| {
            each(base, |n, line| {
                [line, b"\n", if n == 3 { b"\0\0\0\0\0\0\0\n" } else { &b""[..] }].concat()
            })
        },
    },
    Damage { file: "only-nul.jsonl", base: CLAUDE, make: |_| vec![0; 64] },
    Damage {
        file: "two-records-on-a-line.jsonl",
        base: CLAUDE,
        make: |base| each(base, |n, line| [line, if n == 1 { b"" } else { &b"\n"[..] }].concat()),
    },
    Damage {
        file: "all-records-on-a-line.jsonl",
        base: CLIDO,
        make: |base| each(base, |_, line| line.to_vec()),
    },
    Damage {
        file: "lines-of-no-object.jsonl",
        base: CLAUDE,
        make: |base| {
            each(base, |n, line| {
                [
                    line,
                    b"\n",
                    [
                        &b"null\n"[..],
                        b"42\n\"words\"\n",
                        b"[]\n[{\"type\":\"user\"}]\n",
                        b"true\n{}\n",
                    ][n % 4],
                ]
                .concat()
            })
        },
    },
    Damage {
        file: "lines-of-no-object-clido.jsonl",
        base: CLIDO,
        make: |base| [b"{}\nnull\n", base, b"[1]\n\"end\"\n"].concat(),
    },
    Damage {
        file: "garbage-after-a-record.jsonl",
        base: CLAUDE,
        make: |base| {
            each(base, |n, line| [line, if n == 0 { b"}" } else { &b""[..] }, b"\n"].concat())
        },
    },
    Damage {
        file: "single-quotes.jsonl",
        base: DUMP,
        make: |base| {
            each(base, |n, line| {
                [if n == 1 { b"{'subtype': 'init'}" } else { line }, b"\n"].concat()
            })
        },
    },
    Damage {
        file: "not-a-number.jsonl",
        base: DUMP,
        make: |base| replace(base, b"0.0123", b"NaN"),
    },
    Damage {
        file: "control-character.jsonl",
        base: CLAUDE,
        make: |base| replace(base, b"Two lines.", b"Two\tlines.\x1b[0m"),
    },
    Damage {
        file: "record-separators.jsonl",
        base: CLAUDE,
        make: |base| each(base, |_, line| [b"\x1e", line, b"\n"].concat()),
    },
    Damage {
        file: "inside-an-array.jsonl",
        base: CLAUDE,
        make: |base| [b"[", &replace(cut(base, 1), b"\n", b",\n")[..], b"]\n"].concat(),
    },
    Damage {
        file: "wire-in-a-dump.jsonl",
        base: WIRE,
        make: |base| {
            [base, b"{\"content\": [{\"text\": \"4\"}], \"model\": \"m\", \"parent_tool_use_id\": null}\n"].concat()
        },
    },
    Damage { file: "empty.jsonl", base: CLAUDE, make: |_| Vec::new() },
    Damage { file: "only-newlines.jsonl", base: CLAUDE, make: |_| b"\n\r\n\n".to_vec() },
    Damage { file: "only-spaces.jsonl", base: CLAUDE, make: |_| b"  \t ".to_vec() },
    Damage {
        file: "only-a-byte-order-mark.jsonl",
        base: CLAUDE,
        make: |_| b"\xef\xbb\xbf".to_vec(),
    },
    Damage { file: "one-brace.jsonl", base: CLAUDE, make: |_| b"{".to_vec() },
    Damage {
        file: "nothing-readable.jsonl",
        base: CLAUDE,
        make: |base| each(base, |_, line| [cut(line, 1), b"\n"].concat()),
    },
];

/// Changes each line and joins the results. `change` gets the index of a line and its bytes without the
/// newline.
fn each(base: &[u8], change: impl Fn(usize, &[u8]) -> Vec<u8>) -> Vec<u8> {
    let lines = cut(base, 1).split(|byte| *byte == b'\n');
    lines.enumerate().flat_map(|(line_idx, line)| change(line_idx, line)).collect()
}

/// Returns the bytes without the last `n`; nothing if there are fewer.
fn cut(bytes: &[u8], n: usize) -> &[u8] {
    bytes.get(..bytes.len().saturating_sub(n)).unwrap_or_default()
}

/// Returns the bytes up to the middle of the last character that is not ASCII.
fn torn_letter(bytes: &[u8]) -> Vec<u8> {
    let end = bytes.iter().rposition(|byte| *byte >= 0xc0).map_or(0, |at| at + 1);
    bytes.get(..end).unwrap_or_default().to_vec()
}

/// Replaces every occurrence of `old`.
fn replace(bytes: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut replaced = Vec::new();
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        match rest.strip_prefix(old) {
            Some(after) => {
                replaced.extend_from_slice(new);
                rest = after;
            }
            None => {
                replaced.push(*first);
                rest = after;
            }
        }
    }
    replaced
}
