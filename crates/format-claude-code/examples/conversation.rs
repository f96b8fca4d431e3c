//! Prints the ids of the messages of each transcript, as the SDK for Python shows them: the file's
//! name and the ids, as JSON strings, with tabs between.

use std::{io::Write, path::Path};

use format_claude_code::{ChainRule, Transcript};
use jsonl::Scanner;

fn main() -> std::io::Result<()> {
    let mut scanner = Scanner::default();
    let mut out = std::io::stdout().lock();
    for path in std::env::args().skip(1) {
        let transcript = Transcript::open(Path::new(&path))?;
        write!(out, "{path}")?;
        for idx in transcript.active_chain(ChainRule::Sdk) {
            let entry = transcript.entry(idx, &mut scanner);
            if let Some(uuid) = entry.and_then(|entry| entry.event.context.uuid) {
                write!(out, "\t{}", uuid.as_str())?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}
