//! The rules for keys of services for money, shops, monitoring and delivery, which have a prefix.

use crate::{
    class::{
        ANY_HEX, BASE64, BASE64_URL, DASHED, DOLLARS, DOTTED, HEX, LETTERS, PERCENT, SIGNED, UUID,
        WORD,
    },
    randomness::Makeup,
    rule::{
        Edge,
        Part::{Is, Run},
        Rule, Secret,
    },
};

use super::{MAX, is_random};

/// Keys and tokens with a prefix, behind the keys of models and mail.
pub(super) static BY_SERVICE: &[Rule] = &[
    // Money, shops, customers.
    Rule::new("square-token", "Square", &["sq0atp-", "sq0csp-"], &[Run(&BASE64_URL, 22, MAX)]),
    Rule::new("square-token", "Square: an access token", &["EAAA"], &[Run(&BASE64_URL, 60, 60)]),
    Rule::new(
        "facebook-token",
        "Facebook",
        &["EAACEdEose0cBA", "EAAG", "EAAB", "EAAC"],
        &[Run(&LETTERS, 80, MAX)],
    ),
    Rule::new("shippo-token", "Shippo", &["shippo_live_", "shippo_test_"], &[Run(&HEX, 40, 40)]),
    Rule::new("easypost-key", "EasyPost", &["EZAK", "EZTK"], &[Run(&LETTERS, 54, 54)]),
    Rule::new(
        "hubspot-token",
        "HubSpot",
        &["pat-na1-", "pat-na2-", "pat-eu1-"],
        &[Run(&UUID, 36, 36)],
    ),
    Rule::new("typeform-token", "Typeform", &["tfp_"], &[Run(&DOTTED, 44, MAX)]),
    Rule::new("readme-key", "ReadMe", &["rdme_"], &[Run(&LETTERS, 70, 70)]),
    Rule::new(
        "plaid-token",
        "Plaid: a token of an account",
        &["access-production-", "access-sandbox-", "access-development-"],
        &[Run(&UUID, 36, 36)],
    ),
    Rule {
        accepts: is_random,
        ..Rule::new(
            "payment-key",
            "Chargebee, Mollie, GoCardless, Paddle, Klarna, Xendit",
            &["live_", "pdl_live_apikey_", "klarna_live_api_", "xnd_production_"],
            &[Run(&LETTERS, 28, 128)],
        )
    },
    Rule::new(
        "braintree-token",
        "Braintree",
        &["access_token$production$"],
        &[Run(&DOLLARS, 32, MAX)],
    ),
    Rule::new(
        "flutterwave-key",
        "Flutterwave",
        &["FLWSECK-", "FLWSECK_TEST-"],
        &[Run(&DASHED, 32, MAX)],
    ),
    Rule::new(
        "midtrans-key",
        "Midtrans",
        &["Mid-server-", "SB-Mid-server-"],
        &[Run(&BASE64_URL, 20, MAX)],
    ),
    Rule::new("mercado-pago-token", "Mercado Pago", &["APP_USR-"], &[Run(&DASHED, 60, MAX)]),
    Rule {
        accepts: |token| token.contains(&b'%') && Makeup::of(token).is_random(),
        ..Rule::new(
            "twitter-token",
            "Twitter: an application",
            &["AAAAAAAAAAAAAAAAAAAAA"],
            &[Run(&PERCENT, 60, 160)],
        )
    },
    // Monitoring, analytics, delivery.
    Rule::new(
        "honeycomb-key",
        "Honeycomb",
        &["hcaik_", "hcbik_", "hcxik_", "hcxlk_"],
        &[Run(&LETTERS, 40, MAX)],
    ),
    Rule::new("axiom-token", "Axiom", &["xaat-", "xapt-"], &[Run(&UUID, 36, 36)]),
    Rule::new(
        "logfire-token",
        "Logfire",
        &["pylf_v1_us_", "pylf_v1_eu_"],
        &[Run(&LETTERS, 30, MAX)],
    ),
    Rule::new("docker-key", "Docker: the key of a swarm", &["SWMKEY-1-"], &[Run(&BASE64, 40, MAX)]),
    Rule {
        secret: Secret::Part(0),
        edge: Edge::None,
        accepts: is_random,
        ..Rule::new(
            "url-token",
            "Anaconda: a token in the path of a channel",
            &["/t/"],
            &[Run(&BASE64_URL, 28, 64), Is("/")],
        )
    },
    Rule {
        secret: Secret::Part(0),
        edge: Edge::None,
        ..Rule::new(
            "url-token",
            "CloudFront: the signature of a cookie",
            &["CloudFront-Signature=", "CloudFront-Policy="],
            &[Run(&SIGNED, 40, MAX)],
        )
    },
    Rule::new(
        "elastic-token",
        "Elasticsearch: an enrollment",
        &["eyJ2ZXIiOiI"],
        &[Run(&BASE64, 100, MAX)],
    ),
    Rule::new("cloudflare-token", "Cloudflare: a tunnel", &["eyJhIjoi"], &[Run(&BASE64, 100, MAX)]),
    Rule::new(
        "grafana-token",
        "Grafana: a service account",
        &["glsa_"],
        &[Run(&LETTERS, 32, 64), Is("_"), Run(&ANY_HEX, 8, 8)],
    ),
    Rule::new("grafana-token", "Grafana Cloud", &["glc_eyJ"], &[Run(&BASE64, 60, MAX)]),
    Rule::new(
        "new-relic-key",
        "New Relic",
        &["NRAK-", "NRII-", "NRIQ-", "NRRA-", "NRJS-", "NRAA-", "NRBR-", "NRSP-"],
        &[Run(&BASE64_URL, 19, MAX)],
    ),
    Rule {
        before: Some((&LETTERS, 36, 36)),
        accepts: is_random,
        ..Rule::new("new-relic-key", "New Relic: a license, by its last letters", &["NRAL"], &[])
    },
    Rule {
        accepts: is_random,
        ..Rule::new(
            "vercel-token",
            "Vercel: personal, integration, app, refresh, AI Gateway",
            &["vcp_", "vci_", "vca_", "vcr_", "vck_"],
            &[Run(&LETTERS, 24, MAX)],
        )
    },
    Rule {
        secret: Secret::Part(2),
        edge: Edge::None,
        ..Rule::new(
            "deploy-hook",
            "Vercel: a URL that deploys",
            &["/v1/integrations/deploy/"],
            &[Run(&WORD, 8, 64), Is("/"), Run(&LETTERS, 8, 64)],
        )
    },
    Rule {
        secret: Secret::Part(0),
        edge: Edge::None,
        accepts: is_random,
        ..Rule::new(
            "deploy-hook",
            "Netlify, Cloudflare: a URL that builds",
            &["d_hooks/", "y_hooks/"],
            &[Run(&BASE64_URL, 20, 64)],
        )
    },
    Rule::new("sentry-token", "Sentry", &["sntrys_eyJ"], &[Run(&BASE64, 60, MAX)]),
    Rule::new("sentry-token", "Sentry: a user", &["sntryu_"], &[Run(&HEX, 64, 64)]),
    Rule::new("posthog-key", "PostHog: personal", &["phx_"], &[Run(&LETTERS, 32, MAX)]),
    Rule::new("infracost-key", "Infracost", &["ico-"], &[Run(&LETTERS, 32, 32)]),
    Rule::new("launchdarkly-key", "LaunchDarkly", &["sdk-", "api-"], &[Run(&UUID, 36, 36)]),
    Rule::new("mapbox-token", "Mapbox", &["sk.eyJ"], &[Run(&DOTTED, 60, MAX)]),
    Rule::new("dropbox-token", "Dropbox", &["sl.u.", "sl.B"], &[Run(&BASE64_URL, 100, MAX)]),
    Rule::new("contentful-token", "Contentful", &["CFPAT-"], &[Run(&BASE64_URL, 43, 43)]),
    Rule::new("adobe-secret", "Adobe", &["p8e-"], &[Run(&LETTERS, 32, 32)]),
    Rule::new(
        "cloudflare-key",
        "Cloudflare: an origin CA",
        &["v1.0-"],
        &[Run(&HEX, 24, 24), Is("-"), Run(&HEX, 146, 146)],
    ),
];
