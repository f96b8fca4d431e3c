//! Tests of sessions of several files: folders are restored through every format.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::Command,
};

use convert::by_name;

use crate::shared::data;

const TARGETS: [&str; 3] = ["clido", "sdk-stream", "sdk-stream:wire"];

/// The files of a folder by their names.
type Tree = BTreeMap<String, Vec<u8>>;

fn convert(args: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_convert")).args(args).output().expect("it runs");
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap_or(-1), words)
}

fn write(root: &Path, tree: &Tree) {
    for (name, bytes) in tree {
        let path = root.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, bytes).expect("written");
    }
}

fn read(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).expect("below").display().to_string();
                // The journal of the run, and bytes that no carry keeps, are not part of a session.
                if name.ends_with(".convert-journal.jsonl") || name.ends_with(".residue") {
                    continue;
                }
                tree.insert(name, fs::read(path).expect("a file"));
            }
        }
    }
    tree
}

fn assert_same(found: &Tree, expected: &Tree, way: &str) {
    let names = |tree: &Tree| tree.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(found), names(expected), "{way}");
    for (name, bytes) in expected {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(found[name] == *bytes, "{way}: {name}: {}", text(&found[name]));
    }
}

struct Lines {
    session: String,
    agent: Option<String>,
    parent: Option<String>,
    text: String,
}

impl Lines {
    fn new(session: &str, agent: Option<&str>) -> Self {
        let (session, agent) = (session.to_owned(), agent.map(str::to_owned));
        Self { session, agent, parent: None, text: String::new() }
    }

    fn line(mut self, kind: &str, rest: &str) -> Self {
        let n = self.text.lines().count();
        let agent = self.agent.as_deref();
        let uuid = format!("{}-{n}", agent.unwrap_or(&self.session));
        let parent = self.parent.map_or("null".to_owned(), |parent| format!("\"{parent}\""));
        let sidechain = agent.map(|id| format!(",\"agentId\":\"{id}\"")).unwrap_or_default();
        self.text += &format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":{}{sidechain},\"cwd\":\"/w\",\"sessionId\":\"{}\",\
             \"version\":\"2.1.5\",\"type\":\"{kind}\",{rest},\"uuid\":\"{uuid}\",\
             \"timestamp\":\"2026-01-01T10:00:{:02}.000Z\"}}\n",
            agent.is_some(),
            self.session,
            n % 60,
        );
        self.parent = Some(uuid);
        self
    }

    fn prompt(self, text: &str) -> Self {
        self.line("user", &format!(r#""message":{{"role":"user","content":"{text}"}}"#))
    }

    fn says(self, text: &str) -> Self {
        let block = format!(r#"{{"type":"text","text":"{text}"}}"#);
        self.assistant(&block)
    }

    fn starts(self, tool_use: &str, prompt: &str) -> Self {
        let block = format!(
            r#"{{"type":"tool_use","id":"{tool_use}","name":"Task","input":{{"prompt":"{prompt}"}}}}"#
        );
        self.assistant(&block)
    }

    fn assistant(self, block: &str) -> Self {
        let message = format!(
            r#""message":{{"id":"msg_{}","model":"claude-x","role":"assistant","content":[{block}]}}"#,
            self.text.len()
        );
        self.line("assistant", &message)
    }

    fn ends(self, tool_use: &str, known: &str) -> Self {
        let message = format!(
            r#""message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{tool_use}","content":"done"}}]}}{known}"#
        );
        self.line("user", &message)
    }

    fn bytes(self) -> Vec<u8> {
        self.text.into_bytes()
    }
}

/// A session of each layout: nested sub-agents, one that no tool use started, one that was stopped,
/// a workflow, descriptions, outputs, odd bytes; and flat files beside two more.
fn project() -> Tree {
    let agent = |session: &str, id: &str| Lines::new(session, Some(id));
    let main = Lines::new("s1", None)
        .prompt("Go.")
        .starts("t1", "One.")
        .ends("t1", r#","toolUseResult":{"agentId":"aone"}"#)
        .starts("t3", "Run.")
        .ends("t3", r#","toolUseResult":{"runId":"wf_1"}"#)
        .starts("t4", "Stopped.")
        .ends("t9", r#","toolUseResult":{"agentId":"agone"}"#)
        .says("All done.");
    let one = agent("s1", "aone").prompt("One.").starts("t2", "Two.").ends("t2", "").says("1");
    let odd = b"not JSON\xff\r\n\n{\"type\":\"future\"}".to_vec();
    let flat = Lines::new("s2", None).prompt("Go.").starts("t1", "Flat.").ends("t1", "");
    let torn = agent("s2", "aflat").prompt("Flat.").says("torn").text;
    [
        ("s1.jsonl", main.bytes()),
        ("s1/subagents/agent-aone.jsonl", one.bytes()),
        ("s1/subagents/agent-atwo.jsonl", agent("s1", "atwo").prompt("Two.").says("2").bytes()),
        ("s1/subagents/agent-atwo.meta.json", b"{\"toolUseId\":\"t2\",\n \"x\":1}".to_vec()),
        ("s1/subagents/agent-astop.jsonl", agent("s1", "astop").prompt("Stopped.").bytes()),
        ("s1/subagents/agent-acompact-1.jsonl", agent("s1", "acompact-1").says("Sum.").bytes()),
        ("s1/subagents/agent-aodd.jsonl", odd),
        ("s1/subagents/agent-aempty.jsonl", Vec::new()),
        (
            "s1/subagents/workflows/wf_1/agent-arun.jsonl",
            agent("s1#arun", "arun").prompt("Run.").says("3").bytes(),
        ),
        ("s1/tool-results/toolu_1.txt", b"\x00\xfe large \r\n output".to_vec()),
        ("s1/tool-results/empty.txt", Vec::new()),
        ("s2.jsonl", flat.bytes()),
        ("agent-aflat.jsonl", torn.trim_end().as_bytes().to_vec()),
        ("agent-awarm.jsonl", agent("s2", "awarm").prompt("Warmup").bytes()),
        ("s4.jsonl", Vec::new()),
        ("agent-azero.jsonl", agent("s4", "azero").prompt("Warmup").says("4").bytes()),
        ("s3.jsonl", Lines::new("s3", None).prompt("Alone.").says("Yes.").bytes()),
    ]
    .into_iter()
    .map(|(name, bytes)| (name.to_owned(), bytes))
    .collect()
}

/// Returns the main file of a session whose only sub-agent is `aone`.
fn main_of_one_agent() -> Lines {
    Lines::new("s1", None)
        .prompt("Go.")
        .starts("t1", "One.")
        .ends("t1", r#","toolUseResult":{"agentId":"aone"}"#)
        .says("Done.")
}

fn folder_with(tree: &Tree) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("source");
    write(&source, tree);
    (folder, source)
}

/// Converts a folder from format to format and returns the last folder.
fn through(folder: &Path, source: &Path, formats: &[&str], options: &[&str]) -> PathBuf {
    let mut from = source.to_owned();
    for (n, format) in formats.iter().enumerate() {
        let to = folder.join(format!("{n}-{}", format.replace(':', "-")));
        let (source, target) = (from.display().to_string(), to.display().to_string());
        let mut args = vec![&*source, "--to", format, "-o", &*target, "--quiet"];
        args.extend(options);
        let (status, words) = convert(&args);
        assert!(status < 2, "{formats:?} {options:?}: {words}");
        from = to;
    }
    from
}

#[test]
fn trees_come_back_whole() {
    let tree = project();
    for carry in ["inline", "sidecar"] {
        for target in TARGETS {
            let (folder, source) = folder_with(&tree);
            let options = ["--carry", carry, "--verify"];
            let back = through(folder.path(), &source, &[target, "claude-code"], &options);
            let mut restored = read(&back);
            restored.retain(|name, _| !name.ends_with(".carry"));
            assert_same(&restored, &tree, &format!("{target} {carry}"));
        }
    }
}

#[test]
fn trees_come_back_through_a_third_format() {
    let tree = project();
    for one in TARGETS {
        for other in TARGETS.into_iter().filter(|other| *other != one) {
            let (folder, source) = folder_with(&tree);
            let back = through(folder.path(), &source, &[one, other, "claude-code"], &[]);
            assert_same(&read(&back), &tree, &format!("{one} {other}"));
            let (folder, source) = folder_with(&tree);
            let way = [one, other, one, "claude-code"];
            let back = through(folder.path(), &source, &way, &[]);
            assert_same(&read(&back), &tree, &format!("{one} {other} {one}"));
        }
    }
}

/// Returns the files of a session with one sub-agent, which says this last.
fn one_agent_that_says(last: &str) -> Tree {
    let agent = Lines::new("s1", Some("aone")).prompt("One.").says("1").says(last);
    let files = [("s1.jsonl", main_of_one_agent()), ("s1/subagents/agent-aone.jsonl", agent)];
    files.into_iter().map(|(name, lines)| (name.to_owned(), lines.bytes())).collect()
}

/// Converts a session with one sub-agent to clido with sidecars, and returns the folder.
fn with_sidecars(folder: &Path, last: &str) -> PathBuf {
    let source = folder.join("source");
    write(&source, &one_agent_that_says(last));
    through(folder, &source, &["clido"], &["--carry", "sidecar"])
}

/// A file that came home has no sidecar, so nothing is kept back when the session goes away again.
#[test]
fn a_session_with_sidecars_goes_away_and_home_twice() {
    let tree = one_agent_that_says("2");
    for target in ["atif", "clido", "codex", "copilot", "gemini", "opencode", "pi", "qwen"] {
        let (folder, source) = folder_with(&tree);
        let mut from = source;
        for (n, to) in [target, "claude-code", target, "claude-code"].into_iter().enumerate() {
            let there = folder.path().join(n.to_string());
            let [source, output] = [&from, &there].map(|path| path.display().to_string());
            let args = [&source, "--to", to, "-o", &output, "-q", "--carry", "sidecar"];
            let (status, words) = convert(&args);
            assert_eq!(status, 0, "{target} {n}: {words}");
            from = there;
        }
        let mut restored = read(&from);
        restored.retain(|name, _| !name.ends_with(".carry"));
        assert_same(&restored, &tree, target);
    }
    // A sidecar with a carry, and one that cannot be read, are said.
    for (sidecar, status) in [(None, 0), (Some(&b"no sidecar"[..]), 1)] {
        let (folder, source) = folder_with(&tree);
        let way = ["clido", "claude-code"];
        let home = through(folder.path(), &source, &way, &["--carry", "sidecar"]);
        let beside = home.join("s1/subagents/agent-aone.jsonl.carry");
        sidecar.iter().for_each(|bytes| fs::write(&beside, bytes).expect("written"));
        let [home, there] =
            [home, folder.path().join("there")].map(|path| path.display().to_string());
        let (found, words) = convert(&[&home, "--to", "copilot", "-o", &there]);
        assert_eq!(found, status, "{words}");
    }
}

/// Converts a folder to Codex, whose sessions have files of sub-agents.
fn to_codex(source: &Path, output: &Path) -> (i32, String) {
    convert(&[&source.display().to_string(), "--to", "codex", "-o", &output.display().to_string()])
}

/// Plans a folder to Codex, converts the units, and returns the words in the receipts.
fn work_to_codex(source: &Path, output: &Path) -> String {
    let run = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_convert")).args(args).output();
        output.expect("it runs").stdout
    };
    let plan = output.with_extension("plan");
    let (source, output) = (source.display().to_string(), output.display().to_string());
    fs::write(&plan, run(&["plan", &source, "--to", "codex", "-o", &output])).expect("written");
    let work = run(&["work", &plan.display().to_string(), "--output", &output]);
    String::from_utf8(work).expect("UTF-8")
}

/// The name of the sub-agent in Codex.
const IN_CODEX: &str = "s1_agent-aone.jsonl";

#[test]
fn a_session_with_sidecars_is_up_to_date_in_a_third_format_and_goes_on_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let [out, new] = ["out", "new"].map(|name| folder.path().join(name));
    let there = with_sidecars(folder.path(), "2");
    assert_eq!(to_codex(&there, &out).0, 0);
    let journal = || fs::read_to_string(out.join(".convert-journal.jsonl")).expect("a journal");
    let lines = journal();
    let source = format!("\"src\":\"{}/", there.display());
    assert!(lines.lines().all(|line| line.contains(&source)), "{lines}");
    let (status, words) = to_codex(&there, &out);
    assert!(status == 0 && words.contains("0 records written"), "{words}");
    assert_eq!(journal(), lines);
    // Only the sidecars say so, because clido has no such line.
    let main = folder.path().join("source/s1.jsonl");
    let mut grown = fs::read(&main).expect("a file");
    grown.extend(b"{\"type\":\"future\",\"sessionId\":\"s1\"}\n");
    fs::write(&main, &grown).expect("written");
    through(folder.path(), &folder.path().join("source"), &["clido"], &["--carry", "sidecar"]);
    assert_eq!((to_codex(&there, &out).0, to_codex(&there, &new).0), (0, 0));
    assert_same(&read(&out), &read(&new), "grown");
}

#[test]
fn a_sub_agent_that_goes_on_is_written_again_in_a_third_format() {
    let folder = tempfile::tempdir().expect("a folder");
    let [out, worked, new] = ["out", "worked", "new"].map(|name| folder.path().join(name));
    let there = with_sidecars(folder.path(), "Two files.");
    assert_eq!(to_codex(&there, &out).0, 0);
    work_to_codex(&there, &worked);
    with_sidecars(folder.path(), "Three files.");
    assert_eq!((to_codex(&there, &out).0, to_codex(&there, &new).0), (0, 0));
    let receipts = work_to_codex(&there, &worked);
    assert!(receipts.contains("\"status\":\"ok\""), "{receipts}");
    let expected = read(&new);
    assert!(String::from_utf8_lossy(&expected[IN_CODEX]).contains("Three files."));
    assert_same(&read(&out), &expected, "a run");
    let mut found = read(&worked);
    found.retain(|name, _| !name.starts_with('.'));
    assert_same(&found, &expected, "a worker");
    assert!(work_to_codex(&there, &worked).contains("\"status\":\"skip\""));
}

#[test]
fn a_sub_agent_that_cannot_be_written_in_a_third_format_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let there = with_sidecars(folder.path(), "2");
    let [out, worked] = ["out", "worked"].map(|name| folder.path().join(name));
    for output in [&out, &worked] {
        fs::create_dir(output).expect("made");
        fs::write(output.join(IN_CODEX), "the user's").expect("written");
    }
    let (status, words) = to_codex(&there, &out);
    let path = out.join(IN_CODEX).display().to_string();
    assert!(status == 1 && words.contains(&format!("s1_aone.jsonl: {path} exists")), "{words}");
    assert!(words.contains("1 failed"), "{words}");
    let receipts = work_to_codex(&there, &worked);
    assert!(receipts.contains("\"status\":\"fail\""), "{receipts}");
    for output in [&out, &worked] {
        assert_eq!(fs::read(output.join(IN_CODEX)).expect("a file"), b"the user's");
        fs::remove_file(output.join(IN_CODEX)).expect("removed");
    }
    assert_eq!(to_codex(&there, &out).0, 0);
    let receipts = work_to_codex(&there, &worked);
    assert!(receipts.contains("\"status\":\"ok\""), "{receipts}");
    let expected = read(&out);
    assert!(expected.contains_key("s1.jsonl") && expected.contains_key(IN_CODEX));
    assert_eq!(read(&worked)[IN_CODEX], expected[IN_CODEX]);
}

#[cfg(unix)]
#[test]
fn without_a_folder_for_temporary_files_nothing_of_a_session_with_sidecars_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let there = with_sidecars(folder.path(), "2");
    let output = folder.path().join("out");
    let missing = folder.path().join("missing");
    let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
    command.arg(&there).args(["--to", "codex", "-o"]).arg(&output).env("TMPDIR", &missing);
    let done = command.output().expect("it runs");
    let words = String::from_utf8_lossy(&done.stderr);
    assert!(words.contains("TMPDIR names another folder"), "{words}");
    assert_eq!((done.status.code(), read(&output).len()), (Some(2), 0), "{words}");
}

#[test]
fn sub_agents_of_documents_have_documents_of_their_own_that_name_their_session() {
    let main = main_of_one_agent();
    // The session starts before its sub-agent, and the sub-agent has more messages than records are
    // searched for the format.
    let main = main.text.replace("T10:", "T09:");
    let mut agent = Lines::new("s1", Some("aone")).prompt("One.");
    for n in 0..30 {
        agent = agent.says(&n.to_string()).prompt("On.");
    }
    let tree: Tree = [
        ("s1.jsonl".to_owned(), main.into_bytes()),
        ("s1/subagents/agent-aone.jsonl".to_owned(), agent.bytes()),
    ]
    .into();
    for target in ["atif", "opencode"] {
        let (folder, source) = folder_with(&tree);
        let back = through(folder.path(), &source, &[target, "claude-code"], &["--verify"]);
        assert_same(&read(&back), &tree, target);
        let written = read(&folder.path().join(format!("0-{target}")));
        let names: Vec<_> = written.keys().map(String::as_str).collect();
        assert_eq!(names, ["s1.jsonl", "s1_agent-aone.jsonl"], "{target}");
        let [main, agent] = ["s1.jsonl", "s1_agent-aone.jsonl"].map(|name| {
            serde_json::from_slice::<serde_json::Value>(&written[name]).expect("a document")
        });
        if target == "opencode" {
            assert_eq!(agent["info"]["parentID"], main["info"]["id"]);
            assert_ne!(agent["info"]["id"], main["info"]["id"]);
            assert_eq!(main["info"].get("parentID"), None);
        }
    }
}

#[test]
fn the_main_file_of_sub_agents_may_end_in_json() {
    let main = main_of_one_agent();
    let agent = Lines::new("s1", Some("aone")).prompt("One.").says("1");
    let tree: Tree = [
        ("s1.json".to_owned(), main.bytes()),
        ("s1/subagents/agent-aone.jsonl".to_owned(), agent.bytes()),
    ]
    .into();
    for target in ["atif", "clido", "codex", "gemini", "opencode", "pi", "qwen"] {
        let (folder, source) = folder_with(&tree);
        let back = through(folder.path(), &source, &[target, "claude-code"], &["--verify"]);
        assert_same(&read(&back), &tree, target);
        // The sub-agent is one of the session, and no session of its own.
        let written = read(&folder.path().join(format!("0-{target}")));
        assert_eq!(written.keys().next().map(String::as_str), Some("s1.json"), "{target}");
        assert!(written.keys().any(|name| name.starts_with("s1_")), "{target}: {written:?}");
    }
    let (folder, source) = folder_with(&tree);
    let [main, out] = [source.join("s1.json"), folder.path().join("out")];
    let main = main.display().to_string();
    for (name, to, is_said) in [
        ("a.txt", "codex", true),
        ("b", "opencode", true),
        ("c.jsonl", "codex", false),
        ("d.json", "opencode", false),
        ("e.jsonl.zst", "pi", false),
        ("f.txt", "sdk-stream", false),
    ] {
        let out = out.join(name).display().to_string();
        let (status, words) = convert(&[&main, "--to", to, "-o", &out]);
        assert_eq!(status, 0, "{words}");
        assert_eq!(words.contains("found again only if the main file ends in"), is_said, "{words}");
    }
}

#[test]
fn a_sub_agent_whose_file_or_carry_is_gone_is_said() {
    let agent = Lines::new("s1", Some("aone")).prompt("One.").says("1");
    let tree: Tree = [
        ("s1.jsonl".to_owned(), main_of_one_agent().bytes()),
        ("s1/subagents/agent-aone.jsonl".to_owned(), agent.bytes()),
    ]
    .into();
    // The last step of a chain is the way home, through the formats between.
    for chain in ["atif", "clido", "codex", "gemini", "opencode", "pi", "qwen", "clido codex"] {
        for (carry, gone) in [
            ("inline", ""),
            ("inline", "file"),
            ("inline", "bytes"),
            ("sidecar", ""),
            ("sidecar", "file"),
            ("sidecar", "carry"),
        ] {
            let (folder, source) = folder_with(&tree);
            let targets: Vec<&str> = chain.split(' ').collect();
            let written = through(folder.path(), &source, &targets, &["--carry", carry]);
            let names: Vec<String> = read(&written).into_keys().collect();
            let agents = names.iter().filter(|name| name.starts_with("s1_"));
            for path in agents.map(|name| written.join(name)) {
                let is_carry = path.extension().is_some_and(|ending| ending == "carry");
                match gone {
                    "file" => fs::remove_file(&path).expect("removed"),
                    "carry" if is_carry => fs::remove_file(&path).expect("removed"),
                    "bytes" => fs::write(&path, "").expect("emptied"),
                    _ => {}
                }
            }
            let main =
                names.iter().find(|name| name.starts_with("s1.") && !name.ends_with("carry"));
            let main = written.join(main.expect("a main file")).display().to_string();
            let home = folder.path().join("home/s1.jsonl").display().to_string();
            let (status, words) = convert(&[&main, "--to", "claude-code", "-o", &home]);
            let way = format!("{chain}, {carry}, {gone}: {words}");
            assert_eq!(status, i32::from(!gone.is_empty()), "{way}");
            assert_eq!(
                words.matches("sub-agent aone is not restored").count(),
                status as usize,
                "{way}"
            );
            assert!(fs::read(home).expect("restored") == tree["s1.jsonl"], "{way}");
        }
    }
}

#[test]
fn a_derived_sub_agent_whose_file_is_gone_is_said() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    for (source, from, chain) in [
        ("sdk-stream/sub-agent.jsonl", "sdk-stream", "clido"),
        ("claude-code/sidechain-inline.jsonl", "claude-code", "pi"),
        ("claude-code/sidechain-inline.jsonl", "claude-code", "codex opencode"),
        ("sdk-wire/sub-agent.jsonl", "sdk-stream:wire", "qwen gemini"),
    ] {
        for is_gone in [false, true] {
            let folder = tempfile::tempdir().expect("a folder");
            let there = folder.path().join("there");
            fs::create_dir(&there).expect("created");
            let text = fs::read(fixtures.join(source)).expect("a fixture");
            fs::write(there.join("s1.jsonl"), &text).expect("written");
            let targets: Vec<&str> = chain.split(' ').collect();
            let written = through(folder.path(), &there, &targets, &[]);
            let names: Vec<String> = read(&written).into_keys().collect();
            let is_agent = |name: &&String| name.starts_with("s1_");
            let agents: Vec<_> = names.iter().filter(is_agent).collect();
            assert_eq!(agents.len(), 1, "{names:?}");
            if is_gone {
                fs::remove_file(written.join(agents[0])).expect("removed");
            }
            let main = names.iter().find(|name| name.starts_with("s1.")).expect("a main file");
            let main = written.join(main).display().to_string();
            let home = folder.path().join("home/s1.jsonl");
            let (status, words) =
                convert(&[&main, "--to", from, "-o", &home.display().to_string()]);
            let way = format!("{source}, {chain}, {is_gone}: {words}");
            assert_eq!(status, i32::from(is_gone), "{way}");
            let said = "has no file any more; its messages are restored from the session";
            assert_eq!(words.matches(said).count(), usize::from(is_gone), "{way}");
            assert!(!words.contains("is not restored"), "{way}");
            assert!(fs::read(home).expect("restored") == text, "{way}");
        }
    }
}

/// A derived file has no entries, and counts as no file of a sub-agent that was a file in the source.
#[test]
fn a_derived_file_in_the_place_of_a_sub_agent_is_said() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/claude-code");
    let folder = tempfile::tempdir().expect("a folder");
    let agents: Vec<_> =
        ["with-agents/96d642c4-88cf-4d27-ae87-d9f4303e6ddf.jsonl", "sidechains-side-by-side.jsonl"]
            .iter()
            .enumerate()
            .map(|(n, source)| {
                let there = folder.path().join(n.to_string());
                fs::create_dir(&there).expect("created");
                let source = fixtures.join(source).display().to_string();
                let main = there.join("s1.json").display().to_string();
                assert_eq!(convert(&[&source, "--to", "atif", "-o", &main]).0, 0);
                let names: Vec<String> = read(&there).into_keys().collect();
                let agent = names.iter().find(|name| name.starts_with("s1_")).expect("a sub-agent");
                there.join(agent)
            })
            .collect();
    fs::copy(&agents[1], &agents[0]).expect("copied");
    let main = agents[0].with_file_name("s1.json").display().to_string();
    let home = folder.path().join("home.jsonl").display().to_string();
    let (status, words) = convert(&[&main, "--to", "claude-code", "-o", &home]);
    assert!(status == 1 && words.contains("is not restored"), "{words}");
}

/// The derived file of another session, or of a shorter version of this one, is as it was written, and says another main
/// file than the one beside it.
#[test]
fn a_derived_file_of_another_session_is_said() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let source = fs::read_to_string(fixtures.join("claude-code/sidechain-inline.jsonl"));
    let source = source.expect("a fixture");
    let last = source.trim_end().rfind('\n').expect("two lines");
    for (target, carry) in [("codex", "inline"), ("gemini", "sidecar"), ("opencode", "inline")] {
        let folder = tempfile::tempdir().expect("a folder");
        let written: Vec<_> = [&source, &source[..=last]]
            .iter()
            .enumerate()
            .map(|(n, text)| {
                let there = folder.path().join(n.to_string());
                fs::create_dir(&there).expect("created");
                fs::write(there.join("s1.jsonl"), text).expect("written");
                let main = there.join("s1.jsonl").display().to_string();
                let there = there.join("there/s1.jsonl");
                let path = there.display().to_string();
                assert_eq!(convert(&[&main, "--to", target, "--carry", carry, "-o", &path]).0, 0);
                there
            })
            .collect();
        let names = read(written[0].parent().expect("a folder")).into_keys();
        let mut agents = names.filter(|name| name.starts_with("s1_"));
        let agent = agents.next().expect("a sub-agent");
        let ours = written[0].with_file_name(&agent);
        let theirs = written[1].with_file_name(&agent);
        for is_ours in [true, false] {
            if !is_ours {
                fs::copy(&theirs, &ours).expect("copied");
            }
            let home = folder.path().join("home.jsonl");
            let (main, home) = (written[0].display().to_string(), home.display().to_string());
            let (status, words) = convert(&[&main, "--to", "claude-code", "-o", &home, "--force"]);
            let is_said = words.contains("was generated from another session");
            assert_eq!((status, is_said), (i32::from(!is_ours), !is_ours), "{target}: {words}");
            assert!(fs::read_to_string(home).expect("restored") == source, "{target}");
        }
    }
}

#[test]
fn a_derived_file_of_another_sub_agent_is_said() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let folder = tempfile::tempdir().expect("a folder");
    let source = fixtures.join("claude-code/sidechains-side-by-side.jsonl").display().to_string();
    let main = folder.path().join("there/s1.jsonl");
    let path = main.display().to_string();
    assert_eq!(convert(&[&source, "--to", "pi", "-o", &path]).0, 0);
    let names = read(main.parent().expect("a folder")).into_keys();
    let agents: Vec<_> = names.filter(|name| name.starts_with("s1_")).collect();
    fs::copy(main.with_file_name(&agents[0]), main.with_file_name(&agents[1])).expect("copied");
    let home = folder.path().join("home.jsonl").display().to_string();
    let (status, words) = convert(&[&path, "--to", "claude-code", "-o", &home]);
    assert!(status == 1 && words.contains("or for another sub-agent"), "{words}");
    assert_eq!(words.matches("has no file any more").count(), 1, "{words}");
}

/// Without the start of the main file, nothing leads from the second format to the first one.
#[test]
fn a_session_whose_main_file_lost_its_start_is_said() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let folder = tempfile::tempdir().expect("a folder");
    let there = folder.path().join("there");
    fs::create_dir(&there).expect("created");
    fs::copy(fixtures.join("copilot/sub-agent.jsonl"), there.join("s1.jsonl")).expect("copied");
    let there = through(folder.path(), &there, &["atif", "pi"], &[]);
    let names: Vec<String> = read(&there).into_keys().collect();
    assert!(names.iter().any(|name| name.starts_with("s1_")), "{names:?}");
    let main = there.join(names.iter().find(|name| name.starts_with("s1.")).expect("a file"));
    let text = fs::read_to_string(&main).expect("text");
    let home = folder.path().join("home.jsonl").display().to_string();
    for n_lost in [0, 3] {
        let kept: Vec<&str> = text.split_inclusive('\n').skip(n_lost).collect();
        assert!(kept.len() > 1, "{text}");
        fs::write(&main, kept.concat()).expect("written");
        let main = main.display().to_string();
        let (status, words) = convert(&[&main, "--to", "copilot", "-o", &home, "--force"]);
        let is_said = words.contains("a carry are missing");
        assert_eq!((status, is_said), (i32::from(n_lost > 0), n_lost > 0), "{words}");
    }
}

#[test]
fn a_session_that_was_exchanged_with_its_sub_agent_is_refused() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let folder = tempfile::tempdir().expect("a folder");
    let there = folder.path().join("there");
    fs::create_dir(&there).expect("created");
    let source = fixtures.join("sdk-stream/sub-agent.jsonl").display().to_string();
    let main = there.join("s1.jsonl");
    let path = main.display().to_string();
    assert_eq!(convert(&[&source, "--to", "pi", "-o", &path]).0, 0);
    let names: Vec<String> = read(&there).into_keys().collect();
    let agent = names.iter().find(|name| name.starts_with("s1_")).expect("a sub-agent");
    let agent = there.join(agent);
    let (session, derived) = (fs::read(&main).expect("a file"), fs::read(&agent).expect("a file"));
    fs::write(&main, derived).expect("written");
    fs::write(&agent, session).expect("written");
    for to in ["sdk-stream", "claude-code"] {
        let home = folder.path().join(format!("{to}.jsonl")).display().to_string();
        let (status, words) = convert(&[&path, "--to", to, "-o", &home]);
        assert!(status == 2 && words.contains("exchange their names"), "{to}: {words}");
        // A derived file alone is a session.
        fs::rename(&agent, folder.path().join("elsewhere")).expect("renamed");
        assert_eq!(convert(&[&path, "--to", to, "-o", &home]).0, 0, "{to}");
        fs::rename(folder.path().join("elsewhere"), &agent).expect("renamed");
    }
}

#[test]
fn a_sub_agent_whose_file_is_gone_in_the_middle_of_a_chain_is_said() {
    let agent = Lines::new("s1", Some("aone")).prompt("One.").says("1");
    // No tool use names it.
    let tree: Tree = [
        ("s1.jsonl".to_owned(), Lines::new("s1", None).prompt("Go.").says("Done.").bytes()),
        ("s1/subagents/agent-aone.jsonl".to_owned(), agent.bytes()),
    ]
    .into();
    for (second, third) in [
        ("clido", "pi"),
        ("pi", "sdk-stream"),
        ("qwen", "atif"),
        ("codex", "gemini"),
        ("gemini", "opencode"),
        ("atif", "clido"),
        ("clido", "pi codex"),
    ] {
        for (carry, is_gone) in
            [("inline", false), ("inline", true), ("sidecar", false), ("sidecar", true)]
        {
            let (folder, source) = folder_with(&tree);
            let written = through(folder.path(), &source, &[second], &["--carry", carry]);
            for name in read(&written).into_keys().filter(|name| name.starts_with("s1_")) {
                if is_gone {
                    fs::remove_file(written.join(name)).expect("removed");
                }
            }
            let far = tempfile::tempdir().expect("a folder");
            let thirds: Vec<&str> = third.split(' ').collect();
            let written = through(far.path(), &written, &thirds, &["--carry", carry]);
            let is_main = |name: &String| name.starts_with("s1.") && !name.ends_with("carry");
            let main = read(&written).into_keys().find(is_main).expect("a main file");
            let main = written.join(main).display().to_string();
            let home = folder.path().join("home/s1.jsonl");
            let (status, words) =
                convert(&[&main, "--to", "claude-code", "-o", &home.display().to_string()]);
            let way = format!("{second}, {third}, {carry}, {is_gone}: {words}");
            assert_eq!(status, i32::from(is_gone), "{way}");
            let n_said = words.matches("sub-agent aone is not restored").count();
            assert_eq!(n_said, usize::from(is_gone), "{way}");
            assert!(fs::read(home).expect("restored") == tree["s1.jsonl"], "{way}");
        }
    }
}

#[test]
fn an_edited_sub_agent_with_a_sidecar_is_said_where_it_is_inside() {
    let agent = Lines::new("s1", Some("aone")).prompt("One.").says("1");
    let tree: Tree = [
        ("s1.jsonl".to_owned(), main_of_one_agent().bytes()),
        ("s1/subagents/agent-aone.jsonl".to_owned(), agent.bytes()),
    ]
    .into();
    for third in ["copilot", "sdk-stream:wire", "codex"] {
        let (folder, source) = folder_with(&tree);
        let there = through(folder.path(), &source, &["clido"], &["--carry", "sidecar"]);
        let edited = there.join("s1_aone.jsonl");
        let text = fs::read_to_string(&edited).expect("text");
        fs::write(&edited, text.replace("One.", "Two.")).expect("written");
        let [there, far] =
            [there, folder.path().join("far")].map(|path| path.display().to_string());
        let args = [&there, "--to", third, "-o", &far, "--carry", "sidecar"];
        for nth in 0..2 {
            let (status, words) = convert(&args);
            assert_eq!(status, 1, "{third}, {nth}: {words}");
            let is_first = nth == 0;
            assert!(!is_first || words.contains("1 edited record was"), "{third}: {words}");
        }
    }
}

#[test]
fn a_session_with_sidecars_and_added_records_goes_on_to_a_third_format() {
    let agent = Lines::new("s1", Some("aone")).prompt("One.").says("1");
    let tree: Tree = [
        ("s1.jsonl".to_owned(), main_of_one_agent().bytes()),
        ("s1/subagents/agent-aone.jsonl".to_owned(), agent.bytes()),
    ]
    .into();
    let added = concat!(
        r#"{"type":"user_message","role":"user","content":[{"text":"More?","type":"text"}],"strange":"kept"}"#,
        "\n",
        r#"{"type":"assistant_message","content":[{"text":"No more.","type":"text"}]}"#,
        "\n",
    );
    for carry in ["inline", "sidecar"] {
        for third in ["atif", "codex", "copilot", "pi", "sdk-stream"] {
            let (folder, source) = folder_with(&tree);
            let there = through(folder.path(), &source, &["clido"], &["--carry", carry]);
            let main = there.join("s1.jsonl");
            let text = fs::read_to_string(&main).expect("text") + added;
            fs::write(&main, text).expect("written");
            let [far, home] = ["far", "home"].map(|name| folder.path().join(name));
            for (from, to, format) in [(&there, &far, third), (&far, &home, "claude-code")] {
                let [from, to] = [from, to].map(|path| path.display().to_string());
                let (status, words) =
                    convert(&[&from, "--to", format, "-o", &to, "--carry", carry]);
                assert_eq!(status, 0, "{carry}, {third}, {format}: {words}");
            }
            let restored = read(&home);
            let name = "s1/subagents/agent-aone.jsonl";
            assert!(restored.get(name) == tree.get(name), "{carry}, {third}");
            let main = String::from_utf8_lossy(&restored["s1.jsonl"]);
            assert!(main.as_bytes().starts_with(&tree["s1.jsonl"]), "{carry}, {third}: {main}");
            assert_eq!(main.matches("No more.").count(), 1, "{carry}, {third}: {main}");
        }
    }
}

#[test]
fn of_two_sub_agents_with_one_id_one_is_refused_and_said_at_home() {
    let agent = |said: &str| Lines::new("s1", Some("aone")).prompt("One.").says(said).bytes();
    let tree: Tree = [
        ("s1.jsonl".to_owned(), main_of_one_agent().bytes()),
        ("s1/subagents/agent-aone.jsonl".to_owned(), agent("1")),
        ("s1/subagents/flow/agent-aone.jsonl".to_owned(), agent("2")),
    ]
    .into();
    let (folder, source) = folder_with(&tree);
    for target in ["clido", "pi"] {
        let [written, home] = ["there", "home"].map(|name| {
            folder.path().join(target).join(name).join("s1.jsonl").display().to_string()
        });
        let main = source.join("s1.jsonl").display().to_string();
        let (status, words) = convert(&[&main, "--to", target, "-o", &written]);
        assert!(status == 1 && words.contains("another input goes to"), "{words}");
        let (status, words) = convert(&[&written, "--to", "claude-code", "-o", &home]);
        let n_said = words.matches("sub-agent aone is not restored").count();
        assert_eq!((status, n_said), (1, 1), "{target}: {words}");
    }
}

#[test]
fn a_tree_of_clido_sessions_comes_back() {
    let (folder, source) = folder_with(&project());
    let clido = through(folder.path(), &source, &["clido"], &["--carry", "none"]);
    let tree = read(&clido);
    assert!(tree.contains_key("s1_aone.jsonl") && tree.contains_key("s2_aflat.jsonl"));
    for target in ["claude-code", "sdk-stream", "sdk-stream:wire"] {
        let back =
            through(&folder.path().join(target.replace(':', "-")), &clido, &[target, "clido"], &[]);
        assert_same(&read(&back), &tree, target);
    }
}

#[test]
fn sub_agents_are_said_before_the_results_of_their_tool_uses() {
    let (folder, source) = folder_with(&project());
    let wire = through(folder.path(), &source, &["sdk-stream:wire"], &["--carry", "none"]);
    let text = fs::read_to_string(wire.join("s1.jsonl")).expect("text");
    let mut said = Vec::new();
    for line in text.lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let parent = line["parent_tool_use_id"].as_str().unwrap_or("-").to_owned();
        let content = &line["message"]["content"];
        let word = match content.as_str() {
            Some(text) => text.to_owned(),
            None => {
                let block = &content[0];
                let of = |name: &str| block[name].as_str().map(str::to_owned);
                let Some(word) = of("text").or(of("id")).or(of("tool_use_id")) else { continue };
                word
            }
        };
        said.push(format!("{parent} {word}"));
    }
    let expected = [
        "- Go.",
        "- t1",
        "t1 One.",
        "t1 t2",
        "t2 Two.",
        "t2 2",
        "t1 t2",
        "t1 1",
        "- t1",
        "- t3",
        "t3 Run.",
        "t3 3",
        "- t3",
        "- t4",
        "- t9",
        "- All done.",
        "t4 Stopped.",
    ];
    assert_eq!(said, expected);
}

/// A sub-agent's lines come after the session's in the first pass. They are no later branch of it.
#[test]
fn a_session_is_shown_whole_if_its_sub_agents_file_is_beside_it() {
    let agent = Lines::new("s1", Some("aone")).prompt("One.").says("It is one.");
    let tree = Tree::from([
        ("s1.jsonl".to_owned(), main_of_one_agent().bytes()),
        ("s1/subagents/agent-aone.jsonl".to_owned(), agent.bytes()),
    ]);
    let (folder, source) = folder_with(&tree);
    let source = source.join("s1.jsonl").display().to_string();
    for middle in ["pi", "qwen", "clido", "codex", "gemini", "opencode", "atif"] {
        let main = folder.path().join(middle).join("s1.jsonl").display().to_string();
        assert_eq!(convert(&[&source, "--to", middle, "--quiet", "-o", &main]).0, 0, "{middle}");
        assert_eq!(read(&folder.path().join(middle)).len(), 2, "{middle}");
        for target in ["sdk-stream", "sdk-stream:wire", "copilot"] {
            let written = folder.path().join("written").display().to_string();
            let options = ["--carry", "none", "--force", "-o", &*written];
            let (status, words) = convert(&[&[&*main, "--to", target], &options[..]].concat());
            assert!(status == 0 && !words.contains("branch"), "{middle}, {target}: {words}");
            let text = fs::read_to_string(&written).expect("text");
            for said in ["Go.", "Done."] {
                assert!(text.contains(said), "{middle}, {target}: {said}: {text}");
            }
        }
    }
}

#[test]
fn what_is_missing_or_left_out_is_told() {
    let (folder, source) = folder_with(&project());
    let main = source.join("s1.jsonl").display().to_string();
    let target = folder.path().join("s1.jsonl").display().to_string();
    let (status, words) = convert(&[&main, "--to", "sdk-stream", "-o", &target]);
    assert_eq!(status, 1, "a sub-agent's file is damaged");
    let missing = "sub-agent agone, started by t9 (the tool's result says so), has no file";
    assert!(words.contains(missing), "{words}");
    assert!(words.contains("agent-aodd.jsonl:1: byte 8: "), "{words}");
    assert!(words.contains("7 sub-agents, 3 by an unknown tool use"), "{words}");
    let (_, words) = convert(&[&main, "--to", "clido", "--quiet"]);
    assert!(words.contains("the other files of the session are written with -o only"), "{words}");
    let carried = folder.path().join("carried/s1.jsonl").display().to_string();
    let options = ["--subagents", "carry", "--quiet", "-o"];
    convert(&[&[&*main, "--to", "clido"], &options[..], &[&*carried]].concat());
    assert_eq!(read(&folder.path().join("carried")).len(), 1);
    let back = folder.path().join("back/s1.jsonl").display().to_string();
    convert(&[&carried, "--to", "claude-code", "--quiet", "-o", &back]);
    let mut tree = project();
    tree.retain(|name, _| name.starts_with("s1"));
    assert_eq!(read(&folder.path().join("back")), tree);
    let dropped = folder.path().join("dropped/s1.jsonl").display().to_string();
    convert(&[&main, "--to", "clido", "--subagents", "drop", "--quiet", "-o", &dropped]);
    assert_eq!(read(&folder.path().join("dropped")).len(), 1);
}

#[test]
fn a_sub_agent_that_was_continued_comes_home() {
    let (folder, source) = folder_with(&project());
    let clido = through(folder.path(), &source, &["clido"], &[]);
    let more =
        r#"{"type":"user_message","role":"user","content":[{"type":"text","text":"More."}]}"#;
    let path = clido.join("s1_aone.jsonl");
    let text = fs::read_to_string(&path).expect("text");
    fs::write(path, text + more + "\n").expect("written");
    let back = read(&through(folder.path(), &clido, &["claude-code"], &["--carry", "none"]));
    for (name, bytes) in project() {
        let restored = String::from_utf8_lossy(&back[&name]).into_owned();
        let expected = String::from_utf8_lossy(&bytes).into_owned();
        match name.as_str() {
            "s1/subagents/agent-aone.jsonl" => {
                let added = restored.strip_prefix(&expected).expect("the old part");
                let added: serde_json::Value = serde_json::from_str(added).expect("a line");
                assert_eq!(added["parentUuid"], "aone-3");
                assert_eq!(
                    (&added["isSidechain"], &added["agentId"]),
                    (&true.into(), &"aone".into())
                );
            }
            _ => assert_eq!(restored, expected, "{name}"),
        }
    }
}

#[test]
fn an_edited_sub_agents_line_in_a_stream_is_converted_in_its_file() {
    let (folder, source) = folder_with(&project());
    let stream = through(folder.path(), &source, &["sdk-stream"], &[]);
    let path = stream.join("s1.jsonl");
    let text = fs::read_to_string(&path).expect("text");
    assert!(text.contains(r#""text": "2""#));
    fs::write(&path, text.replace(r#""text": "2""#, r#""text": "two""#)).expect("written");
    let back = read(&through(folder.path(), &stream, &["claude-code"], &["--carry", "none"]));
    for (name, bytes) in project() {
        let restored = String::from_utf8_lossy(&back[&name]).into_owned();
        let expected = String::from_utf8_lossy(&bytes).into_owned();
        match name.as_str() {
            "s1/subagents/agent-atwo.jsonl" => {
                let (first, edited) = restored.split_once('\n').expect("two lines");
                assert!(expected.starts_with(first));
                let edited: serde_json::Value = serde_json::from_str(edited).expect("a line");
                assert_eq!(edited["message"]["content"][0]["text"], "two");
                assert_eq!(
                    (&edited["isSidechain"], &edited["uuid"]),
                    (&true.into(), &"atwo-1".into())
                );
            }
            _ => assert_eq!(restored, expected, "{name}"),
        }
    }
}

#[test]
fn names_that_lead_out_of_the_folder_are_refused() {
    let (folder, source) = folder_with(&project());
    let stream = through(folder.path(), &source, &["sdk-stream:wire"], &[]);
    let path = stream.join("s1.jsonl");
    let text = fs::read_to_string(&path).expect("text");
    let name = "*/subagents/agent-aone.jsonl";
    for evil in ["../../../../../../tmp/evil.jsonl", "/tmp/evil", "a/../../evil", "CON", "*"] {
        let evil = format!("{evil:/<28}");
        let hostile = text.replace(name, evil.get(..name.len()).unwrap_or_default());
        assert_ne!(hostile, text);
        fs::write(&path, hostile).expect("written");
        let target = folder.path().join("out/deep/s1.jsonl").display().to_string();
        let (status, words) =
            convert(&[&path.display().to_string(), "--to", "claude-code", "-o", &target]);
        assert_eq!(status, 1, "{words}");
        assert!(words.contains("1 file that the carry names was not written"), "{words}");
        let names: Vec<_> = read(&folder.path().join("out")).into_keys().collect();
        assert_eq!(names.len(), 10, "{names:?}");
        assert!(names.iter().all(|name| name.starts_with("deep/s1")), "{names:?}");
        fs::remove_dir_all(folder.path().join("out")).expect("removed");
    }
}

#[cfg(unix)]
#[test]
fn nothing_is_restored_through_a_link() {
    let (folder, source) = folder_with(&project());
    let stream = through(folder.path(), &source, &["sdk-stream:wire"], &[]);
    let (out, elsewhere) = (folder.path().join("out"), folder.path().join("elsewhere"));
    fs::create_dir_all(out.join("s1")).expect("made");
    fs::create_dir(&elsewhere).expect("made");
    std::os::unix::fs::symlink(&elsewhere, out.join("s1/subagents")).expect("linked");
    let from = stream.join("s1.jsonl").display().to_string();
    let target = out.join("s1.jsonl").display().to_string();
    let (status, words) = convert(&[&from, "--to", "claude-code", "-o", &target]);
    assert_eq!(status, 1, "{words}");
    assert!(read(&elsewhere).is_empty());
}

#[test]
fn sub_agents_larger_than_what_may_wait_come_back() {
    let mut tree = project();
    for n in 0..2 {
        let mut lines = Lines::new("s1", Some("abig")).prompt("Big.");
        let text = "x".repeat(64 * 1024);
        while lines.text.len() < 9 * 1024 * 1024 {
            lines = lines.says(&text);
        }
        tree.insert(format!("s1/subagents/agent-abig{n}.jsonl"), lines.bytes());
        let meta = format!(r#"{{"toolUseId":"t{}"}}"#, n + 1).into_bytes();
        tree.insert(format!("s1/subagents/agent-abig{n}.meta.json"), meta);
    }
    tree.retain(|name, _| name.starts_with("s1"));
    for target in TARGETS {
        let (folder, source) = folder_with(&tree);
        let back = through(folder.path(), &source, &[target, "claude-code"], &[]);
        assert_same(&read(&back), &tree, target);
    }
}

#[test]
fn trees_are_the_same_for_any_number_of_jobs() {
    let (folder, source) = folder_with(&project());
    for target in TARGETS {
        let trees = ["1", "4"].map(|jobs| {
            let folder = folder.path().join(jobs).join(target.replace(':', "-"));
            read(&through(&folder, &source, &[target], &["--jobs", jobs]))
        });
        assert!(trees[0] == trees[1], "{target}");
    }
}

#[test]
fn a_session_whose_name_goes_on_anothers_keeps_its_name() {
    let tree: Tree = ["user", "user_command", "user_command_2"]
        .map(|name| {
            let message = r#""message":{"role":"user","content":"Hello"}"#;
            (
                format!("{name}.jsonl"),
                Lines::new(name, None).line("user", message).text.into_bytes(),
            )
        })
        .into();
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    write(&folder.path().join("in"), &tree);
    for carry in ["inline", "sidecar"] {
        let (there, back) = (path(&format!("{carry}-there")), path(&format!("{carry}-back")));
        let to_clido = ["-q", "--to", "clido", "--carry", carry, "-o", &there, &path("in")];
        assert_eq!(convert(&to_clido).0, 0, "{carry}");
        let (status, words) = convert(&["-q", "--to", "claude-code", "-o", &back, &there]);
        assert_eq!(status, 0, "{carry}: {words}");
        assert_same(&read(Path::new(&back)), &tree, carry);
    }
}

/// The real trees of the shared data: flat sub-agents, nested ones, workflows, outputs.
#[test]
fn real_trees_come_back_whole() {
    let folders = ["real/marot+spotter", "real/iansherr+claude-code-log", "clients"];
    let is_main = |name: &str| name.ends_with(".jsonl") && !name.contains("agent-");
    let names = data::data(&folders).into_iter().map(|(name, _)| name);
    let layout = by_name("claude-code").and_then(|format| format.layout).expect("trees");
    let (mut n_trees, mut n_files) = (0, 0);
    for name in names.filter(|name| is_main(name)) {
        let main = data::root().join(name);
        let files = layout.files(&main).expect("readable");
        if files.is_empty() {
            continue;
        }
        let root = main.parent().expect("a folder");
        let paths = files.iter().map(|file| &file.path).chain([&main]);
        let tree: Tree = paths
            .map(|path| {
                let name = path.strip_prefix(root).expect("below").display().to_string();
                (name, fs::read(path).expect("readable"))
            })
            .collect();
        n_trees += 1;
        n_files += tree.len();
        for target in TARGETS {
            let (folder, source) = folder_with(&tree);
            let back = through(folder.path(), &source, &[target, "claude-code"], &[]);
            assert_same(&read(&back), &tree, &format!("{target}: {}", main.display()));
        }
    }
    _ = writeln!(io::stderr(), "{n_trees} real trees of {n_files} files, to each format and back");
}

/// Only few files of a session are open at a time, however many it has.
#[cfg(unix)]
#[test]
fn a_tree_of_many_files_is_restored_with_few_of_them_open() {
    let mut tree = Tree::new();
    let mut main = Lines::new("s1", None).prompt("Do a lot.");
    for n in 0..150 {
        let (id, tool_use) = (format!("a{n}"), format!("t{n}"));
        main = main.starts(&tool_use, "Do a little.").ends(&tool_use, "");
        let agent = Lines::new("s1", Some(&id)).prompt("Do a little.").says("Done.");
        let name = |ending: &str| format!("s1/subagents/agent-{id}.{ending}");
        let meta = format!(r#"{{"toolUseId":"{tool_use}"}}"#);
        tree.insert(name("meta.json"), meta.into_bytes());
        tree.insert(name("jsonl"), agent.bytes());
        tree.insert(format!("s1/tool-results/{tool_use}.txt"), vec![b'x'; 40_000]);
    }
    tree.insert("s1.jsonl".to_owned(), main.bytes());
    let (folder, source) = folder_with(&tree);
    let [source, there, back] = [source, folder.path().join("there"), folder.path().join("back")]
        .map(|path| path.display().to_string());
    for options in [
        &["--to", "sdk-stream:wire", "-o", &there, &source][..],
        &["--to", "claude-code", "-o", &back, &there],
    ] {
        let output = Command::new("sh")
            .args(["-c", "ulimit -n 40 && exec \"$0\" -q \"$@\"", env!("CARGO_BIN_EXE_convert")])
            .args(options)
            .output()
            .expect("it runs");
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{options:?}: {words}");
    }
    assert_same(&read(Path::new(&back)), &tree, "with 40 open files");
    let rehearsed = ["--to", "claude-code", "--dry-run", "-q", "-o", &source, "--force", &there];
    assert_eq!(convert(&rehearsed).0, 0);
}

/// Returns a fixture with messages of sub-agents among its own.
fn with_agents_inside(name: &str) -> Vec<u8> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    fs::read(fixtures.join(name)).expect("a fixture")
}

/// The client has `<session>/subagents/agent-<id>.jsonl` with a description beside it. The stream is
/// restored from the main file, and does not contain the files of sub-agents.
#[test]
fn sub_agents_of_a_stream_get_files_of_their_own() {
    for (name, format) in [
        ("sdk-wire/sub-agent.jsonl", "sdk-stream:wire"),
        ("sdk-stream/sub-agent.jsonl", "sdk-stream"),
    ] {
        let tree = Tree::from([("s1.jsonl".to_owned(), with_agents_inside(name))]);
        for carry in ["inline", "sidecar"] {
            for target in ["claude-code", "clido"] {
                let (folder, source) = folder_with(&tree);
                let options = ["--carry", carry, "--verify"];
                let there = through(folder.path(), &source, &[target], &options);
                let names: Vec<String> =
                    read(&there).into_keys().filter(|name| !name.ends_with(".carry")).collect();
                let id = "deebaa5";
                let expected = match target {
                    "clido" => vec!["s1.jsonl".to_owned(), format!("s1_{id}.jsonl")],
                    _ => vec![
                        "s1.jsonl".to_owned(),
                        format!("s1/subagents/agent-{id}.jsonl"),
                        format!("s1/subagents/agent-{id}.meta.json"),
                    ],
                };
                assert_eq!(names, expected, "{name} {target} {carry}");
                let back = through(&folder.path().join("back"), &there, &[format], &[]);
                let mut restored = read(&back);
                restored.retain(|name, _| !name.ends_with(".carry"));
                assert_same(&restored, &tree, &format!("{name} {target} {carry}"));
            }
        }
        // The content of a sidecar is not carried to a third format.
        let (folder, source) = folder_with(&tree);
        let way = ["claude-code", "clido", "claude-code", format];
        let back = through(folder.path(), &source, &way, &[]);
        assert_same(&read(&back), &tree, &format!("{name} {way:?}"));
    }
}

/// A client that writes values anew, such as Gemini CLI, may change blanks, so its guards are of values.
#[test]
fn files_of_sub_agents_with_blanks_in_values_are_unedited() {
    let stream = String::from_utf8(with_agents_inside("sdk-wire/sub-agent.jsonl")).expect("text");
    let blanks = stream.replace("\"input\":{", "\"input\": { ").replace("\":\"", "\": \"");
    let tree = Tree::from([("s1.jsonl".to_owned(), blanks.into_bytes())]);
    for target in ["atif", "claude-code", "clido", "codex", "gemini", "opencode", "pi", "qwen"] {
        for carry in ["inline", "sidecar"] {
            let (folder, source) = folder_with(&tree);
            let there = through(folder.path(), &source, &[target], &["--carry", carry]);
            let is_session = |name: &&String| !name.ends_with(".carry");
            assert!(read(&there).keys().filter(is_session).count() > 1, "{target}");
            let back = folder.path().join("back").display().to_string();
            let there = there.display().to_string();
            let (status, words) = convert(&["--to", "sdk-stream:wire", "-o", &back, &there]);
            assert_eq!(status, 0, "{target} {carry}: {words}");
            assert_same(&read(Path::new(&back)), &tree, &format!("{target} {carry}"));
            // An edit is said.
            let names = read(Path::new(&there)).into_keys();
            let mut agents = names.filter(|name| name.contains("deebaa5") && is_session(&name));
            let agent = Path::new(&there)
                .join(agents.find(|it| !it.ends_with(".meta.json")).expect("a file"));
            let edited = fs::read_to_string(&agent).expect("text").replacen("a.txt", "b.txt", 1);
            fs::write(&agent, edited).expect("written");
            let (status, words) =
                convert(&["--to", "sdk-stream:wire", "-o", &format!("{back}2"), &there]);
            assert_eq!(status, 1, "{target} {carry}: {words}");
            assert!(words.contains("has been edited since"), "{target} {carry}: {words}");
        }
    }
}

/// The file of a sub-agent restores nothing, but its records are counted like the records of other files.
#[test]
fn a_line_that_a_sub_agents_file_lost_is_said() {
    let tree = ("s1.jsonl".to_owned(), with_agents_inside("sdk-wire/sub-agent.jsonl"));
    let tree = Tree::from([tree]);
    for target in ["claude-code", "clido", "gemini"] {
        let (folder, source) = folder_with(&tree);
        let there = through(folder.path(), &source, &[target], &[]);
        let names = read(&there).into_keys();
        let mut agents = names.filter(|name| name.contains("deebaa5") && name.ends_with(".jsonl"));
        let agent = there.join(agents.next().expect("a file"));
        let there = there.display().to_string();
        let written = fs::read_to_string(&agent).expect("text");
        let lines: Vec<&str> = written.split_inclusive('\n').collect();
        let mut n = 0;
        let mut status_of = |lines: &[String]| {
            n += 1;
            fs::write(&agent, lines.concat()).expect("written");
            let back = folder.path().join(format!("back{n}"));
            let back = back.display().to_string();
            let (status, words) = convert(&["--to", "sdk-stream:wire", "-o", &back, &there]);
            assert_eq!(status == 1, words.contains("has been edited since"), "{words}");
            assert_same(&read(Path::new(&back)), &tree, target);
            status
        };
        let whole: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        for place in 1..whole.len() {
            let mut changed = whole.clone();
            let line = changed.remove(place);
            assert_eq!(status_of(&changed), 1, "{target}: {place} is gone");
            changed.insert(place - 1, line.clone());
            assert_eq!(status_of(&changed), 1, "{target}: {place} was moved");
            let mut doubled = whole.clone();
            doubled.insert(place, line);
            assert_eq!(status_of(&doubled), 1, "{target}: {place} is there twice");
        }
        // Another program spells them anew.
        let respelt = whole.iter().map(|line| {
            let mut spaced = Vec::new();
            jsonl::respell_str(&mut spaced, line.trim_end(), jsonl::Style::Python);
            String::from_utf8(spaced).expect("text") + "\n"
        });
        assert_eq!(status_of(&respelt.collect::<Vec<_>>()), 0, "{target}: respelt");
    }
}

/// A record that is added in a third format has a carry of that format when the file comes back to the second one.
#[test]
fn what_is_added_to_a_sub_agents_file_in_a_third_format_is_said() {
    let name = "s1.jsonl".to_owned();
    let tree = Tree::from([(name, with_agents_inside("sdk-stream/sub-agent.jsonl"))]);
    for (second, third, added) in [
        (
            "atif",
            "gemini",
            r#"{"id":"11111111-2222-4333-8444-555555555555","timestamp":"2027-01-05T10:00:01.000Z","type":"user","content":[{"text":"Added."}]}"#,
        ),
        (
            "pi",
            "clido",
            r#"{"type":"user_message","role":"user","content":[{"text":"Added.","type":"text"}]}"#,
        ),
    ] {
        let (folder, source) = folder_with(&tree);
        let there = through(folder.path(), &source, &[second, third], &[]);
        let agent = read(&there).into_keys().find(|name| name.contains("deebaa5"));
        let agent = there.join(agent.expect("a file"));
        let [back, more] =
            ["back", "more"].map(|name| folder.path().join(name).display().to_string());
        let there = there.display().to_string();
        let (status, words) = convert(&["--to", "sdk-stream", "-o", &back, &there]);
        assert_eq!(status, 0, "{second} {third}: {words}");
        let mut text = fs::read_to_string(&agent).expect("text");
        text.push_str(added);
        fs::write(&agent, text + "\n").expect("written");
        let (status, words) = convert(&["--to", "sdk-stream", "-o", &more, &there]);
        assert_eq!(status, 1, "{second} {third}: {words}");
        assert!(words.contains("has been edited since"), "{second} {third}: {words}");
    }
}

#[test]
fn a_sub_agents_file_says_what_the_stream_does() {
    let tree =
        Tree::from([("s1.jsonl".to_owned(), with_agents_inside("sdk-stream/sub-agent.jsonl"))]);
    let (folder, source) = folder_with(&tree);
    let there = through(folder.path(), &source, &["claude-code"], &["--carry", "none"]);
    let files = read(&there);
    let text = |ending: &str| {
        let bytes = files.iter().find(|(name, _)| name.ends_with(ending)).expect("a file").1;
        String::from_utf8(bytes.clone()).expect("text")
    };
    assert_eq!(
        text(".meta.json"),
        r#"{"agentType":"general-purpose","description":"Count","toolUseId":"toolu_01T"}"#
    );
    let agent = text("agent-deebaa5.jsonl");
    let lines: Vec<serde_json::Value> =
        agent.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    let kinds: Vec<_> =
        lines.iter().map(|line| line["type"].as_str().unwrap_or_default()).collect();
    assert_eq!(kinds[..3], ["user", "assistant", "user"], "{agent}");
    assert!(lines.iter().all(|line| line["agentId"] == "deebaa5" && line["isSidechain"] == true));
    assert!(!agent.contains("_carried"));
    // A file that was changed since then is reported.
    let folder = tempfile::tempdir().expect("a folder");
    let there = through(folder.path(), &source, &["claude-code"], &[]);
    let path = there.join("s1/subagents/agent-deebaa5.jsonl");
    let edited = fs::read_to_string(&path).expect("text").replacen("Count files", "Count all", 1);
    fs::write(&path, edited).expect("written");
    let back = folder.path().join("back").display().to_string();
    let there = there.display().to_string();
    let (status, words) = convert(&["--to", "sdk-stream", "-o", &back, &there]);
    assert_eq!(status, 1, "{words}");
    assert!(words.contains("has been edited since; convert it separately"), "{words}");
    assert_same(&read(Path::new(&back)), &tree, "the main file");
    // Alone, it is a session like any other.
    let alone = folder.path().join("alone.jsonl").display().to_string();
    let path = path.display().to_string();
    assert!(convert(&["-q", "--to", "sdk-stream", "-o", &alone, &path]).0 < 2);
    assert!(fs::read_to_string(alone).expect("written").contains("Count all"));
}

/// Up to client 2.0.28, sub-agents are in the main file, with an id or found by their parents.
#[test]
fn sidechains_among_the_lines_get_files_of_their_own() {
    let bytes = with_agents_inside("claude-code/sidechains-side-by-side.jsonl");
    // The same beside outputs, so in a session of several files.
    let alone = Tree::from([("s1.jsonl".to_owned(), bytes)]);
    let mut several = alone.clone();
    several.insert("s1/tool-results/toolu_1.txt".to_owned(), b"large".to_vec());
    for (tree, n_jobs) in [(&alone, "1"), (&several, "2")] {
        for carry in ["inline", "sidecar"] {
            let (folder, source) = folder_with(tree);
            let options = ["--carry", carry, "--verify", "--jobs", n_jobs];
            let clido = through(folder.path(), &source, &["clido"], &options);
            let mut written = read(&clido);
            written.retain(|name, _| name.ends_with(".jsonl"));
            let said: Vec<(&str, Vec<String>)> =
                written.iter().map(|(name, bytes)| (&**name, texts(bytes))).collect();
            let expected = [
                ("s1.jsonl", &["Ask three.", "All told."][..]),
                ("s1_60890a3.jsonl", &["Two.", "Second."]),
                ("s1_7aa5b40.jsonl", &["One.", "First."]),
                ("s1_9c54aa4.jsonl", &["[no prompt recorded]", "Unasked."]),
                ("s1_b1f5d80e.jsonl", &["The third.", "Third."]),
            ];
            assert_eq!(said, expected.map(|(name, said)| (name, words(said))), "{carry}");
            let back = through(folder.path(), &clido, &["claude-code"], &[]);
            let mut restored = read(&back);
            restored.retain(|name, _| !name.ends_with(".carry"));
            assert_same(&restored, tree, carry);
        }
    }
    for way in [
        &["clido", "sdk-stream", "clido", "claude-code"][..],
        &["sdk-stream:wire", "clido", "claude-code"],
    ] {
        let (folder, source) = folder_with(&several);
        let back = through(folder.path(), &source, way, &[]);
        assert_same(&read(&back), &several, &format!("{way:?}"));
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().copied().map(str::to_owned).collect()
}

/// Returns the texts of messages of a clido session.
fn texts(bytes: &[u8]) -> Vec<String> {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let lines = lines.map(|line| serde_json::from_slice::<serde_json::Value>(line).expect("JSON"));
    let blocks = lines.flat_map(|line| line["content"].as_array().cloned().unwrap_or_default());
    blocks.filter_map(|block| Some(block["text"].as_str()?.to_owned())).collect()
}

/// A stream names sub-agents by the tool uses that started them. The prompt, or the client's data of a
/// result, has this tool use. Lines without one stay in the carry.
#[test]
fn sidechains_among_the_lines_are_said_with_their_tool_uses() {
    let bytes = with_agents_inside("claude-code/sidechains-side-by-side.jsonl");
    let tree = Tree::from([("s1.jsonl".to_owned(), bytes)]);
    for format in ["sdk-stream", "sdk-stream:wire"] {
        let (folder, source) = folder_with(&tree);
        let there = through(folder.path(), &source, &[format], &[]);
        let text = String::from_utf8(read(&there)["s1.jsonl"].clone()).expect("text");
        let mut said = Vec::new();
        for line in text.lines() {
            let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let Some(parent) = line["parent_tool_use_id"].as_str() else { continue };
            let message = if format == "sdk-stream" { &line } else { &line["message"] };
            let content = &message["content"];
            let text = content.as_str().or(content[0]["text"].as_str()).expect("a text");
            said.push(format!("{parent} {text}"));
        }
        let expected = [
            "toolu_1 One.",
            "toolu_2 Two.",
            "toolu_1 First.",
            "toolu_2 Second.",
            "toolu_3 The third.",
            "toolu_3 Third.",
        ];
        assert_eq!(said, expected, "{format}");
        let back = through(folder.path(), &there, &["claude-code"], &[]);
        assert_same(&read(&back), &tree, format);
    }
}

/// Archives keep the versions of a session beside each other.
#[test]
fn versions_of_a_session_have_sub_agents_of_their_own() {
    let bytes = with_agents_inside("claude-code/sidechains-side-by-side.jsonl");
    let versions = ["", "@1", "@37b2b58b"];
    let tree = Tree::from(versions.map(|version| (format!("s1.jsonl{version}"), bytes.clone())));
    let (folder, source) = folder_with(&tree);
    let clido = through(folder.path(), &source, &["clido"], &[]);
    let written = read(&clido);
    for version in versions {
        let agents = ["60890a3", "7aa5b40", "9c54aa4", "b1f5d80e"];
        let names = agents.map(|agent| format!("s1_{agent}.jsonl{version}"));
        assert!(names.iter().all(|name| written.contains_key(name)), "{:?}", written.keys());
    }
    let back = through(folder.path(), &clido, &["claude-code"], &[]);
    assert_same(&read(&back), &tree, "versions");
}

#[test]
fn a_copy_of_a_tree_has_all_of_its_files() {
    let tree = project();
    let (folder, source) = folder_with(&tree);
    let there = through(folder.path(), &source, &["claude-code"], &[]);
    assert_same(&read(&there), &tree, "copied");
}

/// A compressed output contains the session with all its files, because files beside it would not be
/// found.
#[test]
fn compressed_trees_come_back_whole() {
    let stream = with_agents_inside("sdk-wire/sub-agent.jsonl");
    let stream = Tree::from([("s1.jsonl".to_owned(), stream)]);
    let tree = project();
    for (tree, from, to) in [
        (&tree, "claude-code", "clido"),
        (&tree, "claude-code", "sdk-stream"),
        (&tree, "claude-code", "claude-code"),
        (&stream, "sdk-stream:wire", "claude-code"),
        (&stream, "sdk-stream:wire", "clido"),
    ] {
        for compression in ["gz", "zst"] {
            let (folder, source) = folder_with(tree);
            let there = through(folder.path(), &source, &[to], &["--compress", compression]);
            let main = format!("s1.jsonl.{compression}");
            assert!(read(&there).contains_key(&main), "{to} {compression}");
            let back = through(&folder.path().join("back"), &there, &[from], &[]);
            assert_same(&read(&back), tree, &format!("{from} {to} {compression}"));
        }
    }
}

/// Archives are compressed file by file, and the files of a session still belong together.
#[test]
fn a_compressed_tree_becomes_what_it_would_be_without() {
    let tree = project();
    let gz = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).expect("packed");
        encoder.finish().expect("packed")
    };
    let packed = |name: &String, bytes: &Vec<u8>| match name.len() % 2 {
        0 => (format!("{name}.gz"), gz(bytes)),
        _ => (format!("{name}.zst"), zstd::encode_all(&**bytes, 1).expect("packed")),
    };
    let whole: Tree = tree.iter().map(|(name, bytes)| packed(name, bytes)).collect();
    // Some archives compress only transcripts.
    let is_transcript = |name: &str| name.ends_with(".jsonl");
    let partly = |(name, bytes): (&String, &Vec<u8>)| match is_transcript(name) {
        true => packed(name, bytes),
        false => (name.clone(), bytes.clone()),
    };
    let partly: Tree = tree.iter().map(partly).collect();
    for target in TARGETS.into_iter().chain(["claude-code"]) {
        let (plain_folder, plain) = folder_with(&tree);
        let expected = read(&through(plain_folder.path(), &plain, &[target], &[]));
        for (packed, way) in [(&whole, "whole"), (&partly, "partly")] {
            let (folder, source) = folder_with(packed);
            let there = through(folder.path(), &source, &[target], &["--verify"]);
            assert_same(&read(&there), &expected, &format!("{target}, {way}"));
            let back = through(&folder.path().join("back"), &there, &["claude-code"], &[]);
            assert_same(&read(&back), &tree, &format!("{target}, {way}, and back"));
        }
        // Converting one session also converts its other files.
        let (folder, source) = folder_with(&whole);
        let name = whole.keys().find(|name| name.starts_with("s1.jsonl")).expect("packed");
        let (source, there) = (source.join(name), folder.path().join("named/"));
        let paths = [&source, &there].map(|path| path.display().to_string());
        let (status, words) = convert(&[&paths[0], "--to", target, "-o", &paths[1], "--quiet"]);
        assert!(status < 2, "{words}");
        let of_s1 = |name: &str| name.starts_with("s1");
        let of_s1 = expected.clone().into_iter().filter(|(name, _)| of_s1(name)).collect();
        assert_same(&read(&there), &of_s1, &format!("{target}, named"));
    }
}

/// Commands find the same sessions in a compressed folder as in the plain one.
#[test]
fn a_compressed_tree_is_read_as_it_would_be_without() {
    let tree = project();
    let packed = |(name, bytes): (&String, &Vec<u8>)| {
        (format!("{name}.zst"), zstd::encode_all(&**bytes, 1).expect("packed"))
    };
    let (_plain_folder, plain) = folder_with(&tree);
    let (_packed_folder, packed) = folder_with(&tree.iter().map(packed).collect());
    let said = |args: &[&str], folder: &Path, name: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
        let output = command.args(args).arg(name).current_dir(folder).output().expect("it runs");
        assert!(output.status.code() < Some(2), "{args:?} {name}");
        String::from_utf8(output.stdout).expect("text").replace(".zst", "")
    };
    for (args, name, packed_name) in [
        (&["stats", "--brief"][..], ".", "."),
        (&["stats", "--brief"], "s1.jsonl", "s1.jsonl.zst"),
        (&["show", "--markdown"], "s1.jsonl", "s1.jsonl.zst"),
        (&["show", "--markdown"], "s2.jsonl", "s2.jsonl.zst"),
        (&["list", "--columns", "id,messages,title"], ".", "."),
    ] {
        let expected = said(args, &plain, name);
        // The file of a sub-agent without known records hides no session.
        let is_whole = args[0] != "list" || expected.contains("s1");
        assert!(is_whole && !expected.is_empty(), "{args:?}: {expected}");
        assert_eq!(said(args, &packed, packed_name), expected, "{args:?} {name}");
    }
    let pages = [&plain, &packed].map(|folder| {
        said(&["export", "--html", "-o", "pages", "--quiet"], folder, ".");
        read(&folder.join("pages")).into_keys().collect::<Vec<_>>()
    });
    assert_eq!(pages[0], pages[1]);
}

#[test]
fn files_that_no_client_keeps_in_the_folder_of_a_session_are_named() {
    let mut tree = project();
    let folder = "s1";
    let strays = [format!("{folder}/odd/x.txt"), format!("{folder}/strange.bin")];
    tree.extend(strays.iter().map(|name| (name.clone(), b"mine".to_vec())));
    let (root, source) = folder_with(&tree);
    let to = |name: &str| root.path().join(name).display().to_string();
    let report = to("report.json");
    let main = source.join(format!("{folder}.jsonl")).display().to_string();
    let source = source.display().to_string();
    for input in [main.as_str(), source.as_str()] {
        let out = to(if input == main { "out.jsonl" } else { "out" });
        let (code, words) = convert(&["--to", "clido", input, "-o", &out, "--report", &report]);
        assert!(code < 2, "{words}");
        let report = fs::read_to_string(&report).expect("a report");
        for name in &strays {
            assert!(words.contains("2 files left out"), "{words}");
            assert!(words.contains(name.as_str()), "{words}");
            assert!(report.contains(&format!("{name}\",\"status\":\"Skipped\"")), "{report}");
        }
    }
}

#[test]
fn copies_in_other_clients_are_known_whatever_is_around_their_id() {
    let id = "fb02d60f-60fc-4f60-a756-f9afd272cd18";
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/sample");
    let sample = sample.join(format!("{id}.jsonl")).display().to_string();
    let folder = tempfile::tempdir().expect("a folder");
    for (to, name) in [
        ("codex", format!("rollout-2026-11-22T19-55-43-{id}.jsonl")),
        ("pi", format!("2026-11-22T19-55-43-000Z_{id}.jsonl")),
    ] {
        let copy = folder.path().join(name).display().to_string();
        let (code, words) = convert(&["--to", to, &sample, "-o", &copy]);
        assert!(code < 2, "{words}");
    }
    let copies = folder.path().display().to_string();
    let (code, words) = convert(&["usage", &sample, &copies]);
    assert_eq!(code, 0, "{words}");
    assert!(words.contains("sessions that two clients keep, counted once: 2"), "{words}");
}

/// Nothing of the session shows in clido, so that the file is empty, and only its sidecar has the session. Nothing
/// tells that the file is clido's.
#[test]
fn an_empty_file_with_a_sidecar_needs_its_format() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let source = r#"{"type":"progress","sessionId":"11111111-2222-4333-8444-555555555555","uuid":"00000000-0000-4000-8000-000000000000","parentUuid":null,"timestamp":"2026-03-21T14:30:00.500Z","data":{"type":"bash_progress"}}"#;
    fs::write(path("a.jsonl"), format!("{source}\n")).expect("written");
    let step = |from: &str, to: &str, output: &str, more: &[&str]| {
        let (from, output) = (path(from), path(output));
        convert(&[&[&*from, "--to", to, "-o", &*output], more].concat())
    };
    let (status, words) = step("a.jsonl", "clido", "b.jsonl", &["--carry", "inline"]);
    assert!(words.contains("not shown in clido, kept in ") && !words.contains("inline"), "{words}");
    assert_eq!((status, fs::read(path("b.jsonl")).expect("a file").len()), (0, 0), "{words}");
    // The way home needs no format.
    assert_eq!(step("b.jsonl", "claude-code", "home.jsonl", &[]).0, 0);
    assert_eq!(fs::read(path("home.jsonl")).ok(), fs::read(path("a.jsonl")).ok());
    let (status, words) = step("b.jsonl", "gemini", "c.jsonl", &[]);
    assert!(status > 0 && words.contains("name with --from the format"), "{status} {words}");
    assert_eq!(step("b.jsonl", "gemini", "c.jsonl", &["--from", "clido"]).0, 0);
    assert_eq!(step("c.jsonl", "clido", "d.jsonl", &[]).0, 0);
    assert_eq!(step("d.jsonl", "claude-code", "e.jsonl", &[]).0, 0);
    assert_eq!(fs::read(path("e.jsonl")).ok(), fs::read(path("a.jsonl")).ok());
}
