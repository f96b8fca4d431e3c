//! As `append`, with serde_json alone, for the rules that a few lines can state.

use std::{
    fs::{self, OpenOptions},
    io::Write,
};

use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().collect();
    let [_, path, text] = &words[..] else { return Err("append_json SESSION.jsonl TEXT".into()) };
    let session = fs::read_to_string(path)?;
    for (line_idx, line) in session.lines().enumerate().filter(|(_, line)| !line.trim().is_empty())
    {
        let place = |what: &str| format!("line {}: {what}", line_idx + 1);
        let record: Value =
            serde_json::from_str(line).map_err(|error| place(&error.to_string()))?;
        let has = |name: &str, is_fine: fn(&Value) -> bool| {
            record.get(name).is_some_and(is_fine).then_some(()).ok_or(place(name))
        };
        match record["type"].as_str().ok_or(place("no type"))? {
            "meta" => {
                for name in ["session_id", "start_time", "project_path"] {
                    has(name, Value::is_string)?;
                }
                has("schema_version", Value::is_u64)?;
            }
            "user_message" => {
                has("role", Value::is_string)?;
                has("content", Value::is_array)?;
            }
            "assistant_message" => has("content", Value::is_array)?,
            "tool_call" => {
                has("tool_use_id", Value::is_string)?;
                has("tool_name", Value::is_string)?;
                has("input", |_| true)?;
            }
            "tool_result" => {
                has("tool_use_id", Value::is_string)?;
                has("content", Value::is_string)?;
                has("is_error", Value::is_boolean)?;
            }
            "system" | "result" | "title" => {}
            _ => return Err(place("an unknown type").into()),
        }
    }
    let mut file = OpenOptions::new().append(true).open(path)?;
    if !session.is_empty() && !session.ends_with('\n') {
        file.write_all(b"\n")?;
    }
    let turn = json!({"content": [{"text": text, "type": "text"}], "role": "user", "type": "user_message"});
    writeln!(file, "{turn}")?;
    Ok(())
}
