//! Tests of `convert export`: pages as files, with all files of a session, and its errors.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn export(arguments: &[&Path]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
    command.args(["export", "--html"]).args(arguments).stdin(Stdio::null());
    command.output().expect("the program runs")
}

fn output(path: &Path) -> [&Path; 2] {
    [Path::new("-o"), path]
}

/// Returns the files of a folder and their content, sorted by name.
fn tree(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let (mut files, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = fs::read(&path).expect("a file");
                files.push((path.strip_prefix(root).expect("below").to_owned(), bytes));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn a_folder_becomes_pages_and_an_index_whatever_the_number_of_jobs() {
    let folder = tempfile::tempdir().expect("a folder");
    let fixtures = fixtures();
    let trees = ["1", "4"].map(|jobs| {
        let target = folder.path().join(jobs);
        let [o, to] = output(&target);
        let done = export(&[&fixtures, o, to, Path::new("--jobs"), Path::new(jobs)]);
        assert_eq!(done.status.code(), Some(1), "some fixtures are damaged");
        tree(&target)
    });
    assert!(trees[0] == trees[1]);
    assert!(trees[0].len() > 150, "{} pages", trees[0].len());
    let page = |name: &str| {
        let found = trees[0].iter().find(|(path, _)| path == Path::new(name));
        String::from_utf8(found.expect("a page").1.clone()).expect("text")
    };
    let index = page("index.html");
    for (path, _) in &trees[0] {
        let address = path.to_str().expect("text").replace('@', "%40");
        let is_linked = index.contains(&format!("href=\"./{address}\""));
        assert!(is_linked || path == Path::new("index.html"), "{address}");
    }
    assert!(
        page("sample/fb02d60f-60fc-4f60-a756-f9afd272cd18.html").contains("cargo test --quiet")
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let index = fs::metadata(folder.path().join("1/index.html")).expect("there");
        assert_eq!(index.permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn sessions_that_were_made_from_each_other_have_links_and_count_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let logs = folder.path().join("logs");
    fs::create_dir_all(logs.join("later")).expect("a folder");
    let line = |session: &str, id: u32, kind: &str, words: &str| {
        let message = match kind {
            "user" => format!(r#"{{"role":"user","content":"{words}"}}"#),
            _ => format!(
                r#"{{"role":"assistant","id":"m{id}","model":"claude-sonnet-4-5","content":[{{"type":"text","text":"{words}"}}],"usage":{{"input_tokens":200000,"output_tokens":0}}}}"#
            ),
        };
        let parent = match id {
            0 => "null".to_owned(),
            _ => format!("\"00000000-0000-4000-8000-00000000000{}\"", id - 1),
        };
        format!(
            r#"{{"type":"{kind}","uuid":"00000000-0000-4000-8000-00000000000{id}","parentUuid":{parent},"sessionId":"{session}","cwd":"/p","version":"2.0.0","timestamp":"2026-01-01T00:00:0{id}.000Z","message":{message}}}"#
        )
    };
    let [first, second] =
        ["a", "b"].map(|id| format!("{0}{0}{0}{0}{0}{0}{0}{0}-0000-4000-8000-000000000000", id));
    let session = |id: &str, n_lines: u32| {
        let lines = (0..n_lines).map(|at| {
            line(id, at, if at % 2 == 0 { "user" } else { "assistant" }, &format!("words {at}"))
                + "\n"
        });
        lines.collect::<String>()
    };
    fs::write(logs.join("one.jsonl"), session(&first, 2)).expect("written");
    fs::write(logs.join("later/two.jsonl"), session(&second, 4)).expect("written");
    let pages = folder.path().join("pages");
    let [o, to] = output(&pages);
    let done = export(&[&logs, o, to]);
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    let page = |name: &str| fs::read_to_string(pages.join(name)).expect("a page");
    let (one, two) = (page("one.html"), page("later/two.html"));
    assert!(one.contains("Continued in <a href=\"./later/two.html\">bbbbbbbb</a>"), "{one}");
    assert!(
        two.contains("Continues, after 1 prompt, <a href=\"./../one.html\">aaaaaaaa</a>"),
        "{two}"
    );
    // The page has the cost of both responses, the index counts the copied one once.
    assert!(two.contains("<dt>Cost</dt><dd>$1.20</dd>"), "{two}");
    let index = page("index.html");
    assert!(index.contains("<span>$1.20</span>"), "{index}");
    assert_eq!(index.matches(">$0.60</td>").count(), 2, "{index}");
    assert_eq!(index.matches("<td data-name=\"Messages\" data-value=\"2\"").count(), 2, "{index}");
    let done = export(&[&logs, Path::new("--with-copies"), o, to]);
    assert_eq!(done.status.code(), Some(0));
    assert!(page("index.html").contains("<span>$1.80</span>"));
}

#[test]
fn the_files_of_sub_agents_stand_in_the_page_of_their_session() {
    let folder = tempfile::tempdir().expect("a folder");
    let id = "4b1f9f6e-3c55-4c1c-9d5e-0f6a3f0c7a11";
    let n_lines = std::cell::Cell::new(0);
    let line = |kind: &str, agent: Option<&str>, content: &str| {
        let before = n_lines.replace(n_lines.get() + 1);
        let parent = if before == 0 { "null".to_owned() } else { format!("\"u{before}\"") };
        let uuid = before + 1;
        let agent = agent.map(|agent| format!("\"isSidechain\":true,\"agentId\":\"{agent}\","));
        let agent = agent.unwrap_or_else(|| "\"isSidechain\":false,".to_owned());
        format!(
            "{{\"type\":\"{kind}\",{agent}\"uuid\":\"u{uuid}\",\"parentUuid\":{parent},\"sessionId\":\"{id}\",\"message\":{{\"role\":\"{kind}\",\"content\":{content}}}}}\n"
        )
    };
    let call = |tool_use: &str| {
        format!(
            "[{{\"type\":\"tool_use\",\"id\":\"{tool_use}\",\"name\":\"Task\",\"input\":{{\"prompt\":\"p\"}}}}]"
        )
    };
    let result = |tool_use: &str, text: &str| {
        format!(
            "[{{\"type\":\"tool_result\",\"tool_use_id\":\"{tool_use}\",\"content\":\"{text}\"}}]"
        )
    };
    let main = [
        line("user", None, "\"start\""),
        line("assistant", None, &call("t1")),
        line("user", None, &result("t1", "main result")),
        line("assistant", None, "\"the end\""),
    ];
    let outer = [
        line("user", Some("a1"), "\"outer task\""),
        line("assistant", Some("a1"), &call("t2")),
        line("user", Some("a1"), &result("t2", "outer result")),
    ];
    let inner = [line("user", Some("a2"), "\"inner task\"")];
    let lone = [line("user", Some("a3"), "\"nobody knows\"")];
    let agents = folder.path().join(id).join("subagents");
    fs::create_dir_all(&agents).expect("a folder");
    let session = folder.path().join(format!("{id}.jsonl"));
    fs::write(&session, main.concat()).expect("written");
    for (agent, lines, tool_use) in
        [("a1", &outer[..], Some("t1")), ("a2", &inner[..], Some("t2")), ("a3", &lone[..], None)]
    {
        fs::write(agents.join(format!("agent-{agent}.jsonl")), lines.concat()).expect("written");
        if let Some(tool_use) = tool_use {
            let meta = format!("{{\"agentType\":\"x\",\"toolUseId\":\"{tool_use}\"}}");
            fs::write(agents.join(format!("agent-{agent}.meta.json")), meta).expect("written");
        }
    }
    let done = export(&[&session]);
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    let page = String::from_utf8(done.stdout).expect("text");
    let words =
        ["outer task", "inner task", "outer result", "main result", "the end", "nobody knows"];
    let conversation = page.split_once("<main").expect("a conversation").1;
    let places = words.map(|words| conversation.find(words));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");

    assert!(!page.contains("in no file"));
    fs::rename(agents.join("agent-a2.jsonl"), folder.path().join("moved")).expect("moved");
    let page = String::from_utf8(export(&[&session]).stdout).expect("text");
    assert!(!page.contains("inner task") && page.contains("outer task"));
    fs::rename(folder.path().join("moved"), agents.join("agent-a2.jsonl")).expect("moved");

    let pages = folder.path().join("pages");
    let [o, to] = output(&pages);
    let done = export(&[folder.path(), o, to]);
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    let names: Vec<_> = tree(&pages).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, [PathBuf::from(format!("{id}.html")), PathBuf::from("index.html")]);
}

#[test]
fn what_is_there_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = fixtures().join("claude-code/plain.jsonl");
    let page = folder.path().join("page.html");
    fs::write(&page, "mine").expect("written");
    let [o, to] = output(&page);
    let refused = export(&[&session, o, to]);
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(fs::read(&page).expect("there"), b"mine");
    let done = export(&[&session, o, to, Path::new("--force")]);
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(fs::read(folder.path().join("page.html.bak")).expect("kept"), b"mine");
    let several = export(&[&session, &session]);
    assert_eq!(several.status.code(), Some(2), "several inputs want a folder");
}

/// A page never replaces the session that it shows, and pages need a folder.
#[test]
fn a_session_is_no_place_for_its_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = folder.path().join("s.jsonl");
    let bytes = fs::read(fixtures().join("claude-code/plain.jsonl")).expect("a fixture");
    fs::write(&session, &bytes).expect("written");
    let [o, to] = output(&session);
    let refused = export(&[&session, o, to, Path::new("--force")]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("the output would overwrite its source"), "{said}");
    let refused = export(&[&fixtures().join("sample"), o, to]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("s.jsonl: a file is there, and a folder is needed"), "{said}");
    assert_eq!(tree(folder.path()), [(PathBuf::from("s.jsonl"), bytes)]);
}
