//! Recognizes names of secrets: `DB_PASSWORD`, `apiKey`, `client_secret`; not `token_count`,
//! `primary_key`.

use crate::{
    class::WORD,
    cursor::Cursor,
    edge::is_edge,
    placeholder::{LONGEST, PLACEHOLDER},
    value::Kind,
    words::{
        FINDERS, KEY_OWNERS, OPENERS, OTHER_PASSES, OTHER_TAILS, OTHER_TOKENS, PASSES,
        SECRET_OWNERS, TOKEN_OPENERS, TOKEN_OWNERS,
    },
};

/// The word in a name that marks its value as a secret.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Word {
    /// `pass`, with `password`, `passwd` and `passphrase`.
    Pass,
    /// `pwd`, `pw`.
    Pwd,
    Secret,
    Token,
    /// `key`, after a word that names the access.
    Key,
    Credential,
    Authorization,
    /// `auth`, as Docker and npm write it.
    Auth,
    /// `pat`: a personal access token.
    Pat,
    /// `session`, in the name of a session cookie.
    Session,
    /// `salt` or `pepper` after its purpose, such as a hash or a cookie: `HASH_SALT`.
    Salt,
}

/// Limit in bytes for a name.
const MAX_NAME: usize = 64;

/// A name in some text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name<'b> {
    pub(crate) start: Cursor<'b>,
    pub(crate) end: Cursor<'b>,
    head: &'b [u8],
    tail: &'b [u8],
}

impl<'b> Name<'b> {
    /// Returns the name around a word; `None` if it is too long.
    pub(crate) fn around(start: Cursor<'b>, end: Cursor<'b>) -> Option<Self> {
        /// Length of `u2192` in the escape `\u2192`.
        const UNICODE: usize = 5;
        let is_in = |byte: u8| WORD.has(byte) || byte == b'-';
        let before = start.window_before(MAX_NAME);
        let mut n_head =
            before.iter().rev().take_while(|byte| is_in(**byte) || **byte == b'.').count();
        let tail_end = end.skip(MAX_NAME, is_in);
        if n_head >= MAX_NAME || tail_end.since(end.place()).len() >= MAX_NAME {
            return None;
        }
        let escape = start.back(n_head);
        if escape.previous() == Some(b'\\')
            && matches!(escape.next(), Some(b'b' | b'f' | b'n' | b'r' | b't'))
        {
            n_head = n_head.saturating_sub(1);
        }
        // The digits of an escaped mark: `\u2192password` in the listing of a file.
        if escape.previous() == Some(b'\\') && is_edge(escape.forward(UNICODE).before()) {
            n_head = n_head.saturating_sub(UNICODE);
        }
        let name_start = start.back(n_head);
        if follows_placeholder(name_start) {
            return None;
        }
        let head = start.since(name_start.place());
        Some(Self { start: name_start, end: tail_end, head, tail: tail_end.since(end.place()) })
    }

    /// Returns whether the name is an option of a command: `--password`.
    pub(crate) fn is_option(&self) -> bool {
        self.head.starts_with(b"-")
    }

    /// Returns whether nothing is before the word of the name: `token`.
    pub(crate) fn is_bare(&self) -> bool {
        self.head.is_empty()
    }

    /// Returns whether a word before the name says that its value is a secret: `client secret`, `API key`.
    pub(crate) fn is_owned(&self) -> bool {
        if !self.is_bare() || self.start.previous() != Some(b' ') {
            return false;
        }
        let before = self.start.window_before(16).strip_suffix(b" ").unwrap_or_default();
        // A search before decoding sees the letter of an escaped line break.
        let escape = memchr::memmem::rfind(before, b"\\n").map(|at| at.saturating_add(2));
        let before = escape.and_then(|at| before.get(at..)).unwrap_or(before);
        let last = before.rsplit(|byte| !byte.is_ascii_alphabetic()).next().unwrap_or_default();
        let owners = match self.end.since(self.start.place()).first() {
            Some(b'k' | b'K') => KEY_OWNERS,
            Some(b't' | b'T') => TOKEN_OWNERS,
            Some(b's' | b'S') => SECRET_OWNERS,
            _ => return false,
        };
        owners.iter().any(|owner| is(last, owner))
    }

    /// Returns whether the name has several words with `_` or `-` between them: `okta_token`.
    pub(crate) fn is_compound(&self) -> bool {
        let text = self.end.since(self.start.place());
        text.iter().any(|byte| matches!(byte, b'_' | b'-')) && !self.is_option()
    }

    /// Returns whether the name is that of a setting with at least two dots: `fs.s3a.secret.key`.
    pub(crate) fn is_property(&self) -> bool {
        self.head.iter().filter(|byte| **byte == b'.').count() > 1 && !self.is_option()
    }

    /// Returns whether the name is that of a constant or of an environment variable: `API_KEY`.
    pub(crate) fn is_constant(&self) -> bool {
        let text = self.end.since(self.start.place());
        text.contains(&b'_')
            && text
                .iter()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
    }

    /// Returns the kind of value of the name, if it may be a secret.
    pub(crate) fn kind(&self, word: Word) -> Option<Kind> {
        let head = self.head;
        let (attached, tail) = attached(self.tail);
        let is_attached = |allowed: &[&str]| allowed.iter().any(|text| is(attached, text));
        let is_id = word == Word::Secret && attached.is_empty() && is_only_id(tail);
        if is_id && !ends_with_any(head, &["client"]) {
            return Some(Kind::Id);
        }
        // `VAULT_DEV_ROOT_TOKEN_ID` is the token itself.
        if word == Word::Token
            && attached.is_empty()
            && is_only_id(tail)
            && ends_with_any(head, &["root"])
        {
            return Some(Kind::Secret);
        }
        if is_other_tail(tail) {
            return None;
        }
        let is_other = |others: &[&str]| others.iter().any(|other| is(last_word(head), other));
        match word {
            Word::Pass => {
                let is_alone = attached.is_empty();
                let is_fit = is_attached(PASSES) && !(is_alone && is_other(OTHER_PASSES));
                let is_phrase = is(attached, "phrase");
                let is_vague = is_alone && last_word(head).is_empty();
                is_fit.then_some(match is_phrase {
                    true => Kind::Passphrase,
                    false if is_vague => Kind::Pass,
                    false => Kind::Password,
                })
            }
            Word::Pwd => {
                let is_vague = last_word(head).is_empty();
                let kind = if is_vague { Kind::Pass } else { Kind::Password };
                (attached.is_empty() && !is_other(&["old", "OLD"])).then_some(kind)
            }
            // The secrets of Amazon are mostly passwords.
            Word::Secret if is(tail, "string") || is(tail, "_string") => Some(Kind::Password),
            // A person may invent the secret of a webhook.
            Word::Secret if self.is_of_webhook() => attached.is_empty().then_some(Kind::Password),
            // `ClientSecretCredential(tenant, client, secret)` starts with ids.
            Word::Secret if tail == b"Credential" => None,
            Word::Secret => attached.is_empty().then_some(Kind::Secret),
            Word::Credential => is_attached(&["", "s"]).then_some(Kind::Token),
            // The name of an assembly of .NET has the hash of a key.
            Word::Token if ends_with_words(head, &[b"PublicKey"]) => None,
            Word::Token if self.is_of_public_key() => None,
            Word::Token if attached.is_empty() && !is_other(OTHER_TOKENS) => {
                let is_opener = ends_with_any(head, TOKEN_OPENERS);
                Some(if is_opener { Kind::Secret } else { Kind::TokenOrUuid })
            }
            Word::Key if attached.is_empty() => self.kind_of_key(),
            // `APP_KEYS="x,y"`
            Word::Key if is(attached, "s") && self.is_constant() => {
                ends_with_any(head, OPENERS).then_some(Kind::Secret)
            }
            Word::Authorization if attached.is_empty() => Some(Kind::Authorization),
            Word::Auth => {
                let is_whole = attached.is_empty() && tail.is_empty();
                let is_ended = is_whole
                    || ["base64", "b64", "config"].iter().any(|end| {
                        tail.ends_with(end.as_bytes()) || tail.eq_ignore_ascii_case(end.as_bytes())
                    });
                match head {
                    [.., b'o' | b'O'] => is_whole.then_some(Kind::Token),
                    _ => is_ended.then_some(Kind::UserAndPassword),
                }
            }
            Word::Pat => {
                let is_whole = attached.is_empty() && tail.is_empty();
                is_whole.then_some(Kind::Token)
            }
            Word::Salt => {
                let is_whole = attached.is_empty() && tail.is_empty();
                let is_pepper = self.end.since(self.start.place()).eq_ignore_ascii_case(b"pepper");
                (is_whole && (is_pepper || !last_word(head).is_empty())).then_some(Kind::Token)
            }
            Word::Session => {
                let is_whole = is_attached(&["", "id"]) && tail.is_empty();
                is_whole.then_some(Kind::Token)
            }
            _ => None,
        }
    }

    /// Returns the kind of the items of a list, if the name says that they may be secrets: `tokens`, `DB_PASSWORDS`.
    pub(crate) fn plural(&self, word: Word) -> Option<Kind> {
        let (attached, tail) = attached(self.tail);
        if !tail.is_empty() {
            return None;
        }
        let is_other = |others: &[&str]| others.iter().any(|other| is(last_word(self.head), other));
        match word {
            Word::Pass => {
                let is_fit =
                    ["words", "wds", "codes", "phrases"].iter().any(|end| is(attached, end));
                is_fit.then_some(Kind::Passwords)
            }
            Word::Credential => is(attached, "s").then_some(Kind::Tokens),
            Word::Secret => is(attached, "s").then_some(Kind::Secrets),
            Word::Token => (is(attached, "s") && !is_other(OTHER_TOKENS)).then_some(Kind::Tokens),
            Word::Key => {
                (is(attached, "s") && ends_with_any(self.head, OPENERS)).then_some(Kind::Tokens)
            }
            _ => None,
        }
    }

    /// Returns whether the name or the object around it belongs to a webhook: `GITHUB_WEBHOOK_SECRET`,
    /// `{"insecure_ssl":"0","secret":`.
    fn is_of_webhook(&self) -> bool {
        let is_bare = || {
            let near = self.start.window_before(120);
            [&b"insecure_ssl"[..], b"webhook", b"hook_url"]
                .iter()
                .any(|word| memchr::memmem::find(near, word).is_some())
        };
        ends_with_any(self.head, &["webhook", "hook"]) || self.is_bare() && is_bare()
    }

    /// Returns whether a token is that of a public key: `public key token=b77a5c561934e089`. A redacted secret may have
    /// taken the first word.
    fn is_of_public_key(&self) -> bool {
        let before = self.start.window_before(11);
        before == b"public key " || before.ends_with(b"] key ")
    }

    fn kind_of_key(&self) -> Option<Kind> {
        let is_opener = |head| ends_with_any(head, OPENERS);
        if self.head.is_empty() {
            // `Secret access key: x`
            let words = self.start.window_before(16).strip_suffix(b" ");
            let words = words.filter(|words| words.last().is_some_and(u8::is_ascii_alphanumeric));
            return match words {
                Some(words) if is_opener(words) => Some(Kind::Secret),
                Some(words) if ends_with_any(words, &["routing"]) => Some(Kind::Routing),
                // `here is the key: x`
                Some(words) if ends_with_words(words, &[b"here is the", b"here's the"]) => {
                    Some(Kind::Secret)
                }
                // `the key for the storage account: x`
                Some(words) => ends_with_any(words, &["the", "this"]).then_some(Kind::Padded),
                None => Some(Kind::Padded),
            };
        }
        if ends_with_any(self.head, &["primary", "secondary"]) {
            return Some(Kind::Padded);
        }
        if ends_with_any(self.head, &["routing"]) {
            return Some(Kind::Routing);
        }
        if last_word(self.head).is_empty() || ends_with_any(self.head, FINDERS) {
            return None;
        }
        Some(if is_opener(self.head) { Kind::Secret } else { Kind::Token })
    }
}

/// Returns whether a word in the end of a name says that its value is no secret.
pub(crate) fn is_other_tail(tail: &[u8]) -> bool {
    words(tail).any(|word| OTHER_TAILS.iter().any(|other| is(word, other)))
}

/// Returns whether a placeholder of a redacted secret ends at a position. The text after it was
/// searched before the redaction.
pub(crate) fn follows_placeholder(place: Cursor<'_>) -> bool {
    let [before @ .., b']'] = place.window_before(LONGEST) else { return false };
    let start = before.iter().rev().take_while(|byte| **byte != b'[').count().saturating_add(1);
    before
        .len()
        .checked_sub(start)
        .and_then(|at| before.get(at..))
        .is_some_and(|text| text.starts_with(PLACEHOLDER))
}

/// Returns whether the rest of a name is `id`.
fn is_only_id(tail: &[u8]) -> bool {
    let tail = tail.strip_prefix(b"_").or_else(|| tail.strip_prefix(b"-")).unwrap_or(tail);
    is(tail, "id")
}

/// Splits the text after a word into the letters that continue it and the following words.
fn attached(tail: &[u8]) -> (&[u8], &[u8]) {
    let is_upper = |byte: &u8| byte.is_ascii_uppercase();
    // In `PASSWORD`, capitals continue the word. In `passConfirm`, a capital starts the next one.
    let goes_on: fn(&u8) -> bool = match tail {
        [first, second, ..] if is_upper(first) && !is_upper(second) => |_| false,
        [first, ..] if is_upper(first) => u8::is_ascii_uppercase,
        _ => u8::is_ascii_lowercase,
    };
    tail.split_at(tail.iter().take_while(|byte| goes_on(byte)).count())
}

/// Returns the words of a name: `tokenCount_2` has `token`, `Count` and `2`.
fn words(name: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    let same = |a: &u8, b: &u8| {
        a.is_ascii_alphabetic() == b.is_ascii_alphabetic()
            && a.is_ascii_digit() == b.is_ascii_digit()
            && !(a.is_ascii_lowercase() && b.is_ascii_uppercase())
    };
    name.chunk_by(same)
}

/// Returns the last word before a word, without separators.
fn last_word(head: &[u8]) -> &[u8] {
    let is_letter = |word: &&[u8]| word.iter().all(u8::is_ascii_alphanumeric);
    words(head).rfind(is_letter).unwrap_or_default()
}

/// Returns whether the last word of a text has one of some endings.
fn ends_with_any(head: &[u8], endings: &[&str]) -> bool {
    let last = last_word(head);
    endings.iter().any(|ending| {
        let start = last.len().checked_sub(ending.len());
        start.and_then(|start| last.get(start..)).is_some_and(|last| is(last, ending))
    })
}

/// Returns whether a text has one of some endings, of several words.
fn ends_with_words(text: &[u8], endings: &[&[u8]]) -> bool {
    endings.iter().any(|ending| text.ends_with(ending))
}

fn is(word: &[u8], text: &str) -> bool {
    word.eq_ignore_ascii_case(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str, word: Word, text: &str) -> Option<Kind> {
        let start = name.to_lowercase().find(text).expect("the word");
        let cursor = Cursor::new(name.as_bytes());
        Name::around(cursor.to(start), cursor.to(start + text.len()))?.kind(word)
    }

    #[test]
    fn names_say_what_their_values_are() {
        for name in ["DB_PASS", "password", "userPassword", "PASSWORD_2", "rootpass", "dbPasswd"] {
            assert_eq!(kind(name, Word::Pass, "pass"), Some(Kind::Password), "{name}");
        }
        for name in ["bypass", "passed", "password_hash", "passwordLength", "PASSWORD_FILE"] {
            assert_eq!(kind(name, Word::Pass, "pass"), None, "{name}");
        }
        for name in ["apiKey", "API_KEY", "x-api-key", "ENCRYPTION_KEY", "myapikey", "api key"] {
            assert_eq!(kind(name, Word::Key, "key"), Some(Kind::Secret), "{name}");
        }
        for name in ["foreign_key", "publicKey", "keyboard", "apiKeyId", "cacheKey"] {
            assert_eq!(kind(name, Word::Key, "key"), None, "{name}");
        }
        for name in ["primary_key", "key"] {
            assert_eq!(kind(name, Word::Key, "key"), Some(Kind::Padded), "{name}");
        }
        assert_eq!(kind("DATADOG_KEY", Word::Key, "key"), Some(Kind::Token));
        for name in ["tokens", "token_count", "nextToken", "tokenizer", "tokenType"] {
            assert_eq!(kind(name, Word::Token, "token"), None, "{name}");
        }
    }
}
