//! Prints, for each transcript, an array of its path, the facts that the SDK's list shows, and the
//! ids of the messages that the SDK shows, one a line.

use std::{io::Write, path::Path};

use format_claude_code::{ChainRule, Transcript, head_tail_scan};
use jsonl::{Scanner, Style, push_string};

fn main() -> std::io::Result<()> {
    let mut scanner = Scanner::default();
    let mut out = std::io::stdout().lock();
    for path in std::env::args().skip(1) {
        let transcript = Transcript::open(Path::new(&path))?;
        let info = head_tail_scan(Path::new(&path))?.unwrap_or_default();
        let mut row = b"[".to_vec();
        push_string(&mut row, &path, Style::Python);
        write!(row, ",{}", info.is_listed())?;
        for text in [
            info.summary,
            info.custom_title,
            info.first_prompt,
            info.git_branch,
            info.cwd,
            info.tag,
        ] {
            row.push(b',');
            match text {
                Some(text) => push_string(&mut row, &text, Style::Python),
                None => row.extend_from_slice(b"null"),
            }
        }
        match info.created {
            Some(created) => write!(row, ",{created},[")?,
            None => row.extend_from_slice(b",null,["),
        }
        for (n, idx) in transcript.active_chain(ChainRule::Sdk).into_iter().enumerate() {
            let entry = transcript.entry(idx, &mut scanner);
            let uuid = entry.and_then(|entry| entry.event.context.uuid);
            let comma = if n > 0 { "," } else { "" };
            write!(row, "{comma}{}", uuid.map_or("null", |uuid| uuid.as_str()))?;
        }
        row.extend_from_slice(b"]]\n");
        out.write_all(&row)?;
    }
    Ok(())
}
