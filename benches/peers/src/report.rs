//! Prints the report: Markdown with a table for each job.

#![expect(clippy::print_stdout, reason = "the report is what the program is for")]

use crate::{
    contestant::{Job, Kind},
    inputs::{Input, Inputs, total},
    machine,
    measure::Row,
    options::Options,
    tools::Tools,
};

/// Prints the command, the date, the machine, the versions and the inputs.
pub(crate) fn head(options: &Options, tools: &Tools, inputs: &Inputs) {
    println!("# Side by side\n");
    println!(
        "Whole processes in turn, outputs on memory; medians of {} rounds; CPU time and peak memory \
         from the system (`wait4`), of all threads. MB are millions of bytes, and rates count the \
         input. Before the rounds, outputs of the same job were compared.\n",
        options.rounds,
    );
    println!("- command: `{}`", command(options));
    println!("- date: {}", machine::date());
    println!("- machine: {}; load before: {}", machine::machine(), machine::load());
    println!("- ours: {}", machine::ours(&options.convert, &options.scripts));
    println!("- others: {}", tools.versions.join(", "));
    let missing = if tools.missing.is_empty() { "none" } else { &tools.missing.join(", ") };
    println!("- missing: {missing}");
    let mut all: Vec<&Input> = vec![&inputs.synthetic];
    all.extend(&inputs.data);
    all.extend(&inputs.extremes);
    all.extend(&inputs.small);
    println!("\n| input | files | MB | SHA-256 of the first |");
    println!("|---|---:|---:|---|");
    for input in all {
        let megabytes = millions(total(&input.files));
        let hash = input.files.first().map(|file| machine::hash(file)).unwrap_or_default();
        println!("| {} | {} | {megabytes:.1} | {hash} |", input.name, input.files.len());
    }
    println!(
        "\n*Whole*: everything that the job asks. *More*: that, and more. *Simpler*: each message's blocks only; no header, \
         ids, times, merged responses, choice of a branch, detection or report of losses. *Other*: \
         a job like it, for another format. *Floor*: reading, validating or writing alone. *× ours*: CPU time \
         against the first row of ours. A peak below that of `cat` cannot be seen."
    );
}

/// Prints the table of a job, and returns the programs with wrong outputs.
pub(crate) fn table(job: &Job, rows: &[Row]) -> Vec<String> {
    let bytes_in = total(&job.files);
    let cpu_of = |row: &Row| row.usage.map(|usage| usage.cpu.as_secs_f64());
    let floor = rows.first().and_then(cpu_of).unwrap_or_default();
    let first = rows.iter().zip(&job.contestants).find(|(_, by)| by.kind == Kind::Whole);
    let ours = first.and_then(|(row, _)| cpu_of(row)).unwrap_or_default();
    println!("\n## {}\n", job.title);
    println!(
        "| program | job | MB in | MB out | CPU s | × {} | × ours | MB per CPU s | wall s | peak MB | note |",
        rows.first().map_or("", |row| &row.name),
    );
    println!("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|");
    for (contestant, row) in job.contestants.iter().zip(rows) {
        let kind = match contestant.kind {
            Kind::Floor => "floor",
            Kind::Whole => "whole",
            Kind::More => "more",
            Kind::Simpler => "simpler",
            Kind::Other => "other",
        };
        print!(
            "| {} | {kind} | {:.1} | {:.1} ",
            row.name,
            millions(bytes_in),
            millions(row.bytes_out)
        );
        match row.usage {
            Some(usage) => {
                let cpu = usage.cpu.as_secs_f64();
                print!("| {cpu:.3} | {:.2} | {:.2} ", ratio(cpu, floor), ratio(cpu, ours));
                print!(
                    "| {:.0} | {:.3} ",
                    ratio(millions(bytes_in), cpu),
                    usage.wall.as_secs_f64()
                );
                print!("| {:.1} ", millions(usage.peak));
            }
            None => print!("| | | | | | "),
        }
        println!("| {} |", row.note);
    }
    let wrong = rows.iter().filter(|row| row.is_wrong);
    wrong.map(|row| format!("{}: {}: {}", job.title, row.name, row.note)).collect()
}

/// Returns the command as it was given to `cargo xtask`.
fn command(options: &Options) -> String {
    let mut words = vec!["cargo xtask bench-peers"];
    let mut given = options.words.iter().skip(3).map(String::as_str);
    while let Some(word) = given.next() {
        words.push(word);
        if word == "--data" {
            // The path of the folder means something on one machine only.
            given.next();
            words.push("DIR");
        }
    }
    words.join(" ")
}

fn millions(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}
