//! Scans a large source on several threads and delivers the lines in order.
//!
//! In: a reader. Out: calls of `each` with one chunk of scanned lines at a time. Chunk 0 goes to
//! thread 0, chunk 1 to thread 1 and so on; results are collected in the same rotation, so chunks
//! need no numbers.

use std::{
    io::{self, Read},
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::{self, Builder},
};

use jsonl::{Chunk, Scanner};

/// The size of a chunk in bytes, without the rest of its last line.
const CHUNK: usize = 256 * 1024;

/// Limit on chunks that wait before and behind each scanner.
const MAX_WAITING: usize = 2;

/// Limit on the lines of a chunk. Each line takes 40 bytes.
const MAX_LINES: usize = 16 * 1024;

/// Limit on bytes between the reader and the converter. Above it, the reader waits.
const MAX_ON_THE_WAY: usize = 4 * 1024 * 1024;

/// A line of this length or more is read only when no other bytes are in memory, because a second
/// one would double the peak.
const LONG: usize = 2 * 1024 * 1024;

/// Calls `each` with the chunks of a reader in order, until it returns false. Scans on `n_scanners`
/// threads, or on fewer if the system refuses some.
///
/// # Errors
///
/// Returns an error if the reader fails, or if no thread can be started.
pub(crate) fn for_each_chunk<R: Read + Send>(
    reader: &mut R,
    n_scanners: usize,
    each: &mut dyn FnMut(&Chunk) -> bool,
) -> io::Result<()> {
    let on_the_way = &OnTheWay::default();
    on_the_way.start();
    let spare = &Spare::default();
    thread::scope(|scope| {
        // On every way out, a waiting reader wakes up and finds that it should stop.
        let _stop = Stop(on_the_way);
        let (mut to_scan, mut scanned) = (Vec::new(), Vec::new());
        for _ in 0..n_scanners.max(1) {
            let (sender, unscanned) = sync_channel(MAX_WAITING);
            let (done, receiver) = sync_channel(MAX_WAITING);
            let scan = move || scan_all(&unscanned, &done, spare);
            match Builder::new().spawn_scoped(scope, scan) {
                Err(error) if to_scan.is_empty() => return Err(not_started(&error)),
                // Fewer threads scan.
                Err(_) => break,
                Ok(_) => {}
            }
            to_scan.push(sender);
            scanned.push(receiver);
        }
        let read = move || read_all(reader, &to_scan, on_the_way, spare);
        Builder::new().spawn_scoped(scope, read).map_err(|error| not_started(&error))?;
        // The reader deals chunks in rotation; collecting in the same rotation keeps the order.
        for receiver in scanned.iter().cycle() {
            loop {
                match receiver.recv() {
                    Ok(Ok(Scanned { chunk, is_last })) if each(&chunk) => {
                        let n_bytes = chunk.len();
                        spare.put(chunk);
                        on_the_way.arrive(n_bytes);
                        if is_last {
                            break;
                        }
                    }
                    Ok(Err(error)) => return Err(error),
                    // After the last chunk, or if `each` wants no more, the channels close and the
                    // threads end.
                    Ok(Ok(_)) | Err(_) => return Ok(()),
                }
            }
        }
        Ok(())
    })
}

/// Returns the error for a thread that the system refuses.
fn not_started(error: &io::Error) -> io::Error {
    let words = core_model::system_words(error);
    io::Error::new(error.kind(), format!("a thread that scans it could not be started: {words}"))
}

type Bytes = io::Result<(Vec<u8>, u64)>;

/// The lines of one chunk, and whether it is the last one.
struct Scanned {
    chunk: Chunk,
    is_last: bool,
}

/// Counts the bytes between the reader and the converter.
#[derive(Default)]
struct OnTheWay {
    /// `None` after the converter has stopped.
    n_bytes: Mutex<Option<usize>>,
    changed: Condvar,
}

impl OnTheWay {
    fn lock(&self) -> MutexGuard<'_, Option<usize>> {
        self.n_bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self) {
        *self.lock() = Some(0);
    }

    fn leave(&self, n_bytes: usize) {
        if let Some(on_the_way) = &mut *self.lock() {
            *on_the_way += n_bytes;
        }
    }

    fn arrive(&self, n_bytes: usize) {
        if let Some(on_the_way) = &mut *self.lock() {
            *on_the_way = on_the_way.saturating_sub(n_bytes);
        }
        self.changed.notify_all();
    }

    /// Waits until at most `most` bytes are in memory, or the converter has stopped.
    fn wait(&self, most: usize) {
        let mut n_bytes = self.lock();
        while n_bytes.is_some_and(|n_bytes| n_bytes > most) {
            n_bytes = self.changed.wait(n_bytes).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The memory of chunks that were converted, for later ones: fresh pages would cost more than to
/// scan them.
#[derive(Default)]
struct Spare(Mutex<(Vec<Vec<u8>>, Vec<Chunk>)>);

/// Limit on the bytes of a chunk whose memory is kept.
const MAX_SPARE: usize = 8 * CHUNK;

/// Limit on the chunks whose memory is kept.
const MAX_SPARES: usize = 16;

impl Spare {
    fn lock(&self) -> MutexGuard<'_, (Vec<Vec<u8>>, Vec<Chunk>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, mut chunk: Chunk) {
        if chunk.room() > MAX_SPARE {
            return;
        }
        let mut bytes = chunk.take_buffer();
        bytes.clear();
        let spare = &mut *self.lock();
        if spare.0.len() < MAX_SPARES && spare.1.len() < MAX_SPARES {
            spare.0.push(bytes);
            spare.1.push(chunk);
        }
    }

    fn take_bytes(&self) -> Vec<u8> {
        self.lock().0.pop().unwrap_or_default()
    }

    fn take_chunk(&self) -> Chunk {
        self.lock().1.pop().unwrap_or_default()
    }
}

/// Wakes the reader when it is dropped.
struct Stop<'w>(&'w OnTheWay);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        *self.0.lock() = None;
        self.0.changed.notify_all();
    }
}

fn scan_all(unscanned: &Receiver<Bytes>, done: &SyncSender<io::Result<Scanned>>, spare: &Spare) {
    let mut scanner = Scanner::default();
    for bytes in unscanned {
        let (mut bytes, mut offset) = match bytes {
            Ok(bytes) => bytes,
            Err(error) => {
                _ = done.send(Err(error));
                return;
            }
        };
        loop {
            let mut chunk = spare.take_chunk();
            let rest = chunk.scan_again(bytes, offset, MAX_LINES, &mut scanner);
            offset += chunk.len() as u64;
            if done.send(Ok(Scanned { chunk, is_last: rest.is_none() })).is_err() {
                return;
            }
            let Some(rest) = rest else { break };
            bytes = rest;
        }
    }
}

fn read_all<R: Read>(
    reader: &mut R,
    to_scan: &[SyncSender<Bytes>],
    on_the_way: &OnTheWay,
    spare: &Spare,
) {
    let mut rest = Vec::new();
    let mut offset = 0;
    for sender in to_scan.iter().cycle() {
        on_the_way.wait(MAX_ON_THE_WAY);
        let bytes = match read_chunk(reader, &mut rest, on_the_way, spare) {
            Ok(bytes) if bytes.is_empty() => return,
            Ok(bytes) => {
                on_the_way.leave(bytes.len());
                let start = offset;
                offset += bytes.len() as u64;
                Ok((bytes, start))
            }
            Err(error) => Err(error),
        };
        let is_last = bytes.is_err();
        if sender.send(bytes).is_err() || is_last {
            return;
        }
    }
}

/// Reads whole lines. `rest` is the incomplete last line of the previous chunk.
fn read_chunk<R: Read>(
    reader: &mut R,
    rest: &mut Vec<u8>,
    on_the_way: &OnTheWay,
    spare: &Spare,
) -> io::Result<Vec<u8>> {
    let mut bytes = spare.take_bytes();
    if bytes.capacity() < rest.len() {
        std::mem::swap(&mut bytes, rest);
    } else {
        bytes.extend_from_slice(rest);
    }
    rest.clear();
    loop {
        let searched = bytes.len();
        if searched >= LONG {
            on_the_way.wait(0);
        }
        // `read_to_end` grows a full vector before it finds the end: one spare byte avoids that.
        bytes.reserve(CHUNK + 1);
        let n = reader.by_ref().take(CHUNK as u64).read_to_end(&mut bytes)?;
        if n == 0 {
            return Ok(bytes);
        }
        if let Some(end) = memchr::memrchr(b'\n', &bytes[searched..]) {
            rest.extend_from_slice(&bytes[searched + end + 1..]);
            bytes.truncate(searched + end + 1);
            return Ok(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_come_in_order_whatever_the_number_of_scanners() {
        let lines: Vec<String> = (0..200)
            .map(|n| format!("{{\"n\":{n},\"x\":\"{}\"}}\n", "y".repeat(n * 300)))
            .collect();
        let input = lines.concat() + "torn";
        for n_scanners in [1, 2, 5] {
            let mut seen = Vec::new();
            for_each_chunk(&mut input.as_bytes(), n_scanners, &mut |chunk| {
                seen.extend(chunk.iter().map(|(line, _)| (line.offset(), line.bytes().to_vec())));
                true
            })
            .expect("no errors");
            let expected: Vec<_> = jsonl::lines(input.as_bytes())
                .map(|line| (line.offset(), line.bytes().to_vec()))
                .collect();
            assert_eq!(seen, expected);
        }
    }

    #[test]
    fn a_reader_that_fails_and_a_listener_that_stops() {
        struct Failing(usize);
        impl Read for Failing {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.0 += 1;
                if self.0 > 100 {
                    return Err(io::Error::other("enough"));
                }
                buffer.fill(b'\n');
                Ok(buffer.len())
            }
        }
        let result = for_each_chunk(&mut Failing(0), 2, &mut |_| true);
        assert_eq!(result.map_err(|error| error.to_string()), Err("enough".to_owned()));
        let mut n_chunks = 0;
        let stop = &mut |_: &Chunk| {
            n_chunks += 1;
            false
        };
        for_each_chunk(&mut Failing(0), 2, stop).expect("stopped before it failed");
        assert_eq!(n_chunks, 1);
    }
}
