//! Reads lines of files or of standard input, and writes results to standard output, for the other
//! programs.
//!
//! They do a simpler job: for every `user` or `assistant` message of a Claude Code transcript, they
//! write the texts, thinking, calls, results and pictures as lines of clido. They choose no branch,
//! merge no responses, count no losses, and write no ids, times or headers.
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

/// The bytes of one read, and about the bytes of one write.
const BUFFER: usize = 1 << 20;

/// Calls `convert` for every line of the files on the command line, or of standard input. Prints the
/// number of lines for which it returns `None` to standard error.
///
/// # Errors
///
/// Returns an error if a file cannot be read, or standard output cannot be written.
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

/// Calls `convert` for every line, and writes the bytes that it appends. Returns the number of lines for
/// which it returns `None`.
///
/// # Errors
///
/// Returns an error if reading or writing fails.
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
