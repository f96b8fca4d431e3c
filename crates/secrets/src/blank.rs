//! Decides whether a value follows a name with only blanks between them.
//!
//! In: `machine x login ada password x`, from the end of the name. Out: true. `password field` has none.

use memchr::memmem;

use crate::{
    announced,
    announced::is_spoken,
    around::{context, without_placeholders},
    cursor::Cursor,
    edge::is_edge,
    name::Name,
    span::{bare_end, ends_line, is_blank},
    value::{Kind, is_scrambled, is_strong},
    worded::{are_words_and_number, is_coined, is_invented, is_word_list},
};

/// Returns whether a password follows a name in prose: `with pwd x`.
pub(crate) fn is_said_with(name: &Name<'_>, at: Cursor<'_>) -> bool {
    // `pass` is mostly a verb.
    let is_verb = name.end.since(name.start.place()).eq_ignore_ascii_case(b"pass");
    (!is_verb || at.window_before(7).ends_with(b"phrase ")) && is_spoken(at)
}

/// Moves past the digit that says how a router encrypts a password: `password 0 x`.
pub(crate) fn past_level(at: Cursor<'_>) -> Cursor<'_> {
    match at.window(2) {
        [b'0'..=b'9', b' '] => at.forward(2),
        _ => at,
    }
}

/// Returns whether a name and a value are a line of settings, as many tools have them: `remote_password x`. The value must
/// have several digits, because a name and a word may be a heading.
pub(crate) fn is_setting(name: &Name<'_>, kind: Kind, start: Cursor<'_>) -> bool {
    const USERS: &[&[u8]] = &[b"user ", b"username ", b"enable", b"neighbor ", b"ppp ", b"Xauth "];
    const DEVICES: &[&[u8]] = &[b"enable ", b"username ", b"IPSec "];
    let is_password = matches!(kind, Kind::Password | Kind::Pass);
    if name.is_option() || !is_password && kind != Kind::Secret {
        return false;
    }
    // Most names in prose have a word after them, so the line is searched last.
    let start = past_level(start);
    let end = bare_end(start, |_| false);
    let value = end.since(start.place());
    let n_digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_fit = value.len() >= 8 && n_digits >= 2
        || is_strong(value)
        || is_scrambled(value)
        || is_word_list(value, 0);
    let after = end.skip(8, |byte| is_blank(byte) || byte == b';');
    if !is_fit || !ends_line(after) || value.contains(&b'/') {
        return false;
    }
    let before = context(name.start, 80).trim_ascii_start();
    let line = before.rsplit(|byte| *byte == b'"').next().unwrap_or_default();
    // The name of a file may be before the line: `router.cfg:40:enable secret 0 x`.
    let is_start = |n: usize| {
        let before = n.checked_sub(1).and_then(|n| line.get(n));
        before.is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b' ')
    };
    let is_after =
        |texts: &[&[u8]]| texts.iter().any(|text| memmem::find(line, text).is_some_and(is_start));
    if !is_password {
        return is_after(DEVICES);
    }
    // A search before decoding sees the quote of JSON. `d-i passwd/root-password password x`
    let last = before.trim_ascii_end();
    last.is_empty()
        || last.ends_with(b"\"")
        || last.ends_with(b"stdout>")
        || last.ends_with(b"Request:")
        || last.ends_with(b"C:")
        || last == b">"
        || is_after(USERS)
        || last.ends_with(b"-password")
        || last.ends_with(b"/password")
}

/// Returns whether a value follows a name in the next column of a table, or in prose: `username
/// ada, password 70b6d4fe04ae45ec18514515`. It must be strong.
pub(crate) fn is_apart(name: &Name<'_>, kind: Kind, start: Cursor<'_>) -> bool {
    const SAID: &[&[u8]] = &[
        b"password",
        b"passwd",
        b"passcode",
        b"passphrase",
        b"pass",
        b"pwd",
        b"passwort",
        b"Password",
        b"Passwort",
        b"Pwd",
        b"Pass",
    ];
    let text = name.end.since(name.start.place());
    let is_prose = matches!(kind, Kind::Password | Kind::Passphrase) && SAID.contains(&text);
    if name.is_owned() && !is_prose {
        return is_long(start);
    }
    // `replace the token x`
    if !name.is_option()
        && !name.is_property()
        && (name.is_bare() || !name.is_compound())
        && matches!(kind, Kind::TokenOrUuid | Kind::Secret)
    {
        return is_mixed(start);
    }
    // `fs.s3a.secret.key x` is a setting of Hadoop.
    if name.is_property() && !is_prose {
        let after = bare_end(start, |_| false).skip(8, is_blank);
        return ends_line(after) && is_long(start);
    }
    if name.is_option() || !(is_prose || name.is_compound()) {
        return false;
    }
    let value = bare_end(start, |_| false).since(start.place());
    let is_column = start.since(name.end.place()).len() > 1 && name.is_constant();
    let is_given = || {
        let n_digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
        let is_random = n_digits > 0 && value.len() >= 10 && is_scrambled(value);
        let is_fit = n_digits > 2 && value.len() > 7 || is_invented(value) || is_random;
        let is_fit = is_fit || is_coined(value);
        const ADJECTIVES: &[&[u8]] = &[
            b"generated ",
            b"new ",
            b"old ",
            b"temporary ",
            b"temp ",
            b"initial ",
            b"default ",
            b"current ",
        ];
        let before = context(name.start, 12);
        let is_list = !value.contains(&b'-') && are_words_and_number(value);
        let is_one = (is_random || is_list || is_coined(value))
            && ADJECTIVES.iter().any(|word| before.ends_with(word));
        is_one || is_fit && is_given(name.start)
    };
    match is_prose {
        true => {
            let is_clear =
                is_invented(value) && !value.contains(&b'_') || announced::is_mixed(value);
            is_clear || is_strong(value) || is_word_list(value, 0) || is_given()
        }
        // A random word may have no digit.
        false => {
            let is_scrambled = || name.is_compound() && is_scrambled(value);
            is_strong(value) && (is_column || is_long(start)) || value.len() >= 24 && is_scrambled()
        }
    }
}

/// Returns whether the value of a name follows without a verb: `ada with password x`, `user ada, password x`.
pub(crate) fn is_given(start: Cursor<'_>) -> bool {
    const WITH: &[&[u8]] =
        &[b"with ", b" mit ", b" avec ", b" con ", b" com ", b" med ", b" met ", b" dem "];
    WITH.iter().any(|word| start.window_before(6).ends_with(word)) || is_introduced(start)
}

/// Returns whether a user, a network or a login is named before a password.
pub(crate) fn is_introduced(start: Cursor<'_>) -> bool {
    const WORDS: &[&[u8]] = &[
        b"user",
        b"User",
        b"login",
        b"Login",
        b"ugang",
        b"creds",
        b"ssid",
        b"SSID",
        b"wifi",
        b"WLAN",
        b"mail",
        b"@",
        b"suario",
        b"Benutzer",
        b"tilisateur",
        b"tente",
        b"Anmelde",
    ];
    let before = context(start, 48);
    WORDS.iter().any(|word| memmem::find(before, word).is_some())
}

/// Returns whether a random word of at least 20 letters and digits starts at a position, which is no hash and no id.
fn is_mixed(start: Cursor<'_>) -> bool {
    let value = bare_end(start, |_| false).since(start.place());
    let count = |is: fn(&u8) -> bool| value.iter().filter(|byte| is(byte)).count();
    value.len() >= 20
        && value.iter().all(u8::is_ascii_alphanumeric)
        && count(u8::is_ascii_lowercase) > 2
        && count(u8::is_ascii_uppercase) > 2
        && is_strong(value)
}

/// Returns whether a strong value of at least 20 bytes starts at a position, and no file.
pub(crate) fn is_long(start: Cursor<'_>) -> bool {
    let value = bare_end(start, |_| false).since(start.place());
    value.len() >= 20 && is_strong(value)
}

/// Returns whether a value follows a name after a blank: of an option, in a `.netrc`, in a
/// `Dockerfile`, after a command that sets it.
pub(crate) fn is_argument(name: &Name<'_>) -> bool {
    /// Bytes before the name that are searched for a command.
    const MAX_CONTEXT: usize = 160;
    const CONTEXTS: &[&[u8]] = &[
        b"login ",
        b"machine ",
        b"ENV ",
        b"ARG ",
        b"set ",
        b"setx ",
        b"set -",
        b"config ",
        b"setenv ",
        b"SetEnv ",
        b"secret ",
        b"add ",
        b"connect ",
        b"fastcgi_param ",
    ];
    let before = context(name.start, MAX_CONTEXT);
    // `pulumi config set --secret NAME x`: the option has no value.
    let is_flag = name.end.since(name.start.place()) == b"--secret"
        && memmem::find(before, b" config ").is_some();
    if is_flag {
        return false;
    }
    // The lines of a `.netrc`.
    let lines = without_placeholders(name.start.window_before(MAX_CONTEXT));
    if name.end.since(name.start.place()) == b"password" && memmem::find(lines, b"login ").is_some()
    {
        return true;
    }
    let is_first = is_edge(name.start.before());
    let is_of_redis = name.end.since(name.start.place()) == b"requirepass"
        || name.end.since(name.start.place()) == b"masterauth";
    // `--auth-type=token x`
    let is_kind = name.start.previous() == Some(b'=')
        && before.rsplit(|byte| *byte == b' ').next().is_some_and(|word| word.starts_with(b"--"));
    name.is_option() && is_first
        || is_kind
        || is_of_redis
        || CONTEXTS.iter().any(|context| memmem::find(before, context).is_some())
}
