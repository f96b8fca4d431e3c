//! The table of rules, from the documentation of the services or from gitleaks (MIT).

mod commands;
mod context;
mod files;
mod outputs;
mod recovery;
mod sentences;
mod services;

use crate::{
    class::{
        ANY_HEX, AZURE, BASE64, BASE64_URL, BETWEEN, CAPITALS, DASHED, DIGITS, DOTTED, HEX,
        LETTERS, PADDED_URL, PAIR, PASSWORD, PATH, SIGNATURE, TEAMS, USER, UUID, WORD,
    },
    link_user::is_port,
    placeholder::{is_example, is_template, is_weak},
    randomness::{Makeup, has_many_humps},
    rule::{
        Edge,
        Part::{Armor, Is, Run},
        Rule, Secret,
    },
};

/// Maximum length of a run for services that document no length.
const MAX: usize = usize::MAX;

/// Keys with a prefix of their own.
static BY_PREFIX: &[Rule] = &[
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
        ..Rule::new(
            "aws-session-token",
            "Amazon Web Services: a session token",
            &["IQoJb3JpZ2lu", "FwoGZXIvYXdz", "FQoGZXIvYXdz"],
            &[Run(&SIGNATURE, 88, MAX)],
        )
    },
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
        &["xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "xoxc-", "xapp-"],
        &[Run(&DASHED, 20, MAX)],
    ),
    Rule::new("slack-token", "Slack: of a browser", &["xoxd-"], &[Run(&SIGNATURE, 40, MAX)]),
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
    Rule::new("supabase-token", "Supabase", &["sbp_"], &[Run(&HEX, 40, 64)]),
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
    Rule::new("groq-key", "Groq", &["gsk_"], &[Run(&LETTERS, 48, MAX)]),
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
    Rule::new(
        "jwt",
        "a JSON Web Token, signed, by its usual first letters",
        &["eyJhbGciOi", "eyJ0eXAiOi", "eyJraWQiOi"],
        &[
            Run(&BASE64_URL, 8, MAX),
            Is(".eyJ"),
            Run(&BASE64_URL, 8, MAX),
            Is("."),
            Run(&BASE64_URL, 20, MAX),
        ],
    ),
    Rule {
        edge: Edge::None,
        accepts: |_| true,
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
        accepts: |password| {
            let is_other = is_example(password) || is_weak(password) || is_template(password);
            // The token of GitHub is the user.
            let is_fixed = matches!(password, b"x-oauth-basic" | b"x-oauth-token");
            !is_other && !is_fixed && !is_port(password)
        },
        ..Rule::new(
            "url-password",
            "a password in a URL: scheme://user:password@host",
            // PHP escapes slashes, and JSON within JSON escapes backslashes.
            &["://", r":\/\/", r":\\/\\/", r":\\\\/\\\\/"],
            &[Run(&USER, 0, 64), Is(":"), Run(&PASSWORD, 6, 255), Is("@")],
        )
    },
    Rule {
        before: Some((&DIGITS, 8, 12)),
        // In a URL it follows `bot` at once.
        edge: Edge::None,
        ..Rule::new(
            "telegram-token",
            "Telegram: a bot, number:token",
            &[":A"],
            &[Run(&BASE64_URL, 34, 34)],
        )
    },
    Rule {
        edge: Edge::None,
        secret: Secret::Part(0),
        accepts: is_random,
        ..Rule::new(
            "url-token",
            "a token in a URL: scheme://token@host",
            &["://"],
            &[Run(&WORD, 20, 255), Is("@")],
        )
    },
    Rule {
        is_for_tests: true,
        ..Rule::new(
            "stripe-test-key",
            "Stripe: secret and restricted, test",
            &["sk_test_", "rk_test_"],
            &[Run(&LETTERS, 16, MAX)],
        )
    },
    Rule {
        accepts: is_random,
        ..Rule::new(
            "openai-key",
            "OpenAI, DeepSeek, and what speaks as they do",
            &["sk-"],
            &[Run(&LETTERS, 32, MAX)],
        )
    },
    // Clouds.
    Rule {
        before: Some((&AZURE, 3, 3)),
        ..Rule::new(
            "azure-client-secret",
            "Azure: a client of Entra",
            &["0Q~", "1Q~", "2Q~", "3Q~", "4Q~", "5Q~", "6Q~", "7Q~", "8Q~", "9Q~"],
            &[Run(&AZURE, 31, 34)],
        )
    },
    Rule {
        secret: Secret::Part(0),
        ..Rule::new(
            "azure-sas",
            "Azure: a shared access signature",
            &["sig="],
            &[Run(&SIGNATURE, 43, 140)],
        )
    },
    Rule::new("alibaba-key-id", "Alibaba Cloud", &["LTAI"], &[Run(&LETTERS, 16, 26)]),
    Rule::new("google-token", "Google", &["ya29."], &[Run(&BASE64_URL, 30, MAX)]),
    Rule::new(
        "google-token",
        "Google: refresh, and a code for one",
        &["1//0", "4/0A"],
        &[Run(&BASE64_URL, 50, MAX)],
    ),
    Rule::new("yandex-key", "Yandex Cloud", &["AQVN"], &[Run(&BASE64_URL, 35, 38)]),
    Rule::new("heroku-key", "Heroku", &["HRKU-"], &[Run(&BASE64_URL, 36, MAX)]),
    Rule::new(
        "fly-token",
        "Fly.io",
        &["fm1_", "fm1a_", "fm1r_", "fm2_", "fo1_"],
        &[Run(&BASE64, 40, MAX)],
    ),
    Rule::new(
        "fly-token",
        "Fly.io, in base64 for URLs",
        &["fm1_", "fm2_", "fo1_"],
        &[Run(&BASE64_URL, 40, MAX)],
    ),
    Rule {
        edge: Edge::None,
        ..Rule::new(
            "jenkins-secret",
            "Jenkins: a secret, encrypted with a key beside it",
            &["{AQAAABAAAA"],
            &[Run(&BASE64, 24, MAX), Is("}")],
        )
    },
    Rule {
        edge: Edge::None,
        secret: Secret::Part(0),
        ..Rule::new(
            "url-token",
            "Amazon Web Services, Google: what signs a URL",
            &["X-Amz-Signature=", "X-Goog-Signature=", "x-amz-signature="],
            &[Run(&ANY_HEX, 64, MAX)],
        )
    },
    Rule::new("netlify-token", "Netlify", &["nfp_"], &[Run(&LETTERS, 36, MAX)]),
    Rule::new("render-key", "Render", &["rnd_"], &[Run(&LETTERS, 24, MAX)]),
    Rule::new("pulumi-token", "Pulumi", &["pul-"], &[Run(&HEX, 40, 40)]),
    Rule {
        before: Some((&LETTERS, 14, 14)),
        ..Rule::new(
            "terraform-token",
            "Terraform Cloud",
            &[".atlasv1."],
            &[Run(&BASE64_URL, 60, 70)],
        )
    },
    Rule::new(
        "vault-token",
        "HashiCorp Vault: service, batch, recovery",
        &["hvs.", "hvb.", "hvr."],
        &[Run(&BASE64_URL, 24, MAX)],
    ),
    Rule {
        accepts: is_random,
        ..Rule::new(
            "vault-token",
            "HashiCorp Vault, before 1.10",
            &["s.", "b."],
            &[Run(&LETTERS, 24, 24)],
        )
    },
    Rule::new("openshift-token", "OpenShift", &["sha256~"], &[Run(&BASE64_URL, 43, 43)]),
    Rule::new("tailscale-key", "Tailscale", &["tskey-"], &[Run(&DASHED, 20, MAX)]),
    Rule::new(
        "doppler-token",
        "Doppler",
        &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."],
        &[Run(&DOTTED, 40, MAX)],
    ),
    Rule::new(
        "planetscale-token",
        "PlanetScale",
        &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"],
        &[Run(&DOTTED, 32, MAX)],
    ),
    Rule::new("1password-token", "1Password", &["ops_eyJ"], &[Run(&PADDED_URL, 100, MAX)]),
    Rule::new("databricks-token", "Databricks", &["dapi"], &[Run(&HEX, 32, MAX)]),
    Rule::new(
        "dynatrace-token",
        "Dynatrace",
        &["dt0c01.", "dt0s16."],
        &[Run(&CAPITALS, 24, 24), Is("."), Run(&CAPITALS, 64, 64)],
    ),
    Rule::new("supabase-key", "Supabase", &["sb_secret_"], &[Run(&BASE64_URL, 20, MAX)]),
    // Code and packages.
    Rule::new(
        "gitlab-token",
        "GitLab: CI, feed, agent, SCIM, mail",
        &["glcbt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-", "glffct-"],
        &[Run(&BASE64_URL, 20, MAX)],
    ),
    Rule::new("atlassian-token", "Atlassian", &["ATATT3", "ATCTT3"], &[Run(&PADDED_URL, 50, MAX)]),
    Rule::new("bitbucket-password", "Bitbucket: an app", &["ATBB"], &[Run(&LETTERS, 32, 32)]),
    Rule::new("linear-key", "Linear", &["lin_api_", "lin_oauth_"], &[Run(&LETTERS, 32, MAX)]),
    Rule::new(
        "docker-token",
        "Docker Hub",
        &["dckr_pat_", "dckr_oat_"],
        &[Run(&BASE64_URL, 20, MAX)],
    ),
    Rule::new("rubygems-key", "RubyGems", &["rubygems_"], &[Run(&HEX, 40, 64)]),
    Rule {
        accepts: is_random,
        ..Rule::new("crates-io-token", "crates.io", &["cio"], &[Run(&LETTERS, 32, 32)])
    },
    Rule {
        accepts: is_random,
        ..Rule::new("nuget-key", "NuGet", &["oy2"], &[Run(&LETTERS, 43, 43)])
    },
    Rule::new("clojars-token", "Clojars", &["CLOJARS_"], &[Run(&LETTERS, 60, 60)]),
    Rule::new("artifactory-key", "Artifactory", &["AKCp"], &[Run(&LETTERS, 69, 73)]),
    Rule::new("sonar-token", "Sonar", &["squ_", "sqp_", "sqa_"], &[Run(&HEX, 40, 40)]),
    Rule::new("sourcegraph-token", "Sourcegraph", &["sgp_"], &[Run(&WORD, 40, MAX)]),
    Rule::new("buildkite-token", "Buildkite", &["bkua_"], &[Run(&HEX, 40, 40)]),
    Rule::new("circleci-token", "CircleCI", &["CCIPAT_", "CCIPRJ_"], &[Run(&WORD, 40, MAX)]),
    Rule::new(
        "postman-key",
        "Postman",
        &["PMAK-"],
        &[Run(&HEX, 24, 24), Is("-"), Run(&HEX, 34, 34)],
    ),
    Rule::new("prefect-key", "Prefect", &["pnu_"], &[Run(&LETTERS, 36, 36)]),
    Rule::new("figma-token", "Figma", &["figd_", "figo_"], &[Run(&BASE64_URL, 36, MAX)]),
    Rule::new("notion-token", "Notion", &["ntn_"], &[Run(&LETTERS, 40, MAX)]),
    Rule {
        accepts: is_random,
        ..Rule::new("notion-token", "Notion, before 2024", &["secret_"], &[Run(&LETTERS, 43, 43)])
    },
    Rule::new(
        "airtable-token",
        "Airtable",
        &["pat"],
        &[Run(&LETTERS, 14, 14), Is("."), Run(&HEX, 64, 64)],
    ),
    // Models.
    Rule::new("xai-key", "xAI", &["xai-"], &[Run(&LETTERS, 60, MAX)]),
    Rule::new("perplexity-key", "Perplexity", &["pplx-"], &[Run(&LETTERS, 40, MAX)]),
    Rule::new("replicate-token", "Replicate", &["r8_"], &[Run(&LETTERS, 37, 40)]),
    Rule::new("nvidia-key", "NVIDIA", &["nvapi-"], &[Run(&BASE64_URL, 60, MAX)]),
    Rule::new("cerebras-key", "Cerebras", &["csk-"], &[Run(&LETTERS, 40, MAX)]),
    Rule::new("langsmith-key", "LangSmith", &["lsv2_pt_", "lsv2_sk_"], &[Run(&WORD, 32, MAX)]),
    Rule::new("langfuse-key", "Langfuse", &["sk-lf-"], &[Run(&UUID, 36, 36)]),
    Rule::new("pinecone-key", "Pinecone", &["pcsk_"], &[Run(&WORD, 40, MAX)]),
    Rule::new("tavily-key", "Tavily", &["tvly-"], &[Run(&BASE64_URL, 28, MAX)]),
    Rule::new("hugging-face-token", "Hugging Face", &["api_org_"], &[Run(&LETTERS, 34, 34)]),
    Rule::new("jina-key", "Jina", &["jina_"], &[Run(&LETTERS, 50, MAX)]),
    Rule::new("e2b-key", "E2B", &["e2b_"], &[Run(&HEX, 40, 40)]),
    Rule {
        accepts: is_random,
        ..Rule::new("elevenlabs-key", "ElevenLabs", &["sk_"], &[Run(&HEX, 48, 48)])
    },
    // Messages, mail, telephones.
    Rule::new(
        "slack-token",
        "Slack: rotated, of a configuration",
        &["xoxe-", "xoxe.xoxb-", "xoxe.xoxp-"],
        &[Run(&DASHED, 20, MAX)],
    ),
    Rule::new(
        "slack-webhook",
        "Slack: a workflow",
        &["hooks.slack.com"],
        &[Is("/workflows/"), Run(&PATH, 24, MAX)],
    ),
    Rule::new(
        "slack-webhook",
        "Slack: a trigger",
        &["hooks.slack.com"],
        &[Is("/triggers/"), Run(&PATH, 24, MAX)],
    ),
    Rule::new(
        "discord-webhook",
        "Discord: a webhook",
        &["discord.com", "discordapp.com"],
        &[Is("/api/webhooks/"), Run(&DIGITS, 15, 22), Is("/"), Run(&BASE64_URL, 60, MAX)],
    ),
    Rule::new(
        "discord-webhook",
        "Discord: a webhook, by its version",
        &["discord.com"],
        &[Is("/api/v10/webhooks/"), Run(&DIGITS, 15, 22), Is("/"), Run(&BASE64_URL, 60, MAX)],
    ),
    Rule::new(
        "discord-token",
        "Discord: a bot",
        &["MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"],
        &[
            Run(&LETTERS, 20, 26),
            Is("."),
            Run(&BASE64_URL, 6, 6),
            Is("."),
            Run(&BASE64_URL, 27, 38),
        ],
    ),
    Rule::new(
        "matrix-token",
        "Matrix: syt_user_token_sum",
        &["syt_"],
        &[Run(&BASE64, 2, 60), Is("_"), Run(&LETTERS, 20, 20), Is("_"), Run(&LETTERS, 6, 6)],
    ),
    Rule::new(
        "teams-webhook",
        "Microsoft Teams: a webhook",
        &["webhook.office.com"],
        &[Is("/webhookb2/"), Run(&TEAMS, 36, MAX)],
    ),
    Rule {
        accepts: is_random,
        ..Rule::new("twilio-key", "Twilio: an API key", &["SK"], &[Run(&ANY_HEX, 32, 32)])
    },
    Rule {
        secret: Secret::Part(2),
        accepts: is_random,
        ..Rule::new(
            "twilio-key",
            "Twilio: the secret of an API key",
            &["SK"],
            &[Run(&ANY_HEX, 32, 32), Run(&PAIR, 1, 32), Run(&LETTERS, 32, 32)],
        )
    },
    Rule {
        secret: Secret::Part(2),
        accepts: is_random,
        ..Rule::new(
            "twilio-token",
            "Twilio: the token of an account",
            &["AC"],
            &[Run(&HEX, 32, 32), Run(&PAIR, 1, 32), Run(&LETTERS, 32, 32)],
        )
    },
    Rule {
        accepts: is_random,
        ..Rule::new("mailgun-key", "Mailgun", &["key-"], &[Run(&HEX, 32, 32)])
    },
    Rule {
        before: Some((&HEX, 32, 32)),
        ..Rule::new("mailchimp-key", "Mailchimp", &["-us"], &[Run(&DIGITS, 1, 2)])
    },
    Rule::new(
        "brevo-key",
        "Brevo",
        &["xkeysib-", "xsmtpsib-"],
        &[Run(&HEX, 64, 64), Is("-"), Run(&LETTERS, 16, 16)],
    ),
    Rule {
        accepts: is_random,
        ..Rule::new(
            "resend-key",
            "Resend",
            &["re_"],
            &[Run(&LETTERS, 8, 8), Is("_"), Run(&LETTERS, 24, 24)],
        )
    },
];

/// Returns all rules. Of two rules that match at one position, the first one counts.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let by_prefix = BY_PREFIX.iter().chain(services::BY_SERVICE);
    by_prefix
        .chain(commands::BY_COMMAND)
        .chain(sentences::BY_SENTENCE)
        .chain(context::BY_CONTEXT)
        .chain(files::BY_FILE)
        .chain(outputs::BY_OUTPUT)
        .chain(recovery::BY_RECOVERY)
}

/// Returns whether the secret of a short prefix is random, neither words nor an example.
pub(super) fn is_random(secret: &[u8]) -> bool {
    (Makeup::of(secret).is_random() || has_many_humps(secret)) && !is_example(secret)
}
