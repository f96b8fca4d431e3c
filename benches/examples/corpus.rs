//! Writes the corpus to standard output: `cargo run -p benches --example corpus -- BYTES`.

use std::{
    env,
    io::{self, Write},
};

fn main() -> io::Result<()> {
    let size = env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(1 << 20);
    io::stdout().write_all(&benches::corpus(size))
}
