//! Cuts a record with more values than its index has room for into portions, which have indexes.
//!
//! In: `{"role":"a","parts":[1,2,3,4]}`, whose list is not indexed. Out: `{"role":"a","parts":[]}`, and then the record
//! with some items at a time: `{"role":"a","parts":[1,2]}` and `{"role":"a","parts":[3,4]}`.

use std::ops::Range;

use core_model::{Event, Format};
use jsonl::{Raw, Scanner, Value};

use super::MEMBER;

/// The bytes of items in a portion, unless the rest of the record is longer.
const MIN_PORTION: usize = 256 * 1024;

/// The shortest list that is cut. A list with a sixteenth of the values that a line may have is longer.
const MIN_LIST: usize = 64 * 1024;

/// Limit on unindexed objects in each other whose lists are cut.
const MAX_OBJECTS: usize = 8;

/// Returns whether a record has values that are not indexed.
pub(super) fn is_unread(record: Value<'_>) -> bool {
    record.oddities().too_many_values
}

/// Calls `each` with the events of a record until it returns false; if `is_whole`, of a record with too many values with
/// the events of its portions. Returns false if that stopped it, or if not all values are in portions.
pub(super) fn each_event(
    format: &Format,
    record: Value<'_>,
    is_whole: bool,
    each: &mut dyn FnMut(&Event<'_>) -> bool,
) -> bool {
    if !is_whole || !is_unread(record) {
        return format.for_each_event(record, each);
    }
    each_portion(record, &mut |portion| format.for_each_event(portion, &mut *each))
}

/// Calls `each` with the record without the items of its long lists, and then with its portions, until it returns
/// false. All are without a carry. Returns false if that stopped it, or if not all values are in portions.
pub(super) fn each_portion(record: Value<'_>, each: &mut dyn FnMut(Value<'_>) -> bool) -> bool {
    let mut cutter = Cutter::new(record);
    let n_items: usize = cutter.lists.iter().map(|(range, _)| range.len()).sum();
    let max_bytes = MIN_PORTION.max(cutter.text.len().saturating_sub(n_items));
    if !cutter.emit(each) {
        return false;
    }
    let mut n_bytes = 0;
    for (n, list) in cutter.lists_as_written().into_iter().enumerate() {
        for item in list.items() {
            let item = item.as_str();
            if n_bytes > 0 && n_bytes + item.len() > max_bytes {
                if !cutter.emit(each) {
                    return false;
                }
                n_bytes = 0;
            }
            cutter.push(n, item);
            n_bytes += item.len() + 1;
        }
    }
    n_bytes == 0 || cutter.emit(each)
}

/// A record, and the next portion of it.
struct Cutter<'r> {
    text: &'r str,
    /// The long lists and the carry, in the order of the record.
    lists: Vec<(Range<usize>, Raw<'r>)>,
    /// The items of each list in the next portion.
    items: Vec<String>,
    portion: String,
    scanner: Scanner,
}

impl<'r> Cutter<'r> {
    fn new(record: Value<'r>) -> Self {
        let text = record.raw().as_str();
        let mut raws = Vec::new();
        add_lists(record, &mut raws);
        let range = |raw: &Raw<'_>| {
            let raw = raw.as_str();
            let start = (raw.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
            start..start + raw.len()
        };
        let lists: Vec<_> = raws.into_iter().map(|raw| (range(&raw), raw)).collect();
        let items = vec![String::new(); lists.len()];
        Self { text, lists, items, portion: String::new(), scanner: Scanner::default() }
    }

    fn lists_as_written(&self) -> Vec<Raw<'r>> {
        self.lists.iter().map(|(_, raw)| *raw).collect()
    }

    /// Adds an item of a list to the next portion.
    fn push(&mut self, list: usize, item: &str) {
        let Some(items) = self.items.get_mut(list) else { return };
        if !items.is_empty() {
            items.push(',');
        }
        items.push_str(item);
    }

    /// Calls `each` with the next portion, and starts an empty one. Returns false if `each` does, or if the portion has
    /// too many values.
    fn emit(&mut self, each: &mut dyn FnMut(Value<'_>) -> bool) -> bool {
        self.portion.clear();
        let mut at = 0;
        for ((range, raw), items) in self.lists.iter().zip(&mut self.items) {
            self.portion.push_str(self.text.get(at..range.start).unwrap_or_default());
            let (start, end) = if raw.as_text().is_some() { ("\"", "\"") } else { ("[", "]") };
            self.portion.extend([start, items, end]);
            items.clear();
            at = range.end;
        }
        self.portion.push_str(self.text.get(at..).unwrap_or_default());
        match self.scanner.scan_slice(self.portion.as_bytes(), 0) {
            Ok(portion) => !is_unread(portion) && each(portion),
            Err(_) => false,
        }
    }
}

/// Adds the long lists of a value, and the strings of carries. Of lists in each other, the inner ones are added.
fn add_lists<'r>(value: Value<'r>, lists: &mut Vec<Raw<'r>>) {
    if !value.is_indexed() {
        return add_unindexed_lists(value.raw(), MAX_OBJECTS, lists);
    }
    let n_lists = lists.len();
    value.items().for_each(|item| add_lists(item, lists));
    // With all items of a list that is nearly too long, a portion would have no room for others.
    let is_long = value.is_array() && value.raw().as_str().len() >= MIN_LIST;
    if is_long && lists.len() == n_lists {
        return lists.push(value.raw());
    }
    for (key, member) in value.members() {
        match key.is(MEMBER) && member.text().is_some() {
            true => lists.push(member.raw()),
            false => add_lists(member, lists),
        }
    }
}

/// Adds the long lists of a value that is not indexed, and the strings of carries. An object with a list of many values is
/// not indexed either: `{"results":[..]}`. `n_more` is the number of objects that may be in each other.
fn add_unindexed_lists<'r>(value: Raw<'r>, n_more: usize, lists: &mut Vec<Raw<'r>>) {
    let text = value.as_str();
    if text.len() < MIN_LIST || n_more == 0 {
        return;
    }
    if text.starts_with('[') {
        return lists.push(value);
    }
    for (key, member) in value.members() {
        match key.is(MEMBER) && member.as_text().is_some() {
            true => lists.push(member),
            false => add_unindexed_lists(member, n_more - 1, lists),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn portions(line: &str) -> (Vec<String>, bool) {
        let mut scanner = Scanner::default();
        let record = scanner.scan_slice(line.as_bytes(), 0).expect("JSON");
        assert!(is_unread(record));
        let mut portions = Vec::new();
        let is_whole = each_portion(record, &mut |portion| {
            portions.push(portion.raw().as_str().to_owned());
            true
        });
        (portions, is_whole)
    }

    #[test]
    fn the_portions_of_a_record_have_all_items_of_its_lists() {
        let many = vec!["1"; 1 << 20].join(", ");
        let line = format!(r#"{{"a":"x","b":[{many}],"c":[[{many}],{{"d":2}}],"_carried":"2F"}}"#);
        let (portions, is_whole) = portions(&line);
        let shell = r#"{"a":"x","b":[],"c":[[],{"d":2}],"_carried":""}"#;
        assert!(is_whole && portions[0] == shell);
        assert!(portions.iter().all(|it| it.len() < 2 * MIN_PORTION && it.starts_with("{\"a\"")));
        let n_ones: usize = portions.iter().map(|it| it.matches('1').count()).sum();
        assert_eq!(n_ones, 2 << 20);
        assert!((9..20).contains(&portions.len()), "{}", portions.len());
    }

    /// A list in an object that is not indexed is cut as well: no portion has all of two long lists.
    #[test]
    fn the_lists_of_a_long_object_are_cut() {
        let many = vec!["1"; 1 << 19].join(", ");
        let line = format!(
            r#"{{"a":[{many}],"o":{{"r":[{many}],"n":1,"_carried":"2F"}},"z":{{"y":{{"x":[{many}]}}}}}}"#
        );
        let (portions, is_whole) = portions(&line);
        let shell = r#"{"a":[],"o":{"r":[],"n":1,"_carried":""},"z":{"y":{"x":[]}}}"#;
        assert!(is_whole && portions[0] == shell, "{}", portions[0].len());
        assert!(portions.iter().all(|it| it.len() < 2 * MIN_PORTION));
        let n_ones: usize =
            portions.iter().map(|it| it.replace("\"n\":1", "").matches('1').count()).sum();
        assert_eq!(n_ones, 3 << 19);
    }

    /// Only lists are cut.
    #[test]
    fn a_long_object_is_in_no_portion() {
        let members: Vec<String> = (0..1 << 19).map(|n| format!("\"{n}\":{n}")).collect();
        let (portions, is_whole) = portions(&format!(r#"{{"a":{{{}}}}}"#, members.join(",")));
        assert!(portions.is_empty() && !is_whole);
    }
}
