//! Counts lines by type with sonic-rs: walks the members of each line, whose values stay lazy.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use sonic_rs::{JsonValueTrait, to_object_iter};

fn main() -> io::Result<()> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    peers::run(|line, _| {
        let mut kind = None;
        for member in to_object_iter(&*line) {
            let (key, value) = member.ok()?;
            if key == "type" {
                kind = value.as_str().map(str::to_owned);
            }
        }
        *counts.entry(kind.unwrap_or_else(|| "null".to_owned())).or_default() += 1;
        Some(())
    })?;
    for (kind, count) in counts {
        writeln!(io::stdout(), "{kind} {count}")?;
    }
    Ok(())
}
