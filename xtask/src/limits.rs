//! Measures memory and time of commands on odd files, and compares them with their limits.
//!
//! In: a command, such as `check IN`, and a generated file, such as 32 MB of newlines. Out: a line
//! `     21.4      32.0      -  check of newlines`, in MiB: the peak memory, and its limit.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a task prints to the terminal")]

mod measure;
mod shapes;

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use self::{
    measure::{instructions, peak},
    shapes::{SHAPES, Shape},
};
use crate::bench_peers::{build_dist, target};

const MIB: u64 = 1024 * 1024;

/// Memory that a command may use beside the longest record and the ids, in bytes.
const ALLOWANCE: u64 = 32 * MIB;

/// Number of copies of the longest record that may be in memory.
const COPIES: u64 = 3;

/// Memory for each id, in bytes.
const PER_ID: u64 = 64;

/// Limit on the ratio of instructions, if the file is twice as long.
const MAX_RATIO: f64 = 2.2;

/// The members that hold ids: the bytes before a colon, and behind it. Each occurrence counts as one id.
const ID_MEMBERS: [(&[u8], &[u8]); 5] = [
    (b"\"uuid\"", b"\""),
    (b"\"id\"", b"\""),
    (b"\"tool_use_id\"", b"\""),
    (b"\"agentId\"", b"\""),
    (b"_id\"", b"\"toolu_"),
];

/// The files that commands of the way back read, and the arguments that make them from the generated file.
const CONVERTED: &[(&str, &str)] = &[
    ("CLIDO", "--to clido"),
    ("CLIDO-SIDECAR", "--to clido --carry sidecar"),
    ("QWEN-SIDECAR", "--to qwen --carry sidecar"),
    ("OPENCODE-SIDECAR", "--to opencode --carry sidecar"),
];

/// The names and arguments of the commands. `IN` is the generated file, `OUT` a new file, and other words in
/// capitals are the files of [`CONVERTED`].
const COMMANDS: &[(&str, &str)] = &[
    ("detect", "detect IN"),
    ("check", "check IN"),
    ("scan", "scan IN"),
    ("list", "list IN"),
    ("list, all columns", "list --columns messages,tokens,cost,errors,title IN"),
    ("find words", "find -t zzzz IN"),
    ("find errors", "find --errors IN"),
    ("find tool", "find --tool Bash IN"),
    ("stats", "stats IN"),
    ("stats, JSON", "stats --json IN"),
    ("show", "show --no-pager IN"),
    ("show, full", "show --no-pager --full IN"),
    ("show, Markdown", "show --markdown IN"),
    ("export", "export --html -o OUT.html IN"),
    ("to clido, inline", "--to clido -o OUT IN"),
    ("to clido, sidecar", "--to clido --carry sidecar -o OUT IN"),
    ("to clido, none", "--to clido --carry none -o OUT IN"),
    ("to sdk-stream, inline", "--to sdk-stream -o OUT IN"),
    ("to sdk-stream, sidecar", "--to sdk-stream --carry sidecar -o OUT IN"),
    ("to wire, none", "--to sdk-stream:wire --carry none -o OUT IN"),
    ("to codex, inline", "--to codex -o OUT IN"),
    ("to pi, inline", "--to pi -o OUT IN"),
    ("to copilot, none", "--to copilot --carry none -o OUT IN"),
    ("to atif, none", "--to atif --carry none -o OUT IN"),
    ("back from clido", "--to claude-code -o OUT CLIDO"),
    ("back from clido, sidecar", "--to claude-code -o OUT CLIDO-SIDECAR"),
    ("back from qwen, sidecar", "--to claude-code -o OUT QWEN-SIDECAR"),
    ("back from opencode, sidecar", "--to claude-code -o OUT OPENCODE-SIDECAR"),
    ("carry show", "carry show CLIDO"),
    ("carry strip", "carry strip CLIDO"),
    ("repair", "repair --dry-run IN"),
    ("repair as clido", "repair --dry-run --as clido CLIDO"),
];

/// Measures the peak memory of commands on files of `megabytes`. `words` choose commands and shapes by
/// parts of their names; without words, all are measured. With `counts`, also counts the instructions
/// for files of 1 and 2 MB. Returns whether all measurements are within the limits.
pub fn limits(root: &Path, megabytes: u64, counts: bool, words: &[String]) -> bool {
    let measured = match is_ready(root) {
        Ok(convert) => measure_all(root, &convert, megabytes * MIB, counts, words),
        Err(error) => Err(error),
    };
    match measured {
        Ok(n_broken) => n_broken == 0,
        Err(error) => {
            eprintln!("limits: {error}");
            false
        }
    }
}

/// Builds the program and returns its path.
fn is_ready(root: &Path) -> io::Result<PathBuf> {
    if !build_dist(
        root,
        &target(root),
        &["--locked", "-p", "sessionlog-convert", "--bin", "convert"],
    ) {
        return Err(io::Error::other(
            "the program does not build; the messages of cargo are above",
        ));
    }
    Ok(target(root).join("dist/convert"))
}

/// Measures all chosen commands and returns how many exceed a limit.
fn measure_all(
    root: &Path,
    convert: &Path,
    n_bytes: u64,
    counts: bool,
    words: &[String],
) -> io::Result<u64> {
    let scratch = target(root).join("limits");
    let is_wanted =
        |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    println!("{:>9} {:>9} {:>6}  command of file", "peak MiB", "limit", "ratio");
    let (mut n_measured, mut n_broken) = (0, 0);
    for shape in SHAPES {
        let commands: Vec<_> =
            COMMANDS.iter().filter(|(name, _)| is_wanted(name) || is_wanted(shape.name)).collect();
        if commands.is_empty() {
            continue;
        }
        let stage = Stage::new(&scratch, convert, shape, n_bytes)?;
        for (name, arguments) in commands {
            let peak = peak(&mut stage.command(arguments)?)?;
            let law = stage.law(arguments)?;
            let ratio = if counts { ratio(&scratch, convert, shape, arguments)? } else { None };
            let is_broken = peak > law || ratio.is_some_and(|ratio| ratio > MAX_RATIO);
            let ratio = ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
            let (peak, law) = (peak as f64 / MIB as f64, law as f64 / MIB as f64);
            let mark = if is_broken { "  TOO MUCH" } else { "" };
            println!("{peak:>9.1} {law:>9.1} {ratio:>6}  {name} of {}{mark}", shape.name);
            n_measured += 1;
            n_broken += u64::from(is_broken);
        }
    }
    fs::remove_dir_all(&scratch)?;
    println!("{n_measured} measured, {n_broken} above a limit");
    Ok(n_broken)
}

/// A folder with a generated file, where commands write their outputs.
struct Stage<'s> {
    convert: &'s Path,
    folder: PathBuf,
    source: Found,
}

impl<'s> Stage<'s> {
    fn new(scratch: &Path, convert: &'s Path, shape: &Shape, n_bytes: u64) -> io::Result<Self> {
        let folder = scratch.join(shape.name.replace(' ', "-"));
        _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        let mut file = BufWriter::new(File::create(folder.join("in.jsonl"))?);
        shape.write(usize::try_from(n_bytes).unwrap_or(usize::MAX), &mut file)?;
        file.flush()?;
        let source = Found::read(File::open(folder.join("in.jsonl"))?)?;
        Ok(Self { convert, folder, source })
    }

    /// Returns a command. Removes the outputs of the command before it, and writes the converted file that the
    /// command reads.
    fn command(&self, arguments: &str) -> io::Result<Command> {
        let path = |name: &str| self.folder.join(name);
        for name in ["out.jsonl", "out.jsonl.carry", "out.jsonl.html", "out"] {
            _ = fs::remove_file(path(name));
            _ = fs::remove_dir_all(path(name));
        }
        let mut command = Command::new(self.convert);
        for argument in arguments.split(' ') {
            match argument {
                "IN" => command.arg(path("in.jsonl")),
                "OUT" => command.arg(path("out.jsonl")),
                "OUT.html" => command.arg(path("out.jsonl.html")),
                name => match CONVERTED.iter().find(|(converted, _)| *converted == name) {
                    Some((_, options)) => command.arg(self.converted(name, options)?),
                    None => command.arg(name),
                },
            };
        }
        Ok(command)
    }

    /// Returns the path of the generated file converted with some options. It is written once.
    fn converted(&self, name: &str, options: &str) -> io::Result<PathBuf> {
        let path = self.folder.join(name.to_lowercase() + ".jsonl");
        if !path.exists() {
            let mut make = Command::new(self.convert);
            make.arg("--quiet").args(options.split(' ')).arg("-o").arg(&path);
            make.arg(self.folder.join("in.jsonl")).output()?;
        }
        Ok(path)
    }

    /// Returns the memory that a command may use, in bytes, after it ran. The carries of a sidecar count as lines if the
    /// program zstd is installed.
    fn law(&self, arguments: &str) -> io::Result<u64> {
        let Found { mut longest, mut n_ids } = self.source;
        let is_read = |(name, _): &&(&str, &str)| arguments.split(' ').any(|it| it == *name);
        let read = CONVERTED.iter().filter(is_read).map(|(name, _)| name.to_lowercase() + ".jsonl");
        for name in read.chain(["out.jsonl".to_owned()]) {
            let path = self.folder.join(&name);
            let mut all = Vec::new();
            all.extend(File::open(&path).ok().map(Found::read));
            let sidecar = self.folder.join(name + ".carry");
            if sidecar.exists() {
                all.extend(unpacked(&sidecar).ok().map(|carries| Found::read(&carries[..])));
            }
            for found in all {
                let found = found?;
                longest = longest.max(found.longest);
                n_ids = n_ids.max(found.n_ids);
            }
        }
        Ok(ALLOWANCE + COPIES * longest + PER_ID * n_ids)
    }
}

/// The properties of a file that the limit on memory depends on.
#[derive(Clone, Copy)]
struct Found {
    /// The bytes of the longest line.
    longest: u64,
    n_ids: u64,
}

impl Found {
    fn read(file: impl Read) -> io::Result<Self> {
        let mut reader = BufReader::new(file);
        let (mut longest, mut n_ids, mut line) = (0, 0, Vec::new());
        while reader.read_until(b'\n', &mut line)? > 0 {
            longest = longest.max(line.len() as u64);
            // A loop over all bytes and members takes longer than the commands, without optimization.
            let mut before = 0;
            for part in line.split(|byte| *byte == b':') {
                before += part.len();
                let after = line.get(before + 1..).unwrap_or_default();
                let is_id = |(name, value): &&(&[u8], &[u8])| {
                    part.ends_with(name) && after.starts_with(value)
                };
                n_ids += ID_MEMBERS.iter().filter(is_id).count() as u64;
                before += 1;
            }
            line.clear();
        }
        Ok(Self { longest, n_ids })
    }
}

/// Returns the content of a compressed file.
fn unpacked(path: &Path) -> io::Result<Vec<u8>> {
    let mut zstd = Command::new("zstd");
    Ok(zstd.args(["-dc", "--long=27", "--quiet"]).arg(path).stdin(Stdio::null()).output()?.stdout)
}

/// Returns the instructions for 2 MB divided by the instructions for 1 MB; `None` if they cannot be
/// counted.
fn ratio(
    scratch: &Path,
    convert: &Path,
    shape: &Shape,
    arguments: &str,
) -> io::Result<Option<f64>> {
    let mut counted = Vec::new();
    for n_bytes in [MIB, 2 * MIB] {
        let stage = Stage::new(&scratch.join("counted"), convert, shape, n_bytes)?;
        counted.push(instructions(&stage.command(arguments)?)?);
    }
    Ok(match counted.as_slice() {
        [Some(one), Some(two)] if *one > 0 => Some(*two as f64 / *one as f64),
        _ => None,
    })
}
