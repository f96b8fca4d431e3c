//! Values that only their shape and a word in their line show as secrets, and the cells of tables.

use jsonl::Line;
use secrets::Search;

use crate::made_up::base64_of;

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
    "Logge dich bitte als ada mit {} ein (Passwort)",
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

/// Texts with a password that a person made up, right after its name and a sign or a verb.
const COINED: &[&str] = &[
    "mein Passwort auf db1 ist \"{}\"",
    "Das Passwort für ada lautet {}",
    "I changed the password for ada to {}, please update the config",
    "PW für die NAS: {}",
    "new pw for ada is {}",
    "root pw on db1 got changed, it is now {}",
    "Anmeldedaten für db1: ada mit Passwort {}",
    "Password for user ada: {}\npsql (16.2)",
    "Q: What is the password of ada?\nA: {}",
    "Reset the password for the [ada] user successfully.\nNew value: {}",
    "login with ada / {}",
    "REDIS_HOST=db1\nREDIS_AUTH={}",
    "POSTGRES_USER=ada\nPOSTGRES_PASSWORD={}",
    "{\"element\": \"Password field\", \"ref\": \"e163\", \"text\": \"{}\"}",
    "{\"selector\": \"input[name='password']\", \"value\": \"{}\"}",
    "{\"fields\": [{\"name\": \"Password\", \"type\": \"textbox\", \"value\": \"{}\"}]}",
    "{\"key\": \"db_password\", \"type\": \"string\", \"val\": {\"stringValue\": \"{}\"}}",
    "AUTH PLAIN ada {}",
    "C: A01 LOGIN \"ada@corp.io\" \"{}\"\nS: A01 OK",
    "LOGIN ada \"{}\"",
    "router.cfg:40:enable secret 0 {}",
    "radius-server host 10.0.0.1 key {}",
    "\"ada\" * \"{}\" *",
    "(gdb) p cfg->password\n$1 = 0x5581 \"{}\"",
    "<auth-user-pass>\nada\n{}\n</auth-user-pass>",
    "SQL> connect ada/{}\nConnected.",
    "isql -v shop ada {}",
    "bq: TERADATA logon nas.lan/ada,{}",
    "rsync --password-file=<(echo {}) -a /d ada@10.0.0.1::b",
    "printf 'ada:{}\\n' | chpasswd",
    "cache_peer db1 parent 3128 0 login=ada:{}",
    "Use {} as the root password",
    "I typed \"{}\" into the password field",
    "Zugang: ada / {}",
    "bitte mit dem Passwort {} anmelden",
    "Das Root-Passwort vom NAS ist {}",
    "What is the root password? {}",
    "What is the password?\nAdmin: {}",
    "heslo je {}",
    "비밀번호는 {}",
    "/msg NickServ IDENTIFY {}",
    "crypto isakmp key {} address 10.0.0.1",
    "CONNECT TO shop USER ada USING {}",
    "ldap.simple_bind_s(\"cn=ada\", \"{}\")",
    "ALTER USER ada IDENTIFIED BY {};",
    "it asks for a password, type {}",
    "my pass: {}",
    "admin.set('{}') # password",
    "keepassxc-cli open db.kdbx <<< '{}'",
    "chpasswd:\n  list: |\n    root:{}\n    ada:RANDOM",
    "<tr><td>Password:</td><td>{}</td></tr>",
    "<dt>Password</dt>\n<dd class=\"x\">{}</dd>",
    // Tables.
    "  user  password\n0  ada  {}",
    "<tr><th>User</th><th>Password</th></tr>\n<tr><td>ada</td><td><code>{}</code></td></tr>",
    "{\"columns\":\"user,password\",\"rows\":\"ada,{}\"}",
    "The logins are: | user | password |\n|---|---|\n| ada | {} |",
    "│ user │ password │\n│ varchar │ varchar │\n├──────┼──────────┤\n│ ada │ {} │\n└──────┴──────────┘",
    "{\"header\": \"user,password\", \"lines\": [\"ada,{}\"]}",
    "{\"schema\": {\"columns\": [\"user\", \"password\"]}, \"data\": [[\"ada\", \"{}\"]]}",
    "{\"columns\":[{\"name\":\"id\"},{\"name\":\"password\"}],\"values\":[[1,\"{}\"]]}",
    "{\"rows\":[[\"ada\",\"{}\"]],\"columns\":[\"user\",\"password\"]}",
];

/// Texts with the key of a second factor.
const SECOND_FACTORS: &[&str] = &[
    "pyotp.TOTP(\"{}\").now()",
    "oathtool --totp -b {}",
    "2FA key for ada: {}",
    "TOTP key {}",
    "Setup key: {}",
    "mfa seed {}",
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
    "the password is base64encoded, and then sha256-hashed",
    "change the password to close SHOP-12345",
    "the password is now in config.yml2024",
    "The passphrase is only in my head, so you have to wait until I type it.",
    "private_key: X25519PrivateKey\n    | ec.EllipticCurvePrivateKey\n    | mlkem.MLKEM1024PrivateKey\n",
    "AUTH Section12Header",
    "LOGIN page section1234",
    "{\"required\": [\"user\", \"password\"], \"text\": \"section1234\"}",
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
fn weak_passwords_right_after_their_names_are_found() {
    let (mut search, mut left) = (Search::new(), Vec::new());
    for secret in ["anchor702kayak", "soleil_2013g", "lnv_ZWE1455"] {
        for text in COINED {
            let found = lines(&text.replace("{}", secret)).map(|line| redacted(&mut search, &line));
            left.extend(found.into_iter().filter(|line| line.contains(secret)));
        }
    }
    for text in SECOND_FACTORS {
        let secret = ["KZQN2XNN", "MHD4L4W6"].concat();
        let found = lines(&text.replace("{}", &secret)).map(|line| redacted(&mut search, &line));
        left.extend(found.into_iter().filter(|line| line.contains(&secret)));
    }
    assert!(left.is_empty(), "{left:#?}");
}

#[test]
fn the_base64_of_a_login_to_a_mail_server_is_found() {
    let (mut search, plain, password) =
        (Search::new(), base64_of("\0ada\0anchor702kayak"), base64_of("anchor702kayak"));
    for (text, secret) in [
        (format!("AUTH PLAIN {plain}\n235 ok"), &plain),
        (format!("C: AUTH PLAIN {plain}"), &plain),
        (format!("334 VXNlcm5hbWU6\nYWRh\n334 UGFzc3dvcmQ6\n{password}\n235 ok"), &password),
    ] {
        for line in lines(&text) {
            assert!(!redacted(&mut search, &line).contains(secret.as_str()), "{line}");
        }
    }
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
