//! Tests of the views over streams.

use std::fs;

use core_model::{CostPolicy, Costs, Exchange, Exchanges, Place, TokenTotals, TypeCounts};
use format_sdk_stream::read;
use jsonl::Scanner;

fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/../../fixtures/sdk-stream/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    fs::read(path).expect("a fixture")
}

fn exchanges(input: &[u8]) -> Vec<Exchange> {
    let mut exchanges = Exchanges::default();
    let mut scanner = Scanner::default();
    for (line_idx, line) in jsonl::lines(input).enumerate() {
        if let Ok(value) = scanner.scan(&line) {
            let place = Place { line: line_idx as u64 + 1, offset: line.offset() };
            exchanges.push(place, &read(value));
        }
    }
    exchanges.finish()
}

#[test]
fn interactions_of_four_and_of_seven_lines() {
    for (name, n_events, n_messages, n_tool_uses) in
        [("seed-002-four-lines", 4, 1, 0), ("seed-002-seven-lines", 7, 4, 1)]
    {
        let found = exchanges(&fixture(name));
        assert_eq!(found.len(), 1, "{name}");
        let one = &found[0];
        let shape = (one.n_events, one.n_messages, one.n_tool_uses);
        assert_eq!(shape, (n_events, n_messages, n_tool_uses), "{name}");
        assert_eq!(one.prompt_place.map(|place| place.line), Some(1));
        assert_eq!(one.start.map(|place| place.line), Some(2));
        assert_eq!(one.ending.as_ref().map(|ending| ending.place.line), Some(n_events));
    }
}

#[test]
fn a_file_holds_many_interactions() {
    let four = fixture("seed-002-four-lines");
    let seven = fixture("seed-002-seven-lines");
    let found = exchanges(&[four, seven].concat());
    let shapes: Vec<_> = found.iter().map(|one| (one.first.line, one.last.line)).collect();
    assert_eq!(shapes, [(1, 4), (5, 11)]);
    // A failed start leaves a prompt without answers.
    let prompt = fixture("seed-002-four-lines");
    let prompt = jsonl::lines(&prompt).next().expect("a line").bytes().to_vec();
    let found = exchanges(&[prompt.clone(), prompt].concat());
    assert_eq!(found.iter().map(|one| one.n_events).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn costs_add_up_and_outcomes_tell_the_tokens() {
    let input = [fixture("seed-002-four-lines"), fixture("seed-002-seven-lines")].concat();
    let (mut costs, mut tokens, mut counts) =
        (Costs::default(), TokenTotals::default(), TypeCounts::default());
    let mut scanner = Scanner::default();
    for line in jsonl::lines(&input) {
        let event = read(scanner.scan(&line).expect("valid"));
        costs.push(&event);
        tokens.push(&event);
        counts.push(&event);
    }
    let endings: Vec<_> = exchanges(&input).into_iter().filter_map(|one| one.ending).collect();
    let sum: f64 = endings.iter().filter_map(|ending| ending.cost).sum();
    assert_eq!(costs.total(CostPolicy::PerInteraction), Some(sum));
    assert_eq!(costs.total(CostPolicy::Cumulative), endings[1].cost);
    assert!(tokens.total().output >= 50);
    assert_eq!((counts.of("user_message"), counts.of("result"), counts.total()), (2, 2, 11));
}
