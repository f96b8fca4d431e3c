//! Generates lines as programs might write them: members in any order and spelling, with unknown ones.

use proptest::{collection::vec, prelude::*, sample::select, strategy::Union};

/// Pairs of a name and a value, as written.
pub(crate) type Members = Vec<(String, String)>;

/// Returns strings as written, quotes included.
pub(crate) fn string() -> impl Strategy<Value = String> + Clone {
    let piece = select(
        &[
            "a",
            "Hello, world",
            " ",
            "\\n",
            "\\\"",
            "\\\\",
            "\\/",
            "\\t",
            "\\u00e9",
            "\\u00E9",
            "é",
            "\\ud83c\\udf89",
            "🎉",
            "\\ud800",
            "\\udc00",
            "\u{2028}",
            "\\u2028",
            "\u{7f}",
            "^",
            "`",
            "_carried",
            "\\u0000",
            "\\u001b[31m",
            "{\\\"type\\\":\\\"user\\\"}",
            "日本",
            "\\b\\f",
            "a rather long sentence that a writer copies and a carry refers to by a range of bytes",
        ][..],
    );
    vec(piece, 0..6).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

/// Returns strings that have a meaning in some format.
pub(crate) fn words() -> impl Strategy<Value = String> + Clone {
    let word =
        select(&["Hello", "fix the bug", "é", "🎉", "\\n", "\\\"quoted\\\"", "src/lib.rs:12"][..]);
    (vec(word, 1..6), 0..100u32).prop_map(|(words, n)| format!("\"{} {n}\"", words.join(" ")))
}

/// Returns any value.
pub(crate) fn value() -> impl Strategy<Value = String> + Clone {
    let scalar = prop_oneof![
        string(),
        select(
            &[
                "null",
                "true",
                "false",
                "0",
                "-0",
                "1.0",
                "1e-05",
                "1700000000.0",
                "1E+2",
                "1e400",
                "12345678901234567890123",
                "18446744073709551615",
                "-9223372036854775808",
                "[]",
                "{}",
            ][..]
        )
        .prop_map(str::to_owned),
    ];
    scalar.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            vec((key(), inner), 0..4).prop_map(|members| spell(&members, Spelling::Compact)),
        ]
    })
}

fn key() -> impl Strategy<Value = String> + Clone {
    select(&["a", "b", "type", "é", "__proto__", "x y", "\\u0061", "content", "_carried"][..])
        .prop_map(str::to_owned)
}

/// Returns an object for the input of a tool: usual members, or any values.
pub(crate) fn input(is_tidy: bool) -> BoxedStrategy<String> {
    let tidy = prop_oneof![
        words().prop_map(|path| format!("{{\"file_path\":{path}}}")),
        (words(), 0..1000u32).prop_map(|(command, timeout)| {
            format!("{{\"command\":{command},\"timeout\":{timeout},\"flags\":[true,null,-1.5]}}")
        }),
        Just("{}".to_owned()),
    ];
    if is_tidy {
        return tidy.boxed();
    }
    let odd = (words(), value())
        .prop_map(|(command, other)| format!("{{\"command\":{command},\"timeout\":{other}}}"));
    prop_oneof![2 => tidy, 1 => odd, 1 => value()].boxed()
}

/// The spelling of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Spelling {
    Compact,
    Python,
    Spacious,
}

/// Returns an object as written.
pub(crate) fn spell(members: &[(String, String)], spelling: Spelling) -> String {
    let (comma, colon) = match spelling {
        Spelling::Compact => (",", ":"),
        Spelling::Python => (", ", ": "),
        Spelling::Spacious => (" ,\t", " :  "),
    };
    let members: Vec<_> =
        members.iter().map(|(name, value)| format!("\"{name}\"{colon}{value}")).collect();
    format!("{{{}}}", members.join(comma))
}

/// Returns members in any order, with unknown and duplicate ones.
pub(crate) fn in_disorder(
    members: impl Strategy<Value = Members>,
) -> impl Strategy<Value = Members> {
    let more =
        vec((select(&["extra", "x", "uuid", "é"][..]).prop_map(str::to_owned), value()), 0..2);
    (members, more).prop_flat_map(|(mut members, mut more)| {
        members.append(&mut more);
        prop_oneof![2 => Just(members.clone()), 1 => Just(members).prop_shuffle()]
    })
}

/// Lines of no format, or not JSON.
const DAMAGE: &[&[u8]] = &[
    b"",
    b"   ",
    b"{",
    b"}",
    b"{\"type\":\"us",
    b"not json",
    b"\xff\xfe",
    b"\0\0\0",
    b"{\"type\":\"user\"} trailing",
    b"[1,2",
    b"\"half",
    b"{\"a\":1}{\"b\":2}",
    b"nul",
    b"{\"type\":\"future\",\"x\":[1,{\"y\":null}]}",
    b"\xef\xbb\xbf{}",
    b"{'type':'user'}",
    b"{\"_carried\":\"1zAAAAAAAAAAA\"}",
    b"\r",
    b"{\"a\":\"\xed\xa0\x80\"}",
];

/// Returns damaged lines: of no format, or not JSON.
pub(crate) fn damage() -> impl Strategy<Value = Vec<u8>> + Clone {
    Union::new_weighted(vec![
        (2, value().prop_map(String::into_bytes).boxed()),
        (1, select(DAMAGE).prop_map(<[u8]>::to_vec).boxed()),
    ])
}

/// Returns a file of lines: damaged, with CRLF, torn, or with a byte order mark.
pub(crate) fn file(
    lines: impl Strategy<Value = Vec<String>> + 'static,
    is_damaged: bool,
) -> BoxedStrategy<Vec<u8>> {
    if !is_damaged {
        return lines.prop_map(|lines| (lines.join("\n") + "\n").into_bytes()).boxed();
    }
    let ends = prop_oneof![8 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\n\n")];
    let damages = vec((any::<prop::sample::Index>(), damage()), 0..4);
    (lines, damages, ends, any::<bool>(), 0..6u8, any::<prop::sample::Index>())
        .prop_map(|(lines, damages, end, is_ended, kind, cut)| {
            let mut lines: Vec<Vec<u8>> = lines.into_iter().map(String::into_bytes).collect();
            for (place, damage) in damages {
                lines.insert(place.index(lines.len() + 1), damage);
            }
            let mut bytes = lines.join(end.as_bytes());
            if is_ended {
                bytes.extend_from_slice(end.as_bytes());
            }
            match kind {
                0 => bytes.truncate(cut.index(bytes.len() + 1)),
                1 => bytes.splice(..0, *b"\xef\xbb\xbf").for_each(drop),
                _ => {}
            }
            bytes
        })
        .boxed()
}
