//! Tests of runs that are killed or interrupted.

use std::{
    fs,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use super::stage::{Dice, Stage, files, rounds, tell, temporaries, text};

const FILES: usize = 40;

/// Each round starts with older outputs, is killed at a random moment, and runs again.
#[test]
fn a_killed_run_leaves_old_or_new_files_and_the_next_one_finishes() {
    let stage = Stage::new(FILES, 20);
    let old = stage.expected(&[]);
    assert_eq!(stage.run("before", &[]).status.code(), Some(0));
    stage.write(FILES, 25, "new");
    let start = Instant::now();
    let new = stage.expected(&[]);
    let whole = start.elapsed().as_micros() as u64;
    let mut dice = Dice(1);
    let (mut n_killed, mut round) = (0, 0);
    let (n_wanted, n_rounds) = (rounds(5, 1000), rounds(10, 5000));
    // Some runs end before they are killed. These do not count.
    while n_killed < n_wanted && round < n_rounds {
        round += 1;
        let folder = stage.path("out");
        _ = fs::remove_dir_all(&folder);
        let copied = Command::new("cp").arg("-a").arg(stage.path("before")).arg(&folder).status();
        assert!(copied.expect("it runs").success());
        let mut run = stage.command("out", &[]).spawn().expect("it runs");
        thread::sleep(Duration::from_micros(dice.below(whole)));
        _ = run.kill();
        n_killed += usize::from(run.wait().expect("it ran").code().is_none());
        for (name, bytes) in files(&folder) {
            let is_temporary = name.to_string_lossy().contains(".tmp-");
            let is_whole = old.get(&name) == Some(&bytes) || new.get(&name) == Some(&bytes);
            assert!(is_temporary || is_whole, "round {round}: {} is torn", name.display());
        }
        let missing = old.keys().find(|name| !folder.join(name).exists());
        assert_eq!(missing, None, "round {round}");
        let output = stage.run("out", &[]);
        assert_eq!(output.status.code(), Some(0), "round {round}: {}", text(&output));
        assert!(files(&folder) == new, "round {round}: not what it should be");
    }
    tell(&format!("{n_killed} of {round} runs killed; 0 torn, missing, wrong, left over"));
}

#[test]
fn an_interrupted_run_says_so_and_leaves_no_temporary_file() {
    let stage = Stage::new(30, 2000);
    let start = Instant::now();
    let expected = stage.expected(&[]);
    let whole = start.elapsed().as_micros() as u64;
    let mut dice = Dice(2);
    let (mut n_interrupted, mut longest, mut round) = (0, Duration::ZERO, 0);
    let (n_wanted, n_rounds) = (rounds(3, 200), rounds(5, 1000));
    while n_interrupted < n_wanted && round < n_rounds {
        round += 1;
        _ = fs::remove_dir_all(stage.path("out"));
        let run = stage.command("out", &[]).spawn().expect("it runs");
        // Before the program handles the signal, it ends as any program does.
        thread::sleep(Duration::from_micros(30_000 + dice.below(whole)));
        let asked = Instant::now();
        let pid = run.id().to_string();
        _ = Command::new("kill").args(["-INT", &pid]).status();
        let output = run.wait_with_output().expect("it ran");
        match output.status.code() {
            Some(130) => {
                n_interrupted += 1;
                longest = longest.max(asked.elapsed());
                let said = text(&output);
                assert!(said.contains("interrupted") && !said.contains("no session"), "{said}");
            }
            code => assert_eq!(code, Some(0), "round {round}: {}", text(&output)),
        }
        let written = files(&stage.path("out"));
        assert_eq!(temporaries(&written), [] as [&std::path::PathBuf; 0], "round {round}");
        assert!(written.iter().all(|(name, bytes)| expected.get(name) == Some(bytes)));
        assert!(!text(&output).contains("panicked"), "{}", text(&output));
    }
    let longest = longest.as_millis();
    tell(&format!("{n_interrupted} of {round} runs interrupted, the slowest within {longest} ms"));
}
