//! Tests of several runs into one folder at the same time.

use super::stage::{Stage, files, rounds, tell, text};

#[test]
fn a_folder_is_written_by_one_run_at_a_time() {
    let stage = Stage::new(12, 5);
    let expected = stage.expected(&[]);
    let (mut n_busy, n_rounds) = (0, rounds(5, 100));
    for round in 0..n_rounds {
        _ = std::fs::remove_dir_all(stage.path("out"));
        let runs: Vec<_> =
            (0..8).map(|_| stage.command("out", &[]).spawn().expect("it runs")).collect();
        for run in runs {
            let output = run.wait_with_output().expect("it ran");
            let said = text(&output);
            match output.status.code() {
                Some(2) => {
                    n_busy += 1;
                    assert!(said.contains("writes to this folder at the moment"), "{said}");
                }
                code => assert_eq!(code, Some(0), "{said}"),
            }
        }
        assert_eq!(stage.run("out", &[]).status.code(), Some(0));
        assert!(files(&stage.path("out")) == expected, "round {round}");
    }
    tell(&format!("{n_rounds} rounds of 8 runs: {n_busy} were told of the first; 0 mixed outputs"));
}
