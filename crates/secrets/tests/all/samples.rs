//! A secret of each kind. They are assembled here, so that no file contains one.

/// A secret and the text around it.
pub(crate) struct Sample {
    pub(crate) rule: &'static str,
    pub(crate) before: String,
    pub(crate) secret: String,
    pub(crate) after: String,
}

/// `ada-tZ8!kq02Lm` in base64.
const B64: &str = "YWRhLXRaOCFrcTAyTG0=";

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

/// Returns hexadecimal digits in no order.
fn mixed_hex(n: usize) -> String {
    "9f3b07d1e8a25c4690b7fd3e18ac".chars().cycle().take(n).collect()
}

fn uuid() -> String {
    let hex = mixed_hex(32);
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
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
        within("cookie", "Cookie: theme=dark; sid=", letters(32), "; lang=en"),
        within("cookie", "curl --cookie 'theme=dark; sid=", letters(32), "' https://x.dev"),
        within("cookie", "#HttpOnly_x.dev\tFALSE\t/\tTRUE\t0\tsid\t", letters(32), ""),
        within("kubernetes-secret", "stringData:\n  login: ", letters(20), ""),
        within(
            "kubernetes-secret",
            "kind: Secret\ndata:\n  a: YWRtaW4=\n  b: ",
            B64.to_owned(),
            "",
        ),
        sample("aiven-password", format!("AVNS_{}", letters(19))),
        sample("neon-password", format!("npg_{}", letters(12))),
        within("license-key", "License: ", "7QK2M-X9ZTL-4RBN8-WC6VS-J3HFP".to_owned(), ""),
        within("vault-key", "Unseal Key 1: ", letters(43) + "=", ""),
        within("password", "echo ", letters(20), " | docker login -u ada --password-stdin"),
        within("password", "net use Z: \\\\nas\\share ", letters(20), " /user:ada"),
        within("password", "auth=(\"ada\", \"", letters(20), "\")"),
        within("password", "ada:", letters(20), "@tcp(db:3306)/shop"),
        within("token", "poetry config pypi-token.shop ", letters(20), ""),
        sample("aws-session-token", format!("IQoJb3JpZ2lu{}", letters(120))),
        sample("password-hash", format!("$2b$12${}", letters(53))),
        sample(
            "password-hash",
            format!("$argon2id$v=19$m=65536,t=3,p=4${}${}", letters(22), letters(43)),
        ),
        sample("password-hash", format!("{{SSHA}}{}", letters(32))),
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
        within("url-token", "https://", letters(40), "@github.example/x"),
        sample("stripe-test-key", format!("sk_test_{}", letters(24))),
        sample("azure-client-secret", format!("aB38Q~{}", letters(34))),
        within("azure-sas", "?sv=2022&sig=", letters(43) + "%3D", "&se=x"),
        sample("alibaba-key-id", format!("LTAI{}", letters(20))),
        sample("google-token", format!("ya29.{}", letters(60))),
        sample("yandex-key", format!("AQVN{}", letters(38))),
        sample("heroku-key", format!("HRKU-AA{}", letters(58))),
        sample("fly-token", format!("fm2_{}", letters(80))),
        sample("netlify-token", format!("nfp_{}", letters(36))),
        sample("vercel-token", format!("vcp_{}", letters(56))),
        Sample {
            before: "https://api.netlify.com/build_hooks/".to_owned(),
            ..sample("deploy-hook", mixed_hex(24))
        },
        sample("new-relic-key", format!("{}FFFFNRAL", mixed_hex(32))),
        sample("render-key", format!("rnd_{}", letters(28))),
        sample("pulumi-token", format!("pul-{}", hex(40))),
        sample("terraform-token", format!("{}.atlasv1.{}", letters(14), letters(67))),
        sample("vault-token", format!("hvs.{}", letters(90))),
        sample("vault-token", format!("s.{}", letters(24))),
        sample("openshift-token", format!("sha256~{}", letters(43))),
        sample("tailscale-key", format!("tskey-auth-{}-{}", letters(12), letters(30))),
        sample("doppler-token", format!("dp.pt.{}", letters(43))),
        sample("planetscale-token", format!("pscale_tkn_{}", letters(43))),
        sample("1password-token", format!("ops_eyJ{}", letters(200))),
        sample("databricks-token", format!("dapi{}", hex(32))),
        sample("dynatrace-token", format!("dt0c01.{}.{}", capitals(24), capitals(64))),
        sample("supabase-key", format!("sb_secret_{}", letters(31))),
        sample("atlassian-token", format!("ATATT3xFf{}", letters(180))),
        sample("bitbucket-password", format!("ATBB{}", letters(32))),
        sample("linear-key", format!("lin_api_{}", letters(40))),
        sample("docker-token", format!("dckr_pat_{}", letters(27))),
        sample("rubygems-key", format!("rubygems_{}", hex(48))),
        sample("crates-io-token", format!("cio{}", letters(32))),
        sample("nuget-key", format!("oy2{}", letters(43))),
        sample("clojars-token", format!("CLOJARS_{}", letters(60))),
        sample("artifactory-key", format!("AKCp{}", letters(69))),
        sample("sonar-token", format!("sqp_{}", hex(40))),
        sample("sourcegraph-token", format!("sgp_{}", hex(40))),
        sample("buildkite-token", format!("bkua_{}", hex(40))),
        sample("circleci-token", format!("CCIPAT_{}_{}", letters(22), hex(40))),
        sample("postman-key", format!("PMAK-{}-{}", hex(24), hex(34))),
        sample("prefect-key", format!("pnu_{}", letters(36))),
        sample("figma-token", format!("figd_{}", letters(40))),
        sample("notion-token", format!("ntn_{}", letters(46))),
        sample("airtable-token", format!("pat{}.{}", letters(14), hex(64))),
        sample("xai-key", format!("xai-{}", letters(80))),
        sample("perplexity-key", format!("pplx-{}", letters(48))),
        sample("replicate-token", format!("r8_{}", letters(37))),
        sample("nvidia-key", format!("nvapi-{}", letters(64))),
        sample("cerebras-key", format!("csk-{}", letters(48))),
        sample("langsmith-key", format!("lsv2_pt_{}_{}", hex(32), hex(10))),
        sample("langfuse-key", format!("sk-lf-{}", uuid())),
        sample("pinecone-key", format!("pcsk_{}_{}", letters(6), letters(60))),
        sample("tavily-key", format!("tvly-{}", letters(32))),
        sample("jina-key", format!("jina_{}", letters(60))),
        sample("matrix-token", format!("syt_YWRh_{}_{}", letters(20), letters(6))),
        sample("e2b-key", format!("e2b_{}", hex(40))),
        sample("elevenlabs-key", format!("sk_{}", mixed_hex(48))),
        sample(
            "discord-webhook",
            format!("discord.com/api/webhooks/123456789012345678/{}", letters(68)),
        ),
        sample("discord-token", format!("MTEy{}.GaB3dE.{}", letters(20), letters(38))),
        sample("teams-webhook", format!("webhook.office.com/webhookb2/{}", letters(60))),
        sample("twilio-key", format!("SK{}", mixed_hex(32))),
        within("twilio-token", &format!("AC{}:", hex(32)), mixed_hex(32), ""),
        sample("mailgun-key", format!("key-{}", mixed_hex(32))),
        sample("mailchimp-key", format!("{}-us14", mixed_hex(32))),
        sample("brevo-key", format!("xkeysib-{}-{}", mixed_hex(64), letters(16))),
        sample("resend-key", format!("re_{}_{}", letters(8), letters(24))),
        sample("square-token", format!("sq0atp-{}", letters(22))),
        sample("facebook-token", format!("EAAG{}", letters(150))),
        sample("shippo-token", format!("shippo_live_{}", hex(40))),
        sample("easypost-key", format!("EZAK{}", letters(54))),
        sample("hubspot-token", format!("pat-na1-{}", uuid())),
        sample("typeform-token", format!("tfp_{}", letters(44))),
        sample("readme-key", format!("rdme_{}", letters(70))),
        sample("grafana-token", format!("glsa_{}_{}", letters(32), hex(8))),
        sample("new-relic-key", format!("NRAK-{}", capitals(27))),
        sample("sentry-token", format!("sntryu_{}", hex(64))),
        sample("posthog-key", format!("phx_{}", letters(43))),
        sample("infracost-key", format!("ico-{}", letters(32))),
        sample("launchdarkly-key", format!("sdk-{}", uuid())),
        sample("mapbox-token", format!("sk.eyJ{}.{}", letters(60), letters(22))),
        sample("dropbox-token", format!("sl.u.{}", letters(130))),
        sample("contentful-token", format!("CFPAT-{}", letters(43))),
        sample("adobe-secret", format!("p8e-{}", letters(32))),
        sample("cloudflare-key", format!("v1.0-{}-{}", hex(24), hex(146))),
        within("webhook", "https://hooks.zapier.com/hooks/catch/1234567/", "k2m9x7q".into(), "/"),
        sample("jenkins-secret", format!("{{AQAAABAAAA{}=}}", letters(43))),
        within("bearer-token", "Bearer ", letters(32), ""),
        within("basic-auth", "Basic ", "YWRhOnRaOCFrcTAyTG0=".to_owned(), ""),
        within("authorization", "Authorization: ", letters(32), ""),
        within("docker-auth", "\"auth\": \"", "YWRhOnRaOCFrcTAyTG0=".to_owned(), "\""),
        within("password", "DB_PASSWORD=", letters(12), ""),
        within("secret", "client_secret: \"", letters(20), "\""),
        within("token", "accessToken = '", letters(20), "'"),
        within("key", "x-api-key: ", letters(20), ""),
        within("credential", "credential=", letters(20), ""),
        sample("plaid-token", format!("access-production-{}", uuid())),
        sample("payment-key", format!("live_{}", letters(40))),
        sample("braintree-token", format!("access_token$production${}", mixed_hex(48))),
        sample("flutterwave-key", format!("FLWSECK-{}-X", mixed_hex(32))),
        sample("midtrans-key", format!("Mid-server-{}", letters(24))),
        sample("mercado-pago-token", format!("APP_USR-{}-{}", mixed_hex(32), mixed_hex(32))),
        sample("twitter-token", format!("{}{}%2F{}", "A".repeat(21), letters(40), letters(40))),
        sample("honeycomb-key", format!("hcaik_{}", letters(58))),
        sample("axiom-token", format!("xaat-{}", uuid())),
        sample("logfire-token", format!("pylf_v1_us_{}", letters(43))),
        sample("docker-key", format!("SWMKEY-1-{}", letters(43))),
        sample("elastic-token", format!("eyJ2ZXIiOiI{}", letters(160))),
        sample("cloudflare-token", format!("eyJhIjoi{}", letters(160))),
        within(
            "seed-phrase",
            "seed phrase: ",
            "gravity lunar pottery humble axis cradle mimic tornado velvet siren orphan puzzle"
                .to_owned(),
            "",
        ),
        within(
            "seed-phrase",
            "Wallet.fromPhrase(\"",
            "gravity lunar pottery humble axis cradle mimic tornado velvet siren orphan puzzle"
                .to_owned(),
            "\")",
        ),
        within(
            "recovery-key",
            "BitLocker ",
            "654107-093316-418747-178649-379926-184638-023731-104473".to_owned(),
            "",
        ),
        sample("telegram-token", format!("1234567890:AA{}", letters(33))),
        within(
            "telegram-token",
            "https://api.telegram.org/bot",
            format!("1234567890:AA{}", letters(33)),
            "/getMe",
        ),
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
