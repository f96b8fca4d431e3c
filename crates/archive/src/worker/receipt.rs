//! A receipt: a line with the result of a unit.

use std::{borrow::Cow, collections::BTreeMap, time::Duration};

use core_model::{Formats, LossKind};
use jsonl::{Scanner, Value};
use sha2::{Digest, Sha256};

use super::{TOOL, VERSION, planned::Planned};
use crate::{
    exit::Status,
    file_report::{Figures, FileEnd, FileReport},
    folder_run::SessionReport,
    journal::hex,
    object::Object,
    status::FileStatus,
};

/// The result of a unit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ReceiptStatus {
    /// It was converted.
    Ok,
    /// Nothing was to be done: the unit is up to date, not a session, or equal to another.
    Skip,
    /// At least one of its files was not converted.
    Fail,
}

impl ReceiptStatus {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            ReceiptStatus::Ok => "ok",
            ReceiptStatus::Skip => "skip",
            ReceiptStatus::Fail => "fail",
        }
    }

    /// Returns the result with this name.
    pub fn named(name: &str) -> Option<Self> {
        [ReceiptStatus::Ok, ReceiptStatus::Skip, ReceiptStatus::Fail]
            .into_iter()
            .find(|word| word.name() == name)
    }

    fn of(files: &[FileReport]) -> Self {
        let is_refused = |file: &FileReport| matches!(file.end, FileEnd::Refused | FileEnd::Left);
        let is_idle = |file: &FileReport| {
            matches!(
                file.end,
                FileEnd::UpToDate | FileEnd::Inside | FileEnd::SameAsAnother | FileEnd::NotOurs
            )
        };
        match files {
            files if files.is_empty() || files.iter().any(is_refused) => ReceiptStatus::Fail,
            files if files.iter().all(is_idle) => ReceiptStatus::Skip,
            _ => ReceiptStatus::Ok,
        }
    }
}

/// The content of a receipt.
#[derive(Debug)]
pub(crate) struct Receipt<'r> {
    pub planned: &'r Planned,
    pub worked: SessionReport,
    /// The error of the unit, if its files have none.
    pub error: Option<String>,
    /// The current size of its files in bytes.
    pub in_bytes: u64,
    /// The current hash of its files' sizes and times.
    pub etag: Box<str>,
    /// The lines of the journal for its outputs.
    pub written: Vec<Vec<u8>>,
}

impl<'r> Receipt<'r> {
    /// Creates the receipt of a unit that failed before it was begun.
    pub(crate) fn failed(planned: &'r Planned, error: &str) -> Self {
        let (worked, etag) = (SessionReport::default(), planned.etag.clone());
        let error = Some(error.to_owned());
        Self { planned, worked, error, in_bytes: 0, etag, written: Vec::new() }
    }

    /// Returns the result of the unit.
    pub(crate) fn word(&self) -> ReceiptStatus {
        if self.error.is_some() {
            ReceiptStatus::Fail
        } else {
            ReceiptStatus::of(&self.worked.files)
        }
    }

    /// Returns the line with its newline.
    pub(crate) fn line(&self) -> Vec<u8> {
        let Self { planned, worked: SessionReport { files, time }, error, in_bytes, etag, written } =
            self;
        let sum = |of: fn(&Figures) -> u64| files.iter().map(|it| of(&it.figures)).sum::<u64>();
        let word = self.word();
        let mut lost: BTreeMap<&str, u64> = BTreeMap::new();
        for (kind, _, n) in files.iter().flat_map(|file| &file.figures.losses) {
            *lost.entry(kind.name()).or_default() += n;
        }
        let outputs = outputs(written);
        let mut line = Object::new();
        line.plain("v", VERSION).body("id", &planned.id).string("status", word.name());
        line.plain("in_bytes", in_bytes);
        line.plain("out_bytes", outputs.iter().map(|(_, length, _)| length).sum::<u64>());
        line.plain("lines", sum(|it| it.lines_in)).plain("events", sum(|it| it.n_events));
        line.plain("bad", sum(|it| it.n_damaged)).object("lost", &counts(&lost));
        line.plain("ms", millis(*time));
        if word != ReceiptStatus::Fail && !outputs.is_empty() {
            line.string("sha256", &sha256_of(&outputs));
        }
        line.string("tool", TOOL).string("etag", etag);
        line.string("digest", &format!("{:016x}", planned.digest));
        let problem =
            || files.iter().filter(|it| it.exit != Status::Done).find_map(|it| it.problems.first());
        if let Some(error) =
            error.as_ref().or_else(|| problem().filter(|_| word == ReceiptStatus::Fail))
        {
            line.string("error", error);
        }
        line.values("files", files.iter().map(file));
        line.values("written", written);
        line.line()
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn counts(of: &BTreeMap<&str, u64>) -> Object {
    let mut counts = Object::new();
    for (name, n) in of {
        counts.plain(name, n);
    }
    counts
}

/// Returns the name, the length and the SHA-256 of each output, sorted by name.
fn outputs(written: &[Vec<u8>]) -> Vec<(String, u64, String)> {
    let mut scanner = Scanner::default();
    let output = |line: &Vec<u8>| {
        let value = scanner.scan_slice(line, 0).ok()?;
        let text = |name| Some(value.get(name)?.text()?.body().to_owned());
        Some((text("dst")?, value.get("dst_len")?.raw().as_u64()?, text("dst_sha256")?))
    };
    let mut outputs: Vec<_> = written.iter().filter_map(output).collect();
    outputs.sort_unstable();
    outputs
}

/// Returns the SHA-256 of the text that `sha256sum` prints for the outputs.
fn sha256_of(outputs: &[(String, u64, String)]) -> String {
    let mut hash = Sha256::new();
    for (name, _, sha256) in outputs {
        hash.update(format!("{sha256}  {name}\n").as_bytes());
    }
    hex(&hash.finalize())
}

/// Returns the report on a file, as [`settled`] reads it.
fn file(settled: &FileReport) -> Vec<u8> {
    let FileReport { end, status, exit, figures, problems, json, .. } = settled;
    let mut file = Object::new();
    file.string("end", end.name()).string("verdict", status.name());
    file.plain("status", *exit as u8);
    if let Some(from) = figures.from {
        file.string("from", from).plain("bytes_in", figures.bytes_in);
        file.plain("lines_out", figures.lines_out).plain("damaged", figures.n_damaged);
        let mut losses = Object::new();
        for (kind, field, n) in &figures.losses {
            losses.plain(&format!("{} {field}", kind.name()), n);
        }
        file.object("losses", &losses);
    }
    if settled.is_refused_for_damage {
        file.plain("strict", true);
    }
    if !settled.is_main {
        file.plain("part", true);
    }
    if !problems.is_empty() {
        file.strings("problems", problems.iter().map(String::as_str));
    }
    if !json.is_empty() {
        file.verbatim("report", json);
    }
    let mut line = file.line();
    line.pop();
    line
}

/// Parses the report on a file.
pub(crate) fn settled(formats: Formats, file: Value<'_>) -> Option<FileReport> {
    let text = |name| file.get(name)?.text();
    let number = |name| file.get(name).and_then(|value| value.raw().as_u64()).unwrap_or(0);
    let losses = file.get("losses").map(|it| it.members()).into_iter().flatten();
    let loss = |(name, n): (jsonl::Text<'_>, Value<'_>)| {
        let name = name.decode();
        let (kind, field) = name.split_once(' ')?;
        let kind = [LossKind::Dropped, LossKind::Flattened, LossKind::Invented]
            .into_iter()
            .find(|it| it.name() == kind)?;
        Some((kind, Cow::Owned(field.to_owned()), n.raw().as_u64()?))
    };
    let problems = file.get("problems").map(|it| it.items()).into_iter().flatten();
    Some(FileReport {
        end: FileEnd::named(&text("end")?.decode())?,
        status: FileStatus::named(&text("verdict")?.decode())?,
        exit: match number("status") {
            0 => Status::Done,
            1 => Status::Attention,
            _ => Status::Failed,
        },
        is_refused_for_damage: file.get("strict").is_some(),
        problems: problems.filter_map(|it| Some(it.text()?.decode().into_owned())).collect(),
        summary: Vec::new(),
        json: file.get("report").map(|it| it.raw().as_str().into()).unwrap_or_default(),
        output: None,
        stray: None,
        is_main: file.get("part").is_none(),
        figures: Figures {
            bytes_in: number("bytes_in"),
            lines_in: 0,
            n_events: 0,
            lines_out: number("lines_out"),
            n_damaged: number("damaged"),
            from: text("from").and_then(|from| formats.by_name(&from.decode())).map(|it| it.name),
            losses: losses.filter_map(loss).collect(),
        },
    })
}
