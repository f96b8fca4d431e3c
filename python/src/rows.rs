//! Reads sessions as batches of rows, ahead of their consumer.
//!
//! In: sessions. Out: record batches, in the order of the sessions and of their lines. Threads read some
//! sessions at a time, and wait until the consumer has taken their batches: at most four of them wait for each
//! thread.

use std::{
    collections::VecDeque,
    io::{self, Read, Seek},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, Sender, SyncSender, channel, sync_channel},
    },
    thread,
};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use conversion::Source;
use convert::{FORMATS, detect, io_message, read_message};
use core_model::{Event, Format};
use export_parquet::{Columns, EventRows, Response, Selection, SessionFile, SessionRows};
use jsonl::Line;
use sessions::{Input, Priced, PricedResponses, Prices, UnknownFormat, single_format};
use storage::Limits;

/// The table whose rows are read, with its columns.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Table {
    /// A row for each content block.
    Events(Selection),
    /// A row for each file.
    Sessions(Selection),
}

/// A transcript, and its format. A file of a folder whose format is not known is left out if no client wrote it.
pub(crate) type Transcript = (Input, Option<&'static Format>);

/// The size in bytes at which rows become a batch.
const BATCH: usize = 8 * 1024 * 1024;

/// Limit in bytes for files that are read in one pass. Later lines change rows of earlier lines, so the rows of such
/// a file become one batch. A larger file is read twice.
const MAX_ONE_PASS: u64 = 32 * 1024 * 1024;

/// The size in bytes of the files that a thread reads together, so that small sessions share a batch. The last tasks
/// are smaller, because a thread has nothing to do while another one ends its last task.
const TASK: u64 = 4 * 1024 * 1024;
const MIN_TASK: u64 = 512 * 1024;

/// The batches of a task that wait for the consumer.
const WAITING: usize = 2;

/// A message of a thread: a batch, an error after which nothing follows, or the end of its task.
enum Sent {
    Batch(RecordBatch),
    Failed(ArrowError),
    Ended,
}

/// Transcripts to read, and where their batches go.
struct Task {
    transcripts: Vec<Transcript>,
    batches: SyncSender<Sent>,
}

/// A stream of batches.
pub(crate) struct Reader {
    schema: SchemaRef,
    rest: VecDeque<Transcript>,
    /// The size of these files in bytes.
    n_left: u64,
    tasks: Option<Sender<Task>>,
    /// The batches of the tasks that were begun, in their order.
    begun: VecDeque<Receiver<Sent>>,
    n_threads: usize,
}

impl Reader {
    /// Starts the threads.
    ///
    /// # Errors
    ///
    /// Returns an error if the system starts no thread.
    pub(crate) fn new(
        table: &Table,
        transcripts: Vec<Transcript>,
        n_threads: usize,
    ) -> io::Result<Self> {
        let (tasks, queue) = channel();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..n_threads {
            let queue = queue.clone();
            let mut rows = Rows::new(table);
            thread::Builder::new().name("session-reader".into()).spawn(move || {
                let prices = Prices::known();
                while let Ok(task) = next_task(&queue) {
                    if !rows.run(&task, &prices) {
                        break;
                    }
                }
            })?;
        }
        let n_left = transcripts.iter().map(|(input, _)| input.size()).sum();
        let mut reader = Self {
            schema: Rows::new(table).schema(),
            rest: transcripts.into(),
            n_left,
            tasks: Some(tasks),
            begun: VecDeque::new(),
            n_threads,
        };
        while reader.begun.len() < 2 * reader.n_threads && reader.begin() {}
        Ok(reader)
    }

    /// Gives the next transcripts to a thread. Returns whether there were any.
    fn begin(&mut self) -> bool {
        let share = self.n_left / (4 * self.n_threads.max(1) as u64);
        let task = share.clamp(MIN_TASK, TASK);
        let (mut transcripts, mut n_bytes) = (Vec::new(), 0);
        while n_bytes < task {
            let Some((input, format)) = self.rest.pop_front() else { break };
            n_bytes += input.size();
            transcripts.push((input, format));
        }
        self.n_left = self.n_left.saturating_sub(n_bytes);
        if transcripts.is_empty() {
            self.tasks = None;
            return false;
        }
        let (batches, begun) = sync_channel(WAITING);
        let sent = self.tasks.as_ref().map(|tasks| tasks.send(Task { transcripts, batches }));
        self.begun.push_back(begun);
        matches!(sent, Some(Ok(())))
    }

    /// Ends the stream: nothing is read any more.
    fn end(&mut self) {
        self.tasks = None;
        self.begun.clear();
        self.rest.clear();
    }
}

fn next_task(queue: &Mutex<Receiver<Task>>) -> Result<Task, std::sync::mpsc::RecvError> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).recv()
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.begun.front()?.recv() {
                Ok(Sent::Batch(batch)) => return Some(Ok(batch)),
                Ok(Sent::Failed(error)) => {
                    self.end();
                    return Some(Err(error));
                }
                Ok(Sent::Ended) => {
                    self.begun.pop_front();
                    self.begin();
                }
                // The thread ended without a word.
                Err(_) => {
                    self.end();
                    let fault = "a fault in convert itself; the message before this one says where";
                    return Some(Err(ArrowError::ExternalError(fault.into())));
                }
            }
        }
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// Rows that are not sent yet.
enum Rows {
    Events(EventRows),
    Sessions(SessionRows),
}

impl Rows {
    fn new(table: &Table) -> Self {
        match table.clone() {
            Table::Events(selection) => Rows::Events(EventRows::of(selection)),
            Table::Sessions(selection) => Rows::Sessions(SessionRows::of(selection)),
        }
    }

    /// Reads the transcripts of a task, and sends their batches. Returns whether somebody takes more: not after an
    /// error, and not if the consumer is gone.
    fn run(&mut self, task: &Task, prices: &Prices) -> bool {
        let mut send = |batch| task.batches.send(Sent::Batch(batch)).is_ok();
        for (input, format) in &task.transcripts {
            match self.read(input, *format, prices, &mut send) {
                Ok(true) => {}
                Ok(false) => return false,
                Err(error) => {
                    _ = task.batches.send(Sent::Failed(error));
                    return false;
                }
            }
        }
        let is_taken = match self.take() {
            Ok(None) => true,
            Ok(Some(batch)) => send(batch),
            Err(error) => {
                _ = task.batches.send(Sent::Failed(error));
                false
            }
        };
        is_taken && task.batches.send(Sent::Ended).is_ok()
    }

    fn columns(&mut self) -> &mut Columns {
        match self {
            Rows::Events(rows) => rows.columns(),
            Rows::Sessions(rows) => rows.columns(),
        }
    }

    fn schema(&mut self) -> SchemaRef {
        self.columns().schema()
    }

    /// Returns whether later lines can change rows of a file.
    fn needs_later_lines(&self) -> bool {
        matches!(self, Rows::Events(rows) if rows.needs_later_lines())
    }

    /// Removes and returns the rows; `None` if there are none.
    fn take(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        match self.columns() {
            columns if columns.n_rows() == 0 => Ok(None),
            columns => columns.take().map(Some).map_err(|it| ArrowError::ExternalError(it.into())),
        }
    }

    /// Adds the rows of a transcript, and sends full batches. Returns whether somebody takes them.
    fn read(
        &mut self,
        input: &Input,
        format: Option<&'static Format>,
        prices: &Prices,
        send: &mut dyn FnMut(RecordBatch) -> bool,
    ) -> Result<bool, ArrowError> {
        let label = input.label();
        let failed = |error: io::Error| {
            ArrowError::ExternalError(format!("{label}: {}", io_message(&error)).into())
        };
        let path = input.path().and_then(|path| path.to_str());
        let path = path.ok_or_else(|| {
            failed(io::Error::other("its name is not UTF-8, which tables need; rename the file"))
        })?;
        let mut opened = input.open(Limits::default()).map_err(failed)?;
        opened.skip_hash();
        let is_small = !opened.is_packed() && input.size() <= MAX_ONE_PASS;
        let is_one_pass = is_small || !self.needs_later_lines();
        // By windows, which stay in the cache of the CPU.
        let mut source = Source::new(opened).with_windows();
        let found = match format {
            Some(format) => Ok(Some(format)),
            None => single_format(detect(&mut source).map_err(failed)?),
        };
        let format = match found {
            Ok(Some(format)) => format,
            Ok(None)
            | Err(
                UnknownFormat::Unknown | UnknownFormat::Foreign(_) | UnknownFormat::Archive(_),
            ) => return Ok(true),
            Err(error) => {
                let message = format!("{label}: {}", read_message(&error.into()));
                return Err(ArrowError::ExternalError(message.into()));
            }
        };
        let mut file = SessionFile::new(path, format.name);
        match self {
            Self::Events(rows) => {
                let mut events = EventReader {
                    responses: PricedResponses::new(FORMATS, prices),
                    rows,
                    is_one_pass,
                    send,
                    result: Ok(true),
                };
                events.read(&mut source, format, &mut file).map_err(failed)?;
                events.result
            }
            Self::Sessions(rows) => {
                each_event(&mut source, format, &mut |line, event| {
                    file.observe(line, event);
                    true
                })
                .map_err(failed)?;
                rows.push(&file);
                if rows.columns().n_bytes() < BATCH {
                    return Ok(true);
                }
                send_batch(rows.columns(), send)
            }
        }
    }
}

/// Reads a file as rows of events.
struct EventReader<'r> {
    rows: &'r mut EventRows,
    responses: PricedResponses<'r>,
    is_one_pass: bool,
    send: &'r mut dyn FnMut(RecordBatch) -> bool,
    /// Whether somebody takes the rows.
    result: Result<bool, ArrowError>,
}

impl EventReader<'_> {
    fn read<R: Read + Seek + Send>(
        &mut self,
        source: &mut Source<R>,
        format: &'static Format,
        file: &mut SessionFile,
    ) -> io::Result<()> {
        if !self.is_one_pass {
            each_event(source, format, &mut |line, event| {
                self.observe(file, line, event);
                true
            })?;
        }
        each_event(source, format, &mut |line, event| {
            if self.is_one_pass {
                self.observe(file, line, event);
            }
            self.push(file, line, event);
            matches!(self.result, Ok(true))
        })?;
        if matches!(self.result, Ok(true)) && self.rows.columns().n_bytes() >= BATCH {
            self.result = send_batch(self.rows.columns(), self.send);
        }
        Ok(())
    }

    /// Observes an event for the rows of other lines.
    fn observe(&mut self, file: &mut SessionFile, line: &Line<'_>, event: Option<&Event<'_>>) {
        let Some(event) = event else { return };
        if self.rows.needs_later_lines() {
            file.observe_response(line, event);
        }
        if self.rows.needs_prices() {
            self.responses.observe(event, line.offset());
        }
    }

    /// Adds the rows of a line, and sends a full batch.
    fn push(&mut self, file: &mut SessionFile, line: &Line<'_>, event: Option<&Event<'_>>) {
        let priced = event.filter(|_| self.rows.needs_prices());
        let priced = priced.map(|event| self.responses.price(event, line.offset()));
        let Priced { key, cost, covered, tokens } = priced.unwrap_or_default();
        self.rows.push(file, line, event, &Response { key, cost, covered, tokens });
        // In one pass, rows stay until no later line can change them.
        let may_send = !self.is_one_pass || !self.rows.needs_later_lines();
        if may_send && self.rows.columns().n_bytes() >= BATCH {
            self.result = send_batch(self.rows.columns(), self.send);
        }
    }
}

/// Calls `each` with the lines of a source and their events, until it returns false. An unreadable line has none.
fn each_event<R: Read + Seek + Send>(
    source: &mut Source<R>,
    format: &'static Format,
    each: &mut dyn FnMut(&Line<'_>, Option<&Event<'_>>) -> bool,
) -> io::Result<()> {
    source.for_each_piece(&[format], &mut |line, value| match value {
        Ok(value) => format.for_each_event(value, |event| each(line, Some(event))),
        Err(_) => each(line, None),
    })
}

/// Sends the rows. Returns whether somebody takes them.
fn send_batch(
    columns: &mut Columns,
    send: &mut dyn FnMut(RecordBatch) -> bool,
) -> Result<bool, ArrowError> {
    columns.take().map(send).map_err(|error| ArrowError::ExternalError(error.into()))
}
