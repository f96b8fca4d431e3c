//! The main job: converts all inputs, and prints the summary.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use archive::{
    FileReport, FolderRun, InstallTarget, Installed, Job, NotOpened, Plan, ReportOptions, Results,
    RunOutputs, Status, Warnings, WriteOptions, install, strays,
};
use conversion::CarryMode;
use sessions::{SessionFiles, Stores, is_inside_an_input};
use storage::{Backend, Compression, is_url};

use crate::{
    FORMATS, by_name,
    cli::{ConversionArgs, ConvertArgs, file_for_folder},
    client::{command_line, warn_of_client},
    environment::{environment, n_cores, n_jobs},
    hint::convert_hint,
    interrupt::INTERRUPTION,
    report::{self, SummarySettings},
    terminal::message::{failed, warn},
    terminal::{session_bytes::session_stdout, stdout::stdout},
};

/// Minimum number of jobs with an object store, where jobs mostly wait.
const MIN_JOBS_AWAY: usize = 8;

/// Converts the inputs of the command line.
pub(crate) fn convert(args: &ConvertArgs) -> io::Result<Status> {
    let start = Instant::now();
    if args.sources.is_stdin() && io::IsTerminal::is_terminal(&io::stdin()) {
        return failed("no input: name a file or a folder, or pipe a session in; see --help");
    }
    let how = &how_of(args);
    let paths = &args.sources.paths;
    report::check_place(args.report.as_deref())?;
    let (inputs, is_folder) = args.sources.inputs(how.source(), how.target())?;
    let units = SessionFiles::group(FORMATS, inputs, &mut warn);
    let is_away = paths.iter().map(PathBuf::as_path).chain(args.output()).any(is_url);
    // A job that waits for a store keeps no core busy.
    let n_jobs = n_jobs(args.pace.jobs, n_cores().max(if is_away { MIN_JOBS_AWAY } else { 1 }));
    let output = args.output().filter(|output| !storage::is_stream(output));
    let carry = CarryMode::from(how.carry);
    match output {
        _ if args.install.is_some() && carry == CarryMode::Sidecar => {
            return failed(
                "--install and --carry sidecar: a client's folder has no place for a sidecar; use --carry inline",
            );
        }
        _ if args.install.is_some() => {}
        None if is_folder => return failed("several inputs need a folder to write to: -o FOLDER"),
        None if carry == CarryMode::Sidecar => {
            return failed(
                "--carry sidecar writes a file beside the output: name the output with -o FILE",
            );
        }
        Some(output) if is_folder && is_inside_an_input(output, paths) => {
            return failed(
                "the output folder is inside the input folder; name another folder with -o",
            );
        }
        _ => {}
    }
    let folder = output.filter(|output| is_folder || storage::is_folder(output));
    if let Some(message) = folder.and_then(file_for_folder) {
        return failed(&message);
    }
    let outputs = match outputs(args, is_folder) {
        Ok(outputs) => outputs,
        Err(why) => return failed(&why.to_string()),
    };
    let n_scanning = if is_away { n_jobs.min(n_cores()) } else { n_jobs };
    // Several files keep all cores busy, each on one.
    let n_scanners = if units.len() == 1 { n_scanning - 1 } else { 0 };
    let Some(config) = how.job_config() else {
        return failed("--to FORMAT is missing: it names the format to write");
    };
    let settings = SummarySettings {
        config: &config,
        report_options: ReportOptions {
            hint: Some(convert_hint),
            fail_on_loss: config.fail_on_loss,
            is_folder,
            quiet: args.pace.quiet,
            verbose: args.verbose,
            wants_objects: args.report.is_some(),
            interruption: INTERRUPTION,
        },
        output,
        is_dry_run: args.dry_run,
        report: args.report.as_deref(),
    };
    let report_options = settings.report_options;
    let (config, warnings) = (config.clone(), Warnings::new(warn));
    let job = Job { config, outputs: Arc::new(outputs), n_scanners, warnings };
    let settle = |results: Results<'_>| -> Vec<FileReport> {
        let reports = results.into_iter().map(|(input, it)| {
            let mut report = FileReport::finish(&report_options, input, it);
            report.is_main = units.iter().any(|unit| std::ptr::eq(&unit.main, input));
            report
        });
        reports.collect()
    };
    let mut reports = match (&args.install, output) {
        (Some(project), _) => {
            let (environment, project) = (&environment(), project.as_deref());
            let target = InstallTarget { environment, project, fallback: None };
            settle(install(&job, &units, &target, &mut print_installed)?)
        }
        (None, None) => {
            let mut stdout = session_stdout();
            let mut converted = |it| job.stream_session(it, &mut stdout);
            settle(units.iter().map(|it| (&it.main, converted(it))).collect())
        }
        (None, Some(output)) => {
            let is_mirrored = is_folder || storage::is_folder(output);
            let config = &job.config;
            let plan = Plan { config, units: &units, output, is_mirrored, dedupe: args.dedupe };
            let tasks = &plan.tasks(n_jobs);
            let progress = args.pace.progress(units.iter().flat_map(SessionFiles::files));
            let (report_options, job) = (&report_options, &job);
            let worked =
                FolderRun { report_options, job, tasks, is_mirrored, n_jobs }.run(&progress);
            worked.into_iter().flatten().collect()
        }
    };
    if let ([unit], false) = (&*units, is_folder) {
        let from = reports.iter().find_map(|it| it.figures.from).and_then(by_name);
        let layout = from.and_then(|format| format.layout);
        let found = unit.main.path().zip(layout).map(|(main, layout)| strays(main, layout));
        for path in found.into_iter().flatten() {
            reports.push(FileReport::of_stray(&path.to_string_lossy(), &report_options));
        }
    }
    if is_folder && args.install.is_none() {
        let gone = paths.iter().flat_map(|folder| job.gone_files(folder, &units));
        reports.extend(gone.map(|gone| FileReport::of_gone(&gone)));
    }
    report::close(&settings, &reports, job.outputs.full(), start.elapsed())
}

/// Prints the command that resumes an installed session.
fn print_installed(installed: &Installed) -> io::Result<()> {
    warn_of_client(installed);
    writeln!(stdout(), "{}", command_line(installed))
}

/// Returns the options of the conversion. An installed session starts at its last compaction, as
/// its own client would resume it.
fn how_of(args: &ConvertArgs) -> ConversionArgs {
    let mut how = args.how.clone();
    how.from_last_compaction |= args.install.is_some() && !args.from_start && !how.all_branches;
    how
}

fn outputs(args: &ConvertArgs, is_folder: bool) -> Result<RunOutputs, NotOpened> {
    let write_options = WriteOptions {
        force: args.force,
        durability: args.durability.into(),
        compression: args.how.compress.map(Compression::from),
        is_dry_run: args.dry_run,
        hash_sha256: false,
        interruption: INTERRUPTION,
    };
    let is_in_folder =
        |output: &&Path| args.install.is_none() && (is_folder || storage::is_folder(output));
    if let Some(stream) = args.output().filter(|output| storage::is_stream(output)) {
        return Ok(RunOutputs::of_stream(stream, write_options));
    }
    let storage = match args.output().filter(|output| is_url(output)) {
        Some(url) => {
            Stores::new(INTERRUPTION).target(url).map_err(|error| NotOpened::new(url, error))?
        }
        None => Backend::Disk,
    };
    match args.output().filter(is_in_folder) {
        Some(folder) => {
            RunOutputs::journaled(storage, folder, args.how.output_options(), write_options)
        }
        None => Ok(RunOutputs::of_one(storage, write_options)),
    }
}
