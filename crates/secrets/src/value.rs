//! Decides whether the value of a name such as `password` is a secret.
//!
//! `password = "tZ8!kq02Lm"` has a secret. `password: string`, `password = os.environ["PASSWORD"]`,
//! `token = get_token()`, `"secret": "my-app/secret"` and `password=changeme` have none.

use std::ops::Range;

use memchr::memmem;

use crate::{
    base64::user_and_password,
    class::BASE64,
    place::is_place_in_code,
    placeholder::{is_template, is_weak},
    randomness::{Makeup, has_many_humps},
    worded::{
        are_capital_words, are_joined_words, are_words_and_number, is_invented, is_phrase,
        is_word_list,
    },
};

/// The kind of value that a name announces.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// A password, possibly invented by a person.
    Password,
    /// The value of a bare `pass` or `pwd`, which may also be a word in a test report, or a folder.
    Pass,
    /// A password of several words.
    Passphrase,
    /// A key or a token that a program generated.
    Secret,
    /// A key or a token, or a value with such a name, such as an id or a page token.
    Token,
    /// As `Token`, or a UUID: the value of a name such as `HEROKU_TOKEN`.
    TokenOrUuid,
    /// The value of the header `Authorization`: a scheme, and a token.
    Authorization,
    /// A user and a password in base64, as Docker keeps them.
    UserAndPassword,
    /// A UUID with a name such as `secret_id`, as Vault has it.
    Id,
    /// Bytes in base64 with a name such as `primary key`, as Azure has it.
    Padded,
    /// An item of a list with a name such as `secrets`, which may also have names of secrets.
    Secrets,
    /// An item of a list with a name such as `passwords`.
    Passwords,
    /// An item of a list with a name such as `tokens`, which may also have the words of a language.
    Tokens,
    /// A user, a colon and a password, as `curl -u` takes them.
    Login,
    /// 32 letters with the name `routing key`, as PagerDuty has it. Queues of messages have words.
    Routing,
}

/// The spelling of a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Form {
    Quoted,
    /// Directly after `=`, as in a file of environment variables.
    Tight,
    /// After `: ` or ` = `: it may be a variable.
    Loose,
}

/// Limit in bytes for a value.
pub(crate) const MAX_VALUE: usize = 8 * 1024;

impl Kind {
    /// Returns the part of a value that is the secret, if there is one.
    pub(crate) fn secret_in(self, value: &[u8], form: Form) -> Option<Range<usize>> {
        let whole = 0..value.len();
        if form != Form::Quoted && is_fragment(value) {
            return None;
        }
        match self {
            Self::UserAndPassword => user_and_password(value).then_some(whole),
            Self::Authorization => {
                let scheme = value.iter().position(|byte| *byte == b' ').unwrap_or_default();
                let blank = usize::from(scheme > 0);
                let start = scheme.saturating_add(blank);
                let token = value.get(start..).unwrap_or_default();
                // `Basic` and `Bearer` have their own rules.
                let scheme = value.get(..scheme)?;
                let is_scheme = is_scheme(scheme) && !scheme.eq_ignore_ascii_case(b"basic");
                let is_secret = is_scheme && is_secret(token, Self::Secret, Form::Quoted);
                is_secret.then_some(start..value.len())
            }
            Self::Login => {
                let start = value.iter().position(|byte| *byte == b':')?.saturating_add(1);
                let password = value.get(start..).unwrap_or_default();
                Self::Password.secret_in(password, form).map(|_| start..value.len())
            }
            Self::Padded => is_padded(value).then_some(whole),
            Self::Routing => (value.len() == 32 && is_strong(value)).then_some(whole),
            Self::Id => is_uuid(value).then_some(whole),
            Self::Secrets => is_listed(value).then_some(whole),
            Self::Passwords => (is_listed(value) || are_words_and_number(value)).then_some(whole),
            Self::Tokens => (value.len() >= 20 && is_listed(value)).then_some(whole),
            // In a sentence, words of two letters are no part of a phrase: `the passphrase is only in my head`.
            Self::Passphrase if is_phrase(value, if form == Form::Quoted { 2 } else { 3 }) => {
                Some(whole)
            }
            Self::Password if is_word_list(value, 1) => Some(whole),
            Self::Pass if form == Form::Quoted && are_capital_words(value) => {
                (!is_template(value)).then_some(whole)
            }
            Self::Password if are_capital_words(value) || are_joined_words(value) => {
                (!is_template(value)).then_some(whole)
            }
            Self::Password | Self::Passphrase if are_words_and_number(value) => Some(whole),
            // A report of tests may have the name of a test, with `_` or `-`.
            Self::Pass if are_words_and_number(value) => {
                let is_name = value.contains(&b'_') || value.contains(&b'-');
                (form != Form::Loose || !is_name).then_some(whole)
            }
            // A report of tests may have the name of a test, with `_`.
            Self::Pass if value.contains(&b'.') && are_joined_words(value) => {
                (!is_template(value)).then_some(whole)
            }
            // In a report of tests, `pass: ` may announce the name of a test.
            Self::Pass if form != Form::Loose && is_word_list(value, 1) => Some(whole),
            // A person may invent the secret of an application.
            Self::Secret if are_capital_words(value) => (!is_template(value)).then_some(whole),
            Self::TokenOrUuid if is_uuid(value) => (!is_template(value)).then_some(whole),
            Self::TokenOrUuid => Self::Token.secret_in(value, form),
            _ => is_secret(value, self, form).then_some(whole),
        }
    }
}

/// Returns whether a value without quotes is code whose end is cut: `credentials.db[:password`, `typing.Optional[bytes`,
/// `keypair[:32`, `unquote(passwd`, `*EVP_PKEY_new2(const`.
fn is_fragment(value: &[u8]) -> bool {
    let Some(n) = memchr::memchr2(b'[', b'(', value) else { return false };
    let (name, rest) = value.split_at_checked(n).unwrap_or_default();
    let pointer = name.strip_prefix(b"*").or_else(|| name.strip_prefix(b"&"));
    let name = pointer.unwrap_or(name);
    let inner = rest.get(1..).unwrap_or_default();
    let is_word = |text: &[u8]| text.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    let is_in = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.');
    let is_path = name.iter().all(is_in) && (name.contains(&b'.') || starts_small(name));
    if rest.starts_with(b"[") {
        let index = inner.strip_prefix(b":").unwrap_or(inner);
        let is_index = is_word(index) || index.iter().all(u8::is_ascii_digit);
        return name.len() > 2 && is_path && is_index;
    }
    let is_function = name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        && (pointer.is_some() || starts_small(name) && name.contains(&b'_'));
    let is_hex = |text: &[u8]| {
        text.strip_prefix(b"0x").is_some_and(|text| text.iter().all(u8::is_ascii_hexdigit))
    };
    let is_argument = !inner.is_empty() && (is_word(inner) || is_hex(inner));
    name.len() > 2 && is_argument && (is_path || is_function)
}

fn starts_small(name: &[u8]) -> bool {
    name.first().is_some_and(|byte| byte.is_ascii_lowercase() || *byte == b'_')
}

/// Returns whether an item of a list is clearly a secret: a random one, or a password that a person made up.
fn is_listed(value: &[u8]) -> bool {
    let is_name = is_uuid(value) || value.contains(&b'/') || value.contains(&b':');
    let is_clear = is_strong(value) || is_invented(value) || is_word_list(value, 0);
    let is_plain = value.iter().all(u8::is_ascii_alphanumeric) && value.len() >= 20;
    let has_digit = value.iter().any(u8::is_ascii_digit);
    let is_clear = is_clear || is_scrambled(value) && (has_digit || is_plain);
    is_clear && !is_name && is_secret(value, Kind::Password, Form::Quoted) && !is_template(value)
}

/// Returns whether a value is the name of an algorithm: `scram-sha-256`, `pbkdf2-sha512`.
fn is_algorithm(value: &[u8]) -> bool {
    const PARTS: &[&[u8]] = &[
        b"scram",
        b"sha",
        b"sha1",
        b"sha256",
        b"sha384",
        b"sha512",
        b"hmac",
        b"pbkdf2",
        b"md5",
        b"bcrypt",
        b"aes",
        b"des",
        b"des3",
        b"rc4",
        b"cts",
        b"ctr",
        b"ecb",
        b"rsa",
        b"ecdsa",
        b"ed25519",
        b"x25519",
        b"argon2",
        b"argon2id",
        b"base64",
        b"utf8",
        b"plus",
        b"cbc",
        b"gcm",
        b"128",
        b"192",
        b"256",
        b"384",
        b"512",
        b"1",
    ];
    let is_part = |part: &[u8]| PARTS.iter().any(|other| part.eq_ignore_ascii_case(other));
    value.len() <= 32 && value.split(|byte| matches!(byte, b'-' | b'_')).all(is_part)
}

/// Returns whether a value says how something is written: `base64encoded`, `sha256-hashed`, `20characters`.
fn is_described(value: &[u8]) -> bool {
    const ENDS: &[&[u8]] =
        &[b"encoded", b"hashed", b"encrypted", b"salted", b"signed", b"characters", b"chars"];
    value.len() <= 24 && ENDS.iter().any(|end| value.ends_with(end))
}

/// Returns whether a value is the version of a package of Debian: `1:4.13+dfsg1-1+deb12u1`.
fn is_version(value: &[u8]) -> bool {
    const MARKS: &[&[u8]] = &[b"+dfsg", b"+deb", b"~deb", b"ubuntu"];
    let is_in = |byte: &u8| byte.is_ascii_alphanumeric() || b".+~:-".contains(byte);
    value.first().is_some_and(u8::is_ascii_digit)
        && value.iter().all(is_in)
        && MARKS.iter().any(|mark| memmem::find(value, mark).is_some())
}

/// Returns whether some bytes are the scheme of an authorization, such as `Token` or `Api-Key`.
pub(crate) fn is_scheme(text: &[u8]) -> bool {
    text.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'-')
}

/// Returns whether a value without blanks is a secret.
fn is_secret(value: &[u8], kind: Kind, form: Form) -> bool {
    let is_password = matches!(kind, Kind::Password | Kind::Pass | Kind::Passphrase);
    let min = match kind {
        Kind::Password | Kind::Pass | Kind::Passphrase => 6,
        Kind::Token => 12,
        _ => 8,
    };
    if !(min..=MAX_VALUE).contains(&value.len()) || has_blank(value) {
        return false;
    }
    let makeup = Makeup::of(value);
    // A long string may have more marks, as the keys of Django.
    let max_others = if form == Form::Quoted && value.len() >= 40 { 2 } else { 3 };
    if makeup.n_letters() == 0 || makeup.n_others.saturating_mul(max_others) > value.len() {
        return false;
    }
    // A pattern, such as the first half of `s/^TOKEN=.*/TOKEN=x/`, or a color.
    if value.starts_with(b".*") || is_color(value) || is_public(value) || is_place_in_code(value) {
        return false;
    }
    if is_absolute(value, &makeup) || form != Form::Quoted && is_name(value, &makeup) {
        return false;
    }
    let is_fit = match is_random(value, &makeup) {
        true => form == Form::Quoted || !is_code(value),
        false if kind == Kind::Pass && form == Form::Loose => {
            has_all_classes(value, &makeup) && !value.contains(&b'/')
        }
        false
            if is_code(value)
                || value.contains(&b'(')
                || is_path(value, &makeup)
                || is_weak(value) =>
        {
            has_all_classes(value, &makeup) && is_password && !is_code(value)
        }
        false if is_password => is_thought_up(value, form, &makeup),
        false => {
            // `token = 'GardenCactus1166#'`
            let is_rich = kind == Kind::Token
                && form == Form::Quoted
                && has_all_classes(value, &makeup)
                && makeup.n_digits > 2;
            is_rich || is_hex(value) || kind == Kind::Secret && is_uuid(value) || {
                let is_ended = matches!(value, [.., b'_' | b'-']);
                let is_short = value.len() < 10 && makeup.n_digits < 3;
                let is_joined = makeup.n_joints > usize::from(is_ended) || is_short;
                kind == Kind::Secret && !is_joined && is_thought_up(value, form, &makeup)
            }
        }
    };
    is_fit && (kind != Kind::Token || is_token(value, &makeup)) && !is_template(value)
}

/// Returns whether a value is a color: `#ef4444`.
fn is_color(value: &[u8]) -> bool {
    let digits = value.strip_prefix(b"#").unwrap_or_default();
    matches!(digits.len(), 3 | 4 | 6 | 8) && digits.iter().all(u8::is_ascii_hexdigit)
}

/// Returns whether a value is public: a publishable key, or the address of a contract. Test keys of Stripe have their own
/// rule.
fn is_public(value: &[u8]) -> bool {
    const PREFIXES: &[&[u8]] = &[b"pk_live_", b"pk_test_", b"sk_test_", b"rk_test_"];
    let address = value.strip_prefix(b"0x").unwrap_or_default();
    // The id of an account of Twilio.
    let account = value.strip_prefix(b"AC").unwrap_or_default();
    let is_account = account.len() == 32
        && account.iter().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte));
    is_account
        || is_algorithm(value)
        || is_described(value)
        || is_version(value)
        || PREFIXES.iter().any(|prefix| value.starts_with(prefix))
        || address.len() == 40 && address.iter().all(u8::is_ascii_hexdigit)
}

/// Returns whether a value may be a token instead of an id. A short token has letters of both cases
/// and digits.
fn is_token(value: &[u8], makeup: &Makeup) -> bool {
    let Makeup { n_lower, n_upper, n_digits, .. } = *makeup;
    let is_varied = n_lower > 1 && n_upper > 1 && n_digits > 0 && makeup.is_random();
    !is_uuid(value) && (value.len() >= 16 || is_varied)
}

fn has_blank(value: &[u8]) -> bool {
    value.iter().any(|byte| byte.is_ascii_whitespace() || byte.is_ascii_control())
}

/// Returns whether a value looks generated: it contains no words.
fn is_random(value: &[u8], makeup: &Makeup) -> bool {
    if makeup.n_digits == 0 && makeup.n_marks == 0 {
        let min = if makeup.n_joints > 0 { 16 } else { 10 };
        let is_mixed = has_many_humps(value) && value.len() >= min;
        let is_rare = makeup.is_random() && value.len() >= min;
        return (is_mixed || is_rare) && makeup.n_joints.saturating_mul(6) <= value.len();
    }
    makeup.is_random() && makeup.n_letters() >= 3
}

/// Returns whether a person may have invented a value: `hunter2`, `Correct!Horse`.
fn is_thought_up(value: &[u8], form: Form, makeup: &Makeup) -> bool {
    // The name of a variable or of its member.
    let is_varied = makeup.n_lower > 0 && makeup.n_upper > 0 && makeup.n_digits > 0;
    let has_dot = value.contains(&b'.') && makeup.n_marks == 0 && !has_number_as_member(value);
    // `Winter.2024` is no member of a variable.
    let is_invented = is_varied && makeup.n_digits > 2;
    let has_dot =
        has_dot && (form == Form::Loose && !is_invented || form == Form::Tight && !is_varied);
    let is_mixed = makeup.n_lower > 0 && makeup.n_upper > 0;
    let is_marked = makeup.n_marks > 0 && is_mixed && value.len() >= 8;
    // `Required!` and `Forgot?` are labels.
    let ends_a_sentence = makeup.n_marks == 1
        && makeup.n_upper == 1
        && matches!(value, [.., b'!' | b'?' | b':' | b',']);
    !has_dot && (makeup.n_digits > 0 || is_marked && !ends_a_sentence)
}

/// Returns whether a number follows a word and a dot, which no member does: `soleil.2013g`.
fn has_number_as_member(value: &[u8]) -> bool {
    let mut parts = value.split(|byte| *byte == b'.');
    let word = parts.next().unwrap_or_default();
    let number = parts.next().unwrap_or_default();
    let n_digits = number.iter().take_while(|byte| byte.is_ascii_digit()).count();
    word.len() > 3
        && word.iter().all(u8::is_ascii_alphabetic)
        && n_digits > 1
        && parts.next().is_none()
}

fn has_all_classes(value: &[u8], makeup: &Makeup) -> bool {
    let Makeup { n_lower, n_upper, n_digits, n_marks, .. } = *makeup;
    value.len() >= 8 && n_lower > 0 && n_upper > 0 && n_digits > 0 && n_marks > 0
}

/// Returns whether a value is code: a call, an index, a pattern.
fn is_code(value: &[u8]) -> bool {
    let has = |byte: u8| value.contains(&byte);
    let starts_a_group = matches!(value, [b'[' | b'{' | b'(' | b'|' | b'=' | b',' | b';', ..]);
    // Letters follow the closing mark in a password: `Walnut(Ferry)61`.
    let is_inner = matches!(value, [first, .., last] if first.is_ascii_uppercase() && last.is_ascii_digit())
        && !has(b'.')
        && !has(b',');
    starts_a_group
        || is_call(value)
        || are_checks(value)
        || has(b'(') && has(b')') && !is_inner && !is_of_django(value)
        || has(b'[') && has(b']')
        || has(b'{') && has(b'}')
}

/// Returns whether a value has the letters and the length of the secret keys that Django generates.
fn is_of_django(value: &[u8]) -> bool {
    let is_in = |byte: &u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"!@#$%^&*(-_=+)".contains(byte)
    };
    value.len() == 50 && value.iter().all(is_in)
}

/// Returns whether a value is a call whose end is cut: `models.CharField(max_length=128`.
fn is_call(value: &[u8]) -> bool {
    let is_name = |text: &[u8]| text.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    let mut halves = value.splitn(2, |byte| *byte == b'[');
    // `Annotated[str`
    if let (Some(name @ [_, ..]), Some(kind @ [_, ..])) = (halves.next(), halves.next())
        && is_name(name)
        && is_name(kind)
    {
        return true;
    }
    let mut parts = value.splitn(2, |byte| *byte == b'(');
    let (Some(name @ [_, ..]), Some(arguments)) = (parts.next(), parts.next()) else {
        return false;
    };
    // `ComputeSha256Hash(model.Password`
    let mut members = arguments.split(|byte| *byte == b'.');
    if members.by_ref().next().is_some_and(is_name) && members.next().is_some_and(is_name) {
        return name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(byte));
    }
    let mut words = name.split(|byte| *byte == b'.');
    let has_dot = name.contains(&b'.');
    let first = arguments.split(|byte| *byte == b'=').next().unwrap_or_default();
    let has_name = arguments.contains(&b'=') && is_name(first);
    // `mapped_column(String(255`
    let has_name = has_name
        || arguments.split(|byte| *byte == b'(').next().is_some_and(is_name)
            && arguments.contains(&b'(');
    words.all(is_name) && (has_dot || has_name)
}

/// Returns whether a value lists checks of a form: `required|string|min:8`.
fn are_checks(value: &[u8]) -> bool {
    let is_check = |text: &[u8]| {
        let mut parts = text.splitn(2, |byte| *byte == b':');
        let name = parts.next().unwrap_or_default();
        name.len() > 1 && name.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'_')
    };
    value.contains(&b'|') && value.split(|byte| *byte == b'|').all(is_check)
}

/// Returns whether a value is a path from the root, a drive or a home folder, or starts with `./` or
/// `../`.
fn is_absolute(value: &[u8], makeup: &Makeup) -> bool {
    match value {
        [b'~', b'/', ..] | [b'.', b'/', ..] | [b'.', b'.', b'/', ..] => true,
        [drive, b':', b'/' | b'\\', ..] => drive.is_ascii_alphabetic(),
        [b'/', ..] => makeup.n_digits == 0 || makeup.n_upper == 0,
        _ => value.windows(2).any(|pair| pair == b":\\"),
    }
}

/// Returns whether a value without quotes may be the name of a variable, of a member, or of a
/// called function: `config.token`, `*flags.PWD`, `term.Pwd(`.
fn is_name(value: &[u8], makeup: &Makeup) -> bool {
    let is_pointer = matches!(value, [b'*' | b'&', ..]);
    let has_dot = value.contains(&b'.');
    let is_called = value.ends_with(b"(");
    let n_marks = makeup
        .n_marks
        .saturating_sub(usize::from(is_pointer))
        .saturating_sub(usize::from(is_called));
    makeup.n_digits == 0 && n_marks == 0 && (has_dot || is_pointer || is_called)
}

/// Returns whether a value is a path, or the name of a file.
fn is_path(value: &[u8], makeup: &Makeup) -> bool {
    const ENDINGS: &[&[u8]] = &[
        b".pem", b".key", b".json", b".txt", b".yml", b".yaml", b".env", b".py", b".js", b".ts",
        b".tsx", b".go", b".rs", b".md", b".html", b".com", b".org", b".net", b".io",
    ];
    let is_ended = ENDINGS.iter().any(|ending| value.ends_with(ending));
    let is_mail = value.contains(&b'@') && value.contains(&b'.') && makeup.n_marks == 1;
    let is_rooted = matches!(value, [b'/' | b'~' | b'.', ..]);
    is_ended || is_mail && makeup.n_digits < 3 || is_rooted || value.contains(&b'/')
}

/// Returns whether a value is hexadecimal, with digits and letters.
fn is_hex(value: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    value.len() >= 16
        && value.iter().all(u8::is_ascii_hexdigit)
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
}

/// Returns whether a value is a UUID.
pub(crate) fn is_uuid(value: &[u8]) -> bool {
    let is_fit = |(n, byte): (usize, &u8)| match n {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    value.len() == 36 && value.iter().enumerate().all(is_fit)
}

/// Returns whether a value is 32 or 64 random bytes in base64 with padding.
fn is_padded(value: &[u8]) -> bool {
    let is_long = matches!(value.len(), 44 | 88) && value.ends_with(b"=");
    is_long && value.iter().all(|byte| BASE64.has(*byte)) && Makeup::of(value).is_random()
}

/// Returns whether a value of at least 12 bytes is random, also with a single digit: `LmRvBnw6KcYsqZtX`. It may be the name
/// of a thing, so something else must say that it is a secret.
pub(crate) fn is_scrambled(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    let is_mixed = makeup.n_lower > 1 && makeup.n_upper > 1 || makeup.n_digits > 1;
    let is_rare = makeup.is_random() || has_many_humps(value);
    value.len() >= 12 && is_mixed && is_rare && !value.contains(&b'/')
}

/// Returns whether a value is a secret even without a sign between it and its name: it has many
/// digits, or all kinds of characters.
pub(crate) fn is_strong(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    let is_generated = value.len() >= 16 && makeup.n_digits > 1 && is_random(value, &makeup);
    has_all_classes(value, &makeup) || is_hex(value) || is_generated
}

/// Returns whether a value is the name of a constant, of a file or of a type: `PKCS5_PBKDF2_HMAC`, `00FE67F2.asc`.
pub(crate) fn is_thing_of_code(value: &[u8]) -> bool {
    let is_capital =
        |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    // `ACORN_61158` is no name.
    let n_digits = value.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let is_constant = value.contains(&b'_') && value.iter().all(is_capital) && n_digits < 4;
    let ending = value.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    let is_file = (1..=5).contains(&ending.len())
        && ending.len() < value.len()
        && ending.iter().all(u8::is_ascii_lowercase);
    let is_random = value.len() >= 14 && Makeup::of(value).n_digits > 2 && is_scrambled(value);
    // `mlkem.MLKEM768PrivateKey`
    let is_type = value.starts_with(b"Win32") || value.ends_with(b"PrivateKey");
    is_constant || is_file && !is_random || is_type
}
