//! Tests of stores that yield documents: OpenCode's folder of small files, and its database.

#![cfg(unix)]

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::{Value, json};

#[cfg(feature = "sqlite")]
mod database;

/// The session in the folder of small files, which OpenCode 1.1.65 wrote, and its export.
const ID: &str = "ses_deb0be6ebffeslg1iHEgbIqKWa";
const STORE: &str = "../format-opencode/tests/all/storage";
const EXPORT: &str = "../format-opencode/tests/all/storage.json";

/// A home folder with the data of OpenCode.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let home = Self { folder: tempfile::tempdir().expect("a folder") };
        fs::create_dir(home.path("app")).expect("made");
        home
    }

    /// Returns a home with the session of small files.
    fn with_storage() -> Self {
        let home = Self::new();
        copy(Path::new(STORE), &home.data("storage"));
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.folder.path()).expect("a folder").join(name)
    }

    fn data(&self, name: &str) -> PathBuf {
        self.path(".local/share/opencode").join(name)
    }

    fn run(&self, arguments: &[&str], path: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_convert"))
            .args(arguments)
            .current_dir(self.path("app"))
            .env_clear()
            .env("HOME", self.path(""))
            .env("PATH", path)
            .env("TMPDIR", std::env::temp_dir())
            .output()
            .expect("the program runs")
    }

    /// Runs the program and returns its standard output.
    fn convert(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments, "");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout).to_owned()
    }

    /// Runs the program, asserts that it fails, and returns the reason.
    fn refuses(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments, "");
        assert_ne!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stdout));
        text(&output.stderr).to_owned()
    }

    /// Returns all files of the data of OpenCode.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.data("")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => _ = files.insert(path.clone(), fs::read(path).expect("a file")),
                }
            }
        }
        files
    }

    /// Imports a document as the client does, but into a folder of small files.
    fn import(&self, document: &Value) {
        let id = document["info"]["id"].as_str().expect("an id");
        let write = |name: String, value: &Value| {
            let path = self.data("storage").join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, value.to_string()).expect("written");
        };
        write(format!("session/global/{id}.json"), &document["info"]);
        for message in document["messages"].as_array().expect("messages") {
            let message_id = message["info"]["id"].as_str().expect("an id");
            write(format!("message/{id}/{message_id}.json"), &message["info"]);
            for part in message["parts"].as_array().expect("parts") {
                let part_id = part["id"].as_str().expect("an id");
                write(format!("part/{message_id}/{part_id}.json"), part);
            }
        }
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to),
            false => _ = fs::copy(entry.path(), to).expect("copied"),
        }
    }
}

fn export() -> String {
    fs::read_to_string(EXPORT).expect("a file")
}

/// Adds a turn to a session, as the client does after an import.
fn say(document: &mut Value, prompt: &str) {
    let id = document["info"]["id"].clone();
    let messages = document["messages"].as_array_mut().expect("messages");
    let message = |n: u64, role: &str, more: Value, said: &str| {
        let message_id = format!("msg_fffffffff00{n}aaaaaaaaaaaaaa");
        let mut info = json!({
            "id": message_id, "sessionID": id, "role": role, "agent": "build",
            "time": {"created": 1_795_456_800_000_u64 + n},
        });
        let members = more.as_object().expect("an object").clone();
        info.as_object_mut().expect("an object").extend(members);
        let part = json!({
            "id": format!("prt_fffffffff00{n}aaaaaaaaaaaaaa"), "sessionID": id,
            "messageID": message_id, "type": "text", "text": said,
        });
        json!({"info": info, "parts": [part]})
    };
    let model = json!({"model": {"providerID": "anthropic", "modelID": "claude-sonnet-4-5"}});
    let response = json!({
        "parentID": "msg_fffffffff001aaaaaaaaaaaaaa", "modelID": "claude-sonnet-4-5",
        "providerID": "anthropic", "mode": "build", "path": {"cwd": "/", "root": "/"}, "cost": 0,
        "tokens": {"input": 1, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}},
    });
    messages.push(message(1, "user", model, prompt));
    messages.push(message(2, "assistant", response, "Done."));
}

#[test]
fn the_sessions_of_a_folder_of_small_files_are_found() {
    let home = Home::with_storage();
    let before = home.files();
    let listed: Value = serde_json::from_str(&home.convert(&["list", "--json"])).expect("JSON");
    assert_eq!(listed["session"], ID);
    assert_eq!(listed["format"], "opencode");
    assert_eq!(listed["project"], "/home/user/project");
    let shown = home.convert(&["show", &ID[..12]]);
    assert!(shown.contains("@@mock:write"), "{shown}");
    let stats = home.convert(&["stats", ID, "--json"]);
    assert!(stats.contains("\"opencode\"") || stats.contains("tool"), "{stats}");
    for at in [home.data("storage"), home.data("")] {
        let found = home.convert(&["find", "--text", "mock:write", at.to_str().expect("UTF-8")]);
        assert!(found.contains("mock:write"), "{found}");
    }
    assert_eq!(home.files(), before);
}

#[test]
fn a_session_of_small_files_goes_to_another_format_and_back_as_its_export() {
    let home = Home::with_storage();
    let (out, back) = (home.path("out.jsonl"), home.path("back.json"));
    let [out, back] = [&out, &back].map(|path| path.to_str().expect("UTF-8"));
    home.convert(&[ID, "--to", "claude-code", "-o", out]);
    home.convert(&[out, "--to", "opencode", "-o", back]);
    assert_eq!(fs::read_to_string(back).expect("a file"), export());
    let document = home.data("storage").join(format!("{ID}.json"));
    let document = document.to_str().expect("UTF-8");
    assert_eq!(home.convert(&[document, "--to", "opencode", "-o", "-"]), export());
}

#[test]
fn a_folder_of_small_files_is_converted_into_a_folder_once() {
    let home = Home::with_storage();
    let out = home.path("out");
    let (data, out_text) = (home.data(""), out.to_str().expect("UTF-8"));
    let convert = || {
        let data = data.to_str().expect("UTF-8");
        let output = home.run(&[data, "--to", "claude-code", "-o", out_text], "");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stderr).to_owned()
    };
    convert();
    let written = out.join(format!("storage/{ID}.json"));
    let first = fs::read(&written).expect("written");
    let second = convert();
    assert!(second.contains("1 up to date"), "{second}");
    assert_eq!(fs::read(&written).expect("written"), first);
}

/// The client sets the time of a session at each prompt. The answer, and each change of a part, comes later.
#[test]
fn a_changed_part_of_a_session_of_small_files_is_converted() {
    let home = Home::with_storage();
    let (data, out) = (home.data(""), home.path("out"));
    let arguments = [data.to_str().expect("UTF-8"), "--to", "claude-code", "-o"];
    let convert = |out: &Path| {
        home.convert(&[&arguments[..], &[out.to_str().expect("UTF-8")]].concat());
        fs::read(out.join(format!("storage/{ID}.json"))).expect("written")
    };
    let first = convert(&out);
    let part = |path: &&PathBuf| path.starts_with(home.data("storage/part"));
    let files = home.files();
    let is_text = |path: &&PathBuf| text(&files[*path]).contains("@@mock:write");
    let part = files.keys().filter(part).find(is_text).expect("a part with text");
    let changed = text(&files[part]).replace("@@mock:write", "@@mock:wrote");
    fs::write(part, changed).expect("written");
    let second = convert(&out);
    assert_ne!(second, first);
    assert!(second == convert(&home.path("new")), "not the output of a new folder");
}

#[test]
fn a_damaged_session_is_said_and_the_others_are_read() {
    let home = Home::with_storage();
    let torn = home.data("storage/session/global/ses_torn.json");
    fs::write(&torn, "{\"id\":").expect("written");
    let output = home.run(&["list", "--json"], "");
    assert!(text(&output.stdout).contains(ID), "{}", text(&output.stdout));
    let message = text(&output.stderr);
    assert!(message.contains("ses_torn.json: the session: byte 6: "), "{message}");
    let reason = home.refuses(&["show", "ses_torn"]);
    assert!(reason.contains("byte 6"), "{reason}");
}

#[cfg(not(feature = "sqlite"))]
#[test]
fn a_database_is_said_to_need_a_feature() {
    let home = Home::with_storage();
    let database = home.data("opencode.db");
    fs::write(&database, b"SQLite format 3\0").expect("written");
    let advice = "--features sqlite";
    let output = home.run(&["list"], "");
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains(&ID[..12]), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains(advice), "{}", text(&output.stderr));
    for arguments in [
        vec!["show", "ses_other"],
        vec!["list", database.to_str().expect("UTF-8")],
        vec![database.to_str().expect("UTF-8"), "--to", "claude-code", "-o", "out"],
    ] {
        let reason = home.refuses(&arguments);
        assert!(reason.contains(advice), "{arguments:?} {reason}");
    }
}

/// Returns a home with a session of Claude Code in its project, and the id of the session.
fn with_claude_session() -> (Home, PathBuf, &'static str) {
    let home = Home::new();
    let id = "3285ccd6-44df-46ab-bebf-94ec7fdee0c4";
    let project = home.path("app");
    let project = project.to_str().expect("UTF-8");
    let fixture = fs::read_to_string("../../fixtures/claude-code/one-tool-call.jsonl");
    let session = fixture.expect("a fixture").replace("/home/ada/demo", project);
    let folder = format_claude_code::encode_project_dir(project);
    let path = home.path(&format!(".claude/projects/{folder}/{id}.jsonl"));
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(&path, session).expect("written");
    (home, path, id)
}

#[test]
fn a_session_is_imported_goes_on_and_comes_home() {
    let (home, path, id) = with_claude_session();
    let session = fs::read(&path).expect("a file");
    let line = home.convert(&["resume", id, "--in", "opencode", "--force"]);
    let folder = home.path(".local/share/convert/opencode");
    let files: Vec<_> = fs::read_dir(&folder).expect("a folder").collect();
    let [Ok(file)] = &files[..] else { panic!("{files:?}") };
    let file = file.path();
    let own = file.file_stem().and_then(|it| it.to_str()).expect("an id").to_owned();
    let app = home.path("app");
    assert_eq!(
        line,
        format!(
            "cd {} && opencode import {} && opencode --session {own}\n",
            app.display(),
            file.display()
        )
    );
    let written = fs::read_to_string(&file).expect("a file");
    let mut document: Value = serde_json::from_str(&written).expect("JSON");
    // Imported, the session is there, and the same command imports nothing.
    home.import(&document);
    let again = home.convert(&["resume", id, "--in", "opencode", "--force"]);
    assert_eq!(again, format!("cd {} && opencode --session {own}\n", app.display()));
    // The client goes on, and the new turn comes home.
    say(&mut document, "Go on, please");
    home.import(&document);
    home.convert(&["resume", id, "--in", "claude-code", "--force"]);
    let grown = fs::read(&path).expect("a file");
    assert!(grown.starts_with(&session) && grown.len() > session.len());
    assert!(text(&grown).contains("Go on, please"));
    let line = home.convert(&["resume", &own, "--in", "opencode", "--force"]);
    assert_eq!(line, format!("cd {} && opencode --session {own}\n", app.display()));
    let listed = home.convert(&["list", "--json"]);
    assert_eq!(listed.lines().count(), 2, "{listed}");
}

#[test]
fn the_original_in_a_store_gets_the_turns_of_its_copy_by_an_import() {
    let home = Home::with_storage();
    let app = home.path("app");
    let app = app.to_str().expect("UTF-8");
    home.convert(&["resume", ID, "--in", "claude-code", "--into", app, "--force"]);
    let folder = home.path(".claude/projects").join(format_claude_code::encode_project_dir(app));
    let copy = fs::read_dir(folder).expect("a folder").next().expect("a file").expect("an entry");
    let mut session = fs::read_to_string(copy.path()).expect("a file");
    let last = session.lines().next_back().expect("a line");
    let last: Value = serde_json::from_str(last).expect("JSON");
    let prompt = json!({
        "parentUuid": last["uuid"], "type": "user", "uuid": "5d8b5d4e-0000-4000-8000-000000000001",
        "sessionId": last["sessionId"], "cwd": app, "timestamp": "2026-11-23T18:00:00.000Z",
        "message": {"role": "user", "content": "More, please"},
    });
    session.push_str(&format!("{prompt}\n"));
    fs::write(copy.path(), session).expect("written");
    let line = home.convert(&["resume", ID, "--in", "opencode", "--into", app, "--force"]);
    assert!(line.contains("opencode import"), "{line}");
    let file = home.path(&format!(".local/share/convert/opencode/{ID}.json"));
    let document = fs::read_to_string(file).expect("a file");
    let messages = |text: &str| {
        let document: Value = serde_json::from_str(text).expect("JSON");
        document["messages"].as_array().expect("messages").clone()
    };
    let (old, new) = (messages(&export()), messages(&document));
    assert_eq!(new[..old.len()], old[..]);
    assert!(new.len() > old.len() && document.contains("More, please"));
}

#[test]
fn a_prompt_later_than_the_clock_is_said_for_opencode() {
    let (home, path, id) = with_claude_session();
    let resume = |client: &str| {
        let output = home.run(&["resume", id, "--in", client, "--force"], "");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stderr).to_owned()
    };
    assert!(!resume("opencode").contains("later than the clock"));
    let session = fs::read_to_string(&path).expect("a file");
    let year = session.find("\"timestamp\":\"20").expect("a time") + "\"timestamp\":\"".len();
    let year = &session[year..year + "2026-".len()];
    fs::write(&path, session.replace(year, "2999-")).expect("written");
    let said = resume("opencode");
    assert!(said.contains(id) && said.contains("a prompt that is later than the clock"), "{said}");
    assert!(!resume("pi").contains("later than the clock"));
}

#[test]
fn exec_imports_and_becomes_the_client() {
    let (home, _, id) = with_claude_session();
    let programs = home.path("bin");
    fs::create_dir(&programs).expect("made");
    let program = |code: u8| {
        let script = format!(
            "#!/bin/sh\necho \"$PWD: $*\" >> {}/log\necho imported\n[ \"$1\" = import ] && exit {code}\nexit 7\n",
            home.path("").display()
        );
        fs::write(programs.join("opencode"), script).expect("written");
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(programs.join("opencode"), mode).expect("set");
    };
    let path = format!("{}:/bin:/usr/bin", programs.display());
    let arguments = ["resume", id, "--in", "opencode", "--force", "--exec"];
    program(3);
    let output = home.run(&arguments, &path);
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(message.contains("did not import the session"), "{message}");
    program(0);
    let output = home.run(&arguments, &path);
    assert_eq!(output.status.code(), Some(7), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "imported\n");
    let log = fs::read_to_string(home.path("log")).expect("a file");
    let lines: Vec<&str> = log.lines().collect();
    let app = home.path("app");
    let start =
        format!("{}: import {}", app.display(), home.path(".local/share/convert").display());
    assert!(lines.len() == 3 && lines[0].starts_with(&start) && lines[1] == lines[0], "{log}");
    assert!(lines[2].starts_with(&format!("{}: --session ses_", app.display())), "{log}");
}
