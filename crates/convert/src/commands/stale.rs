//! `stale`: lists the files that changed after a clido session wrote them.
//!
//! In: a session with `path`, `content_hash` and `mtime_nanos` in its tool results. Out: `a.rs: is gone`, for
//! each such file that is gone or not as it was.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::Path,
};

use archive::Status;
use sessions::{Prefilter, ReadError};

use super::check::stale::{StaleFiles, record};
use crate::{
    by_name,
    environment::read,
    hint::read_message,
    object::Object,
    reading::Reading,
    terminal::{
        escape::escape_for_terminal, figures::count, message::complain, progress::say,
        stdout::stdout,
    },
};

/// The sessions, and the form of the list.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Print a JSON object for each file
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

/// Lists stale files.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let (inputs, is_folder) = args.reading.sessions()?;
    let clido = by_name(format_clido::FORMAT.name);
    let mut out = io::BufWriter::new(stdout());
    let (mut n_files, mut n_stale, mut n_refused) = (0_u64, 0_u64, 0);
    for input in &inputs {
        let mut files = StaleFiles::default();
        // The last state of each path: whether it is stale.
        let mut stale: BTreeMap<String, bool> = BTreeMap::new();
        let found = read(input, args.reading.format(), &Prefilter::ALL, &(), &mut |_, _, event| {
            if let Ok(event) = event
                && Some(event.format) == clido.map(|clido| clido.name)
                && let Some(record) = record(event.value)
            {
                let is_stale = files.is_stale(&record);
                // clido compares each record, so one is enough.
                *stale.entry(record.path).or_default() |= is_stale;
            }
            Ok(true)
        });
        let label = input.label();
        match found {
            Ok(_) => {}
            Err(ReadError::Format(_)) if is_folder => continue,
            Err(refusal) => {
                n_refused += 1;
                complain(&format!("{label}: {}", read_message(&refusal)));
                continue;
            }
        }
        n_files += stale.len() as u64;
        for (path, _) in stale.iter().filter(|(_, is_stale)| **is_stale) {
            n_stale += 1;
            let state = if Path::new(path).exists() { "changed" } else { "gone" };
            if args.json {
                let mut object = Object::new();
                object.string("session", &label).string("path", path).string("state", state);
                out.write_all(&object.line())?;
                continue;
            }
            let (label, path) = (escape_for_terminal(&label), escape_for_terminal(path));
            writeln!(out, "{label}: {path}: {state}")?;
        }
    }
    out.flush()?;
    if !args.reading.pace.quiet {
        let stale = if n_stale == 1 { "is" } else { "are" };
        say(&format!("{n_stale} of {} {stale} not as clido left them", count(n_files, "file")));
    }
    Ok(match (n_stale, n_refused) {
        (_, n_refused) if n_refused > 0 && n_refused == inputs.len() => Status::Failed,
        (0, 0) => Status::Done,
        _ => Status::Attention,
    })
}
