//! Converts a session to a file in another format: `file SESSION FORMAT OUTPUT`.

use std::path::Path;

use programs::FORMATS;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().collect();
    let [_, source, format, target] = &words[..] else {
        return Err("file SESSION FORMAT OUTPUT".into());
    };
    let to = FORMATS.by_name(format).ok_or("no such format")?;
    let warn = |warning| eprintln!("{warning}");
    for report in archive::convert_file(FORMATS, Path::new(source), to, Path::new(target), warn)? {
        let converted = report.conversion().ok_or("not converted")?;
        println!("{} {} to {}", converted.label, converted.from, converted.to);
    }
    Ok(())
}
