//! Marks the words of code by classes: comments, strings, keywords, numbers, names.
//!
//! In: `let n = 5; // five` in Rust. Out: `<span class="k">let</span> n = <span class="n">5</span>; ..`.

use std::{
    collections::HashMap,
    sync::{LazyLock, Mutex, PoisonError},
};

use synoptic::{Highlighter, TokOpt, from_extension};

use crate::html::Html;

/// Limit in bytes for a text whose words are marked.
const MAX_TEXT: usize = 64 * 1024;

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
        let split =
            |line: &'_ str| line.split_at_checked(prefix(line)).map_or(0, |(head, _)| head.len());
        let n_ended = text.matches('\n').count();
        let lines: Vec<(&str, &str)> = text
            .split('\n')
            .enumerate()
            .map(|(idx, line)| match line.strip_suffix('\r') {
                // The carriage return belongs to the newline behind it.
                Some(line) if idx < n_ended => line,
                _ => line,
            })
            .map(|line| line.split_at(split(line)))
            .collect();
        let code: Vec<String> = lines.iter().map(|(_, code)| (*code).to_owned()).collect();
        rules.run(&code);
        for (idx, (head, line)) in lines.into_iter().enumerate() {
            html.markup(if idx > 0 { "\n" } else { "" }).text(head);
            push_words(html, rules, idx, code.get(idx).map_or(line, String::as_str));
        }
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
        match &self.rules {
            Some(rules) => push_words(html, rules, self.next, line),
            None => _ = html.text(line),
        }
        self.next += 1;
    }

    /// Leaves out the next line.
    pub(crate) fn skip(&mut self) {
        self.next += 1;
    }
}

/// Appends a line of a text that the rules have seen.
fn push_words(html: &mut Html, rules: &Highlighter, line_idx: usize, line: &str) {
    let mut rest = line;
    for token in rules.line(line_idx, line) {
        let (text, class) = match &token {
            TokOpt::Some(text, kind) => (text, markup(kind)),
            TokOpt::None(text) => (text, None),
        };
        let end = rest.char_indices().nth(text.chars().count()).map_or(rest.len(), |(at, _)| at);
        let (word, after) = rest.split_at(end);
        rest = after;
        match class {
            Some(class) => html.markup(class).text(word).markup("</span>"),
            None => html.text(word),
        };
    }
    html.text(rest);
}

/// Returns the length of a line's number and the sign behind it, as tools print them: `  12→`.
pub(crate) fn number(line: &str) -> usize {
    let digits = line.trim_start_matches(' ');
    let rest = digits.trim_start_matches(|char: char| char.is_ascii_digit());
    let code = rest.strip_prefix(['→', '\t']).filter(|_| rest.len() < digits.len());
    code.map_or(0, |code| line.len() - code.len())
}

/// Returns the start of the element for a kind of word; `None` if it is not marked.
fn markup(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "comment" => "<span class=\"c\">",
        "string" | "link" => "<span class=\"s\">",
        "keyword" | "boolean" | "tag" => "<span class=\"k\">",
        "digit" => "<span class=\"n\">",
        "function" | "macros" | "macro" => "<span class=\"f\">",
        "struct" | "type" | "namespace" | "attribute" | "key" | "heading" => "<span class=\"t\">",
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
            "<span class=\"k\">let</span> n = <span class=\"n\">5</span>; \
             <span class=\"c\">// &lt;five&gt;</span>\n\t<span class=\"k\">let</span> s = \
             <span class=\"s\">&quot;a&quot;</span>;"
        );
        assert_eq!(marked("let n = 5;", "unknown"), "let n = 5;");
        let long = format!("let n = 5;\n{}", "a".repeat(MAX_LINE + 1));
        assert_eq!(marked(&long, "rust"), long);
    }

    #[test]
    fn text_is_the_same_with_and_without_marks() {
        let text =
            "\u{feff}fn f() {\t'é' \"漢\u{301}\\\" 🎉 /* \n\n */ `${a\t}` # <b> &\r\n\t\t\"\"\"x\n";
        for language in ["rs", "py", "js", "ts", "json", "sh", "html", "yaml", "css", "sql", "php"]
        {
            let with = marked(text, language);
            let mut plain = String::new();
            let mut is_tag = false;
            for char in with.chars() {
                match char {
                    '<' => is_tag = true,
                    '>' => is_tag = false,
                    char if !is_tag => plain.push(char),
                    _ => {}
                }
            }
            let mut without = Html::default();
            without.text(text);
            assert_eq!(plain, without.as_str(), "{language}");
        }
    }

    #[test]
    fn numbers_of_lines_are_no_code() {
        let mut html = Html::default();
        let text = "  9→let a\n 10→5\nlet b";
        Marker::default().push_behind(&mut html, text, Language::of_name("rust"), &number);
        let expected = "  9→<span class=\"k\">let</span> a\n 10→<span class=\"n\">5</span>\n\
                        <span class=\"k\">let</span> b";
        assert_eq!(html.as_str(), expected);
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
