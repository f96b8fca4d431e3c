//! The table of rules, as the services document their keys or as gitleaks (MIT) has them.

use crate::{
    class::{
        BASE64, BASE64_URL, BETWEEN, CAPITALS, DASHED, DIGITS, HEX, LETTERS, PASSWORD, PATH, USER,
        WORD,
    },
    rule::{
        Edge,
        Part::{Armor, Is, Run},
        Rule, Secret,
    },
};

/// A run is as long as it is where a service promises no length.
const MAX: usize = usize::MAX;

/// Every rule; of two that fit at one place, the first is taken.
pub static RULES: &[Rule] = &[
    Rule::new("anthropic-key", "Anthropic", &["sk-ant-"], &[Run(&BASE64_URL, 32, MAX)]),
    Rule::new("openrouter-key", "OpenRouter", &["sk-or-v1-"], &[Run(&LETTERS, 32, MAX)]),
    Rule::new(
        "openai-key",
        "OpenAI: of a project, a service account, an administrator",
        &["sk-proj-", "sk-svcacct-", "sk-admin-"],
        &[Run(&BASE64_URL, 32, MAX)],
    ),
    Rule::new(
        "openai-key",
        "OpenAI: of a user",
        &["sk-"],
        &[Run(&LETTERS, 20, 20), Is("T3BlbkFJ"), Run(&LETTERS, 20, 20)],
    ),
    Rule::new(
        "github-token",
        "GitHub: personal, OAuth, user, server, refresh",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        &[Run(&LETTERS, 36, MAX)],
    ),
    Rule::new("github-token", "GitHub: fine-grained", &["github_pat_"], &[Run(&WORD, 36, MAX)]),
    Rule::new(
        "gitlab-token",
        "GitLab: personal, routable",
        &["glpat-"],
        &[Run(&BASE64_URL, 27, 300), Is("."), Run(&LETTERS, 9, 9)],
    ),
    Rule::new(
        "gitlab-token",
        "GitLab: personal, deploy, runner, trigger",
        &["glpat-", "gldt-", "glrt-", "glptt-"],
        &[Run(&BASE64_URL, 20, MAX)],
    ),
    Rule::new(
        "aws-key-id",
        "Amazon Web Services: an access key's id",
        &["AKIA", "ASIA"],
        &[Run(&CAPITALS, 16, 16)],
    ),
    Rule {
        edge: Edge::None,
        secret: Secret::Part(1),
        ..Rule::new(
            "aws-secret-key",
            "Amazon Web Services: a secret access key, by the name that stands before it",
            &[
                "aws_secret_access_key",
                "AWS_SECRET_ACCESS_KEY",
                "SecretAccessKey",
                "secretAccessKey",
            ],
            &[Run(&BETWEEN, 1, 12), Run(&BASE64, 40, 40)],
        )
    },
    Rule::new(
        "slack-token",
        "Slack: bot, user, app, refresh, legacy",
        &["xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "xapp-"],
        &[Run(&DASHED, 20, MAX)],
    ),
    Rule::new(
        "slack-webhook",
        "Slack: an incoming webhook",
        &["hooks.slack.com"],
        &[Is("/services/"), Run(&PATH, 24, MAX)],
    ),
    Rule::new("google-key", "Google: an API key", &["AIza"], &[Run(&BASE64_URL, 35, 35)]),
    Rule::new(
        "google-client-secret",
        "Google: an OAuth client",
        &["GOCSPX-"],
        &[Run(&BASE64_URL, 28, 28)],
    ),
    Rule::new(
        "stripe-key",
        "Stripe: secret and restricted, live",
        &["sk_live_", "rk_live_"],
        &[Run(&LETTERS, 16, MAX)],
    ),
    Rule::new(
        "webhook-secret",
        "Stripe, Svix: what signs webhooks",
        &["whsec_"],
        &[Run(&BASE64, 24, MAX)],
    ),
    Rule::new("npm-token", "npm", &["npm_"], &[Run(&LETTERS, 36, 36)]),
    Rule::new("pypi-token", "PyPI", &["pypi-AgE"], &[Run(&BASE64_URL, 50, MAX)]),
    Rule::new("supabase-token", "Supabase", &["sbp_"], &[Run(&HEX, 40, 40)]),
    Rule::new("hugging-face-token", "Hugging Face", &["hf_"], &[Run(&LETTERS, 34, 40)]),
    Rule::new(
        "sendgrid-key",
        "SendGrid",
        &["SG."],
        &[Run(&BASE64_URL, 22, 22), Is("."), Run(&BASE64_URL, 43, 43)],
    ),
    Rule::new(
        "digitalocean-token",
        "DigitalOcean: personal, OAuth, refresh",
        &["dop_v1_", "doo_v1_", "dor_v1_"],
        &[Run(&HEX, 64, 64)],
    ),
    Rule::new("groq-key", "Groq", &["gsk_"], &[Run(&LETTERS, 48, 56)]),
    Rule::new(
        "shopify-token",
        "Shopify: access, shared secret, custom, private",
        &["shpat_", "shpss_", "shpca_", "shppa_"],
        &[Run(&HEX, 32, 32)],
    ),
    Rule {
        edge: Edge::None,
        secret: Secret::Part(0),
        ..Rule::new(
            "azure-storage-key",
            "Azure: a storage account, in a connection string",
            &["AccountKey="],
            &[Run(&BASE64, 86, 88)],
        )
    },
    Rule::new("age-key", "age", &["AGE-SECRET-KEY-1"], &[Run(&CAPITALS, 58, 58)]),
    Rule {
        edge: Edge::Run,
        ..Rule::new(
            "jwt",
            "a JSON Web Token, signed",
            &["eyJ"],
            &[
                Run(&BASE64_URL, 8, MAX),
                Is(".eyJ"),
                Run(&BASE64_URL, 8, MAX),
                Is("."),
                Run(&BASE64_URL, 20, MAX),
            ],
        )
    },
    Rule {
        edge: Edge::None,
        ..Rule::new(
            "private-key",
            "a private key in PEM or OpenPGP armor",
            &[
                "-----BEGIN PRIVATE KEY",
                "-----BEGIN RSA PRIVATE KEY",
                "-----BEGIN EC PRIVATE KEY",
                "-----BEGIN DSA PRIVATE KEY",
                "-----BEGIN OPENSSH PRIVATE KEY",
                "-----BEGIN ENCRYPTED PRIVATE KEY",
                "-----BEGIN PGP PRIVATE KEY BLOCK",
            ],
            &[Is("-----"), Armor],
        )
    },
    Rule {
        edge: Edge::None,
        secret: Secret::Part(2),
        ..Rule::new(
            "url-password",
            "a password in a URL: scheme://user:password@host",
            &["://"],
            &[Run(&USER, 0, 64), Is(":"), Run(&PASSWORD, 6, 255), Is("@")],
        )
    },
    Rule {
        before: Some((&DIGITS, 8, 12)),
        ..Rule::new(
            "telegram-token",
            "Telegram: a bot, number:token",
            &[":A"],
            &[Run(&BASE64_URL, 34, 34)],
        )
    },
];
