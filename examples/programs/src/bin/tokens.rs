//! Prints the tokens of each model of a Claude Code transcript, and its Bash commands with their status.

use format_claude_code::Reader;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: tokens SESSION.jsonl")?;
    for (model, tokens) in Reader::open(&path)?.usage_by_model()? {
        println!("{} {} {}", model.unwrap_or_default(), tokens.input, tokens.output);
    }
    for run in Reader::open(&path)?.tool_runs()?.into_iter().filter(|run| run.name == "Bash") {
        let status =
            run.is_error.map_or("unknown", |failed| if failed { "failed" } else { "done" });
        println!("{status} {}", run.input.unwrap_or_default());
    }
    Ok(())
}
