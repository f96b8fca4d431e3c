//! Converts standard input from Claude Code to clido, or back, and prints it.

use std::io::{Read, Write};

use format_clido::core_model::Formats;

static FORMATS: Formats = Formats::new(&[&format_claude_code::FORMAT, &format_clido::FORMAT]);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut source = Vec::new();
    std::io::stdin().read_to_end(&mut source)?;
    let to =
        std::env::args().nth(1).and_then(|name| FORMATS.by_name(&name)).ok_or("no such format")?;
    let converted = conversion::convert(FORMATS, &source, to)?;
    std::io::stdout().write_all(&converted.bytes)?;
    eprint!(
        "{}",
        if converted.report.losses.is_empty() { "" } else { "some of it is in the carry\n" }
    );
    Ok(())
}
