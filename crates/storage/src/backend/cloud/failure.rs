//! Turns errors of a store into messages without credentials.
//!
//! In: an answer 403 with `<Code>AccessDenied</Code>` for an URL with a signature. Out: an
//! `io::Error` of the kind `PermissionDenied` that names the code and not the URL.

use std::{error, io};

use object_store::Error;

use crate::backend::Changed;

/// Limit on the characters of a store's message that are shown.
const MAX_WORDS: usize = 160;

/// Converts an error of a store.
pub(super) fn failure(error: &Error) -> io::Error {
    let code = code_of(error);
    match error {
        _ if matches!(code.as_deref(), Some("NoSuchBucket" | "ContainerNotFound")) => {
            io::Error::new(io::ErrorKind::NotFound, "no such bucket")
        }
        Error::NotFound { .. } => io::Error::new(io::ErrorKind::NotFound, "no such object"),
        Error::AlreadyExists { .. } => io::ErrorKind::AlreadyExists.into(),
        Error::Precondition { .. } | Error::NotModified { .. } => io::Error::other(Changed),
        Error::PermissionDenied { .. } => denied("the store denies access", error),
        Error::Unauthenticated { .. } => denied("the store rejects the credentials", error),
        _ if is_status(error, "403") => denied("the store denies access", error),
        _ => {
            let words = format!("the store fails: {}", words(error));
            io::Error::new(io::ErrorKind::HostUnreachable, words)
        }
    }
}

fn denied(what: &str, error: &Error) -> io::Error {
    let code = code_of(error).map(|code| format!(" ({code})")).unwrap_or_default();
    io::Error::new(io::ErrorKind::PermissionDenied, format!("{what}{code}"))
}

/// Returns the message of the innermost error. The outer errors repeat it, and add the URL with its
/// query.
fn words(error: &Error) -> String {
    if let Some(code) = code_of(error) {
        return code;
    }
    let first = innermost(error).to_string();
    // A server's answer may be a whole page; its first line is enough.
    let line = first.lines().next().unwrap_or_default();
    let line = line.split(['<', '{']).next().unwrap_or_default();
    let is_address = |word: &&str| word.contains("://") || word.contains('?');
    let words: Vec<&str> = line.split(' ').filter(|word| !is_address(word)).collect();
    let words: String = words.join(" ").chars().take(MAX_WORDS).collect();
    words.trim_end_matches([':', ' ']).replace(['\n', '\r'], " ")
}

fn innermost(error: &Error) -> &dyn error::Error {
    let mut cause: &dyn error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause
}

/// Returns the error code in an answer of S3, Google or Azure, such as `AccessDenied`.
fn code_of(error: &Error) -> Option<String> {
    let text = innermost(error).to_string();
    let (_, rest) = text.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    let is_code = !code.is_empty() && code.len() < 80;
    (is_code && code.bytes().all(|byte| byte.is_ascii_alphanumeric())).then(|| code.to_owned())
}

fn is_status(error: &Error, status: &str) -> bool {
    innermost(error).to_string().contains(&format!("status code: {status} "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generic(words: &str) -> Error {
        Error::Generic { store: "S3", source: words.to_owned().into() }
    }

    #[test]
    fn nothing_secret_is_said() {
        for (words, said) in [
            ("Connection refused (os error 111)", "Connection refused (os error 111)"),
            (
                "error sending request for url (https://h/x?sig=secret)",
                "error sending request for url",
            ),
            ("no: 503 Slow: <Error><Code>SlowDown</Code><Key>secret</Key>", "SlowDown"),
            ("no: 400 Bad: <Error><StringToSign>secret", "no: 400 Bad"),
            // The program escapes what it prints.
            ("odd\u{1b}[31m\nsecret", "odd\u{1b}[31m"),
        ] {
            let error = failure(&generic(words));
            assert_eq!(error.to_string(), format!("the store fails: {said}"));
            assert_eq!(error.kind(), io::ErrorKind::HostUnreachable);
        }
    }

    #[test]
    fn each_failure_is_of_its_kind() {
        let path = || "a".to_owned();
        let source = || "x <Code>AccessDenied</Code>".into();
        let denied = Error::PermissionDenied { path: path(), source: source() };
        let error = failure(&denied);
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(error.to_string(), "the store denies access (AccessDenied)");
        let missing = Error::NotFound { path: path(), source: source() };
        assert_eq!(failure(&missing).kind(), io::ErrorKind::NotFound);
        let changed = Error::Precondition { path: path(), source: source() };
        assert!(crate::backend::is_changed(&failure(&changed)));
    }
}
