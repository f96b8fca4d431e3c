//! Spells values as the document has them: compact, on one line, and valid for Python.
//!
//! In: the text `"\ud800"`, half a surrogate pair. Out: `"\ufffd"`, because Harbor refuses the half.

use core_model::{Input, LineId, LossKind, Output, Tokens, Usage};
use jsonl::{Raw, Style, Text, json_string, respell};

/// Limit on the levels of a value. Python refuses about a thousand.
const MAX_DEPTH: usize = 200;

/// Returns a text of the source as a JSON string. Half a surrogate pair counts as flattened under
/// `field`.
pub(super) fn text(text: Text<'_>, field: &'static str, out: &mut Output) -> String {
    if text.has_lone_surrogate() {
        out.lose(LossKind::Flattened, field);
    }
    json_string(&text.decode())
}

/// Returns a value of the source on one line.
pub(super) fn value(raw: Raw<'_>) -> String {
    let mut written = Vec::new();
    respell(&mut written, raw, Style::Compact);
    // The respeller copies values that are nested too deeply.
    for byte in &mut written {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    String::from_utf8_lossy(&written).into_owned()
}

/// Returns whether Python reads a value and writes the same one: it nests not too deeply, no number is
/// too large for it, which Python would write as `Infinity`, and no text has half a surrogate pair, which
/// Harbor's models replace.
pub(super) fn is_plain(raw: Raw<'_>) -> bool {
    if has_lone_surrogate(raw.as_str()) {
        return false;
    }
    let (mut depth, mut in_string, mut is_escaped) = (0usize, false, false);
    let text = raw.as_str();
    let mut number: Option<usize> = None;
    for (at, byte) in text.bytes().enumerate() {
        let is_of_number =
            !in_string && matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        match (is_of_number, number) {
            (true, None) => number = Some(at),
            (false, Some(start)) => {
                number = None;
                if is_infinite(text.get(start..at).unwrap_or_default()) {
                    return false;
                }
            }
            _ => {}
        }
        match byte {
            _ if in_string => {
                in_string = is_escaped || byte != b'"';
                is_escaped = !is_escaped && byte == b'\\';
            }
            b'"' => in_string = true,
            b'{' | b'[' => depth = depth.saturating_add(1),
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return false;
        }
    }
    let last = number.and_then(|start| text.get(start..)).unwrap_or_default();
    !is_infinite(last)
}

/// Returns whether a string in a value has half a surrogate pair.
fn has_lone_surrogate(json: &str) -> bool {
    let unit = |escape: &str| u16::from_str_radix(escape.strip_prefix('u')?.get(..4)?, 16).ok();
    let mut rest = json;
    while let Some((_, after)) = rest.split_once('\\') {
        let low = after.get(5..).and_then(|next| unit(next.strip_prefix('\\')?));
        rest = match (unit(after), low) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => after.get(11..).unwrap_or_default(),
            (Some(0xd800..=0xdfff), _) => return true,
            // The escape of one character, such as a backslash.
            _ => after.get(1..).unwrap_or_default(),
        };
    }
    false
}

/// Returns whether a number with an exponent is too large for a float.
fn is_infinite(number: &str) -> bool {
    let has_exponent = number.contains(['e', 'E', '.']) && number.len() > 1;
    has_exponent && number.parse::<f64>().is_ok_and(f64::is_infinite)
}

/// Writes the member `extra` with some members, and marks it as the place of the carry: Harbor
/// refuses members that it does not know elsewhere.
pub(super) fn put_extra(line: LineId, members: &str, out: &mut Output) {
    if members.is_empty() {
        return out.mark_carry(line, ",\"extra\":{", "}");
    }
    out.put(line, ",\"extra\":{");
    out.put(line, members);
    out.mark_carry(line, ",", "");
    out.put(line, "}");
}

/// Returns the arguments of a call: an object. Another input becomes the member `input`.
pub(super) fn arguments(input: Input<'_>, out: &mut Output) -> String {
    let written = input.json();
    let raw = written.raw();
    let is_object = raw.as_str().starts_with('{');
    if is_object && is_plain(raw) {
        return value(raw);
    }
    out.lose(LossKind::Flattened, "tool_use.input");
    match is_plain(raw) {
        true => format!("{{\"input\":{}}}", value(raw)),
        false => format!("{{\"input\":{}}}", json_string(raw.as_str())),
    }
}

/// Returns the metrics of a step.
pub(super) fn metrics(tokens: Tokens) -> String {
    metrics_with(tokens, "")
}

/// Returns the metrics of a step. The members of the API's usage that ATIF has no place for are in
/// `extra`.
pub(super) fn metrics_of(usage: &Usage<'_>) -> String {
    if !usage.is_of_api() {
        return metrics(usage.tokens());
    }
    let mut extra = String::new();
    for (key, member) in usage.value().members() {
        let is_held = HELD.iter().any(|name| key.is(name)) && member.raw().as_u64().is_some();
        let is_count = key.is(WRITTEN) && member.raw().as_u64().is_some();
        if is_held || is_count || !is_plain(member.raw()) {
            continue;
        }
        extra.push(',');
        extra.push_str(&json_string(&key.decode()));
        extra.push(':');
        extra.push_str(&value(member.raw()));
    }
    metrics_with(usage.tokens(), &extra)
}

/// The members of a usage that are members of the metrics.
const HELD: [&str; 3] = ["input_tokens", "output_tokens", "cache_read_input_tokens"];

/// The tokens that were written to the cache, which are part of the prompt's.
const WRITTEN: &str = "cache_creation_input_tokens";

fn metrics_with(tokens: Tokens, others: &str) -> String {
    let Tokens { output, cache_read, cache_creation, .. } = tokens;
    let prompt = prompt_tokens(tokens);
    let others = others.strip_prefix(',').map_or_else(String::new, |others| format!("{others},"));
    format!(
        "{{\"prompt_tokens\":{prompt},\"completion_tokens\":{output},\"cached_tokens\":{cache_read},\"extra\":{{{others}\"{WRITTEN}\":{cache_creation}}}}}"
    )
}

/// Returns the tokens of a prompt: with the cached ones.
pub(super) fn prompt_tokens(tokens: Tokens) -> u64 {
    tokens.input.saturating_add(tokens.cache_read).saturating_add(tokens.cache_creation)
}

#[cfg(test)]
mod tests {
    use super::has_lone_surrogate;

    #[test]
    fn half_a_surrogate_pair_is_found() {
        for (json, expected) in [
            (r#"{"a":"\ud83c\udf89","b":"\\ud800"}"#, false),
            (r#"{"\ud800":1}"#, true),
            (r#"["\ud83c\ud83c\udf89"]"#, true),
            (r#"["\udc00\ud800"]"#, true),
            (r#"["\ud83c\u0041"]"#, true),
            (r#"["\ud8"#, false),
            (r#"["é\n\u00e9"]"#, false),
        ] {
            assert_eq!(has_lone_surrogate(json), expected, "{json}");
        }
    }
}
