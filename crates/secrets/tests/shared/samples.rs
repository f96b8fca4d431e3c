//! A secret of each kind, put together here so that no file holds one.

/// A secret, and what stands around it.
pub(crate) struct Sample {
    pub(crate) rule: &'static str,
    pub(crate) before: String,
    pub(crate) secret: String,
    pub(crate) after: String,
}

/// Returns `n` letters and digits.
fn letters(n: usize) -> String {
    "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0z".chars().cycle().take(n).collect()
}

fn hex(n: usize) -> String {
    "0123456789abcdef".chars().cycle().take(n).collect()
}

fn capitals(n: usize) -> String {
    "7ABCDE2FGHIJ4KLMNOP6Q".chars().cycle().take(n).collect()
}

/// Returns a secret of each kind, some kinds more than once.
pub(crate) fn samples() -> Vec<Sample> {
    let sample =
        |rule, secret: String| Sample { rule, before: String::new(), secret, after: String::new() };
    let within = |rule, before: &str, secret: String, after: &str| Sample {
        rule,
        before: before.to_owned(),
        secret,
        after: after.to_owned(),
    };
    let pem = |kind: &str| {
        let lines = format!("{}\n{}\n{}", letters(64), letters(64), letters(21) + "+/==");
        format!("-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----")
    };
    vec![
        sample("anthropic-key", format!("sk-ant-api03-{}-{}_AA", letters(50), letters(40))),
        sample("anthropic-key", format!("sk-ant-oat01-{}", letters(95))),
        sample("openrouter-key", format!("sk-or-v1-{}", hex(64))),
        sample("openai-key", format!("sk-proj-{}_{}-x", letters(70), letters(70))),
        sample("openai-key", format!("sk-svcacct-{}", letters(60))),
        sample("openai-key", format!("sk-{}T3BlbkFJ{}", letters(20), letters(20))),
        sample("github-token", format!("ghp_{}", letters(36))),
        sample("github-token", format!("gho_{}", letters(36))),
        sample("github-token", format!("github_pat_{}_{}", letters(22), letters(59))),
        sample("gitlab-token", format!("glpat-{}", letters(20))),
        sample("gitlab-token", format!("glpat-{}.01{}", letters(30), hex(7))),
        sample("aws-key-id", format!("AKIA{}", capitals(16))),
        sample("aws-key-id", format!("ASIA{}", capitals(16))),
        within("aws-secret-key", "aws_secret_access_key = ", letters(36) + "/+xY", ""),
        within("aws-secret-key", "\"SecretAccessKey\": \"", letters(40), "\""),
        sample("slack-token", format!("xoxb-1234567890-1234567890123-{}", letters(24))),
        sample(
            "slack-webhook",
            format!("hooks.slack.com/services/T{0}/B{0}/{1}", capitals(10), letters(24)),
        ),
        sample("google-key", format!("AIza{}-_{}", letters(20), letters(13))),
        sample("google-client-secret", format!("GOCSPX-{}", letters(28))),
        sample("stripe-key", format!("sk_live_{}", letters(24))),
        sample("stripe-key", format!("rk_live_{}", letters(99))),
        sample("webhook-secret", format!("whsec_{}", letters(32))),
        sample("npm-token", format!("npm_{}", letters(36))),
        sample("pypi-token", format!("pypi-AgEIcHlwaS5vcmc{}", letters(120))),
        sample("supabase-token", format!("sbp_{}", hex(40))),
        sample("hugging-face-token", format!("hf_{}", letters(34))),
        sample("sendgrid-key", format!("SG.{}.{}", letters(22), letters(43))),
        sample("digitalocean-token", format!("dop_v1_{}", hex(64))),
        sample("groq-key", format!("gsk_{}", letters(52))),
        sample("shopify-token", format!("shpat_{}", hex(32))),
        within("azure-storage-key", "AccountName=a;AccountKey=", letters(86) + "==", ";Suffix=x"),
        sample("age-key", format!("AGE-SECRET-KEY-1{}", capitals(58))),
        sample("jwt", format!("eyJ{}.eyJ{}.{}", letters(33), letters(80), letters(43))),
        sample("private-key", pem("RSA PRIVATE KEY")),
        sample("private-key", pem("PRIVATE KEY")),
        sample("private-key", pem("PGP PRIVATE KEY BLOCK")),
        within(
            "url-password",
            "postgres://ada:",
            format!("p%40ss-{}", letters(5)),
            "@db.example:5432/x",
        ),
        within("url-password", "redis://:", letters(12), "@host"),
        sample("telegram-token", format!("1234567890:AA{}", letters(33))),
    ]
}

/// Returns a text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    jsonl::push_string(&mut out, text, jsonl::Style::Compact);
    String::from_utf8(out).expect("text")
}

/// Returns the body of a JSON string with every `nth` character as an escape.
pub(crate) fn escaped(text: &str, nth: usize) -> String {
    let char = |(n, char): (usize, char)| match n % nth {
        0 => format!("\\u{:04x}", u32::from(char)),
        _ => {
            let quoted = quoted(&char.to_string());
            quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
        }
    };
    text.chars().enumerate().map(char).collect()
}
