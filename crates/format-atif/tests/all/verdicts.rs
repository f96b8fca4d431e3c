//! Compares `check` with Harbor itself: hand-made documents, and the answers of the validator of
//! Harbor 0.24.0.

use format_atif::validate;
use jsonl::Scanner;

const CASES: &str = include_str!("verdicts.jsonl");

/// The case whose fault is a file that does not exist, which a check of bytes cannot see.
const MISSING_FILE: &str = "message-parts";

#[test]
fn the_check_says_what_harbor_says() {
    let (mut n_cases, mut n_refused, mut wrong) = (0, 0, Vec::new());
    for line in CASES.lines() {
        let mut scanner = Scanner::default();
        let case = scanner.scan_slice(line.as_bytes(), 0).expect("a case");
        let text = |name: &str| {
            let text = case.get(name).and_then(|it| it.text()).expect("a string");
            text.decode().into_owned()
        };
        let is_valid = case.get("valid").and_then(|it| it.bool()).expect("a boolean");
        let problems = validate(text("document").as_bytes());
        let stops = problems.iter().any(|problem| problem.stops());
        n_cases += 1;
        n_refused += usize::from(!is_valid);
        let name = text("case");
        match name == MISSING_FILE {
            true => assert!(problems.iter().any(|problem| problem.rule == "file"), "{problems:?}"),
            false if stops == is_valid => wrong.push(format!("{name}: {problems:?}")),
            false => {}
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!((n_cases, n_refused), (41, 23));
}
