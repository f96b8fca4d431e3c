//! Counts lines by type with our `jsonl`.

use std::{
    collections::BTreeMap,
    env,
    fs::File,
    io::{self, Write},
};

use jsonl::{Scanner, Stream};

fn main() -> io::Result<()> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut scanner = Scanner::default();
    for file in env::args_os().skip(1) {
        let mut stream = Stream::new(File::open(file)?);
        while let Some(line) = stream.next()? {
            let Ok(value) = scanner.scan(&line) else { continue };
            let kind = value.get("type").and_then(|kind| kind.text());
            let kind = kind.map_or("null".into(), |kind| kind.decode());
            match counts.get_mut(&*kind) {
                Some(count) => *count += 1,
                None => _ = counts.insert(kind.into_owned(), 1),
            }
        }
    }
    for (kind, count) in counts {
        writeln!(io::stdout(), "{kind} {count}")?;
    }
    Ok(())
}
