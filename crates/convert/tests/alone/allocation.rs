//! Tests that lines, fields and blocks take no allocations: twice the lines need no more of them. And that the way back
//! of a long record takes little memory.

use std::io;

use convert::{CarryMode, Conversion, FORMATS, Sidecar, Source, by_name};

/// Limit on the growth steps of vectors and tables that keep an id, a position or an event for each
/// line.
const MAX_GROWTH: u64 = 64;

/// Returns a session of `n_pairs` calls and as many results.
fn session(n_pairs: usize) -> Vec<u8> {
    let head = |n: usize| {
        format!(
            r#"{{"parentUuid":"00000000-0000-4000-8000-{n:012}","uuid":"00000000-0000-4000-8000-{:012}","sessionId":"s","timestamp":"2026-01-02T03:{:02}:{:02}.000Z","cwd":"/home/ada","#,
            n + 1,
            n / 60 % 60,
            n % 60,
        )
    };
    let mut lines =
        head(0) + "\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"Go\"}}\n";
    for n in 0..n_pairs {
        lines += &head(2 * n + 1);
        lines += &format!(
            r#""type":"assistant","requestId":"r","message":{{"id":"msg_{n:06}","model":"m","role":"assistant","content":[{{"type":"text","text":"I look.\n"}},{{"type":"tool_use","id":"toolu_{n:06}","name":"Read","input":{{"path":"/a/b \"c\" {n:06}"}}}}],"usage":{{"input_tokens":5}}}}}}"#
        );
        lines += "\n";
        lines += &head(2 * n + 2);
        lines += &format!(
            r#""type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{n:06}","content":"été\n{n:06}"}}]}},"toolUseResult":{{"durationMs":7,"stdout":"été\n{n:06}"}}}}"#
        );
        lines += "\n";
    }
    lines.into_bytes()
}

/// Returns the number of allocations of a conversion to clido.
fn n_allocations(session: &[u8], carry: CarryMode) -> u64 {
    let (from, to) = (FORMATS[0], by_name("clido").expect("a format"));
    let conversion = Conversion { formats: FORMATS, from, to, carry, options: Default::default() };
    let info = allocation_counter::measure(|| {
        let mut source = Source::new(io::Cursor::new(session));
        let report = conversion.run(&mut source, None, &mut io::sink()).expect("converted").report;
        assert_eq!(report.lines_in as usize, session.iter().filter(|byte| **byte == b'\n').count());
    });
    info.count_total
}

#[test]
fn twice_the_lines_take_as_many_allocations() {
    assert_eq!(FORMATS[0].name, "claude-code");
    let (short, long) = (session(500), session(1000));
    for carry in [CarryMode::None, CarryMode::Inline] {
        // The buffers that one source leaves for the next.
        n_allocations(&long, carry);
        let (few, many) = (n_allocations(&short, carry), n_allocations(&long, carry));
        assert!(many <= few + MAX_GROWTH, "{carry:?}: {few} for 1,001 lines, {many} for 2,001");
    }
}

/// Memory that a conversion may take beside the longest record, in bytes.
const ALLOWANCE: usize = 1024 * 1024;

/// Limit on the peak, as a multiple of the longest record: the record, which is read twice because the file is short, its
/// carry, the record that it restores, and their indexes. Room that growing buffers do not use counts too.
const COPIES: usize = 6;

/// Returns the bytes of the longest line or carry, and the peak of the memory of the way back from a format.
fn way_back(session: &[u8], to: &str) -> (usize, usize) {
    let (from, to) = (FORMATS[0], by_name(to).expect("a format"));
    let carry = CarryMode::Sidecar;
    let there = Conversion { formats: FORMATS, from, to, carry, options: Default::default() };
    let back = Conversion { from: to, to: from, ..there.clone() };
    let written = there.convert(session, None).expect("converted");
    let carries = written.sidecar.expect("a sidecar");
    let mut sidecar = Sidecar::read(&carries[..]).expect("a sidecar");
    let carry_lengths = sidecar.head(usize::MAX).expect("read").into_iter().map(|it| it.len());
    let line_lengths = written.bytes.split(|byte| *byte == b'\n').map(<[u8]>::len);
    let longest = line_lengths.chain(carry_lengths).max().expect("a line");
    let info = allocation_counter::measure(|| {
        let sidecar = Sidecar::open(io::Cursor::new(carries)).expect("a sidecar");
        let mut source = Source::new(io::Cursor::new(&written.bytes[..]));
        let report =
            back.run(&mut source, Some(sidecar), &mut io::sink()).expect("converted").report;
        assert_eq!(report.bytes_out as usize, session.len());
        assert!(!report.restored.is_not_the_source());
    });
    (longest, info.bytes_max as usize)
}

#[test]
fn the_way_back_of_a_long_record_takes_a_few_times_its_length() {
    let line = |start: &str, content: &str| {
        format!(
            r#"{{"parentUuid":null,"uuid":"{start}","sessionId":"s","timestamp":"2026-01-02T03:04:05.000Z",{content}}}"#
        ) + "\n"
    };
    let user = line("u", r#""type":"user","message":{"role":"user","content":"Go"}"#);
    let response = |uuid: &str, block: &str| {
        line(
            uuid,
            &format!(
                r#""type":"assistant","message":{{"id":"m","model":"m","role":"assistant","content":[{block}]}}"#
            ),
        )
    };
    let text = "<!-- \\u2028\\u202e <? ".repeat(90_000);
    let text = response("r", &format!(r#"{{"type":"text","text":"{text}"}}"#));
    let number = format!("0.{},1e{}", "1".repeat(1_000_000), "9".repeat(1_000_000));
    let number = response(
        "r",
        &format!(r#"{{"type":"tool_use","id":"t","name":"N","input":{{"a":[{number}]}}}}"#),
    );
    let calls: String = (0..3_000)
        .map(|n| {
            let input = r#"{"command":"ls"}"#;
            response(
                &format!("r{n}"),
                &format!(r#"{{"type":"tool_use","id":"t{n}","name":"Bash","input":{input}}}"#),
            )
        })
        .collect();
    let title = "A title. ".repeat(200_000);
    let title =
        format!(r#"{{"type":"custom-title","customTitle":"{title}","sessionId":"s"}}"#) + "\n";
    let lines_and_formats = [
        ("text", text, &["qwen", "gemini", "clido"][..], COPIES),
        ("number", number, &["qwen", "gemini", "clido"], COPIES),
        ("calls", calls, &["qwen", "gemini", "clido"], COPIES),
        // The glue of a small document is kept, and completed for each pass.
        ("title", title, &["atif", "opencode", "pi"], COPIES + 3),
    ];
    for (name, lines, formats, n_copies) in lines_and_formats {
        for to in formats {
            let (longest, peak) = way_back((user.clone() + &lines).as_bytes(), to);
            let most = ALLOWANCE + n_copies * longest;
            assert!(peak <= most, "{name} from {to}: {peak} of {most} bytes");
        }
    }
}
