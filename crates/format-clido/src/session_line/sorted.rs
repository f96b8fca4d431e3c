//! Writes values as clido does, which parses them into trees with sorted keys.
//!
//! In: `{"b":1.50,"a":"\u00e9"}`. Out: `{"a":"é","b":1.5}`.

use std::{borrow::Cow, collections::BTreeMap};

use jsonl::{Kind, MAX_SERDE_DEPTH, Raw, Scanner, Style, Value, push_string};

/// Appends a value: keys sorted by bytes, the last of duplicate keys, numbers as a 64-bit integer
/// or a float, strings with the fewest escapes.
pub(crate) fn push_sorted(out: &mut Vec<u8>, raw: Raw<'_>) {
    push_raw(out, raw, MAX_SERDE_DEPTH);
}

/// Scans and appends a value. The index of the outer value does not reach deeply nested values.
fn push_raw(out: &mut Vec<u8>, raw: Raw<'_>, depth: usize) {
    match Scanner::default().scan_raw(raw) {
        Ok(value) => push(out, value, depth),
        Err(_) => out.extend_from_slice(raw.as_str().as_bytes()),
    }
}

/// Appends a scanned value. The recursion ends at the depth to which clido loads values.
fn push(out: &mut Vec<u8>, value: Value<'_>, depth: usize) {
    let raw = value.raw();
    let Some(inner_depth) = depth.checked_sub(1) else {
        return out.extend_from_slice(raw.as_str().as_bytes());
    };
    let is_indexed = value.items().next().is_some() || value.members().next().is_some();
    match value.kind() {
        Kind::String => {
            let text = value.text().map(|text| text.decode()).unwrap_or_default();
            push_string(out, &text, Style::Compact);
        }
        Kind::Number => push_number(out, raw.as_str()),
        Kind::Array | Kind::Object if !is_indexed && raw.as_str().len() > 2 => {
            push_unindexed(out, raw, depth);
        }
        Kind::Array => {
            push_all(out, b"[]", value.items(), |out, item| push(out, item, inner_depth));
        }
        Kind::Object => {
            let members: BTreeMap<Cow<'_, str>, Value<'_>> =
                value.members().map(|(key, value)| (key.decode(), value)).collect();
            push_all(out, b"{}", members, |out, (key, value)| {
                push_string(out, &key, Style::Compact);
                out.push(b':');
                push(out, value, inner_depth);
            });
        }
        Kind::Null | Kind::True | Kind::False => out.extend_from_slice(raw.as_str().as_bytes()),
    }
}

/// Appends a container without an index: one that is too deep or has only white space.
fn push_unindexed(out: &mut Vec<u8>, raw: Raw<'_>, depth: usize) {
    let within = raw.as_str().strip_prefix(['[', '{']);
    let within = within.and_then(|within| within.strip_suffix([']', '}'])).unwrap_or_default();
    if within.bytes().all(|byte| byte.is_ascii_whitespace()) {
        let brackets: [u8; 2] = if raw.as_str().starts_with('[') { *b"[]" } else { *b"{}" };
        return out.extend_from_slice(&brackets);
    }
    push_raw(out, raw, depth);
}

fn push_all<T>(
    out: &mut Vec<u8>,
    [open, close]: &[u8; 2],
    items: impl IntoIterator<Item = T>,
    mut push_item: impl FnMut(&mut Vec<u8>, T),
) {
    out.push(*open);
    for (item_idx, item) in items.into_iter().enumerate() {
        if item_idx > 0 {
            out.push(b',');
        }
        push_item(out, item);
    }
    out.push(*close);
}

fn push_number(out: &mut Vec<u8>, written: &str) {
    let is_float = written.contains(['.', 'e', 'E']) || written == "-0";
    let fits = written.parse::<u64>().is_ok() || written.parse::<i64>().is_ok();
    match written.parse::<f64>() {
        Ok(number) if is_float || !fits => push_float(out, number),
        _ => out.extend_from_slice(written.as_bytes()),
    }
}

/// Appends a finite float with the fewest digits, as serde_json does: `1e-6`, `2.0`.
pub(super) fn push_float(out: &mut Vec<u8>, number: f64) {
    let scientific = format!("{number:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let text = if (-5..16).contains(&exponent) {
        let fixed = format!("{number}");
        if fixed.contains('.') { fixed } else { fixed + ".0" }
    } else {
        format!("{mantissa}e{exponent:+}")
    };
    out.extend_from_slice(text.as_bytes());
}
