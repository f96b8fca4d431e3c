//! Checks a clido session and adds a prompt to it: `append SESSION.jsonl TEXT`.

use format_clido::{Appender, Checker, ContentBlock, SessionLine};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().collect();
    let [_, path, text] = &words[..] else { return Err("append SESSION.jsonl TEXT".into()) };
    if let Some(problem) = Checker::check(path)?.first() {
        return Err(problem.to_string().into());
    }
    Appender::open(path)?.write_line(&SessionLine::UserMessage {
        role: "user".to_owned(),
        content: vec![ContentBlock::Text { text: text.clone() }.encode()],
    })?;
    Ok(())
}
