//! Tests that outputs of version 0.1.0 are restored byte for byte, and recognized by every command.
//!
//! `fixtures/compat/0.1.0/README.md` describes the archives. They are never changed: a later version
//! with other outputs gets a folder of its own.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Output},
    str,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use sha2::{Digest, Sha256};

use crate::shared::turns::share;

/// The formats, as folders of the archives name them and as the command line does.
const FORMATS: [(&str, &str); 4] = [
    ("claude-code", "claude-code"),
    ("clido", "clido"),
    ("sdk-stream", "sdk-stream"),
    ("sdk-stream-wire", "sdk-stream:wire"),
];

/// The two kinds of a run: in one process, and by workers.
const RUNS: [&str; 4] = ["clido", "claude-code-sidecar", "wire-zst", "clido-redacted"];

/// The placeholder, in plans, receipts and journals, for the folder of the run.
const PLACE: &str = "/convert-compat";

/// The modification time of every source, in seconds since 1970.
const CHANGED: u64 = 1_700_000_000;

const JOURNAL: &str = ".convert-journal.jsonl";

/// The files of a folder by their names below it.
type Tree = BTreeMap<String, Vec<u8>>;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/compat/0.1.0")
}

/// Unpacks an archive: tar as POSIX.1-1988 has it, compressed by zstd.
fn archive(name: &str) -> Tree {
    let packed = File::open(folder().join(format!("{name}.tar.zst"))).expect("an archive");
    let tar = zstd::decode_all(packed).expect("zstd");
    let mut tree = Tree::new();
    let mut rest = tar.as_slice();
    while let Some((header, after)) = rest.split_at_checked(512) {
        let text = |start: usize, end: usize| {
            let field = header[start..end].split(|byte| *byte == 0).next().unwrap_or_default();
            str::from_utf8(field).expect("text").trim().to_owned()
        };
        if text(0, 100).is_empty() {
            break;
        }
        let name = match text(345, 500) {
            prefix if prefix.is_empty() => text(0, 100),
            prefix => format!("{prefix}/{}", text(0, 100)),
        };
        let size = usize::from_str_radix(&text(124, 136), 8).expect("a size");
        tree.insert(name, after[..size].to_vec());
        rest = &after[size.next_multiple_of(512)..];
    }
    assert!(!tree.is_empty(), "{name} holds files");
    tree
}

/// Returns the files below a folder of a tree.
fn below(tree: &Tree, folder: &str) -> Tree {
    let prefix = format!("{folder}/");
    let files = tree.iter().filter_map(|(name, bytes)| {
        name.strip_prefix(&prefix).map(|name| (name.to_owned(), bytes.clone()))
    });
    files.collect()
}

/// Writes files with the modification time of the archives' sources.
fn write(root: &Path, tree: &Tree) {
    let time = UNIX_EPOCH + Duration::from_secs(CHANGED);
    for (name, bytes) in tree {
        let path = root.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(&path, bytes).expect("written");
        let file = File::options().write(true).open(&path).expect("written");
        file.set_modified(time).expect("set");
    }
}

/// Returns the files below a folder with their modification times, without the files of the program
/// itself.
fn read(root: &Path) -> BTreeMap<String, (Vec<u8>, SystemTime)> {
    let mut tree = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            let is_ours = entry.file_name().to_string_lossy().starts_with(".convert-");
            if path.is_dir() && !is_ours {
                folders.push(path);
            } else if !is_ours {
                let name = path.strip_prefix(root).expect("below").display().to_string();
                let changed = path.metadata().expect("a file").modified().expect("a time");
                tree.insert(name, (fs::read(path).expect("a file"), changed));
            }
        }
    }
    tree
}

fn bytes_of(root: &Path) -> Tree {
    read(root).into_iter().map(|(name, (bytes, _))| (name, bytes)).collect()
}

/// Returns the names of the files that differ, or that only one tree has.
fn differing(expected: &Tree, found: &Tree) -> Vec<String> {
    let names = expected.keys().chain(found.keys().filter(|name| !expected.contains_key(*name)));
    names.filter(|name| expected.get(*name) != found.get(*name)).cloned().collect()
}

fn convert(arguments: &[&str], paths: &[&Path]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_convert"));
    command.env_clear().args(arguments).args(paths).output().expect("it runs")
}

/// Converts a folder back, and returns the result.
fn restored(there: &Path, arguments: &[&str]) -> Tree {
    let back = there.with_extension("back");
    let output = convert(&[arguments, &["--carry", "none", "-o"]].concat(), &[&back, there]);
    // Status 1: unreadable lines are reported, also on the way back.
    assert!(matches!(output.status.code(), Some(0 | 1)), "{arguments:?}: {output:?}");
    bytes_of(&back)
}

#[test]
fn the_archives_are_those_of_version_0_1_0() {
    let sums = fs::read_to_string(folder().join("SHA256SUMS")).expect("the sums");
    assert_eq!(sums.lines().count(), 4);
    for (sum, name) in sums.lines().filter_map(|line| line.split_once("  ")) {
        let bytes = fs::read(folder().join(name)).expect(name);
        let found: String = Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(found, sum, "{name}");
    }
}

/// A third of the pairs in each mode, other ones each day.
#[test]
fn files_of_0_1_0_come_back_from_every_pair() {
    let tree = archive("pairs");
    let sources = below(&tree, "source");
    assert!(sources.len() > 200, "{} sources", sources.len());
    let scratch = tempfile::tempdir().expect("a folder");
    let pairs = FORMATS.into_iter().flat_map(|from| FORMATS.map(|to| (from, to)));
    let pairs = pairs.filter(|(from, to)| from != to);
    let ways = pairs.flat_map(|pair| ["inline", "sidecar"].map(|carry| (pair, carry))).collect();
    for (((from_folder, from), (to_folder, to)), carry) in share(ways, 3) {
        let way = format!("{from_folder}/{to_folder}/{carry}");
        let there = scratch.path().join(way.replace('/', " "));
        let written = below(&tree, &way);
        assert!(written.len() >= sources.len(), "{way}: {} files", written.len());
        write(&there, &written);
        let found = restored(&there, &["--from", to, "--to", from]);
        let differing = differing(&sources, &found);
        assert!(differing.is_empty(), "{way}: {differing:?}");
    }
}

/// Returns a sidecar of version 1 with its first carry once more at its end; `None` if it has none.
fn with_doubled_carry(sidecar: &[u8]) -> Option<Vec<u8>> {
    let text = zstd::decode_all(sidecar).expect("zstd");
    let text = String::from_utf8(text).expect("text");
    let carries = text.strip_prefix("carry 1\n").expect("version 1");
    let (key, rest) = carries.split_once(',')?;
    let (digits, carry) = rest.split_once(':').expect("a length");
    let length = usize::from_str_radix(digits, 36).expect("a length");
    let doubled = format!("{text}{key},{digits}:{}\n", &carry[..length]);
    Some(zstd::encode_all(doubled.as_bytes(), 1).expect("in memory"))
}

#[test]
fn a_carry_that_a_sidecar_of_0_1_0_has_twice_is_restored_once() {
    let tree = archive("pairs");
    let (sources, mut written) =
        (below(&tree, "source"), below(&tree, "claude-code/clido/sidecar"));
    let mut n_doubled = 0;
    for (name, bytes) in &mut written {
        if name.ends_with(".carry")
            && let Some(doubled) = with_doubled_carry(bytes)
        {
            *bytes = doubled;
            n_doubled += 1;
        }
    }
    assert!(n_doubled > 100, "{n_doubled} sidecars");
    let scratch = tempfile::tempdir().expect("a folder");
    let [there, report] = ["there", "report.json"].map(|name| scratch.path().join(name));
    write(&there, &written);
    let name = report.to_str().expect("text");
    let back = ["--from", "clido", "--to", "claude-code", "--report", name];
    let differing = differing(&sources, &restored(&there, &back));
    assert!(differing.is_empty(), "{differing:?}");
    let report = fs::read_to_string(report).expect("a report");
    let n_said = report.matches("\"lines_doubled\":1,").count();
    assert_eq!(n_said, n_doubled, "{report}");
}

#[test]
fn sessions_of_0_1_0_come_back_with_their_sub_agents() {
    let tree = archive("sub-agents");
    let scratch = tempfile::tempdir().expect("a folder");
    let mut ways: Vec<_> = tree
        .keys()
        .filter_map(|name| name.splitn(4, '/').collect::<Vec<_>>()[..3].try_into().ok())
        .collect();
    ways.retain(|[_, to, _]: &[&str; 3]| *to != "source");
    ways.dedup();
    assert_eq!(ways.len(), 4 * 3 * 4);
    for [session, to, how] in ways {
        let sources = below(&tree, &format!("{session}/source"));
        assert!(sources.len() > 1, "{session}");
        let from = if session.ends_with("-of-clido") { "clido" } else { "claude-code" };
        let way = format!("{session}/{to}/{how}");
        let there = scratch.path().join(way.replace('/', " "));
        write(&there, &below(&tree, &way));
        let differing = differing(&sources, &restored(&there, &["--to", from]));
        assert!(differing.is_empty(), "{way}: {differing:?}");
    }
}

/// A run of version 0.1.0, in a scratch folder.
struct Run {
    scratch: tempfile::TempDir,
    name: String,
    options: Vec<String>,
}

impl Run {
    /// Writes the files of a run to a folder. With `is_there`, its plans and journals name this folder.
    /// Otherwise they name another one, as if the folder had been moved.
    fn new(tree: &Tree, name: &str, is_there: bool) -> Self {
        let scratch = tempfile::tempdir().expect("a folder");
        let root = scratch.path().canonicalize().expect("a folder");
        let place = if is_there { root.display().to_string() } else { "/elsewhere".to_owned() };
        let mut files = below(tree, name);
        for (file, bytes) in &mut files {
            if ["plan.jsonl", "receipts.jsonl"].contains(&&**file) || file.ends_with(JOURNAL) {
                let text = str::from_utf8(bytes).expect("text");
                assert!(text.contains(PLACE) || text.is_empty(), "{file}");
                *bytes = text.replace(PLACE, &place).into_bytes();
            }
        }
        write(&root.join("in"), &below(tree, "in"));
        write(&root.join(name), &files);
        // Outputs are newer than their sources.
        for output in below(&files, "out").keys() {
            let file = File::options().write(true).open(root.join(name).join("out").join(output));
            let time = UNIX_EPOCH + Duration::from_secs(CHANGED + 3600);
            file.expect("a file").set_modified(time).expect("set");
        }
        let options = str::from_utf8(&files["options"]).expect("text");
        let options = options.lines().map(str::to_owned).collect();
        Self { scratch, name: name.to_owned(), options }
    }

    /// Returns the path of an output of the run.
    fn path(&self, name: &str) -> PathBuf {
        self.root().join(&self.name).join(name)
    }

    fn root(&self) -> PathBuf {
        self.scratch.path().canonicalize().expect("a folder")
    }

    /// Repeats the run.
    fn again(&self) -> Output {
        let mut arguments: Vec<&str> = self.options.iter().map(String::as_str).collect();
        arguments.push("-o");
        convert(&arguments, &[&self.path("out"), &self.root().join("in")])
    }
}

#[test]
fn a_run_of_0_1_0_over_sources_as_they_were_is_up_to_date() {
    let tree = archive("runs");
    for name in RUNS {
        for is_there in [true, false] {
            let run = Run::new(&tree, name, is_there);
            let before = read(&run.path("out"));
            assert!(before.len() > 7, "{name}: {} outputs", before.len());
            let output = run.again();
            assert_eq!(output.status.code(), Some(0), "{name}: {output:?}");
            assert!(read(&run.path("out")) == before, "{name}: something was written: {output:?}");
        }
    }
}

#[test]
fn a_run_of_0_1_0_goes_on_with_the_sources_that_changed() {
    let tree = archive("runs");
    for name in RUNS {
        let run = Run::new(&tree, name, true);
        let before = read(&run.path("out"));
        let source = run.root().join("in/claude-code/one-tool-call.jsonl");
        let bytes = fs::read(&source).expect("a source");
        let last = bytes[..bytes.len() - 1].iter().rposition(|byte| *byte == b'\n');
        fs::write(&source, &bytes[..=last.expect("lines")]).expect("written");
        let output = run.again();
        assert_eq!(output.status.code(), Some(0), "{name}: {output:?}");
        let after = read(&run.path("out"));
        let changed = after.iter().filter(|(name, file)| before.get(*name) != Some(file));
        let changed: Vec<_> = changed.map(|(name, _)| name.as_str()).collect();
        let of_it = |name: &&str| name.starts_with("claude-code/one-tool-call.jsonl");
        assert!(!changed.is_empty() && changed.iter().all(of_it), "{name}: {changed:?}");
    }
}

#[test]
fn plans_and_receipts_of_0_1_0_are_merged() {
    let tree = archive("runs");
    for name in RUNS {
        let run = Run::new(&tree, &format!("{name}-workers"), true);
        let before = read(&run.path("out"));
        let [plan, receipts, some] =
            ["plan.jsonl", "receipts.jsonl", "some.jsonl"].map(|name| run.path(name));
        let said = fs::read_to_string(&receipts).expect("receipts");
        let (_, without_one) = said.split_once('\n').expect("lines");
        fs::write(&some, without_one).expect("written");
        let output = convert(&["merge", "--plan"], &[&plan, &some]);
        assert_eq!(output.status.code(), Some(1), "{name}: {output:?}");
        let output = convert(&["merge", "--plan"], &[&plan, &receipts]);
        assert_eq!(output.status.code(), Some(0), "{name}: {output:?}");
        // According to the journal, there is nothing left to do.
        let output = run.again();
        assert_eq!(output.status.code(), Some(0), "{name}: {output:?}");
        assert!(read(&run.path("out")) == before, "{name}: something was written: {output:?}");
    }
}

#[cfg(feature = "parquet")]
#[test]
fn tables_of_0_1_0_are_restored() {
    let tree = archive("tables");
    let scratch = tempfile::tempdir().expect("a folder");
    let [tables, back] = ["out", "back"].map(|name| scratch.path().join(name));
    write(&tables, &below(&tree, "out"));
    let output = convert(&["restore", "-o"], &[&back, &tables]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let differing = differing(&below(&tree, "in"), &bytes_of(&back));
    assert!(differing.is_empty(), "{differing:?}");
}
