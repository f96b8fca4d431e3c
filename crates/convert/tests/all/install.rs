//! Tests of `convert --install`, and of sessions that are named by id, project or breadcrumb.

#![cfg(unix)]

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::atomic::{AtomicBool, Ordering},
};

/// A home folder with a project in it.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Self { folder };
        fs::create_dir(home.project()).expect("a folder");
        home
    }

    fn path(&self) -> PathBuf {
        fs::canonicalize(self.folder.path()).expect("a folder")
    }

    fn project(&self) -> PathBuf {
        self.path().join("it's my.app")
    }

    /// Returns Claude Code's folder of the project.
    fn claude(&self) -> PathBuf {
        let project = self.project();
        let name = format_claude_code::encode_project_dir(project.to_str().expect("UTF-8"));
        self.path().join(".claude/projects").join(name)
    }

    /// Returns clido's folder of the project.
    fn clido(&self) -> PathBuf {
        let name = self.project().to_str().expect("UTF-8").replace('/', "_");
        self.path().join(".local/share/clido/sessions").join(name)
    }

    fn convert(&self, arguments: &[&str]) -> Output {
        self.convert_with(arguments, &[])
    }

    fn convert_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_convert"))
            .args(arguments)
            .current_dir(self.path())
            .env_clear()
            .env("HOME", self.path())
            .envs(variables.iter().copied())
            .output()
            .expect("the program runs")
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, text).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    }

    fn clido_session(&self, id: &str) -> String {
        let project = self.project();
        let project = project.to_str().expect("UTF-8");
        format!(
            "{{\"type\":\"meta\",\"session_id\":\"{id}\",\"schema_version\":1,\"start_time\":\"2026-03-21T14:30:00Z\",\"project_path\":\"{project}\"}}\n\
             {{\"type\":\"user_message\",\"role\":\"user\",\"content\":[{{\"text\":\"hi\",\"type\":\"text\"}}]}}\n\
             {{\"type\":\"assistant_message\",\"content\":[{{\"text\":\"Hello.\",\"type\":\"text\"}}]}}\n"
        )
    }

    fn claude_session(&self, id: &str) -> String {
        let project = self.project();
        let project = project.to_str().expect("UTF-8");
        format!(
            "{{\"parentUuid\":null,\"cwd\":\"{project}\",\"sessionId\":\"{id}\",\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"hi\"}},\"uuid\":\"u1\",\"timestamp\":\"2026-01-01T10:00:00.000Z\"}}\n"
        )
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

const ID: &str = "2a86484a-eb59-46ef-ac4a-848742436c10";

#[test]
fn a_session_comes_to_where_claude_code_looks() {
    let home = Home::new();
    let source = home.write("s.jsonl", &home.clido_session(&ID.to_uppercase()));
    let output = home.convert(&["--to", "claude-code", "--install", &source]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let project = home.project().to_str().expect("UTF-8").replace('\'', r"'\''");
    assert_eq!(text(&output.stdout), format!("cd '{project}' && claude --resume {ID}\n"));
    let path = home.claude().join(format!("{ID}.jsonl"));
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(&home.claude()), 0o700);
    assert_eq!(mode(&home.path().join(".claude")), 0o700);
    let age = fs::metadata(&path).and_then(|it| it.modified()).expect("a time").elapsed();
    assert!(age.is_ok_and(|age| age.as_secs() < 600));
    assert_eq!(fs::read_dir(home.claude()).expect("a folder").count(), 1);
    let back = home.convert(&["--to", "clido", path.to_str().expect("UTF-8")]);
    assert_eq!(text(&back.stdout), home.clido_session(&ID.to_uppercase()));
}

#[test]
fn a_session_comes_to_where_clido_looks() {
    let home = Home::new();
    let source = home.write("s.jsonl", &home.claude_session(ID));
    let output = home.convert(&["--to", "clido", "--install", &source]);
    let path = home.clido().join(format!("{ID}.jsonl"));
    assert!(path.is_file(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).ends_with(&format!(" && clido --resume {ID}\n")));
    let flat = home.path().join("flat");
    let variables = [("CLIDO_SESSION_DIR", flat.to_str().expect("UTF-8"))];
    home.convert_with(&["--to", "clido", "--install", &source], &variables);
    assert!(flat.join(format!("{ID}.jsonl")).is_file());
    let config = home.path().join("config");
    let variables = [("CLAUDE_CONFIG_DIR", config.to_str().expect("UTF-8"))];
    home.convert_with(
        &["--to", "claude-code", "--install", path.to_str().expect("UTF-8")],
        &variables,
    );
    assert!(config.join("projects").is_dir());
}

/// A session in the client's format is copied with its sidecar.
#[test]
fn a_copy_comes_to_its_client_with_its_sidecar() {
    let home = Home::new();
    let source = home.write("s.jsonl", &home.claude_session(ID));
    let copy = home.path().join(format!("{ID}.jsonl")).display().to_string();
    home.convert(&["--to", "clido", "--carry", "sidecar", "-o", &copy, &source]);
    for _ in 0..2 {
        let output = home.convert(&["--to", "clido", "--install", &copy]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let installed = home.clido().join(format!("{ID}.jsonl")).display().to_string();
        for ending in ["", ".carry"] {
            let bytes = |path: &str| fs::read(format!("{path}{ending}")).expect("a file");
            assert_eq!(bytes(&installed), bytes(&copy));
        }
        let back = home.convert(&["--quiet", "--to", "claude-code", &installed]);
        assert_eq!((back.status.code(), text(&back.stderr)), (Some(0), ""));
        assert_eq!(back.stdout, fs::read(&source).expect("the source"));
    }
}

#[test]
fn a_session_that_is_there_is_not_overwritten() {
    let home = Home::new();
    let source = home.write("s.jsonl", &home.clido_session(ID));
    home.convert(&["--to", "claude-code", "--install", &source]);
    let path = home.claude().join(format!("{ID}.jsonl"));
    fs::write(&path, "mine\n").expect("a file");
    let again = home.convert(&["--to", "claude-code", "--install", &source]);
    assert_eq!((again.status.code(), again.stdout.len()), (Some(2), 0));
    assert!(text(&again.stderr).contains("exists; a client's session is never overwritten"));
    assert_eq!(fs::read_to_string(&path).expect("a file"), "mine\n");
    assert_eq!(fs::read_dir(home.claude()).expect("a folder").count(), 1);
    let force = home.convert(&["--to", "claude-code", "--install", "--force", &source]);
    assert_eq!(force.status.code(), Some(2));
}

/// Returns the files of a folder by their names, and asserts that only the owner can read them.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                assert_eq!(mode(&path), 0o700, "{}", path.display());
                folders.push(path);
            } else {
                assert_eq!(mode(&path), 0o600, "{}", path.display());
                let name = path.strip_prefix(root).expect("below").to_owned();
                files.insert(name, fs::read(path).expect("a file"));
            }
        }
    }
    files
}

impl Home {
    /// Writes a session of several files, and returns the path of its main file.
    fn several(&self) -> String {
        let session = self.claude_session(ID);
        let call = r#"{"type":"tool_use","id":"t1","name":"Task","input":{"prompt":"Look."}}"#;
        let line = |uuid: &str, parent: &str, kind: &str, content: &str| {
            format!(
                "{{\"parentUuid\":\"{parent}\",\"sessionId\":\"{ID}\",\"type\":\"{kind}\",\"message\":{{\"role\":\"{kind}\",\"content\":[{content}]}},\"uuid\":\"{uuid}\",\"timestamp\":\"2026-01-01T10:00:0{}.000Z\"}}\n",
                uuid.len()
            )
        };
        let result = r#"{"type":"tool_result","tool_use_id":"t1","content":"Seen."}"#;
        let main = session.clone()
            + &line("u22", "u1", "assistant", call)
            + &line("u333", "u22", "user", result);
        let agent = session.replace("\"type\"", "\"isSidechain\":true,\"agentId\":\"a1\",\"type\"");
        self.write(&format!("in/{ID}/subagents/agent-a1.jsonl"), &agent.replace("hi", "Look."));
        self.write(&format!("in/{ID}/subagents/agent-a1.meta.json"), r#"{"toolUseId":"t1"}"#);
        self.write(&format!("in/{ID}/tool-results/t1.txt"), "large");
        self.write(&format!("in/{ID}.jsonl"), &main)
    }
}

#[test]
fn a_session_comes_with_its_sub_agents_and_outputs() {
    let home = Home::new();
    let source = home.several();
    let output = home.convert(&["--to", "clido", "--install", &source]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).ends_with(&format!(" && clido --resume {ID}\n")));
    let names: Vec<PathBuf> = files(&home.clido()).into_keys().collect();
    assert_eq!(names, [format!("{ID}.jsonl"), format!("{ID}_a1.jsonl")].map(PathBuf::from));
    // Converting from clido's folder to Claude Code's folder restores the files.
    let installed = home.clido().join(format!("{ID}.jsonl"));
    let output =
        home.convert(&["--to", "claude-code", "--install", installed.to_str().expect("UTF-8")]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let restored = files(&home.claude());
    assert_eq!(restored.len(), 4);
    for (name, bytes) in restored {
        assert_eq!(
            bytes,
            fs::read(home.path().join("in").join(&name)).expect("a file"),
            "{name:?}"
        );
    }
}

/// clido has the file of a sub-agent beside that of its session: `ID_a1.jsonl`.
#[test]
fn the_start_of_an_id_is_not_that_of_its_sub_agents() {
    let home = Home::new();
    let source = home.several();
    let installed = home.convert(&["--to", "clido", "--install", &source]);
    assert_eq!(installed.status.code(), Some(0));
    assert!(home.clido().join(format!("{ID}_a1.jsonl")).exists());
    for (id, name) in [(&ID[..8], ID.to_owned()), (&format!("{ID}_"), format!("{ID}_a1"))] {
        let path = home.clido().join(format!("{name}.jsonl"));
        let found = home.convert(&["detect", id]);
        assert_eq!(text(&found.stdout), format!("clido\t{}\n", path.display()), "{id}");
    }
}

#[test]
fn all_of_a_session_is_installed_or_nothing() {
    let home = Home::new();
    let source = home.several();
    fs::create_dir_all(home.clido()).expect("a folder");
    let taken = home.clido().join(format!("{ID}_a1.jsonl"));
    fs::write(&taken, "mine").expect("a file");
    let output = home.convert(&["--to", "clido", "--install", &source]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    let words = text(&output.stderr);
    assert!(words.contains("_a1.jsonl exists; a client's session is never overwritten"), "{words}");
    assert!(words.contains("agent-a1.jsonl: its session was not converted"), "{words}");
    assert_eq!(fs::read(&taken).expect("a file"), b"mine");
    assert_eq!(fs::read_dir(home.clido()).expect("a folder").count(), 1);
}

/// Clients and other runs write to the same folders at any time, and none is disturbed.
#[test]
fn a_folder_to_which_others_write_stays_as_they_have_it() {
    let home = Home::new();
    let source = home.several();
    let theirs = home.clido().join("theirs.jsonl");
    home.write(theirs.to_str().expect("UTF-8"), "");
    let is_over = AtomicBool::new(false);
    let (n_lines, codes) = std::thread::scope(|scope| {
        let client = scope.spawn(|| {
            let mut n_lines = 0;
            while !is_over.load(Ordering::Relaxed) {
                let mut file = fs::File::options().append(true).open(&theirs).expect("opened");
                writeln!(file, "line {n_lines}").expect("written");
                let other = home.clido().join(format!("new-{n_lines}.jsonl"));
                fs::write(&other, "begun").expect("written");
                fs::rename(&other, home.clido().join("newest.jsonl")).expect("renamed");
                n_lines += 1;
            }
            n_lines
        });
        let install = || home.convert(&["--to", "clido", "--install", &source]).status.code();
        let runs: Vec<_> = (0..8).map(|_| scope.spawn(install)).collect();
        let codes: Vec<_> = runs.into_iter().map(|run| run.join().expect("it ends")).collect();
        is_over.store(true, Ordering::Relaxed);
        (client.join().expect("it ends"), codes)
    });
    assert!(codes.contains(&Some(0)) && codes.iter().all(|it| *it == Some(0) || *it == Some(2)));
    let mut names: Vec<_> = fs::read_dir(home.clido())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    assert_eq!(
        names,
        [&format!("{ID}.jsonl"), &format!("{ID}_a1.jsonl"), "newest.jsonl", "theirs.jsonl"]
    );
    let lines: String = (0..n_lines).map(|n| format!("line {n}\n")).collect();
    assert_eq!(fs::read_to_string(&theirs).expect("a file"), lines);
    let back = home.path().join("back");
    let [installed, back] =
        [home.clido().join(format!("{ID}.jsonl")), back.join(format!("{ID}.jsonl"))];
    let [from, to] = [&installed, &back].map(|path| path.to_str().expect("UTF-8"));
    assert_eq!(home.convert(&["--to", "claude-code", "-o", to, from]).status.code(), Some(0));
    assert_eq!(fs::read(back).expect("a file"), fs::read(source).expect("a file"));
}

/// As in the Agent SDK, the sessions of a project are in all working trees of its repository.
#[test]
fn sessions_of_other_working_trees_are_of_the_project() {
    let home = Home::new();
    let tree = home.path().join("trees/fix");
    // The files of `git worktree add` (gitrepository-layout(5)).
    home.write("it's my.app/.git/HEAD", "ref: refs/heads/main\n");
    home.write("it's my.app/.git/worktrees/fix/commondir", "../..\n");
    home.write("it's my.app/.git/worktrees/fix/gitdir", &format!("{}/.git\n", tree.display()));
    let own = home.project().join(".git/worktrees/fix");
    home.write("trees/fix/.git", &format!("gitdir: {}\n", own.display()));
    let name = format_claude_code::encode_project_dir(tree.to_str().expect("UTF-8"));
    let ids = [ID.to_owned(), ID.replace("2a86484a", "3b97595b")];
    for (id, folder) in [(&ids[0], home.claude()), (&ids[1], home.claude().with_file_name(name))] {
        let path = folder.join(format!("{id}.jsonl"));
        home.write(path.to_str().expect("UTF-8"), &home.claude_session(id));
    }
    for folder in [&home.project(), &tree, &tree.join("src")] {
        fs::create_dir_all(folder).expect("a folder");
        let project = folder.to_str().expect("UTF-8");
        let output = home.convert(&["detect", "--project", project]);
        let found = text(&output.stdout);
        assert!(ids.iter().all(|id| found.contains(&**id)), "{project}: {found}");
        let output = home.convert(&["detect", "--project", project, "3b97595b"]);
        assert_eq!(text(&output.stdout).lines().count(), 1, "{}", text(&output.stderr));
    }
    let elsewhere = home.convert(&["detect", "--project", home.path().to_str().expect("UTF-8")]);
    assert!(text(&elsewhere.stderr).contains("no session of this project"));
}

#[test]
fn nothing_is_written_through_a_link() {
    let home = Home::new();
    let source = home.write("s.jsonl", &home.clido_session(ID));
    let elsewhere = home.path().join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    fs::create_dir_all(home.path().join(".claude/projects")).expect("a folder");
    symlink(&elsewhere, home.claude()).expect("a link");
    let output = home.convert(&["--to", "claude-code", "--install", &source]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("is a link"), "{}", text(&output.stderr));
    assert_eq!(fs::read_dir(&elsewhere).expect("a folder").count(), 0);
    fs::remove_file(home.claude()).expect("a link");
    fs::create_dir(home.claude()).expect("a folder");
    let victim = home.write("victim", "mine");
    symlink(&victim, home.claude().join(format!("{ID}.jsonl"))).expect("a link");
    let output = home.convert(&["--to", "claude-code", "--install", &source]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read_to_string(&victim).expect("a file"), "mine");
}

#[test]
fn no_name_from_a_log_leaves_the_folder() {
    let home = Home::new();
    for id in ["../../../evil", "/etc/evil", "a/b", "-rf", "x; rm -rf ~", "nul", "a\\u0000b", ""] {
        let source =
            home.write("s.jsonl", &home.claude_session(id).replace("u1", &format!("u{id}")));
        for (to, folder) in [("clido", home.clido()), ("claude-code", home.claude())] {
            let output = home.convert(&["--to", to, "--install", &source]);
            let command = text(&output.stdout).rsplit(' ').next().unwrap_or_default().trim();
            let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
            // A copy of a session of Claude Code is named after the file.
            assert!(command.bytes().all(is_word), "{command}");
            let name = command.to_owned() + ".jsonl";
            if output.status.code() == Some(0) {
                assert!(folder.join(name).is_file(), "{id}: {}", text(&output.stderr));
            }
        }
    }
    assert!(!home.path().join("evil.jsonl").exists());
}

#[test]
fn a_project_that_is_unknown_must_be_named() {
    let home = Home::new();
    let session = r#"{"type":"user","message":{"role":"user","content":"hi"},"session_id":"s","parent_tool_use_id":null}"#;
    let source = home.write("s.jsonl", &format!("{session}\n"));
    let output = home.convert(&["--to", "clido", "--install", &source]);
    assert!(text(&output.stderr).contains("--install=PROJECT"), "{}", text(&output.stderr));
    let project = format!("--install={}", home.project().display());
    let output = home.convert(&["--to", "clido", &project, &source]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(fs::read_dir(home.clido()).expect("a folder").count(), 1);
    let odd = home.claude_session(ID).replace("it's my.app", "\\u001b[31m");
    let source = home.write("odd.jsonl", &odd);
    let output = home.convert(&["--to", "clido", "--install", &source]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!output.stderr.contains(&0x1b) && output.stdout.is_empty());
    let output = home.convert(&["--to", "sdk-stream", "--install", &source]);
    assert!(text(&output.stderr).contains("nowhere to put it"));
}

#[test]
fn a_session_is_found_by_its_id() {
    let home = Home::new();
    let name =
        |id: &str| home.claude().join(format!("{id}.jsonl")).to_str().expect("UTF-8").to_owned();
    let other = ID.replace("2a86484a", "2a864847");
    for id in [ID, &other] {
        home.write(&name(id), &home.claude_session(id));
    }
    let says = |arguments: &[&str]| {
        let output = home.convert(arguments);
        (output.status.code(), text(&output.stdout).to_owned(), text(&output.stderr).to_owned())
    };
    for id in [ID, "2a86484a", "2a86484a-"] {
        assert_eq!(says(&["detect", id]).1, format!("claude-code\t{}\n", name(ID)));
    }
    for start in ["2a86484", "2"] {
        let (status, _, words) = says(&["detect", start]);
        assert_eq!(status, Some(2));
        let named = "may be 2a864847 (claude-code) or 2a86484a (claude-code)";
        assert!(words.contains(named), "{words}");
    }
    assert!(says(&["detect", "2b8"]).2.contains("no session with this id"));
    assert!(says(&["detect", "../no-such-session"]).2.contains("No such file"));
    let project = home.project();
    let project = project.to_str().expect("UTF-8");
    let (status, words, _) = says(&["check", "--project", project]);
    assert_eq!((status, words.lines().count()), (Some(0), 2));
    assert!(says(&["check", "--project", "/nowhere"]).2.contains("no session of this project"));
    let (status, converted, _) = says(&["-q", "--to", "clido", "--project", project, ID]);
    assert!(status == Some(0) && converted.starts_with("{\"type\":\"meta\""), "{converted}");
}

/// Codex lists its sessions by the day in their path: the first time of the session, or the last change of its file.
#[test]
fn a_session_comes_to_its_day_in_codex() {
    let home = Home::new();
    let id = "3285ccd6-44df-46ab-bebf-94ec7fdee0c4";
    let project = home.project();
    let project = project.to_str().expect("UTF-8");
    let line = |time: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"u1\",\"parentUuid\":null,\"sessionId\":\"{id}\",{time}\
             \"cwd\":\"{project}\",\"message\":{{\"role\":\"user\",\"content\":\"Hi\"}}}}\n"
        )
    };
    let set = |path: &str, seconds: u64| {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        let file = fs::File::options().append(true).open(path).expect("opened");
        file.set_modified(time).expect("a time");
    };
    let said = "\"timestamp\":\"2026-02-03T10:00:01.000Z\",";
    let into = format!("--install={project}");
    for (time, path) in [
        (said, "2026/02/03/rollout-2026-02-03T10-00-01"),
        ("", "2026/09/21/rollout-2026-09-21T14-13-20"),
    ] {
        let file = home.write("session.jsonl", &line(time));
        let there = home.path().join(format!(".codex/sessions/{path}-{id}.jsonl"));
        // The same command finds its output, also if the file was touched meanwhile.
        for (seconds, install) in
            [(1_790_000_000, "--install"), (1_791_000_000, "--install"), (1_792_000_000, &into)]
        {
            set(&file, seconds);
            let output = home.convert(&[&file, "--to", "codex", install]);
            assert_eq!(output.status.code(), Some(0), "{path}: {}", text(&output.stderr));
            let files = files_below(&home.path().join(".codex"));
            assert_eq!(files, std::slice::from_ref(&there), "{path} {seconds}");
        }
        // Codex would go on with either of two sessions of one id.
        let other = home.write(
            "other.jsonl",
            &line("\"timestamp\":\"2026-04-05T10:00:01.000Z\",").replace("Hi", "No"),
        );
        let output = home.convert(&[&other, "--to", "codex", "--install"]);
        assert_eq!(output.status.code(), Some(2), "{path}: {}", text(&output.stderr));
        assert_eq!(files_below(&home.path().join(".codex")), [there], "{path}");
        fs::remove_dir_all(home.path().join(".codex")).expect("removed");
    }
}

#[test]
fn a_breadcrumb_leads_to_its_session() {
    let home = Home::new();
    let path = home.claude().join("abc123xyz.jsonl");
    home.write(path.to_str().expect("UTF-8"), &home.claude_session("abc123xyz"));
    let project = home.project();
    let crumb = |id: &str| {
        let project = project.to_str().expect("UTF-8");
        let timestamp = "2026-01-17T20:31:59.197Z";
        let text = format!(
            "{{\n  \"project\": \"{project}\",\n  \"sessionId\": \"{id}\",\n  \"timestamp\": \"{timestamp}\"\n}}\n"
        );
        home.write("crumb.json", &text)
    };
    let output = home.convert(&["detect", &crumb("abc123xyz")]);
    assert_eq!(text(&output.stdout), format!("claude-code\t{}\n", path.display()));
    let output = home.convert(&["detect", &crumb("gone")]);
    assert!(text(&output.stderr).contains("names session gone of"), "{}", text(&output.stderr));
    let output = home.convert(&["detect", &crumb("../abc123xyz")]);
    assert_eq!(text(&output.stdout), format!("unknown\t{}/crumb.json\n", home.path().display()));
}

#[test]
fn hostile_ids_lead_nowhere_but_to_their_place() {
    const IDS: [&str; 8] = [
        "../../../escaped",
        "/etc/escaped",
        "..\\\\escaped",
        "-rf",
        "a\\u0000b",
        "\\u001b[31m",
        "CON",
        "x'; id; '",
    ];
    for id in IDS {
        for field in ["sessionId", "agentId", "slug"] {
            for to in ["clido", "claude-code"] {
                let home = Home::new();
                let project = home.project();
                let other = if field == "sessionId" { "" } else { "\"sessionId\":\"s\"," };
                let line = format!(
                    "{{\"type\":\"user\",\"uuid\":\"u\",\"parentUuid\":null,{other}\"{field}\":\"{id}\",\"cwd\":\"{}\",\"timestamp\":\"2026-01-01T10:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"hi\"}}}}\n",
                    project.display()
                );
                let source = home.write("in/session.jsonl", &line);
                let installed = home.convert(&["--to", to, "--install", &source]);
                let printed = [installed.stdout, installed.stderr].concat();
                let text = String::from_utf8(printed).expect("text");
                assert!(
                    !text.contains('\u{1b}') && !text.contains('\0'),
                    "{id} in {field}: {text}"
                );
                home.convert(&["in", "--to", to, "--output", "out"]);
                for path in files_below(&home.path()) {
                    let name = path.strip_prefix(home.path()).expect("below").display().to_string();
                    let is_ours = ["in/", "out/", ".claude/", ".local/share/clido/"]
                        .iter()
                        .any(|start| name.starts_with(start));
                    assert!(is_ours && !name.contains("escaped"), "{id} in {field}: {name}");
                }
            }
        }
    }
}

/// Returns all files below a folder.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            if entry.path().is_dir() { &mut folders } else { &mut files }.push(entry.path());
        }
    }
    files
}

/// Returns the modification time of a file.
fn modified(path: &Path) -> std::time::SystemTime {
    fs::metadata(path).and_then(|it| it.modified()).expect("a time")
}

/// `clido --continue` resumes the newest session of a folder.
#[test]
fn the_session_itself_is_the_newest() {
    let home = Home::new();
    let source = home.several();
    let [main, agent] = ["", "_a1"].map(|end| home.clido().join(format!("{ID}{end}.jsonl")));
    let install = || home.convert(&["--to", "clido", "--install", &source]);
    assert_eq!(install().status.code(), Some(0));
    let first = modified(&main);
    assert!(first > modified(&agent) + std::time::Duration::from_secs(1));
    assert!(first.elapsed().is_ok_and(|age| age.as_secs() < 600));
    // The session also stays newer if a sub-agent is installed beside it, or it beside a newer
    // sub-agent.
    fs::remove_file(&agent).expect("removed");
    assert_eq!(install().status.code(), Some(0));
    assert!(modified(&main) == first && modified(&agent) < first);
    fs::remove_file(&main).expect("removed");
    let later = first + std::time::Duration::from_secs(60);
    let file = fs::File::options().append(true).open(&agent).expect("opened");
    file.set_modified(later).expect("set");
    assert_eq!(install().status.code(), Some(0));
    assert!(modified(&main) > modified(&agent));
}

/// OpenCode imports a document, which an earlier run may have written: the command is needed as long as the client has not
/// imported it.
#[test]
fn a_session_that_is_there_is_up_to_date() {
    let home = Home::new();
    let source = home.several();
    for (to, is_imported) in [("clido", false), ("opencode", true)] {
        let install = || home.convert(&["--to", to, "--install", &source]);
        let first = install();
        assert!(text(&first.stderr).contains(" lines in, "), "{}", text(&first.stderr));
        let folders = [home.clido(), home.path().join(".local/share/convert/opencode")];
        let inodes = || -> Vec<_> {
            let files = folders.iter().filter(|it| it.exists()).flat_map(|it| files_below(it));
            files.map(|file| (fs::metadata(&file).expect("a file").ino(), file)).collect()
        };
        let before = inodes();
        assert!(!before.is_empty());
        for _ in 0..2 {
            let again = install();
            assert_eq!(again.status.code(), Some(0));
            assert_eq!(again.stdout, first.stdout);
            assert_eq!(text(&again.stdout).contains(" import "), is_imported);
            let message = text(&again.stderr);
            assert!(message.contains(&format!("{source}: up to date\n")), "{message}");
            assert!(!message.contains(" lines in, "), "{message}");
            assert_eq!(inodes(), before);
        }
        let resume = |more: &[&str]| {
            home.convert(&[&["resume", &source, "--in", to, "--force"], more].concat())
        };
        let message = resume(&[]);
        let words = if is_imported { "is there already" } else { "is up to date" };
        assert!(text(&message.stderr).contains(words), "{}", text(&message.stderr));
        let object = resume(&["--json"]);
        assert!(text(&object.stdout).contains("\"written\":false"), "{}", text(&object.stdout));
        assert_eq!(inodes(), before);
    }
}

#[test]
fn what_a_run_began_that_was_killed_is_finished() {
    let home = Home::new();
    let source = home.several();
    let install = |to: &str, source: &str| {
        let output = home.convert(&["--to", to, "--install", source]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout).to_owned()
    };
    let command = install("clido", &source);
    let clido = home.clido().join(format!("{ID}.jsonl"));
    install("claude-code", clido.to_str().expect("UTF-8"));
    let torn = format!(".{ID}.jsonl.tmp-{}-{}-01234567", i32::MAX, boot_id());
    for (to, source, folder) in [
        ("clido", &*source, home.clido()),
        ("claude-code", clido.to_str().expect("UTF-8"), home.claude()),
    ] {
        let whole = files(&folder);
        assert!(whole.len() > 1);
        // The main file is published last. Before that, each other file may exist or not.
        let main = format!("{ID}.jsonl");
        for name in whole.keys() {
            fs::remove_file(folder.join(&main)).expect("removed");
            _ = fs::remove_file(folder.join(name));
            fs::write(folder.join(&torn), "torn").expect("written");
            install(to, source);
            assert!(files(&folder) == whole, "without {}", name.display());
        }
    }
    // A second installation has nothing to do.
    assert_eq!(install("clido", &source), command);
}

/// Returns the part of temporary names that identifies this start of the machine.
fn boot_id() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let id: String = id.chars().filter(|it| *it != '-').take(8).collect();
    if id.len() == 8 { id } else { "0".repeat(8) }
}

/// Internal sub-agents of Claude Code are not sessions of clido, and are restored.
#[test]
fn sub_agents_of_the_client_itself_ride_along() {
    let home = Home::new();
    let source = home.several();
    let folder = home.path().join(format!("in/{ID}/subagents"));
    let agent = fs::read_to_string(folder.join("agent-a1.jsonl")).expect("a file");
    for id in ["aprompt_suggestion-b2", "acompact-c3"] {
        let other = agent.replace("\"a1\"", &format!("\"{id}\"")).replace("u1", &format!("u{id}"));
        fs::write(folder.join(format!("agent-{id}.jsonl")), other).expect("a file");
    }
    let output = home.convert(&["--to", "clido", "--install", &source]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let names: Vec<PathBuf> = files(&home.clido()).into_keys().collect();
    assert_eq!(names, [format!("{ID}.jsonl"), format!("{ID}_a1.jsonl")].map(PathBuf::from));
    let installed = home.clido().join(format!("{ID}.jsonl"));
    let back = home.path().join(format!("back/{ID}.jsonl"));
    let [from, to] = [&installed, &back].map(|path| path.to_str().expect("UTF-8"));
    let output = home.convert(&["--to", "claude-code", "-o", to, from]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let read = |folder: &str| -> BTreeMap<PathBuf, Vec<u8>> {
        let root = home.path().join(folder);
        let name = |path: &PathBuf| path.strip_prefix(&root).expect("below").to_owned();
        files_below(&root)
            .iter()
            .map(|path| (name(path), fs::read(path).expect("a file")))
            .collect()
    };
    let (restored, source) = (read("back"), read("in"));
    assert_eq!(restored.keys().collect::<Vec<_>>(), source.keys().collect::<Vec<_>>());
    assert!(restored == source);
    // A plain conversion writes a session for each.
    let plain = home.path().join("plain/s.jsonl");
    let source = home.path().join(format!("in/{ID}.jsonl"));
    let [from, to] = [&source, &plain].map(|path| path.to_str().expect("UTF-8"));
    assert_eq!(home.convert(&["--to", "clido", "-o", to, from]).status.code(), Some(0));
    assert_eq!(files_below(&home.path().join("plain")).len(), 4);
}

#[test]
fn a_compacted_session_goes_on_from_its_last_compaction() {
    let home = Home::new();
    let compacted =
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/commands/compaction.in/session.jsonl");
    let bytes = fs::read_to_string(compacted).expect("a file");
    let source = home.write("in/session.jsonl", &bytes);
    let project = format!("--install={}", home.project().display());
    let shown = |more: &[&str]| {
        let output = home.convert(&[&["--to", "clido", &*project, &*source], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let name = text(&output.stdout).trim().rsplit(' ').next().expect("a name").to_owned();
        let path = home.clido().join(format!("{name}.jsonl"));
        let path = path.to_str().expect("UTF-8");
        let output = home.convert(&["carry", "strip", path]);
        let back = home.convert(&["-q", "--to", "claude-code", path]);
        assert_eq!(text(&back.stdout), bytes);
        fs::remove_file(path).expect("removed");
        text(&output.stdout).to_owned()
    };
    let whole = home.convert(&["-q", "--to", "clido", "--carry", "none", &source]);
    let whole = text(&whole.stdout);
    assert!(whole.contains("A long talk"));
    let goes_on = shown(&[]);
    assert!(!goes_on.contains("A long talk") && goes_on.contains("Going on."), "{goes_on}");
    assert_eq!(shown(&["--from-last-compaction"]), goes_on);
    assert!(shown(&["--from-start"]).contains("A long talk"));
    assert!(shown(&["--all-branches"]).contains("A long talk"));
    let alone = home.convert(&["--to", "clido", "--from-start", &source]);
    assert_eq!(alone.status.code(), Some(2), "{}", text(&alone.stderr));
}
