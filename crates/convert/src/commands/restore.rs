//! `restore`: writes the original files from tables with raw lines.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use archive::{RunOutputs, Status};
use clap::ValueHint;
use core_model::system_words;
use export_parquet::Error;
use storage::{AtomicFile, Finished};

use crate::{
    interrupt::INTERRUPTION,
    terminal::{escape::escape_for_terminal, message::complain},
};

/// The tables, and the output folder.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The folder that `tables` wrote
    #[arg(value_hint = ValueHint::DirPath)]
    tables: PathBuf,
    /// The folder for the files
    #[arg(short, long, value_hint = ValueHint::DirPath)]
    output: PathBuf,
    /// Overwrite existing files and keep each as NAME.bak
    #[arg(long)]
    force: bool,
}

/// The permissions of restored files: for the owner alone.
const MODE: u32 = 0o600;

/// Writes the files, and returns the status.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let mut files = Files {
        args,
        outputs: RunOutputs::below(&args.output, args.force, INTERRUPTION)?,
        open: None,
        n_refused: 0,
    };
    let result = export_parquet::restore(&args.tables, &mut |name, bytes| files.add(name, bytes));
    match result {
        Ok(()) => files.end(),
        // All other files are complete.
        Err(error @ (Error::Missing { .. } | Error::NoSessions(_))) => {
            files.end();
            files.refuse_rest(&error);
        }
        Err(error) => {
            // An incomplete file is not published.
            files.open = None;
            return Err(io::Error::other(error));
        }
    }
    Ok(if files.n_refused > 0 { Status::Attention } else { Status::Done })
}

/// The files that are being restored.
struct Files<'a> {
    args: &'a Args,
    outputs: RunOutputs,
    /// The name of the current file, and the file unless it cannot be written.
    open: Option<(String, Option<AtomicFile>)>,
    n_refused: u64,
}

impl Files<'_> {
    /// Adds bytes to a file. If a file cannot be written, prints a warning and skips its bytes.
    fn add(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        if self.open.as_ref().is_none_or(|(open, _)| open != name) {
            self.end();
            let path = self.args.output.join(name);
            let pending = self.outputs.create(&path, MODE);
            let pending = pending.map_err(|error| self.refuse(name, &system_words(&error))).ok();
            self.open = Some((name.to_owned(), pending));
        }
        match &mut self.open {
            Some((_, Some(pending))) => pending.write_all(bytes),
            _ => Ok(()),
        }
    }

    /// Publishes the current file.
    fn end(&mut self) {
        let Some((name, Some(pending))) = self.open.take() else { return };
        let finished: io::Result<Finished> = pending.finish();
        let result = match finished {
            Ok(finished) => {
                self.outputs.publish(vec![finished]).map_err(|refusal| refusal.to_string())
            }
            Err(error) => Err(system_words(&error)),
        };
        if let Err(reason) = result {
            self.refuse(&name, &reason);
        }
    }

    /// Prints why files are missing.
    fn refuse_rest(&mut self, error: &Error) {
        self.n_refused += 1;
        complain(&error.to_string());
    }

    fn refuse(&mut self, name: &str, reason: &str) {
        self.n_refused += 1;
        complain(&format!("{}: {}", escape_for_terminal(name), escape_for_terminal(reason)));
    }
}
