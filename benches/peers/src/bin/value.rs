//! The simpler job with `serde_json::Value`: parses a tree, builds a tree, prints it.

use std::io;

use serde_json::{Value, json};

fn main() -> io::Result<()> {
    peers::run(|line, out| {
        let line: Value = serde_json::from_slice(line).ok()?;
        let content = &line["message"]["content"];
        match line["type"].as_str() {
            Some("assistant") => assistant(content, out),
            Some("user") => user(content, out),
            _ => {}
        }
        Some(())
    })
}

fn assistant(content: &Value, out: &mut Vec<u8>) {
    let blocks: Vec<Value> = match content {
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        Value::Array(blocks) => blocks.iter().filter_map(block).collect(),
        _ => return,
    };
    push(out, &json!({"type": "assistant_message", "content": blocks}));
    for call in blocks.iter().filter(|block| block["type"] == "tool_use") {
        push(
            out,
            &json!({
                "type": "tool_call",
                "tool_use_id": call["id"],
                "tool_name": call["name"],
                "input": call["input"],
            }),
        );
    }
}

fn user(content: &Value, out: &mut Vec<u8>) {
    let blocks: Vec<Value> = match content {
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        Value::Array(blocks) => {
            for result in blocks.iter().filter(|block| block["type"] == "tool_result") {
                push(
                    out,
                    &json!({
                        "type": "tool_result",
                        "tool_use_id": result["tool_use_id"],
                        "content": flat(&result["content"]),
                        "is_error": result["is_error"].as_bool().unwrap_or(false),
                    }),
                );
            }
            blocks.iter().filter_map(block).collect()
        }
        _ => return,
    };
    if !blocks.is_empty() {
        push(out, &json!({"type": "user_message", "role": "user", "content": blocks}));
    }
}

fn block(block: &Value) -> Option<Value> {
    Some(match block["type"].as_str()? {
        "text" => json!({"type": "text", "text": block["text"]}),
        "thinking" => json!({"type": "thinking", "thinking": block["thinking"]}),
        "tool_use" => json!({
            "type": "tool_use",
            "id": block["id"],
            "name": block["name"],
            "input": block["input"],
        }),
        "image" => json!({
            "type": "image",
            "media_type": block["source"]["media_type"],
            "base64_data": block["source"]["data"],
        }),
        _ => return None,
    })
}

/// Returns the content of a result as one text.
fn flat(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter(|block| block["type"] == "text");
            let texts: Vec<_> = texts.filter_map(|block| block["text"].as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

fn push(out: &mut Vec<u8>, value: &Value) {
    serde_json::to_writer(&mut *out, value).expect("a vector can always be written");
    out.push(b'\n');
}
