//! Generates sessions of one extreme kind, such as JSON in strings of JSON.

/// Generates a session of about this number of bytes.
type Make = fn(usize) -> Vec<u8>;

/// The kinds of sessions with their names.
pub(crate) const ALL: &[(&str, Make)] = &[
    ("json in json in json", |size| session(size, 20_000, nested)),
    ("base64 images", images),
    ("CJK", |size| session(size, 4_000, cjk)),
    ("300-byte lines", |size| session(size, 40, prose)),
    ("number arrays", numbers),
    ("one 12 MB line", |_| session(1, 12_000_000, prose)),
];

/// Writes calls and their results. `text` generates the text of the results.
fn session(size: usize, length: usize, text: fn(&mut Random, usize) -> String) -> Vec<u8> {
    let mut session = Session::default();
    while session.lines.len() < size {
        let call = format!("toolu_{}", session.n_lines);
        session.assistant(&format!(
            r#"{{"type":"tool_use","id":"{call}","name":"Bash","input":{{"command":"ls"}}}}"#
        ));
        let text = text(&mut session.random, length);
        let text = serde_json::Value::String(text);
        session.user(&format!(
            r#"{{"tool_use_id":"{call}","type":"tool_result","content":{text},"is_error":false}}"#
        ));
    }
    session.lines.into_bytes()
}

fn images(size: usize) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut session = Session::default();
    while session.lines.len() < size {
        let mut data = String::with_capacity(400_000);
        while data.len() < 400_000 {
            let mut bits = session.random.next();
            for _ in 0..8 {
                data.push(char::from(DIGITS[(bits & 63) as usize]));
                bits >>= 6;
            }
        }
        session.user(&format!(
            r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{data}"}}}}"#
        ));
        session.assistant(r#"{"type":"text","text":"A picture."}"#);
    }
    session.lines.into_bytes()
}

fn numbers(size: usize) -> Vec<u8> {
    let mut session = Session::default();
    while session.lines.len() < size {
        let mut values = String::new();
        for _ in 0..2_000 {
            let n = session.random.next();
            let sign = if n % 2 == 0 { "" } else { "-" };
            values.push_str(&format!("{sign}{}.{:03},", n % 977, n / 977 % 1_000));
        }
        values.push('0');
        let call = format!("toolu_{}", session.n_lines);
        session.assistant(&format!(
            r#"{{"type":"tool_use","id":"{call}","name":"Plot","input":{{"values":[{values}]}}}}"#
        ));
        session.user(&format!(
            r#"{{"tool_use_id":"{call}","type":"tool_result","content":"ok","is_error":false}}"#
        ));
    }
    session.lines.into_bytes()
}

/// A session that is being written. The parent of each line is the line before it.
#[derive(Default)]
struct Session {
    lines: String,
    n_lines: usize,
    random: Random,
}

impl Session {
    fn assistant(&mut self, block: &str) {
        let n = self.n_lines;
        self.push(&format!(
            r#""type":"assistant","message":{{"model":"a-model","id":"msg_{n}","role":"assistant","content":[{block}],"stop_reason":null,"usage":{{"input_tokens":10,"output_tokens":8}}}}"#
        ));
    }

    fn user(&mut self, block: &str) {
        self.push(&format!(r#""type":"user","message":{{"role":"user","content":[{block}]}}"#));
    }

    fn push(&mut self, members: &str) {
        let n = self.n_lines;
        let uuid = |n: usize| format!("\"00000000-0000-4000-8000-{n:012x}\"");
        let parent = n.checked_sub(1).map_or("null".to_owned(), uuid);
        self.lines.push_str(&format!(
            "{{\"parentUuid\":{parent},\"sessionId\":\"11111111-1111-4111-8111-111111111111\",\
             {members},\"uuid\":{},\"timestamp\":\"2026-01-02T03:04:05.{:03}Z\"}}\n",
            uuid(n),
            n % 1_000,
        ));
        self.n_lines += 1;
    }
}

/// Returns JSON in a string of JSON, which is in a string of JSON.
fn nested(random: &mut Random, length: usize) -> String {
    let quote = |text: String| serde_json::Value::String(text).to_string();
    let inner = format!("{{\"lines\": {}}}", quote(prose(random, length / 2).replace(' ', "\n")));
    let middle = format!("{{\"status\": \"ok\", \"body\": {}}}", quote(inner));
    format!("{{\"result\": {}, \"path\": \"a\\\\b\"}}", quote(middle))
}

fn cjk(random: &mut Random, length: usize) -> String {
    let start = 0x4e00;
    let signs = (0..length / 3).map(|_| char::from_u32(start + (random.next() % 8_000) as u32));
    signs.flatten().collect()
}

fn prose(random: &mut Random, length: usize) -> String {
    const WORDS: [&str; 8] =
        ["the ", "value ", "is ", "not ", "\"here\" ", "but\n", "there ", "a "];
    let mut text = String::with_capacity(length + 8);
    while text.len() < length {
        text.push_str(WORDS[(random.next() % 8) as usize]);
    }
    text
}

/// A generator of pseudo-random numbers (xorshift).
struct Random(u64);

impl Default for Random {
    fn default() -> Self {
        Self(0x2545_f491_4f6c_dd1d)
    }
}

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 8
    }
}
