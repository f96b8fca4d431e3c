//! Compares outputs: as JSON lines, or byte by byte.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::inputs::files_below;

/// Prints the number of lines that differ as JSON, and the number of lines.
pub(crate) fn values(a: &Path, b: &Path) -> Result<(), String> {
    let (mut n_unequal, mut n_lines) = (0, 0);
    let open = |path: &Path| File::open(path).map(BufReader::new).map_err(|e| e.to_string());
    let (mut a, mut b) = (open(a)?, open(b)?);
    let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
    loop {
        of_a.clear();
        of_b.clear();
        let next = |file: &mut BufReader<File>, line: &mut Vec<u8>| file.read_until(b'\n', line);
        let read = next(&mut a, &mut of_a).and_then(|n| Ok(n + next(&mut b, &mut of_b)?));
        if read.map_err(|error| error.to_string())? == 0 {
            break;
        }
        n_lines += 1;
        if of_a != of_b && !is_same(&of_a, &of_b) {
            n_unequal += 1;
        }
    }
    writeln!(io::stdout(), "{n_unequal} {n_lines}").map_err(|error| error.to_string())
}

fn is_same(a: &[u8], b: &[u8]) -> bool {
    let parse = |line: &[u8]| serde_json::from_slice::<Value>(line).ok();
    match (parse(a), parse(b)) {
        (Some(a), Some(b)) => is_equal(&a, &b),
        _ => false,
    }
}

/// Compares values by their meaning: 1.0 equals 1, and the order of members does not matter.
fn is_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let has = |(name, a): (&String, &Value)| b.get(name).is_some_and(|b| is_equal(a, b));
            a.len() == b.len() && a.iter().all(has)
        }
        _ => a == b,
    }
}

/// Compares the files of two lists byte by byte. Returns the first difference; `None` if there is none.
pub(crate) fn bytes(a: &[PathBuf], b: &[PathBuf]) -> Option<String> {
    if a.len() != b.len() {
        return Some(format!("{} and {} files", a.len(), b.len()));
    }
    let unequal = a.iter().zip(b).find(|(a, b)| !is_equal_file(a, b).unwrap_or(false));
    unequal.map(|(a, b)| format!("{} is not {}", b.display(), a.display()))
}

fn is_equal_file(a: &Path, b: &Path) -> io::Result<bool> {
    let (mut a, mut b) = (File::open(a)?, File::open(b)?);
    if a.metadata()?.len() != b.metadata()?.len() {
        return Ok(false);
    }
    let (mut of_a, mut of_b) = ([0; 1 << 16], [0; 1 << 16]);
    loop {
        let n = a.read(&mut of_a)?;
        if n == 0 {
            return Ok(true);
        }
        b.read_exact(&mut of_b[..n])?;
        if of_a[..n] != of_b[..n] {
            return Ok(false);
        }
    }
}

/// Returns the sessions below a folder of outputs, sorted by path.
pub(crate) fn sessions(folder: &Path) -> Vec<PathBuf> {
    let mut files = files_below(folder);
    // The journal of a run has times of sources and no conversation.
    let is_hidden = |file: &Path| {
        file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
    };
    files.retain(|file| {
        !is_hidden(file) && file.extension().is_some_and(|extension| extension == "jsonl")
    });
    files.sort();
    files
}
