//! Spellings of tools, names and quotes that were not used to write the rules or their other tests.
//! They measure how well the rules generalize.

use jsonl::Line;
use secrets::Search;

use crate::made_up::{Random, levels};

/// A generator of secrets.
type Make = fn(&mut Random) -> String;

/// Generators of secrets, and texts with `{}` in their place.
const SPELLINGS: &[(Make, &[&str])] = &[
    (
        Random::password,
        &[
            "mysqldump -h db.internal -u reporting -p'{}' shop > shop.sql",
            "mysql --user=root --password={} -e 'select 1'",
            "PGPASSWORD='{}' pg_dump -h 10.0.0.4 -U ada shop",
            "psql \"host=db port=5432 user=ada password={} dbname=shop\"",
            "sshpass -p '{}' ssh ada@build.internal uptime",
            "redis-cli -h cache -a '{}' ping",
            "mongosh --username ada --password '{}' --authenticationDatabase admin",
            "Server=db;Database=shop;User Id=ada;Password={};Encrypt=true",
            "jdbc:postgresql://db:5432/shop?user=ada&password={}&ssl=true",
            "requirepass {}",
            "IDENTIFIED BY '{}';",
            "ALTER USER ada WITH PASSWORD '{}';",
            "echo '{}' | docker login -u ada --password-stdin ghcr.io",
            "openssl pkcs12 -export -in a.pem -out a.p12 -passout pass:{}",
            "ansible_become_pass: {}",
            "ldapsearch -x -D cn=admin,dc=example,dc=org -w '{}' uid=ada",
            "net use Z: \\\\nas\\share {} /user:ada",
            "smb://ada:{}@nas/share",
            "wpa_passphrase=\"{}\"",
            "<property name=\"javax.persistence.jdbc.password\" value=\"{}\"/>",
            "sudo_pass => '{}'",
            "(setq smtpmail-smtp-password \"{}\")",
            "keytool -genkey -storepass {} -alias x",
            "config :shop, Shop.Repo, username: \"ada\", password: \"{}\"",
            "mvn deploy -Drepo.password={}",
        ],
    ),
    (
        |random| random.letters(40),
        &[
            "cloudflare_api_token = \"{}\"",
            "DD_API_KEY: \"{}\"",
            "Ocp-Apim-Subscription-Key: {}",
            "curl -H 'X-Vault-Token: {}' http://vault:8200/v1/sys/health",
            "curl -H 'PRIVATE-TOKEN: {}' https://git.internal/api/v4/user",
            "Cookie: session_token={}; theme=dark",
            "echo \"machine api.internal login ada password {}\" >> ~/.netrc",
            "//npm.internal/:_authToken={}",
            "vercel deploy --prod --token {}",
            "sonar-scanner -Dsonar.token={}",
            "kubectl config set-credentials ada --token={}",
            "https://api.example.org/v1/items?access_token={}&page=2",
            "snyk auth --auth-type=token {}",
            "aws configure set aws_secret_access_key {}",
            "secrets.SESSION_SECRET ?= {}",
            "    apiToken:\n      stringData: \"{}\"",
            "NEXTAUTH_SECRET=`{}`",
            "let apiSecret = Secret(\"{}\")",
            "fastlane_session_key <- \"{}\"",
            "Authorization: ApiKey {}",
            "gh auth login --with-token <<< \"{}\"",
            "wscat -H \"X-Auth-Key:{}\" -c wss://x.example",
            "@api_secret = '{}'.freeze",
            "<ApiKey>{}</ApiKey>",
            "\"Ingest-Token\"=>\"{}\"",
        ],
    ),
];

/// Returns whether no half of a secret is left.
fn is_gone(search: &mut Search, line: &str, secret: &str) -> bool {
    let mut out = Vec::new();
    search.redact(&Line::new(line.as_bytes(), 0), &mut out, &mut |_| {});
    let out = String::from_utf8(out).expect("text");
    let inner = |start: usize| secret.get(start..start + secret.len() / 2).unwrap_or(secret);
    !out.contains(inner(0)) && !out.contains(inner(secret.len() / 2))
}

#[test]
fn fresh_spellings_are_found() {
    let (mut random, mut search) = (Random::new(77), Search::new());
    let (mut n_planted, mut n_found, mut n_texts, mut missed) = (0, 0, 0, Vec::new());
    for (make, texts) in SPELLINGS {
        for text in *texts {
            let mut n_gone = 0;
            for _ in 0..4 {
                let secret = make(&mut random).replace(['\\', '"'], "x");
                let lines = levels(&text.replace("{}", &secret));
                n_planted += lines.len();
                n_gone += lines.iter().filter(|line| is_gone(&mut search, line, &secret)).count();
            }
            n_found += n_gone;
            n_texts += 1;
            if n_gone < 16 {
                missed.push(format!("{n_gone} of 16: {text}"));
            }
        }
    }
    println!("{n_found} of {n_planted}; of {n_texts} spellings, {} were missed", missed.len());
    missed.iter().for_each(|text| println!("    {text}"));
    assert!(n_found * 100 >= n_planted * 90, "a recall below 90 %");
}
