//! Documents of ATIF that another program wrote anew: Python and Harbor's models change the order of
//! members, also of the members around the steps.

use std::{fs, path::Path, process::Command};

use convert::{CarryMode, Conversion, Converted, FORMATS, Sidecar, by_name};
use core_model::{Format, Options};
use jsonl::Scanner;

use crate::shared::{
    data::{Session, real_sessions},
    fixtures::fixtures,
    parallel::check_all,
};

/// Orders of the members of a document. Harbor's models write `extra` behind the steps.
const ORDERS: [(&str, &[&str]); 4] = [
    ("as written", &[]),
    (
        "Harbor's models",
        &[
            "schema_version",
            "session_id",
            "trajectory_id",
            "agent",
            "steps",
            "notes",
            "final_metrics",
            "extra",
            "subagent_trajectories",
        ],
    ),
    ("steps first", &["steps", "extra", "final_metrics", "agent", "session_id", "schema_version"]),
    ("agent last", &["schema_version", "extra", "steps", "final_metrics", "session_id", "agent"]),
];

/// Returns a document with its members in another order, as Python writes them: with spaces.
fn reordered(document: &[u8], order: &[&str]) -> Vec<u8> {
    let mut scanner = Scanner::default();
    let root = scanner.scan_slice(document, 0).expect("a document");
    let mut members: Vec<_> = root.members().map(|(key, value)| (key.decode(), value)).collect();
    let place = |name: &str| order.iter().position(|it| *it == name).unwrap_or(order.len());
    members.sort_by_key(|(key, _)| place(key));
    let members: Vec<_> =
        members.iter().map(|(key, value)| format!("\n  \"{key}\" : {}", value.raw())).collect();
    format!("{{{}\n}}", members.join(" ,")).into_bytes()
}

fn conversion(from: &'static Format, to: &'static Format, carry: CarryMode) -> Conversion {
    Conversion { formats: FORMATS, from, to, carry, options: Options::default() }
}

fn check(sessions: &[Session]) {
    let atif = by_name("atif").expect("a format");
    check_all(
        sessions,
        |session| session.name.clone(),
        |session| {
            let mut wrong = Vec::new();
            for carry in [CarryMode::Inline, CarryMode::Sidecar] {
                let there = conversion(session.from, atif, carry);
                let Converted { bytes, sidecar, .. } =
                    there.convert(&session.bytes, None).expect("in memory");
                if bytes.is_empty() {
                    continue;
                }
                for (name, order) in ORDERS {
                    let anew = reordered(&bytes, order);
                    let sidecar =
                        sidecar.as_deref().map(|it| Sidecar::read(it).expect("a sidecar"));
                    let back = conversion(atif, session.from, CarryMode::Inline);
                    let Converted { bytes: home, report, .. } =
                        back.convert(&anew, sidecar).expect("in memory");
                    if home != session.bytes {
                        let restored = report.restored;
                        wrong.push(format!("{carry:?}, {name}: {restored:?}"));
                    }
                }
            }
            wrong
        },
    );
}

#[test]
fn documents_with_members_in_another_order_come_back() {
    let sessions = fixtures().into_iter().filter_map(|fixture| {
        let from = by_name(&fixture.format).filter(|from| from.name != "atif")?;
        Some(Session { name: fixture.name, from, bytes: fixture.bytes })
    });
    let sessions: Vec<_> = sessions.collect();
    assert!(sessions.len() > 100);
    check(&sessions);
}

#[test]
fn documents_of_real_sessions_with_members_in_another_order_come_back() {
    let mut sessions = real_sessions();
    if !sessions.is_empty() {
        sessions.retain(|session| session.from.name != "atif");
        check(&sessions);
    }
}

fn convert_program(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
    let output = command.current_dir(folder).args(arguments).output().expect("it runs");
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {words}");
}

/// Returns the files below a folder with their content, without the journal.
fn files(root: &Path) -> Vec<(String, Vec<u8>)> {
    let (mut found, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().is_some_and(|name| name != ".convert-journal.jsonl") {
                let name = path.strip_prefix(root).expect("below").display().to_string();
                found.push((name, fs::read(path).expect("a file")));
            }
        }
    }
    found.sort();
    found
}

/// The first carry has the list of the session's files.
#[test]
fn the_files_of_a_session_come_back_from_documents_in_any_order() {
    let sides = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/commands/sides.in/project");
    let source = files(Path::new(sides));
    assert_eq!(source.len(), 4);
    for (name, order) in ORDERS {
        let folder = tempfile::tempdir().expect("a folder");
        convert_program(folder.path(), &[sides, "--to", "atif", "-o", "there"]);
        let there = folder.path().join("there");
        let written = files(&there);
        assert!(!written.is_empty());
        for (file, bytes) in written {
            fs::write(there.join(file), reordered(&bytes, order)).expect("written");
        }
        convert_program(folder.path(), &["there", "--to", "claude-code", "-o", "back"]);
        assert_eq!(files(&folder.path().join("back")), source, "{name}");
    }
}

/// Runs the program in a folder. Returns its status, and its messages.
fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
    let output = command.current_dir(folder).args(arguments).output().expect("it runs");
    let words = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&words).into_owned())
}

/// The image of the session of [`with_image`], and its name.
const IMAGE: (&str, &[u8]) = ("images/4c4b6a3be1314ab8.png", b"\x89PNG\r\n\x1a\n");

/// Returns a session of Claude Code with an image in a prompt and in a result.
fn with_image(id: &str) -> String {
    let image = r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}"#;
    let start = |uuid: &str, parent: &str| {
        format!(
            r#""uuid":"{uuid}","parentUuid":{parent},"sessionId":"{id}","timestamp":"2026-01-01T10:00:00.000Z""#
        )
    };
    format!(
        concat!(
            r#"{{"type":"user",{},"message":{{"role":"user","content":[{{"type":"text","text":"Look."}},{}]}}}}"#,
            "\n",
            r#"{{"type":"assistant",{},"message":{{"role":"assistant","id":"m1","type":"message","model":"c","content":[{{"type":"tool_use","id":"t1","name":"Read","input":{{"file_path":"/a.png"}}}}]}}}}"#,
            "\n",
            r#"{{"type":"user",{},"message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t1","content":[{}]}}]}}}}"#,
            "\n",
        ),
        start("u1", "null"),
        image,
        start("u2", "\"u1\""),
        start("u3", "\"u2\""),
        image,
    )
}

#[test]
fn images_are_files_that_sessions_share() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    fs::create_dir(root.join("in")).expect("a folder");
    for id in ["a", "b"] {
        fs::write(root.join(format!("in/{id}.jsonl")), with_image(id)).expect("written");
    }
    let image = root.join("there").join(IMAGE.0);
    let there = ["in", "--to", "atif", "-o", "there"];
    convert_program(root, &there);
    let names: Vec<String> = files(&root.join("there")).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["a.jsonl", "b.jsonl", IMAGE.0]);
    assert_eq!(fs::read(&image).expect("an image"), IMAGE.1);
    for id in ["a", "b"] {
        let document = fs::read_to_string(root.join(format!("there/{id}.jsonl"))).expect("a file");
        let part = format!(
            r#"{{"type":"image","source":{{"media_type":"image/png","path":"{}"}}}}"#,
            IMAGE.0
        );
        assert_eq!(document.matches(&part).count(), 2, "{document}");
    }
    assert_eq!(run(root, &["check", "there"]).0, Some(0));
    // An image that is gone is written again.
    fs::remove_file(&image).expect("removed");
    let (status, words) = run(root, &["check", "there"]);
    assert!(status == Some(1) && words.contains("is missing"), "{words}");
    convert_program(root, &there);
    assert_eq!(fs::read(&image).expect("an image"), IMAGE.1);
    convert_program(root, &[&there[..], &["--force"]].concat());
    assert_eq!(files(&root.join("there")).len(), 3, "no backup of an equal image");
    convert_program(root, &["there", "--to", "claude-code", "-o", "back"]);
    assert_eq!(files(&root.join("back")), files(&root.join("in")));
}

/// The way home restores the session from its carry, and says that an image is not as it was written.
#[test]
fn an_image_that_was_deleted_or_edited_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    fs::write(root.join("a.jsonl"), with_image("a")).expect("written");
    convert_program(root, &["a.jsonl", "--to", "atif", "-o", "there.json"]);
    convert_program(root, &["there.json", "--to", "pi", "-o", "pi.jsonl"]);
    let home = ["there.json", "--to", "claude-code", "--force", "-o", "home.jsonl"];
    convert_program(root, &home);
    fs::write(root.join(IMAGE.0), "edited").expect("written");
    for _ in 0..2 {
        let (status, words) = run(root, &home);
        let is_said = words.contains("images beside it are missing or edited: images/4c4b");
        assert!(status == Some(1) && is_said, "{words}");
        assert_eq!(fs::read_to_string(root.join("home.jsonl")).expect("a file"), with_image("a"));
        convert_program(root, &[&home[..], &["--ignore-carry"]].concat());
        fs::remove_dir_all(root.join("images")).expect("removed");
        fs::create_dir(root.join("images")).expect("a folder");
    }
    // A document between two restorations has no images.
    convert_program(root, &["pi.jsonl", "--to", "claude-code", "-o", "far.jsonl"]);
}

/// The images of a document stay in its folder while it goes on to another format.
#[test]
fn a_restored_document_says_that_its_images_are_elsewhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    fs::write(root.join("a.jsonl"), with_image("a")).expect("written");
    convert_program(root, &["a.jsonl", "--to", "atif", "-o", "there.json"]);
    convert_program(root, &["there.json", "--to", "pi", "-o", "pi.jsonl"]);
    for (output, is_absent) in [("far/there.json", true), ("back.json", false)] {
        let (status, words) = run(root, &["pi.jsonl", "--to", "atif", "-o", output]);
        assert_eq!(status, Some(0), "{words}");
        assert_eq!(words.contains("images that it names are not beside it"), is_absent, "{words}");
        let [there, home] = ["there.json", output].map(|name| fs::read(root.join(name)));
        assert_eq!(there.expect("a document"), home.expect("a document"));
    }
    // From the session itself, all images are written.
    let (_, words) = run(root, &["pi.jsonl", "--to", "claude-code", "-o", "home.jsonl"]);
    assert!(!words.contains("images that"), "{words}");
}

#[test]
fn an_image_replaces_no_file_and_follows_no_link() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    fs::write(root.join("a.jsonl"), with_image("a")).expect("written");
    let command = ["a.jsonl", "--to", "atif", "-o", "out.json"];
    fs::create_dir(root.join("images")).expect("a folder");
    fs::write(root.join(IMAGE.0), "mine").expect("written");
    assert_eq!(run(root, &command).0, Some(2));
    assert!(!root.join("out.json").exists());
    assert_eq!(fs::read(root.join(IMAGE.0)).expect("a file"), b"mine");
    convert_program(root, &[&command[..], &["--force"]].concat());
    let kept = fs::read(root.join(format!("{}.bak", IMAGE.0))).expect("a file");
    assert_eq!(
        (kept, fs::read(root.join(IMAGE.0)).expect("a file")),
        (b"mine".to_vec(), IMAGE.1.to_vec())
    );
    // A document that must stay keeps its images out, too.
    fs::remove_dir_all(root.join("images")).expect("removed");
    fs::write(root.join("out.json"), "mine").expect("written");
    assert_eq!(run(root, &command).0, Some(2));
    assert!(!root.join("images").exists());
    // A folder that was there stays.
    fs::create_dir(root.join("images")).expect("a folder");
    assert_eq!(run(root, &command).0, Some(2));
    assert!(files(&root.join("images")).is_empty());
    #[cfg(unix)]
    {
        fs::remove_dir(root.join("images")).expect("removed");
        fs::create_dir(root.join("elsewhere")).expect("a folder");
        std::os::unix::fs::symlink("elsewhere", root.join("images")).expect("a link");
        let (status, words) = run(root, &["a.jsonl", "--to", "atif", "-o", "other.json"]);
        assert!(status == Some(2) && words.contains("is a link"), "{words}");
        assert!(files(&root.join("elsewhere")).is_empty());
    }
}
