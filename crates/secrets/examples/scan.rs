//! Prints the places of secrets in JSONL files, and the time of the search.
//!
//! `cargo run --release -p sessionlog-secrets --example scan -- FILE...`

use std::{
    env, fs, io,
    io::Write,
    time::{Duration, Instant},
};

fn main() -> io::Result<()> {
    let mut search = secrets::Search::new();
    let (mut n_bytes, mut time) = (0, Duration::ZERO);
    let mut out = io::stdout().lock();
    for file in env::args().skip(1) {
        let bytes = fs::read(&file)?;
        let start = Instant::now();
        let mut found = Vec::new();
        for (n, line) in jsonl::lines(&bytes).enumerate() {
            search.find(&line, &mut |finding| {
                let place = finding.pointer.to_owned();
                found.push((n + 1, finding.rule.name, place, finding.written.clone()));
            });
        }
        time += start.elapsed();
        n_bytes += bytes.len();
        for (line, rule, pointer, written) in found {
            writeln!(out, "{file}:{line}: {rule} {pointer} bytes {written:?}")?;
        }
    }
    let per_byte = time.as_secs_f64() * 1e9 / n_bytes.max(1) as f64;
    writeln!(out, "{n_bytes} bytes, {per_byte:.2} ns a byte")
}
