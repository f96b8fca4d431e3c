//! Generates secrets and the text around them.

/// Random numbers that are the same in each run (SplitMix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn number(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % below as u64) as usize
    }

    pub(crate) fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.number(of.len())]
    }

    pub(crate) fn text(&mut self, letters: &str, n: usize) -> String {
        let letters: Vec<char> = letters.chars().collect();
        (0..n).map(|_| letters[self.number(letters.len())]).collect()
    }

    pub(crate) fn hex(&mut self, n: usize) -> String {
        self.text("0123456789abcdef", n)
    }

    pub(crate) fn letters(&mut self, n: usize) -> String {
        self.text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", n)
    }

    pub(crate) fn url(&mut self, n: usize) -> String {
        let first = self.letters(1);
        first
            + &self.text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-", n - 2)
            + &self.letters(1)
    }

    pub(crate) fn base64(&mut self, n: usize) -> String {
        self.text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", n)
    }

    /// Returns a password with at least one character of each class.
    pub(crate) fn password(&mut self) -> String {
        let n = 6 + self.number(14);
        let marks = self.text("!@#%^*-_+=.?~", 2);
        let mut password = self.letters(n) + &marks + &self.text("0123456789", 1);
        password.insert_str(0, &self.letters(1));
        password + &self.letters(2)
    }

    /// Returns a password like one that a person invents.
    pub(crate) fn thought_up(&mut self) -> String {
        let words =
            ["Tiger", "monkey", "Sommer", "dragon", "Falcon", "winter", "Sunshine", "pirate"];
        let word = self.one(&words).to_owned();
        let mark = self.one(&["!", "#", "", "$", "_"]);
        let number = self.text("123456789", 3);
        word + self.one(&["lily", "Berg", "wood", "Storm"]) + &number + mark
    }
}

/// A secret within a text.
pub(crate) struct Value {
    pub(crate) secret: String,
    pub(crate) text: String,
}

/// Secrets of one kind.
pub(crate) struct Family {
    pub(crate) name: &'static str,
    make: fn(&mut Random) -> String,
    names: &'static [&'static str],
    places: &'static [&'static str],
}

impl Family {
    pub(crate) fn value(&self, random: &mut Random, place: &str) -> Value {
        let secret = (self.make)(random);
        let name = random.one(self.names);
        let text = place
            .replace("{NAME}", &upper(name))
            .replace("{name}", name)
            .replace("{kebab}", &name.replace('_', "-"))
            .replace("{camel}", &camel(name))
            .replace("{Camel}", &first_upper(&camel(name)))
            .replace("{}", &secret);
        Value { secret, text }
    }
}

fn upper(name: &str) -> String {
    name.to_uppercase().replace('-', "_")
}

fn camel(name: &str) -> String {
    let mut words = name.split(['_', '-']);
    let first = words.next().unwrap_or_default().to_owned();
    first + &words.map(first_upper).collect::<String>()
}

fn first_upper(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

/// Returns a text as the body of a JSON string.
pub(crate) fn body(text: &str) -> String {
    let quoted = serde_json::to_string(text).expect("text");
    quoted[1..quoted.len() - 1].to_owned()
}

/// Returns lines with a text in a string, in JSON within it, and in JSON within that.
pub(crate) fn levels(text: &str) -> [String; 4] {
    let one = format!("{{\"type\":\"user\",\"text\":\"{}\"}}", body(text));
    let two =
        format!("{{\"text\":\"{}\"}}", body(&format!("{{\"stdout\":\"{}\",\"n\":1}}", body(text))));
    let three = format!("{{\"text\":\"{}\"}}", body(&two));
    let lines =
        format!("{{\"content\":[\"{}\"]}}", body(&format!("first line\n{text}\nlast line")));
    [one, two, three, lines]
}

/// Assignments: names, links and quotes of code and of settings files.
const ASSIGNED: &[&str] = &[
    "{NAME}={}",
    "export {NAME}={}",
    "export {NAME}='{}'",
    "{NAME}=\"{}\"",
    "set {NAME}={}",
    "$env:{NAME} = \"{}\"",
    "docker run --rm -e {NAME}={} image",
    "cmd --{kebab} {}",
    "cmd --{kebab}={} --verbose",
    "{name}: {}",
    "{name}: \"{}\"",
    "  {name}: '{}'",
    "{{name}: {}, user: ada}",
    "{\"{name}\": \"{}\"}",
    "{\"user\":\"ada\",\"{camel}\":\"{}\",\"port\":5}",
    "{name} = \"{}\"",
    "{name} = {}",
    "const {camel} = '{}';",
    "let {camel}: string = \"{}\";",
    "  {camel}: '{}',",
    "connect(user=\"ada\", {name}=\"{}\")",
    "config = {'{name}': '{}'}",
    "{camel} := \"{}\"",
    "private static final String {NAME} = \"{}\";",
    "let {name}: &str = \"{}\";",
    "<{camel}>{}</{camel}>",
    "<add key=\"{Camel}\" value=\"{}\" />",
    "  - name: {NAME}\n    value: {}",
    "{\"name\":\"{NAME}\",\"value\":\"{}\"}",
    "os.environ[\"{NAME}\"] = \"{}\"",
];

/// Further assignments, written after the rules.
const ASSIGNED_HELD_OUT: &[&str] = &[
    "{NAME} = '{}'",
    "declare -x {NAME}=\"{}\"",
    "setenv {NAME} {}",
    "set -gx {NAME} {}",
    "ENV {NAME}={}",
    "ARG {NAME}={}",
    "env {NAME}={} ./run.sh",
    "{NAME}={} npm start",
    "heroku config:set {NAME}={} -a app",
    "gh secret set {NAME} --body \"{}\"",
    "helm upgrade x ./x --set auth.{camel}={}",
    "kubectl create secret generic x --from-literal={kebab}={}",
    "process.env.{NAME} = '{}';",
    "const {camel} = process.env.{NAME} || '{}';",
    "os.getenv(\"{NAME}\", \"{}\")",
    "os.environ.setdefault('{NAME}', '{}')",
    "define('{NAME}', '{}');",
    "'{name}' => '{}',",
    ":{name} => \"{}\",",
    "var {Camel} = \"{}\";",
    "public string {Camel} { get; set; } = \"{}\";",
    "val {camel}: String = \"{}\"",
    "static {NAME}: &str = \"{}\";",
    "{name}: str = \"{}\"",
    "{camel} = @\"{}\";",
    "self.{name} = b'{}'",
    "client.set{Camel}(\"{}\")",
    "if {camel} == \"{}\" {",
    "variable \"{name}\" {\n  type = string\n  default = \"{}\"\n}",
    "spring.datasource.{kebab}={}",
    "[db]\nhost = \"x\"\n{name} = \"{}\"\nport = 5",
    "{name}: |\n  {}",
    "!{name}: {}",
    "{ \"{Camel}\" : \"{}\" }",
    "[\"--{kebab}\", \"{}\"]",
    "**{Camel}**: {}",
    "| {NAME} | {} |",
    "- `{name}`: `{}`",
    "The {name} is: {}",
    "curl -d \"user=ada&{name}={}\" https://x.example",
];

const NAMES: &[&str] = &["password", "db_password", "passwd", "user_password"];
const NAMES_HELD_OUT: &[&str] = &[
    "db_pass",
    "smtp_password",
    "root_passwd",
    "admin_pwd",
    "redis_password",
    "pgpassword",
    "keystore_password",
];
const KEYS: &[&str] = &["api_key", "secret_key", "client_secret", "access_token", "auth_token"];
const KEYS_HELD_OUT: &[&str] = &[
    "x-api-key",
    "app_secret",
    "jwt_secret",
    "encryption_key",
    "signing_key",
    "refresh_token",
    "private_key",
    "consumer_secret",
    "bot_token",
    "webhook_secret",
    "aws_secret_access_key",
    "api_token",
    "secret_key_base",
    "master_key",
];

/// Texts around a token with a prefix.
const ANYWHERE: &[&str] = &[
    "{}",
    "the key is {}, take care",
    "KEY={}",
    "\"{}\"",
    "curl -H 'X-Key: {}' x",
    "(see {})",
    "a\n{}\nb",
];
const ANYWHERE_HELD_OUT: &[&str] =
    &["`{}`", "x={};", "<b>{}</b>", "key={}&x=1", "['{}']", "+TOKEN={}", "{} # mine", "echo {}|x"];

const HEADERS: &[&str] = &[
    "Authorization: Bearer {}",
    "curl -H \"Authorization: Bearer {}\" https://x.example",
    "headers = {\"Authorization\": \"Bearer {}\"}",
    "{\"authorization\":\"Bearer {}\"}",
    "> authorization: bearer {}\r\n> accept: */*",
    "'Authorization': 'Bearer {}',",
];
const HEADERS_HELD_OUT: &[&str] = &[
    "req.Header.Set(\"Authorization\", \"Bearer {}\")",
    "-H 'authorization: Bearer {}' -d '{}'",
    "headers: { Authorization: `Bearer {}` }",
    "Proxy-Authorization: Bearer {}",
    "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\r\n",
    "http x Authorization:'Bearer {}'",
    "Authorization=Bearer {}",
    "Authorization: Token {}",
    "Authorization: {}",
    "add_header Authorization \"Bearer {}\";",
];
const BASIC: &[&str] = &[
    "Authorization: Basic {}",
    "curl -H 'Authorization: Basic {}' x",
    "{\"Authorization\":\"Basic {}\"}",
    "authorization: basic {}",
];
const BASIC_HELD_OUT: &[&str] = &[
    "req.Header.Set(\"Authorization\", \"Basic {}\")",
    "headers={'Authorization': 'Basic {}'}",
    "Proxy-Authorization: Basic {}\r\nAccept: x",
    "-H Authorization:\\ Basic\\ {}",
    "Authorization=\"Basic {}\"",
];

pub(crate) fn base64_of(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in text.as_bytes().chunks(3) {
        let bits = group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte))
            << (8 * (3 - group.len()));
        for n in 0..4 {
            let digit = (bits >> (18 - 6 * n) & 0x3f) as usize;
            out.push(if n > group.len() { '=' } else { char::from(LETTERS[digit]) });
        }
    }
    out
}

fn token(random: &mut Random) -> String {
    let kind = random.number(9);
    match kind {
        0 => "ghp_".to_owned() + &random.letters(36),
        1 => format!("sk-ant-api03-{}", random.url(95)),
        2 => "AKIA".to_owned() + &random.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16),
        3 => "xoxb-".to_owned() + &random.text("0123456789", 12) + "-" + &random.letters(24),
        4 => "glpat-".to_owned() + &random.url(20),
        5 => "sk-proj-".to_owned() + &random.url(100),
        6 => "npm_".to_owned() + &random.letters(36),
        7 => "AIza".to_owned() + &random.url(35),
        _ => "hf_".to_owned() + &random.letters(34),
    }
}

/// Returns a token with line breaks in it.
fn broken(random: &mut Random) -> String {
    let token = loop {
        let token = token(random);
        if !token.starts_with("AIza") {
            break token;
        }
    };
    let at = 8 + random.number(token.len() - 12);
    let with = random.one(&["\n", "\\n", "\r\n", "\\\\n", "\\\n", "\\\r\n"]);
    format!("{}{with}{}", &token[..at], &token[at..])
}

fn pem(random: &mut Random) -> String {
    let with = random.one(&["\n", "\\n", "\r\n", "\\\\n", "\\r\\n"]).to_owned();
    let kind =
        random.one(&["RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY"]);
    let lines: Vec<String> = (0..5).map(|_| random.base64(64)).collect();
    format!("-----BEGIN {kind}-----{with}{}{with}-----END {kind}-----", lines.join(&with))
}

fn opaque(random: &mut Random) -> String {
    let n = 20 + random.number(30);
    match random.number(5) {
        0 => random.hex(if n > 35 { 40 } else { 32 }),
        1 => random.base64(n / 4 * 4 - 1) + "=",
        2 => random.url(n),
        _ => random.letters(n),
    }
}

fn user_and_password(random: &mut Random) -> String {
    let user = random.one(&["ada", "deploy", "ci-bot"]).to_owned();
    base64_of(&(user + ":" + &random.password()))
}

/// Returns all families: of the part that was written before the rules, or after them.
pub(crate) fn families(is_held_out: bool) -> Vec<Family> {
    let family =
        |name, make: fn(&mut Random) -> String, known: &[&'static [&'static str]; 4]| Family {
            name,
            make,
            names: known[if is_held_out { 1 } else { 0 }],
            places: known[if is_held_out { 3 } else { 2 }],
        };
    let anywhere =
        |name, make| family(name, make, &[&["key"], &["key"], ANYWHERE, ANYWHERE_HELD_OUT]);
    let named =
        |name, make| family(name, make, &[KEYS, KEYS_HELD_OUT, ASSIGNED, ASSIGNED_HELD_OUT]);
    let once =
        |name, make, known, held_out| family(name, make, &[&["key"], &["key"], known, held_out]);
    vec![
        family(
            "password, generated",
            Random::password,
            &[NAMES, NAMES_HELD_OUT, ASSIGNED, ASSIGNED_HELD_OUT],
        ),
        family(
            "password, thought up",
            Random::thought_up,
            &[NAMES, NAMES_HELD_OUT, ASSIGNED, ASSIGNED_HELD_OUT],
        ),
        named("secret, opaque", opaque),
        named("secret, 16 letters", |random| random.letters(16)),
        once("bearer, opaque", opaque, HEADERS, HEADERS_HELD_OUT),
        once("basic", user_and_password, BASIC, BASIC_HELD_OUT),
        anywhere("known token", token),
        anywhere("base64 of a token", |random| {
            let before = random.one(&["", "user:", "x", "{\"t\":\""]).to_owned();
            // A word before the token continues into it, so that it is not a token.
            let before = before.replace('x', "a ");
            let token = token(random);
            base64_of(&(before + &token))
        }),
        anywhere("broken token", broken),
        anywhere("PEM", pem),
        anywhere("base64 of a PEM", |random| base64_of(&pem(random))),
        anywhere("azure client secret", |random| {
            random.letters(3)
                + &random.text("0123456789", 1)
                + "Q~"
                + &random.letters(30)
                + &random.url(4)
        }),
        once(
            "azure storage key",
            |random| random.base64(86) + "==",
            &[
                "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};EndpointSuffix=x",
                "AccountKey={}",
            ],
            &[
                "AZURE_STORAGE_KEY={}",
                "account_key = \"{}\"",
                "storageAccountKey: {}",
                "az storage x --account-key {}",
            ],
        ),
        once(
            "azure SAS",
            |random| random.base64(43).replace('+', "%2B").replace('/', "%2F") + "%3D",
            &[
                "https://a.blob.core.windows.net/c?sv=2022-11-02&se=2030-01-01&sr=c&sp=r&sig={}",
                "?sig={}&x=1",
            ],
            &[
                "SAS_QUERY=\"sp=r&st=2024-01-01T00:00:00Z&spr=https&sv=2022&sr=b&sig={}\"",
                "'sig={}'",
            ],
        ),
        anywhere("vault", |random| match random.number(3) {
            0 => "s.".to_owned() + &random.letters(24),
            1 => "hvb.".to_owned() + &random.url(140),
            _ => "hvs.".to_owned() + &random.url(90),
        }),
        anywhere("discord bot", |random| {
            let id = random.text("123456789", 18);
            base64_of(&id) + ".G" + &random.letters(5) + "." + &random.url(38)
        }),
        once(
            "discord webhook",
            |random| {
                format!(
                    "discord.com/api/webhooks/{}/{}",
                    random.text("123456789", 18),
                    random.url(68)
                )
            },
            &["https://{}", "curl https://{} -d x"],
            &["WEBHOOK=https://{}", "url: \"https://{}\""],
        ),
        anywhere("databricks", |random| "dapi".to_owned() + &random.hex(32)),
        anywhere("twilio key", |random| "SK".to_owned() + &random.hex(32)),
        once(
            "twilio token",
            |random| random.hex(32),
            &["TWILIO_AUTH_TOKEN={}", "curl -u AC0123456789abcdef0123456789abcdef:{} x"],
            &[
                "Client('AC8d1f23a49bc7e0566071829304a5b6c7', '{}')",
                "auth_token: {}",
                "twilio_token = \"{}\"",
            ],
        ),
        once(
            "docker auth",
            user_and_password,
            &["{\"auths\":{\"x.io\":{\"auth\":\"{}\"}}}", "\"auth\": \"{}\""],
            &[
                "//registry.example/:_auth={}",
                "{\n\t\"auths\": {\n\t\t\"ghcr.io\": {\n\t\t\t\"auth\": \"{}\"\n\t\t}\n\t}\n}",
                "auth = \"{}\"",
            ],
        ),
        anywhere("atlassian", |random| {
            "ATATT3xFfGF0".to_owned() + &random.url(170) + "=" + &random.text("0123456789ABCDEF", 8)
        }),
        anywhere("linear", |random| "lin_api_".to_owned() + &random.letters(40)),
        anywhere("stripe test", |random| "sk_test_".to_owned() + &random.letters(24)),
        once(
            "commands",
            Random::password,
            &[
                "curl -u ada:{} https://x.example",
                "curl --user 'ada:{}' x",
                "mysql -u root -p{} db",
                "sshpass -p {} ssh x@y",
                "sshpass -p '{}' ssh x@y",
                "docker login -u ada -p {} x.io",
                "redis-cli -h x -a {} ping",
                "machine x.example login ada password {}",
                "db.example:5432:app:ada:{}",
            ],
            &[
                "curl -s -X POST -u \"ada:{}\" x",
                "curl --proxy-user ada:{} x",
                "mysqldump --user=ada -p'{}' db",
                "mariadb -uroot -p{}",
                "PGPASSWORD={} psql -h x",
                "MYSQL_PWD={} mysql",
                "docker login x.io -u ada -p \"{}\"",
                "machine x.example\n  login ada\n  password {}",
                "localhost:5432:*:postgres:{}",
                "*:*:*:ada:{}",
                "ALTER USER ada WITH PASSWORD '{}';",
                "CREATE USER 'a'@'%' IDENTIFIED BY '{}';",
                "requirepass {}",
                "mongosh -u ada -p {} x",
                "[\"curl\", \"-u\", \"ada:{}\"]",
                "ldapsearch -x -D cn=a -w {}",
            ],
        ),
        once(
            "URLs",
            |random| random.letters(12),
            &["postgres://ada:{}@db.example:5432/x", "https://ada:{}@x.example/y"],
            &[
                "DATABASE_URL=mysql2://ada:{}@h/d",
                "amqps://u:{}@h",
                "mongodb+srv://u:{}@c.example/?x=y",
                "redis://:{}@h:6379/0",
            ],
        ),
        once(
            "connection strings",
            Random::password,
            &["Server=db;Database=x;User Id=sa;Password={};Encrypt=true"],
            &[
                "Data Source=x;Uid=ada;Pwd={};",
                "host=x user=ada password={} dbname=y",
                "jdbc:sqlserver://h:1433;user=a;password={};x=y",
            ],
        ),
    ]
}

/// Returns the texts around a family.
pub(crate) fn places(family: &Family, _is_held_out: bool) -> &'static [&'static str] {
    family.places
}
