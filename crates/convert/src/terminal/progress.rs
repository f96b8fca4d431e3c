//! Reports progress: a line on a terminal, a line every ten seconds in a log, or JSON objects.
//!
//! In: counts of files and bytes, from any thread. Out: reports on standard error.

use std::{
    io::{self, Write},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use clap::ValueEnum;
use core_model::system_words;
use sessions::Input;

use crate::terminal::{
    Terminal,
    figures::{count, duration, grouped, size},
};

/// How progress is told.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(crate) enum Mode {
    /// A line on a terminal; `plain` if the variable CI is set; otherwise none
    #[default]
    Auto,
    /// A line every ten seconds
    Plain,
    /// A JSON object every second, and one at the end
    Json,
    /// No progress
    None,
}

/// The form of reports.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum ProgressStyle {
    /// One line that is redrawn, of at most this number of columns.
    Drawn(usize),
    Plain,
    Json,
}

impl ProgressStyle {
    fn of(mode: Mode) -> Option<Self> {
        let terminal = Terminal::of_stderr();
        match mode {
            Mode::None => None,
            Mode::Json => Some(ProgressStyle::Json),
            Mode::Plain => Some(ProgressStyle::Plain),
            Mode::Auto if terminal.is_terminal => Some(ProgressStyle::Drawn(terminal.columns)),
            Mode::Auto => std::env::var_os("CI").is_some().then_some(ProgressStyle::Plain),
        }
    }

    /// Returns the time before the first report, and between reports.
    fn pace(self) -> (Duration, Duration) {
        match self {
            // A run that ends within a second needs no progress.
            ProgressStyle::Drawn(_) => (Duration::from_secs(1), Duration::from_millis(200)),
            ProgressStyle::Plain => (Duration::from_secs(10), Duration::from_secs(10)),
            ProgressStyle::Json => (Duration::from_secs(1), Duration::from_secs(1)),
        }
    }
}

/// Reports progress for as long as it lives.
///
/// Work is counted by [`sessions::Progress`] and [`Progress::add_file`], from any thread.
#[derive(Debug)]
pub(crate) struct Progress {
    shared: Arc<Shared>,
    reporter: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    n_files: AtomicU64,
    n_bytes: AtomicU64,
    of_files: u64,
    of_bytes: u64,
    start: Instant,
    is_over: Mutex<bool>,
    over: Condvar,
}

impl Progress {
    /// Starts reporting on a run over `of_files` files and `of_bytes` bytes; 0 bytes if unknown.
    pub(crate) fn start(mode: Mode, of_files: u64, of_bytes: u64) -> Self {
        let shared = Arc::new(Shared {
            n_files: AtomicU64::new(0),
            n_bytes: AtomicU64::new(0),
            of_files,
            of_bytes,
            start: Instant::now(),
            is_over: Mutex::new(false),
            over: Condvar::new(),
        });
        let reporter = ProgressStyle::of(mode).and_then(|style| {
            let shared = Arc::clone(&shared);
            let started = thread::Builder::new().spawn(move || shared.report(style));
            // The run needs no reports.
            started
                .inspect_err(|error| {
                    say(&format!("convert: no progress is reported: {}", system_words(error)));
                })
                .ok()
        });
        Self { shared, reporter }
    }

    /// Starts reporting on a run over inputs. Their sizes are looked up only if a report shows
    /// them.
    pub(crate) fn of<'i>(
        mode: Mode,
        inputs: impl IntoIterator<Item = &'i Input, IntoIter: Clone>,
    ) -> Self {
        let inputs = inputs.into_iter();
        let is_told = ProgressStyle::of(mode).is_some();
        let n_bytes = if is_told { inputs.clone().map(Input::size).sum() } else { 0 };
        Self::start(mode, inputs.count() as u64, n_bytes)
    }

    /// Returns the number of bytes read so far.
    pub(crate) fn n_bytes(&self) -> u64 {
        self.shared.n_bytes.load(Ordering::Relaxed)
    }

    /// Counts a finished file.
    pub(crate) fn add_file(&self) {
        self.shared.n_files.fetch_add(1, Ordering::Relaxed);
    }
}

impl sessions::Progress for Progress {
    fn add_bytes(&self, n_bytes: u64) {
        self.shared.n_bytes.fetch_add(n_bytes, Ordering::Relaxed);
    }

    fn add_input(&self, input: &Input) {
        if self.reporter.is_some() {
            self.add_bytes(input.size());
        }
        self.add_file();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        *lock(&self.shared.is_over) = true;
        self.shared.over.notify_all();
        if let Some(reporter) = self.reporter.take() {
            _ = reporter.join();
        }
    }
}

impl Shared {
    fn report(&self, style: ProgressStyle) {
        let (first, pause) = style.pace();
        let mut wait = first;
        let mut is_over = lock(&self.is_over);
        while !*is_over {
            let waited = self.over.wait_timeout(is_over, wait);
            let (guard, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            is_over = guard;
            if !*is_over && timeout.timed_out() {
                wait = pause;
                match style {
                    ProgressStyle::Drawn(columns) => draw(&self.sentence(), columns),
                    ProgressStyle::Plain => say(&self.sentence()),
                    ProgressStyle::Json => say(&self.object(false)),
                }
            }
        }
        match style {
            ProgressStyle::Drawn(_) => erase(),
            ProgressStyle::Json => say(&self.object(true)),
            ProgressStyle::Plain => {}
        }
    }

    fn so_far(&self) -> (u64, u64, f64) {
        let n_files = self.n_files.load(Ordering::Relaxed);
        let n_bytes = self.n_bytes.load(Ordering::Relaxed);
        (n_files, n_bytes, self.start.elapsed().as_secs_f64())
    }

    fn sentence(&self) -> String {
        let (n_files, n_bytes, seconds) = self.so_far();
        sentence([n_files, self.of_files], [n_bytes, self.of_bytes], seconds)
    }

    fn object(&self, is_over: bool) -> String {
        let (n_files, n_bytes, seconds) = self.so_far();
        let Self { of_files, of_bytes, .. } = self;
        format!(
            "{{\"files\":{n_files},\"of_files\":{of_files},\"bytes\":{n_bytes},\
             \"of_bytes\":{of_bytes},\"seconds\":{seconds:.3},\"done\":{is_over}}}"
        )
    }
}

/// Returns the progress as a sentence. `files` and `bytes` have the finished number and the total.
fn sentence(files: [u64; 2], bytes: [u64; 2], seconds: f64) -> String {
    let [n_bytes, of_bytes] = bytes;
    let rate = if seconds > 0.0 { n_bytes as f64 / seconds } else { 0.0 };
    let mut sentence = format!("{} of {}", grouped(files[0]), count(files[1], "file"));
    sentence.push_str(&format!(", {}", size(n_bytes)));
    if of_bytes > 0 {
        sentence.push_str(&format!(" of {}", size(of_bytes)));
    }
    sentence.push_str(&format!(", {}/s", size(rate as u64)));
    if of_bytes > n_bytes && rate > 0.0 {
        let left = ((of_bytes - n_bytes) as f64 / rate).ceil();
        sentence.push_str(&format!(", {} left", duration(left as u64)));
    }
    sentence
}

/// Whether a line of progress is on the terminal. The lock orders all writes to it.
static IS_DRAWN: Mutex<bool> = Mutex::new(false);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A flag cannot be half set, so a poisoned lock is still valid.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

const ERASE: &str = "\r\u{1b}[K";

/// Prints a line to standard error, above the line of progress if there is one.
pub(crate) fn say(line: &str) {
    let mut is_drawn = lock(&IS_DRAWN);
    let erase = if std::mem::take(&mut *is_drawn) { ERASE } else { "" };
    // Without a standard error there is no place to report the failure.
    _ = io::stderr().write_all(format!("{erase}{line}\n").as_bytes());
}

fn draw(line: &str, columns: usize) {
    let mut is_drawn = lock(&IS_DRAWN);
    // The sentence is ASCII; some terminals wrap after the last column.
    let line = line.get(..columns - 1).unwrap_or(line);
    *is_drawn = io::stderr().write_all(format!("{ERASE}{line}").as_bytes()).is_ok();
}

fn erase() {
    if std::mem::take(&mut *lock(&IS_DRAWN)) {
        _ = io::stderr().write_all(ERASE.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_says_how_far_and_how_long() {
        assert_eq!(
            sentence([312, 3242], [512_000_000, 1_030_000_000], 2.0),
            "312 of 3,242 files, 512 MB of 1.03 GB, 256 MB/s, 3 s left"
        );
        assert_eq!(sentence([0, 1], [0, 10], 0.0), "0 of 1 file, 0 B of 10 B, 0 B/s");
        assert_eq!(sentence([1, 1], [99, 0], 1.0), "1 of 1 file, 99 B, 99 B/s");
    }

    #[test]
    fn what_is_counted_is_told() {
        use sessions::Progress as _;
        let progress = Progress::start(Mode::None, 2, 10);
        progress.add_bytes(7);
        progress.add_file();
        let object = progress.shared.object(false);
        assert!(
            object.starts_with(
                "{\"files\":1,\"of_files\":2,\"bytes\":7,\"of_bytes\":10,\"seconds\":"
            )
        );
        assert!(object.ends_with(",\"done\":false}"));
    }
}
