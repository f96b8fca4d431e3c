//! Counts lines by type with `serde_json`, which deserializes the one member.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    io::{self, Write},
};

use serde::Deserialize;

#[derive(Deserialize)]
struct Record<'l> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'l, str>>,
}

fn main() -> io::Result<()> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    peers::run(|line, _| {
        let record: Record = serde_json::from_slice(line).ok()?;
        *counts.entry(record.kind.as_deref().unwrap_or("null").to_owned()).or_default() += 1;
        Some(())
    })?;
    for (kind, count) in counts {
        writeln!(io::stdout(), "{kind} {count}")?;
    }
    Ok(())
}
