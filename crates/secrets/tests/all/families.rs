//! Tests of every family of keys at every place and in every spelling, and of texts that only look
//! like keys.

use jsonl::Line;
use proptest::{collection::vec, prelude::*, sample::select};
use secrets::{Search, rules};

use crate::samples::{escaped, quoted, samples};

/// Returns a line without its secrets, and the findings: rule, pointer, length.
fn redacted(search: &mut Search, line: &str) -> (String, Vec<(&'static str, String, usize)>) {
    let (mut out, mut found) = (Vec::new(), Vec::new());
    search.redact(&Line::new(line.as_bytes(), 0), &mut out, &mut |finding| {
        found.push((finding.rule.name, finding.pointer.to_owned(), finding.length));
    });
    (String::from_utf8(out).expect("text stays text"), found)
}

#[test]
fn every_rule_has_a_sample() {
    for rule in rules() {
        assert!(samples().iter().any(|sample| sample.rule == rule.name), "{}", rule.name);
    }
}

#[test]
fn every_family_is_found_in_every_place() {
    let mut search = Search::with_test_keys();
    for sample in samples() {
        let (before, secret, after) = (&sample.before, &sample.secret, &sample.after);
        let hidden = format!("{before}[REDACTED:{}]{after}", sample.rule);
        let shown = format!("{before}{secret}{after}");
        for (place, pointer) in [
            ("{\"text\":@}", "/text"),
            ("{\"a\":[0,{\"b/~\":@}],\"id\":\"x\"}", "/a/1/b~1~0"),
            (
                "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":@}]}}",
                "/message/content/0/text",
            ),
            ("{\"input\":{\"id\":@}}", "/input/id"),
            ("[@]", "/0"),
            (" @ ", ""),
        ] {
            for around in ["@", "see @.", "(@)", "A=1\nKEY=@\n", "é🎉 @ é", "x\u{1b}[32m@\u{1b}[0m"]
            {
                // A key of several lines ends in a fence. Spaces after the fence are not part of
                // it.
                let text = |what: &str| around.replace('@', what);
                let line = place.replace('@', &quoted(&text(&shown)));
                let expected = place.replace('@', &quoted(&text(&hidden)));
                let found = vec![(sample.rule, pointer.to_owned(), secret.len())];
                let name = format!("{} in {line}", sample.rule);
                assert_eq!(redacted(&mut search, &line), (expected, found), "{name}");
            }
        }
    }
}

#[test]
fn escapes_and_json_within_json_hide_nothing() {
    let mut search = Search::with_test_keys();
    for sample in samples() {
        let shown = format!("{}{}{}", sample.before, sample.secret, sample.after);
        let n_found = |search: &mut Search, line: &str| {
            let (out, found) = redacted(search, line);
            assert!(jsonl::validate(out.as_bytes()).is_ok(), "{out}");
            assert_eq!(redacted(search, &out).1, [], "{out}");
            assert!(!out.contains(&sample.secret), "{out}");
            found.iter().filter(|(rule, ..)| *rule == sample.rule).count()
        };
        for nth in [1, 2, 5, 11] {
            let line = format!("{{\"text\":\"{}\"}}", escaped(&shown, nth));
            assert_eq!(n_found(&mut search, &line), 1, "{line}");
        }
        let slashes = format!("{{\"text\":{}}}", quoted(&shown).replace('/', "\\/"));
        assert_eq!(n_found(&mut search, &slashes), 1, "{slashes}");
        let inner = quoted(&format!("first\n{shown}\nlast"));
        let within = format!("{{\"text\":{}}}", quoted(&format!("{{\"stdout\":{inner}}}")));
        assert_eq!(n_found(&mut search, &within), 1, "{within}");
        let name = format!("{{\"a\":{{{}:1}}}}", quoted(&shown));
        let (out, found) = redacted(&mut search, &name);
        assert_eq!(found.len(), 1, "{name}");
        assert!(!out.contains(&sample.secret) && !found[0].1.contains(&sample.secret), "{found:?}");
    }
}

#[test]
fn torn_lines_and_what_lies_deep_are_searched_too() {
    let mut search = Search::with_test_keys();
    for sample in samples() {
        let text = quoted(&format!("a {}{}{} b", sample.before, sample.secret, sample.after));
        for line in [
            format!("{{\"type\":\"user\",\"text\":{text}"),
            format!("\"half\"}}{{\"text\":{text}}}"),
            format!("{}{text}{}", "[".repeat(2_000), "]".repeat(2_000)),
            format!("{}{text}{}", "{\"a\":".repeat(2_000), "}".repeat(2_000)),
        ] {
            let (out, found) = redacted(&mut search, &line);
            assert_eq!(found.len(), 1, "{line}");
            assert!(!out.contains(&sample.secret) && out.contains(" b"), "{out}");
            let is_json = |line: &str| jsonl::validate(line.as_bytes()).is_ok();
            assert_eq!(is_json(&line), is_json(&out), "{out}");
        }
    }
    let bytes = [b"\xff\xfe ", samples()[0].secret.as_bytes(), b" \xff"].concat();
    let mut out = Vec::new();
    assert!(search.redact(&Line::new(&bytes, 0), &mut out, &mut |_| {}));
    assert_eq!(
        out,
        [&b"\xff\xfe [REDACTED:"[..], samples()[0].rule.as_bytes(), b"] \xff"].concat()
    );
}

#[test]
fn ids_signatures_and_pictures_are_left_alone() {
    let mut search = Search::new();
    let key = format!("AKIA{}", "0123456789ABCDEF");
    for line in [
        format!(r#"{{"uuid":"{key}","parentUuid":"{key}","sessionId":"{key}"}}"#),
        format!(r#"{{"message":{{"id":"{key}","content":[{{"tool_use_id":"{key}"}}]}}}}"#),
        format!(r#"{{"thinking":"x","signature":"ab+{key}/cd=="}}"#),
        format!(r#"{{"type":"redacted_thinking","data":"ab+{key}/cd=="}}"#),
        format!(r#"{{"source":{{"media_type":"image/png","data":"ab+{key}/cd=="}}}}"#),
        format!(r#"{{"type":"image","base64_data":"ab+{key}/cd=="}}"#),
    ] {
        assert_eq!(redacted(&mut search, &line), (line.clone(), vec![]));
    }
    // These members are searched if their values are not ids.
    for line in [
        format!(r#"{{"input":{{"uuid":"{key}"}}}}"#),
        format!(r#"{{"signature":"{key}"}}"#),
        format!(r#"{{"media_type":"text/plain","data":"key: {key}"}}"#),
        format!(r#"{{"id":"{} {key}"}}"#, "long ".repeat(40)),
    ] {
        assert_eq!(redacted(&mut search, &line).1.len(), 1, "{line}");
    }
}

#[test]
fn what_only_looks_like_a_key_is_left_alone() {
    let mut search = Search::new();
    let sha = "0123456789abcdef0123456789abcdef01234567";
    for text in [
        "risk-taking, task-runner, /a/risk-model/x.rs, sk-, sk-proj-, sk-ant-api03-...",
        "desk-proj-0123456789012345678901234567890123456789",
        "a commit: 0123456789abcdef0123456789abcdef01234567",
        "AKIA, AKIAEXAMPLE, AKIA0123456789abcdef, XAKIA0123456789ABCDEF, AKIA0123456789ABCDEFG",
        "ghp_short, ghp_0123456789, AIzaSy",
        "eyJhbGciOiJIUzI1NiJ9, eyJhbGciOiJIUzI1NiJ9.e30, a.eyJ.b",
        "grep -e '-----BEGIN RSA PRIVATE KEY-----' and -----BEGIN PUBLIC KEY-----",
        "https://example.org:8080/@scope/x http://user@host ssh://git@host:22/x https://u:$PASS@host",
        "postgres://user:${PASSWORD}@host https://a:<password>@host https://u:***@host",
        "12:30:AM 20260101:A note:As https://t.me/x npm_config_cache npm_lifecycle_event",
        "toolu_01A09q90qw90lq917835lq9 msg_01XFDUDYJgAACzvnptvVoYEL req_011CVkGpqkdEYyVy",
        "2a86484a-eb59-46ef-a8fd-000000000000",
        sha,
    ] {
        let line = format!("{{\"text\":{}}}", quoted(text));
        assert_eq!(redacted(&mut search, &line), (line.clone(), vec![]), "{text}");
    }
}

/// Names of secrets with values that are not secrets.
#[test]
fn values_that_are_no_secrets_are_left_alone() {
    let mut search = Search::new();
    for text in [
        "AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "https://user:password@example.com postgres://postgres:postgres@localhost/x",
        "ghp_xxxx ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx sk-ant-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "PASSWORD=changeme SECRET_KEY=your-secret-key-here API_KEY=<your-api-key> TOKEN=${TOKEN}",
        "PASSWORD=$DB_PASSWORD TOKEN=$(cat token) password: {{ password }} pass: %PASSWORD%",
        "password: string; token?: string | undefined; apiKey: process.env.API_KEY,",
        "password = os.environ[\"DB_PASSWORD\"]; secret = settings.secrets.client_secret2",
        "token = get_token(); api_key = load_key(path); password=getpass.getpass(\"Password: \")",
        "const password = req.body.password1; let token = parts[2]; secret: env.CLIENT_SECRET",
        "password: ********, token: ..., secret: [REDACTED], key: [REDACTED:key]",
        "\"apiKeySource\":\"ANTHROPIC_API_KEY\",\"token_type\":\"bearer_token_2\"",
        "max_tokens=200000 token_count: 12345678 tokens: 60825181 password_hash=sha256abc12345",
        "primary_key = \"user_id_2\" foreign_key: users2 cache_key=\"a1b2c3d4e5f60718\" sortKey: 'x9y8z7w6'",
        "secret_name=\"prod/db/password1\" SECRET_FILE=/run/secrets/db1 KEY_PATH=~/.ssh/id_ed25519",
        "Bearer authentication and basic auth; Authorization: Bearer $TOKEN, Bearer <token>",
        "Basic usage: Basic dXNlcjpwYXNzd29yZA== basic Configuration123",
        "mkdir -p build/x86_64-1 && ssh -p 2222 host; docker run -p 8080:80 -u 1000:1000 image1",
        "git push -u origin feature/a1b2c3d4 sort -u file1 grep -w a1b2c3d4 ls -a x1y2z3w4",
        "token: 2a86484a-eb59-46ef-a8fd-93ba0c7d12e5 (an id), commit 0123456789abcdef0123456789abcdef01234567",
        "password: \"Please enter your password\" \"password\": \"\" passwd: null pass: true",
        "tests pass: 123, bypass=abc12345, compass: north12, keyboard = \"qwerty12\"",
        "PWD=/home/user1/project2 OLDPWD=~/x1 pwd: C:\\\\work1",
        "secret: my-app-secret key: value1 token: my-token-1 auth: basic authToken: \"test-token-123\"",
        "password=password123 PASSWORD=admin123 secret='test1234' token=\"mytoken123456789\"",
        "if (password.length < 12) { throw } password.value1 token.kind2",
        "token <- get_token(\"x\"); key <- \"user_id\"; password <- readline(\"Password: \"); cat <<< \"pass\"",
        "\"auth\": \"oauth2\" auth=true \"auth\": \"aGVsbG8gd29ybGQ=\"",
    ] {
        let line = format!("{{\"text\":{}}}", quoted(text));
        assert_eq!(redacted(&mut search, &line), (line.clone(), vec![]), "{text}");
    }
    for line in [
        "{\"password\":\"string\",\"token\":\"\",\"apiKeySource\":\"none\",\"secret\":\"[REDACTED:secret]\"}",
        "{\"name\":\"DB_PASSWORD\",\"value\":\"changeme\"}",
        "{\"args\":[\"--password\",\"-\",\"--token\",\"$TOKEN\"]}",
        "{\"input_tokens\":12,\"nextToken\":\"eyJ2IjoiMiJ9a8Kq02LmZx91\",\"tokenType\":\"x9K2m4Q8z1\"}",
    ] {
        assert_eq!(redacted(&mut search, line), (line.to_owned(), vec![]));
    }
}

/// The value of a member, an item after an option, and the value beside a name.
#[test]
fn members_that_promise_a_secret_have_one() {
    let mut search = Search::new();
    for (line, rule, pointer) in [
        (
            "{\"input\":{\"password\":\"tZ8!kq 02Lm\",\"db_pass\":\"tZ8!kq02Lm\"}}",
            "password",
            "/input/db_pass",
        ),
        ("{\"env\":{\"API_KEY\":\"9x2KqLm8Zt4vWb7c\"}}", "key", "/env/API_KEY"),
        ("[\"--token\",\"9x2KqLm8Zt4vWb7c\"]", "token", "/1"),
        ("{\"name\":\"DB_PASSWORD\",\"value\":\"tZ8!kq02Lm\"}", "password", "/value"),
        ("{\"auth\":\"YWRhOnRaOCFrcTAyTG0=\"}", "docker-auth", "/auth"),
        ("{\"Authorization\":\"Bearer 9x2KqLm8Zt4vWb7c\"}", "bearer-token", "/Authorization"),
    ] {
        let found = redacted(&mut search, line).1;
        let found: Vec<_> = found.iter().map(|(rule, pointer, _)| (*rule, &**pointer)).collect();
        assert_eq!(found, [(rule, pointer)], "{line}");
    }
}

/// Found by `fuzz redact`: the user of a URL was searched only after the password was redacted.
#[test]
fn the_user_of_a_url_may_be_a_secret_too() {
    let token = concat!("ghp", "_0123456789abcdefghijABCDEFGHIJ012345");
    let line = format!("{{\"a\":\"https://x-{token}:swordfish9@host {token}\"}}");
    let mut search = Search::new();
    let (once, found) = redacted(&mut search, &line);
    let names: Vec<&str> = found.iter().map(|(name, ..)| *name).collect();
    assert_eq!(names, ["github-token", "url-password", "github-token"]);
    assert!(!once.contains(token) && !once.contains("swordfish9"), "{once}");
    assert_eq!(redacted(&mut search, &once), (once.clone(), Vec::new()));
}

#[test]
fn a_hash_tells_secrets_apart_and_depends_on_its_key() {
    let mut search = Search::new();
    let mut hash = |text: &str, key: &[u8]| {
        let (line, mut hash) = (format!("{{\"text\":\"{text}\"}}"), 0);
        search.find(&Line::new(line.as_bytes(), 0), &mut |finding| hash = finding.hash(key));
        hash
    };
    let one = "AKIA0123456789ABCDEF";
    assert_eq!(hash(one, b"a"), hash("\\u0041KIA0123456789ABCDEF", b"a"));
    assert_ne!(hash(one, b"a"), hash("AKIA0123456789ABCDEE", b"a"));
    assert_ne!(hash(one, b"a"), hash(one, b"b"));
}

/// Returns a line of pieces of keys and of JSON, in any order.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let whole: Vec<String> =
        samples().into_iter().map(|it| it.before + &it.secret + &it.after).collect();
    let halves: Vec<String> =
        whole.iter().map(|key| key.chars().take(key.len() / 2).collect()).collect();
    const OTHERS: &[&str] = &[
        "\"",
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\\",
        "\\n",
        "\\\\n",
        "\\u0041",
        "\\u00",
        "\\ud83c",
        "/",
        "@",
        "-",
        "_",
        " ",
        "a",
        "9",
        "é",
        "://",
        "%3D",
        "eyJ",
        ".",
        "-----END ",
        "\"text\":",
        "{\"a\":\"",
        "\"}",
        "\x1b[31m",
    ];
    let piece = prop_oneof![
        3 => select(whole).prop_map(String::into_bytes),
        2 => select(halves).prop_map(String::into_bytes),
        6 => select(OTHERS).prop_map(|text| text.as_bytes().to_vec()),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
    ];
    let lines = vec(piece, 0..12).prop_map(|pieces| pieces.concat());
    (lines, any::<bool>()).prop_map(|(line, is_string)| match is_string {
        true => {
            let text = String::from_utf8_lossy(&line).into_owned();
            format!("{{\"text\":{}}}", quoted(&text)).into_bytes()
        }
        false => line,
    })
}

#[test]
fn a_secret_right_after_another_is_found_the_first_time() {
    let (databricks, github) =
        ("dapi0123456789abcdef0123456789abcdef", "ghp_0123456789abcdefghijABCDEFGHIJ012345");
    let line = format!("{{\"text\":\"{databricks}{github}\"}}");
    let (out, found) = redacted(&mut Search::new(), &line);
    assert_eq!(out, "{\"text\":\"[REDACTED:databricks-token][REDACTED:github-token]\"}");
    assert_eq!(found.len(), 2);
    // The dashes of the key could be of the token.
    let key =
        format!("-----BEGIN PRIVATE KEY-----\\n{}\\n-----END PRIVATE KEY-----", "aB3d".repeat(16));
    let line = format!("{{\"text\":\"Bearer aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0za{key}\"}}");
    let (out, _) = redacted(&mut Search::new(), &line);
    assert_eq!(out, "{\"text\":\"Bearer [REDACTED:bearer-token][REDACTED:private-key]\"}");
}

/// Returns a line without its secrets, and their ranges.
fn redacted_bytes(search: &mut Search, line: &[u8]) -> (Vec<u8>, Vec<std::ops::Range<usize>>) {
    let (mut out, mut places) = (Vec::new(), Vec::new());
    search.redact(&Line::new(line, 0), &mut out, &mut |it| places.push(it.written.clone()));
    (out, places)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_but_secrets_changes_and_twice_is_once(line in line()) {
        let shown = line.escape_ascii().to_string();
        let mut search = Search::new();
        let (once, places) = redacted_bytes(&mut search, &line);
        let mut done = 0;
        let mut rest = &once[..];
        for place in &places {
            prop_assert!(done <= place.start && place.start < place.end && place.end <= line.len());
            let kept = &line[done..place.start];
            prop_assert!(rest.starts_with(kept));
            rest = rest[kept.len()..].strip_prefix(b"[REDACTED:").expect("in place of a secret");
            let end = rest.iter().position(|byte| *byte == b']').expect("closed");
            rest = &rest[end + 1..];
            done = place.end;
        }
        prop_assert_eq!(rest, &line[done..]);
        let is_json = |line: &[u8]| jsonl::validate(line).is_ok();
        prop_assert!(!is_json(&line) || is_json(&once), "{shown} then {}", once.escape_ascii());
        let (twice, again) = redacted_bytes(&mut search, &once);
        prop_assert!(again.is_empty(), "{shown} then {}", once.escape_ascii());
        prop_assert_eq!(twice, once);
    }
}
