//! Converts every file of some folders to every other format and back, and counts what comes back
//! byte for byte: `cargo run --release -p sessionlog-convert --example matrix -- [--third] DIR...`.
//!
//! Every refused file is named with its reason, and then taken to be in one of the formats all the
//! same. Status 1 if anything differs or panics.

use std::{
    collections::BTreeMap,
    fs, io,
    panic::catch_unwind,
    path::{Path, PathBuf},
    process::ExitCode,
};

use convert::{CarryMode, Conversion, Converted, Detected, FORMATS, Sidecar, Source, detect};
use core_model::{Format, Options};

#[derive(Default)]
struct Count {
    tried: u64,
    equal: u64,
    bytes_in: u64,
    bytes_plain: u64,
    bytes_inline: u64,
    bytes_sidecar: u64,
}

fn main() -> ExitCode {
    let (flags, folders): (Vec<_>, Vec<_>) =
        std::env::args().skip(1).partition(|arg| arg.starts_with("--"));
    let with_third = flags.iter().any(|flag| flag == "--third");
    let mut files = Vec::new();
    for folder in &folders {
        find_files(Path::new(folder), &mut files);
    }
    files.sort();
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    let (mut n_refused, mut n_wrong) = (0, 0);
    for file in &files {
        let bytes = match fs::read(file) {
            Ok(bytes) => bytes,
            Err(error) => {
                say(&format!("{}: {error}", file.display()));
                n_wrong += 1;
                continue;
            }
        };
        let from = match format_of(&bytes) {
            Ok(format) => format,
            Err(reason) => {
                say(&format!("refused {}: {reason}", file.display()));
                n_refused += 1;
                // Refused, unless somebody names the format: then it must come back all the same.
                FORMATS[n_refused % FORMATS.len()]
            }
        };
        for to in FORMATS.iter().filter(|to| to.name != from.name) {
            let name = format!("{} -> {}", from.name, to.name);
            let count = counts.entry(name.clone()).or_default();
            let result = catch_unwind(|| {
                let mut wrong = Vec::new();
                let sizes = there_and_back(&bytes, from, to, &mut wrong);
                if with_third {
                    through_a_third(&bytes, from, to, &mut wrong);
                }
                (sizes, wrong)
            });
            count.tried += 1;
            match result {
                Ok(((plain, inline, sidecar), wrong)) => {
                    count.equal += u64::from(wrong.is_empty());
                    count.bytes_in += bytes.len() as u64;
                    count.bytes_plain += plain as u64;
                    count.bytes_inline += inline as u64;
                    count.bytes_sidecar += sidecar as u64;
                    for what in wrong {
                        n_wrong += 1;
                        say(&format!("WRONG {name} {what}: {}", file.display()));
                    }
                }
                Err(_) => {
                    n_wrong += 1;
                    say(&format!("PANIC {name}: {}", file.display()));
                }
            }
        }
    }
    for (name, count) in &counts {
        let ratio = |bytes: u64| bytes as f64 / count.bytes_in.max(1) as f64;
        say(&format!(
            "{name}: {} of {} byte-identical; {} bytes; plain {:.3}, inline {:.3}, sidecar {:.3}",
            count.equal,
            count.tried,
            count.bytes_in,
            ratio(count.bytes_plain),
            ratio(count.bytes_inline),
            ratio(count.bytes_sidecar),
        ));
    }
    say(&format!("{} files, {n_refused} refused, {n_wrong} wrong", files.len()));
    ExitCode::from(u8::from(n_wrong > 0 || files.is_empty()))
}

fn say(line: &str) {
    use io::Write;
    // A closed pipe is no reason to fail.
    _ = writeln!(io::stdout(), "{line}");
}

fn find_files(path: &Path, files: &mut Vec<PathBuf>) {
    match fs::read_dir(path) {
        Ok(entries) => {
            for entry in entries.flatten() {
                find_files(&entry.path(), files);
            }
        }
        Err(_) => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if !(name.ends_with(".md") || name.ends_with(".json") || name.ends_with(".toml")) {
                files.push(path.to_owned());
            }
        }
    }
}

fn format_of(bytes: &[u8]) -> Result<&'static Format, String> {
    match detect(&mut Source::new(io::Cursor::new(bytes))) {
        Ok(Detected::Format(format)) => Ok(format),
        // A file without content is in whatever format it is said to be.
        Ok(Detected::Empty) => Ok(FORMATS[0]),
        Ok(Detected::Foreign(name) | Detected::Archive(name)) => Err(name.to_owned()),
        Ok(Detected::Ambiguous(one, other)) => Err(format!("{} or {}", one.name, other.name)),
        Ok(Detected::Unknown) => Err("unknown".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn conversion(from: &'static Format, to: &'static Format, carry: CarryMode) -> Conversion {
    Conversion { formats: FORMATS, from, to, carry, options: Options::default() }
}

/// Returns the sizes of the plain and the inline target, and of the sidecar.
fn there_and_back(
    bytes: &[u8],
    from: &'static Format,
    to: &'static Format,
    wrong: &mut Vec<String>,
) -> (usize, usize, usize) {
    let mut sizes = [0; 3];
    for (n, carry) in
        [CarryMode::None, CarryMode::Inline, CarryMode::Sidecar].into_iter().enumerate()
    {
        let Converted { bytes: target, sidecar, .. } =
            match conversion(from, to, carry).convert(bytes, None) {
                Ok(converted) => converted,
                Err(error) => {
                    wrong.push(error.to_string());
                    continue;
                }
            };
        sizes[n] = target.len();
        if carry == CarryMode::None {
            continue;
        }
        if carry == CarryMode::Sidecar {
            sizes[2] = sidecar.as_ref().map_or(0, Vec::len);
        }
        if back(&target, sidecar.as_deref(), to, from).as_deref() != Some(bytes) {
            wrong.push(format!("{carry:?}"));
        }
    }
    (sizes[0], sizes[1], sizes[2])
}

fn back(
    target: &[u8],
    sidecar: Option<&[u8]>,
    from: &'static Format,
    to: &'static Format,
) -> Option<Vec<u8>> {
    let sidecar = sidecar.map(Sidecar::read).transpose().ok()?;
    let restored = conversion(from, to, CarryMode::Inline).convert(target, sidecar).ok()?.bytes;
    Some(restored)
}

fn through_a_third(
    bytes: &[u8],
    from: &'static Format,
    to: &'static Format,
    wrong: &mut Vec<String>,
) {
    for third in FORMATS.iter().filter(|third| third.name != from.name && third.name != to.name) {
        let Ok(Converted { bytes: one, sidecar: None, .. }) =
            conversion(from, to, CarryMode::Inline).convert(bytes, None)
        else {
            continue;
        };
        let Ok(Converted { bytes: two, sidecar: None, .. }) =
            conversion(to, third, CarryMode::Inline).convert(&one, None)
        else {
            continue;
        };
        if back(&two, None, third, from).as_deref() != Some(bytes) {
            wrong.push(format!("through {}", third.name));
        }
        if back(&two, None, third, to).as_deref() != Some(&one) {
            wrong.push(format!("back from {}", third.name));
        }
    }
}
