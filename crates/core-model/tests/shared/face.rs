//! Tests of the names that every format crate has: `Reader`, `Writer` and `Checker`. Each crate
//! runs them over the folders that its module `format` names.

use std::{fs, io::BufReader, path::PathBuf};

use crate::format::{
    Checker, FIXTURES, HAS, Reader, RecordBuf, Writer,
    core_model::{Facts, TokenTotals, Tokens, ToolRuns},
    jsonl,
};

/// Returns the fixtures of this crate.
pub(crate) fn fixtures() -> Vec<PathBuf> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/");
    let folders =
        FIXTURES.iter().map(|name| fs::read_dir(format!("{root}{name}")).expect("a folder"));
    let paths = folders.flatten().map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|it| it == "jsonl")).collect();
    paths.sort();
    assert!(paths.len() > 5);
    paths
}

#[test]
fn owned_and_borrowed_records_are_the_lines() {
    for path in fixtures() {
        let bytes = fs::read(&path).expect("a file");
        let mut scanner = jsonl::Scanner::default();
        let is_record = |line: &jsonl::Line<'_>| scanner.scan(line).is_ok_and(|it| it.is_object());
        let lines: Vec<_> = jsonl::lines(&bytes).filter(is_record).collect();
        let owned: Vec<RecordBuf> = Reader::open(&path).expect("a file").flatten().collect();
        assert_eq!(owned.len(), lines.len(), "{path:?}");
        let file = BufReader::new(fs::File::open(&path).expect("a file"));
        let mut reader = Reader::from_reader(file);
        for (record, line) in owned.iter().zip(&lines) {
            assert_eq!(record.raw(), line.content().trim_ascii());
            assert_eq!(record.place().offset, line.offset());
            let borrowed = loop {
                match reader.next_borrowed().expect("as many records") {
                    Ok(borrowed) => break borrowed.to_buf().expect("a value"),
                    Err(error) => assert!(error.problem().is_some()),
                }
            };
            assert!(borrowed.value().is_same_index(&record.value()));
            assert_eq!(&borrowed, record);
            assert_eq!(
                borrowed.event().kind.map(|it| it.as_str()),
                record.event().kind.map(|it| it.as_str())
            );
        }
    }
}

#[test]
fn a_record_goes_to_another_thread() {
    let path = fixtures().remove(0);
    let record = Reader::open(path).expect("a file").flatten().next().expect("a record");
    let raw = record.raw().to_vec();
    let sent = std::thread::spawn(move || record.raw().to_vec()).join().expect("no panic");
    assert_eq!(sent, raw);
}

#[test]
fn lines_that_are_no_records_are_errors_with_their_places() {
    let bytes = b"{\"a\":1}\n\n[1]\n{\"torn\n{}\n";
    let read: Vec<_> = Reader::from_reader(&bytes[..]).collect();
    let shown: Vec<String> = read
        .iter()
        .map(|read| match read {
            Ok(record) => format!("line {}", record.place().line),
            Err(error) => error.to_string(),
        })
        .collect();
    let torn = "line 4: byte 19: stops json: unexpected end of line";
    assert_eq!(shown, ["line 1", "line 3: byte 9: stops object: not an object", torn, "line 5"]);
}

#[test]
fn borrowed_records_are_read_without_allocation() {
    let lines =
        "{\"type\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}\n".repeat(2_000);
    let mut reader = Reader::from_reader(lines.as_bytes());
    let mut n_bytes = 0;
    let mut read = |n_records: usize| {
        for _ in 0..n_records {
            n_bytes += reader.next_borrowed().expect("a record").expect("JSON").raw().len();
        }
    };
    read(1_000);
    let info = allocation_counter::measure(|| read(900));
    assert_eq!(info.count_total, 0);
    assert!(n_bytes > 0);
}

#[test]
fn what_the_writer_writes_is_read_and_checked() {
    for path in fixtures() {
        let mut facts = Facts::default();
        for record in Reader::open(&path).expect("a file").flatten() {
            facts.observe(&record.event());
        }
        let mut writer = Writer::new(Vec::new(), facts);
        for record in Reader::open(&path).expect("a file").flatten() {
            writer.write(&record.as_ref()).expect("a vector");
        }
        let written = writer.finish().expect("a vector").target;
        assert!(Reader::from_reader(&written[..]).all(|record| record.is_ok()), "{path:?}");
        assert!(Checker::check_reader(&written[..]).is_ok());
        let on_disk = Checker::check(&path).expect("a file");
        assert!(
            on_disk.len()
                >= Checker::check_reader(&fs::read(&path).expect("a file")[..])
                    .expect("bytes")
                    .len()
        );
    }
}

#[test]
fn sums_of_a_file_are_those_of_its_events() {
    let (mut n_models, mut n_runs, mut n_ends) = (0, 0, 0);
    for path in fixtures() {
        let (mut totals, mut runs) = (TokenTotals::default(), ToolRuns::with_contents());
        for record in Reader::open(&path).expect("a file").flatten() {
            totals.push(&record.event());
            runs.push(record.place(), &record.event());
        }
        let by_model = Reader::open(&path).expect("a file").usage_by_model().expect("a file");
        let sum = by_model.values().fold(Tokens::default(), |sum, tokens| sum + *tokens);
        assert_eq!(sum, totals.total(), "{path:?}");
        let read = Reader::open(&path).expect("a file").tool_runs().expect("a file");
        assert_eq!(read, runs.finish(), "{path:?}");
        let end = Reader::open(&path).expect("a file").exit_status().expect("a file");
        (n_models, n_runs) = (n_models + by_model.len(), n_runs + read.len());
        n_ends += usize::from(end.is_some());
    }
    assert_eq!((n_models > 0, n_runs > 0, n_ends > 0), HAS);
}
