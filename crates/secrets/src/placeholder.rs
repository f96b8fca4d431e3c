//! Recognizes placeholders of secrets: `changeme`, `ghp_xxxx`, `${TOKEN}`, `AKIAIOSFODNN7EXAMPLE`.

use std::sync::LazyLock;

use memchr::memmem;

/// The start of each placeholder that stands for a secret.
pub(crate) const PLACEHOLDER: &[u8] = b"[REDACTED:";

/// Limit in bytes for a placeholder.
pub(crate) const LONGEST: usize = 48;

/// Number of bytes of a value that are compared.
const MAX_LOOK: usize = 128;

/// Parts of example keys. A random string of 60 letters contains one with a chance of 1 in 30,000.
///
/// The last ones are the token in the documentation of Telegram, the keys of the emulators of Azure, and the claims of the
/// example on jwt.io.
static MARKS: LazyLock<Words> = LazyLock::new(|| {
    Words::new(&[
        "example",
        "****",
        "....",
        "placeholder",
        "redacted",
        "changeme",
        "dummy",
        "replace",
        "abc-def1234ghikl",
        "eby8vdm02xnocqflqu",
        "c2y6ydjf5/r+ob0n8a",
        "eyjzdwiioiixmjm0nty3odkwiiwibmftzsi6ikpvag4grg9l",
        // Digits in order, a password of a known comic, and the user of RFC 7617.
        "1234567890abcdef",
        "correct-horse-battery",
        "qwxhzgrpbjpvcgvuihnlc2ftzq",
    ])
});

/// Further parts of values that are not secrets, for values with a name.
static TEMPLATES: LazyLock<Words> = LazyLock::new(|| {
    Words::new(&[
        "${",
        "$(",
        "{{",
        "}}",
        "<%",
        "%(",
        "#{",
        "@{",
        "://",
        "->",
        "::",
        "&&",
        "||",
        "...",
        "your-",
        "your_",
        "yourpass",
        "yoursecret",
        "yourtoken",
        "yourapi",
        "yourkey",
        "change-me",
        "change_me",
        "change-this",
        "fake",
        "mock",
        "sample",
        "insert",
        "todo",
        "not-a-",
        "notreal",
        "not_real",
        "-here",
        "_here",
        "xxx-",
        "-xxx",
        "env.",
        "environ",
        "secrets.",
        "getenv",
        "arn:",
        "sha256:",
        "vault:",
        "enc[",
        "$ref",
    ])
});

/// Words that are not passwords, alone or combined, with any digits.
static WEAK: LazyLock<Words> = LazyLock::new(|| {
    Words::new(&[
        "abc",
        "any",
        "array",
        "bool",
        "boolean",
        "buffer",
        "bytes",
        "dict",
        "float",
        "int",
        "list",
        "map",
        "number",
        "object",
        "option",
        "optional",
        "uint",
        "vec",
        "abcd",
        "abcde",
        "abcdef",
        "abcdefg",
        "abcdefgh",
        "access",
        "account",
        "admin",
        "an",
        "api",
        "app",
        "arg",
        "auth",
        "bad",
        "bar",
        "basic",
        "baz",
        "bearer",
        "bot",
        "client",
        "code",
        "config",
        "correct",
        "credential",
        "credentials",
        "data",
        "database",
        "db",
        "default",
        "demo",
        "dev",
        "development",
        "empty",
        "env",
        "expired",
        "false",
        "field",
        "file",
        "first",
        "foo",
        "github",
        "good",
        "google",
        "guest",
        "hash",
        "header",
        "hello",
        "id",
        "input",
        "invalid",
        "is",
        "jwt",
        "key",
        "local",
        "login",
        "master",
        "missing",
        "mock",
        "my",
        "mysql",
        "name",
        "new",
        "none",
        "not",
        "null",
        "old",
        "one",
        "other",
        "param",
        "pass",
        "passphrase",
        "passwd",
        "password",
        "path",
        "plain",
        "postgres",
        "private",
        "prod",
        "production",
        "public",
        "pw",
        "pwd",
        "qux",
        "qwerty",
        "redis",
        "refresh",
        "required",
        "root",
        "sa",
        "second",
        "secret",
        "secrets",
        "secure",
        "server",
        "service",
        "session",
        "short",
        "sk",
        "some",
        "source",
        "staging",
        "str",
        "string",
        "strong",
        "super",
        "target",
        "temp",
        "test",
        "testing",
        "text",
        "the",
        "this",
        "tmp",
        "token",
        "true",
        "two",
        "type",
        "undefined",
        "user",
        "username",
        "valid",
        "value",
        "var",
        "variable",
        "weak",
        "webhook",
        "world",
        "wrong",
        "xyz",
    ])
});

/// Words by their first byte, so that a search reads a text once and not once for each word.
struct Words(Vec<Vec<&'static str>>);

impl Words {
    fn new(words: &[&'static str]) -> Self {
        let of_byte = |byte: u8| {
            let mut found: Vec<_> = words
                .iter()
                .copied()
                .filter(|word| word.as_bytes().first() == Some(&byte))
                .collect();
            found.sort_by_key(|word| std::cmp::Reverse(word.len()));
            found
        };
        Self((0..=u8::MAX).map(of_byte).collect())
    }

    /// Returns the longest word at the start of a text.
    fn at_start(&self, text: &[u8]) -> Option<&'static str> {
        let words = self.0.get(usize::from(*text.first()?))?;
        words.iter().copied().find(|word| text.starts_with(word.as_bytes()))
    }

    /// Returns whether a text contains one of the words.
    fn is_in(&self, text: &[u8]) -> bool {
        (0..text.len()).any(|n| text.get(n..).and_then(|rest| self.at_start(rest)).is_some())
    }
}

/// Returns whether a token is an example from documentation, or already redacted.
pub(crate) fn is_example(token: &[u8]) -> bool {
    let (lower, length) = lowercase(token);
    let lower = lower.get(..length).unwrap_or_default();
    // Backslashes repeat in JSON within JSON.
    // A long token may have zeros inside, as letters: `Dm6YagtGfNnAAAAAAAAAAc..`.
    let is_run = |run: &[u8]| {
        let is_long = run.len() >= 8 && run.len().saturating_mul(4) >= lower.len();
        is_long && run.first().is_some_and(u8::is_ascii_alphanumeric)
    };
    let repeats = lower.chunk_by(|a, b| a == b).any(is_run);
    // The letter x four times in one case: a random value may have it in both.
    let start = token.get(..MAX_LOOK).unwrap_or(token);
    let has_crosses = start.windows(4).any(|four| four == [b'x'; 4] || four == [b'X'; 4]);
    repeats || has_crosses || MARKS.is_in(lower) || memmem::find(token, PLACEHOLDER).is_some()
}

/// Returns whether the value of a name such as `password` is a placeholder for a reader or a
/// template.
pub(crate) fn is_template(value: &[u8]) -> bool {
    let (lower, length) = lowercase(value);
    let lower = lower.get(..length).unwrap_or_default();
    is_example(value)
        || TEMPLATES.is_in(lower)
        || is_in_brackets(lower)
        || is_variable(value)
        || is_sequence(lower)
}

/// Returns whether a value is a variable of the environment: `$PGPASS`, `$MYSQL_PWD`, `$TOKEN2`.
fn is_variable(value: &[u8]) -> bool {
    let [b'$', name @ ..] = value else { return false };
    let n_digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let letters = name.get(..name.len().saturating_sub(n_digits)).unwrap_or_default();
    letters.len() > 2
        && n_digits <= 2
        && letters.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_')
}

/// Returns whether a value consists of a few common words and digits, such as `test-password-1`.
pub(crate) fn is_weak(value: &[u8]) -> bool {
    let (lower, length) = lowercase(value);
    let lower = lower.get(..length).unwrap_or_default();
    value.len() <= MAX_LOOK
        && !is_long_hex(lower)
        && lower.split(|byte| !byte.is_ascii_alphabetic()).all(are_weak)
}

/// Returns whether a value is hexadecimal and too long to be typed. Its letters are scattered among
/// digits and make no words.
fn is_long_hex(lower: &[u8]) -> bool {
    let n_letters = lower.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let is_turn = |pair: &&[u8]| matches!(pair, [a, b] if a.is_ascii_digit() != b.is_ascii_digit());
    let n_turns = || lower.windows(2).filter(is_turn).count();
    lower.iter().all(u8::is_ascii_hexdigit)
        && (lower.len() >= 24 && n_letters >= 4 || lower.len() >= 16 && n_turns() >= 6)
}

/// Returns whether some letters are a sequence of weak words.
fn are_weak(letters: &[u8]) -> bool {
    /// Limit for the words of a placeholder.
    const MAX_WORDS: usize = 8;
    let mut rest = letters;
    for _ in 0..MAX_WORDS {
        if rest.len() <= 1 {
            return true;
        }
        let Some(word) = WEAK.at_start(rest) else { return false };
        rest = rest.get(word.len()..).unwrap_or_default();
    }
    false
}

/// Returns whether a value is a name in brackets or after a sign: `<token>`, `%TOKEN%`, `$TOKEN`.
fn is_in_brackets(lower: &[u8]) -> bool {
    let is_name = |text: &[u8]| {
        text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-. :".contains(byte))
    };
    match lower {
        [b'<', ..] | [.., b'>'] | [b'&', b'l', b't', b';', ..] => true,
        [b'[', inner @ .., b']'] | [b'{', inner @ .., b'}'] | [b'%', inner @ .., b'%'] => {
            is_name(inner)
        }
        [b'$', first, rest @ ..] if !first.is_ascii_digit() || rest.is_empty() => {
            is_name(rest) && !crate::randomness::Makeup::of(rest).is_random()
        }
        _ => false,
    }
}

/// Returns whether most bytes are the successor of the previous one: `abcdefgh12345678`.
fn is_sequence(lower: &[u8]) -> bool {
    let is_step = |pair: &&[u8]| matches!(pair, [a, b] if a.checked_add(1) == Some(*b) || (*a, *b) == (b'9', b'0'));
    let n_steps = lower.windows(2).filter(is_step).count();
    n_steps.saturating_mul(2) >= lower.len()
}

/// Returns the start of a text in lower case, and its length.
fn lowercase(text: &[u8]) -> ([u8; MAX_LOOK], usize) {
    let mut lower = [0; MAX_LOOK];
    for (to, from) in lower.iter_mut().zip(text) {
        *to = from.to_ascii_lowercase();
    }
    (lower, text.len().min(MAX_LOOK))
}

/// Returns whether an item of a list is a check of a form with limits: `min:12`, `between:8,64`.
pub(crate) fn is_check(item: &[u8]) -> bool {
    let mut parts = item.splitn(2, |byte| *byte == b':');
    let (name, limits) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let is_limit =
        |text: &[u8]| (1..=4).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    name.len() > 1
        && name.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'_')
        && limits.split(|byte| *byte == b',').all(is_limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_and_templates_are_known() {
        for text in ["AKIAIOSFODNN7EXAMPLE", "ghp_xxxx", "********", "0000000000000000"] {
            assert!(is_example(text.as_bytes()), "{text}");
        }
        for text in ["${TOKEN}", "<your-token>", "%PASSWORD%", "$DB_PASS", "abcdefgh12345678"] {
            assert!(is_template(text.as_bytes()), "{text}");
        }
        for text in ["password123", "test-password-1", "MySecretKey", "admin"] {
            assert!(is_weak(text.as_bytes()), "{text}");
        }
        for text in ["hunter2", "xK9!qLz2", "tigerlily42"] {
            assert!(!is_weak(text.as_bytes()) && !is_template(text.as_bytes()), "{text}");
        }
    }
}
