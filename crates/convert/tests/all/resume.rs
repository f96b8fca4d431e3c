//! Tests of `convert resume`: to another agent, home again, and its refusals.

#![cfg(unix)]

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Write,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::Arc,
    time::{Duration, SystemTime},
};

use ::sessions::SessionFiles;
use archive::{
    Change, ConvertError, Drafted, InstallTarget, Job, JobConfig, NotInstalled, RunOutputs,
    Warnings,
};
use convert::{FORMATS, by_name};
use core_model::{Environment, System};
use storage::Interruption;

use crate::shared::turns::share;

/// An agent: its name, a session of it in `fixtures`, the folder in that session, and its id.
struct Agent {
    name: &'static str,
    fixture: &'static str,
    cwd: &'static str,
    id: &'static str,
}

const AGENTS: [Agent; 7] = [
    Agent {
        name: "claude-code",
        fixture: "claude-code/one-tool-call.jsonl",
        cwd: "/home/ada/demo",
        id: "3285ccd6-44df-46ab-bebf-94ec7fdee0c4",
    },
    Agent {
        name: "clido",
        fixture: "clido/plain.jsonl",
        cwd: "/home/ada/demo",
        id: "920b7261-ef3c-4e1c-8556-681a81660d84",
    },
    Agent {
        name: "codex",
        fixture: "codex/one-call.jsonl",
        cwd: "/home/ada/app",
        id: "01a20000-0000-7000-8000-000000000001",
    },
    Agent {
        name: "copilot",
        fixture: "copilot/one-call.jsonl",
        cwd: "/home/ada/app",
        id: "0b1e0000-4816-4876-a877-1c435b4dc2af",
    },
    Agent {
        name: "pi",
        fixture: "pi/one-call.jsonl",
        cwd: "/home/user/project",
        id: "01a204d9-c1ad-7020-8220-65475b8a1298",
    },
    Agent {
        name: "gemini",
        fixture: "gemini/one-call.jsonl",
        cwd: "/home/user/project",
        id: "71de4fac-a477-400c-b3c5-34bbe2c339ed",
    },
    Agent {
        name: "qwen",
        fixture: "qwen/one-call.jsonl",
        cwd: "/home/user/project",
        id: "6e47e829-b0aa-4753-a26b-636f4a629329",
    },
];

fn agent(name: &str) -> &'static Agent {
    AGENTS.iter().find(|agent| agent.name == name).expect("an agent")
}

/// Returns the id that a session of an agent has in another one: Qwen Code finds no UUID of version 7.
fn id_in(other: &Agent, own: &Agent) -> String {
    match other.name {
        "qwen" => format_gemini::session_uuid(own.id),
        _ => own.id.to_owned(),
    }
}

/// A home folder with a project, in which agents keep sessions.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let home = Self { folder: tempfile::tempdir().expect("a folder") };
        fs::create_dir(home.project()).expect("a folder");
        home
    }

    fn path(&self) -> PathBuf {
        fs::canonicalize(self.folder.path()).expect("a folder")
    }

    fn project(&self) -> PathBuf {
        self.path().join("app")
    }

    /// Returns the path at which an agent itself keeps its session.
    fn native(&self, agent: &Agent) -> PathBuf {
        let (project, id) = (self.project(), agent.id);
        let project = project.to_str().expect("UTF-8");
        self.path().join(match agent.name {
            "claude-code" => {
                let folder = format_claude_code::encode_project_dir(project);
                format!(".claude/projects/{folder}/{id}.jsonl")
            }
            "clido" => {
                let folder = project.replace('/', "_");
                format!(".local/share/clido/sessions/{folder}/{id}.jsonl")
            }
            // Codex names files by the local time.
            "codex" => {
                format!(".codex/sessions/2026/03/01/rollout-2026-03-01T12-00-00-{id}.jsonl")
            }
            "qwen" => {
                let folder = format_gemini::encode_project_dir(project);
                format!(".qwen/projects/{folder}/chats/{id}.jsonl")
            }
            // Gemini CLI names files by the time and a part of the id.
            "gemini" => {
                format!(".gemini/tmp/mine/chats/session-2026-03-01T10-00-{}.jsonl", &id[..8])
            }
            "copilot" => format!(".copilot/session-state/{id}/events.jsonl"),
            _ => {
                let folder = format_pi::encode_project_dir(project);
                format!(".pi/agent/sessions/{folder}/2026-03-01T10-00-00-000Z_{id}.jsonl")
            }
        })
    }

    /// Writes the session of an agent, as the agent does.
    fn with_session(&self, agent: &Agent) -> PathBuf {
        let fixture = Path::new("../../fixtures").join(agent.fixture);
        let text = fs::read_to_string(fixture).expect("a fixture");
        let path = self.native(agent);
        let project = self.project();
        if agent.name == "gemini" {
            let marker = path.with_file_name("../.project_root");
            self.write(&marker, project.to_str().expect("UTF-8"));
        }
        self.write(&path, &text.replace(agent.cwd, project.to_str().expect("UTF-8")));
        path
    }

    /// Writes a file that nobody has written to for an hour.
    fn write(&self, path: &Path, text: &str) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
        rest(path);
    }

    fn convert(&self, arguments: &[&str]) -> Output {
        self.convert_in(&self.project(), arguments, &[])
    }

    fn convert_in(&self, folder: &Path, arguments: &[&str], path: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_convert"))
            .args(arguments)
            .current_dir(folder)
            .env_clear()
            .env("HOME", self.path())
            .env("PATH", path.join(":"))
            .output()
            .expect("the program runs")
    }

    /// Runs `resume` and returns its standard output. All files rest then.
    fn resume(&self, arguments: &[&str]) -> String {
        let output = self.convert(&[&["resume"], arguments].concat());
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {message}");
        self.sessions().keys().for_each(|path| rest(path));
        text(&output.stdout).to_owned()
    }

    /// Runs `resume`, asserts that it refuses and writes nothing, and returns the reason.
    fn refuses(&self, arguments: &[&str]) -> String {
        let before = self.sessions();
        let output = self.convert(&[&["resume"], arguments].concat());
        let message = text(&output.stderr).to_owned();
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""), "{message}");
        assert_eq!(self.sessions(), before);
        message
    }

    /// Returns all files of all agents.
    fn sessions(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.path()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let bytes = fs::read(&path).expect("a file");
                    files.insert(path, bytes);
                }
            }
        }
        files
    }

    /// Returns the only file of an agent.
    fn only(&self, agent: &Agent) -> PathBuf {
        let root = match agent.name {
            "claude-code" => ".claude",
            "clido" => ".local/share/clido",
            "codex" => ".codex",
            "gemini" => ".gemini",
            "qwen" => ".qwen",
            "copilot" => ".copilot",
            _ => ".pi",
        };
        let root = self.path().join(root);
        let is_session = |path: &PathBuf| {
            path.starts_with(&root) && path.extension().is_some_and(|it| it == "jsonl")
        };
        let files: Vec<_> = self.sessions().into_keys().filter(is_session).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        files[0].clone()
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

/// Sets the time of a file to an hour ago.
fn rest(path: &Path) {
    age(path, 60);
}

/// Sets the time of a file to some minutes ago.
fn age(path: &Path, minutes: u64) {
    #[expect(clippy::disallowed_methods, reason = "the age of a file is relative to now")]
    let now = SystemTime::now();
    let file = File::options().append(true).open(path).expect("opened");
    file.set_modified(now - Duration::from_secs(60 * minutes)).expect("a time");
}

/// Adds a turn to a session, as its agent does: a prompt, and an answer.
fn say(agent: &Agent, path: &Path, prompt: &str) {
    let session = fs::read_to_string(path).expect("a session");
    let last = session.lines().next_back().expect("a line");
    let last: serde_json::Value = serde_json::from_str(last).expect("an object");
    let member = |name: &str| last.get(name).and_then(|it| it.as_str()).unwrap_or_default();
    let time = "2026-12-01T10:00:00.000Z";
    let lines = match agent.name {
        "claude-code" => {
            let head = format!(
                r#""sessionId":"{}","cwd":"{}","timestamp":"{time}""#,
                member("sessionId"),
                member("cwd").replace('\\', r"\\")
            );
            let parent = member("uuid");
            [
                format!(
                    r#"{{"parentUuid":"{parent}","type":"user","uuid":"{prompt}-1",{head},"message":{{"role":"user","content":"{prompt}"}}}}"#
                ),
                format!(
                    r#"{{"parentUuid":"{prompt}-1","type":"assistant","uuid":"{prompt}-2",{head},"message":{{"id":"m-{prompt}","type":"message","role":"assistant","model":"claude-opus-4-5","content":[{{"type":"text","text":"Done."}}]}}}}"#
                ),
            ]
        }
        "clido" => [
            format!(
                r#"{{"type":"user_message","role":"user","content":[{{"text":"{prompt}","type":"text"}}]}}"#
            ),
            r#"{"type":"assistant_message","content":[{"text":"Done.","type":"text"}]}"#.to_owned(),
        ],
        "codex" => {
            let item = |role: &str, kind: &str, text: &str| {
                format!(
                    r#"{{"timestamp":"{time}","type":"response_item","payload":{{"type":"message","role":"{role}","content":[{{"type":"{kind}","text":"{text}"}}]}}}}"#
                )
            };
            [item("user", "input_text", prompt), item("assistant", "output_text", "Done.")]
        }
        "gemini" => {
            let item = |id: &str, kind: &str, text: &str| {
                format!(
                    r#"{{"id":"{id}","timestamp":"{time}","type":"{kind}","content":[{{"text":"{text}"}}]}}"#
                )
            };
            [
                item(&format!("{prompt}-1"), "user", prompt),
                item(&format!("{prompt}-2"), "gemini", "Done."),
            ]
        }
        "qwen" => {
            let head = format!(
                r#""sessionId":"{}","cwd":"{}","timestamp":"{time}""#,
                member("sessionId"),
                member("cwd").replace('\\', r"\\")
            );
            let item = |id: &str, parent: &str, kind: &str, role: &str, text: &str| {
                format!(
                    r#"{{"uuid":"{id}","parentUuid":"{parent}",{head},"type":"{kind}","message":{{"role":"{role}","parts":[{{"text":"{text}"}}]}}}}"#
                )
            };
            let first = format!("{prompt}-1");
            [
                item(&first, member("uuid"), "user", "user", prompt),
                item(&format!("{prompt}-2"), &first, "assistant", "model", "Done."),
            ]
        }
        "copilot" => {
            let item = |id: &str, parent: &str, kind: &str, data: &str| {
                format!(
                    r#"{{"type":"{kind}","data":{{{data}}},"id":"{id}","timestamp":"{time}","parentId":"{parent}"}}"#
                )
            };
            let ids = [1, 2].map(|n| core_model::uuid_of_name(prompt, &n.to_string()));
            let answer = r#""messageId":"m","content":"Done.","toolRequests":[]"#;
            [
                item(&ids[0], member("id"), "user.message", &format!(r#""content":"{prompt}""#)),
                item(&ids[1], &ids[0], "assistant.message", answer),
            ]
        }
        _ => {
            let item = |id: &str, parent: &str, role: &str, text: &str| {
                format!(
                    r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"{time}","message":{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}],"timestamp":1796119200000}}}}"#
                )
            };
            [
                item(&format!("{prompt}-1"), member("id"), "user", prompt),
                item(&format!("{prompt}-2"), &format!("{prompt}-1"), "assistant", "Done."),
            ]
        }
    };
    let mut file = File::options().append(true).open(path).expect("opened");
    writeln!(file, "{}", lines.join("\n")).expect("written");
    drop(file);
    rest(path);
}

fn pairs() -> impl Iterator<Item = (&'static Agent, &'static Agent)> {
    let pairs = AGENTS.iter().flat_map(|one| AGENTS.iter().map(move |other| (one, other)));
    pairs.filter(|(one, other)| one.name != other.name)
}

/// A third of the pairs, other ones each day.
#[test]
fn a_session_goes_to_each_other_agent_and_home() {
    for (own, other) in share(pairs().collect(), 3) {
        let pair = format!("{} {}", own.name, other.name);
        let home = Home::new();
        let original = home.with_session(own);
        let before = fs::read(&original).expect("a session");
        let command = home.resume(&["--in", other.name]);
        let copy = home.only(other);
        assert_eq!(fs::read(&original).expect("a session"), before, "{pair}");
        let project = home.project();
        assert!(command.starts_with(&format!("cd {} && ", project.display())), "{command}");
        assert!(command.trim_end().ends_with(&id_in(other, own)), "{pair}: {command}");
        // The same command again writes nothing.
        let there = home.sessions();
        assert_eq!(home.resume(&["--in", other.name]), command, "{pair}");
        assert_eq!(home.resume(&[own.id, "--in", other.name]), command, "{pair}");
        assert_eq!(home.sessions(), there, "{pair}");
        // A copy without turns of its own brings nothing home.
        home.resume(&[own.id, "--in", own.name]);
        assert_eq!(home.sessions(), there, "{pair}");
        say(other, &copy, "more-words");
        assert_eq!(home.resume(&[own.id, "--in", other.name]), command, "{pair}");
        home.resume(&[own.id, "--in", own.name]);
        assert_eq!(home.only(own), original, "{pair}");
        let after = fs::read(&original).expect("a session");
        assert!(after.starts_with(&before) && after.len() > before.len(), "{pair}");
        let new = text(&after[before.len()..]);
        assert!(new.contains("more-words") && new.contains("Done."), "{pair}: {new}");
        // Home again: nothing new.
        let there = home.sessions();
        home.resume(&[own.id, "--in", own.name]);
        assert_eq!(home.sessions(), there, "{pair}");
        // It goes on at home, and the copy gets the turn.
        say(own, &original, "at-home");
        home.resume(&[own.id, "--in", other.name]);
        assert_eq!(home.only(other), copy, "{pair}");
        let copied = fs::read_to_string(&copy).expect("a copy");
        assert!(copied.contains("at-home") && copied.contains("more-words"), "{pair}");
        // And once more home.
        say(other, &copy, "last-words");
        let before = fs::read(&original).expect("a session");
        home.resume(&[own.id, "--in", own.name]);
        let after = fs::read(&original).expect("a session");
        assert!(after.starts_with(&before), "{pair}");
        assert!(text(&after[before.len()..]).contains("last-words"), "{pair}");
        assert_eq!(home.only(own), original, "{pair}");
    }
}

/// Two turns of the other agent come home one by one, without a turn at home between them. A third of the pairs, other
/// ones each day.
#[test]
fn turns_come_home_again_and_again() {
    for (own, other) in share(pairs().collect(), 3) {
        let pair = format!("{} {}", own.name, other.name);
        let home = Home::new();
        let original = home.with_session(own);
        let before = fs::read(&original).expect("a session");
        home.resume(&["--in", other.name]);
        let copy = home.only(other);
        for words in ["first-words", "second-words", "third-words"] {
            say(other, &copy, words);
            home.resume(&[own.id, "--in", own.name]);
            let after = fs::read(&original).expect("a session");
            assert!(after.starts_with(&before), "{pair}");
            assert!(text(&after[before.len()..]).contains(words), "{pair}");
            rest(&original);
            home.resume(&[own.id, "--in", other.name]);
        }
        let after = fs::read_to_string(&original).expect("a session");
        assert!(after.contains("first-words") && after.contains("second-words"), "{pair}");
        // The file of the original goes away and comes home as it is.
        let away = home.path().join("away.jsonl");
        let back = home.path().join("back.jsonl");
        let [away, back, original] =
            [&away, &back, &original].map(|it| it.to_str().expect("UTF-8"));
        home.convert(&[original, "--to", other.name, "-o", away]);
        home.convert(&[away, "--to", own.name, "-o", back]);
        assert_eq!(fs::read_to_string(back).ok().as_deref(), Some(&*after), "{pair}");
    }
}

/// `list` says which sessions are copies, and of which others.
#[test]
fn copies_are_listed_with_their_originals() {
    let home = Home::new();
    let own = agent("claude-code");
    let original = home.with_session(own);
    let listed = |arguments: &[&str]| {
        let output = home.convert(&[&["list", "-q"], arguments].concat());
        text(&output.stdout).to_owned()
    };
    let head = |text: &str| text.lines().next().expect("a line").to_owned();
    assert!(!head(&listed(&[])).contains("ORIGIN"));
    home.resume(&["--in", "codex"]);
    let copy = home.only(agent("codex"));
    for went_on in [false, true] {
        let columns: Vec<String> =
            head(&listed(&[])).split_whitespace().map(str::to_owned).collect();
        assert_eq!(columns, ["ID", "FORMAT", "ORIGIN", "WHEN", "SIZE", "PROJECT", "TITLE"]);
        let origin = if went_on { "codex claude-code, went on" } else { "codex claude-code" };
        let lines = listed(&["--columns", "format,origin"]);
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(lines.lines().any(|line| words(line) == origin), "{lines}");
        let objects = listed(&["--json"]);
        let objects: Vec<serde_json::Value> =
            objects.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
        let of = |format: &str| objects.iter().find(|it| it["format"] == format).expect("listed");
        assert_eq!(of("codex")["converted_from"], "claude-code");
        assert_eq!(of("codex")["went_on"], went_on);
        assert_eq!(of("codex")["copy_of"], original.to_str().expect("UTF-8"));
        assert_eq!(of("claude-code").get("converted_from"), None);
        say(agent("codex"), &copy, "away");
    }
}

/// A session goes from agent to agent, each adds a turn, and all turns come home: to the original, and to
/// a copy in between.
#[test]
fn a_session_goes_round() {
    for others in [["codex", "pi"], ["clido", "codex"], ["pi", "clido"]] {
        let [second, third] = others.map(agent);
        let home = Home::new();
        let own = agent("claude-code");
        let original = home.with_session(own);
        let before = fs::read(&original).expect("a session");
        home.resume(&["--in", second.name]);
        let copy = home.only(second);
        say(second, &copy, "in-the-second");
        let first_copy = fs::read(&copy).expect("a copy");
        home.resume(&[own.id, "--in", third.name]);
        say(third, &home.only(third), "in-the-third");
        home.resume(&[own.id, "--in", own.name]);
        let after = fs::read(home.only(own)).expect("a session");
        assert!(after.starts_with(&before), "{others:?}");
        let new = text(&after[before.len()..]);
        let places = ["in-the-second", "in-the-third"].map(|words| new.find(words));
        assert!(places[0].is_some() && places[0] < places[1], "{others:?}: {new}");
        let path = home.only(third);
        home.resume(&[path.to_str().expect("UTF-8"), "--in", second.name]);
        let after = fs::read(home.only(second)).expect("a copy");
        assert!(after.starts_with(&first_copy), "{others:?}");
        assert!(text(&after[first_copy.len()..]).contains("in-the-third"), "{others:?}");
    }
}

#[test]
fn both_went_on() {
    for (own, other) in share(pairs().collect(), 3) {
        let home = Home::new();
        let original = home.with_session(own);
        home.resume(&["--in", other.name]);
        let copy = home.only(other);
        say(own, &original, "at-home");
        say(other, &copy, "away");
        let message = home.refuses(&[copy.to_str().expect("UTF-8"), "--in", own.name]);
        assert!(message.contains("both went on"), "{message}");
        assert!(message.contains("write the other one to a new file"), "{message}");
        let message = home.refuses(&[original.to_str().expect("UTF-8"), "--in", other.name]);
        assert!(message.contains("both went on"), "{message}");
        home.refuses(&[own.id, "--in", own.name]);
    }
}

/// A copy that was not continued is written anew if the original went on.
#[test]
fn an_older_copy_gets_the_turns_of_the_original() {
    for (own, other) in share(pairs().collect(), 3) {
        let home = Home::new();
        let original = home.with_session(own);
        home.resume(&["--in", other.name]);
        say(own, &original, "at-home");
        home.resume(&["--in", other.name]);
        let copied = fs::read_to_string(home.only(other)).expect("a copy");
        assert!(copied.contains("at-home"), "{} {}", own.name, other.name);
    }
}

/// A copy without turns of its own gets the turns of another copy, also if the original went on in between and the
/// turns have not come home yet.
#[test]
fn an_older_copy_gets_the_turns_of_another_copy() {
    let own = agent("claude-code");
    for went_on in [false, true] {
        for others in [["pi", "codex"], ["codex", "clido"], ["qwen", "pi"], ["gemini", "copilot"]] {
            let [idle, second] = others.map(agent);
            let home = Home::new();
            let original = home.with_session(own);
            home.resume(&["--in", idle.name]);
            let older = home.only(idle);
            age(&older, 180);
            if went_on {
                say(own, &original, "at-home");
                age(&original, 120);
            }
            home.resume(&[own.id, "--in", second.name]);
            let copy = home.only(second);
            say(second, &copy, "in-the-second");
            home.resume(&[copy.to_str().expect("UTF-8"), "--in", idle.name]);
            let copied = fs::read_to_string(&older).expect("a copy");
            assert!(copied.contains("in-the-second"), "{others:?}");
            assert_eq!(copied.contains("at-home"), went_on, "{others:?}");
            // Both come home with all turns.
            home.resume(&[older.to_str().expect("UTF-8"), "--in", own.name]);
            let after = fs::read_to_string(&original).expect("a session");
            assert!(after.contains("in-the-second"), "{others:?}");
            // A turn of its own is not written over.
            say(idle, &older, "in-the-idle");
            say(second, &copy, "once-more");
            let message = home.refuses(&[copy.to_str().expect("UTF-8"), "--in", idle.name]);
            assert!(message.contains("both went on"), "{others:?}: {message}");
        }
    }
}

#[test]
fn a_session_that_its_agent_has_is_resumed_there() {
    for own in &AGENTS {
        let home = Home::new();
        let original = home.with_session(own);
        let before = home.sessions();
        let command = home.resume(&["--in", own.name]);
        assert!(command.trim_end().ends_with(own.id), "{command}");
        let path = original.to_str().expect("UTF-8");
        assert_eq!(home.resume(&[path, "--in", own.name]), command);
        assert_eq!(home.resume(&[&own.id[..18], "--in", own.name]), command);
        assert_eq!(home.sessions(), before);
        // A file elsewhere comes into the folder of the agent.
        let other = Home::new();
        let elsewhere = other.project().join(original.file_name().expect("a name"));
        let words = text(&fs::read(&original).expect("read")).to_owned();
        let project = other.project();
        let words = words
            .replace(home.project().to_str().expect("UTF-8"), project.to_str().expect("UTF-8"));
        other.write(&elsewhere, &words);
        other.resume(&[elsewhere.to_str().expect("UTF-8"), "--in", own.name]);
        assert_eq!(fs::read_to_string(other.only(own)).expect("a session"), words);
    }
}

#[test]
fn the_latest_session_is_of_this_project() {
    let home = Home::new();
    home.with_session(agent("pi"));
    let claude = home.with_session(agent("claude-code"));
    // The newest session is of another project, and the newest file of this one has no message.
    let elsewhere = home.path().join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    let other = fs::read_to_string(&claude).expect("read");
    let other = other.replace(home.project().to_str().expect("UTF-8"), "/elsewhere");
    let newest = home.path().join(".claude/projects/-elsewhere/5285ccd6.jsonl");
    home.write(&newest, &other);
    age(&newest, 10);
    age(&claude, 50);
    let empty = claude.with_file_name("6285ccd6.jsonl");
    fs::write(&empty, "{\"type\":\"summary\",\"summary\":\"x\",\"leafUuid\":\"y\"}\n")
        .expect("written");
    let command = home.resume(&["--in", "codex"]);
    assert!(command.trim_end().ends_with(agent("claude-code").id), "{command}");
    let output = home.convert_in(&elsewhere, &["resume", "--in", "codex"], &[]);
    assert!(text(&output.stderr).contains("no session of this project"));
    age(&newest, 10);
    age(&home.only(agent("codex")), 5);
    let output = home.convert_in(&elsewhere, &["detect", "latest"], &[]);
    // The copy in Codex has no turns of its own, and the file without a message is none to go on with.
    assert_eq!(text(&output.stdout), format!("claude-code\t{}\n", newest.display()));
    let message = home.refuses(&["no-such-session", "--in", "codex"]);
    assert!(message.contains("no such file, and no session with this id"), "{message}");
}

#[test]
fn a_running_agent_is_noticed() {
    let home = Home::new();
    let own = agent("claude-code");
    let original = home.with_session(own);
    let open = File::open(&original).expect("opened");
    let mut other = Command::new("sleep").arg("60").stdin(Stdio::from(open)).spawn().expect("runs");
    if cfg!(target_os = "linux") {
        let message = home.refuses(&["--in", "codex"]);
        let expected = format!("is open in process {} (sleep)", other.id());
        assert!(message.contains(&expected) && message.contains("--force"), "{message}");
    }
    other.kill().and_then(|()| other.wait()).expect("ended");
    let touch = || fs::write(&original, fs::read(&original).expect("read")).expect("written");
    touch();
    let message = home.refuses(&["--in", "codex"]);
    assert!(message.contains("written less than 3 seconds ago"), "{message}");
    home.resume(&["--in", "codex", "--force"]);
    if cfg!(target_os = "linux") {
        let open = File::open(home.only(agent("codex"))).expect("opened");
        let mut other =
            Command::new("sleep").arg("60").stdin(Stdio::from(open)).spawn().expect("runs");
        let message = home.refuses(&["--in", "codex"]);
        assert!(message.contains(&format!("is open in process {}", other.id())), "{message}");
        other.kill().and_then(|()| other.wait()).expect("ended");
    }
    // The original is written to while the copy comes home.
    let copy = home.only(agent("codex"));
    say(agent("codex"), &copy, "away");
    touch();
    let message = home.refuses(&[copy.to_str().expect("UTF-8"), "--in", own.name]);
    assert!(message.contains("written less than 3 seconds ago"), "{message}");
}

#[test]
fn a_call_that_the_agent_would_not_see_keeps_a_session() {
    let home = Home::new();
    let own = agent("claude-code");
    let original = home.with_session(own);
    let session = fs::read_to_string(&original).expect("read");
    let picture =
        r#"[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aaaa"}}]"#;
    // The result of an unknown call is a notice in pi, which has no pictures.
    let found = session
        .replace(r#""     1→alpha\n     2→beta""#, picture)
        .replace(r#""tool_use_id":"toolu_01A""#, r#""tool_use_id":"toolu_99""#);
    assert!(found.contains(picture) && found.contains("toolu_99"));
    home.write(&original, &found);
    let message = home.refuses(&["--in", "pi"]);
    assert!(message.contains("pi would go on without a part of it: block.image ×1"), "{message}");
    home.resume(&["--in", "pi", "--allow-loss"]);
    // It is kept for the way back.
    say(agent("pi"), &home.only(agent("pi")), "away");
    home.resume(&[own.id, "--in", own.name]);
    let after = fs::read_to_string(&original).expect("read");
    assert!(after.starts_with(&found) && after.contains("away"));
}

/// OpenCode would hide turns behind the point to which the user undid the session, and delete them.
#[test]
fn turns_that_the_agent_would_hide_keep_a_session() {
    let home = Home::new();
    let away = home.path().join("away.jsonl");
    let path = away.to_str().expect("UTF-8");
    let fixture = fs::canonicalize("../../fixtures/opencode/reverted.json").expect("a fixture");
    let output = home.convert(&[fixture.to_str().expect("UTF-8"), "--to", "codex", "-o", path]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    say(agent("codex"), &away, "away");
    rest(&away);
    let message = home.refuses(&[path, "--in", "opencode"]);
    assert!(message.contains("to which the user undid the session"), "{message}");
    let output = home.convert(&["resume", path, "--in", "opencode", "--allow-loss"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("opencode import"));
}

#[test]
fn a_carry_that_was_cut_is_no_way_home() {
    let home = Home::new();
    let own = agent("claude-code");
    let original = home.with_session(own);
    home.resume(&["--in", "codex"]);
    let copy = home.only(agent("codex"));
    let session = fs::read_to_string(&copy).expect("read");
    let kept: Vec<&str> = session.lines().filter(|it| !it.contains("_call\"")).collect();
    assert!(kept.len() < session.lines().count());
    home.write(&copy, &(kept.join("\n") + "\n"));
    say(agent("codex"), &copy, "away");
    let message = home.refuses(&[copy.to_str().expect("UTF-8"), "--in", own.name]);
    assert!(message.contains("both went on"), "{message}");
    fs::remove_file(&original).expect("removed");
    let message = home.refuses(&[copy.to_str().expect("UTF-8"), "--in", own.name]);
    assert!(message.contains("without a part of it: gaps in its carry"), "{message}");
}

#[test]
fn another_session_of_the_same_name_stays() {
    let home = Home::new();
    home.with_session(agent("claude-code"));
    let id = agent("claude-code").id;
    let taken = home.native(&Agent { id, ..*agent("clido") });
    let clido = fs::read_to_string("../../fixtures/clido/plain.jsonl").expect("a fixture");
    home.write(&taken, &clido);
    let claude = home.native(agent("claude-code"));
    let message = home.refuses(&[claude.to_str().expect("UTF-8"), "--in", "clido"]);
    assert!(message.contains("exists; a client's session is never overwritten"), "{message}");
}

/// A file is not replaced if its agent has written to it since it was compared.
#[test]
fn turns_that_come_in_between_are_not_lost() {
    let home = Home::new();
    let own = agent("claude-code");
    let original = home.with_session(own);
    home.resume(&["--in", "codex"]);
    let copy = home.only(agent("codex"));
    say(agent("codex"), &copy, "away");
    let folder = home.path().into_os_string();
    let variable = |name: &str| (name == "HOME").then(|| folder.clone());
    let environment = Environment::new(System::HERE, &variable);
    let job = || Job {
        config: JobConfig::new(FORMATS, by_name(own.name).expect("a format")),
        outputs: Arc::new(RunOutputs::anywhere(false, Interruption::default())),
        n_scanners: 0,
        warnings: Warnings::new(|warning| panic!("{warning}")),
    };
    let target = InstallTarget { environment: &environment, project: None, fallback: None };
    let unit = SessionFiles::of_file(FORMATS, copy, &mut |warning| panic!("{warning}"));
    let unit = unit.expect("listed");
    let draft = || match job().draft(&unit, &target).expect("drafted") {
        Drafted::Ready(draft) => draft,
        Drafted::Refused(results) => panic!("{results:?}"),
    };
    let first = draft();
    assert_eq!(first.installed().change, Change::Grows);
    say(own, &original, "in-between");
    let before = home.sessions();
    // It names the file that grew, and not the source.
    let Err(ConvertError::NotInstalled(NotInstalled::Meanwhile(changed))) = first.publish(&job())
    else {
        panic!("a file that grew in the meantime was replaced");
    };
    assert_eq!(changed, original.display().to_string());
    assert_eq!(home.sessions(), before);
}

/// A session may have tens of thousands of sub-agents, and a report took 5 kB.
#[test]
fn the_reports_on_sub_agents_are_counted_and_not_kept() {
    let home = Home::new();
    let own = agent("claude-code");
    let main = home.with_session(own);
    let folder = main.with_extension("").join("subagents");
    let line = fs::read_to_string(&main).expect("read").lines().next().map(str::to_owned);
    let line = line.expect("a line").replace("\"isSidechain\":false", "\"isSidechain\":true");
    for n in 0..8 {
        let text = format!("{}\n", line.replacen('{', &format!("{{\"agentId\":\"a{n}\","), 1));
        home.write(&folder.join(format!("agent-a{n}.jsonl")), &text);
    }
    let ran = home.convert(&["resume", own.id, "--in", "codex", "--dry-run"]);
    let told = String::from_utf8(ran.stderr).expect("UTF-8");
    assert!(told.contains("and 4 more files") && told.contains("isSidechain ×12,"), "{told}");
    let path = home.path().into_os_string();
    let variable = |name: &str| (name == "HOME").then(|| path.clone());
    let environment = Environment::new(System::HERE, &variable);
    let job = Job {
        config: JobConfig::new(FORMATS, by_name("codex").expect("a format")),
        outputs: Arc::new(RunOutputs::anywhere(false, Interruption::default())),
        n_scanners: 0,
        warnings: Warnings::new(|warning| panic!("{warning}")),
    };
    let target = InstallTarget { environment: &environment, project: None, fallback: None };
    let unit = SessionFiles::of_file(FORMATS, main, &mut |_| {}).expect("listed");
    let mut n_files = 0;
    let mut count = |_: &archive::FileReport| {
        n_files += 1;
        false
    };
    let Ok(Drafted::Ready(draft)) = job.draft_with(&unit, &target, &mut count) else {
        panic!("not drafted");
    };
    assert_eq!(draft.files().count(), 1, "the main file");
    assert_eq!(n_files, 9);
    draft.publish(&job).expect("published");
    assert!(home.sessions().len() >= 9, "all files are written");
}

#[test]
fn a_name_that_a_shell_would_obey_is_not_printed() {
    let home = Home::new();
    let own = agent("claude-code");
    let original = home.with_session(own);
    let odd = original.with_file_name("$(id) x.jsonl");
    fs::rename(&original, &odd).expect("renamed");
    let odd = odd.to_str().expect("UTF-8");
    let message = home.refuses(&[odd, "--in", own.name]);
    assert!(message.contains("its name is not safe in a command"), "{message}");
    // In another agent, it has the name of its id.
    assert!(home.resume(&[odd, "--in", "pi"]).trim_end().ends_with(own.id));
}

#[test]
fn what_no_agent_can_go_on_with_is_refused() {
    let home = Home::new();
    let own = agent("claude-code");
    let original = home.with_session(own);
    let folder = original.parent().expect("a folder");
    let empty = folder.join("7285ccd6.jsonl");
    home.write(&empty, "{\"type\":\"summary\",\"summary\":\"x\",\"leafUuid\":\"y\"}\n");
    let message = home.refuses(&[empty.to_str().expect("UTF-8"), "--in", "pi"]);
    assert!(message.contains("there is no message in it to go on from"), "{message}");
    let other = own.id.replace("3285ccd6-44", "3285ccd6-55");
    let session = fs::read_to_string(&original).expect("read").replace(own.id, &other);
    home.write(&folder.join(format!("{other}.jsonl")), &session);
    let message = home.refuses(&["3285ccd6", "--in", "pi"]);
    assert!(
        message.contains("may be ") && message.contains("choose with a longer id"),
        "{message}"
    );
    let text_file = home.project().join("notes.txt");
    home.write(&text_file, "not a session\n");
    let message = home.refuses(&[text_file.to_str().expect("UTF-8"), "--in", "pi"]);
    assert!(message.contains("name its format with --from"), "{message}");
    // Nothing is written through a link in the agent's folder.
    let elsewhere = home.path().join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    fs::create_dir_all(home.path().join(".pi/agent")).expect("a folder");
    symlink(&elsewhere, home.path().join(".pi/agent/sessions")).expect("a link");
    let message = home.refuses(&[own.id, "--in", "pi"]);
    assert!(message.contains("is a link"), "{message}");
}

#[test]
fn a_dry_run_writes_nothing() {
    let home = Home::new();
    let own = agent("claude-code");
    home.with_session(own);
    let before = home.sessions();
    let output = home.convert(&["resume", "--in", "codex", "--dry-run"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stderr).starts_with("would write "), "{}", text(&output.stderr));
    assert!(text(&output.stdout).ends_with(&format!("codex resume {}\n", own.id)));
    assert_eq!(home.sessions(), before);
    assert!(!home.path().join(".codex").exists());
    home.resume(&["--in", "codex"]);
    say(agent("codex"), &home.only(agent("codex")), "away");
    let before = home.sessions();
    let output = home.convert(&["resume", own.id, "--in", own.name, "--dry-run"]);
    assert!(text(&output.stderr).starts_with("would add the new turns to "));
    assert_eq!(home.sessions(), before);
}

#[test]
fn an_object_has_the_command_as_words() {
    let home = Home::new();
    let own = agent("pi");
    let original = home.with_session(own);
    let said = home.resume(&["--in", "claude-code", "--json"]);
    let said: serde_json::Value = serde_json::from_str(&said).expect("an object");
    let copy = home.only(agent("claude-code"));
    let expected = serde_json::json!({
        "session": own.id, "source": original, "from": "pi", "to": "claude-code", "file": copy,
        "change": "new", "written": true, "project": home.project(),
        "command": ["claude", "--resume", own.id],
    });
    assert_eq!(said, expected);
    let again = home.resume(&["--in", "claude-code", "--json"]);
    assert!(again.contains(r#""change":"up-to-date","written":false"#), "{again}");
}

/// Writes a program that prints its name, its folder and its arguments.
fn fake_client(folder: &Path, name: &str) {
    let program = folder.join(name);
    let script = "#!/bin/sh\nprintf '%s\\n' \"${0##*/}\" \"$PWD\" \"$$\" \"$@\"\nexit 7\n";
    fs::write(&program, script).expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("executable");
}

#[test]
fn it_becomes_the_agent() {
    for (own, other) in share(pairs().collect(), 3) {
        let home = Home::new();
        home.with_session(own);
        let programs = home.path().join("bin");
        fs::create_dir(&programs).expect("a folder");
        let arguments = ["resume", "--in", other.name, "--exec"];
        let path = [programs.to_str().expect("UTF-8")];
        let output = home.convert_in(&home.project(), &arguments, &path);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""));
        assert!(text(&output.stderr).contains("is not on the PATH"), "{}", text(&output.stderr));
        for name in ["claude", "clido", "codex", "copilot", "gemini", "pi", "qwen"] {
            fake_client(&programs, name);
        }
        let project = home.project();
        let (name, command): (_, &[&str]) = match other.name {
            "claude-code" => ("claude", &["--resume"]),
            "codex" => ("codex", &["resume"]),
            "copilot" => ("copilot", &["--resume="]),
            "pi" => ("pi", &["--session"]),
            "gemini" => ("gemini", &["--resume"]),
            "qwen" => ("qwen", &["--resume"]),
            _ => ("clido", &["--resume"]),
        };
        // The second run finds the session there.
        let temporary = home.path().join("temporary");
        fs::create_dir(&temporary).expect("a folder");
        for _ in 0..2 {
            let child = Command::new(env!("CARGO_BIN_EXE_convert"))
                .args(arguments)
                .current_dir(&project)
                .env_clear()
                .env("HOME", home.path())
                .env("PATH", path.join(":"))
                .env("TMPDIR", &temporary)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("the program runs");
            let pid = child.id().to_string();
            let output = child.wait_with_output().expect("it ends");
            assert_eq!(output.status.code(), Some(7), "{}", text(&output.stderr));
            let words: Vec<&str> = text(&output.stdout).lines().collect();
            let (program, words) = words.split_first().expect("a name");
            let mut expected = vec![project.to_str().expect("UTF-8"), &pid];
            let id = id_in(other, own);
            let named = command.last().map(|word| format!("{word}{id}"));
            match named.filter(|word| word.contains('=')) {
                Some(word) => assert_eq!(words.last(), Some(&&*word)),
                None => {
                    expected.extend(command);
                    expected.push(&id);
                    assert_eq!(words, &*expected);
                }
            }
            assert_eq!((*program, words.get(..2)), (name, expected.get(..2)));
            assert_eq!(fs::read_dir(&temporary).expect("a folder").count(), 0);
        }
    }
}

#[test]
fn a_folder_that_is_gone_is_said() {
    let home = Home::new();
    let own = agent("codex");
    home.with_session(own);
    let new = home.path().join("new");
    let into = ["--into", new.to_str().expect("UTF-8")];
    let output = home.convert(&[&["resume", "--in", "pi", "--exec"][..], &into].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("no such folder"), "{}", text(&output.stderr));
    fs::create_dir(&new).expect("a folder");
    let command = home.resume(&[&["--in", "pi"][..], &into].concat());
    assert!(command.starts_with(&format!("cd {} && pi --session", new.display())), "{command}");
}

/// pi and Qwen Code go on only in the folder that the first line of their file names. A session of another system has
/// none here.
#[test]
fn a_session_of_another_system_goes_on_in_a_folder_of_this_one() {
    for to in ["pi", "qwen"] {
        goes_on_in_a_folder_of_this_system(to);
    }
}

fn goes_on_in_a_folder_of_this_system(to: &str) {
    let home = Home::new();
    let own = agent("claude-code");
    let session = home.with_session(own);
    let there = fs::read_to_string(&session).expect("read");
    let project = home.project();
    let there = there.replace(project.to_str().expect("UTF-8"), r"D:\\app");
    assert!(there.contains(r#""cwd":"D:\\app""#), "{there}");
    home.write(&session, &there);
    let file = session.to_str().expect("UTF-8");
    assert!(home.refuses(&[file, "--in", to]).contains("--into FOLDER"), "{to}");
    let before = home.sessions();
    let into = ["--into", project.to_str().expect("UTF-8")];
    home.resume(&[&[file, "--in", to][..], &into].concat());
    let mut after = home.sessions();
    after.retain(|path, _| !before.contains_key(path));
    let (copy, written) = after.pop_first().expect("a copy");
    let expected = format!(r#""cwd":"{}""#, project.display());
    let header = text(&written).lines().next().unwrap_or_default();
    assert!(header.contains(&expected), "{header}");
    say(agent(to), &copy, "away");
    home.resume(&[&[own.id, "--in", "claude-code"][..], &into].concat());
    let back = fs::read_to_string(&session).expect("read");
    assert!(back.starts_with(&there) && back.len() > there.len(), "{back}");
}

/// Older versions of Gemini CLI wrote a document, whose first line has no id.
#[test]
fn an_older_session_of_gemini_is_found_by_its_id() {
    let home = Home::new();
    let document =
        fs::read_to_string("../../fixtures/gemini-document/one-call.json").expect("read");
    let name = "session-2025-12-03T04-00-ff205d73.json";
    home.write(&home.path().join(".gemini/tmp/mine/chats").join(name), &document);
    let project = home.project();
    home.write(
        &home.path().join(".gemini/tmp/mine/.project_root"),
        project.to_str().expect("UTF-8"),
    );
    for id in ["ff205d73", "ff205d73-277d-454b-8eb0-d08c5020361a", "latest"] {
        let output = home.convert(&["show", "--no-pager", id]);
        assert!(output.status.success(), "{id}: {output:?}");
        assert!(text(&output.stdout).contains("List the files"), "{id}: {output:?}");
    }
    home.resume(&["ff205d73", "--in", "codex"]);
    let copies = home.sessions().into_keys();
    assert_eq!(copies.filter(|path| path.starts_with(home.path().join(".codex"))).count(), 1);
}

#[test]
fn streams_are_no_agents_to_go_on_in() {
    let home = Home::new();
    let output = home.convert(&["resume", "--in", "sdk-stream"]);
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(
        message.contains(
            "[possible values: claude-code, clido, codex, copilot, gemini, opencode, pi, qwen]"
        ),
        "{message}"
    );
}

/// Sub-agents go with their session, there and home.
#[test]
fn sub_agents_go_along() {
    let home = Home::new();
    let own = agent("claude-code");
    let original = home.with_session(own);
    let session = fs::read_to_string(&original).expect("read");
    let folder = original.with_extension("").join("subagents");
    let lines = session.replace("\"isSidechain\":false", "\"isSidechain\":true,\"agentId\":\"a1\"");
    home.write(&folder.join("agent-a1.jsonl"), &lines);
    let before = home.sessions();
    home.resume(&["--in", "clido"]);
    let copies: Vec<PathBuf> =
        home.sessions().into_keys().filter(|path| !before.contains_key(path)).collect();
    assert_eq!(copies.len(), 2, "{copies:?}");
    let there = home.sessions();
    home.resume(&[own.id, "--in", "clido"]);
    assert_eq!(home.sessions(), there);
    let copy = copies.iter().find(|path| path.file_stem().is_some_and(|it| it == own.id));
    say(agent("clido"), copy.expect("the session"), "away");
    home.resume(&[own.id, "--in", own.name]);
    let after = home.sessions();
    assert_eq!(after.len(), there.len());
    for (path, bytes) in &before {
        assert!(after[path].starts_with(bytes), "{}", path.display());
        assert_eq!(after[path].len() > bytes.len(), *path == original, "{}", path.display());
    }
    // A sub-agent that is lost there is missed only if it is lost at home too.
    let copy_of_agent = copies.iter().find(|path| path != &copy.expect("the session"));
    fs::remove_file(copy_of_agent.expect("the sub-agent")).expect("removed");
    home.resume(&[own.id, "--in", own.name]);
    fs::remove_file(folder.join("agent-a1.jsonl")).expect("removed");
    let output = home.convert(&["resume", own.id, "--in", own.name]);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("sub-agent a1 is not restored"), "{message}");
}

#[test]
fn a_compacted_session_comes_home_whole() {
    let home = Home::new();
    let own = agent("claude-code");
    let original = home.native(own);
    let session = fs::read_to_string("../../fixtures/claude-code/compaction.jsonl").expect("read");
    let first: serde_json::Value =
        serde_json::from_str(session.lines().next().expect("a line")).expect("an object");
    let id = first["sessionId"].as_str().expect("an id").to_owned();
    let original = original.with_file_name(format!("{id}.jsonl"));
    home.write(&original, &session.replace(own.cwd, home.project().to_str().expect("UTF-8")));
    let before = fs::read(&original).expect("read");
    for other in AGENTS.iter().filter(|other| other.name != own.name) {
        home.resume(&[original.to_str().expect("UTF-8"), "--in", other.name]);
        let copy = home.only(other);
        say(other, &copy, "away");
        let path = copy.to_str().expect("UTF-8");
        home.resume(&[path, "--in", own.name]);
        let after = fs::read(&original).expect("read");
        assert!(after.starts_with(&before) && after.len() > before.len(), "{}", other.name);
        home.write(&original, text(&before));
        fs::remove_file(&copy).expect("removed");
    }
}

/// Other clients keep a session whose id is no UUID under an id of their own, and in a file with more in its name.
#[test]
fn an_odd_id_finds_the_copies_in_other_clients() {
    let home = Home::new();
    let own = agent("clido");
    let original = home.native(own).with_file_name("my-session.jsonl");
    let session = fs::read_to_string(Path::new("../../fixtures").join(own.fixture));
    let session = session.expect("a fixture").replace(own.id, "my-session");
    let session = session.replace(own.cwd, home.project().to_str().expect("UTF-8"));
    for other in AGENTS.iter().filter(|other| other.name != own.name) {
        home.write(&original, &session);
        home.resume(&["my-session", "--in", other.name]);
        let copy = home.only(other);
        say(other, &copy, "away");
        age(&copy, 30);
        home.resume(&["my-session", "--in", own.name]);
        let after = fs::read_to_string(&original).expect("read");
        assert!(after.starts_with(&session) && after.contains("away"), "{}", other.name);
        fs::remove_file(&copy).expect("removed");
    }
}

/// `list` prints the id by which a session is found, also if the lines of a copied file have another one.
#[test]
fn a_listed_id_is_found() {
    let home = Home::new();
    let own = agent("claude-code");
    let copy = home.with_session(own).with_file_name("0c58c6a2-4c62-4d57-ae4e-c2b0f8a6a1f0.jsonl");
    fs::rename(home.native(own), &copy).expect("renamed");
    let listed = home.convert(&["list", "--columns", "id"]);
    let listed = text(&listed.stdout).lines().nth(1).expect("a session").trim().to_owned();
    let shown = home.convert(&["detect", &listed]);
    assert_eq!(text(&shown.stdout), format!("claude-code\t{}\n", copy.display()), "{listed}");
    // Its copy in another client has the id in the lines.
    rest(&copy);
    home.resume(&[&listed, "--in", "codex"]);
    let objects = home.convert(&["list", "--json"]);
    let of = format!("\"copy_of\":\"{}\"", copy.display());
    assert!(text(&objects.stdout).contains(&of), "{}", text(&objects.stdout));
}

/// A folder that one client cannot list hides no session of the others, and messages name it.
#[test]
fn an_unreadable_client_hides_no_other() {
    let home = Home::new();
    let own = agent("claude-code");
    let file = home.with_session(own);
    let odd = home.path().join(".codex/sessions");
    home.write(&odd, "no folder");
    let (odd, id) = (odd.to_str().expect("UTF-8"), own.id);
    let listed = home.convert(&["list", "--columns", "id"]);
    assert!(text(&listed.stdout).contains(id), "{}", text(&listed.stderr));
    assert!(text(&listed.stderr).contains(odd), "{}", text(&listed.stderr));
    let found = home.convert(&["detect", id]);
    assert_eq!(text(&found.stdout), format!("claude-code\t{}\n", file.display()));
    let missing = home.convert(&["detect", "no-such-session"]);
    assert!(text(&missing.stderr).contains(odd), "{}", text(&missing.stderr));
    let installed = home.convert(&[file.to_str().expect("UTF-8"), "--to", "codex", "--install"]);
    let says_why = |output: &Output| {
        let said = text(&output.stderr);
        let advice = "; make it readable, or move it away";
        assert!(said.contains(&format!("{odd}: ")) && said.contains(advice), "{said}");
        assert_eq!(said.matches(odd).count(), 1, "{said}");
    };
    assert_eq!(installed.status.code(), Some(2));
    says_why(&installed);
    for start in ["latest", &id[..8]] {
        let found = home.convert(&["detect", start]);
        assert_eq!(text(&found.stdout), format!("claude-code\t{}\n", file.display()), "{start}");
        says_why(&found);
    }
    let resumed = home.convert(&["resume", "--in", "clido", "--dry-run", "-q"]);
    assert_eq!(resumed.status.code(), Some(0), "{}", text(&resumed.stderr));
    says_why(&resumed);
    // The folder of one project.
    let chats = home.path().join(".gemini/tmp/app/chats");
    fs::create_dir_all(chats.parent().expect("a folder")).expect("a folder");
    symlink("chats", &chats).expect("linked");
    for command in [&["list"][..], &["detect", "latest"]] {
        let said = home.convert(command);
        let said = text(&said.stderr);
        assert!(said.contains(&format!("{}: ", chats.display())), "{command:?}: {said}");
    }
    // A newer session that cannot be read is said too.
    let newer = file.with_file_name("0c58c6a2-4c62-4d57-ae4e-c2b0f8a6a1f0.jsonl.gz");
    fs::write(&newer, b"\x1f\x8b\x08\xff").expect("written");
    rest(&file);
    let found = home.convert(&["detect", "latest"]);
    assert_eq!(text(&found.stdout), format!("claude-code\t{}\n", file.display()));
    let said = format!("{}: left out: ", newer.display());
    assert!(text(&found.stderr).contains(&said), "{}", text(&found.stderr));
}
