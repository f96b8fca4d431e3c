//! The help texts that clap does not make: commands in groups, examples, exit statuses.

use std::{fmt::Write, path::Path};

use clap::{Command, CommandFactory};
use storage::is_url;

use super::{Cli, examples::EXAMPLES, nearest::nearest};
use crate::terminal::shell::quoted;

/// The commands in the order of the overview, in groups. A name that this build does not have is left
/// out; a command that is in no group is listed under `Other`.
const GROUPS: &[(&str, &[&str])] = &[
    ("Convert", &["", "detect", "formats"]),
    ("Go on in another agent", &["resume", "check", "stale", "fork"]),
    ("Read", &["list", "show", "find", "stats", "usage", "lineage", "export"]),
    ("Archives", &["plan", "work", "merge", "tables", "restore"]),
    ("Safety", &["scan", "carry", "repair"]),
    ("Shell", &["completions", "man", "help"]),
];

/// The main job, which has no name of its own.
const MAIN_JOB: (&str, &str) =
    ("[INPUT].. --to FORMAT", "Convert sessions: a file, a folder, an id, or standard input");

const USAGE: &str = "convert [INPUTS].. --to <FORMAT> [OPTIONS]\n       convert <COMMAND>";

const STATUSES: &str = "\
Exit status:
  0    everything was converted
  1    converted, but something needs attention: damaged lines, a failed
       file among several, a full disk, a loss with --fail-on-loss
  2    a usage error, or nothing could be converted
  130  interrupted

Nothing leaves this machine, except to a store that you name. The documents are
in docs/: start with README.md.";

/// Returns the parser of the command line, without our help texts.
pub(crate) fn parser() -> Command {
    // A missing `--to` is reported by `missing_target`, which knows the inputs.
    Cli::command().disable_help_subcommand(false).mut_arg("to", |to| to.required(false))
}

/// Returns the parser of the command line, with its help.
pub(crate) fn command() -> Command {
    let command = with_examples(parser());
    // clap replaces words in braces in a template, so the text must have no others.
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}\n\n{{all-args}}{{after-help}}",
        groups(&command).trim_end()
    );
    command
        .mut_subcommands(|command| command.hide(true))
        .override_usage(USAGE)
        .help_template(template)
}

/// Returns the command line with examples and exit statuses in each command's help.
pub(crate) fn with_examples(command: Command) -> Command {
    let mut command =
        command.disable_help_subcommand(false).after_help(format!("{}\n{STATUSES}", examples("")));
    for (name, ..) in EXAMPLES.iter().filter(|(name, ..)| !name.is_empty()) {
        if command.find_subcommand(name).is_some() {
            command = command.mut_subcommand(name, |command| command.after_help(examples(name)));
        }
    }
    command
}

/// Returns the overview, which is printed if there are no arguments.
pub(crate) fn overview() -> String {
    let program = command();
    let about = program.get_about().map(ToString::to_string).unwrap_or_default();
    let groups = groups(&with_examples(Cli::command()));
    format!(
        "{about}\n\nUsage: {USAGE}\n\n{groups}{}\n`convert --help` lists the options, `convert COMMAND --help` those of a command.\n",
        examples("")
    )
}

/// Returns the groups of commands with a line for each.
fn groups(command: &Command) -> String {
    let about = |name: &str| match name {
        "" => Some(MAIN_JOB.1.to_owned()),
        // clap adds this command when it builds the program.
        "help" => Some("Print the help of a command".to_owned()),
        _ => Some(command.find_subcommand(name)?.get_about()?.to_string()),
    };
    let is_grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let others: Vec<&str> =
        command.get_subcommands().map(Command::get_name).filter(|name| !is_grouped(name)).collect();
    let mut text = String::new();
    for (heading, names) in GROUPS.iter().copied().chain([("Other", others.as_slice())]) {
        let rows: Vec<_> = names.iter().filter_map(|name| Some((*name, about(name)?))).collect();
        if rows.is_empty() {
            continue;
        }
        _ = writeln!(text, "{heading}:");
        for (name, about) in rows {
            match name {
                "" => _ = writeln!(text, "  {}\n               {about}", MAIN_JOB.0),
                _ => _ = writeln!(text, "  {name:<12} {about}"),
            }
        }
        text.push('\n');
    }
    text
}

/// Returns the examples and exit statuses of a command.
fn examples(name: &str) -> String {
    let Some((_, examples, statuses)) = EXAMPLES.iter().find(|row| row.0 == name) else {
        return String::new();
    };
    let mut text = String::from("Examples:\n");
    for (command, effect) in *examples {
        _ = writeln!(text, "  {command}\n      {effect}");
    }
    if !statuses.is_empty() {
        text.push_str("\nExit status:\n");
        for (status, meaning) in *statuses {
            _ = writeln!(text, "  {status:<4} {meaning}");
        }
    }
    text
}

/// Returns the message for a missing `--to`: the nearest command if the first input is not a file,
/// otherwise the two commands that may have been meant.
pub(crate) fn missing_target(inputs: &[impl AsRef<Path>]) -> String {
    let Some(first) = inputs.first().map(AsRef::as_ref) else {
        return "--to FORMAT is missing: it names the format to write".to_owned();
    };
    let name = first.display().to_string();
    if first.as_os_str() == "-" || is_url(first) || first.exists() {
        // A name that starts with a dash would be an option.
        let is_option = name.starts_with('-') && name != "-";
        let word = quoted(&if is_option { format!("./{name}") } else { name.clone() });
        return format!(
            "{name}: `convert {word} --to FORMAT` converts it, `convert show {word}` prints it"
        );
    }
    unknown_word(&name)
        .unwrap_or_else(|| format!("{name} is neither a command nor a file; `convert --help` lists the commands, `convert {name} --to FORMAT` converts a session by its id"))
}

/// Returns the message for a word that is nearly a command; `None` if no command is near.
pub(crate) fn unknown_word(word: &str) -> Option<String> {
    let program = Cli::command();
    let near = nearest(word, program.get_subcommands().map(Command::get_name))?;
    Some(format!("{word} is neither a command nor a file; did you mean `convert {near}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_a_group_and_examples() {
        let program = Cli::command();
        for command in program.get_subcommands() {
            let name = command.get_name();
            assert!(GROUPS.iter().any(|(_, names)| names.contains(&name)), "group of {name}");
            assert!(EXAMPLES.iter().any(|row| row.0 == name), "examples of {name}");
        }
    }

    #[test]
    fn help_fits_in_80_columns() {
        for line in overview().lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        for (name, ..) in EXAMPLES {
            for line in examples(name).lines().chain(STATUSES.lines()) {
                assert!(line.chars().count() <= 80, "{name}: {line}");
            }
        }
    }

    #[test]
    fn examples_are_command_lines() {
        let program = Cli::command();
        // Without the feature `parquet` there is no `tables`.
        let is_here = |name: &str| name.is_empty() || program.find_subcommand(name).is_some();
        for (name, examples, _) in EXAMPLES.iter().filter(|row| is_here(row.0)) {
            for (example, _) in *examples {
                // In a pipe or a redirection, only the last command is ours.
                let ours = example.split(" | ").find(|part| part.starts_with("convert "));
                let Some(ours) = ours.filter(|part| !part.contains('$')) else { continue };
                let words = ours.split([' ', '"']).take_while(|word| *word != ">");
                let parsed = command().try_get_matches_from(words);
                assert!(parsed.is_ok(), "{name}: {example}: {parsed:?}");
            }
        }
    }

    #[test]
    fn a_missing_target_names_what_was_meant() {
        assert!(missing_target(&["shwo"]).ends_with("did you mean `convert show`?"));
        assert!(missing_target(&["Cargo.toml"]).contains("`convert show Cargo.toml`"));
        assert!(missing_target(&["2a86484a"]).contains("`convert 2a86484a --to FORMAT`"));
        assert!(missing_target(&[""; 0]).starts_with("--to FORMAT"));
    }
}
