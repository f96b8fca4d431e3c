//! Judges the value of a name by the lines before it: the line of a user, or the section of some settings.
//!
//! In: `Username: ada`, and `Password: kayak-pumpkin-lilac` in the next line. Out: the value is a password.

use memchr::memmem;

use crate::{
    around::without_placeholders,
    name::Name,
    randomness::Makeup,
    value::{Form, Kind, is_strong},
    worded::is_short_list,
};

/// Returns whether a value may be a password below the line of its user: letters in a random order, or three words
/// ([`is_short_list`]).
pub(crate) fn is_plain(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    let is_mixed = makeup.n_lower > 1 && makeup.n_upper > 1 && makeup.is_random();
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let is_random = is_mixed && value.len() >= 8 && value.iter().all(is_word);
    is_random || is_short_list(value)
}

/// Returns whether the line before a name has a user: `Username: ada`, `Password: x`.
pub(crate) fn is_below_user(name: &Name<'_>) -> bool {
    /// Bytes before the name that are searched.
    const MAX_BEFORE: usize = 120;
    const USERS: &[&[u8]] =
        &[b"username:", b"user:", b"login:", b"email:", b"e-mail:", b"account:", b"user name:"];
    let before = without_placeholders(name.start.window_before(MAX_BEFORE)).to_ascii_lowercase();
    let is_user = |user: &&[u8]| {
        let line = memmem::rfind(&before, user).and_then(|at| before.get(at..)).unwrap_or_default();
        let n_breaks = memchr::memchr_iter(b'\n', line).count();
        let n_escapes = memmem::find_iter(line, b"\\n").count();
        n_breaks.saturating_add(n_escapes) == 1 && !line.contains(&b'(')
    };
    USERS.iter().any(is_user)
}

/// Returns whether a key is among the settings of something that needs a secret: `"Jwt": {"Key": "x"}`.
pub(crate) fn is_in_section(name: &Name<'_>, value: &[u8]) -> bool {
    /// Minimum length of a key.
    const MIN_KEY: usize = 24;
    const SECTIONS: &[&[u8]] = &[
        b"jwt",
        b"crypt",
        b"signing",
        b"hmac",
        b"cosmos",
        b"keyauth",
        b"apikey",
        b"api_key",
        b"credential",
        b"bearer",
        b"stripe",
        b"sendgrid",
        b"mailgun",
        b"openai",
        b"[api]",
    ];
    let is_key = value.len() >= MIN_KEY
        && is_strong(value)
        && Kind::Secret.secret_in(value, Form::Quoted).is_some();
    if !is_key {
        return false;
    }
    let before = without_placeholders(name.start.window_before(200)).to_ascii_lowercase();
    SECTIONS.iter().any(|section| memmem::find(&before, section).is_some())
}
