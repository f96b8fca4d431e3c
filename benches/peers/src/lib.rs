//! What the contestants share: files or standard input, line by line, to standard output.
//!
//! The simpler job that they do: of every line of a Claude Code transcript that is a `user` or
//! `assistant` message, the texts, thinking, calls, results and pictures as clido's lines. No
//! branch is chosen, no response merged, no loss counted, no id, time or header written.
//!
//! ```
//! let mut out = Vec::new();
//! peers::each_line(&b"{}\n[]"[..], &mut out, |line, out| {
//!     out.extend_from_slice(line);
//!     Some(())
//! })
//! .unwrap();
//! assert_eq!(out, b"{}[]");
//! ```

use std::{
    env,
    fs::File,
    io::{self, BufRead, BufReader, Read, Write},
};

/// What is read at a time, and about what is written at a time.
const BUFFER: usize = 1 << 20;

/// Hands every line of the files that the command line names, or of standard input, to `convert`.
///
/// A line for which `convert` has no answer is counted on standard error.
///
/// # Errors
///
/// If a file cannot be read, or standard output cannot be written.
pub fn run(mut convert: impl FnMut(&mut [u8], &mut Vec<u8>) -> Option<()>) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let files: Vec<_> = env::args_os().skip(1).collect();
    let mut n_unread = 0;
    if files.is_empty() {
        n_unread += each_line(io::stdin().lock(), &mut stdout, &mut convert)?;
    }
    for file in files {
        n_unread += each_line(File::open(file)?, &mut stdout, &mut convert)?;
    }
    if n_unread > 0 {
        writeln!(io::stderr(), "{n_unread} lines not read")?;
    }
    stdout.flush()
}

/// Hands every line to `convert`, writes what it appends, and returns how many it did not answer.
///
/// # Errors
///
/// If reading or writing fails.
pub fn each_line(
    source: impl Read,
    target: &mut impl Write,
    mut convert: impl FnMut(&mut [u8], &mut Vec<u8>) -> Option<()>,
) -> io::Result<usize> {
    let mut source = BufReader::with_capacity(BUFFER, source);
    let (mut line, mut out) = (Vec::new(), Vec::with_capacity(2 * BUFFER));
    let mut n_unread = 0;
    while source.read_until(b'\n', &mut line)? > 0 {
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        let start = out.len();
        if convert(&mut line, &mut out).is_none() {
            out.truncate(start);
            n_unread += 1;
        }
        if out.len() > BUFFER {
            target.write_all(&out)?;
            out.clear();
        }
        line.clear();
    }
    target.write_all(&out)?;
    Ok(n_unread)
}
