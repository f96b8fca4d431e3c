//! Prints the prompts and the tool calls of a Claude Code transcript, then what a client would refuse.

use std::{env, error::Error};

use format_claude_code::{
    Checker, Reader, RecordBuf,
    core_model::{Block, Environment, System},
    sessions_dir,
};

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("usage: alone SESSION.jsonl")?;
    for record in Reader::open(&path)? {
        print(&record?);
    }
    for problem in Checker::check(&path)? {
        println!("{problem}");
    }
    let variable = |name: &str| env::var_os(name);
    let folder = sessions_dir(&Environment::new(System::HERE, &variable), "/p");
    assert!(folder.is_none_or(|folder| folder.ends_with("-p")));
    Ok(())
}

fn print(record: &RecordBuf) {
    let event = record.event();
    for (block, _) in event.message().into_iter().flat_map(|message| message.blocks()) {
        match block {
            Block::Text(text) if event.is_prompt() => println!("> {}", text.decode()),
            Block::ToolUse(tool) => println!("{} {}", tool.name.decode(), tool.input.json()),
            _ => {}
        }
    }
}
