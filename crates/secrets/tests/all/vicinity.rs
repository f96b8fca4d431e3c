//! Values that only their shape and a word in their line show as secrets, and the cells of tables.

use jsonl::Line;
use secrets::Search;

/// Texts with a password.
const PASSWORDS: &[&str] = &[
    "the password remains {}",
    "change the password from `{}` to the one in the safe",
    "Use `{}` for the admin password",
    "Credentials for the staging admin: ada:{}",
    "Bitte melde dich mit Benutzer ada und Passwort {} an",
    "La contraseña del servidor es \"{}\"",
    "string(name: 'DB_PASSWORD', defaultValue: '{}')",
    "printf 'export REDIS_PASSWORD=%s\\n' '{}'",
    "#0 /app/db.php(7): PDO->__construct('mysql:host=db', 'ada', '{}')",
    "- User: ada\n- Pass: {}",
    "user: ada  pwd: {}",
    "\"auth\": [\"ada\", \"{}\"],",
    "smb://corp;ada:{}@files.corp.io/share",
    // Tables.
    "user\tpassword\nada\t{}",
    "name;host;password\nada;db;{}",
    "\"user\",\"password\"\n\"ada\",\"{}\"",
    "folder,type,login_username,login_password\n,login,ada,{}",
    "| Service | User | Password |\n|---|---|---|\n| db | ada | {} |",
    " id | user | password\n----+------+----------\n  1 | ada  | {}\n(1 row)",
    "┌──────┬──────────┐\n│ user │ password │\n├──────┼──────────┤\n│ ada  │ {} │\n└──────┴──────────┘",
    "USER      PASSWORD          HOST\nada       {}      10.0.0.9",
    "{\"columns\":[\"id\",\"user\",\"password\"],\"rows\":[[1,\"ada\",\"{}\"]]}",
    "[[\"user\",\"password\"],[\"ada\",\"{}\"]]",
    "|Queue Default Pass|{}|\n|Host|10.0.0.9|",
];

/// Texts with a token.
const TOKENS: &[&str] = &[
    "rotated the token: new is {}",
    "API_TOKEN not set, generated: {}",
    "401 Unauthorized, key: {}",
    "Token created. Copy it now, it is not shown again:\n\n{}",
    "#[arg(long, default_value = \"{}\")] api_token: String",
    "set(TOKENS \"{}\")",
    "env[ADMIN_TOKEN] = \"{}\"",
    "id,email,token,created\n62,ada@corp.io,{},2026-01-02",
];

/// Texts without a secret.
const BENIGN: &[&str] = &[
    "the password reset-flow-12 branch is ready",
    "a two-pass memchr2+SWAR loop",
    "hashed with PKCS5_PBKDF2_HMAC for short passwords",
    "the host key is SHA256:Xorr4Dtb27z7P3eZhyUsT2VmejoURU4MHWW0KExwNGn",
    "(priv_keys): Add privkeys/00FE67F28A52A8AA08FFAED20AF832DA916D1985.asc",
    "credentials are acquired using the des3-cbc-sha1 encryption",
    "| Token | Meaning |\n|---|---|\n| T_OPEN_TAG_2 | the start of code |",
    "passwd2des\t\tNEW: Secure RPC\npow10f\t\tNEW: GNU",
    "the token was logged in req_011CUySrFtCKRjFVrH0buxwY by toolu_01OibrQEea7WBJ7j1prjDoZp",
];

/// Returns a text in a line: alone, among other lines, in JSON within JSON, and as an editor lists it.
fn lines(text: &str) -> [String; 4] {
    let numbered: Vec<String> =
        text.lines().enumerate().map(|(n, line)| format!("{:6}→{line}", n + 7)).collect();
    [
        text.to_owned(),
        format!("ok\n{text}\ndone"),
        serde_json::json!({ "output": text }).to_string(),
        numbered.join("\n"),
    ]
    .map(|text| serde_json::json!({ "type": "user", "text": text }).to_string())
}

fn redacted(search: &mut Search, line: &str) -> String {
    let mut out = Vec::new();
    search.redact(&Line::new(line.as_bytes(), 0), &mut out, &mut |_| {});
    String::from_utf8(out).expect("text")
}

#[test]
fn clear_values_near_a_word_for_them_are_found() {
    let (mut search, mut left) = (Search::new(), Vec::new());
    let (password, token) =
        (["Kelvor", "Sunset4380"].concat(), ["jH7Qd2KfWz9", "LpVx41NbYtR6s"].concat());
    for (texts, secret) in [(PASSWORDS, &password), (TOKENS, &token)] {
        for text in texts {
            let found = lines(&text.replace("{}", secret)).map(|line| redacted(&mut search, &line));
            left.extend(found.into_iter().filter(|line| line.contains(secret)));
        }
    }
    assert!(left.is_empty(), "{left:#?}");
}

#[test]
fn other_things_near_a_word_for_a_secret_stay() {
    let mut search = Search::new();
    for text in BENIGN {
        for line in lines(text) {
            assert_eq!(redacted(&mut search, &line), line);
        }
    }
}
