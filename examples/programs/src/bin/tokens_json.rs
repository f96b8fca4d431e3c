//! As `tokens`, with serde_json alone.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs::File,
    io::{BufRead, BufReader},
};

use serde_json::Value;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: tokens_json SESSION.jsonl")?;
    let mut tokens: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut seen: HashMap<String, (String, u64, u64)> = HashMap::new();
    let (mut commands, mut states) = (Vec::new(), HashMap::new());
    let mut known = HashSet::new();
    for line in BufReader::new(File::open(&path)?).split(b'\n') {
        let Ok(record) = serde_json::from_slice::<Value>(&line?) else { continue };
        let message = &record["message"];
        let blocks = message["content"].as_array().into_iter().flatten();
        for block in blocks {
            let id = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
            match block["type"].as_str() {
                Some("tool_use") if block["name"] == "Bash" && known.insert(id("id")) => {
                    commands.push((id("id"), block["input"].to_string()));
                }
                Some("tool_result") => {
                    let failed = block["is_error"].as_bool();
                    states.insert(id("tool_use_id"), failed.unwrap_or(false));
                }
                _ => {}
            }
        }
        if record["type"] == "assistant" && message["usage"].is_object() {
            // The lines of one response repeat its usage; the last one counts.
            let count = |name: &str| message["usage"][name].as_u64().unwrap_or(0);
            let model = message["model"].as_str().unwrap_or_default().to_owned();
            let id = message["id"].as_str().unwrap_or_default().to_owned();
            seen.insert(id, (model, count("input_tokens"), count("output_tokens")));
        }
    }
    for (model, input, output) in seen.into_values() {
        let sum = tokens.entry(model).or_default();
        *sum = (sum.0 + input, sum.1 + output);
    }
    for (model, (input, output)) in tokens {
        println!("{model} {input} {output}");
    }
    for (id, input) in commands {
        let status =
            states.get(&id).map_or("unknown", |failed| if *failed { "failed" } else { "done" });
        println!("{status} {input}");
    }
    Ok(())
}
