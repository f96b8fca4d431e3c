//! `resume`: goes on with a session in another agent, or brings it home.
//!
//! In: `convert resume 2a86484a --in codex`. Out: the session in Codex's folder, and the command
//! `codex resume ID`, or Codex itself with `--exec`.

mod losses;
mod running;
mod source;

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use archive::{
    Change, ConvertError, ConvertedFile, Draft, Drafted, FileReport, InstallTarget, Installed, Job,
    JobConfig, ReportOptions, Results, RunOutputs, Status, Warnings,
};
use clap::{ValueHint, builder::FalseyValueParser};
use clap_complete::engine::ArgValueCompleter;
use core_model::{Format, Options, SafeName};
use sessions::{Input, LATEST, SessionFiles, Stored, absolute};

use self::{losses::LossCounts, source::Found};
use super::list::project;
use crate::{
    FORMATS, by_name,
    cli::{
        complete::{Projects, Sessions},
        format_names,
    },
    client::{become_client, command_line, warn_of_client},
    environment::environment,
    hint::{convert_hint, io_message},
    interrupt::INTERRUPTION,
    object::Object,
    terminal::{
        escape::escape_for_terminal,
        message::{complain, failed, warn},
        progress::say,
        stdout::stdout,
    },
};

/// Limit on printed files.
const MAX_FILES: usize = 5;

/// The session and the agent.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The session: its id, the start of it, a file, or `latest`, the newest one of this project
    #[arg(
        default_value = LATEST,
        value_hint = ValueHint::AnyPath,
        add = ArgValueCompleter::new(Sessions)
    )]
    session: PathBuf,
    /// The agent to go on in. If the session comes from it, the new turns come home
    #[arg(long = "in", value_name = "AGENT", value_parser = agent_names())]
    agent: String,
    /// Start the agent instead of printing its command
    #[arg(long, conflicts_with_all = ["json", "dry_run"])]
    exec: bool,
    /// Report everything and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Go on even if the agent does not see a tool call, a result or a picture
    #[arg(long)]
    allow_loss: bool,
    /// Go on even if the session seems to be open in its agent
    #[arg(long)]
    force: bool,
    /// The folder to go on in [default: that of the session]
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    into: Option<PathBuf>,
    /// The folder of a project: look for the session there [default for `latest`: this folder]
    #[arg(
        long,
        value_name = "FOLDER",
        value_hint = ValueHint::DirPath,
        add = ArgValueCompleter::new(Projects)
    )]
    project: Option<PathBuf>,
    /// The format to read, instead of detecting it
    #[arg(long, value_parser = format_names())]
    from: Option<String>,
    /// Print a JSON object instead of the command
    #[arg(long)]
    json: bool,
    /// Print errors only
    #[arg(
        short,
        long,
        env = "CONVERT_QUIET",
        hide_env_values = true,
        value_parser = FalseyValueParser::new()
    )]
    quiet: bool,
}

/// Returns the names of the agents that resume sessions from files.
fn agent_names() -> clap::builder::PossibleValuesParser {
    let is_agent = |format: &&&'static Format| format.store.is_some_and(|it| it.place.is_some());
    let agents = FORMATS.iter().filter(is_agent).map(|format| format.name);
    agents.collect::<Vec<_>>().into()
}

/// Puts a session where an agent finds it, and prints or runs the command that goes on with it.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let Some(to) = by_name(&args.agent) else { return failed("--in AGENT is missing") };
    let found = match source::find(args, to) {
        Ok(found) => found,
        Err(error) => {
            return failed(&format!("{}: {}", args.session.display(), io_message(&error)));
        }
    };
    if let Some(reason) = running::reason(&found.input).filter(|_| !args.force) {
        return failed(&reason);
    }
    match (&found.stored, &args.into) {
        (Some(stored), None) => go_on(args, to, stored),
        _ => install(args, to, &found),
    }
}

/// Goes on with a session that its agent has already.
fn go_on(args: &Args, to: &'static Format, stored: &Stored) -> io::Result<Status> {
    let path = &stored.path;
    let Some(store) = to.store else { return failed("this agent keeps no sessions") };
    let project = match project(&stored.input()) {
        Some(project) => PathBuf::from(project),
        None => absolute(Path::new(".")),
    };
    let label = path.display();
    let Some(name) = stored.id().and_then(SafeName::new) else {
        return failed(&format!("{label}: its name is not safe in a command; rename the file"));
    };
    let Some(project) = project.to_str().filter(|it| !it.contains(archive::is_harmful)) else {
        return failed(&format!("{label}: no project folder; name one with --into FOLDER"));
    };
    let installed = Installed {
        resume: store.resume,
        import: &[],
        project: project.to_owned(),
        is_project_there: Path::new(project).is_dir(),
        name,
        path: path.clone(),
        change: Change::UpToDate,
        is_written: false,
        note: to.install_note,
    };
    if !args.quiet {
        say(&format!("{} has this session", to.name));
    }
    finish(args, (path, to, to), &installed, Status::Done)
}

/// Converts a session, installs it, and goes on with it.
fn install(args: &Args, to: &'static Format, found: &Found) -> io::Result<Status> {
    let unit = SessionFiles::of_main(FORMATS, found.input.clone(), &mut warn)?;
    let label = unit.main.label();
    let mut config = JobConfig::new(FORMATS, to);
    config.from = args.from.as_deref().and_then(by_name);
    // The records before the last compaction come home in the carry.
    config.options = Options { from_last_compaction: true, ..Options::default() };
    let outputs = Arc::new(RunOutputs::anywhere(false, INTERRUPTION));
    let job = Job { config, outputs, n_scanners: 0, warnings: Warnings::new(warn) };
    let environment = &environment();
    let here = absolute(Path::new("."));
    let target =
        InstallTarget { environment, project: args.into.as_deref(), fallback: Some(&here) };
    let mut passed = Passed::default();
    let draft = match job.draft_with(&unit, &target, &mut |report| passed.keep(report)) {
        Ok(Drafted::Ready(draft)) => draft,
        Ok(Drafted::Refused(results)) => return refused(results),
        Err(error) => return refused(vec![(&unit.main, Err(error))]),
    };
    let mut losses = std::mem::take(&mut passed.losses);
    draft.files().for_each(|file| losses.add(file));
    if let Some(lost) = losses.that_matter().filter(|_| !args.allow_loss) {
        return failed(&format!(
            "{}: {} would go on without a part of it: {lost}; --allow-loss accepts that",
            label, to.name
        ));
    }
    let path = &draft.installed().path;
    let reason = match draft.installed().change {
        // The file to import is ours.
        _ if !draft.installed().import.is_empty() => None,
        Change::Grows => running::reason(&Input::file(path.clone())),
        // An earlier run may have written it a moment ago.
        _ => running::reason_to_keep_closed(path),
    };
    if let Some(reason) = reason.filter(|_| !args.force) {
        return failed(&reason);
    }
    let from = draft.files().next().and_then(|file| by_name(file.from)).unwrap_or(to);
    let (notes, problems, status) = notes(args, &draft, (&losses, passed.n_forgotten), to);
    let installed = draft.installed().clone();
    // The temporary files are removed here: nothing is dropped after the process became the agent.
    let published = match args.dry_run {
        true => {
            drop(draft);
            Ok(())
        }
        false => draft.publish(&job).map(|_| ()),
    };
    if let Err(error) = published {
        return refused(vec![(&unit.main, Err(error))]);
    }
    if !args.quiet {
        notes.iter().for_each(|line| say(&escape_for_terminal(line)));
    }
    problems.iter().for_each(|problem| complain(problem));
    finish(args, (Path::new(&label), from, to), &installed, status)
}

/// The files of a session whose reports are not kept: their losses and their number.
#[derive(Debug, Default)]
struct Passed {
    n_kept: usize,
    n_forgotten: usize,
    losses: LossCounts,
}

impl Passed {
    /// Returns whether the report on a file must be kept: for its name, or for a problem. Otherwise it is counted.
    fn keep(&mut self, report: &FileReport) -> bool {
        let Some(file) = report.conversion() else { return false };
        let needs_attention = file.report.wants_attention() || file.is_changing;
        if self.n_kept < MAX_FILES || needs_attention || !file.problems_at_home().is_empty() {
            self.n_kept += 1;
            return true;
        }
        self.losses.add(file);
        self.n_forgotten += usize::from(file.output.is_some());
        false
    }
}

/// Prints why a session was not converted or not installed.
fn refused(results: Results<'_>) -> io::Result<Status> {
    let options =
        ReportOptions { hint: Some(resume_hint), interruption: INTERRUPTION, ..Default::default() };
    for (input, result) in results {
        let report = FileReport::finish(&options, input, result);
        report.problems.iter().for_each(|problem| complain(problem));
    }
    Ok(Status::Failed)
}

/// Returns advice for an error that keeps a session from going on.
fn resume_hint(error: &ConvertError) -> Option<&'static str> {
    use archive::NotInstalled::{Diverged, Meanwhile, OddProject};
    match error {
        ConvertError::NotInstalled(Diverged { .. }) => Some(
            "go on with either of them in its own agent, or write the other one to a new file: \
             convert FILE --to FORMAT -o NEW",
        ),
        ConvertError::NotInstalled(OddProject(_)) => Some("--into FOLDER names another"),
        ConvertError::Changing | ConvertError::NotInstalled(Meanwhile(_)) => {
            Some("its agent may be running; end it and try again")
        }
        error => convert_hint(error),
    }
}

/// Returns the notes for stderr: the written files and the fields that the agent does not show. Then
/// the problems of the conversion, and the exit status.
fn notes(
    args: &Args,
    draft: &Draft<'_>,
    (losses, n_forgotten): (&LossCounts, usize),
    to: &Format,
) -> (Vec<String>, Vec<String>, Status) {
    let Installed { change, is_written, path, .. } = draft.installed();
    let is_home = draft.files().next().is_some_and(|file| file.report.restored.restored > 0);
    let path = path.display();
    let what = match (change, args.dry_run, is_home) {
        (Change::UpToDate, ..) => format!("{path} is up to date"),
        (Change::Ahead, ..) => format!("{path} has these turns and more; it stays as it is"),
        _ if !is_written => format!("{path} is there already"),
        (Change::Grows, true, true) => format!("would add the new turns to {path}"),
        (Change::Grows, false, true) => format!("added the new turns to {path}"),
        (Change::Grows, true, false) => format!("would write {path} again, with the new turns"),
        (Change::Grows, false, false) => format!("wrote {path} again, with the new turns"),
        (Change::New, true, _) => format!("would write {path}"),
        (Change::New, false, _) => format!("wrote {path}"),
    };
    let mut lines = vec![what];
    if *change == Change::New && *is_written {
        let files: Vec<&str> = draft.files().filter_map(|file| file.output.as_deref()).collect();
        let verb = if args.dry_run { "would write" } else { "wrote" };
        let beside = files.get(1..).unwrap_or_default();
        lines.extend(beside.iter().take(MAX_FILES - 1).map(|file| format!("{verb} {file}")));
        let n_files = files.len() + n_forgotten;
        if n_files > MAX_FILES {
            lines.push(format!("and {} more files", n_files - MAX_FILES));
        }
    }
    if let Some(fields) = losses.not_shown().filter(|_| change.is_write() && *is_written) {
        lines.push(format!("not shown in {}, kept in its lines: {fields}", to.name));
    }
    let problems: Vec<String> = draft.files().flat_map(ConvertedFile::problems_at_home).collect();
    let wants_attention =
        draft.files().any(|file| file.report.wants_attention() || file.is_changing);
    let status = if wants_attention { Status::Attention } else { Status::Done };
    (lines, problems, status)
}

/// Prints the command that goes on with the session, or an object, or runs the command.
fn finish(
    args: &Args,
    (source, from, to): (&Path, &Format, &Format),
    installed: &Installed,
    status: Status,
) -> io::Result<Status> {
    warn_of_client(installed);
    if args.exec && !installed.is_project_there {
        return failed("nothing was started");
    }
    if args.exec {
        stdout().flush()?;
        return Err(become_client(installed));
    }
    let Installed { project, name, path, change, .. } = installed;
    if !args.json {
        writeln!(stdout(), "{}", command_line(installed))?;
        return Ok(status);
    }
    let change = match change {
        Change::New => "new",
        Change::UpToDate => "up-to-date",
        Change::Grows => "grows",
        Change::Ahead => "ahead",
    };
    let mut object = Object::new();
    object.string("session", name.as_str()).string("source", &source.to_string_lossy());
    object.string("from", from.name).string("to", to.name);
    object.string("file", &path.to_string_lossy()).string("change", change);
    object.plain("written", !args.dry_run && installed.is_written);
    object.string("project", project);
    let command = installed.command();
    if let Some(import) = installed.import_command() {
        object.strings("import", import.iter().map(String::as_str));
    }
    object.strings("command", command.iter().map(String::as_str));
    stdout().write_all(&object.line())?;
    Ok(status)
}
