//! `scan`: prints the places of keys, tokens and passwords, in files and in the names of files, and never the secrets.

use std::{
    hash::{BuildHasher, RandomState},
    io::{self, Read, Write},
};

use archive::Status;
use conversion::{ExchangedCarry, MEMBER, Member};
use jsonl::{Line, Scanner, Stream, Style, push_string};
use memchr::memmem;
use secrets::{Finding, Search};
use sessions::Input;
use storage::Limits;

use crate::{
    cli::Sources,
    formats::FORMATS,
    hint::io_message,
    interrupt::is_interrupted,
    names::Names,
    terminal::{
        escape::escape_for_terminal, figures::count, message::complain, progress::say,
        stdout::stdout,
    },
};

/// The inputs to search, and the form of findings.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    sources: Sources,
    /// Print a JSON object for each finding
    #[arg(long)]
    json: bool,
    /// Also find keys of test environments, such as sk_test_ of Stripe
    #[arg(long)]
    test_keys: bool,
}

/// Searches all inputs, prints findings, and returns the status: 1 if there are any.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let (inputs, _) = args.sources.inputs(None, None)?;
    let mut scan = Scan {
        search: if args.test_keys { Search::with_test_keys() } else { Search::new() },
        // The key is random: equal secrets have equal hashes within a run, and guesses cannot be
        // checked.
        key: [0u64, 1].map(|n| RandomState::new().hash_one(n)).map(u64::to_le_bytes).concat(),
        scanner: Scanner::default(),
        names: Names::default(),
        is_json: args.json,
        out: io::BufWriter::new(stdout()),
        n_found: 0,
    };
    let (mut n_read, mut n_refused) = (0, 0);
    for input in inputs.iter().take_while(|_| !is_interrupted()) {
        match scan.input(input) {
            Ok(()) => n_read += 1,
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Err(error),
            Err(error) => {
                n_refused += 1;
                complain(&format!(
                    "{}: {}",
                    escape_for_terminal(&input.label()),
                    io_message(&error)
                ));
            }
        }
    }
    scan.out.flush()?;
    if scan.n_found == 0 && n_read > 0 && !is_interrupted() {
        say(&format!("no key, token or password found in {}", count(n_read, "file")));
    }
    if inputs.is_empty() {
        complain(&args.sources.nothing_found("search"));
    }
    Ok(match (n_read, scan.n_found + n_refused) {
        (0, _) => Status::Failed,
        (_, 0) => Status::Done,
        _ => Status::Attention,
    })
}

/// The state of a search.
struct Scan<W: Write> {
    search: Search,
    /// Scans lines that have a carry.
    scanner: Scanner,
    key: Vec<u8>,
    /// The names that were searched before.
    names: Names,
    is_json: bool,
    out: W,
    n_found: u64,
}

impl<W: Write> Scan<W> {
    /// Searches an input, its name and its sidecar.
    fn input(&mut self, input: &Input) -> io::Result<()> {
        let label = self.name(&input.label())?;
        self.lines(&label, input.open(Limits::default())?)?;
        if let Some(mut sidecar) = input.sidecar()? {
            let path = input.found_sidecar().unwrap_or_default();
            let label = self.name(&path.to_string_lossy())?;
            while let Some(carry) = sidecar.next_left()? {
                self.line(&label, 1, &Line::new(carry.as_bytes(), 1))?;
            }
        }
        Ok(())
    }

    /// Searches the names of a file and of its folders, each name once. Returns the path without secrets.
    fn name(&mut self, label: &str) -> io::Result<String> {
        let Self { search, names, key, is_json, out, n_found, .. } = self;
        let mut result = Ok(());
        let redacted = names.redacted(search, label, &mut |path, finding| {
            *n_found += 1;
            if result.is_ok() {
                let (line, pointer, hash) = (0, "", finding.hash(key));
                let offset = finding.written.start as u64;
                let found = Found { label: path, line, offset, pointer, finding, hash };
                result = if *is_json { found.json(out) } else { found.words(out) };
            }
        });
        result.map(|()| redacted)
    }

    fn lines(&mut self, label: &str, source: impl Read) -> io::Result<()> {
        const UTF_16: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];
        let mut stream = Stream::new(source);
        let mut number = 0;
        while let Some(line) = stream.next()? {
            number += 1;
            if number == 1 && UTF_16.iter().any(|mark| line.bytes().starts_with(mark)) {
                return Err(io::Error::other(
                    "UTF-16 text, which scan cannot search; convert it to UTF-8",
                ));
            }
            self.line(label, number, &line)?;
        }
        Ok(())
    }

    /// Searches a line. The carry in it is searched as the text of its source.
    fn line(&mut self, label: &str, number: u64, line: &Line<'_>) -> io::Result<()> {
        let Self { search, scanner, key, is_json, out, n_found, .. } = self;
        let mut result = Ok(());
        let mut print = |finding: &Finding<'_>, pointer: &str, place: usize| {
            *n_found += 1;
            if result.is_ok() {
                let found = Found {
                    label,
                    line: number,
                    offset: line.offset() + place as u64,
                    pointer,
                    finding,
                    hash: finding.hash(key),
                };
                result = if *is_json { found.json(out) } else { found.words(out) };
            }
        };
        let carry = match memmem::find(line.bytes(), MEMBER.as_bytes()) {
            Some(_) => match scanner.scan(line) {
                Ok(record) => Member::exchanged(record, FORMATS),
                // A line of a document is a part of a record, or a record and a comma.
                Err(_) => Member::exchanged_in(line.content()),
            },
            None => None,
        };
        let content_start = line.offset_of(line.content()).map_or(0, |at| at - line.offset());
        let carry = carry.map(|mut carry| {
            carry.offset += content_start as usize;
            carry
        });
        search.find(line, &mut |finding| {
            let place = finding.written.start;
            let is_carry =
                |it: &ExchangedCarry| (it.offset..it.offset + it.bytes.len()).contains(&place);
            if !carry.as_ref().is_some_and(is_carry) {
                print(finding, finding.pointer, place);
            }
        });
        if let Some(carry) = carry {
            search.find(&Line::new(&carry.bytes, 0), &mut |finding| {
                print(finding, CARRY_POINTER, carry.offset + finding.written.start);
            });
        }
        result
    }
}

/// The path that findings in a carry have, in whatever object the carry is.
const CARRY_POINTER: &str = "/_carried";

/// A finding and its place.
struct Found<'f> {
    label: &'f str,
    /// The number of the line; 0 for the name of the file or of a folder.
    line: u64,
    /// The offset in the file, or in the name.
    offset: u64,
    pointer: &'f str,
    finding: &'f Finding<'f>,
    hash: u64,
}

impl Found<'_> {
    fn words(&self, out: &mut dyn Write) -> io::Result<()> {
        let Finding { rule, length, .. } = self.finding;
        let (label, pointer) = (escape_for_terminal(self.label), escape_for_terminal(self.pointer));
        let pointer = if pointer.is_empty() { "no JSON" } else { &pointer };
        let Self { line, offset, hash, .. } = self;
        if *line == 0 {
            return writeln!(out, "{label}: {} in the name, {length} bytes {hash:016x}", rule.name);
        }
        let place = format!("{label}:{line}: byte {offset}");
        writeln!(out, "{place}: {} {pointer} {length} bytes {hash:016x}", rule.name)
    }

    /// Prints a finding as an ASCII object. The offset and the length count written bytes, so that a program can cut the
    /// secret out of the file.
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let Finding { rule, written, .. } = self.finding;
        let length = written.len();
        let Self { line, offset, hash, .. } = self;
        let mut text = Vec::from(*b"{\"file\":");
        push_string(&mut text, self.label, Style::Python);
        let place = format!(",\"line\":{line},\"offset\":{offset},\"rule\":\"{}\"", rule.name);
        text.extend_from_slice(place.as_bytes());
        text.extend_from_slice(b",\"pointer\":");
        push_string(&mut text, self.pointer, Style::Python);
        let rest = format!(",\"length\":{length},\"hash\":\"{hash:016x}\"}}\n");
        text.extend_from_slice(rest.as_bytes());
        out.write_all(&text)
    }
}
