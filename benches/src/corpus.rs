//! Generates lines in the style of Claude Code's sessions, from a seed.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The distribution of line lengths in 548 MB of sessions: a share of the lines, and their maximum
/// length.
const LENGTHS: [(f64, f64); 5] =
    [(0.0, 150.0), (0.5, 1_060.0), (0.9, 5_378.0), (0.99, 39_295.0), (1.0, 250_000.0)];

/// The pieces of texts, about as frequent as in source files, prose and shell output.
const WORDS: [&str; 24] = [
    "the ",
    "let ",
    "value ",
    "self.",
    "return ",
    "error",
    " = ",
    "():",
    "\\n",
    "\\n    ",
    "\\n        ",
    "\\\"",
    "\\\"name\\\": ",
    "function ",
    "/home/user/project/src/",
    "0x1f ",
    "main.rs",
    "\\t",
    "// ",
    "is not ",
    "session ",
    "1234 ",
    "\\\\d+",
    "of a ",
];

/// Returns lines of about `size` bytes in total, the same in every run.
pub fn corpus(size: usize) -> Vec<u8> {
    lines(size, "11111111-1111-4111-8111-111111111111", 0x2545_f491_4f6c_dd1d)
}

/// Returns the lines of a session of about `size` bytes, from a seed.
pub(crate) fn lines(size: usize, session: &str, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut lines = String::with_capacity(size + 300_000);
    let mut n = 0;
    while lines.len() < size {
        push_line(&mut lines, n, session, &mut random);
        n += 1;
    }
    lines.into_bytes()
}

/// Returns the JSONL files below a folder, sorted.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Appends a line. Two calls of one response are followed by their two results. In every fourth group, a
/// prompt and a text of the model replace a call and its result.
fn push_line(lines: &mut String, n: u64, session: &str, random: &mut Random) {
    let length = random.between(&LENGTHS) as usize;
    let start = lines.len();
    let request = random.next() & 0xffff_ffff;
    lines.push_str(&format!(
        "{{\"parentUuid\":{},\"isSidechain\":false,\"userType\":\"external\",\
         \"cwd\":\"/home/user/project\",\"sessionId\":\"{session}\",\
         \"version\":\"2.1.121\",\"gitBranch\":\"main\",",
        if n == 0 { "null".to_owned() } else { format!("\"{}\"", uuid(n - 1)) },
    ));
    // A quarter of the lines is not ASCII. These lines are longer.
    let is_ascii = !n.is_multiple_of(4);
    let (pair, one) = (n / 4, n % 2);
    match n % 16 {
        0 => {
            lines.push_str("\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"");
            push_text(lines, start + length.saturating_sub(150), is_ascii, random);
            lines.push_str("\"},");
        }
        2 => {
            lines.push_str(&format!(
                "\"type\":\"assistant\",\"message\":{{\"model\":\"a-model\",\
                 \"id\":\"msg_01{pair:022}\",\"type\":\"message\",\"role\":\"assistant\",\
                 \"content\":[{{\"type\":\"text\",\"text\":\"",
            ));
            push_text(lines, start + length.saturating_sub(150), is_ascii, random);
            lines.push_str("\"}]},");
        }
        n if n % 4 < 2 => {
            lines.push_str(&format!(
                "\"type\":\"assistant\",\"message\":{{\"model\":\"a-model\",\
                 \"id\":\"msg_01{pair:022}\",\"type\":\"message\",\"role\":\"assistant\",\
                 \"content\":[{{\"type\":\"tool_use\",\"id\":\"toolu_01{pair:021}{one}\",\
                 \"name\":\"Edit\",\"input\":{{\"file_path\":\"/home/user/project/a.rs\",\
                 \"new_string\":\"",
            ));
            push_text(lines, start + length.saturating_sub(300), is_ascii, random);
            lines.push_str(&format!(
                "\"}}}}],\"stop_reason\":null,\"usage\":{{\"input_tokens\":10,\
                 \"cache_creation_input_tokens\":3178,\"cache_read_input_tokens\":49153,\
                 \"cache_creation\":{{\"ephemeral_5m_input_tokens\":3178}},\"output_tokens\":8,\
                 \"service_tier\":\"standard\"}}}},\"requestId\":\"req_01{request:022}\",",
            ));
        }
        _ => {
            // The result of the tool, and the same text in the member of the client.
            lines.push_str(&format!(
                "\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\
                 \"tool_use_id\":\"toolu_01{pair:021}{one}\",\"type\":\"tool_result\",\
                 \"content\":\"",
            ));
            let half = start + length / 2;
            push_text(lines, half, is_ascii, random);
            lines.push_str("\",\"is_error\":false}]},\"toolUseResult\":{\"stdout\":\"");
            push_text(lines, start + length.saturating_sub(150), is_ascii, random);
            lines.push_str("\",\"stderr\":\"\",\"interrupted\":false,\"isImage\":false},");
        }
    }
    lines.push_str(&format!(
        "\"uuid\":\"{}\",\"timestamp\":\"2026-01-02T03:{:02}:{:02}.{:03}Z\"}}\n",
        uuid(n),
        n / 600 % 60,
        n / 10 % 60,
        n % 1000,
    ));
}

/// Returns the id of a line, as random as a real one.
fn uuid(n: u64) -> String {
    Random::new(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).uuid()
}

fn push_text(lines: &mut String, end: usize, is_ascii: bool, random: &mut Random) {
    while lines.len() < end {
        let n = random.next() as usize;
        if !is_ascii && n.is_multiple_of(61) {
            lines.push_str(["é", "—", "✓ ", "│ ", "🎉"][n % 5]);
        }
        lines.push_str(WORDS[n % WORDS.len()]);
    }
}

/// A generator of pseudo-random numbers (xorshift).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 8
    }

    /// Returns a number from 0 to 1.
    fn share(&mut self) -> f64 {
        (self.next() % 1_000_000) as f64 / 1_000_000.0
    }

    /// Returns a number with the given distribution, interpolated between its points.
    pub(crate) fn between(&mut self, shares: &[(f64, f64)]) -> f64 {
        let share = self.share();
        let mut number = shares.first().map_or(0.0, |(_, number)| *number);
        for pair in shares.windows(2) {
            let [(from, small), (to, large)] = [pair[0], pair[1]];
            if share >= from {
                let part = ((share - from) / (to - from)).min(1.0);
                number = small * (large / small).powf(part);
            }
        }
        number
    }

    pub(crate) fn uuid(&mut self) -> String {
        let (first, second) = (self.next(), self.next());
        format!("{:08x}-0000-4000-8000-{:012x}", first as u32, second & 0xffff_ffff_ffff)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_follow_their_calls_and_every_response_has_an_id_of_its_own() {
        let corpus = String::from_utf8(corpus(1_000_000)).expect("text");
        let ids = |start: &str| -> Vec<&str> {
            corpus.split(start).skip(1).filter_map(|rest| rest.split('"').next()).collect()
        };
        let mut calls = ids("\"tool_use\",\"id\":\"");
        let mut results = ids("\"tool_use_id\":\"");
        let n_calls = calls.len();
        calls.sort_unstable();
        calls.dedup();
        assert_eq!(calls.len(), n_calls);
        results.sort_unstable();
        assert!(n_calls - results.len() < 2, "{n_calls}, {}", results.len());
        assert!(results.iter().all(|id| calls.binary_search(id).is_ok()));
        let mut lines = ids("\"uuid\":\"");
        let n_lines = lines.len();
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines.len(), n_lines);
    }

    #[test]
    fn lines_are_as_long_as_those_of_sessions() {
        let corpus = corpus(30_000_000);
        let mut lengths: Vec<_> = corpus.split(|byte| *byte == b'\n').map(<[u8]>::len).collect();
        lengths.sort_unstable();
        for (share, expected) in [(0.5, 1_060.0), (0.9, 5_378.0), (0.99, 39_295.0)] {
            let length = lengths[(lengths.len() as f64 * share) as usize] as f64;
            assert!((0.8..1.25).contains(&(length / expected)), "{length} at {share}");
        }
    }
}
