//! Generates the values in `open.tsv` and `held_out.tsv`: `<<hex32>>`, `<<basic>>`.

use crate::made_up::{Random, base64_of};

/// Marks in passwords, beside letters and digits.
const MARKS: &str = "!@#%^*-_+=.?~";

/// Returns a password of `n` letters with marks and digits within.
fn password(random: &mut Random, n: usize, marks: &str) -> String {
    let marks = [random.text(marks, 1), random.text(marks, 1)];
    let half = n.saturating_sub(4) / 2;
    let [a, b, c] = [half, half, 1].map(|n| random.letters(n));
    format!("{a}{}{b}{}{c}{}", marks[0], random.text("23456789", 1), random.letters(1))
}

fn upper(random: &mut Random, n: usize) -> String {
    random.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", n)
}

fn uuid(random: &mut Random) -> String {
    let mut part = |n| random.hex(n);
    format!("{}-{}-4{}-a{}-{}", part(8), part(4), part(3), part(3), part(12))
}

fn github(random: &mut Random) -> String {
    format!("ghp_{}", random.letters(36))
}

fn basic(random: &mut Random) -> String {
    base64_of(&format!("svc-deploy:{}", random.letters(18)))
}

/// Returns the lines of a key, and the text between two of them.
fn key(random: &mut Random, between: &str) -> (Vec<String>, String) {
    let lines: Vec<_> = (0..3).map(|_| random.base64(64)).collect();
    let text = lines.join(between);
    (lines, text)
}

/// Returns a value of a kind: its secret parts, and its spelling in the text.
pub(crate) fn value(random: &mut Random, kind: &str) -> (Vec<String>, String) {
    let between = match kind {
        "keyesc" => "\\n",
        "keyesc2" => "\\\\n",
        "keynl" => "\n",
        "keycrlf" => "\r\n",
        "keyind" => "\n  ",
        "keyplus" => "\\n\" +\n  \"",
        "keynum" => "\n     3\t",
        "keyquote" => "\n> ",
        "keydiff" => "\n+",
        "keyblank" => " ",
        _ => "",
    };
    if !between.is_empty() {
        return key(random, between);
    }
    if kind == "b64ind" {
        let text = base64_of(&format!("PORT=3000\nSHOP_PAT={}\nHOST=db.x.dev\n", github(random)));
        let (first, second) = text.split_at(64);
        return (vec![first.to_owned(), second.to_owned()], format!("{first}\n    {second}"));
    }
    let text = one(random, kind);
    (vec![text.clone()], text)
}

fn one(random: &mut Random, kind: &str) -> String {
    let n_of = |prefix: &str| kind.strip_prefix(prefix).and_then(|n| n.parse::<usize>().ok());
    if let Some(n) = n_of("hex") {
        return random.hex(n);
    }
    if let Some(n) = n_of("alnum") {
        return random.letters(n);
    }
    if let Some(n) = n_of("url") {
        return random.url(n);
    }
    match kind {
        "list" => {
            let words = "copper willow harbor falcon marble winter rocket canyon maple ember";
            let words: Vec<_> = words.split(' ').collect();
            (0..4).map(|_| random.one(&words)).collect::<Vec<_>>().join("-")
        }
        "short" => {
            random.one(&["falcon", "violet", "lemon", "tiger"]).to_owned()
                + &random.text("123456789", 3)
        }
        "dotted" | "under" => {
            let words = ["willow", "harbor", "falcon", "marble", "winter", "rocket", "canyon"];
            let joint = if kind == "dotted" { "." } else { "_" };
            let words: Vec<_> = (0..3).map(|_| random.one(&words)).collect();
            words.join(joint) + &random.text("123456789", 1)
        }
        "wordnum" | "wordnum1" => {
            let words = ["willow", "harbor", "falcon", "marble", "winter", "rocket", "canyon"];
            let joints: &[&str] =
                if kind == "wordnum" { &["-", ".", "_", "!"] } else { &[".", "_"] };
            let joint = random.one(joints);
            let number = random.text("23456789", 3);
            format!("{}{joint}{}{joint}{number}", random.one(&words), random.one(&words))
        }
        "capital" => {
            let words = ["Willow", "Harbor", "Falcon", "Marble", "Winter", "Rocket", "Canyon"];
            let joint = random.one(&["-", ".", "_"]);
            let first = random.one(&["copper", "violet", "Lemon", "Velvet"]);
            format!("{first}{joint}{}{joint}{}", random.one(&words), random.text("123456789", 2))
        }
        "phrase12" => {
            let words =
                "gravity lunar pottery humble axis cradle mimic tornado velvet siren orphan puzzle";
            let words: Vec<_> = words.split(' ').collect();
            (0..12).map(|_| random.one(&words)).collect::<Vec<_>>().join(" ")
        }
        "bitlocker" => (0..8).map(|_| random.text("0123456789", 6)).collect::<Vec<_>>().join("-"),
        "code" => format!("{}2-{}7", random.hex(4), random.hex(4)),
        "pairs" => (0..16).map(|_| random.hex(2)).collect::<Vec<_>>().join(":"),
        "flask" => format!(".eJ{}.{}.{}", random.url(54), random.letters(6), random.url(27)),
        "jwt1" => format!("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.{}", random.letters(20)),
        "lower7" => {
            format!("{}{}", random.text("bcdfghjkmnpqrstvwxz", 5), random.text("23456789", 2))
        }
        "upper30" => upper(random, 30),
        "jenkins" => format!("{{AQAAABAAAA{}=}}", random.base64(43)),
        "fine40" => format!("github_pat_{}", random.letters(40)),
        "b64_40" => random.base64(40),
        "b64_64" => random.base64(64),
        "b64_44" => random.base64(43) + "=",
        "b64_88" | "azkey" => random.base64(86) + "==",
        "b64_300" => random.base64(300),
        "pass12" => password(random, 12, MARKS),
        "pass16" => password(random, 16, MARKS),
        "pass12c" | "pass12x" => password(random, 12, "!@#%^*-_+.?~"),
        "pass12s" => password(random, 12, "!@%^_+.~-"),
        "words" => random.thought_up(),
        "urlword" => random.thought_up().replace(['#', '!'], "-"),
        "pct12" => {
            format!("{}%21{}%40{}", random.letters(5), random.letters(5), random.letters(3))
        }
        "uuid" => uuid(random),
        "jwtless" => {
            format!("{}.{}.{}", random.letters(20), random.letters(30), random.letters(27))
        }
        "azsecret" => format!("{}8Q~{}", random.letters(3), random.url(34)),
        "sas" => random.base64(43).replace('+', "%2B").replace('/', "%2F") + "%3D",
        "pat52" => random.text("abcdefghijklmnopqrstuvwxyz234567", 52),
        "azfn" => random.url(54) + "==",
        "hvs" => format!("hvs.{}", random.url(95)),
        "hvb" => format!("hvb.{}", random.url(140)),
        "hvslegacy" => format!("s.{}", random.letters(24)),
        "discord" => {
            let id = format!("10{}", random.text("0123456789", 16));
            format!("{}.G{}.{}", base64_of(&id), random.letters(5), random.url(38))
        }
        "dapi" => format!("dapi{}", random.hex(32)),
        "twsk" => format!("SK{}", random.hex(32)),
        "sendgrid" => format!("SG.{}.{}", random.url(22), random.url(43)),
        "atatt" => {
            format!("ATATT3xFfGF0{}={}", random.url(176), random.text("0123456789ABCDEF", 8))
        }
        "atbb" => format!("ATBB{}", random.letters(32)),
        "lin" => format!("lin_api_{}", random.letters(40)),
        "sklive" => format!("sk_live_{}", random.letters(24)),
        "rklive" => format!("rk_live_{}", random.letters(24)),
        "whsec" => format!("whsec_{}", random.letters(32)),
        "bech" => random.text("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
        "basic" => basic(random),
        "b64ghp" => base64_of(&github(random)),
        "b64ant" => base64_of(&format!("sk-ant-api03-{}AA", random.url(93))),
        "b64aws" => base64_of(&format!("AKIA{}", upper(random, 16))),
        "b64env" => base64_of(&format!("DB_USER=svc\nDB_PASSWORD={}\n", random.letters(20))),
        "b64json" => base64_of(&format!("{{\"user\":\"svc\",\"token\":\"{}\"}}", github(random))),
        "b64url" => base64_of(&format!("postgres://svc:{}@db.x.dev:5432/shop", random.letters(18))),
        "b64b64ghp" => base64_of(&base64_of(&github(random))),
        "b64b64json" => {
            let inner = base64_of(&format!("{{\"token\":\"{}\"}}", github(random)));
            base64_of(&format!("{{\"auth\":\"{inner}\"}}"))
        }
        "b64b64key" => {
            let lines = [random.base64(64), random.base64(64)].join("\n");
            let key = format!("-----BEGIN PRIVATE KEY-----\n{lines}\n-----END PRIVATE KEY-----\n");
            base64_of(&format!("    client-key-data: {}\n", base64_of(&key)))
        }
        "hidden" => format!("ghp_{}\u{200b}{}", random.letters(20), random.letters(16)),
        "joiner" => format!("sk-ant-api03-{}\u{2060}{}AA", random.url(46), random.url(47)),
        "coded" => format!("glpat-{}%2D{}", random.letters(12), random.letters(7)),
        "b64discord" => {
            let id = base64_of(&format!("56{}", random.text("0123456789", 16)));
            base64_of(&format!("{id}.G{}.{}", random.letters(5), random.url(38)))
        }
        "sts" => format!("IQoJb3JpZ2luX2Vj{}", random.base64(620)),
        "number" => {
            random.one(&["8", "7", "3"]).to_owned()
                + &random.text("2648", 2)
                + "9173"
                + &random.text("15", 2)
        }
        "b64glpat" => base64_of(&format!("glpat-{}", random.url(20))),
        "b64slack" => base64_of(&format!("xoxb-1234567890-1234567890123-{}", random.letters(24))),
        "b64docker" => {
            base64_of(&format!("{{\"auths\":{{\"ghcr.io\":{{\"auth\":\"{}\"}}}}}}", basic(random)))
        }
        "b64jwt" => {
            let jwt =
                format!("{}.eyJ{}.{}", "eyJhbGciOiJIUzI1NiJ9", random.url(60), random.url(43));
            base64_of(&jwt)
        }
        "django" => {
            let letters = "abcdefghijkmnpqrstuvwxyz23456789";
            format!(
                "{}+z)&e{}(w#%{}*b",
                random.text(letters, 13),
                random.text(letters, 12),
                random.text(letters, 14)
            )
        }
        "year" => {
            let word = random.one(&["Willow", "Harbor", "Falcon", "Marble"]);
            format!("{word}.{}", random.text("23456789", 4))
        }
        "b64val" => base64_of(&password(random, 16, MARKS)),
        "b64key" => base64_of(&format!(
            "-----BEGIN EC PRIVATE KEY-----\n{}\n-----END EC PRIVATE KEY-----\n",
            random.base64(64)
        )),
        other => unreachable!("{other} is no kind of value"),
    }
}

/// Returns a text with its escapes read: `\n`, `\r`, `\t` and `\\`.
pub(crate) fn unescaped(text: &str) -> String {
    let (mut out, mut letters) = (String::new(), text.chars());
    while let Some(letter) = letters.next() {
        match (letter, letter == '\\') {
            (_, true) => match letters.next() {
                Some('n') => out.push('\n'),
                Some('r') => out.push('\r'),
                Some('t') => out.push('\t'),
                Some('\\') => out.push('\\'),
                other => out.extend([Some('\\'), other].into_iter().flatten()),
            },
            _ => out.push(letter),
        }
    }
    out
}

/// Returns a text with decoded escapes and generated values, and their secret parts.
pub(crate) fn made(text: &str, random: &mut Random) -> (String, Vec<String>) {
    let text = unescaped(text);
    let (mut out, mut secrets, mut rest) = (String::new(), Vec::new(), &*text);
    while let Some(start) = rest.find("<<") {
        let behind = &rest[start + 2..];
        let end = behind.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let kind = &behind[..end.unwrap_or(behind.len())];
        if kind.is_empty() || !behind[kind.len()..].starts_with(">>") {
            out.push_str(&rest[..start + 1]);
            rest = &rest[start + 1..];
            continue;
        }
        let (parts, made) = value(random, kind);
        out.push_str(&rest[..start]);
        out.push_str(&made);
        secrets.extend(parts);
        rest = &behind[kind.len() + 2..];
    }
    (out + rest, secrets)
}
