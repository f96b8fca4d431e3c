//! The jobs, and the programs that do each.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    contestant::{
        Check::{self, Bytes, Nothing, Restored, Stripped, Values},
        Contestant, Job,
        Kind::{Floor, More, Other, Simpler, Whole},
        OUT, Step,
    },
    inputs::{Input, Inputs, SMALL_SIZES, files_below},
    options::Options,
    tools::Tools,
};

/// The formats: their names, and names for files and titles.
const FORMATS: [(&str, &str); 4] = [
    ("claude-code", "Claude Code"),
    ("clido", "clido"),
    ("sdk-stream", "stream"),
    ("sdk-stream:wire", "wire stream"),
];

/// Returns the jobs that the options choose.
pub(crate) fn all(options: &Options, tools: &Tools, inputs: &Inputs) -> Vec<Job> {
    let jobs = Jobs { options, tools };
    let long: Vec<&Input> = [&inputs.synthetic].into_iter().chain(&inputs.data).collect();
    let mut all = Vec::new();
    for input in &long {
        all.push(jobs.plain(&format!("Claude Code to clido: {}", input.name), input));
    }
    for input in [&inputs.synthetic].into_iter().chain(&inputs.joined) {
        all.push(jobs.count(input));
    }
    for input in &long {
        if options.wants(&format!("every direction: {}", input.name)) {
            all.extend(jobs.directions(input));
        }
    }
    for input in &inputs.extremes {
        all.push(jobs.plain(&format!("extremes: {}", input.name), input));
    }
    for (input, size) in inputs.small.iter().zip(SMALL_SIZES) {
        all.push(jobs.small(input, size));
    }
    all
}

struct Jobs<'a> {
    options: &'a Options,
    tools: &'a Tools,
}

impl Jobs<'_> {
    /// Claude Code to clido, with every program.
    fn plain(&self, title: &str, input: &Input) -> Job {
        let mut all = self.floors(input);
        for (name, flags, check) in [
            ("plain, 1 job", ["--carry", "none", "--jobs", "1"], Bytes("plain")),
            ("plain, 2 jobs", ["--carry", "none", "--jobs", "2"], Bytes("plain")),
            ("inline carry, 1 job", ["--carry", "inline", "--jobs", "1"], Stripped("plain")),
            ("inline carry, 2 jobs", ["--carry", "inline", "--jobs", "2"], Stripped("plain")),
            ("sidecar, 1 job", ["--carry", "sidecar", "--jobs", "1"], Bytes("plain")),
            ("sidecar, 2 jobs", ["--carry", "sidecar", "--jobs", "2"], Bytes("plain")),
        ] {
            all.push(self.ours(name, input, "clido", &flags, check));
        }
        if let [file] = input.files.as_slice() {
            let flags = ["--quiet", "--to", "clido", "--carry", "none", "--jobs", "1"];
            let mut step = Step::ours(&self.options.convert, &flags);
            step.stdin = Some(file.clone());
            let check = Bytes("plain");
            all.push(Contestant::new("**ours**, plain, stdin to stdout", Whole, check, step));
        }
        for (name, program) in [
            ("serde_json `Value`", "value"),
            ("simd-json typed", "simd"),
            ("sonic-rs lazy", "sonic"),
        ] {
            let step = Step::new(self.options.built(program), &[]).paths(&input.files);
            all.push(Contestant::new(name, Simpler, Values("simpler"), step));
        }
        let scripts: [(&str, &Option<PathBuf>, &[&str], &str); 4] = [
            ("Python, orjson", &self.tools.orjson, &[], "clido.py"),
            ("node", &self.tools.node, &[], "clido.js"),
            ("jaq", &self.tools.jaq, &["-c", "-f"], "clido.jq"),
            ("jq", &self.tools.jq, &["-c", "-f"], "clido.jq"),
        ];
        for (name, program, flags, script) in scripts {
            all.extend(self.script(name, program, flags, script, input, Values("simpler")));
        }
        all.extend(self.casr(input));
        all.extend(self.transession(input));
        job(title, input, all)
    }

    /// Counts lines by type, which only reads.
    fn count(&self, input: &Input) -> Job {
        let mut all = self.floors(input);
        let [jsonl, sonic, typed] =
            ["count", "count_sonic", "count_value"].map(|name| Some(self.options.built(name)));
        for (name, program) in [
            ("**ours**, `jsonl`", &jsonl),
            ("simdjson On-Demand, C++", &self.tools.simdjson),
            ("sonic-rs `to_object_iter`", &sonic),
            ("serde_json typed", &typed),
        ] {
            let Some(program) = program else { continue };
            let step = Step::new(program, &[]).paths(&input.files);
            all.push(Contestant::new(name, Whole, Values("count"), step));
        }
        for (name, command) in [("stats", ["stats"].as_slice()), ("find", &["find", "--errors"])] {
            let step = Step::ours(&self.options.convert, command);
            let step = step.with(&["--quiet", "--jobs", "1"]).paths(&input.files);
            all.push(Contestant::new(format!("**ours**, `{name}`"), More, Nothing, step));
        }
        let scripts: [(&str, &Option<PathBuf>, &[&str], &str); 4] = [
            ("DuckDB", &self.tools.duckdb, &[], "count_duckdb.py"),
            ("Python, orjson", &self.tools.orjson, &[], "count.py"),
            ("jaq", &self.tools.jaq, &["-r", "-n", "-f"], "count.jq"),
            ("jq", &self.tools.jq, &["-r", "-n", "-f"], "count.jq"),
        ];
        for (name, program, flags, script) in scripts {
            let check = Values("count");
            let counted = self.script(name, program, flags, script, input, check);
            all.extend(counted.map(|contestant| Contestant { kind: Whole, ..contestant }));
        }
        job(&format!("lines by type: {}", input.name), input, all)
    }

    /// Each format to each other one, and back with the carry.
    fn directions(&self, input: &Input) -> Vec<Job> {
        let mut jobs = Vec::new();
        for (from, from_title) in FORMATS {
            let source = match from {
                "claude-code" => Input { name: input.name.clone(), files: input.files.clone() },
                _ => self.converted(input, from, "none"),
            };
            let mut all = self.floors(&source);
            for (to, to_title) in FORMATS.iter().filter(|(to, _)| *to != from) {
                let flags = ["--carry", "none", "--jobs", "1"];
                let name = format!("to {to_title}, plain, 1 job");
                all.push(self.ours(&name, &source, to, &flags, Nothing));
            }
            let title = format!("every direction: {}: from {from_title}", input.name);
            jobs.push(job(&title, &source, all));
        }
        for carry in ["inline", "sidecar"] {
            let source = self.converted(input, "clido", carry);
            let mut all = self.floors(&source);
            let flags = ["--carry", "none", "--jobs", "1"];
            all.push(self.ours("back, 1 job", &source, "claude-code", &flags, Restored));
            let title = format!("every direction: {}: clido with {carry} carry, back", input.name);
            jobs.push(Job { original: input.files.clone(), ..job(&title, &source, all) });
        }
        jobs
    }

    /// Many small files, of about `size` bytes.
    fn small(&self, input: &Input, size: usize) -> Job {
        let folder = folder_of(input);
        let target = format!("{OUT}/out");
        let copy = Step::new("cp", &["-r"]).paths([&folder]).with(&[&target]).quiet();
        let mut all = vec![Contestant::new("`cp -r`", Floor, Nothing, copy)];
        for (name, flags, check) in [
            ("plain, 1 job", ["--carry", "none", "--jobs", "1"], Bytes("plain")),
            ("plain, 2 jobs", ["--carry", "none", "--jobs", "2"], Bytes("plain")),
            ("inline carry, 2 jobs", ["--carry", "inline", "--jobs", "2"], Nothing),
            ("sidecar, 2 jobs", ["--carry", "sidecar", "--jobs", "2"], Bytes("plain")),
        ] {
            // The other programs do not wait for the disk either.
            let step = self.folder_step(&folder, "clido", &flags).with(&["--durability", "none"]);
            all.push(Contestant::new(format!("**ours**, {name}"), Whole, check, step));
        }
        let title = format!("small files: {} of {} KB", input.files.len(), size / 1000);
        job(&title, input, all)
    }

    fn floors(&self, input: &Input) -> Vec<Contestant> {
        let copy = Step::new("cat", &[]).paths(&input.files);
        let count = Step::new("wc", &["-l"]).paths(&input.files);
        let validate = Step::new(self.options.built("floor"), &[]).paths(&input.files);
        vec![
            Contestant::new("`cat`", Floor, Nothing, copy),
            Contestant::new("`wc -l`", Floor, Nothing, count),
            Contestant::new("read, validate, write", Floor, Nothing, validate),
        ]
    }

    fn ours(
        &self,
        name: &str,
        input: &Input,
        to: &str,
        flags: &[&str],
        check: Check,
    ) -> Contestant {
        let step = match input.files.iter().filter(|file| is_session(file)).collect::<Vec<_>>()[..]
        {
            [file] => {
                let target = format!("{OUT}/out.jsonl");
                let step = Step::ours(&self.options.convert, &["--quiet", "--to", to]);
                step.with(flags).with(&["--output", &target]).paths([file]).quiet()
            }
            _ => self.folder_step(&folder_of(input), to, flags),
        };
        Contestant::new(format!("**ours**, {name}"), Whole, check, step)
    }

    fn folder_step(&self, folder: &PathBuf, to: &str, flags: &[&str]) -> Step {
        let target = format!("{OUT}/out");
        let step = Step::ours(&self.options.convert, &["--quiet", "--to", to]);
        step.with(flags).with(&["--output", &target]).paths([folder]).quiet()
    }

    fn script(
        &self,
        name: &str,
        program: &Option<PathBuf>,
        flags: &[&str],
        script: &str,
        input: &Input,
        check: Check,
    ) -> Option<Contestant> {
        let script = self.options.scripts.join(script);
        let step = Step::new(program.as_ref()?, flags).paths([&script]).paths(&input.files);
        Some(Contestant::new(name, Simpler, check, step))
    }

    /// casr to Codex's sessions, uncut. It converts one session at a time.
    fn casr(&self, input: &Input) -> Option<Contestant> {
        let program = self.tools.casr.as_ref()?;
        let steps = input.files.iter().map(|file| {
            let step = Step::new(program, &["resume", "cod", "session", "--source"]).paths([file]);
            let whole = ["--max-context-tokens", "0", "--max-tool-output", "0"];
            let step = step.with(&whole).with(&["--keep-reasoning", "--force"]).quiet();
            Step { is_at_home: true, ..step }
        });
        let (name, steps) = ("casr, to Codex".to_owned(), steps.collect());
        Some(Contestant { name, kind: Other, steps, check: Nothing })
    }

    /// transession to Codex's sessions. It converts one session at a time.
    fn transession(&self, input: &Input) -> Option<Contestant> {
        let program = self.tools.transession.as_ref()?;
        let steps = input.files.iter().enumerate().map(|(file_idx, file)| {
            let target = format!("{OUT}/{file_idx}.jsonl");
            let step = Step::new(program, &["convert", "--from", "claude", "--to", "codex"]);
            step.paths([file]).with(&[&target]).quiet()
        });
        let (name, steps) = ("transession, to Codex".to_owned(), steps.collect());
        Some(Contestant { name, kind: Other, steps, check: Nothing })
    }

    /// Converts an input, and returns the outputs as the input of another job.
    fn converted(&self, input: &Input, to: &str, carry: &str) -> Input {
        let name = format!("{} as {to} {carry}", input.name).replace(':', " ");
        let folder = self.options.scratch.join("in").join(&name);
        let mut convert = Command::new(&self.options.convert);
        convert.args(["--quiet", "--to", to, "--carry", carry, "--output"]).arg(&folder);
        _ = fs::create_dir_all(&folder);
        _ = convert.arg(folder_of(input)).status();
        let mut files = files_below(&folder);
        files.sort();
        Input { name, files }
    }
}

fn job(title: &str, input: &Input, contestants: Vec<Contestant>) -> Job {
    let (title, files) = (title.to_owned(), input.files.clone());
    Job { title, files, original: Vec::new(), contestants }
}

/// Returns the folder of an input, which contains only its files.
fn folder_of(input: &Input) -> PathBuf {
    let up = if input.name.starts_with("small") { 2 } else { 1 };
    let folder = input.files.first().and_then(|file| file.ancestors().nth(up));
    folder.unwrap_or(Path::new(".")).to_owned()
}

/// Returns whether a file is a session, and not a sidecar.
fn is_session(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "jsonl")
}
