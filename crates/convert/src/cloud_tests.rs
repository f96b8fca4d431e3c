//! Tests of object stores, with a store in memory.

use std::{
    collections::HashMap,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, Mutex},
};

use archive::{Planned, Worker};
use storage::{Bucket, Buckets, Condition, is_changed};

use crate::{cli::ConversionArgs, hint::convert_hint};

fn bucket(root: &str) -> Arc<Bucket> {
    Buckets::default().of(Path::new(root)).expect("a bucket").0
}

/// Writes an object, whether or not there is one.
fn put(url: &str, bytes: impl Into<Vec<u8>>) {
    let bytes = bytes.into();
    let length = bytes.len() as u64;
    let bucket = bucket(url);
    bucket.put(Path::new(url), &mut &*bytes, length, &Condition::Any, None).expect("put");
}

/// Returns the objects below a prefix, by name.
fn objects(url: &str) -> HashMap<PathBuf, Vec<u8>> {
    let bucket = bucket(url);
    let read = |path: PathBuf| {
        let mut bytes = Vec::new();
        bucket.open(&path).expect("opened").read_to_end(&mut bytes).expect("read");
        (path.strip_prefix(url).expect("below").to_owned(), bytes)
    };
    bucket.list(Path::new(url)).expect("listed").into_iter().map(read).collect()
}

fn run(args: &[&str]) -> ExitCode {
    let args = ["convert", "-q"].iter().chain(args);
    ExitCode::from(crate::status_of(args.map(|arg| (*arg).into())))
}

/// The files of a session with sub-agents and tool outputs.
fn sample() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/sample");
    let (mut folders, mut files) = (vec![root.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in storage::list(&folder).expect("a folder") {
            let path = folder.join(entry.name);
            if entry.is_folder {
                folders.push(path);
            } else {
                let name = path.strip_prefix(&root).expect("below").to_string_lossy().into_owned();
                files.push((name, std::fs::read(path).expect("read")));
            }
        }
    }
    files
}

#[test]
fn a_prefix_goes_there_and_back_and_nothing_twice() {
    for (name, bytes) in sample() {
        put(&format!("memory://sample/in/{name}"), bytes);
    }
    let there = ["--to", "clido", "memory://sample/in/", "-o", "memory://sample/there/"];
    assert_eq!(run(&there), ExitCode::SUCCESS);
    let first = objects("memory://sample/there");
    assert!(first.len() > 1);
    assert_eq!(run(&there), ExitCode::SUCCESS);
    assert_eq!(objects("memory://sample/there"), first);
    let back = ["memory://sample/there", "--to", "claude-code", "-o", "memory://sample/back/"];
    assert_eq!(run(&back), ExitCode::SUCCESS);
    let (mut back, source) = (objects("memory://sample/back"), objects("memory://sample/in"));
    back.remove(Path::new(storage::JOURNAL)).expect("a journal");
    assert_eq!(back, source);
    // The same command on the disk shows the expected files.
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("out");
    let output = output.to_str().expect("text");
    assert_eq!(run(&["memory://sample/in/", "--to", "clido", "-o", output]), ExitCode::SUCCESS);
    for (name, bytes) in first.iter().filter(|(name, _)| *name != Path::new(storage::JOURNAL)) {
        assert_eq!(std::fs::read(Path::new(output).join(name)).expect("read"), *bytes);
    }
}

#[test]
fn what_somebody_else_wrote_stays() {
    let (_, bytes) = sample().into_iter().find(|(name, _)| !name.contains('/')).expect("a session");
    put("memory://taken/in/a.jsonl", bytes);
    put("memory://taken/out/a.jsonl", "mine");
    let there = ["--to", "clido", "memory://taken/in/", "-o", "memory://taken/out/"];
    assert_eq!(run(&there), ExitCode::from(2));
    assert_eq!(objects("memory://taken/out")[Path::new("a.jsonl")], b"mine");
    let forced = [&there[..], &["--force"]].concat();
    assert_eq!(run(&forced), ExitCode::SUCCESS);
    let found = objects("memory://taken/out");
    assert_eq!(found[Path::new("a.jsonl.bak")], b"mine");
    assert_ne!(found[Path::new("a.jsonl")], b"mine");
    // A source that shrank is converted again, and its older output is kept.
    let (_, other) = sample().into_iter().find(|(name, _)| !name.contains('/')).expect("a session");
    let shorter = other.iter().rposition(|byte| *byte == b'{').expect("a line");
    let shorter = other[..shorter].iter().rposition(|byte| *byte == b'\n').expect("a line");
    put("memory://taken/in/a.jsonl", &other[..=shorter]);
    assert_eq!(run(&there), ExitCode::SUCCESS);
    let again = objects("memory://taken/out");
    assert_ne!(again[Path::new("a.jsonl")], found[Path::new("a.jsonl")]);
    assert_eq!(again[Path::new("a.jsonl.bak2")], found[Path::new("a.jsonl")]);
    assert_eq!(again.len(), 4);
}

#[test]
fn a_lost_journal_costs_work_alone() {
    for (name, bytes) in sample() {
        put(&format!("memory://lost/in/{name}"), bytes);
    }
    let there = ["--to", "clido", "memory://lost/in/", "-o", "memory://lost/out/"];
    assert_eq!(run(&there), ExitCode::SUCCESS);
    let first = objects("memory://lost/out");
    let journal = format!("memory://lost/out/{}", storage::JOURNAL);
    bucket("memory://lost").remove(Path::new(&journal)).expect("removed");
    assert_eq!(run(&there), ExitCode::SUCCESS);
    assert_eq!(objects("memory://lost/out").len(), first.len());
}

/// The journal of a killed run lacks the last lines.
#[test]
fn an_object_of_a_killed_run_is_known_though_its_source_has_changed() {
    let (_, bytes) = sample().into_iter().find(|(name, _)| !name.contains('/')).expect("a session");
    let there = ["--to", "clido", "memory://killed/in/", "-o", "memory://killed/out/"];
    let output = "memory://killed/out/a.jsonl";
    let journal = format!("memory://killed/out/{}", storage::JOURNAL);
    let written = |source: &[u8]| {
        _ = bucket("memory://killed").remove(Path::new(&journal));
        put("memory://killed/in/a.jsonl", source);
        (run(&there), objects("memory://killed/out"))
    };
    let end = bytes[..bytes.len() - 1].iter().rposition(|byte| *byte == b'\n').expect("a line");
    let (status, first) = written(&bytes[..=end]);
    assert_eq!(status, ExitCode::SUCCESS);
    let (status, grown) = written(&bytes);
    assert_eq!((status, grown.len()), (ExitCode::SUCCESS, 2));
    let name = Path::new("a.jsonl");
    assert_ne!(first[name], grown[name]);
    let (status, shrunk) = written(&bytes[..=end]);
    assert_eq!(status, ExitCode::SUCCESS);
    assert_eq!(shrunk[name], first[name]);
    assert_eq!(shrunk[Path::new("a.jsonl.bak")], grown[name]);
    // An object with this origin was edited in the store, or somebody else wrote it.
    let origin = bucket(output).origin(Path::new(output)).expect("asked").expect("an origin");
    let edited = vec![b' '; shrunk[name].len()];
    for origin in [Some(origin.as_str()), Some("1 x"), None] {
        let length = edited.len() as u64;
        let bucket = bucket(output);
        let put = bucket.put(Path::new(output), &mut &*edited, length, &Condition::Any, origin);
        put.expect("put");
        let (status, found) = written(&bytes);
        assert_eq!(status, ExitCode::from(2));
        assert_eq!(found[name], edited);
    }
}

#[test]
fn a_worker_reads_an_object_as_it_is_now() {
    let (_, bytes) = sample().into_iter().find(|(name, _)| !name.contains('/')).expect("a session");
    let folder = tempfile::tempdir().expect("a folder");
    let options = ["--to", "clido"].map(str::to_owned);
    let planned = Planned {
        id: "a.jsonl".into(),
        main: "memory://worked/in/a.jsonl".into(),
        subs: Vec::new(),
        bytes: 0,
        etag: "".into(),
        root: folder.path().join("out"),
        out: folder.path().join("out/a.jsonl"),
        digest: ConversionArgs::of_words(&options).expect("options").output_options().hash,
        options: options.into(),
        same_as: None,
        is_taken: false,
    };
    let worker = Worker {
        hint: Some(convert_hint),
        parse: ConversionArgs::parse_job,
        interruption: storage::Interruption::default(),
        warnings: archive::Warnings::default(),
        to: None,
        allowed: archive::AllowedRoots::default(),
        durability: archive::Durability::None,
        force: false,
        wants_reports: false,
        roots: Mutex::default(),
        stores: Mutex::default(),
    };
    let work = || {
        let receipts = worker.work(std::slice::from_ref(&planned));
        let receipt = String::from_utf8(receipts.concat()).expect("text");
        let words = ["ok", "skip", "fail"];
        words.into_iter().find(|word| receipt.contains(&format!("\"status\":\"{word}\"")))
    };
    assert_eq!(work(), Some("fail"), "nothing is there");
    put("memory://worked/in/a.jsonl", bytes.clone());
    assert_eq!([work(), work()], [Some("ok"), Some("skip")]);
    let output = folder.path().join("run");
    let output = output.to_str().expect("text");
    assert_eq!(run(&["memory://worked/in/", "--to", "clido", "-o", output]), ExitCode::SUCCESS);
    let written = |path: &Path| std::fs::read(path).expect("read");
    assert!(written(&planned.out) == written(&Path::new(output).join("a.jsonl")));
    put("memory://worked/in/a.jsonl", [&bytes[..], b"\n"].concat());
    assert_eq!([work(), work()], [Some("ok"), Some("skip")]);
}

#[test]
fn a_large_object_is_read_in_any_order_and_as_it_was() {
    let bytes: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let path = Path::new("memory://large/a");
    put("memory://large/a", bytes.clone());
    let bucket = bucket("memory://large");
    let mut reader = bucket.open(path).expect("opened");
    let mut buffer = [0; 1000];
    for at in [0_usize, 11_999_000, 4_194_000, 4_194_304, 500, 8_388_000] {
        reader.seek(SeekFrom::Start(at as u64)).expect("a place");
        reader.read_exact(&mut buffer).expect("read");
        assert_eq!(buffer, bytes[at..at + 1000], "at {at}");
    }
    reader.rewind().expect("a place");
    let mut whole = Vec::new();
    reader.read_to_end(&mut whole).expect("read");
    assert!(whole == bytes);
    reader.rewind().expect("a place");
    reader.read_exact(&mut buffer).expect("read");
    put("memory://large/a", vec![7; bytes.len()]);
    let error = reader.read_to_end(&mut whole).expect_err("changed");
    assert!(is_changed(&error) && reader.is_changed());
    // The new version is opened.
    let mut reader = bucket.open(path).expect("opened");
    reader.read_exact(&mut buffer).expect("read");
    assert_eq!(buffer, [7; 1000]);
}

#[test]
fn a_large_object_is_written_once() {
    let bytes: Vec<u8> = (0..5_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let (path, bucket) = (Path::new("memory://parts/a"), bucket("memory://parts"));
    let put = |condition: &Condition| {
        bucket.put(path, &mut bytes.as_slice(), bytes.len() as u64, condition, Some("1"))
    };
    let stat = put(&Condition::Free).expect("put");
    let error = put(&Condition::Free).expect_err("there");
    assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
    assert!(is_changed(&put(&Condition::Same(Some("other".into()))).expect_err("another")));
    put(&Condition::Same(stat.etag)).expect("put");
    assert!(objects("memory://parts") == HashMap::from([(PathBuf::from("a"), bytes.clone())]));
    // A file that was truncated must not become an object.
    let cut =
        bucket.put(Path::new("memory://parts/b"), &mut &*bytes, 30_000_000, &Condition::Any, None);
    assert_eq!(cut.expect_err("cut").kind(), std::io::ErrorKind::UnexpectedEof);
    assert_eq!(objects("memory://parts").len(), 1);
}

#[test]
fn two_runs_keep_one_journal() {
    let path = Path::new("memory://log/j");
    let open = || storage::ObjectLog::open(bucket("memory://log"), path).expect("opened");
    let (mut one, mut other) = (open(), open());
    one.append(b"one\n");
    other.append(b"other\n");
    one.save().expect("saved");
    other.save().expect("saved");
    one.append(b"three\n");
    one.save().expect("saved");
    assert_eq!(objects("memory://log")[Path::new("j")], b"one\nother\nthree\n");
}

#[test]
fn what_may_belong_to_an_object_is_found() {
    let names = ["a/s1/subagents/agent-x.jsonl", "a/s1.jsonl", "a/s2.jsonl", "s1.jsonl"];
    let paths = names.map(|name| format!("memory://beside/{name}"));
    paths.iter().for_each(|path| put(path, "{}\n"));
    let found = bucket("memory://beside").beside(Path::new(&paths[1])).expect("listed");
    assert_eq!(found, paths[..3].iter().map(PathBuf::from).collect::<Vec<_>>());
}
