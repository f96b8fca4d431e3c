//! The floor of a conversion: reads lines, validates and indexes each once, and writes it as it is.

use std::{
    env,
    fs::File,
    io::{self, Write},
};

use jsonl::{Scanner, Stream};

/// The bytes of one write.
const BUFFER: usize = 256 * 1024;

fn main() -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let (mut scanner, mut out) = (Scanner::default(), Vec::with_capacity(BUFFER));
    for file in env::args_os().skip(1) {
        let mut stream = Stream::new(File::open(file)?);
        while let Some(line) = stream.next()? {
            if scanner.scan(&line).is_ok() {
                out.extend_from_slice(line.bytes());
            }
            if out.len() >= BUFFER {
                stdout.write_all(&out)?;
                out.clear();
            }
        }
    }
    stdout.write_all(&out)?;
    stdout.flush()
}
