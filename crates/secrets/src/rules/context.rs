//! The rules for secrets that are found by the text around them: names, headers, options, files.

use crate::{
    class::{BASE64, SIGNATURE},
    command_line, cookie, header, keys, manifest,
    name::Word,
    piped,
    rule::{
        Edge,
        Part::{By, Each, Named, Run},
        Rule, Secret,
    },
};

use super::{MAX, is_random};

/// Keys, tokens and passwords of any spelling, by their context.
pub(super) static BY_CONTEXT: &[Rule] = &[
    Rule::new(
        "bearer-token",
        "a token after Bearer, Token, or ApiKey",
        &[
            "Bearer",
            "bearer",
            "BEARER",
            "Authorization: Token",
            "Authorization: token",
            "authorization: token",
            "Authorization: Bot",
        ],
        &[By(header::bearer)],
    ),
    Rule::new(
        "basic-auth",
        "a user and a password after Basic",
        &["Basic", "basic", "BASIC"],
        &[By(header::basic)],
    ),
    Rule::new(
        "authorization",
        "the value of a header Authorization",
        &["uthorization", "UTHORIZATION"],
        &[Named(Word::Authorization)],
    ),
    Rule::new(
        "docker-auth",
        "a user and a password in a file of Docker or npm",
        &["auth", "AUTH"],
        &[Named(Word::Auth)],
    ),
    Rule::new(
        "password",
        "the value of a name such as DB_PASSWORD",
        &["pass", "Pass", "PASS"],
        &[Named(Word::Pass)],
    ),
    Rule::new(
        "password",
        "the value of a name such as DB_PWD",
        &["pwd", "Pwd", "PWD"],
        &[Named(Word::Pwd)],
    ),
    Rule::new(
        "password",
        "what IDENTIFIED BY says in SQL",
        &["IDENTIFIED BY", "identified by", "SecureString"],
        &[By(command_line::quoted)],
    ),
    Rule::new(
        "password",
        "an option of a command",
        &[
            " -u",
            "\"-u",
            "'-u",
            " -U",
            " -a",
            " -A",
            "--user",
            "--proxy-user",
            "--auth",
            "--creds",
            "-creds",
        ],
        &[By(command_line::user_option)],
    ),
    Rule::new(
        "password",
        "an option of a command that takes a password",
        &[" -p", "\"-p", "'-p", " -P", " -a", "\"-a", " -w", " -k", " -A", " -X"],
        &[By(command_line::password_option)],
    ),
    Rule::new("password", "an option among others", &["curl "], &[By(command_line::curl)]),
    Rule::new(
        "password",
        "what a command reads from another",
        &[
            "password-stdin",
            "pass-stdin",
            " --stdin",
            "with-token",
            "sudo -S",
            "chpasswd",
            "passphrase-fd",
            "secret put",
            "secret set",
            "secret add",
            "secret create",
            "secrets put",
            "secrets set",
            "secrets add",
            "secrets create",
            "secrets versions add",
        ],
        &[Each(piped::read)],
    ),
    Rule::new("password", "a word of net use", &["net use", "net user"], &[By(piped::net)]),
    Rule::new(
        "token",
        "the last word of a setting",
        &[" config ", " alias set "],
        &[By(piped::config)],
    ),
    Rule::new("password", "what a script sends", &["send "], &[By(piped::sent)]),
    Rule::new("password", "an option of Windows", &[" /p:", " /pass:"], &[By(piped::slash)]),
    Rule::new("password", "of a wireless network", &["psk=", "PSK="], &[By(piped::wireless)]),
    Rule::new("password", "what opens Redis", &[" AUTH "], &[By(piped::redis)]),
    Rule::new(
        "password",
        "of a user, in a call",
        &["uth(", "uth=(", "redentials(", "redential(", "login("],
        &[By(piped::call)],
    ),
    Rule::new(
        "password",
        "of a user, after a host",
        &["BUNDLE_", "]:587", "]:465", "]:25"],
        &[By(piped::user_and_password)],
    ),
    Rule::new(
        "password",
        "before the host of a database",
        &["@tcp(", "@unix(", "@(", "@//"],
        &[By(piped::source)],
    ),
    Rule::new(
        "cookie",
        "a cookie that a program made up",
        &["ookie", "OOKIE"],
        &[Each(cookie::header)],
    ),
    Rule::new("cookie", "an option of curl", &[" -b"], &[Each(cookie::option)]),
    Rule::new(
        "cookie",
        "a line of a jar of cookies",
        &["\tTRUE", "\tFALSE", "\\tTRUE", "\\tFALSE"],
        &[Each(cookie::jar)],
    ),
    Rule::new(
        "cookie",
        "the name of a session",
        &["sessionid", "SESSID", "sessid", "SESSIONID", "connect.sid", "ASP.NET_SessionId"],
        &[Named(Word::Session)],
    ),
    Rule::new("kubernetes-secret", "Kubernetes: data", &["Secret"], &[Each(manifest::data)]),
    Rule::new(
        "kubernetes-secret",
        "Kubernetes: stringData",
        &["stringData"],
        &[Each(manifest::string_data)],
    ),
    Rule {
        edge: Edge::Run,
        ..Rule::new(
            "docker-auth",
            "a file of Docker, in base64",
            &["eyJhdXRocyI", "ewogICJhdXRocyI", "ewoJImF1dGhzI"],
            &[Run(&BASE64, 20, MAX)],
        )
    },
    Rule {
        secret: Secret::Part(0),
        accepts: is_random,
        edge: Edge::None,
        ..Rule::new(
            "url-token",
            "what signs a URL, or opens it",
            &["?auth=", "&auth=", "?code=", "&code=", "?key=", "&key=", " key="],
            &[Run(&SIGNATURE, 14, MAX)],
        )
    },
    Rule {
        secret: Secret::Part(0),
        accepts: is_random,
        ..Rule::new("url-token", "what signs a URL", &["sig="], &[Run(&SIGNATURE, 14, 42)])
    },
    Rule::new("private-key", "a key of PuTTY", &["Private-Lines: "], &[By(keys::putty)]),
    Rule::new("private-key", "a JSON Web Key", &["kty\"", "kty\\"], &[By(keys::jwk)]),
    Rule {
        edge: Edge::None,
        secret: Secret::Part(0),
        ..Rule::new(
            "private-key",
            "a private key in XML",
            &["<D>", "<P>", "<Q>", "<DP>", "<DQ>", "<InverseQ>"],
            &[Run(&BASE64, 40, MAX)],
        )
    },
    Rule::new(
        "token",
        "the value of a name such as JIRA_PAT",
        &["_PAT", "_pat"],
        &[Named(Word::Pat)],
    ),
    Rule::new(
        "vault-key",
        "HashiCorp Vault: the key that unseals it",
        &["nseal Key", "nseal_keys", "operator unseal"],
        &[By(keys::unseal)],
    ),
    Rule::new(
        "password",
        "the last field of a line of a .pgpass",
        &[":5432:", ":5433:", ":6432:", ":*:"],
        &[By(command_line::pgpass)],
    ),
    Rule::new(
        "secret",
        "the value of a name such as CLIENT_SECRET",
        &["secret", "Secret", "SECRET"],
        &[Named(Word::Secret)],
    ),
    Rule::new(
        "token",
        "the value of a name such as ACCESS_TOKEN",
        &["token", "Token", "TOKEN"],
        &[Named(Word::Token)],
    ),
    Rule::new(
        "key",
        "the value of a name such as API_KEY",
        &["key", "Key", "KEY"],
        &[Named(Word::Key)],
    ),
    Rule::new(
        "credential",
        "the value of a name such as CREDENTIAL",
        &["credential", "Credential", "CREDENTIAL"],
        &[Named(Word::Credential)],
    ),
];
