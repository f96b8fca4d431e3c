//! Marks the words of code by kinds: comments, strings, keywords, numbers, names.
//!
//! In: `let n = 5;` in Rust. Out: `let n = 5;<i data-w="1n1 5k3"></i>`, the words from the last to the
//! first: characters up to the word behind or to the end, the kind, the length. The script of the page
//! colors the words that are on the screen. An element for each word was more than half of all nodes of
//! a large page, and a third of the time in which it opens.

use std::{
    collections::HashMap,
    sync::{LazyLock, Mutex, PoisonError},
};

use synoptic::{Highlighter, TokOpt, from_extension};

use crate::html::{Html, displayed};

/// Limit in bytes for a text whose words are marked.
///
/// A browser splits longer texts.
const MAX_TEXT: usize = 60_000;

/// Limit in bytes for a line whose words are marked. Longer lines are minified code or data.
const MAX_LINE: usize = 600;

/// Limit in bytes for all marked texts of a page, which bounds the time for it.
const MAX_PAGE: usize = 4 * 1024 * 1024;

/// A language of code.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Language(&'static str);

impl Language {
    /// The language of shell commands.
    pub(crate) const SHELL: Language = Language("sh");

    /// Returns the language of a file by its name.
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        match name {
            "Makefile" | "Dockerfile" | ".bashrc" | ".zshrc" => Some(Self::SHELL),
            "Cargo.lock" => Some(Self("toml")),
            _ => Self::of_name(name.rsplit_once('.')?.1),
        }
    }

    /// Returns the language with a name or an extension, such as the word behind a Markdown fence.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        let name = name.split([',', ' ', '{', ':']).next().unwrap_or(name).to_ascii_lowercase();
        Some(Self(match name.as_str() {
            "rust" | "rs" => "rs",
            "python" | "python3" | "py" | "pyi" | "pyw" => "py",
            "javascript" | "js" | "jsx" | "mjs" | "cjs" => "js",
            "typescript" | "ts" | "tsx" | "mts" | "cts" => "ts",
            "json" | "jsonl" | "json5" | "jsonc" => "json",
            "bash" | "sh" | "shell" | "zsh" | "console" => "sh",
            "go" | "golang" => "go",
            "toml" => "toml",
            "yaml" | "yml" => "yaml",
            "html" | "htm" | "vue" | "svelte" => "html",
            "xml" | "svg" => "xml",
            "css" | "scss" | "less" => "css",
            "sql" => "sql",
            "c" | "h" => "c",
            "cpp" | "c++" | "cc" | "hpp" | "cxx" => "cpp",
            "csharp" | "cs" => "cs",
            "java" => "java",
            "kotlin" | "kt" | "kts" => "kt",
            "swift" => "swift",
            "ruby" | "rb" => "rb",
            "php" => "php",
            "lua" => "lua",
            "r" => "r",
            "haskell" | "hs" => "hs",
            "scala" => "scala",
            "dart" => "dart",
            _ => return None,
        }))
    }
}

/// The rules of languages. To compile them takes as long as to write a small page, and clones share
/// them, so a process compiles each once.
static RULES: LazyLock<Mutex<HashMap<Language, Option<Highlighter>>>> =
    LazyLock::new(Mutex::default);

/// Returns the rules of a language.
fn rules(language: Language) -> Option<Highlighter> {
    let mut rules = RULES.lock().unwrap_or_else(PoisonError::into_inner);
    // A tab is one character, so that the places of words are places in the text.
    rules.entry(language).or_insert_with(|| from_extension(language.0, 1)).clone()
}

/// Marks the words of code.
#[derive(Debug, Default)]
pub(crate) struct Marker {
    rules: HashMap<Language, Option<Highlighter>>,
    n_marked: usize,
}

impl Marker {
    /// Appends code. Texts and lines beyond the limits are appended without marks.
    pub(crate) fn push(&mut self, html: &mut Html, text: &str, language: Option<Language>) {
        self.push_behind(html, text, language, &|_| 0);
    }

    /// Appends code whose lines have a prefix that is no code, such as their numbers. `prefix`
    /// returns its length in bytes.
    pub(crate) fn push_behind(
        &mut self,
        html: &mut Html,
        text: &str,
        language: Option<Language>,
        prefix: &dyn Fn(&str) -> usize,
    ) {
        let is_small = self.has_room(text.len());
        let language =
            language.filter(|_| is_small && text.split('\n').all(|line| line.len() <= MAX_LINE));
        let rules = language.and_then(|language| {
            self.rules.entry(language).or_insert_with(|| rules(language)).as_mut()
        });
        let Some(rules) = rules else {
            html.text(text);
            return;
        };
        self.n_marked += text.len();
        let n_ended = text.matches('\n').count();
        let lines: Vec<(&str, &str)> = text
            .split('\n')
            .enumerate()
            .map(|(idx, line)| match line.strip_suffix('\r') {
                // The carriage return belongs to the newline behind it.
                Some(line) if idx < n_ended => line,
                _ => line,
            })
            .map(|line| line.split_at_checked(prefix(line)).unwrap_or(("", line)))
            .collect();
        let code: Vec<String> = lines.iter().map(|(_, code)| (*code).to_owned()).collect();
        rules.run(&code);
        let mut words = Words::default();
        for (idx, (head, line)) in lines.into_iter().enumerate() {
            words.skip(if idx > 0 { "\n" } else { "" });
            words.skip(head);
            words.line(rules, idx, code.get(idx).map_or(line, String::as_str));
        }
        html.text(text);
        words.push(html);
    }

    /// Prepares the lines of a text, which are appended one by one.
    pub(crate) fn lines(&mut self, lines: Vec<String>, language: Option<Language>) -> Lines {
        let n_bytes = lines.iter().map(|line| line.len() + 1).sum();
        let is_small = self.has_room(n_bytes) && lines.iter().all(|line| line.len() <= MAX_LINE);
        let rules = language.filter(|_| is_small).and_then(|language| {
            // Another text may be prepared before the lines of this one are appended.
            let mut rules =
                self.rules.entry(language).or_insert_with(|| rules(language)).clone()?;
            rules.run(&lines);
            self.n_marked += n_bytes;
            Some(rules)
        });
        Lines { lines, rules, next: 0 }
    }

    /// Returns whether a text is within the limits.
    fn has_room(&self, n_bytes: usize) -> bool {
        n_bytes <= MAX_TEXT && self.n_marked.saturating_add(n_bytes) <= MAX_PAGE
    }
}

/// The lines of a text that are still to be appended.
#[derive(Debug)]
pub(crate) struct Lines {
    lines: Vec<String>,
    rules: Option<Highlighter>,
    next: usize,
}

impl Lines {
    /// Appends the next line.
    pub(crate) fn push(&mut self, html: &mut Html) {
        let Some(line) = self.lines.get(self.next) else { return };
        html.text(line);
        if let Some(rules) = &self.rules {
            let mut words = Words::default();
            words.line(rules, self.next, line);
            words.push(html);
        }
        self.next += 1;
    }

    /// Leaves out the next line.
    pub(crate) fn skip(&mut self) {
        self.next += 1;
    }
}

/// The words of a text, with their places in UTF-16 units of the displayed text.
#[derive(Debug, Default)]
struct Words {
    /// The kind, the start and the end of each word.
    found: Vec<(char, usize, usize)>,
    n_units: usize,
}

impl Words {
    /// Passes text without words.
    fn skip(&mut self, text: &str) {
        self.n_units += displayed(text).map(|(_, n_units)| n_units).sum::<usize>();
    }

    /// Adds the words of a line that the rules have seen.
    fn line(&mut self, rules: &Highlighter, line_idx: usize, line: &str) {
        let mut units = displayed(line);
        let (mut n_bytes, mut n_units) = (0, self.n_units);
        // A character that ends behind `end`, such as a terminal color, belongs to the word before.
        let mut units_at = |end: usize| {
            while n_bytes < end {
                let Some((bytes, more)) = units.next() else { break };
                n_bytes += bytes;
                n_units += more;
            }
            n_units
        };
        let (mut rest, mut end) = (line, 0);
        for token in rules.line(line_idx, line) {
            let (text, kind) = match &token {
                TokOpt::Some(text, kind) => (text, letter(kind)),
                TokOpt::None(text) => (text, None),
            };
            let n_chars = text.chars().count();
            let length = rest.char_indices().nth(n_chars).map_or(rest.len(), |(at, _)| at);
            rest = rest.get(length..).unwrap_or_default();
            let from = units_at(end);
            end += length;
            let to = units_at(end);
            if let Some(kind) = kind.filter(|_| from < to) {
                self.found.push((kind, from, to));
            }
        }
        self.n_units = units_at(line.len());
    }

    /// Appends the words.
    fn push(self, html: &mut Html) {
        let mut next = self.n_units;
        for (idx, (kind, start, end)) in self.found.iter().rev().enumerate() {
            html.markup(if idx == 0 { "<i data-w=\"" } else { " " });
            html.show(next - end).show(kind).show(end - start);
            next = *start;
        }
        html.markup(if self.found.is_empty() { "" } else { "\"></i>" });
    }
}

/// Returns the length of a line's number and the sign behind it, as tools print them: `  12→`.
pub(crate) fn number(line: &str) -> usize {
    let digits = line.trim_start_matches(' ');
    let rest = digits.trim_start_matches(|char: char| char.is_ascii_digit());
    let code = rest.strip_prefix(['→', '\t']).filter(|_| rest.len() < digits.len());
    code.map_or(0, |code| line.len() - code.len())
}

/// Returns the letter of a kind of word; `None` if it is not marked.
fn letter(kind: &str) -> Option<char> {
    Some(match kind {
        "comment" => 'c',
        "string" | "link" => 's',
        "keyword" | "boolean" | "tag" => 'k',
        "digit" => 'n',
        "function" | "macros" | "macro" => 'f',
        "struct" | "type" | "namespace" | "attribute" | "key" | "heading" => 't',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str, language: &str) -> String {
        let mut html = Html::default();
        Marker::default().push(&mut html, text, Language::of_name(language));
        html.as_str().to_owned()
    }

    #[test]
    fn words_have_classes() {
        assert_eq!(
            marked("let n = 5; // <five>\n\tlet s = \"a\";", "rust"),
            "let n = 5; // &lt;five&gt;\n\tlet s = &quot;a&quot;;<i data-w=\"1s3 5k3 2c9 2n1 5k3\"></i>"
        );
        assert_eq!(marked("let n = 5;", "unknown"), "let n = 5;");
        let long = format!("let n = 5;\n{}", "a".repeat(MAX_LINE + 1));
        assert_eq!(marked(&long, "rust"), long);
    }

    /// Returns the words that the script of a page finds in the displayed text.
    fn words(html: &str) -> (String, Vec<String>) {
        let (text, marks) = html.split_once("<i data-w=\"").unwrap_or((html, "\"></i>"));
        let mut text = text.to_owned();
        for (entity, char) in
            [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
        {
            text = text.replace(entity, char);
        }
        let units: Vec<u16> = text.encode_utf16().collect();
        let mut end = units.len();
        let mut words = Vec::new();
        for mark in marks.trim_end_matches("\"></i>").split_whitespace() {
            let kind = mark.find(|char: char| char.is_ascii_lowercase()).expect("a kind");
            end -= mark[..kind].parse::<usize>().expect("a distance");
            let length: usize = mark[kind + 1..].parse().expect("a length");
            words.push(String::from_utf16(&units[end - length..end]).expect("whole characters"));
            end -= length;
        }
        words.reverse();
        (text, words)
    }

    #[test]
    fn text_is_the_same_with_and_without_marks() {
        let text =
            "\u{feff}fn f() {\t'é' \"漢\u{301}\\\" 🎉 /* \n\n */ `${a\t}` # <b> &\r\n\t\t\"\"\"x\n";
        for language in ["rs", "py", "js", "ts", "json", "sh", "html", "yaml", "css", "sql", "php"]
        {
            let with = marked(text, language);
            let mut without = Html::default();
            without.text(text);
            let n_bytes = with.find("<i ").unwrap_or(with.len());
            assert_eq!(&with[..n_bytes], without.as_str(), "{language}");
        }
    }

    #[test]
    fn words_are_found_in_the_displayed_text() {
        let text = "let 🎉 = \"é\u{1b}[31mred\u{1b}[0m\u{202e}\";\r\n\u{7f}let b = \"a\u{0}\";";
        let (shown, found) = words(&marked(text, "rs"));
        assert_eq!(shown, "let 🎉 = \"éred\\u{202e}\";\n␡let b = \"a␀\";");
        assert_eq!(found, ["let", "\"éred\\u{202e}\"", "let", "\"a␀\""]);
    }

    #[test]
    fn numbers_of_lines_are_no_code() {
        let mut html = Html::default();
        let text = "  9→let a\n 10→5\nlet b";
        Marker::default().push_behind(&mut html, text, Language::of_name("rust"), &number);
        assert_eq!(html.as_str(), "  9→let a\n 10→5\nlet b<i data-w=\"2k3 1n1 7k3\"></i>");
        assert_eq!(["→a", " 1a", "12\ta", ""].map(number), [0, 0, 3, 0]);
    }

    #[test]
    fn names_of_files_have_languages() {
        for (path, language) in [
            ("/src/main.rs", Some("rs")),
            ("C:\\a\\b.TSX", Some("ts")),
            ("a.rs/README", None),
            ("Makefile", Some("sh")),
            ("noext", None),
        ] {
            assert_eq!(Language::of_path(path), language.map(Language), "{path}");
        }
        assert_eq!(Language::of_name("rust,ignore"), Some(Language("rs")));
    }
}
