//! `scan`: where keys, tokens and passwords stand; what they are is never printed.

use std::{
    hash::{BuildHasher, RandomState},
    io::{self, Read, Write},
};

use jsonl::{Line, Stream, Style, push_string};
use secrets::{Finding, Search};

use crate::{
    cli::Sources,
    input::Input,
    interrupt::is_interrupted,
    run::{Status, complain},
    terminal::{figures::count, progress::say, shown::shown},
};

/// What to search, and how to say what is found.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    sources: Sources,
    /// Print a JSON object per finding
    #[arg(long)]
    json: bool,
}

/// Searches all inputs, prints what is found, and returns the status: 1 if there is something.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let (inputs, _) = args.sources.inputs(None, None)?;
    let mut scan = Scan {
        search: Search::new(),
        // Equal secrets have equal hashes within a run, and nobody can try out what they are.
        key: [0u64, 1].map(|n| RandomState::new().hash_one(n)).map(u64::to_le_bytes).concat(),
        is_json: args.json,
        out: io::BufWriter::new(io::stdout().lock()),
        n_found: 0,
    };
    let (mut n_read, mut n_refused) = (0, 0);
    for input in inputs.iter().take_while(|_| !is_interrupted()) {
        match scan.input(input) {
            Ok(()) => n_read += 1,
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Err(error),
            Err(error) => {
                n_refused += 1;
                complain(&format!("{}: {error}", shown(&input.label())));
            }
        }
    }
    scan.out.flush()?;
    if scan.n_found == 0 && n_read > 0 && !is_interrupted() {
        say(&format!("no key, token or password found in {}", count(n_read, "file")));
    }
    if inputs.is_empty() {
        complain("nothing to search: no file was found");
    }
    Ok(match (n_read, scan.n_found + n_refused) {
        (0, _) => Status::Failed,
        (_, 0) => Status::Done,
        _ => Status::Attention,
    })
}

/// A search on its way.
struct Scan<W: Write> {
    search: Search,
    key: Vec<u8>,
    is_json: bool,
    out: W,
    n_found: u64,
}

impl<W: Write> Scan<W> {
    /// Searches an input, and the sidecar that stands beside it.
    fn input(&mut self, input: &Input) -> io::Result<()> {
        self.lines(&input.label(), input.open()?)?;
        if let Some(mut sidecar) = input.sidecar()? {
            let label = format!("{}.{}", input.label(), crate::input::SIDECAR);
            while let Some(carry) = sidecar.next_left()? {
                self.line(&label, 1, &Line::new(carry.as_bytes(), 1))?;
            }
        }
        Ok(())
    }

    fn lines(&mut self, label: &str, source: impl Read) -> io::Result<()> {
        const UTF_16: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];
        let mut stream = Stream::new(source);
        let mut number = 0;
        while let Some(line) = stream.next()? {
            number += 1;
            if number == 1 && UTF_16.iter().any(|mark| line.bytes().starts_with(mark)) {
                return Err(io::Error::other("UTF-16 text, which is not searched"));
            }
            self.line(label, number, &line)?;
        }
        Ok(())
    }

    fn line(&mut self, label: &str, number: u64, line: &Line<'_>) -> io::Result<()> {
        let Self { search, key, is_json, out, n_found } = self;
        let mut result = Ok(());
        search.find(line, &mut |finding| {
            *n_found += 1;
            if result.is_ok() {
                let place = (label, number, line.offset() + finding.written.start as u64);
                let hash = finding.hash(key);
                result = match is_json {
                    true => json(place, finding, hash, out),
                    false => words(place, finding, hash, out),
                };
            }
        });
        result
    }
}

/// The file, the line, and the byte of it in the file.
type Place<'p> = (&'p str, u64, u64);

fn words(
    (label, line, offset): Place<'_>,
    finding: &Finding<'_>,
    hash: u64,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Finding { rule, pointer, length, .. } = finding;
    let (label, pointer) = (shown(label), shown(pointer));
    let place = if pointer.is_empty() { "no JSON" } else { &pointer };
    writeln!(out, "{label}:{line}: byte {offset}: {} {place} {length} bytes {hash:016x}", rule.name)
}

/// Prints a finding as an object in ASCII.
fn json(
    (label, line, offset): Place<'_>,
    finding: &Finding<'_>,
    hash: u64,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Finding { rule, pointer, length, .. } = finding;
    let mut text = Vec::from(*b"{\"file\":");
    push_string(&mut text, label, Style::Python);
    let place = format!(",\"line\":{line},\"offset\":{offset},\"rule\":\"{}\"", rule.name);
    text.extend_from_slice(place.as_bytes());
    text.extend_from_slice(b",\"pointer\":");
    push_string(&mut text, pointer, Style::Python);
    let rest = format!(",\"length\":{length},\"hash\":\"{hash:016x}\"}}\n");
    text.extend_from_slice(rest.as_bytes());
    out.write_all(&text)
}
