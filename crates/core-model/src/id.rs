//! Derives ids from the source, for targets that need ids that the source does not have. The same
//! source gives the same ids.
//!
//! In: the kind `a` and the name `b`. Out: `9b0fc70b-6bde-5cba-8623-0929b490f72b`.

use crate::{Sha256, sha1::sha1};

const NAMESPACE: u128 = 0xe72307bb_b2a0_58c1_a02d_4f3cff301f10;
const BASE_62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Number of digits of one division, as many as fit in a word.
const DIGITS: u32 = 4;
const BASE: u64 = 62_u64.pow(DIGITS);

/// A digest of a source line, so that lines of two files of the same session get different ids. The offset of a
/// line makes its ids unique in one file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LineDigest {
    /// The SHA-256 of the line.
    Whole([u8; 32]),
    /// The FNV-1a hash of its ends and its length.
    Ends([u8; 8]),
}

impl LineDigest {
    fn as_bytes(&self) -> &[u8] {
        match self {
            LineDigest::Whole(hash) => hash,
            LineDigest::Ends(hash) => hash,
        }
    }
}

/// Returns the digest of a whole source line.
pub(crate) fn digest(line: &[u8]) -> LineDigest {
    LineDigest::Whole(Sha256::of(line))
}

/// Number of bytes at each end of a line that the digest of its ends depends on.
const END: usize = 32;

/// Returns the digest of the length and the ends of a source line.
///
/// To hash whole lines takes two thirds of a conversion's instructions, and SHA-256 of the ends alone a fifth.
pub(crate) fn digest_of_ends(line: &[u8]) -> LineDigest {
    let first = line.first_chunk::<END>().map_or(line, <[u8; END]>::as_slice);
    let last = line.last_chunk::<END>().map_or(line, <[u8; END]>::as_slice);
    let length = (line.len() as u64).to_be_bytes();
    let mut hash = FNV_OFFSET;
    for byte in first.iter().chain(last).chain(&length) {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME);
    }
    LineDigest::Ends(hash.to_be_bytes())
}

/// The start and the factor of FNV-1a with 64 bits.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x100_0000_01b3;

/// Returns the UUID of `kind` for block `block_idx` of a source line.
pub(crate) fn uuid(
    kind: &str,
    session_id: &str,
    offset: u64,
    block_idx: usize,
    line: &LineDigest,
) -> String {
    uuid_v5(&name(kind, session_id, offset, block_idx, line))
}

/// Returns the UUID of a name, such as a session id of free text.
pub fn uuid_of_name(kind: &str, name: &str) -> String {
    uuid_v5(&[kind.as_bytes(), b"\0", name.as_bytes()].concat())
}

/// Returns the id of a tool use whose own id a target's API refuses or another tool use has:
/// `toolu_` and 24 digits of a UUID.
///
/// ```
/// let id = core_model::replacement_tool_id("9b0fc70b-6bde-5cba-8623-0929b490f72b");
/// assert_eq!(id, "toolu_9b0fc70b6bde5cba86230929");
/// assert!(core_model::is_replacement_tool_id(&id));
/// assert!(!core_model::is_replacement_tool_id("toolu_01A09q90qw90lq917835lq9"));
/// ```
pub fn replacement_tool_id(uuid: &str) -> String {
    let digits: String =
        uuid.chars().filter(|char| *char != '-').take(REPLACEMENT_DIGITS).collect();
    format!("{REPLACEMENT}{digits}")
}

/// Returns whether an id has the form of [`replacement_tool_id`]: the digits of a UUID of version 5.
pub fn is_replacement_tool_id(id: &str) -> bool {
    let digits = id.strip_prefix(REPLACEMENT).unwrap_or_default().as_bytes();
    let is_digit = |digit: &u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
    digits.len() == REPLACEMENT_DIGITS
        && digits.iter().all(is_digit)
        && digits.get(12) == Some(&b'5')
}

/// Returns whether the API accepts a text as the id of a tool use: ASCII letters, digits, `_` and `-`.
pub fn is_accepted_tool_id(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// Returns a replacement for the name of a tool that the API would refuse; `None` if it accepts the name.
///
/// ```
/// assert_eq!(core_model::replacement_tool_name("my tool").as_deref(), Some("my_tool"));
/// assert_eq!(core_model::replacement_tool_name("Bash"), None);
/// ```
pub fn replacement_tool_name(name: &str) -> Option<String> {
    if is_accepted_tool_id(name) && name.len() <= MAX_TOOL_NAME {
        return None;
    }
    let is_accepted = |char: &char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
    let chars = name.chars().take(MAX_TOOL_NAME);
    let name: String = chars.map(|char| if is_accepted(&char) { char } else { '_' }).collect();
    Some(if name.is_empty() { "unknown".to_owned() } else { name })
}

/// Limit of the API on the length of a tool's name.
const MAX_TOOL_NAME: usize = 128;

const REPLACEMENT: &str = "toolu_";
const REPLACEMENT_DIGITS: usize = 24;

/// Returns the UUID of version 5 (RFC 9562) of a name in our namespace.
fn uuid_v5(name: &[u8]) -> String {
    let hash = sha1(&[&NAMESPACE.to_be_bytes(), name].concat());
    let mut uuid = hash.iter().take(16).fold(0, |uuid, byte| uuid << 8 | u128::from(*byte));
    // The version and the variant replace some bits.
    uuid = uuid & !(0xf << 76) | 0x5 << 76;
    uuid = uuid & !(0x3 << 62) | 0x2 << 62;
    let mut text = String::with_capacity(36);
    for (n, byte) in uuid.to_be_bytes().into_iter().enumerate() {
        if matches!(n, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        for digit in [byte >> 4, byte & 0xf] {
            text.push(char::from(if digit < 10 { b'0' + digit } else { b'a' - 10 + digit }));
        }
    }
    text
}

/// Returns the message id of the response that starts at a source line.
pub(crate) fn message_id(
    session_id: &str,
    offset: u64,
    block_idx: usize,
    line: &LineDigest,
) -> String {
    let name = name("message", session_id, offset, block_idx, line);
    let number = |hash: &[u8]| -> Vec<u32> {
        let (words, _) = hash.as_chunks::<4>();
        words.iter().map(|bytes| u32::from_be_bytes(*bytes)).collect()
    };
    // The id has 143 bits, fewer than either hash.
    let mut number = match line {
        LineDigest::Whole(_) => number(&Sha256::of(&name)),
        LineDigest::Ends(_) => number(&sha1(&name)),
    };
    let mut id = String::from("msg_");
    for _ in 0..24 / DIGITS {
        let mut remainder = 0;
        for word in &mut number {
            let dividend = remainder << 32 | u64::from(*word);
            *word = (dividend / BASE) as u32;
            remainder = dividend % BASE;
        }
        for _ in 0..DIGITS {
            id.extend(BASE_62.get((remainder % 62) as usize).copied().map(char::from));
            remainder /= 62;
        }
    }
    id
}

fn name(kind: &str, session_id: &str, offset: u64, block_idx: usize, line: &LineDigest) -> Vec<u8> {
    let mut name = format!("{kind}\0{session_id}\0{offset}\0{block_idx}\0").into_bytes();
    name.extend_from_slice(line.as_bytes());
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_as_other_programs_make_them() {
        // python3 -c 'import uuid; print(uuid.uuid5(uuid.UUID("e72307bb-b2a0-58c1-a02d-4f3cff301f10"), "a\0b"))'
        assert_eq!(uuid_of_name("a", "b"), "9b0fc70b-6bde-5cba-8623-0929b490f72b");
        assert_eq!(uuid_of_name("", &"é".repeat(50)), "17a3147a-6cb3-5f16-906c-354a05498d67");
    }

    #[test]
    fn ids_depend_on_each_part_of_the_name() {
        let ids = [
            uuid("entry", "s", 0, 0, &digest(b"{}")),
            uuid("result", "s", 0, 0, &digest(b"{}")),
            uuid("entry", "t", 0, 0, &digest(b"{}")),
            uuid("entry", "s", 1, 0, &digest(b"{}")),
            uuid("entry", "s", 0, 1, &digest(b"{}")),
            uuid("entry", "s", 0, 0, &digest(b"[]")),
        ];
        for (n, id) in ids.iter().enumerate() {
            assert_eq!(id.len(), 36);
            assert!(!ids[..n].contains(id));
        }
        assert_eq!(ids[0], uuid("entry", "s", 0, 0, &digest(b"{}")));
        let message = message_id("s", 0, 0, &digest(b"{}"));
        assert!(message.starts_with("msg_") && message.len() == 28);
    }
}
