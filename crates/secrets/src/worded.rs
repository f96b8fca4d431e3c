//! Recognizes values that a person made of words.
//!
//! `willow-violet-winter-amber`, `Window.Seat.91` and `lobster4179` are passwords. `user-name-field` and `sha512` are not.

use memchr::memmem;

use crate::{
    placeholder::{is_template, is_weak},
    randomness::Makeup,
    value::{Form, Kind, is_thing_of_code},
};

/// Variables that code has before a dot.
const OWNERS: &[&[u8]] = &[
    b"args",
    b"body",
    b"ctx",
    b"event",
    b"form",
    b"obj",
    b"opts",
    b"params",
    b"process",
    b"props",
    b"req",
    b"request",
    b"res",
    b"response",
    b"self",
    b"settings",
    b"state",
];

/// Returns whether a value is a phrase of 4 to 24 words of at least `min` small letters. At most one of them may be
/// weak ([`is_weak`]).
pub(crate) fn is_phrase(value: &[u8], min: usize) -> bool {
    let is_word =
        |word: &[u8]| (min..=12).contains(&word.len()) && word.iter().all(u8::is_ascii_lowercase);
    let words = || value.split(|byte| *byte == b' ' || *byte == b'-');
    let is_weak_word = |word: &&[u8]| is_weak(word);
    let is_number =
        |word: &&[u8]| (1..=4).contains(&word.len()) && word.iter().all(u8::is_ascii_digit);
    (4..=24).contains(&words().count())
        && words().all(|word| is_word(word) || is_number(&word))
        && words().filter(is_number).count() <= 1
        && words().filter(is_weak_word).count() <= 1
}

/// Returns whether a value is a list of 4 to 10 words with hyphens, as generators of passwords print it:
/// `willow-violet-winter-amber`. At most `max_weak` of them may be weak ([`is_weak`]).
///
/// The words of identifiers are mostly weak, and slugs of sentences have words of one or two letters.
pub(crate) fn is_word_list(value: &[u8], max_weak: usize) -> bool {
    let is_word = |word: &[u8]| {
        // Generators add a digit to a word.
        let word = match word {
            [first, .., b'0'..=b'9'] if first.is_ascii_uppercase() => {
                word.get(..word.len().saturating_sub(1)).unwrap_or_default()
            }
            _ => word,
        };
        let rest = word.get(1..).unwrap_or_default();
        (3..=12).contains(&word.len())
            && word.iter().all(u8::is_ascii_alphabetic)
            && rest.iter().all(u8::is_ascii_lowercase)
    };
    let words = || value.split(|byte| *byte == b'-');
    value.len() <= 128
        && (4..=10).contains(&words().count())
        && words().all(is_word)
        && words().filter(|word| is_weak(word)).count() <= max_weak
        && !is_template(value)
}

/// Returns whether a value is a list of exactly three words in small letters with `-`, `_` or `.` between them:
/// `kayak-pumpkin-lilac`. None of them may be weak ([`is_weak`]).
pub(crate) fn is_short_list(value: &[u8]) -> bool {
    let joint = value.iter().copied().find(|byte| matches!(byte, b'-' | b'_' | b'.'));
    let words = || value.split(|byte| Some(*byte) == joint);
    let is_word =
        |word: &[u8]| (4..=12).contains(&word.len()) && word.iter().all(u8::is_ascii_lowercase);
    words().count() == 3 && words().all(is_word) && !words().any(is_weak) && !is_template(value)
}

/// Returns whether a value is a password that a person made up, and no word of a sentence: `lobster4179`,
/// `canyon_silver_oyster7`, `paddle.silver.oyster8`, `m4pl3_n1ck3l41`, `Rock3t952`.
pub(crate) fn is_invented(value: &[u8]) -> bool {
    /// Parts of the names of algorithms and encodings, which end in digits too.
    const OTHERS: &[&[u8]] =
        &[b"sha", b"argon", b"pbkdf", b"crypt", b"base", b"utf", b"md5", b"aes", b"rsa", b"iso"];
    if !(8..=64).contains(&value.len()) || Kind::Password.secret_in(value, Form::Quoted).is_none() {
        return false;
    }
    let n_digits = value.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let word = value.get(..value.len().saturating_sub(n_digits)).unwrap_or_default();
    let is_word = word.len() >= 4 && word.iter().all(u8::is_ascii_alphabetic);
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic();
    let leet = |three: &&[u8]| matches!(three, [a, b'0'..=b'9', b] if is_letter(a) && is_letter(b));
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let is_leet =
        || value.iter().all(is_plain) && value.windows(3).filter(leet).count() >= 2 && n_digits > 0;
    // A capital word with a digit for a letter, and digits at its end.
    let is_capital_leet = || {
        let is_digit = |three: &&[u8]| {
            leet(three) && matches!(three, [_, b'0' | b'1' | b'3'..=b'5' | b'7', _])
        };
        let is_pair = |four: &&[u8]| matches!(four, [a, b'0'..=b'9', b'0'..=b'9', b] if is_letter(a) && is_letter(b));
        value.first().is_some_and(u8::is_ascii_uppercase)
            && n_digits > 2
            && value.iter().all(u8::is_ascii_alphanumeric)
            && (value.windows(3).any(|three| is_digit(&three))
                || value.windows(4).any(|four| is_pair(&four)))
    };
    let is_year = n_digits == 4 && value.windows(4).last().is_some_and(|n| n.starts_with(b"20"));
    let is_fit = is_word && (3..=6).contains(&n_digits) && !is_year
        || are_joined_words(value)
        || is_leet()
        || are_words_around_number(value);
    let is_fit = is_fit
        || is_capital_leet()
        || are_capital_words(value)
        || !value.contains(&b'-') && are_words_and_number(value);
    let lower = value.to_ascii_lowercase();
    is_fit && !OTHERS.iter().any(|other| memmem::find(&lower, other).is_some())
}

/// Returns whether a value may be a password that a person made up, if its name and a sign or a verb are right before it:
/// `anchor702hund`, `soleil.2013g`, `lnv_ZWE1455`. It has letters and at least two digits, and is no hash, no slug, no
/// ticket, no file, and no name of an algorithm.
pub(crate) fn is_coined(value: &[u8]) -> bool {
    const OTHERS: &[&[u8]] = &[
        b"sha", b"argon", b"pbkdf", b"crypt", b"base", b"utf", b"md5", b"aes", b"rsa", b"iso",
        b"hmac", b"rfc", b"cve", b"x509", b"ed25519", b"oauth", b"http", b"ipv", b"bit",
    ];
    let makeup = Makeup::of(value);
    let is_hex = value.iter().all(u8::is_ascii_hexdigit);
    let is_slug = value.contains(&b'-') && makeup.n_upper == 0;
    let is_upper = |byte: &u8| byte.is_ascii_uppercase();
    // `SHOP-1234`
    let mut parts = value.splitn(2, |byte| *byte == b'-');
    let is_ticket = parts.next().is_some_and(|part| part.iter().all(is_upper))
        && parts.next().is_some_and(|part| part.iter().all(u8::is_ascii_digit));
    let lower = value.to_ascii_lowercase();
    (8..=40).contains(&value.len())
        && makeup.n_digits > 1
        && makeup.n_letters() > 2
        && makeup.n_others == 0
        && !value.iter().any(|byte| b"/:=(){}[]<>\\|,;\"'`".contains(byte))
        && !is_hex
        && !is_slug
        && !is_ticket
        && !is_thing_of_code(value)
        && !OTHERS.iter().any(|other| memmem::find(&lower, other).is_some())
        && Kind::Password.secret_in(value, Form::Quoted).is_some()
}

/// Returns whether a value consists of two words and a number between them, or of a number and two words, with a capital:
/// `rocket587Cactus`, `39ZebraMUSTARD`.
fn are_words_around_number(value: &[u8]) -> bool {
    let mut parts = value.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit());
    let parts =
        [parts.next(), parts.next(), parts.next(), parts.next()].map(Option::unwrap_or_default);
    let is_word = |word: &[u8], min: usize| {
        (min..=24).contains(&word.len()) && word.iter().all(u8::is_ascii_alphabetic)
    };
    let has_both =
        value.iter().any(u8::is_ascii_uppercase) && value.iter().any(u8::is_ascii_lowercase);
    has_both
        && match parts {
            [first, number, second, []] if is_word(first, 4) => {
                is_word(second, 4)
                    && (2..=4).contains(&number.len())
                    && !is_weak(first)
                    && !is_weak(second)
            }
            [number, word, [], []] => {
                number.first().is_some_and(u8::is_ascii_digit)
                    && (2..=4).contains(&number.len())
                    && is_word(word, 8)
                    && !is_weak(word)
            }
            _ => false,
        }
}

/// Returns whether a value of at least ten bytes has capital and small letters and two digits, and no mark of code or of a
/// path: `EmberWillow41`.
pub(crate) fn is_varied(value: &[u8]) -> bool {
    let Makeup { n_lower, n_upper, n_digits, .. } = Makeup::of(value);
    value.len() >= 10
        && n_lower > 1
        && n_upper > 1
        && n_digits > 1
        && !value.iter().any(|byte| b"/.:(".contains(byte))
        && Kind::Password.secret_in(value, Form::Quoted).is_some()
}

/// Returns whether a value consists of two to six words and numbers with marks between them, of which one is a capital
/// word and one a number: `Window.Seat.91`, `rainy-Bicycle-23`, `Thistle.Quay41`. Instead of the number there may be a
/// second word, in small letters: `blue.Canoe.Tuesday`. None of them may be weak ([`is_weak`]).
pub(crate) fn are_capital_words(value: &[u8]) -> bool {
    if !(10..=48).contains(&value.len()) || !value.iter().any(u8::is_ascii_uppercase) {
        return false;
    }
    let words = || value.split(|byte| b"-._~|".contains(byte));
    let is_number = |word: &[u8]| word.iter().all(u8::is_ascii_digit);
    let letters = |word: &[u8]| word.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let is_capital = |word: &[u8]| {
        word.first().is_some_and(u8::is_ascii_uppercase)
            && word.get(1..).unwrap_or_default().iter().all(|byte| !byte.is_ascii_uppercase())
    };
    let is_small = |word: &[u8]| !word.iter().any(u8::is_ascii_uppercase);
    let is_part = |word: &[u8]| {
        let is_word = (3..=12).contains(&letters(word)) && (is_capital(word) || is_small(word));
        let is_fit = word.iter().all(u8::is_ascii_alphanumeric) && !word.is_empty();
        is_fit && (is_word && !is_weak(word) || is_number(word) && word.len() <= 4)
    };
    let count = |is: &dyn Fn(&[u8]) -> bool| words().filter(|word| is(word)).count();
    let n_words = count(&|word| letters(word) > 2);
    let n_capitals = count(&|word| is_capital(word));
    let n_small = count(&|word| letters(word) > 2 && is_small(word));
    let has_digit = value.iter().any(u8::is_ascii_digit);
    (2..=6).contains(&words().count())
        && words().all(is_part)
        && n_words >= 2
        && n_capitals > 0
        && (has_digit || n_words >= 3 && n_small > 0)
}

/// Returns whether a value consists of three or four words with dots or `_` between them and a digit at the end. With `_`,
/// at most one of them may be weak ([`is_weak`]), and none with dots, because members of variables are mostly weak.
pub(crate) fn are_joined_words(value: &[u8]) -> bool {
    let n_digits = value.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let text = value.get(..value.len().saturating_sub(n_digits)).unwrap_or_default();
    let joint = if text.contains(&b'.') { b'.' } else { b'_' };
    let words = || text.split(|byte| *byte == joint);
    let is_word =
        |word: &[u8]| (3..=12).contains(&word.len()) && word.iter().all(u8::is_ascii_lowercase);
    (1..=4).contains(&n_digits)
        && (3..=4).contains(&words().count())
        && words().all(is_word)
        && words().filter(|word| is_weak(word)).count() <= usize::from(joint == b'_')
        && !(joint == b'.' && words().any(|word| OWNERS.contains(&word)))
}

/// Returns whether a value consists of two or three words in small letters and a number of two to four digits, with a mark
/// between all of them: `cactus.rocket.894`, `harbor-ocean-565`, `maple_orchid.944`. None of the words may be weak
/// ([`is_weak`]), because the parts of keys and of members mostly are.
pub(crate) fn are_words_and_number(value: &[u8]) -> bool {
    const JOINTS: &[u8] = b"-._!~+^*@#$%&=";
    if !value.last().is_some_and(u8::is_ascii_digit) {
        return false;
    }
    let is_word = |word: &[u8]| {
        (4..=12).contains(&word.len()) && word.iter().all(u8::is_ascii_lowercase) && !is_weak(word)
    };
    let mut parts = value.rsplit(|byte| JOINTS.contains(byte));
    let number = parts.next().unwrap_or_default();
    let n_words = parts.clone().count();
    (2..=4).contains(&number.len())
        && number.iter().all(u8::is_ascii_digit)
        && (2..=3).contains(&n_words)
        && parts.all(|word| is_word(word) && !OWNERS.contains(&word))
        && !is_template(value)
}

/// Returns whether a value consists of at least eight letters and two to six digits, and names no algorithm:
/// `kayakpumpkin83`.
pub(crate) fn is_word_and_digits(value: &[u8]) -> bool {
    const OTHERS: &[&[u8]] = &[b"sha", b"argon", b"crypt", b"base", b"hmac", b"md5", b"utf"];
    let n_digits = value.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let word = value.get(..value.len().saturating_sub(n_digits)).unwrap_or_default();
    let lower = word.to_ascii_lowercase();
    (8..=40).contains(&word.len())
        && (2..=6).contains(&n_digits)
        && word.iter().all(u8::is_ascii_alphabetic)
        && !OTHERS.iter().any(|other| memmem::find(&lower, other).is_some())
}
