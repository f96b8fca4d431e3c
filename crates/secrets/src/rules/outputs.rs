//! The rules for secrets that a program prints or joins, that a list has, and that a sentence names elsewhere.

use crate::{
    class::{BASE64_URL, LETTERS},
    command_line, cookie, joined, license, link_user,
    name::Word,
    piped, printed,
    rule::{
        Part::{By, Each, Named, Run},
        Rule,
    },
    spoken,
};

use super::{MAX, is_random};

/// Secrets in outputs, lists and sentences. Many prefixes start within a word: its first letters are too frequent.
pub(super) static BY_OUTPUT: &[Rule] = &[
    // In: `AVNS_` and 19 letters. Out: all of it.
    Rule {
        accepts: is_random,
        ..Rule::new("aiven-password", "Aiven: a service", &["AVNS_"], &[Run(&BASE64_URL, 16, 24)])
    },
    // In: `npg_` and 12 letters. Out: all of it.
    Rule {
        accepts: is_random,
        ..Rule::new("neon-password", "Neon: a role", &["npg_"], &[Run(&LETTERS, 12, MAX)])
    },
    // In: `avnadmin : x on db.corp.io`. Out: `x`.
    Rule::new(
        "password",
        "of the user that a database in a cloud has at first",
        &["avnadmin", "doadmin", "neondb_owner", "akmadmin", "vultradmin"],
        &[By(spoken::of_user)],
    ),
    // In: `can you log in? user ada / x`. Out: `x`.
    Rule::new("password", "of a user, after a slash", &[" / "], &[By(spoken::slashed)]),
    // In: `unlock the vault with "cedar topaz lantern copper"`. Out: the four words.
    Rule::new("password", "words that open something", &["nlock "], &[By(spoken::unlocked)]),
    // In: `the webhook secret is new, it's x`. Out: `x`.
    Rule::new(
        "secret",
        "the value of something that a sentence names before",
        &["it's", "It's", "it’s", "now it is", "s now "],
        &[By(spoken::referred)],
    ),
    // In: `>>> settings.SECRET_KEY`, and `'x'` in the next line. Out: `x`.
    Rule::new(
        "secret",
        "the result of an expression with the name of a secret",
        &[
            ">>> ",
            "irb(main)",
            "pry(main)",
            "Rails.application.",
            "> process.env",
            "> Rails.",
            "In [",
            "iex(",
            "jshell> ",
            "(gdb) p",
            "(lldb) p",
            "(Pdb) ",
            "(pdb) ",
            "(dlv) p",
            "ipdb> ",
        ],
        &[By(printed::evaluated)],
    ),
    // In: `user.api_token`, and `=> "x"` in the next line. Out: `x`.
    Rule::new(
        "secret",
        "the result after an arrow",
        &["\n=> ", "n=> ", "]=> "],
        &[By(printed::result)],
    ),
    // In: `println(hudson.util.Secret.decrypt("{..}"))`, and `Result: x` in the next line. Out: `x`.
    Rule::new(
        "secret",
        "the result of a decryption",
        &["ecret.decrypt(", "ecret.fromString("],
        &[By(printed::decrypted)],
    ),
    // In: `kubectl create token ci`, and `x` in the next line. Out: `x`.
    Rule::new(
        "token",
        "the output of a command that prints a password",
        &[
            "tl create token ",
            "-access-token",
            "m join-token",
            "-random-password",
            "gopass show",
            "--fields password",
            "vault print token",
            "k3s token",
        ],
        &[By(printed::always)],
    ),
    // In: `child.expect('password:')`, `child.sendline('x')`. Out: `x`.
    Rule::new(
        "password",
        "a password that a program sends to a prompt",
        &["dline(", "dLine(", "n.write(", "l.send(", "n.send("],
        &[By(piped::sent_line)],
    ),
    // In: `azure devops PAT: x`. Out: `x`.
    Rule::new(
        "token",
        "a personal access token",
        &[" PAT: ", " PAT:", " PAT = ", " PAT is ", " pat: ", " pat is "],
        &[By(command_line::strong)],
    ),
    // In: `HASH_SALT='x'`. Out: `x`.
    Rule::new(
        "secret",
        "the value of a name such as HASH_SALT",
        &["salt", "Salt", "SALT", "pepper", "Pepper", "PEPPER"],
        &[Named(Word::Salt)],
    ),
    // In: `"serial":"7QK2M-X9ZTL-4RBN8-WC6VS-J3HFP"`. Out: the five groups.
    Rule::new(
        "license-key",
        "a serial number of a license, in groups",
        &[
            "rial\"",
            "rial\\",
            "rial:",
            "rial=",
            "rial number",
            " -serial ",
            " --serial ",
            "rial Number",
            "ERIAL",
            "cense",
            "ICENSE",
            "duct key",
            "duct Key",
        ],
        &[By(license::serial)],
    ),
    // In: `ldap://cn=ada,dc=corp:x@host`. Out: `x`.
    Rule::new(
        "url-password",
        "a password in a URL of LDAP",
        &["ldap://", "ldaps://"],
        &[By(link_user::directory)],
    ),
    // In: `postgres://ada:P@ss#1@db:5432/shop`. Out: `P@ss#1`.
    Rule::new(
        "url-password",
        "in a URL, with marks that should have codes",
        &["://", r":\/\/", r":\\/\\/", r":\\\\/\\\\/"],
        &[By(link_user::unescaped)],
    ),
    // In: `postgres%3A%2F%2Fada%3Ax%40host`. Out: `x`.
    Rule::new(
        "url-password",
        "in a URL whose marks have codes",
        &["%3A%2F%2F", "%3a%2f%2f"],
        &[By(link_user::encoded)],
    ),
    // In: `user ada on >x ~* +@all`. Out: `x`.
    Rule::new("password", "of a user of Redis", &[" on >"], &[By(link_user::redis)]),
    // In: `https://x:x-oauth-basic@host`. Out: `x`.
    Rule::new(
        "url-token",
        "a token in a URL, as the user of a word that is no password",
        &[":x-oauth-basic", ":x-oauth-token", "%3Ax-oauth-basic"],
        &[By(link_user::token)],
    ),
    // In: `string join '' glpat-0123 4567`. Out: `glpat-0123` and `4567`.
    Rule::new(
        "token",
        "the words that a shell joins",
        &[
            "g join ''",
            "g join \"\"",
            "g join \\",
            "%s%s'",
            "%s%s\"",
            "%s%s\\",
            "%s%s ",
            "%s:%s'",
            "%s:%s\"",
        ],
        &[Each(joined::words)],
    ),
    // In: `''.join(['kQ9vL', 'z2xWm'])`. Out: `kQ9vL` and `z2xWm`.
    Rule::new(
        "token",
        "the strings of a list that an empty string joins",
        &[".join([", ".join(("],
        &[Each(joined::list)],
    ),
    // In: `['kQ9vL', 'z2xWm'].join('')`. Out: `kQ9vL` and `z2xWm`.
    Rule::new(
        "token",
        "the strings of a list that a call joins",
        &["].join"],
        &[Each(joined::list_before)],
    ),
    // In: `Cookie jar for app.corp.io:`, and `* sid = x (secure)` in the next line. Out: `x`.
    Rule::new(
        "cookie",
        "a list of cookies, below its title",
        &["ookie jar", "ookies for", "ookies in", "ookies of", "ookies:"],
        &[Each(cookie::listed)],
    ),
    // In: `select name, value from moz_cookies;`, and `sid|x` in the next line. Out: `x`.
    Rule::new(
        "cookie",
        "the rows of a query of cookies",
        &[
            "moz_cookies",
            "ookies where",
            "ookies WHERE",
            "ookies;",
            "ookies\"",
            "ookies\\",
            "ookies'",
        ],
        &[Each(cookie::rows)],
    ),
    // In: `"Content raw":"x"`. Out: `x`.
    Rule::new("cookie", "an export of a browser", &["raw\"", "raw\\"], &[Each(cookie::raw)]),
];
