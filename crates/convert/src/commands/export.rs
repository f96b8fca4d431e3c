//! `export`: writes sessions as HTML pages.

pub(super) mod damage;
pub(super) mod lines;
mod page_file;
mod relations;

use std::{
    collections::HashSet,
    io::{self, BufWriter, IsTerminal, Write},
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use archive::{ConvertError, RunOutputs, Status, check_target};
use clap::ValueHint;
use conversion::Source;
use core_model::{Event, Format, Options};
use export_html::{Entry, Figures, Link, Page, Spent, Survey, write_index};
use rayon::prelude::*;
use sessions::{
    Folders, Input, PricedResponses, Prices, Progress as _, Redact, UnknownFormat, is_of_a_session,
    single_format,
};
use storage::{Compression, Limits, Opened};

use self::{
    damage::DamageRun,
    lines::{BRANCH, ROLLED_BACK, Read, SessionLines},
    page_file::PageFile,
    relations::{Related, path_between, relations},
};
use crate::{
    FORMATS,
    cli::{RedactArgs, file_for_folder, named_output},
    environment::Threads,
    formats::detect,
    hint::{convert_message, read_message},
    interrupt::{INTERRUPTION, is_interrupted},
    names::NameWarnings,
    reading::{Copies, Reading, relatives::Relative},
    terminal::{
        escape::escape_for_terminal,
        figures::{count, grouped},
        message::{complain, failed},
        progress::{self, Progress},
        stdout::stdout,
    },
};

/// The advice for a page whose name has a secret, after "rename the source and".
const AGAIN: &str = "export it again";

/// The sessions to export, and the output.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Write HTML: a page for each session, and an index for a folder. A page loads nothing
    #[arg(long, required = true)]
    html: bool,
    /// The file to write; for a folder or several inputs, the folder [default: -, standard output]
    #[arg(short, long, value_hint = ValueHint::AnyPath)]
    output: Option<PathBuf>,
    /// Also write the branches of a transcript that its client would not resume
    #[arg(long)]
    all_branches: bool,
    /// Overwrite existing files that are not exported pages, and keep each as NAME.bak
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    redact: RedactArgs,
    #[command(flatten)]
    copies: Copies,
    #[command(flatten)]
    reading: Reading,
}

/// Writes all inputs as pages, and returns the status.
pub(crate) fn run(args: &Args) -> io::Result<Status> {
    let (inputs, is_folder) = args.reading.sessions()?;
    let options = Options { all_branches: args.all_branches, ..Options::default() };
    let output = named_output(args.output.as_deref());
    if let Some(message) = output.filter(|_| is_folder).and_then(file_for_folder) {
        return failed(&message);
    }
    let outputs = match output {
        Some(folder) if is_folder => RunOutputs::below(folder, args.force, INTERRUPTION)?,
        _ => RunOutputs::anywhere(args.force, INTERRUPTION),
    };
    let progress = args.reading.pace.progress(&inputs);
    let export = Export {
        from: args.reading.format(),
        options,
        redact: args.redact.into(),
        folders: Folders::default(),
        outputs,
        prices: Prices::known(),
        with_copies: args.copies.with_copies,
        progress,
        is_quiet: args.reading.pace.quiet,
    };
    match (output, inputs.as_slice()) {
        (Some(folder), _) if is_folder => export.folder(inputs, folder, args.reading.pace.n_jobs()),
        (Some(path), [input]) => export.one(input, |input| {
            let exported = export.to_file(input, path, &[])?;
            NameWarnings::new(export.redact).warn(&path.to_string_lossy(), AGAIN);
            Ok(exported)
        }),
        (None, [input]) if !is_folder => export.one(input, |input| export.to_stdout(input)),
        _ => Err(io::Error::other("several inputs need a folder for their pages: -o FOLDER")),
    }
}

/// The options of an export.
struct Export {
    from: Option<&'static Format>,
    options: Options,
    redact: Redact,
    folders: Folders,
    outputs: RunOutputs,
    prices: Prices,
    /// Whether the index counts a record in each session that has a copy of it.
    with_copies: bool,
    progress: Progress,
    is_quiet: bool,
}

/// The result of exporting an input.
struct Exported {
    figures: Box<Figures>,
    /// The number of unreadable lines.
    n_damaged: u64,
    /// Whether a file of a sub-agent could not be read, so that the page is without it or its figures.
    is_incomplete: bool,
    /// Whether the page was written; false if an equal one existed.
    is_new: bool,
}

impl Exported {
    fn status(&self) -> Status {
        if self.n_damaged > 0 || self.is_incomplete { Status::Attention } else { Status::Done }
    }
}

impl Export {
    fn one(
        &self,
        input: &Input,
        export: impl FnOnce(&Input) -> Result<Exported, ConvertError>,
    ) -> io::Result<Status> {
        match export(input) {
            Ok(exported) => Ok(exported.status()),
            Err(error) if error.kind() == Some(io::ErrorKind::BrokenPipe) => {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            Err(refusal) => {
                complain(&format!("{}: {}", input.label(), convert_message(&refusal)));
                // A full disk is no wrong usage.
                Ok(if refusal.is_no_space() { Status::Attention } else { Status::Failed })
            }
        }
    }

    fn to_stdout(&self, input: &Input) -> Result<Exported, ConvertError> {
        if io::stdout().is_terminal() {
            let error = "a page is no reading for a terminal: -o names a file for it";
            return Err(io::Error::other(error).into());
        }
        self.write(input, &mut BufWriter::with_capacity(256 * 1024, stdout()), &[])
    }

    fn to_file(
        &self,
        input: &Input,
        path: &Path,
        links: &[Link],
    ) -> Result<Exported, ConvertError> {
        check_target(input, path)?;
        let mut file = PageFile::create(&self.outputs, path)?;
        let exported = self.write(input, &mut file, links)?;
        let is_new = file.publish(&self.outputs, path)?;
        Ok(Exported { is_new, ..exported })
    }

    /// Writes the sessions among the inputs to a folder, and an index.
    fn folder(&self, inputs: Vec<Input>, folder: &Path, n_jobs: usize) -> io::Result<Status> {
        let related = relations(inputs.clone(), self.from, n_jobs, self.with_copies)?;
        let jobs = jobs(inputs);
        let pages = Pages::of(&jobs, &related);
        let export = |(input, name): &(Input, PathBuf)| {
            if is_interrupted() {
                return Err(ConvertError::Interrupted);
            }
            let links = pages.links(input, name);
            let result = self.to_file(input, &folder.join(name), &links).map(Box::new);
            self.progress.add_input(input);
            result
        };
        let pool = Threads::start(n_jobs)?;
        let results: Vec<_> = pool.install(|| jobs.par_iter().map(export).collect());
        let (mut entries, mut status) = (Vec::new(), Status::Done);
        entries.reserve_exact(jobs.len());
        let (mut n_refused, mut n_new) = (0, 0);
        let mut names = NameWarnings::new(self.redact);
        for ((input, name), result) in jobs.iter().zip(results) {
            match result {
                Ok(exported) => {
                    status = status.max(exported.status());
                    n_new += u64::from(exported.is_new);
                    let mut figures = exported.figures;
                    let session = related.find(&input.label());
                    let counts = session.map(|idx| related.replace_counts(idx, &mut figures));
                    if let Some(Err(error)) = counts {
                        status = Status::Attention;
                        complain(&format!(
                            "{}: {}: its records are not compared with other sessions, so that the \
                             index may count some twice; export it again",
                            escape_for_terminal(&input.label()),
                            read_message(error)
                        ));
                    }
                    names.warn(&folder.join(name).to_string_lossy(), AGAIN);
                    entries.push(entry(input, name, figures, self.redact));
                }
                // Files in a folder that are no sessions are skipped.
                Err(ConvertError::Format(UnknownFormat::Unknown | UnknownFormat::Foreign(_))) => {}
                Err(refusal) => {
                    n_refused += 1;
                    complain(&format!(
                        "{}: {}",
                        escape_for_terminal(&input.label()),
                        convert_message(&refusal)
                    ));
                }
            }
        }
        if entries.is_empty() {
            return failed("no session among the inputs");
        }
        let has_index = match self.index(folder, &entries) {
            Ok(()) => true,
            // The pages are written.
            Err(error) => {
                complain(&convert_message(&error));
                status = Status::Attention;
                false
            }
        };
        if has_index && !self.is_quiet {
            let n_pages = entries.len() as u64;
            let unchanged = match n_pages - n_new {
                0 => String::new(),
                n => format!(", {} unchanged", grouped(n)),
            };
            progress::say(&format!(
                "{} and an index in {}{unchanged}",
                count(n_pages, "page"),
                escape_for_terminal(&folder.to_string_lossy())
            ));
        }
        Ok(if n_refused > 0 { Status::Attention } else { status })
    }

    /// Writes the index of the pages in a folder.
    fn index(&self, folder: &Path, entries: &[Entry]) -> Result<(), ConvertError> {
        let path = folder.join("index.html");
        let mut index = PageFile::create(&self.outputs, &path)?;
        write_index(&mut index, "Sessions", entries)?;
        index.publish(&self.outputs, &path)?;
        Ok(())
    }

    /// Writes the page of an input.
    fn write(
        &self,
        input: &Input,
        sink: &mut dyn Write,
        links: &[Link],
    ) -> Result<Exported, ConvertError> {
        let opened = self.redact.opened(FORMATS, input.open(Limits::default())?)?.file;
        let mut source = Source::new(opened);
        let format = self.format_of(&mut source)?;
        let name = NameWarnings::shown(self.redact, input.stem().unwrap_or("session"));
        source.release();
        let mut lines = SessionLines::new(input, format, self.redact, &self.folders)?;
        let mut exported = source.with_events(format, |events| {
            lines.plan(events, &self.options)?;
            let mut survey = Survey::new(format);
            survey.link(links.to_vec());
            let mut responses = PricedResponses::new(FORMATS, &self.prices);
            let mut n_damaged = 0;
            lines.each(events, &mut |read| {
                match read {
                    Read::Event(event) => {
                        survey.push(event);
                        spend(&mut survey, event, &mut responses);
                    }
                    Read::LeftOut(event, _) => {
                        survey.skip_left_out(event);
                        spend(&mut survey, event, &mut responses);
                    }
                    Read::Hidden => survey.skip(),
                    Read::Damaged(_) => {
                        n_damaged += 1;
                        survey.push_unreadable();
                    }
                }
                Ok(ControlFlow::Continue(()))
            })?;
            for missing in lines.missing() {
                survey.note_missing(&missing.tool_use);
            }
            let mut page = Page::new(sink, survey, &name)?;
            let mut damage = DamageRun::default();
            lines.each(events, &mut |read| {
                match read {
                    Read::Event(event) => {
                        damage.end_before(event, &mut |what, n_lines| {
                            page.note_unreadable(what, n_lines)
                        })?;
                        page.push(event)?;
                    }
                    Read::LeftOut(event, BRANCH | ROLLED_BACK) => {
                        damage.end_before(event, &mut |what, n_lines| {
                            page.note_unreadable(what, n_lines)
                        })?;
                        page.push_left_out(event)?;
                    }
                    Read::LeftOut(..) | Read::Hidden => page.skip(),
                    Read::Damaged(line) => {
                        page.count_unreadable();
                        damage
                            .push(line, &mut |what, n_lines| page.note_unreadable(what, n_lines))?;
                    }
                }
                Ok(ControlFlow::Continue(()))
            })?;
            damage.end(&mut |what, n_lines| page.note_unreadable(what, n_lines))?;
            let figures = page.finish()?.figures;
            Ok(Exported { figures, n_damaged, is_incomplete: false, is_new: true })
        })?;
        exported.is_incomplete = !lines.unread().is_empty();
        for what in lines.unread() {
            complain(&escape_for_terminal(what));
        }
        if exported.n_damaged > 0 {
            let (label, n_lines) = (escape_for_terminal(&input.label()), exported.n_damaged);
            complain(&format!(
                "{label}: {} cannot be read; the page says where",
                count(n_lines, "line")
            ));
        }
        Ok(exported)
    }

    fn format_of(&self, source: &mut Source<Opened>) -> Result<&'static Format, ConvertError> {
        if let Some(format) = self.from {
            return Ok(format);
        }
        single_format(detect(source)?)?.ok_or(UnknownFormat::Unknown.into())
    }
}

/// Notes the tokens and the cost of an event's response.
fn spend(survey: &mut Survey, event: &Event<'_>, responses: &mut PricedResponses<'_>) {
    let priced = responses.price(event, 0);
    if let Some(tokens) = priced.tokens {
        survey.spend(event, Spent { tokens, cost: priced.cost });
    }
}

/// Returns the sessions to export, each with the path of its page in the folder.
fn jobs(inputs: Vec<Input>) -> Vec<(Input, PathBuf)> {
    let mut taken = HashSet::from([PathBuf::from("index.html")]);
    let sessions = inputs.into_iter().filter(|input| !is_of_a_session(FORMATS, input));
    let page = |input: Input| {
        let name = page_name(&input, &mut taken);
        (input, name)
    };
    let mut jobs: Vec<_> = sessions.map(page).collect();
    jobs.shrink_to_fit();
    jobs
}

/// The pages of sessions.
struct Pages<'j> {
    related: &'j Related,
    /// The page of each session; `None` for a session without one.
    of_session: Vec<Option<&'j Path>>,
}

impl<'j> Pages<'j> {
    fn of(jobs: &'j [(Input, PathBuf)], related: &'j Related) -> Self {
        let mut of_session = vec![None; related.len()];
        for (input, name) in jobs {
            let session = related.find(&input.label());
            if let Some(page) = session.and_then(|idx| of_session.get_mut(idx)) {
                *page = Some(name.as_path());
            }
        }
        Self { related, of_session }
    }

    /// Returns the links from a page to the pages of its relatives.
    fn links(&self, input: &Input, page: &Path) -> Vec<Link> {
        let session = self.related.find(&input.label());
        let relatives = session.into_iter().flat_map(|idx| self.related.relatives(idx));
        let link = |Relative { label, words, id, .. }: Relative| {
            let other = self.of_session.get(self.related.find(&label)?).copied().flatten()?;
            Some(Link { words, name: id, path: path_between(page, other) })
        };
        relatives.filter_map(link).collect()
    }
}

/// Returns the path of an input's page in the folder; with a number if it is taken.
fn page_name(input: &Input, taken: &mut HashSet<PathBuf>) -> PathBuf {
    let name = match input {
        Input::File { name, .. } => name.clone(),
        _ => PathBuf::from("session"),
    };
    let name = Compression::bare_path(&name);
    let mut page = name.with_extension("html");
    let mut number = 1;
    while !taken.insert(page.clone()) {
        number += 1;
        page = name.with_extension(format!("{number}.html"));
    }
    page
}

fn entry(input: &Input, page: &Path, figures: Box<Figures>, redact: Redact) -> Entry {
    let parts = page.components().map(|part| part.as_os_str().to_string_lossy());
    let path = parts.collect::<Vec<_>>().join("/");
    let name = match input {
        Input::File { name, .. } => name.to_string_lossy().into_owned(),
        _ => input.label(),
    };
    Entry { path, name: NameWarnings::shown(redact, &name), figures }
}
