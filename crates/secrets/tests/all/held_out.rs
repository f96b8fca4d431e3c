//! Random spellings from templates whose author had not read the rules: `open.tsv`, which may be
//! used to improve the rules, and `held_out.tsv`, which only scores them.

use jsonl::Line;
use secrets::Search;

use crate::{
    made_up::{Random, body, levels},
    values::{made, unescaped},
};

/// Each line is a family, a tab, and a text with a value such as `<<hex32>>` in it.
const OPEN: &str = include_str!("held_out/open.tsv");
const HELD_OUT: &str = include_str!("held_out/held_out.tsv");
/// Spellings of the shapes that a second author found missing, with other names and values than theirs.
const SHAPES: &str = include_str!("held_out/shapes.tsv");
/// Texts without a secret.
const BENIGN: &str = include_str!("held_out/benign.txt");

fn redacted(search: &mut Search, line: &str) -> String {
    let mut out = Vec::new();
    search.redact(&Line::new(line.as_bytes(), 0), &mut out, &mut |_| {});
    String::from_utf8(out).expect("text")
}

/// Returns whether no half of a secret is left.
fn is_gone(out: &str, secret: &str) -> bool {
    let half = secret.len() / 2;
    !out.contains(&secret[..half]) && !out.contains(&secret[half..])
}

/// Prints the recall of each family and every missed spelling. Returns the families below 95 %.
#[expect(clippy::print_stdout, reason = "the recall is what it is run for")]
fn score(rows: &str, shows_missed: bool) -> Vec<String> {
    let (mut random, mut search) = (Random::new(20_261_123), Search::with_test_keys());
    let mut families: Vec<(&str, usize, usize)> = Vec::new();
    for row in rows.lines() {
        let (family, text) = row.split_once('\t').expect("a family");
        if families.last().is_none_or(|last| last.0 != family) {
            families.push((family, 0, 0));
        }
        let (mut n, mut n_gone, mut left) = (0, 0, String::new());
        for _ in 0..4 {
            let (text, secrets) = made(text, &mut random);
            for line in levels(&text) {
                let out = redacted(&mut search, &line);
                n += 1;
                if secrets.iter().all(|secret| is_gone(&out, secret)) {
                    n_gone += 1;
                } else {
                    left = out;
                }
            }
        }
        if let Some(last) = families.last_mut() {
            last.1 += n_gone;
            last.2 += n;
        }
        if n_gone < n && shows_missed {
            println!("    {n_gone} of {n}: {row}\n        {left}");
        }
    }
    let (gone, all) =
        families.iter().fold((0, 0), |sum, family| (sum.0 + family.1, sum.1 + family.2));
    println!("{gone} of {all}");
    for (family, gone, all) in &families {
        println!("  {family}: {:.1} %", *gone as f64 * 100.0 / *all as f64);
    }
    let below = families.iter().filter(|family| family.1 * 100 < family.2 * 95);
    below.map(|family| family.0.to_owned()).collect()
}

#[test]
fn open_spellings_are_found() {
    assert_eq!(score(OPEN, true), [""; 0]);
}

#[test]
fn spellings_of_known_shapes_are_found() {
    assert_eq!(score(SHAPES, true), [""; 0]);
}

/// Asserts that of a text only the secret at its first `@` is redacted.
fn assert_only_redacted(text: &str, secret: &str) {
    let line = format!("{{\"text\":\"{}\"}}", text.replacen('@', secret, 1));
    let out = redacted(&mut Search::new(), &line);
    let (before, after) = text.split_once('@').expect("a secret");
    assert!(out.contains(&format!("{before}[REDACTED:")), "{out}");
    assert!(out.contains(&format!("]{after}")), "{out}");
}

#[test]
fn only_the_token_of_a_longer_text_is_redacted() {
    let token = format!("dop_v1_{}", Random::new(1).hex(64));
    for text in [
        "sed -i 's/^DO_PAT=.*/DO_PAT=@/' .env",
        "git clone https://x-token-auth:@@bitbucket.org/a/b.git",
        "twine upload --repository-url https://__token__:@@upload.x.dev/legacy/",
        "     1→$ gh auth token\\n     2→@\\n     3→$ ls",
        "deploy/app.yml:12:token: |\\ndeploy/app.yml:13:  @\\ndeploy/app.yml:14:port: 1",
        "DO_TOKEN: ${DO_TOKEN:-@}",
        "jdbc:sqlserver://db:1433;databaseName=x;user=sa;password=@;encrypt=true",
    ] {
        assert_only_redacted(text, &token);
    }
}

#[test]
fn a_name_in_another_language_is_found_in_escapes() {
    let secret = Random::new(5).letters(16);
    for name in [
        "contraseña",
        "contrase\\u00f1a",
        "\\u043f\\u0430\\u0440\\u043e\\u043b\\u044c",
        "has\\u0142o",
    ] {
        for line in [
            format!("{{\"input\":{{\"{name}\":\"{secret}\"}}}}"),
            format!("{{\"text\":\"{name}: {secret}\"}}"),
        ] {
            assert!(is_gone(&redacted(&mut Search::new(), &line), &secret), "{line}");
        }
    }
}

#[test]
fn a_setting_in_the_line_after_a_secret_stays() {
    let mut random = Random::new(2);
    for text in [
        "JWT_SECRET=@\\nJWT_EXPIRES_IN=7d\\nPORT=3000",
        "export JWT_SECRET=@\\nexport JWT_TTL=3600\\nexport A=1",
        "TOKEN=@\\nsha256sum=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c\\nZ=1",
    ] {
        assert_only_redacted(text, &random.hex(40));
    }
}

#[test]
fn a_test_key_is_a_secret_only_on_request() {
    let line = format!("{{\"text\":\"STRIPE_TEST_KEY=sk_test_{}\"}}", Random::new(3).hex(40));
    assert_eq!(redacted(&mut Search::new(), &line), line);
    assert!(redacted(&mut Search::with_test_keys(), &line).contains("[REDACTED:stripe-test-key]"));
}

#[test]
fn held_out_spellings_are_found() {
    assert_eq!(score(HELD_OUT, std::env::var_os("SHOW_HELD_OUT").is_some()), [""; 0]);
}

/// Scores a file of the same form: `SPELLINGS=FILE cargo test -p sessionlog-secrets -- another --nocapture`.
#[test]
fn another_file_of_spellings_is_scored() {
    let Some(file) = std::env::var_os("SPELLINGS") else { return };
    let rows = std::fs::read_to_string(file).expect("a file of spellings");
    assert_eq!(score(&rows, true), [""; 0]);
}

#[test]
fn texts_without_a_secret_stay_as_they_are() {
    let mut search = Search::with_test_keys();
    let mut changed = Vec::new();
    for text in BENIGN.lines() {
        let text = unescaped(text);
        let line = format!("{{\"text\":\"{}\"}}", body(&text));
        if redacted(&mut search, &line) != line {
            println!("{}", redacted(&mut search, &line));
            changed.push(text);
        }
    }
    assert_eq!(changed, [""; 0]);
}
