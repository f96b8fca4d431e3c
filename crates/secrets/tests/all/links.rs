//! Texts in which a secret has an unusual place: each with the part that must be hidden, or none.

use jsonl::Line;
use secrets::Search;

/// Texts with `{}` instead of a password.
const PASSWORDS: &[&str] = &[
    "the password's {}",
    "pass phrase {}",
    "ask ada for it, with pwd {} please",
    "password for ada: {}",
    "the password ({}) does not work",
    "Password .....: {}",
    "remote_password {}",
    "enable secret {}",
    "username ada password 0 {}",
    "login: ada / {}",
    "creds: ada:{}",
    "I set `DB_PASSWORD` to `{}` today",
    "DB_PASSWORD  →  {}",
    "DB_PASSWORD=$(echo \"{}\")",
    "Dim dbPassword As String = \"{}\"",
    "DECLARE @password NVARCHAR(50) = '{}'",
    "DRIVER=x;UID=sa;PWD={{}};",
    "\u{1b}[32mDB_PASSWORD\u{1b}[0m=\u{1b}[33m{}\u{1b}[0m",
    "kinit ada@CORP <<< '{}'",
    "--vault-password-file <(echo '{}')",
    "security unlock-keychain -p '{}' a.keychain",
    "nmcli con modify office wifi-sec.psk \"{}\"",
    "rabbitmqctl add_user ada {}",
    "sqlplus ada/\"{}\"@//db:1521/x",
    "curl -u \"ada\":\"{}\" https://a.io",
    "curl --user $'ada:{}' https://a.io",
    "npmAuthIdent: \"ada:{}\"",
    "['auth' => ['ada', '{}']]",
    ".preemptive().basic(\"ada\", \"{}\")",
    "Authorization: Basic ada {}",
    "secretsdump.py corp.io/ada:{}@10.0.0.2",
    "ALTER LOGIN sa WITH PASSWORD = N'{}';",
    "bindpw {}",
    "mosquitto_passwd -b /etc/x ada {}",
    "createUser ada SHA \"{}\" AES",
    "stats auth ada:{}",
    "EXEC sp_password NULL, '{}'",
    "EXEC sp_password NULL, '{}', 'ada_Kelvor7'",
    "EXEC sp_password @old = '{}', @new = NULL, @loginame = 'ada_Kelvor7'",
    "EXEC sp_password NULL, '{}'\nSELECT 'ada_Kelvor7'",
    "http://a.io:8086/query?u=ada&p={}&q=x",
    "curl 'http://a.io/x?u=ada&p={}&db=shop'",
];

/// Texts with `{}` instead of a generated key.
const KEYS: &[&str] = &[
    "Deploy token (ci): {}",
    "BEARER = \"{}\"",
    "it works with bearer token {} here",
    "Algorithm.HMAC256(\"{}\")",
    "$ openssl rand -hex 24\n{}",
    ">>> Fernet.generate_key()\nb'{}'",
    "https://api.io/v1?q=x&appid={}",
    "keys:\n  APIx7k2: {}\n",
    "\"jwt\": {\"issuer\": \"a\", \"key\": \"{}\"}",
    "cookies=dict(session_id=\"{}\")",
    "<Cookie session_id={} for a.io/>",
    "\"value\": \"{}\", \"domain\": \"a.io\", \"httpOnly\": true",
    "x-vercel-protection-bypass: {}",
    "printf '%s' {} | vercel env add API_TOKEN preview",
    "vercel pull -t {}",
];

/// Texts without a secret.
const BENIGN: &[&str] = &[
    "password hashing is done with bcrypt",
    "the password is required (see docs/auth2) to log in",
    "pass `checkpointStart=0` to it",
    "I renamed `API_KEY` to `API_TOKEN2` today",
    "password for the user: optional",
    "echo production | vercel env add NODE_ENV",
    "login: ada / reviewer",
    "auth: [\"read\", \"write\"]",
    "AUTH => ['web', 'sanctum']",
    "enable secret handling2",
    "cat id_rsa.pub\nAAAAB3NzaC1yc2EAAAADAQABAAABgQC7vbqajDhA7vbqajDhAqajDhA7",
    "\"key\": \"button-primary-2\"",
    "public key: HIgo9xNzJMWLKASShiTqIybxZ0U3wGLiUeJ1PKf8ykw=",
    "data-phx-session=\"SFMyNTY.g2gDaAJhBnQAAAAIdwJpZG0AAAAUcGh4\"",
    "openssl rand -hex 24 > key.txt\ndone",
    "sort -u\",\"workdir\":\"/Users/ada/tree/8d51/x\"",
    "Token (string): the token of the user",
    "EXEC sp_password NULL, NULL, 'ada_Kelvor7'",
    "see /write?db=x and https://a.io/thread?u=ada&p=reply12",
    "x7Kq2mVb9Lp4 is password protected",
];

fn n_found(search: &mut Search, text: &str, secret: &str) -> (usize, bool) {
    let line = serde_json::json!({ "text": text }).to_string();
    let (mut out, mut n) = (Vec::new(), 0);
    search.redact(&Line::new(line.as_bytes(), 0), &mut out, &mut |_| n += 1);
    (n, String::from_utf8(out).expect("text").contains(secret))
}

#[test]
fn unusual_places_are_found() {
    let (mut search, mut missed) = (Search::new(), Vec::new());
    let (password, key) =
        (["Kelvor#", "5281x"].concat(), ["b3f81c07d95e2a46", "c1f0937ae58d24b6"].concat());
    for (texts, secret) in [(PASSWORDS, &password), (KEYS, &key)] {
        for text in texts {
            let found = n_found(&mut search, &text.replace("{}", secret), secret);
            if found != (1, false) {
                missed.push((found, *text));
            }
        }
    }
    for text in BENIGN {
        let found = n_found(&mut search, text, "\u{0}");
        if found.0 > 0 {
            missed.push((found, text));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn pieces_of_a_token_are_found() {
    let mut search = Search::new();
    let token = "ghp_aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zaB3dE";
    let (first, second) = token.split_at(22);
    for text in [
        "export TOKEN=@\u{1b}[K\n%",
        "| token  | @ |\n|        | %  |",
        "│ @                                │\n│ %  │",
        "web-1  | token=@\nweb-1  | %",
        "token \n-----\n @+\n %",
        "const t = \"@\" +\n\t\"%\"",
        "[\n \"@\",\n \"%\"\n]",
        "key @\\u200B%",
        "key @\\uFEFF%",
        "key @\\u00AD%",
        "\u{1b}[01;31m\u{1b}[K@\u{1b}[m\u{1b}[K%",
        "00000000: 544f 4b45 4e3d 646f 705f 7631 5f31 3962  @\n00000010: 6433 3965 3237 6465 3037 6433 3231 3730  %",
    ] {
        let whole = text.replace('@', first).replace('%', second);
        let (n, is_left) = n_found(&mut search, &whole, second);
        assert!(n > 0 && !is_left, "{text}");
    }
}

#[test]
fn both_passwords_of_a_procedure_are_found() {
    let (mut search, old) = (Search::new(), ["Ferrum#", "7340q"].concat());
    let new = ["Kelvor#", "5281x"].concat();
    for rest in ["", ", 'ada_Kelvor7'"] {
        let text = format!("EXEC sp_password '{old}', '{new}'{rest}");
        assert_eq!(n_found(&mut search, &text, &old), (2, false), "{text}");
        assert_eq!(n_found(&mut search, &text, &new), (2, false), "{text}");
    }
}

#[test]
fn a_key_before_its_name_is_found_with_other_padding_after_it() {
    let mut random = crate::made_up::Random::new(8);
    let secret = random.base64(86) + "==";
    for (before, after) in [
        (format!("\"value\": \"{secret}\", \"keyName\": "), ", \"etag\": \"c29tZQ==\""),
        (String::new(), format!(", \"value\": \"{secret}\"").as_str()),
        (format!("\"value\": \"{secret}\", \"keyName\": "), ""),
    ] {
        let text = format!("{{{before}\"key1\"{after}}}");
        assert_eq!(n_found(&mut Search::new(), &text, &secret), (1, false), "{text}");
    }
}

#[test]
fn checks_in_an_array_with_the_name_of_a_secret_stay() {
    let mut search = Search::new();
    for (items, n_expected) in [
        ("\"required\",\"min:12\",\"max:255\",\"between:12,1024\"", 0),
        ("\"required\",\"Kelvor#5281x\"", 1),
        ("\"ada:5281x\",\"min:12345\"", 2),
    ] {
        let (line, mut n) = (format!("{{\"password\":[{items}]}}"), 0);
        search.find(&Line::new(line.as_bytes(), 0), &mut |_| n += 1);
        assert_eq!(n, n_expected, "{line}");
    }
}

#[test]
fn a_border_or_an_arrow_in_an_escape_links_a_name_and_its_value() {
    let secret = ["b3f81c07d95e2a46", "c1f0937ae58d24b6"].concat();
    for link in ["\\u2502", "\\u2192", "\\\\u2502"] {
        let line = format!("{{\"text\":\"SHOP_SECRET {link} {secret} \"}}");
        let mut out = Vec::new();
        Search::new().redact(&Line::new(line.as_bytes(), 0), &mut out, &mut |_| {});
        assert!(!String::from_utf8(out).expect("text").contains(&secret), "{line}");
    }
}
