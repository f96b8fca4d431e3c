//! Reading a large source on several cores: chunks are scanned side by side and taken in order.

use std::{
    io::{self, Read},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
};

use jsonl::{Chunk, Scanner};

/// The bytes of a chunk, but for what the last line has more.
const CHUNK: usize = 256 * 1024;

/// The chunks that may wait before and behind each scanner: the reader does not run away.
const MAX_WAITING: usize = 2;

/// Calls `each` with the chunks of a reader in order, until it returns false; `n_scanners` threads
/// scan them.
pub(crate) fn for_each_chunk<R: Read + Send>(
    reader: &mut R,
    n_scanners: usize,
    each: &mut dyn FnMut(&Chunk) -> bool,
) -> io::Result<()> {
    thread::scope(|scope| {
        let (mut to_scan, mut scanned) = (Vec::new(), Vec::new());
        for _ in 0..n_scanners.max(1) {
            let (sender, unscanned) = sync_channel(MAX_WAITING);
            let (done, receiver) = sync_channel(MAX_WAITING);
            to_scan.push(sender);
            scanned.push(receiver);
            scope.spawn(move || scan_all(&unscanned, &done));
        }
        scope.spawn(move || read_all(reader, &to_scan));
        // What the reader deals out in turn is collected in turn: no chunk needs a number.
        for receiver in scanned.iter().cycle() {
            match receiver.recv() {
                Ok(Ok(chunk)) if each(&chunk) => {}
                Ok(Err(error)) => return Err(error),
                // Enough, or the end; the threads see that nobody listens.
                Ok(Ok(_)) | Err(_) => break,
            }
        }
        Ok(())
    })
}

type Bytes = io::Result<(Vec<u8>, u64)>;

fn scan_all(unscanned: &Receiver<Bytes>, done: &SyncSender<io::Result<Chunk>>) {
    let mut scanner = Scanner::default();
    for bytes in unscanned {
        let chunk = bytes.map(|(bytes, offset)| Chunk::scan(bytes, offset, &mut scanner));
        if done.send(chunk).is_err() {
            return;
        }
    }
}

fn read_all<R: Read>(reader: &mut R, to_scan: &[SyncSender<Bytes>]) {
    let mut rest = Vec::new();
    let mut offset = 0;
    for sender in to_scan.iter().cycle() {
        let bytes = match read_chunk(reader, &mut rest) {
            Ok(bytes) if bytes.is_empty() => return,
            Ok(bytes) => {
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

/// Reads whole lines; `rest` is the start of a line that the last chunk left over.
fn read_chunk<R: Read>(reader: &mut R, rest: &mut Vec<u8>) -> io::Result<Vec<u8>> {
    let mut bytes = std::mem::take(rest);
    loop {
        let searched = bytes.len();
        // One byte more than is read, or the vector grows to find that there is no more.
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
