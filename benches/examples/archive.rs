//! Writes an archive of sessions: `cargo run --release -p benches --example archive -- FOLDER SESSIONS`.

use std::{
    env,
    io::{self, Write},
    path::PathBuf,
};

fn main() -> io::Result<()> {
    let mut words = env::args_os().skip(1);
    let folder = words.next().map_or("archive".into(), PathBuf::from);
    let n_sessions = words.next().and_then(|word| word.to_str()?.parse().ok()).unwrap_or(20_000);
    let n_bytes = benches::write_archive(&folder, n_sessions)?;
    writeln!(io::stdout(), "{n_sessions} sessions, {n_bytes} bytes")
}
