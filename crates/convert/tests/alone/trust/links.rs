//! Tests of links below the output folder, planted before a run or swapped during it.

use std::{
    fs,
    os::unix::fs::symlink,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};

use super::stage::{Stage, files, rounds, tell, text};

#[test]
fn a_planted_link_is_not_followed() {
    let stage = Stage::new(3, 3);
    let victim = stage.path("victim");
    fs::create_dir_all(&victim).expect("made");
    fs::create_dir_all(stage.path("out/d1")).expect("made");
    fs::write(victim.join("s0.jsonl"), "mine").expect("written");
    symlink(&victim, stage.path("out/d0")).expect("linked");
    symlink(victim.join("s0.jsonl"), stage.path("out/d1/s1.jsonl")).expect("linked");
    let output = stage.run("out", &[]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("out/d0 is a link"), "{}", text(&output));
    assert!(text(&output).contains("s1.jsonl exists"), "{}", text(&output));
    assert_eq!(files(&victim).len(), 1);
    let output = stage.run("out", &["--force"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert_eq!(fs::read(victim.join("s0.jsonl")).expect("there"), b"mine");
    assert!(stage.path("out/d2/s2.jsonl").is_file() && stage.path("out/d1/s1.jsonl").is_file());
}

#[test]
fn a_journal_that_is_a_link_is_not_followed() {
    let stage = Stage::new(1, 3);
    fs::create_dir_all(stage.path("out")).expect("made");
    fs::write(stage.path("victim"), "mine").expect("written");
    symlink(stage.path("victim"), stage.path("out/.convert-journal.jsonl")).expect("linked");
    let output = stage.run("out", &[]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    fs::remove_file(stage.path("out/.convert-journal.jsonl")).expect("removed");
    fs::hard_link(stage.path("victim"), stage.path("out/.convert-journal.jsonl")).expect("linked");
    let output = stage.run("out", &[]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert_eq!(fs::read(stage.path("victim")).expect("there"), b"mine");
}

/// A folder, and an output in it, alternate between links and plain files while runs write to them.
#[test]
fn a_link_that_is_swapped_in_is_not_followed() {
    let stage = Stage::new(9, 3);
    let victim = stage.path("victim");
    fs::create_dir_all(&victim).expect("made");
    for n in 0..9 {
        fs::write(victim.join(format!("s{n}.jsonl")), "mine").expect("written");
    }
    let before = files(&victim);
    let wanted = rounds(500, 10_000);
    let (n_swaps, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let mut n_runs = 0;
    thread::scope(|scope| {
        scope.spawn(|| {
            let (folder, away) = (stage.path("out/d0"), stage.path("away"));
            let (file, link) = (stage.path("out/d1/s1.jsonl"), stage.path("link"));
            while !is_over.load(Ordering::Relaxed) {
                let is_folder = fs::rename(&folder, &away).is_ok();
                if is_folder && symlink(&victim, &folder).is_ok() {
                    n_swaps.fetch_add(1, Ordering::Relaxed);
                    thread::yield_now();
                    _ = fs::remove_file(&folder);
                }
                if is_folder && fs::rename(&away, &folder).is_err() {
                    // A run created the folder again.
                    _ = fs::remove_dir_all(&away);
                }
                if symlink(victim.join("s1.jsonl"), &link).is_ok()
                    && fs::rename(&link, &file).is_ok()
                {
                    n_swaps.fetch_add(1, Ordering::Relaxed);
                }
                _ = fs::remove_file(&link);
            }
        });
        while n_swaps.load(Ordering::Relaxed) < wanted || n_runs < 10 {
            _ = fs::remove_file(stage.path("out/d2/s2.jsonl"));
            let output = stage.run("out", &["--force"]);
            n_runs += 1;
            assert!(output.status.code().is_some_and(|code| code < 2), "{}", text(&output));
            assert!(!text(&output).contains("panicked"), "{}", text(&output));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(files(&victim) == before, "written through a link");
    let n_swaps = n_swaps.into_inner();
    tell(&format!("{n_swaps} swaps during {n_runs} runs; 0 bytes changed through them"));
}
