//! Reads sessions as batches of rows, ahead of their consumer.
//!
//! In: sessions. Out: record batches, in the order of the sessions and of their lines. Threads read some
//! sessions at a time, and wait until the consumer has taken their batches: at most four of them wait for each
//! thread.

use std::{
    collections::VecDeque,
    io,
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
use export_parquet::{Columns, EventRows, Response, SessionFile, SessionRows};
use jsonl::Line;
use sessions::{Input, Priced, PricedResponses, Prices, UnknownFormat, single_format};
use storage::Limits;

/// The table whose rows are read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Table {
    /// A row for each content block, with the bytes of the lines if asked for.
    Events { with_raw: bool },
    /// A row for each file.
    Sessions,
}

/// A transcript, and its format. A file of a folder whose format is not known is left out if no client wrote it.
pub(crate) type Transcript = (Input, Option<&'static Format>);

/// The size in bytes at which rows become a batch.
const BATCH: usize = 8 * 1024 * 1024;

/// Limit in bytes for files that are read in one pass. Later lines change rows of earlier lines, so the rows of such
/// a file become one batch. A larger file is read twice.
const MAX_ONE_PASS: u64 = 32 * 1024 * 1024;

/// The size in bytes of the files that a thread reads together, so that small sessions share a batch.
const TASK: u64 = 4 * 1024 * 1024;

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
        table: Table,
        transcripts: Vec<Transcript>,
        n_threads: usize,
    ) -> io::Result<Self> {
        let (tasks, queue) = channel();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..n_threads {
            let queue = queue.clone();
            thread::Builder::new().name("session-reader".into()).spawn(move || {
                let prices = Prices::known();
                while let Ok(task) = next_task(&queue) {
                    run(table, &task, &prices);
                }
            })?;
        }
        let (rest, begun) = (transcripts.into(), VecDeque::new());
        let mut reader =
            Self { schema: Rows::new(table).schema(), rest, tasks: Some(tasks), begun, n_threads };
        while reader.begun.len() < 2 * reader.n_threads && reader.begin() {}
        Ok(reader)
    }

    /// Gives the next transcripts to a thread. Returns whether there were any.
    fn begin(&mut self) -> bool {
        let (mut transcripts, mut n_bytes) = (Vec::new(), 0);
        while n_bytes < TASK {
            let Some((input, format)) = self.rest.pop_front() else { break };
            n_bytes += input.size();
            transcripts.push((input, format));
        }
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

/// Reads the transcripts of a task, and sends their batches. Stops when nobody takes them.
fn run(table: Table, task: &Task, prices: &Prices) {
    let mut rows = Rows::new(table);
    let mut send = |batch| task.batches.send(Sent::Batch(batch)).is_ok();
    for (input, format) in &task.transcripts {
        match rows.read(input, *format, prices, &mut send) {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => {
                _ = task.batches.send(Sent::Failed(error));
                return;
            }
        }
    }
    _ = match rows.take() {
        Ok(Some(batch)) => task.batches.send(Sent::Batch(batch)),
        Ok(None) => Ok(()),
        Err(error) => task.batches.send(Sent::Failed(error)),
    };
    _ = task.batches.send(Sent::Ended);
}

/// Rows that are not sent yet.
enum Rows {
    Events(EventRows),
    Sessions(SessionRows),
}

impl Rows {
    fn new(table: Table) -> Self {
        match table {
            Table::Events { with_raw } => Rows::Events(EventRows::new(with_raw)),
            Table::Sessions => Rows::Sessions(SessionRows::default()),
        }
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
        let mut responses = PricedResponses::new(FORMATS, prices);
        let mut result = Ok(true);
        let mut opened = input.open(Limits::default()).map_err(failed)?;
        opened.skip_hash();
        let is_small = !opened.is_packed() && input.size() <= MAX_ONE_PASS;
        let is_one_pass = matches!(self, Self::Sessions(_)) || is_small;
        let mut source = Source::new(opened);
        let found = match format {
            Some(format) => Ok(Some(format)),
            None => single_format(detect(&mut source).map_err(failed)?),
        };
        let format = match found {
            Ok(Some(format)) => format,
            Ok(None) | Err(UnknownFormat::Unknown | UnknownFormat::Foreign(_)) => return Ok(true),
            Err(error) => {
                let message = format!("{label}: {}", read_message(&error.into()));
                return Err(ArrowError::ExternalError(message.into()));
            }
        };
        let mut file = SessionFile::new(path, format.name);
        let read = source.with_events(format, |events| {
            if !is_one_pass {
                events.for_each(&mut |line, event| {
                    observe(&mut file, &mut responses, line, event.ok());
                    true
                })?;
            }
            events.for_each(&mut |line, event| {
                let event = event.ok();
                if is_one_pass {
                    observe(&mut file, &mut responses, line, event);
                }
                let Self::Events(rows) = &mut *self else { return true };
                let priced = event.map(|event| responses.price(event, line.offset()));
                let Priced { key, cost, covered, .. } = priced.unwrap_or_default();
                rows.push(&mut file, line, event, &Response { key, cost, covered });
                if !is_one_pass && rows.columns().n_bytes() >= BATCH {
                    result = send_batch(rows.columns(), send);
                }
                matches!(result, Ok(true))
            })
        });
        read.map_err(failed)?;
        if let Self::Sessions(rows) = self {
            rows.push(&file);
        }
        if matches!(result, Ok(true)) && self.columns().n_bytes() >= BATCH {
            result = send_batch(self.columns(), send);
        }
        result
    }
}

fn observe(
    file: &mut SessionFile,
    responses: &mut PricedResponses<'_>,
    line: &Line<'_>,
    event: Option<&Event<'_>>,
) {
    file.observe(line, event);
    if let Some(event) = event {
        responses.observe(event, line.offset());
    }
}

/// Sends the rows. Returns whether somebody takes them.
fn send_batch(
    columns: &mut Columns,
    send: &mut dyn FnMut(RecordBatch) -> bool,
) -> Result<bool, ArrowError> {
    columns.take().map(send).map_err(|error| ArrowError::ExternalError(error.into()))
}
