//! Finds lines that a reader of the stream cannot use. Codex reads no streams.

use core_model::{Checker, Findings, Place, Severity};
use jsonl::{Line, Value};

use super::{KINDS, item::Item};

/// Creates a checker for a stream.
pub(crate) fn checker() -> Box<dyn Checker> {
    Box::<StreamChecker>::default()
}

#[derive(Debug, Default)]
struct StreamChecker;

impl Checker for StreamChecker {
    fn line(&mut self, line: &Line<'_>, value: jsonl::Result<Value<'_>>, out: &mut Findings<'_>) {
        if line.bytes().trim_ascii().is_empty() {
            return;
        }
        let value = match value {
            Ok(value) => value,
            Err(error) => {
                let place = Place { offset: error.offset, ..out.place };
                let message = format!("{}: a reader of the stream stops here", error.kind);
                return out.add(place, Severity::Stops, "json", message.into());
            }
        };
        let Some(kind) = value.get("type").and_then(|kind| kind.text()) else {
            return out.warns("type", "`type` is missing or no string: readers ignore the line");
        };
        if !kind.is("error") && !KINDS.iter().any(|name| kind.is(name)) {
            let message = format!("the type `{}` is unknown: readers ignore it", kind.decode());
            return out.warns("type", message);
        }
        if kind.body().starts_with("item.") && Item::decode(value).is_none() {
            out.warns("item", "`item` has no `id` and `type`: readers cannot place it");
        }
    }

    fn finish(&mut self, _: &mut Findings<'_>) {}
}
