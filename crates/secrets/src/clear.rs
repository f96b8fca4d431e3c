//! Recognizes values that are credentials by their shape alone, near a word for one.
//!
//! `kJ8sQ2mZ0xPvT4bNwL7y` is a token and `willow-violet-260` a password, wherever they are in the line of such a word.
//! `connection_timeout`, `sha256` and a UUID are not.

use memchr::memmem;

use crate::{
    announced,
    class::WORD,
    placeholder::is_template,
    randomness::{Makeup, has_many_humps},
    value::{Form, Kind, is_scrambled, is_strong, is_thing_of_code, is_uuid},
    worded::{are_words_and_number, is_invented, is_word_list},
    words::SLUG_WORDS,
};

/// Returns whether a value can only be a token: at least 20 letters of both cases and digits, in a random order.
pub(crate) fn is_clear_token(value: &[u8]) -> bool {
    /// Starts of ids, hashes and versions, which are as random as tokens.
    const OTHERS: &[&[u8]] = &[
        b"toolu_",
        b"msg_",
        b"req_",
        b"call_",
        b"resp_",
        b"chatcmpl-",
        b"run_",
        b"evt_",
        b"sha256",
        b"sha384",
        b"sha512",
        b"SHA256:",
        b"h1:",
        b"AAAA",
        b"MFkw",
        b"MIIB",
        b"MCow",
    ];
    let Makeup { n_lower, n_upper, n_digits, .. } = Makeup::of(value);
    let n_slashes = value.iter().filter(|byte| **byte == b'/').count();
    (16..=512).contains(&value.len())
        && n_lower > 2
        && n_upper > 2
        && n_digits > 1
        && n_slashes.saturating_mul(10) <= value.len()
        && !value.iter().rev().skip_while(|byte| **byte == b'=').any(|byte| *byte == b'=')
        && value.iter().all(|byte| WORD.has(*byte) || b"-.+/=".contains(byte))
        && (Makeup::of(value).is_random() || has_many_humps(value))
        && !OTHERS.iter().any(|other| value.starts_with(other))
        && !value.ends_with(b"NRAL")
        && memmem::find(value, b".atlasv1.").is_none()
        && !is_uuid(value)
        && !is_thing_of_code(value)
        && Kind::Secret.secret_in(value, Form::Loose).is_some()
}

/// Returns whether a value can only be a password: a person made it up ([`is_invented`]), or it has letters of both cases,
/// and digits or marks, in a random order.
pub(crate) fn is_clear_password(value: &[u8]) -> bool {
    if !(8..=40).contains(&value.len()) || value.iter().any(|byte| b"/:=(){}[]<>\\".contains(byte))
    {
        return false;
    }
    let Makeup { n_lower, n_upper, n_digits, n_joints, .. } = Makeup::of(value);
    let is_mixed = value.len() >= 10 && n_lower > 1 && n_upper > 1 && n_digits > 0;
    let is_clear = is_strong(value)
        || is_invented(value)
        || is_word_list(value, 0)
        || are_words_and_number(value)
        || is_mixed && is_scrambled(value)
        || announced::is_mixed(value)
        || n_lower > 1 && n_upper > 0 && n_digits > 1 && n_joints < 2 && !value.contains(&b'_');
    is_clear
        && (n_digits > 1 || is_scrambled(value) || is_strong(value) || is_word_list(value, 0))
        && !is_thing_of_code(value)
        && !is_slug(value)
        && !is_uuid(value)
        && !is_template(value)
        && Kind::Password.secret_in(value, Form::Loose).is_some()
}

/// Returns whether a value can only be a token or a password.
pub(crate) fn is_clear_either(value: &[u8]) -> bool {
    is_clear_token(value) || is_clear_password(value)
}

/// Returns whether a cell of a table has the shape of the credential that its header names.
pub(crate) fn is_clear_cell(kind: Kind, value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    match kind {
        Kind::Password | Kind::Pass | Kind::Passwords | Kind::Passphrase => {
            let is_plain = makeup.n_digits > 0
                && !value.iter().any(|byte| b"/:=(){}[]<>\\".contains(byte))
                && !is_thing_of_code(value)
                && !is_uuid(value)
                && Kind::Password.secret_in(value, Form::Quoted).is_some();
            is_clear_password(value) || is_plain
        }
        Kind::Secret | Kind::Token | Kind::TokenOrUuid | Kind::Secrets | Kind::Tokens => {
            let is_plain = is_strong(value) || makeup.n_digits > 1 && is_scrambled(value);
            let is_plain =
                is_plain && value.len() >= 16 && !value.contains(&b'/') && !is_thing_of_code(value);
            is_clear_either(value)
                || is_plain && Kind::Secret.secret_in(value, Form::Quoted).is_some()
        }
        _ => false,
    }
}

/// Returns whether a word of a value is one of the words for parts of a program, as branches and steps have them:
/// `reset-flow-12`.
fn is_slug(value: &[u8]) -> bool {
    let is_part =
        |word: &[u8]| SLUG_WORDS.iter().any(|other| word.eq_ignore_ascii_case(other.as_bytes()));
    const OTHERS: &[&[u8]] =
        &[b"crypt", b"hash", b"base64", b"utf", b"sha1", b"sha2", b"sha5", b"oauth", b"http"];
    let lower = value.to_ascii_lowercase();
    let has_other = || OTHERS.iter().any(|other| memmem::find(&lower, other).is_some());
    !is_strong(value)
        && (value.split(|byte| !byte.is_ascii_alphabetic()).any(is_part) || has_other())
}
