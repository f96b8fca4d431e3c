//! Tests that lines, fields and blocks take no allocations: twice the lines need no more of them.

use std::io;

use convert::{CarryMode, Conversion, FORMATS, Source, by_name};

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
