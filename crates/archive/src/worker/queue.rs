//! A queue of units, filled while the plan is still being read.

use std::{
    io::{self, Read},
    sync::{
        Mutex, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

use core_model::system_words;
use jsonl::Stream;

use super::{
    explained, metered,
    planned::{Malformed, Planned},
};

/// Limit on waiting units.
const MAX_WAITING: usize = 256;

/// A selection of lines of a plan: each `of`-th from `first` on, counted from 0.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Shard {
    /// The first line.
    pub first: u64,
    /// The distance between lines.
    pub of: u64,
}

impl Shard {
    /// Parses `I/N`, such as `1/8`. `I` counts from 1.
    ///
    /// # Errors
    ///
    /// Returns a message for the user if the text is not a shard.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(first, of)| {
            Some((first.parse::<u64>().ok()?.checked_sub(1)?, of.parse::<u64>().ok()?))
        });
        match parts {
            Some((first, of)) if first < of => Ok(Self { first, of }),
            _ => Err("I/N is expected, with I from 1 to N, such as 1/8".to_owned()),
        }
    }

    fn has(self, line_idx: u64) -> bool {
        line_idx % self.of == self.first
    }
}

/// A parsed line of a plan; or its number, from 1, and the reason why it is not a unit.
pub type Line = Result<Planned, (u64, Malformed)>;

/// The queue of units.
pub struct Queue {
    lines: Mutex<Receiver<io::Result<Line>>>,
}

impl Queue {
    /// Starts reading a plan, on a thread of its own.
    ///
    /// # Errors
    ///
    /// Returns an error if the thread cannot be started.
    pub fn read(plan: impl Read + Send + 'static, shard: Option<Shard>) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(MAX_WAITING);
        // If the worker stops early, this thread lives until the process ends.
        let started = thread::Builder::new().spawn(move || {
            let result = read(plan, shard, &sender);
            if let Err(error) = result {
                _ = sender.send(Err(error));
            }
        });
        match started {
            Ok(_) => Ok(Self { lines: Mutex::new(receiver) }),
            Err(error) => {
                let words = system_words(&error);
                let message = format!("a thread that reads the plan could not be started: {words}");
                Err(io::Error::new(error.kind(), message))
            }
        }
    }

    /// Waits for a unit, and takes further waiting ones: at most `max_units`, and not many more
    /// bytes than `max_bytes`. Returns an empty list at the end.
    ///
    /// # Errors
    ///
    /// Returns an error if the plan cannot be read.
    pub fn take(&self, max_units: usize, max_bytes: u64) -> io::Result<Vec<Line>> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut taken, mut n_bytes) = (Vec::new(), 0_u64);
        while taken.len() < max_units && n_bytes < max_bytes {
            let next = match taken.is_empty() {
                true => lines.recv().ok(),
                false => lines.try_recv().ok(),
            };
            let Some(line) = next else { break };
            let line = line?;
            // A stranger's plan may have any number.
            n_bytes = line.as_ref().map_or(0, |planned| planned.bytes).saturating_add(n_bytes);
            taken.push(line);
        }
        Ok(taken)
    }
}

fn read(
    plan: impl Read,
    shard: Option<Shard>,
    to: &SyncSender<io::Result<Line>>,
) -> io::Result<()> {
    let mut stream = Stream::new(metered(plan));
    let (mut number, mut line_idx) = (0, 0);
    while let Some(line) = stream.next().map_err(explained)? {
        number += 1;
        if line.is_blank() {
            continue;
        }
        line_idx += 1;
        if shard.is_some_and(|shard| !shard.has(line_idx - 1)) {
            continue;
        }
        let planned = Planned::parse(line.bytes()).map_err(|why| (number, why));
        if to.send(Ok(planned)).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_take_each_line_once() {
        let shards = ["1/3", "2/3", "3/3"].map(|text| Shard::parse(text).expect("a shard"));
        for line_idx in 0..10 {
            assert_eq!(shards.iter().filter(|shard| shard.has(line_idx)).count(), 1);
        }
        for text in ["", "0/3", "4/3", "1", "1/0", "-1/2", "1/2/3"] {
            assert!(Shard::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_no_unit_is_told_with_its_line() {
        let queue = Queue::read(&b"\n{}\nx\n{\"v\":1,\"subs\":[],\"options\":[]}\n"[..], None);
        let queue = queue.expect("a thread");
        let mut lines = Vec::new();
        while let Ok(mut taken) = queue.take(1, 1)
            && !taken.is_empty()
        {
            lines.append(&mut taken);
        }
        let lacks = Malformed::Lacks("id");
        let expected = [(2, Malformed::Version), (3, Malformed::NotJson), (4, lacks)];
        assert_eq!(lines, expected.map(Err));
    }

    #[test]
    fn an_endless_line_is_refused_and_sizes_do_not_overflow() {
        let queue = Queue::read(io::repeat(0), None).expect("a thread");
        let error = queue.take(9, 9).expect_err("no plan").to_string();
        assert!(error.starts_with("a line has more than 65536 bytes: it is no unit"), "{error}");
        let start = r#"{"v":1,"id":"a","main":"/a","subs":[],"etag":"","root":"/o","out":"/o/a""#;
        let unit =
            |bytes: u64| format!("{start},\"options\":[],\"digest\":\"0\",\"bytes\":{bytes}}}\n");
        let plan = [unit(u64::MAX - 1), unit(u64::MAX - 1)].concat();
        let queue = Queue::read(io::Cursor::new(plan), None).expect("a thread");
        let mut n_taken = 0;
        while let Ok(taken) = queue.take(9, u64::MAX)
            && !taken.is_empty()
        {
            n_taken += taken.len();
        }
        assert_eq!(n_taken, 2);
    }
}
