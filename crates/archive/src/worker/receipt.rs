//! A receipt: a line with the result of a unit.

use std::{borrow::Cow, collections::BTreeMap, fmt, io, marker::PhantomData, time::Duration};

use core_model::{Formats, LossKind};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::{
    TOOL, VERSION,
    planned::{Malformed, Planned},
};
use crate::{
    exit::Status,
    file_report::{Figures, FileReport},
    journal::JournalLine,
    record::{self, Body, Hash, Member, Written, hex},
    status::FileStatus,
};

/// The group of files that are up to date.
const UP_TO_DATE: &str = "UpToDate";

/// The result of a unit.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ReceiptStatus {
    /// It was converted.
    Ok,
    /// Nothing was to be done: the unit is up to date, not a session, or equal to another.
    Skip,
    /// At least one of its files was not converted.
    Fail,
}

impl ReceiptStatus {
    /// Returns the name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ReceiptStatus::Ok => "ok",
            ReceiptStatus::Skip => "skip",
            ReceiptStatus::Fail => "fail",
        }
    }

    /// Returns the result with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        [ReceiptStatus::Ok, ReceiptStatus::Skip, ReceiptStatus::Fail]
            .into_iter()
            .find(|status| status.name() == name)
    }

    fn of(files: &[FileReport]) -> Self {
        let is_refused = |file: &FileReport| file.is_failure() || file.status.is_left();
        let is_idle = |file: &FileReport| {
            let is_done_elsewhere =
                matches!(file.status, FileStatus::SameAsAnother | FileStatus::NotASession);
            file.is_up_to_date || file.status.is_in_session() || is_done_elsewhere
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
    /// The report on each file, the main file first.
    pub files: Vec<FileReport>,
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
        let (files, etag) = (Vec::new(), planned.etag.clone());
        let error = Some(error.to_owned());
        Self { planned, files, error, in_bytes: 0, etag, written: Vec::new() }
    }

    /// Returns the result of the unit.
    pub(crate) fn status(&self) -> ReceiptStatus {
        if self.error.is_some() { ReceiptStatus::Fail } else { ReceiptStatus::of(&self.files) }
    }

    /// Returns the line with its newline.
    pub(crate) fn line(&self) -> Vec<u8> {
        let Self { planned, files, error, in_bytes, etag, written } = self;
        let sum = |of: fn(&Figures) -> u64| files.iter().map(|it| of(&it.figures)).sum::<u64>();
        let status = self.status();
        let mut lost: BTreeMap<&'static str, u64> = BTreeMap::new();
        for (kind, _, n) in files.iter().flat_map(|file| &file.figures.losses) {
            *lost.entry(kind.name()).or_default() += n;
        }
        let outputs = outputs(written);
        let problem =
            || files.iter().filter(|it| it.exit != Status::Done).find_map(|it| it.problems.first());
        let error = error.as_ref();
        record::line(record::write_ascii(&Line {
            v: VERSION,
            id: Body(&planned.id),
            status,
            in_bytes: *in_bytes,
            out_bytes: outputs.iter().map(|output| output.length).sum(),
            lines: sum(|it| it.lines_in),
            events: sum(|it| it.n_events),
            bad: sum(|it| it.n_damaged),
            lost,
            ms: millis(files.first().map_or(Duration::ZERO, |main| main.time)),
            sha256: (status != ReceiptStatus::Fail && !outputs.is_empty())
                .then(|| sha256_of(&outputs)),
            tool: TOOL,
            etag,
            digest: Hash(planned.digest),
            error: error.or_else(|| problem().filter(|_| status == ReceiptStatus::Fail)),
            files: files.iter().map(FileLine::of).collect(),
            written: written.iter().filter_map(|line| record::raw(line)).collect(),
        }))
    }

    /// Returns the line of a unit that cannot be read, which is at this number in its plan.
    pub(crate) fn of_no_unit(number: u64, why: &Malformed) -> Vec<u8> {
        record::line(record::write_ascii(&NoUnitLine {
            v: VERSION,
            id: (),
            status: ReceiptStatus::Fail,
            tool: TOOL,
            error: format!("line {number} is no unit: {why}"),
        }))
    }
}

/// Returns the receipt of a line of a plan that is not a unit, with the number of the line.
pub fn receipt_of_no_unit(number: u64, why: &Malformed) -> Vec<u8> {
    Receipt::of_no_unit(number, why)
}

/// A line, as it is written.
#[derive(Serialize)]
struct Line<'r> {
    v: u64,
    id: Body<&'r str>,
    status: ReceiptStatus,
    in_bytes: u64,
    out_bytes: u64,
    lines: u64,
    events: u64,
    bad: u64,
    lost: BTreeMap<&'static str, u64>,
    ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    tool: &'static str,
    etag: &'r str,
    digest: Hash,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'r String>,
    files: Vec<FileLine<'r>>,
    written: Vec<&'r RawValue>,
}

/// The receipt of a line that is not a unit.
#[derive(Serialize)]
struct NoUnitLine {
    v: u64,
    /// Null.
    id: (),
    status: ReceiptStatus,
    tool: &'static str,
    error: String,
}

/// The report on a file, as it is written.
#[derive(Serialize)]
struct FileLine<'r> {
    end: &'static str,
    verdict: &'static str,
    status: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_in: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines_out: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    damaged: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    losses: Option<Losses<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<bool>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    problems: &'r [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<&'r RawValue>,
}

impl<'r> FileLine<'r> {
    fn of(report: &'r FileReport) -> Self {
        let FileReport { status, figures, .. } = report;
        let if_read = |number: u64| figures.from.map(|_| number);
        Self {
            end: if report.is_up_to_date { UP_TO_DATE } else { status.group() },
            verdict: status.word(),
            status: report.exit as u8,
            from: figures.from,
            bytes_in: if_read(figures.bytes_in),
            lines_out: if_read(figures.lines_out),
            damaged: if_read(figures.n_damaged),
            losses: figures.from.map(|_| Losses(&figures.losses)),
            strict: report.is_refused_for_damage.then_some(true),
            part: (!report.is_main).then_some(true),
            problems: &report.problems,
            report: record::raw(&report.json),
        }
    }
}

/// Losses, as an object: the kind and the field, and the number.
struct Losses<'r>(&'r [(LossKind, Cow<'static, str>, u64)]);

impl Serialize for Losses<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let name = |kind: LossKind, field: &str| format!("{} {field}", kind.name());
        serializer.collect_map(self.0.iter().map(|(kind, field, n)| (name(*kind, field), n)))
    }
}

/// A line, as it is read.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct ReceiptLine<'l> {
    pub(crate) v: Member<u64>,
    #[serde(borrow)]
    pub(crate) id: Member<Written<'l>>,
    #[serde(borrow)]
    pub(crate) status: Member<Written<'l>>,
    pub(crate) ms: Member<u64>,
    #[serde(borrow)]
    pub(crate) sha256: Member<Written<'l>>,
    #[serde(borrow)]
    pub(crate) etag: Member<Written<'l>>,
    #[serde(borrow)]
    pub(crate) digest: Member<Written<'l>>,
    #[serde(borrow)]
    pub(crate) error: Member<Written<'l>>,
    #[serde(borrow)]
    files: Member<&'l RawValue>,
    #[serde(borrow)]
    written: Member<&'l RawValue>,
}

impl<'l> ReceiptLine<'l> {
    /// Calls `each` with the report on each file. They are read one by one: a session may have tens of thousands of
    /// files.
    ///
    /// # Errors
    ///
    /// Returns the first error of `each`.
    pub(crate) fn each_file(
        &self,
        formats: Formats,
        each: &mut dyn FnMut(FileReport) -> io::Result<()>,
    ) -> io::Result<()> {
        each_item(self.files.0, &mut |file: Member<FileRead<'_>>| {
            file.0.and_then(|file| file.report(formats)).map_or(Ok(()), &mut *each)
        })
    }

    /// Calls `each` with each line of the journal.
    ///
    /// # Errors
    ///
    /// Returns the first error of `each`.
    pub(crate) fn each_written(
        &self,
        each: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        each_item(self.written.0, &mut |line: &'l RawValue| each(line.get().as_bytes()))
    }
}

/// Calls `each` with the items of an array. Another value has none, and neither has an array with an item of another type.
fn each_item<'l, T: Deserialize<'l>>(
    array: Option<&'l RawValue>,
    each: &mut dyn FnMut(T) -> io::Result<()>,
) -> io::Result<()> {
    let Some(array) = array else { return Ok(()) };
    let read = |each: &mut dyn FnMut(T) -> io::Result<()>| {
        let mut items = Items { each, result: Ok(()), item: PhantomData };
        let mut deserializer = serde_json::Deserializer::from_str(array.get());
        let is_read = deserializer.deserialize_seq(&mut items).is_ok();
        (is_read, items.result)
    };
    match read(&mut |_| Ok(())) {
        (true, _) => read(each).1,
        (false, _) => Ok(()),
    }
}

/// Receives the items of an array.
struct Items<'e, T> {
    each: &'e mut dyn FnMut(T) -> io::Result<()>,
    /// The first error of `each`.
    result: io::Result<()>,
    item: PhantomData<T>,
}

impl<'l, T: Deserialize<'l>> Visitor<'l> for &mut Items<'_, T> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'l>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element()? {
            if self.result.is_ok() {
                self.result = (self.each)(item);
            }
        }
        Ok(())
    }
}

/// The report on a file, as it is read.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct FileRead<'l> {
    #[serde(borrow)]
    end: Member<Written<'l>>,
    #[serde(borrow)]
    verdict: Member<Written<'l>>,
    status: Member<u64>,
    #[serde(borrow)]
    from: Member<Written<'l>>,
    bytes_in: Member<u64>,
    lines_out: Member<u64>,
    damaged: Member<u64>,
    losses: Member<ReadLosses>,
    strict: Option<IgnoredAny>,
    part: Option<IgnoredAny>,
    #[serde(borrow)]
    problems: Member<Vec<Member<Written<'l>>>>,
    #[serde(borrow)]
    report: Option<&'l RawValue>,
}

impl FileRead<'_> {
    /// Returns the report; `None` if it has no known status.
    pub(crate) fn report(&self, formats: Formats) -> Option<FileReport> {
        let (group, word) = (self.end.decoded()?, self.verdict.decoded()?);
        let is_up_to_date = group == UP_TO_DATE;
        let status = match is_up_to_date {
            true => FileStatus::of_word(&word)?,
            false => FileStatus::of_words(&group, &word)?,
        };
        let from = self.from.decoded().and_then(|from| formats.by_name(&from));
        Some(FileReport {
            is_up_to_date,
            exit: match self.status.0 {
                None | Some(0) => Status::Done,
                Some(1) => Status::Attention,
                Some(_) => Status::Failed,
            },
            is_refused_for_damage: self.strict.is_some(),
            problems: self.problems.texts().map(|text| text.decode().into_owned()).collect(),
            json: self.report.map(|report| report.get().into()).unwrap_or_default(),
            is_main: self.part.is_none(),
            figures: Figures {
                bytes_in: self.bytes_in.0.unwrap_or(0),
                lines_in: 0,
                n_events: 0,
                lines_out: self.lines_out.0.unwrap_or(0),
                n_damaged: self.damaged.0.unwrap_or(0),
                from: from.map(|format| format.name),
                losses: self.losses.0.as_ref().map(|it| it.0.clone()).unwrap_or_default(),
            },
            ..FileReport::new(status)
        })
    }
}

/// Losses that are read, in their order. Unknown kinds are ignored.
struct ReadLosses(Vec<(LossKind, Cow<'static, str>, u64)>);

impl<'de> Deserialize<'de> for ReadLosses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(LossesVisitor)
    }
}

struct LossesVisitor;

impl<'de> Visitor<'de> for LossesVisitor {
    type Value = ReadLosses;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object with numbers")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ReadLosses, A::Error> {
        let mut losses = Vec::new();
        while let Some((name, n)) = map.next_entry::<String, Member<u64>>()? {
            let kinds = [LossKind::Dropped, LossKind::Flattened, LossKind::Invented];
            let loss = name.split_once(' ').and_then(|(kind, field)| {
                let kind = kinds.into_iter().find(|it| it.name() == kind)?;
                Some((kind, Cow::Owned(field.to_owned()), n.0?))
            });
            losses.extend(loss);
        }
        Ok(ReadLosses(losses))
    }
}

/// An output of a unit.
#[derive(Eq, Ord, PartialEq, PartialOrd)]
struct OutputFile {
    /// Its name below the folder, as the body of a JSON string.
    name: String,
    length: u64,
    sha256: String,
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the outputs in lines of the journal, sorted by name.
fn outputs(written: &[Vec<u8>]) -> Vec<OutputFile> {
    let output = |line: &Vec<u8>| {
        let line: JournalLine<'_> = record::read(line)?;
        let (name, sha256) = (line.dst.body()?.to_owned(), line.dst_sha256.body()?.to_owned());
        Some(OutputFile { name, length: line.dst_len.0?, sha256 })
    };
    let mut outputs: Vec<OutputFile> = written.iter().filter_map(output).collect();
    outputs.sort_unstable();
    outputs
}

/// Returns the SHA-256 of the text that `sha256sum` prints for the outputs.
fn sha256_of(outputs: &[OutputFile]) -> String {
    let mut hash = Sha256::new();
    for OutputFile { name, sha256, .. } in outputs {
        hash.update(format!("{sha256}  {name}\n").as_bytes());
    }
    hex(&hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITTEN: &str = concat!(
        r#"{"v":1,"src":"/in/é","dst":"b\udcff","dst_len":5,"dst_sha256":"00ff","#,
        r#""status":"Done"}"#
    );

    fn planned() -> Planned {
        Planned {
            id: "b\\\"é\\udcff.jsonl".into(),
            main: "/in/b.jsonl".into(),
            subs: Vec::new(),
            bytes: 1,
            etag: "ab".into(),
            root: "/out".into(),
            out: "/out/b.jsonl".into(),
            options: Vec::new(),
            digest: 13,
            same_as: None,
            is_taken: false,
        }
    }

    /// Returns reports on a converted file, on one that is refused, and on one that is up to date.
    fn files() -> Vec<FileReport> {
        let losses = vec![
            (LossKind::Dropped, "a b".into(), 2),
            (LossKind::Invented, "é".into(), 3),
            (LossKind::Dropped, "c".into(), 4),
        ];
        let figures = Figures {
            bytes_in: 10,
            lines_in: 2,
            n_events: 1,
            lines_out: 3,
            n_damaged: 1,
            from: Some("clido"),
            losses,
        };
        let converted = FileReport {
            exit: Status::Attention,
            problems: vec!["é: odd\u{1b}".to_owned(), "two".to_owned()],
            json: r#"{"source":"é","n":1}"#.as_bytes().to_vec(),
            figures,
            time: Duration::from_millis(1234),
            ..FileReport::new(FileStatus::DoneWithDamage)
        };
        let refused = FileReport {
            exit: Status::Failed,
            is_refused_for_damage: true,
            is_main: false,
            problems: vec!["it: no".to_owned()],
            ..FileReport::new(FileStatus::Unreadable)
        };
        vec![converted, refused, FileReport::up_to_date(FileStatus::DoneWithLoss)]
    }

    const FILES: [&str; 3] = [
        concat!(
            r#"{"end":"Converted","verdict":"Damaged","status":1,"from":"clido","bytes_in":10,"#,
            r#""lines_out":3,"damaged":1,"losses":{"dropped a b":2,"invented \u00e9":3,"#,
            r#""dropped c":4},"problems":["\u00e9: odd\u001b","two"],"#,
            r#""report":{"source":"é","n":1}}"#
        ),
        concat!(
            r#"{"end":"Refused","verdict":"Damaged","status":2,"strict":true,"part":true,"#,
            r#""problems":["it: no"]}"#
        ),
        r#"{"end":"UpToDate","verdict":"DoneWithLoss","status":0}"#,
    ];

    #[test]
    fn items_are_read_one_by_one_or_not_at_all() {
        let read = |json: &str| {
            let (json, mut items) = (record::raw(json.as_bytes()), Vec::new());
            let result = each_item(json, &mut |item: u64| {
                items.push(item);
                if item == 3 { Err(io::Error::other("three")) } else { Ok(()) }
            });
            (items, result.is_ok())
        };
        assert_eq!(read("[1,2]"), (vec![1, 2], true));
        assert_eq!(read("[1,3,4]"), (vec![1, 3], false));
        for json in ["[1,\"a\"]", "{\"a\":1}", "null", "[]", "7"] {
            assert_eq!(read(json), (vec![], true), "{json}");
        }
    }

    fn said(receipt: &Receipt<'_>) -> String {
        String::from_utf8(receipt.line()).expect("UTF-8").replace(TOOL, "TOOL")
    }

    #[test]
    fn receipts_are_spelled_as_ever() {
        let planned = planned();
        let (etag, written) = ("cd".into(), vec![WRITTEN.as_bytes().to_vec()]);
        let mut files = files();
        let refused = files.remove(1);
        let mut receipt =
            Receipt { planned: &planned, files, error: None, in_bytes: 7, etag, written };
        let start = |status| {
            format!(
                r#"{{"v":1,"id":"b\"é\udcff.jsonl","status":"{status}","in_bytes":7,"out_bytes":5,"#
            ) + r#""lines":2,"events":1,"bad":1,"lost":{"dropped":6,"invented":3},"ms":1234,"#
        };
        let end = r#""tool":"TOOL","etag":"cd","digest":"000000000000000d","#;
        let sha256 =
            r#""sha256":"4a1cc1c7bb7081a0a44d7fd12f585be4757c096f553e9f8e76cbf0fcc841a36d","#;
        let expected = format!(
            "{}{sha256}{end}\"files\":[{},{}],\"written\":[{WRITTEN}]}}\n",
            start("ok"),
            FILES[0],
            FILES[2]
        );
        assert_eq!(said(&receipt), expected);
        receipt.files.push(refused);
        let expected = format!(
            "{}{end}\"error\":\"\\u00e9: odd\\u001b\",\"files\":[{},{},{}],\"written\":[{WRITTEN}]}}\n",
            start("fail"),
            FILES[0],
            FILES[2],
            FILES[1]
        );
        assert_eq!(said(&receipt), expected);
        let expected = concat!(
            r#"{"v":1,"id":"b\"é\udcff.jsonl","status":"fail","in_bytes":0,"out_bytes":0,"#,
            r#""lines":0,"events":0,"bad":0,"lost":{},"ms":0,"tool":"TOOL","etag":"ab","#,
            r#""digest":"000000000000000d","error":"no \u00e9","files":[],"written":[]}"#,
            "\n"
        );
        assert_eq!(said(&Receipt::failed(&planned, "no é")), expected);
    }
}
